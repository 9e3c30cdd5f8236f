//! What the commands printed with the real cluster: reading, writing, comparing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::layout;

/// What a command printed and how it ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ran {
    pub command: String,
    pub exit: i32,
    pub stdout: Vec<String>,
    pub stderr: Vec<String>,
}

/// All chapters by name.
pub type Printed = BTreeMap<String, Vec<Ran>>;

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/kubectl.json")
}

/// Reads what was recorded; nothing when there is no file yet.
pub fn read() -> Printed {
    let Ok(text) = std::fs::read_to_string(path()) else { return Printed::new() };
    let value: BTreeMap<String, Vec<Value>> = serde_json::from_str(&text).expect("recorded output is JSON");
    let lines = |value: &Value| {
        value.as_array().into_iter().flatten().map(|line| line.as_str().expect("text").to_owned()).collect()
    };
    let one = |value: &Value| Ran {
        command: value["command"].as_str().expect("a command").to_owned(),
        exit: value["exit"].as_i64().and_then(|code| i32::try_from(code).ok()).expect("an exit code"),
        stdout: lines(&value["stdout"]),
        stderr: lines(&value["stderr"]),
    };
    value.iter().map(|(name, list)| (name.clone(), list.iter().map(one).collect())).collect()
}

/// Writes it for people to read.
pub fn write(printed: &Printed) {
    let mut out = String::from("{");
    for (number, (chapter, list)) in printed.iter().enumerate() {
        out.push_str(if number == 0 { "\n" } else { ",\n" });
        out.push_str(&format!("\"{chapter}\": ["));
        for (number, one) in list.iter().enumerate() {
            out.push_str(if number == 0 { "\n" } else { ",\n" });
            let fields = [
                ("command", json!(one.command)),
                ("exit", json!(one.exit)),
                ("stdout", json!(one.stdout)),
                ("stderr", json!(one.stderr)),
            ];
            let there = fields.iter().filter(|(_, value)| *value != json!([]));
            out.push_str(&layout::object(there.map(|(key, value)| (*key, value)), 1));
        }
        out.push_str("\n]");
    }
    out.push_str("\n}\n");
    std::fs::write(path(), out).unwrap_or_else(|error| panic!("{}: {error}", path().display()));
}

/// A command that printed something else, or ended otherwise.
#[derive(Debug)]
pub struct Difference {
    pub chapter: String,
    pub command: String,
    /// The lines that differ.
    pub text: String,
}

/// All commands that printed something else, or ended otherwise.
pub fn differences(expected: &Printed, found: &Printed) -> Vec<Difference> {
    let mut out = Vec::new();
    let chapters: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    for chapter in chapters {
        let empty = Vec::new();
        let (left, right) = (expected.get(chapter).unwrap_or(&empty), found.get(chapter).unwrap_or(&empty));
        for at in 0..left.len().max(right.len()) {
            let (left, right) = (left.get(at), right.get(at));
            if left == right {
                continue;
            }
            let (Some(left), Some(right)) = (left, right) else {
                let command = left.or(right).map(|one| one.command.clone()).unwrap_or_default();
                let text = "\n  only one of the two runs has it".to_owned();
                out.push(Difference { chapter: chapter.clone(), command, text });
                continue;
            };
            let mut text = String::new();
            if left.command != right.command {
                text.push_str(&format!("\n  another command was recorded here: {}", left.command));
            }
            if left.exit != right.exit {
                text.push_str(&format!("\n  exit code: recorded {}, found {}", left.exit, right.exit));
            }
            for (left, right) in [(&left.stdout, &right.stdout), (&left.stderr, &right.stderr)] {
                let missing = left.iter().filter(|line| !right.contains(line)).map(|line| format!("\n  - {line}"));
                let new = right.iter().filter(|line| !left.contains(line)).map(|line| format!("\n  + {line}"));
                let lines: String = missing.chain(new).collect();
                text.push_str(&lines);
                if lines.is_empty() && left != right {
                    text.push_str(&format!("\n  the same lines, but not in the same order or number: {right:#?}"));
                }
            }
            out.push(Difference { chapter: chapter.clone(), command: right.command.clone(), text });
        }
    }
    out
}
