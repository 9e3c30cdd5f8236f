//! Those about waits: what was believed of them would have hung, or ended too early.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_suite::inside::objects::{Still, deployment, merge, pod, replica_set};
use workload_suite::inside::{Inside, Reply, fault, outcome, paused, word};

use crate::moving::{after_the_write, running, starting, stopped};
use crate::states::{empty_set, ending};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

/// No ReplicaSet can be made. None for a Deployment without a deadline: then not even that is written.
fn create_error(deadline: bool) -> Value {
    let error = json!({"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
        "message": "exceeded quota: q", "lastUpdateTime": "2026-07-01T12:00:00Z"});
    let conditions = if deadline { json!([error]) } else { Value::Null };
    json!({"status": {"observedGeneration": null, "replicas": null, "updatedReplicas": null, "readyReplicas": null,
        "availableReplicas": null, "conditions": conditions}})
}

fn made(seconds_ago: u32, generation: u32, replicas: u32) -> Value {
    let at = format!("2026-07-01T11:59:{:02}Z", 60 - seconds_ago);
    json!({"metadata": {"generation": generation, "creationTimestamp": at}, "spec": {"replicas": replicas}})
}

/// Never observed, and it never will be: with the condition the ReplicaSets decide at once, without it after 5 s.
#[rstest]
#[case::with_the_condition(true, 0..3)]
#[case::without_any_condition(false, 5..11)]
fn fa01_what_is_never_observed_can_be_stopped(#[case] deadline: bool, #[case] seconds: std::ops::Range<u64>) {
    paused(async {
        let shown = |generation, replicas| {
            let mut object = deployment(create_error(deadline));
            merge(&mut object, &made(1, generation, replicas));
            Still::of(object, vec![], vec![])
        };
        let inside = after_the_write(shown(1, 1), vec![(Duration::ZERO, shown(2, 0))]).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(seconds.contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.writes().len(), 1);
    });
}

/// Observed, and its counters are those of before for ever: they say that one is available.
#[test]
fn fa01_frozen_counters_do_not_hold_a_stop() {
    paused(async {
        let error = json!([{"type": "Available", "status": "True"},
            {"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": "exceeded quota"}]);
        let frozen = |pods| {
            let change = json!({"metadata": {"generation": 3}, "spec": {"replicas": 0},
                "status": {"observedGeneration": 3, "conditions": error}});
            Still::of(deployment(change), vec![empty_set()], pods)
        };
        let states = vec![(Duration::ZERO, frozen(vec![pod(1, 1, ending())])), (6 * SECOND, frozen(vec![]))];
        let mut before = running(2);
        merge(&mut before.deployment, &json!({"status": {"conditions": error}}));
        let inside = after_the_write(before, states).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!((6..9).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
    });
}

/// For a moment after a stop and a start the counters of the Pod that ends stand at the new generation.
#[test]
fn fa02_copied_counters_end_no_start() {
    paused(async {
        let ends = || pod(1, 1, ending());
        let mut copied = running(3);
        copied.replica_sets = vec![replica_set(
            1,
            json!({"metadata": {"generation": 3}, "spec": {"replicas": 1},
                "status": {"observedGeneration": 2, "replicas": 0, "readyReplicas": null, "availableReplicas": null}}),
        )];
        copied.pods = vec![ends()];
        let states = vec![(Duration::ZERO, copied), (3 * SECOND, starting(3, vec![ends()])), (9 * SECOND, running(3))];
        let inside = after_the_write(stopped(), states).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed >= 9 * SECOND, "{:?}", report.elapsed);
    });
}

/// A start that writes nothing waits for the cause to go while the controller still tries, and only then; no edit is sent.
#[test]
fn fa03_while_the_controller_tries_it_is_not_nudged() {
    paused(async {
        let mut object = deployment(create_error(true));
        merge(&mut object, &made(30, 1, 1));
        let tries = Still::of(object, vec![], vec![]);
        let inside =
            Inside::scripted(
                move |asked| {
                    if asked.at < 2 * SECOND { tries.answer(asked) } else { running(2).answer(asked) }
                },
            )
            .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(!outcome(&report, APP).unwrap().changed);
        assert_eq!(inside.writes(), []);
    });
}

/// An error that lasts fails the start after some seconds of our own clock, and says what helps.
#[test]
fn fa03_an_error_that_lasts_fails_a_start() {
    paused(async {
        let mut object = deployment(create_error(true));
        merge(&mut object, &made(30, 1, 1));
        let still = Still::of(object, vec![], vec![]);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "rollout-failed");
        let message = &fault(&report, APP).message;
        assert!(message.contains("exceeded quota: q") && message.contains("gives up after three minutes"), "{message}");
        assert!((3..11).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.writes(), []);
    });
}

/// The signals of a Pod that is being deleted are not those of a start that failed.
#[test]
fn fb05_a_pod_that_is_deleted_dooms_no_start() {
    paused(async {
        let dying = |reason: &str, code: i64| {
            let state = json!({"terminated": {"reason": reason, "exitCode": code}});
            let status = json!({"name": "main", "state": state, "restartCount": 4, "ready": false});
            let mut object = pod(1, 1, json!({"status": {"containerStatuses": [status]}}));
            merge(&mut object, &ending());
            object
        };
        let states = vec![
            (Duration::ZERO, starting(3, vec![dying("ContainerStatusUnknown", 137)])),
            (4 * SECOND, starting(3, vec![dying("Error", 1)])),
            (8 * SECOND, running(3)),
        ];
        let inside = after_the_write(stopped(), states).await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
    });
}

/// An evicted Pod that exits well on TERM is left without a reason: it has ended, whatever it looks like.
#[test]
fn fb06_a_leftover_of_an_eviction_holds_no_stop() {
    paused(async {
        let evicted = json!({"status": {"phase": "Succeeded", "reason": null, "conditions": null,
            "containerStatuses": [{"name": "main", "state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}]}});
        let mut left = stopped();
        merge(&mut left.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
        left.pods = vec![pod(1, 1, evicted)];
        let inside = after_the_write(running(2), vec![(Duration::ZERO, left)]).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(report.elapsed < 3 * SECOND, "{:?}", report.elapsed);
    });
}

/// A permission that is missing is a 403 of the parent's kind: the subresource is in the message alone, and ours names it.
#[test]
fn fb07_a_refused_scale_is_told_by_what_was_asked() {
    paused(async {
        let still = running(2);
        let inside = Inside::scripted(move |asked| match asked.verb {
            "PATCH" => {
                let details = json!({"name": "app", "group": "apps", "kind": "deployments"});
                let words = "deployments.apps \"app\" is forbidden: User \"u\" cannot patch resource \
                             \"deployments/scale\" in API group \"apps\" in the namespace \"ns\"";
                Reply::json(403, &workload_suite::inside::objects::status(403, "Forbidden", words, details))
            }
            _ => still.answer(asked),
        })
        .await;
        let report = inside.stop(&[APP]).await;
        let detail = |name: &str| {
            let found = fault(&report, APP).detail.iter().find(|(key, _)| key == name);
            found.map_or("", |(_, value)| value.as_str())
        };
        assert_eq!(["verb", "resource", "namespace", "code"].map(detail), ["patch", "deployments/scale", "ns", "403"]);
        assert_eq!(inside.writes().len(), 1);
    });
}
