//! Colours. They only underline what the words say: without them nothing is lost.

use anstyle::{AnsiColor, Style};
use workload_host::model::Status;

/// The head of a table, and what a request would do.
pub const HEAD: Style = Style::new().bold();

/// What went wrong.
pub const ERROR: Style = AnsiColor::Red.on_default().bold();

/// What went well.
pub const GOOD: Style = AnsiColor::Green.on_default();

/// What is under way.
pub const BUSY: Style = AnsiColor::Yellow.on_default();

/// What is there for completeness.
pub const FAINT: Style = Style::new().dimmed();

/// The style of a status.
pub fn status(status: Status) -> Style {
    match status {
        Status::Running => GOOD,
        Status::Offline => FAINT,
        Status::Creating => BUSY,
        Status::Failed => AnsiColor::Red.on_default(),
        Status::Missing | Status::Unknown => AnsiColor::Magenta.on_default(),
    }
}

/// With or without colour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(pub bool);

impl Paint {
    /// The text in this style, or as it is.
    pub fn on(self, style: Style, text: &str) -> String {
        if self.0 && !style.is_plain() && !text.is_empty() {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::styled(true, ERROR, "error:", "\u{1b}[1m\u{1b}[31merror:\u{1b}[0m")]
    #[case::plain_style(true, Style::new(), "a", "a")]
    #[case::nothing_to_paint(true, ERROR, "", "")]
    #[case::no_paint(false, ERROR, "error:", "error:")]
    fn painted(#[case] paint: bool, #[case] style: Style, #[case] text: &str, #[case] expected: &str) {
        assert_eq!(Paint(paint).on(style, text), expected);
    }
}
