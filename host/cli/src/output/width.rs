//! How wide text is on a terminal, and how it is made to fit.

use unicode_width::UnicodeWidthChar as _;

/// What stands for what was left out.
const LEFT_OUT: char = '…';

/// Digits of a digest that are kept: as many as tools show that shorten them.
const DIGEST: usize = 12;

/// How much further to the right a line goes on that does not fit.
const HANG: usize = 4;

/// The columns that a text takes. Counted by characters, as terminals do it; there are no control characters here.
pub fn columns(text: &str) -> usize {
    text.chars().map(of).sum()
}

fn of(character: char) -> usize {
    character.width().unwrap_or(0)
}

/// The text with its end left out where it is too long.
pub fn end(text: &str, width: usize) -> String {
    if columns(text) <= width {
        return text.to_owned();
    }
    let mut kept = front(text, width.saturating_sub(1)).trim_end().to_owned();
    if width > 0 {
        kept.push(LEFT_OUT);
    }
    kept
}

/// The text with its middle left out where it is too long: what tells two names apart is mostly at their ends.
pub fn middle(text: &str, width: usize) -> String {
    if columns(text) <= width || width < 2 {
        return end(text, width);
    }
    let front = front(text, (width - 1) / 2);
    format!("{front}{LEFT_OUT}{}", back(text, width - 1 - columns(front)))
}

/// The text with its beginning left out where it is too long.
pub fn start(text: &str, width: usize) -> String {
    if columns(text) <= width || width < 2 { end(text, width) } else { format!("{LEFT_OUT}{}", back(text, width - 1)) }
}

/// An image: its tag stays visible, and of a digest the first digits.
pub fn image(text: &str, width: usize) -> String {
    let digest = text.split_once('@').and_then(|(name, digest)| Some((name, digest.split_once(':')?)));
    match digest {
        Some((name, (algorithm, digits))) if columns(text) > width => {
            let room = width.saturating_sub(columns(name) + columns(algorithm) + "@:".len());
            let digits = end(digits, room.max(DIGEST + 1));
            start(&format!("{name}@{algorithm}:{digits}"), width)
        }
        _ => start(text, width),
    }
}

/// The longest part at the front that fits.
fn front(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let cut = text.char_indices().find(|(_, character)| {
        taken += of(*character);
        taken > width
    });
    cut.map_or(text, |(at, _)| text.split_at(at).0)
}

/// The longest part at the back that fits.
fn back(text: &str, width: usize) -> &str {
    let mut taken = 0;
    let cut = text.char_indices().rev().find(|(_, character)| {
        taken += of(*character);
        taken > width
    });
    cut.map_or(text, |(at, character)| text.split_at(at + character.len_utf8()).1)
}

/// The text in lines that fit, broken between words where that can be; a word that does not fit in a line is broken.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    let width = width.max(1);
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split_whitespace() {
        let mut word = word;
        if !line.is_empty() {
            if columns(&line) + 1 + columns(word) <= width {
                line.push(' ');
                line.push_str(word);
                continue;
            }
            lines.push(std::mem::take(&mut line));
        }
        while columns(word) > width {
            let mut part = front(word, width);
            if part.is_empty() {
                // One character that is wider than the line: it has to go somewhere.
                part = word.split_at(word.chars().next().map_or(word.len(), char::len_utf8)).0;
            }
            lines.push(part.to_owned());
            word = word.split_at(part.len()).1;
        }
        line.push_str(word);
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// A line of a document as lines that fit: they go on further to the right than it began.
pub fn hang(line: &str, width: usize) -> Vec<String> {
    if columns(line) <= width {
        return vec![line.to_owned()];
    }
    let indent = line.chars().take_while(|character| *character == ' ').count();
    let more = indent + HANG;
    let parts = wrap(line, width.saturating_sub(more));
    let indented = |(at, part): (usize, String)| format!("{}{part}", " ".repeat(if at == 0 { indent } else { more }));
    parts.into_iter().enumerate().map(indented).collect()
}

#[cfg(test)]
#[path = "width/tests.rs"]
mod tests;
