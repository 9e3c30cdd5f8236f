//! Taint eviction: Pods that don't tolerate a `NoExecute` taint of their node are deleted, after the time that they
//! tolerate it for.

use std::time::Duration;

use serde_json::{Value, json};

use super::events::{Said, Source};
use super::fields::{View, condition, has_ended, list, text};
use super::index::node_of;
use super::{Cluster, Kind};
use crate::registry::{Deletion, Part, section};
use crate::resource::NODES;
use crate::store::{Change, Key};

/// A node changed: its Pods may have to go, or may stay now.
pub(super) fn observe_node(cluster: &mut Cluster, change: &Change) {
    let taints = |object: &crate::store::Object| object.value().pointer("/spec/taints").cloned();
    let before = change.old.as_deref().and_then(taints);
    if !change.removed && before != taints(&change.object) {
        for pod in cluster.index.on_node(change.object.key.name()) {
            cluster.soon(Kind::Taint, &pod);
        }
    }
}

/// A Pod was bound.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    if change.removed {
        cluster.taints.remove(&change.object.key);
    }
    let (before, now) = (change.old.as_deref().map(node_of), node_of(&change.object));
    if !change.removed && !now.is_empty() && before != Some(now) {
        cluster.soon(Kind::Taint, &change.object.key);
    }
}

/// Whether a toleration is for a taint.
pub(super) fn tolerates(toleration: &Value, taint: &Value) -> bool {
    let said = |field: &str| text(toleration, field);
    let effect = said("/effect").is_empty() || said("/effect") == text(taint, "/effect");
    let key = said("/key").is_empty() || said("/key") == text(taint, "/key");
    let value = match said("/operator") {
        "Exists" => true,
        _ => !said("/key").is_empty() && said("/value") == text(taint, "/value"),
    };
    effect && key && value
}

/// For how long a Pod may stay: none if for ever.
fn allowed(pod: &View, taints: &[&Value]) -> Option<Duration> {
    let tolerations = list(&pod.value, "/spec/tolerations");
    let mut shortest: Option<Duration> = None;
    for taint in taints {
        let Some(toleration) = tolerations.iter().find(|toleration| tolerates(toleration, taint)) else {
            return Some(Duration::ZERO);
        };
        if let Some(seconds) = toleration.get("tolerationSeconds").and_then(Value::as_i64) {
            let time = Duration::from_secs(u64::try_from(seconds).unwrap_or_default());
            shortest = Some(shortest.map_or(time, |other| other.min(time)));
        }
    }
    shortest
}

/// Looks whether a Pod has to go.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let Some(pod) = cluster.get(key) else { return };
    if pod.deleting() || has_ended(&pod.value) {
        return;
    }
    let node = cluster.get(&Key::new(&NODES, "", node_of(&pod.object)));
    let Some(node) = node else { return };
    let taints: Vec<&Value> =
        list(&node.value, "/spec/taints").iter().filter(|taint| text(taint, "/effect") == "NoExecute").collect();
    if taints.is_empty() {
        cluster.stay(&pod);
        return;
    }
    let Some(left) = allowed(&pod, &taints) else { return };
    let until = cluster.now() + left;
    let due = *cluster.taints.entry(key.clone()).or_insert(until);
    if due > cluster.now() {
        cluster.after(Kind::Taint, key, due - cluster.now());
        return;
    }
    cluster.taints.remove(key);
    evict(cluster, &pod);
}

fn evict(cluster: &mut Cluster, pod: &View) {
    say(cluster, pod, &format!("Marking for deletion Pod {}/{}", pod.namespace(), pod.name()));
    let now = cluster.stamp();
    let noted = condition(&pod.value, "DisruptionTarget").is_some();
    let message = "Taint manager: deleting due to NoExecute taint";
    let target = json!({
        "type": "DisruptionTarget", "observedGeneration": pod.generation(), "status": "True", "lastProbeTime": null,
        "lastTransitionTime": now, "reason": "DeletionByTaintManager", "message": message,
    });
    let _ = cluster.patch(pod.key(), pod.uid(), Part::Status, |value| {
        let conditions = section(value, "status").entry("conditions").or_insert_with(|| json!([]));
        if let Some(conditions) = conditions.as_array_mut().filter(|_| !noted) {
            conditions.push(target);
        }
    });
    let _ = cluster.delete(pod.key(), pod.uid(), Deletion::default());
}

fn say(cluster: &mut Cluster, pod: &View, message: &str) {
    let source = Source::Controller("taint-eviction-controller");
    cluster.say(pod, Said { source, warning: false, reason: "TaintManagerEviction", message, field: "" });
}

impl Cluster {
    /// The taints are gone before the Pod was.
    fn stay(&mut self, pod: &View) {
        if self.taints.remove(pod.key()).is_some() {
            say(self, pod, &format!("Cancelling deletion of Pod {}/{}", pod.namespace(), pod.name()));
        }
    }
}
