//! Cases of a create: whose it is that is there, and what an uncertain answer left behind.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::model::{Failure, FaultKind};
use workload_suite::inside::objects::{deployment, merge, status};
use workload_suite::inside::{Asked, Inside, Reply, fault, outcome, paused, word};

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

fn spec() -> Value {
    json!({"image": "app:1"})
}

fn exists() -> Reply {
    let details = json!({"name": "app", "group": "apps", "kind": "deployments"});
    Reply::json(409, &status(409, "AlreadyExists", "deployments.apps \"app\" already exists", details))
}

/// What a server keeps of what was sent.
fn kept(asked: &Asked) -> Value {
    let mut object = asked.body.clone();
    let metadata = json!({"uid": "d1", "resourceVersion": "1", "generation": 1, "namespace": "ns"});
    merge(&mut object, &json!({"metadata": metadata, "status": {}}));
    object
}

fn words(inside: &Inside) -> Vec<String> {
    inside.writes().iter().map(Asked::word).collect()
}

/// One exact read settles whose it is, and a person is told what to do about it.
#[rstest]
#[case::a_of_another_owner(json!({"metadata": {"labels": {"workload-provider/owner": "other"}}}), "is not ours")]
#[case::b_of_nobody(json!({"metadata": {"labels": null}}), "is not ours")]
#[case::e_of_an_earlier_run(json!({}), "is ours")]
fn b05_whose_it_is_that_exists_is_told(#[case] change: Value, #[case] whose: &str) {
    paused(async {
        let object = deployment(change);
        let inside = Inside::scripted(move |asked| match asked.verb {
            "POST" => exists(),
            _ => Reply::json(200, &object),
        })
        .await;
        let report = inside.create(&[(APP, spec())]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Conflict);
        assert!(fault.message.contains(whose), "{}", fault.message);
        assert_eq!(inside.words(), ["POST deployments", "GET app"]);
    });
}

/// It took effect, and the answer was lost: only what has the mark of this very attempt was made by it.
#[rstest]
#[case::d_ours(true, "created", 1)]
#[case::of_another_attempt(false, "conflict", 1)]
fn b05_after_an_uncertain_create_the_attempt_decides(#[case] ours: bool, #[case] expected: &str, #[case] posts: usize) {
    for lost in [|| Reply::failure(Failure::Lost), || Reply::text(504, "upstream request timeout")] {
        paused(async {
            let mut there = None;
            let inside = Inside::scripted(move |asked| match asked.verb {
                "POST" => {
                    let mut object = kept(asked);
                    if !ours {
                        merge(&mut object, &json!({"metadata": {"annotations": {"workload-provider/attempt": "0f"}}}));
                    }
                    there = Some(object);
                    lost()
                }
                _ => there.as_ref().map_or_else(|| Reply::not_found("app"), |object| Reply::json(200, object)),
            })
            .await;
            let report = inside.create(&[(APP, spec())]).await;
            assert_eq!(word(&report, APP), expected);
            assert_eq!(words(&inside), vec!["POST deployments"; posts]);
            if ours {
                let outcome = outcome(&report, APP).unwrap();
                assert_eq!((outcome.changed, outcome.workload.as_ref().unwrap().uid.as_deref()), (true, Some("d1")));
            }
        });
    }
}

/// Nothing took effect: it is sent again, and the second one is ours as well.
#[test]
fn b05_what_did_not_take_effect_is_sent_again() {
    paused(async {
        let inside = Inside::scripted(|asked| match (asked.verb, asked.nth) {
            ("POST", 0) => Reply::failure(Failure::Lost),
            ("POST", _) => Reply::json(201, &kept(asked)),
            _ => Reply::not_found("app"),
        })
        .await;
        assert_eq!(word(&inside.create(&[(APP, spec())]).await, APP), "created");
        assert_eq!(inside.words(), ["POST deployments", "GET app", "POST deployments"]);
        let bodies: Vec<Value> = inside.writes().into_iter().map(|write| write.body).collect();
        assert_eq!(bodies[0], bodies[1], "with the mark of the same attempt");
    });
}

/// Whether it was made is not known, and a page for the 404 is no reason to make another one.
#[test]
fn b04_4_a_page_for_404_makes_no_second_one() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.verb {
            "POST" => Reply::text(504, "upstream request timeout"),
            _ => Reply::html(404),
        })
        .await;
        let report = inside.within(10 * SECOND).create(&[(APP, spec())]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Malformed);
        assert!(fault.message.contains("ns/app may or may not have been created"), "{}", fault.message);
        assert_eq!(words(&inside), ["POST deployments"]);
    });
}

/// An id that would be routed elsewhere is as invalid for what is made as for what is there.
#[rstest]
#[case::empty("")]
#[case::no_name("ns/")]
#[case::dots("..")]
#[case::path("ns/../secrets/x")]
#[case::query("ns/a?b")]
#[case::subresource("ns/a/scale")]
#[case::dotted("ns/a.b")]
fn a40_an_invalid_id_makes_nothing(#[case] id: &str) {
    paused(async {
        let inside = Inside::scripted(|asked| panic!("nobody is to be asked: {asked:?}")).await;
        let report = inside.create(&[(id, spec())]).await;
        assert_eq!(report.settled[0].result.as_ref().unwrap_err().kind, FaultKind::InvalidId);
    });
}

/// A conflict of the server's own bookkeeping, again and again: it is given up, and told as what it is.
#[test]
fn b16_3_a_conflict_that_stays_is_told() {
    paused(async {
        let inside = Inside::scripted(|_| {
            let details = json!({"name": "q", "kind": "resourcequotas"});
            Reply::json(409, &status(409, "Conflict", "the object has been modified", details))
        })
        .await;
        let report = inside.create(&[(APP, spec())]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Conflict);
        assert_eq!(words(&inside), ["POST deployments"; 3]);
    });
}
