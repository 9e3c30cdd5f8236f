//! JSON text in the order of Go's structs: messages of the server show values so.

use std::fmt::Write;

use serde_json::Value;

use super::{Kind, Shape, Type, of};

/// The text of an object of this type.
pub fn of_type(value: &Value, kind: &'static Type) -> String {
    let mut text = String::new();
    structure(&mut text, value, kind);
    text
}

/// The text of a field.
pub fn of_shape(value: &Value, shape: &Shape) -> String {
    let mut text = String::new();
    shaped(&mut text, value, shape);
    text
}

/// The text of a value whose keys have no order of their own.
pub fn plain(value: &Value) -> String {
    let mut text = String::new();
    any(&mut text, value);
    text
}

fn shaped(text: &mut String, value: &Value, shape: &Shape) {
    match (&shape.kind, value) {
        (Kind::Struct(name), Value::Object(_)) => structure(text, value, of(name)),
        (Kind::List(item), Value::Array(items)) => list(text, items, |text, value| shaped(text, value, item)),
        (Kind::Map(item), Value::Object(map)) => {
            pairs(text, map.iter(), |text, value| shaped(text, value, item));
        }
        _ => any(text, value),
    }
}

fn structure(text: &mut String, value: &Value, kind: &'static Type) {
    let present = kind.fields.iter().filter_map(|field| Some((field, value.get(field.name)?)));
    text.push('{');
    for (index, (field, value)) in present.enumerate() {
        if index > 0 {
            text.push(',');
        }
        string(text, field.name);
        text.push(':');
        shaped(text, value, &field.shape);
    }
    text.push('}');
}

fn any(text: &mut String, value: &Value) {
    match value {
        Value::String(inner) => string(text, inner),
        Value::Array(items) => list(text, items, any),
        Value::Object(map) => pairs(text, map.iter(), any),
        other => text.push_str(&other.to_string()),
    }
}

fn list(text: &mut String, items: &[Value], each: impl Fn(&mut String, &Value)) {
    text.push('[');
    for (index, item) in items.iter().enumerate() {
        if index > 0 {
            text.push(',');
        }
        each(text, item);
    }
    text.push(']');
}

fn pairs<'a>(
    text: &mut String,
    pairs: impl Iterator<Item = (&'a String, &'a Value)>,
    each: impl Fn(&mut String, &Value),
) {
    text.push('{');
    for (index, (key, value)) in pairs.enumerate() {
        if index > 0 {
            text.push(',');
        }
        string(text, key);
        text.push(':');
        each(text, value);
    }
    text.push('}');
}

/// Go escapes what could hurt inside HTML.
fn string(text: &mut String, inner: &str) {
    for letter in Value::from(inner).to_string().chars() {
        match letter {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' => {
                // Writing to a string cannot fail.
                let _ = write!(text, "\\u{:04x}", u32::from(letter));
            }
            letter => text.push(letter),
        }
    }
}
