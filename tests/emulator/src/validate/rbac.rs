//! Roles and their bindings.

use serde_json::Value;

use super::{Problems, metadata, names};
use crate::resource::Resource;
use crate::schema::{of, ordered};
use crate::value::{list, text};

const GROUP: &str = "rbac.authorization.k8s.io";

/// A Role or a ClusterRole.
pub(super) fn role(problems: &mut Problems, resource: &Resource, value: &Value) {
    metadata::of_kind(problems, value, resource.namespaced, names::path_segment);
    for (index, rule) in list(value, "/rules").iter().enumerate() {
        let field = |name: &str| format!("rules[{index}].{name}");
        let empty = |name: &str| list(rule, &format!("/{name}")).is_empty();
        if empty("verbs") {
            problems.required(field("verbs"), "verbs must contain at least one value");
        }
        if !empty("nonResourceURLs") {
            let urls = rule.get("nonResourceURLs").cloned().unwrap_or_default();
            if resource.namespaced {
                let why = "namespaced rules cannot apply to non-resource URLs";
                problems.invalid(field("nonResourceURLs"), &urls, why);
            }
            if !empty("apiGroups") || !empty("resources") || !empty("resourceNames") {
                let why = "rules cannot apply to both regular resources and non-resource URLs";
                problems.invalid(field("nonResourceURLs"), &urls, why);
            }
            continue;
        }
        if empty("apiGroups") {
            problems.required(field("apiGroups"), "resource rules must supply at least one api group");
        }
        if empty("resources") {
            problems.required(field("resources"), "resource rules must supply at least one resource");
        }
    }
}

/// A RoleBinding or a ClusterRoleBinding.
pub(super) fn binding(problems: &mut Problems, resource: &Resource, value: &Value) {
    metadata::of_kind(problems, value, resource.namespaced, names::path_segment);
    let (group, kind, name) =
        (text(value, "/roleRef/apiGroup"), text(value, "/roleRef/kind"), text(value, "/roleRef/name"));
    if group != GROUP {
        problems.not_supported("roleRef.apiGroup", group, &[GROUP]);
    }
    let kinds: &[&str] = if resource.namespaced { &["Role", "ClusterRole"] } else { &["ClusterRole"] };
    if !kinds.contains(&kind) {
        problems.not_supported("roleRef.kind", kind, kinds);
    }
    if name.is_empty() {
        problems.required("roleRef.name", "");
    } else {
        problems.each("roleRef.name", name, names::path_segment(name, false));
    }
    for (index, subject) in list(value, "/subjects").iter().enumerate() {
        let field = |name: &str| format!("subjects[{index}].{name}");
        let (name, group) = (text(subject, "/name"), text(subject, "/apiGroup"));
        if name.is_empty() {
            problems.required(field("name"), "");
        }
        match text(subject, "/kind") {
            "ServiceAccount" => {
                if !name.is_empty() {
                    problems.each(&field("name"), name, names::subdomain(name, false));
                }
                if !group.is_empty() {
                    problems.not_supported(field("apiGroup"), group, &[""]);
                }
                if !resource.namespaced && text(subject, "/namespace").is_empty() {
                    problems.required(field("namespace"), "");
                }
            }
            "User" | "Group" => {
                if group != GROUP {
                    problems.not_supported(field("apiGroup"), group, &[GROUP]);
                }
            }
            other => problems.not_supported(field("kind"), other, &["ServiceAccount", "User", "Group"]),
        }
    }
}

/// A changed binding: it stays with its role.
pub(super) fn binding_update(problems: &mut Problems, before: &Value, after: &Value) {
    if before.get("roleRef") != after.get("roleRef") {
        // The server shows its own struct here, whose fields have no names for JSON.
        let role = after.get("roleRef").cloned().unwrap_or_default();
        let shown = ordered::of_type(&role, of("RoleRef"))
            .replacen("\"apiGroup\"", "\"APIGroup\"", 1)
            .replacen("\"kind\"", "\"Kind\"", 1)
            .replacen("\"name\"", "\"Name\"", 1);
        problems.invalid_shown("roleRef", &shown, "cannot change roleRef");
    }
}
