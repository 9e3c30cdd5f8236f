//! Text that came from a provider, made fit for a terminal, a log and a document.
//!
//! A provider is hostile until shown otherwise: its texts may hold escape sequences, line breaks that forge a log
//! line, or characters that reverse what is read. They are written out instead, as `\u{1b}`.

use std::fmt::Write as _;

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

/// Control characters, what separates lines, and what changes the direction or hides.
fn unfit(character: char) -> bool {
    character.is_control()
        || matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::clean;

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
