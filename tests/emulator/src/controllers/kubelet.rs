//! The nodes: they run the containers of their Pods by script, and tell of it in the Pods' status.
//!
//! A Pod is looked at as the real kubelet does: a round first writes the status that it finds, then acts, and what came
//! of it is told in the next round. That is why an image that can't be pulled says `ErrImagePull` and
//! `ImagePullBackOff` in turns, and why a container that ended is mostly seen as ended and only for moments as waiting.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::events::{Said, Source};
use super::fields::{View, has_ended, number, text};
use super::index::node_of;
use super::{Cluster, Kind, Task};
use crate::registry::{Deletion, Part};
use crate::resource::NODES;
use crate::script::{self, PodScript, Script};
use crate::store::{Change, Key};

mod act;
mod container;
mod refuse;
mod restore;
mod status;
mod stop;

use container::{Container, Role};

/// How long after a change of the Pod its kubelet looks at it.
const SEEN_AFTER: Duration = Duration::from_millis(10);
/// How long after a container began or ended its kubelet sees it.
const NOTICED_AFTER: Duration = Duration::from_millis(100);
/// How long after an end that something else saw too one more round comes.
const AGAIN_AFTER: Duration = Duration::from_secs(1);
/// Pods that change at the same time are looked at one after the other: so many get a time of their own,
const SPREAD: u32 = 5;
/// so far apart.
const APART: Duration = Duration::from_millis(8);
/// How long after a failed round the next one comes, before up to half of it is added.
const RETRY_AFTER: Duration = Duration::from_secs(10);
/// The pause before a container is restarted or an image pulled again, doubling,
const FIRST_BACK_OFF: Duration = Duration::from_secs(10);
/// up to this.
const LAST_BACK_OFF: Duration = Duration::from_secs(300);
/// The longest time between two rounds for a Pod that isn't as it should be.
const LONGEST_PAUSE: Duration = Duration::from_secs(60);
/// How long the kubelet needs from the end of the last container to the end of the Pod.
const CLEANED_AFTER: Duration = Duration::from_millis(700);

/// The Pods that are being run.
#[derive(Debug, Default)]
pub(super) struct Kubelet {
    pods: BTreeMap<Key, Worker>,
    addresses: u32,
    seen: u32,
}

/// One Pod that is being run.
#[derive(Debug)]
struct Worker {
    uid: String,
    node: String,
    /// When its node took it.
    since: Instant,
    started: String,
    /// Its address, when its sandbox is there.
    address: Option<String>,
    /// Init containers first, in the order of the spec.
    containers: Vec<Container>,
    stopping: Option<Stopping>,
    /// Why its node drives it away.
    evicted: Option<String>,
}

/// A Pod that is being stopped.
#[derive(Debug, Clone, Copy)]
struct Stopping {
    /// When its containers got TERM.
    term: Instant,
    /// When they get KILL.
    kill: Instant,
    /// How far it is.
    step: Step,
    /// When its sidecars got TERM: after all others had ended.
    sidecars: Option<Instant>,
}

/// How far the stop of a Pod is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// What is left of its containers was told.
    Told,
    /// It never ran, and its sandbox is gone.
    NoSandbox,
    /// Its end was told.
    Ended,
}

/// A Pod, its scripts, and the time: what a round works with.
struct Round<'a> {
    cluster: &'a mut Cluster,
    pod: View,
    script: PodScript,
    now: Instant,
    stamp: String,
}

impl Kubelet {
    /// The Pods that are being run.
    pub fn keys(&self) -> Vec<Key> {
        self.pods.keys().cloned().collect()
    }

    /// The next address in the network of Pods.
    fn next_address(&mut self) -> String {
        self.addresses += 1;
        address(self.addresses)
    }
}

/// The id of an image.
pub(super) fn image_id(image: &str) -> String {
    container::image_id(image)
}

/// A pause as the kubelet makes it: it adds up to half of it, here always the same part.
fn prolonged(pause: Duration) -> Duration {
    pause.min(LONGEST_PAUSE) * 27 / 20
}

/// The address of the Pod with this number.
pub(super) fn address(number: u32) -> String {
    format!("10.{}.{}.{}", 244 + number / (256 * 254) % 12, number / 254 % 256, number % 254 + 1)
}

/// A Pod changed: its node looks at it.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    let key = &change.object.key;
    if node_of(&change.object).is_empty() {
        return;
    }
    if change.removed {
        cluster.kubelet.pods.remove(key);
        return;
    }
    let ours =
        change.old.as_deref().is_some_and(|old| old.value().get("status") != change.object.value().get("status"));
    // Its own words are no news to it, unless it is to stop.
    let stops = change.old.as_ref().is_some_and(|old| old.deleting != change.object.deleting);
    if !ours || stops || !cluster.kubelet.pods.contains_key(key) {
        cluster.kubelet.seen = (cluster.kubelet.seen + 1) % SPREAD;
        let due = cluster.now() + SEEN_AFTER + APART * cluster.kubelet.seen;
        cluster.queue.add(Task { kind: Kind::Pod, key: key.clone() }, due);
    }
}

/// A round for a Pod.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let Some(pod) = cluster.get(key) else {
        cluster.kubelet.pods.remove(key);
        return;
    };
    let node = node_of(&pod.object).to_owned();
    let absent = node.is_empty() || cluster.state.store.get(&Key::new(&NODES, "", &node)).is_none();
    if absent || cluster.nodes.is_lost(&node) {
        return;
    }
    let mut worker = match cluster.kubelet.pods.remove(key) {
        Some(worker) if worker.uid == pod.uid() => worker,
        _ if has_ended(&pod.value) => return finish_ended(cluster, &pod),
        _ => match take(cluster, &pod, &node) {
            Some(worker) => worker,
            None => return,
        },
    };
    let (now, stamp) = (cluster.now(), cluster.stamp());
    // What can't be read is told by each container.
    let script = script::pod(&cluster.state.scenario, &pod.value).unwrap_or_default();
    let mut round = Round { cluster, pod, script, now, stamp };
    let next = round.run(&mut worker);
    if let Some(next) = next {
        cluster.kubelet.pods.insert(key.clone(), worker);
        if let Some(next) = next {
            cluster.queue.add_later(Task { kind: Kind::Pod, key: key.clone() }, next);
        }
    }
}

/// Takes a Pod on, unless the node has no room for it.
fn take(cluster: &mut Cluster, pod: &View, node: &str) -> Option<Worker> {
    let began = !text(&pod.value, "/status/startTime").is_empty();
    if !began && refuse::refuses(cluster, pod, node) {
        return None;
    }
    Some(if began { restore::worker(cluster, pod, node) } else { Worker::new(cluster, pod, node) })
}

/// A Pod that has ended needs nothing but to be let go of when it is deleted.
fn finish_ended(cluster: &mut Cluster, pod: &View) {
    if pod.deleting() && number(&pod.value, "/metadata/deletionGracePeriodSeconds") > 0 {
        let _ = cluster.delete(pod.key(), pod.uid(), Deletion { grace: Some(0), ..Deletion::default() });
    }
}

impl Worker {
    fn new(cluster: &Cluster, pod: &View, node: &str) -> Worker {
        Worker {
            uid: pod.uid().to_owned(),
            node: node.to_owned(),
            since: cluster.now(),
            started: cluster.stamp(),
            address: None,
            containers: container::all_of(&pod.value),
            stopping: None,
            evicted: None,
        }
    }

    fn init(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().filter(|container| container.role != Role::Main)
    }

    fn main(&self) -> impl Iterator<Item = &Container> {
        self.containers.iter().filter(|container| container.role == Role::Main)
    }
}

impl Round<'_> {
    /// Tells what it finds, then acts. Returns when to look again, if it runs on: nothing is known if the inner one is
    /// none.
    #[expect(clippy::option_option, reason = "the outer one is about the Pod, the inner one about time")]
    fn run(&mut self, worker: &mut Worker) -> Option<Option<Instant>> {
        let scripts: Vec<_> = worker.containers.iter().map(|container| self.script_of(container)).collect();
        self.advance(worker, &scripts);
        if worker.stopping.is_none() {
            self.maybe_stop(worker, &scripts);
        }
        if worker.stopping.is_some() {
            return self.stop(worker, &scripts);
        }
        self.write(worker, &scripts);
        if has_ended(&self.pod.value) {
            return None;
        }
        let mut next = self.act(worker, &scripts);
        if let Some(after) = self.script.node_lost_after {
            let due = worker.since + after;
            if due <= self.now {
                super::node::lose(self.cluster, &worker.node);
            } else {
                next.push(due);
            }
        }
        if let Some((after, _)) = self.script.evict {
            next.push(worker.since + after);
        }
        Some(next.into_iter().min())
    }

    fn script_of(&self, container: &Container) -> Result<Script, String> {
        let kind = match container.role {
            Role::Init => script::Kind::Init,
            Role::Sidecar => script::Kind::Sidecar,
            Role::Main => script::Kind::Main,
        };
        let scenario = &self.cluster.state.scenario;
        let read = script::container(scenario, &self.pod.value, &container.name, &container.image, kind);
        read.map_err(|error| format!("annotation {}{error}", script::PREFIX))
    }

    /// Lets time pass for the containers.
    fn advance(&mut self, worker: &mut Worker, scripts: &[Result<Script, String>]) {
        let stopping = worker.stopping;
        for (container, script) in worker.containers.iter_mut().zip(scripts) {
            let Ok(script) = script else { continue };
            let stopping = stopping.and_then(|stopping| stopping.of(container.role));
            container.advance(script, stopping.as_ref(), self.now, &self.cluster.state.clock);
        }
    }

    /// Writes the status, if it says anything new.
    fn write(&mut self, worker: &Worker, scripts: &[Result<Script, String>]) {
        let status = status::of(self, worker, scripts);
        self.put(status);
    }

    fn put(&mut self, status: Value) {
        if self.pod.value.get("status") == Some(&status) {
            return;
        }
        let written = self.cluster.patch(self.pod.key(), self.pod.uid(), Part::Status, |value| {
            if let Some(map) = value.as_object_mut() {
                map.insert("status".to_owned(), status);
            }
        });
        if let Ok(value) = written {
            self.pod.value = value;
        }
    }

    fn say(&mut self, node: &str, warning: bool, reason: &str, message: &str, container: Option<&Container>) {
        let field = container.map(|container| {
            let list = if container.role == Role::Main { "containers" } else { "initContainers" };
            format!("spec.{list}{{{}}}", container.name)
        });
        let said = Said { source: Source::Kubelet(node), warning, reason, message, field: &field.unwrap_or_default() };
        let pod = self.pod.clone();
        self.cluster.say(&pod, said);
    }
}

#[cfg(test)]
mod tests;
