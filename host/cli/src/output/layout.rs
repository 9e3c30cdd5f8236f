//! Tables: aligned columns that fit a terminal, and are whole everywhere else.

pub mod growing;

use anstyle::Style;

use super::style::HEAD;
use super::terminal::Look;
use super::width;

/// Between two columns.
pub const GAP: &str = "  ";

/// What stands where there is nothing.
pub const NONE: &str = "-";

/// Lines of a note below its row at most. The whole of it is in the JSON document.
const NOTE_LINES: usize = 4;

/// What becomes of a column when the table is too wide. Kinds give way in the order in which they stand here, as far as
/// they may; the numbers are the columns that they keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Yields {
    /// It is an image, whose beginning is left out first.
    Image(usize),
    /// It is a path, whose beginning is left out first.
    Path(usize),
    /// It is never cut: one that is too long gets a line of its own, before the rest of its row.
    Line(usize),
    /// Its end is left out.
    End(usize),
    /// It stays as it is.
    Never,
}

/// One column.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// What stands above.
    pub head: &'static str,
    /// How it gives way.
    pub yields: Yields,
}

/// One cell: a line without control characters.
#[derive(Debug, Clone)]
pub struct Cell {
    /// What stands there.
    pub text: String,
    /// How.
    pub style: Style,
}

impl Cell {
    /// A cell like most.
    pub fn plain(text: impl Into<String>) -> Cell {
        Cell { text: text.into(), style: Style::new() }
    }
}

/// One row.
#[derive(Debug, Clone)]
pub struct Row {
    /// One for each column.
    pub cells: Vec<Cell>,
    /// A sentence about it, if there is one.
    pub note: Option<String>,
}

/// A table.
#[derive(Debug, Clone)]
pub struct Table {
    /// From left to right.
    pub columns: &'static [Column],
    /// What stands above the notes, if the table has notes at all. They are the last column where all of them fit, and
    /// otherwise each is below its row.
    pub note: Option<&'static str>,
    /// From top to bottom.
    pub rows: Vec<Row>,
}

impl Table {
    /// The table as lines.
    pub fn lines(&self, look: Look) -> String {
        let natural = self.natural();
        let beside = look.width.is_none_or(|width| total(&natural) + self.notes() <= width);
        self.with(&natural, beside, true, look)
    }

    /// The table with columns as wide as these where they fit. Notes are beside its rows, or below them; its head is
    /// there, or stands already.
    fn with(&self, natural: &[usize], beside: bool, head: bool, look: Look) -> String {
        let room = look.width.filter(|width| !beside || total(natural) > *width);
        let Some(width) = room else { return self.aligned(natural, look, beside, head) };
        match self.fitted(natural.to_vec(), width) {
            Some(widths) => self.aligned(&widths, look, false, head),
            None => self.stacked(look, width),
        }
    }

    /// The columns as wide as what stands in them.
    fn natural(&self) -> Vec<usize> {
        let widest = |at: usize| self.rows.iter().filter_map(move |row| row.cells.get(at)).map(Cell::columns).max();
        let column = |(at, column): (usize, &Column)| widest(at).unwrap_or(0).max(width::columns(column.head));
        self.columns.iter().enumerate().map(column).collect()
    }

    /// What the notes take as a column, with the gap before it.
    fn notes(&self) -> usize {
        let notes = self.rows.iter().filter_map(|row| row.note.as_deref()).map(width::columns);
        self.note.map_or(0, |head| GAP.len() + notes.max().unwrap_or(0).max(width::columns(head)))
    }

    /// The widths with which the table fits without its notes; none if there are none.
    fn fitted(&self, natural: Vec<usize>, width: usize) -> Option<Vec<usize>> {
        let mut widths = natural.clone();
        for kind in 0..=Yields::Never.order() {
            for (at, (width_of, column)) in widths.clone().iter().zip(self.columns).enumerate().rev() {
                let over = total(&widths).saturating_sub(width);
                let Some(kept) = column.yields.keeps().filter(|_| over > 0 && column.yields.order() == kind) else {
                    continue;
                };
                let mut given = *width_of - over.min(width_of.saturating_sub(kept));
                if let Yields::Line(_) = column.yields {
                    given = self.longest_within(at, given);
                }
                set(&mut widths, at, given);
            }
        }
        let mut spare = width.checked_sub(total(&widths))?;
        // A long cell that stands on a line of its own leaves room for others.
        for (at, column) in self.columns.iter().enumerate() {
            if let (Yields::Image(_) | Yields::Path(_), Some(now), Some(whole)) =
                (column.yields, widths.get(at).copied(), natural.get(at))
            {
                let back = spare.min(whole - now);
                set(&mut widths, at, now + back);
                spare -= back;
            }
        }
        Some(widths)
    }

    /// The widest cell of a column among those that fit, or its head.
    fn longest_within(&self, at: usize, width: usize) -> usize {
        let cells = self.rows.iter().filter_map(|row| row.cells.get(at)).map(Cell::columns);
        let head = self.columns.get(at).map_or(0, |column| width::columns(column.head));
        cells.filter(|columns| *columns <= width).max().unwrap_or(0).max(head)
    }

    fn aligned(&self, widths: &[usize], look: Look, beside: bool, head: bool) -> String {
        let mut text = String::new();
        let note = self.note.filter(|_| beside);
        if head {
            let heads = self.columns.iter().map(|column| column.head).chain(note);
            let heads = heads.map(|head| Cell { text: head.to_owned(), style: HEAD });
            put(&mut text, heads.zip(widths.iter().copied().chain([0])), look);
        }
        for row in &self.rows {
            let mut cells: Vec<(Cell, usize)> = Vec::new();
            for ((cell, width), column) in row.cells.iter().zip(widths).zip(self.columns) {
                if cell.columns() > *width && matches!(column.yields, Yields::Line(_)) {
                    let blanks: Vec<_> = cells.iter().map(|(_, width)| (Cell::plain(""), *width)).collect();
                    put(&mut text, cells.drain(..).chain([(cell.clone(), 0)]), look);
                    cells = blanks;
                    cells.push((Cell::plain(""), *width));
                } else {
                    cells.push((column.yields.cut(cell, *width), *width));
                }
            }
            if note.is_some() {
                cells.push((Cell::plain(row.note.as_deref().unwrap_or(NONE)), 0));
            }
            put(&mut text, cells.into_iter(), look);
            if !beside && let Some(width) = look.width {
                row.put_note(&mut text, width);
            }
        }
        text
    }

    /// Where not even the narrowest columns fit: each row as lines of its own.
    fn stacked(&self, look: Look, width: usize) -> String {
        let mut text = String::new();
        let room = width.saturating_sub(GAP.len()).max(1);
        // What is never cut stands in front, with what comes before it.
        let front = self.columns.iter().position(|column| matches!(column.yields, Yields::Line(_))).unwrap_or(0) + 1;
        for row in &self.rows {
            let mut line: Vec<(Cell, usize)> = Vec::new();
            put(&mut text, row.cells.iter().take(front).map(|cell| (cell.clone(), cell.columns())), look);
            for (cell, column) in row.cells.iter().zip(self.columns).skip(front) {
                let cell = column.yields.cut(cell, room);
                let taken: usize = line.iter().map(|(cell, _)| cell.columns() + GAP.len()).sum();
                if !line.is_empty() && taken + cell.columns() > room {
                    put_indented(&mut text, &mut line, look);
                }
                let columns = cell.columns();
                line.push((cell, columns));
            }
            put_indented(&mut text, &mut line, look);
            row.put_note(&mut text, width);
        }
        text
    }
}

impl Cell {
    fn columns(&self) -> usize {
        width::columns(&self.text)
    }
}

impl Row {
    /// The note below the row, a bit to the right.
    fn put_note(&self, text: &mut String, width: usize) {
        let Some(note) = &self.note else { return };
        let room = width.saturating_sub(GAP.len()).max(1);
        let mut lines = width::wrap(note, room);
        if lines.len() > NOTE_LINES {
            let rest = lines.split_off(NOTE_LINES - 1);
            // The joined rest is too long, so its end is left out.
            lines.push(width::end(&rest.join(" "), room));
        }
        for line in lines {
            text.push_str(GAP);
            text.push_str(&line);
            text.push('\n');
        }
    }
}

impl Yields {
    fn order(self) -> usize {
        match self {
            Yields::Image(_) | Yields::Path(_) => 0,
            Yields::Line(_) => 1,
            Yields::End(_) => 2,
            Yields::Never => 3,
        }
    }

    fn keeps(self) -> Option<usize> {
        match self {
            Yields::Image(kept) | Yields::Path(kept) | Yields::Line(kept) | Yields::End(kept) => Some(kept),
            Yields::Never => None,
        }
    }

    fn cut(self, cell: &Cell, width: usize) -> Cell {
        let text = match self {
            Yields::Image(_) => width::image(&cell.text, width),
            Yields::Path(_) => width::start(&cell.text, width),
            Yields::Line(_) | Yields::End(_) | Yields::Never => width::end(&cell.text, width),
        };
        Cell { text, style: cell.style }
    }
}

fn total(widths: &[usize]) -> usize {
    widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1)
}

fn set(widths: &mut [usize], at: usize, width: usize) {
    if let Some(place) = widths.get_mut(at) {
        *place = width;
    }
}

/// Cells and their widths as a line without blanks at its end.
fn put(text: &mut String, cells: impl Iterator<Item = (Cell, usize)>, look: Look) {
    let mut blanks = 0;
    for (cell, width) in cells {
        let columns = cell.columns();
        if columns > 0 {
            text.extend(std::iter::repeat_n(' ', blanks));
            text.push_str(&look.paint.on(cell.style, &cell.text));
            blanks = 0;
        }
        blanks += width.saturating_sub(columns) + GAP.len();
    }
    text.push('\n');
}

fn put_indented(text: &mut String, line: &mut Vec<(Cell, usize)>, look: Look) {
    if !line.is_empty() {
        text.push_str(GAP);
        put(text, line.drain(..), look);
    }
}

#[cfg(test)]
#[path = "layout/tests.rs"]
mod tests;
