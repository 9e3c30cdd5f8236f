#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "tests")]

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::*;
use crate::clock::Clock;
use crate::registry::Propagation;
use crate::resource::{DEPLOYMENTS, PODS, REPLICA_SETS};
use crate::scenario::{Fill, Scenario, fill};

mod cluster;
mod converge;
mod pods;
mod recordings;
mod size;

/// A cluster on a clock that only passes when everything waits.
struct Test {
    state: Arc<State>,
    running: Option<Running>,
}

impl Test {
    fn new(scenario: &Value) -> Test {
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
        let scenario = Scenario::parse(&scenario.to_string(), "test").unwrap();
        let state = Arc::new(State::start(clock, 1, scenario).unwrap());
        Test { running: Some(start(Arc::clone(&state))), state }
    }

    fn get(&self, resource: &'static Resource, name: &str) -> Option<Value> {
        let namespace = if resource.namespaced { "test" } else { "" };
        self.state.store.get(&Key::new(resource, namespace, name)).map(|object| object.value())
    }

    fn patch(&self, resource: &'static Resource, name: &str, part: Part, body: &Value) {
        let namespace = if resource.namespaced { "test" } else { "" };
        let key = Key::new(resource, namespace, name);
        let merged = |value: &mut Value| {
            merge(value, body);
            crate::defaults::complete(resource.kind, value);
            Ok(())
        };
        self.state.update(&key, part, false, merged).unwrap();
    }

    /// Waits until something is so.
    async fn until(&self, what: &str, holds: impl Fn(&Test) -> bool) {
        let deadline = Instant::now() + Duration::from_secs(600);
        while !holds(self) {
            assert!(Instant::now() < deadline, "never: {what}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }
}

/// A merge patch.
fn merge(value: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *value = patch.clone();
        return;
    };
    if !value.is_object() {
        *value = json!({});
    }
    let map = value.as_object_mut().unwrap();
    for (key, change) in patch {
        if change.is_null() {
            map.remove(key);
        } else {
            merge(map.entry(key.clone()).or_insert(Value::Null), change);
        }
    }
}

fn deployment(name: &str, replicas: i64, annotations: &Value) -> Value {
    json!({
        "kind": "Deployment", "apiVersion": "apps/v1", "metadata": {"name": name, "namespace": "test"},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"}},
            "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            "template": {
                "metadata": {"labels": {"app": name}, "annotations": annotations},
                "spec": {
                    "containers": [{"name": "main", "image": "image:1", "imagePullPolicy": "IfNotPresent"}],
                    "restartPolicy": "Always", "terminationGracePeriodSeconds": 30,
                    "schedulerName": "default-scheduler",
                },
            },
        },
    })
}
