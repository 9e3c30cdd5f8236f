//! Values as YAML.

use serde_json::Value;

/// A value as a document.
pub fn write(value: &Value) -> String {
    let mut out = String::new();
    block(value, 0, &mut out);
    if !out.ends_with('\n') {
        out.push('\n');
    }
    out
}

/// On lines of its own, or for something short on the line that was begun.
fn block(value: &Value, indent: usize, out: &mut String) {
    match value {
        Value::Object(map) if !map.is_empty() => {
            for (index, (key, value)) in map.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                out.push_str(&scalar(key));
                out.push(':');
                entry(value, indent, out);
            }
        }
        Value::Array(items) if !items.is_empty() => {
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    pad(indent, out);
                }
                out.push_str("- ");
                block(item, indent + 2, out);
                if !out.ends_with('\n') {
                    out.push('\n');
                }
            }
        }
        Value::String(text) => out.push_str(&scalar(text)),
        // Numbers, booleans, null, and what is empty: the same as in JSON.
        other => out.push_str(&other.to_string()),
    }
}

/// What comes after a key.
fn entry(value: &Value, indent: usize, out: &mut String) {
    let deeper = match value {
        Value::Object(map) if !map.is_empty() => Some(indent + 2),
        // Lists are not indented below their key.
        Value::Array(items) if !items.is_empty() => Some(indent),
        _ => None,
    };
    match deeper {
        Some(deeper) => {
            out.push('\n');
            pad(deeper, out);
            block(value, deeper, out);
        }
        None => {
            out.push(' ');
            block(value, indent, out);
        }
    }
    if !out.ends_with('\n') {
        out.push('\n');
    }
}

fn pad(indent: usize, out: &mut String) {
    out.extend(std::iter::repeat_n(' ', indent));
}

/// A text without quotes where nobody can take it for something else.
fn scalar(text: &str) -> String {
    let word = |letter: char| letter.is_ascii_alphabetic();
    let inner = |letter: char| letter.is_ascii_alphanumeric() || "_-./ ".contains(letter);
    let special = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"];
    let safe = text.starts_with(word)
        && text.chars().all(inner)
        && !text.ends_with(' ')
        && !special.contains(&text.to_ascii_lowercase().as_str());
    // A text in JSON is one in YAML.
    if safe { text.to_owned() } else { Value::from(text).to_string() }
}
