//! An emulated cluster, and what a test does to it past the provider.

use std::sync::Arc;

use bytes::Bytes;
use http_body_util::BodyExt as _;
use kube_emulator::call::User;
use kube_emulator::resource::{DEPLOYMENTS, PODS, REPLICA_SETS};
use kube_emulator::scenario::Scenario;
use kube_emulator::store::Key;
use kube_emulator::{Emulator, Options, Running};
use serde_json::{Value, json};

use super::objects;
use super::wire::wall;

/// The namespace that every emulated cluster has for tests.
pub const NS: &str = "ns";

/// A cluster in memory, whose controllers run as long as this is there. Clones are the same one.
#[derive(Clone)]
pub struct Emulated {
    emulator: Emulator,
    _running: Arc<Running>,
}

impl Default for Emulated {
    fn default() -> Emulated {
        Emulated::new()
    }
}

impl Emulated {
    /// With a namespace `ns` and one large node.
    pub fn new() -> Emulated {
        Emulated::of(
            &json!({"namespaces": [NS], "nodes": [{"name": "node-1", "cpu": "512", "memory": "1024Gi", "pods": 1024}]}),
        )
    }

    /// With what a scenario says.
    pub fn of(scenario: &Value) -> Emulated {
        let scenario = Scenario::parse(&scenario.to_string(), "of a test").expect("the scenario is good");
        let options = Options { scenario, wall: Some(wall()), ..Options::default() };
        let emulator = Emulator::new(options).expect("the scenario can be set up");
        let running = emulator.run_controllers();
        Emulated { emulator, _running: Arc::new(running) }
    }

    /// The emulator, to let something go wrong.
    pub fn emulator(&self) -> &Emulator {
        &self.emulator
    }

    /// A request past the provider, as one who may do everything; it is in no record of the test's. The code, and the body.
    pub async fn try_ask(&self, method: &str, path: &str, media: &str, body: &Value) -> (u16, Value) {
        let request = http::Request::builder().method(method).uri(path).header("content-type", media);
        let request = request.body(Bytes::from(if body.is_null() { String::new() } else { body.to_string() }));
        let witness = User::authenticated("witness", &["system:masters"]);
        let answer = self.emulator.answer(request.expect("a good request"), Some(witness)).await;
        let answer = answer.expect("no fault is meant for the witness");
        let code = answer.status().as_u16();
        let body = answer.into_body().collect().await.expect("it ends").to_bytes();
        (code, serde_json::from_slice(&body).expect("it is JSON"))
    }

    /// The same; a failed test when it is refused.
    pub async fn ask(&self, method: &str, path: &str, media: &str, body: &Value) -> Value {
        let (code, answer) = self.try_ask(method, path, media, body).await;
        assert!((200..300).contains(&code), "{method} {path}: {code} {answer}");
        answer
    }

    /// Makes an owned Deployment in `ns`: one replica, changed by a merge patch, whose containers behave as the script of
    /// the emulator says (its keys without their prefix, e.g. `("start-after", "2s")`).
    pub async fn make(&self, name: &str, change: Value, script: &[(&str, &str)]) -> Value {
        let pairs = script.iter().map(|(key, value)| (format!("kube-emulator/{key}"), json!(value)));
        let annotations: Value = pairs.collect::<serde_json::Map<_, _>>().into();
        let mut object = objects::template_of_deployment(name, NS);
        objects::merge(&mut object, &json!({"spec": {"template": {"metadata": {"annotations": annotations}}}}));
        objects::merge(&mut object, &change);
        self.ask("POST", &deployments(""), "application/json", &object).await
    }

    /// Changes a Deployment of `ns` by a merge patch.
    pub async fn change(&self, name: &str, change: &Value) -> Value {
        self.ask("PATCH", &deployments(name), "application/merge-patch+json", change).await
    }

    /// A Deployment of `ns`, if there is one.
    pub fn deployment(&self, name: &str) -> Option<Value> {
        let object = self.emulator.state().store.get(&Key::new(&DEPLOYMENTS, NS, name));
        object.map(|object| object.value())
    }

    /// What is wanted of a Deployment, if there is one.
    pub fn replicas(&self, name: &str) -> Option<u64> {
        self.deployment(name)?["spec"]["replicas"].as_u64()
    }

    /// All objects of a kind in `ns`, by its plural: `deployments`, `replicasets`, `pods`.
    pub fn all(&self, plural: &str) -> Vec<Value> {
        let resource = match plural {
            "deployments" => &DEPLOYMENTS,
            "replicasets" => &REPLICA_SETS,
            "pods" => &PODS,
            other => panic!("nobody looks at {other} here"),
        };
        self.emulator.state().store.all(resource, Some(NS)).iter().map(|object| object.value()).collect()
    }

    /// Waits until the condition holds of a Deployment of `ns`, or of `null` when there is none.
    pub async fn until(&self, name: &str, condition: impl Fn(&Value) -> bool) -> Value {
        let mut news = self.emulator.state().store.news(&DEPLOYMENTS);
        loop {
            let now = self.deployment(name).unwrap_or_default();
            if condition(&now) {
                return now;
            }
            news.changed().await.expect("the store is there");
        }
    }

    /// Waits until a Deployment has as many available replicas as it wants, and its controller has seen that.
    pub async fn until_settled(&self, name: &str) -> Value {
        let number = |value: &Value| value.as_u64().unwrap_or_default();
        self.until(name, |now| {
            let (spec, status) = (&now["spec"], &now["status"]);
            status["observedGeneration"] == now["metadata"]["generation"]
                && number(&status["availableReplicas"]) == number(&spec["replicas"])
                && number(&status["replicas"]) == number(&spec["replicas"])
                && number(&status["terminatingReplicas"]) == 0
        })
        .await
    }
}

fn deployments(name: &str) -> String {
    let separator = if name.is_empty() { "" } else { "/" };
    format!("/apis/apps/v1/namespaces/{NS}/deployments{separator}{name}")
}
