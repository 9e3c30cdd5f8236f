//! What has no way to say that it is ready must run for a moment.

use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::OutcomeWord;
use workload_guest::testing::{Reply, json as answer};

use super::world::{Workload, World, refused};
use super::*;

fn unprobed() -> World {
    World::with(Workload { probe: false, ..Workload::at(0) })
}

/// A list of Pods, with how often their containers were started again.
fn restarted(list: Reply, count: i64) -> Reply {
    let Reply::Respond(list) = list else { panic!() };
    let mut list: Value = serde_json::from_slice(&list.bytes).unwrap();
    for pod in list["items"].as_array_mut().unwrap() {
        pod["status"]["containerStatuses"] =
            json!([{"name": "main", "restartCount": count, "ready": true, "state": {"running": {}}}]);
    }
    answer(200, list)
}

/// It ended and was started again so fast that it was available at both looks.
#[test]
fn a_restart_within_the_settling_time_is_seen() {
    let mut world = unprobed();
    let run = drive(start(), |asked| {
        let reply = world.answer(asked);
        match word(asked).as_deref() {
            Some("LIST pods") => restarted(reply, if asked.now < 1_500 { 0 } else { 1 }),
            _ => reply,
        }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    // Available at 800, a second later it had been started again, and another second later it had not.
    assert_eq!(run.now, 2_800);
}

#[test]
fn one_that_failed_before_and_runs_now_has_started() {
    let mut world = unprobed();
    let run = drive(start(), |asked| {
        let reply = world.answer(asked);
        if word(asked).as_deref() == Some("LIST pods") { restarted(reply, 2) } else { reply }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(run.now, 1_800);
}

/// Whatever happens to a Pod changes the Deployment as well, most of the time.
#[rstest]
#[case::unchanged(false, 1_800)]
#[case::changed(true, 2_800)]
fn without_a_look_at_pods_the_deployment_must_stay_as_it_is(#[case] changes: bool, #[case] ends: u64) {
    let mut world = unprobed();
    let run = drive(start(), |asked| {
        if changes && asked.now > 1_500 {
            world.web().over = json!({"metadata": {"resourceVersion": "900"}});
        }
        match word(asked).as_deref() {
            Some("LIST pods") => refused(403, "Forbidden", ""),
            _ => world.answer(asked),
        }
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    assert_eq!(run.now, ends);
}
