//! Cases whose point is a wait: what is shown changes, or never does.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{Still, container, deployment, merge, pod, replica_set, scale};
use workload_suite::inside::{Inside, Reply, fault, paused, word};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

/// D with nothing wanted and nothing left.
pub(crate) fn stopped() -> Still {
    let none = json!({"spec": {"replicas": 0}, "status": {"replicas": null, "updatedReplicas": null, "readyReplicas": null,
        "availableReplicas": null, "terminatingReplicas": 0}});
    let set =
        json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "readyReplicas": null, "availableReplicas": null}});
    Still::of(deployment(none), vec![replica_set(1, set)], vec![])
}

/// One wanted and counted, none available, at this generation.
pub(crate) fn starting(generation: u32, pods: Vec<Value>) -> Still {
    let change = json!({"metadata": {"generation": generation, "resourceVersion": (100 + generation).to_string()},
        "status": {"observedGeneration": generation, "readyReplicas": null, "availableReplicas": null,
            "unavailableReplicas": 1}});
    let set = replica_set(1, json!({"status": {"readyReplicas": null, "availableReplicas": null}}));
    Still::of(deployment(change), vec![set], pods)
}

/// All is well, at this generation.
pub(crate) fn running(generation: u32) -> Still {
    Still::new(deployment(json!({"metadata": {"generation": generation,
        "resourceVersion": (100 + generation).to_string()}, "status": {"observedGeneration": generation}})))
}

/// A server that shows each of these from so long after the count was written on; before, the first.
pub(crate) async fn after_the_write(before: Still, after: Vec<(Duration, Still)>) -> Inside {
    let mut written: Option<Duration> = None;
    Inside::scripted(move |asked| {
        if asked.verb == "PATCH" && asked.path.ends_with("/scale") {
            written.get_or_insert(asked.at);
            return Reply::json(200, &scale(&before.deployment, asked.body["spec"]["replicas"].as_u64().unwrap()));
        }
        let since = written.map(|at| asked.at - at);
        let shown = after.iter().rev().find(|(from, _)| since.is_some_and(|since| since >= *from));
        shown.map_or(&before, |(_, still)| still).answer(asked)
    })
    .await
}

pub(crate) fn main_container(state: Value, change: Value) -> Value {
    let conditions = json!([{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}]);
    pod(1, 1, json!({"status": {"conditions": conditions, "containerStatuses": [container("main", state, change)]}}))
}

pub(crate) fn detail<'a>(report: &'a Report, name: &str) -> &'a str {
    let fault = fault(report, APP);
    fault.detail.iter().find(|(key, _)| key == name).map_or("", |(_, value)| value)
}

#[test]
fn a01_a_start_ends_with_the_cause_though_no_deadline_comes() {
    paused(async {
        let image = json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off: app:1: not found"}});
        let still = starting(3, vec![main_container(image, json!({}))]);
        let inside = after_the_write(stopped(), vec![(Duration::ZERO, still)]).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::RolloutFailed);
        assert_eq!((detail(&report, "reason"), detail(&report, "container")), ("image-error", "main"));
        assert!(report.elapsed < 10 * SECOND, "{:?}", report.elapsed);
    });
}

#[test]
fn a01_where_pods_must_not_be_read_our_own_deadline_ends_it() {
    paused(async {
        let still = starting(3, vec![]);
        let inside = Inside::scripted(move |asked| match asked.word().as_str() {
            "LIST pods" => Reply::status(403, "Forbidden", "pods is forbidden"),
            _ => still.answer(asked),
        })
        .await
        .within(60 * SECOND);
        let report = inside.start(&[APP]).await;
        assert_eq!((fault(&report, APP).kind, report.elapsed.as_secs()), (FaultKind::Timeout, 60));
    });
}

#[test]
fn a09_what_nobody_observes_ends_by_our_deadline_and_says_so() {
    paused(async {
        let still =
            Still::new(deployment(json!({"metadata": {"generation": 1}, "status": {"observedGeneration": null}})));
        let inside = Inside::scripted(move |asked| still.answer(asked)).await.within(30 * SECOND);
        let report = inside.start(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(fault.message.contains("has not been seen by the controller"), "{}", fault.message);
    });
}

#[test]
fn a11_an_unschedulable_start_ends_by_our_deadline_and_says_so() {
    paused(async {
        let condition =
            json!({"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes fit"});
        let waits = pod(
            1,
            1,
            json!({"spec": {"nodeName": null},
            "status": {"phase": "Pending", "conditions": [condition], "containerStatuses": null}}),
        );
        let still = starting(2, vec![waits]);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await.within(60 * SECOND);
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert!(fault(&report, APP).message.contains("0/1 nodes fit"), "{}", fault(&report, APP).message);
    });
}

#[test]
fn a13_a_start_outlives_the_first_exits() {
    paused(async {
        let exited = main_container(json!({"terminated": {"reason": "Error", "exitCode": 1}}), json!({}));
        let again = main_container(json!({"running": {}}), json!({"restartCount": 1}));
        let states = vec![
            (Duration::ZERO, starting(3, vec![exited])),
            (8 * SECOND, starting(3, vec![again])),
            (16 * SECOND, running(3)),
        ];
        let inside = after_the_write(stopped(), states).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed >= 16 * SECOND);
    });
}

#[test]
fn a16_a_deadline_from_before_does_not_fail_the_next_start() {
    paused(async {
        let deadline = json!({"status": {"conditions": [{"type": "Progressing", "status": "False",
            "reason": "ProgressDeadlineExceeded", "message": "timed out"}]}});
        let mut before = stopped();
        merge(&mut before.deployment, &deadline);
        let mut unobserved = starting(3, vec![]);
        merge(&mut unobserved.deployment, &deadline);
        merge(&mut unobserved.deployment, &json!({"status": {"observedGeneration": 2}}));
        let mut stale = starting(3, vec![]);
        merge(&mut stale.deployment, &deadline);
        let ms = Duration::from_millis;
        let states = vec![
            (Duration::ZERO, unobserved),
            (ms(300), stale),
            (ms(600), starting(3, vec![])),
            (5 * SECOND, running(3)),
        ];
        let inside = after_the_write(before, states).await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
    });
}

#[test]
fn a18_a_stop_returns_when_no_container_is_left() {
    paused(async {
        let ending = pod(1, 1, json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:30Z"}}));
        let mut left = stopped();
        merge(&mut left.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
        let gone = left.clone();
        left.pods = vec![ending];
        let inside = after_the_write(running(2), vec![(Duration::ZERO, left), (20 * SECOND, gone)]).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!((20..22).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
    });
}

#[test]
fn a20_a_start_whose_count_was_taken_back_says_so() {
    paused(async {
        let mut taken = stopped();
        merge(&mut taken.deployment, &json!({"metadata": {"generation": 4}, "status": {"observedGeneration": 4}}));
        let inside = after_the_write(stopped(), vec![(Duration::ZERO, starting(3, vec![])), (SECOND, taken)]).await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "superseded");
    });
}

#[test]
fn a21_the_old_pod_does_not_hold_a_start_back() {
    paused(async {
        let old = pod(1, 1, json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:30Z"}}));
        let mut both = running(3);
        both.pods = vec![old.clone(), pod(2, 1, json!({}))];
        let states = vec![(Duration::ZERO, starting(3, vec![old])), (3 * SECOND, both)];
        let inside = after_the_write(stopped(), states).await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
    });
}

#[test]
fn a28_without_a_garbage_collector_a_delete_ends_and_says_so() {
    paused(async {
        let shown = Arc::new(Mutex::new(running(2)));
        let server = Arc::clone(&shown);
        let inside = Inside::scripted(move |asked| {
            let mut still = server.lock().unwrap();
            if asked.verb == "DELETE" {
                merge(
                    &mut still.deployment,
                    &json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:00Z",
                    "finalizers": ["foregroundDeletion"]}}),
                );
            }
            still.answer(asked)
        })
        .await
        .within(60 * SECOND);
        let report = inside.delete(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(fault.message.contains("foregroundDeletion"), "{}", fault.message);
        assert_eq!(inside.count("DELETE", "/app"), 1);
    });
}

#[test]
fn a29_a_stop_on_a_lost_node_names_pod_and_node() {
    paused(async {
        let conditions = json!([{"type": "Ready", "status": "False"}, {"type": "ContainersReady", "status": "True"}]);
        let lost = pod(
            1,
            1,
            json!({"metadata": {"deletionTimestamp": "2026-07-01T11:50:00Z"},
            "status": {"conditions": conditions}}),
        );
        let still = Still { pods: vec![lost], ..stopped() };
        let inside = Inside::scripted(move |asked| still.answer(asked)).await.within(60 * SECOND);
        let report = inside.stop(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(fault.message.contains("app-r1-p1") && fault.message.contains("node-1"), "{}", fault.message);
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn a31_nothing_is_written_and_waited_for_where_nothing_is_to_change() {
    for (still, starts, expected) in [(running(2), true, "already-running"), (stopped(), false, "already-stopped")] {
        paused(async {
            let inside = Inside::scripted(move |asked| still.answer(asked)).await;
            let report = if starts { inside.start(&[APP]).await } else { inside.stop(&[APP]).await };
            assert_eq!((word(&report, APP).as_str(), report.elapsed), (expected, Duration::ZERO));
            assert_eq!(inside.writes(), []);
        });
    }
}

#[test]
fn a32_a_start_waits_for_availability() {
    paused(async {
        let states = vec![(Duration::ZERO, starting(3, vec![])), (30 * SECOND, running(3))];
        let inside = after_the_write(stopped(), states).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!((30..37).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
    });
}
