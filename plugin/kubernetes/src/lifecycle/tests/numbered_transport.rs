//! Public reports about watches, lists and busy servers, by the numbers of the catalogue of cases.

use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Options, Reply, json as answer, response, run, text};
use workload_guest::{FaultKind, OutcomeWord, Response, Scope};

use super::world::{Workload, World, line, missing, refused};
use super::*;

fn busy(retry_after_ms: u64) -> Reply {
    Reply::Respond(Response { retry_after_ms: Some(retry_after_ms), ..response(429, "busy") })
}

#[test]
fn a35_a_version_that_is_too_old_ends_no_wait() {
    let mut world = World::with(Workload { ready_ms: 3_000, ..Workload::at(0) });
    let mut watches = 0;
    let run = drive(start(), |asked| {
        if word(asked).as_deref() != Some("WATCH") {
            return world.answer(asked);
        }
        watches += 1;
        match watches {
            1 => {
                Reply::Open(vec![line(r#"{"type":"ERROR","object":{"kind":"Status","code":410,"reason":"Expired"}}"#)])
            }
            2 => refused(410, "Expired", ""),
            _ => world.answer(asked),
        }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!(run.now <= 3_500, "{} ms", run.now);
    // One write, a look before and after it, three watches, and a look for each reason to look.
    assert!(words(&run).len() <= 14, "{:?}", words(&run));
}

#[test]
fn a36_a_watch_that_is_silent_for_ever_hides_nothing() {
    let mut world = World::with(Workload { ready_ms: 3_000, ..Workload::at(0) });
    let run = drive(start(), |asked| match word(asked).as_deref() {
        Some("WATCH") => Reply::Open(vec![Response { last: false, ..response(200, "") }]),
        _ => world.answer(asked),
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!(run.now <= 8_000, "{} ms", run.now);
}

#[test]
fn a37_a_watch_that_always_closes_hides_nothing() {
    let mut world = World::with(Workload { end_ms: 1_000, ..Workload::at(1) });
    let run = drive(stop(), |asked| match word(asked).as_deref() {
        Some("WATCH") => Reply::After(100, Box::new(Reply::Parts(vec![response(200, "")]))),
        _ => world.answer(asked),
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Stopped);
    assert!(run.now <= 2_500, "{} ms", run.now);
    assert!(words(&run).len() <= 25, "{:?}", words(&run));
}

/// A page of a list of Deployments.
fn page(names: &[&str], next: &str) -> Reply {
    let workload = |name: &&str| ((*name).to_owned(), Workload { uid: format!("u{name}"), ..Workload::at(1) });
    let mut world = World { workloads: names.iter().map(workload).collect(), ..World::default() };
    let request = crate::request::list(
        crate::request::Resource::Deployments,
        Some("default"),
        crate::request::Which::Labels(""),
        "",
    );
    let asked = Asked { id: 1, for_id: None, now: 0, effect: Effect::Http(request) };
    let Reply::Respond(list) = world.answer(&asked) else { panic!() };
    let mut list: Value = serde_json::from_slice(&list.bytes).unwrap();
    list["metadata"]["continue"] = json!(next);
    answer(200, list)
}

#[test]
fn a38_a_token_that_grows_too_old_costs_no_item() {
    let mut expired = false;
    let call = Call::Discover(Scope { places: vec!["default".to_owned()] }, false);
    let run = drive(call, |asked| match (asked.query("continue"), expired) {
        (None, false) => page(&["a", "b"], "c1"),
        (Some("c1"), _) => {
            expired = true;
            refused(410, "Expired", "")
        }
        (None, true) => page(&["a", "b"], "c2"),
        _ => page(&["c"], ""),
    });
    let found: Vec<&str> = run.emitted.iter().map(|found| &*found.name).collect();
    assert_eq!(found, ["a", "b", "c"]);
    assert!(run.incomplete.is_empty());
}

#[test]
fn a39_an_uncertain_write_is_looked_into_and_a_busy_server_is_left_alone() {
    let mut world = World::with(Workload::at(0));
    let run = drive(start(), |asked| match asked.method() {
        Some(Method::Patch) => {
            world.answer(asked);
            text(504, "gateway timeout")
        }
        _ => world.answer(asked),
    });
    assert!(run.outcome(WEB).unwrap().changed);
    assert_eq!(written(&run).len(), 1);

    let mut world = World::with(Workload::at(0));
    let mut writes = Vec::new();
    let run = drive(start(), |asked| {
        if asked.method() != Some(Method::Patch) {
            return world.answer(asked);
        }
        writes.push(asked.now);
        if writes.len() == 1 { busy(2_000) } else { world.answer(asked) }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!(writes.len() == 2 && writes[1] >= 2_000, "{writes:?}");
}

#[rstest]
#[case::another_owner(
    json!({"workload-provider/managed": "true", "workload-provider/owner": "you"}),
    "not ours: it does not carry the labels of this owner"
)]
#[case::nobody(json!({}), "not ours: it does not carry the labels of this owner")]
#[case::ours_of_an_earlier_run(
    json!({"workload-provider/managed": "true", "workload-provider/owner": "default"}),
    "ours: start that, or delete it first"
)]
fn b05_what_is_there_already_is_left_as_it_is(#[case] labels: Value, #[case] whose: &str) {
    let run = drive(create(), |asked| match asked.method() {
        Some(Method::Post) => refused(409, "AlreadyExists", "web"),
        _ => {
            let metadata = json!({"name": "web", "namespace": "default", "uid": "u9", "labels": labels});
            answer(200, json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {}}))
        }
    });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Conflict);
    let words = format!("there is a Deployment default/web already, which is {whose}; it was left as it is");
    assert_eq!(fault.message, words);
    assert_eq!(super::words(&run), ["POST", "GET web"]);
}

#[test]
fn b16_a_busy_server_is_asked_again_when_it_says() {
    let mut posts = Vec::new();
    let run = drive(create(), |asked| {
        posts.push(asked.now);
        if posts.len() == 1 { busy(1_000) } else { World::empty().answer(asked) }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Created);
    assert!(posts.len() == 2 && posts[1] >= posts[0] + 1_000, "{posts:?}");
}

/// It asks for an hour, and there are five seconds.
#[test]
fn b16_a_server_that_is_busy_for_too_long_is_not_waited_for() {
    let options = Options { deadline: Some(5_000), ..Options::default() };
    for call in [create(), start(), stop(), delete()] {
        let run = run::<Kubernetes>(call, options.clone(), |_| busy(3_600_000));
        let fault = run.fault(WEB).unwrap();
        assert_eq!((fault.kind, run.now), (FaultKind::Unavailable, 0));
        assert!(
            fault.message.ends_with("the server has too much to do and asks to come back in 1h0m0s"),
            "{}",
            fault.message
        );
        assert!(fault.detail.contains(&("reason".to_owned(), "throttled".to_owned())));
        assert!(words(&run).len() <= 2, "{:?}", words(&run));
    }
    // The same for a write.
    for (call, desired) in [(start(), 0), (stop(), 1), (delete(), 1)] {
        let mut world = World::with(Workload::at(desired));
        let run = run::<Kubernetes>(call, options.clone(), |asked| match asked.method() {
            Some(Method::Get) => world.answer(asked),
            _ => busy(3_600_000),
        });
        assert_eq!((run.fault(WEB).unwrap().kind, run.now), (FaultKind::Unavailable, 0));
        assert_eq!(written(&run).len(), 1);
    }
}

#[test]
fn b16_a_conflict_within_the_server_is_not_that_it_exists() {
    let mut posts = 0;
    let run = drive(create(), |asked| {
        posts += 1;
        let conflict = json!({"kind": "Status", "reason": "Conflict", "code": 409, "details": {"kind": "resourcequotas", "name": "q"}});
        if posts == 1 { answer(409, conflict) } else { World::empty().answer(asked) }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Created);
    assert_eq!(words(&run), ["POST"; 2]);
}

/// One place is refused, or is busy for ever; the others are whole and not late.
#[rstest]
#[case::forbidden(refused(403, "Forbidden", ""), FaultKind::Forbidden)]
#[case::busy(text(429, "busy"), FaultKind::Unavailable)]
#[case::busy_for_an_hour(busy(3_600_000), FaultKind::Unavailable)]
#[case::away(text(503, ""), FaultKind::Unavailable)]
fn b16_one_place_hides_and_delays_no_other(#[case] reply: Reply, #[case] kind: FaultKind) {
    let places = ["a", "b", "default"].map(str::to_owned).to_vec();
    let mut world = World::with(Workload::at(1));
    let run = drive(Call::Discover(Scope { places }, false), |asked| match asked.path() {
        path if path.contains("namespaces/b/") => reply.clone(),
        path if path.contains("namespaces/a/") => World::empty().answer(asked),
        _ => world.answer(asked),
    });
    assert_eq!(run.emitted.len(), 1);
    let told: Vec<(&str, FaultKind)> = run.incomplete.iter().map(|(place, fault)| (&**place, fault.kind)).collect();
    assert_eq!(told, [("b", kind)]);
    assert!(run.now <= 2_000, "{} ms", run.now);
    assert!(run.requests().all(|request| request.segments.last().map(String::as_str) != Some("namespaces")));
    let first = run.turns.iter().position(|turn| !turn.emitted.is_empty()).unwrap();
    assert!(first <= 2, "told in turn {first}");
}

#[test]
fn b04_a_page_of_a_proxy_is_no_answer() {
    let options = Options { deadline: Some(20_000), ..Options::default() };
    let run = run::<Kubernetes>(start(), options, |_| text(404, "<html>"));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.detail.contains(&("reason".to_owned(), "malformed".to_owned())), "{:?}", fault.detail);
    assert!(run.requests().all(|request| request.method == Method::Get));
    let run = drive(start(), |_| missing("web"));
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::NotFound);
    assert_eq!(words(&run), ["GET web", "LIST deployments"]);
}
