use rstest::rstest;
use serde_json::json;
use workload_guest::testing::json as answer;
use workload_guest::{FaultKind, OutcomeWord, Status};

use super::world::{Workload, World};
use super::*;

#[test]
fn it_is_deleted_once_and_waited_for() {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Deleted, true));
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason), (Status::Missing, "not-found"));
    assert_eq!(
        words(&run),
        ["GET web", "LIST deployments", "LIST replicasets", "DELETE web", "GET web", "WATCH", "GET web", "LIST pods"]
    );
    assert!(written(&run)[0].contains(r#""propagationPolicy":"Foreground","preconditions":{"uid":"uid-1"}"#));
}

#[test]
fn what_is_not_there_is_already_gone() {
    let run = drive(delete(), |asked| World::empty().answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::AlreadyGone, false));
    assert_eq!(words(&run), ["GET web", "LIST deployments"]);
}

#[test]
fn what_is_being_deleted_is_only_waited_for() {
    let mut world = World::with(Workload { deleted: Some(0), ..Workload::at(1) });
    let run = drive(delete(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Deleted, false));
    assert!(written(&run).is_empty());
}

#[test]
fn a_pod_that_is_left_behind_is_waited_for() {
    let mut world = World::with(Workload::at(1));
    let before = world.clone();
    let run = drive(delete(), |asked| {
        if asked.path().ends_with("pods") && asked.now < 3_000 {
            return before.clone().answer(asked);
        }
        world.answer(asked)
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Deleted);
    assert!(run.now >= 3_000);
    assert_eq!(run.last_progress(WEB), Some("it is deleted, but pod web-abc-0 on node node-1 is still there"));
}

#[test]
fn a_404_that_is_no_status_is_not_gone() {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| {
        if world.web().deleted.is_some() && word(asked).as_deref() == Some("GET web") {
            return workload_guest::testing::text(404, "404 page not found");
        }
        world.answer(asked)
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Timeout);
}

#[rstest]
#[case::accepted(202, json!({"kind": "Status", "status": "Success"}))]
#[case::status(200, json!({"kind": "Status", "status": "Success", "details": {"uid": "uid-1"}}))]
#[case::empty(200, json!(""))]
fn whatever_a_delete_answers_a_read_decides(#[case] code: u16, #[case] body: serde_json::Value) {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| {
        let reply = world.answer(asked);
        if word(asked).as_deref() == Some("DELETE web") { answer(code, &body) } else { reply }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Deleted);
}

#[test]
fn what_is_not_ours_is_not_deleted() {
    let over = json!({"metadata": {"labels": {"workload-provider/owner": "you"}}});
    let mut world = World::with(Workload::at(1).over(over));
    let run = drive(delete(), |asked| world.answer(asked));
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::NotOwned);
    assert!(written(&run).is_empty());
}

/// Something on the way dropped the precondition, and the object was replaced between the read and the write.
#[test]
fn another_object_that_was_deleted_instead_is_told() {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| {
        if word(asked).as_deref() == Some("DELETE web") {
            return answer(200, json!({"kind": "Status", "status": "Success", "details": {"uid": "uid-2"}}));
        }
        world.answer(asked)
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert!(fault.message.contains("the server deleted that one"), "{}", fault.message);
}

#[test]
fn a_start_or_stop_of_what_is_being_deleted_is_refused() {
    for call in [start(), stop()] {
        let mut world = World::with(Workload { deleted: Some(0), end_ms: 10_000, ..Workload::at(1) });
        let run = drive(call, |asked| world.answer(asked));
        let fault = run.fault(WEB).unwrap();
        assert_eq!(fault.kind, FaultKind::Conflict);
        assert!(fault.message.contains("being deleted"), "{}", fault.message);
        assert!(written(&run).is_empty());
    }
}

/// Nobody knows whether the first DELETE was heard, and before the second somebody else made it their own.
#[rstest]
#[case::labels(json!({"metadata": {"labels": {"workload-provider/owner": "you"}}}))]
#[case::controller(
    json!({"metadata": {"ownerReferences": [{"kind": "App", "name": "shop", "uid": "x", "controller": true}]}})
)]
fn what_is_no_longer_ours_is_not_deleted_again(#[case] over: serde_json::Value) {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| {
        if word(asked).as_deref() == Some("DELETE web") {
            world.web().over = over.clone();
            return workload_guest::testing::text(504, "");
        }
        world.answer(asked)
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::NotOwned);
    assert_eq!(words(&run).iter().filter(|word| *word == "DELETE web").count(), 1);
}

/// Its controller was a moment later than we, and what is on the way dropped the body of the DELETE.
#[test]
fn a_replica_set_that_came_late_is_waited_for() {
    let mut world = World::with(Workload { end_ms: 0, ..Workload::at(1) });
    let before = world.clone();
    let mut deleted = false;
    let run = drive(delete(), |asked| {
        deleted |= word(asked).as_deref() == Some("DELETE web");
        match word(asked).as_deref() {
            Some("LIST replicasets") if !deleted => World::empty().answer(asked),
            Some("LIST replicasets") => before.clone().answer(asked),
            Some("LIST pods") if asked.now < 3_000 => before.clone().answer(asked),
            _ => world.answer(asked),
        }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Deleted);
    assert!(run.now >= 3_000, "{} ms", run.now);
}
