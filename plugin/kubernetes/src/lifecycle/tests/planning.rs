//! A plan: what would be written first, and where nothing would be, an end at once.

use rstest::rstest;
use workload_guest::testing::{Options, Reply, run, text};
use workload_guest::{FaultKind, OutcomeWord};

use super::world::{Workload, World, missing, refused};
use super::*;

fn planned() -> Options {
    Options { plan: true, ..Options::default() }
}

/// Each is under way and would be waited for.
#[rstest]
#[case::start(start(), Workload { changed: Some(0), ..Workload::at(1) }, OutcomeWord::Started)]
#[case::stop(stop(), Workload { changed: Some(0), ..Workload::at(0) }, OutcomeWord::Stopped)]
#[case::delete(delete(), Workload { deleted: Some(0), ..Workload::at(1) }, OutcomeWord::Deleted)]
fn what_is_under_way_is_not_waited_for(#[case] call: Call, #[case] workload: Workload, #[case] word: OutcomeWord) {
    let mut world = World::with(workload);
    let run = run::<Kubernetes>(call, planned(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    assert_eq!((outcome.word, outcome.changed, run.now), (word, false, 0));
    assert!(outcome.workload.as_ref().is_some_and(|workload| !workload.settled));
    assert!(written(&run).is_empty());
}

#[rstest]
#[case::start(start(), Workload::at(1), OutcomeWord::AlreadyRunning)]
#[case::stop(stop(), Workload::at(0), OutcomeWord::AlreadyStopped)]
fn what_is_final_is_final(#[case] call: Call, #[case] workload: Workload, #[case] word: OutcomeWord) {
    let mut world = World::with(workload);
    let run = run::<Kubernetes>(call, planned(), |asked| world.answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().word, word);
    assert!(written(&run).is_empty());
}

#[test]
fn what_is_gone_is_gone() {
    let run = run::<Kubernetes>(delete(), planned(), |asked| World::empty().answer(asked));
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::AlreadyGone);
}

/// The host takes the write and ends the id; here it is only seen that it is asked for.
#[rstest]
#[case::start(start(), 0, "PATCH web/scale")]
#[case::stop(stop(), 1, "PATCH web/scale")]
#[case::delete(delete(), 1, "DELETE web")]
fn what_would_be_written_is_asked_for(#[case] call: Call, #[case] desired: i64, #[case] write: &str) {
    let mut world = World::with(Workload::at(desired));
    let run = run::<Kubernetes>(call, planned(), |asked| world.answer(asked));
    assert!(words(&run).iter().any(|word| word == write), "{:?}", words(&run));
}

#[test]
fn a_server_that_is_away_is_not_waited_for() {
    for call in [start(), stop(), delete()] {
        let run = run::<Kubernetes>(call, planned(), |_| text(503, ""));
        assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Unavailable);
        assert!(run.now <= 2_000, "{} ms", run.now);
    }
}

#[test]
fn what_is_there_already_would_not_be_made() {
    let mut world = World::with(Workload::at(1));
    let run = run::<Kubernetes>(create(), planned(), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert!(fault.detail.contains(&("reason".to_owned(), "already-exists".to_owned())), "{:?}", fault.detail);
    assert_eq!(words(&run), ["GET web"]);
}

#[rstest]
#[case::free(missing("web"))]
#[case::nobody_may_look(refused(403, "Forbidden", "web"))]
#[case::nobody_knows(text(503, ""))]
fn what_is_not_known_to_be_there_would_be_made(#[case] looked: Reply) {
    let run = run::<Kubernetes>(create(), planned(), |asked| match word(asked).as_deref() {
        Some("GET web") => looked.clone(),
        _ => World::empty().answer(asked),
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Created);
    assert_eq!(words(&run), ["GET web", "POST"]);
}
