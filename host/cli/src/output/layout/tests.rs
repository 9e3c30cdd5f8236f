use rstest::rstest;

use super::*;
use crate::output::style::{GOOD, Paint};

const COLUMNS: &[Column] = &[
    Column { head: "ID", yields: Yields::Line(8) },
    Column { head: "STATUS", yields: Yields::Never },
    Column { head: "REASON", yields: Yields::End(6) },
    Column { head: "IMAGE", yields: Yields::Image(8) },
];

fn row(id: &str, reason: &str, image: &str, note: Option<&str>) -> Row {
    let cells = vec![
        Cell::plain(id),
        Cell { text: "running".to_owned(), style: GOOD },
        Cell::plain(reason),
        Cell::plain(image),
    ];
    Row { cells, note: note.map(str::to_owned) }
}

fn table(notes: bool, rows: Vec<Row>) -> Table {
    Table { columns: COLUMNS, note: notes.then_some("MESSAGE"), rows }
}

fn look(width: Option<usize>) -> Look {
    Look { width, paint: Paint(false) }
}

fn two(notes: bool) -> Table {
    let note = notes.then_some("2 of 3 replicas available; one is on its way");
    table(
        notes,
        vec![
            row("shop/web", "available", "registry.example.com/web:1.2", note),
            row("shop/a-longer-name", "partial", "busybox:1", None),
        ],
    )
}

#[rstest]
#[case::whole_in_a_pipe(
    None,
    "\
ID                  STATUS   REASON     IMAGE
shop/web            running  available  registry.example.com/web:1.2
shop/a-longer-name  running  partial    busybox:1
"
)]
#[case::fits_exactly(
    Some(68),
    "\
ID                  STATUS   REASON     IMAGE
shop/web            running  available  registry.example.com/web:1.2
shop/a-longer-name  running  partial    busybox:1
"
)]
#[case::an_image_gives_way_first(
    Some(60),
    "\
ID                  STATUS   REASON     IMAGE
shop/web            running  available  …example.com/web:1.2
shop/a-longer-name  running  partial    busybox:1
"
)]
#[case::then_a_long_id_gets_a_line(
    Some(46),
    "\
ID        STATUS   REASON     IMAGE
shop/web  running  available  …ple.com/web:1.2
shop/a-longer-name
          running  partial    busybox:1
"
)]
#[case::then_a_reason_its_end(
    Some(36),
    "\
ID        STATUS   REASON   IMAGE
shop/web  running  availa…  …web:1.2
shop/a-longer-name
          running  partial  …sybox:1
"
)]
#[case::then_every_row_is_on_its_own(
    Some(30),
    "\
shop/web
  running  available
  registry.example.com/web:1.2
shop/a-longer-name
  running  partial  busybox:1
"
)]
fn as_wide_as_there_is_room(#[case] width: Option<usize>, #[case] expected: &str) {
    assert_eq!(two(false).lines(look(width)), expected);
}

#[rstest]
#[case::in_a_pipe(
    None,
    "\
ID                  STATUS   REASON     IMAGE                         MESSAGE
shop/web            running  available  registry.example.com/web:1.2  2 of 3 replicas available; one is on its way
shop/a-longer-name  running  partial    busybox:1                     -
"
)]
#[case::beside_the_row(
    Some(114),
    "\
ID                  STATUS   REASON     IMAGE                         MESSAGE
shop/web            running  available  registry.example.com/web:1.2  2 of 3 replicas available; one is on its way
shop/a-longer-name  running  partial    busybox:1                     -
"
)]
#[case::below_it(
    Some(113),
    "\
ID                  STATUS   REASON     IMAGE
shop/web            running  available  registry.example.com/web:1.2
  2 of 3 replicas available; one is on its way
shop/a-longer-name  running  partial    busybox:1
"
)]
#[case::in_several_lines(
    Some(30),
    "\
shop/web
  running  available
  registry.example.com/web:1.2
  2 of 3 replicas available;
  one is on its way
shop/a-longer-name
  running  partial  busybox:1
"
)]
fn notes(#[case] width: Option<usize>, #[case] expected: &str) {
    assert_eq!(two(true).lines(look(width)), expected);
}

#[test]
fn a_very_long_note_loses_its_end() {
    let note = (1..=40).map(|number| format!("word{number}")).collect::<Vec<_>>().join(" ");
    let text = table(true, vec![row("a/b", "x", "y", Some(&note))]).lines(look(Some(40)));
    let lines: Vec<&str> = text.lines().skip(2).collect();
    assert_eq!(lines.len(), NOTE_LINES);
    assert!(lines[3].ends_with('…'), "{text}");
}

#[test]
fn columns_are_measured_as_they_are_shown() {
    let rows = vec![row("日本", "x", "y", None), row("abcd", "x", "y", None), row("e\u{301}", "x", "y", None)];
    let expected = "\
ID    STATUS   REASON  IMAGE
日本  running  x       y
abcd  running  x       y
e\u{301}     running  x       y
";
    assert_eq!(table(false, rows).lines(look(Some(80))), expected);
}

#[test]
fn colour_is_around_words_only() {
    let text = table(false, vec![row("a/b", "x", "y", None)]).lines(Look { width: Some(80), paint: Paint(true) });
    let expected = "\
\u{1b}[1mID\u{1b}[0m   \u{1b}[1mSTATUS\u{1b}[0m   \u{1b}[1mREASON\u{1b}[0m  \u{1b}[1mIMAGE\u{1b}[0m
a/b  \u{1b}[32mrunning\u{1b}[0m  x       y
";
    assert_eq!(text, expected);
}

/// Nothing is longer than the terminal is wide but an id, which is never cut.
#[rstest]
#[case::without_notes(false)]
#[case::with_notes(true)]
fn it_fits_every_terminal(#[case] notes: bool) {
    for width in 1..=130 {
        let text = two(notes).lines(look(Some(width)));
        for id in ["shop/web", "shop/a-longer-name"] {
            assert!(text.contains(id), "{width}: {text}");
        }
        let fits = |line: &str| width::columns(line) <= width || line.starts_with("shop/") && !line.contains("  ");
        // Narrower than a word and its indent, there is nothing left to be done.
        assert!(width < 10 || text.lines().all(fits), "{width}: {text}");
    }
}
