//! A01 to A23 as far as a look at what is there decides them.

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::model::Workload;
use workload_suite::inside::objects::{Still, container, deployment, pod, replica_set, template};
use workload_suite::inside::{Inside, outcome, paused};

const APP: &str = "ns/app";

/// What a look at these says.
fn look(deployment: Value, sets: Vec<Value>, pods: Vec<Value>) -> Workload {
    paused(async {
        let still = Still::of(deployment, sets, pods);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        let report = inside.status(&[APP]).await;
        assert_eq!(inside.writes(), []);
        outcome(&report, APP).unwrap().workload.clone().unwrap()
    })
}

pub(crate) fn word(workload: &Workload) -> String {
    format!("{} {}", workload.status, workload.reason)
}

pub(crate) fn conditions(available: &str, progressing: &str, reason: &str) -> Value {
    json!([{"type": "Available", "status": available, "reason": "Minimum"},
        {"type": "Progressing", "status": progressing, "reason": reason}])
}

/// One replica is counted, and none is available; after a rollout that was once complete.
pub(crate) fn unavailable() -> Value {
    json!({"status": {"unavailableReplicas": 1, "readyReplicas": null, "availableReplicas": null,
        "conditions": conditions("False", "True", "NewReplicaSetAvailable")}})
}

pub(crate) fn unavailable_set(number: u32) -> Value {
    replica_set(number, json!({"status": {"readyReplicas": null, "availableReplicas": null}}))
}

/// A Pod of this ReplicaSet whose container waits.
pub(crate) fn waiting(number: u32, set: u32, reason: &str, message: &str, restarts: u32) -> Value {
    let state = json!({"waiting": {"reason": reason, "message": message}});
    let last = json!({"restartCount": restarts, "lastState": {"terminated": {"reason": "Error", "exitCode": 1}}});
    let change = if restarts > 0 { last } else { json!({}) };
    pod(
        number,
        set,
        json!({"status": {"conditions": not_ready(), "containerStatuses": [container("main", state, change)]}}),
    )
}

pub(crate) fn not_ready() -> Value {
    json!([{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False", "reason": "ContainersNotReady"}])
}

/// Revision 2 is being rolled out; of revision 1 one Pod is counted.
pub(crate) fn rolling(status: Value) -> Value {
    let annotations = json!({"deployment.kubernetes.io/revision": "2"});
    let mut object = deployment(json!({"metadata": {"annotations": annotations}, "spec": {"template": template(2)},
        "status": {"replicas": 2, "updatedReplicas": 1}}));
    workload_suite::inside::objects::merge(&mut object, &json!({"status": status}));
    object
}

#[rstest]
#[case::a01(deployment(unavailable()), vec![unavailable_set(1)],
    vec![waiting(1, 1, "ImagePullBackOff", "Back-off pulling image \"app:1\": not found", 0)], "failed image-error")]
#[case::a02_new_one_doomed(rolling(json!({"unavailableReplicas": 1})), vec![replica_set(1, json!({})), unavailable_set(2)],
    vec![pod(1, 1, json!({})), waiting(2, 2, "CrashLoopBackOff", "back-off", 5)], "failed crash-loop")]
#[case::a02_new_one_starting(rolling(json!({"unavailableReplicas": 1})), vec![replica_set(1, json!({})), unavailable_set(2)],
    vec![pod(1, 1, json!({})), waiting(2, 2, "ContainerCreating", "", 0)], "creating rollout")]
#[case::a03(deployment(json!({"metadata": {"generation": 3}})), vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))],
    "creating unobserved")]
#[case::a04_no_status(deployment(json!({"status": null})), vec![], vec![], "creating unobserved")]
#[case::a04_empty_status(both(deployment(json!({"status": null})), json!({"status": {}})), vec![], vec![], "creating unobserved")]
#[case::a05_of_the_generation_before(deployment(json!({"metadata": {"generation": 3}, "status": {"readyReplicas": 1}})),
    vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))], "creating unobserved")]
#[case::a05_of_the_template_before(rolling(json!({"readyReplicas": 1, "availableReplicas": 1})),
    vec![replica_set(1, json!({})), unavailable_set(2)], vec![pod(1, 1, json!({}))], "creating rollout")]
#[case::a06(several(3, 1), vec![set_of(3, 1)], vec![pod(1, 1, json!({}))], "running partial")]
#[case::a07(several(2, 1), vec![set_of(2, 1)], vec![pod(1, 1, json!({})), waiting(2, 1, "CrashLoopBackOff", "back-off", 5)],
    "running partial")]
#[case::a08(deployment(unavailable()), vec![unavailable_set(1)],
    vec![waiting(1, 1, "CreateContainerConfigError", "secret \"s\" not found", 0)], "failed config-error")]
#[case::a09(deployment(json!({"metadata": {"generation": 1}, "status": {"observedGeneration": null}})),
    vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))], "creating unobserved")]
#[case::a10(refused("pods \"app-x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0"),
    vec![empty_set()], vec![], "failed replica-failure")]
#[case::a10_that_may_pass(
    refused("Internal error occurred: failed calling webhook \"w\": dial tcp 10.0.0.1:443: connect: connection refused"),
    vec![empty_set()], vec![], "creating rollout")]
#[case::a10_that_passed(deployment(json!({})), vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))], "running available")]
#[case::a11(deployment(unavailable()), vec![unavailable_set(1)], vec![unplaced()], "creating unschedulable")]
#[case::a12(deployment(unavailable()), vec![unavailable_set(1)], vec![init_crash()], "failed init-error")]
#[case::a13_exits_once(deployment(unavailable()), vec![unavailable_set(1)], vec![ended(0)], "creating pod-error")]
#[case::a13_exits_twice(deployment(unavailable()), vec![unavailable_set(1)], vec![ended(1)], "creating pod-error")]
#[case::a13_exits_thrice(deployment(unavailable()), vec![unavailable_set(1)], vec![ended(2)], "failed crash-loop")]
#[case::a14_old_one_crashes(rolling(json!({"unavailableReplicas": 1})), vec![unavailable_set(1), replica_set(2, json!({}))],
    vec![waiting(1, 1, "CrashLoopBackOff", "back-off", 5), pod(2, 2, json!({}))], "creating starting")]
#[case::a14_old_one_is_gone(rolling(json!({"replicas": 1})), vec![replica_set(2, json!({}))], vec![pod(2, 2, json!({}))],
    "running available")]
#[case::a15_complete(deployment(json!({"spec": {"paused": true}})), vec![replica_set(1, json!({}))], vec![pod(1, 1, json!({}))],
    "running paused")]
#[case::a15_never_made(both(deployment(json!({"spec": {"paused": true}, "status": null})), json!({"status":
        {"observedGeneration": 2, "conditions": conditions("False", "Unknown", "DeploymentPaused")}})),
    vec![], vec![], "failed paused")]
#[case::a17(none_wanted(), vec![empty_set()], vec![pod(1, 1, ending())], "offline stopping")]
#[case::a18(none_wanted(), vec![empty_set()], vec![pod(1, 1, ending())], "offline stopping")]
#[case::a19(none_wanted(), vec![empty_set()], vec![], "offline stopped")]
#[case::a20(none_wanted(), vec![empty_set()], vec![], "offline stopped")]
#[case::a21_only_the_old_one(deployment(unavailable()), vec![unavailable_set(1)], vec![pod(1, 1, ending())], "creating starting")]
#[case::a21_complete(deployment(json!({})), vec![replica_set(1, json!({}))], vec![pod(1, 1, ending()), pod(2, 1, json!({}))],
    "running available")]
#[case::a23(none_wanted(), vec![empty_set(), foreign_set()], vec![pod(9, 9, json!({}))], "offline stopped")]
#[case::a30_held(none_wanted(), vec![empty_set()], vec![held("Pending")], "offline stopping")]
#[case::a30_ended(none_wanted(), vec![empty_set()], vec![held("Failed")], "offline stopped")]
#[case::a30_gone(none_wanted(), vec![empty_set()], vec![], "offline stopped")]
fn a_look(#[case] deployment: Value, #[case] sets: Vec<Value>, #[case] pods: Vec<Value>, #[case] expected: &str) {
    let workload = look(deployment, sets, pods);
    assert_eq!(word(&workload), expected, "{:?}", workload.message);
    let moving = expected.starts_with("creating") || expected.ends_with("partial") || expected.ends_with("stopping");
    assert_eq!(workload.settled, !moving);
}

fn both(mut object: Value, change: Value) -> Value {
    workload_suite::inside::objects::merge(&mut object, &change);
    // A merge patch drops an empty map of a field that was not there.
    if object.get("status").is_none() {
        object["status"] = json!({});
    }
    object
}

pub(crate) fn several(wanted: u32, available: u32) -> Value {
    deployment(json!({"spec": {"replicas": wanted}, "status": {"replicas": wanted, "updatedReplicas": wanted,
        "readyReplicas": available, "availableReplicas": available, "unavailableReplicas": wanted - available}}))
}

pub(crate) fn set_of(wanted: u32, available: u32) -> Value {
    replica_set(
        1,
        json!({"spec": {"replicas": wanted},
        "status": {"replicas": wanted, "readyReplicas": available, "availableReplicas": available}}),
    )
}

pub(crate) fn empty_set() -> Value {
    replica_set(
        1,
        json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "fullyLabeledReplicas": null,
        "readyReplicas": null, "availableReplicas": null}}),
    )
}

fn foreign_set() -> Value {
    let owner = workload_suite::inside::objects::owner("apps/v1", "Deployment", "other", "d9");
    replica_set(9, json!({"metadata": {"ownerReferences": [owner]}}))
}

pub(crate) fn refused(message: &str) -> Value {
    let mut conditions = conditions("False", "True", "NewReplicaSetCreated");
    let failure = json!({"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message});
    conditions.as_array_mut().unwrap().push(failure);
    deployment(json!({"status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null,
        "availableReplicas": null, "unavailableReplicas": 1, "conditions": conditions}}))
}

pub(crate) fn none_wanted() -> Value {
    deployment(
        json!({"spec": {"replicas": 0}, "status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null,
        "availableReplicas": null, "terminatingReplicas": 0, "conditions": conditions("True", "True", "NewReplicaSetAvailable")}}),
    )
}

pub(crate) fn unplaced() -> Value {
    let condition =
        json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes fit"});
    pod(
        1,
        1,
        json!({"spec": {"nodeName": null}, "status": {"phase": "Pending", "conditions": [condition],
        "containerStatuses": null}}),
    )
}

pub(crate) fn init_crash() -> Value {
    let crash = container(
        "prepare",
        json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}),
        json!({"restartCount": 5, "lastState": {"terminated": {"reason": "Error", "exitCode": 1}}}),
    );
    let main = container("main", json!({"waiting": {"reason": "PodInitializing"}}), json!({}));
    pod(
        1,
        1,
        json!({"status": {"phase": "Pending", "conditions": not_ready(), "initContainerStatuses": [crash],
        "containerStatuses": [main]}}),
    )
}

pub(crate) fn ended(restarts: u32) -> Value {
    let main =
        container("main", json!({"terminated": {"reason": "Error", "exitCode": 1}}), json!({"restartCount": restarts}));
    pod(1, 1, json!({"status": {"conditions": not_ready(), "containerStatuses": [main]}}))
}

pub(crate) fn ending() -> Value {
    json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:30Z", "deletionGracePeriodSeconds": 30}})
}

pub(crate) fn held(phase: &str) -> Value {
    let mut object = pod(
        1,
        1,
        json!({"metadata": {"finalizers": ["example.com/f"]}, "spec": {"nodeName": null},
        "status": {"phase": phase, "conditions": null, "containerStatuses": null}}),
    );
    workload_suite::inside::objects::merge(&mut object, &ending());
    object
}

#[test]
fn a02_the_older_revision_serves_on() {
    let sets = || vec![replica_set(1, json!({})), unavailable_set(2)];
    let doomed = waiting(2, 2, "CrashLoopBackOff", "back-off", 5);
    let workload = look(rolling(json!({"unavailableReplicas": 1})), sets(), vec![pod(1, 1, json!({})), doomed]);
    assert!(workload.serving_old);
    let message = workload.message.unwrap();
    assert!(message.contains("app-r2-p2") && message.contains("main"), "{message}");
}

#[test]
fn a06_says_how_many() {
    let workload = look(several(3, 1), vec![set_of(3, 1)], vec![pod(1, 1, json!({}))]);
    assert_eq!((workload.available, workload.desired, workload.settled), (1, 3, false));
    assert!(workload.message.unwrap().starts_with("1 of 3 replicas available"));
}

#[test]
fn a12_names_the_init_container() {
    let message = look(deployment(unavailable()), vec![unavailable_set(1)], vec![init_crash()]).message.unwrap();
    assert!(message.contains("prepare"), "{message}");
}

#[test]
fn a30_names_the_finalizer() {
    let message = look(none_wanted(), vec![empty_set()], vec![held("Pending")]).message.unwrap();
    assert!(message.contains("example.com/f"), "{message}");
}
