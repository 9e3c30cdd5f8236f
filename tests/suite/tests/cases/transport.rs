//! Cases whose point is a watch, a body or a name that is not what it should be.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_host::model::{Failure, FaultKind};
use workload_suite::inside::objects::{merge, status};
use workload_suite::inside::{Inside, Reply, fault, paused, word};

use crate::moving::{running, starting, stopped};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a35_a_version_that_is_too_old_ends_no_wait() {
    paused(async {
        let (before, after) = (starting(2, vec![]), running(2));
        let expired = status(410, "Expired", "too old resource version: 1 (2)", json!({}));
        let mut gone = false;
        let inside = Inside::scripted(move |asked| match (asked.verb, asked.nth) {
            ("WATCH", 0) => Reply::watch([(SECOND, json!({"type": "ERROR", "object": expired}))]),
            ("WATCH", 1) => {
                gone = true;
                Reply::json(410, &expired)
            }
            _ if gone => after.answer(asked),
            _ => before.answer(asked),
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        let about_it = inside.words().iter().filter(|word| *word == "GET app" || word.starts_with("WATCH")).count();
        assert!(about_it < 10, "{:?}", inside.words());
    });
}

#[test]
fn a36_a_watch_that_is_silent_for_ever_hides_nothing() {
    paused(async {
        let (before, after) = (starting(2, vec![]), running(2));
        let inside = Inside::scripted(move |asked| match asked.verb {
            "WATCH" => Reply::open_watch([]),
            _ if asked.at > 20 * SECOND => after.answer(asked),
            _ => before.answer(asked),
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed <= 27 * SECOND, "{:?}", report.elapsed);
    });
}

#[test]
fn a37_a_watch_that_always_closes_hides_nothing() {
    paused(async {
        let gone = stopped();
        let mut left = stopped();
        left.pods = running(2).pods;
        let inside = Inside::scripted(move |asked| match asked.verb {
            "WATCH" => Reply::quiet_watch(Duration::from_millis(100)),
            _ if asked.at > SECOND => gone.answer(asked),
            _ => left.answer(asked),
        })
        .await;
        let report = inside.stop(&[APP]).await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(report.elapsed <= 3 * SECOND && inside.requests().len() < 20, "{:?}", inside.words());
    });
}

/// Whatever it is, for ever: never that it is missing, and never another state.
#[rstest]
#[case::page_for_404(|| Reply::html(404), "malformed")]
#[case::text_for_404(|| Reply::text(404, "404 page not found"), "malformed")]
#[case::not_of_this_object(|| Reply::not_found("another"), "malformed")]
#[case::no_details(|| Reply::status(404, "NotFound", "the server could not find the requested resource"), "malformed")]
#[case::another_kind(|| Reply::bytes(200, r#"{"kind":"Status","apiVersion":"v1","metadata":{}}"#), "malformed")]
#[case::empty_object(|| Reply::bytes(200, "{}"), "malformed")]
#[case::half(|| Reply::bytes(200, r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"#), "malformed")]
#[case::cut(|| Reply::cut(200, &json!({"kind": "Deployment"})), "malformed")]
#[case::not_utf8(|| Reply::bytes(200, vec![0xff, 0xfe, 0x00]), "malformed")]
#[case::gateway_json(|| Reply::bytes(404, r#"{"message":"no Route matched with those values"}"#), "malformed")]
#[case::refused(|| Reply::failure(Failure::Unreachable), "unreachable")]
#[case::reset(|| Reply::failure(Failure::Lost), "unreachable")]
#[case::silent(Reply::never, "unreachable")]
fn a40_an_answer_that_is_none_is_unknown(#[case] reply: fn() -> Reply, #[case] reason: &str) {
    paused(async {
        let inside = Inside::scripted(move |_| reply()).await;
        assert_eq!(word(&inside.status(&[APP]).await, APP), format!("unknown {reason}"));
        assert!(inside.requests().len() <= 3, "{:?}", inside.words());
    });
}

#[rstest]
#[case::page_for_404(404, "unknown malformed")]
#[case::page(200, "unknown malformed")]
#[case::moved(302, "unknown malformed")]
#[case::unauthorized(401, "unknown unauthorized")]
#[case::forbidden(403, "unknown forbidden")]
#[case::throttled(429, "unknown throttled")]
#[case::gateway(502, "unknown unreachable")]
fn a40_a_page_is_unknown(#[case] code: u16, #[case] expected: &str) {
    paused(async {
        let inside = Inside::scripted(move |_| Reply::html(code)).await;
        assert_eq!(word(&inside.status(&[APP]).await, APP), expected);
        assert!(inside.requests().len() <= 3, "{:?}", inside.words());
    });
}

#[rstest]
#[case::empty("")]
#[case::no_name("ns/")]
#[case::dots("..")]
#[case::path("ns/../secrets/x")]
#[case::query("ns/a?b")]
#[case::subresource("ns/a/scale")]
#[case::encoded("ns/a%2Fscale")]
#[case::fragment("ns/a#b")]
#[case::upper("ns/App")]
#[case::space("ns/a b")]
#[case::nul("ns/a\0")]
fn a40_an_invalid_id_costs_no_request(#[case] id: &str) {
    paused(async {
        let inside = Inside::scripted(|asked| panic!("nobody is to be asked: {asked:?}")).await;
        for report in [
            inside.status(&[id]).await,
            inside.start(&[id]).await,
            inside.stop(&[id]).await,
            inside.delete(&[id]).await,
        ] {
            assert_eq!(report.settled.len(), 1);
            assert_eq!(report.settled[0].result.as_ref().unwrap_err().kind, FaultKind::InvalidId);
        }
        assert_eq!(inside.words(), Vec::<String>::new());
    });
}

#[test]
fn b04_3_a_server_that_is_away_for_a_moment_is_asked_again() {
    paused(async {
        let still = running(2);
        let inside = Inside::scripted(move |asked| match (asked.verb, asked.nth) {
            ("GET", 0 | 1) => Reply::status(503, "ServiceUnavailable", "apiserver is shutting down"),
            _ => still.answer(asked),
        })
        .await;
        assert_eq!(word(&inside.start(&[APP]).await, APP), "already-running");
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn b04_3_a_server_that_stays_away_is_unknown() {
    paused(async {
        let inside = Inside::scripted(|_| Reply::status(503, "ServiceUnavailable", "no")).await;
        assert_eq!(word(&inside.status(&[APP]).await, APP), "unknown unreachable");
        let report = inside.within(30 * SECOND).start(&[APP]).await;
        assert_eq!((fault(&report, APP).kind, report.elapsed.as_secs()), (FaultKind::Timeout, 30));
        assert_eq!(inside.writes(), []);
    });
}

/// A 404 that is a page is no reason to make another one.
#[test]
fn b04_4_a_page_for_404_makes_nothing() {
    paused(async {
        let inside = Inside::scripted(|_| Reply::html(404)).await;
        let report = inside.within(10 * SECOND).start(&[APP]).await;
        assert_ne!(fault(&report, APP).kind, FaultKind::NotFound);
        assert_eq!(inside.writes(), []);
    });
}

/// A read from before our own write must not count: the counters are those of the generation before.
#[test]
fn k8s_97294_a_stale_read_is_not_believed() {
    paused(async {
        let before = stopped();
        let (mut written, mut stale) = (None, running(2));
        merge(&mut stale.deployment, &json!({"metadata": {"generation": 2}}));
        let after = running(3);
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = Some(asked.at);
                return Reply::json(200, &workload_suite::inside::objects::scale(&before.deployment, 1));
            }
            match written {
                None => before.answer(asked),
                Some(at) if asked.at < at + 10 * SECOND => stale.answer(asked),
                Some(_) => after.answer(asked),
            }
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed >= 10 * SECOND, "{:?}", report.elapsed);
    });
}
