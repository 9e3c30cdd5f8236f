//! Faults of single requests, over TLS.

use kube_emulator::fault::{Ending, Fault, Point, Rule, When};
use kube_emulator::pattern::Pattern;
use rstest::rstest;

use crate::client::{Client, NAMESPACES, exists, server};

fn creating() -> Pattern {
    Pattern::resource("create", "namespaces")
}

#[rstest]
#[case::reset(Fault::Reset(When::Before), false, 0, "reset")]
#[case::reset_after(Fault::Reset(When::After), true, 0, "reset")]
#[case::garbage(Fault::Garbage(When::Before, "SSH-2.0-x\r\n\r\n".into()), false, 0, "garbage")]
#[case::garbage_after(Fault::Garbage(When::After, "SSH-2.0-x\r\n\r\n".into()), true, 0, "garbage")]
#[case::nothing(Fault::Garbage(When::Before, "".into()), false, 0, "closed")]
#[case::html(Fault::html(When::Before, 502), false, 502, "whole")]
#[case::html_after(Fault::html(When::After, 200), true, 200, "whole")]
#[case::status(Fault::status(When::Before, 429, "{}"), false, 429, "whole")]
#[case::redirect(Fault::redirect(302, "https://127.0.0.1:1/"), false, 302, "whole")]
#[case::gone(Fault::gone(), false, 410, "whole")]
#[case::wrong_body(Fault::Body("{\"kind\":".into()), true, 201, "whole")]
#[case::cut_after_headers(Fault::cut(0), true, 201, "closed")]
#[case::cut(Fault::cut(20), true, 201, "closed")]
#[case::reset_in_the_middle(Fault::Break(Point::Bytes(20), Ending::Reset), true, 201, "reset")]
#[case::a_part_for_the_whole(Fault::Break(Point::Bytes(20), Ending::Complete), true, 201, "whole")]
#[case::delay(Fault::Delay(When::Before, std::time::Duration::from_millis(1)), true, 201, "whole")]
#[case::drip(Fault::Drip(100, std::time::Duration::from_millis(1)), true, 201, "whole")]
#[tokio::test]
async fn a_fault_is_seen_once_and_only_where_it_was_meant(
    #[case] fault: Fault,
    #[case] effect: bool,
    #[case] status: u16,
    #[case] end: &str,
) {
    let server = server().await;
    let client = Client::new(&server);
    let rule = server.emulator().faults().add(Rule::on(creating(), fault).once());
    assert_eq!(client.get(NAMESPACES).await.status(), 200);
    assert_eq!(rule.applied(), 0);

    let answer = client.create("one").await;
    assert_eq!((answer.status(), answer.end()), (status, end), "{answer:?}");
    assert_eq!((exists(&server, "one"), rule.applied()), (effect, 1));

    let answer = client.create("two").await;
    assert_eq!((answer.status(), answer.end()), (201, "whole"));
}

#[tokio::test]
async fn what_is_cut_came_up_to_there() {
    let server = server().await;
    let client = Client::new(&server);
    let whole = client.get(NAMESPACES).await;
    for (after, ending) in [(0, Ending::Close), (1, Ending::Reset), (30, Ending::Close), (30, Ending::Reset)] {
        let rule = Rule::on(Pattern::any(), Fault::Break(Point::Bytes(after), ending)).once();
        server.emulator().faults().add(rule);
        let answer = client.get(NAMESPACES).await;
        assert_eq!(answer.header("content-length"), whole.body.len().to_string());
        assert_eq!(answer.body, whole.body[..after], "{ending:?} after {after}");
    }
}

#[tokio::test]
async fn an_answer_has_the_headers_and_the_body_that_were_given() {
    let server = server().await;
    let headers = [("retry-after", "7"), ("x-odd", "a"), ("content-type", "text/plain")];
    let fault = Fault::canned(When::Before, 503, &headers, "later");
    server.emulator().faults().add(Rule::on(Pattern::any(), fault));
    let answer = Client::new(&server).get("/readyz").await;
    assert_eq!((answer.status(), answer.text()), (503, "later"));
    for (name, value) in headers {
        assert_eq!(answer.header(name), value);
    }
    assert_eq!((answer.header("content-length"), answer.header("date")), ("5", ""));
}

#[tokio::test]
async fn a_wrong_body_has_a_right_length() {
    let server = server().await;
    server.emulator().faults().add(Rule::on(Pattern::any(), Fault::Body("not what you think".into())));
    let answer = Client::new(&server).get(NAMESPACES).await;
    assert_eq!((answer.status(), answer.text()), (200, "not what you think"));
    assert_eq!((answer.header("content-type"), answer.header("content-length")), ("application/json", "18"));
}

#[tokio::test]
async fn gone_is_a_status() {
    let server = server().await;
    server.emulator().faults().add(Rule::on(Pattern::any().with_query("continue="), Fault::gone()));
    let client = Client::new(&server);
    let status = client.get(&format!("{NAMESPACES}?limit=1&continue=abc")).await.json();
    assert_eq!((status["kind"].as_str(), status["code"].as_u64()), (Some("Status"), Some(410)));
    assert_eq!(status["reason"], "Expired");
    assert_eq!(client.get(&format!("{NAMESPACES}?limit=1")).await.status(), 200);
}

#[tokio::test]
async fn a_large_answer_is_cut_after_all_that_was_to_come() {
    let server = server().await;
    let client = Client::new(&server);
    let large = "x".repeat(3_000_000);
    let faults = server.emulator().faults();
    faults.add(Rule::on(Pattern::any(), Fault::Body(large.into())));
    faults.add(Rule::on(Pattern::any(), Fault::cut(2_999_999)));
    let answer = client.get(NAMESPACES).await;
    assert_eq!((answer.body.len(), answer.end()), (2_999_999, "closed"));
}
