//! The Deployment controller: from a Deployment to its ReplicaSets and back to its status.
//!
//! After `pkg/controller/deployment` of Kubernetes v1.35.4. A round reads the Deployment once; a second write in the
//! same round therefore meets a newer version and fails, and the round is done again. That is how the real one behaves,
//! and what the order of the writes comes from.

use std::collections::BTreeMap;

use super::fields::{View, has_ended, text};
use super::kinds::{Condition, Deployment, ReplicaSet, Strategy, find, set};
use super::{Cluster, Kind, is_terminating};
use crate::error::ApiError;
use crate::managed::{self, Writer};
use crate::registry::metadata;
use crate::resource::{DEPLOYMENTS, PODS, REPLICA_SETS};
use crate::schema;
use crate::store::{Change, Key, Object};
use crate::value::put;

mod new_set;
mod old_sets;
mod recreate;
mod rolling;
mod scale;
mod status;

/// After so many failures in a row a Deployment is left alone until it changes.
const MAX_RETRIES: u32 = 15;
/// Who its Events are from.
const COMPONENT: super::events::Source<'static> = super::events::Source::Controller("deployment-controller");

/// A Deployment's ReplicaSets.
#[derive(Debug, Clone)]
struct Sets {
    /// The one with its template, if there is one.
    new: Option<ReplicaSet>,
    /// The others.
    old: Vec<ReplicaSet>,
}

impl Sets {
    fn all(&self) -> impl Iterator<Item = &ReplicaSet> {
        self.old.iter().chain(&self.new)
    }

    fn replicas(&self) -> i64 {
        self.all().map(|set| set.replicas).sum()
    }
}

/// One round for one Deployment.
struct Round<'a> {
    cluster: &'a mut Cluster,
    deployment: Deployment,
    /// Its ReplicaSets as they were when the round began.
    owned: Vec<ReplicaSet>,
}

/// A Deployment changed.
pub(super) fn observe_deployment(cluster: &mut Cluster, change: &Change) {
    cluster.soon(Kind::Deployment, &change.object.key);
}

/// A ReplicaSet changed: its Deployment has to look, or, if it has none, those that could take it on.
pub(super) fn observe_replica_set(cluster: &mut Cluster, change: &Change) {
    let set = &change.object;
    let before = change.old.as_ref().and_then(|old| owner(cluster, old));
    let now = owner(cluster, set);
    if let Some(before) = before.filter(|before| now.as_ref() != Some(before)) {
        cluster.soon(Kind::Deployment, &before);
    }
    if let Some(now) = now {
        cluster.soon(Kind::Deployment, &now);
    } else if set.controller().is_none() && !change.removed {
        let looks_other = change.old.as_ref().is_none_or(|old| old.labels != set.labels || old.controller().is_some());
        if looks_other {
            for object in cluster.state.store.all(&DEPLOYMENTS, Some(set.key.namespace())) {
                let key = object.key.clone();
                if Deployment::of(View::of(object)).selector.takes(&set.labels) {
                    cluster.soon(Kind::Deployment, &key);
                }
            }
        }
    }
}

/// A Pod is gone: a Deployment that recreates waits for its last one.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    if !change.removed {
        return;
    }
    let Some(set) = change.object.controller().filter(|owner| owner.kind == REPLICA_SETS.kind) else { return };
    let key = Key::new(&REPLICA_SETS, change.object.key.namespace(), &set.name);
    let Some(set) = cluster.state.store.get(&key).filter(|found| found.uid == set.uid) else { return };
    let Some(key) = owner(cluster, &set) else { return };
    let Some(deployment) = cluster.get(&key).map(Deployment::of) else { return };
    if deployment.strategy == Strategy::Recreate {
        let sets = cluster.owned(&REPLICA_SETS, deployment.view.uid());
        if sets.iter().all(|set| cluster.owned(&PODS, set.uid()).is_empty()) {
            cluster.soon(Kind::Deployment, &key);
        }
    }
}

/// The Deployment that controls an object, if it is there.
fn owner(cluster: &Cluster, object: &Object) -> Option<Key> {
    let owner = object.controller().filter(|owner| owner.kind == DEPLOYMENTS.kind)?;
    let key = Key::new(&DEPLOYMENTS, object.key.namespace(), &owner.name);
    cluster.state.store.get(&key).is_some_and(|found| found.uid == owner.uid).then_some(key)
}

/// A round for a Deployment.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let task = super::Task { kind: Kind::Deployment, key: key.clone() };
    match round(cluster, key) {
        Err(error) if !is_terminating(&error) && cluster.queue.failures(&task) < MAX_RETRIES => {
            cluster.retry(Kind::Deployment, key);
        }
        _ => cluster.queue.forget(&task),
    }
}

fn round(cluster: &mut Cluster, key: &Key) -> Result<(), ApiError> {
    let Some(view) = cluster.get(key) else { return Ok(()) };
    let deployment = Deployment::of(view);
    if deployment.selector.is_empty() {
        // Nothing that was written through the API can have it.
        return Ok(());
    }
    let owned = cluster.claim(&REPLICA_SETS, &deployment.view, &deployment.selector, |_| true)?;
    let mut owned: Vec<_> = owned.into_iter().map(ReplicaSet::of).collect();
    owned.sort_by(ReplicaSet::by_age);
    let mut round = Round { cluster, deployment, owned };
    if round.deployment.view.deleting() {
        let sets = round.sets(false)?;
        return round.write_status_of(&sets);
    }
    round.note_pause()?;
    if round.deployment.paused || round.is_scaled()? {
        return round.scale_and_report();
    }
    match round.deployment.strategy {
        Strategy::Recreate => round.recreate(),
        Strategy::Rolling { .. } => round.roll(),
    }
}

impl Round<'_> {
    /// The ReplicaSets, with the new one brought up to date, or made if there is none and it is asked for.
    fn sets(&mut self, make: bool) -> Result<Sets, ApiError> {
        let template = self.deployment.template();
        let new = self.owned.iter().position(|set| new_set::is_same_template(set.template(), template));
        let mut old = self.owned.clone();
        let new = new.map(|place| old.remove(place));
        let new = self.new_set(new, &old, make)?;
        Ok(Sets { new, old })
    }

    /// Notes in the conditions that it was paused or goes on, so that the time of the pause doesn't count as no progress.
    fn note_pause(&mut self) -> Result<(), ApiError> {
        let current = find(&self.deployment.status.conditions, "Progressing").map(|current| current.reason.as_str());
        if self.deployment.deadline.is_none() || current == Some("ProgressDeadlineExceeded") {
            return Ok(());
        }
        let noted = current == Some("DeploymentPaused");
        let condition = match (self.deployment.paused, noted) {
            (true, false) => self.condition("Progressing", "Unknown", "DeploymentPaused", "Deployment is paused"),
            (false, true) => self.condition("Progressing", "Unknown", "DeploymentResumed", "Deployment is resumed"),
            _ => return Ok(()),
        };
        set(&mut self.deployment.status.conditions, condition);
        self.write_status()
    }

    /// Whether the number of replicas was changed since the ReplicaSets were last scaled.
    fn is_scaled(&mut self) -> Result<bool, ApiError> {
        let replicas = self.deployment.replicas;
        let sets = self.sets(false)?;
        let noted = |set: &ReplicaSet| scale::count(&set.annotations, super::kinds::DESIRED_REPLICAS);
        Ok(sets.all().any(|set| set.replicas > 0 && noted(set).is_some_and(|noted| noted != replicas)))
    }

    fn condition(&self, kind: &str, status: &str, reason: &str, message: &str) -> Condition {
        let now = self.cluster.stamp();
        Condition {
            kind: kind.to_owned(),
            status: status.to_owned(),
            last_update_time: now.clone(),
            last_transition_time: now,
            reason: reason.to_owned(),
            message: message.to_owned(),
        }
    }

    /// Writes the status as it is now, and the annotations; only at the version that was read.
    fn write_status(&self) -> Result<(), ApiError> {
        let Deployment { view, status, annotations, .. } = &self.deployment;
        let status = serde_json::to_value(status).unwrap_or_default();
        let version = view.version().to_string();
        self.cluster.state.rewrite(view.key(), false, |before| {
            if text(before, "/metadata/resourceVersion") != version {
                return Err(ApiError::stale(&DEPLOYMENTS, view.name()));
            }
            let mut value = before.clone();
            put(&mut value, "status", Some(&status));
            put_annotations(&mut value, annotations);
            if before.pointer("/metadata/managedFields").is_some() {
                let (version, now) = (DEPLOYMENTS.api_version(), self.cluster.stamp());
                let reset = &["spec", "metadata.labels"];
                let manager = "kube-controller-manager";
                let writer = Writer { manager, version: &version, subresource: "status", now: &now, reset };
                managed::update(before, &mut value, schema::of(DEPLOYMENTS.kind), writer);
            }
            Ok(value)
        })?;
        Ok(())
    }

    /// Whether any Pod of the ReplicaSets other than the new one has not ended.
    fn old_pods_run(&self, sets: &Sets) -> bool {
        let old = sets.old.iter();
        old.clone().any(|set| set.status.replicas > 0)
            || old
                .flat_map(|set| self.cluster.owned(&PODS, set.view.uid()))
                .any(|pod| self.deployment.selector.takes(&pod.object.labels) && !has_ended(&pod.value))
    }

    fn say(&mut self, warning: bool, reason: &str, message: &str) {
        let view = self.deployment.view.clone();
        self.cluster.say(&view, super::events::Said { source: COMPONENT, warning, reason, message, field: "" });
    }
}

/// The hash of a template that met no other with the same.
pub(super) fn template_hash(template: &serde_json::Value) -> String {
    new_set::template_hash(template, None)
}

/// Puts annotations in the place of those of an object.
fn put_annotations(value: &mut serde_json::Value, annotations: &BTreeMap<String, String>) {
    let meta = metadata(value);
    if annotations.is_empty() {
        meta.remove("annotations");
    } else {
        meta.insert("annotations".to_owned(), serde_json::json!(annotations));
    }
}

/// The name of a ReplicaSet that was written.
fn name_of(value: &serde_json::Value) -> &str {
    text(value, "/metadata/name")
}

#[cfg(test)]
mod tests;
