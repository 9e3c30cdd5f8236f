//! What a stream leads to: a terminal of some size, or anything else.

use std::env;
use std::ffi::OsStr;
use std::io::IsTerminal;
use std::os::fd::AsFd;

use anstream::stream::RawStream;
use anstream::{AutoStream, ColorChoice};
use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcgetwinsize};

use super::style::Paint;
use crate::args::Color;

/// A terminal that does not know its size is one like this, as its users assume.
const USUAL: Size = Size { columns: 80, rows: 24 };

/// The size of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    /// Characters in a line, of which wide ones count twice; never none.
    pub columns: usize,
    /// Lines; never none.
    pub rows: usize,
}

/// How text is laid out for a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// The columns of a terminal. Anything else takes lines of any length.
    pub width: Option<usize>,
    /// With or without colour.
    pub paint: Paint,
}

impl Look {
    /// Of this stream, at this moment: a terminal's size may change.
    pub fn of(stream: &(impl RawStream + IsTerminal + AsFd), color: Color) -> Look {
        Look { width: size(stream).map(|size| size.columns), paint: paint(stream, color) }
    }
}

/// Whether to write in colour to this stream. What the environment says counts as for other programs: NO_COLOR,
/// CLICOLOR, CLICOLOR_FORCE, TERM.
pub fn paint(stream: &impl RawStream, color: Color) -> Paint {
    Paint(match color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => AutoStream::choice(stream) != ColorChoice::Never,
    })
}

/// The size of the terminal, if it is one. What it does not say itself, the environment may.
pub fn size(stream: &(impl IsTerminal + AsFd)) -> Option<Size> {
    if !stream.is_terminal() {
        return None;
    }
    let (columns, rows) = tcgetwinsize(stream).map_or((0, 0), |size| (size.ws_col, size.ws_row));
    let known = |said: u16, name: &str, usual| first(said, env::var_os(name).as_deref(), usual);
    Some(Size { columns: known(columns, "COLUMNS", USUAL.columns), rows: known(rows, "LINES", USUAL.rows) })
}

fn first(said: u16, named: Option<&OsStr>, usual: usize) -> usize {
    let named = || named.and_then(OsStr::to_str).and_then(|text| text.parse().ok()).filter(|number| *number > 0);
    if said > 0 { usize::from(said) } else { named().unwrap_or(usual) }
}

/// Whether lines of this stream can be written anew: it is a terminal that can move its cursor.
pub fn is_live(stream: &impl IsTerminal) -> bool {
    stream.is_terminal() && moves(env::var_os("TERM").as_deref())
}

fn moves(term: Option<&OsStr>) -> bool {
    term.is_some_and(|term| !term.is_empty() && term != "dumb")
}

/// Whether this terminal is ours at the moment. In the background a shell has its prompt there, which must not be
/// written over. Where nothing tells, as on a terminal without jobs, it is.
pub fn is_ours(stream: impl AsFd) -> bool {
    tcgetpgrp(stream).map_or(true, |group| group == getpgrp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::said(100, Some("70"), 100)]
    #[case::named(0, Some("70"), 70)]
    #[case::neither(0, None, 80)]
    #[case::named_nothing(0, Some("0"), 80)]
    #[case::named_nonsense(0, Some("wide"), 80)]
    fn widths(#[case] said: u16, #[case] named: Option<&str>, #[case] expected: usize) {
        assert_eq!(first(said, named.map(OsStr::new), USUAL.columns), expected);
    }

    #[rstest]
    #[case::usual(Some("xterm-256color"), true)]
    #[case::dumb(Some("dumb"), false)]
    #[case::empty(Some(""), false)]
    #[case::unset(None, false)]
    fn cursors(#[case] term: Option<&str>, #[case] expected: bool) {
        assert_eq!(moves(term.map(OsStr::new)), expected);
    }

    #[test]
    fn a_pipe_has_no_size_and_nothing_to_write_anew() {
        let (_reader, writer) = std::io::pipe().unwrap();
        let writer = std::os::fd::OwnedFd::from(writer);
        assert_eq!(size(&writer), None);
        assert!(!is_live(&writer));
    }
}
