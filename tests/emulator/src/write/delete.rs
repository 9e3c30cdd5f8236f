//! Deleting an object, or all that match.

use std::sync::Arc;

use serde_json::{Value, json};

use super::options::DeleteOptions;
use crate::admission;
use crate::call::{Call, WriteResult, Written};
use crate::error::of_resource;
use crate::registry::{Deleted, Deletion};
use crate::resource::Resource;
use crate::store::Object;
use crate::value::{put, text};

/// Deletes an object.
///
/// # Errors
/// As the server answers.
pub fn delete(call: &Call<'_>) -> WriteResult {
    let options = DeleteOptions::read(call)?;
    let (resource, key) = (call.target.resource, call.target.key());
    if call.state.store.get(&key).is_some() {
        admission::may_be_deleted(resource, &call.target.name)?;
    }
    let deleted = call.state.delete(&key, &options.how)?;
    let (code, value) = match deleted {
        Deleted::Waits(value) => (if options.cascade { 202 } else { 200 }, value),
        Deleted::Gone(value) if shows_what_is_gone(resource) => (200, value),
        Deleted::Gone(value) => (200, success(resource, &value)),
    };
    Ok(Written { code, value, warnings: Vec::new() })
}

/// Whether the answer to a deletion is the object, also when it is gone.
fn shows_what_is_gone(resource: &Resource) -> bool {
    matches!(resource.kind, "Pod" | "Namespace" | "ResourceQuota" | "PersistentVolumeClaim")
}

fn success(resource: &Resource, value: &Value) -> Value {
    let mut details = json!(of_resource(resource, text(value, "/metadata/name")));
    put(&mut details, "uid", value.pointer("/metadata/uid"));
    json!({"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success", "details": details})
}

/// Deletes these objects, which were found to match. The answer lists them as they were.
///
/// # Errors
/// As the server answers.
pub fn delete_collection(call: &Call<'_>, matching: &[Arc<Object>]) -> WriteResult {
    let options = DeleteOptions::read(call)?;
    let resource = call.target.resource;
    let version = call.state.store.version();
    let mut items = Vec::with_capacity(matching.len());
    for object in matching {
        admission::may_be_deleted(resource, object.key.name())?;
        let how = Deletion { ..options.how.clone() };
        match call.state.delete(&object.key, &how) {
            Ok(_) => {}
            // Somebody was faster.
            Err(error) if error.code == 404 => {}
            Err(error) => return Err(error),
        }
        let mut item = object.value();
        put(&mut item, "kind", None);
        put(&mut item, "apiVersion", None);
        items.push(item);
    }
    let list = json!({
        "kind": format!("{}List", resource.kind), "apiVersion": resource.api_version(),
        "metadata": {"resourceVersion": version.to_string()}, "items": items,
    });
    Ok(Written { code: 200, value: list, warnings: Vec::new() })
}
