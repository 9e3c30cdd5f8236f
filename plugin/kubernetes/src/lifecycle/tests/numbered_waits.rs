//! Public reports about scaling, deleting and waiting, by the numbers of the catalogue of cases.

use serde_json::{Value, json};
use workload_guest::testing::{Options, json as answer, run};
use workload_guest::{FaultKind, OutcomeWord, Status};

use super::world::{Workload, World, missing, refused};
use super::*;

fn until(seconds: u64) -> Options {
    Options { deadline: Some(seconds * 1_000), ..Options::default() }
}

#[test]
fn a25_deleted_and_at_once_made_anew() {
    let mut world = World::with(Workload::at(1));
    let run = drive(delete(), |asked| {
        let reply = world.answer(asked);
        if word(asked).as_deref() == Some("DELETE web") {
            world = World::with(Workload { uid: "uid-2".to_owned(), ..Workload::at(1) });
        }
        reply
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Deleted);
    assert_eq!(words(&run).iter().filter(|word| *word == "DELETE web").count(), 1);
}

#[test]
fn a26_a_foreground_delete_is_not_repeated() {
    let over =
        json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["foregroundDeletion", "x/y"]}});
    let mut world = World::with(Workload::at(1).over(over));
    let run = run::<Kubernetes>(delete(), until(20), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.contains("foregroundDeletion") && fault.message.contains("x/y"), "{}", fault.message);
    assert!(written(&run).is_empty());
}

/// The body of the DELETE got lost on the way: the ReplicaSet belongs to nobody, and its Pod runs on.
#[test]
fn a27_what_is_orphaned_is_not_deleted() {
    let mut world = World::with(Workload::at(1));
    let before = world.clone();
    let mut deleted = false;
    let run = run::<Kubernetes>(delete(), until(20), |asked| {
        deleted |= word(asked).as_deref() == Some("DELETE web");
        match word(asked).as_deref() {
            _ if !deleted => world.answer(asked),
            Some("DELETE web") => {
                answer(200, json!({"kind": "Status", "status": "Success", "details": {"uid": "uid-1"}}))
            }
            Some("GET web") => missing("web"),
            Some("LIST replicasets") => {
                let Reply::Respond(list) = before.clone().answer(asked) else { panic!() };
                let mut list: Value = serde_json::from_slice(&list.bytes).unwrap();
                list["items"][0]["metadata"]["ownerReferences"] = json!([]);
                answer(200, list)
            }
            _ => before.clone().answer(asked),
        }
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(
        fault.message,
        "timed out after 20s: it is deleted, but replica set web-abc was left behind, and pod web-abc-0 on node node-1 \
         is still there"
    );
}

#[test]
fn a28_without_a_garbage_collector_it_ends_and_says_so() {
    let mut world = World::with(Workload { end_ms: 1_000_000, ..Workload::at(1) });
    let run = run::<Kubernetes>(delete(), until(60), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!((fault.kind, run.now), (FaultKind::Timeout, 60_000));
    assert!(fault.message.contains("the cluster's garbage collector has not touched"), "{}", fault.message);
    assert_eq!(written(&run).len(), 1);
}

#[test]
fn a31_nothing_is_written_where_nothing_is_to_be_changed() {
    for (call, desired, word) in [(start(), 1, OutcomeWord::AlreadyRunning), (stop(), 0, OutcomeWord::AlreadyStopped)] {
        let mut world = World::with(Workload::at(desired));
        let run = drive(call, |asked| world.answer(asked));
        let outcome = run.outcome(WEB).unwrap();
        assert_eq!((outcome.word, outcome.changed, run.now), (word, false, 0));
        assert!(written(&run).is_empty());
    }
}

#[test]
fn a32_a_replica_that_is_there_is_not_yet_available() {
    let mut world = World::with(Workload { ready_ms: 9_000, ..Workload::at(0) });
    let run = drive(start(), |asked| world.answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().workload.as_ref().unwrap().available, 1);
    assert!(run.now >= 9_000);
}

#[test]
fn a33_the_count_is_all_that_is_written() {
    for (call, desired) in [(start(), 0), (stop(), 1)] {
        let mut world = World::with(Workload::at(desired));
        let run = drive(call, |asked| world.answer(asked));
        let writes: Vec<String> = words(&run).into_iter().filter(|word| word.starts_with("PATCH")).collect();
        assert_eq!(writes, ["PATCH web/scale"]);
        let body: Value = serde_json::from_str(&written(&run)[0]).unwrap();
        assert_eq!(body["spec"], json!({"replicas": 1 - desired}));
        assert_eq!(body["metadata"]["uid"], "uid-1");
    }
}

#[test]
fn a34_a_missing_permission_for_the_subresource_is_named() {
    for (call, desired) in [(start(), 0), (stop(), 1)] {
        let mut world = World::with(Workload::at(desired));
        let run = drive(call, |asked| match asked.method() {
            Some(Method::Patch) => refused(403, "Forbidden", "web"),
            _ => world.answer(asked),
        });
        let fault = run.fault(WEB).unwrap();
        assert_eq!(fault.kind, FaultKind::Forbidden);
        assert_eq!(fault.message, "not allowed to patch deployments/scale in namespace default");
        for (name, value) in [("verb", "patch"), ("resource", "deployments/scale"), ("namespace", "default")] {
            assert!(fault.detail.contains(&(name.to_owned(), value.to_owned())), "{:?}", fault.detail);
        }
        assert_eq!(written(&run).len(), 1);
    }
}

/// A new process asks before the server can answer.
#[test]
fn b04_no_answer_yet_is_not_that_it_does_not_run() {
    let mut world = World::with(Workload::at(1));
    let mut gets = 0;
    let run = drive(start(), |asked| {
        gets += usize::from(word(asked).as_deref() == Some("GET web"));
        if gets <= 2 { workload_guest::testing::text(503, "") } else { world.answer(asked) }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::AlreadyRunning);
    assert!(written(&run).is_empty());
    let run = drive(status(), |_| workload_guest::testing::text(503, ""));
    let workload = run.outcome(WEB).unwrap().workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason), (Status::Unknown, "unreachable"));
}
