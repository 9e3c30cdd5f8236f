//! A controller that has given up is woken, once, and by nothing more than an annotation.

use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Options, Reply, run, text};
use workload_guest::{Failure, FaultKind, OutcomeWord};

use super::world::{Workload, World, dated, refused};
use super::*;

/// 2026-01-01T01:00:00Z.
const DATE: u64 = 1_767_229_200_000;

const NUDGE: &str = r#"{"metadata":{"annotations":{"workload-provider/nudged":"2026-01-01T01:00:00Z"},"resourceVersion":"101","uid":"uid-1"}}"#;

fn given_up(updated: &str) -> Value {
    json!({"status": {"observedGeneration": 0, "replicas": 0, "updatedReplicas": 0, "availableReplicas": 0, "conditions": [
        {"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "lastUpdateTime": updated,
            "message": "replicasets.apps is forbidden: exceeded quota: q"}]}})
}

/// For how long an error is seen counts from the last edit: what failed before it may be tried anew.
#[test]
fn an_edit_begins_the_wait_for_a_lasting_error_anew() {
    let mut world = World::with(Workload::at(1).over(given_up("2026-01-01T00:59:59Z")));
    let run = drive(start(), |asked| {
        let generation = 1 + i64::try_from(asked.now / 3_000).unwrap();
        world.web().generation = generation.min(5);
        answered(&mut world, asked)
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::RolloutFailed);
    assert!(run.now >= 16_000, "{} ms", run.now);
}

fn old() -> World {
    World::with(Workload::at(1).over(given_up("2026-01-01T00:50:00Z")))
}

fn answered(world: &mut World, asked: &Asked) -> Reply {
    dated(world.answer(asked), DATE)
}

#[test]
fn one_that_was_given_up_is_nudged_and_waited_for() {
    let mut world = old();
    let run = drive(start(), |asked| {
        if asked.method() == Some(Method::Patch) {
            // The controller looks again, and now there is room.
            *world.web() = Workload { changed: Some(asked.now), ..Workload::at(1) };
        }
        answered(&mut world, asked)
    });
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Started, true));
    assert_eq!(words(&run)[..3], ["GET web", "LIST deployments", "PATCH web"]);
    assert_eq!(written(&run), [NUDGE]);
}

/// The error is not stamped again while it lasts: it counts from the nudge on.
#[test]
fn what_does_not_help_ends_as_a_failed_rollout() {
    let mut world = old();
    let run = drive(start(), |asked| answered(&mut world, asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::RolloutFailed);
    assert!(fault.message.contains("exceeded quota: q"), "{}", fault.message);
    assert!((3_000..=10_000).contains(&run.now), "{} ms", run.now);
    assert_eq!(written(&run), [NUDGE]);
}

#[rstest]
#[case::by_the_server(refused(403, "Forbidden", "web"), "not allowed to patch deployments in namespace default")]
#[case::by_the_host(
    Reply::Fail(Failure::Denied),
    "cannot patch deployments default/web: the host's policy does not allow it"
)]
fn without_the_permission_the_fault_says_what_would_help(#[case] reply: Reply, #[case] why: &str) {
    let mut world = old();
    let run = drive(start(), |asked| match asked.method() {
        Some(Method::Patch) => reply.clone(),
        _ => answered(&mut world, asked),
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::RolloutFailed);
    assert_eq!(
        fault.message,
        format!(
            "default/web does not start: its controller has given up; any edit of the Deployment would revive it, but {why}"
        )
    );
    let permission = "patch deployments in namespace default".to_owned();
    assert!(fault.detail.contains(&("not-allowed".to_owned(), permission)), "{:?}", fault.detail);
    assert_eq!(words(&run), ["GET web", "LIST deployments", "PATCH web"]);
}

#[rstest]
#[case::young(given_up("2026-01-01T00:58:00Z"), Some(DATE))]
#[case::nobody_knows_the_time(given_up("2026-01-01T00:50:00Z"), None)]
fn one_that_is_still_tried_is_not_nudged(#[case] over: Value, #[case] date_ms: Option<u64>) {
    let mut world = World::with(Workload::at(1).over(over));
    let run = drive(start(), |asked| {
        let reply = world.answer(asked);
        date_ms.map_or(reply.clone(), |date_ms| dated(reply, date_ms))
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::RolloutFailed);
    assert!(written(&run).is_empty());
}

#[rstest]
#[case::conflict(refused(409, "Conflict", "web"))]
#[case::lost(Reply::Fail(Failure::Lost))]
#[case::busy(text(429, ""))]
fn after_a_write_without_an_effect_it_is_read_again(#[case] reply: Reply) {
    let mut world = old();
    let mut writes = 0;
    let run = drive(start(), |asked| {
        if asked.method() == Some(Method::Patch) {
            writes += 1;
            if writes == 1 {
                return reply.clone();
            }
            *world.web() = Workload { changed: Some(asked.now), ..Workload::at(1) };
        }
        answered(&mut world, asked)
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(words(&run)[..5], ["GET web", "LIST deployments", "PATCH web", "GET web", "PATCH web"]);
}

/// It was written, and only the answer was lost.
#[test]
fn a_nudge_whose_answer_was_lost_counts_and_is_not_repeated() {
    let mut world = old();
    let nudged = json!({"metadata": {"annotations": {"workload-provider/nudged": "2026-01-01T01:00:00Z"}}});
    let run = drive(start(), |asked| {
        if asked.method() == Some(Method::Patch) {
            *world.web() = Workload { changed: Some(asked.now), ..Workload::at(1) }.over(nudged.clone());
            return text(504, "");
        }
        answered(&mut world, asked)
    });
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Started, true));
    assert_eq!(written(&run).len(), 1);
}

/// Another one nudged it within the same second, and ours was refused for that.
#[test]
fn a_nudge_of_somebody_else_is_no_change_of_ours() {
    let mut world = old();
    let nudged = json!({"metadata": {"annotations": {"workload-provider/nudged": "2026-01-01T01:00:00Z"}}});
    let run = drive(start(), |asked| {
        if asked.method() == Some(Method::Patch) {
            *world.web() = Workload { changed: Some(asked.now), ..Workload::at(1) }.over(nudged.clone());
            return refused(409, "Conflict", "web");
        }
        answered(&mut world, asked)
    });
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Started, false));
}

/// A stop, and a start of what is stopped, change the count: that is an edit, too.
#[test]
fn who_changes_the_count_does_not_nudge() {
    for (call, desired) in [(start(), 0), (stop(), 1)] {
        let mut world = World::with(Workload::at(desired).over(given_up("2026-01-01T00:50:00Z")));
        let options = Options { deadline: Some(20_000), ..Options::default() };
        let run = run::<Kubernetes>(call, options, |asked| answered(&mut world, asked));
        assert!(!words(&run).contains(&"PATCH web".to_owned()), "{:?}", words(&run));
    }
}

/// That nothing was observed yet is no error: it does not count for one that comes later.
#[test]
fn an_error_counts_from_when_it_was_seen() {
    let mut world = World::with(Workload::at(1));
    let nothing =
        json!({"status": {"observedGeneration": 0, "replicas": 0, "updatedReplicas": 0, "availableReplicas": 0}});
    let run = drive(start(), |asked| {
        world.web().over = if asked.now < 20_000 { nothing.clone() } else { given_up("2026-01-01T00:59:59Z") };
        answered(&mut world, asked)
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::RolloutFailed);
    assert!((23_000..=32_000).contains(&run.now), "{} ms", run.now);
}
