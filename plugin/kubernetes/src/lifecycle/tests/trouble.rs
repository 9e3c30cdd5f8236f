//! What a server and other writers do meanwhile.

use rstest::rstest;
use serde_json::json;
use workload_guest::testing::{Options, Reply, When, json as answer, response, run, text};
use workload_guest::{Failure, FaultKind, OutcomeWord, Response, StopReason};

use super::world::{Workload, World, line, missing, refused};
use super::*;

/// The first write is answered so, after it took effect or instead of it.
fn first_write(call: Call, desired: i64, took_effect: bool, reply: &Reply) -> Run {
    let mut world = World::with(Workload::at(desired));
    let mut writes = 0;
    drive(call, |asked| {
        if !matches!(asked.method(), Some(Method::Patch | Method::Delete)) {
            return world.answer(asked);
        }
        writes += 1;
        match writes {
            1 if took_effect => {
                world.answer(asked);
                reply.clone()
            }
            1 => reply.clone(),
            _ => world.answer(asked),
        }
    })
}

#[rstest]
#[case::lost(Reply::Fail(Failure::Lost))]
#[case::timeout(Reply::Fail(Failure::Timeout))]
#[case::cut(Reply::Fail(Failure::BadResponse))]
#[case::internal(text(500, "oh"))]
#[case::unavailable(text(503, "oh"))]
#[case::gateway(text(504, "oh"))]
#[case::page(text(200, "<html>please log in</html>"))]
#[case::other_json(answer(200, json!({"message": "ok"})))]
#[case::words_lost(text(200, ""))]
fn after_an_uncertain_write_a_read_comes_first(#[case] reply: Reply) {
    for took_effect in [true, false] {
        for (call, desired, word) in
            [(start(), 0, OutcomeWord::Started), (stop(), 1, OutcomeWord::Stopped), (delete(), 1, OutcomeWord::Deleted)]
        {
            let run = first_write(call, desired, took_effect, &reply);
            let outcome = run.outcome(WEB).unwrap();
            assert_eq!(outcome.word, word);
            assert_eq!(written(&run).len(), if took_effect { 1 } else { 2 });
            let words = words(&run);
            let write = words.iter().position(|word| word.starts_with("PATCH") || word.starts_with("DELETE")).unwrap();
            assert_eq!(words[write + 1], "GET web");
        }
    }
}

#[rstest]
#[case::conflict(refused(409, "Conflict", "web"))]
#[case::throttled(text(429, "busy"))]
#[case::unreachable(Reply::Fail(Failure::Unreachable))]
fn what_had_no_effect_is_decided_anew(#[case] reply: Reply) {
    let run = first_write(start(), 0, false, &reply);
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(
        words(&run)[..6],
        ["GET web", "LIST deployments", "PATCH web/scale", "GET web", "PATCH web/scale", "GET web"]
    );
}

#[test]
fn what_always_conflicts_ends() {
    let mut world = World::with(Workload::at(0));
    let run = drive(start(), |asked| {
        if asked.method() == Some(Method::Patch) { refused(409, "Conflict", "web") } else { world.answer(asked) }
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Conflict);
    assert_eq!(written(&run).len(), 5);
}

#[test]
fn a_server_that_is_busy_is_left_alone_so_long() {
    let busy = Reply::Respond(Response { retry_after_ms: Some(7_000), ..response(429, "busy") });
    let run = first_write(start(), 0, false, &busy);
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(run.now, 7_800);
}

#[test]
fn a_permission_that_is_missing_is_named() {
    let forbidden = refused(403, "Forbidden", "web");
    let run = first_write(start(), 0, false, &forbidden);
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Forbidden);
    assert_eq!(fault.message, "not allowed to patch deployments/scale in namespace default");
    assert!(fault.detail.contains(&("resource".to_owned(), "deployments/scale".to_owned())));
}

#[rstest]
#[case::silent(Reply::Never)]
#[case::ends_at_once(Reply::Parts(vec![response(200, "")]))]
#[case::refused(Reply::Fail(Failure::Denied))]
#[case::gone(refused(410, "Expired", ""))]
#[case::error_event(Reply::Open(vec![line(r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#)]))]
#[case::nonsense(Reply::Open(vec![line("<html>")]))]
#[case::bookmarks(Reply::Open(vec![line(r#"{"type":"BOOKMARK","object":{}}"#)]))]
fn a_watch_only_wakes(#[case] watch: Reply) {
    let mut world = World::with(Workload { ready_ms: 12_000, ..Workload::at(0) });
    let run = drive(
        start(),
        |asked| {
            if word(asked).as_deref() == Some("WATCH") { watch.clone() } else { world.answer(asked) }
        },
    );
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!((12_000..=17_000).contains(&run.now), "{} ms", run.now);
    assert!(words(&run).len() < 30, "{} requests", words(&run).len());
}

#[rstest]
#[case::errors(text(500, ""))]
#[case::html(text(404, "<html>"))]
#[case::lost(Reply::Fail(Failure::Lost))]
#[case::busy(text(429, ""))]
fn a_wait_outlives_a_server_that_is_away(#[case] away: Reply) {
    let mut world = World::with(Workload::at(0));
    let run =
        drive(start(), |asked| if (100..30_000).contains(&asked.now) { away.clone() } else { world.answer(asked) });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert!(run.now < 36_000, "{} ms", run.now);
    assert!(words(&run).len() < 50, "{} requests", words(&run).len());
}

#[test]
fn a_wait_for_a_server_that_stays_away_says_so() {
    let mut world = World::with(Workload::at(0));
    let options = Options { deadline: Some(30_000), ..Options::default() };
    let run =
        run::<Kubernetes>(start(), options, |asked| if asked.now > 100 { text(503, "") } else { world.answer(asked) });
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert_eq!(fault.message, "timed out after 30s: cannot get deployments default/web: the server answered with 503");
}

#[test]
fn what_is_deleted_meanwhile_is_not_found() {
    let mut world = World::with(Workload { ready_ms: 100_000, ..Workload::at(0) });
    let run = drive(start(), |asked| {
        if asked.now > 3_000 && word(asked).as_deref() == Some("GET web") {
            missing("web")
        } else {
            world.answer(asked)
        }
    });
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::NotFound);
}

#[test]
fn a_stop_ends_the_watch() {
    let mut world = World::with(Workload::at(0));
    let run = drive(start(), |asked| world.answer(asked));
    let watch = run.asked.iter().find(|asked| word(asked).as_deref() == Some("WATCH")).unwrap();
    assert!(watch.for_id.is_none());
    assert_eq!(run.end, workload_guest::testing::End::Finished);
}

#[test]
fn the_same_inputs_give_the_same_turns() {
    let once = || {
        let mut world = World::with(Workload::at(0));
        drive(start(), move |asked| world.answer(asked)).turns
    };
    assert_eq!(once(), once());
}

#[test]
fn a_pod_list_that_fails_in_between_is_read_again() {
    let mut world = World::with(Workload::at(1));
    let mut lists = 0;
    let run = drive(stop(), |asked| {
        if asked.path().ends_with("pods") {
            lists += 1;
            if lists < 6 {
                return answer(500, json!({}));
            }
        }
        world.answer(asked)
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Stopped);
    assert_eq!(lists, 6);
}

#[test]
fn a_stop_between_two_tries_of_a_first_read_is_no_trouble_of_the_server() {
    let options = Options { deadline: Some(100), ..Options::default() };
    for call in [start(), stop(), delete()] {
        let run = run::<Kubernetes>(call, options.clone(), |_| text(503, ""));
        let fault = run.fault(WEB).unwrap();
        assert_eq!(fault.kind, FaultKind::Timeout);
        assert!(fault.message.ends_with("the server answered with 503"), "{}", fault.message);
    }
}

#[rstest]
#[case::negative(json!({"spec": {"replicas": -1}}))]
#[case::counters(json!({"status": {"availableReplicas": -1}}))]
fn nothing_is_written_to_what_cannot_be_understood(#[case] over: serde_json::Value) {
    for call in [start(), stop()] {
        let mut world = World::with(Workload::at(0).over(over.clone()));
        let run = drive(call, |asked| world.answer(asked));
        assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Malformed);
        assert_eq!(words(&run), ["GET web", "LIST deployments"]);
    }
}

/// The first write takes effect late: after it was looked for, and before the next one, which is refused.
#[test]
fn a_late_effect_is_ours() {
    for (call, desired) in [(start(), 0), (stop(), 1), (delete(), 1)] {
        let mut world = World::with(Workload::at(desired));
        let mut first = None;
        let run = drive(call, |asked| match asked.method() {
            Some(Method::Patch | Method::Delete) if first.is_none() => {
                first = Some(asked.clone());
                Reply::Fail(Failure::Timeout)
            }
            Some(Method::Patch | Method::Delete) => {
                world.answer(&Asked { now: asked.now, ..first.clone().unwrap() });
                text(429, "")
            }
            _ => world.answer(asked),
        });
        assert!(run.outcome(WEB).unwrap().changed);
        assert_eq!(written(&run).len(), 2);
    }
}

/// An id that is told to stop does not wait for a read that others share.
#[test]
fn a_stop_of_one_does_not_wait_for_what_is_shared() {
    let mut world = World::with(Workload::at(1));
    world.workloads.insert("api".to_owned(), Workload { uid: "uid-2".to_owned(), ..Workload::at(1) });
    let call = Call::Delete(vec![WEB.to_owned(), "default/api".to_owned()], StopIntent::Terminal);
    let pods = |asked: &Asked| asked.path().ends_with("pods");
    let options = Options { deadline: Some(60_000), ..Options::default() };
    let options = options.stop(When::asked(pods), Some(WEB), StopReason::Superseded);
    let run = run::<Kubernetes>(call, options, |asked| if pods(asked) { Reply::Never } else { world.answer(asked) });
    assert_eq!(run.settled.first().map(|(id, _)| id.as_str()), Some(WEB));
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Superseded);
    assert_eq!(run.fault("default/api").unwrap().kind, FaultKind::Timeout);
}

/// The server goes away with the first write, which took effect or did not.
#[test]
fn a_write_outlives_a_server_that_is_away() {
    for (took_effect, call, desired) in [
        (true, start(), 0),
        (false, start(), 0),
        (true, stop(), 1),
        (false, stop(), 1),
        (true, delete(), 1),
        (false, delete(), 1),
    ] {
        let mut world = World::with(Workload::at(desired));
        let mut writes = 0;
        let run = drive(call, |asked| {
            let write = matches!(asked.method(), Some(Method::Patch | Method::Delete));
            writes += usize::from(write);
            if write && writes == 1 {
                if took_effect {
                    world.answer(asked);
                }
                return Reply::Fail(Failure::Lost);
            }
            if asked.now < 30_000 && writes > 0 { Reply::Fail(Failure::Unreachable) } else { world.answer(asked) }
        });
        assert!(run.outcome(WEB).unwrap().changed);
        assert_eq!(written(&run).len(), if took_effect { 1 } else { 2 });
        assert!(run.now < 37_000 && words(&run).len() < 50, "{} ms, {} requests", run.now, words(&run).len());
    }
}

/// A wait goes on to its deadline, also before it has read anything.
#[rstest]
#[case::errors(text(503, ""), "unreachable")]
#[case::busy(text(429, ""), "throttled")]
#[case::html(text(404, "<html>"), "malformed")]
#[case::gone(refused(410, "Expired", ""), "malformed")]
#[case::connection(Reply::Fail(Failure::Unreachable), "unreachable")]
fn a_first_read_is_waited_for(#[case] away: Reply, #[case] reason: &str) {
    for (call, desired, word) in [
        (start(), 1, OutcomeWord::AlreadyRunning),
        (stop(), 0, OutcomeWord::AlreadyStopped),
        (delete(), 1, OutcomeWord::Deleted),
    ] {
        let mut world = World::with(Workload::at(desired));
        let run = drive(call.clone(), |asked| if asked.now < 30_000 { away.clone() } else { world.answer(asked) });
        assert_eq!(run.outcome(WEB).unwrap().word, word);
        assert!(run.now < 37_000 && words(&run).len() < 20, "{} ms, {} requests", run.now, words(&run).len());

        let run = drive(call, |_| away.clone());
        let fault = run.fault(WEB).unwrap();
        assert_eq!((fault.kind, run.now), (FaultKind::Timeout, 300_000));
        assert!(
            fault.message.starts_with("timed out after 5m0s: cannot get deployments default/web: "),
            "{}",
            fault.message
        );
        assert!(fault.detail.contains(&("reason".to_owned(), reason.to_owned())), "{:?}", fault.detail);
        assert!(words(&run).len() <= 66, "{} requests", words(&run).len());
    }
}

#[rstest]
#[case::unauthorized(refused(401, "Unauthorized", ""), FaultKind::Unauthorized)]
#[case::forbidden(refused(403, "Forbidden", "web"), FaultKind::Forbidden)]
#[case::denied(Reply::Fail(Failure::Denied), FaultKind::Denied)]
fn what_does_not_pass_ends_at_once(#[case] reply: Reply, #[case] kind: FaultKind) {
    for call in [start(), stop(), delete()] {
        let run = drive(call, |_| reply.clone());
        assert_eq!((run.fault(WEB).unwrap().kind, run.now, words(&run).len()), (kind, 0, 2));
    }
}

/// What belongs to it fails as well, and longer than a look would wait.
#[test]
fn what_is_read_beside_it_is_waited_for_too() {
    for (call, desired, word) in [
        (start(), 1, OutcomeWord::AlreadyRunning),
        (stop(), 0, OutcomeWord::AlreadyStopped),
        (delete(), 1, OutcomeWord::Deleted),
    ] {
        let mut world = World::with(Workload::at(desired));
        let run = drive(call, |asked| {
            let away = asked.now < 20_000 && asked.path().ends_with("replicasets");
            if away { text(500, "") } else { world.answer(asked) }
        });
        assert_eq!(run.outcome(WEB).unwrap().word, word);
    }
}

/// A webhook that refuses sees the object, and may say what is in it.
#[test]
fn a_refusal_repeats_no_environment_value() {
    let said = "admission webhook \"w\" denied the request: PASS is hunter2";
    let env = json!({"spec": {"template": {"spec": {"containers": [
        {"name": "main", "image": "nginx:1", "env": [{"name": "PASS", "value": "hunter2"}, {"name": "FROM", "valueFrom": {}}]}]}}}});
    for (call, desired) in [(start(), 0), (stop(), 1), (delete(), 1)] {
        for (over, told) in [(env.clone(), false), (json!({}), true)] {
            let mut world = World::with(Workload::at(desired).over(over));
            let run = drive(call.clone(), |asked| match asked.method() {
                Some(Method::Get) => world.answer(asked),
                _ => answer(403, json!({"kind": "Status", "reason": "Forbidden", "message": said})),
            });
            let fault = run.fault(WEB).unwrap();
            assert_eq!(fault.kind, FaultKind::Forbidden);
            assert!(fault.message.contains("admission webhook \"w\" denied the request"), "{}", fault.message);
            assert_eq!(fault.message.contains("hunter2"), told, "{}", fault.message);
        }
    }
}
