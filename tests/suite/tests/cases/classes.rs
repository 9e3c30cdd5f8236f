//! More reports of the same classes, by the project and number of the report.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{Still, merge, owner, pod, replica_set, scale, status, template};
use workload_suite::inside::{Asked, Inside, Reply, fault, outcome, paused, word};

use crate::moving::{after_the_write, detail, running, starting, stopped};
use crate::states::{empty_set, ending, held, none_wanted, rolling};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

/// A test within a patch that fails is answered with 422 by some servers and with 500 by others. No write of ours is such a
/// patch, and neither answer is taken for success, for another object, or for a reason to try for ever.
#[rstest]
#[case::invalid(422, "Invalid", FaultKind::Malformed, 1)]
#[case::internal(500, "InternalError", FaultKind::Unavailable, 5)]
fn k8s_68202_a_write_that_is_refused_is_not_done(
    #[case] code: u16,
    #[case] reason: &'static str,
    #[case] kind: FaultKind,
    #[case] writes: usize,
) {
    for starts in [true, false] {
        paused(async {
            let still = if starts { stopped() } else { running(2) };
            let words = "the server rejected our request due to an error in our request";
            let inside = Inside::scripted(move |asked| match asked.verb {
                "PATCH" => Reply::json(code, &status(code, reason, words, json!({}))),
                _ => still.answer(asked),
            })
            .await;
            let report = if starts { inside.start(&[APP]).await } else { inside.stop(&[APP]).await };
            assert_eq!(fault(&report, APP).kind, kind, "{:?}", fault(&report, APP));
            let sent = inside.writes();
            assert_eq!(sent.len(), writes);
            assert!(sent.iter().all(|write| write.body.is_object()), "a merge, and no list of steps: {sent:?}");
            // Each is sent on a look of its own.
            let looks = inside.count("GET", "/deployments/app");
            assert!(looks >= writes, "{:?}", inside.words());
        });
    }
}

/// A version that is given with a read asks for what some cache holds.
#[test]
fn k8s_60478_no_read_is_from_a_cache() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({}), &[("start-after", "8s"), ("stop", "8s")]).await;
        inside.start(&[APP]).await;
        inside.status(&[APP]).await;
        inside.discover(&["ns"]).await;
        inside.stop(&[APP]).await;
        inside.delete(&[APP]).await;
        let asked = inside.requests();
        let reads: Vec<&Asked> = asked.iter().filter(|asked| matches!(asked.verb, "GET" | "LIST")).collect();
        let watches: Vec<&Asked> = asked.iter().filter(|asked| asked.verb == "WATCH").collect();
        assert!(reads.len() > 10 && watches.len() > 1, "{:?}", inside.words());
        for read in reads {
            assert_eq!(read.query("resourceVersion"), None, "{read:?}");
            assert_eq!(read.query("resourceVersionMatch"), None, "{read:?}");
        }
        assert!(watches.iter().all(|watch| watch.query("resourceVersion") != Some("0")), "{watches:?}");
    });
}

/// Names of what belongs to it are cut: two whose names begin alike have Pods that cannot be told by name.
#[test]
fn k8s_110500_pods_are_told_by_their_owners_not_by_their_names() {
    paused(async {
        let name = "a".repeat(253);
        let id = format!("ns/{name}");
        let long = |change: Value| {
            let mut object = change;
            merge(&mut object, &json!({"metadata": {"name": name, "labels": {"workload-provider/id": null}}}));
            object
        };
        let cut = |object: Value, uid: &str| {
            let mut object = object;
            merge(&mut object, &json!({"metadata": {"name": format!("{}-{uid}", "a".repeat(57))}}));
            object
        };
        let foreign = owner("apps/v1", "Deployment", &format!("{}b", "a".repeat(252)), "d9");
        let sets = vec![
            empty_set(),
            replica_set(9, json!({"metadata": {"name": "a".repeat(253), "ownerReferences": [foreign]}})),
        ];
        let still = Still::of(long(none_wanted()), sets, vec![cut(pod(9, 9, json!({})), "xyz12")]);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        assert_eq!(word(&inside.status(&[&id]).await, &id), "offline stopped");
        assert_eq!(word(&inside.stop(&[&id]).await, &id), "already-stopped");
        assert_eq!(inside.writes(), []);
    });
}

/// What we make ourselves leaves room for what the controllers add.
#[test]
fn k8s_110500_a_name_that_would_be_cut_is_not_made() {
    paused(async {
        let inside = Inside::scripted(|asked| panic!("nobody is to be asked: {asked:?}")).await;
        let id = format!("ns/{}", "a".repeat(53));
        let report = inside.create(&[(&id, json!({"image": "app:1"}))]).await;
        assert_eq!(fault(&report, &id).kind, FaultKind::InvalidId);
    });
}

/// The containers of a Pod have ended, and a finalizer holds the object.
#[test]
fn k8s_116410_a_held_pod_that_ended_does_not_hold_a_stop() {
    for phase in ["Failed", "Succeeded"] {
        paused(async {
            let mut left = stopped();
            merge(&mut left.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
            left.pods = vec![held(phase)];
            let inside = after_the_write(running(2), vec![(Duration::ZERO, left)]).await;
            let report = inside.stop(&[APP]).await;
            assert_eq!(word(&report, APP), "stopped", "{phase}");
            assert!(report.elapsed < 5 * SECOND, "{phase}: {:?}", report.elapsed);
        });
    }
}

/// But it holds a delete: the Deployment stays until its Pods are gone.
#[test]
fn k8s_120207_a_held_pod_that_ended_holds_a_delete() {
    paused(async {
        let mut before = stopped();
        before.pods = vec![held("Failed")];
        let mut deleted: Option<Duration> = None;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "DELETE" {
                deleted.get_or_insert(asked.at);
                let deleting = json!({"metadata": {"deletionTimestamp": "2026-07-01T12:00:00Z",
                    "finalizers": ["foregroundDeletion"]}});
                merge(&mut before.deployment, &deleting);
            }
            if deleted.is_some_and(|at| asked.at >= at + 20 * SECOND) {
                before = Still::of(Value::Null, vec![], vec![]);
            }
            before.answer(asked)
        })
        .await;
        let report = inside.delete(&[APP]).await;
        assert_eq!(word(&report, APP), "deleted");
        assert!((20..27).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.count("DELETE", "/app"), 1);
    });
}

/// The counter of `/scale` says zero while the last container still runs; who waits for that returns too early.
#[test]
fn k8s_91850_the_counter_of_the_scale_ends_no_stop() {
    paused(async {
        let mut counted = stopped();
        merge(&mut counted.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}));
        let gone = counted.clone();
        counted.pods = vec![pod(1, 1, ending())];
        let inside = after_the_write(running(2), vec![(Duration::ZERO, counted), (12 * SECOND, gone)]).await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(report.elapsed >= 12 * SECOND, "{:?}", report.elapsed);
        assert_eq!(inside.count("GET", "/scale"), 0);
    });
}

/// Scaled within a rollout without surge, the controller is stuck: the old ReplicaSet keeps its Pod for ever.
#[test]
fn k8s_138036_a_stop_that_is_stuck_ends_and_says_where() {
    paused(async {
        let mut wedged = stopped();
        merge(
            &mut wedged.deployment,
            &json!({"metadata": {"generation": 3, "annotations": {"deployment.kubernetes.io/revision": "2"}},
                "spec": {"template": template(2), "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 1}}},
                "status": {"observedGeneration": 3, "replicas": 1, "readyReplicas": 1, "availableReplicas": 1}}),
        );
        let second = replica_set(
            2,
            json!({"spec": {"replicas": 0}, "status": {"replicas": 0, "readyReplicas": null,
            "availableReplicas": null}}),
        );
        wedged.replica_sets = vec![replica_set(1, json!({})), second];
        wedged.pods = vec![pod(1, 1, json!({}))];
        let inside = after_the_write(running(2), vec![(Duration::ZERO, wedged)]).await.within(60 * SECOND);
        let report = inside.stop(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!((fault.kind, report.elapsed.as_secs()), (FaultKind::Timeout, 60));
        assert!(fault.message.contains("app-r1-p1"), "{}", fault.message);
        let details = ["reason", "pod", "node"].map(|name| detail(&report, name));
        assert_eq!(details, ["stopping", "app-r1-p1", "node-1"]);
        assert_eq!(inside.writes().len(), 1);
        assert_eq!(word(&inside.status(&[APP]).await, APP), "offline stopping");
    });
}

/// What is stopped is not stopped again, however often it is asked for.
#[test]
fn sablier_1095_what_is_stopped_is_not_written_to_again() {
    paused(async {
        let still = stopped();
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        for _ in 0..5 {
            let report = inside.stop(&[APP]).await;
            assert_eq!(word(&report, APP), "already-stopped");
            assert!(!outcome(&report, APP).unwrap().changed);
        }
        assert_eq!(inside.writes(), []);
        assert_eq!(inside.words()[..4], ["GET app", "LIST deployments", "LIST replicasets", "LIST pods"]);
        assert_eq!(inside.words().len(), 20);
    });
}

/// All of the new revision are counted as updated, and one of the old is still there.
#[test]
fn datahub_16993_the_updated_ones_alone_end_no_start() {
    paused(async {
        let set = |number, replicas: u32, available: u32| {
            let counts = json!({"replicas": replicas, "readyReplicas": available, "availableReplicas": available});
            replica_set(number, json!({"spec": {"replicas": replicas}, "status": counts}))
        };
        let shown = |replicas: u32, available: u32| {
            let counts = json!({"replicas": replicas, "updatedReplicas": 2, "readyReplicas": available,
                "availableReplicas": available});
            let mut object = rolling(counts);
            merge(&mut object, &json!({"spec": {"replicas": 2}}));
            object
        };
        // One of the new ones is not available yet, and one of the old ones is.
        let before = Still::of(shown(3, 2), vec![set(1, 1, 1), set(2, 2, 1)], vec![]);
        let after = Still::of(shown(2, 2), vec![set(1, 0, 0), set(2, 2, 2)], vec![]);
        let inside = Inside::scripted(
            move |asked| {
                if asked.at < 20 * SECOND { before.answer(asked) } else { after.answer(asked) }
            },
        )
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!((20..27).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.writes(), []);
    });
}

/// A token that is refused while something is waited for: nothing is written again, and it is told as what it is. That
/// one that was replaced is read anew is the transport's part.
#[test]
fn rexec_135_a_token_that_is_refused_in_a_wait_is_told() {
    paused(async {
        let (before, after) = (stopped(), starting(3, vec![]));
        let mut written: Option<Duration> = None;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = Some(asked.at);
                return Reply::json(200, &scale(&before.deployment, 1));
            }
            match written {
                None => before.answer(asked),
                Some(at) if asked.at < at + 4 * SECOND => after.answer(asked),
                Some(_) => Reply::status(401, "Unauthorized", "Unauthorized"),
            }
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Unauthorized);
        assert!(report.elapsed < 15 * SECOND, "{:?}", report.elapsed);
        assert_eq!(inside.writes().len(), 1);
    });
}
