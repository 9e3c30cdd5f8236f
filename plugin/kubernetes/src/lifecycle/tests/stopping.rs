use rstest::rstest;
use serde_json::json;
use workload_guest::StopReason;
use workload_guest::testing::{End, Options, When, json as answer, run};
use workload_guest::{FaultKind, OutcomeWord, Status};

use super::world::{Workload, World};
use super::*;

#[test]
fn what_runs_is_scaled_to_none_and_waited_for() {
    let mut world = World::with(Workload::at(2));
    let run = drive(stop(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Stopped, true));
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason, workload.settled), (Status::Offline, "stopped", true));
    assert_eq!(written(&run), [r#"{"metadata":{"uid":"uid-1"},"spec":{"replicas":0}}"#]);
    let words = words(&run);
    assert_eq!(words[..5], ["GET web", "LIST deployments", "PATCH web/scale", "GET web", "WATCH"]);
    // The Deployment, then its ReplicaSets, then their Pods: any other order could miss a Pod.
    assert_eq!(words[words.len() - 3..], ["GET web", "LIST replicasets", "LIST pods"]);
    assert_eq!(run.now, 700);
}

#[test]
fn what_is_stopped_at_the_first_read_is_already_stopped() {
    let mut world = World::with(Workload::at(0));
    let run = drive(stop(), |asked| world.answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::AlreadyStopped);
    assert_eq!(words(&run), ["GET web", "LIST deployments", "LIST replicasets", "LIST pods"]);
}

#[test]
fn what_is_stopping_is_waited_for_without_a_write() {
    let mut world = World::with(Workload { changed: Some(0), ..Workload::at(0) });
    let run = drive(stop(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Stopped, false));
    assert!(written(&run).is_empty());
}

#[test]
fn a_pod_that_does_not_end_is_named() {
    let mut world = World::with(Workload { end_ms: 1_000_000, ..Workload::at(1) });
    // As a server that does not count Pods which end.
    world.web().over = json!({"status": {"terminatingReplicas": 0}});
    let run = drive(stop(), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(
        fault.message,
        "timed out after 5m0s: no replica is wanted, but pod web-abc-0 on node node-1 is still there"
    );
}

#[rstest]
#[case::pods("pods", json!({}), "stopped")]
#[case::pods_uncounted("pods", json!({"status": {"terminatingReplicas": null}}), "stopped")]
#[case::sets("replicasets", json!({}), "stopped-unverified")]
fn what_must_not_be_seen_is_said(#[case] hidden: &str, #[case] over: serde_json::Value, #[case] reason: &str) {
    let mut world = World::with(Workload::at(1).over(over));
    let run = drive(stop(), |asked| {
        if asked.path().ends_with(hidden) {
            return answer(403, json!({"kind": "Status", "reason": "Forbidden", "details": {"kind": hidden}}));
        }
        world.answer(asked)
    });
    let outcome = run.outcome(WEB).unwrap();
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((outcome.word, workload.settled), (OutcomeWord::Stopped, true));
    assert_eq!(workload.reason, reason);
}

#[test]
fn whoever_starts_it_meanwhile_wins() {
    let mut world = World::with(Workload { end_ms: 1_000_000, ..Workload::at(1) });
    let run = drive(stop(), |asked| {
        if asked.now > 3_000 && world.web().desired == 0 {
            (world.web().desired, world.web().generation) = (2, 3);
        }
        world.answer(asked)
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Superseded);
    assert!(fault.detail.contains(&("desired".to_owned(), "2".to_owned())));
}

#[rstest]
#[case::cancelled(StopReason::Cancelled, FaultKind::Cancelled, "cancelled after 2s: ")]
#[case::superseded(StopReason::Superseded, FaultKind::Superseded, "superseded by another operation on it: ")]
fn told_to_stop_it_says_how_far_it_came(#[case] reason: StopReason, #[case] kind: FaultKind, #[case] words: &str) {
    let mut world = World::with(Workload { end_ms: 1_000_000, ..Workload::at(1) });
    let options = Options::default().stop(When::At(2_000), Some(WEB), reason);
    let run = run::<Kubernetes>(stop(), options, |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!((fault.kind, run.now, run.end), (kind, 2_000, End::Finished));
    assert!(fault.message.starts_with(words), "{}", fault.message);
}

#[rstest]
#[case::usual(json!({}), "no replica is wanted, which the controller has not seen yet (its pods are given 30s to end)", 700)]
#[case::longer(
    json!({"spec": {"template": {"spec": {"terminationGracePeriodSeconds": 600}}}}),
    "no replica is wanted, which the controller has not seen yet; its pods are given 10m0s to end, and this operation only 5m0s",
    700
)]
fn how_long_pods_are_given_is_said(#[case] over: serde_json::Value, #[case] said: &str, #[case] ends: u64) {
    let mut world = World::with(Workload::at(1).over(over));
    let run = drive(stop(), |asked| world.answer(asked));
    assert_eq!(run.progress.first().map(|(_, text)| text.as_str()), Some(said));
    assert_eq!(run.now, ends);
}
