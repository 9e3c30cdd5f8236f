//! Two that say they are the same, and what somebody else manages: both are told of, and neither is touched.

use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Options, Reply, When, run};
use workload_guest::{FaultKind, OutcomeWord, Scope, Status, StopReason};

use super::world::{Workload, World, refused};
use super::*;

fn labelled(value: &str) -> Value {
    json!({"metadata": {"labels": {"workload-provider/id": value}}})
}

/// Workloads with these names and id labels.
fn world(desired: i64, of: &[(&str, &str)]) -> World {
    let workload = |(name, label): &(&str, &str)| {
        let workload = Workload { uid: format!("uid-{name}"), ..Workload::at(desired) };
        ((*name).to_owned(), workload.over(labelled(label)))
    };
    World { workloads: of.iter().map(workload).collect(), ..World::default() }
}

fn everything() -> Call {
    Call::Discover(Scope { places: vec!["default".to_owned()] }, false)
}

fn acts_on(id: &str) -> [Call; 3] {
    let ids = || vec![id.to_owned()];
    [Call::Start(ids()), Call::Stop(ids(), StopIntent::Preserve), Call::Delete(ids(), StopIntent::Terminal)]
}

#[test]
fn a_copy_is_told_of_and_left_alone() {
    for desired in [0, 1] {
        let of = [("web", "default.web"), ("copy", "default.web")];
        let mut listed = world(desired, &of);
        let run = drive(everything(), |asked| listed.answer(asked));
        let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
        assert_eq!((&**place, fault.kind), (WEB, FaultKind::Conflict));
        assert!(fault.message.contains("default/copy, default/web"), "{}", fault.message);
        let messages: Vec<&str> = run.emitted.iter().map(|found| found.message.as_deref().unwrap()).collect();
        assert_eq!(run.emitted.len(), 2);
        assert!(messages[0].ends_with("; its id label default.web is that of another workload"), "{messages:?}");
        assert!(messages[1].ends_with("; its id is claimed by default/copy too"), "{messages:?}");

        for id in ["default/copy", WEB] {
            for call in acts_on(id) {
                let mut world = world(desired, &of);
                let run = drive(call, |asked| world.answer(asked));
                assert_eq!(run.fault(id).unwrap().kind, FaultKind::Conflict);
                assert_eq!(words(&run), [format!("GET {}", &id[8..]), "LIST deployments".to_owned()]);
            }
        }
    }
}

/// Whoever has no label is what its name says; a copy of another's label claims to be it even so.
#[test]
fn one_without_a_label_may_be_claimed_too() {
    let mut world = world(1, &[("copy", "default.web")]);
    world.workloads.insert("web".to_owned(), Workload::at(1));
    let run = drive(start(), |asked| world.answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert_eq!(
        fault.message,
        "2 Deployments claim the id label workload-provider/id=default.web: default/copy, default/web; remove that label: \
         `kubectl label deployment -n default copy workload-provider/id-`"
    );
}

/// Whoever asks why is told what is in the way, of both.
#[test]
fn an_explanation_says_what_a_start_would() {
    let of = [("web", "default.web"), ("copy", "default.web")];
    for id in ["default/web", "default/copy"] {
        let mut world = world(1, &of);
        let options = Options::default().setting("explain", "true");
        let run = run::<Kubernetes>(Call::Status(vec![id.to_owned()], false), options, |asked| world.answer(asked));
        let told = run.outcome(id).unwrap().workload.clone().unwrap();
        let advice = told.facts.iter().find(|(name, _)| name == "advice").map(|(_, value)| value.as_str()).unwrap();
        assert!(advice.starts_with("start, stop and delete are refused"), "{advice}");
        assert!(advice.ends_with("`kubectl label deployment -n default copy workload-provider/id-`"), "{advice}");
        assert!(told.message.unwrap().contains("id"));
    }
}

/// What was read before a long wait for the list is no reason to write.
#[rstest]
#[case::relabelled(json!({"metadata": {"labels": {"workload-provider/owner": "you"}}}), FaultKind::NotOwned)]
#[case::deleting(
    json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z", "finalizers": ["x/y"]}}), FaultKind::Conflict
)]
fn it_is_looked_at_again_after_a_long_wait(#[case] over: Value, #[case] kind: FaultKind) {
    for (call, desired) in [(start(), 0), (stop(), 1)] {
        let mut alone = world(desired, &[("web", "default.web")]);
        let run = drive(call, |asked| match word(asked).as_deref() {
            Some("LIST deployments") if asked.now < 20_000 => workload_guest::testing::text(503, ""),
            _ => {
                if asked.now > 10_000 {
                    alone.web().over = over.clone();
                }
                alone.answer(asked)
            }
        });
        assert_eq!(run.fault(WEB).unwrap().kind, kind);
        assert!(written(&run).is_empty());
    }
}

/// While nobody can tell who claims it, it is not acted on either.
#[test]
fn nothing_is_written_before_the_claims_are_known() {
    let mut alone = world(0, &[("web", "default.web")]);
    let run = drive(start(), |asked| match word(asked).as_deref() {
        Some("LIST deployments") if asked.now < 4_000 => workload_guest::testing::text(503, ""),
        _ => alone.answer(asked),
    });
    assert_eq!(run.outcome(WEB).unwrap().word, OutcomeWord::Started);
    let patched = run.asked.iter().find(|asked| word(asked).as_deref() == Some("PATCH web/scale")).unwrap();
    assert!(patched.now >= 4_000);
}

/// B04: two claim one id of a Manager's, and nothing tells which one is meant.
#[test]
fn b04_two_of_one_number_are_told_of_and_left_alone() {
    for desired in [0, 1] {
        let of = [("a", "105"), ("b", "105"), ("c", "106")];
        let mut listed = world(desired, &of);
        let run = drive(everything(), |asked| listed.answer(asked));
        let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
        assert_eq!((&**place, fault.kind), ("105", FaultKind::Conflict));
        let messages: Vec<&str> = run.emitted.iter().map(|found| found.message.as_deref().unwrap()).collect();
        assert!(messages[0].ends_with("its id is claimed by default/b too"), "{messages:?}");
        assert!(messages[1].ends_with("its id is claimed by default/a too"), "{messages:?}");
        assert!(!messages[2].contains("label"));

        for call in acts_on("default/a") {
            let mut world = world(desired, &of);
            let run = drive(call, |asked| world.answer(asked));
            let fault = run.fault("default/a").unwrap();
            assert_eq!(fault.kind, FaultKind::Conflict);
            assert!(fault.message.contains("default/a, default/b"), "{}", fault.message);
            assert!(written(&run).is_empty());
            let list = run.asked.last().unwrap();
            let selector = "workload-provider/managed=true,workload-provider/owner=default,workload-provider/id=105";
            assert_eq!(list.query("labelSelector"), Some(selector));
        }
        for call in acts_on("default/c") {
            let mut world = world(desired, &of);
            let run = drive(call, |asked| world.answer(asked));
            assert!(run.outcome("default/c").is_some(), "{:?}", run.settled);
        }
    }
}

#[test]
fn whoever_must_not_list_goes_by_the_name() {
    let mut world = world(1, &[("a", "105"), ("b", "105")]);
    let run = drive(Call::Start(vec!["default/a".to_owned()]), |asked| match word(asked).as_deref() {
        Some("LIST deployments") => refused(403, "Forbidden", ""),
        _ => world.answer(asked),
    });
    assert_eq!(run.outcome("default/a").unwrap().word, OutcomeWord::AlreadyRunning);
}

/// Many of a Manager's: who claims what is read once.
#[test]
fn the_claims_of_many_are_read_at_once() {
    let names: Vec<(String, String)> =
        (0..50).map(|index| (format!("w{index}"), format!("{}", 100 + index / 2 * 2))).collect();
    let of: Vec<(&str, &str)> = names.iter().map(|(name, label)| (&**name, &**label)).collect();
    let mut world = world(1, &of[..49]);
    let ids = of[..49].iter().map(|(name, _)| format!("default/{name}")).collect();
    let run = drive(Call::Start(ids), |asked| world.answer(asked));
    let failed = run.settled.iter().filter(|(_, result)| result.is_err()).count();
    assert_eq!(failed, 48);
    assert!(run.outcome("default/w48").is_some());
    assert_eq!(words(&run).iter().filter(|word| *word == "LIST deployments").count(), 1);
}

#[test]
fn the_same_of_two_places_is_told_of() {
    let places = ["default", "other"].map(str::to_owned).to_vec();
    let run = drive(Call::Discover(Scope { places }, false), |asked| {
        let mut here = world(1, &[("web", "default.web")]);
        let Reply::Respond(mut list) = here.answer(asked) else { panic!() };
        if asked.path().contains("namespaces/other") {
            let text = String::from_utf8(list.bytes).unwrap();
            list.bytes = text.replace(r#""namespace":"default""#, r#""namespace":"other""#).into_bytes();
        }
        Reply::Respond(list)
    });
    let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
    assert_eq!((&**place, fault.kind), (WEB, FaultKind::Conflict));
    assert!(fault.message.contains("default/web, other/web"), "{}", fault.message);
    assert_eq!(run.emitted.len(), 2);
}

#[test]
fn what_is_followed_is_told_of_once() {
    let call = Call::Discover(Scope { places: vec!["default".to_owned()] }, true);
    let options = Options { deadline: None, ..Options::default() }.stop(When::At(30_000), None, StopReason::Cancelled);
    let mut all = world(1, &[("a", "105"), ("b", "105"), ("c", "107")]);
    let run = run::<Kubernetes>(call, options, |asked| {
        if asked.now > 12_000 {
            all.workloads.get_mut("c").unwrap().over = labelled("105");
        }
        all.answer(asked)
    });
    let told: Vec<&str> = run.incomplete.iter().map(|(_, fault)| &*fault.message).collect();
    assert_eq!(told.len(), 2, "{told:?}");
    assert!(told[0].starts_with("2 Deployments") && told[1].starts_with("3 Deployments"), "{told:?}");
}

#[rstest]
#[case::running(1)]
#[case::stopped(0)]
fn what_somebody_else_manages_is_listed_as_not_ours(#[case] desired: i64) {
    let owner =
        json!({"metadata": {"ownerReferences": [{"kind": "App", "name": "shop", "uid": "x", "controller": true}]}});
    let mut world = World::with(Workload::at(desired).over(owner));
    let run = drive(everything(), |asked| world.answer(asked));
    let [found] = &*run.emitted else { panic!("{:?}", run.emitted) };
    assert_eq!((found.status, &*found.reason), (Status::Missing, "not-owned"));
    assert!(found.message.as_deref().unwrap().contains("App shop"));
    assert_eq!(words(&run), ["LIST deployments"]);
    for call in acts_on(WEB) {
        let run = drive(call, |asked| world.answer(asked));
        assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::NotOwned);
        assert!(written(&run).is_empty());
    }
}

#[test]
fn a_status_says_that_the_label_is_another_ones() {
    let mut world = world(1, &[("web", "default.api")]);
    let run = drive(status(), |asked| world.answer(asked));
    let message = run.outcome(WEB).unwrap().workload.as_ref().unwrap().message.clone().unwrap();
    assert!(message.ends_with("; its id label default.api is that of another workload"), "{message}");
}

/// A list that failed is asked for anew, and not handed out again.
#[test]
fn a_list_that_failed_once_keeps_nobody_waiting() {
    let mut world = world(1, &[("a", "105"), ("b", "105"), ("c", "106"), ("d", "107")]);
    let ids = ["a", "b", "c", "d"].map(|name| format!("default/{name}")).to_vec();
    let mut failures = 2;
    let run = drive(Call::Start(ids), |asked| match word(asked).as_deref() {
        Some("LIST deployments") if failures > 0 => {
            failures -= 1;
            workload_guest::testing::text(503, "")
        }
        _ => world.answer(asked),
    });
    let kinds: Vec<Option<FaultKind>> =
        ["a", "b", "c", "d"].iter().map(|name| run.fault(&format!("default/{name}")).map(|fault| fault.kind)).collect();
    assert_eq!(kinds, [Some(FaultKind::Conflict), Some(FaultKind::Conflict), None, None]);
    assert!(run.now < 5_000, "{} ms", run.now);
}
