//! Deployments, ReplicaSets, and their scale.

use serde_json::{Value, json};

use super::Printed;
use crate::value::{list, text};

pub(super) fn deployment(object: &Printed<'_>) -> Value {
    let (names, images) = containers(object);
    json!([
        object.name(),
        format!("{}/{}", object.number("/status/readyReplicas"), object.number("/spec/replicas")),
        object.number("/status/updatedReplicas"),
        object.number("/status/availableReplicas"),
        object.age(),
        names,
        images,
        selector(object, ""),
    ])
}

pub(super) fn replica_set(object: &Printed<'_>) -> Value {
    let (names, images) = containers(object);
    json!([
        object.name(),
        object.number("/spec/replicas"),
        object.number("/status/replicas"),
        object.number("/status/readyReplicas"),
        object.age(),
        names,
        images,
        selector(object, "<none>"),
    ])
}

pub(super) fn scale(object: &Printed<'_>) -> Value {
    json!([object.name(), object.number("/spec/replicas"), object.number("/status/replicas"), object.age()])
}

fn containers(object: &Printed<'_>) -> (String, String) {
    let containers = object.list("/spec/template/spec/containers");
    let all = |field: &str| containers.iter().map(|c| text(c, field)).collect::<Vec<_>>().join(",");
    (all("/name"), all("/image"))
}

/// A selector as it is written in a query, its requirements in the order of their keys.
fn selector(object: &Printed<'_>, none: &str) -> String {
    let labels = object.value.pointer("/spec/selector/matchLabels").and_then(Value::as_object);
    let mut parts: Vec<(&str, String)> = labels
        .into_iter()
        .flatten()
        .map(|(key, value)| (key.as_str(), format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    for expression in object.list("/spec/selector/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<_> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        parts.push((
            key,
            match text(expression, "/operator") {
                "In" => format!("{key} in ({values})"),
                "NotIn" => format!("{key} notin ({values})"),
                "Exists" => key.to_owned(),
                "DoesNotExist" => format!("!{key}"),
                _ => return "<invalid>".to_owned(),
            },
        ));
    }
    parts.sort_by_key(|(key, _)| *key);
    let parts: Vec<_> = parts.into_iter().map(|(_, part)| part).collect();
    if parts.is_empty() { none.to_owned() } else { parts.join(",") }
}
