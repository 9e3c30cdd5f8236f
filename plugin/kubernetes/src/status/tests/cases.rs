//! Cases from public bug reports of other programs, by number: what was answered wrong there, and must not be here.
//!
//! A case whose point is a wait or a write is tested where operations are; here is what the table says of it.

use serde_json::{Value, json};

use super::super::*;
use super::given::{
    Given, Look, both, condition, container, crash_loop, deadline, deployment, empty_set, none, old, old_pod, pod,
    ready_pod, replica_failure, set, unavailable, unavailable_set, waiting, word,
};

/// The row's number, status and reason.
fn answer(look: &Look) -> (String, &'static str, &'static str) {
    let (row, status, reason) = look.answer();
    (row, word(status), reason)
}

fn expect(look: &Look, row: &str, status: &str, reason: &str) {
    assert_eq!(answer(look), (row.to_owned(), status, reason), "{}", look.decide().message);
}

/// One wanted, counted, and not available.
fn starting(over: Value) -> Look {
    Look::at(unavailable(over))
}

fn ending() -> Value {
    json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:30Z"}})
}

/// A rollout's middle: the old one is available, the new one is not.
fn half_way() -> Value {
    deployment(json!({"status": {"replicas": 2, "updatedReplicas": 1, "unavailableReplicas": 1}}))
}

/// Complete at zero, then started with an image that is not there: no deadline ever comes.
#[test]
fn a01_a_missing_image_fails_without_a_deadline() {
    let over = json!({"status": {"unavailableReplicas": 1, "conditions": [
        {"type": "Available", "status": "False"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}});
    let pod =
        both(waiting("ImagePullBackOff", "Back-off: nginx:1: not found", 0), json!({"status": {"phase": "Pending"}}));
    expect(&starting(over.clone()).with(&[unavailable_set()], &[pod]), "15", "failed", "image-error");
    // Where Pods must not be read it goes on, and the operation's own deadline ends it.
    let hidden = Look { pods: Given::NotReadable, ..starting(over).with(&[unavailable_set()], &[]) };
    expect(&hidden, "19", "creating", "starting");
    assert_eq!(hidden.decide().want, Want::Nothing);
}

/// The ready count spans all revisions.
#[test]
fn a02_an_old_ready_pod_is_no_success_of_the_new_one() {
    let sets = [old(1), unavailable_set()];
    let crashing = Look::at(half_way()).with(&sets, &[old_pod(json!({})), crash_loop()]);
    expect(&crashing, "15", "failed", "crash-loop");
    assert!(crashing.decide().serving_old);
    let creating = Look::at(half_way()).with(&sets, &[old_pod(json!({})), waiting("ContainerCreating", "", 0)]);
    expect(&creating, "18", "creating", "rollout");
    assert!(creating.decide().serving_old);
}

/// Counters of the generation before look complete.
#[test]
fn a03_what_was_not_observed_is_not_running() {
    let object = deployment(json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 2}}));
    expect(&Look::at(object).with(&[set(json!({}))], &[ready_pod()]), "11b", "creating", "unobserved");
}

/// The controller has written nothing yet.
#[test]
fn a04_no_status_is_creating() {
    for status in [json!(null), json!({})] {
        let mut object = deployment(json!({}));
        object["status"] = status;
        expect(&Look::at(object), "11b", "creating", "unobserved");
    }
}

/// Readiness alone says nothing.
#[test]
fn a05_a_ready_count_alone_is_not_running() {
    let ready = json!({"status": {"readyReplicas": 1}});
    expect(
        &Look::at(both(half_way(), ready.clone())).with(&[old(1), unavailable_set()], &[]),
        "18",
        "creating",
        "rollout",
    );
    expect(&Look::at(both(deployment(json!({"metadata": {"generation": 4}})), ready)), "11b", "creating", "unobserved");
}

/// An autoscaler adds replicas to one that serves.
#[test]
fn a06_some_of_several_is_running_partial() {
    let object = deployment(json!({"spec": {"replicas": 3}, "status": {"replicas": 3, "updatedReplicas": 3}}));
    let look = Look::at(object).with(&[set(json!({}))], &[ready_pod()]);
    expect(&look, "17", "running", "partial");
    assert!(look.decide().message.starts_with("1 of 3 replicas available"));
}

/// One of several is started again, also when it crashes for good.
#[test]
fn a07_one_of_several_that_restarts_is_running_partial() {
    let object = deployment(json!({"spec": {"replicas": 2}, "status": {"replicas": 2, "updatedReplicas": 2}}));
    let crashing = both(crash_loop(), json!({"metadata": {"name": "web-1-b", "uid": "p2"}}));
    let look = Look::at(object).with(&[set(json!({}))], &[ready_pod(), crashing]);
    expect(&look, "17", "running", "partial");
    assert!(look.decide().detail.contains(&("pod", "web-1-b".to_owned())), "its reason is told");
}

/// The Deployment's conditions stay neutral while its Pods are broken.
#[test]
fn a08_broken_pods_are_not_hidden() {
    let pod = waiting("CreateContainerConfigError", "secret \"db\" not found", 0);
    let look = starting(json!({})).with(&[unavailable_set()], &[pod]);
    expect(&look, "15", "failed", "config-error");
    assert!(look.decide().message.ends_with("secret \"db\" not found"));
}

/// A writer of statuses that does not know observedGeneration.
#[test]
fn a09_without_an_observed_generation_it_is_creating() {
    let object = deployment(json!({"metadata": {"generation": 1}, "status": {"observedGeneration": null}}));
    let look = Look::at(object).with(&[set(json!({}))], &[]);
    expect(&look, "11b", "creating", "unobserved");
    assert!(look.decide().message.contains("has not been seen by the controller"));
}

/// A quota refuses the Pods, and only one condition tells.
#[test]
fn a10_a_refusal_fails_and_clears_by_itself() {
    let refused = |message: &str| starting(replica_failure(message)).with(&[unavailable_set()], &[]);
    expect(
        &refused("pods \"x\" is forbidden: exceeded quota: q, requested: pods=1"),
        "14",
        "failed",
        "replica-failure",
    );
    expect(&refused("failed calling webhook \"w\": connection refused"), "14", "creating", "rollout");
    expect(&starting(json!({})).with(&[unavailable_set()], &[]), "19", "creating", "starting");
}

/// An autoscaler of the cluster will add a node.
#[test]
fn a11_an_unschedulable_pod_is_creating() {
    let pod = pod(json!({"spec": {"nodeName": null}, "status": {"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes are available"}]}}));
    let look = starting(json!({})).with(&[unavailable_set()], &[pod]);
    expect(&look, "19", "creating", "unschedulable");
    assert!(look.decide().message.contains("0/3 nodes are available"));
}

/// Only the main containers were looked at.
#[test]
fn a12_a_crashing_init_container_fails_and_is_named() {
    let look = starting(json!({})).with(&[unavailable_set()], &[init("CrashLoopBackOff", 5, false)]);
    expect(&look, "15", "failed", "init-error");
    let message = look.decide().message;
    assert!(message.contains("init container prepare of pod web-1-a"), "{message}");
}

/// A Pod whose init container waits, as a sidecar or not.
fn init(reason: &str, restarts: i64, sidecar: bool) -> Value {
    let policy = if sidecar { json!("Always") } else { Value::Null };
    pod(
        json!({"spec": {"initContainers": [{"name": "prepare", "restartPolicy": policy}]}, "status": {"phase": "Pending",
        "initContainerStatuses": [{"name": "prepare", "restartCount": restarts, "state": {"waiting": {"reason": reason}},
            "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}}],
        "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]}}),
    )
}

/// It ends once or twice while its database starts.
#[test]
fn a13_the_first_exits_do_not_fail() {
    let look = |pod: Value| starting(json!({})).with(&[unavailable_set()], &[pod]);
    let ended = json!({"restartCount": 0, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}});
    expect(&look(container(ended)), "19", "creating", "pod-error");
    let last = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
    let again = json!({"restartCount": 1, "state": {"running": {}}, "lastState": last});
    expect(&look(container(again)), "19", "creating", "starting");
    expect(&look(waiting("CrashLoopBackOff", "", 1)), "19", "creating", "pod-error");
    expect(&Look::at(deployment(json!({}))).with(&[set(json!({}))], &[ready_pod()]), "13", "running", "available");
}

/// The old revision is the broken one.
#[test]
fn a14_a_broken_old_pod_does_not_fail_the_new_one() {
    let owner = json!({"metadata": {"name": "web-0-a", "uid": "q",
        "ownerReferences": [{"kind": "ReplicaSet", "uid": "o", "controller": true}]}});
    let pods = [both(crash_loop(), owner), ready_pod()];
    let object = deployment(json!({"status": {"replicas": 2, "updatedReplicas": 1}}));
    expect(&Look::at(object).with(&[old(0), set(json!({}))], &pods), "19", "creating", "starting");
    let gone = Look::at(deployment(json!({}))).with(&[set(json!({}))], &[ready_pod()]);
    expect(&gone, "13", "running", "available");
}

/// Paused is neither success nor a reason to wait.
#[test]
fn a15_paused_is_running_or_failed() {
    let paused = json!({"spec": {"paused": true}});
    expect(&Look::at(deployment(paused.clone())).with(&[set(json!({}))], &[]), "13", "running", "paused");
    let never = both(paused, condition("Progressing", "Unknown", "DeploymentPaused", ""));
    let none = json!({"status": {"replicas": null, "updatedReplicas": null}});
    let look = starting(both(never, none)).with(&[], &[]);
    expect(&look, "16", "failed", "paused");
    assert!(look.decide().message.contains("until it is resumed"));
}

/// The deadline of an earlier attempt.
#[test]
fn a16_a_deadline_from_before_does_not_fail_the_next_attempt() {
    let own = Own { since_write_ms: Some(30), ..Own::default() };
    let unobserved = both(deadline(), json!({"metadata": {"generation": 6}, "status": {"observedGeneration": 5}}));
    let at = |object: Value| Look { own, ..Look::at(object) }.with(&[unavailable_set()], &[]);
    expect(&at(unavailable(unobserved)), "11b", "creating", "unobserved");
    expect(&at(unavailable(deadline())), "12", "creating", "rollout");
    let updated = condition("Progressing", "True", "ReplicaSetUpdated", "");
    expect(&at(unavailable(updated)), "19", "creating", "starting");
}

/// A Pod on its way out still has the phase Running.
#[test]
fn a17_a_terminating_pod_is_stopping() {
    let pod = both(ready_pod(), ending());
    expect(&Look::at(none(json!({}))).with(&[empty_set()], &[pod]), "8", "offline", "stopping");
}

/// The counters say zero while the containers have their grace.
#[test]
fn a18_it_is_stopped_when_no_pod_is_left() {
    let object = none(json!({"status": {"terminatingReplicas": null}}));
    let look = Look::at(object.clone()).with(&[empty_set()], &[both(ready_pod(), ending())]);
    expect(&look, "8", "offline", "stopping");
    assert!(!look.decide().settled);
    expect(&Look::at(object).with(&[empty_set()], &[]), "10", "offline", "stopped");
}

/// Zero is what was wanted.
#[test]
fn a19_none_wanted_and_none_left_is_stopped() {
    let conditions = json!({"status": {"conditions": [{"type": "Available", "status": "True"},
        {"type": "Progressing", "status": "True", "reason": "NewReplicaSetAvailable"}]}});
    let look = Look::at(none(conditions)).with(&[empty_set()], &[]);
    expect(&look, "10", "offline", "stopped");
    assert!(look.decide().is_stopped());
}

/// "Rolled out" with nothing that serves.
#[test]
fn a20_stopped_is_never_running() {
    let verdict = Look::at(none(json!({}))).with(&[], &[]).decide();
    assert!(!verdict.is_running() && verdict.available == 0 && verdict.desired == 0);
}

/// Started again while the old Pod still ends.
#[test]
fn a21_a_terminating_pod_does_not_hold_the_new_one_back() {
    let leaving = both(both(ready_pod(), ending()), json!({"metadata": {"name": "web-1-b", "uid": "p2"}}));
    let only = starting(json!({})).with(&[unavailable_set()], std::slice::from_ref(&leaving));
    expect(&only, "19", "creating", "starting");
    let both_there = Look::at(deployment(json!({}))).with(&[set(json!({}))], &[leaving, ready_pod()]);
    expect(&both_there, "13", "running", "available");
}

/// What has failed can be stopped like anything else: the table does not hold it back.
#[test]
fn a22_a_failed_one_that_is_stopped_is_stopping_then_stopped() {
    let left = none(both(deadline(), json!({"status": {"replicas": 1}})));
    expect(&Look::at(left).with(&[empty_set()], &[crash_loop()]), "7", "offline", "stopping");
    expect(&Look::at(none(deadline())).with(&[empty_set()], &[]), "10", "offline", "stopped");
}

/// Two with the same selector.
#[test]
fn a23_pods_are_told_by_their_owners_not_by_labels() {
    let labels = json!({"metadata": {"labels": {"app": "x"}}});
    let foreign_set = both(
        set(labels.clone()),
        json!({"metadata": {"name": "other-1", "uid": "r9",
        "ownerReferences": [{"kind": "Deployment", "uid": "d9", "controller": true}]}}),
    );
    let foreign = both(
        both(ready_pod(), labels),
        json!({"metadata": {"name": "other-1-a", "uid": "p9",
        "ownerReferences": [{"kind": "ReplicaSet", "uid": "r9", "controller": true}]}}),
    );
    let sets = [empty_set(), foreign_set];
    expect(&Look::at(none(json!({}))).with(&sets, std::slice::from_ref(&foreign)), "10", "offline", "stopped");
    let doomed = both(foreign, crash_loop());
    let foreign_doomed = both(doomed, json!({"metadata": {"ownerReferences": [{"uid": "r9", "controller": true}]}}));
    expect(&starting(json!({})).with(&[unavailable_set()], &[foreign_doomed]), "19", "creating", "starting");
}

/// The strategy plays no part in what is.
#[test]
fn a24_a_stop_that_was_not_written_leaves_it_running() {
    let recreate = json!({"spec": {"strategy": {"type": "Recreate"}}});
    expect(&Look::at(deployment(recreate)).with(&[set(json!({}))], &[ready_pod()]), "13", "running", "available");
}

/// The node is gone, and with it whoever could say that the containers ended.
#[test]
fn a29_a_pod_on_a_lost_node_is_stopping_and_named() {
    let lost = both(
        ready_pod(),
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"conditions": [{"type": "Ready", "status": "False"}]}}),
    );
    let look = Look::at(none(json!({}))).with(&[empty_set()], &[lost]).server_ms(super::given::MADE_MS + 600_000);
    expect(&look, "8", "offline", "stopping");
    let message = look.decide().message;
    let want = "pod web-1-a on node n1 should have ended 10m0s ago, its node is probably lost";
    assert!(message.ends_with(want), "{message}");
}

/// A Pod that was never placed keeps a finalizer.
#[test]
fn a30_a_pending_pod_with_a_finalizer_is_stopping_until_it_failed() {
    let held = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]},
        "spec": {"nodeName": null}, "status": {"phase": "Pending"}});
    let look = Look::at(none(json!({}))).with(&[empty_set()], &[pod(held.clone())]);
    expect(&look, "8", "offline", "stopping");
    let verdict = look.decide();
    assert!(verdict.message.ends_with("held by x/y") && verdict.detail.contains(&("finalizer", "x/y".to_owned())));
    let failed = pod(both(held, json!({"status": {"phase": "Failed"}})));
    expect(&Look::at(none(json!({}))).with(&[empty_set()], &[failed]), "10", "offline", "stopped");
    expect(&Look::at(none(json!({}))).with(&[empty_set()], &[]), "10", "offline", "stopped");
}

/// Nothing has to change: what is wanted is there.
#[test]
fn a31_without_a_new_generation_the_table_decides() {
    expect(&Look::at(deployment(json!({}))).with(&[set(json!({}))], &[]), "13", "running", "available");
    expect(&Look::at(none(json!({}))).with(&[empty_set()], &[]), "10", "offline", "stopped");
}

/// The replica exists and is not available.
#[test]
fn a32_a_replica_that_exists_is_not_running() {
    expect(&starting(json!({})).with(&[unavailable_set()], &[pod(json!({}))]), "19", "creating", "starting");
}

/// A sidecar that runs for ever hides a crash of the main container.
#[test]
fn b08_a_started_sidecar_is_not_initialising() {
    let proxy = json!({"spec": {"initContainers": [{"name": "proxy", "restartPolicy": "Always"}]},
        "status": {"initContainerStatuses": [{"name": "proxy", "ready": true, "started": true, "state": {"running": {}}}]}});
    let crashing = starting(json!({})).with(&[unavailable_set()], &[both(crash_loop(), proxy.clone())]);
    expect(&crashing, "15", "failed", "crash-loop");
    assert!(crashing.decide().detail.contains(&("container", "main".to_owned())));
    let complete = Look::at(deployment(json!({}))).with(&[set(json!({}))], &[both(ready_pod(), proxy)]);
    expect(&complete, "13", "running", "available");
    let broken = starting(json!({})).with(&[unavailable_set()], &[init("CrashLoopBackOff", 5, true)]);
    expect(&broken, "15", "failed", "init-error");
    assert!(broken.decide().message.contains("sidecar prepare of pod"));
}
