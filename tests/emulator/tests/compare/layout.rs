//! JSON for people to read: what fits on a line is on one line.

use serde_json::Value;

const WIDTH: usize = 140;

/// An object whose fields keep this order.
pub fn object<'a>(fields: impl Iterator<Item = (&'a str, &'a Value)>, depth: usize) -> String {
    let fields: Vec<String> = fields.map(|(key, value)| field(key, value, depth + 1)).collect();
    enclosed("{", &fields, "}", depth)
}

fn field(key: &str, value: &Value, depth: usize) -> String {
    let key = Value::from(key);
    let rest = text(value, depth, key.to_string().len() + 2);
    format!("{key}: {rest}")
}

/// A value that starts in a column somewhat right of its depth.
fn text(value: &Value, depth: usize, used: usize) -> String {
    let short = inline(value);
    if short.chars().count() + used + depth < WIDTH {
        return short;
    }
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> = fields.iter().map(|(key, value)| field(key, value, depth + 1)).collect();
            enclosed("{", &fields, "}", depth)
        }
        Value::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| text(item, depth + 1, 0)).collect();
            enclosed("[", &items, "]", depth)
        }
        _ => short,
    }
}

fn enclosed(start: &str, parts: &[String], end: &str, depth: usize) -> String {
    let indent = " ".repeat(depth);
    let lines: Vec<String> = parts.iter().map(|part| format!("{indent} {part}")).collect();
    format!("{start}\n{}\n{indent}{end}", lines.join(",\n"))
}

fn inline(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let fields: Vec<String> =
                fields.iter().map(|(key, value)| format!("{}: {}", Value::from(key.as_str()), inline(value))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
