use rstest::rstest;
use serde_json::json;
use workload_host::model::{FaultKind, Method, OutcomeWord, Status};

use super::*;
use crate::testing::{self, outcome, workload};

fn value(document: &impl Serialize) -> Value {
    serde_json::to_value(document).unwrap()
}

fn web() -> Value {
    json!({
        "id": "default/web", "name": "web", "kind": "Deployment", "status": "running", "reason": "available",
        "message": null, "settled": true, "serving_old": false, "desired": 1, "available": 1,
        "image": "nginx:1.29", "node": null, "address": null, "created": "2026-01-02T03:04:05Z",
        "owner": "default", "uid": "c0ffee", "retention": null, "rule": "13", "facts": {"updated": "1"},
    })
}

fn forbidden() -> Fault {
    Fault::new(FaultKind::Forbidden, "may not list deployments").with("verb", "list")
}

fn forbidden_json() -> Value {
    json!({"kind": "forbidden", "message": "may not list deployments", "detail": {"verb": "list"}})
}

fn entry(id: &str, end: End) -> Entry {
    Entry { id: id.to_owned(), end, elapsed: Duration::from_millis(3249) }
}

fn done(id: &str) -> Entry {
    entry(id, End::Done(Box::new(outcome(OutcomeWord::AlreadyRunning, id))))
}

fn planned(id: &str, target: &str, body: Option<Value>) -> Entry {
    entry(id, End::Planned(PlannedRequest { method: Method::Patch, target: target.to_owned(), body }))
}

#[test]
fn an_error() {
    assert_eq!(value(&error(&forbidden())), json!({"error": forbidden_json()}));
}

#[test]
fn a_usage_error() {
    let expected = json!({"error": {"kind": "usage", "message": "no such command", "detail": {}}});
    assert_eq!(value(&usage("no such command")), expected);
}

#[test]
fn a_status_alone_is_an_object() {
    let found = [("default/web".to_owned(), Ok(workload("default/web")))];
    assert_eq!(value(&statuses(&found, false)), web());
}

#[test]
fn several_statuses_are_a_list() {
    let found = [("default/web".to_owned(), Ok(workload("default/web"))), ("x/y/z".to_owned(), Err(forbidden()))];
    assert_eq!(value(&statuses(&found, true)), json!([web(), {"id": "x/y/z", "error": forbidden_json()}]));
}

#[test]
fn a_status_that_could_not_be_asked_for() {
    let found = [("x/y/z".to_owned(), Err(forbidden()))];
    assert_eq!(value(&statuses(&found, false)), json!({"id": "x/y/z", "error": forbidden_json()}));
}

#[rstest]
#[case::done(done("default/web"), json!({
    "id": "default/web", "outcome": "already-running", "changed": true, "elapsed_ms": 3249, "workload": web()}))]
#[case::fault(entry("default/web", End::Fault(forbidden())), json!({"id": "default/web", "error": forbidden_json()}))]
#[case::plan(planned("default/web", "/apis/x?fieldManager=x%20y", Some(json!({"spec": {"replicas": 1}}))), json!({
    "id": "default/web",
    "plan": {"method": "PATCH", "path": "/apis/x?fieldManager=x%20y", "body": {"spec": {"replicas": 1}}}}))]
#[case::plan_without_body(planned("default/web", "/apis/x", None), json!({
    "id": "default/web", "plan": {"method": "PATCH", "path": "/apis/x", "body": null}}))]
#[case::nothing_to_write(
    entry("default/web", End::Nothing(Box::new(outcome(OutcomeWord::AlreadyRunning, "default/web")))),
    json!({"id": "default/web", "plan": null, "outcome": "already-running", "workload": web()}))]
#[case::nothing_to_write_yet(
    entry("default/web", End::Nothing(Box::new(outcome(OutcomeWord::Started, "default/web")))),
    json!({"id": "default/web", "plan": null, "workload": web()}))]
#[case::nothing_there(
    entry("default/web", End::Nothing(Box::new(Outcome {
        word: OutcomeWord::AlreadyGone, changed: false, workload: None }))),
    json!({"id": "default/web", "plan": null, "outcome": "already-gone", "workload": null}))]
fn one_entry(#[case] entry: Entry, #[case] expected: Value) {
    assert_eq!(value(&entries(&[entry], false)), expected);
}

#[test]
fn several_entries_are_a_list_in_order() {
    let several = [entry("b/x", End::Fault(forbidden())), planned("a/x", "/apis/x", None)];
    let expected = json!([
        {"id": "b/x", "error": forbidden_json()},
        {"id": "a/x", "plan": {"method": "PATCH", "path": "/apis/x", "body": null}},
    ]);
    assert_eq!(value(&entries(&several, true)), expected);
}

#[test]
fn one_of_a_list_stays_a_list() {
    let one = [planned("a/x", "/apis/x", None)];
    assert!(value(&entries(&one, true)).is_array());
}

#[rstest]
#[case::empty(Listing::default(), json!({"workloads": [], "incomplete": []}))]
#[case::partial(
    Listing { workloads: vec![workload("default/web")], incomplete: vec![("prod".to_owned(), forbidden())], fault: None },
    json!({"workloads": [web()], "incomplete": [{"place": "prod", "error": forbidden_json()}]})
)]
#[case::ended_early(
    Listing { fault: Some(forbidden()), ..Listing::default() },
    json!({"workloads": [], "incomplete": [], "error": forbidden_json()})
)]
fn lists(#[case] found: Listing, #[case] expected: Value) {
    assert_eq!(value(&listing(&found)), expected);
}

#[test]
fn an_explanation_is_a_status_and_more() {
    let pairs = [("updated", "1"), ("not-allowed", "list pods"), ("not-allowed", "list events")];
    let facts = pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let found = Workload { facts, ..workload("default/web") };
    let mut expected = value(&found);
    expected["meaning"] = json!("every replica that is wanted serves");
    expected["advice"] = Value::Null;
    expected["evidence"] = json!(pairs.map(|(name, value)| json!({"name": name, "value": value})));
    assert_eq!(value(&explanation(&found, &Ownership::new("example.org", "team-a"))), expected);
    assert_eq!(expected["facts"], json!({"updated": "1", "not-allowed": "list pods"}));
}

#[rstest]
#[case::of_the_provider(&[("advice", "wait")], "wait")]
#[case::our_own(&[], "`workload doctor` says what stands in the way")]
fn an_explanation_advises(#[case] facts: &[(&str, &str)], #[case] advice: &str) {
    let facts = facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let (status, reason) = (Status::Unknown, "unreachable".to_owned());
    let found = Workload { status, reason, facts, ..workload("default/web") };
    assert_eq!(value(&explanation(&found, &Ownership::new("example.org", "team-a")))["advice"], advice);
}

#[test]
fn a_reason_that_nobody_knows_has_no_meaning() {
    let found = Workload { reason: "tired".to_owned(), ..workload("default/web") };
    assert_eq!(value(&explanation(&found, &Ownership::new("example.org", "team-a")))["meaning"], Value::Null);
}

#[test]
fn lines_of_a_watch_say_whose_they_are() {
    assert_eq!(value(&faulty("x/y", &forbidden())), json!({"id": "x/y", "error": forbidden_json()}));
    assert_eq!(value(&left_out("shop", &forbidden())), json!({"place": "shop", "error": forbidden_json()}));
}

#[test]
fn providers_with_their_source() {
    let found = testing::inspection();
    let expected = json!({"providers": [{
        "name": "kubernetes", "version": "0.1.0", "engine": "kubernetes", "world": "0.1", "source": "built-in"}]});
    assert_eq!(value(&providers(&[("built-in", &found.descriptor)])), expected);
}

#[rstest]
#[case::json(r#"{"type":"object"}"#, json!({"type": "object"}))]
#[case::no_json("none", json!("none"))]
fn a_component(#[case] schema: &str, #[case] expected: Value) {
    let mut found = testing::inspection();
    found.descriptor.spec_schema = schema.to_owned();
    let expected = json!({
        "name": "kubernetes", "version": "0.1.0", "engine": "kubernetes", "world": "0.1",
        "asks": ["deployments:get", "pods:list"], "imports": ["workload:provider/types@0.1.0"],
        "size": 4711, "sha256": "c0ffee", "spec_schema": expected,
    });
    assert_eq!(value(&inspection(&found)), expected);
}
