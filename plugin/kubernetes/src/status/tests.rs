use std::collections::BTreeMap;

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::api::Object;

/// What lies beside a Deployment, as JSON.
#[derive(Clone)]
enum Given {
    NotRead,
    NotReadable,
    Items(Vec<Value>),
}

fn merge(into: &mut Value, from: &Value) {
    match (into, from) {
        (Value::Object(into), Value::Object(from)) => {
            for (key, value) in from {
                merge(into.entry(key.clone()).or_insert(Value::Null), value);
            }
        }
        (into, value) => *into = value.clone(),
    }
}

/// A Deployment of one replica that is complete, changed as said.
fn deployment(over: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "web", "namespace": "default", "uid": "d", "generation": 3, "creationTimestamp": "2026-01-01T00:00:00Z"},
        "spec": {"replicas": 1, "template": {"spec": {"containers": [{"image": "nginx:1"}]}}},
        "status": {"observedGeneration": 3, "replicas": 1, "updatedReplicas": 1, "availableReplicas": 1},
    });
    merge(&mut object, &over);
    object
}

/// None wanted and none counted, changed as said.
fn none(over: Value) -> Value {
    let mut object = deployment(json!({
        "spec": {"replicas": 0},
        "status": {"replicas": null, "updatedReplicas": null, "availableReplicas": null, "terminatingReplicas": 0},
    }));
    merge(&mut object, &over);
    object
}

/// Its newest ReplicaSet, changed as said.
fn set(over: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "web-1", "namespace": "default", "uid": "s", "generation": 1,
            "ownerReferences": [{"kind": "Deployment", "name": "web", "uid": "d", "controller": true}]},
        "spec": {"replicas": 1, "template": {"metadata": {"labels": {"pod-template-hash": "1"}},
            "spec": {"containers": [{"image": "nginx:1"}]}}},
        "status": {"observedGeneration": 1, "replicas": 1, "availableReplicas": 1},
    });
    merge(&mut object, &over);
    object
}

/// An older one.
fn old(available: i64) -> Value {
    let template = json!({"spec": {"containers": [{"image": "nginx:0"}]}});
    set(
        json!({"metadata": {"name": "web-0", "uid": "o"}, "spec": {"template": template}, "status": {"availableReplicas": available}}),
    )
}

fn empty_set() -> Value {
    set(json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "availableReplicas": 0}}))
}

fn pod(over: Value) -> Value {
    let mut object = json!({
        "metadata": {"name": "web-1-a", "namespace": "default", "uid": "p",
            "ownerReferences": [{"kind": "ReplicaSet", "name": "web-1", "uid": "s", "controller": true}]},
        "status": {"phase": "Running"},
    });
    merge(&mut object, &over);
    object
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"status": {"conditions": [{"type": kind, "status": status, "reason": reason, "message": message}]}})
}

fn create_error() -> Value {
    condition("Progressing", "False", "ReplicaSetCreateError", "exceeded quota")
}

fn both(mut left: Value, right: Value) -> Value {
    merge(&mut left, &right);
    left
}

fn beside(given: &Given) -> Beside<Vec<String>> {
    match given {
        Given::NotRead => Beside::NotRead,
        Given::NotReadable => Beside::NotReadable,
        Given::Items(items) => Beside::Read(items.iter().map(ToString::to_string).collect()),
    }
}

fn decode<'a, T: Object<'a>>(texts: &'a Beside<Vec<String>>) -> Beside<Vec<T>> {
    match texts {
        Beside::NotRead => Beside::NotRead,
        Beside::NotReadable => Beside::NotReadable,
        Beside::Read(texts) => {
            Beside::Read(texts.iter().map(|text| T::decode_item(text.as_bytes()).unwrap()).collect())
        }
    }
}

fn judge(deployment: &Value, sets: &Given, pods: &Given, own: Own, server_ms: Option<u64>) -> Verdict {
    let text = deployment.to_string();
    let (sets, pods) = (beside(sets), beside(pods));
    let deployment = Deployment::decode_item(text.as_bytes()).unwrap();
    decide(&Observed { deployment: &deployment, replica_sets: decode(&sets), pods: decode(&pods), own, server_ms })
}

fn read(items: &[Value]) -> Given {
    Given::Items(items.to_vec())
}

#[rstest]
// 4, 5
#[case::deleting(deployment(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})), Given::NotRead, Given::NotRead, "4 deleting", "deleting", Want::Nothing)]
#[case::deleting_at_zero(none(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})), Given::NotRead, Given::NotRead, "4 deleting", "deleting", Want::Nothing)]
#[case::no_spec(deployment(json!({"spec": null})), Given::NotRead, Given::NotRead, "5 malformed", "malformed", Want::Nothing)]
#[case::negative(deployment(json!({"spec": {"replicas": -1}})), Given::NotRead, Given::NotRead, "5 malformed", "malformed", Want::Nothing)]
// 5a
#[case::frozen_unread(none(create_error()), Given::NotRead, Given::NotRead, "5a frozen", "stopping", Want::ReplicaSets)]
#[case::frozen_no_pods_read(none(create_error()), read(&[]), Given::NotRead, "5a frozen", "stopping", Want::Pods)]
#[case::frozen_gone(none(both(create_error(), json!({"status": {"replicas": 1}}))), read(&[empty_set()]), read(&[]), "5a frozen", "stopped", Want::Nothing)]
#[case::frozen_set_left(none(create_error()), read(&[set(json!({}))]), read(&[]), "5a frozen", "stopping", Want::Nothing)]
#[case::frozen_set_ending(none(create_error()), read(&[both(empty_set(), json!({"status": {"terminatingReplicas": 1}}))]), read(&[]), "5a frozen", "stopping", Want::Nothing)]
#[case::frozen_set_left_pods_unreadable(none(create_error()), read(&[set(json!({}))]), Given::NotReadable, "5a frozen", "stopping", Want::Nothing)]
#[case::frozen_pods_unreadable(none(create_error()), read(&[empty_set()]), Given::NotReadable, "5a frozen", "stopped-unverified", Want::Nothing)]
#[case::frozen_pod_left(none(create_error()), read(&[empty_set()]), read(&[pod(json!({}))]), "5a frozen", "stopping", Want::Nothing)]
#[case::frozen_unreadable(
    none(create_error()),
    Given::NotReadable,
    Given::NotRead,
    "5a frozen",
    "stopped-unverified",
    Want::Nothing
)]
// 6, 7
#[case::unobserved(none(json!({"metadata": {"generation": 4}})), Given::NotRead, Given::NotRead, "6 unobserved", "stopping", Want::Nothing)]
#[case::never_observed(none(json!({"status": {"observedGeneration": null}})), Given::NotRead, Given::NotRead, "6 unobserved", "stopping", Want::ReplicaSets)]
#[case::replicas(none(json!({"status": {"replicas": 1}})), Given::NotRead, Given::NotRead, "7 replicas left", "stopping", Want::Nothing)]
#[case::terminating(none(json!({"status": {"terminatingReplicas": 1}})), Given::NotRead, Given::NotRead, "7 replicas left", "stopping", Want::Nothing)]
#[case::set_wants(none(json!({})), read(&[both(empty_set(), json!({"spec": {"replicas": 1}}))]), Given::NotRead, "7 replicas left", "stopping", Want::Nothing)]
#[case::set_unobserved(none(json!({})), read(&[both(empty_set(), json!({"metadata": {"generation": 2}}))]), Given::NotRead, "7 replicas left", "stopping", Want::Nothing)]
#[case::set_has(none(json!({})), read(&[both(empty_set(), json!({"status": {"replicas": 1}}))]), Given::NotRead, "7 replicas left", "stopping", Want::Nothing)]
#[case::foreign_set(none(json!({})), read(&[set(json!({"metadata": {"ownerReferences": [{"uid": "x", "controller": true}]}}))]), read(&[]), "10 stopped", "stopped", Want::Nothing)]
// 8
#[case::pod_left(none(json!({})), read(&[empty_set()]), read(&[pod(json!({}))]), "8 pods left", "stopping", Want::Nothing)]
#[case::pod_ending(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}))]), "8 pods left", "stopping", Want::Nothing)]
#[case::pod_failed(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"status": {"phase": "Failed"}}))]), "10 stopped", "stopped", Want::Nothing)]
#[case::pod_succeeded(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"status": {"phase": "Succeeded"}}))]), "10 stopped", "stopped", Want::Nothing)]
#[case::pod_of_another(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"metadata": {"ownerReferences": [{"uid": "x", "controller": true}]}}))]), "10 stopped", "stopped", Want::Nothing)]
#[case::pod_without_controller(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"metadata": {"ownerReferences": [{"uid": "s"}]}}))]), "10 stopped", "stopped", Want::Nothing)]
// 9, 10
#[case::pods_hidden(none(json!({"status": {"terminatingReplicas": null}})), read(&[empty_set()]), Given::NotReadable, "9 unverified", "stopped-unverified", Want::Nothing)]
#[case::pods_hidden_but_counted(none(json!({})), read(&[empty_set()]), Given::NotReadable, "10 stopped", "stopped", Want::Nothing)]
#[case::sets_hidden(none(json!({})), Given::NotReadable, Given::NotRead, "9 unverified", "stopped-unverified", Want::Nothing)]
#[case::stopped(none(json!({})), read(&[empty_set()]), read(&[]), "10 stopped", "stopped", Want::Nothing)]
#[case::stopped_unread(none(json!({})), Given::NotRead, Given::NotRead, "10 stopped", "stopped", Want::ReplicaSets)]
#[case::stopped_pods_unread(none(json!({})), read(&[]), Given::NotRead, "10 stopped", "stopped", Want::Pods)]
#[case::stopped_after_failure(none(condition("Progressing", "False", "ProgressDeadlineExceeded", "")), read(&[]), read(&[]), "10 stopped", "stopped", Want::Nothing)]
#[case::stopped_paused(none(json!({"spec": {"paused": true}})), read(&[]), read(&[]), "10 stopped", "stopped", Want::Nothing)]
// 11
#[case::create_error_again(deployment(both(create_error(), json!({"metadata": {"generation": 4}}))), Given::NotRead, Given::NotRead, "11a rollout error", "unobserved", Want::Nothing)]
#[case::unobserved_but_perfect(deployment(json!({"metadata": {"generation": 4}})), Given::NotRead, Given::NotRead, "11b unobserved", "unobserved", Want::Nothing)]
#[case::no_status(deployment(json!({"status": null})), Given::NotRead, Given::NotRead, "11b unobserved", "unobserved", Want::Nothing)]
#[case::observed_ahead(deployment(json!({"status": {"observedGeneration": 9}})), read(&[set(json!({}))]), Given::NotRead, "13 available", "available", Want::Nothing)]
// 12
#[case::deadline(deployment(condition("Progressing", "False", "ProgressDeadlineExceeded", "")), read(&[]), Given::NotRead, "12 progress", "deadline-exceeded", Want::Nothing)]
#[case::other_failure(deployment(create_error()), read(&[]), Given::NotRead, "12 progress", "rollout-error", Want::Nothing)]
// 13
#[case::available(deployment(json!({})), Given::NotRead, Given::NotRead, "13 available", "available", Want::ReplicaSets)]
#[case::available_by_set(deployment(json!({})), read(&[set(json!({}))]), Given::NotRead, "13 available", "available", Want::Nothing)]
#[case::sets_not_readable(deployment(json!({})), Given::NotReadable, Given::NotRead, "13 available", "available", Want::Nothing)]
#[case::replicas_absent(deployment(json!({"spec": {"replicas": null}})), read(&[set(json!({}))]), Given::NotRead, "13 available", "available", Want::Nothing)]
#[case::paused_and_available(deployment(json!({"spec": {"paused": true}})), read(&[set(json!({}))]), Given::NotRead, "13 available", "paused", Want::Nothing)]
#[case::copied_counters(deployment(json!({})), read(&[set(json!({"status": {"availableReplicas": 0}}))]), Given::NotRead, "19 starting", "starting", Want::Nothing)]
#[case::not_available(deployment(condition("Available", "False", "", "")), read(&[set(json!({}))]), Given::NotRead, "19 starting", "starting", Want::Nothing)]
#[case::available_true_with_none(deployment(both(condition("Available", "True", "", ""), json!({"status": {"availableReplicas": 0}}))), Given::NotRead, Given::NotRead, "19 starting", "starting", Want::ReplicaSets)]
#[case::unobserved_set_ready(deployment(json!({})), read(&[set(json!({"metadata": {"generation": 2}}))]), read(&[pod(json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}))]), "13 available", "available", Want::Nothing)]
// 14
#[case::quota(deployment(both(condition("ReplicaFailure", "True", "FailedCreate", "is Forbidden: exceeded quota"), json!({"status": {"replicas": 0, "updatedReplicas": 0, "availableReplicas": 0}}))), read(&[set(json!({"status": {"availableReplicas": 0}}))]), Given::NotRead, "14 replica failure", "replica-failure", Want::Nothing)]
#[case::webhook(deployment(both(condition("ReplicaFailure", "True", "FailedCreate", "failed calling webhook: is forbidden"), json!({"status": {"replicas": 0, "updatedReplicas": 0, "availableReplicas": 0}}))), read(&[]), Given::NotRead, "14 replica failure", "rollout", Want::Nothing)]
// 16 to 19
#[case::paused_without_set(deployment(json!({"spec": {"paused": true}, "status": {"updatedReplicas": 0}})), read(&[old(1)]), Given::NotRead, "16 paused", "paused", Want::Nothing)]
#[case::partial(deployment(json!({"spec": {"replicas": 3}, "status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 2}})), read(&[set(json!({"status": {"availableReplicas": 2}}))]), Given::NotRead, "17 partial", "partial", Want::Nothing)]
#[case::partial_unread(deployment(json!({"spec": {"replicas": 3}, "status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": 2}})), Given::NotRead, Given::NotRead, "17 partial", "partial", Want::ReplicaSets)]
#[case::only_old(deployment(json!({"status": {"replicas": 2}})), read(&[old(1), set(json!({"status": {"availableReplicas": 0}}))]), Given::NotRead, "18 rollout", "rollout", Want::Nothing)]
#[case::starting(deployment(json!({"status": {"availableReplicas": 0}})), read(&[set(json!({"status": {"availableReplicas": 0}}))]), Given::NotRead, "19 starting", "starting", Want::Nothing)]
fn rows(
    #[case] deployment: Value,
    #[case] sets: Given,
    #[case] pods: Given,
    #[case] rule: &str,
    #[case] reason: &str,
    #[case] want: Want,
) {
    let verdict = judge(&deployment, &sets, &pods, Own::default(), None);
    assert_eq!((verdict.rule, verdict.reason, verdict.want), (rule, reason, want));
    let moving =
        matches!(reason, "stopping" | "deleting" | "partial" | "malformed") || verdict.status == Status::Creating;
    assert_eq!(verdict.settled, !moving);
    assert!(!verdict.message.is_empty() && !verdict.message.ends_with('.'));
}

#[rstest]
#[case::first_seen(0, false, Status::Creating)]
#[case::lasting(4_000, false, Status::Failed)]
#[case::a_single_look(0, true, Status::Failed)]
fn a_create_error_must_last(#[case] stuck_for_ms: u64, #[case] single: bool, #[case] status: Status) {
    let object = deployment(both(create_error(), json!({"status": {"observedGeneration": null}})));
    let own = Own { stuck_for_ms, single, ..Own::default() };
    let verdict = judge(&object, &Given::NotRead, &Given::NotRead, own, None);
    assert_eq!((verdict.rule, verdict.status), ("11a rollout error", status));
}

#[rstest]
#[case::just_written(Some(1_999), Status::Creating)]
#[case::long_ago(Some(2_000), Status::Failed)]
#[case::never(None, Status::Failed)]
fn a_deadline_may_be_from_before_our_write(#[case] since_write_ms: Option<u64>, #[case] status: Status) {
    let object = deployment(condition("Progressing", "False", "ProgressDeadlineExceeded", ""));
    let own = Own { since_write_ms, ..Own::default() };
    assert_eq!(judge(&object, &Given::NotRead, &Given::NotRead, own, None).status, status);
}

/// 2026-01-01T00:00:00Z, when all of these were made.
const MADE_MS: u64 = 1_767_225_600_000;

#[rstest]
#[case::too_soon(0, 1, Some(MADE_MS + 4_999), "6 unobserved")]
#[case::by_the_servers_clock(0, 1, Some(MADE_MS + 5_000), "5a frozen")]
#[case::by_our_clock(5_000, 7, None, "5a frozen")]
#[case::changed_since(0, 2, Some(MADE_MS + 60_000), "6 unobserved")]
#[case::the_servers_clock_is_behind(0, 1, Some(MADE_MS - 60_000), "6 unobserved")]
fn what_was_never_observed_can_be_stopped(
    #[case] stuck_for_ms: u64,
    #[case] generation: i64,
    #[case] server_ms: Option<u64>,
    #[case] rule: &str,
) {
    let object = none(json!({"metadata": {"generation": generation}, "status": null}));
    let own = Own { stuck_for_ms, ..Own::default() };
    assert_eq!(judge(&object, &read(&[]), &read(&[]), own, server_ms).rule, rule);
}

#[rstest]
#[case::rollout(deployment(json!({"status": {"replicas": 2}})), read(&[old(1), set(json!({"status": {"availableReplicas": 0}}))]), true)]
#[case::frozen_counters(deployment(create_error()), read(&[old(0)]), false)]
#[case::failed_with_old(deployment(create_error()), read(&[old(1)]), true)]
#[case::available(deployment(json!({})), read(&[set(json!({}))]), false)]
fn an_older_revision_serves(#[case] deployment: Value, #[case] sets: Given, #[case] serving: bool) {
    assert_eq!(judge(&deployment, &sets, &Given::NotRead, Own::default(), None).serving_old, serving);
}

#[rstest]
#[case::image(
    json!({"containerStatuses": [{"state": {"waiting": {"reason": "ImagePullBackOff", "message": "Back-off."}}}]}),
    "0 of 1 replica available; pod web-1-a: ImagePullBackOff: Back-off"
)]
#[case::init(
    json!({"initContainerStatuses": [{"state": {"terminated": {"reason": "Error", "exitCode": 1}}}],
        "containerStatuses": [{"state": {"waiting": {"reason": "PodInitializing"}}}]}),
    "0 of 1 replica available; pod web-1-a: Error"
)]
#[case::unplaced(
    json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes"}]}),
    "0 of 1 replica available; pod web-1-a: Unschedulable: 0/1 nodes"
)]
#[case::nothing_said(json!({}), "0 of 1 replica available")]
fn what_it_waits_for_is_told(#[case] pod_status: Value, #[case] message: &str) {
    let object = deployment(json!({"status": {"availableReplicas": 0}}));
    let sets = read(&[set(json!({"status": {"availableReplicas": 0}}))]);
    let verdict = judge(&object, &sets, &read(&[pod(json!({"status": pod_status}))]), Own::default(), None);
    assert_eq!((verdict.rule, &*verdict.message), ("19 starting", message));
}

/// What a real cluster's controllers wrote, write by write.
#[rstest]
#[case::start(include_str!("../../testdata/start-3-healthy.json"))]
#[case::stop(include_str!("../../testdata/stop-3s.json"))]
#[case::stop_start(include_str!("../../testdata/stop-start-race.json"))]
#[case::second_writer(include_str!("../../testdata/second-writer-resets.json"))]
#[case::stop_during_rollout(include_str!("../../testdata/stop-during-rollout.json"))]
#[case::finalizer(include_str!("../../testdata/pod-finalizer.json"))]
#[case::delete(include_str!("../../testdata/delete-foreground.json"))]
#[case::paused(include_str!("../../testdata/paused-then-scaled.json"))]
#[case::paused_at_creation(include_str!("../../testdata/paused-at-creation.json"))]
#[case::quota(include_str!("../../testdata/quota-pods-then-lifted.json"))]
#[case::webhook(include_str!("../../testdata/webhook-down.json"))]
#[case::crash(include_str!("../../testdata/running-then-crash.json"))]
#[case::frozen(include_str!("../../testdata/quota-replicasets-stop.json"))]
fn recordings(#[case] text: &str) {
    let recording: Value = serde_json::from_str(text).unwrap();
    let mut objects: BTreeMap<(String, String), Value> = BTreeMap::new();
    let mut seen: Vec<(String, String)> = Vec::new();
    for write in recording["writes"].as_array().unwrap() {
        let object = &write["object"];
        let key = (object["kind"].as_str().unwrap().to_owned(), object["metadata"]["uid"].as_str().unwrap().to_owned());
        match write["type"].as_str() {
            Some("DELETED") => objects.remove(&key),
            _ => objects.insert(key, object.clone()),
        };
        let all = |kind: &str| -> Vec<Value> {
            objects.iter().filter(|((of, _), _)| of == kind).map(|(_, object)| object.clone()).collect()
        };
        let answer = match all("Deployment").first() {
            None => ("2".to_owned(), "not-found".to_owned()),
            Some(deployment) => {
                let (sets, pods) = (Given::Items(all("ReplicaSet")), Given::Items(all("Pod")));
                let verdict = judge(deployment, &sets, &pods, Own { single: true, ..Own::default() }, None);
                (verdict.rule.split(' ').next().unwrap().to_owned(), verdict.reason.to_owned())
            }
        };
        if seen.last() != Some(&answer) {
            seen.push(answer);
        }
    }
    let answers = recording["answers"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let want: Vec<(String, String)> = answers.iter().map(|answer| (text(&answer[0]), text(&answer[2]))).collect();
    assert_eq!(seen, want);
}
