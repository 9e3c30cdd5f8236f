//! Namespaces, nodes, events, quotas, claims, and roles.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Printed, or};
use crate::value::{number, text};

pub(super) fn namespace(object: &Printed<'_>) -> Value {
    json!([object.name(), object.text("/status/phase"), object.age()])
}

pub(super) fn node(object: &Printed<'_>) -> Value {
    let ready = object.list("/status/conditions").iter().find(|condition| text(condition, "/type") == "Ready");
    let mut status = match ready.map(|condition| text(condition, "/status")) {
        Some("True") => "Ready",
        Some(_) => "NotReady",
        None => "Unknown",
    }
    .to_owned();
    if object.value.pointer("/spec/unschedulable").and_then(Value::as_bool).unwrap_or_default() {
        status.push_str(",SchedulingDisabled");
    }
    let labels = object.value.pointer("/metadata/labels").and_then(Value::as_object);
    let roles: BTreeSet<&str> = labels
        .into_iter()
        .flatten()
        .filter_map(|(key, value)| match key.strip_prefix("node-role.kubernetes.io/") {
            Some(role) => Some(role),
            None if key == "kubernetes.io/role" => value.as_str(),
            None => None,
        })
        .filter(|role| !role.is_empty())
        .collect();
    let roles = roles.into_iter().collect::<Vec<_>>().join(",");
    let address = |kind: &str| {
        let found = object.list("/status/addresses").iter().find(|address| text(address, "/type") == kind);
        found.map_or("<none>", |address| text(address, "/address"))
    };
    let info = |field: &str| or(object.text(&format!("/status/nodeInfo/{field}")), "<unknown>");
    json!([
        object.name(),
        status,
        or(&roles, "<none>"),
        object.age(),
        object.text("/status/nodeInfo/kubeletVersion"),
        address("InternalIP"),
        address("ExternalIP"),
        info("osImage"),
        info("kernelVersion"),
        info("containerRuntimeVersion"),
    ])
}

pub(super) fn event(object: &Printed<'_>) -> Value {
    let first = object.since(or(object.text("/firstTimestamp"), object.text("/eventTime")));
    let mut last = match object.text("/lastTimestamp") {
        "" => first.clone(),
        time => object.since(time),
    };
    let mut count = object.number("/count").max(1);
    if let Some(series) = object.value.get("series") {
        last = object.since(text(series, "/lastObservedTime"));
        count = number(series, "/count");
    }
    let kind = object.text("/involvedObject/kind").to_lowercase();
    let target = match object.text("/involvedObject/name") {
        "" => kind,
        name => format!("{kind}/{name}"),
    };
    let component = or(object.text("/source/component"), object.text("/reportingComponent"));
    let source = match or(object.text("/source/host"), object.text("/reportingInstance")) {
        "" => component.to_owned(),
        instance => format!("{component}, {instance}"),
    };
    json!([
        last,
        object.text("/type"),
        object.text("/reason"),
        target,
        object.text("/involvedObject/fieldPath"),
        source,
        object.text("/message").trim(),
        first,
        count,
        object.name(),
    ])
}

pub(super) fn quota(object: &Printed<'_>) -> Value {
    let (mut requests, mut limits) = (Vec::new(), Vec::new());
    let hard = object.value.pointer("/status/hard").and_then(Value::as_object);
    for (resource, hard) in hard.into_iter().flatten() {
        let used = object.value.pointer("/status/used").and_then(|used| used.get(resource));
        let quantity = |value: Option<&Value>| value.and_then(Value::as_str).unwrap_or("0").to_owned();
        let cell = format!("{resource}: {}/{}", quantity(used), quantity(Some(hard)));
        if resource.starts_with("limits.") { &mut limits } else { &mut requests }.push(cell);
    }
    json!([object.name(), requests.join(", "), limits.join(", "), object.age()])
}

pub(super) fn claim(object: &Printed<'_>) -> Value {
    let deleting = object.value.pointer("/metadata/deletionTimestamp").is_some();
    let phase = if deleting { "Terminating" } else { object.text("/status/phase") };
    let volume = object.text("/spec/volumeName");
    let (mut capacity, mut modes) = ("", String::new());
    if !volume.is_empty() {
        capacity = or(object.text("/status/capacity/storage"), "0");
        let has = |mode: &str| object.list("/status/accessModes").iter().any(|have| have == mode);
        let short =
            [("ReadWriteOnce", "RWO"), ("ReadOnlyMany", "ROX"), ("ReadWriteMany", "RWX"), ("ReadWriteOncePod", "RWOP")];
        modes = short.into_iter().filter(|(mode, _)| has(mode)).map(|(_, short)| short).collect::<Vec<_>>().join(",");
    }
    let class = object.value.pointer("/metadata/annotations/volume.beta.kubernetes.io~1storage-class");
    let class = class.and_then(Value::as_str).unwrap_or(object.text("/spec/storageClassName"));
    let said = |pointer: &str| object.value.pointer(pointer).and_then(Value::as_str).unwrap_or("<unset>");
    json!([
        object.name(),
        phase,
        volume,
        capacity,
        modes,
        class,
        said("/spec/volumeAttributesClassName"),
        object.age(),
        said("/spec/volumeMode"),
    ])
}

pub(super) fn binding(object: &Printed<'_>) -> Value {
    let role = format!("{}/{}", object.text("/roleRef/kind"), object.text("/roleRef/name"));
    let subjects = |kind: &str| {
        let names =
            object.list("/subjects").iter().filter(|subject| text(subject, "/kind") == kind).map(|subject| match text(
                subject,
                "/namespace",
            ) {
                namespace if kind == "ServiceAccount" => format!("{namespace}/{}", text(subject, "/name")),
                _ => text(subject, "/name").to_owned(),
            });
        names.collect::<Vec<_>>().join(", ")
    };
    json!([object.name(), role, object.age(), subjects("User"), subjects("Group"), subjects("ServiceAccount")])
}

/// Of what has no printer of its own: the time and not the age.
pub(super) fn role(object: &Printed<'_>) -> Value {
    // Without a time, as in a bookmark, the server writes its first one.
    json!([object.name(), or(object.text("/metadata/creationTimestamp"), "0001-01-01T00:00:00Z")])
}
