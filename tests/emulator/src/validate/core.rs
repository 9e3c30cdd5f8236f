//! The smaller kinds of the core group.

use serde_json::Value;

use super::{Problems, apps, container, metadata, names};
use crate::quantity::Quantity;
use crate::value::{has, list, map, text, texts};

/// A new Namespace.
pub(super) fn namespace(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, false, names::label);
    for finalizer in texts(value, "/spec/finalizers") {
        finalizer_name(problems, "spec.finalizers", &finalizer);
    }
}

fn finalizer_name(problems: &mut Problems, field: &str, name: &str) {
    let wrong = names::qualified(name);
    if wrong.is_empty() && !name.contains('/') && name != "kubernetes" {
        problems.invalid_text(field, name, "name is neither a standard finalizer name nor is it fully qualified");
    }
    problems.each(field, name, wrong);
}

/// A changed Namespace.
pub(super) fn namespace_update(problems: &mut Problems, subresource: &str, after: &Value) {
    let phase = text(after, "/status/phase");
    let going = has(after, "/metadata/deletionTimestamp");
    match subresource {
        "status" if !going && phase != "Active" => {
            problems.invalid_text("status.Phase", phase, "may only be 'Active' if `deletionTimestamp` is empty");
        }
        "status" if going && phase != "Terminating" => {
            let why = "may only be 'Terminating' if `deletionTimestamp` is not empty";
            problems.invalid_text("status.Phase", phase, why);
        }
        "finalize" => {
            for (index, finalizer) in texts(after, "/spec/finalizers").iter().enumerate() {
                finalizer_name(problems, &format!("spec.finalizers[{index}]"), finalizer);
            }
        }
        _ => {}
    }
}

/// A new Node.
pub(super) fn node(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, false, names::subdomain);
    for (index, taint) in list(value, "/spec/taints").iter().enumerate() {
        let field = |name: &str| format!("spec.taints[{index}].{name}");
        problems.each(&field("key"), text(taint, "/key"), names::qualified(text(taint, "/key")));
        problems.each(&field("value"), text(taint, "/value"), names::label_value(text(taint, "/value")));
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        match text(taint, "/effect") {
            "" => problems.required(field("effect"), ""),
            effect if effects.contains(&effect) => {}
            effect => problems.not_supported(field("effect"), effect, &effects),
        }
    }
}

/// A new Event.
pub(super) fn event(problems: &mut Problems, value: &Value) {
    let (own, involved) = (text(value, "/metadata/namespace"), text(value, "/involvedObject/namespace"));
    let new = has(value, "/eventTime");
    let agrees = match (new, involved) {
        (false, "") => matches!(own, "" | "default"),
        (true, "") => matches!(own, "default" | "kube-system"),
        (false, involved) => involved == own,
        (true, _) => true,
    };
    if !agrees {
        problems.invalid_text("involvedObject.namespace", involved, "does not match event.namespace");
    }
    if new {
        for (field, name) in
            [("reportingComponent", true), ("reportingInstance", false), ("action", false), ("reason", false)]
        {
            let value = text(value, &format!("/{field}"));
            if value.is_empty() {
                problems.required(field, "");
            }
            if name {
                problems.each(field, value, names::qualified(value));
            } else if value.len() > 128 {
                problems.invalid_text(field, "", "can have at most 128 characters");
            }
        }
        if text(value, "/message").len() > 1024 {
            problems.invalid_text("message", "", "can have at most 1024 characters");
        }
    }
    problems.each("namespace", own, names::subdomain(own, false));
}

/// A new ResourceQuota.
pub(super) fn quota(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, true, names::subdomain);
    quota_spec(problems, value);
}

fn quota_spec(problems: &mut Problems, value: &Value) {
    for (name, amount) in map(value, "/spec/hard") {
        let path = format!("spec.hard[{name}]");
        let wrong = names::qualified(name);
        let known = name.contains('/') || container::is_standard(name);
        if wrong.is_empty() && !known {
            problems.invalid_text(&path, name, "must be a standard resource type or fully qualified");
            problems.invalid_text(&path, name, "must be a standard resource for quota");
        }
        problems.each(&path, name, wrong);
        container::quantity(problems, name, amount, &path);
    }
    let known = [
        "Terminating",
        "NotTerminating",
        "BestEffort",
        "NotBestEffort",
        "PriorityClass",
        "CrossNamespacePodAffinity",
        "VolumeAttributesClass",
    ];
    let scopes = texts(value, "/spec/scopes");
    if scopes.iter().any(|scope| !known.contains(&scope.as_str())) {
        problems.invalid("spec.scopes", &Value::from(scopes), "unsupported scope");
    }
}

/// A changed ResourceQuota.
pub(super) fn quota_update(problems: &mut Problems, before: &Value, after: &Value) {
    quota_spec(problems, after);
    problems.immutable("spec.scopes", before.pointer("/spec/scopes"), after.pointer("/spec/scopes"));
}

const MODES: [&str; 4] = ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"];

/// A new PersistentVolumeClaim.
pub(super) fn claim(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, true, names::subdomain);
    let modes = texts(value, "/spec/accessModes");
    if modes.is_empty() {
        problems.required("spec.accessModes", "at least 1 access mode is required");
    }
    if let Some(selector) = value.pointer("/spec/selector").filter(|selector| !selector.is_null()) {
        apps::label_selector(problems, selector, "spec.selector");
    }
    for mode in modes.iter().filter(|mode| !MODES.contains(&mode.as_str())) {
        problems.not_supported("spec.accessModes", mode, &MODES);
    }
    let single = modes.iter().any(|mode| mode == "ReadWriteOncePod");
    if single && modes.iter().any(|mode| mode != "ReadWriteOncePod" && MODES.contains(&mode.as_str())) {
        problems.forbidden("spec.accessModes", "may not use ReadWriteOncePod with other access modes");
    }
    let path = "spec.resources[storage]";
    match map(value, "/spec/resources/requests").get("storage").and_then(Value::as_str) {
        None => problems.required(path, ""),
        Some(amount) => {
            if Quantity::parse(amount).is_ok_and(|amount| amount <= Quantity::ZERO) {
                problems.invalid_text(path, amount, "must be greater than zero");
            }
        }
    }
    let mode = text(value, "/spec/volumeMode");
    if !mode.is_empty() && !matches!(mode, "Block" | "Filesystem") {
        problems.not_supported("spec.volumeMode", mode, &["Block", "Filesystem"]);
    }
}

/// A changed PersistentVolumeClaim: only the amount that is asked for can grow.
pub(super) fn claim_update(problems: &mut Problems, before: &Value, after: &Value) {
    claim(problems, after);
    let rest = |value: &Value| {
        let mut spec = value.get("spec").cloned().unwrap_or_default();
        if let Some(spec) = spec.as_object_mut() {
            for field in ["resources", "volumeName", "volumeAttributesClassName"] {
                spec.remove(field);
            }
        }
        spec
    };
    let (old, new) = (rest(before), rest(after));
    if old != new {
        let why =
            "spec is immutable after creation except resources.requests and volumeAttributesClassName for bound claims";
        problems.forbidden("spec", why);
        return;
    }
    let amount = |value: &Value| {
        map(value, "/spec/resources/requests")
            .get("storage")
            .and_then(Value::as_str)
            .and_then(|a| Quantity::parse(a).ok())
    };
    if let (Some(old), Some(new)) = (amount(before), amount(after))
        && new < old
    {
        problems.forbidden("spec.resources.requests.storage", "field can not be less than status.capacity");
    }
}
