//! What stands between a request and the registry: namespaces that are missing or going, what Pods are given, quotas.

use serde_json::{Value, json};

use crate::error::{ApiError, Cause};
use crate::registry::metadata;
use crate::resource::{NAMESPACES, NODES, PERSISTENT_VOLUME_CLAIMS, PODS, Resource};
use crate::state::State;
use crate::store::Key;
use crate::value::text;

mod pod;
pub mod quota;

/// Refuses what would be made in a namespace that is not there or is going.
///
/// # Errors
/// 404 and 403.
pub fn namespace_is_there(state: &State, resource: &Resource, namespace: &str, name: &str) -> Result<(), ApiError> {
    if !resource.namespaced {
        return Ok(());
    }
    let Some(found) = state.store.get(&Key::new(&NAMESPACES, "", namespace)) else {
        return Err(ApiError::not_found(&NAMESPACES, namespace));
    };
    // The phase says it, not the timestamp: it is what the real one looks at.
    if text(&found.value(), "/status/phase") != "Terminating" {
        return Ok(());
    }
    let why = format!("unable to create new content in namespace {namespace} because it is being terminated");
    let mut error = ApiError::forbidden(resource, name, &why);
    if let Some(details) = &mut error.details {
        details.causes.push(Cause {
            reason: "NamespaceTerminating",
            message: format!("namespace {namespace} is being terminated"),
            field: "metadata.namespace".to_owned(),
        });
    }
    Err(error)
}

/// Refuses to change what is in a namespace that is not there.
///
/// # Errors
/// 404.
pub fn namespace_exists(state: &State, resource: &Resource, namespace: &str) -> Result<(), ApiError> {
    if !resource.namespaced || state.store.get(&Key::new(&NAMESPACES, "", namespace)).is_some() {
        return Ok(());
    }
    Err(ApiError::not_found(&NAMESPACES, namespace))
}

/// Refuses to delete the namespaces that every cluster has.
///
/// # Errors
/// 403.
pub fn may_be_deleted(resource: &Resource, name: &str) -> Result<(), ApiError> {
    if resource == &NAMESPACES && matches!(name, "default" | "kube-system" | "kube-public") {
        return Err(ApiError::forbidden(resource, name, "this namespace may not be deleted"));
    }
    Ok(())
}

/// Adds what the server gives a new object of its own accord.
///
/// # Errors
/// 403 for a Pod that names what is not there.
pub fn complete(state: &State, resource: &Resource, namespace: &str, value: &mut Value) -> Result<(), ApiError> {
    if resource == &PODS {
        pod::complete(state, namespace, value)?;
    } else if resource == &PERSISTENT_VOLUME_CLAIMS {
        add(value, "finalizers", "kubernetes.io/pvc-protection".into());
    } else if resource == &NODES {
        let taint = json!({"key": "node.kubernetes.io/not-ready", "effect": "NoSchedule"});
        let spec = crate::registry::section(value, "spec");
        if let Some(taints) = spec.entry("taints").or_insert_with(|| json!([])).as_array_mut()
            && !taints.iter().any(|old| old.get("key") == taint.get("key") && old.get("effect") == taint.get("effect"))
        {
            taints.push(taint);
        }
    }
    Ok(())
}

fn add(value: &mut Value, name: &str, item: Value) {
    if let Some(list) = metadata(value).entry(name).or_insert_with(|| json!([])).as_array_mut()
        && !list.contains(&item)
    {
        list.push(item);
    }
}
