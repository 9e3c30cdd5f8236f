//! A watch that ends, and permissions that are missing.

use rstest::rstest;
use serde_json::json;
use workload_guest::testing::{Options, Reply, Stepper, json as answer, response, run, text};
use workload_guest::{Answer, Event, Failure, FaultKind, OutcomeWord, Pending, Response};

use super::world::{Workload, World, line, refused};
use super::*;

const CHANGED: &str = r#"{"type":"MODIFIED","object":{}}"#;
const EXPIRED: &str = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#;

fn watches(run: &Run) -> Vec<&Asked> {
    run.asked.iter().filter(|asked| word(asked).as_deref() == Some("WATCH")).collect()
}

/// A start that takes a minute, with this for an answer to every watch.
fn slow(watch: &Reply) -> Run {
    let mut world = World::with(Workload { ready_ms: 60_000, ..Workload::at(0) });
    let run = drive(
        start(),
        |asked| if word(asked).as_deref() == Some("WATCH") { watch.clone() } else { world.answer(asked) },
    );
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!((60_000..=65_000).contains(&run.now), "{} ms", run.now);
    run
}

#[rstest]
#[case::nothing(Reply::Parts(vec![response(200, "")]))]
#[case::a_change(Reply::Parts(vec![line(CHANGED), response(200, "")]))]
#[case::a_bookmark(Reply::Parts(vec![line(r#"{"type":"BOOKMARK","object":{}}"#), response(200, "")]))]
#[case::expired(Reply::Open(vec![line(EXPIRED)]))]
#[case::gone(refused(410, "Expired", ""))]
#[case::html(text(502, "<html>"))]
#[case::lost(Reply::Fail(Failure::Lost))]
fn a_watch_that_always_ends_at_once_is_opened_ever_less_often(#[case] watch: Reply) {
    let run = slow(&watch);
    assert!(watches(&run).len() <= 20, "{} watches", watches(&run).len());
    assert!(reads(&run) <= 80, "{} reads", reads(&run));
}

#[test]
fn a_watch_that_is_too_much_for_the_server_waits_as_long_as_it_says() {
    let run = slow(&Reply::Respond(Response { retry_after_ms: Some(25_000), ..response(429, "") }));
    let times: Vec<u64> = watches(&run).iter().map(|asked| asked.now / 1_000).collect();
    assert_eq!(times, [0, 25, 50]);
}

/// The version of an object that nobody changed for long is too old, and will be when it is read again.
#[test]
fn a_watch_of_what_did_not_change_for_long_begins_with_now() {
    let expired = Reply::Open(vec![line(EXPIRED)]);
    let now = Reply::Script(vec![(0, Answer::Response(line(CHANGED)))]);
    let mut world = World::with(Workload { ready_ms: 60_000, ..Workload::at(0) });
    let run = drive(start(), |asked| match word(asked).as_deref() {
        Some("WATCH") if asked.query("resourceVersion").is_some() => expired.clone(),
        Some("WATCH") => now.clone(),
        _ => world.answer(asked),
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    let versions: Vec<Option<&str>> = watches(&run).iter().map(|asked| asked.query("resourceVersion")).collect();
    assert_eq!(versions, [Some("102"), None]);
}

#[rstest]
#[case::by_the_server(refused(403, "Forbidden", ""))]
#[case::by_the_host(Reply::Fail(Failure::Denied))]
fn without_a_watch_it_is_read_every_two_seconds(#[case] watch: Reply) {
    let mut world = World::with(Workload { ready_ms: 9_000, ..Workload::at(0) });
    let run = drive(
        start(),
        |asked| if word(asked).as_deref() == Some("WATCH") { watch.clone() } else { world.answer(asked) },
    );
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!((9_000..=11_100).contains(&run.now), "{} ms", run.now);
    assert_eq!(watches(&run).len(), 1);
    assert!(reads(&run) <= 20, "{} reads", reads(&run));
}

/// A host that gives no time, because the operation has asked for too much, leaves nobody waiting for nothing.
#[test]
fn without_a_clock_there_is_still_an_end() {
    let mut world = World::with(Workload::at(1));
    let stepper = Stepper::new::<Kubernetes>(stop(), &Options::default());
    let mut events = Vec::new();
    for step in 0..1_000 {
        let now = step * 10;
        let turn = stepper.step(now, std::mem::take(&mut events));
        if let Some((_, result)) = turn.settled.first() {
            assert_eq!(result.as_ref().unwrap().word, OutcomeWord::Stopped);
            return;
        }
        for Pending { id, for_, effect } in turn.need {
            let asked = Asked { id, for_id: for_, now, effect };
            match asked.request() {
                None => events.push(Event::Answer((id, Answer::Failed(Failure::Denied)))),
                Some(request) if request.streaming => {}
                Some(_) => {
                    let Reply::Respond(response) = world.answer(&asked) else { panic!("{asked:?}") };
                    events.push(Event::Answer((id, Answer::Response(response))));
                }
            }
        }
    }
    panic!("it waits for ever");
}

#[test]
fn several_that_must_not_be_listed_are_read_one_by_one() {
    for refusal in [refused(403, "Forbidden", ""), Reply::Fail(Failure::Denied)] {
        let mut world = World::with(Workload::at(1));
        world.workloads.insert("api".to_owned(), Workload { uid: "uid-2".to_owned(), ..Workload::at(1) });
        let ids = vec![WEB.to_owned(), "default/api".to_owned()];
        let run = drive(Call::Stop(ids, StopIntent::Preserve), |asked| match word(asked).as_deref() {
            Some("LIST deployments" | "WATCH") => refusal.clone(),
            _ => world.answer(asked),
        });
        for id in [WEB, "default/api"] {
            assert_eq!(run.outcome(id).unwrap().word, OutcomeWord::Stopped);
        }
        assert!(words(&run).len() < 30, "{:?}", words(&run));
        assert_eq!(words(&run).iter().filter(|word| *word == "LIST deployments").count(), 1);
    }
}

#[rstest]
#[case::by_the_server(refused(403, "Forbidden", ""))]
#[case::by_the_host(Reply::Fail(Failure::Denied))]
fn what_must_not_be_looked_at_is_said(#[case] refusal: Reply) {
    let mut world = World::with(Workload::at(1).over(json!({"status": {"terminatingReplicas": null}})));
    let run = drive(stop(), |asked| match word(asked).as_deref() {
        Some("LIST replicasets" | "LIST pods") => refusal.clone(),
        _ => world.answer(asked),
    });
    let workload = run.outcome(WEB).unwrap().workload.clone().unwrap();
    assert_eq!(workload.reason, "stopped-unverified");
}

#[test]
fn a_list_that_fails_for_long_is_asked_for_ever_less_often() {
    let mut world = World::with(Workload::at(1));
    let options = Options { deadline: Some(120_000), ..Options::default() };
    let run = run::<Kubernetes>(stop(), options, |asked| {
        if asked.path().ends_with("pods") { answer(500, json!({})) } else { world.answer(asked) }
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.contains("list pods"), "{}", fault.message);
    assert!(words(&run).len() < 120, "{} requests", words(&run).len());
}
