//! What a request cannot set: parts that only the server or another subresource writes.

use serde_json::{Value, json};

use crate::admission::quota::quality;
use crate::registry::{asks_for_work, raise_generation, section};
use crate::resource::Resource;
use crate::value::{list, put, text};

/// Resets what a new object cannot bring along.
pub(super) fn before_create(resource: &Resource, value: &mut Value) {
    match resource.kind {
        "Deployment" | "ResourceQuota" => put(value, "status", Some(&json!({}))),
        "ReplicaSet" => put(value, "status", Some(&json!({"replicas": 0}))),
        "PersistentVolumeClaim" => put(value, "status", Some(&json!({"phase": "Pending"}))),
        "Pod" => {
            let status = json!({"phase": "Pending", "qosClass": quality(value)});
            put(value, "status", Some(&status));
        }
        "Namespace" => {
            put(value, "status", Some(&json!({"phase": "Active"})));
            let finalizers = section(value, "spec").entry("finalizers").or_insert_with(|| json!([]));
            if !finalizers.is_array() {
                *finalizers = json!([]);
            }
            if let Some(list) = finalizers.as_array_mut()
                && !list.iter().any(|name| name == "kubernetes")
            {
                list.push("kubernetes".into());
            }
        }
        _ => {}
    }
}

/// What a write of an object or of one of its subresources cannot set, and nobody owns by it.
pub(super) fn reset(resource: &Resource, subresource: &str) -> &'static [&'static str] {
    match (resource.kind, subresource) {
        ("Event" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding", _) => &[],
        (_, "" | "finalize") => &["status"],
        ("Deployment", "status") => &["spec", "metadata.labels"],
        ("Pod", "status") => &["spec", "metadata.deletionTimestamp", "metadata.ownerReferences"],
        _ => &["spec"],
    }
}

/// Whether a PUT makes an object that is not there.
pub(super) fn made_by_update(resource: &Resource) -> bool {
    matches!(resource.kind, "Event" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding")
}

/// Resets what an update of an object or of one of its subresources cannot change, and raises the generation.
pub(super) fn before_update(resource: &Resource, subresource: &str, before: &Value, after: &mut Value) {
    let keep = |after: &mut Value, part: &str| put(after, part, before.get(part));
    let keep_metadata = |after: &mut Value, field: &str| {
        let old = before.pointer(&format!("/metadata/{field}"));
        if let Some(metadata) = after.get_mut("metadata") {
            put(metadata, field, old);
        }
    };
    match subresource {
        "status" => {
            keep(after, "spec");
            match resource.kind {
                "Deployment" | "ReplicaSet" => keep_metadata(after, "labels"),
                "Pod" => {
                    keep_metadata(after, "deletionTimestamp");
                    keep_metadata(after, "ownerReferences");
                    keep_observed_generation(before, after);
                }
                _ => {}
            }
            return;
        }
        "finalize" => {
            keep(after, "status");
            return;
        }
        _ => {}
    }
    match resource.kind {
        "Event" | "Role" | "RoleBinding" | "ClusterRole" | "ClusterRoleBinding" => {}
        "Namespace" => {
            keep(after, "status");
            let finalizers = before.pointer("/spec/finalizers");
            section(after, "spec");
            if let Some(spec) = after.get_mut("spec") {
                put(spec, "finalizers", finalizers);
            }
        }
        _ => keep(after, "status"),
    }
    if resource.generation && asks_for_work(resource, before, after) {
        raise_generation(after);
    }
}

/// A status that says nothing about the generation keeps what was said.
fn keep_observed_generation(before: &Value, after: &mut Value) {
    let Some(status) = after.get_mut("status") else { return };
    for field in ["observedGeneration", "qosClass"] {
        if status.get(field).is_none() {
            put(status, field, before.pointer(&format!("/status/{field}")));
        }
    }
    let old = list(before, "/status/conditions").to_vec();
    for condition in crate::value::list_mut(status, "/conditions") {
        if condition.get("observedGeneration").is_none() {
            let same = old.iter().find(|old| text(old, "/type") == text(condition, "/type"));
            let known = same.and_then(|same| same.get("observedGeneration"));
            put(condition, "observedGeneration", known);
        }
    }
}
