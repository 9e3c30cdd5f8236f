//! What keeps a configuration from being read as its type.

use serde_json::Value;

use super::typed::{Place, Scalar};
use crate::schema::Type;

/// What keeps a configuration from being read as this type.
pub(super) fn of(config: &Value, kind: &'static Type) -> Vec<String> {
    let mut found = Vec::new();
    complain(Place::root(kind), config, "", &mut found);
    found
}

fn complain(place: Place, value: &Value, path: &str, found: &mut Vec<String>) {
    let mut say = |path: &str, why: &str| {
        found.push(if path.is_empty() { why.to_owned() } else { format!("{path}: {why}") });
    };
    match (place, value) {
        (_, Value::Null) => {}
        (Place::Struct(_) | Place::Map(_), Value::Object(map)) => {
            for (key, inner) in map {
                let path = format!("{path}.{key}");
                let (below, named) = place.below(key);
                if !named && matches!(place, Place::Struct(_)) {
                    found.push(format!("{path}: field not declared in schema"));
                } else {
                    complain(below, inner, &path, found);
                }
            }
        }
        (Place::Keyed(..) | Place::Set(_), Value::Array(items)) => {
            let mut seen = Vec::new();
            for (index, item) in items.iter().enumerate() {
                match place.name_of(item) {
                    Err(why) => found.push(format!("{path}: element {index}: {why}")),
                    Ok(name) => {
                        if seen.contains(&name) {
                            found.push(format!("{path}: duplicate entries for key {name}"));
                        }
                        complain(place.item(), item, &format!("{path}{name}"), found);
                        seen.push(name);
                    }
                }
            }
        }
        (Place::Struct(_) | Place::Map(_), other) => say(path, &format!("expected map, got &{{{other}}}")),
        (Place::Keyed(..) | Place::Set(_), other) => say(path, &format!("expected list, got &{{{other}}}")),
        (Place::Leaf(Scalar::Text), value) if !value.is_string() => {
            say(path, &format!("expected string, got &value.valueUnstructured{{Value:{value}}}"));
        }
        (Place::Leaf(Scalar::Number), value) if !value.is_number() => {
            say(path, &format!("expected numeric (int or float), got {}", go_type(value)));
        }
        (Place::Leaf(Scalar::Flag), value) if !value.is_boolean() => {
            say(path, &format!("expected boolean, got &{{{}}}", crate::patch::go_format(value)));
        }
        (Place::Leaf(Scalar::Any), Value::Object(_) | Value::Array(_)) => {
            say(path, &format!("expected any scalar, got &{{{}}}", crate::patch::go_format(value)));
        }
        (Place::Leaf(_), _) => {}
    }
}

fn go_type(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
        Value::Number(_) => "float64",
        Value::Null => "<nil>",
    }
}
