//! What is to be made: the document a person writes, checked, and the Deployment it becomes.

mod document;

pub use document::Template;

use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use workload_guest::{Fault, FaultKind, Ownership, Spec, fault};

use crate::id::{Target, hexadecimal, is_id_of_another, is_label_value};
use crate::ownership::attempt_key;
use crate::request::serialize;

/// The JSON Schema of the document.
pub const SCHEMA: &str = include_str!("create/schema.json");

/// Bytes of the mark of an attempt: nobody else makes the same.
const ATTEMPT_BYTES: usize = 16;

/// The only container's name. It is nobody's identity: the Deployment is.
const CONTAINER: &str = "main";

/// A Deployment to be made.
#[derive(Clone, PartialEq)]
pub struct New {
    /// Its id.
    pub target: Target,
    /// The annotation that tells this attempt from every other, and its value.
    pub attempt: (String, String),
    /// The request's body.
    pub body: Vec<u8>,
    /// The values of its environment variables: what no message may repeat.
    pub variables: Vec<String>,
}

/// Checks what is to be made and makes the request's body of it.
///
/// # Errors
/// `invalid-id`, or `invalid-spec` with the path of the wrong field. No value of the document is repeated.
pub fn plan(spec: &Spec, ownership: &Ownership, seed: &[u8]) -> Result<New, Fault> {
    let target = Target::parse_new(&spec.id)?;
    let template = document::parse(&spec.document)
        .map_err(|wrong| fault(FaultKind::InvalidSpec, wrong.to_string()).with("path", wrong.path))?;
    let id_label = match &spec.id_label {
        Some(value) if value.is_empty() || !is_label_value(value) => {
            return Err(fault(FaultKind::InvalidSpec, "the id label has a value that is no label value"));
        }
        // It could neither be told from that one nor, later, be acted on.
        Some(value) if *value != target.label_value() && is_id_of_another(value) => {
            return Err(fault(FaultKind::InvalidSpec, "the id label is the one of another workload"));
        }
        Some(value) => value.clone(),
        None => target.label_value(),
    };
    let mut mark = Sha256::new();
    mark.update(seed);
    mark.update(target.id().as_bytes());
    let attempt = (attempt_key(ownership), hexadecimal(&mark.finalize(), ATTEMPT_BYTES));
    let body = serialize(&deployment(&target, &template, &labels(ownership, id_label), &attempt));
    Ok(New { target, attempt, body, variables: template.env.into_values().collect() })
}

/// The labels of what we make: those that mark what is ours, and the id.
fn labels(ownership: &Ownership, id_label: String) -> Map<String, Value> {
    let mut labels: Map<String, Value> =
        ownership.labels.iter().map(|label| (label.key.clone(), Value::from(label.value.clone()))).collect();
    labels.insert(ownership.id_key.clone(), Value::from(id_label));
    labels
}

fn deployment(target: &Target, template: &Template, labels: &Map<String, Value>, attempt: &(String, String)) -> Value {
    let mut pod = Map::new();
    pod.insert("containers".to_owned(), json!([container(template)]));
    if !template.pull_secrets.is_empty() {
        let names: Vec<Value> = template.pull_secrets.iter().map(|name| json!({ "name": name })).collect();
        pod.insert("imagePullSecrets".to_owned(), Value::from(names));
    }
    let annotations: Map<String, Value> = [(attempt.0.clone(), Value::from(attempt.1.clone()))].into_iter().collect();
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": target.name,
            "namespace": target.namespace,
            "labels": labels,
            "annotations": annotations,
        },
        "spec": {
            "replicas": template.replicas,
            // All of our labels, so that one list by them finds whatever it comes to own.
            "selector": { "matchLabels": labels },
            "template": { "metadata": { "labels": labels }, "spec": pod },
        },
    })
}

fn container(template: &Template) -> Value {
    let mut container = Map::new();
    let mut put = |key: &str, value: Value| container.insert(key.to_owned(), value);
    put("name", Value::from(CONTAINER));
    put("image", Value::from(template.image.clone()));
    if !template.command.is_empty() {
        put("command", Value::from(template.command.clone()));
    }
    if !template.args.is_empty() {
        put("args", Value::from(template.args.clone()));
    }
    if !template.env.is_empty() {
        let env: Vec<Value> =
            template.env.iter().map(|(name, value)| json!({ "name": name, "value": value })).collect();
        put("env", Value::from(env));
    }
    let size: Map<String, Value> = [("cpu", &template.cpu), ("memory", &template.memory)]
        .into_iter()
        .filter_map(|(key, value)| value.as_ref().map(|value| (key.to_owned(), Value::from(value.clone()))))
        .collect();
    if !size.is_empty() {
        // What is asked for is what is had: neither less on a full node nor more on an empty one.
        put("resources", json!({ "requests": size, "limits": size }));
    }
    if let Some(policy) = template.pull_policy {
        put("imagePullPolicy", Value::from(policy.word()));
    }
    Value::Object(container)
}

#[cfg(test)]
mod tests;
