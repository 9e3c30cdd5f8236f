//! Merge patches (RFC 7396).

use serde_json::{Map, Value};

use crate::schema::{Kind, Type, of, ordered};

/// Merges a patch into a document.
pub fn apply(document: &mut Value, patch: &Value) {
    let Value::Object(changes) = patch else {
        *document = patch.clone();
        return;
    };
    if !document.is_object() {
        *document = Value::Object(Map::new());
    }
    let Value::Object(map) = document else { return };
    for (key, change) in changes {
        if change.is_null() {
            map.remove(key);
        } else {
            apply(map.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}

/// The text of a patched document as the server shows it when it cannot be read: what the patch went into has its keys
/// sorted, the rest has the order of the structs.
pub fn text(document: &Value, patch: &Value, kind: Option<&'static Type>) -> String {
    let (Value::Object(map), Value::Object(touched)) = (document, patch) else {
        return match kind {
            Some(kind) => ordered::of_type(document, kind),
            None => ordered::plain(document),
        };
    };
    let pairs: Vec<_> = map
        .iter()
        .map(|(key, value)| {
            let field = kind.and_then(|kind| kind.field(key));
            let inner = match field.map(|field| &field.shape.kind) {
                Some(Kind::Struct(name)) => Some(of(name)),
                _ => None,
            };
            let shown = match (touched.get(key), field) {
                (Some(patch @ Value::Object(_)), _) => text(value, patch, inner),
                (Some(_), _) | (None, None) => ordered::plain(value),
                (None, Some(field)) => ordered::of_shape(value, &field.shape),
            };
            format!("{}:{shown}", ordered::plain(&Value::from(key.as_str())))
        })
        .collect();
    format!("{{{}}}", pairs.join(","))
}
