//! What the server refuses in an object, in its words: one cause for each field.

use serde_json::Value;

use crate::error::{ApiError, Cause};
use crate::quote::quoted;
use crate::resource::Resource;
use crate::schema::ordered;
use crate::value::text;

mod apps;
mod container;
mod core;
mod metadata;
pub mod names;
mod pod;
mod pod_update;
mod rbac;

/// What is wrong with an object, in the order in which the server looks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problems(pub Vec<Cause>);

impl Problems {
    fn add(&mut self, reason: &'static str, field: impl Into<String>, words: &str, detail: &str) {
        let message = if detail.is_empty() { words.to_owned() } else { format!("{words}: {detail}") };
        self.0.push(Cause { reason, message, field: field.into() });
    }

    /// A value that is wrong.
    pub fn invalid(&mut self, field: impl Into<String>, value: &Value, detail: &str) {
        self.add("FieldValueInvalid", field, &format!("Invalid value: {}", ordered::plain(value)), detail);
    }

    /// A value that is wrong, shown as this text.
    pub fn invalid_shown(&mut self, field: impl Into<String>, shown: &str, detail: &str) {
        self.add("FieldValueInvalid", field, &format!("Invalid value: {shown}"), detail);
    }

    /// A text that is wrong.
    pub fn invalid_text(&mut self, field: impl Into<String>, value: &str, detail: &str) {
        self.add("FieldValueInvalid", field, &format!("Invalid value: {}", quoted(value)), detail);
    }

    /// A value that is missing.
    pub fn required(&mut self, field: impl Into<String>, detail: &str) {
        self.add("FieldValueRequired", field, "Required value", detail);
    }

    /// A value that may not be there.
    pub fn forbidden(&mut self, field: impl Into<String>, detail: &str) {
        self.add("FieldValueForbidden", field, "Forbidden", detail);
    }

    /// A value that is there twice.
    pub fn duplicate(&mut self, field: impl Into<String>, value: &str) {
        self.add("FieldValueDuplicate", field, &format!("Duplicate value: {}", quoted(value)), "");
    }

    /// A name of something that is not there.
    pub fn not_found(&mut self, field: impl Into<String>, value: &str) {
        self.add("FieldValueNotFound", field, &format!("Not found: {}", quoted(value)), "");
    }

    /// A text that is none of those that are known.
    pub fn not_supported(&mut self, field: impl Into<String>, value: &str, known: &[&str]) {
        self.not_supported_shown(field, &quoted(value), known);
    }

    /// A value, shown as this text, that is none of those that are known.
    pub fn not_supported_shown(&mut self, field: impl Into<String>, shown: &str, known: &[&str]) {
        let known: Vec<_> = known.iter().map(|word| quoted(word)).collect();
        let detail = format!("supported values: {}", known.join(", "));
        self.add("FieldValueNotSupported", field, &format!("Unsupported value: {shown}"), &detail);
    }

    /// A value that is too long.
    pub fn too_long(&mut self, field: impl Into<String>, most: usize) {
        self.add("FieldValueTooLong", field, "Too long", &format!("may not be more than {most} bytes"));
    }

    /// A number below nothing.
    pub fn not_negative(&mut self, field: impl Into<String>, number: i64) {
        if number < 0 {
            self.invalid(field, &number.into(), "must be greater than or equal to 0");
        }
    }

    /// A value of a field that cannot change but did.
    pub fn immutable(&mut self, field: impl Into<String>, before: Option<&Value>, after: Option<&Value>) {
        if before.filter(|value| !value.is_null()) != after.filter(|value| !value.is_null()) {
            self.invalid(field, after.unwrap_or(&Value::Null), "field is immutable");
        }
    }

    /// Each of the complaints about a text.
    fn each(&mut self, field: &str, value: &str, complaints: Vec<String>) {
        for complaint in complaints {
            self.invalid_text(field, value, &complaint);
        }
    }

    /// The answer, if anything is wrong.
    ///
    /// # Errors
    /// 422.
    pub fn answer(self, group: &str, kind: &str, name: &str) -> Result<(), ApiError> {
        if self.0.is_empty() { Ok(()) } else { Err(ApiError::invalid(group, kind, name, self.0)) }
    }
}

/// Refuses a new object.
///
/// # Errors
/// 422 with all causes.
pub fn created(resource: &Resource, value: &Value) -> Result<(), ApiError> {
    let mut problems = Problems::default();
    match resource.kind {
        "Deployment" => apps::deployment(&mut problems, value),
        "ReplicaSet" => apps::replica_set(&mut problems, value),
        "Pod" => pod::pod(&mut problems, value),
        "Namespace" => core::namespace(&mut problems, value),
        "Node" => core::node(&mut problems, value),
        "Event" => core::event(&mut problems, value),
        "ResourceQuota" => core::quota(&mut problems, value),
        "PersistentVolumeClaim" => core::claim(&mut problems, value),
        "Role" | "ClusterRole" => rbac::role(&mut problems, resource, value),
        _ => rbac::binding(&mut problems, resource, value),
    }
    let name = text(value, "/metadata/name");
    problems.answer(resource.group, resource.kind, name)?;
    let mut problems = Problems::default();
    metadata::of_object(&mut problems, value, resource.namespaced, names::path_segment);
    problems.answer(resource.group, resource.kind, name)
}

/// Refuses a changed object, or a changed part of it.
///
/// # Errors
/// 422 with all causes.
pub fn updated(resource: &Resource, subresource: &str, before: &Value, after: &Value) -> Result<(), ApiError> {
    let mut problems = Problems::default();
    metadata::of_object(&mut problems, after, resource.namespaced, names::path_segment);
    metadata::of_update(&mut problems, before, after);
    if resource.kind == "Role" || resource.kind == "ClusterRole" {
        rbac::role(&mut problems, resource, after);
    } else if resource.kind == "RoleBinding" || resource.kind == "ClusterRoleBinding" {
        rbac::binding(&mut problems, resource, after);
    }
    metadata::of_update(&mut problems, before, after);
    metadata::kube_finalizers(&mut problems, after);
    match (resource.kind, subresource) {
        ("Deployment", "") => apps::deployment_update(&mut problems, before, after),
        ("Deployment", "status") => apps::deployment_status(&mut problems, before, after),
        ("ReplicaSet", "") => apps::replica_set_update(&mut problems, before, after),
        ("ReplicaSet", "status") => apps::replica_set_status(&mut problems, after),
        ("Pod", "") => pod_update::update(&mut problems, before, after),
        ("Pod", "status") => pod_update::status(&mut problems, before, after),
        ("Namespace", _) => core::namespace_update(&mut problems, subresource, after),
        ("ResourceQuota", "") => core::quota_update(&mut problems, before, after),
        ("PersistentVolumeClaim", "") => core::claim_update(&mut problems, before, after),
        ("RoleBinding" | "ClusterRoleBinding", _) => rbac::binding_update(&mut problems, before, after),
        _ => {}
    }
    problems.answer(resource.group, resource.kind, text(after, "/metadata/name"))
}

/// Refuses a scale.
///
/// # Errors
/// 422 with all causes.
pub fn scaled(scale: &Value) -> Result<(), ApiError> {
    let mut problems = Problems::default();
    metadata::of_kind(&mut problems, scale, true, names::subdomain);
    problems.not_negative("spec.replicas", crate::value::int(scale, "/spec/replicas").unwrap_or_default());
    problems.answer("autoscaling", "Scale", text(scale, "/metadata/name"))
}

#[cfg(test)]
mod tests;
