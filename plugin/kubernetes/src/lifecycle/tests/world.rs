//! A cluster as far as these tests need one.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use workload_guest::testing::{Asked, Reply, json as answer, response};
use workload_guest::{Answer, Method, Response};

/// A Deployment and how long its Pods take.
#[derive(Clone, Debug)]
pub struct Workload {
    pub uid: String,
    pub desired: i64,
    pub generation: i64,
    /// When the count was last changed. The counters of a world that just began are old.
    pub changed: Option<u64>,
    /// From the change until all are available.
    pub ready_ms: u64,
    /// From the change, or the deletion, until none is left.
    pub end_ms: u64,
    pub deleted: Option<u64>,
    /// Members of the object that are put over what would be there.
    pub over: Value,
    pub probe: bool,
}

impl Workload {
    pub fn at(desired: i64) -> Self {
        Self {
            uid: "uid-1".to_owned(),
            desired,
            generation: 1,
            changed: None,
            ready_ms: 800,
            end_ms: 700,
            deleted: None,
            over: Value::Null,
            probe: true,
        }
    }

    pub fn over(mut self, over: Value) -> Self {
        self.over = over;
        self
    }

    fn since(&self, now: u64) -> u64 {
        self.changed.map_or(u64::MAX, |at| now - at)
    }

    fn gone(&self, now: u64) -> bool {
        self.deleted.is_some_and(|at| now >= at + self.end_ms)
    }

    /// Pods that can still run.
    fn left(&self, now: u64) -> i64 {
        match self.desired {
            _ if self.gone(now) => 0,
            0 if self.since(now) < self.end_ms => 1,
            desired => desired,
        }
    }

    fn object(&self, name: &str, now: u64) -> Value {
        let observed = self.since(now) >= 10;
        let available = if self.desired > 0 && self.since(now) >= self.ready_ms { self.desired } else { 0 };
        let replicas = if observed { self.desired } else { 0 };
        let labels = json!({"workload-provider/managed": "true", "workload-provider/owner": "default"});
        let mut container = json!({"name": "main", "image": "nginx:1"});
        if self.probe {
            container["readinessProbe"] = json!({"httpGet": {"port": 80}});
        }
        let mut object = json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {
                "name": name, "namespace": "default", "uid": self.uid, "generation": self.generation,
                "resourceVersion": format!("{}", 100 + self.generation), "labels": labels,
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {
                "replicas": self.desired,
                "selector": {"matchLabels": labels},
                "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            },
            "status": {
                "observedGeneration": if observed { self.generation } else { self.generation - 1 },
                "replicas": replicas, "updatedReplicas": replicas, "availableReplicas": available,
                "terminatingReplicas": self.left(now) - self.desired,
            },
        });
        if self.deleted.is_some() {
            object["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:10:00Z");
            object["metadata"]["finalizers"] = json!(["foregroundDeletion"]);
        }
        merge(&mut object, &self.over);
        object
    }

    fn set(&self, name: &str, now: u64) -> Value {
        let object = self.object(name, now);
        let mut template = object["spec"]["template"].clone();
        template["metadata"]["labels"]["pod-template-hash"] = json!("abc");
        json!({
            "metadata": {
                "name": format!("{name}-abc"), "namespace": "default", "uid": format!("{}-set-{name}", self.uid), "generation": 1,
                "ownerReferences": [{"kind": "Deployment", "name": name, "uid": self.uid, "controller": true}],
            },
            "spec": {"replicas": self.desired, "template": template},
            "status": {
                "observedGeneration": 1, "replicas": self.desired,
                "availableReplicas": object["status"]["availableReplicas"],
            },
        })
    }

    fn pods(&self, name: &str, now: u64) -> Vec<Value> {
        let pod = |index| {
            json!({
                "metadata": {
                    "name": format!("{name}-abc-{index}"), "namespace": "default", "uid": format!("pod-{name}-{index}"),
                    "ownerReferences": [{"kind": "ReplicaSet", "name": format!("{name}-abc"),
                        "uid": format!("{}-set-{name}", self.uid), "controller": true}],
                },
                "spec": {"nodeName": "node-1"},
                "status": {"phase": "Running"},
            })
        };
        (0..self.left(now)).map(pod).collect()
    }

    /// When something changes by itself from now on.
    fn changes(&self, now: u64) -> Vec<u64> {
        let after = |at: u64| (at > now).then(|| at - now);
        let last = if self.desired > 0 { self.ready_ms } else { self.end_ms };
        let times = self.changed.iter().flat_map(|at| [at + 10, at + last]);
        times.chain(self.deleted.map(|at| at + self.end_ms)).filter_map(after).collect()
    }
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (_, Value::Null) => {}
        (into, value) => *into = value.clone(),
    }
}

/// The cluster.
#[derive(Clone, Debug, Default)]
pub struct World {
    pub workloads: BTreeMap<String, Workload>,
    pub events: Vec<Value>,
}

impl World {
    pub fn with(workload: Workload) -> Self {
        Self { workloads: [("web".to_owned(), workload)].into_iter().collect(), ..Self::default() }
    }

    pub fn empty() -> Self {
        Self::default()
    }

    pub fn web(&mut self) -> &mut Workload {
        self.workloads.get_mut("web").unwrap()
    }

    /// What the API server says to this.
    pub fn answer(&mut self, asked: &Asked) -> Reply {
        let now = asked.now;
        self.workloads.retain(|_, workload| !workload.gone(now));
        let request = asked.request().unwrap();
        if request.streaming {
            return self.watch(now);
        }
        let words: Vec<&str> = request.segments.iter().map(String::as_str).collect();
        let rest = words.iter().position(|word| *word == "namespaces").map_or(&[][..], |at| &words[at + 2..]);
        match (request.method, rest) {
            (Method::Get, ["deployments", name]) => match self.workloads.get(*name) {
                Some(workload) => answer(200, workload.object(name, now)),
                None => missing(name),
            },
            (Method::Get, [_]) | (Method::Get, []) => self.list(words.last().unwrap(), asked),
            (Method::Patch, ["deployments", name, "scale"]) => self.scale(name, asked),
            (Method::Patch, ["deployments", name]) => match self.workloads.get(*name) {
                Some(workload) => answer(200, workload.object(name, now)),
                None => missing(name),
            },
            (Method::Delete, ["deployments", name]) => match self.workloads.get_mut(*name) {
                Some(workload) => {
                    workload.deleted = Some(now);
                    workload.generation += 1;
                    answer(200, workload.object(name, now))
                }
                None => missing(name),
            },
            (Method::Post, ["deployments"]) => {
                let mut object: Value = serde_json::from_slice(asked.body().unwrap()).unwrap();
                object["metadata"]["uid"] = json!("uid-new");
                object["metadata"]["generation"] = json!(1);
                answer(201, object)
            }
            _ => panic!("nobody expects {words:?}"),
        }
    }

    fn scale(&mut self, name: &str, asked: &Asked) -> Reply {
        let Some(workload) = self.workloads.get_mut(name) else { return missing(name) };
        let body: Value = serde_json::from_slice(asked.body().unwrap()).unwrap();
        let version = json!(format!("{}", 100 + workload.generation));
        let meta = &body["metadata"];
        if meta["uid"] != json!(workload.uid) || meta.get("resourceVersion").is_some_and(|asked| *asked != version) {
            return refused(409, "Conflict", name);
        }
        let desired = body["spec"]["replicas"].as_i64().unwrap();
        if desired != workload.desired {
            workload.desired = desired;
            workload.generation += 1;
            workload.changed = Some(asked.now);
        }
        answer(200, json!({"kind": "Scale", "metadata": {"name": name, "namespace": "default", "uid": workload.uid}}))
    }

    fn list(&self, resource: &str, asked: &Asked) -> Reply {
        let now = asked.now;
        let (kind, items): (&str, Vec<Value>) = match resource {
            "deployments" => ("Deployment", self.each(|name, workload| vec![workload.object(name, now)])),
            "replicasets" => ("ReplicaSet", self.each(|name, workload| vec![workload.set(name, now)])),
            "events" => ("Event", self.events_about(asked.query("fieldSelector").unwrap())),
            _ => ("Pod", self.each(|name, workload| workload.pods(name, now))),
        };
        answer(200, json!({"kind": format!("{kind}List"), "metadata": {"resourceVersion": "1000"}, "items": items}))
    }

    fn events_about(&self, selector: &str) -> Vec<Value> {
        let uid = selector.strip_prefix("involvedObject.uid=").unwrap();
        self.events.iter().filter(|event| event["involvedObject"]["uid"] == json!(uid)).cloned().collect()
    }

    fn each(&self, make: impl Fn(&str, &Workload) -> Vec<Value>) -> Vec<Value> {
        self.workloads.iter().flat_map(|(name, workload)| make(name, workload)).collect()
    }

    fn watch(&self, now: u64) -> Reply {
        let mut times: Vec<u64> = self.workloads.values().flat_map(|workload| workload.changes(now)).collect();
        times.sort_unstable();
        times.dedup();
        Reply::Script(
            times.into_iter().map(|ms| (ms, Answer::Response(line(r#"{"type":"MODIFIED","object":{}}"#)))).collect(),
        )
    }
}

/// The same, with the server's clock.
pub fn dated(reply: Reply, date_ms: u64) -> Reply {
    match reply {
        Reply::Respond(response) => Reply::Respond(Response { date_ms: Some(date_ms), ..response }),
        other => other,
    }
}

/// A part of a watch.
pub fn line(text: &str) -> Response {
    Response { last: false, ..response(200, format!("{text}\n")) }
}

/// A proper 404.
pub fn missing(name: &str) -> Reply {
    refused(404, "NotFound", name)
}

/// A `Status` about a Deployment.
pub fn refused(code: u16, reason: &str, name: &str) -> Reply {
    answer(
        code,
        json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "code": code,
            "message": format!("deployments.apps {name:?}: {reason}"),
            "details": {"name": name, "group": "apps", "kind": "deployments"}}),
    )
}
