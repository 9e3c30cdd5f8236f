use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Options, run};
use workload_guest::{FaultKind, OutcomeWord, Status};

use super::world::{Workload, World};
use super::*;

#[test]
fn nothing_wanted_is_scaled_to_one_and_waited_for() {
    let mut world = World::with(Workload::at(0));
    let run = drive(start(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Started, true));
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason, workload.available), (Status::Running, "available", 1));
    assert_eq!(workload.image.as_deref(), Some("nginx:1"));
    assert_eq!(
        words(&run),
        [
            "GET web",
            "LIST deployments",
            "PATCH web/scale",
            "GET web",
            "WATCH",
            "GET web",
            "GET web",
            "LIST replicasets"
        ]
    );
    assert_eq!(written(&run), [r#"{"metadata":{"uid":"uid-1","resourceVersion":"101"},"spec":{"replicas":1}}"#]);
    // Woken by the watch, not by the clock.
    assert_eq!(run.now, 800);
}

#[test]
fn a_count_is_never_lowered() {
    let mut world = World::with(Workload { changed: Some(0), ..Workload::at(3) });
    let run = drive(start(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Started, false));
    assert!(written(&run).is_empty());
    assert_eq!(outcome.workload.clone().unwrap().available, 3);
}

#[test]
fn what_runs_at_the_first_read_is_already_running() {
    let mut world = World::with(Workload { probe: false, ..Workload::at(2) });
    let run = drive(start(), |asked| world.answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::AlreadyRunning);
    assert_eq!(words(&run), ["GET web", "LIST deployments", "LIST replicasets"]);
    assert_eq!(run.now, 0);
}

#[rstest]
#[case::by_default(None, 1_800)]
#[case::longer(Some("3000"), 3_800)]
#[case::off(Some("0"), 800)]
fn what_says_nothing_itself_is_looked_at_again(#[case] setting: Option<&str>, #[case] ends: u64) {
    let mut world = World::with(Workload { probe: false, ..Workload::at(0) });
    let options = setting.map_or_else(Options::default, |ms| Options::default().setting("settle-ms", ms));
    let run = run::<Kubernetes>(start(), options, |asked| world.answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(run.now, ends);
}

#[test]
fn a_crash_within_the_settling_time_is_no_start() {
    let mut world = World::with(Workload { probe: false, ..Workload::at(0) });
    let run = run::<Kubernetes>(start(), Options { deadline: Some(20_000), ..Options::default() }, |asked| {
        if asked.now >= 1_500 {
            world.web().over = json!({"status": {"availableReplicas": 0}});
        }
        world.answer(asked)
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(
        fault.message,
        "timed out after 20s: 0 of 1 replica available; pod web-abc-0 on node node-1 is not ready yet"
    );
}

#[rstest]
#[case::deadline(
    json!({"status": {"conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
        "message": "ReplicaSet \"web-abc\" has timed out progressing."}]}}),
    "deadline-exceeded",
    "default/web does not start: 0 of 1 replica available; pod web-abc-0 on node node-1 is not ready yet; ReplicaSet \
     \"web-abc\" has timed out progressing"
)]
#[case::quota(
    json!({"status": {"replicas": 0, "conditions": [{"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
        "message": "pods \"web-abc-1\" is forbidden: exceeded quota: q"}]}}),
    "replica-failure",
    "default/web does not start: 0 of 1 replica available; pods \"web-abc-1\" is forbidden: exceeded quota: q"
)]
fn a_rollout_that_cannot_end_ends_early(#[case] over: Value, #[case] reason: &str, #[case] message: &str) {
    let mut world = World::with(Workload { ready_ms: 1_000_000, ..Workload::at(0) });
    let run = drive(start(), |asked| {
        if world.web().desired == 1 {
            world.web().over = over.clone();
        }
        world.answer(asked)
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!((fault.kind, &*fault.message), (FaultKind::RolloutFailed, message));
    assert!(fault.detail.contains(&("reason".to_owned(), reason.to_owned())));
    assert!(run.now <= 10_000, "ended only after {} ms", run.now);
}

#[test]
fn a_slow_one_ends_with_the_last_thing_known() {
    let mut world = World::with(Workload { ready_ms: 1_000_000, ..Workload::at(3) });
    world.web().changed = Some(0);
    let run = drive(start(), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!((fault.kind, run.now), (FaultKind::Timeout, 300_000));
    assert_eq!(
        fault.message,
        "timed out after 5m0s: 0 of 3 replicas available; pod web-abc-0 on node node-1 is not ready yet"
    );
    // One look every five seconds, whatever the watch says: the Deployment, its ReplicaSets and their Pods.
    assert!((170..190).contains(&reads(&run)), "{} reads", reads(&run));
}

#[test]
fn whoever_stops_it_meanwhile_wins() {
    let mut world = World::with(Workload { ready_ms: 1_000_000, ..Workload::at(0) });
    let run = drive(start(), |asked| {
        if asked.now > 3_000 && world.web().desired == 1 {
            (world.web().desired, world.web().generation) = (0, 3);
        }
        world.answer(asked)
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Superseded);
}

#[test]
fn a_read_from_before_the_write_decides_nothing() {
    let mut world = World::with(Workload::at(0));
    let before = world.clone();
    let run = drive(start(), |asked| {
        let stale = world.web().desired == 1 && asked.now < 400;
        if stale { before.clone().answer(asked) } else { world.answer(asked) }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
}

#[rstest]
#[case::another_owner(json!({"metadata": {"labels": {"workload-provider/owner": "you"}}}), FaultKind::NotOwned)]
#[case::controlled(
    json!({"metadata": {"ownerReferences": [{"kind": "App", "name": "shop", "uid": "x", "controller": true}]}}),
    FaultKind::NotOwned
)]
#[case::deleting(json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), FaultKind::Conflict)]
fn what_must_not_be_touched_is_not(#[case] over: Value, #[case] kind: FaultKind) {
    for call in [start(), stop()] {
        let mut world = World::with(Workload::at(0).over(over.clone()));
        let run = drive(call, |asked| world.answer(asked));
        assert_eq!(run.fault(WEB).unwrap().kind, kind);
        assert_eq!(words(&run), ["GET web", "LIST deployments"]);
    }
}

#[test]
fn another_object_of_the_name_is_not_the_one_that_was_started() {
    let mut world = World::with(Workload { ready_ms: 1_000_000, ..Workload::at(0) });
    let run = drive(start(), |asked| {
        if asked.now > 2_000 {
            world.web().uid = "uid-2".to_owned();
        }
        world.answer(asked)
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::NotFound);
    assert!(fault.message.contains("another one of the same name"));
}
