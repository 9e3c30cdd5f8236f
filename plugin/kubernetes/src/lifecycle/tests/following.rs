//! What is followed: each change is told, and soon.

use rstest::rstest;
use serde_json::json;
use workload_guest::testing::{Options, Reply, When, run, text};
use workload_guest::{Answer, Scope, Status, StopReason};

use super::world::{Workload, World, line, missing, refused};
use super::*;

fn everything() -> Call {
    Call::Discover(Scope { places: vec!["default".to_owned()] }, true)
}

fn until(ms: u64, call: Call, reply: impl FnMut(&Asked) -> Reply) -> Run {
    let options = Options { deadline: None, ..Options::default() }.stop(When::At(ms), None, StopReason::Cancelled);
    run::<Kubernetes>(call, options, reply)
}

/// Twice something changes, the second time while the first is still being looked into.
#[test]
fn a_change_during_a_read_is_a_reason_for_another() {
    for call in [Call::Status(vec![WEB.to_owned()], true), everything()] {
        let mut world = World::with(Workload::at(0));
        let run = until(4_000, call, |asked| match word(asked).as_deref() {
            Some("WATCH") => {
                let changed = || Answer::Response(line(r#"{"type":"MODIFIED","object":{}}"#));
                Reply::Script(vec![(1_000, changed()), (1_300, changed())])
            }
            Some("LIST replicasets") => Reply::After(500, Box::new(world.answer(asked))),
            _ => world.answer(asked),
        });
        let read = |asked: &&Asked| matches!(word(asked).as_deref(), Some("GET web" | "LIST deployments"));
        let times: Vec<u64> = run.asked.iter().filter(read).map(|asked| asked.now).collect();
        assert!(times.len() == 3 && times[2] < 3_000, "{times:?}");
    }
}

/// What is no longer in the list may be there still.
#[test]
fn what_is_no_longer_listed_is_read() {
    let another = json!({"metadata": {"labels": {"workload-provider/owner": "you"}}});
    let cases = [
        (missing("web"), Some("not-found")),
        (text(503, ""), None),
        (text(404, "<html>"), None),
        (World::with(Workload::at(1).over(another)).answer(&get()), Some("not-owned")),
    ];
    for (reply, reason) in cases {
        let mut world = World::with(Workload::at(1));
        let run = until(12_000, everything(), |asked| match word(asked).as_deref() {
            Some("GET web") => reply.clone(),
            Some("WATCH") => Reply::Never,
            _ if asked.now > 3_000 => World::empty().answer(asked),
            _ => world.answer(asked),
        });
        let told: Vec<&str> = run.emitted[1..].iter().map(|found| &*found.reason).collect();
        assert_eq!(told, reason.into_iter().collect::<Vec<_>>());
        assert!(run.emitted[1..].iter().all(|found| found.status == Status::Missing));
    }
}

/// A place that cannot be read at first is asked for as long as it is followed.
#[rstest]
#[case::away(text(503, ""), 20_000, "unreachable")]
#[case::busy(text(429, ""), 20_000, "throttled")]
#[case::html(text(404, "<html>"), 20_000, "malformed")]
#[case::refused(refused(403, "Forbidden", ""), 40_000, "forbidden")]
fn a_place_is_told_of_when_it_comes(#[case] away: Reply, #[case] until_ms: u64, #[case] reason: &str) {
    let mut world = World::with(Workload::at(1));
    let run =
        until(100_000, everything(), |asked| if asked.now < until_ms { away.clone() } else { world.answer(asked) });
    let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
    assert_eq!(&**place, "default");
    assert!(fault.detail.contains(&("reason".to_owned(), reason.to_owned())), "{:?}", fault.detail);
    assert_eq!(run.emitted.len(), 1);
    let first = run.asked.iter().filter(|asked| asked.now < until_ms && asked.request().is_some()).count();
    assert!(first <= 20, "{first} requests in {until_ms} ms");
}

/// One that is away does not keep the others waiting.
#[test]
fn the_other_places_are_followed_meanwhile() {
    let places = ["away", "default"].map(str::to_owned).to_vec();
    let mut world = World::with(Workload { changed: Some(0), ..Workload::at(1) });
    let run = until(30_000, Call::Discover(Scope { places }, true), |asked| {
        if asked.path().contains("namespaces/away/") { text(503, "") } else { world.answer(asked) }
    });
    let told: Vec<&str> = run.emitted.iter().map(|found| &*found.reason).collect();
    assert_eq!(told, ["unobserved", "starting", "available"]);
    assert_eq!(run.incomplete.len(), 1);
}

fn get() -> Asked {
    let request = crate::request::get(&crate::id::Target::parse(WEB).unwrap());
    Asked { id: 1, for_id: None, now: 0, effect: Effect::Http(request) }
}

/// What fails later is told as well, once, and so is that it can be read again.
#[rstest]
#[case::away(text(503, ""), "unreachable", 20)]
#[case::refused(refused(403, "Forbidden", ""), "forbidden", 3)]
fn a_place_that_cannot_be_read_any_more_is_told_of(#[case] away: Reply, #[case] reason: &str, #[case] most: usize) {
    let mut world = World::with(Workload::at(1));
    let gone = |now: u64| (10_000..40_000).contains(&now);
    let run = until(90_000, everything(), |asked| match word(asked).as_deref() {
        Some("LIST deployments") if gone(asked.now) => away.clone(),
        _ => world.answer(asked),
    });
    let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
    assert_eq!(&**place, "default");
    assert!(fault.detail.contains(&("reason".to_owned(), reason.to_owned())), "{:?}", fault.detail);
    let told: Vec<&str> = run.emitted.iter().map(|found| &*found.reason).collect();
    assert_eq!(told, ["available", "available"]);
    let asked = run.asked.iter().filter(|asked| gone(asked.now) && word(asked).as_deref() == Some("LIST deployments"));
    let asked = asked.count();
    assert!(asked <= most, "{asked} lists");
}

/// The server says when to come back, to one who follows as well.
#[test]
fn who_follows_comes_back_when_the_server_says() {
    for call in [Call::Status(vec![WEB.to_owned()], true), everything()] {
        let mut world = World::with(Workload::at(1));
        let busy = |now: u64| (10_000..50_000).contains(&now);
        let run = until(60_000, call, |asked| match (word(asked).as_deref(), text(429, "")) {
            (Some("GET web" | "LIST deployments"), Reply::Respond(response)) if busy(asked.now) => {
                Reply::Respond(workload_guest::Response { retry_after_ms: Some(20_000), ..response })
            }
            _ => world.answer(asked),
        });
        let read = |asked: &&Asked| matches!(word(asked).as_deref(), Some("GET web" | "LIST deployments"));
        let times: Vec<u64> = run.asked.iter().filter(read).map(|asked| asked.now).filter(|now| busy(*now)).collect();
        assert_eq!(times.len(), 2, "{times:?}");
    }
}
