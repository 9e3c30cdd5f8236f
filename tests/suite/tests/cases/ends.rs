//! How an operation ends for what a case shows: with which word, which cause, and what was written.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{Still, container, deployment, merge, pod, replica_set};
use workload_suite::inside::{Inside, fault, outcome, paused, word};

use crate::moving::{after_the_write, detail, running, starting, stopped};
use crate::states::{
    conditions, empty_set, ending, held, init_crash, none_wanted, not_ready, refused, rolling, set_of, several,
    unavailable, unavailable_set, unplaced, waiting,
};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

/// Starts what is shown, whatever is written.
async fn start(still: Still) -> (Inside, Report) {
    let inside = Inside::scripted(move |asked| still.answer(asked)).await;
    let report = inside.start(&[APP]).await;
    (inside, report)
}

fn image_missing() -> Still {
    let image = waiting(1, 1, "ImagePullBackOff", "Back-off pulling image \"app:1\": not found", 0);
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![image])
}

/// A rollout that failed, and its Pod that cannot get its image: the cause is told, not the deadline.
fn image_missing_after_the_deadline() -> Still {
    let mut still = image_missing();
    let progressing = conditions("False", "False", "ProgressDeadlineExceeded");
    merge(&mut still.deployment, &json!({"status": {"conditions": progressing}}));
    still
}

fn doomed_revision() -> Still {
    Still::of(
        rolling(json!({"unavailableReplicas": 1})),
        vec![replica_set(1, json!({})), unavailable_set(2)],
        vec![pod(1, 1, json!({})), waiting(2, 2, "CrashLoopBackOff", "back-off", 5)],
    )
}

fn config_error() -> Still {
    let secret = waiting(1, 1, "CreateContainerConfigError", "secret \"s\" not found", 0);
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![secret])
}

fn crashing_init() -> Still {
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![init_crash()])
}

fn over_quota() -> Still {
    let message = "pods \"app-x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    Still::of(refused(message), vec![empty_set()], vec![])
}

fn paused_at_creation() -> Still {
    let mut object = deployment(json!({"spec": {"paused": true}, "status": null}));
    let status = json!({"observedGeneration": 2, "conditions": conditions("False", "Unknown", "DeploymentPaused")});
    merge(&mut object, &json!({"status": status}));
    Still::of(object, vec![], vec![])
}

/// Shown is the back-off without the word for it.
fn crash_loop_without_the_word() -> Still {
    let exited = json!({"terminated": {"reason": "Error", "exitCode": 1}});
    let main = container("main", exited, json!({"restartCount": 2}));
    let crashing = pod(1, 1, json!({"status": {"conditions": not_ready(), "containerStatuses": [main]}}));
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![crashing])
}

/// The exit code is that of every process that cannot be started.
fn start_error() -> Still {
    let words = "failed to create containerd task: exec: \"/nope\": stat /nope: no such file or directory";
    let waits = json!({"waiting": {"reason": "RunContainerError", "message": words}});
    let last = json!({"terminated": {"reason": "StartError", "exitCode": 128, "message": words}});
    let main = container("main", waits, json!({"restartCount": 1, "lastState": last}));
    let failing = pod(1, 1, json!({"status": {"conditions": not_ready(), "containerStatuses": [main]}}));
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![failing])
}

/// Seven within a second, by the recording: each is replaced at once, and none of them waits.
fn refused_by_the_kubelet() -> Still {
    let failed = |number: u32| {
        pod(
            number,
            1,
            json!({"metadata": {"creationTimestamp": "2026-07-01T11:59:58Z"},
                "status": {"phase": "Failed", "reason": "OutOfcpu", "message": "Node didn't have enough resource: cpu",
                    "conditions": null, "containerStatuses": null}}),
        )
    };
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], (1..=7).map(failed).collect())
}

/// What can never finish ends at once, with the cause in words and for a program, and nothing is written.
#[rstest]
#[case::a01(image_missing(), "image-error", &[("container", "main"), ("pod", "app-r1-p1")], "not found")]
#[case::a02(doomed_revision(), "crash-loop", &[("pod", "app-r2-p2"), ("exit-code", "1")], "an older revision still serves")]
#[case::a08(config_error(), "config-error", &[("container", "main"), ("node", "node-1")], "secret \"s\" not found")]
#[case::a10(over_quota(), "replica-failure", &[("cause", "FailedCreate")], "exceeded quota: q")]
#[case::a12(crashing_init(), "init-error", &[("container", "prepare"), ("exit-code", "1")], "init container prepare")]
#[case::a15(paused_at_creation(), "paused", &[], "until it is resumed")]
#[case::fa06(crash_loop_without_the_word(), "crash-loop", &[("exit-code", "1"), ("restarts", "2")], "restarted 2 times")]
#[case::fa08(start_error(), "config-error", &[("container", "main"), ("exit-code", "128")], "no such file or directory")]
#[case::fa20(image_missing_after_the_deadline(), "image-error", &[("container", "main")], "not found")]
#[case::fb10(refused_by_the_kubelet(), "replica-failure", &[("cause", "OutOfcpu")], "7 pods were refused")]
fn a_start_that_cannot_finish(
    #[case] still: Still,
    #[case] reason: &str,
    #[case] details: &[(&str, &str)],
    #[case] words: &str,
) {
    paused(async {
        let (inside, report) = start(still).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::RolloutFailed);
        assert_eq!(detail(&report, "reason"), reason, "{}", fault.message);
        for (name, value) in details {
            assert_eq!(detail(&report, name), *value, "{name} of {:?}", fault.detail);
        }
        assert!(fault.message.contains(words), "{}", fault.message);
        assert!(report.elapsed < 5 * SECOND, "{:?}", report.elapsed);
        assert_eq!(inside.writes(), []);
    });
}

/// None of these is running, and none is doomed: our own deadline ends the wait, and says what is waited for.
#[rstest]
#[case::a03_not_observed(
    Still::new(deployment(json!({"metadata": {"generation": 3}}))), "unobserved", "has not been seen")]
#[case::a06_some_of_several(
    Still::of(several(3, 1), vec![set_of(3, 1)], vec![pod(1, 1, json!({}))]), "partial", "1 of 3 replicas available")]
#[case::a10_webhook(
    Still::of(refused("failed calling webhook \"w\": connection refused"), vec![empty_set()], vec![]),
    "rollout", "failed calling webhook")]
#[case::a11_unplaced(
    Still::of(deployment(unavailable()), vec![unavailable_set(1)], vec![unplaced()]), "unschedulable", "0/1 nodes fit")]
#[case::fa11_recreate_behind_a_lost_node(behind_a_lost_node(), "starting", "app-r1-p1 on node node-1")]
fn a_start_that_only_waits(#[case] still: Still, #[case] reason: &str, #[case] words: &str) {
    paused(async {
        let inside = Inside::scripted(move |asked| still.answer(asked)).await.within(30 * SECOND);
        let report = inside.start(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!((fault.kind, report.elapsed.as_secs()), (FaultKind::Timeout, 30));
        assert_eq!(detail(&report, "reason"), reason);
        assert!(fault.message.contains(words), "{}", fault.message);
        assert_eq!(inside.writes(), []);
    });
}

/// The strategy is Recreate, the new ReplicaSet is not even made, and no deadline comes.
fn behind_a_lost_node() -> Still {
    let object = deployment(json!({
        "metadata": {"annotations": {"deployment.kubernetes.io/revision": "1"}},
        "spec": {"strategy": {"type": "Recreate", "rollingUpdate": null},
            "template": workload_suite::inside::objects::template(2)},
        "status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null, "availableReplicas": null,
            "unavailableReplicas": 1, "terminatingReplicas": 1,
            "conditions": conditions("False", "True", "ReplicaSetUpdated")},
    }));
    let lost = json!([{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}]);
    let mut old = pod(1, 1, json!({"status": {"conditions": lost}}));
    merge(&mut old, &json!({"metadata": {"deletionTimestamp": "2026-07-01T11:50:00Z"}}));
    Still::of(object, vec![empty_set()], vec![old])
}

#[test]
fn a04_a_start_waits_for_the_first_status() {
    paused(async {
        let bare = || deployment(json!({"metadata": {"generation": 1}, "status": null}));
        let mut empty = bare();
        empty["status"] = json!({});
        let shown = [Still::of(bare(), vec![], vec![]), Still::of(empty, vec![], vec![]), running(2)];
        let inside = Inside::scripted(move |asked| {
            let number = usize::try_from(asked.at.as_secs() / 4).unwrap();
            shown[number.min(2)].answer(asked)
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(!outcome(&report, APP).unwrap().changed);
        assert!((8..14).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn a15_what_is_paused_and_complete_runs() {
    paused(async {
        let (inside, report) = start(Still::new(deployment(json!({"spec": {"paused": true}})))).await;
        assert_eq!(word(&report, APP), "already-running");
        assert_eq!(outcome(&report, APP).unwrap().workload.as_ref().unwrap().reason, "paused");
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn fa07_the_first_back_off_does_not_fail_a_start() {
    paused(async {
        let crashing = |restarts, reason: &str| starting(3, vec![waiting(1, 1, reason, "back-off", restarts)]);
        let up = vec![
            (Duration::ZERO, starting(3, vec![])),
            (5 * SECOND, crashing(1, "CrashLoopBackOff")),
            (16 * SECOND, starting(3, vec![])),
            (19 * SECOND, running(3)),
        ];
        let inside = after_the_write(stopped(), up).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed >= 19 * SECOND, "{:?}", report.elapsed);
    });
}

/// In every state but two a stop is one write, and ends.
#[rstest]
#[case::running(running(2))]
#[case::starting(starting(2, vec![]))]
#[case::image_missing(image_missing())]
#[case::deadline_exceeded(image_missing_after_the_deadline())]
#[case::crash_loop(doomed_revision())]
#[case::over_quota(over_quota())]
#[case::paused(Still::new(deployment(json!({"spec": {"paused": true}}))))]
#[case::paused_at_creation(paused_at_creation())]
#[case::partial(Still::of(several(3, 1), vec![set_of(3, 1)], vec![pod(1, 1, json!({}))]))]
#[case::unobserved(Still::new(deployment(json!({"metadata": {"generation": 3}}))))]
fn a22_any_state_can_be_stopped(#[case] before: Still) {
    paused(async {
        let generation = before.deployment["metadata"]["generation"].as_u64().unwrap() + 1;
        let mut after = stopped();
        let seen = json!({"metadata": {"generation": generation}, "status": {"observedGeneration": generation}});
        merge(&mut after.deployment, &seen);
        let inside = after_the_write(before, vec![(Duration::ZERO, after)]).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(outcome(&report, APP).unwrap().changed);
        let [write] = &inside.writes()[..] else { panic!("not one write: {:?}", inside.words()) };
        assert_eq!(write.word(), "PATCH app/scale");
        assert_eq!(write.body, json!({"metadata": {"uid": "d1"}, "spec": {"replicas": 0}}));
    });
}

#[rstest]
#[case::deleting(Still::new(deployment(json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:00Z",
    "finalizers": ["foregroundDeletion"]}}))), FaultKind::Conflict)]
#[case::missing(Still::of(Value::Null, vec![], vec![]), FaultKind::NotFound)]
fn a22_these_cannot_be_stopped(#[case] still: Still, #[case] kind: FaultKind) {
    paused(async {
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        assert_eq!(fault(&inside.stop(&[APP]).await, APP).kind, kind);
        assert_eq!(fault(&inside.start(&[APP]).await, APP).kind, kind);
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn a23_pods_of_another_do_not_hold_a_stop() {
    paused(async {
        let foreign = workload_suite::inside::objects::owner("apps/v1", "Deployment", "other", "d9");
        let theirs = replica_set(9, json!({"metadata": {"ownerReferences": [foreign]}}));
        let still = Still::of(none_wanted(), vec![empty_set(), theirs], vec![pod(9, 9, json!({}))]);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "already-stopped");
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn a29_a_pod_on_a_lost_node_is_stopping() {
    paused(async {
        let conditions = json!([{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}]);
        let lost =
            json!({"metadata": {"deletionTimestamp": "2026-07-01T11:50:00Z"}, "status": {"conditions": conditions}});
        let still = Still { pods: vec![pod(1, 1, lost)], ..stopped() };
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        let report = inside.status(&[APP]).await;
        assert_eq!(word(&report, APP), "offline stopping");
        let workload = outcome(&report, APP).unwrap().workload.as_ref().unwrap();
        let message = workload.message.as_deref().unwrap();
        assert!(message.contains("app-r1-p1 on node node-1") && message.contains("probably lost"), "{message}");
        let report = inside.within(30 * SECOND).stop(&[APP]).await;
        assert_eq!((detail(&report, "pod"), detail(&report, "node")), ("app-r1-p1", "node-1"));
    });
}

#[test]
fn a30_a_held_pod_holds_a_stop_until_it_has_ended() {
    paused(async {
        let with = |phase: &str| {
            let mut still = stopped();
            merge(&mut still.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
            still.pods = vec![held(phase)];
            still
        };
        let states = vec![(Duration::ZERO, with("Pending")), (18 * SECOND, with("Failed"))];
        let inside = after_the_write(running(2), states.clone()).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!((18..25).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        // One that is held for longer than there is time for is named, with what holds it.
        let report = after_the_write(running(2), states).await.within(10 * SECOND).stop(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert_eq!((detail(&report, "pod"), detail(&report, "finalizer")), ("app-r1-p1", "example.com/f"));
    });
}

/// What still stops can be started: nothing is remembered but what the cluster shows.
#[test]
fn a30_what_is_stopping_can_be_started() {
    paused(async {
        let mut stopping = stopped();
        stopping.pods = vec![held("Pending")];
        let mut up = running(3);
        up.pods.insert(0, pod(7, 1, ending()));
        let inside = after_the_write(stopping, vec![(Duration::ZERO, starting(3, vec![])), (3 * SECOND, up)]).await;
        let report = inside.start(&[APP]).await;
        assert_eq!((word(&report, APP).as_str(), inside.writes().len()), ("started", 1));
    });
}

/// An autoscaler raises the count as soon as one is wanted: that is no other will, and it is not taken back.
#[test]
fn a33_an_autoscaler_may_raise_what_a_start_asked_for() {
    paused(async {
        let raised = |available: u32| {
            let mut object = several(2, available);
            merge(&mut object, &json!({"metadata": {"generation": 4}, "status": {"observedGeneration": 4}}));
            Still::of(object, vec![set_of(2, available)], vec![pod(1, 1, json!({})), pod(2, 1, json!({}))])
        };
        let states = vec![(Duration::ZERO, starting(3, vec![])), (2 * SECOND, raised(1)), (9 * SECOND, raised(2))];
        let inside = after_the_write(stopped(), states).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert_eq!(outcome(&report, APP).unwrap().workload.as_ref().unwrap().desired, 2);
        let writes: Vec<Value> = inside.writes().iter().map(|write| write.body["spec"].clone()).collect();
        assert_eq!(writes, [json!({"replicas": 1})]);
    });
}
