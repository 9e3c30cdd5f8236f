//! Cases whose point is what is written, how often, and what is made of the answer.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{Still, deployment, merge, owner, pod, replica_set, scale, status};
use workload_suite::inside::{Asked, Inside, Reply, fault, outcome, paused, word};

use crate::moving::{after_the_write, running, stopped};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a22_a_broken_one_can_be_stopped() {
    paused(async {
        let broken = Still::of(
            deployment(json!({"status": {"readyReplicas": null, "availableReplicas": null, "unavailableReplicas": 1}})),
            vec![replica_set(1, json!({"status": {"readyReplicas": null, "availableReplicas": null}}))],
            vec![pod(
                1,
                1,
                json!({"status": {"phase": "Pending", "containerStatuses": [
                {"name": "main", "state": {"waiting": {"reason": "ErrImagePull", "message": "not found"}}}]}}),
            )],
        );
        let mut after = stopped();
        merge(&mut after.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
        let inside = after_the_write(broken, vec![(Duration::ZERO, after)]).await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        let [write] = &inside.writes()[..] else { panic!("not one write: {:?}", inside.words()) };
        assert_eq!((write.word().as_str(), &write.body["spec"]), ("PATCH app/scale", &json!({"replicas": 0})));
    });
}

#[test]
fn a24_a_stop_that_is_not_written_is_an_error() {
    paused(async {
        let still = Still::new(deployment(json!({"spec": {"strategy": {"type": "Recreate", "rollingUpdate": null}}})));
        let inside = Inside::scripted(move |asked| match asked.verb {
            "PATCH" => Reply::status(500, "InternalError", "etcdserver: request timed out"),
            _ => still.answer(asked),
        })
        .await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Unavailable);
        assert_eq!(word(&inside.status(&[APP]).await, APP), "running available");
    });
}

#[test]
fn a25_another_object_of_the_name_is_not_touched() {
    paused(async {
        let (old, new) = (running(2), Still::new(deployment(json!({"metadata": {"uid": "d2"}}))));
        let mut deleted = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "DELETE" {
                deleted = true;
                return old.answer(asked);
            }
            // What was the old one's goes with it.
            if deleted { Still { pods: Vec::new(), ..new.clone() }.answer(asked) } else { old.answer(asked) }
        })
        .await;
        assert_eq!(word(&inside.delete(&[APP]).await, APP), "deleted");
        assert_eq!(inside.count("DELETE", "/app"), 1);
        let body = &inside.writes()[0].body;
        assert_eq!((&body["propagationPolicy"], &body["preconditions"]["uid"]), (&json!("Foreground"), &json!("d1")));
    });
}

#[test]
fn a26_a_delete_under_way_is_only_waited_for() {
    paused(async {
        let still = Still::new(deployment(json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:00Z",
            "finalizers": ["foregroundDeletion", "x/y"]}})));
        let inside = Inside::scripted(move |asked| still.answer(asked)).await.within(30 * SECOND);
        let report = inside.delete(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(fault.message.contains("foregroundDeletion, x/y"), "{}", fault.message);
        assert_eq!(inside.count("DELETE", ""), 0);
    });
}

#[test]
fn a27_what_was_orphaned_is_not_deleted() {
    paused(async {
        let before = running(2);
        let orphan = replica_set(1, json!({"metadata": {"ownerReferences": null}}));
        let after = Still::of(Value::Null, vec![orphan], before.pods.clone());
        let mut deleted = false;
        let inside = Inside::scripted(move |asked| {
            deleted |= asked.verb == "DELETE";
            match asked.verb {
                "DELETE" => before.answer(asked),
                "GET" if deleted => Reply::not_found("app"),
                _ if deleted => after.answer(asked),
                _ => before.answer(asked),
            }
        })
        .await
        .within(30 * SECOND);
        let report = inside.delete(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert!(fault(&report, APP).message.contains("app-r1-p1"), "{}", fault(&report, APP).message);
    });
}

#[test]
fn a33_only_the_count_is_written() {
    paused(async {
        let inside = after_the_write(stopped(), vec![(Duration::ZERO, running(3))]).await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        let [write] = &inside.writes()[..] else { panic!("not one write: {:?}", inside.words()) };
        assert_eq!(write.path, "/apis/apps/v1/namespaces/ns/deployments/app/scale");
        assert_eq!(write.body, json!({"metadata": {"uid": "d1", "resourceVersion": "100"}, "spec": {"replicas": 1}}));
    });
}

#[test]
fn a34_a_missing_permission_is_named_with_its_subresource() {
    paused(async {
        let still = stopped();
        let inside = Inside::scripted(move |asked| match asked.verb {
            "PATCH" => {
                let details = json!({"name": "app", "group": "apps", "kind": "deployments"});
                Reply::json(403, &status(403, "Forbidden", "deployments.apps \"app\" is forbidden", details))
            }
            _ => still.answer(asked),
        })
        .await;
        let report = inside.start(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Forbidden);
        assert!(fault.message.contains("patch deployments/scale"), "{}", fault.message);
        assert_eq!(inside.writes().iter().map(Asked::word).collect::<Vec<_>>(), ["PATCH app/scale"]);
    });
}

#[test]
fn a39_after_an_uncertain_write_it_is_read_first() {
    paused(async {
        let (before, after) = (stopped(), running(3));
        let mut written = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = true;
                return Reply::text(504, "upstream request timeout");
            }
            if written { after.answer(asked) } else { before.answer(asked) }
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(outcome(&report, APP).unwrap().changed);
        assert_eq!(inside.count("PATCH", "/scale"), 1);
    });
}

#[rstest]
#[case::plain_text(Reply::text(429, "Too many requests").with("retry-after", "7"))]
#[case::initialising(Reply::json(429, &status(429, "TooManyRequests", "storage is (re)initializing", json!({"retryAfterSeconds": 7}))))]
fn a39_a_busy_server_is_left_alone_so_long(#[case] busy: Reply) {
    paused(async {
        let (before, after) = (stopped(), running(3));
        let (mut busy, mut written) = (Some(busy), false);
        let inside = Inside::scripted(move |asked| match (asked.verb, busy.take()) {
            ("PATCH", Some(busy)) => busy,
            ("PATCH", None) => {
                written = true;
                Reply::json(200, &scale(&before.deployment, 1))
            }
            (_, again) => {
                busy = again;
                if written { after.answer(asked) } else { before.answer(asked) }
            }
        })
        .await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        let patches: Vec<Duration> = inside.writes().iter().map(|asked| asked.at).collect();
        assert_eq!(patches.len(), 2);
        assert!(patches[1] - patches[0] >= 7 * SECOND, "{patches:?}");
    });
}

fn spec() -> Value {
    json!({"image": "app:1"})
}

/// What is there already is never used, changed or taken away.
#[rstest]
#[case::a_of_another_owner(json!({"metadata": {"labels": {"workload-provider/owner": "other"}}}))]
#[case::b_of_nobody(json!({"metadata": {"labels": null}}))]
#[case::e_of_an_earlier_run(json!({}))]
fn b05_what_exists_is_not_adopted(#[case] change: Value) {
    paused(async {
        let still = Still::new(deployment(change));
        let inside = Inside::scripted(move |asked| match asked.verb {
            "POST" => {
                let details = json!({"name": "app", "group": "apps", "kind": "deployments"});
                Reply::json(409, &status(409, "AlreadyExists", "deployments.apps \"app\" already exists", details))
            }
            _ => still.answer(asked),
        })
        .await;
        let report = inside.create(&[(APP, spec())]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Conflict);
        assert_eq!(inside.writes().iter().map(Asked::word).collect::<Vec<_>>(), ["POST deployments"]);
    });
}

/// Answers with what was sent, as an API server does.
fn made(asked: &Asked) -> Reply {
    let mut object = asked.body.clone();
    let metadata = json!({"uid": "d1", "resourceVersion": "1", "generation": 1, "namespace": "ns"});
    merge(&mut object, &json!({"metadata": metadata, "status": {}}));
    Reply::json(201, &object)
}

#[test]
fn b16_1_a_create_that_was_throttled_is_sent_again() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.nth {
            0 => Reply::text(429, "Too many requests").with("retry-after", "1"),
            _ => made(asked),
        })
        .await;
        assert_eq!(word(&inside.create(&[(APP, spec())]).await, APP), "created");
        let posts = inside.writes();
        assert_eq!(posts.len(), 2);
        assert!(posts[1].at - posts[0].at >= SECOND);
    });
}

#[test]
fn b16_2_a_throttle_beyond_the_deadline_ends_it_and_says_how_long() {
    paused(async {
        let inside = Inside::scripted(|_| Reply::text(429, "Too many requests").with("retry-after", "3600")).await;
        let report = inside.within(5 * SECOND).create(&[(APP, spec())]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Unavailable);
        assert!(fault.message.contains("1h"), "{}", fault.message);
        assert!(report.elapsed <= 5 * SECOND && inside.writes().len() <= 2);
    });
}

#[test]
fn b16_3_a_conflict_within_the_server_is_no_other_object() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.nth {
            0 => {
                let details = json!({"name": "q", "kind": "resourcequotas"});
                Reply::json(409, &status(409, "Conflict", "the object has been modified", details))
            }
            _ => made(asked),
        })
        .await;
        assert_eq!(word(&inside.create(&[(APP, spec())]).await, APP), "created");
    });
}

/// The controller of the marked object is somebody else: never acted on.
#[test]
fn b04_what_another_controller_manages_is_left_alone() {
    paused(async {
        let foreign = owner("example.com/v1", "App", "shop", "o1");
        let still =
            Still::new(deployment(json!({"metadata": {"ownerReferences": [foreign]}, "spec": {"replicas": 0}})));
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        for report in [inside.start(&[APP]).await, inside.stop(&[APP]).await, inside.delete(&[APP]).await] {
            assert_eq!(fault(&report, APP).kind, FaultKind::NotOwned);
        }
        assert_eq!(inside.writes(), []);
    });
}
