//! Text that came from a provider, made fit for a terminal, a log and a document.
//!
//! A provider is hostile until shown otherwise: its texts may hold escape sequences, line breaks that forge a log
//! line, or characters that reverse what is read. They are written out instead, as `\u{1b}`.

use std::fmt::Write as _;
use std::time::Duration;

/// What stands for the rest of a text that was cut.
const ELLIPSIS: char = '…';

/// Cleans `text` and cuts it at `limit` bytes, at a character.
///
/// The usual text, short and without control characters, is handed through without a copy.
#[must_use]
pub fn clean(text: String, limit: usize) -> String {
    if text.len() <= limit && !text.chars().any(unfit) {
        return text;
    }
    let mut cleaned = String::with_capacity(text.len().min(limit) + ELLIPSIS.len_utf8());
    let mut escaped = String::new();
    for character in text.chars() {
        escaped.clear();
        if unfit(character) {
            // Cannot fail: writing to a String.
            let _ = write!(escaped, "{}", character.escape_unicode());
        } else {
            escaped.push(character);
        }
        if cleaned.len() + escaped.len() > limit {
            cleaned.push(ELLIPSIS);
            break;
        }
        cleaned.push_str(&escaped);
    }
    cleaned
}

/// A span of time for a person, as it is also typed: `250ms`, `1.6s`, `5m0s`, `1h0m30s`.
#[must_use]
pub fn span(duration: Duration) -> String {
    let seconds = duration.as_secs();
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60, duration.subsec_millis()) {
        (0, 0, 0, 0) => "0s".to_owned(),
        (0, 0, 0, millisecond) => format!("{millisecond}ms"),
        (0, 0, second, 0..100) => format!("{second}s"),
        (0, 0, second, millisecond) => format!("{second}.{}s", millisecond / 100),
        (0, minute, second, _) => format!("{minute}m{second}s"),
        (hour, minute, second, _) => format!("{hour}h{minute}m{second}s"),
    }
}

/// Control characters, what separates lines, and what changes the direction or hides.
fn unfit(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rstest::rstest;

    use super::{clean, span};

    #[rstest]
    #[case::nothing(0, "0s")]
    #[case::short(29, "29ms")]
    #[case::whole(3_000, "3s")]
    #[case::tenths(3_249, "3.2s")]
    #[case::just_a_whole(3_099, "3s")]
    #[case::below_a_minute(59_999, "59.9s")]
    #[case::minutes(300_000, "5m0s")]
    #[case::hours(3_661_000, "1h1m1s")]
    fn spans(#[case] ms: u64, #[case] wanted: &str) {
        assert_eq!(span(Duration::from_millis(ms)), wanted);
    }

    #[rstest]
    #[case::plain("2 of 3 replicas, ä", 64, "2 of 3 replicas, ä")]
    #[case::escape("\u{1b}[31mred", 64, "\\u{1b}[31mred")]
    #[case::lines("a\nb\r\tc", 64, "a\\u{a}b\\u{d}\\u{9}c")]
    #[case::reversed("a\u{202e}b", 64, "a\\u{202e}b")]
    #[case::nul("\0", 64, "\\u{0}")]
    #[case::cut("abcdef", 4, "abcd…")]
    #[case::cut_at_a_character("aää", 4, "aä…")]
    #[case::no_half_escape("abc\u{1b}", 4, "abc…")]
    #[case::exact("abcd", 4, "abcd")]
    fn texts(#[case] text: &str, #[case] limit: usize, #[case] wanted: &str) {
        assert_eq!(clean(text.to_owned(), limit), wanted);
    }
}
