//! The scale of a workload.

use std::cell::RefCell;

use serde_json::{Map, Value, json};

use super::body::{self, Expected};
use super::options::Options;
use super::patch::{Change, changed};
use super::update::{another_object, name_matches, rewrite};
use crate::call::{Call, WriteResult, Written};
use crate::error::ApiError;
use crate::managed::{self, Writer};
use crate::registry::section;
use crate::resource::Resource;
use crate::validate;
use crate::value::{int, list, map, put, text};

/// The scale of a workload. A count of 0 is left out, as the real one does.
pub fn scale_of(_resource: &Resource, value: &Value) -> Value {
    let mut metadata = Map::new();
    for field in ["name", "namespace", "uid", "resourceVersion", "creationTimestamp"] {
        if let Some(part) = value.pointer(&format!("/metadata/{field}")) {
            metadata.insert(field.to_owned(), part.clone());
        }
    }
    let mut scale = json!({
        "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata,
        "spec": {}, "status": {"replicas": int(value, "/status/replicas").unwrap_or_default()},
    });
    if let Some(replicas) = int(value, "/spec/replicas").filter(|&replicas| replicas != 0) {
        section(&mut scale, "spec").insert("replicas".to_owned(), replicas.into());
    }
    let selector = selector(value.pointer("/spec/selector").unwrap_or(&Value::Null));
    if !selector.is_empty() {
        section(&mut scale, "status").insert("selector".to_owned(), selector.into());
    }
    scale
}

/// A selector as it stands in a query.
fn selector(selector: &Value) -> String {
    let mut parts: Vec<(String, String)> = map(selector, "/matchLabels")
        .iter()
        .map(|(key, value)| (key.clone(), format!("{key}={}", value.as_str().unwrap_or_default())))
        .collect();
    for expression in list(selector, "/matchExpressions") {
        let key = text(expression, "/key");
        let mut values: Vec<_> = list(expression, "/values").iter().filter_map(Value::as_str).collect();
        values.sort_unstable();
        let values = values.join(",");
        let part = match text(expression, "/operator") {
            "In" => format!("{key} in ({values})"),
            "NotIn" => format!("{key} notin ({values})"),
            "DoesNotExist" => format!("!{key}"),
            _ => key.to_owned(),
        };
        parts.push((key.to_owned(), part));
    }
    parts.sort();
    parts.into_iter().map(|(_, part)| part).collect::<Vec<_>>().join(",")
}

/// The scale as it is patched: with those who own the count.
fn to_change(resource: &Resource, object: &Value) -> Value {
    let mut scale = scale_of(resource, object);
    managed::write(&mut scale, &managed::of_scale(&managed::read(object).unwrap_or_default()));
    scale
}

/// The workload after its scale was changed.
fn back(resource: &Resource, object: &Value, scale: &Value) -> Result<Value, ApiError> {
    validate::scaled(scale)?;
    let (uid, known) = (text(scale, "/metadata/uid"), text(object, "/metadata/uid"));
    if !uid.is_empty() && uid != known {
        let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {known}");
        let plural = format!("{}/scale", resource.plural);
        return Err(ApiError::conflict(resource.group, &plural, text(object, "/metadata/name"), &why));
    }
    let mut after = object.clone();
    section(&mut after, "spec").insert("replicas".to_owned(), int(scale, "/spec/replicas").unwrap_or_default().into());
    if let Some(metadata) = after.get_mut("metadata") {
        put(metadata, "resourceVersion", scale.pointer("/metadata/resourceVersion"));
    }
    let parent = managed::read(object).unwrap_or_default();
    let managers = managed::of_parent(&parent, &managed::read(scale).unwrap_or_default(), &resource.api_version());
    managed::strip(&mut after);
    managed::write(&mut after, &managers);
    Ok(after)
}

/// Gives the count to who asks.
pub(super) fn own(call: &Call<'_>, options: &Options, before: &Value, after: &mut Value) {
    let now = call.state.clock.seconds();
    let writer =
        Writer { manager: &options.manager, version: "autoscaling/v1", subresource: "scale", now: &now, reset: &[] };
    managed::update(before, after, Expected::scale().schema(), writer);
}

/// Replaces a scale.
pub(super) fn update(call: &Call<'_>, options: &Options) -> WriteResult {
    let (resource, key) = (call.target.resource, call.target.key());
    let (mut scale, warnings) = body::object(call, Expected::scale(), options.validation)?;
    super::create::namespace_matches(resource, &call.target.namespace, &mut scale)?;
    name_matches(call, &scale)?;
    let uid = text(&scale, "/metadata/uid").to_owned();
    let seen = RefCell::new(Vec::new());
    let written = rewrite(call, options, &seen, |object| {
        let known = text(object, "/metadata/uid");
        if !uid.is_empty() && uid != known {
            return Err(another_object(&key, &uid, known));
        }
        let mut after = scale.clone();
        own(call, options, &to_change(resource, object), &mut after);
        back(resource, object, &after)
    })?;
    Ok(Written { code: 200, value: scale_of(resource, &written), warnings })
}

/// Patches a scale.
pub(super) fn patch(call: &Call<'_>, options: &Options, change: &Change, mut warnings: Vec<String>) -> WriteResult {
    let resource = call.target.resource;
    let seen = RefCell::new(Vec::new());
    let written = rewrite(call, options, &seen, |object| {
        seen.borrow_mut().clear();
        let before = to_change(resource, object);
        let mut after = changed(call, Expected::scale(), options, change, &before, &seen)?;
        super::create::namespace_matches(resource, &call.target.namespace, &mut after)?;
        name_matches(call, &after)?;
        back(resource, object, &after)
    })?;
    warnings.append(&mut seen.into_inner());
    Ok(Written { code: 200, value: scale_of(resource, &written), warnings })
}
