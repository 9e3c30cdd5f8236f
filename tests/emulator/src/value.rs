//! Looking into values by JSON pointer; what is not there, or is something else, is empty.

use std::sync::LazyLock;

use serde_json::{Map, Value};

static NONE: LazyLock<Map<String, Value>> = LazyLock::new(Map::new);

/// A text.
pub fn text<'a>(value: &'a Value, pointer: &str) -> &'a str {
    value.pointer(pointer).and_then(Value::as_str).unwrap_or_default()
}

/// A whole number.
pub fn int(value: &Value, pointer: &str) -> Option<i64> {
    value.pointer(pointer).and_then(Value::as_i64)
}

/// A whole number; 0 if it is not there.
pub fn number(value: &Value, pointer: &str) -> i64 {
    int(value, pointer).unwrap_or_default()
}

/// A flag; false if it is not there.
pub fn flag(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).and_then(Value::as_bool).unwrap_or_default()
}

/// The items of a list.
pub fn list<'a>(value: &'a Value, pointer: &str) -> &'a [Value] {
    value.pointer(pointer).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

/// The items of a list, to change them.
pub fn list_mut<'a>(value: &'a mut Value, pointer: &str) -> impl Iterator<Item = &'a mut Value> {
    value.pointer_mut(pointer).and_then(Value::as_array_mut).into_iter().flatten()
}

/// The pairs of an object.
pub fn map<'a>(value: &'a Value, pointer: &str) -> &'a Map<String, Value> {
    value.pointer(pointer).and_then(Value::as_object).unwrap_or(&NONE)
}

/// The texts of a list.
pub fn texts(value: &Value, pointer: &str) -> Vec<String> {
    list(value, pointer).iter().filter_map(Value::as_str).map(str::to_owned).collect()
}

/// Whether something is there that is not `null`.
pub fn has(value: &Value, pointer: &str) -> bool {
    value.pointer(pointer).is_some_and(|value| !value.is_null())
}

/// Puts something under a name, or takes away what is there.
pub fn put(value: &mut Value, name: &str, part: Option<&Value>) {
    if let Some(map) = value.as_object_mut() {
        match part {
            Some(part) => map.insert(name.to_owned(), part.clone()),
            None => map.remove(name),
        };
    }
}

/// Puts something under a name unless something is there. An empty text is as good as nothing.
pub fn default(value: &mut Value, name: &str, part: impl Into<Value>) {
    if let Some(map) = value.as_object_mut()
        && map.get(name).is_none_or(|old| old.is_null() || old == "")
    {
        map.insert(name.to_owned(), part.into());
    }
}
