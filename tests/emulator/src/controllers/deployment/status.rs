//! The status of a Deployment: counters, conditions, and whether it takes too long.

use std::time::Duration;

use jiff::Timestamp;

use super::{Round, Sets};
use crate::controllers::Kind;
use crate::controllers::kinds::{Condition, DeploymentStatus, find, remove, set};
use crate::error::ApiError;

impl Round<'_> {
    /// Counts what the ReplicaSets report. The conditions stay, but for the one about availability.
    fn status_of(&self, sets: &Sets) -> DeploymentStatus {
        let deployment = &self.deployment;
        let sum = |of: fn(&crate::controllers::kinds::ReplicaSetStatus) -> i64| {
            sets.all().map(|set| of(&set.status)).sum::<i64>()
        };
        let available = sum(|status| status.available_replicas);
        let mut status = DeploymentStatus {
            observed_generation: deployment.view.generation(),
            replicas: sum(|status| status.replicas),
            updated_replicas: sets.new.as_ref().map_or(0, |new| new.status.replicas),
            ready_replicas: sum(|status| status.ready_replicas),
            available_replicas: available,
            unavailable_replicas: (sets.replicas() - available).max(0),
            terminating_replicas: terminating(sets),
            conditions: deployment.status.conditions.clone(),
            collision_count: deployment.status.collision_count,
        };
        let availability = if available >= deployment.replicas - deployment.max_unavailable() {
            ("True", "MinimumReplicasAvailable", "Deployment has minimum availability.")
        } else {
            ("False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability.")
        };
        let (holds, reason, message) = availability;
        set(&mut status.conditions, self.condition("Available", holds, reason, message));
        status
    }

    /// Writes the counters, when nothing is said about progress.
    pub(super) fn write_status_of(&mut self, sets: &Sets) -> Result<(), ApiError> {
        let status = self.status_of(sets);
        if status == self.deployment.status {
            return Ok(());
        }
        self.deployment.status = status;
        self.write_status()
    }

    /// Writes the counters and what they say about progress, or plans to look again when time is up.
    pub(super) fn write_rollout_status(&mut self, sets: &Sets) -> Result<(), ApiError> {
        let mut status = self.status_of(sets);
        if let Some(deadline) = self.deployment.deadline {
            self.judge(sets, &mut status, deadline);
        } else {
            remove(&mut status.conditions, "Progressing");
        }
        match failure(sets) {
            Some(failure) => set(&mut status.conditions, failure),
            None => remove(&mut status.conditions, "ReplicaFailure"),
        }
        if status == self.deployment.status {
            self.look_again(&status);
            return Ok(());
        }
        self.deployment.status = status;
        self.write_status()
    }

    fn judge(&self, sets: &Sets, status: &mut DeploymentStatus, deadline: i64) {
        let current = find(&self.deployment.status.conditions, "Progressing").cloned();
        let reason = current.as_ref().map(|current| current.reason.as_str());
        if status.replicas == status.updated_replicas && reason == Some("NewReplicaSetAvailable") {
            // The rollout was complete: what happens now is none.
            return;
        }
        let subject = match &sets.new {
            Some(new) => format!("ReplicaSet \"{}\"", new.view.name()),
            None => format!("Deployment \"{}\"", self.deployment.view.name()),
        };
        let condition = |holds: &str, reason: &str, what: &str| {
            self.condition("Progressing", holds, reason, &format!("{subject} {what}"))
        };
        if self.deployment.is_complete(status) {
            set(&mut status.conditions, condition("True", "NewReplicaSetAvailable", "has successfully progressed."));
        } else if progresses(&self.deployment.status, status) {
            let mut progress = condition("True", "ReplicaSetUpdated", "is progressing.");
            if let Some(current) = current {
                if current.status == "True" {
                    progress.last_transition_time = current.last_transition_time;
                }
                // Also with the same reason: when it progressed last is what the deadline counts from.
                remove(&mut status.conditions, "Progressing");
            }
            set(&mut status.conditions, progress);
        } else if self.timed_out(status, deadline) {
            set(&mut status.conditions, condition("False", "ProgressDeadlineExceeded", "has timed out progressing."));
        }
    }

    fn timed_out(&self, status: &DeploymentStatus, deadline: i64) -> bool {
        let Some(condition) = find(&status.conditions, "Progressing") else { return false };
        match condition.reason.as_str() {
            "NewReplicaSetAvailable" => false,
            "ProgressDeadlineExceeded" => true,
            _ => self.left(condition, deadline).is_none(),
        }
    }

    /// How much of the deadline is left; none if it has passed.
    fn left(&self, condition: &Condition, deadline: i64) -> Option<Duration> {
        let updated: Timestamp = condition.last_update_time.parse().ok()?;
        let until = updated + Duration::from_secs(u64::try_from(deadline).unwrap_or_default());
        Duration::try_from(until.duration_since(self.cluster.state.clock.wall())).ok()
    }

    /// Nothing changes any more: if it isn't complete, somebody has to look when time is up.
    fn look_again(&mut self, status: &DeploymentStatus) {
        let current = find(&self.deployment.status.conditions, "Progressing").cloned();
        let (Some(deadline), Some(current)) = (self.deployment.deadline, current) else { return };
        if self.deployment.is_complete(status) || current.reason == "ProgressDeadlineExceeded" {
            return;
        }
        if current.reason == "NewReplicaSetAvailable" {
            // A rollout that was complete is never said to have timed out.
            return;
        }
        let Some(left) = self.left(&current, deadline) else { return };
        // A second more: times in objects are whole seconds. With less than one left, as soon as it is over.
        let more = if left < Duration::from_secs(1) { Duration::from_millis(1) } else { Duration::from_secs(1) };
        let key = self.deployment.view.key().clone();
        self.cluster.after(Kind::Deployment, &key, left + more);
    }
}

fn terminating(sets: &Sets) -> Option<i64> {
    // One that was never looked at has none; one that was looked at but doesn't tell makes the sum unknown.
    let told = sets.all().map(|set| match set.status.terminating_replicas {
        None if set.status.observed_generation == 0 => Some(0),
        told => told,
    });
    told.sum()
}

fn progresses(before: &DeploymentStatus, after: &DeploymentStatus) -> bool {
    let old = |status: &DeploymentStatus| status.replicas - status.updated_replicas;
    after.updated_replicas > before.updated_replicas
        || old(after) < old(before)
        || after.ready_replicas > before.ready_replicas
        || after.available_replicas > before.available_replicas
}

/// What a ReplicaSet reports as failed, the new one first.
fn failure(sets: &Sets) -> Option<Condition> {
    let mut failures =
        sets.new.iter().chain(&sets.old).filter_map(|set| find(&set.status.conditions, "ReplicaFailure"));
    let failure = failures.next()?;
    Some(Condition { last_update_time: failure.last_transition_time.clone(), ..failure.clone() })
}
