//! A table to which rows are added while those above stand already.

use super::{Column, Row, Table, Yields, total};
use crate::output::terminal::Look;

/// Columns keep the width of the widest cell so far, so that what is added is aligned with what stands above.
#[derive(Debug)]
pub struct Growing {
    columns: &'static [Column],
    /// As wide as a column is from the start, where there is room: later rows then seldom move those to the right of it.
    least: &'static [usize],
    note: Option<&'static str>,
    /// The widest of each column so far; none before the first row.
    widths: Option<Vec<usize>>,
    /// Notes stand beside the first rows, where there was room for them.
    beside: bool,
}

impl Growing {
    /// A table without rows, whose columns are `least` as wide as this.
    pub fn new(columns: &'static [Column], least: &'static [usize], note: Option<&'static str>) -> Growing {
        Growing { columns, least, note, widths: None, beside: false }
    }

    /// Makes columns as wide as they are to be at least, as far as that leaves room for everything: those of words first,
    /// whose widest is known.
    fn widen(&self, natural: &mut [usize], room: Option<usize>) {
        let mut spare = room.map_or(usize::MAX, |room| room.saturating_sub(total(natural)));
        for words in [true, false] {
            for ((now, least), column) in natural.iter_mut().zip(self.least).zip(self.columns) {
                if matches!(column.yields, Yields::Never | Yields::End(_)) == words {
                    let more = least.saturating_sub(*now).min(spare);
                    *now += more;
                    spare -= more;
                }
            }
        }
    }

    /// The lines of these rows, below what came before. Before the first rows there is the head.
    pub fn add(&mut self, rows: Vec<Row>, look: Look) -> String {
        let table = Table { columns: self.columns, note: self.note, rows };
        if table.rows.is_empty() {
            return String::new();
        }
        let mut natural = table.natural();
        let fits = |natural: &[usize]| look.width.is_none_or(|width| total(natural) + table.notes() <= width);
        let first = self.widths.is_none();
        match &self.widths {
            None => {
                self.beside = fits(&natural);
                let notes = if self.beside { table.notes() } else { 0 };
                self.widen(&mut natural, look.width.map(|width| width.saturating_sub(notes)));
            }
            Some(widths) => {
                for (now, before) in natural.iter_mut().zip(widths) {
                    *now = (*now).max(*before);
                }
            }
        }
        let text = table.with(&natural, self.beside && fits(&natural), first, look);
        self.widths = Some(natural);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output::layout::Cell;
    use crate::output::style::Paint;

    const COLUMNS: &[Column] = &[
        Column { head: "TIME", yields: Yields::Never },
        Column { head: "ID", yields: Yields::Line(8) },
        Column { head: "STATUS", yields: Yields::Never },
    ];

    fn row(id: &str, status: &str, note: Option<&str>) -> Row {
        let cells = ["03:04:05Z", id, status].map(Cell::plain);
        Row { cells: cells.into(), note: note.map(str::to_owned) }
    }

    fn look(width: Option<usize>) -> Look {
        Look { width, paint: Paint(false) }
    }

    #[test]
    fn what_is_added_is_aligned_with_what_stands_above() {
        let mut table = Growing::new(COLUMNS, &[], Some("MESSAGE"));
        let expected = "\
TIME       ID        STATUS   MESSAGE
03:04:05Z  shop/web  running  -
";
        assert_eq!(table.add(vec![row("shop/web", "running", None)], look(None)), expected);
        assert_eq!(
            table.add(vec![row("a/b", "failed", Some("it crashed"))], look(None)),
            "03:04:05Z  a/b       failed   it crashed\n"
        );
        // What is wider moves the rest, from then on.
        let added = table.add(vec![row("shop/another", "missing", None), row("a/b", "missing", None)], look(None));
        assert_eq!(added, "03:04:05Z  shop/another  missing  -\n03:04:05Z  a/b           missing  -\n");
        assert_eq!(table.add(vec![row("a/b", "missing", None)], look(None)), "03:04:05Z  a/b           missing  -\n");
    }

    #[test]
    fn columns_are_as_wide_as_what_is_to_come() {
        let mut table = Growing::new(COLUMNS, &[0, 10, 8], Some("MESSAGE"));
        let expected = "\
TIME       ID          STATUS    MESSAGE
03:04:05Z  a/b         running   -
";
        assert_eq!(table.add(vec![row("a/b", "running", None)], look(None)), expected);
        assert_eq!(
            table.add(vec![row("shop/other", "creating", None)], look(None)),
            "03:04:05Z  shop/other  creating  -\n"
        );
    }

    #[test]
    fn columns_are_not_wider_than_there_is_room() {
        let mut table = Growing::new(COLUMNS, &[0, 10, 8], None);
        let first = table.add(vec![row("a/b", "running", None)], look(Some(26)));
        assert_eq!(first, "TIME       ID     STATUS\n03:04:05Z  a/b    running\n");
        // Notes beside the rows have theirs first.
        let mut table = Growing::new(COLUMNS, &[0, 10, 8], Some("MESSAGE"));
        let first = table.add(vec![row("a/b", "running", Some("it is fine"))], look(Some(36)));
        assert_eq!(first, "TIME       ID   STATUS    MESSAGE\n03:04:05Z  a/b  running   it is fine\n");
    }

    #[test]
    fn nothing_is_no_head() {
        let mut table = Growing::new(COLUMNS, &[], None);
        assert_eq!(table.add(Vec::new(), look(None)), "");
        assert!(table.add(vec![row("a/b", "running", None)], look(None)).starts_with("TIME "));
    }

    #[test]
    fn notes_go_below_where_there_is_no_room() {
        let mut table = Growing::new(COLUMNS, &[], Some("MESSAGE"));
        let first = table.add(vec![row("a/b", "running", Some("short"))], look(Some(40)));
        assert_eq!(first, "TIME       ID   STATUS   MESSAGE\n03:04:05Z  a/b  running  short\n");
        let second = table.add(vec![row("a/b", "failed", Some("far too long for this terminal"))], look(Some(40)));
        assert_eq!(second, "03:04:05Z  a/b  failed\n  far too long for this terminal\n");
        // Without room in the first place they are all below, so that a head never lies.
        let mut table = Growing::new(COLUMNS, &[], Some("MESSAGE"));
        let first = table.add(vec![row("a/b", "running", Some("far too long for this terminal"))], look(Some(40)));
        assert_eq!(first, "TIME       ID   STATUS\n03:04:05Z  a/b  running\n  far too long for this terminal\n");
        assert_eq!(
            table.add(vec![row("a/b", "failed", Some("short"))], look(Some(40))),
            "03:04:05Z  a/b  failed\n  short\n"
        );
    }

    #[test]
    fn a_long_id_keeps_its_time() {
        let mut table = Growing::new(COLUMNS, &[], None);
        let text =
            table.add(vec![row("a/b", "running", None), row("shop/a-long-name", "running", None)], look(Some(30)));
        let expected = "\
TIME       ID   STATUS
03:04:05Z  a/b  running
03:04:05Z  shop/a-long-name
                running
";
        assert_eq!(text, expected);
        let text = table.add(vec![row("shop/a-long-name", "running", None)], look(Some(20)));
        assert_eq!(text, "03:04:05Z  shop/a-long-name\n  running\n");
    }
}
