//! The script: each chapter in a namespace of its own, so that they run side by side.

mod access;
mod apply;
mod deletes;
mod deployments;
mod discovery;
mod lists;
mod namespaces;
mod objects;
mod patches;
mod pods;
mod replicasets;
mod rollouts;
mod scale;
mod watches;

use serde_json::{Value, json};

use crate::step::Chapter;

/// All chapters.
pub fn chapters() -> Vec<Chapter> {
    let chapter = |name, steps| Chapter { name, steps };
    vec![
        chapter("access", access::steps()),
        chapter("apply", apply::steps()),
        chapter("deletes", deletes::steps()),
        chapter("deployments", deployments::steps()),
        chapter("discovery", discovery::steps()),
        chapter("lists", lists::steps()),
        chapter("namespaces", namespaces::steps()),
        chapter("objects", objects::steps()),
        chapter("patches", patches::steps()),
        chapter("pods", pods::steps()),
        chapter("replicasets", replicasets::steps()),
        chapter("rollouts", rollouts::steps()),
        chapter("scale", scale::steps()),
        chapter("watches", watches::steps()),
    ]
}

/// What the keys of annotations start with that tell the emulator what a container does. The real cluster runs it, and
/// has no use for them; they are left out of the comparison.
pub const BEHAVIOUR: &str = "kube-emulator/";

/// Annotations for a container that ends by itself with this exit code.
fn exits(code: i64) -> Value {
    json!({ format!("{BEHAVIOUR}exit-after"): "0", format!("{BEHAVIOUR}exit-code"): code.to_string() })
}

/// Annotations for an image that is not there and may not be pulled.
fn no_image() -> Value {
    json!({ format!("{BEHAVIOUR}image"): "never" })
}

/// A Pod's spec: a shell that ends at once when it is told to.
fn pod_spec() -> Value {
    json!({
        "automountServiceAccountToken": false,
        "dnsPolicy": "Default",
        "enableServiceLinks": false,
        "terminationGracePeriodSeconds": 5,
        "containers": [{
            "name": "main",
            "image": "localhost/busybox:1",
            "imagePullPolicy": "Never",
            "command": ["sh", "-c", "trap 'exit 0' TERM; sleep 3600 & wait"]
        }]
    })
}

/// A Deployment whose Pods have the label `app` with its name.
fn deployment(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "labels": {"app": name}},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec()}
        }
    })
}

/// A Pod without an owner.
fn pod(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name, "labels": {"app": name}}, "spec": pod_spec()})
}

/// An object with some values replaced: a JSON pointer and the value; the last part of the pointer may be new.
fn with(mut object: Value, changes: &[(&str, Value)]) -> Value {
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
        match object.pointer_mut(parent).unwrap_or_else(|| panic!("no {parent}")) {
            Value::Array(list) => list[key.parse::<usize>().expect("a place in a list")] = value.clone(),
            other => other[key] = value.clone(),
        }
    }
    object
}

/// A Role that allows these verbs on these resources of a group.
fn role(name: &str, group: &str, resources: &[&str], verbs: &[&str]) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": name},
        "rules": [{"apiGroups": [group], "resources": resources, "verbs": verbs}]
    })
}

/// Gives a Role to the user `nobody`.
fn binding(name: &str, role: &str) -> Value {
    json!({
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": name},
        "subjects": [{"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}],
        "roleRef": {"kind": "Role", "name": role, "apiGroup": "rbac.authorization.k8s.io"}
    })
}
