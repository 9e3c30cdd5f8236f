use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Options, Reply, When, json as answer, response, run, text};
use workload_guest::{Failure, FaultKind, OutcomeWord, Scope, Status, StopReason};

use super::world::{Workload, World, missing, refused};
use super::*;

fn discover(places: &[&str]) -> Call {
    Call::Discover(Scope { places: places.iter().map(|&place| place.to_owned()).collect() }, false)
}

#[rstest]
#[case::running(1, json!({}), Status::Running, "available", "13 available", &["GET web", "LIST replicasets"])]
#[case::stopped(0, json!({}), Status::Offline, "stopped", "10 stopped", &["GET web", "LIST replicasets", "LIST pods"])]
#[case::deleting(
    1, json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}), Status::Offline, "deleting", "4 deleting", &["GET web"]
)]
// Whether an older revision serves is only told by the ReplicaSets.
#[case::unobserved(
    1, json!({"metadata": {"generation": 2}}), Status::Creating, "unobserved", "11b unobserved", &["GET web", "LIST replicasets"]
)]
#[case::not_ours(
    1, json!({"metadata": {"labels": {"workload-provider/owner": "you"}}}), Status::Missing, "not-owned", "3 not owned", &["GET web"]
)]
fn a_status_reads_no_more_than_it_needs(
    #[case] desired: i64,
    #[case] over: Value,
    #[case] status_word: Status,
    #[case] reason: &str,
    #[case] rule: &str,
    #[case] requests: &[&str],
) {
    let mut world = World::with(Workload::at(desired).over(over));
    let run = drive(status(), |asked| world.answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Read, false));
    assert_eq!((workload.status, &*workload.reason, &*workload.rule), (status_word, reason, rule));
    assert_eq!(words(&run), requests);
}

#[rstest]
#[case::missing(missing("web"), Status::Missing, "not-found", 1)]
#[case::another_name(missing("other"), Status::Unknown, "malformed", 3)]
#[case::html_404(text(404, "<html>"), Status::Unknown, "malformed", 3)]
#[case::unauthorized(refused(401, "Unauthorized", ""), Status::Unknown, "unauthorized", 1)]
#[case::forbidden(refused(403, "Forbidden", "web"), Status::Unknown, "forbidden", 1)]
#[case::throttled(text(429, "too many"), Status::Unknown, "throttled", 3)]
#[case::gone(refused(410, "Expired", ""), Status::Unknown, "malformed", 3)]
#[case::error(text(500, "oh"), Status::Unknown, "unreachable", 3)]
#[case::redirect(text(302, ""), Status::Unknown, "malformed", 3)]
#[case::empty_object(answer(200, "{}"), Status::Unknown, "malformed", 3)]
#[case::cut(answer(200, r#"{"kind":"Deployment","#), Status::Unknown, "malformed", 3)]
#[case::connection(Reply::Fail(Failure::Unreachable), Status::Unknown, "unreachable", 3)]
#[case::timeout(Reply::Fail(Failure::Timeout), Status::Unknown, "unreachable", 3)]
#[case::bad(Reply::Fail(Failure::BadResponse), Status::Unknown, "malformed", 3)]
fn no_answer_is_told_as_such(#[case] reply: Reply, #[case] want: Status, #[case] reason: &str, #[case] tries: usize) {
    let run = drive(status(), |_| reply.clone());
    let workload = run.outcome(WEB).unwrap().workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason, workload.settled), (want, reason, want == Status::Missing));
    assert_eq!(words(&run).len(), tries);
    assert!(run.now <= 2_000);
}

#[test]
fn a_denial_by_the_host_says_nothing_about_the_workload() {
    let run = drive(status(), |_| Reply::Fail(Failure::Denied));
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Denied);
}

#[test]
fn a_list_is_in_order_and_reads_what_belongs_to_it_once() {
    let mut world = World::default();
    for (name, desired) in [("c", 0), ("a", 1), ("b", 0)] {
        let uid = format!("uid-{name}");
        world.workloads.insert(name.to_owned(), Workload { uid, ..Workload::at(desired) });
    }
    let run = drive(discover(&["default"]), |asked| world.answer(asked));
    let found: Vec<(&str, &str)> = run.emitted.iter().map(|found| (&*found.id, &*found.reason)).collect();
    assert_eq!(found, [("default/a", "available"), ("default/b", "stopped"), ("default/c", "stopped")]);
    assert_eq!(words(&run), ["LIST deployments", "LIST replicasets", "LIST pods"]);
    let selector = "workload-provider/managed=true,workload-provider/owner=default";
    assert!(run.asked.iter().all(|asked| asked.query("labelSelector") == Some(selector)));
}

#[test]
fn one_place_that_is_forbidden_hides_no_other() {
    let mut world = World::with(Workload::at(1));
    let run = drive(discover(&["secret", "default", "default"]), |asked| {
        if asked.path().contains("secret") { refused(403, "Forbidden", "") } else { world.answer(asked) }
    });
    assert_eq!(run.emitted.len(), 1);
    let [(place, fault)] = &*run.incomplete else { panic!("{:?}", run.incomplete) };
    assert_eq!((&**place, fault.kind), ("secret", FaultKind::Forbidden));
    assert_eq!(fault.message, "not allowed to list deployments in namespace secret");
}

/// A page of a list.
fn page(names: &[&str], next: &str) -> Reply {
    let world = World {
        workloads: names
            .iter()
            .map(|&name| (name.to_owned(), Workload { uid: format!("u{name}"), ..Workload::at(1) }))
            .collect(),
        ..World::default()
    };
    let Reply::Respond(list) = world.clone().answer(&list_request()) else { panic!() };
    let mut list: Value = serde_json::from_slice(&list.bytes).unwrap();
    list["metadata"]["continue"] = json!(next);
    answer(200, list)
}

fn list_request() -> Asked {
    let request = crate::request::list(
        crate::request::Resource::Deployments,
        Some("default"),
        crate::request::Which::Labels(""),
        "",
    );
    Asked { id: 1, for_id: None, now: 0, effect: Effect::Http(request) }
}

#[rstest]
#[case::three_pages(&[("", page(&["a"], "1")), ("1", page(&[], "2")), ("2", page(&["b"], ""))], &["a", "b"], None)]
#[case::expired_once(
    &[("", page(&["a"], "1")), ("1", refused(410, "Expired", "")), ("", page(&["b"], "2")), ("2", page(&["c"], ""))],
    &["b", "c"], None
)]
#[case::expired_always(
    &[("", page(&["a"], "1")), ("1", refused(410, "Expired", "")), ("", page(&["a"], "1")), ("1", refused(410, "Expired", "")),
      ("", page(&["a"], "1")), ("1", refused(410, "Expired", ""))],
    &["a"], Some(FaultKind::Malformed)
)]
#[case::repeated(&[("", page(&["a"], "1")), ("1", page(&["b"], "1"))], &["a", "b"], Some(FaultKind::Malformed))]
#[case::another_shape(&[("", page(&["a"], "1")), ("1", answer(200, "{}"))], &["a"], Some(FaultKind::Malformed))]
#[case::cut_short(
    &[("", page(&["a"], "1")), ("1", text(500, "")), ("1", text(503, "")), ("1", Reply::Fail(Failure::Lost))],
    &["a"], Some(FaultKind::Unavailable)
)]
#[case::in_trouble_for_a_moment(
    &[("", page(&["a"], "1")), ("1", text(500, "")), ("1", text(429, "")), ("1", page(&["b"], ""))], &["a", "b"], None
)]
#[case::forbidden_half_way(
    &[("", page(&["a"], "1")), ("1", refused(403, "Forbidden", ""))], &["a"], Some(FaultKind::Forbidden)
)]
fn pages_are_followed(#[case] script: &[(&str, Reply)], #[case] names: &[&str], #[case] broken: Option<FaultKind>) {
    let mut script = script.iter();
    let run = drive(discover(&["default"]), |asked| {
        let (token, reply) = script.next().unwrap();
        assert_eq!(asked.query("continue").unwrap_or_default(), *token);
        reply.clone()
    });
    let found: Vec<&str> = run.emitted.iter().map(|found| &*found.name).collect();
    assert_eq!(found, names);
    assert_eq!(run.incomplete.first().map(|(_, fault)| fault.kind), broken);
}

#[test]
fn a_list_that_is_too_much_to_keep_is_incomplete() {
    let mut pages = 0;
    let run = drive(discover(&["default"]), |_| {
        pages += 1;
        let Reply::Respond(mut list) = page(&[&format!("w{pages}")], &pages.to_string()) else { panic!() };
        // An object of ten megabytes.
        let text = String::from_utf8(list.bytes).unwrap();
        list.bytes = text.replace("nginx:1", &"n".repeat(10 << 20)).into_bytes();
        Reply::Respond(list)
    });
    assert_eq!(run.emitted.len(), 4);
    assert_eq!(run.incomplete.first().map(|(_, fault)| fault.kind), Some(FaultKind::Malformed));
    assert_eq!(pages, 4);
}

#[test]
fn everywhere_is_one_list() {
    let mut world = World::with(Workload::at(1));
    let run = drive(discover(&[]), |asked| world.answer(asked));
    assert_eq!(run.emitted.len(), 1);
    assert_eq!(run.asked[0].path(), "apis/apps/v1/deployments");
}

#[test]
fn what_is_followed_is_emitted_on_change() {
    let follow = |call, changed| {
        let options =
            Options { deadline: None, ..Options::default() }.stop(When::At(12_000), None, StopReason::Cancelled);
        let mut world = World::with(Workload { changed, ..Workload::at(1) });
        run::<Kubernetes>(call, options, move |asked| world.answer(asked))
    };
    for call in
        [Call::Status(vec![WEB.to_owned()], true), Call::Discover(Scope { places: vec!["default".to_owned()] }, true)]
    {
        let run = follow(call, Some(0));
        let reasons: Vec<&str> = run.emitted.iter().map(|found| &*found.reason).collect();
        assert_eq!(reasons, ["unobserved", "starting", "available"]);
        assert_eq!(run.now, 12_000);
    }
    assert_eq!(follow(Call::Status(vec![WEB.to_owned()], true), None).emitted.len(), 1);
}

#[test]
fn a_bad_id_costs_no_request() {
    for call in [Call::Status(vec!["web/../x".to_owned()], false), Call::Start(vec!["web/../x".to_owned()])] {
        let run = drive(call, |_| Reply::Respond(response(200, "")));
        assert_eq!(run.fault("web/../x").unwrap().kind, FaultKind::InvalidId);
        assert!(run.asked.is_empty());
    }
}

/// That no answer came in the time that was given is an answer. Whoever cancels wants none.
#[test]
fn a_server_that_says_nothing_is_unreachable() {
    let options = Options { deadline: Some(2_000), ..Options::default() };
    let silent = |options| run::<Kubernetes>(status(), options, |_| Reply::Never);
    let looked = silent(options.clone());
    let workload = looked.outcome(WEB).unwrap().workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason, workload.settled), (Status::Unknown, "unreachable", false));
    assert_eq!(workload.message.as_deref(), Some("the server gave no answer in the time that was given"));
    let cancelled = silent(options.stop(When::At(1_000), None, StopReason::Cancelled));
    assert_eq!(cancelled.fault(WEB).unwrap().kind, FaultKind::Cancelled);
}

/// What a list says of each is what a look at it says, as far as the list has to read for it.
#[test]
fn a_list_and_a_status_agree() {
    let overs = [
        (1, json!({})),
        (0, json!({})),
        (3, json!({"status": {"availableReplicas": 1}})),
        (1, json!({"status": {"availableReplicas": 0}})),
        (1, json!({"metadata": {"generation": 9}})),
        (0, json!({"metadata": {"generation": 9}})),
        (0, json!({"status": {"observedGeneration": 0, "replicas": 0}})),
        (0, json!({"status": {"replicas": 1}})),
        (1, json!({"spec": {"paused": true}})),
        (1, json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})),
        (
            1,
            json!({"status": {"availableReplicas": 0, "replicas": 0, "conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": "exceeded quota: q"}]}}),
        ),
        (
            1,
            json!({"status": {"availableReplicas": 0, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "m"}]}}),
        ),
        (
            1,
            json!({"status": {"observedGeneration": 0, "conditions": [
            {"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError", "message": "m"}]}}),
        ),
        (1, json!({"spec": {"replicas": -1}})),
    ];
    for (desired, over) in overs {
        let mut world = World::with(Workload::at(desired).over(over.clone()));
        let listed = drive(discover(&["default"]), |asked| world.answer(asked));
        let looked = drive(status(), |asked| world.answer(asked));
        let looked = looked.outcome(WEB).unwrap().workload.clone().unwrap();
        let [listed] = &*listed.emitted else { panic!("{:?}", listed.emitted) };
        let told = |told: &workload_guest::Workload| (told.status, told.reason.clone(), told.settled, told.available);
        assert_eq!(told(listed), told(&looked), "{over}");
    }
}

/// All tries of a read are within two seconds, so one that a server was silent about for longer has had its tries.
#[rstest]
#[case::silent(30_000, 1)]
#[case::slow(900, 2)]
#[case::at_once(0, 3)]
fn a_look_does_not_wait_for_a_silent_server(#[case] silent_ms: u64, #[case] tries: usize) {
    let run = drive(status(), |_| Reply::After(silent_ms, Box::new(Reply::Fail(Failure::Timeout))));
    let workload = run.outcome(WEB).unwrap().workload.clone().unwrap();
    assert_eq!((workload.status, &*workload.reason), (Status::Unknown, "unreachable"));
    assert_eq!(words(&run), vec!["GET web"; tries]);
}
