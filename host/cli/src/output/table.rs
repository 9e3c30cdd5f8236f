//! What a person reads, as text: tables, and a line or more about each id that ended.

use std::fmt::Write as _;

use serde_json::Value;
use workload_host::Inspection;
use workload_host::model::{Descriptor, PlannedRequest, Status, Workload};
use workload_host::text::span;

use super::layout::growing::Growing;
use super::layout::{Cell, Column, GAP, NONE, Row, Table, Yields};
use super::style::{self, FAINT, GOOD, HEAD, Paint};
use super::terminal::Look;
use super::width;
use crate::answer::{End, Entry};

const WORKLOADS: &[Column] = &[
    Column { head: "ID", yields: Yields::Line(12) },
    Column { head: "STATUS", yields: Yields::Never },
    Column { head: "REASON", yields: Yields::End(8) },
    Column { head: "READY", yields: Yields::Never },
    Column { head: "IMAGE", yields: Yields::Image(12) },
];

/// The same as a watch has them, with the time at which it was so.
const WATCHED: &[Column] = &[
    Column { head: "TIME", yields: Yields::Never },
    Column { head: "ID", yields: Yields::Line(12) },
    Column { head: "STATUS", yields: Yields::Never },
    Column { head: "REASON", yields: Yields::End(8) },
    Column { head: "READY", yields: Yields::Never },
    Column { head: "IMAGE", yields: Yields::Image(12) },
];

/// What its columns are at least as wide as: of words the longest, of the rest what is usual. Rows that come later are then
/// aligned with those that stand already.
const WATCHED_LEAST: &[usize] = &[9, 24, 8, 18, 5, 16];

const PROVIDERS: &[Column] = &[
    Column { head: "NAME", yields: Yields::Line(12) },
    Column { head: "VERSION", yields: Yields::End(8) },
    Column { head: "ENGINE", yields: Yields::End(8) },
    Column { head: "WORLD", yields: Yields::Never },
    Column { head: "SOURCE", yields: Yields::Path(12) },
];

/// What stands above what there is to say.
const MESSAGE: &str = "MESSAGE";

/// The words of `provider inspect` stand in a column of this width, with the gap.
const WORDS: usize = 9;

/// The table of `list`.
pub fn listing(workloads: &[Workload], look: Look) -> String {
    let rows = workloads.iter().map(|workload| Row { cells: cells(workload), note: None });
    Table { columns: WORKLOADS, note: None, rows: rows.collect() }.lines(look)
}

/// The table of `status`: the same, and what there is to say.
pub fn statuses<'a>(workloads: impl Iterator<Item = &'a Workload>, look: Look) -> String {
    let rows = workloads.map(|workload| Row { cells: cells(workload), note: message(workload).map(plain) });
    Table { columns: WORKLOADS, note: Some(MESSAGE), rows: rows.collect() }.lines(look)
}

/// The table of a watch, with messages or without.
pub fn watched(messages: bool) -> Growing {
    Growing::new(WATCHED, WATCHED_LEAST, messages.then_some(MESSAGE))
}

/// A row of it.
pub fn watched_row(workload: &Workload, messages: bool, time: String) -> Row {
    let mut row = Row { cells: cells(workload), note: message(workload).filter(|_| messages).map(plain) };
    row.cells.insert(0, Cell { text: time, style: FAINT });
    row
}

/// What there is to say.
fn message(workload: &Workload) -> Option<&str> {
    workload.message.as_deref().filter(|message| !message.is_empty())
}

fn cells(workload: &Workload) -> Vec<Cell> {
    let counted = !matches!(workload.status, Status::Missing | Status::Unknown);
    let ready = if counted { format!("{}/{}", workload.available, workload.desired) } else { NONE.to_owned() };
    let image = workload.image.as_deref().filter(|image| !image.is_empty());
    vec![
        Cell::plain(plain(&workload.id)),
        Cell { text: workload.status.word().to_owned(), style: style::status(workload.status) },
        Cell::plain(plain(&workload.reason)),
        Cell::plain(ready),
        Cell::plain(image.map_or_else(|| NONE.to_owned(), plain)),
    ]
}

/// How one id ended well, as one line; what would be written, as several. A fault is not said here but on standard
/// error.
pub fn entry(entry: &Entry, paint: Paint) -> Option<String> {
    let id = plain(&entry.id);
    match &entry.end {
        End::Done(outcome) => {
            let word = paint.on(GOOD, &outcome.word.to_string());
            Some(format!("{id}{GAP}{word}{GAP}{}", paint.on(FAINT, &format!("({})", span(entry.elapsed)))))
        }
        End::Planned(request) => Some(plan(&id, request, paint)),
        End::Nothing(outcome) => {
            let why = outcome.workload.as_ref().and_then(message).map_or_else(|| outcome.word.to_string(), plain);
            Some(format!("{id} would send nothing: {why}"))
        }
        End::Fault(_) => None,
    }
}

fn plan(id: &str, request: &PlannedRequest, paint: Paint) -> String {
    let line = format!("{} {}", request.method.as_str(), plain(&request.target));
    let mut text = format!("{id} would send\n{}", paint.on(HEAD, &line));
    if let Some(body) = &request.body {
        // `{:#}` indents. JSON escapes control characters itself.
        let _ = write!(text, "\n{body:#}");
    }
    text
}

/// The table of `provider list`: each with where it comes from.
pub fn providers(rows: &[(&str, &Descriptor)], look: Look) -> String {
    let row = |(source, found): &(&str, &Descriptor)| {
        let cells =
            [&found.name, &found.version, &found.engine, found.world, source].map(|text| Cell::plain(plain(text)));
        Row { cells: cells.into(), note: None }
    };
    Table { columns: PROVIDERS, note: None, rows: rows.iter().map(row).collect() }.lines(look)
}

/// The text of `provider inspect`.
pub fn inspection(found: &Inspection, look: Look) -> String {
    let Descriptor { name, version, engine, asks, spec_schema, world } = &found.descriptor;
    let size = format!("{} bytes", found.size);
    let none = [NONE.to_owned()];
    let listed = |words: &'_ [String]| if words.is_empty() { none.to_vec() } else { words.to_vec() };
    let mut text = String::new();
    let one = [("name", name.as_str()), ("version", version), ("engine", engine), ("world", world), ("size", &size)];
    for (word, value) in one {
        put(&mut text, word, &[value.to_owned()], look);
    }
    put(&mut text, "sha256", std::slice::from_ref(&found.sha256), look);
    put(&mut text, "imports", &listed(&found.imports), look);
    put(&mut text, "asks", &listed(asks), look);
    let schema =
        serde_json::from_str(spec_schema).map_or_else(|_| spec_schema.clone(), |json: Value| format!("{json:#}"));
    let mut lines = schema.lines();
    put(&mut text, "spec", &[lines.next().unwrap_or(NONE).to_owned()], look);
    for line in lines {
        for part in width::hang(&plain(line), look.width.unwrap_or(usize::MAX)) {
            text.push_str(&part);
            text.push('\n');
        }
    }
    text
}

/// A word and what there is of it, each in a line of its own, or in more on a narrow terminal.
fn put(text: &mut String, word: &str, values: &[String], look: Look) {
    let mut word = word;
    for value in values {
        let value = plain(value);
        let room = look.width.map_or(usize::MAX, |width| width.saturating_sub(WORDS));
        let parts = if width::columns(&value) > room { width::wrap(&value, room) } else { vec![value] };
        for part in parts {
            let blanks = " ".repeat(WORDS.saturating_sub(word.len()));
            text.push_str(&format!("{}{blanks}{part}\n", look.paint.on(HEAD, word)));
            word = "";
        }
    }
}

/// One line without anything that a terminal could obey, or that hides or turns around what is read. The host has
/// cleaned what providers say; what the user typed, and what a kubeconfig holds, comes through here too.
pub fn plain(text: &str) -> String {
    workload_host::text::clean(text.to_owned(), usize::MAX)
}

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;
