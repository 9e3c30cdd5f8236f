//! What holds whatever a server says.

use proptest::collection::vec;
use proptest::option::{of, weighted};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::super::table::ROWS;
use super::super::*;
use super::given::{Given, Look, MADE, MADE_MS, both, number};

/// Status and reason pairs that a Deployment can have.
const WORDS: [(Status, &[&str]); 6] = [
    (Status::Running, &["available", "partial", "paused"]),
    (Status::Offline, &["stopped", "stopped-unverified", "stopping", "deleting"]),
    (Status::Creating, &["unobserved", "rollout", "starting", "unschedulable", "image-pull", "pod-error"]),
    (
        Status::Failed,
        &[
            "deadline-exceeded",
            "rollout-error",
            "replica-failure",
            "crash-loop",
            "image-error",
            "config-error",
            "init-error",
            "paused",
        ],
    ),
    (Status::Missing, &["not-found", "not-owned"]),
    (Status::Unknown, &["unreachable", "unauthorized", "forbidden", "throttled", "malformed"]),
];

/// Words that a condition, a container or a Pod may have as a reason; two of them nobody knows.
const REASONS: [&str; 21] = [
    "",
    "CrashLoopBackOff",
    "ErrImagePull",
    "ImagePullBackOff",
    "InvalidImageName",
    "CreateContainerConfigError",
    "RunContainerError",
    "StartError",
    "ContainerCreating",
    "PodInitializing",
    "Completed",
    "Error",
    "OOMKilled",
    "Unschedulable",
    "SchedulingGated",
    "Evicted",
    "OutOfcpu",
    "ReplicaSetCreateError",
    "ProgressDeadlineExceeded",
    "SomethingNew",
    "BrandNewError",
];

const MESSAGES: [&str; 6] = [
    "",
    "not found",
    "i/o timeout",
    "is forbidden: exceeded quota",
    "no such file or directory",
    "failed calling webhook",
];

fn count() -> impl Strategy<Value = Option<i64>> {
    of(0..4_i64)
}

fn deletion() -> impl Strategy<Value = Option<&'static str>> {
    weighted(0.15, Just(MADE))
}

fn a_condition() -> impl Strategy<Value = Value> {
    let kinds = ["Progressing", "Available", "ReplicaFailure", "Ready", "PodScheduled", "Initialized", "SomethingNew"];
    let status = select(&["True", "False", "Unknown"][..]);
    (select(kinds.to_vec()), status, select(&REASONS[..]), select(&MESSAGES[..])).prop_map(
        |(kind, status, reason, message)| {
            json!({"type": kind, "status": status, "reason": reason, "message": message, "lastUpdateTime": MADE})
        },
    )
}

/// No two of a type: the server keeps it so.
fn conditions() -> impl Strategy<Value = Vec<Value>> {
    vec(a_condition(), 0..4).prop_map(|all| {
        let mut kept: Vec<Value> = Vec::new();
        for condition in all {
            if !kept.iter().any(|other| other["type"] == condition["type"]) {
                kept.push(condition);
            }
        }
        kept
    })
}

prop_compose! {
    fn a_deployment()(
        desired in weighted(0.9, 0..4_i64),
        generation in 1..4_i64,
        observed in weighted(0.9, 0..5_i64),
        counters in (count(), count(), count(), count(), weighted(0.5, 0..2_i64)),
        paused in weighted(0.2, any::<bool>()),
        deleted in deletion(),
        conditions in conditions(),
        complete in any::<bool>(),
    ) -> Value {
        let (replicas, updated, ready, available, terminating) = counters;
        let object = json!({
            "metadata": {"name": "web", "namespace": "default", "uid": "d", "generation": generation,
                "creationTimestamp": MADE, "deletionTimestamp": deleted},
            "spec": {"replicas": desired, "paused": paused,
                "template": {"spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}},
            "status": {"observedGeneration": observed, "replicas": replicas, "updatedReplicas": updated,
                "readyReplicas": ready, "availableReplicas": available, "terminatingReplicas": terminating,
                "conditions": conditions},
        });
        let all = desired.unwrap_or(1);
        let done = json!({"status": {"observedGeneration": generation, "replicas": all, "updatedReplicas": all,
            "availableReplicas": all}});
        if complete { both(object, done) } else { object }
    }
}

prop_compose! {
    fn a_set()(
        place in 0..4_usize,
        ours in weighted(0.8, Just(())),
        newest in any::<bool>(),
        wanted in count(),
        generation in 1..3_i64,
        observed in weighted(0.9, 0..3_i64),
        replicas in count(),
        available in count(),
        terminating in weighted(0.5, 0..2_i64),
    ) -> Value {
        let image = if newest { "nginx:1" } else { "nginx:0" };
        let owner = if ours.is_some() { "d" } else { "x" };
        json!({
            "metadata": {"name": format!("web-{place}"), "namespace": "default", "uid": format!("s{place}"),
                "generation": generation, "creationTimestamp": MADE,
                "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": owner, "controller": true}]},
            "spec": {"replicas": wanted, "template": {"metadata": {"labels": {"pod-template-hash": place.to_string()}},
                "spec": {"containers": [{"name": "main", "image": image}]}}},
            "status": {"observedGeneration": observed, "replicas": replicas, "availableReplicas": available,
                "terminatingReplicas": terminating},
        })
    }
}

prop_compose! {
    fn ended()(reason in select(&REASONS[..]), message in select(&MESSAGES[..]), code in 0..3_i64) -> Value {
        json!({"reason": reason, "message": message, "exitCode": code})
    }
}

prop_compose! {
    fn a_container(name: &'static str)(
        ready in any::<bool>(),
        started in any::<bool>(),
        restarts in 0..4_i64,
        waiting in weighted(0.5, ended()),
        terminated in weighted(0.3, ended()),
        last in weighted(0.5, ended()),
    ) -> Value {
        json!({"name": name, "image": "nginx:1", "ready": ready, "started": started, "restartCount": restarts,
            "state": {"waiting": waiting, "terminated": terminated}, "lastState": {"terminated": last}})
    }
}

prop_compose! {
    fn a_pod()(
        place in 0..9_usize,
        owner in 0..4_usize,
        phase in select(&["Pending", "Running", "Running", "Succeeded", "Failed", "Unknown", ""][..]),
        reason in select(&REASONS[..]),
        deleted in deletion(),
        node in weighted(0.8, Just("n1")),
        policy in weighted(0.5, Just("Always")),
        init in of(a_container("prepare")),
        main in (a_container("main"), a_container("side")),
        conditions in conditions(),
    ) -> Value {
        json!({
            "metadata": {"name": format!("web-pod-{place}"), "namespace": "default", "uid": format!("p{place}"),
                "creationTimestamp": MADE, "deletionTimestamp": deleted,
                "ownerReferences": [{"kind": "ReplicaSet", "name": "web", "uid": format!("s{owner}"), "controller": true}]},
            "spec": {"nodeName": node, "initContainers": [{"name": "prepare", "restartPolicy": policy}]},
            "status": {"phase": phase, "reason": reason, "conditions": conditions,
                "initContainerStatuses": init.into_iter().collect::<Vec<_>>(),
                "containerStatuses": [main.0, main.1]},
        })
    }
}

/// No two of a uid.
fn unique(items: Vec<Value>) -> Vec<Value> {
    let mut kept: Vec<Value> = Vec::new();
    for item in items {
        if !kept.iter().any(|other| other["metadata"]["uid"] == item["metadata"]["uid"]) {
            kept.push(item);
        }
    }
    kept
}

fn beside(item: impl Strategy<Value = Value>) -> impl Strategy<Value = Given> {
    prop_oneof![
        1 => Just(Given::NotRead),
        1 => Just(Given::NotReadable),
        6 => vec(item, 0..5).prop_map(|items| Given::Items(unique(items))),
    ]
}

prop_compose! {
    fn a_look()(
        deployment in a_deployment(),
        sets in beside(a_set()),
        pods in beside(a_pod()),
        since_write_ms in weighted(0.2, 0..4_000_u64),
        stuck_for_ms in select(&[0, 4_500, 6_000][..]),
        single in any::<bool>(),
        server_ms in of(MADE_MS..MADE_MS + 300_000),
    ) -> Look {
        // Without ReplicaSets Pods are not read.
        let pods = if matches!(sets, Given::Items(_)) { pods } else { Given::NotRead };
        Look { deployment, sets, pods, own: Own { since_write_ms, stuck_for_ms, single }, server_ms }
    }
}

/// The same with every list the other way round.
fn reversed(look: &Look) -> Look {
    let given = |given: &Given| match given {
        Given::Items(items) => Given::Items(items.iter().rev().map(backwards).collect()),
        other => other.clone(),
    };
    Look { deployment: backwards(&look.deployment), sets: given(&look.sets), pods: given(&look.pods), ..*look }
}

fn backwards(value: &Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.iter().rev().map(backwards).collect()),
        Value::Object(fields) => fields.iter().map(|(key, value)| (key.clone(), backwards(value))).collect(),
        other => other.clone(),
    }
}

/// The same with every object changed by this. Templates are compared as they are, and labels are no objects of ours.
fn everywhere(look: &Look, change: fn(&mut Map<String, Value>)) -> Look {
    fn walk(value: &mut Value, change: fn(&mut Map<String, Value>)) {
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| walk(item, change)),
            Value::Object(fields) => {
                fields.iter_mut().filter(|(key, _)| *key != "template").for_each(|(_, value)| walk(value, change));
                change(fields);
            }
            _ => {}
        }
    }
    let one = |value: &Value| {
        let mut value = value.clone();
        walk(&mut value, change);
        value
    };
    let given = |given: &Given| match given {
        Given::Items(items) => Given::Items(items.iter().map(one).collect()),
        other => other.clone(),
    };
    Look { deployment: one(&look.deployment), sets: given(&look.sets), pods: given(&look.pods), ..*look }
}

/// A Pod of one of its own ReplicaSets that can still run, as plainly as it can be said.
fn has_live_pod(look: &Look) -> bool {
    let (Given::Items(sets), Given::Items(pods)) = (&look.sets, &look.pods) else { return false };
    let own = sets.iter().filter(|set| set["metadata"]["ownerReferences"][0]["uid"] == "d");
    let own: Vec<&Value> = own.map(|set| &set["metadata"]["uid"]).collect();
    pods.iter().any(|pod| {
        own.contains(&&pod["metadata"]["ownerReferences"][0]["uid"])
            && pod["status"]["phase"] != "Succeeded"
            && pod["status"]["phase"] != "Failed"
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn running_has_something_available(look in a_look()) {
        let verdict = look.decide();
        if verdict.status == Status::Running {
            prop_assert!(verdict.available > 0 && verdict.desired > 0);
        }
        if verdict.is_running() {
            prop_assert!(verdict.available >= verdict.desired);
        }
    }

    #[test]
    fn stopped_has_no_live_pod(look in a_look()) {
        let verdict = look.decide();
        if has_live_pod(&look) {
            prop_assert!(!verdict.is_stopped(), "{}", verdict.rule);
        }
        if verdict.is_stopped() {
            prop_assert_eq!(verdict.desired, 0);
        }
    }

    #[test]
    fn the_order_of_lists_does_not_matter(look in a_look()) {
        prop_assert_eq!(reversed(&look).decide(), look.decide());
    }

    #[test]
    fn unknown_fields_are_harmless(look in a_look()) {
        let more = everywhere(&look, |fields| {
            fields.insert("fromTheFuture".to_owned(), json!({"a": [1, {"reason": "Error"}], "status": "False"}));
        });
        prop_assert_eq!(more.decide(), look.decide());
    }

    #[test]
    fn null_is_like_absent(look in a_look()) {
        let less = everywhere(&look, |fields| fields.retain(|_, value| !value.is_null()));
        prop_assert_eq!(less.decide(), look.decide());
    }

    #[test]
    fn the_words_are_the_fixed_ones(look in a_look()) {
        let verdict = look.decide();
        let words = WORDS.iter().find(|(status, _)| *status == verdict.status).unwrap().1;
        prop_assert!(words.contains(&verdict.reason), "{}", verdict.reason);
        let row = ROWS.iter().find(|row| row.name == verdict.rule).unwrap();
        prop_assert!(row.answers.contains(&(verdict.status, verdict.reason)));
        prop_assert!(!verdict.message.is_empty() && !verdict.message.ends_with('.'));
        let unsettled = matches!(verdict.reason, "stopping" | "deleting" | "partial")
            || matches!(verdict.status, Status::Creating | Status::Unknown);
        prop_assert_eq!(verdict.settled, !unsettled);
        let serving_old = ["11a", "11b", "12", "14", "15", "16", "17", "18"];
        prop_assert!(!verdict.serving_old || serving_old.contains(&&*number(verdict.rule)));
    }

    #[test]
    fn reading_on_comes_to_an_end(look in a_look()) {
        let verdict = look.decide();
        prop_assert!(verdict.needs <= verdict.want);
        let unread = match (&look.sets, &look.pods) {
            (Given::NotRead, _) => Want::ReplicaSets,
            (Given::Items(_), Given::NotRead) => Want::Pods,
            _ => Want::Nothing,
        };
        prop_assert!(verdict.want == Want::Nothing || verdict.want == unread, "only what was not read yet");
    }

    /// What needs nothing more says the same after reading on; only complete counters may have been copied from before.
    #[test]
    fn what_needs_nothing_more_stays(look in a_look()) {
        let alone = Look { deployment: look.deployment.clone(), sets: Given::NotRead, pods: Given::NotRead, ..look };
        let verdict = alone.decide();
        if verdict.needs == Want::Nothing && verdict.status != Status::Running {
            let read = look.decide();
            prop_assert_eq!((read.status, read.settled), (verdict.status, verdict.settled), "{}", verdict.rule);
        }
    }

    #[test]
    fn evidence_and_advice_never_fail(look in a_look()) {
        let (facts, advice) = look.see(|observed| (evidence(observed), advice(observed, &decide(observed))));
        prop_assert!(facts.len() <= 64 && facts.iter().all(|(name, _)| name.split(' ').count() <= 2));
        prop_assert!(advice.is_none_or(|words| !words.is_empty()));
    }
}
