//! The controllers of a cluster, and its nodes: one task that looks at every change of the store and does what is due,
//! one key after the other, always in the same order.
//!
//! Each controller is a translation of the one of Kubernetes v1.35.4 whose name it has, down to the order of its writes
//! and to the writes that fail because the object was read before an earlier one of the same round. What differs is the
//! time between a change and its controller: in a cluster it varies, here it is `SEEN_AFTER`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use serde_json::Value;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use crate::error::ApiError;
use crate::registry::{Deletion, Part};
use crate::resource::{ALL, Resource};
use crate::state::State;
use crate::store::{Change, Key, Object};

mod claim;
mod deployment;
mod events;
mod fields;
mod garbage;
mod index;
mod kinds;
mod kubelet;
mod namespace;
mod node;
mod protection;
mod queue;
mod quota;
mod replicaset;
mod scheduler;
mod taint;
mod unscheduled;

use events::Events;
use fields::{View, text};
use index::Index;
use kubelet::Kubelet;
use queue::Queue;
use scheduler::Scheduler;

/// How long after a change a controller looks at it. Long enough that a client can see the state before, as it can in a
/// cluster. Controllers that a change concerns alike look in the order that they mostly do there: the ReplicaSet
/// controller at a new or scaled ReplicaSet before the Deployment controller, and that before the ReplicaSet controller
/// looks at its own Pods and words.
const SEEN_AFTER: Duration = Duration::from_millis(4);
/// How many changes are taken from the store at once.
const BATCH: usize = 1000;
/// After how many keys other tasks get a turn.
const TURN: u32 = 64;

/// Running controllers; dropping it ends them where they are.
#[derive(Debug)]
pub struct Running {
    task: JoinHandle<()>,
    ended: Arc<AtomicBool>,
}

impl Drop for Running {
    fn drop(&mut self) {
        // They look at it before each key: after this nothing is written but what is being written now.
        self.ended.store(true, Ordering::Relaxed);
        self.task.abort();
    }
}

/// Which of the controllers are to run: a test stops some of them to see what happens without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Parts {
    /// Those of the controller manager.
    pub manager: bool,
    /// The scheduler.
    pub scheduler: bool,
    /// The nodes.
    pub nodes: bool,
}

impl Parts {
    /// Everything.
    pub const ALL: Parts = Parts { manager: true, scheduler: true, nodes: true };
}

/// Starts all controllers. They first look at everything that is there.
pub fn start(state: Arc<State>) -> Running {
    start_parts(state, Parts::ALL)
}

/// Starts some of the controllers.
pub fn start_parts(state: Arc<State>, parts: Parts) -> Running {
    let ended = Arc::new(AtomicBool::new(false));
    let task = tokio::spawn(Cluster::new(state, parts).run(Arc::clone(&ended)));
    Running { task, ended }
}

/// What there is to be done for a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Kind {
    Deployment,
    ReplicaSet,
    Schedule,
    Pod,
    Heartbeat,
    NodeHealth,
    NodePods,
    Taint,
    Unscheduled,
    Garbage,
    Namespace,
    Quota,
    Protection,
    Event,
}

impl Kind {
    fn part(self, parts: Parts) -> bool {
        match self {
            Kind::Schedule => parts.scheduler,
            Kind::Pod | Kind::Heartbeat => parts.nodes,
            Kind::Event => true,
            _ => parts.manager,
        }
    }
}

/// A key and what is to be done for it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Task {
    kind: Kind,
    key: Key,
}

/// Everything that the controllers know.
#[derive(Debug)]
struct Cluster {
    state: Arc<State>,
    parts: Parts,
    queue: Queue<Task>,
    index: Index,
    events: Events,
    scheduler: Scheduler,
    kubelet: Kubelet,
    nodes: node::Health,
    /// Until when Pods may stay on nodes with a taint.
    taints: BTreeMap<Key, Instant>,
    /// The version up to which changes were looked at.
    seen: u64,
}

impl Cluster {
    fn new(state: Arc<State>, parts: Parts) -> Cluster {
        Cluster {
            parts,
            queue: Queue::new(),
            index: Index::default(),
            events: Events::default(),
            scheduler: Scheduler::default(),
            kubelet: Kubelet::default(),
            nodes: node::Health::default(),
            taints: BTreeMap::new(),
            seen: 0,
            state,
        }
    }

    async fn run(mut self, ended: Arc<AtomicBool>) {
        let mut news = self.state.store.any_news();
        self.look_at_everything();
        let mut done = 0_u32;
        loop {
            news.borrow_and_update();
            self.look_at_changes();
            let now = self.now();
            if let Some(task) = self.queue.take(now) {
                if ended.load(Ordering::Relaxed) {
                    return;
                }
                self.work(&task);
                done = done.wrapping_add(1);
                if done.is_multiple_of(TURN) {
                    tokio::task::yield_now().await;
                }
                continue;
            }
            let next = self.queue.next();
            tokio::select! {
                changed = news.changed() => if changed.is_err() { return },
                () = sleep_until(next) => {}
            }
        }
    }

    /// What a controller does when it starts: it takes everything that is there for new.
    fn look_at_everything(&mut self) {
        self.seen = self.state.store.version();
        self.index = Index::default();
        self.scheduler.clear();
        for resource in ALL {
            for object in self.state.store.all(resource, None) {
                let version = object.version;
                self.observe(&Change { version, old: None, object, removed: false });
            }
        }
        // Pods may have gone unseen.
        for key in self.kubelet.keys() {
            self.soon(Kind::Pod, &key);
        }
        self.queue
            .add_later(Task { kind: Kind::Unscheduled, key: unscheduled::any() }, self.now() + unscheduled::EVERY);
    }

    fn look_at_changes(&mut self) {
        loop {
            match self.state.store.all_changes(self.seen, BATCH) {
                Ok(changes) if changes.is_empty() => return,
                Ok(changes) => {
                    for change in changes {
                        self.seen = change.version;
                        self.observe(&change);
                    }
                }
                Err(_) => return self.look_at_everything(),
            }
        }
    }

    /// Notes whom a change concerns.
    fn observe(&mut self, change: &Change) {
        // What was made in its final state needs nobody.
        let settled = self.state.settled(change.version);
        self.index.note(change);
        self.scheduler.note(change, settled);
        if settled {
            return;
        }
        match change.object.key.resource.plural {
            "deployments" => deployment::observe_deployment(self, change),
            "replicasets" => {
                deployment::observe_replica_set(self, change);
                replicaset::observe_replica_set(self, change);
            }
            "pods" => {
                deployment::observe_pod(self, change);
                replicaset::observe_pod(self, change);
                scheduler::observe_pod(self, change);
                kubelet::observe_pod(self, change);
                taint::observe_pod(self, change);
                protection::observe_pod(self, change);
            }
            "nodes" => {
                scheduler::observe_node(self, change);
                node::observe(self, change);
                taint::observe_node(self, change);
            }
            "namespaces" => namespace::observe(self, change),
            "resourcequotas" => quota::observe_quota(self, change),
            "persistentvolumeclaims" => protection::observe_claim(self, change),
            _ => {}
        }
        quota::observe(self, change);
        garbage::observe(self, change);
    }

    fn work(&mut self, task: &Task) {
        if !task.kind.part(self.parts) {
            return;
        }
        let key = &task.key;
        match task.kind {
            Kind::Deployment => deployment::sync(self, key),
            Kind::ReplicaSet => replicaset::sync(self, key),
            Kind::Schedule => scheduler::sync(self, key),
            Kind::Pod => kubelet::sync(self, key),
            Kind::Heartbeat => node::heartbeat(self, key),
            Kind::NodeHealth => node::check(self, key),
            Kind::NodePods => node::pods_return(self, key),
            Kind::Taint => taint::sync(self, key),
            Kind::Unscheduled => unscheduled::sync(self),
            Kind::Garbage => garbage::sync(self, key),
            Kind::Namespace => namespace::sync(self, key),
            Kind::Quota => quota::sync(self, key),
            Kind::Protection => protection::sync(self, key),
            Kind::Event => events::expire(self, key),
        }
    }

    fn now(&self) -> Instant {
        self.state.clock.now()
    }

    /// The time as objects hold it.
    fn stamp(&self) -> String {
        self.state.clock.seconds()
    }

    /// Something changed: look at this key.
    fn soon(&mut self, kind: Kind, key: &Key) {
        self.queue.add(Task { kind, key: key.clone() }, self.now() + SEEN_AFTER);
    }

    /// Something changed: look at this key, a little sooner or later than others do.
    fn soon_after(&mut self, kind: Kind, key: &Key, wait: Duration) {
        self.queue.add(Task { kind, key: key.clone() }, self.now() + wait);
    }

    /// Look at this key after a time.
    fn after(&mut self, kind: Kind, key: &Key, wait: Duration) {
        self.queue.add_later(Task { kind, key: key.clone() }, self.now() + wait);
    }

    /// This key went wrong.
    fn retry(&mut self, kind: Kind, key: &Key) {
        self.queue.retry(Task { kind, key: key.clone() }, self.now());
    }

    fn get(&self, key: &Key) -> Option<View> {
        self.state.store.get(key).map(View::of)
    }

    /// The objects of a resource that have this controller.
    fn owned(&self, resource: &'static Resource, uid: &str) -> Vec<View> {
        let owned = self.state.store.owned_by(uid).into_iter();
        owned.filter(|object| object.key.resource == resource && is_controlled(object, uid)).map(View::of).collect()
    }

    /// Changes a part of an object as it was read; a newer one is left alone, as by a PUT with a version.
    fn write(&self, read: &View, part: Part, edit: impl FnOnce(&mut Value)) -> Result<Value, ApiError> {
        self.state.update(read.key(), part, false, |value| {
            if text(value, "/metadata/resourceVersion") != read.version().to_string() {
                return Err(ApiError::stale(read.key().resource, read.name()));
            }
            edit(value);
            Ok(())
        })
    }

    /// Changes an object whatever its version is, as by a PATCH.
    fn patch(&self, key: &Key, uid: &str, part: Part, edit: impl FnOnce(&mut Value)) -> Result<Value, ApiError> {
        self.state.update(key, part, false, |value| {
            if text(value, "/metadata/uid") != uid {
                return Err(ApiError::not_found(key.resource, key.name()));
            }
            edit(value);
            Ok(())
        })
    }

    /// Deletes this very object.
    fn delete(&self, key: &Key, uid: &str, how: Deletion) -> Result<(), ApiError> {
        self.state.delete(key, &Deletion { uid: Some(uid.to_owned()), ..how }).map(drop)
    }
}

fn is_controlled(object: &Object, uid: &str) -> bool {
    object.controller().is_some_and(|owner| owner.uid == uid)
}

/// Whether an error says that the namespace is being deleted: then nobody tries again.
fn is_terminating(error: &ApiError) -> bool {
    error.details.iter().flat_map(|details| &details.causes).any(|cause| cause.reason == "NamespaceTerminating")
}

async fn sleep_until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

/// The hash in the name of a ReplicaSet with this template.
pub(crate) fn template_hash(template: &Value) -> String {
    deployment::template_hash(template)
}

/// The id of an image.
pub(crate) fn image_id(image: &str) -> String {
    kubelet::image_id(image)
}

/// The address of the Pod with this number.
pub(crate) fn pod_address(number: u32) -> String {
    kubelet::address(number)
}

/// The conditions of a node that has been well since a time.
pub(crate) fn well(since: &str) -> Vec<Value> {
    node::well(since, &|_, _| since.to_owned())
}

#[cfg(test)]
mod tests;
