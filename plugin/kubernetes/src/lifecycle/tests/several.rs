use std::collections::BTreeMap;

use rstest::rstest;
use workload_guest::OutcomeWord;

use super::world::{Workload, World};
use super::*;

/// As many as an operation of a big site may have.
const MANY: usize = 256;

fn ids() -> Vec<String> {
    (0..MANY).map(|index| format!("default/w{index}")).collect()
}

fn world(desired: i64) -> World {
    let workload = |index: usize| {
        let uid = format!("uid-{index}");
        // All within five seconds, each at its own time.
        let ready_ms = 500 + u64::try_from(index).unwrap() * 16;
        (format!("w{index}"), Workload { uid, ready_ms, end_ms: ready_ms, ..Workload::at(desired) })
    };
    World { workloads: (0..MANY).map(workload).collect::<BTreeMap<_, _>>(), ..World::default() }
}

/// Without a probe each is looked at twice, a second apart, with its Pods.
#[rstest]
#[case::probed(true, 20)]
#[case::unprobed(false, 24)]
fn many_starts_share_their_reads(#[case] probe: bool, #[case] most: usize) {
    let mut world = world(0);
    world.workloads.values_mut().for_each(|workload| workload.probe = probe);
    let run = drive(Call::Start(ids()), |asked| world.answer(asked));
    assert!(
        run.settled.iter().all(|(_, result)| result.as_ref().is_ok_and(|outcome| outcome.word == OutcomeWord::Started))
    );
    assert_eq!(run.settled.len(), MANY);
    let words = words(&run);
    let watches = words.iter().filter(|word| *word == "WATCH").count();
    assert_eq!(watches, 1);
    // Beyond one write and one read a workload.
    let beyond = words.len().saturating_sub(MANY * 2);
    assert!(beyond <= most, "{beyond} more than a read and a write each: {:?}", &words[words.len().min(512)..]);
    // Each that is looked at twice sleeps in between.
    let most_sleeps = if probe { 60 } else { 60 + MANY };
    assert!(sleeps(&run) < most_sleeps, "{} sleeps", sleeps(&run));
}

#[test]
fn many_stops_share_their_reads() {
    let mut world = world(1);
    let run = drive(Call::Stop(ids(), StopIntent::Preserve), |asked| world.answer(asked));
    assert!(
        run.settled.iter().all(|(_, result)| result.as_ref().is_ok_and(|outcome| outcome.word == OutcomeWord::Stopped))
    );
    let beyond = words(&run).len().saturating_sub(MANY * 2);
    assert!(beyond <= 40, "{beyond} more than a read and a write each");
}

#[test]
fn one_that_fails_stops_no_other() {
    let mut world = world(0);
    world.workloads.remove("w7");
    world.workloads.get_mut("w8").unwrap().over =
        serde_json::json!({"metadata": {"labels": {"workload-provider/owner": "x"}}});
    let run = drive(Call::Start(ids()), |asked| world.answer(asked));
    let failed: Vec<&str> =
        run.settled.iter().filter(|(_, result)| result.is_err()).map(|(id, _)| id.as_str()).collect();
    assert_eq!(failed, ["default/w7", "default/w8"]);
    assert_eq!(run.settled.len(), MANY);
}

/// Nothing is to be written, and what was read of each is no place for a watch of both to begin.
#[test]
fn several_that_are_only_waited_for_are_watched_at_once() {
    let two = |desired| {
        let workload = |uid: &str| Workload { uid: uid.to_owned(), changed: Some(0), ..Workload::at(desired) };
        let workloads = [("a", "1"), ("b", "2")].map(|(name, uid)| (name.to_owned(), workload(uid))).into();
        World { workloads, ..World::default() }
    };
    let ids = || vec!["default/a".to_owned(), "default/b".to_owned()];
    for (desired, call) in [(1, Call::Start(ids())), (0, Call::Stop(ids(), StopIntent::Preserve))] {
        let mut world = two(desired);
        let run = drive(call, |asked| world.answer(asked));
        assert!(run.settled.iter().all(|(_, result)| result.as_ref().is_ok_and(|outcome| !outcome.changed)));
        assert!(run.now < 2_000, "{} ms", run.now);
    }
}

/// What is shared and failed is asked for again by the next try.
#[test]
fn a_shared_list_that_fails_is_tried_again() {
    for resource in ["replicasets", "pods"] {
        let mut world = world(0);
        let mut failures = 2;
        let run = drive(Call::Status(ids(), false), |asked| match word(asked) {
            Some(word) if word == format!("LIST {resource}") && failures > 0 => {
                failures -= 1;
                workload_guest::testing::text(503, "")
            }
            _ => world.answer(asked),
        });
        let stopped = |outcome: &workload_guest::Outcome| outcome.workload.as_ref().unwrap().reason == "stopped";
        assert!(run.settled.iter().all(|(_, result)| result.as_ref().is_ok_and(stopped)), "{resource}");
        assert_eq!(words(&run).iter().filter(|word| **word == format!("LIST {resource}")).count(), 3);
    }
}

/// A list by our labels does not find their Pods.
#[test]
fn many_that_select_by_other_labels_share_their_reads_too() {
    let mut world = world(0);
    let over = serde_json::json!({"spec": {"selector": {"matchLabels": {"workload-provider/owner": "x"}}}});
    world.workloads.values_mut().for_each(|workload| workload.over = over.clone());
    let run = drive(Call::Start(ids()), |asked| world.answer(asked));
    assert!(run.settled.iter().all(|(_, result)| result.is_ok()));
    let beyond = words(&run).len().saturating_sub(MANY * 2);
    assert!(beyond <= 24, "{beyond} more than a read and a write each");
}
