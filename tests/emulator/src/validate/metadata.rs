//! Names, labels, annotations, owners and finalizers, and what of them can change.

use serde_json::Value;

use super::{Problems, names};
use crate::quote::quoted;
use crate::schema::{of, ordered};
use crate::value::{flag, has, int, list, map, text, texts};

/// How much all annotations of an object may hold together, in bytes: 256 KiB.
const ANNOTATIONS: usize = 256 * 1024;

/// How a kind of object may be called.
pub(super) type Rule = fn(&str, bool) -> Vec<String>;

/// Metadata of an object.
pub(super) fn of_object(problems: &mut Problems, value: &Value, namespaced: bool, rule: Rule) {
    let generate = text(value, "/metadata/generateName");
    if !generate.is_empty() {
        problems.each("metadata.generateName", generate, rule(generate, true));
    }
    match text(value, "/metadata/name") {
        "" => problems.required("metadata.name", "name or generateName is required"),
        name => problems.each("metadata.name", name, rule(name, false)),
    }
    let namespace = text(value, "/metadata/namespace");
    match (namespaced, namespace) {
        (true, "") => problems.required("metadata.namespace", ""),
        (true, namespace) => problems.each("metadata.namespace", namespace, names::label(namespace, false)),
        (false, "") => {}
        (false, _) => problems.forbidden("metadata.namespace", "not allowed on this type"),
    }
    problems.not_negative("metadata.generation", int(value, "/metadata/generation").unwrap_or_default());
    maps_and_owners(problems, value);
    finalizers(problems, value);
}

fn maps_and_owners(problems: &mut Problems, value: &Value) {
    labels(problems, value, "/metadata/labels", "metadata.labels");
    annotations(problems, value, "/metadata/annotations", "metadata.annotations");
    owners(problems, value);
}

/// Labels.
pub(super) fn labels(problems: &mut Problems, value: &Value, pointer: &str, field: &str) {
    for (key, value) in map(value, pointer) {
        problems.each(field, key, names::qualified(key));
        let value = value.as_str().unwrap_or_default();
        problems.each(field, value, names::label_value(value));
    }
}

/// Annotations.
pub(super) fn annotations(problems: &mut Problems, value: &Value, pointer: &str, field: &str) {
    let annotations = map(value, pointer);
    for key in annotations.keys() {
        problems.each(field, key, names::qualified(&key.to_lowercase()));
    }
    let size: usize = annotations.iter().map(|(key, value)| key.len() + value.as_str().map_or(0, str::len)).sum();
    if size > ANNOTATIONS {
        problems.too_long(field, ANNOTATIONS);
    }
}

fn owners(problems: &mut Problems, value: &Value) {
    let field = "metadata.ownerReferences";
    let mut controller = String::new();
    let owners = list(value, "/metadata/ownerReferences");
    for owner in owners {
        let version = text(owner, "/apiVersion");
        if version.is_empty() || version.ends_with('/') {
            problems.invalid_text(format!("{field}.apiVersion"), version, "version must not be empty");
        }
        for part in ["kind", "name", "uid"] {
            if text(owner, &format!("/{part}")).is_empty() {
                problems.invalid_text(format!("{field}.{part}"), "", "must not be empty");
            }
        }
        if version == "v1" && text(owner, "/kind") == "Event" {
            let shown = ordered::of_type(owner, of("OwnerReference"));
            problems.invalid_shown(field, &shown, "/v1, Kind=Event is disallowed from being an owner");
        }
        if flag(owner, "/controller") {
            let this = format!("{}/{}", text(owner, "/kind"), text(owner, "/name"));
            if controller.is_empty() {
                controller = this;
            } else {
                let shown: Vec<_> = owners.iter().map(|owner| ordered::of_type(owner, of("OwnerReference"))).collect();
                let why = format!(
                    "Only one reference can have Controller set to true. Found \"true\" in references for {controller} \
                     and {this}"
                );
                problems.invalid_shown(field, &format!("[{}]", shown.join(",")), &why);
            }
        }
    }
}

fn finalizers(problems: &mut Problems, value: &Value) {
    let field = "metadata.finalizers";
    let finalizers = texts(value, "/metadata/finalizers");
    for finalizer in &finalizers {
        problems.each(field, finalizer, names::qualified(finalizer));
    }
    let has = |name: &str| finalizers.iter().any(|finalizer| finalizer == name);
    if has("orphan") && has("foregroundDeletion") {
        let shown = Value::from(finalizers.clone());
        problems.invalid(field, &shown, "finalizer orphan and foregroundDeletion cannot be both set");
    }
}

/// Finalizers of the kinds that Kubernetes itself has: those without a domain must be known.
pub(super) fn kube_finalizers(problems: &mut Problems, value: &Value) {
    for (index, finalizer) in texts(value, "/metadata/finalizers").iter().enumerate() {
        let known = matches!(finalizer.as_str(), "kubernetes" | "orphan" | "foregroundDeletion");
        if !known && !finalizer.contains('/') {
            let why = "name is neither a standard finalizer name nor is it fully qualified";
            problems.invalid_text(format!("metadata.finalizers[{index}]"), finalizer, why);
        }
    }
}

/// Metadata of an object of a kind that Kubernetes itself has.
pub(super) fn of_kind(problems: &mut Problems, value: &Value, namespaced: bool, rule: Rule) {
    of_object(problems, value, namespaced, rule);
    kube_finalizers(problems, value);
}

/// What of the metadata an update changed that it cannot.
pub(super) fn of_update(problems: &mut Problems, before: &Value, after: &Value) {
    if has(before, "/metadata/deletionTimestamp") {
        let old = texts(before, "/metadata/finalizers");
        let mut new: Vec<_> =
            texts(after, "/metadata/finalizers").into_iter().filter(|name| !old.contains(name)).collect();
        if !new.is_empty() {
            new.sort();
            let shown: Vec<_> = new.iter().map(|name| quoted(name)).collect();
            let why = format!(
                "no new finalizers can be added if the object is being deleted, found new finalizers []string{{{}}}",
                shown.join(", ")
            );
            problems.forbidden("metadata.finalizers", &why);
        }
    }
    let fixed = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
    for field in fixed {
        let pointer = format!("/metadata/{field}");
        problems.immutable(format!("metadata.{field}"), before.pointer(&pointer), after.pointer(&pointer));
    }
    maps_and_owners(problems, after);
}
