//! A verdict in words: the sentence for a person, what blocks, and the evidence.

use workload_guest::Status;

use super::inputs::Inputs;
use super::{Answer, Beside, Observed, Verdict};
use crate::answer::sentence;
use crate::api::{Condition, Pod, ReplicaSet};
use crate::time::{milliseconds, span};

/// How many Pods a message names.
const NAMED_PODS: usize = 3;

/// How many Pods and ReplicaSets the evidence names.
const EVIDENCE: usize = 20;

impl<'a, 'b> Observed<'a, 'b> {
    /// Pods of its own ReplicaSets whose containers can still run.
    pub(super) fn live_pods(&self) -> impl Iterator<Item = &Pod<'a>> {
        let owner = &*self.deployment.metadata.uid;
        let sets = self.replica_sets.get().map(Vec::as_slice).unwrap_or_default();
        let own: Vec<&str> = sets
            .iter()
            .filter(|set: &&ReplicaSet<'_>| set.metadata.is_controlled_by(owner))
            .map(|set| &*set.metadata.uid)
            .collect();
        let pods = self.pods.get().map(Vec::as_slice).unwrap_or_default();
        pods.iter().filter(move |pod| {
            pod.is_live() && pod.metadata.controller().is_some_and(|owner| own.contains(&&*owner.uid))
        })
    }
}

/// What still has to end, for the message of a stop that takes long.
#[must_use]
pub fn blockers(observed: &Observed<'_, '_>) -> Option<String> {
    let mut pods: Vec<&Pod<'_>> = observed.live_pods().collect();
    pods.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
    let named: Vec<String> = pods.iter().take(NAMED_PODS).map(|pod| blocker(pod, observed.server_ms)).collect();
    let more = pods.len().saturating_sub(NAMED_PODS);
    match (named.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(named.join("; ")),
        (false, more) => Some(format!("{}; and {more} more", named.join("; "))),
    }
}

/// One Pod that still has to end: where it is, whether its time is over, and what holds it.
#[must_use]
pub fn blocker(pod: &Pod<'_>, server_ms: Option<u64>) -> String {
    let mut words = format!("pod {}", pod.metadata.name);
    if let Some(node) = pod.node() {
        words.push_str(" on node ");
        words.push_str(node);
    }
    match pod.metadata.deletion_timestamp.as_deref().and_then(milliseconds).zip(server_ms) {
        Some((end, now)) if now > end => words.push_str(&format!(" should have ended {} ago", span(now - end))),
        Some(_) => words.push_str(" is ending"),
        None if pod.metadata.is_deleting() => words.push_str(" is ending"),
        None => words.push_str(" is still there"),
    }
    if !pod.metadata.finalizers.is_empty() {
        let names: Vec<&str> = pod.metadata.finalizers.iter().map(|name| &**name).collect();
        words.push_str(&format!(", held by {}", names.join(", ")));
    }
    words
}

/// The verdict of a row.
pub(super) fn verdict(observed: &Observed<'_, '_>, see: &Inputs<'_, '_>, answer: Answer) -> Verdict {
    let (rule, status, reason, want) = answer;
    let settled = match status {
        Status::Running => reason != "partial",
        Status::Offline => !matches!(reason, "stopping" | "deleting"),
        Status::Failed | Status::Missing => true,
        Status::Creating | Status::Unknown => false,
    };
    Verdict {
        rule,
        status,
        reason,
        message: message(observed, see, status, reason),
        settled,
        serving_old: see.desired > 0
            && !see.deleting
            && status != Status::Unknown
            && !rule.starts_with("13")
            && see.old_serves(),
        desired: count(see.desired),
        available: count(see.available),
        detail: Vec::new(),
        needs: want,
        want,
    }
}

fn count(number: i64) -> u32 {
    u32::try_from(number.max(0)).unwrap_or(u32::MAX)
}

fn message(observed: &Observed<'_, '_>, see: &Inputs<'_, '_>, status: Status, reason: &str) -> String {
    let deployment = observed.deployment;
    let of = format!("{} of {} {} available", see.available, see.desired, replicas(see.desired));
    let condition = |kind: &str| deployment.condition(kind).map(said).unwrap_or_default();
    match reason {
        "available" => of,
        "paused" if status == Status::Running => format!("{of}; its rollout is paused"),
        "paused" => {
            "its rollout is paused and it has no replica set for the present template: it will not start until it \
                     is resumed"
                .to_owned()
        }
        "partial" | "starting" => match waiting(observed).or_else(|| refused(observed)) {
            Some(why) => format!("{of}; {why}"),
            None => of,
        },
        "rollout" if see.old_serves() => format!("{of}; an older revision still serves"),
        "rollout" => of,
        "unobserved" if see.create_error => format!("{of}; {}", condition("Progressing")),
        "unobserved" => "the change has not been seen by the controller yet".to_owned(),
        "deadline-exceeded" => format!("{of}; {}", condition("Progressing")),
        "rollout-error" => format!(
            "{}; the controller gives up after three minutes, and then only an edit of the Deployment starts it again",
            condition("Progressing")
        ),
        "replica-failure" => format!("{of}; {}", condition("ReplicaFailure")),
        "stopped" => "no replica is wanted and none is left".to_owned(),
        "stopped-unverified" => match &observed.replica_sets {
            Beside::NotReadable => {
                "no replica is wanted; whether one is left could not be seen: not allowed to list replicasets"
                    .to_owned()
            }
            _ => "no replica is wanted; whether a pod is left could not be seen: not allowed to list pods".to_owned(),
        },
        "stopping" => stopping(observed, see),
        "deleting" => deleting(observed),
        _ => "the answer is no Deployment that can be understood".to_owned(),
    }
}

fn replicas(count: i64) -> &'static str {
    if count == 1 { "replica" } else { "replicas" }
}

fn said(condition: &Condition<'_>) -> String {
    if condition.message.is_empty() {
        condition.reason.to_string()
    } else {
        sentence(condition.message.trim_end_matches('.'))
    }
}

/// What the first Pod that is not ready waits for, in the kubelet's words. It is told, and decides nothing.
fn waiting(observed: &Observed<'_, '_>) -> Option<String> {
    let mut pods: Vec<&Pod<'_>> =
        observed.live_pods().filter(|pod| !pod.is_ready() && !pod.metadata.is_deleting()).collect();
    pods.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
    pods.iter().find_map(|pod| {
        let unplaced = pod.status.conditions.iter().find(|condition| {
            condition.kind == "PodScheduled" && condition.status == "False" && !condition.reason.is_empty()
        });
        let states = pod.status.init_container_statuses.iter().chain(&pod.status.container_statuses);
        let ended = states.filter_map(|status| status.state.waiting.as_ref().or(status.state.terminated.as_ref()));
        let (reason, message) = match unplaced {
            Some(condition) => (&condition.reason, &condition.message),
            None => ended.map(|ended| (&ended.reason, &ended.message)).find(|(reason, _)| !reason.is_empty())?,
        };
        let name = &pod.metadata.name;
        Some(if message.is_empty() {
            format!("pod {name}: {reason}")
        } else {
            format!("pod {name}: {reason}: {}", sentence(message.trim_end_matches('.')))
        })
    })
}

fn stopping(observed: &Observed<'_, '_>, see: &Inputs<'_, '_>) -> String {
    if let Some(blockers) = blockers(observed) {
        return format!("no replica is wanted, but {blockers}");
    }
    let left = see.replicas.max(see.terminating.unwrap_or(0));
    let words = if !see.observed {
        "no replica is wanted, which the controller has not seen yet".to_owned()
    } else if left > 0 {
        format!("no replica is wanted, {left} still to end")
    } else {
        "no replica is wanted, but a replica set still has some".to_owned()
    };
    match refused(observed) {
        Some(why) => format!("{words}; {why}"),
        None => words,
    }
}

/// Why Pods cannot be made or ended.
fn refused(observed: &Observed<'_, '_>) -> Option<String> {
    let failure = observed.deployment.condition("ReplicaFailure");
    failure.filter(|failure| failure.status == "True").map(said)
}

fn deleting(observed: &Observed<'_, '_>) -> String {
    let meta = &observed.deployment.metadata;
    let names: Vec<&str> = meta.finalizers.iter().map(|name| &**name).collect();
    let mut words = "it is being deleted".to_owned();
    if !names.is_empty() {
        words.push_str(&format!(", waiting for {}", names.join(", ")));
    }
    if let Some(blockers) = blockers(observed) {
        words.push_str(&format!("; {blockers}"));
    } else if observed.deployment.status.available_replicas > 0 {
        words.push_str("; its pods may still serve");
    }
    words
}

/// What would have to change, in one sentence. None: nothing, or only time.
#[must_use]
pub fn advice(observed: &Observed<'_, '_>, verdict: &Verdict) -> Option<String> {
    let _ = (observed, verdict);
    None
}

/// The evidence, as name and value.
#[must_use]
pub fn evidence(observed: &Observed<'_, '_>) -> Vec<(String, String)> {
    let deployment = observed.deployment;
    let status = &deployment.status;
    let mut facts = vec![
        fact("generation", deployment.metadata.generation),
        fact("observed-generation", status.observed_generation),
        fact("replicas", status.replicas),
        fact("updated", status.updated_replicas),
        fact("ready", status.ready_replicas),
        fact("available", status.available_replicas),
    ];
    facts.extend(status.terminating_replicas.map(|count| fact("terminating", count)));
    if deployment.spec.as_ref().is_some_and(|spec| spec.paused) {
        facts.push(fact("paused", true));
    }
    for condition in &status.conditions {
        let value = format!("{} {}: {}", condition.status, condition.reason, sentence(&condition.message));
        facts.push((format!("condition {}", condition.kind), value));
    }
    match &observed.replica_sets {
        Beside::NotRead => {}
        Beside::NotReadable => facts.push(fact("replica-sets", "not allowed to list them")),
        Beside::Read(sets) => {
            let mut own: Vec<&ReplicaSet<'_>> =
                sets.iter().filter(|set| set.metadata.is_controlled_by(&deployment.metadata.uid)).collect();
            own.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
            facts.extend(own.iter().take(EVIDENCE).map(|set| {
                let value = format!("{} of {} available", set.status.available_replicas, set.desired());
                (format!("replica-set {}", set.metadata.name), value)
            }));
        }
    }
    match &observed.pods {
        Beside::NotRead => {}
        Beside::NotReadable => facts.push(fact("pods", "not allowed to list them")),
        Beside::Read(_) => {
            let mut live: Vec<&Pod<'_>> = observed.live_pods().collect();
            live.sort_by(|left, right| left.metadata.name.cmp(&right.metadata.name));
            facts.extend(live.iter().take(EVIDENCE).map(|pod| {
                let node = pod.node().unwrap_or("no node");
                (format!("pod {}", pod.metadata.name), format!("{} on {node}", pod.status.phase))
            }));
        }
    }
    facts
}

fn fact(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}
