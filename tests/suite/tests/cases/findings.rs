//! What recordings of a real cluster taught about requests, by number: findings of the first kind (fa) contradicted what
//! was believed of Deployments, those of the second (fb) were not known. Those about states are tested in the provider.

mod served;
mod waits;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{Still, deployment, list, merge, scale, status};
use workload_suite::inside::{Asked, Inside, Reply, fault, outcome, paused, word};

use crate::moving::{running, stopped};

const APP: &str = "ns/app";

/// One whose controller tries no more: the error is an hour old.
fn given_up() -> Value {
    let error = json!({"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
        "message": "exceeded quota: q", "lastUpdateTime": "2026-07-01T11:00:00Z"});
    deployment(json!({"status": {"observedGeneration": null, "replicas": null, "updatedReplicas": null,
        "readyReplicas": null, "availableReplicas": null, "conditions": [error]}}))
}

fn dated(reply: Reply) -> Reply {
    reply.with("date", "Wed, 01 Jul 2026 12:00:00 GMT")
}

/// The controller gives up after 164 s: a start that has nothing to write edits an annotation, and only that.
#[test]
fn fa03_a_controller_that_gave_up_is_nudged() {
    paused(async {
        let (before, after) = (Still::of(given_up(), vec![], vec![]), running(2));
        let mut nudged = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                nudged = true;
                return dated(before.answer(&Asked { verb: "GET", ..asked.clone() }));
            }
            dated(if nudged { after.answer(asked) } else { before.answer(asked) })
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(outcome(&report, APP).unwrap().changed);
        let [write] = &inside.writes()[..] else { panic!("not one write: {:?}", inside.words()) };
        assert_eq!(write.word(), "PATCH app");
        let annotations = write.body["metadata"]["annotations"].as_object().unwrap();
        assert_eq!(annotations.keys().collect::<Vec<_>>(), ["workload-provider/nudged"]);
        assert_eq!((&write.body["metadata"]["uid"], write.body.get("spec")), (&json!("d1"), None));
    });
}

/// The same without the permission: the fault says what would help.
#[test]
fn fa03_without_the_permission_it_is_said() {
    paused(async {
        let still = Still::of(given_up(), vec![], vec![]);
        let inside = Inside::scripted(move |asked| match asked.verb {
            "PATCH" => Reply::status(403, "Forbidden", "deployments.apps \"app\" is forbidden"),
            _ => dated(still.answer(asked)),
        })
        .await;
        let report = inside.start(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::RolloutFailed);
        assert!(fault.message.contains("any edit of the Deployment would revive it"), "{}", fault.message);
    });
}

/// Another object of the name is 409 on the count and 422 on the Deployment itself.
#[rstest]
#[case::on_the_count(409, "deployments/scale", json!({}))]
#[case::on_the_object(422, "Deployment", json!({"causes": [{"reason": "FieldValueInvalid", "field": "metadata.uid"}]}))]
fn fa14_a_uid_that_does_not_match_is_another_object(#[case] code: u16, #[case] kind: &str, #[case] causes: Value) {
    paused(async {
        let nudge = code == 422;
        let before = if nudge { Still::of(given_up(), vec![], vec![]) } else { stopped() };
        let mut other = running(2);
        merge(&mut other.deployment, &json!({"metadata": {"uid": "d2"}}));
        let mut details = json!({"name": "app", "group": "apps", "kind": kind});
        merge(&mut details, &causes);
        let mut written = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = true;
                return Reply::json(
                    code,
                    &status(code, if nudge { "Invalid" } else { "Conflict" }, "uid", details.clone()),
                );
            }
            dated(if written { other.answer(asked) } else { before.answer(asked) })
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::NotFound, "{:?}", fault(&report, APP));
        assert_eq!(inside.writes().len(), 1);
    });
}

/// `/scale` leaves a zero out: the number is always sent, and what comes back is not taken for a count of one.
#[test]
fn fb01_a_count_of_zero_is_sent_and_left_out_of_the_answer() {
    paused(async {
        let (before, after) = (running(2), stopped());
        let mut written = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = true;
                let answer = scale(&before.deployment, 0);
                assert_eq!(answer["spec"], json!({}));
                return Reply::json(200, &answer);
            }
            let mut shown = if written { after.clone() } else { before.clone() };
            if written {
                merge(
                    &mut shown.deployment,
                    &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 3}}),
                );
            }
            shown.answer(asked)
        })
        .await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        assert_eq!(inside.writes()[0].body["spec"], json!({"replicas": 0}));
    });
}

/// Nobody owns the count after a stop, so that an apply of somebody else undoes it: the stop says so.
#[test]
fn fb02_a_stop_that_an_apply_undoes_is_superseded() {
    paused(async {
        let mut stopping = stopped();
        merge(&mut stopping.deployment, &json!({"metadata": {"generation": 3}, "status": {"observedGeneration": 2}}));
        let applied = running(4);
        let before = running(2);
        let mut written = None;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                written = Some(asked.at);
                return Reply::json(200, &scale(&before.deployment, 0));
            }
            match written {
                None => before.answer(asked),
                Some(at) if asked.at - at < std::time::Duration::from_secs(1) => stopping.answer(asked),
                Some(_) => applied.answer(asked),
            }
        })
        .await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "superseded");
        assert_eq!(inside.writes().len(), 1);
    });
}

/// A server decodes a name before it routes: only our own grammar protects.
#[rstest]
#[case::encoded_slash("ns/app%2Fscale")]
#[case::encoded_dots("ns/%2e%2e")]
#[case::collection("ns/")]
fn fb03_a_name_that_would_be_routed_elsewhere_is_never_sent(#[case] id: &str) {
    paused(async {
        let inside = Inside::scripted(|asked| panic!("nobody is to be asked: {asked:?}")).await;
        let report = inside.delete(&[id]).await;
        assert_eq!(report.settled[0].result.as_ref().unwrap_err().kind, FaultKind::InvalidId);
    });
}

/// A write that changes nothing keeps the generation: a wait for a higher one would never end. Here the count was written
/// by somebody else in the moment between our read and our write.
#[test]
fn fb04_a_write_that_changes_nothing_is_not_waited_for() {
    paused(async {
        let (before, mut after) = (stopped(), running(3));
        merge(&mut after.deployment, &json!({"metadata": {"resourceVersion": "200"}}));
        let mut asked_to = false;
        let inside = Inside::scripted(move |asked| {
            if asked.verb == "PATCH" {
                asked_to = true;
                return Reply::status(409, "Conflict", "the object has been modified");
            }
            if asked_to { after.answer(asked) } else { before.answer(asked) }
        })
        .await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(!outcome(&report, APP).unwrap().changed);
        assert_eq!(inside.writes().len(), 1);
    });
}

/// The kind in the details differs from verb to verb; for a 404 it is the resource, in lower case.
#[rstest]
#[case::resource("deployments", "missing not-found")]
#[case::kind("Deployment", "unknown malformed")]
#[case::another_resource("replicasets", "unknown malformed")]
#[case::subresource("deployments/scale", "unknown malformed")]
fn fb07_missing_needs_the_details_of_a_404(#[case] kind: &str, #[case] expected: &str) {
    paused(async {
        let details = json!({"name": "app", "group": "apps", "kind": kind});
        let body = status(404, "NotFound", "deployments.apps \"app\" not found", details);
        let inside = Inside::scripted(move |_| Reply::json(404, &body)).await;
        assert_eq!(word(&inside.status(&[APP]).await, APP), expected);
    });
}

/// A version from the future is a 504 that asks to come back in a second.
#[test]
fn fb08_a_version_from_the_future_is_asked_again() {
    paused(async {
        let still = running(2);
        let too_large = status(504, "Timeout", "Too large resource version", json!({"retryAfterSeconds": 1}));
        let inside = Inside::scripted(move |asked| match (asked.verb, asked.nth) {
            ("GET", 0) => Reply::json(504, &too_large),
            _ => still.answer(asked),
        })
        .await;
        let report = inside.status(&[APP]).await;
        assert_eq!(word(&report, APP), "running available");
        assert_eq!(report.elapsed.as_secs(), 1);
    });
}

/// Nobody in particular is 403, a token that is wrong is 401.
#[rstest]
#[case::anonymous(
    403,
    "Forbidden",
    "deployments.apps \"app\" is forbidden: User \"system:anonymous\"",
    "unknown forbidden"
)]
#[case::bad_token(401, "Unauthorized", "Unauthorized", "unknown unauthorized")]
fn fb09_who_is_refused_is_told(
    #[case] code: u16,
    #[case] reason: &'static str,
    #[case] message: &'static str,
    #[case] expected: &str,
) {
    paused(async {
        let inside = Inside::scripted(move |_| Reply::status(code, reason, message)).await;
        assert_eq!(word(&inside.status(&[APP]).await, APP), expected);
        assert_eq!(inside.requests().len(), 1);
    });
}

/// A namespace that is not there lists as empty, and one that is being deleted refuses to make anything.
#[test]
fn fa21_a_namespace_that_is_being_deleted_refuses_a_create() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.verb {
            "LIST" => Reply::json(200, &list("Deployment", &[])),
            _ => {
                let causes = json!([{"reason": "NamespaceTerminating", "message": "namespace ns is being terminated"}]);
                let details = json!({"name": "app", "group": "apps", "kind": "deployments", "causes": causes});
                Reply::json(403, &status(403, "Forbidden", "deployments.apps \"app\" is forbidden", details))
            }
        })
        .await;
        assert_eq!(inside.discover(&["ns"]).await.emitted.len(), 0);
        let report = inside.create(&[(APP, json!({"image": "app:1"}))]).await;
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Forbidden);
        assert!(fault.message.contains("namespace ns is being deleted"), "{}", fault.message);
    });
}
