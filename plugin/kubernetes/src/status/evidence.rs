//! The facts behind a verdict, for a person who wants to see for himself.

use super::pods::is_runtime_error;
use super::{Beside, Observed};
use crate::answer::{printed, quoted};
use crate::api::{Condition, ContainerStatus, Pod, ReplicaSet};

/// How many ReplicaSets are told: the newest ones are among the few that have Pods, which come first.
const REPLICA_SETS: usize = 10;

/// How many Pods are told, those that are not ready first. The host keeps 64 facts of a workload, events among them.
const PODS: usize = 10;

/// How many containers are told.
const CONTAINERS: usize = 20;

/// The evidence, as name and value. Names of one word are the workload's own; of two, the first is a kind.
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
    let mut conditions: Vec<&Condition<'_>> = status.conditions.iter().collect();
    conditions.sort_by(|left, right| left.kind.cmp(&right.kind));
    facts.extend(
        conditions.iter().map(|condition| fact(&format!("condition {}", condition.kind), told(observed, condition))),
    );
    match &observed.replica_sets {
        Beside::NotRead => {}
        Beside::NotReadable => facts.push(fact("replica-sets", "not allowed to list them")),
        Beside::Read(_) => facts.extend(replica_sets(observed)),
    }
    match &observed.pods {
        Beside::NotRead => {}
        Beside::NotReadable => facts.push(fact("pods", "not allowed to list them")),
        Beside::Read(_) => facts.extend(pods(observed)),
    }
    facts
}

fn replica_sets(observed: &Observed<'_, '_>) -> Vec<(String, String)> {
    let mut sets: Vec<&ReplicaSet<'_>> = observed.own_sets().collect();
    sets.sort_by_key(|set| (set.desired() == 0 && set.status.replicas == 0, set.metadata.name.to_string()));
    let value = |set: &ReplicaSet<'_>| {
        let seen = if set.is_observed() { "" } else { ", not observed" };
        format!("{} of {} available{seen}", set.status.available_replicas, set.desired())
    };
    sets.iter().take(REPLICA_SETS).map(|set| fact(&format!("replica-set {}", set.metadata.name), value(set))).collect()
}

fn pods(observed: &Observed<'_, '_>) -> Vec<(String, String)> {
    let mut pods = observed.own_pods();
    pods.sort_by_key(|pod| (!pod.is_live(), pod.is_ready()));
    let told = pods.iter().take(PODS);
    let mut facts: Vec<(String, String)> =
        told.clone().map(|pod| fact(&format!("pod {}", pod.metadata.name), place(observed, pod))).collect();
    let containers = told.filter(|pod| pod.is_live()).flat_map(|pod| {
        pod.status
            .containers()
            .map(|status| fact(&format!("container {}/{}", pod.metadata.name, status.name), state(observed, status)))
    });
    facts.extend(containers.take(CONTAINERS));
    facts
}

fn place(observed: &Observed<'_, '_>, pod: &Pod<'_>) -> String {
    let mut words = format!("{} on {}", pod.status.phase, pod.node().unwrap_or("no node"));
    if pod.metadata.is_deleting() {
        words.push_str(", being deleted");
    } else if pod.is_live() {
        words.push_str(if pod.is_ready() { ", ready" } else { ", not ready" });
    }
    for finalizer in &pod.metadata.finalizers {
        words.push_str(&format!(", held by {finalizer}"));
    }
    with(words, &pod.status.reason, &quoted(&pod.status.message, || observed.variables()))
}

fn state(observed: &Observed<'_, '_>, status: &ContainerStatus<'_>) -> String {
    let printed = |message: &str| printed(message, || observed.variables());
    let words = match (&status.state.waiting, &status.state.terminated) {
        (Some(waiting), _) => {
            let runtime = is_runtime_error(&waiting.reason);
            let message = &waiting.message;
            let quote = if runtime { printed(message) } else { quoted(message, || observed.variables()) };
            with("waiting".to_owned(), &waiting.reason, &quote)
        }
        (None, Some(ended)) => {
            with(format!("ended with exit code {}", ended.exit_code), &ended.reason, &printed(&ended.message))
        }
        (None, None) => format!("running, {}", if status.ready { "ready" } else { "not ready" }),
    };
    let last = match &status.last_state.terminated {
        Some(last) => {
            with(format!("; before that exit code {}", last.exit_code), &last.reason, &printed(&last.message))
        }
        None => String::new(),
    };
    format!("{words}; {} restarts{last}", status.restart_count)
}

fn told(observed: &Observed<'_, '_>, condition: &Condition<'_>) -> String {
    let words =
        with(condition.status.to_string(), &condition.reason, &quoted(&condition.message, || observed.variables()));
    match &condition.last_update_time {
        Some(time) => format!("{words} (written {time})"),
        None => words,
    }
}

/// A word and a quote behind it, if there are any.
fn with(words: String, reason: &str, message: &str) -> String {
    match (reason.is_empty(), message.is_empty()) {
        (true, true) => words,
        (false, true) => format!("{words} {reason}"),
        (true, false) => format!("{words}: {message}"),
        (false, false) => format!("{words} {reason}: {message}"),
    }
}

fn fact(name: &str, value: impl ToString) -> (String, String) {
    (name.to_owned(), value.to_string())
}
