//! What recordings of a real cluster taught about the table, by number. Those about writes, watches and lists are tested
//! where operations are.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::given::{
    Look, MADE_MS, both, container, crash_loop, create_error, deadline, deployment, empty_set, none, old, pod,
    ready_pod, set, unavailable, unavailable_set, waiting, word,
};

fn answer(look: &Look) -> (String, &'static str, &'static str) {
    let (row, status, reason) = look.answer();
    (row, word(status), reason)
}

/// The rows and reasons of a recording, as its replay checks them.
fn recorded(name: &str) -> Vec<(u64, String, String, bool)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("testdata/recordings/{name}.json"));
    let recording: Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let answers = recording["answers"].as_array().unwrap().iter();
    answers.map(|it| (it[0].as_u64().unwrap(), text(&it[1]), text(&it[3]), it[4].as_bool().unwrap())).collect()
}

fn reasons(name: &str) -> Vec<String> {
    recorded(name).into_iter().map(|(_, _, reason, _)| reason).collect()
}

fn starting(pod: Value) -> Look {
    Look::at(unavailable(json!({}))).with(&[unavailable_set()], &[pod])
}

/// With ReplicaSetCreateError the status is frozen, also at zero: a stop must not wait for it.
#[test]
fn fa01_a_frozen_status_does_not_hold_a_stop() {
    let counters = json!({"status": {"replicas": 1, "readyReplicas": 1, "availableReplicas": 1}});
    let frozen = none(both(create_error(), counters));
    assert_eq!(Look::at(frozen.clone()).with(&[empty_set()], &[]).decide().rule, "5a frozen");
    assert!(Look::at(frozen.clone()).with(&[empty_set()], &[]).decide().is_stopped());
    assert!(!Look::at(frozen).with(&[empty_set()], &[pod(json!({}))]).decide().is_stopped());
    for name in [
        "quota-replicasets-zero",
        "quota-replicasets-fresh-stop",
        "quota-replicasets-start",
        "quota-replicasets-nodeadline",
        "quota-replicasets-stop",
    ] {
        let stopped = recorded(name).into_iter().any(|(_, row, reason, _)| row == "5a" && reason == "stopped");
        assert!(stopped, "{name}");
    }
}

/// For some 28 ms after 1, 0, 1 the old counters stand at the new generation: only the ReplicaSet knows better.
#[test]
fn fa02_copied_counters_are_not_running() {
    let copied = Look::at(deployment(json!({}))).with(
        &[unavailable_set()],
        &[both(
            ready_pod(),
            json!({"metadata":
        {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
        )],
    );
    assert_eq!(answer(&copied), ("19".to_owned(), "creating", "starting"));
    assert_eq!(copied.decide().available, 0);
    let at = |name: &str, from: u64, to: u64| {
        recorded(name).into_iter().any(|(t, _, reason, _)| (from..to).contains(&t) && reason == "available")
    };
    assert!(!at("stop-start-race", 7_500, 7_600) && !at("second-writer-resets", 1_630, 1_670));
}

/// The controller tries for 164 s: after that lifting the cause is not enough, and the message says so.
#[test]
fn fa03_the_controller_gives_up() {
    let error = json!([{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
        "message": "exceeded quota", "lastUpdateTime": "2026-01-01T00:00:00Z"}]);
    let object = deployment(json!({"status": {"observedGeneration": null, "conditions": error}}));
    let message = |seconds: u64| Look::at(object.clone()).server_ms(MADE_MS + seconds * 1_000).decide().message;
    assert!(message(60).contains("gives up after three minutes"), "{}", message(60));
    assert!(message(200).contains("lifting the cause is not enough"), "{}", message(200));
    let revived: Vec<u64> =
        recorded("quota-replicasets-gives-up").into_iter().filter(|it| it.2 == "starting").map(|it| it.0).collect();
    assert!(revived.iter().all(|t| *t > 240_000), "not when the quota was lifted, at 200 s");
}

/// The Deployment's own counter of what serves is frozen as well.
#[test]
fn fa04_what_serves_is_told_by_the_replica_sets() {
    let unobserved = both(create_error(), json!({"metadata": {"generation": 4}}));
    let old_serves =
        |available: i64| Look::at(deployment(unobserved.clone())).with(&[old(available)], &[]).decide().serving_old;
    assert_eq!((old_serves(1), old_serves(0)), (true, false));
    let last = recorded("quota-replicasets-old-pod-unready").pop().unwrap();
    assert_eq!((&*last.2, last.3), ("rollout-error", false));
}

/// ReplicaSetCreateError at an observed generation is real: after scaling during it.
#[test]
fn fa05_an_observed_create_error_fails_by_its_condition() {
    let look = Look::at(unavailable(create_error())).with(&[old(1)], &[]);
    assert_eq!(answer(&look), ("12".to_owned(), "failed", "rollout-error"));
    assert!(recorded("quota-replicasets-scale").iter().any(|it| it.1 == "12" && it.2 == "rollout-error" && it.3));
}

/// CrashLoopBackOff shows for a second at the end of twenty: what ended counts as much, whatever its code.
#[test]
fn fa06_what_ended_again_is_a_crash_loop_without_the_word() {
    for (code, reason) in [(1, "Error"), (0, "Completed")] {
        let ended = json!({"restartCount": 2, "state": {"terminated": {"exitCode": code, "reason": reason}}});
        assert_eq!(answer(&starting(container(ended))).2, "crash-loop");
    }
    assert_eq!(reasons("crashloop-after-complete").last().map(String::as_str), Some("crash-loop"), "no flapping");
}

/// The first CrashLoopBackOff comes after one restart and can be harmless.
#[test]
fn fa07_the_first_back_off_does_not_fail() {
    assert_eq!(answer(&starting(waiting("CrashLoopBackOff", "", 1))).1, "creating");
    assert!(!reasons("crash-twice-then-healthy").contains(&"crash-loop".to_owned()));
}

/// Exit code 128 is what every process gets that cannot be started: the message decides.
#[test]
fn fa08_a_start_error_is_told_by_its_message() {
    for name in ["command-not-found", "command-not-executable"] {
        let reasons = reasons(name);
        assert!(reasons.contains(&"config-error".to_owned()) && !reasons.contains(&"crash-loop".to_owned()), "{name}");
    }
}

/// containerd's own texts: a capital letter, a bare code.
#[test]
fn fa09_a_refused_image_is_told_by_containerds_words() {
    for name in ["image-unauthorized", "image-forbidden", "image-not-found"] {
        assert!(reasons(name).contains(&"image-error".to_owned()), "{name}");
    }
    for name in ["image-too-many-requests", "image-registry-503", "image-registry-refused"] {
        let reasons = reasons(name);
        assert!(reasons.contains(&"image-pull".to_owned()) && !reasons.contains(&"image-error".to_owned()), "{name}");
    }
}

/// There is no phase Unknown and no NodeLost any more: only the Pod's condition turns, without a reason.
#[test]
fn fa10_a_lost_node_shows_in_one_condition_only() {
    let lost = both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}));
    assert!(starting(lost).decide().message.contains("probably lost"));
    let ready = both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "True"}]}}));
    assert!(!starting(ready).decide().message.contains("lost"));
    assert!(recorded("node-lost-stop").iter().any(|it| it.2 == "starting" && it.0 > 40_000));
}

/// Recreate waits for the old Pod, makes no ReplicaSet and sets no deadline: the old Pod is named.
#[test]
fn fa11_recreate_waits_for_the_old_pod_and_names_it() {
    let stuck = super::given::old_pod(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}));
    let verdict = Look::at(unavailable(json!({}))).with(&[old(0)], &[stuck]).server_ms(MADE_MS + 56_000).decide();
    assert_eq!(verdict.reason, "starting");
    assert!(verdict.message.ends_with("pod web-0-a on node n1 should have ended 56s ago"), "{}", verdict.message);
}

/// A Pod that was never placed ends as Failed within 20 s: it is stopped though the object stays.
#[test]
fn fa12_a_failed_pod_with_a_finalizer_is_no_live_one() {
    let held = pod(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]},
        "status": {"phase": "Failed"}}));
    assert!(Look::at(none(json!({}))).with(&[empty_set()], &[held]).decide().is_stopped());
    assert_eq!(reasons("pod-pending-finalizer").last().map(String::as_str), Some("stopped"));
}

/// A written zero of terminatingReplicas is there; absent is not zero.
#[test]
fn fa15_an_absent_terminating_count_is_not_zero() {
    let hidden = |count: Value| {
        let look = Look::at(none(json!({"status": {"terminatingReplicas": count}}))).with(&[empty_set()], &[]);
        Look { pods: super::given::Given::NotReadable, ..look }.decide().reason
    };
    assert_eq!((hidden(json!(0)), hidden(json!(null))), ("stopped", "stopped-unverified"));
}

/// Deleting is not stopping: Pods may serve for as long as a finalizer holds the Deployment.
#[test]
fn fa17_what_is_being_deleted_may_serve() {
    let meta = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}});
    let verdict = Look::at(deployment(meta.clone())).decide();
    assert_eq!((verdict.reason, verdict.settled), ("deleting", false));
    assert_eq!(verdict.message, "it is being deleted, waiting for x/y; its pods may still serve");
    let seen = Look::at(deployment(meta)).with(&[set(json!({}))], &[ready_pod()]).decide();
    assert!(seen.message.ends_with("pod web-1-a on node n1 is still there"), "{}", seen.message);
}

/// One of two crashes: it serves, and does not flap.
#[test]
fn fa18_a_doomed_pod_beside_one_that_serves_is_partial() {
    let object = deployment(json!({"spec": {"replicas": 2}, "status": {"replicas": 2, "updatedReplicas": 2}}));
    let verdict = Look::at(object).with(&[set(json!({}))], &[crash_loop()]).decide();
    assert_eq!((verdict.rule, verdict.reason), ("17 partial", "partial"));
    assert!(verdict.detail.contains(&("cause", "CrashLoopBackOff".to_owned())));
    assert!(!recorded("running-then-crash").iter().any(|it| it.1 == "15"));
}

/// The newest is the one with the present template, not the one of the highest revision.
#[test]
fn fa19_the_newest_has_the_present_template() {
    let highest = json!({"metadata": {"annotations": {"deployment.kubernetes.io/revision": "9"}}});
    let paused = unavailable(json!({"spec": {"paused": true}}));
    let verdict = Look::at(paused).with(&[both(old(1), highest)], &[]).decide();
    assert_eq!((verdict.rule, verdict.serving_old), ("16 paused", true));
    assert!(recorded("paused-then-scaled").iter().any(|it| it.1 == "16" && it.3));
}

/// A deadline hides nothing that is better known.
#[test]
fn fa20_a_deadline_keeps_the_better_reason() {
    let crashed = Look::at(unavailable(deadline())).with(&[unavailable_set()], &[crash_loop()]).decide();
    assert_eq!((crashed.rule, crashed.reason), ("12 progress", "crash-loop"));
    assert!(crashed.message.contains("exit code 1") && crashed.message.ends_with("it has timed out progressing"));
    for (name, reason) in [
        ("image-not-found", "image-error"),
        ("quota-pods-stop", "replica-failure"),
        ("limitrange-rejects", "replica-failure"),
        ("init-crash", "init-error"),
    ] {
        assert!(recorded(name).iter().any(|it| it.1 == "12" && it.2 == reason), "{name}");
    }
}

/// Nothing on a Deployment tells that its namespace is being deleted.
#[test]
fn fa21_a_namespace_that_is_deleted_shows_as_creating() {
    assert_eq!(reasons("namespace-deleted"), ["unobserved", "starting", "available", "starting", "not-found"]);
}

/// An absent count of a Deployment is one. On its scale it is zero, which is never read as a Deployment.
#[test]
fn fb01_an_absent_count_of_a_deployment_is_one() {
    let object = deployment(json!({"spec": {"replicas": null}}));
    assert_eq!(Look::at(object).decide().desired, 1);
}

/// A deletion changes what the kubelet says.
#[test]
fn fb05_no_reason_is_read_from_a_pod_that_is_deleted() {
    let pod = both(
        waiting("ErrImagePull", "not found", 0),
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}),
    );
    assert_eq!(answer(&starting(pod)).2, "starting");
}

/// An evicted Pod may be left as Succeeded, without a word.
#[test]
fn fb06_leftovers_of_an_eviction_count_for_nothing() {
    for phase in ["Succeeded", "Failed"] {
        let left = pod(json!({"status": {"phase": phase, "reason": "Evicted"}}));
        assert!(Look::at(none(json!({}))).with(&[empty_set()], &[left]).decide().is_stopped());
    }
    for name in ["pod-evicted", "pod-evicted-exit0", "pod-failed-leftover"] {
        assert!(reasons(name).contains(&"stopped".to_owned()), "{name}");
    }
}

/// Pods that the kubelet refuses are replaced at once, faster than one can look at them.
#[test]
fn fb10_refused_pods_are_counted() {
    assert!(recorded("outof-cpu-churn").iter().any(|it| it.1 == "15" && it.2 == "replica-failure"));
}

/// An autoscaler's condition stays when it has long gone on: no condition of others is looked at.
#[test]
fn fb11_conditions_of_others_are_ignored() {
    let others =
        json!({"status": {"conditions": [{"type": "ScalingActive", "status": "False", "reason": "ScalingDisabled"}]}});
    assert_eq!(answer(&Look::at(deployment(others)).with(&[set(json!({}))], &[])).2, "available");
}
