use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::FutureExt;
use futures_util::stream::{self, StreamExt};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody};
use hyper::body::Frame;
use rstest::rstest;
use serde_json::Value;

use super::*;
use crate::call::Body;
use crate::pattern::Pattern;

fn asked(method: &str, target: &str) -> Asked {
    Asked::of(&Request::builder().method(method).uri(target).body(()).unwrap(), "admin")
}

/// Counts how often requests take effect.
#[derive(Default)]
struct Server {
    effects: AtomicUsize,
    faults: Faults,
}

/// What a client sees: the status, the headers, the bytes that came, and why no more came.
#[derive(Debug, PartialEq)]
struct Seen {
    status: u16,
    length: Option<String>,
    bytes: String,
    broken: Option<Broken>,
}

const EVENTS: [&str; 4] = [
    r#"{"type":"ADDED","object":{"metadata":{"name":"web-1"}}}"#,
    r#"{"type":"ADDED","object":{"metadata":{"name":"web-2"}}}"#,
    r#"{"type":"MODIFIED","object":{"metadata":{"name":"web-1"}}}"#,
    r#"{"type":"DELETED","object":{"metadata":{"name":"web-1"}}}"#,
];

impl Server {
    fn with(rule: Rule) -> (Server, Added) {
        let server = Server::default();
        let added = server.faults.add(rule);
        (server, added)
    }

    fn effects(&self) -> usize {
        self.effects.load(Ordering::Relaxed)
    }

    async fn ask(&self, asked: &Asked, body: Body) -> Result<Seen, Broken> {
        let answer = || {
            self.effects.fetch_add(1, Ordering::Relaxed);
            Response::new(body)
        };
        let response = self.faults.apply(asked, answer).await?;
        let (parts, mut body) = response.into_parts();
        let (mut bytes, mut broken) = (Vec::new(), None);
        // What does not come within an hour does not come.
        let hour = Duration::from_secs(3600);
        while let Ok(Some(frame)) = tokio::time::timeout(hour, body.frame()).await {
            match frame {
                Ok(frame) => bytes.extend_from_slice(frame.data_ref().unwrap()),
                Err(error) => {
                    broken = Some(error);
                    break;
                }
            }
        }
        let length = parts.headers.get("content-length").map(|value| value.to_str().unwrap().to_owned());
        Ok(Seen { status: parts.status.as_u16(), length, bytes: String::from_utf8(bytes).unwrap(), broken })
    }

    async fn get(&self) -> Result<Seen, Broken> {
        self.ask(&asked("GET", "/api/v1/pods"), Full::from("0123456789").boxed_unsync()).await
    }

    /// A watch whose events are cut into pieces anyhow.
    async fn watch(&self) -> Result<Seen, Broken> {
        let text: String = EVENTS.iter().flat_map(|event| [event, "\n"]).collect();
        let pieces: Vec<_> =
            text.as_bytes().chunks(7).map(|piece| Ok(Frame::data(Bytes::copy_from_slice(piece)))).collect();
        let body = StreamBody::new(stream::iter(pieces)).boxed_unsync();
        self.ask(&asked("GET", "/api/v1/pods?watch=1"), body).await
    }
}

fn seen(status: u16, length: Option<&str>, bytes: &str, broken: Option<Broken>) -> Result<Seen, Broken> {
    Ok(Seen { status, length: length.map(str::to_owned), bytes: bytes.to_owned(), broken })
}

fn canned(when: When) -> Fault {
    Fault::status(when, 503, "no")
}

#[rstest]
#[case::reset(Fault::Reset(When::Before), 0, Err(Broken::Reset))]
#[case::reset_after(Fault::Reset(When::After), 1, Err(Broken::Reset))]
#[case::half_open(Fault::HalfOpen(When::Before), 0, Err(Broken::HalfOpen))]
#[case::half_open_after(Fault::HalfOpen(When::After), 1, Err(Broken::HalfOpen))]
#[case::garbage(Fault::Garbage(When::After, "?".into()), 1, Err(Broken::Garbage("?".into())))]
#[case::refuse(Fault::Refuse(None), 0, Err(Broken::Refused))]
#[case::answer(canned(When::Before), 0, seen(503, None, "no", None))]
#[case::answer_after(canned(When::After), 1, seen(503, None, "no", None))]
#[case::redirect(Fault::redirect(307, "https://elsewhere"), 0, seen(307, None, "", None))]
#[case::body(Fault::Body("{".into()), 1, seen(200, None, "{", None))]
#[case::cut(Fault::cut(4), 1, seen(200, Some("10"), "0123", Some(Broken::Closed)))]
#[case::cut_after_headers(Fault::cut(0), 1, seen(200, Some("10"), "", Some(Broken::Closed)))]
#[case::cut_after_the_end(Fault::cut(11), 1, seen(200, Some("10"), "0123456789", None))]
#[case::shorter(Fault::Break(Point::Bytes(4), Ending::Complete), 1, seen(200, None, "0123", None))]
#[case::reset_in_the_middle(
    Fault::Break(Point::Bytes(4), Ending::Reset),
    1,
    seen(200, Some("10"), "0123", Some(Broken::Reset))
)]
#[case::half_open_in_the_middle(
    Fault::Break(Point::Bytes(4), Ending::HalfOpen),
    1,
    seen(200, Some("10"), "0123", Some(Broken::HalfOpen))
)]
#[case::silence(Fault::silence(4), 1, seen(200, Some("10"), "0123", None))]
#[case::drip(Fault::Drip(3, Duration::from_secs(1)), 1, seen(200, Some("10"), "0123456789", None))]
#[case::of_a_watch_only(Fault::Expire(0), 1, seen(200, None, "0123456789", None))]
#[tokio::test(start_paused = true)]
async fn each_fault_does_what_it_says(
    #[case] fault: Fault,
    #[case] effects: usize,
    #[case] wanted: Result<Seen, Broken>,
) {
    let (server, _) = Server::with(Rule::on(Pattern::any(), fault));
    assert_eq!(server.get().await, wanted);
    assert_eq!(server.effects(), effects);
}

#[rstest]
#[case::delay(Fault::Delay(When::Before, Duration::from_secs(9)), 9)]
#[case::delay_after(Fault::Delay(When::After, Duration::from_secs(9)), 9)]
#[case::drip(Fault::Drip(3, Duration::from_secs(2)), 8)]
#[tokio::test(start_paused = true)]
async fn time_passes(#[case] fault: Fault, #[case] seconds: u64) {
    let (server, _) = Server::with(Rule::on(Pattern::any(), fault));
    let start = Instant::now();
    assert_eq!(server.get().await.unwrap().bytes, "0123456789");
    assert_eq!(start.elapsed().as_secs(), seconds);
}

#[rstest]
#[case::before(When::Before, 0)]
#[case::after(When::After, 1)]
#[tokio::test(start_paused = true)]
async fn a_stalled_request_gets_no_answer(#[case] when: When, #[case] effects: usize) {
    let (server, _) = Server::with(Rule::on(Pattern::any(), Fault::Stall(when)));
    assert!(tokio::time::timeout(Duration::from_secs(86_400), server.get()).await.is_err());
    assert_eq!(server.effects(), effects);
}

#[tokio::test]
async fn a_delay_is_before_or_after_the_effect() {
    let hour = Duration::from_secs(3600);
    for (when, effects) in [(When::Before, 0), (When::After, 1)] {
        let (server, _) = Server::with(Rule::on(Pattern::any(), Fault::Delay(when, hour)));
        assert!(server.get().now_or_never().is_none());
        assert_eq!(server.effects(), effects);
    }
}

#[rstest]
#[case::one_of_several(Fault::drop_event("MODIFIED", "web-1"), &[0, 1, 3], "")]
#[case::the_first_of_two(Fault::drop_event("ADDED", "*"), &[1, 2, 3], "")]
#[case::the_second_of_two(Fault::DropEvent { kind: "ADDED".into(), name: "web-*".into(), skip: 1 }, &[0, 2, 3], "")]
#[case::none_of_that_name(Fault::drop_event("*", "db"), &[0, 1, 2, 3], "")]
#[case::end_at_once(Fault::end_watch(0), &[], "")]
#[case::end(Fault::end_watch(2), &[0, 1], "")]
#[case::end_after_the_end(Fault::end_watch(9), &[0, 1, 2, 3], "")]
#[case::expired_at_once(Fault::expired(), &[], "ERROR")]
#[case::expired(Fault::Expire(3), &[0, 1, 2], "ERROR")]
#[case::expired_after_the_end(Fault::Expire(5), &[0, 1, 2, 3], "")]
#[tokio::test(start_paused = true)]
async fn watches_lose_events_and_end(#[case] fault: Fault, #[case] events: &[usize], #[case] last: &str) {
    let (server, _) = Server::with(Rule::on(Pattern::any(), fault));
    let seen = server.watch().await.unwrap();
    assert_eq!((seen.status, seen.broken), (200, None));
    let mut lines: Vec<_> = seen.bytes.lines().collect();
    if !last.is_empty() {
        let event: Value = serde_json::from_str(lines.pop().unwrap()).unwrap();
        assert_eq!((event["type"].as_str(), event["object"]["code"].as_u64()), (Some(last), Some(410)));
        assert_eq!(event["object"]["reason"], "Expired");
    }
    assert_eq!(lines, events.iter().map(|&index| EVENTS[index]).collect::<Vec<_>>());
    assert!(seen.bytes.is_empty() || seen.bytes.ends_with('\n'));
}

#[tokio::test(start_paused = true)]
async fn an_event_is_found_in_a_table_too() {
    let (server, _) = Server::with(Rule::on(Pattern::any(), Fault::drop_event("ADDED", "web-2")));
    let table = r#"{"type":"ADDED","object":{"kind":"Table","rows":[{"object":{"metadata":{"name":"web-2"}}}]}}"#;
    let body = Full::from(format!("{table}\n{}\n", EVENTS[0])).boxed_unsync();
    let seen = server.ask(&asked("GET", "/api/v1/pods?watch=1"), body).await.unwrap();
    assert_eq!(seen.bytes.lines().collect::<Vec<_>>(), [EVENTS[0]]);
}

#[tokio::test(start_paused = true)]
async fn events_after_the_lost_one_come_at_once() {
    let faults = Faults::default();
    faults.add(Rule::on(Pattern::any(), Fault::drop_event("ADDED", "*")));
    let (send, receive) = tokio::sync::mpsc::unbounded_channel::<&str>();
    let lines = stream::unfold(receive, |mut receive| async move {
        let line = receive.recv().await?;
        Some((Ok(Frame::data(Bytes::from(format!("{line}\n")))), receive))
    });
    let body = StreamBody::new(lines.boxed()).boxed_unsync();
    let response = faults.apply(&asked("GET", "/api/v1/pods?watch=1"), || Response::new(body)).await.unwrap();
    let mut body = response.into_body();
    send.send(EVENTS[0]).unwrap();
    send.send(EVENTS[1]).unwrap();
    let frame = body.frame().await.unwrap().unwrap();
    assert_eq!(frame.into_data().unwrap(), format!("{}\n", EVENTS[1]));
    assert!(body.frame().now_or_never().is_none(), "it goes on");
}

#[tokio::test(start_paused = true)]
async fn a_rule_spares_some_and_ends() {
    let (server, added) = Server::with(Rule::on(Pattern::any(), canned(When::Before)).skip(1).times(2));
    let mut statuses = Vec::new();
    for _ in 0..5 {
        statuses.push(server.get().await.unwrap().status);
    }
    assert_eq!(statuses, [200, 503, 503, 200, 200]);
    assert_eq!((added.applied(), server.effects()), (2, 3));
}

#[tokio::test(start_paused = true)]
async fn every_rule_that_fits_applies_in_order() {
    let (server, slow) = Server::with(Rule::on(Pattern::any(), Fault::Delay(When::Before, Duration::from_secs(1))));
    let writes = server.faults.add(Rule::on(Pattern::path("POST", "*"), canned(When::Before)));
    server.faults.add(Rule::on(Pattern::any(), canned(When::Before)).once());
    server.faults.add(Rule::on(Pattern::any(), Fault::cut(1)));
    let start = Instant::now();
    assert_eq!(server.get().await, seen(503, Some("2"), "n", Some(Broken::Closed)));
    assert_eq!(server.get().await, seen(200, Some("10"), "0", Some(Broken::Closed)));
    assert_eq!((start.elapsed().as_secs(), slow.applied(), writes.applied()), (2, 2, 0));
    slow.remove();
    server.faults.clear();
    assert_eq!(server.get().await, seen(200, None, "0123456789", None));
    assert_eq!((start.elapsed().as_secs(), slow.applied()), (2, 2));
}

#[tokio::test(start_paused = true)]
async fn one_can_wait_for_a_fault() {
    let (server, added) = Server::with(Rule::on(Pattern::any(), Fault::Stall(When::Before)).skip(1));
    let applied = added.until_applied(1);
    tokio::select! {
        () = applied => {}
        () = async {
            loop {
                server.get().await.unwrap();
            }
        } => {}
    }
    assert_eq!((added.applied(), server.effects()), (1, 1));
}

#[tokio::test(start_paused = true)]
async fn an_outage_ends_by_itself_or_when_told() {
    let (server, _) = Server::with(Rule::on(Pattern::any(), Fault::Refuse(Some(Duration::from_secs(5)))).once());
    let start = Instant::now();
    assert_eq!(server.get().await, Err(Broken::Refused));
    assert_eq!(server.get().await, Err(Broken::Refused));
    server.faults.outages().next().await;
    server.faults.up().await;
    assert_eq!((start.elapsed().as_secs(), server.effects()), (5, 0));
    assert!(server.get().await.is_ok());
    server.faults.refuse(None);
    assert!(server.faults.up().now_or_never().is_none());
    server.faults.accept();
    server.faults.up().await;
    assert_eq!(start.elapsed().as_secs(), 5);
}

#[tokio::test(start_paused = true)]
async fn an_outage_is_told_even_when_it_is_over() {
    let faults = Faults::default();
    let (mut early, mut idle) = (faults.outages(), faults.outages());
    faults.refuse(Some(Duration::from_secs(1)));
    tokio::time::advance(Duration::from_secs(2)).await;
    assert!(!faults.refusing());
    assert!(early.next().now_or_never().is_some());
    assert!(early.next().now_or_never().is_none(), "it is told once");
    assert!(faults.outages().next().now_or_never().is_none(), "who comes later has nothing to do with it");
    faults.accept();
    assert!(idle.next().now_or_never().is_none(), "it was called off");
    faults.refuse(None);
    assert!(early.next().now_or_never().is_some() && idle.next().now_or_never().is_some());
    assert!(faults.outages().next().now_or_never().is_some(), "it goes on");
}

#[test]
fn rules_are_read_from_json() {
    let rules = r#"[
        {"on": {"request": {"verb": "patch", "resource": "deployments/scale", "name": "web"}}, "skip": 1, "times": 2,
         "fault": {"answer": ["after", {"status": 503, "headers": [["retry-after", "1"]], "body": "no"}]}},
        {"on": "connection", "fault": {"garbage": ["before", "SSH-2.0"]}},
        {"fault": {"delay": ["before", 1.5]}},
        {"fault": {"refuse": null}},
        {"fault": {"refuse": 2}},
        {"fault": {"break": [{"lines": 3}, "complete"]}},
        {"fault": {"drip": [1, 0.25]}},
        {"fault": {"drop-event": {"type": "DELETED", "name": "web-*"}}},
        {"fault": {"expire": 0}},
        {"fault": {"body": "{"}},
        {"fault": {"half-open": "before"}}
    ]"#;
    let any = |fault| Rule::on(Pattern::any(), fault);
    let answer = Fault::canned(When::After, 503, &[("retry-after", "1")], "no");
    let wanted = [
        Rule::on(Pattern::resource("patch", "deployments/scale").named("web"), answer).skip(1).times(2),
        Rule::on_connections(Fault::Garbage(When::Before, "SSH-2.0".into())),
        any(Fault::Delay(When::Before, Duration::from_millis(1500))),
        any(Fault::Refuse(None)),
        any(Fault::Refuse(Some(Duration::from_secs(2)))),
        any(Fault::end_watch(3)),
        any(Fault::Drip(1, Duration::from_millis(250))),
        any(Fault::drop_event("DELETED", "web-*")),
        any(Fault::expired()),
        any(Fault::Body("{".into())),
        any(Fault::HalfOpen(When::Before)),
    ];
    assert_eq!(serde_json::from_str::<Vec<Rule>>(rules).unwrap(), wanted);
}

#[rstest]
#[case::an_unknown_fault(r#"{"fault": {"explode": null}}"#)]
#[case::an_unknown_word_of_a_pattern(r#"{"on": {"request": {"kind": "Pod"}}, "fault": {"reset": "before"}}"#)]
#[case::an_unknown_word_of_a_rule(r#"{"fault": {"reset": "before"}, "when": 1}"#)]
#[case::a_time_before(r#"{"fault": {"delay": ["before", -1]}}"#)]
#[case::no_fault(r#"{"times": 1}"#)]
fn wrong_rules_are_refused(#[case] rule: &str) {
    assert!(serde_json::from_str::<Rule>(rule).is_err());
}
