//! The recorded answers of the real server: reading, writing, comparing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};

use crate::layout;
use crate::run::{BROKEN_OFF, Recorded};

/// All chapters by name.
pub type Answers = BTreeMap<String, Vec<Recorded>>;

/// Where the recorded answers are.
pub fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/answers.json")
}

/// Reads recorded answers.
pub fn read(path: &Path) -> Answers {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let value: Map<String, Value> = serde_json::from_str(&text).expect("recorded answers are JSON");
    let one = |value: &Value| {
        let mut answer = value.as_object().cloned().expect("an answer is an object");
        let mut take = |key: &str| answer.remove(key).and_then(|text| text.as_str().map(str::to_owned)).expect("text");
        Recorded { title: take("title"), request: take("request"), answer }
    };
    value.iter().map(|(name, list)| (name.clone(), list.as_array().into_iter().flatten().map(one).collect())).collect()
}

/// Writes recorded answers for people to read.
pub fn write(path: &Path, answers: &Answers) {
    let mut out = String::from("{");
    for (number, (chapter, list)) in answers.iter().enumerate() {
        out.push_str(if number == 0 { "\n" } else { ",\n" });
        out.push_str(&format!("\"{chapter}\": ["));
        for (number, one) in list.iter().enumerate() {
            out.push_str(if number == 0 { "\n" } else { ",\n" });
            let code = one.answer.get("code").cloned().unwrap_or_default();
            let head = [("title", json!(one.title)), ("request", json!(one.request)), ("code", code)];
            let rest = one.answer.iter().filter(|(key, _)| *key != "code").map(|(key, value)| (key.as_str(), value));
            let fields = head.iter().map(|(key, value)| (*key, value)).chain(rest);
            out.push_str(&layout::object(fields, 1));
        }
        out.push_str("\n]");
    }
    out.push_str("\n}\n");
    std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder for the answers");
    std::fs::write(path, out).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
}

/// Replaces long values that the chapter has shown before by where that was, so that each is read, and differs, once.
pub fn shorten(list: &mut [Recorded]) {
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    for one in list {
        let title = one.title.clone();
        for (key, value) in &mut one.answer {
            if key == "body" || key == "events" {
                shorten_value(&mut seen, &title, "", value);
            }
        }
    }
}

/// Shorter than this, a value is repeated: a reference would not be easier to read.
const LONG: usize = 100;

fn shorten_value(seen: &mut BTreeMap<String, String>, title: &str, path: &str, value: &mut Value) {
    let text = value.to_string();
    if text.len() < LONG || !(value.is_object() || value.is_array()) {
        return;
    }
    // A Status is short, and read alone.
    if value.get("Status").is_some() {
        return;
    }
    if let Some(place) = seen.get(&text) {
        *value = json!(format!("as in {place}"));
        return;
    }
    seen.insert(text, format!("{title:?} {path}").trim_end().to_owned());
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match value {
        Value::Object(object) => {
            object.iter_mut().for_each(|(key, child)| shorten_value(seen, title, &join(key), child))
        }
        Value::Array(list) => {
            list.iter_mut()
                .enumerate()
                .for_each(|(at, child)| shorten_value(seen, title, &join(&at.to_string()), child));
        }
        _ => {}
    }
}

/// A place where two runs differ.
#[derive(Debug, PartialEq)]
pub struct Difference {
    pub chapter: String,
    pub title: String,
    /// Where in the answer.
    pub field: String,
    pub expected: Value,
    pub found: Value,
}

/// All places where two runs differ.
pub fn differences(expected: &Answers, found: &Answers) -> Vec<Difference> {
    let mut out = Vec::new();
    let chapters: std::collections::BTreeSet<_> = expected.keys().chain(found.keys()).collect();
    for chapter in chapters {
        let empty = Vec::new();
        let (left, right) = (expected.get(chapter).unwrap_or(&empty), found.get(chapter).unwrap_or(&empty));
        let index = |list: &[Recorded]| -> BTreeMap<String, Value> {
            list.iter()
                .map(|one| {
                    let mut answer = one.answer.clone();
                    answer.insert("request".to_owned(), json!(one.request));
                    (one.title.clone(), Value::Object(answer))
                })
                .collect()
        };
        let broken_off = right.iter().any(|one| one.answer.contains_key(BROKEN_OFF));
        let right = index(right);
        let left_by_title = index(left);
        let mut titles: Vec<&String> = left.iter().map(|one| &one.title).collect();
        titles.extend(right.keys().filter(|title| !left_by_title.contains_key(*title)));
        for title in titles {
            let (one, other) = (left_by_title.get(title), right.get(title));
            if broken_off && other.is_none() {
                continue;
            }
            let mut places = Vec::new();
            differing("", one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null), &mut places);
            out.extend(places.into_iter().map(|(field, expected, found)| Difference {
                chapter: chapter.clone(),
                title: title.clone(),
                field,
                expected,
                found,
            }));
        }
    }
    out
}

fn differing(path: &str, one: &Value, other: &Value, out: &mut Vec<(String, Value, Value)>) {
    let join = |key: &str| if path.is_empty() { key.to_owned() } else { format!("{path}.{key}") };
    match (one, other) {
        (Value::Object(left), Value::Object(right)) => {
            let keys: std::collections::BTreeSet<_> = left.keys().chain(right.keys()).collect();
            for key in keys {
                let nothing = &Value::Null;
                differing(&join(key), left.get(key).unwrap_or(nothing), right.get(key).unwrap_or(nothing), out);
            }
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            for (at, (left, right)) in left.iter().zip(right).enumerate() {
                differing(&join(&at.to_string()), left, right, out);
            }
        }
        _ if one == other => {}
        _ => out.push((path.to_owned(), one.clone(), other.clone())),
    }
}
