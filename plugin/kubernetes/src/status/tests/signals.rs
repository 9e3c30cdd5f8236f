//! What Pods say, signal by signal.

use rstest::rstest;
use serde_json::{Value, json};

use super::given::{
    Look, MADE_MS, both, container, crash_loop, deployment, empty_set, none, old, old_pod, pod, ready_pod, set,
    unavailable, unavailable_set, waiting, word,
};

/// One replica wanted, none available, and this Pod.
fn look(pod: Value) -> Look {
    Look::at(unavailable(json!({}))).with(&[unavailable_set()], &[pod])
}

fn answer(look: &Look) -> (&'static str, &'static str) {
    let verdict = look.decide();
    (word(verdict.status), verdict.reason)
}

/// A container that ended and is not started again yet.
fn ended(code: i64, reason: &str, restarts: i64) -> Value {
    container(json!({"restartCount": restarts, "state": {"terminated": {"exitCode": code, "reason": reason}}}))
}

/// A container that shows `now`, with what its last process ended with.
fn after(now: &str, last: &str, message: &str, restarts: i64) -> Value {
    container(json!({"restartCount": restarts, "state": {"waiting": {"reason": now, "message": "back-off 10s"}},
        "lastState": {"terminated": {"exitCode": 128, "reason": last, "message": message}}}))
}

/// A Pod whose init container is as said, while its container waits.
fn init(over: Value) -> Value {
    let status = both(json!({"name": "prepare", "ready": false, "restartCount": 0}), over);
    pod(json!({"spec": {"initContainers": [{"name": "prepare"}]}, "status": {"phase": "Pending",
        "initContainerStatuses": [status],
        "containerStatuses": [{"name": "main", "state": {"waiting": {"reason": "PodInitializing"}}}]}}))
}

/// The same, and it is a sidecar.
fn sidecar(over: Value) -> Value {
    both(init(over), json!({"spec": {"initContainers": [{"name": "prepare", "restartPolicy": "Always"}]}}))
}

fn unplaced(reason: &str) -> Value {
    pod(json!({"spec": {"nodeName": null}, "status": {"phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": reason, "message": "0/1 nodes fit."}]}}))
}

const NO_FILE: &str = "exec: \"/nope\": stat /nope: no such file or directory";

#[rstest]
// Crashes.
#[case::back_off_early(waiting("CrashLoopBackOff", "", 1), "creating", "pod-error")]
#[case::back_off(waiting("CrashLoopBackOff", "", 2), "failed", "crash-loop")]
#[case::ended_first(ended(1, "Error", 0), "creating", "pod-error")]
#[case::ended_early(ended(1, "Error", 1), "creating", "pod-error")]
#[case::ended(ended(1, "Error", 2), "failed", "crash-loop")]
#[case::ended_well_early(ended(0, "Completed", 1), "creating", "pod-error")]
#[case::ended_well(ended(0, "Completed", 2), "failed", "crash-loop")]
#[case::out_of_memory(ended(137, "OOMKilled", 2), "failed", "crash-loop")]
#[case::running_again(container(json!({"restartCount": 5, "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}})), "creating", "starting")]
// Images.
#[case::image_missing(waiting("ErrImagePull", "nginx:1: not found", 0), "failed", "image-error")]
#[case::image_missing_again(waiting("ImagePullBackOff", "Back-off: nginx:1: Not Found", 0), "failed", "image-error")]
#[case::image_manifest(waiting("ErrImagePull", "manifest unknown", 0), "failed", "image-error")]
#[case::image_unauthorized(waiting("ErrImagePull", "[manifests 1]: 401 Unauthorized", 0), "failed", "image-error")]
#[case::image_code_401(waiting("ErrImagePull", "status code 401", 0), "failed", "image-error")]
#[case::image_code_403(waiting("ErrImagePull", "(403)", 0), "failed", "image-error")]
#[case::image_forbidden(waiting("ErrImagePull", "Forbidden", 0), "failed", "image-error")]
#[case::image_denied(waiting("ErrImagePull", "requested access to the resource is denied", 0), "failed", "image-error")]
#[case::image_reference(waiting("ErrImagePull", "Invalid Reference format", 0), "failed", "image-error")]
#[case::image_digits(
    waiting("ErrImagePull", "sha256:40134030 took 14033 ms: i/o timeout", 0),
    "creating",
    "image-pull"
)]
#[case::image_name(both(waiting("ErrImagePull", "pulling host/denied:403: i/o timeout", 0), json!({"status": {"containerStatuses": [{"name": "main", "image": "host/denied:403", "state": {"waiting": {"reason": "ErrImagePull", "message": "pulling host/denied:403: i/o timeout"}}}]}})), "creating", "image-pull")]
#[case::image_refused(waiting("ErrImagePull", "dial tcp: connection refused", 0), "creating", "image-pull")]
#[case::image_throttled(
    waiting("ImagePullBackOff", "429 Too Many Requests: toomanyrequests", 0),
    "creating",
    "image-pull"
)]
#[case::image_server(waiting("ErrImagePull", "503 Service Unavailable", 0), "creating", "image-pull")]
#[case::image_certificate(
    waiting("ErrImagePull", "x509: certificate signed by unknown authority", 0),
    "creating",
    "image-pull"
)]
#[case::image_invalid(waiting("InvalidImageName", "", 0), "failed", "image-error")]
#[case::image_never(waiting("ErrImageNeverPull", "", 0), "failed", "image-error")]
// Configuration.
#[case::config(waiting("CreateContainerConfigError", "secret \"s\" not found", 0), "failed", "config-error")]
#[case::create(waiting("CreateContainerError", "no command specified", 0), "failed", "config-error")]
#[case::config_not_synced(
    waiting("CreateContainerConfigError", "Failed to sync configmap cache: timed out", 0),
    "creating",
    "starting"
)]
// Processes that cannot be started.
#[case::start_file(waiting("RunContainerError", NO_FILE, 0), "failed", "config-error")]
#[case::start_permission(waiting("StartError", "exec: permission denied", 0), "failed", "config-error")]
#[case::start_path(
    waiting("ContainerCannotRun", "\"x\": executable file not found in $PATH", 0),
    "failed",
    "config-error"
)]
#[case::start_format(waiting("RunContainerError", "exec format error", 0), "failed", "config-error")]
#[case::start_other_early(waiting("RunContainerError", "cannot make a sandbox", 1), "creating", "pod-error")]
#[case::start_other(waiting("RunContainerError", "cannot make a sandbox", 2), "failed", "crash-loop")]
#[case::start_while_backing_off(after("CrashLoopBackOff", "StartError", NO_FILE, 1), "failed", "config-error")]
#[case::start_other_while_backing_off(
    after("CrashLoopBackOff", "StartError", "no sandbox", 1),
    "creating",
    "pod-error"
)]
#[case::start_message_of_last(after("RunContainerError", "StartError", NO_FILE, 0), "failed", "config-error")]
#[case::start_ended(container(json!({"state": {"terminated": {"exitCode": 128, "reason": "StartError", "message": NO_FILE}}})), "failed", "config-error")]
#[case::start_other_after_an_end(after("RunContainerError", "Error", NO_FILE, 0), "creating", "pod-error")]
#[case::said_by_the_process_itself(after("CrashLoopBackOff", "Error", NO_FILE, 1), "creating", "pod-error")]
// Init containers.
#[case::init_crash_early(init(json!({"restartCount": 1, "state": {"waiting": {"reason": "CrashLoopBackOff"}}})), "creating", "pod-error")]
#[case::init_crash(init(json!({"restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}})), "failed", "init-error")]
#[case::init_config(init(json!({"state": {"waiting": {"reason": "CreateContainerConfigError"}}})), "failed", "init-error")]
#[case::init_start(init(json!({"state": {"waiting": {"reason": "RunContainerError", "message": NO_FILE}}})), "failed", "init-error")]
#[case::init_image(init(json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}})), "failed", "image-error")]
#[case::init_image_late(init(json!({"state": {"waiting": {"reason": "ErrImagePull", "message": "timeout"}}})), "creating", "image-pull")]
#[case::init_running(init(json!({"state": {"running": {}}})), "creating", "starting")]
#[case::init_done(init(json!({"restartCount": 4, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}})), "creating", "starting")]
#[case::sidecar_crash(sidecar(json!({"restartCount": 2, "started": false, "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}})), "failed", "init-error")]
#[case::sidecar_started_and_ended(sidecar(json!({"restartCount": 2, "started": true, "state": {"terminated": {"exitCode": 1, "reason": "Error"}}})), "failed", "crash-loop")]
#[case::sidecar_unready(sidecar(json!({"started": true, "state": {"running": {}}})), "creating", "starting")]
// Places.
#[case::unschedulable(unplaced("Unschedulable"), "creating", "unschedulable")]
#[case::gated(unplaced("SchedulingGated"), "creating", "starting")]
#[case::pending(pod(json!({"status": {"phase": "Pending"}})), "creating", "starting")]
#[case::creating(waiting("ContainerCreating", "", 0), "creating", "starting")]
#[case::initializing(waiting("PodInitializing", "", 0), "creating", "starting")]
// Words that nobody knows yet.
#[case::unknown(waiting("Thinking", "", 9), "creating", "starting")]
#[case::unknown_error_early(waiting("PostStartHookError", "", 1), "creating", "pod-error")]
#[case::unknown_error(waiting("PostStartHookError", "", 2), "failed", "crash-loop")]
#[case::unknown_back_off(waiting("WhateverBackOff", "", 2), "failed", "crash-loop")]
#[case::unknown_err(waiting("ErrWhatever", "", 2), "failed", "crash-loop")]
#[case::no_word(waiting("", "", 9), "creating", "starting")]
// Pods that are not listened to.
#[case::being_deleted(both(crash_loop(), json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})), "creating", "starting")]
#[case::failed(both(crash_loop(), json!({"status": {"phase": "Failed"}})), "creating", "starting")]
#[case::foreign(both(crash_loop(), json!({"metadata": {"ownerReferences": [{"uid": "x", "controller": true}]}})), "creating", "starting")]
#[case::old_revision(both(crash_loop(), json!({"metadata": {"ownerReferences": [{"uid": "o", "controller": true}]}})), "creating", "starting")]
fn signals(#[case] pod: Value, #[case] status: &str, #[case] reason: &str) {
    let look = Look::at(unavailable(json!({}))).with(&[unavailable_set(), old(0)], &[pod]);
    let row = if status == "failed" { "15 doomed pod" } else { "19 starting" };
    assert_eq!((look.decide().rule, answer(&look)), (row, (status, reason)));
}

/// The best known is told, wherever it stands.
#[rstest]
#[case::image_before_crash(&[crash_loop(), waiting("ErrImagePull", "not found", 0)], "image-error")]
#[case::crash_before_pull(&[waiting("ErrImagePull", "timeout", 0), crash_loop()], "crash-loop")]
#[case::pull_before_place(&[unplaced("Unschedulable"), waiting("ErrImagePull", "timeout", 0)], "image-pull")]
#[case::place_before_creating(&[waiting("ContainerCreating", "", 0), unplaced("Unschedulable")], "unschedulable")]
fn of_several_the_better_known(#[case] pods: &[Value], #[case] reason: &str) {
    let mut pods: Vec<Value> = pods.to_vec();
    for (place, pod) in pods.iter_mut().enumerate() {
        pod["metadata"]["name"] = json!(format!("web-1-{place}"));
    }
    for _ in 0..2 {
        let look = Look::at(unavailable(json!({}))).with(&[unavailable_set()], &pods);
        assert_eq!(answer(&look).1, reason);
        pods.reverse();
    }
}

/// Refused by the kubelet, and replaced at once.
#[rstest]
#[case::three(3, "OutOfcpu", 59_000, "failed", "replica-failure")]
#[case::admission(3, "UnexpectedAdmissionError", 0, "failed", "replica-failure")]
#[case::affinity(3, "NodeAffinity", 0, "failed", "replica-failure")]
#[case::two(2, "OutOfcpu", 0, "creating", "starting")]
#[case::long_ago(3, "OutOfcpu", 61_000, "creating", "starting")]
#[case::evicted(3, "Evicted", 0, "creating", "starting")]
#[case::preempted(3, "Preempting", 0, "creating", "starting")]
#[case::shut_down(3, "NodeShutdown", 0, "creating", "starting")]
#[case::no_reason(3, "", 0, "creating", "starting")]
fn refused(#[case] count: usize, #[case] why: &str, #[case] ago_ms: u64, #[case] status: &str, #[case] reason: &str) {
    let refused = |place: usize| {
        pod(json!({"metadata": {"name": format!("web-1-{place}"), "uid": place.to_string()},
            "status": {"phase": "Failed", "reason": why, "message": "Node didn't have enough resource."}}))
    };
    let pods: Vec<Value> = (0..count).map(refused).collect();
    let look = Look::at(unavailable(json!({}))).with(&[unavailable_set()], &pods).server_ms(MADE_MS + ago_ms);
    assert_eq!(answer(&look), (status, reason));
    let deleted = json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}});
    let ended: Vec<Value> = pods.iter().map(|pod| both(pod.clone(), deleted.clone())).collect();
    let by_hand = Look::at(unavailable(json!({}))).with(&[unavailable_set()], &ended).server_ms(MADE_MS + ago_ms);
    assert_eq!(answer(&by_hand).0, "creating", "somebody deleted them");
    let serving = Look::at(deployment(json!({}))).with(&[set(json!({}))], &pods).server_ms(MADE_MS + ago_ms);
    assert_eq!(answer(&serving), ("running", "available"));
    if status == "failed" {
        let verdict = look.decide();
        assert!(verdict.message.contains("3 pods were refused"), "{}", verdict.message);
        assert!(verdict.detail.contains(&("cause", why.to_owned())));
    }
}

/// The kubelet wrote last that all is well; only the Pod's own condition says otherwise.
#[test]
fn a_lost_node_is_not_available_and_not_stopped() {
    let lost = both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}));
    let starting = look(lost.clone()).decide();
    assert_eq!((starting.rule, starting.reason), ("19 starting", "starting"));
    assert!(starting.message.ends_with("its node is probably lost"), "{}", starting.message);
    let stopping = Look::at(none(json!({}))).with(&[empty_set()], std::slice::from_ref(&lost)).decide();
    assert_eq!((stopping.rule, stopping.reason, stopping.settled), ("8 pods left", "stopping", false));
    assert!(stopping.message.ends_with("its node is probably lost"), "{}", stopping.message);
    let unobserved = json!({"metadata": {"generation": 2}});
    let counted = Look::at(deployment(json!({}))).with(&[set(unobserved)], &[lost]).decide();
    assert_ne!(counted.reason, "available");
}

#[rstest]
#[case::crash(
    container(json!({"restartCount": 5, "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 5m0s"}},
        "lastState": {"terminated": {"exitCode": 137, "reason": "OOMKilled"}}})),
    "container main of pod web-1-a on node n1 ended with exit code 137 (OOMKilled), restarted 5 times"
)]
#[case::said(
    container(json!({"state": {"terminated": {"exitCode": 1, "reason": "Error", "message": "no database.\n"}}})),
    "container main of pod web-1-a on node n1 ended with exit code 1 (Error): no database"
)]
#[case::image(
    waiting("ImagePullBackOff", "Back-off pulling image: not found.", 0),
    "container main of pod web-1-a on node n1 cannot get its image (ImagePullBackOff): Back-off pulling image: not found"
)]
#[case::config(
    waiting("CreateContainerConfigError", "secret \"s\" not found", 0),
    "container main of pod web-1-a on node n1 cannot be started (CreateContainerConfigError): secret \"s\" not found"
)]
#[case::start(
    after("CrashLoopBackOff", "StartError", NO_FILE, 1),
    "container main of pod web-1-a on node n1 cannot be started (CrashLoopBackOff): exec: \"/nope\": stat /nope: no such \
     file or directory"
)]
#[case::init(
    init(json!({"state": {"terminated": {"exitCode": 1, "reason": "Error"}}})),
    "init container prepare of pod web-1-a on node n1 ended with exit code 1 (Error)"
)]
#[case::init_running(init(json!({"state": {"running": {}}})), "init container prepare of pod web-1-a on node n1 still runs")]
#[case::sidecar(
    sidecar(json!({"state": {"running": {}}})),
    "sidecar prepare of pod web-1-a on node n1 runs but is not ready"
)]
#[case::unready(
    container(json!({"state": {"running": {}}})),
    "container main of pod web-1-a on node n1 runs but is not ready"
)]
#[case::unready_again(
    container(json!({"restartCount": 1, "state": {"running": {}}, "lastState": {"terminated": {"exitCode": 1, "reason": "Error"}}})),
    "container main of pod web-1-a on node n1 runs but is not ready, restarted once, last after exit code 1 (Error)"
)]
#[case::gate(
    both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": "gate"}]}})),
    "pod web-1-a on node n1 waits (ReadinessGatesNotReady): gate"
)]
#[case::unschedulable(
    unplaced("Unschedulable"),
    "pod web-1-a cannot be placed on a node (Unschedulable): 0/1 nodes fit"
)]
#[case::gated(unplaced("SchedulingGated"), "pod web-1-a waits (SchedulingGated): 0/1 nodes fit")]
#[case::nowhere(pod(json!({"spec": {"nodeName": null}})), "pod web-1-a is not placed on a node yet")]
#[case::nothing_said(pod(json!({})), "pod web-1-a on node n1 is not ready yet")]
#[case::creating(
    waiting("ContainerCreating", "", 0),
    "container main of pod web-1-a on node n1 waits (ContainerCreating)"
)]
fn sentences(#[case] pod: Value, #[case] words: &str) {
    assert_eq!(look(pod).decide().message, format!("0 of 1 replica available; {words}"));
}

#[test]
fn the_cause_is_told_to_programs() {
    let verdict = look(crash_loop()).decide();
    let detail: Vec<(&str, &str)> = verdict.detail.iter().map(|(name, value)| (*name, &**value)).collect();
    assert_eq!(
        detail,
        [
            ("pod", "web-1-a"),
            ("node", "n1"),
            ("container", "main"),
            ("cause", "CrashLoopBackOff"),
            ("exit-code", "1"),
            ("ended", "Error"),
            ("restarts", "5"),
        ]
    );
}

/// A Pod that serves after it was killed for its memory is worth a word.
#[rstest]
#[case::out_of_memory(1, "OOMKilled", 137, "restarted once, last after exit code 137 (OOMKilled)")]
#[case::restarted(3, "Error", 1, "restarted 3 times, last after exit code 1 (Error)")]
fn what_serves_may_have_ended_before(
    #[case] restarts: i64,
    #[case] reason: &str,
    #[case] code: i64,
    #[case] words: &str,
) {
    let status = json!({"name": "main", "ready": true, "restartCount": restarts, "state": {"running": {}},
        "lastState": {"terminated": {"exitCode": code, "reason": reason}}});
    let pod = both(ready_pod(), json!({"status": {"containerStatuses": [status]}}));
    let verdict = Look::at(deployment(json!({}))).with(&[set(json!({}))], &[pod]).decide();
    let want = format!("1 of 1 replica available; container main of pod web-1-a on node n1 was {words}");
    assert_eq!((verdict.reason, verdict.message), ("available", want));
}

/// What an older revision's Pods hold up is told, and their own troubles are not.
#[test]
fn an_old_pod_in_the_way_is_named() {
    let ending = old_pod(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}}));
    let verdict = Look::at(unavailable(json!({}))).with(&[old(0)], &[ending]).decide();
    let want =
        "0 of 1 replica available; an older revision still has to end: pod web-0-a on node n1 is ending, held by x/y";
    assert_eq!((verdict.rule, &*verdict.message), ("19 starting", want));
}

/// The same look without what makes it certain.
#[rstest]
#[case::ends_in_good_order(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:30Z"}}), "is ending")]
#[case::nothing_known_of_its_containers(json!({"status": {"containerStatuses": []}}), "is still there")]
#[case::a_container_is_not_ready(json!({"status": {"containerStatuses": [{"name": "main", "ready": false}]}}), "is still there")]
#[case::a_reason_is_given(json!({"status": {"conditions": [{"type": "Ready", "status": "False", "reason": "PodCompleted"}]}}), "is still there")]
fn a_node_is_not_lost(#[case] over: Value, #[case] words: &str) {
    let lost = both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}));
    let look = Look::at(none(json!({}))).with(&[empty_set()], &[both(lost, over)]).server_ms(MADE_MS);
    assert_eq!(look.decide().message, format!("no replica is wanted, but pod web-1-a on node n1 {words}"));
}

/// One that runs is of more interest than one that waits for its turn.
#[test]
fn what_waits_for_its_turn_is_told_last() {
    let states = json!([{"name": "a", "state": {"waiting": {"reason": "PodInitializing"}}}, {"name": "b", "state": {"running": {}}}]);
    let pod = pod(json!({"status": {"phase": "Pending", "initContainerStatuses": states}}));
    let want = "0 of 1 replica available; init container b of pod web-1-a on node n1 still runs";
    assert_eq!(look(pod).decide().message, want);
}
