//! What the table's conditions speak of, computed once.

use super::pods::Heard;
use super::template::newest;
use super::{Beside, Observed, Want};
use crate::api::{Condition, Deployment, Pod, ReplicaSet};

/// Words that mark a failure to make Pods that passes. Tested first: a webhook that cannot be called also "denies".
const PASSING: [&str; 3] = ["timeout", "connection refused", "failed calling webhook"];

/// Words that mark a rejection.
const REJECTED: [&str; 6] =
    ["is forbidden", "exceeded quota", "denied the request", "denied request", "is invalid", "limitrange"];

/// The inputs of the table.
pub(super) struct Inputs<'a, 'b> {
    pub all: &'b Observed<'a, 'b>,
    pub deleting: bool,
    pub malformed: bool,
    pub desired: i64,
    pub replicas: i64,
    pub updated: i64,
    pub available: i64,
    pub terminating: Option<i64>,
    pub observed: bool,
    pub never_observed: bool,
    pub paused: bool,
    /// Progressing is False because no ReplicaSet could be made: the status is frozen.
    pub create_error: bool,
    /// The reason, when the rollout has failed by the Progressing condition.
    pub progress_failed: Option<&'static str>,
    /// Own ReplicaSets, when they were read.
    pub sets: Option<Vec<&'b ReplicaSet<'a>>>,
    /// The one with the Deployment's template.
    pub newest: Option<&'b ReplicaSet<'a>>,
    /// What the newest one's Pods say, as far as they were read.
    pub heard: Heard<'a, 'b>,
}

impl<'a, 'b> Inputs<'a, 'b> {
    pub fn of(all: &'b Observed<'a, 'b>) -> Self {
        let deployment = all.deployment;
        let meta = &deployment.metadata;
        let status = &deployment.status;
        let desired = deployment.desired();
        let sets: Option<Vec<&'b ReplicaSet<'a>>> = all.replica_sets.get().map(|_| all.own_sets().collect());
        // What the newest one is matters only where something is wanted; comparing templates is dear.
        let newest = sets.as_ref().filter(|_| desired > 0).and_then(|sets| newest(deployment, sets));
        let pods: Vec<&'b Pod<'a>> = newest.map(|set| all.pods_of(&set.metadata.uid).collect()).unwrap_or_default();
        let progressing = deployment.condition("Progressing");
        let failed = progressing.filter(|condition| condition.status == "False");
        let deadline = progressing.is_some_and(|condition| condition.reason == "ProgressDeadlineExceeded");
        let serving = sets.as_ref().map(|sets| total(sets.iter().map(|set| set.status.available_replicas)));
        Self {
            all,
            deleting: meta.is_deleting(),
            malformed: deployment.spec.is_none() || desired < 0 || counters_are_negative(deployment),
            desired,
            replicas: status.replicas,
            updated: status.updated_replicas,
            available: serving.map_or(status.available_replicas, |sum| sum.min(status.available_replicas)),
            terminating: status.terminating_replicas,
            observed: deployment.is_observed(),
            never_observed: status.observed_generation == 0,
            paused: deployment.spec.as_ref().is_some_and(|spec| spec.paused),
            create_error: deployment.create_error().is_some(),
            progress_failed: match (deadline, failed) {
                (true, _) => Some("deadline-exceeded"),
                (false, Some(_)) => Some("rollout-error"),
                (false, None) => None,
            },
            heard: Heard::of(&pods, all.server_ms),
            sets,
            newest,
        }
    }

    /// What has not been read of ReplicaSets and Pods, in the order in which it has to be.
    pub fn unread(&self) -> Want {
        match (&self.all.replica_sets, &self.all.pods) {
            (Beside::NotRead, _) => Want::ReplicaSets,
            (Beside::Read(_), Beside::NotRead) => Want::Pods,
            _ => Want::Nothing,
        }
    }

    /// As above, where Pods would not tell more.
    pub fn unread_sets(&self) -> Want {
        match self.all.replica_sets {
            Beside::NotRead => Want::ReplicaSets,
            _ => Want::Nothing,
        }
    }

    pub fn sets_readable(&self) -> bool {
        !matches!(self.all.replica_sets, Beside::NotReadable)
    }

    /// Without the ReplicaSets nobody knows whose the Pods are.
    pub fn pods_readable(&self) -> bool {
        self.sets_readable() && !matches!(self.all.pods, Beside::NotReadable)
    }

    /// Nothing was ever observed for so long: by our own clock, or made and never changed since by the server's.
    pub fn is_ignored(&self, persists_ms: u64) -> bool {
        let meta = &self.all.deployment.metadata;
        let made = meta.created_ms().filter(|_| meta.generation == 1);
        let old = made.zip(self.all.server_ms).is_some_and(|(made, now)| now.saturating_sub(made) >= persists_ms);
        self.never_observed && !self.observed && (self.all.own.stuck_for_ms >= persists_ms || old)
    }

    /// It has no ReplicaSet, and so no Pod.
    pub fn nothing_made(&self) -> bool {
        self.sets.as_ref().is_some_and(Vec::is_empty)
    }

    /// A ReplicaSet that still wants or has Pods, or whose controller has not seen that it should have none.
    pub fn sets_left(&self) -> bool {
        let left = |set: &&ReplicaSet<'_>| set.desired() > 0 || !set.is_observed() || set.status.replicas > 0;
        self.sets.as_ref().is_some_and(|sets| sets.iter().any(left))
    }

    /// A ReplicaSet whose Pods still end. Where the Deployment's own counter is frozen.
    pub fn sets_ending(&self) -> bool {
        let ending = |set: &&ReplicaSet<'_>| set.status.terminating_replicas.is_some_and(|count| count > 0);
        self.sets.as_ref().is_some_and(|sets| sets.iter().any(ending))
    }

    /// A Pod of one of its ReplicaSets whose containers can still run.
    pub fn live_pods(&self) -> bool {
        self.all.live_pods().next().is_some()
    }

    /// The newest ReplicaSet says that all are available, if it was read. Counters of the Deployment alone may be
    /// copied from before: for a moment after a stop and a start they are.
    pub fn newest_agrees(&self) -> bool {
        match (&self.sets, self.newest) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(_), Some(set)) if set.is_observed() => set.status.available_replicas >= self.desired,
            (Some(_), Some(set)) => {
                let ready = self.all.pods_of(&set.metadata.uid).filter(|pod| pod.is_ready()).count();
                i64::try_from(ready).is_ok_and(|ready| ready >= self.desired)
            }
        }
    }

    /// The newest ReplicaSet has an available Pod. None: it was not read, and the Deployment alone does not tell.
    pub fn newest_serves(&self) -> Option<bool> {
        match &self.sets {
            Some(_) => Some(self.newest.is_some_and(|set| set.status.available_replicas > 0)),
            None if self.available == 0 => Some(false),
            None if self.replicas == self.updated => Some(true),
            None if self.updated == 0 => Some(false),
            None => None,
        }
    }

    /// A ReplicaSet of an older revision has Pods that serve. Told by itself: the Deployment's counter may be frozen.
    pub fn old_serves(&self) -> bool {
        let newest = self.newest.map(|set| &*set.metadata.uid);
        let old = |set: &&ReplicaSet<'_>| Some(&*set.metadata.uid) != newest && set.status.available_replicas > 0;
        self.sets.as_ref().is_some_and(|sets| sets.iter().any(old))
    }

    /// It is known that no ReplicaSet has the Deployment's template.
    pub fn no_newest_set(&self) -> bool {
        self.sets.is_some() && self.newest.is_none()
    }

    /// This condition is there and is True.
    pub fn holds(&self, kind: &str) -> Option<&'b Condition<'a>> {
        self.all.deployment.condition(kind).filter(|condition| condition.status == "True")
    }

    /// Pods are missing because they cannot be made, and none of the newest revision serves. True: they are refused,
    /// not only for a moment.
    pub fn replica_failure(&self) -> Option<bool> {
        let failure = self.holds("ReplicaFailure")?;
        if self.replicas >= self.desired || self.newest_serves() != Some(false) {
            return None;
        }
        let message = failure.message.to_ascii_lowercase();
        let says = |words: &[&str]| words.iter().any(|word| message.contains(word));
        Some(!says(&PASSING) && says(&REJECTED))
    }

    /// Why none of the newest revision comes to run by itself, as far as its Pods tell.
    pub fn doomed(&self) -> Option<&'static str> {
        if self.newest_serves() != Some(false) {
            return None;
        }
        match self.heard.doomed() {
            Some(finding) => Some(finding.signal.reason()),
            None => self.heard.refused.map(|_| "replica-failure"),
        }
    }
}

impl<'a, 'b> Observed<'a, 'b> {
    /// The values of all environment variables of its templates, the present one and older ones: what no message may repeat.
    /// None: nobody can tell.
    #[must_use]
    pub fn variables(&self) -> Option<Vec<String>> {
        let older = self.own_sets().filter_map(ReplicaSet::template);
        self.deployment.template().into_iter().chain(older).map(|template| template.variables()).try_fold(
            Vec::new(),
            |mut all, variables| {
                all.extend(variables?);
                Some(all)
            },
        )
    }

    /// ReplicaSets that it controls.
    pub fn own_sets(&self) -> impl Iterator<Item = &ReplicaSet<'a>> {
        let owner = &*self.deployment.metadata.uid;
        let sets = self.replica_sets.get().map(Vec::as_slice).unwrap_or_default();
        sets.iter().filter(move |set| set.metadata.is_controlled_by(owner))
    }

    /// Pods that this ReplicaSet controls.
    pub(super) fn pods_of<'s>(&'s self, set: &'s str) -> impl Iterator<Item = &'s Pod<'a>> {
        let pods = self.pods.get().map(Vec::as_slice).unwrap_or_default();
        pods.iter().filter(move |pod| pod.metadata.is_controlled_by(set))
    }

    /// Pods of its own ReplicaSets, by name.
    #[must_use]
    pub fn own_pods(&self) -> Vec<&Pod<'a>> {
        let mut pods: Vec<&Pod<'a>> = self.own_sets().flat_map(|set| self.pods_of(&set.metadata.uid)).collect();
        pods.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
        pods
    }

    /// Those of them whose containers can still run.
    pub(super) fn live_pods(&self) -> impl Iterator<Item = &Pod<'a>> {
        self.own_pods().into_iter().filter(|pod| pod.is_live())
    }
}

fn counters_are_negative(deployment: &Deployment<'_>) -> bool {
    let status = &deployment.status;
    let counters = [status.replicas, status.updated_replicas, status.ready_replicas, status.available_replicas];
    counters.into_iter().chain(status.terminating_replicas).any(|count| count < 0)
}

/// All of them together. Numbers of a server are only as large as it likes.
#[must_use]
pub fn total(counts: impl Iterator<Item = i64>) -> i64 {
    counts.fold(0, i64::saturating_add)
}
