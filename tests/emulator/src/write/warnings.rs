//! What a client is warned about though it is accepted.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::quote::quoted;
use crate::resource::Resource;
use crate::validate::names;
use crate::value::{has, int, list, text};

/// Of a new object.
pub(super) fn of_new(resource: &Resource, value: &Value) -> Vec<String> {
    let used = match resource.kind {
        "Deployment" | "ReplicaSet" => "this is used in Pod names and hostnames",
        "Pod" => "this is used in the Pod's hostname",
        _ => return Vec::new(),
    };
    let mut warnings = Vec::new();
    let wrong = names::label(text(value, "/metadata/name"), false);
    if !wrong.is_empty() {
        warnings.push(format!(
            "metadata.name: {used}, which can result in surprising behavior; a DNS label is recommended: [{}]",
            wrong.join(" ")
        ));
    }
    warnings.extend(of_pods(resource, value));
    warnings
}

/// Of a changed object.
pub(super) fn of_changed(resource: &Resource, before: &Value, after: &Value) -> Vec<String> {
    let worked = before.pointer("/metadata/generation") != after.pointer("/metadata/generation");
    if worked && matches!(resource.kind, "Deployment" | "ReplicaSet") {
        return of_pods(resource, after);
    }
    Vec::new()
}

fn of_pods(resource: &Resource, value: &Value) -> Vec<String> {
    let (pointer, path) =
        if resource.kind == "Pod" { ("/spec", "spec") } else { ("/spec/template/spec", "spec.template.spec") };
    let none = Value::Null;
    let spec = value.pointer(pointer).unwrap_or(&none);
    let containers = ["initContainers", "containers"].into_iter().flat_map(|lists| {
        let containers = list(spec, &format!("/{lists}")).iter().enumerate();
        containers.map(move |(index, container)| (format!("{path}.{lists}[{index}]"), container))
    });
    let mut warnings = Vec::new();
    let mut ports: BTreeMap<&str, String> = BTreeMap::new();
    for (path, container) in containers {
        hidden_variables(container, &path, &mut warnings);
        for (index, port) in list(container, "/ports").iter().enumerate() {
            let name = text(port, "/name");
            let here = format!("{path}.ports[{index}]");
            if name.is_empty() {
                continue;
            }
            if let Some(first) = ports.get(name) {
                warnings.push(format!(
                    "{here}: duplicate port name {} with {first}, services and probes that select ports by name will \
                     use {first}",
                    quoted(name)
                ));
            } else {
                ports.insert(name, here);
            }
        }
    }
    if int(spec, "/terminationGracePeriodSeconds").is_some_and(|grace| grace < 0) {
        warnings.push(format!(
            "{path}.terminationGracePeriodSeconds: must be >= 0; negative values are invalid and will be treated as 1"
        ));
    }
    warnings
}

/// A variable that comes twice hides the first, unless it is made of it.
fn hidden_variables(container: &Value, path: &str, warnings: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for (index, variable) in list(container, "/env").iter().enumerate() {
        let (name, value) = (text(variable, "/name"), text(variable, "/value"));
        if seen.insert(name) {
            continue;
        }
        let first = format!("$({name})");
        if has(variable, "/valueFrom") || value == first || !value.contains(&first) {
            warnings.push(format!(
                "{path}.env[{index}]: hides previous definition of {}, which may be dropped when using apply",
                quoted(name)
            ));
        }
    }
}
