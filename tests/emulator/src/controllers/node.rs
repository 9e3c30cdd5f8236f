//! Nodes: their heartbeat, and what the cluster makes of one that is not heard of any more.
//!
//! A node is lost while it has the annotation [`LOST`]: its containers go on, but nobody hears of them. A client sets and
//! takes away the annotation, or the script of a Pod sets it.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::events::{Said, Source};
use super::fields::{View, condition, has_ended, holds, list, text};
use super::{Cluster, Kind};
use crate::registry::{Part, section};
use crate::resource::{NODES, PODS};
use crate::store::{Change, Key};
use crate::{scenario, script};

/// The annotation of a node that is lost.
pub(super) const LOST: &str = script::LOST;
/// How often a node that has nothing to tell tells so.
const HEARTBEAT: Duration = Duration::from_secs(300);
/// How long after the last sign of a node it counts as lost: 50 s after its last lease, which is 10 s old at most.
const NOT_READY_AFTER: Duration = Duration::from_secs(45);
/// How long a node that is back needs until it tells of itself,
const BACK_AFTER: Duration = Duration::from_millis(400);
/// and of its Pods.
const PODS_BACK_AFTER: Duration = Duration::from_secs(1);
/// The taint of a node that was never heard of.
const NOT_READY: &str = "node.kubernetes.io/not-ready";
/// The taint of a node that isn't heard of any more.
const UNREACHABLE: &str = "node.kubernetes.io/unreachable";
/// What the kubelet says of a node that is well: type, status, reason, message.
const WELL: [(&str, &str, &str, &str); 4] = [
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
];

/// Since when nodes are lost.
#[derive(Debug, Default)]
pub(super) struct Health {
    lost: BTreeMap<Key, tokio::time::Instant>,
}

impl Health {
    /// Whether nothing is heard of a node.
    pub fn is_lost(&self, node: &str) -> bool {
        self.lost.contains_key(&Key::new(&NODES, "", node))
    }
}

/// The conditions of a node that is well.
pub(super) fn well(now: &str, since: &dyn Fn(&str, &str) -> String) -> Vec<Value> {
    let condition = |(kind, status, reason, message): (&str, &str, &str, &str)| {
        json!({
            "type": kind, "status": status, "lastHeartbeatTime": now, "lastTransitionTime": since(kind, status),
            "reason": reason, "message": message,
        })
    };
    WELL.map(condition).to_vec()
}

/// A node changed.
pub(super) fn observe(cluster: &mut Cluster, change: &Change) {
    let key = &change.object.key;
    if change.removed {
        cluster.nodes.lost.remove(key);
        return;
    }
    let node = change.object.value();
    let lost = text(&node, &format!("/metadata/annotations/{}", LOST.replace('/', "~1"))) == "true";
    let now = cluster.now();
    if lost && !cluster.nodes.lost.contains_key(key) {
        cluster.nodes.lost.insert(key.clone(), now);
        cluster.after(Kind::NodeHealth, key, NOT_READY_AFTER);
    } else if !lost && cluster.nodes.lost.remove(key).is_some() {
        cluster.after(Kind::Heartbeat, key, BACK_AFTER);
        cluster.after(Kind::NodePods, key, BACK_AFTER + PODS_BACK_AFTER);
    }
    if change.old.is_none() {
        // A node that was made without a word about its health gets it from its kubelet.
        let silent = list(&node, "/status/conditions").is_empty();
        let wait = if silent { super::SEEN_AFTER } else { HEARTBEAT };
        cluster.after(Kind::Heartbeat, key, wait);
        for pod in cluster.index.on_node(key.name()) {
            cluster.soon(Kind::Pod, &pod);
        }
    }
    if change.old.is_some() && holds(&node, "Ready") != has_taint(&node) {
        return;
    }
    cluster.soon(Kind::NodeHealth, key);
}

fn has_taint(node: &Value) -> bool {
    list(node, "/spec/taints").iter().any(|taint| [NOT_READY, UNREACHABLE].contains(&text(taint, "/key")))
}

/// The kubelet tells that its node is well.
pub(super) fn heartbeat(cluster: &mut Cluster, key: &Key) {
    let Some(node) = cluster.get(key) else { return };
    cluster.after(Kind::Heartbeat, key, HEARTBEAT);
    if cluster.nodes.lost.contains_key(key) {
        return;
    }
    let now = cluster.stamp();
    let since = |kind: &str, status: &str| {
        let same = condition(&node.value, kind).filter(|old| text(old, "/status") == status);
        same.map_or(now.clone(), |old| text(old, "/lastTransitionTime").to_owned())
    };
    let conditions = well(&now, &since);
    // A node that was made through the API knows nothing of itself yet.
    let knows = node.value.pointer("/status/capacity").is_some();
    let first = (!knows).then(|| scenario::status_of_node(&cluster.state, key.name()));
    let _ = cluster.patch(key, node.uid(), Part::Status, |value| {
        let status = section(value, "status");
        if let Some(Value::Object(first)) = first {
            status.extend(first);
        }
        status.insert("conditions".to_owned(), conditions.into());
    });
}

/// The node lifecycle controller looks at a node: one that was silent too long is not ready, and its Pods aren't either.
pub(super) fn check(cluster: &mut Cluster, key: &Key) {
    let Some(node) = cluster.get(key) else { return };
    let silent =
        cluster.nodes.lost.get(key).is_some_and(|since| cluster.now().duration_since(*since) >= NOT_READY_AFTER);
    if silent && text(condition(&node.value, "Ready").unwrap_or(&Value::Null), "/status") != "Unknown" {
        not_heard_of(cluster, &node);
    }
    taint(cluster, key);
    if silent {
        for pod in cluster.index.on_node(key.name()) {
            pod_not_ready(cluster, &pod);
        }
    }
}

fn not_heard_of(cluster: &Cluster, node: &View) {
    let now = cluster.stamp();
    let _ = cluster.patch(node.key(), node.uid(), Part::Status, |value| {
        let conditions = section(value, "status").get_mut("conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten().filter_map(Value::as_object_mut) {
            condition.insert("status".to_owned(), "Unknown".into());
            condition.insert("lastTransitionTime".to_owned(), now.clone().into());
            condition.insert("reason".to_owned(), "NodeStatusUnknown".into());
            condition.insert("message".to_owned(), "Kubelet stopped posting node status.".into());
        }
    });
}

/// Keeps the taints of a node in step with its health. Pods are only driven away while another node is well: when all
/// are silent, the fault is likely elsewhere.
fn taint(cluster: &Cluster, key: &Key) {
    let Some(node) = cluster.get(key) else { return };
    let unknown = text(condition(&node.value, "Ready").unwrap_or(&Value::Null), "/status") == "Unknown";
    let others_are_well = || cluster.state.store.all(&NODES, None).iter().any(|other| holds(&other.value(), "Ready"));
    let drive_away = unknown && others_are_well();
    let wanted: &[&str] = match (unknown, drive_away) {
        (false, _) => &[],
        (true, false) => &["NoSchedule"],
        (true, true) => &["NoSchedule", "NoExecute"],
    };
    let now = cluster.stamp();
    let is_ready = holds(&node.value, "Ready");
    let before = list(&node.value, "/spec/taints");
    let mut taints: Vec<Value> = before
        .iter()
        .filter(|taint| match text(taint, "/key") {
            UNREACHABLE => wanted.contains(&text(taint, "/effect")),
            NOT_READY => !is_ready,
            _ => true,
        })
        .cloned()
        .collect();
    for effect in wanted {
        if !taints.iter().any(|taint| text(taint, "/key") == UNREACHABLE && text(taint, "/effect") == *effect) {
            taints.push(json!({"key": UNREACHABLE, "effect": effect, "timeAdded": now}));
        }
    }
    if taints == before {
        return;
    }
    let _ = cluster.patch(key, node.uid(), Part::Main, |value| {
        let spec = section(value, "spec");
        if taints.is_empty() {
            spec.remove("taints");
        } else {
            spec.insert("taints".to_owned(), taints.into());
        }
    });
}

fn pod_not_ready(cluster: &mut Cluster, key: &Key) {
    let Some(pod) = cluster.get(key) else { return };
    if has_ended(&pod.value) || !holds(&pod.value, "Ready") {
        return;
    }
    let now = cluster.stamp();
    let written = cluster.patch(key, pod.uid(), Part::Status, |value| {
        let conditions = section(value, "status").get_mut("conditions").and_then(Value::as_array_mut);
        for condition in conditions.into_iter().flatten().filter(|condition| text(condition, "/type") == "Ready") {
            if let Some(condition) = condition.as_object_mut() {
                condition.insert("status".to_owned(), "False".into());
                condition.insert("lastTransitionTime".to_owned(), now.clone().into());
            }
        }
    });
    if written.is_ok() {
        cluster.say(
            &pod,
            Said {
                source: Source::Controller("node-controller"),
                warning: true,
                reason: "NodeNotReady",
                message: "Node is not ready",
                field: "",
            },
        );
    }
}

/// A node that is back tells of its Pods.
pub(super) fn pods_return(cluster: &mut Cluster, key: &Key) {
    for pod in cluster.index.on_node(key.name()) {
        debug_assert!(pod.resource == &PODS, "only Pods are on nodes");
        cluster.soon(Kind::Pod, &pod);
    }
}

/// Loses a node because the script of one of its Pods says so.
pub(super) fn lose(cluster: &Cluster, node: &str) {
    let key = Key::new(&NODES, "", node);
    let _ = cluster.state.update(&key, Part::Main, false, |value| {
        let meta = crate::registry::metadata(value);
        let annotations = meta.entry("annotations").or_insert_with(|| json!({}));
        if let Some(annotations) = annotations.as_object_mut() {
            annotations.insert(LOST.to_owned(), "true".into());
        }
        Ok(())
    });
}
