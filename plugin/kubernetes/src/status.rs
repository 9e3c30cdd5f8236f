//! Which state a Deployment is in: a pure function of what was observed.
//!
//! [`decide`] is a table. The first row whose condition holds gives the answer, and the answer carries the row's name,
//! so that a person can look it up. A row sees what was read and nothing else: a condition on data that was not read
//! is false, and the verdict then says what would have to be read to be sure.

mod advice;
mod evidence;
mod inputs;
mod pods;
mod table;
mod template;
mod words;

use workload_guest::{Fault, FaultKind, Ownership, Status, Workload, fault};

use crate::api::{Deployment, Pod, PodSpec, ReplicaSet};
use crate::id::Target;
pub use advice::advice;
pub use evidence::evidence;
use inputs::Inputs;
pub use inputs::total;
pub use words::blocker;

/// Something beside the Deployment itself.
#[derive(Debug, Clone)]
pub enum Beside<T> {
    /// Nobody asked yet.
    NotRead,
    /// We are not allowed to look.
    NotReadable,
    /// It was read.
    Read(T),
}

impl<T> Beside<T> {
    /// What was read.
    pub fn get(&self) -> Option<&T> {
        match self {
            Self::Read(value) => Some(value),
            _ => None,
        }
    }
}

/// What is known of this operation's own doing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Own {
    /// How long ago this operation wrote the count, by our own clock.
    pub since_write_ms: Option<u64>,
    /// For how long ReplicaSetCreateError, or that nothing was ever observed, has been seen by our own clock.
    pub stuck_for_ms: u64,
    /// This is a look, not a wait: there will be no second one to compare with.
    pub single: bool,
}

/// All that the table looks at.
#[derive(Debug)]
pub struct Observed<'a, 'b> {
    /// The Deployment, fresh.
    pub deployment: &'b Deployment<'a>,
    /// ReplicaSets, of which only its own count.
    pub replica_sets: Beside<Vec<ReplicaSet<'a>>>,
    /// Pods, of which only those of its own ReplicaSets count.
    pub pods: Beside<Vec<Pod<'a>>>,
    /// What we did.
    pub own: Own,
    /// The server's clock when it answered, in milliseconds of the Unix epoch.
    pub server_ms: Option<u64>,
}

/// What more would have to be read to be sure of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Want {
    /// Nothing.
    Nothing,
    /// The ReplicaSets.
    ReplicaSets,
    /// The Pods.
    Pods,
}

/// What state it is in, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The row of the table.
    pub rule: &'static str,
    /// Where it is in its life.
    pub status: Status,
    /// One of the fixed reasons.
    pub reason: &'static str,
    /// One sentence for a person.
    pub message: String,
    /// The engine is where it was asked to be.
    pub settled: bool,
    /// An older revision serves.
    pub serving_old: bool,
    /// Replicas wanted.
    pub desired: u32,
    /// Replicas that can serve.
    pub available: u32,
    /// What is known of the cause, for a program: pod, node, container, exit-code, finalizer,
    /// and `cause`, the word of the kubelet or of a condition.
    pub detail: Vec<(&'static str, String)>,
    /// What has to be read because the answer may be wrong without it.
    pub needs: Want,
    /// What would have to be read to be sure, and to say why. Never less than `needs`.
    pub want: Want,
}

/// What is told of a Deployment besides its state.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// Which object it is.
    pub uid: String,
    /// When it was made, as the server wrote it.
    pub created: Option<String>,
    /// What its first container runs.
    pub image: Option<String>,
}

impl Own {
    /// A look that is no part of an operation on it.
    pub const LOOK: Self = Self { since_write_ms: None, stuck_for_ms: 0, single: true };
}

impl About {
    /// Of this Deployment, whose Pods are made to this specification.
    #[must_use]
    pub fn of(deployment: &Deployment<'_>, spec: Option<&PodSpec<'_>>) -> Self {
        let meta = &deployment.metadata;
        let image = spec.and_then(|spec| spec.containers.first()).map(|container| container.image.to_string());
        Self {
            uid: meta.uid.to_string(),
            created: meta.creation_timestamp.as_ref().map(ToString::to_string),
            image: image.filter(|image| !image.is_empty()),
        }
    }
}

/// After so long the controller has made its last try to make a ReplicaSet: the sixteenth came after 164 seconds.
const GIVES_UP_MS: u64 = 180_000;

/// The controller tries no more to make the ReplicaSet: lifting the cause changes nothing until somebody writes to the
/// Deployment.
#[must_use]
pub fn gave_up(observed: &Observed<'_, '_>) -> bool {
    let error = observed.deployment.create_error();
    let stamped = error.and_then(|error| error.last_update_time.as_deref()).and_then(crate::time::milliseconds);
    stamped.zip(observed.server_ms).is_some_and(|(at, now)| now.saturating_sub(at) > GIVES_UP_MS)
}

/// Which state it is in: the first row of the table that holds.
#[must_use]
pub fn decide(observed: &Observed<'_, '_>) -> Verdict {
    let see = Inputs::of(observed);
    let (rule, answer) = table::answer(&see);
    let told = words::told(&see, answer);
    Verdict {
        rule,
        status: answer.status,
        reason: answer.reason,
        message: told.message,
        settled: is_settled(answer.status, answer.reason),
        serving_old: table::tells_of_old(rule) && see.old_serves(),
        desired: count(see.desired),
        available: count(see.available),
        detail: told.detail,
        needs: answer.needs,
        want: answer.want,
    }
}

/// It is where it was asked to be, or will not get there by itself.
fn is_settled(status: Status, reason: &str) -> bool {
    match status {
        Status::Running => reason != "partial",
        Status::Offline => !matches!(reason, "stopping" | "deleting"),
        Status::Failed | Status::Missing => true,
        Status::Creating | Status::Unknown => false,
    }
}

fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

impl Verdict {
    /// All wanted replicas can serve.
    #[must_use]
    pub fn is_running(&self) -> bool {
        self.status == Status::Running && self.settled
    }

    /// No replica is wanted, and none is left as far as one can see.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.status == Status::Offline && self.settled
    }

    /// As what the boundary speaks of.
    #[must_use]
    pub fn workload(&self, target: &Target, ownership: &Ownership, about: &About) -> Workload {
        Workload {
            kind: "Deployment".to_owned(),
            name: target.name.clone(),
            message: Some(self.message.clone()),
            settled: self.settled,
            serving_old: self.serving_old,
            desired: self.desired,
            available: self.available,
            image: about.image.clone(),
            created: about.created.clone(),
            owner: Some(ownership.owner.clone()),
            uid: Some(about.uid.clone()),
            rule: self.rule.to_owned(),
            ..Workload::named(target.id(), self.status, self.reason)
        }
    }

    /// As the end of a start that cannot succeed.
    #[must_use]
    pub fn rollout_failed(&self, target: &Target) -> Fault {
        let fault = fault(FaultKind::RolloutFailed, format!("{} does not start: {}", target.id(), self.message))
            .with("reason", self.reason)
            .with("rule", self.rule)
            .with("available", self.available)
            .with("desired", self.desired);
        self.detail.iter().fold(fault, |fault, (name, value)| fault.with(name, value))
    }
}

/// A workload that is not there for us.
#[must_use]
pub fn missing(target: &Target, reason: &str, message: String) -> Workload {
    let rule = if reason == "not-owned" { table::NOT_OWNED } else { table::NOT_FOUND };
    Workload {
        kind: "Deployment".to_owned(),
        name: target.name.clone(),
        message: Some(message),
        settled: true,
        rule: rule.to_owned(),
        ..Workload::named(target.id(), Status::Missing, reason)
    }
}

/// A workload of which there is no usable answer.
#[must_use]
pub fn unknown(target: &Target, reason: &str, message: String) -> Workload {
    Workload {
        kind: "Deployment".to_owned(),
        name: target.name.clone(),
        message: Some(message),
        rule: table::NO_ANSWER.to_owned(),
        ..Workload::named(target.id(), Status::Unknown, reason)
    }
}

#[cfg(test)]
mod tests;
