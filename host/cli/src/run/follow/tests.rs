use std::future::pending;

use rstest::rstest;
use workload_host::model::{FaultKind, Outcome, OutcomeWord, Settled, Status};

use super::*;
use crate::testing::{Script, workload};

#[derive(Default)]
struct Lines(Vec<String>);

impl Watcher for Lines {
    fn workload(&mut self, workload: &Workload) {
        self.0.push(format!("{} {}", workload.id, workload.reason));
    }

    fn ended(&mut self, id: &str, fault: &Fault) {
        self.0.push(format!("{id} ended: {fault}"));
    }

    fn incomplete(&mut self, place: &str, fault: &Fault) {
        self.0.push(format!("{place} left out: {fault}"));
    }

    fn progress(&mut self, id: &str, text: &str) {
        self.0.push(format!("{id} waits: {text}"));
    }

    async fn refresh(&mut self) {
        pending().await
    }
}

fn at(id: &str, status: Status, reason: &str) -> Workload {
    Workload { status, reason: reason.to_owned(), ..workload(id) }
}

fn seen(id: &str, status: Status, reason: &str) -> Event {
    Event::Emitted(at(id, status, reason))
}

fn settled(id: &str, result: Result<Workload, Fault>) -> Event {
    let read = |workload| Outcome { word: OutcomeWord::Read, changed: false, workload: Some(workload) };
    Event::Settled(Settled { id: id.to_owned(), result: result.map(read), elapsed: Default::default() })
}

fn forbidden() -> Fault {
    Fault::new(FaultKind::Forbidden, "no")
}

async fn run(events: impl IntoIterator<Item = Event>, ids: &[&str]) -> (Vec<String>, Followed) {
    let mut script = Script { before: events.into_iter().collect(), ..Script::default() };
    let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
    let mut lines = Lines::default();
    let followed = follow(&mut script, &ids, pending(), pending(), &mut lines).await;
    (lines.0, followed)
}

#[tokio::test]
async fn every_change_is_told_also_of_what_goes_and_comes_back() {
    let events = [
        seen("d/a", Status::Running, "available"),
        seen("d/a", Status::Missing, "not-found"),
        seen("d/a", Status::Creating, "starting"),
        seen("d/a", Status::Unknown, "unreachable"),
        seen("d/a", Status::Running, "available"),
        settled("d/a", Ok(at("d/a", Status::Running, "available"))),
    ];
    let (lines, followed) = run(events, &["d/a"]).await;
    let reasons = ["available", "not-found", "starting", "unreachable", "available"];
    assert_eq!(lines, reasons.map(|reason| format!("d/a {reason}")));
    assert_eq!(followed.found, [("d/a".to_owned(), Ok(workload("d/a")))]);
    assert_eq!(followed.ender, Ender::Operation);
}

#[tokio::test]
async fn a_provider_that_does_not_follow_is_heard() {
    let (lines, followed) = run([settled("d/a", Ok(workload("d/a")))], &["d/a"]).await;
    assert_eq!(lines, ["d/a available"]);
    assert_eq!(followed.found.len(), 1);
}

#[tokio::test]
async fn one_that_ends_does_not_end_the_others() {
    let events = [settled("d/b", Err(forbidden())), seen("d/a", Status::Running, "available")];
    let (lines, followed) = run(events, &["d/a", "d/b"]).await;
    assert_eq!(lines, ["d/b ended: forbidden: no", "d/a available"]);
    let expected = [("d/a".to_owned(), Ok(workload("d/a"))), ("d/b".to_owned(), Err(forbidden()))];
    assert_eq!(followed.found, expected, "in the order in which they were given");
}

#[tokio::test]
async fn places_are_told_when_the_reason_changes() {
    let place = |fault: Fault| Event::Incomplete { place: "shop".to_owned(), fault };
    let later = Fault::new(FaultKind::Unavailable, "gone");
    let events =
        [place(forbidden()), place(forbidden()), place(later.clone()), seen("d/a", Status::Running, "available")];
    let (lines, followed) = run(events, &[]).await;
    assert_eq!(lines, ["shop left out: forbidden: no", "shop left out: unavailable: gone", "d/a available"]);
    assert_eq!(followed.incomplete.into_iter().collect::<Vec<_>>(), [("shop".to_owned(), later)]);
    assert!(followed.found.is_empty(), "of a list nothing is kept");
}

#[rstest]
#[case::by_the_user(true, Ender::User)]
#[case::by_its_reader(false, Ender::Reader)]
#[tokio::test(start_paused = true)]
async fn it_ends_at_once(#[case] interrupted: bool, #[case] ender: Ender) {
    let mut script =
        Script { before: [seen("d/a", Status::Running, "available")].into(), hangs: true, ..Script::default() };
    let ids = ["d/a".to_owned()];
    let later = || tokio::time::sleep(std::time::Duration::from_secs(3));
    let began = tokio::time::Instant::now();
    let mut lines = Lines::default();
    let followed = if interrupted {
        follow(&mut script, &ids, later(), pending(), &mut lines).await
    } else {
        follow(&mut script, &ids, pending(), later(), &mut lines).await
    };
    assert_eq!((followed.ender, began.elapsed()), (ender, std::time::Duration::from_secs(3)));
    assert_eq!(lines.0, ["d/a available"]);
}
