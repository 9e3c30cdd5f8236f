use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_host::model::{Fault, FaultKind, Method, OutcomeWord};

use super::*;
use crate::testing::{self, outcome, workload};

#[test]
fn a_list() {
    let stopped = Workload {
        status: Status::Offline,
        reason: "stopped".to_owned(),
        desired: 0,
        available: 0,
        image: None,
        ..workload("production/a-long-name")
    };
    let expected = "\
ID                      STATUS   REASON     READY  IMAGE
default/web             running  available  1/1    nginx:1.29
production/a-long-name  offline  stopped    0/0    -
";
    assert_eq!(listing(&[workload("default/web"), stopped]), expected);
}

#[test]
fn statuses_say_what_there_is_to_say() {
    let missing = Workload {
        status: Status::Missing,
        reason: "not-found".to_owned(),
        image: None,
        message: Some("there is no such deployment".to_owned()),
        ..workload("default/gone")
    };
    let expected = "\
ID            STATUS   REASON     READY  IMAGE       MESSAGE
default/web   running  available  1/1    nginx:1.29  -
default/gone  missing  not-found  -      -           there is no such deployment
";
    assert_eq!(statuses([workload("default/web"), missing].iter()), expected);
}

#[test]
fn columns_count_characters() {
    let rows = [["é".to_owned(), "x".to_owned()], ["ab".to_owned(), "y".to_owned()]];
    assert_eq!(table(["A", "B"], &rows), "A   B\né   x\nab  y\n");
}

#[rstest]
#[case::plain("default/web", "default/web")]
#[case::escape("a\u{1b}[31mb", "a\\u{1b}[31mb")]
#[case::line_end("a\nb\r\tc", "a\\u{a}b\\u{d}\\u{9}c")]
#[case::c1("a\u{9b}31mb", "a\\u{9b}31mb")]
#[case::turned_around("a\u{202e}b", "a\\u{202e}b")]
fn nothing_that_a_terminal_obeys(#[case] text: &str, #[case] shown: &str) {
    assert_eq!(plain(text), shown);
}

fn at(id: &str, end: End) -> Entry {
    Entry { id: id.to_owned(), end, elapsed: Duration::from_millis(3249) }
}

#[test]
fn one_line_for_a_good_end() {
    let started = at("default/web", End::Done(Box::new(outcome(OutcomeWord::Started, "default/web"))));
    assert_eq!(entry(&started).as_deref(), Some("default/web  started  (3.2 s)"));
}

#[test]
fn a_fault_is_for_standard_error() {
    assert_eq!(entry(&at("d/a", End::Fault(Fault::new(FaultKind::Denied, "x")))), None);
}

#[test]
fn a_plan_shows_the_request() {
    let request = PlannedRequest {
        method: Method::Patch,
        target: "/apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=workload".to_owned(),
        body: Some(json!({"spec": {"replicas": 1}})),
    };
    let expected = "\
default/web would send
PATCH /apis/apps/v1/namespaces/default/deployments/web/scale?fieldManager=workload
{
  \"spec\": {
    \"replicas\": 1
  }
}";
    assert_eq!(entry(&at("default/web", End::Planned(request))).as_deref(), Some(expected));
}

#[test]
fn providers_with_their_source() {
    let found = testing::inspection();
    let expected = "\
NAME        VERSION  ENGINE      WORLD  SOURCE
kubernetes  0.1.0    kubernetes  0.1    built-in
";
    assert_eq!(providers(&[("built-in", &found.descriptor)]), expected);
}

#[test]
fn a_component() {
    let expected = "\
name     kubernetes
version  0.1.0
engine   kubernetes
world    0.1
size     4711 bytes
sha256   c0ffee
imports  workload:provider/types@0.1.0
asks     deployments:get
         pods:list
spec     {
  \"type\": \"object\"
}
";
    assert_eq!(inspection(&testing::inspection()), expected);
}
