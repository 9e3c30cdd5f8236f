//! What is told beside the verdict: the evidence, and what would have to change.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;
use super::given::{
    Given, Look, MADE_MS, both, crash_loop, create_error, deadline, deployment, empty_set, none, old, pod, ready_pod,
    replica_failure, set, unavailable, unavailable_set, waiting,
};

fn starting(pod: Value) -> Look {
    Look::at(unavailable(json!({}))).with(&[unavailable_set()], &[pod])
}

fn stopping(pod: Value) -> Look {
    Look::at(none(json!({}))).with(&[empty_set()], &[pod])
}

fn deleting(finalizer: &str) -> Look {
    let meta = json!({"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion", finalizer]});
    Look::at(deployment(json!({"metadata": meta})))
}

fn lost() -> Value {
    both(ready_pod(), json!({"status": {"conditions": [{"type": "Ready", "status": "False"}]}}))
}

fn out_of_memory() -> Value {
    let last = json!({"terminated": {"exitCode": 137, "reason": "OOMKilled"}});
    let status = json!({"name": "main", "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": last});
    pod(json!({"status": {"containerStatuses": [status]}}))
}

fn unplaced() -> Value {
    pod(json!({"status": {"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}}))
}

#[rstest]
#[case::crash(starting(crash_loop()), "kubectl logs --previous")]
#[case::out_of_memory(starting(out_of_memory()), "memory limit of container main")]
#[case::image(starting(waiting("ErrImagePull", "not found", 0)), "correct the image of container main")]
#[case::image_name(starting(waiting("InvalidImageName", "", 0)), "image name")]
#[case::image_never(starting(waiting("ErrImageNeverPull", "", 0)), "on the node")]
#[case::registry(starting(waiting("ErrImagePull", "timeout", 0)), "registry")]
#[case::config(starting(waiting("CreateContainerConfigError", "", 0)), "create or correct")]
#[case::unplaced(starting(unplaced()), "add a node that fits")]
#[case::lost(starting(lost()), "bring its node back")]
#[case::after_a_deadline(Look::at(unavailable(deadline())).with(&[unavailable_set()], &[crash_loop()]), "kubectl logs")]
#[case::quota(Look::at(unavailable(replica_failure("exceeded quota: q"))), "raise the quota")]
#[case::forbidden(Look::at(unavailable(replica_failure("is forbidden"))), "what the namespace allows")]
#[case::webhook(Look::at(unavailable(replica_failure("failed calling webhook"))), "answer again")]
#[case::paused(Look::at(unavailable(json!({"spec": {"paused": true}}))).with(&[], &[]), "kubectl rollout resume")]
#[case::create_error(Look::at(unavailable(create_error())).with(&[], &[]), "within three minutes")]
#[case::unobserved(Look::at(deployment(json!({"status": null}))), "controller manager")]
#[case::held(stopping(pod(json!({"metadata": {"finalizers": ["x/y"]}}))), "finalizer x/y")]
#[case::stopping_lost(stopping(lost()), "bring node n1 back")]
#[case::deleting(deleting("x/y"), "finalizer x/y")]
#[case::hidden(Look { sets: Given::NotReadable, ..Look::at(none(json!({}))) }, "list replicasets and pods")]
fn something_has_to_change(#[case] look: Look, #[case] words: &str) {
    let advice = look.see(|observed| advice(observed, &decide(observed))).unwrap();
    assert!(advice.contains(words) && !advice.ends_with('.'), "{advice}");
}

#[rstest]
#[case::running(Look::at(deployment(json!({}))).with(&[set(json!({}))], &[ready_pod()]))]
#[case::stopped(Look::at(none(json!({}))).with(&[], &[]))]
#[case::creating(starting(waiting("ContainerCreating", "", 0)))]
#[case::ended_once(starting(waiting("CrashLoopBackOff", "", 1)))]
#[case::ending(stopping(pod(json!({}))))]
#[case::deleting(deleting("foregroundDeletion"))]
#[case::rollout(Look::at(deployment(json!({"status": {"replicas": 2}}))).with(&[old(1), unavailable_set()], &[]))]
fn only_time_has_to_pass(#[case] look: Look) {
    assert_eq!(look.see(|observed| advice(observed, &decide(observed))), None);
}

#[test]
fn a_controller_that_gave_up_needs_a_write() {
    let error = json!([{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
        "lastUpdateTime": "2026-01-01T00:00:00Z"}]);
    let look = Look::at(deployment(json!({"status": {"observedGeneration": null, "conditions": error}})));
    let look = look.server_ms(MADE_MS + 200_000);
    let advice = look.see(|observed| advice(observed, &decide(observed))).unwrap();
    assert!(advice.contains("edit the Deployment, an annotation will do"), "{advice}");
}

#[test]
fn evidence_names_what_was_seen() {
    let ended = pod(json!({"metadata": {"name": "web-1-z", "uid": "z"},
        "status": {"phase": "Failed", "reason": "Evicted", "message": "low on disk"}}));
    let object = both(unavailable(deadline()), json!({"spec": {"paused": true}}));
    let look = Look::at(object).with(&[unavailable_set(), old(0)], &[ended, ready_named("web-1-b"), crash_loop()]);
    let facts: Vec<String> = look.see(evidence).into_iter().map(|(name, value)| format!("{name} = {value}")).collect();
    let want = [
        "generation = 3",
        "observed-generation = 3",
        "replicas = 1",
        "updated = 1",
        "ready = 0",
        "available = 0",
        "paused = true",
        "condition Progressing = False ProgressDeadlineExceeded: it has timed out progressing",
        "replica-set web-0 = 0 of 1 available",
        "replica-set web-1 = 0 of 1 available",
        "pod web-1-a = Running on n1, not ready",
        "pod web-1-b = Running on n1, ready",
        "pod web-1-z = Failed on n1 Evicted: low on disk",
        "container web-1-a/main = waiting CrashLoopBackOff: back-off; 5 restarts; before that exit code 1 Error",
        "container web-1-b/main = running, ready; 0 restarts",
    ];
    assert_eq!(facts, want);
}

fn ready_named(name: &str) -> Value {
    both(ready_pod(), json!({"metadata": {"name": name, "uid": name}}))
}

#[test]
fn evidence_says_what_is_hidden() {
    let look = Look { sets: Given::NotReadable, pods: Given::NotReadable, ..Look::at(deployment(json!({}))) };
    let facts = look.see(evidence);
    let hidden = |name: &str| facts.contains(&(name.to_owned(), "not allowed to list them".to_owned()));
    assert!(hidden("replica-sets") && hidden("pods"));
    let unread = Look::at(deployment(json!({}))).see(evidence);
    assert!(!unread.iter().any(|(name, _)| name == "replica-sets" || name == "pods"));
}

/// The host keeps 64 facts, and events come on top.
#[test]
fn evidence_has_a_limit() {
    let many = |count: usize| -> Vec<Value> {
        (0..count).map(|place| both(crash_loop(), json!({"metadata": {"name": format!("web-1-{place:03}")}}))).collect()
    };
    let count = |pods: usize, kind: &str| {
        let look = Look::at(unavailable(json!({}))).with(&[unavailable_set()], &many(pods));
        look.see(evidence).iter().filter(|(name, _)| name.starts_with(kind)).count()
    };
    assert_eq!((count(9, "pod "), count(200, "pod "), count(200, "container ")), (9, 10, 10));
}
