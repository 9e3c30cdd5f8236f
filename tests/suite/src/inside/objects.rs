//! Objects as an API server writes them, for scripted servers: Deployment `D` with its ReplicaSet `R1` and Pod `P1`, in
//! which all is well, and any change of them by a merge patch.

use std::time::Duration;

use serde_json::{Value, json};

use super::{Asked, Reply};

/// Changes an object by a merge patch: `null` takes a field away, a list is replaced.
pub fn merge(object: &mut Value, change: &Value) {
    let Value::Object(changes) = change else {
        *object = change.clone();
        return;
    };
    if !object.is_object() {
        *object = json!({});
    }
    let fields = object.as_object_mut().expect("it is one now");
    for (name, change) in changes {
        if change.is_null() {
            fields.remove(name);
        } else {
            merge(fields.entry(name.clone()).or_insert(Value::Null), change);
        }
    }
}

fn changed(mut object: Value, change: &Value) -> Value {
    merge(&mut object, change);
    object
}

fn labels(name: &str, ns: &str) -> Value {
    json!({
        "workload-provider/managed": "true",
        "workload-provider/owner": "default",
        "workload-provider/id": format!("{ns}.{name}"),
    })
}

/// The template of a revision, told from others by its image `app:REVISION`. Use it in a change of a Deployment whose
/// newest revision is another than 1.
pub fn template(revision: u32) -> Value {
    json!({
        "metadata": {"labels": {"app": "x"}},
        "spec": {"containers": [{"name": "main", "image": format!("app:{revision}")}]},
    })
}

/// What is sent to make a Deployment of this name that is ours, with one replica. It selects its Pods by our labels, as what
/// the provider makes does.
pub fn template_of_deployment(name: &str, ns: &str) -> Value {
    let labels = labels(name, ns);
    let mut template = template(1);
    merge(&mut template, &json!({"metadata": {"labels": labels}}));
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": ns, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    })
}

/// `D`: Deployment `ns/app`, uid `d1`, generation 2, observed, one of one replica available.
pub fn deployment(change: Value) -> Value {
    let condition = |kind: &str, reason: &str| {
        json!({"type": kind, "status": "True", "reason": reason, "message": "",
            "lastUpdateTime": "2026-07-01T11:00:00Z", "lastTransitionTime": "2026-07-01T11:00:00Z"})
    };
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {
            "name": "app", "namespace": "ns", "uid": "d1", "resourceVersion": "100", "generation": 2,
            "creationTimestamp": "2026-07-01T10:00:00Z", "labels": labels("app", "ns"),
            "annotations": {"deployment.kubernetes.io/revision": "1"},
        },
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "x"}}, "template": template(1),
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}},
            "progressDeadlineSeconds": 600, "revisionHistoryLimit": 10,
        },
        "status": {
            "observedGeneration": 2, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [
                condition("Available", "MinimumReplicasAvailable"),
                condition("Progressing", "NewReplicaSetAvailable"),
            ],
        },
    });
    changed(object, &change)
}

/// `R1`, `R2`, ...: ReplicaSet `app-rN`, uid `rN`, revision N, of `D`, with one of one replica available. Its template is
/// [`template`] of N.
pub fn replica_set(number: u32, change: Value) -> Value {
    let name = format!("app-r{number}");
    let hash = json!({"pod-template-hash": format!("r{number}")});
    let mut template = template(number);
    merge(&mut template, &json!({"metadata": {"labels": hash}}));
    let object = json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet",
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("r{number}"), "resourceVersion": "90", "generation": 1,
            "creationTimestamp": "2026-07-01T10:00:00Z",
            "labels": {"app": "x", "pod-template-hash": format!("r{number}")},
            "annotations": {"deployment.kubernetes.io/revision": number.to_string()},
            "ownerReferences": [owner("apps/v1", "Deployment", "app", "d1")],
        },
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "x", "pod-template-hash": format!("r{number}")}},
            "template": template,
        },
        "status": {
            "replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1, "availableReplicas": 1, "observedGeneration": 1,
        },
    });
    changed(object, &change)
}

/// `P1`, `P2`, ...: Pod `app-rR-pN`, uid `pN`, of `R{set}`, running and ready.
pub fn pod(number: u32, set: u32, change: Value) -> Value {
    let name = format!("app-r{set}-p{number}");
    let condition = |kind: &str| json!({"type": kind, "status": "True", "lastTransitionTime": "2026-07-01T10:00:05Z"});
    let conditions = ["PodScheduled", "Initialized", "ContainersReady", "Ready"].map(condition);
    let object = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": name, "namespace": "ns", "uid": format!("p{number}"), "resourceVersion": "80",
            "creationTimestamp": "2026-07-01T10:00:00Z",
            "labels": {"app": "x", "pod-template-hash": format!("r{set}")},
            "ownerReferences": [owner("apps/v1", "ReplicaSet", &format!("app-r{set}"), &format!("r{set}"))],
        },
        "spec": {"nodeName": "node-1", "containers": [{"name": "main", "image": format!("app:{set}")}]},
        "status": {
            "phase": "Running", "startTime": "2026-07-01T10:00:00Z",
            "conditions": conditions,
            "containerStatuses": [container("main", json!({"running": {"startedAt": "2026-07-01T10:00:05Z"}}), json!({
                "ready": true, "started": true,
            }))],
        },
    });
    changed(object, &change)
}

/// The status of a container in this state: not ready and never restarted, unless the change says so.
pub fn container(name: &str, state: Value, change: Value) -> Value {
    let status = json!({
        "name": name, "image": "app:1", "imageID": "", "ready": false, "started": false, "restartCount": 0,
        "state": state, "lastState": {},
    });
    changed(status, &change)
}

/// The controller among the owners of an object.
pub fn owner(api: &str, kind: &str, name: &str, uid: &str) -> Value {
    json!({"apiVersion": api, "kind": kind, "name": name, "uid": uid, "controller": true, "blockOwnerDeletion": true})
}

/// A `Status` of the server.
pub fn status(code: u16, reason: &str, message: &str, details: Value) -> Value {
    let mut status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "message": message, "reason": reason,
        "code": code,
    });
    if details.as_object().is_some_and(|details| !details.is_empty()) {
        merge(&mut status, &json!({"details": details}));
    }
    status
}

/// A list; the kind is that of its items, e.g. `Pod`.
pub fn list(kind: &str, items: &[Value]) -> Value {
    let api = if matches!(kind, "Pod" | "Event") { "v1" } else { "apps/v1" };
    let stripped = |item: &Value| changed(item.clone(), &json!({"apiVersion": null, "kind": null}));
    let items: Vec<Value> = items.iter().map(stripped).collect();
    json!({"apiVersion": api, "kind": format!("{kind}List"), "metadata": {"resourceVersion": "100"}, "items": items})
}

/// The `Scale` of a Deployment.
pub fn scale(deployment: &Value, replicas: u64) -> Value {
    let metadata = &deployment["metadata"];
    let mut spec = json!({});
    if replicas > 0 {
        spec = json!({"replicas": replicas});
    }
    json!({
        "apiVersion": "autoscaling/v1", "kind": "Scale",
        "metadata": {
            "name": metadata["name"], "namespace": metadata["namespace"], "uid": metadata["uid"],
            "resourceVersion": metadata["resourceVersion"], "creationTimestamp": metadata["creationTimestamp"],
        },
        "spec": spec, "status": {"replicas": 0, "selector": "app=x"},
    })
}

/// A cluster in which nothing happens: it shows these objects whatever is written, and its watches stay quiet. Use it for
/// what a script does not answer otherwise.
#[derive(Debug, Clone)]
pub struct Still {
    /// The only Deployment; `null` for none.
    pub deployment: Value,
    /// All ReplicaSets.
    pub replica_sets: Vec<Value>,
    /// All Pods.
    pub pods: Vec<Value>,
    /// All Events.
    pub events: Vec<Value>,
}

impl Still {
    /// With `R1` and `P1`.
    pub fn new(deployment: Value) -> Still {
        Still::of(deployment, vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))])
    }

    /// With these.
    pub fn of(deployment: Value, replica_sets: Vec<Value>, pods: Vec<Value>) -> Still {
        Still { deployment, replica_sets, pods, events: Vec::new() }
    }

    /// Answers a request.
    pub fn answer(&self, asked: &Asked) -> Reply {
        let name = self.deployment["metadata"]["name"].as_str().unwrap_or_default();
        let deployments: &[Value] =
            if self.deployment.is_null() { &[] } else { std::slice::from_ref(&self.deployment) };
        let word = asked.word();
        match (asked.verb, word.split_once(' ').map_or("", |(_, about)| about)) {
            ("LIST", "deployments") => Reply::json(200, &list("Deployment", deployments)),
            ("LIST", "replicasets") => Reply::json(200, &list("ReplicaSet", &self.replica_sets)),
            ("LIST", "pods") => Reply::json(200, &list("Pod", &self.pods)),
            ("LIST", "events") => Reply::json(200, &list("Event", &self.events)),
            ("WATCH", _) => {
                let seconds = asked.query("timeoutSeconds").and_then(|text| text.parse().ok()).unwrap_or(300);
                Reply::quiet_watch(Duration::from_secs(seconds))
            }
            ("POST", _) => Reply::json(201, &self.deployment),
            ("PATCH", about) if about == format!("{name}/scale") && !name.is_empty() => {
                let wanted = asked.body["spec"]["replicas"].as_u64().unwrap_or_default();
                Reply::json(200, &scale(&self.deployment, wanted))
            }
            (_, about) if about == name && !name.is_empty() => Reply::json(200, &self.deployment),
            (_, about) => Reply::not_found(about.split('/').next().unwrap_or_default()),
        }
    }
}
