//! What is listed: pages of a list as an API server writes them.

use std::time::Duration;

use anyhow::{Context as _, bail};
use bytes::Bytes;
use http::Request;
use http_body_util::BodyExt as _;
use kube_emulator::call::User;
use kube_emulator::{Emulator, Options};
use serde_json::{Value, json};

/// A list is read in pages of so many, as the provider asks for it.
const PAGE: usize = 500;

/// The namespace it is in.
pub const NAMESPACE: &str = "default";

/// The pages of a list of Deployments.
pub struct Cluster {
    pages: Vec<Bytes>,
}

impl Cluster {
    /// So many copies of one Deployment, with names and uids of their own.
    pub fn of(model: &Value, count: usize) -> anyhow::Result<Cluster> {
        let items: Vec<Value> = (1..=count).map(|number| copy(model, number)).collect();
        let last = items.len().div_ceil(PAGE);
        let page = |(number, items): (usize, &[Value])| {
            let mut metadata = json!({"resourceVersion": "100000"});
            if let Some(map) = metadata.as_object_mut().filter(|_| number + 1 < last) {
                map.insert("continue".to_owned(), (number + 1).to_string().into());
                map.insert("remainingItemCount".to_owned(), (count - (number + 1) * PAGE).into());
            }
            let list = json!({"kind": "DeploymentList", "apiVersion": "apps/v1", "metadata": metadata, "items": items});
            Ok(Bytes::from(serde_json::to_vec(&list)?))
        };
        Ok(Cluster { pages: items.chunks(PAGE).enumerate().map(page).collect::<anyhow::Result<_>>()? })
    }

    /// The pages, in order.
    pub fn pages(&self) -> &[Bytes] {
        &self.pages
    }

    /// The page that a `continue` token stands for; the first without one.
    pub fn page(&self, token: Option<&str>) -> Option<Bytes> {
        let number = token.map_or(Ok(0), str::parse).ok()?;
        self.pages.get::<usize>(number).cloned()
    }

    /// Bytes of all pages.
    pub fn size(&self) -> usize {
        self.pages.iter().map(Bytes::len).sum()
    }
}

fn copy(model: &Value, number: usize) -> Value {
    let mut object = model.clone();
    // Items of a list don't say of what kind they are.
    if let Some(map) = object.as_object_mut() {
        map.remove("kind");
        map.remove("apiVersion");
    }
    if let Some(meta) = object.get_mut("metadata").and_then(Value::as_object_mut) {
        meta.insert("name".to_owned(), format!("app-{number}").into());
        meta.insert("uid".to_owned(), format!("5f0c3f3e-9f43-4f3a-8a55-{number:012x}").into());
    }
    object
}

/// A Deployment of ours that is available, as the API server and the controllers leave it.
pub async fn model() -> anyhow::Result<Value> {
    let emulator = Emulator::new(Options::default())?;
    let _controllers = emulator.run_controllers();
    let labels = json!({"app": "app", "workload-provider/managed": "true", "workload-provider/owner": "default",
        "workload-provider/id": "default.app"});
    let resources = json!({"requests": {"cpu": "100m", "memory": "64Mi"}, "limits": {"memory": "128Mi"}});
    let env = json!([{"name": "LEVEL", "value": "info"}, {"name": "ADDRESS", "value": "0.0.0.0:8080"}]);
    let container = json!({"name": "main", "image": "registry.example/shop/web:1.4.2", "env": env,
        "ports": [{"name": "http", "containerPort": 8080}], "resources": resources});
    let object = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}}},
    });
    let path = format!("/apis/apps/v1/namespaces/{NAMESPACE}/deployments");
    ask(&emulator, "POST", &format!("{path}?fieldManager=bench"), &object).await?;
    for _ in 0..600 {
        let object = ask(&emulator, "GET", &format!("{path}/app"), &Value::Null).await?;
        if object.pointer("/status/availableReplicas") == Some(&json!(1)) {
            return Ok(object);
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    bail!("it did not become available within half a minute")
}

async fn ask(emulator: &Emulator, method: &str, target: &str, body: &Value) -> anyhow::Result<Value> {
    let bytes = if body.is_null() { Bytes::new() } else { Bytes::from(serde_json::to_vec(body)?) };
    let request = Request::builder().method(method).uri(target).header("content-type", "application/json");
    let admin = User::authenticated("admin", &["system:masters"]);
    let answer = emulator.answer(request.body(bytes)?, Some(admin)).await.context("no answer")?;
    let status = answer.status();
    let bytes = answer.into_body().collect().await.context("the answer was cut")?.to_bytes();
    anyhow::ensure!(status.is_success(), "{method} {target}: {status}: {}", String::from_utf8_lossy(&bytes));
    Ok(serde_json::from_slice(&bytes)?)
}
