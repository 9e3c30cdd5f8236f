//! What the table's conditions speak of, computed once.

use super::{Beside, Observed, Want};
use crate::api::{Deployment, PodTemplate, ReplicaSet};
use crate::time::milliseconds;

/// The label by which a ReplicaSet's Pods differ; its template has it, the Deployment's has not.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// Words that mark a transient failure to make Pods. Tested first: a webhook that cannot be called also "denies".
const TRANSIENT: [&str; 3] = ["timeout", "connection refused", "failed calling webhook"];

/// Words that mark a rejection.
const REJECTIONS: [&str; 6] =
    ["is forbidden", "exceeded quota", "denied the request", "denied request", "is invalid", "limitrange"];

/// The inputs of the table.
pub(super) struct Inputs<'a, 'b> {
    observed_all: &'b Observed<'a, 'b>,
    pub deleting: bool,
    pub malformed: bool,
    pub desired: i64,
    pub replicas: i64,
    pub available: i64,
    pub terminating: Option<i64>,
    pub observed: bool,
    pub never_observed: bool,
    pub paused: bool,
    /// Progressing is False because no ReplicaSet could be made: the status is frozen.
    pub create_error: bool,
    /// The reason, when the rollout has failed by the Progressing condition.
    pub progress_failed: Option<&'static str>,
    pub since_write_ms: Option<u64>,
    pub stuck_for_ms: u64,
    pub single: bool,
    /// Own ReplicaSets, when they were read.
    pub sets: Option<Vec<&'b ReplicaSet<'a>>>,
    /// The one with the Deployment's template.
    pub newest: Option<&'b ReplicaSet<'a>>,
}

impl<'a, 'b> Inputs<'a, 'b> {
    pub fn of(observed: &'b Observed<'a, 'b>) -> Self {
        let deployment = observed.deployment;
        let meta = &deployment.metadata;
        let status = &deployment.status;
        let own = |set: &&ReplicaSet<'_>| set.metadata.is_controlled_by(&meta.uid);
        let sets: Option<Vec<&ReplicaSet<'a>>> =
            observed.replica_sets.get().map(|sets| sets.iter().filter(own).collect());
        // What a ReplicaSet's template is compared with is only looked at when there is one.
        let newest = sets.as_ref().and_then(|sets| newest(deployment, sets));
        let progressing = deployment.condition("Progressing");
        let failed = progressing.filter(|condition| condition.status == "False");
        let deadline = progressing.is_some_and(|condition| condition.reason == "ProgressDeadlineExceeded");
        let serving = sets.as_ref().map(|sets| sets.iter().map(|set| set.status.available_replicas).sum());
        Self {
            observed_all: observed,
            deleting: meta.is_deleting(),
            malformed: deployment.spec.is_none() || deployment.desired() < 0 || counters_are_negative(deployment),
            desired: deployment.desired(),
            replicas: status.replicas,
            available: serving.map_or(status.available_replicas, |sum: i64| sum.min(status.available_replicas)),
            terminating: status.terminating_replicas,
            observed: deployment.is_observed(),
            never_observed: status.observed_generation == 0,
            paused: deployment.spec.as_ref().is_some_and(|spec| spec.paused),
            create_error: failed.is_some_and(|condition| condition.reason == "ReplicaSetCreateError"),
            progress_failed: match (deadline, failed) {
                (true, _) => Some("deadline-exceeded"),
                (false, Some(_)) => Some("rollout-error"),
                (false, None) => None,
            },
            since_write_ms: observed.own.since_write_ms,
            stuck_for_ms: observed.own.stuck_for_ms,
            single: observed.own.single,
            sets,
            newest,
        }
    }

    /// What has not been read of ReplicaSets and Pods, in the order in which it has to be.
    pub fn unread(&self) -> Want {
        match (&self.observed_all.replica_sets, &self.observed_all.pods) {
            (Beside::NotRead, _) => Want::ReplicaSets,
            (Beside::Read(_), Beside::NotRead) => Want::Pods,
            _ => Want::Nothing,
        }
    }

    /// As above, where Pods would not tell more.
    pub fn unread_sets(&self) -> Want {
        match self.observed_all.replica_sets {
            Beside::NotRead => Want::ReplicaSets,
            _ => Want::Nothing,
        }
    }

    pub fn sets_readable(&self) -> bool {
        !matches!(self.observed_all.replica_sets, Beside::NotReadable)
    }

    /// Without the ReplicaSets nobody knows whose the Pods are.
    pub fn pods_readable(&self) -> bool {
        self.sets_readable() && !matches!(self.observed_all.pods, Beside::NotReadable)
    }

    /// Nothing was ever observed, nothing was made, and it has been so for long enough.
    pub fn nothing_ever(&self, persists_ms: u64) -> bool {
        let nothing_made = self.sets.as_ref().is_some_and(Vec::is_empty)
            && matches!(&self.observed_all.pods, Beside::Read(_))
            && !self.live_pods();
        self.never_observed
            && !self.observed
            && nothing_made
            && (self.stuck_for_ms >= persists_ms || self.old(persists_ms))
    }

    /// Made and never changed since, so long ago by the server's own clock.
    fn old(&self, persists_ms: u64) -> bool {
        let meta = &self.observed_all.deployment.metadata;
        let created = meta.creation_timestamp.as_ref().and_then(|text| milliseconds(text));
        match (created, self.observed_all.server_ms) {
            (Some(created), Some(now)) => meta.generation == 1 && now.saturating_sub(created) >= persists_ms,
            _ => false,
        }
    }

    /// A ReplicaSet that still wants, has or ends Pods, or whose controller has not seen that it should have none.
    pub fn sets_left(&self) -> bool {
        let left = |set: &&ReplicaSet<'_>| {
            set.desired() > 0
                || !set.is_observed()
                || set.status.replicas > 0
                || self.create_error && set.status.terminating_replicas.is_some_and(|count| count > 0)
        };
        self.sets.as_ref().is_some_and(|sets| sets.iter().any(left))
    }

    /// A Pod of one of its ReplicaSets whose containers can still run.
    pub fn live_pods(&self) -> bool {
        self.observed_all.live_pods().next().is_some()
    }

    /// The conditions of row 13.
    pub fn all_available(&self) -> bool {
        let status = &self.observed_all.deployment.status;
        let available = self.observed_all.deployment.condition("Available");
        status.updated_replicas >= self.desired
            && status.replicas == status.updated_replicas
            && self.available >= self.desired
            && available.is_none_or(|condition| condition.status != "False")
            && self.newest_agrees()
    }

    /// The newest ReplicaSet says so too. Counters of the Deployment alone may be copied from before.
    fn newest_agrees(&self) -> bool {
        match (&self.sets, self.newest) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(_), Some(set)) if set.is_observed() => set.status.available_replicas >= self.desired,
            (Some(_), Some(set)) => self.ready_pods(&set.metadata.uid) >= self.desired,
        }
    }

    fn ready_pods(&self, set: &str) -> i64 {
        let ready =
            self.observed_all.pods.get().map_or(0, |pods| {
                pods.iter().filter(|pod| pod.metadata.is_controlled_by(set) && pod.is_ready()).count()
            });
        i64::try_from(ready).unwrap_or(i64::MAX)
    }

    /// The newest ReplicaSet has an available Pod. None: it was not read, and the Deployment alone does not tell.
    pub fn newest_serves(&self) -> Option<bool> {
        let status = &self.observed_all.deployment.status;
        match &self.sets {
            Some(_) => Some(self.newest.is_some_and(|set| set.status.available_replicas > 0)),
            None if self.available == 0 => Some(false),
            None if status.replicas == status.updated_replicas => Some(true),
            None if status.updated_replicas == 0 => Some(false),
            None => None,
        }
    }

    /// Pods are missing because they cannot be made.
    pub fn replica_failure(&self) -> bool {
        let failure = self.observed_all.deployment.condition("ReplicaFailure");
        let failing = failure.is_some_and(|condition| condition.status == "True");
        failing && self.replicas < self.desired && self.newest_serves() == Some(false)
    }

    /// The same, and they are refused, not only for a moment.
    pub fn rejected(&self) -> bool {
        let failure = self.observed_all.deployment.condition("ReplicaFailure");
        let message = failure.map(|condition| condition.message.to_ascii_lowercase()).unwrap_or_default();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        self.replica_failure() && !says(&TRANSIENT) && says(&REJECTIONS)
    }

    /// It is known that no ReplicaSet has the Deployment's template.
    pub fn no_newest_set(&self) -> bool {
        self.sets.is_some() && self.newest.is_none()
    }

    /// A ReplicaSet of an older revision has Pods that serve.
    pub fn old_serves(&self) -> bool {
        let newest = self.newest.map(|set| &*set.metadata.uid);
        let old = |set: &&ReplicaSet<'_>| Some(&*set.metadata.uid) != newest && set.status.available_replicas > 0;
        self.sets.as_ref().is_some_and(|sets| sets.iter().any(old))
    }
}

fn counters_are_negative(deployment: &Deployment<'_>) -> bool {
    let status = &deployment.status;
    [status.replicas, status.updated_replicas, status.available_replicas].iter().any(|&count| count < 0)
}

/// The ReplicaSet whose template is the Deployment's, not the one of the highest revision: while a rollout is paused
/// that one is still the old template's.
fn newest<'a, 'b>(deployment: &Deployment<'a>, sets: &[&'b ReplicaSet<'a>]) -> Option<&'b ReplicaSet<'a>> {
    if sets.is_empty() {
        return None;
    }
    let template = deployment.template()?;
    sets.iter().find(|set| set.template().is_some_and(|other| same(&template, &other))).copied()
}

fn same(left: &PodTemplate<'_>, right: &PodTemplate<'_>) -> bool {
    let labels = |template: &PodTemplate<'_>| {
        let mut labels: Vec<(String, String)> = template
            .metadata
            .labels
            .iter()
            .filter(|(key, _)| *key != TEMPLATE_HASH)
            .map(|(key, value)| (key.to_owned(), value.to_owned()))
            .collect();
        labels.sort_unstable();
        labels
    };
    let annotations = |template: &PodTemplate<'_>| {
        let mut pairs: Vec<(String, String)> =
            template.metadata.annotations.iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        pairs.sort_unstable();
        pairs
    };
    let spec = match (left.spec, right.spec) {
        // The same server writes both: as a rule byte for byte alike.
        (Some(left), Some(right)) => left.get() == right.get() || values(left.get()) == values(right.get()),
        (None, None) => true,
        _ => false,
    };
    spec && labels(left) == labels(right) && annotations(left) == annotations(right)
}

fn values(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}
