//! What of a Pod can change once it is made.

use serde_json::Value;

use super::{Problems, names, pod};
use crate::value::{has, int, list, list_mut, put, text};

const CHANGEABLE: &str = "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,\
                          `spec.tolerations` (only additions to existing tolerations),\
                          `spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)";

/// A changed Pod.
pub(super) fn update(problems: &mut Problems, before: &Value, after: &Value) {
    pod::metadata_and_spec(problems, after);
    for lists in ["containers", "initContainers"] {
        let (old, new) = (list(before, &format!("/spec/{lists}")), list(after, &format!("/spec/{lists}")));
        if old.len() != new.len() {
            problems.forbidden(format!("spec.{lists}"), "pod updates may not add or remove containers");
            return;
        }
        for (index, image) in new.iter().map(|container| text(container, "/image")).enumerate() {
            let field = format!("spec.{lists}[{index}].image");
            if image.is_empty() {
                problems.required(&field, "");
            }
            if image.trim() != image {
                problems.invalid_text(&field, image, "must not have leading or trailing whitespace");
            }
        }
    }
    if !deadline(problems, before, after) {
        return;
    }
    tolerations(problems, before, after);
    let empty = Value::Null;
    let (old, new) = (before.get("spec").unwrap_or(&empty), after.get("spec").unwrap_or(&empty));
    if old == new {
        return;
    }
    let mut rest = new.clone();
    for lists in ["/containers", "/initContainers"] {
        for (container, old) in list_mut(&mut rest, lists).zip(list(old, lists)) {
            put(container, "image", old.get("image"));
        }
    }
    for field in ["activeDeadlineSeconds", "schedulingGates", "tolerations"] {
        put(&mut rest, field, old.get(field));
    }
    let grace = "/terminationGracePeriodSeconds";
    if int(old, grace).is_some_and(|grace| grace < 0) && int(&rest, grace) == Some(1) {
        put(&mut rest, "terminationGracePeriodSeconds", old.get("terminationGracePeriodSeconds"));
    }
    if rest != *old {
        let why = format!("pod updates may not change fields other than {CHANGEABLE}\n{}", difference(old, &rest));
        problems.forbidden("spec", &why);
    }
}

fn deadline(problems: &mut Problems, before: &Value, after: &Value) -> bool {
    let field = "spec.activeDeadlineSeconds";
    match (int(before, "/spec/activeDeadlineSeconds"), int(after, "/spec/activeDeadlineSeconds")) {
        (old, Some(new)) => {
            let mut wrong = names::range(new, 0, i64::from(i32::MAX));
            if wrong.is_empty() && old.is_some_and(|old| old < new) {
                wrong.push("must be less than or equal to previous value".to_owned());
            }
            for why in &wrong {
                problems.invalid(field, &new.into(), why);
            }
            wrong.is_empty()
        }
        (Some(_), None) => {
            problems.invalid(field, &Value::Null, "must not update from a positive integer to nil value");
            true
        }
        (None, None) => true,
    }
}

fn tolerations(problems: &mut Problems, before: &Value, after: &Value) {
    let without_time = |toleration: &Value| {
        let mut toleration = toleration.clone();
        put(&mut toleration, "tolerationSeconds", None);
        toleration
    };
    let new: Vec<_> = list(after, "/spec/tolerations").iter().map(without_time).collect();
    if list(before, "/spec/tolerations").iter().any(|old| !new.contains(&without_time(old))) {
        let why = "existing toleration can not be modified except its tolerationSeconds";
        problems.forbidden("spec.tolerations", why);
        return;
    }
    let empty = Value::Null;
    pod::tolerations(problems, after.get("spec").unwrap_or(&empty), "spec");
}

/// What differs, a line for each field: the real one shows its own structs here, which nobody reads by machine.
fn difference(old: &Value, new: &Value) -> String {
    let mut lines = Vec::new();
    let keys = |value: &Value| value.as_object().map(|map| map.keys().cloned().collect::<Vec<_>>()).unwrap_or_default();
    let mut names = keys(old);
    names.extend(keys(new));
    names.sort();
    names.dedup();
    for name in names {
        let (old, new) = (old.get(&name), new.get(&name));
        if old != new {
            let shown = |value: Option<&Value>| value.map_or("nil".to_owned(), ToString::to_string);
            lines.push(format!("- \t{name}: {},\n+ \t{name}: {},\n", shown(old), shown(new)));
        }
    }
    lines.concat()
}

/// A changed status of a Pod.
pub(super) fn status(problems: &mut Problems, before: &Value, after: &Value) {
    for (index, condition) in list(after, "/status/conditions").iter().enumerate() {
        let kind = text(condition, "/type");
        let known = ["PodScheduled", "Ready", "Initialized"].contains(&kind);
        if known && !matches!(text(condition, "/status"), "True" | "False" | "Unknown") {
            let field = format!("status.conditions[{index}].status");
            problems.not_supported(field, text(condition, "/status"), &["False", "True", "Unknown"]);
        }
    }
    problems.immutable("status.qosClass", before.pointer("/status/qosClass"), after.pointer("/status/qosClass"));
    if text(before, "/spec/restartPolicy") == "Always" {
        return;
    }
    for (index, old) in list(before, "/status/containerStatuses").iter().enumerate() {
        let Some(code) = int(old, "/state/terminated/exitCode") else { continue };
        let again = code != 0 && text(before, "/spec/restartPolicy") == "OnFailure";
        let name = text(old, "/name");
        let revived = list(after, "/status/containerStatuses")
            .iter()
            .any(|new| text(new, "/name") == name && !has(new, "/state/terminated"));
        if revived && !again {
            let field = format!("status.containerStatuses[{index}].state");
            problems.forbidden(field, "may not be transitioned to non-terminated state");
        }
    }
}
