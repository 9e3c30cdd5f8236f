//! Which Pods go first when there are too many.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use jiff::Timestamp;

use super::{is_ready, ready_since, restarts};
use crate::controllers::Cluster;
use crate::controllers::fields::{View, is_active, text};
use crate::controllers::kinds::ReplicaSet;
use crate::resource::{PODS, REPLICA_SETS};

/// What a Pod is ranked by; the smaller goes first.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Rank<'a> {
    placed: bool,
    phase: u8,
    ready: bool,
    cost: i32,
    /// Those on a node with many of the Deployment's Pods go first.
    alone: std::cmp::Reverse<usize>,
    /// Of the ready ones, those that are it for a shorter time; of about the same time, by uid.
    ready_for: Option<(u32, &'a str)>,
    restarts: std::cmp::Reverse<(i64, i64)>,
    age: (u32, &'a str),
}

/// The Pods to delete.
pub(super) fn to_delete<'a>(cluster: &Cluster, set: &ReplicaSet, active: &'a [View], many: usize) -> Vec<&'a View> {
    let mut pods: Vec<&View> = active.iter().collect();
    if many < pods.len() {
        let crowd = crowd(cluster, set);
        let now = cluster.state.clock.wall();
        pods.sort_by(|a, b| compare(&rank(a, &crowd, now), &rank(b, &crowd, now), same_ready(a, b)));
    }
    pods.truncate(many);
    pods
}

/// Two Pods that are ready since the same second go on to be compared by restarts; otherwise their readiness decides.
fn same_ready(a: &View, b: &View) -> bool {
    ready_since(a) == ready_since(b)
}

fn compare(a: &Rank<'_>, b: &Rank<'_>, same_ready: bool) -> Ordering {
    let first = (a.placed, a.phase, a.ready, a.cost, &a.alone).cmp(&(b.placed, b.phase, b.ready, b.cost, &b.alone));
    let ready = if same_ready { Ordering::Equal } else { a.ready_for.cmp(&b.ready_for) };
    first.then(ready).then(a.restarts.cmp(&b.restarts)).then(a.age.cmp(&b.age))
}

fn rank<'a>(pod: &'a View, crowd: &BTreeMap<String, usize>, now: Timestamp) -> Rank<'a> {
    let node = text(&pod.value, "/spec/nodeName");
    let made: Option<Timestamp> = pod.created().parse().ok();
    Rank {
        placed: !node.is_empty(),
        phase: match text(&pod.value, "/status/phase") {
            "Running" => 2,
            "Unknown" => 1,
            _ => 0,
        },
        ready: is_ready(pod),
        cost: text(&pod.value, "/metadata/annotations/controller.kubernetes.io~1pod-deletion-cost")
            .parse()
            .unwrap_or_default(),
        alone: std::cmp::Reverse(crowd.get(node).copied().unwrap_or_default()),
        ready_for: ready_since(pod).map(|since| (log_age(since, now), pod.uid())),
        restarts: std::cmp::Reverse(restarts(pod)),
        age: (made.map_or(0, |made| log_age(made, now)), pod.uid()),
    }
}

/// Ages that differ by less than a factor of two count as the same.
fn log_age(since: Timestamp, now: Timestamp) -> u32 {
    let nanos = u128::try_from(now.duration_since(since).as_nanos()).unwrap_or_default();
    nanos.checked_ilog2().map_or(0, |log| log + 1)
}

/// How many Pods of the whole Deployment are on each node.
fn crowd(cluster: &Cluster, set: &ReplicaSet) -> BTreeMap<String, usize> {
    let siblings = match set.view.object.controller() {
        Some(owner) => cluster.owned(&REPLICA_SETS, &owner.uid),
        None => Vec::new(),
    };
    let mut crowd = BTreeMap::new();
    for pod in siblings.iter().flat_map(|sibling| cluster.owned(&PODS, sibling.uid())).filter(is_active) {
        *crowd.entry(text(&pod.value, "/spec/nodeName").to_owned()).or_default() += 1;
    }
    crowd
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;
    use crate::store::{Key, Object};

    const NOW: &str = "2026-01-01T01:00:00Z";

    fn pod(name: &str, node: &str, phase: &str, ready: Option<&str>, more: Value) -> View {
        let conditions: Vec<_> = ready
            .map(|since| json!({"type": "Ready", "status": "True", "lastTransitionTime": since}))
            .into_iter()
            .collect();
        let mut value = json!({
            "metadata": {"name": name, "uid": name, "creationTimestamp": "2026-01-01T00:00:00Z"},
            "spec": {"nodeName": node}, "status": {"phase": phase, "conditions": conditions},
        });
        for (pointer, set) in more.as_object().into_iter().flatten() {
            let (parent, field) = pointer.rsplit_once('/').unwrap();
            value.pointer_mut(parent).unwrap()[field] = set.clone();
        }
        View::of(Arc::new(Object::new(Key::new(&PODS, "ns", name), 1, value)))
    }

    fn restarted(times: i64) -> Value {
        json!({"/status/containerStatuses": [{"name": "main", "restartCount": times}]})
    }

    const LONG: Option<&str> = Some("2026-01-01T00:10:00Z");
    const SHORT: Option<&str> = Some("2026-01-01T00:59:00Z");
    const COST: &str = "/metadata/annotations";

    #[rstest]
    #[case::without_a_node(pod("z", "", "Pending", None, json!({})), pod("a", "n", "Pending", None, json!({})))]
    #[case::pending(pod("z", "n", "Pending", None, json!({})), pod("a", "n", "Running", None, json!({})))]
    #[case::not_ready(pod("z", "n", "Running", None, json!({})), pod("a", "n", "Running", LONG, json!({})))]
    #[case::cheap(
        pod("z", "n", "Running", LONG, json!({COST: {"controller.kubernetes.io/pod-deletion-cost": "-5"}})),
        pod("a", "n", "Running", LONG, json!({}))
    )]
    #[case::crowded(pod("z", "full", "Running", LONG, json!({})), pod("a", "n", "Running", LONG, json!({})))]
    #[case::ready_for_a_short_time(pod("z", "n", "Running", SHORT, json!({})), pod("a", "n", "Running", LONG, json!({})))]
    #[case::restarted(pod("z", "n", "Running", LONG, restarted(2)), pod("a", "n", "Running", LONG, restarted(1)))]
    #[case::young(
        pod("z", "n", "Running", LONG, json!({"/metadata/creationTimestamp": "2026-01-01T00:58:00Z"})),
        pod("a", "n", "Running", LONG, json!({}))
    )]
    #[case::uid_decides_at_last(pod("a", "n", "Running", LONG, json!({})), pod("z", "n", "Running", LONG, json!({})))]
    fn the_first_goes_before_the_second(#[case] first: View, #[case] second: View) {
        let crowd = [("full".to_owned(), 3), ("n".to_owned(), 1)].into();
        let now = NOW.parse().unwrap();
        let order = |a: &View, b: &View| compare(&rank(a, &crowd, now), &rank(b, &crowd, now), same_ready(a, b));
        assert_eq!(order(&first, &second), Ordering::Less);
        assert_eq!(order(&second, &first), Ordering::Greater);
    }
}
