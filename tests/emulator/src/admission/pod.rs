//! What a new Pod is given: a service account with its token, a priority, and patience with nodes that are lost.

use serde_json::{Value, json};

use crate::error::ApiError;
use crate::registry::section;
use crate::resource::PODS;
use crate::state::State;
use crate::value::{default, has, list, list_mut, put, text};

/// Where containers find the token of their service account.
const TOKEN: &str = "/var/run/secrets/kubernetes.io/serviceaccount";

/// How long a Pod stays on a node that is lost, in seconds.
const PATIENCE: i64 = 300;

/// Fills in a Pod.
pub(super) fn complete(state: &State, namespace: &str, pod: &mut Value) -> Result<(), ApiError> {
    let name = text(pod, "/metadata/name").to_owned();
    section(pod, "spec");
    let Some(spec) = pod.get_mut("spec") else { return Ok(()) };
    default(spec, "serviceAccountName", "default");
    let account = text(spec, "/serviceAccountName").to_owned();
    if account != "default" {
        let why =
            format!("error looking up service account {namespace}/{account}: serviceaccount \"{account}\" not found");
        return Err(ApiError::forbidden(&PODS, &name, &why));
    }
    put(spec, "serviceAccount", Some(&account.into()));
    if spec.get("automountServiceAccountToken") != Some(&Value::Bool(false)) {
        mount_token(state, spec);
    }
    tolerate(spec);
    set_priority(spec, &name)
}

fn mount_token(state: &State, spec: &mut Value) {
    let known = list(spec, "/volumes").iter().map(|volume| text(volume, "/name"));
    let known = known.filter(|name| name.starts_with("kube-api-access-")).map(str::to_owned).next();
    let name = known.clone().unwrap_or_else(|| format!("kube-api-access-{}", state.suffix()));
    let mount = json!({"name": name, "readOnly": true, "mountPath": TOKEN});
    let mut wanted = false;
    for lists in ["/initContainers", "/containers"] {
        for container in list_mut(spec, lists) {
            if list(container, "/volumeMounts").iter().all(|mount| text(mount, "/mountPath") != TOKEN) {
                push(container, "volumeMounts", mount.clone());
                wanted = true;
            }
        }
    }
    if wanted && known.is_none() {
        let sources = json!([
            {"serviceAccountToken": {"expirationSeconds": 3607, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [
                {"path": "namespace", "fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.namespace"}},
            ]}},
        ]);
        push(spec, "volumes", json!({"name": name, "projected": {"sources": sources, "defaultMode": 420}}));
    }
}

fn tolerate(spec: &mut Value) {
    let said = list(spec, "/tolerations").to_vec();
    for key in ["node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable"] {
        let tolerated = said.iter().any(|toleration| {
            matches!(text(toleration, "/effect"), "" | "NoExecute")
                && (text(toleration, "/key") == key || text(toleration, "/key").is_empty())
        });
        if !tolerated {
            let toleration =
                json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": PATIENCE});
            push(spec, "tolerations", toleration);
        }
    }
}

fn set_priority(spec: &mut Value, name: &str) -> Result<(), ApiError> {
    let priority: i64 = match text(spec, "/priorityClassName") {
        "" => 0,
        "system-cluster-critical" => 2_000_000_000,
        "system-node-critical" => 2_000_001_000,
        class => {
            let why = format!("no PriorityClass with name {class} was found");
            return Err(ApiError::forbidden(&PODS, name, &why));
        }
    };
    put(spec, "priority", Some(&priority.into()));
    if !has(spec, "/preemptionPolicy") {
        put(spec, "preemptionPolicy", Some(&"PreemptLowerPriority".into()));
    }
    Ok(())
}

fn push(value: &mut Value, name: &str, item: Value) {
    default(value, name, json!([]));
    if let Some(list) = value.get_mut(name).and_then(Value::as_array_mut) {
        list.push(item);
    }
}
