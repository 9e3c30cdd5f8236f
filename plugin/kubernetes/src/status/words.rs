//! A verdict in words: one sentence for a person, and what of it a program may want to know.

use workload_guest::Status;

use super::inputs::Inputs;
use super::pods::{Finding, Role, is_start_error, node_is_lost};
use super::table::Answer;
use super::{Observed, gave_up};
use crate::answer::{printed, quoted};
use crate::api::{Condition, Pod};
use crate::time::{milliseconds, span};

/// How many Pods a message names.
const NAMED_PODS: usize = 3;

/// What a verdict tells.
pub(super) struct Told {
    pub message: String,
    pub detail: Vec<(&'static str, String)>,
}

/// A verdict in words.
pub(super) fn told(see: &Inputs<'_, '_>, answer: Answer) -> Told {
    match answer.status {
        Status::Offline => ending(see, answer.reason),
        Status::Unknown | Status::Missing => {
            Told { message: "the answer is no Deployment that can be understood".to_owned(), detail: Vec::new() }
        }
        Status::Running | Status::Creating | Status::Failed => wanted(see, answer),
    }
}

/// Where one or more are wanted: how many there are, and then why not more.
fn wanted(see: &Inputs<'_, '_>, answer: Answer) -> Told {
    let replicas = if see.desired == 1 { "replica" } else { "replicas" };
    let mut parts = vec![format!("{} of {} {replicas} available", see.available, see.desired)];
    let mut detail = Vec::new();
    let condition = |kind: &str| see.all.deployment.condition(kind);
    let mut cause = |condition: &Condition<'_>| detail.push(("cause", condition.reason.to_string()));
    if answer.status != Status::Running && see.old_serves() {
        parts.push("an older revision still serves".to_owned());
    }
    match (answer.status, answer.reason) {
        (Status::Running, "partial") | (Status::Creating, _) if answer.reason != "unobserved" => {
            if let Some(failure) = see.holds("ReplicaFailure") {
                parts.push(said(see.all, failure));
                cause(failure);
            }
            parts.extend(waits_for(see, &mut detail));
        }
        (Status::Running, reason) => {
            parts.extend((reason == "paused").then(|| "its rollout is paused".to_owned()));
            parts.extend(see.heard.note.clone());
        }
        (Status::Creating, _) => match condition("Progressing").filter(|_| see.create_error) {
            Some(error) => {
                parts.push(said(see.all, error));
                cause(error);
            }
            None => return Told { message: UNSEEN.to_owned(), detail },
        },
        (_, "paused") => return Told { message: PAUSED.to_owned(), detail },
        (_, reason) => {
            let failure = see.holds("ReplicaFailure").filter(|_| see.replica_failure().is_some());
            if let Some(failure) = failure {
                parts.push(said(see.all, failure));
                cause(failure);
            } else if reason == "replica-failure" {
                parts.extend(refused(see, &mut detail));
            } else if reason != "rollout-error" {
                parts.extend(waits_for(see, &mut detail));
            }
            if let Some(progressing) = condition("Progressing").filter(|_| see.progress_failed.is_some()) {
                parts.push(said(see.all, progressing));
                if detail.is_empty() {
                    detail.push(("cause", progressing.reason.to_string()));
                }
            }
            if see.create_error && reason == "rollout-error" {
                parts.push(if gave_up(see.all) { GAVE_UP } else { GIVES_UP }.to_owned());
            }
        }
    }
    Told { message: parts.join("; "), detail }
}

/// While the change has not been seen.
const UNSEEN: &str = "the change has not been seen by the controller yet";

/// Without a ReplicaSet to scale.
const PAUSED: &str = "its rollout is paused and it has no replica set for the present template: it will not start \
                      until it is resumed";

/// While the controller still tries to make the ReplicaSet.
const GIVES_UP: &str =
    "the controller gives up after three minutes, and then only an edit of the Deployment starts it again";

/// And after that.
const GAVE_UP: &str = "the controller has given up: lifting the cause is not enough, only an edit of the Deployment \
                       starts it again";

/// What the Pods of the newest revision wait for.
fn waits_for(see: &Inputs<'_, '_>, detail: &mut Vec<(&'static str, String)>) -> Option<String> {
    if let Some(finding) = &see.heard.first {
        detail.extend(finding.detail());
        return Some(finding.words(see.all));
    }
    if let Some(refused) = refused(see, detail) {
        return Some(refused);
    }
    let spec = see.all.deployment.spec.as_ref()?;
    let pods = see.newest.map_or(0, |set| see.all.pods_of(&set.metadata.uid).filter(|pod| pod.is_live()).count());
    if pods > 0 {
        let seconds = spec.min_ready_seconds;
        return (seconds > 0).then(|| format!("a ready pod counts after {seconds} s"));
    }
    // A strategy may hold the new ones back until these are gone.
    blockers(see.all).map(|blockers| format!("an older revision still has to end: {blockers}"))
}

/// Pods that the kubelet refused.
fn refused(see: &Inputs<'_, '_>, detail: &mut Vec<(&'static str, String)>) -> Option<String> {
    let (pod, count) = see.heard.refused.as_ref()?;
    let (name, reason) = (&pod.metadata.name, &pod.status.reason);
    detail.push(("pod", name.to_string()));
    detail.extend(pod.node().map(|node| ("node", node.to_owned())));
    detail.push(("cause", reason.to_string()));
    let words = format!("{count} pods were refused one after another, last {}", named(None, name, pod.node()));
    Some(with(format!("{words} ({reason})"), quoted(&pod.status.message, || see.all.variables())))
}

/// Where none is wanted.
fn ending(see: &Inputs<'_, '_>, reason: &str) -> Told {
    let mut detail = Vec::new();
    let message = match reason {
        "stopped" => "no replica is wanted and none is left".to_owned(),
        "stopped-unverified" => {
            let kind = if see.sets_readable() { "pods" } else { "replicasets" };
            let whose = if see.sets_readable() { "a pod" } else { "one" };
            format!("no replica is wanted; whether {whose} is left could not be seen: not allowed to list {kind}")
        }
        "stopping" => stopping(see, &mut detail),
        _ => deleting(see, &mut detail),
    };
    Told { message, detail }
}

fn stopping(see: &Inputs<'_, '_>, detail: &mut Vec<(&'static str, String)>) -> String {
    let left = see.replicas.max(see.terminating.unwrap_or(0));
    let mut words = if let Some(blockers) = blockers(see.all) {
        format!("no replica is wanted, but {blockers}")
    } else if !see.observed {
        "no replica is wanted, which the controller has not seen yet".to_owned()
    } else if left > 0 {
        format!("no replica is wanted, {left} still to end")
    } else {
        "no replica is wanted, but a replica set still has some".to_owned()
    };
    if let Some(failure) = see.holds("ReplicaFailure") {
        words = format!("{words}; {}", said(see.all, failure));
        detail.push(("cause", failure.reason.to_string()));
    }
    detail.extend(blocking(see.all));
    words
}

fn deleting(see: &Inputs<'_, '_>, detail: &mut Vec<(&'static str, String)>) -> String {
    let meta = &see.all.deployment.metadata;
    let names: Vec<&str> = meta.finalizers.iter().map(|name| &**name).collect();
    let mut words = "it is being deleted".to_owned();
    if !names.is_empty() {
        words.push_str(&format!(", waiting for {}", names.join(", ")));
    }
    if let Some(blockers) = blockers(see.all) {
        words.push_str(&format!("; {blockers}"));
    } else if see.all.deployment.status.available_replicas > 0 {
        words.push_str("; its pods may still serve");
    }
    detail.extend(names.iter().map(|name| ("finalizer", (*name).to_owned())));
    detail.extend(blocking(see.all));
    words
}

/// What still has to end, for the message of a stop that takes long.
fn blockers(observed: &Observed<'_, '_>) -> Option<String> {
    let pods: Vec<&Pod<'_>> = observed.live_pods().collect();
    let named: Vec<String> = pods.iter().take(NAMED_PODS).map(|pod| blocker(pod, observed.server_ms)).collect();
    let more = pods.len().saturating_sub(NAMED_PODS);
    match (named.is_empty(), more) {
        (true, _) => None,
        (false, 0) => Some(named.join("; ")),
        (false, more) => Some(format!("{}; and {more} more", named.join("; "))),
    }
}

/// The first of them, for a program.
fn blocking(observed: &Observed<'_, '_>) -> Vec<(&'static str, String)> {
    let Some(pod) = observed.live_pods().next() else { return Vec::new() };
    let mut detail = vec![("pod", pod.metadata.name.to_string())];
    detail.extend(pod.node().map(|node| ("node", node.to_owned())));
    detail.extend(pod.metadata.finalizers.iter().map(|name| ("finalizer", name.to_string())));
    detail
}

/// One Pod that still has to end: where it is, whether its time is over, and what holds it.
#[must_use]
pub fn blocker(pod: &Pod<'_>, server_ms: Option<u64>) -> String {
    let mut words = named(None, &pod.metadata.name, pod.node());
    // The time it is given to end is in there already.
    let end = pod.metadata.deletion_timestamp.as_deref().and_then(milliseconds);
    let overdue = end.zip(server_ms).map(|(end, now)| now.saturating_sub(end)).filter(|ms| *ms > 0);
    match overdue {
        Some(ms) => words.push_str(&format!(" should have ended {} ago", span(ms))),
        None if pod.metadata.is_deleting() => words.push_str(" is ending"),
        None => words.push_str(" is still there"),
    }
    if !pod.metadata.finalizers.is_empty() {
        let names: Vec<&str> = pod.metadata.finalizers.iter().map(|name| &**name).collect();
        words.push_str(&format!(", held by {}", names.join(", ")));
    }
    // While it ends in good order it may look the same for a moment.
    if node_is_lost(pod) && (overdue.is_some() || !pod.metadata.is_deleting()) {
        words.push_str(", its node is probably lost");
    }
    words
}

impl Finding<'_> {
    /// What it says, in one sentence.
    fn words(&self, observed: &Observed<'_, '_>) -> String {
        let subject = named(self.container, self.pod, self.node);
        let cause = self.cause;
        let restarted = match self.restarts {
            0 => String::new(),
            count => format!(", restarted {}", times(count)),
        };
        let ended = |code: i64| match self.ended {
            "" => format!("exit code {code}"),
            word => format!("exit code {code} ({word})"),
        };
        let words = match (self.container, self.exit_code) {
            (None, _) if self.lost => {
                format!("{subject} is not ready though its containers are: its node is probably lost")
            }
            (None, _) => match cause {
                "Unschedulable" => format!("{subject} cannot be placed on a node ({cause})"),
                "" if self.node.is_none() => format!("{subject} is not placed on a node yet"),
                "" => format!("{subject} is not ready yet"),
                _ => format!("{subject} waits ({cause})"),
            },
            (Some(_), _)
                if matches!(cause, "ImagePullBackOff" | "ErrImagePull" | "InvalidImageName" | "ErrImageNeverPull") =>
            {
                format!("{subject} cannot get its image ({cause})")
            }
            (Some(_), _) if self.cannot_start() => format!("{subject} cannot be started ({cause})"),
            (Some((Role::Init, _)), None) if cause.is_empty() => format!("{subject} still runs"),
            (Some(_), None) if cause.is_empty() => format!("{subject} runs but is not ready"),
            (Some(_), Some(code)) if cause.is_empty() => {
                format!("{subject} runs but is not ready{restarted}, last after {}", ended(code))
            }
            (Some(_), Some(code)) => format!("{subject} ended with {}{restarted}", ended(code)),
            (Some(_), None) => format!("{subject} waits ({cause})"),
        };
        let variables = || observed.variables();
        let quote = if self.printed { printed(self.message, variables) } else { quoted(self.message, variables) };
        with(words, quote)
    }

    /// It did not come to the point where it could end by itself.
    pub fn cannot_start(&self) -> bool {
        self.cause.starts_with("CreateContainer") || is_start_error(self.cause) || is_start_error(self.ended)
    }

    /// What a program may want to know of it.
    fn detail(&self) -> Vec<(&'static str, String)> {
        let mut detail = vec![("pod", self.pod.to_owned())];
        detail.extend(self.node.map(|node| ("node", node.to_owned())));
        detail.extend(self.container.map(|(_, name)| ("container", name.to_owned())));
        if !self.cause.is_empty() {
            detail.push(("cause", self.cause.to_owned()));
        }
        if let Some(code) = self.exit_code {
            detail.push(("exit-code", code.to_string()));
            detail.push(("ended", self.ended.to_owned()));
        }
        if self.restarts > 0 {
            detail.push(("restarts", self.restarts.to_string()));
        }
        detail
    }
}

/// A Pod, or a container of it, and where it is.
pub(super) fn named(container: Option<(Role, &str)>, pod: &str, node: Option<&str>) -> String {
    let mut words = match container {
        Some((Role::Init, name)) => format!("init container {name} of pod {pod}"),
        Some((Role::Sidecar, name)) => format!("sidecar {name} of pod {pod}"),
        Some((Role::Main, name)) => format!("container {name} of pod {pod}"),
        None => format!("pod {pod}"),
    };
    if let Some(node) = node {
        words.push_str(" on node ");
        words.push_str(node);
    }
    words
}

/// How often, for a person.
pub(super) fn times(count: i64) -> String {
    if count == 1 { "once".to_owned() } else { format!("{count} times") }
}

/// What a condition says.
fn said(observed: &Observed<'_, '_>, condition: &Condition<'_>) -> String {
    if condition.message.is_empty() {
        condition.reason.to_string()
    } else {
        quoted(&condition.message, || observed.variables())
    }
}

/// Somebody else's sentence as a part of ours.
fn with(words: String, quote: String) -> String {
    if quote.is_empty() { words } else { format!("{words}: {quote}") }
}
