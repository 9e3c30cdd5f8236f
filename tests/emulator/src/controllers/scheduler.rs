//! The scheduler: which node a Pod runs on, and why on none.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};

use super::events::{Said, Source};
use super::fields::{View, has_ended, list, number, text};
use super::index::node_of;
use super::taint::tolerates;
use super::{Cluster, Kind};
use crate::error::ApiError;
use crate::quantity::Quantity;
use crate::registry::{metadata, section};
use crate::resource::{NODES, PODS};
use crate::script;
use crate::store::{Change, Key, Write};

/// The name that Pods give who want this scheduler.
const NAME: &str = "default-scheduler";

/// What the scheduler knows: the nodes, and what of them is taken.
#[derive(Debug, Default)]
pub(super) struct Scheduler {
    nodes: BTreeMap<String, Node>,
    taken: BTreeMap<String, Taken>,
    /// Pods that fitted nowhere.
    waiting: BTreeSet<Key>,
}

#[derive(Debug)]
struct Node {
    cpu: Quantity,
    memory: Quantity,
    pods: i128,
    labels: BTreeMap<String, String>,
    taints: Vec<Value>,
    unschedulable: bool,
}

/// What Pods ask for, and how many they are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Taken {
    cpu: Quantity,
    memory: Quantity,
    pods: i128,
}

impl Taken {
    /// What one Pod asks for: what its containers ask for together, or the largest of its init containers.
    pub fn by(pod: &Value) -> Taken {
        let asked = |container: &Value, what: &str| {
            Quantity::of(text(container, &format!("/resources/requests/{what}"))).unwrap_or_default()
        };
        let of = |what: &str| {
            let (mut sum, mut most) = (Quantity::default(), Quantity::default());
            for container in list(pod, "/spec/initContainers") {
                if text(container, "/restartPolicy") == "Always" {
                    sum += asked(container, what);
                } else {
                    most = most.max(asked(container, what));
                }
            }
            for container in list(pod, "/spec/containers") {
                sum += asked(container, what);
            }
            sum.max(most)
        };
        Taken { cpu: of("cpu"), memory: of("memory"), pods: 1 }
    }
}

impl Scheduler {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Scheduler::default();
    }

    /// Takes a change in.
    pub fn note(&mut self, change: &Change, settled: bool) {
        let key = &change.object.key;
        if key.resource == &NODES {
            if change.removed {
                self.nodes.remove(key.name());
            } else {
                self.nodes.insert(key.name().to_owned(), Node::of(&View::of(change.object.clone())));
            }
        } else if key.resource == &PODS {
            self.note_pod(change, settled);
        }
    }

    fn note_pod(&mut self, change: &Change, settled: bool) {
        if change.removed {
            self.waiting.remove(&change.object.key);
        }
        let counts = |object: &crate::store::Object, removed: bool| {
            let node = node_of(object);
            (!removed && !node.is_empty() && !super::index::has_ended(object)).then(|| node.to_owned())
        };
        let before = change.old.as_deref().and_then(|old| counts(old, false));
        let after = counts(&change.object, change.removed);
        if before == after {
            return;
        }
        // Those that were made by the thousand ask for nothing; reading them all would take long.
        let by = if settled { Taken { pods: 1, ..Taken::default() } } else { Taken::by(&change.object.value()) };
        if let Some(node) = before {
            let taken = self.taken.entry(node).or_default();
            taken.cpu -= by.cpu;
            taken.memory -= by.memory;
            taken.pods -= by.pods;
        }
        if let Some(node) = after {
            let taken = self.taken.entry(node).or_default();
            taken.cpu += by.cpu;
            taken.memory += by.memory;
            taken.pods += by.pods;
        }
    }

    /// What a node lacks for a Pod that it was given past the scheduler: the resource, how much was asked for, how much
    /// is taken and how much there is.
    pub fn lacks(&self, node: &str, pod: &Value) -> Option<(&'static str, [i128; 3])> {
        let there = self.nodes.get(node)?;
        let by = Taken::by(pod);
        let taken = self.taken.get(node).copied().unwrap_or_default();
        // The Pod itself is counted already.
        let others = [taken.pods - 1, (taken.cpu - by.cpu).milli(), (taken.memory - by.memory).milli()];
        let asked = [1, by.cpu.milli(), by.memory.milli()];
        let most = [there.pods, there.cpu.milli(), there.memory.milli()];
        let each = asked.into_iter().zip(others).zip(most).zip([("pods", 1), ("cpu", 1), ("memory", 1000)]);
        each.filter(|(((asked, others), most), _)| *asked > 0 && others + asked > *most)
            .map(|(((asked, others), most), (name, unit))| (name, [asked / unit, others / unit, most / unit]))
            .next()
    }
}

impl Node {
    fn of(view: &View) -> Node {
        let amount = |what: &str| {
            let allocatable = text(&view.value, &format!("/status/allocatable/{what}"));
            let capacity = text(&view.value, &format!("/status/capacity/{what}"));
            Quantity::of(allocatable).or_else(|| Quantity::of(capacity)).unwrap_or_default()
        };
        Node {
            cpu: amount("cpu"),
            memory: amount("memory"),
            pods: amount("pods").milli() / 1000,
            labels: view.object.labels.clone(),
            taints: list(&view.value, "/spec/taints").to_vec(),
            unschedulable: view.value.pointer("/spec/unschedulable").and_then(Value::as_bool).unwrap_or_default(),
        }
    }

    /// Why a Pod can't run here; empty if it can. The flag: it could not even if nothing else ran here.
    fn refuses(&self, pod: &Value, asked: Taken, taken: Taken) -> (Vec<&'static str>, bool) {
        let tolerations = list(pod, "/spec/tolerations");
        let tolerated = |taint: &Value| {
            text(taint, "/effect") == "PreferNoSchedule"
                || tolerations.iter().any(|toleration| tolerates(toleration, taint))
        };
        let cordoned = json!({"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"});
        if self.unschedulable && !tolerated(&cordoned) {
            return (vec!["node(s) were unschedulable"], true);
        }
        if !self.taints.iter().all(tolerated) {
            return (vec!["node(s) had untolerated taint(s)"], true);
        }
        let selector = pod.pointer("/spec/nodeSelector").and_then(Value::as_object).into_iter().flatten();
        if !selector.into_iter().all(|(key, value)| self.labels.get(key).map(String::as_str) == value.as_str()) {
            return (vec!["node(s) didn't match Pod's node affinity/selector"], true);
        }
        let mut lacks = Vec::new();
        if taken.pods + 1 > self.pods {
            lacks.push("Too many pods");
        }
        if asked.cpu > Quantity::default() && taken.cpu + asked.cpu > self.cpu {
            lacks.push("Insufficient cpu");
        }
        if asked.memory > Quantity::default() && taken.memory + asked.memory > self.memory {
            lacks.push("Insufficient memory");
        }
        (lacks, asked.cpu > self.cpu || asked.memory > self.memory)
    }
}

/// A Pod changed: it may need a node, or may have made room.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    let pod = &change.object;
    let left = change.removed || super::index::has_ended(pod);
    if left && !node_of(pod).is_empty() {
        wake(cluster);
    } else if !left && !pod.deleting && node_of(pod).is_empty() {
        // Its own status, that it fits nowhere, is no reason to try again.
        let ours = change.old.as_ref().is_some_and(|_| cluster.scheduler.waiting.contains(&pod.key));
        let spec = |object: &crate::store::Object| object.value().get("spec").cloned();
        if !ours || change.old.as_deref().and_then(spec) != spec(pod) || script_changed(change) {
            cluster.soon(Kind::Schedule, &pod.key);
        }
    }
}

fn script_changed(change: &Change) -> bool {
    let annotations = |object: &crate::store::Object| object.value().pointer("/metadata/annotations").cloned();
    change.old.as_deref().map(annotations) != Some(annotations(&change.object))
}

/// A node changed: what fitted nowhere may fit now.
pub(super) fn observe_node(cluster: &mut Cluster, change: &Change) {
    if change.old.as_ref().is_none_or(|old| differs(&old.value(), &change.object.value())) {
        wake(cluster);
    }
}

fn differs(before: &Value, after: &Value) -> bool {
    ["/spec", "/metadata/labels", "/status/allocatable"].iter().any(|part| before.pointer(part) != after.pointer(part))
}

fn wake(cluster: &mut Cluster) {
    for key in std::mem::take(&mut cluster.scheduler.waiting) {
        cluster.soon(Kind::Schedule, &key);
    }
}

/// Finds a node for a Pod.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let Some(pod) = cluster.get(key) else { return };
    let gated = !list(&pod.value, "/spec/schedulingGates").is_empty();
    let ours = text(&pod.value, "/spec/schedulerName") == NAME;
    if pod.deleting() || !node_of(&pod.object).is_empty() || gated || !ours || has_ended(&pod.value) {
        return;
    }
    let scripted = script::pod(&cluster.state.scenario, &pod.value).ok().and_then(|pod| pod.unschedulable);
    let found = match scripted {
        Some(why) => Err(why),
        None => choose(&cluster.scheduler, &pod.value),
    };
    match found {
        Ok(node) => {
            if bind(cluster, &pod, &node).is_ok() {
                let message = format!("Successfully assigned {}/{} to {node}", pod.namespace(), pod.name());
                say(cluster, &pod, "Binding", false, "Scheduled", &message);
            }
        }
        Err(why) => {
            cluster.scheduler.waiting.insert(key.clone());
            say(cluster, &pod, "Scheduling", true, "FailedScheduling", &why);
            refuse(cluster, &pod, &why);
        }
    }
}

fn say(cluster: &mut Cluster, pod: &View, action: &'static str, warning: bool, reason: &str, message: &str) {
    cluster.say(pod, Said { source: Source::Scheduler(action), warning, reason, message, field: "" });
}

/// The node with the fewest Pods of those that a Pod can run on, or why there is none.
fn choose(scheduler: &Scheduler, pod: &Value) -> Result<String, String> {
    let asked = Taken::by(pod);
    let mut reasons: BTreeMap<&str, usize> = BTreeMap::new();
    let (mut best, mut preemptible) = (None, 0);
    for (name, node) in &scheduler.nodes {
        let taken = scheduler.taken.get(name).copied().unwrap_or_default();
        let (why, helpless) = node.refuses(pod, asked, taken);
        if why.is_empty() {
            let rank = (taken.pods, name);
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
            }
        }
        preemptible += usize::from(!helpless);
        for reason in why {
            *reasons.entry(reason).or_default() += 1;
        }
    }
    if let Some((_, name)) = best {
        return Ok(name.clone());
    }
    let total = scheduler.nodes.len();
    if total == 0 {
        return Err("no nodes available to schedule pods".to_owned());
    }
    let list = |reasons: &[(&str, usize)]| {
        let mut texts: Vec<_> =
            reasons.iter().filter(|(_, count)| *count > 0).map(|(why, count)| format!("{count} {why}")).collect();
        texts.sort();
        texts.join(", ")
    };
    let preemption = list(&[
        ("Preemption is not helpful for scheduling", total - preemptible),
        ("No preemption victims found for incoming pod", preemptible),
    ]);
    let why = list(&reasons.into_iter().collect::<Vec<_>>());
    Err(format!(
        "0/{total} nodes are available: {why}. no new claims to deallocate, preemption: 0/{total} nodes are available: \
         {preemption}."
    ))
}

/// Binds a Pod: the node and the condition are one write, and not a change of the spec that counts as a generation.
fn bind(cluster: &Cluster, pod: &View, node: &str) -> Result<(), ApiError> {
    let now = cluster.stamp();
    let store = &cluster.state.store;
    store.write::<ApiError>(pod.key(), |old| {
        let old = old.filter(|old| old.uid == pod.uid() && !old.deleting && node_of(old).is_empty());
        let old = old.ok_or_else(|| ApiError::not_found(&PODS, pod.name()))?;
        let mut value = old.value();
        section(&mut value, "spec").insert("nodeName".to_owned(), node.into());
        let condition = json!({
            "type": "PodScheduled", "status": "True", "lastProbeTime": null, "lastTransitionTime": now,
        });
        put_condition(&mut value, condition);
        Ok(Write::Put(value))
    })?;
    Ok(())
}

/// Notes that a Pod fits nowhere.
fn refuse(cluster: &Cluster, pod: &View, why: &str) {
    let now = cluster.stamp();
    let before = super::fields::condition(&pod.value, "PodScheduled");
    let since = before.filter(|before| text(before, "/status") == "False").map(|b| text(b, "/lastTransitionTime"));
    let condition = json!({
        "type": "PodScheduled", "observedGeneration": number(&pod.value, "/metadata/generation"), "status": "False",
        "lastProbeTime": null, "lastTransitionTime": since.unwrap_or(&now), "reason": "Unschedulable", "message": why,
    });
    let _ = cluster.patch(pod.key(), pod.uid(), crate::registry::Part::Status, |value| put_condition(value, condition));
}

/// Puts a condition in the place of the one of its type.
fn put_condition(value: &mut Value, condition: Value) {
    // The metadata is there in everything that is stored.
    let _ = metadata(value);
    let kind = text(&condition, "/type").to_owned();
    let conditions = section(value, "status").entry("conditions").or_insert_with(|| json!([]));
    if let Some(conditions) = conditions.as_array_mut() {
        match conditions.iter_mut().find(|old| text(old, "/type") == kind) {
            Some(old) => *old = condition,
            None => conditions.push(condition),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;

    use super::*;
    use crate::store::Object;

    fn note(scheduler: &mut Scheduler, key: Key, value: Value) {
        let object = Arc::new(Object::new(key, 1, value));
        scheduler.note(&Change { version: 1, old: None, object, removed: false }, false);
    }

    fn scheduler() -> Scheduler {
        let mut scheduler = Scheduler::default();
        let amounts = json!({"cpu": "2", "memory": "4Gi", "pods": "3"});
        for (name, spec) in [("a", json!({})), ("b", json!({"taints": [{"key": "own", "effect": "NoSchedule"}]}))] {
            let labels = json!({"kubernetes.io/hostname": name});
            let node = json!({"metadata": {"labels": labels}, "spec": spec, "status": {"allocatable": amounts}});
            note(&mut scheduler, Key::new(&NODES, "", name), node);
        }
        let taken = json!({"spec": {"nodeName": "a", "containers": [{"resources": {"requests": {"cpu": "1500m"}}}]}});
        note(&mut scheduler, Key::new(&PODS, "ns", "taken"), taken);
        scheduler
    }

    fn asks(cpu: &str) -> Value {
        json!({"spec": {"containers": [{"resources": {"requests": {"cpu": cpu}}}]}})
    }

    #[rstest]
    #[case::fits(asks("500m"), Ok("a"))]
    #[case::tolerates(
        json!({"spec": {"tolerations": [{"key": "own", "operator": "Exists"}], "containers": []}}),
        Ok("b")
    )]
    #[case::selects(json!({"spec": {"nodeSelector": {"kubernetes.io/hostname": "a"}}}), Ok("a"))]
    #[case::too_large_ever(
        asks("1000"),
        Err(
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to \
             deallocate, preemption: 0/2 nodes are available: 2 Preemption is not helpful for scheduling."
        )
    )]
    #[case::too_large_now(
        asks("1"),
        Err(
            "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). no new claims to \
             deallocate, preemption: 0/2 nodes are available: 1 No preemption victims found for incoming pod, 1 \
             Preemption is not helpful for scheduling."
        )
    )]
    fn a_pod_gets_a_node_or_a_reason(#[case] pod: Value, #[case] expected: Result<&str, &str>) {
        let chosen = choose(&scheduler(), &pod);
        assert_eq!(chosen.as_deref().map_err(String::as_str), expected);
    }

    #[test]
    fn a_node_knows_what_it_lacks_for_a_pod_that_it_was_given() {
        let mut scheduler = scheduler();
        let mut pod = asks("1");
        pod["spec"]["nodeName"] = "a".into();
        note(&mut scheduler, Key::new(&PODS, "ns", "given"), pod.clone());
        assert_eq!(scheduler.lacks("a", &pod), Some(("cpu", [1000, 1500, 2000])));
        assert_eq!(scheduler.lacks("b", &json!({"spec": {}})), None);
    }
}
