//! The ReplicaSet controller: as many Pods as wanted, and the status that counts them.
//!
//! After `pkg/controller/replicaset` of Kubernetes v1.35.4. The status of a round counts the Pods as they were before
//! the round made or deleted any; the round that their changes lead to counts those.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use super::events::{Said, Source};
use super::fields::{View, condition, has_ended, holds, is_active, list, text, texts};
use super::kinds::{Condition, ReplicaSet, ReplicaSetStatus, find, remove};
use super::{Cluster, Kind, Task, is_terminating};
use crate::error::ApiError;
use crate::registry::{Deletion, Part};
use crate::resource::{PODS, REPLICA_SETS};
use crate::store::{Change, Key, Object};
use crate::write;

mod rank;

/// How many Pods are made or deleted in one round at most.
const BURST: i64 = 500;
/// How long after a change of its ReplicaSet that asks for something the controller looks,
const ASKED_AFTER: Duration = Duration::from_millis(3);
/// after a change of a Pod,
const POD_SEEN_AFTER: Duration = Duration::from_millis(5);
/// and after its own words.
const TOLD_AFTER: Duration = Duration::from_millis(6);
/// The longest name that a Pod can have with a dash and the letters after it.
const MAX_PREFIX: usize = 253;
/// Who its Events are from.
const COMPONENT: Source<'static> = Source::Controller("replicaset-controller");

/// A ReplicaSet changed.
pub(super) fn observe_replica_set(cluster: &mut Cluster, change: &Change) {
    let generation = |object: &Object| super::fields::number(&object.value(), "/metadata/generation");
    let told = change.old.as_deref().is_some_and(|old| generation(old) == generation(&change.object));
    cluster.soon_after(Kind::ReplicaSet, &change.object.key, if told { TOLD_AFTER } else { ASKED_AFTER });
}

/// A Pod changed: its ReplicaSet has to look, or, if it has none, those that could take it on.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    let pod = &change.object;
    let before = change.old.as_ref().and_then(|old| owner(cluster, old));
    let now = owner(cluster, pod);
    if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
        cluster.soon_after(Kind::ReplicaSet, &before, POD_SEEN_AFTER);
    }
    if let Some(now) = now {
        cluster.soon_after(Kind::ReplicaSet, &now, POD_SEEN_AFTER);
    } else if pod.controller().is_none() && !change.removed {
        let looks_other = change.old.as_ref().is_none_or(|old| old.labels != pod.labels || old.controller().is_some());
        if looks_other {
            for object in cluster.state.store.all(&REPLICA_SETS, Some(pod.key.namespace())) {
                let key = object.key.clone();
                if ReplicaSet::of(View::of(object)).selector.takes(&pod.labels) {
                    cluster.soon_after(Kind::ReplicaSet, &key, POD_SEEN_AFTER);
                }
            }
        }
    }
}

fn owner(cluster: &Cluster, object: &Object) -> Option<Key> {
    let owner = object.controller().filter(|owner| owner.kind == REPLICA_SETS.kind)?;
    let key = Key::new(&REPLICA_SETS, object.key.namespace(), &owner.name);
    cluster.state.store.get(&key).is_some_and(|found| found.uid == owner.uid).then_some(key)
}

/// A round for a ReplicaSet.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    match round(cluster, key) {
        Ok(()) => cluster.queue.forget(&Task { kind: Kind::ReplicaSet, key: key.clone() }),
        Err(_) => cluster.retry(Kind::ReplicaSet, key),
    }
}

fn round(cluster: &mut Cluster, key: &Key) -> Result<(), ApiError> {
    let Some(view) = cluster.get(key) else { return Ok(()) };
    let set = ReplicaSet::of(view);
    let active = cluster.claim(&PODS, &set.view, &set.selector, is_active)?;
    let terminating = cluster
        .owned(&PODS, set.view.uid())
        .into_iter()
        .filter(|pod| pod.deleting() && !has_ended(&pod.value) && set.selector.takes(&pod.object.labels));
    let terminating = i64::try_from(terminating.count()).unwrap_or(i64::MAX);
    let managed = if set.view.deleting() { Ok(()) } else { manage(cluster, &set, &active) };
    let status = status(cluster, &set, &active, terminating, managed.as_ref().err());
    if status != set.status {
        let value = serde_json::to_value(&status).unwrap_or_default();
        write_status(cluster, &set.view, value)?;
    }
    managed?;
    if set.min_ready > 0 && status.ready_replicas != status.available_replicas {
        let wait = active.iter().filter_map(|pod| until_available(cluster, pod, set.min_ready)).min();
        let all = Duration::from_secs(u64::try_from(set.min_ready).unwrap_or_default());
        cluster.after(Kind::ReplicaSet, key, wait.unwrap_or(all));
    }
    Ok(())
}

/// Writes the status, once more if the ReplicaSet was changed in between.
fn write_status(cluster: &Cluster, read: &View, status: Value) -> Result<(), ApiError> {
    let put = |value: &mut Value| {
        if let Some(map) = value.as_object_mut() {
            map.insert("status".to_owned(), status.clone());
        }
    };
    match cluster.write(read, Part::Status, put) {
        Err(error) if error.reason == "Conflict" => cluster.patch(read.key(), read.uid(), Part::Status, put).map(drop),
        other => other.map(drop),
    }
}

/// Makes the Pods that are missing, or deletes those that are too many.
fn manage(cluster: &mut Cluster, set: &ReplicaSet, active: &[View]) -> Result<(), ApiError> {
    let missing = set.replicas - i64::try_from(active.len()).unwrap_or(i64::MAX);
    let many = usize::try_from(missing.abs().min(BURST)).unwrap_or_default();
    if missing >= 0 { make_pods(cluster, set, many) } else { delete_pods(cluster, set, active, many) }
}

/// Makes Pods: one first, then twice as many each time, until one fails.
fn make_pods(cluster: &mut Cluster, set: &ReplicaSet, mut missing: usize) -> Result<(), ApiError> {
    let mut batch = 1;
    while missing > 0 {
        batch = batch.min(missing);
        let mut failed = None;
        for _ in 0..batch {
            match make_pod(cluster, set) {
                // In a namespace that is being deleted nothing can be made, and nobody needs to be told.
                Err(error) if !is_terminating(&error) => failed = failed.or(Some(error)),
                _ => {}
            }
        }
        if let Some(error) = failed {
            return Err(error);
        }
        missing -= batch;
        batch *= 2;
    }
    Ok(())
}

fn make_pod(cluster: &mut Cluster, set: &ReplicaSet) -> Result<(), ApiError> {
    let view = &set.view;
    let template = set.template();
    let mut metadata = json!({
        "generateName": prefix(view.name()),
        "labels": texts(template, "/metadata/labels"),
        "ownerReferences": [view.as_owner()],
    });
    let copied = [("annotations", "/metadata/annotations"), ("finalizers", "/metadata/finalizers")];
    for (name, pointer) in copied {
        if let (Some(map), Some(value)) = (metadata.as_object_mut(), template.pointer(pointer)) {
            map.insert(name.to_owned(), value.clone());
        }
    }
    let spec = template.get("spec").cloned().unwrap_or_else(|| json!({}));
    let pod = json!({"kind": "Pod", "apiVersion": "v1", "metadata": metadata, "spec": spec});
    match write::make(&cluster.state, &PODS, view.namespace(), pod) {
        Ok(made) => {
            let message = format!("Created pod: {}", text(&made, "/metadata/name"));
            say(cluster, view, false, "SuccessfulCreate", &message);
            Ok(())
        }
        Err(error) => {
            if !is_terminating(&error) {
                say(cluster, view, true, "FailedCreate", &format!("Error creating: {}", error.message));
            }
            Err(error)
        }
    }
}

/// What the names of its Pods begin with: a dash makes them prettier where there is room.
fn prefix(name: &str) -> String {
    if name.len() < MAX_PREFIX { format!("{name}-") } else { name.to_owned() }
}

fn delete_pods(cluster: &mut Cluster, set: &ReplicaSet, active: &[View], many: usize) -> Result<(), ApiError> {
    let mut failed = None;
    for pod in rank::to_delete(cluster, set, active, many) {
        match cluster.delete(pod.key(), pod.uid(), Deletion::default()) {
            Ok(()) => {
                say(cluster, &set.view, false, "SuccessfulDelete", &format!("Deleted pod: {}", pod.name()));
            }
            Err(error) if error.code == 404 || error.reason == "Conflict" => {}
            Err(error) => {
                say(cluster, &set.view, true, "FailedDelete", &format!("Error deleting: {}", error.message));
                let message = format!("unable to delete pods: {}", error.message);
                failed = failed.or(Some(ApiError { message, ..error }));
            }
        }
    }
    failed.map_or(Ok(()), Err)
}

fn say(cluster: &mut Cluster, about: &View, warning: bool, reason: &str, message: &str) {
    cluster.say(about, Said { source: COMPONENT, warning, reason, message, field: "" });
}

fn status(
    cluster: &Cluster,
    set: &ReplicaSet,
    active: &[View],
    terminating: i64,
    failed: Option<&ApiError>,
) -> ReplicaSetStatus {
    let count =
        |of: &dyn Fn(&View) -> bool| i64::try_from(active.iter().filter(|pod| of(pod)).count()).unwrap_or(i64::MAX);
    let labels = texts(set.template(), "/metadata/labels");
    let labelled = |pod: &View| labels.iter().all(|(key, value)| pod.object.labels.get(key) == Some(value));
    let mut conditions = set.status.conditions.clone();
    let noted = find(&conditions, "ReplicaFailure").is_some();
    match failed {
        Some(error) if !noted => {
            let missing = set.replicas > i64::try_from(active.len()).unwrap_or(i64::MAX);
            conditions.push(Condition {
                kind: "ReplicaFailure".to_owned(),
                status: "True".to_owned(),
                last_update_time: String::new(),
                last_transition_time: cluster.stamp(),
                reason: if missing { "FailedCreate" } else { "FailedDelete" }.to_owned(),
                message: error.message.clone(),
            });
        }
        None if noted => remove(&mut conditions, "ReplicaFailure"),
        _ => {}
    }
    ReplicaSetStatus {
        replicas: count(&|_| true),
        fully_labeled_replicas: count(&labelled),
        ready_replicas: count(&is_ready),
        available_replicas: count(&|pod| {
            is_ready(pod) && (set.min_ready == 0 || until_available(cluster, pod, set.min_ready).is_none())
        }),
        terminating_replicas: Some(terminating),
        observed_generation: set.view.generation(),
        conditions,
    }
}

fn is_ready(pod: &View) -> bool {
    holds(&pod.value, "Ready")
}

/// When a Pod became ready; none if it isn't.
fn ready_since(pod: &View) -> Option<Timestamp> {
    let ready = condition(&pod.value, "Ready").filter(|ready| text(ready, "/status") == "True")?;
    text(ready, "/lastTransitionTime").parse().ok()
}

/// How long a ready Pod still has to stay so to count as available; none if it does, or isn't ready.
fn until_available(cluster: &Cluster, pod: &View, min_ready: i64) -> Option<Duration> {
    let since = ready_since(pod)?;
    let at = since + Duration::from_secs(u64::try_from(min_ready).unwrap_or_default());
    Duration::try_from(at.duration_since(cluster.state.clock.wall())).ok().filter(|wait| !wait.is_zero())
}

/// The most restarts of one of a Pod's containers: of the ordinary ones, and of its sidecars.
fn restarts(pod: &View) -> (i64, i64) {
    let most = |statuses: &str, of: &dyn Fn(&str) -> bool| {
        let statuses = list(&pod.value, statuses).iter().filter(|status| of(text(status, "/name")));
        statuses.map(|status| super::fields::number(status, "/restartCount")).max().unwrap_or_default()
    };
    let sidecars: Vec<&str> = list(&pod.value, "/spec/initContainers")
        .iter()
        .filter(|container| text(container, "/restartPolicy") == "Always")
        .map(|container| text(container, "/name"))
        .collect();
    (
        most("/status/containerStatuses", &|_| true),
        most("/status/initContainerStatuses", &|name| sidecars.contains(&name)),
    )
}
