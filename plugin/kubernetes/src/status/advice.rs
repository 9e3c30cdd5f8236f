//! What would have to change, for a person who does not know the engine by heart.

use workload_guest::Status;

use super::inputs::Inputs;
use super::pods::{Finding, node_is_lost};
use super::{Beside, Observed, Verdict, gave_up};
use crate::api::FOREGROUND;

/// What would have to change, in one sentence. None: nothing, or only time.
#[must_use]
pub fn advice(observed: &Observed<'_, '_>, verdict: &Verdict) -> Option<String> {
    let see = Inputs::of(observed);
    let words = match (verdict.status, verdict.reason) {
        (Status::Failed, "paused") => "resume the rollout: `kubectl rollout resume` does it".to_owned(),
        (Status::Running, "paused") => return None,
        (Status::Offline, "stopping") => return stopping(observed),
        (Status::Offline, "deleting") => return deleting(observed),
        (Status::Offline, "stopped-unverified") => {
            "allow us to list replicasets and pods in its namespace: then it can be seen whether one is left".to_owned()
        }
        (Status::Failed, "rollout-error") if see.create_error => create_error(observed),
        (Status::Creating, "unobserved") if see.create_error => create_error(observed),
        (Status::Creating, "unobserved") => {
            "if this lasts, look whether the cluster's controller manager runs: it has not seen the change".to_owned()
        }
        (_, "replica-failure") if see.replica_failure().is_none() => {
            "ask for less, or let the scheduler choose the node: the one that was chosen refuses its pods".to_owned()
        }
        (_, "replica-failure") => refusal(&see),
        (Status::Creating, "rollout") if see.replica_failure().is_some() => {
            "make what the message names answer again, a webhook as a rule: the rest then follows by itself".to_owned()
        }
        (Status::Failed | Status::Creating | Status::Running, _) => return see.heard.first.as_ref().and_then(pod),
        _ => return None,
    };
    Some(words)
}

fn create_error(observed: &Observed<'_, '_>) -> String {
    let lift = "lift what the message names";
    if gave_up(observed) {
        format!("{lift}, and then edit the Deployment, an annotation will do: the controller tries no more by itself")
    } else {
        format!("{lift} within three minutes, or edit the Deployment afterwards: the controller then gives up")
    }
}

fn refusal(see: &Inputs<'_, '_>) -> String {
    let message = see.holds("ReplicaFailure").map(|failure| failure.message.to_ascii_lowercase()).unwrap_or_default();
    if message.contains("exceeded quota") {
        "raise the quota that the message names, or free some of it: the rest then follows by itself".to_owned()
    } else {
        "change the pod template to what the namespace allows, or what it allows: the message names the rule".to_owned()
    }
}

/// What a Pod waits for that does not come by itself.
fn pod(finding: &Finding<'_>) -> Option<String> {
    use super::pods::Signal::{
        ConfigError, CrashLoop, ImageError, ImagePull, InitError, PodError, Starting, Unschedulable,
    };
    let container = finding.container.map(|(_, name)| name).unwrap_or_default();
    let words = match finding.signal {
        Starting if finding.lost => {
            "bring its node back, or delete the node: its pods are then made elsewhere".to_owned()
        }
        Starting | PodError => return None,
        ImageError if finding.cause == "InvalidImageName" => format!("correct the image name of container {container}"),
        ImageError if finding.cause == "ErrImageNeverPull" => {
            format!("put the image of container {container} on the node, or let it be pulled")
        }
        ImageError => {
            format!("correct the image of container {container}, push it, or give its pods a secret to pull it with")
        }
        ImagePull => {
            "look whether the registry can be reached from the node: the kubelet tries again by itself".to_owned()
        }
        ConfigError | InitError if finding.cannot_start() => {
            format!("create or correct what the message says of container {container}")
        }
        _ if finding.ended == "OOMKilled" => format!("raise the memory limit of container {container}"),
        ConfigError | InitError | CrashLoop => {
            format!(
                "read what container {container} last wrote (`kubectl logs --previous`), and correct its command or what it needs"
            )
        }
        Unschedulable => "add a node that fits, or ask for less: the message says what did not fit".to_owned(),
    };
    Some(words)
}

fn stopping(observed: &Observed<'_, '_>) -> Option<String> {
    let held = observed.live_pods().find(|pod| !pod.metadata.finalizers.is_empty());
    if let Some(name) = held.and_then(|pod| pod.metadata.finalizers.first()) {
        return Some(format!("whoever set the finalizer {name} has to take it away: we never do"));
    }
    let lost = observed.live_pods().find(|pod| node_is_lost(pod))?;
    let node = lost.node()?;
    Some(format!(
        "bring node {node} back, or delete it once it is certain that it is off: nobody knows what runs there"
    ))
}

fn deleting(observed: &Observed<'_, '_>) -> Option<String> {
    let foreign = observed.deployment.metadata.finalizers.iter().find(|name| **name != FOREGROUND);
    match foreign {
        Some(name) => Some(format!("whoever set the finalizer {name} has to take it away: we never do")),
        None if matches!(observed.pods, Beside::Read(_)) => stopping(observed),
        None => None,
    }
}
