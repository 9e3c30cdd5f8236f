//! What Pods say: which of them cannot come to run, and what the others wait for.
//!
//! Only live Pods that are not being deleted are listened to: a deletion changes what the kubelet says. Every signal is
//! read from all containers and the Pod's conditions, and the one that is known best is told, whatever the order in
//! which they came.

mod container;

use super::words::{named, times};
use crate::api::{ContainerStatus, Pod};
pub(super) use container::{is_runtime_error, is_start_error};

/// How many Pods of a ReplicaSet the kubelet must have refused before it counts as a failure: one can be bad luck.
const REFUSED_PODS: usize = 3;

/// Of how long ago these are.
const REFUSED_WITHIN_MS: u64 = 60_000;

/// Why a Pod may end as Failed without anything being wrong with it.
const DISPLACED: [&str; 3] = ["Evicted", "Preempting", "NodeShutdown"];

/// What a Pod says, the better known first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Signal {
    /// There is no such image, or it is not for us.
    ImageError,
    /// What the container is to be made of is missing or wrong.
    ConfigError,
    /// An init container crashes or cannot be made.
    InitError,
    /// A container ends again and again.
    CrashLoop,
    /// The image is not there yet.
    ImagePull,
    /// A container ended once or twice.
    PodError,
    /// No node takes it at present.
    Unschedulable,
    /// It is on its way.
    Starting,
}

impl Signal {
    /// It will not come to run by itself.
    pub fn is_doomed(self) -> bool {
        self <= Self::CrashLoop
    }

    /// As a reason.
    pub fn reason(self) -> &'static str {
        match self {
            Self::ImageError => "image-error",
            Self::ConfigError => "config-error",
            Self::InitError => "init-error",
            Self::CrashLoop => "crash-loop",
            Self::ImagePull => "image-pull",
            Self::PodError => "pod-error",
            Self::Unschedulable => "unschedulable",
            Self::Starting => "starting",
        }
    }

    /// As a reason of what still comes to run in spite of it.
    pub fn creating(self) -> &'static str {
        if self.is_doomed() { Self::PodError.reason() } else { self.reason() }
    }
}

/// Which kind of container it is, in the order in which they run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Role {
    /// It has to end before the others begin.
    Init,
    /// It began before the containers and runs beside them.
    Sidecar,
    /// What the Pod is for.
    Main,
}

/// One signal, and where it comes from.
#[derive(Debug, Clone)]
pub(super) struct Finding<'b> {
    pub signal: Signal,
    /// It says no more than that it waits for its turn.
    idle: bool,
    /// The Pod's node does not answer any more, as it looks.
    pub lost: bool,
    pub pod: &'b str,
    pub node: Option<&'b str>,
    pub container: Option<(Role, &'b str)>,
    /// The kubelet's or the scheduler's word.
    pub cause: &'b str,
    /// And their sentence.
    pub message: &'b str,
    /// The sentence is what the container left behind, and may be anything.
    pub printed: bool,
    /// With what the container last ended.
    pub exit_code: Option<i64>,
    /// The word for that end.
    pub ended: &'b str,
    pub restarts: i64,
}

impl<'b> Finding<'b> {
    fn of_pod(pod: &'b Pod<'_>, signal: Signal) -> Self {
        Self {
            signal,
            idle: false,
            lost: false,
            pod: &pod.metadata.name,
            node: pod.node(),
            container: None,
            cause: "",
            message: "",
            printed: false,
            exit_code: None,
            ended: "",
            restarts: 0,
        }
    }

    fn because(mut self, cause: &'b str, message: &'b str) -> Self {
        self.cause = cause;
        self.message = message;
        self
    }

    /// Which of several is told.
    fn order(&self) -> (Signal, bool, &'b str, Option<(Role, &'b str)>) {
        (self.signal, self.idle, self.pod, self.container)
    }
}

/// What the Pods of one ReplicaSet say together.
#[derive(Debug, Default)]
pub(super) struct Heard<'a, 'b> {
    /// What is known best.
    pub first: Option<Finding<'b>>,
    /// Pods that were made a moment ago and then refused: the latest of them, and how many.
    pub refused: Option<(&'b Pod<'a>, usize)>,
    /// What a person should know of Pods that serve.
    pub note: Option<String>,
}

impl<'a, 'b> Heard<'a, 'b> {
    /// Listens to all Pods of a ReplicaSet.
    pub fn of(pods: &[&'b Pod<'a>], server_ms: Option<u64>) -> Self {
        let heard = pods.iter().copied().filter(|pod| pod.is_live() && !pod.metadata.is_deleting());
        let first = heard.clone().filter_map(first).min_by(|left, right| left.order().cmp(&right.order()));
        let note = heard.filter(|pod| pod.is_ready()).filter_map(note).min();
        Self { first, refused: refused(pods, server_ms), note }
    }

    /// The best known reason why a Pod will not come to run.
    pub fn doomed(&self) -> Option<&Finding<'b>> {
        self.first.as_ref().filter(|finding| finding.signal.is_doomed())
    }
}

/// The Pods that the kubelet refused a moment ago: it did not even begin with them, and they are replaced at once.
fn refused<'a, 'b>(pods: &[&'b Pod<'a>], server_ms: Option<u64>) -> Option<(&'b Pod<'a>, usize)> {
    let now = server_ms?;
    let is_refused = |pod: &&Pod<'_>| {
        let status = &pod.status;
        let made = pod.metadata.created_ms();
        status.phase == "Failed"
            && !pod.metadata.is_deleting()
            && !status.reason.is_empty()
            && !DISPLACED.contains(&&*status.reason)
            && made.is_some_and(|made| now.saturating_sub(made) <= REFUSED_WITHIN_MS)
    };
    let refused: Vec<&'b Pod<'a>> = pods.iter().copied().filter(is_refused).collect();
    let age = |pod: &&Pod<'_>| (pod.metadata.created_ms(), pod.metadata.name.to_string());
    let latest = refused.iter().copied().max_by_key(age)?;
    (refused.len() >= REFUSED_PODS).then_some((latest, refused.len()))
}

/// What one Pod says. None: it is ready.
fn first<'b>(pod: &'b Pod<'_>) -> Option<Finding<'b>> {
    if pod.is_ready() {
        return None;
    }
    let init = pod.status.init_container_statuses.iter().filter_map(|status| {
        let role = if pod.is_sidecar(&status.name) { Role::Sidecar } else { Role::Init };
        container::finding(pod, status, role)
    });
    let main = pod.status.container_statuses.iter().filter_map(|status| container::finding(pod, status, Role::Main));
    let first = init.chain(main).chain(placement(pod)).min_by(|left, right| left.order().cmp(&right.order()));
    Some(first.unwrap_or_else(|| readiness(pod)))
}

/// Where it is to run.
fn placement<'b>(pod: &'b Pod<'_>) -> Option<Finding<'b>> {
    let condition = pod.condition("PodScheduled").filter(|condition| condition.status == "False")?;
    let signal = if condition.reason == "Unschedulable" { Signal::Unschedulable } else { Signal::Starting };
    Some(Finding::of_pod(pod, signal).because(&condition.reason, &condition.message))
}

/// All that is known of its containers is well, and yet it is not ready.
fn readiness<'b>(pod: &'b Pod<'_>) -> Finding<'b> {
    let finding = Finding::of_pod(pod, Signal::Starting);
    match pod.condition("Ready").filter(|condition| condition.status == "False" && !condition.reason.is_empty()) {
        Some(condition) => finding.because(&condition.reason, &condition.message),
        None => Finding { lost: node_is_lost(pod), ..finding },
    }
}

/// Its containers were ready when the kubelet last wrote, and since then somebody else took the Pod's readiness away
/// without a reason: so it looks when its node was lost.
pub(super) fn node_is_lost(pod: &Pod<'_>) -> bool {
    let unready = pod.condition("Ready").is_some_and(|ready| ready.status == "False" && ready.reason.is_empty());
    let containers = &pod.status.container_statuses;
    unready && pod.is_live() && !containers.is_empty() && containers.iter().all(|status| status.ready)
}

/// What a person should know of a Pod that serves: its containers did not always.
fn note(pod: &Pod<'_>) -> Option<String> {
    // An init container that ended well after a few tries is of no interest any more.
    let restarted =
        pod.status.containers().filter(|status| status.restart_count > 0 && status.state.terminated.is_none());
    let worst = restarted.max_by_key(|status| (is_oom(status), status.restart_count, status.name.to_string()))?;
    let container = named(Some((Role::Main, &worst.name)), &pod.metadata.name, pod.node());
    let mut words = format!("{container} was restarted {}", times(worst.restart_count));
    if let Some(last) = &worst.last_state.terminated {
        words.push_str(&format!(", last after exit code {} ({})", last.exit_code, last.reason));
    }
    Some(words)
}

fn is_oom(status: &ContainerStatus<'_>) -> bool {
    status.last_state.terminated.as_ref().is_some_and(|last| last.reason == "OOMKilled")
}
