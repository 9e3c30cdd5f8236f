//! Whether what a step waits for has come.

use anyhow::Result;
use serde_json::{Value, json};

use crate::run::Run;
use crate::step::Wanted;

/// What is missing, or nothing.
pub async fn missing(run: &mut Run<'_>, wanted: &Wanted, code: u16, body: &Value) -> Result<Option<String>> {
    Ok(match wanted {
        Wanted::Gone => (code != 404).then(|| "still there".to_owned()),
        Wanted::Code(wanted) => (code != *wanted).then(|| format!("not {wanted}")),
        Wanted::Fields(fields) => absent(fields, code, body),
        Wanted::Condition(kind, reason, fields) => {
            // The object's own, or those of the only one in a list.
            let conditions = body.pointer("/status/conditions").or_else(|| body.pointer("/items/0/status/conditions"));
            let mut conditions = conditions.and_then(Value::as_array).into_iter().flatten();
            if conditions.any(|one| one["type"] == *kind && (one["reason"] == *reason || one["status"] == *reason)) {
                absent(fields, code, body)
            } else {
                Some(format!("no condition {kind} for {reason}"))
            }
        }
        Wanted::Items(count) => {
            let found = body["items"].as_array().map(Vec::len);
            (found != Some(*count)).then(|| format!("not {count} items"))
        }
        Wanted::Settled(replicas) => settled(run, *replicas, body).await?,
    })
}

/// The first of these values that is not there.
fn absent(fields: &[(&'static str, Value)], code: u16, body: &Value) -> Option<String> {
    let found = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
    let other = fields.iter().find(|(pointer, value)| found(pointer) != *value);
    let other = other.map(|(pointer, value)| format!("{pointer} is not {value}"));
    if code == 200 { other } else { Some(format!("no object: {code}")) }
}

/// A Deployment at rest: its own counters, those of its ReplicaSets, and the Pods that there are.
async fn settled(run: &mut Run<'_>, replicas: i64, deployment: &Value) -> Result<Option<String>> {
    let status = &deployment["status"];
    let count = |object: &Value, key: &str| object[key].as_i64().unwrap_or_default();
    if status["observedGeneration"] != deployment["metadata"]["generation"] {
        return Ok(Some("the generation is not observed".to_owned()));
    }
    for key in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"] {
        if count(status, key) != replicas {
            return Ok(Some(format!("status.{key} is not {replicas}")));
        }
    }
    // Absent until the first status that was written with a ReplicaSet in view.
    if status["terminatingReplicas"] != json!(0) {
        return Ok(Some("Pods are being stopped".to_owned()));
    }
    let progress = status["conditions"].as_array().into_iter().flatten().find(|one| one["type"] == "Progressing");
    let reason = progress.map(|one| one["reason"].clone()).unwrap_or_default();
    if !["NewReplicaSetAvailable", "DeploymentPaused"].contains(&reason.as_str().unwrap_or_default()) {
        return Ok(Some(format!("Progressing is {reason}")));
    }
    let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
    let owned = |list: Value, owner: String| -> Vec<Value> {
        let items = list["items"].as_array().cloned().unwrap_or_default();
        let mine = |item: &Value| {
            item["metadata"]["ownerReferences"][0]["name"].as_str().unwrap_or_default().starts_with(&owner)
        };
        items.into_iter().filter(mine).collect()
    };
    let sets = owned(run.beside("{apps}/replicasets").await?, name.to_owned());
    let idle = |set: &&Value| {
        let (spec, status) = (&set["spec"], &set["status"]);
        status["observedGeneration"] == set["metadata"]["generation"]
            && ["replicas", "readyReplicas", "availableReplicas", "fullyLabeledReplicas"]
                .iter()
                .all(|key| count(status, key) == count(spec, "replicas"))
            && status["terminatingReplicas"] == json!(0)
    };
    if let Some(set) = sets.iter().find(|set| !idle(set)) {
        return Ok(Some(format!("ReplicaSet {} is at work", set["metadata"]["name"])));
    }
    let pods = owned(run.beside("{core}/pods").await?, format!("{name}-"));
    if i64::try_from(pods.len())? != replicas {
        return Ok(Some(format!("{} Pods are there", pods.len())));
    }
    Ok(None)
}
