use std::num::NonZeroU16;

use rstest::rstest;

use super::*;

/// A terminal of three words in a line above and the cursor below them.
fn terminal(columns: u16, rows: u16) -> vt100::Parser {
    let mut terminal = vt100::Parser::new(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap(), 100);
    terminal.process(b"$ workload start\r\n");
    terminal
}

fn show(terminal: &mut vt100::Parser, lines: &str) {
    let lines: Vec<String> = lines.lines().map(str::to_owned).collect();
    terminal.process(frame(&lines).as_bytes());
}

#[rstest]
#[case::once(&["a 1s\nb 1s"])]
#[case::again(&["a 1s\nb 1s", "a 2s\nb 2s"])]
#[case::shorter(&["a long line\nb", "a"])]
#[case::longer(&["a", "a longer\nb\nc"])]
#[case::as_wide_as_the_terminal(&["12345678901234567890\n12345678901234567890", "a2345678901234567890\nb"])]
fn frames_replace_each_other(#[case] frames: &[&str]) {
    let mut terminal = terminal(20, 6);
    for lines in frames {
        show(&mut terminal, lines);
        assert_eq!(terminal.screen().contents(), format!("$ workload start\n{lines}"));
        assert_eq!(terminal.screen().cursor_position(), (1, 0));
        assert!(!terminal.screen().hide_cursor());
    }
}

#[test]
fn a_full_screen_scrolls_once() {
    let mut terminal = terminal(20, 4);
    terminal.process(b"1\r\n2\r\n");
    for time in ["1s", "2s", "3s"] {
        show(&mut terminal, &format!("a {time}\nb {time}\nc {time}"));
    }
    assert_eq!(terminal.screen().contents(), "a 3s\nb 3s\nc 3s");
    assert_eq!(terminal.screen().scrollback_len(), 3);
}

#[test]
fn nothing_remains_and_what_follows_is_where_they_were() {
    let mut terminal = terminal(20, 6);
    show(&mut terminal, "a 1s\nb 1s");
    // What the terminal shows of the user's Ctrl-C.
    terminal.process(b"^C");
    terminal.process(ERASE.as_bytes());
    terminal.process(b"error: a\r\n");
    show(&mut terminal, "b 2s");
    assert_eq!(terminal.screen().contents(), "$ workload start\nerror: a\nb 2s");
}

#[rstest]
#[case::narrower(16, 6)]
#[case::wider(40, 6)]
#[case::lower(20, 3)]
fn a_new_size(#[case] columns: u16, #[case] rows: u16) {
    let mut terminal = terminal(20, 6);
    show(&mut terminal, "a long line for it\nand another");
    terminal.screen_mut().set_size(NonZeroU16::new(rows).unwrap(), NonZeroU16::new(columns).unwrap());
    show(&mut terminal, "a shorter\nline");
    let contents = terminal.screen().contents();
    assert!(contents == "a shorter\nline" || contents.ends_with("start\na shorter\nline"), "{contents}");
}
