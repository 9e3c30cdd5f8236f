use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_host::model::{Outcome, OutcomeWord};

use super::*;
use crate::testing::{outcome, workload};

fn at(status: Status, reason: &str, available: u32) -> Workload {
    Workload { status, reason: reason.to_owned(), available, desired: 2, ..workload("shop/web") }
}

#[rstest]
#[case::available(Status::Running, "available", 2, "running")]
#[case::partial(Status::Running, "partial", 1, "running")]
#[case::paused(Status::Running, "paused", 2, "running")]
#[case::coming_up(Status::Creating, "starting", 0, "stopped")]
#[case::an_old_revision_serves(Status::Creating, "rollout", 1, "running")]
#[case::broken(Status::Failed, "crash-loop", 0, "stopped")]
#[case::broken_while_an_old_revision_serves(Status::Failed, "deadline-exceeded", 1, "running")]
#[case::stopped(Status::Offline, "stopped", 0, "stopped")]
#[case::still_stopping(Status::Offline, "stopping", 1, "stopped")]
fn an_entry(#[case] status: Status, #[case] reason: &str, #[case] available: u32, #[case] word: &str) {
    let found = at(status, reason, available);
    let expected = json!({"vmid": "shop/web", "name": "web", "type": "lxc", "status": word, "node": "default"});
    assert_eq!(serde_json::to_value(snapshot(&found, "7").unwrap()).unwrap(), expected);
}

#[test]
fn a_node_is_the_owner_that_was_asked_for_where_none_is_known() {
    let found = Workload { owner: None, node: Some("worker-1".to_owned()), ..workload("shop/web") };
    assert_eq!(snapshot(&found, "7").unwrap().node, "7");
}

#[rstest]
#[case(Status::Missing, "not-found", FaultKind::NotFound)]
#[case(Status::Missing, "not-owned", FaultKind::NotOwned)]
#[case(Status::Unknown, "unauthorized", FaultKind::Unauthorized)]
#[case(Status::Unknown, "forbidden", FaultKind::Forbidden)]
#[case(Status::Unknown, "unreachable", FaultKind::Unavailable)]
#[case(Status::Unknown, "throttled", FaultKind::Unavailable)]
#[case(Status::Unknown, "malformed", FaultKind::Malformed)]
fn no_entry_but_a_fault(#[case] status: Status, #[case] reason: &str, #[case] kind: FaultKind) {
    let found = Workload { message: Some("why".to_owned()), ..at(status, reason, 0) };
    let fault = snapshot(&found, "7").unwrap_err();
    assert_eq!(fault, Fault::new(kind, "why").with("reason", reason));
    if status == Status::Unknown {
        assert_eq!(exit([&fault].into_iter()), Exit::of_status(&found), "the code is that of a status in another form");
    }
}

#[test]
fn a_list_has_no_entry_for_what_is_not_known() {
    let all = [
        workload("shop/a"),
        Workload { id: "shop/b".to_owned(), ..at(Status::Unknown, "forbidden", 0) },
        Workload { id: "shop/c".to_owned(), ..at(Status::Missing, "not-found", 0) },
    ];
    let (entries, faults) = listing(&all, "7");
    assert_eq!(entries.iter().map(|entry| entry.vmid).collect::<Vec<_>>(), ["shop/a"]);
    assert_eq!(
        faults.iter().map(|(id, fault)| (*id, fault.kind)).collect::<Vec<_>>(),
        [("shop/b", FaultKind::Forbidden)]
    );
}

#[rstest]
#[case::started(End::Done(Box::new(outcome(OutcomeWord::Started, "shop/web"))), "running")]
#[case::gone(End::Done(Box::new(Outcome { word: OutcomeWord::Deleted, changed: true, workload: None })), "stopped")]
#[case::seen_to_be_gone(
    End::Done(Box::new(Outcome {
        word: OutcomeWord::Deleted, changed: true, workload: Some(at(Status::Missing, "not-found", 0)) })),
    "stopped"
)]
fn a_write(#[case] end: End, #[case] word: &str) {
    let entry = Entry { id: "shop/web".to_owned(), end, elapsed: Duration::ZERO };
    let written = written(&entry, "default").unwrap();
    assert_eq!((written.vmid, written.name, written.status, written.node), ("shop/web", "web", word, "default"));
}

#[test]
fn a_write_that_failed_is_a_fault() {
    let fault = Fault::new(FaultKind::Conflict, "it exists");
    let entry = Entry { id: "shop/web".to_owned(), end: End::Fault(fault.clone()), elapsed: Duration::ZERO };
    assert_eq!(written(&entry, "7"), Err(fault));
}

#[test]
fn a_fault_with_id_is_no_entry() {
    let fault = serde_json::to_value(with_id("shop/web", &Fault::new(FaultKind::NotFound, "x"))).unwrap();
    assert_eq!(fault["detail"]["id"], "shop/web");
    assert!(fault.get("vmid").is_none());
}
