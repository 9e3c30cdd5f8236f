//! Where the emulator is known to differ from the real cluster, and why: `testdata/accepted.json`, shown in the README.

use std::path::{Path, PathBuf};

use serde_json::Value;

/// One place where the emulator may differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Accepted {
    pub chapter: String,
    /// The title of the request, or the command.
    pub what: String,
    /// Where in the answer, with all that is below it; empty is anywhere.
    pub field: String,
    pub reason: String,
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The accepted differences of `requests` or of `kubectl`.
pub fn read(kind: &str) -> Vec<Accepted> {
    let text = std::fs::read_to_string(file("testdata/accepted.json")).expect("testdata/accepted.json");
    let value: Value = serde_json::from_str(&text).expect("testdata/accepted.json is JSON");
    let text = |one: &Value, key: &str| one[key].as_str().unwrap_or_default().to_owned();
    let one = |one: &Value| {
        let accepted = Accepted {
            chapter: text(one, "chapter"),
            what: text(one, "what"),
            field: text(one, "field"),
            reason: text(one, "reason"),
        };
        assert!(!accepted.reason.is_empty(), "an accepted difference without a reason: {accepted:?}");
        accepted
    };
    value[kind].as_array().expect("a list of accepted differences").iter().map(one).collect()
}

impl Accepted {
    /// Whether a difference is this one.
    pub fn covers(&self, chapter: &str, what: &str, field: &str) -> bool {
        let below = field.strip_prefix(&self.field);
        let below = below.is_some_and(|rest| self.field.is_empty() || rest.is_empty() || rest.starts_with('.'));
        self.chapter == chapter && self.what == what && below
    }
}

/// The section of the README that shows them.
pub fn section() -> String {
    let mut rows = Vec::new();
    for kind in ["requests", "kubectl"] {
        for one in read(kind) {
            let kubectl = if kind == "kubectl" { "`kubectl`, " } else { "" };
            let field = if one.field.is_empty() { "everything".to_owned() } else { format!("`{}`", one.field) };
            rows.push(format!("| {kubectl}{}: {} | {field} | {} |\n", one.chapter, one.what, one.reason));
        }
    }
    if rows.is_empty() {
        return "None.\n".to_owned();
    }
    format!("| where | what | why |\n|---|---|---|\n{}", rows.concat())
}

/// The text of the README between the marks.
pub fn shown() -> String {
    let text = std::fs::read_to_string(file("README.md")).expect("README.md");
    let (_, rest) = text.split_once("<!-- accepted differences -->\n").expect("the mark in the README");
    let (section, _) = rest.split_once("<!-- end -->").expect("the second mark in the README");
    section.to_owned()
}
