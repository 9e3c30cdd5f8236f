use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_host::model::{Fault, FaultKind, Method, OutcomeWord};

use super::*;
use crate::output::explain::reasons::tests::ALL;
use crate::testing::{self, outcome, workload};

const PIPE: Look = Look { width: None, paint: Paint(false) };

fn wide(columns: usize) -> Look {
    Look { width: Some(columns), ..PIPE }
}

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
    assert_eq!(listing(&[workload("default/web"), stopped], PIPE), expected);
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
    assert_eq!(statuses([workload("default/web"), missing].iter(), PIPE), expected);
}

/// A workload that has all there is to say.
fn failing() -> Workload {
    Workload {
        status: Status::Failed,
        reason: "deadline-exceeded".to_owned(),
        desired: 12,
        available: 10,
        image: Some("registry.example.com/team/shop/web:2026-01-02".to_owned()),
        message: Some("10 of 12 replicas available; the rollout did not come further for ten minutes".to_owned()),
        ..workload("shop/web")
    }
}

#[test]
fn a_terminal_of_80_columns() {
    let expected = "\
ID           STATUS   REASON             READY  IMAGE
default/web  running  available          1/1    nginx:1.29
shop/web     failed   deadline-exceeded  10/12  …le.com/team/shop/web:2026-01-02
  10 of 12 replicas available; the rollout did not come further for ten minutes
";
    assert_eq!(statuses([workload("default/web"), failing()].iter(), wide(80)), expected);
}

#[test]
fn a_terminal_of_200_columns() {
    let text = statuses([workload("default/web"), failing()].iter(), wide(200));
    assert_eq!(text, statuses([workload("default/web"), failing()].iter(), PIPE));
}

#[test]
fn a_component_on_a_narrow_terminal() {
    let mut found = testing::inspection();
    found.descriptor.spec_schema = r#"{"description":"what it is and what it takes"}"#.to_owned();
    let expected = "\
name     kubernetes
version  0.1.0
engine   kubernetes
world    0.1
size     4711 bytes
sha256   c0ffee
imports  workload:provider/
         types@0.1.0
asks     deployments:get
         pods:list
spec     {
  \"description\": \"what
      it is and what it
      takes\"
}
";
    assert_eq!(inspection(&found, wide(27)), expected);
}

#[test]
fn colour_says_no_more_than_the_words() {
    let painted = Look { width: Some(80), paint: Paint(true) };
    let found = testing::inspection();
    let both = |look: Look| {
        [
            statuses([workload("a/b"), failing()].iter(), look),
            listing(&[workload("a/b"), failing()], look),
            providers(&[("built-in", &found.descriptor)], look),
            inspection(&found, look),
        ]
        .concat()
    };
    let text = both(painted);
    assert!(text.contains("\u{1b}[31mfailed\u{1b}[0m") && text.contains("\u{1b}[32mrunning\u{1b}[0m"), "{text}");
    let bare = text.split('\u{1b}').map(|part| part.split_once('m').filter(|_| part.starts_with('[')));
    let bare: String = bare.zip(text.split('\u{1b}')).map(|(cut, part)| cut.map_or(part, |(_, rest)| rest)).collect();
    assert_eq!(bare, both(wide(80)));
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
    assert_eq!(entry(&started, Paint(false)).as_deref(), Some("default/web  started  (3.2s)"));
}

#[test]
fn a_fault_is_for_standard_error() {
    assert_eq!(entry(&at("d/a", End::Fault(Fault::new(FaultKind::Denied, "x"))), Paint(false)), None);
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
    assert_eq!(entry(&at("default/web", End::Planned(request)), Paint(false)).as_deref(), Some(expected));
}

#[rstest]
#[case::with_a_message(Some("1 of 1 replica available"), "default/web would send nothing: 1 of 1 replica available")]
#[case::without_one(None, "default/web would send nothing: already-running")]
#[case::an_empty_one(Some(""), "default/web would send nothing: already-running")]
#[case::what_a_terminal_obeys(Some("a\u{1b}b"), r"default/web would send nothing: a\u{1b}b")]
fn a_plan_of_nothing_says_why(#[case] message: Option<&str>, #[case] expected: &str) {
    let mut outcome = outcome(OutcomeWord::AlreadyRunning, "default/web");
    if let Some(workload) = &mut outcome.workload {
        workload.message = message.map(str::to_owned);
    }
    assert_eq!(entry(&at("default/web", End::Nothing(Box::new(outcome))), Paint(false)).as_deref(), Some(expected));
}

#[test]
fn a_watch_adds_rows_with_their_time() {
    let mut table = watched(true);
    let row = |workload: &Workload, time: &str| watched_row(workload, true, time.to_owned());
    let expected = "\
TIME       ID                        STATUS    REASON              READY  IMAGE             MESSAGE
03:04:05Z  default/web               running   available           1/1    nginx:1.29        -
";
    assert_eq!(table.add(vec![row(&workload("default/web"), "03:04:05Z")], PIPE), expected);
    let missing = Workload {
        status: Status::Missing,
        reason: "not-found".to_owned(),
        image: None,
        message: Some("there is no such Deployment".to_owned()),
        ..workload("default/web")
    };
    let expected = "\
03:05:00Z  default/web               missing   not-found           -      -                 there is no such Deployment
";
    assert_eq!(table.add(vec![row(&missing, "03:05:00Z")], PIPE), expected);
}

/// Whatever state comes, its words fit into the columns that the first row made.
#[test]
fn no_word_moves_the_columns_of_a_watch() {
    let mut table = watched(false);
    let first = table.add(vec![watched_row(&workload("default/web"), false, "03:04:05Z".to_owned())], PIPE);
    let image = first.find("IMAGE");
    for (status, reasons) in ALL {
        for reason in reasons {
            let found = Workload { status, reason: (*reason).to_owned(), ..workload("shop/another-one-of-ours") };
            let row = table.add(vec![watched_row(&found, false, "03:04:05Z".to_owned())], PIPE);
            assert_eq!(row.find("nginx"), image, "{row}");
            assert_eq!(row.find(status.word()), first.lines().next().and_then(|head| head.find("STATUS")), "{row}");
        }
    }
}

#[test]
fn providers_with_their_source() {
    let found = testing::inspection();
    let expected = "\
NAME        VERSION  ENGINE      WORLD  SOURCE
kubernetes  0.1.0    kubernetes  0.1    built-in
";
    assert_eq!(providers(&[("built-in", &found.descriptor)], PIPE), expected);
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
    assert_eq!(inspection(&testing::inspection(), PIPE), expected);
}
