//! The lines that a terminal shows while an operation runs: one for each workload that has not ended.

pub mod screen;

use std::collections::HashMap;
use std::time::Duration;

use workload_host::text::span;

use super::layout::GAP;
use super::style::{FAINT, Paint};
use super::table::plain;
use super::terminal::Size;
use super::width;

/// An id takes at most one part of this many of a line when what it waits for needs the room.
const ID_SHARE: usize = 2;

/// Less than this of an id or of what it waits for tells nothing: others get the room.
const LEAST: usize = 6;

/// What is known of each workload while it is waited for.
#[derive(Debug)]
pub struct Live {
    doing: &'static str,
    ids: Vec<String>,
    /// What those that have not ended wait for, as far as it is known.
    open: HashMap<String, Option<String>>,
}

impl Live {
    /// Something that is being done with each of these, such as "starting".
    pub fn new(doing: &'static str, ids: &[String]) -> Live {
        Live { doing, ids: ids.to_vec(), open: ids.iter().map(|id| (id.clone(), None)).collect() }
    }

    /// It waits for something else than before.
    pub fn waits(&mut self, id: &str, text: &str) {
        if let Some(waits) = self.open.get_mut(id) {
            *waits = Some(text.to_owned());
        }
    }

    /// It ended: what became of it is said elsewhere.
    pub fn ended(&mut self, id: &str) {
        self.open.remove(id);
    }

    /// The lines, none longer than the terminal is wide, and fewer than it is high: the last one is the cursor's.
    pub fn lines(&self, elapsed: Duration, size: Size, paint: Paint) -> Vec<String> {
        let open = self.ids.iter().filter_map(|id| Some((id, self.open.get(id)?)));
        let rows = size.rows.saturating_sub(1);
        if rows == 0 {
            return Vec::new();
        }
        let shown = if self.open.len() > rows { rows - 1 } else { rows };
        // Whole seconds: it would never be at rest otherwise.
        let time = span(Duration::from_secs(elapsed.as_secs()));
        let texts = |(id, waits): (&String, &Option<String>)| {
            let words = match waits {
                Some(waits) => format!("{}: {waits}", self.doing),
                None => self.doing.to_owned(),
            };
            (plain(id), plain(&words))
        };
        let mut lines = aligned(&open.take(shown).map(texts).collect::<Vec<_>>(), &time, size.columns, paint);
        if self.open.len() > shown {
            let more = format!("… and {} more{GAP}{time}", self.open.len() - shown);
            lines.push(paint.on(FAINT, &width::end(&more, size.columns)));
        }
        lines
    }
}

/// Ids, what they wait for, and for how long, below each other.
fn aligned(texts: &[(String, String)], time: &str, columns: usize, paint: Paint) -> Vec<String> {
    let widest = |of: fn(&(String, String)) -> &String| texts.iter().map(of).map(|text| width::columns(text)).max();
    let (time, room) = match columns.checked_sub(width::columns(time) + GAP.len()) {
        Some(room) if room >= LEAST => (Some(time), room),
        _ => (None, columns),
    };
    let whole = widest(|(id, _)| id).unwrap_or(0);
    let words = widest(|(_, words)| words).unwrap_or(0);
    let mut id_width = whole.min((room / ID_SHARE).max(room.saturating_sub(words + GAP.len())));
    let mut words_width = words.min(room.saturating_sub(id_width + GAP.len()));
    if words_width < LEAST.min(words) {
        id_width = whole.min(room);
        words_width = 0;
    }
    let line = |(id, words): &(String, String)| {
        let id = width::middle(id, id_width);
        let mut line = padded(&id, id_width);
        if words_width > 0 {
            line.push_str(GAP);
            line.push_str(&padded(&width::end(words, words_width), words_width));
        }
        if let Some(time) = time {
            line.push_str(GAP);
            line.push_str(&paint.on(FAINT, time));
        }
        line
    };
    texts.iter().map(line).collect()
}

fn padded(text: &str, width: usize) -> String {
    format!("{text}{}", " ".repeat(width.saturating_sub(width::columns(text))))
}

#[cfg(test)]
#[path = "live/tests.rs"]
mod tests;
