//! What the tests are given: objects as JSON, and what lies beside them.

use serde_json::{Value, json};

use super::super::*;
use crate::api::Object;

/// What lies beside a Deployment, as JSON.
#[derive(Debug, Clone)]
pub(super) enum Given {
    NotRead,
    NotReadable,
    Items(Vec<Value>),
}

/// ReplicaSets or Pods that were read.
pub(super) fn read(items: &[Value]) -> Given {
    Given::Items(items.to_vec())
}

/// A look at what was given.
#[derive(Debug)]
pub(super) struct Look {
    pub deployment: Value,
    pub sets: Given,
    pub pods: Given,
    pub own: Own,
    pub server_ms: Option<u64>,
}

impl Look {
    /// A single look, with nothing beside it.
    pub fn at(deployment: Value) -> Self {
        let own = Own { single: true, ..Own::default() };
        Self { deployment, sets: Given::NotRead, pods: Given::NotRead, own, server_ms: None }
    }

    /// With these ReplicaSets and Pods.
    pub fn with(self, sets: &[Value], pods: &[Value]) -> Self {
        Self { sets: read(sets), pods: read(pods), ..self }
    }

    /// When the server answered.
    pub fn server_ms(self, server_ms: u64) -> Self {
        Self { server_ms: Some(server_ms), ..self }
    }

    /// Decodes it all, as it came from a server, and hands it out.
    pub fn see<T>(&self, look: impl FnOnce(&Observed<'_, '_>) -> T) -> T {
        let text = self.deployment.to_string();
        let (sets, pods) = (texts(&self.sets), texts(&self.pods));
        let deployment = Deployment::decode_item(text.as_bytes()).unwrap();
        look(&Observed {
            deployment: &deployment,
            replica_sets: decode(&sets),
            pods: decode(&pods),
            own: self.own,
            server_ms: self.server_ms,
        })
    }

    /// What the table says.
    pub fn decide(&self) -> Verdict {
        self.see(decide)
    }

    /// The row's number, status and reason.
    pub fn answer(&self) -> (String, Status, &'static str) {
        let verdict = self.decide();
        (number(verdict.rule), verdict.status, verdict.reason)
    }
}

/// A row without its words.
pub(super) fn number(rule: &str) -> String {
    rule.split(' ').next().unwrap().to_owned()
}

fn texts(given: &Given) -> Beside<Vec<String>> {
    match given {
        Given::NotRead => Beside::NotRead,
        Given::NotReadable => Beside::NotReadable,
        Given::Items(items) => Beside::Read(items.iter().map(ToString::to_string).collect()),
    }
}

fn decode<'a, T: Object<'a>>(texts: &'a Beside<Vec<String>>) -> Beside<Vec<T>> {
    match texts {
        Beside::NotRead => Beside::NotRead,
        Beside::NotReadable => Beside::NotReadable,
        Beside::Read(texts) => {
            Beside::Read(texts.iter().map(|text| T::decode_item(text.as_bytes()).unwrap()).collect())
        }
    }
}

/// One JSON value laid over another: what is null stays in it as null.
pub(super) fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value.clone(),
    }
}

/// The same, as an expression.
pub(super) fn both(mut left: Value, right: Value) -> Value {
    merge(&mut left, &right);
    left
}

/// 2026-01-01T00:00:00Z, when all of these were made.
pub(super) const MADE: &str = "2026-01-01T00:00:00Z";

/// The same in milliseconds of the Unix epoch.
pub(super) const MADE_MS: u64 = 1_767_225_600_000;

/// A Deployment of one replica that is complete, changed as said.
pub(super) fn deployment(over: Value) -> Value {
    let object = json!({
        "metadata": {"name": "web", "namespace": "default", "uid": "d", "generation": 3, "creationTimestamp": MADE},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"image": "nginx:1"}]}}},
        "status": {"observedGeneration": 3, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
            "availableReplicas": 1},
    });
    both(object, over)
}

/// One that wants one replica and has none available yet, changed as said.
pub(super) fn unavailable(over: Value) -> Value {
    both(deployment(json!({"status": {"readyReplicas": null, "availableReplicas": null}})), over)
}

/// None wanted and none counted, changed as said.
pub(super) fn none(over: Value) -> Value {
    let object = deployment(json!({
        "spec": {"replicas": 0},
        "status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null, "availableReplicas": null,
            "terminatingReplicas": 0},
    }));
    both(object, over)
}

/// Its newest ReplicaSet, changed as said.
pub(super) fn set(over: Value) -> Value {
    let object = json!({
        "metadata": {"name": "web-1", "namespace": "default", "uid": "s", "generation": 1, "creationTimestamp": MADE,
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}]},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": {"pod-template-hash": "1"}},
            "spec": {"containers": [{"image": "nginx:1"}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "availableReplicas": 1},
    });
    both(object, over)
}

/// The newest with none available.
pub(super) fn unavailable_set() -> Value {
    set(json!({"status": {"availableReplicas": 0}}))
}

/// The newest, scaled to none.
pub(super) fn empty_set() -> Value {
    set(json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "availableReplicas": 0}}))
}

/// One of an older template.
pub(super) fn old(available: i64) -> Value {
    let template = json!({"spec": {"containers": [{"image": "nginx:0"}]}});
    set(json!({"metadata": {"name": "web-0", "uid": "o"}, "spec": {"template": template},
        "status": {"availableReplicas": available}}))
}

/// A Pod of the newest ReplicaSet, changed as said.
pub(super) fn pod(over: Value) -> Value {
    let object = json!({
        "metadata": {"name": "web-1-a", "namespace": "default", "uid": "p", "creationTimestamp": MADE,
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "uid": "s", "controller": true}]},
        "spec": {"nodeName": "n1", "containers": [{"name": "main"}]},
        "status": {"phase": "Running"},
    });
    both(object, over)
}

/// A Pod of the newest ReplicaSet that is ready.
pub(super) fn ready_pod() -> Value {
    pod(json!({"status": {"conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "main", "ready": true, "state": {"running": {}}}]}}))
}

/// A Pod of an older ReplicaSet, changed as said.
pub(super) fn old_pod(over: Value) -> Value {
    let owner = json!([{"kind": "ReplicaSet", "name": "web-0", "uid": "o", "controller": true}]);
    both(pod(json!({"metadata": {"name": "web-0-a", "uid": "q", "ownerReferences": owner}})), over)
}

/// A Pod whose container `main` is not ready and is as said.
pub(super) fn container(over: Value) -> Value {
    let status = both(json!({"name": "main", "image": "nginx:1", "ready": false, "restartCount": 0}), over);
    pod(json!({"status": {"containerStatuses": [status]}}))
}

/// A Pod whose container waits for this reason, after this many restarts.
pub(super) fn waiting(reason: &str, message: &str, restarts: i64) -> Value {
    container(json!({"restartCount": restarts, "state": {"waiting": {"reason": reason, "message": message}}}))
}

/// One in a crash loop.
pub(super) fn crash_loop() -> Value {
    container(json!({"restartCount": 5, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}))
}

/// A Deployment's condition, to lay over one.
pub(super) fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"status": {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}})
}

/// ReplicaSetCreateError, to lay over one.
pub(super) fn create_error() -> Value {
    condition("Progressing", "False", "ReplicaSetCreateError", "exceeded quota")
}

/// ProgressDeadlineExceeded, to lay over one.
pub(super) fn deadline() -> Value {
    condition("Progressing", "False", "ProgressDeadlineExceeded", "it has timed out progressing")
}

/// Pods cannot be made, for this reason, to lay over one.
pub(super) fn replica_failure(message: &str) -> Value {
    both(
        condition("ReplicaFailure", "True", "FailedCreate", message),
        json!({"status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null, "availableReplicas": null}}),
    )
}

/// A status as a word.
pub(super) fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Offline => "offline",
        Status::Creating => "creating",
        Status::Failed => "failed",
        Status::Missing => "missing",
        Status::Unknown => "unknown",
    }
}
