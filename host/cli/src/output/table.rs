//! Tables and lines for a person. No colour and no escape byte: a pipe gets the same.

use std::fmt::Write as _;

use serde_json::Value;
use workload_host::Inspection;
use workload_host::model::{Descriptor, PlannedRequest, Status, Workload};

use crate::answer::{End, Entry};
use crate::duration;

/// Between two columns.
const GAP: &str = "  ";

/// What stands where there is nothing.
const NONE: &str = "-";

/// Aligned columns; the last one is not padded.
pub fn table<const N: usize>(head: [&str; N], rows: &[[String; N]]) -> String {
    let mut widths = head.map(|word| word.chars().count());
    for row in rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(cell.chars().count());
        }
    }
    let mut text = String::new();
    let mut line = |cells: &mut dyn Iterator<Item = &str>| {
        let mut padded = String::new();
        for (width, cell) in widths.iter().zip(cells) {
            let _ = write!(padded, "{cell:width$}{GAP}");
        }
        text.push_str(padded.trim_end());
        text.push('\n');
    };
    line(&mut head.iter().copied());
    for row in rows {
        line(&mut row.iter().map(String::as_str));
    }
    text
}

/// The table of `list`.
pub fn listing(workloads: &[Workload]) -> String {
    let rows: Vec<_> = workloads.iter().map(cells).collect();
    table(["ID", "STATUS", "REASON", "READY", "IMAGE"], &rows)
}

/// The table of `status`: the same, and what there is to say.
pub fn statuses<'a>(workloads: impl Iterator<Item = &'a Workload>) -> String {
    let rows: Vec<_> = workloads
        .map(|workload| {
            let [id, status, reason, ready, image] = cells(workload);
            [id, status, reason, ready, image, cell(workload.message.as_deref())]
        })
        .collect();
    table(["ID", "STATUS", "REASON", "READY", "IMAGE", "MESSAGE"], &rows)
}

fn cells(workload: &Workload) -> [String; 5] {
    let counted = !matches!(workload.status, Status::Missing | Status::Unknown);
    [
        plain(&workload.id),
        workload.status.word().to_owned(),
        plain(&workload.reason),
        if counted { format!("{}/{}", workload.available, workload.desired) } else { NONE.to_owned() },
        cell(workload.image.as_deref()),
    ]
}

fn cell(text: Option<&str>) -> String {
    match text {
        Some(text) if !text.is_empty() => plain(text),
        _ => NONE.to_owned(),
    }
}

/// How one id ended well, as one line; what would be written, as several. A fault is not said here but on standard
/// error.
pub fn entry(entry: &Entry) -> Option<String> {
    match &entry.end {
        End::Done(outcome) => {
            let id = plain(&entry.id);
            Some(format!("{id}{GAP}{}{GAP}({})", outcome.word, duration::display(entry.elapsed)))
        }
        End::Planned(request) => Some(plan(&entry.id, request)),
        End::Fault(_) => None,
    }
}

fn plan(id: &str, request: &PlannedRequest) -> String {
    let mut text = format!("{} would send\n{} {}", plain(id), request.method.as_str(), plain(&request.target));
    if let Some(body) = &request.body {
        // `{:#}` indents. JSON escapes control characters itself.
        let _ = write!(text, "\n{body:#}");
    }
    text
}

/// The table of `provider list`: each with where it comes from.
pub fn providers(rows: &[(&str, &Descriptor)]) -> String {
    let cells = |(source, found): &(&str, &Descriptor)| {
        [plain(&found.name), plain(&found.version), plain(&found.engine), found.world.to_owned(), plain(source)]
    };
    table(["NAME", "VERSION", "ENGINE", "WORLD", "SOURCE"], &rows.iter().map(cells).collect::<Vec<_>>())
}

/// The text of `provider inspect`.
pub fn inspection(found: &Inspection) -> String {
    let Descriptor { name, version, engine, asks, spec_schema, world } = &found.descriptor;
    let listed = |words: &[String]| if words.is_empty() { NONE.to_owned() } else { words.join("\n         ") };
    let schema =
        serde_json::from_str(spec_schema).map_or_else(|_| spec_schema.clone(), |json: Value| format!("{json:#}"));
    let text = format!(
        "name     {name}\nversion  {version}\nengine   {engine}\nworld    {world}\nsize     {} bytes\nsha256   {}\n\
         imports  {}\nasks     {}\nspec     {schema}\n",
        found.size,
        found.sha256,
        listed(&found.imports),
        listed(asks),
    );
    text.lines().map(plain).fold(String::new(), |all, line| all + &line + "\n")
}

/// One line without anything that a terminal could obey, or that hides or turns around what is read. The host has
/// cleaned what providers say; what the user typed, and what a kubeconfig holds, comes through here too.
pub fn plain(text: &str) -> String {
    workload_host::text::clean(text.to_owned(), usize::MAX)
}

#[cfg(test)]
#[path = "table/tests.rs"]
mod tests;
