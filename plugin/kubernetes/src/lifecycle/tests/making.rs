use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::testing::{Reply, json as answer, text};
use workload_guest::{Failure, FaultKind, OutcomeWord, Spec, Status};

use super::world::{World, missing, refused};
use super::*;

/// What the server made of the body of a request.
fn stored(asked: &Asked) -> Value {
    let mut object: Value = serde_json::from_slice(asked.body().unwrap()).unwrap();
    object["metadata"]["uid"] = json!("uid-new");
    object["metadata"]["generation"] = json!(1);
    object
}

#[test]
fn it_is_made_and_not_waited_for() {
    let run = drive(create(), |asked| World::empty().answer(asked));
    let outcome = run.outcome(WEB).unwrap();
    let workload = outcome.workload.clone().unwrap();
    assert_eq!((outcome.word, outcome.changed), (OutcomeWord::Created, true));
    assert_eq!((workload.status, workload.uid.as_deref()), (Status::Creating, Some("uid-new")));
    assert_eq!(words(&run), ["POST"]);
}

/// The first answer is lost after it took effect, or before; or somebody else made it at the same time.
#[rstest]
#[case::took_effect(true, false, Ok(()), &["POST", "GET web"])]
#[case::had_none(false, false, Ok(()), &["POST", "GET web", "POST"])]
#[case::somebody_else(false, true, Err(FaultKind::Conflict), &["POST", "GET web"])]
fn an_uncertain_answer_is_looked_into(
    #[case] took_effect: bool,
    #[case] other: bool,
    #[case] want: Result<(), FaultKind>,
    #[case] requests: &[&str],
) {
    for lost in [Reply::Fail(Failure::Lost), Reply::Fail(Failure::Timeout), text(504, "")] {
        let mut made: Option<Value> = None;
        let mut posts = 0;
        let run = drive(create(), |asked| match asked.method() {
            Some(Method::Post) => {
                posts += 1;
                if posts == 1 {
                    made = took_effect.then(|| stored(asked));
                    if other {
                        let mut object = stored(asked);
                        object["metadata"]["annotations"]["workload-provider/attempt"] = json!("another");
                        made = Some(object);
                    }
                    return lost.clone();
                }
                made = Some(stored(asked));
                answer(201, made.clone().unwrap())
            }
            _ => made.as_ref().map_or_else(|| missing("web"), |object| answer(200, object)),
        });
        let result = run.result(WEB).unwrap();
        match want {
            Ok(()) => assert_eq!(result.as_ref().unwrap().word, OutcomeWord::Created),
            Err(kind) => assert_eq!(result.as_ref().unwrap_err().kind, kind),
        }
        assert_eq!(words(&run), requests);
    }
}

/// What is between answers everything with a page.
#[test]
fn a_page_is_no_other_deployment() {
    let run = drive(create(), |_| text(200, "<html>please log in</html>"));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Malformed);
    assert!(fault.message.starts_with("default/web may or may not have been created: "), "{}", fault.message);
    assert!(fault.detail.contains(&("reason".to_owned(), "malformed".to_owned())), "{:?}", fault.detail);
    assert_eq!(words(&run), ["POST", "GET web", "GET web", "GET web"]);
}

/// Whose it is is only told, and nothing depends on it.
#[test]
fn what_exists_and_cannot_be_read_is_left_alone_too() {
    let run = drive(create(), |_| refused(409, "AlreadyExists", "web"));
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, FaultKind::Conflict);
    assert_eq!(fault.message, "there is a Deployment default/web already; it was left as it is");
    assert_eq!(words(&run), ["POST", "GET web"]);
}

#[rstest]
#[case::no_namespace(
    answer(404, json!({"kind": "Status", "reason": "NotFound", "details": {"name": "default", "kind": "namespaces"}})),
    FaultKind::NotFound,
    "there is no namespace default"
)]
#[case::terminating(
    answer(403, json!({"kind": "Status", "reason": "Forbidden", "details": {"causes": [{"reason": "NamespaceTerminating"}]}})),
    FaultKind::Forbidden,
    "namespace default is being deleted"
)]
#[case::invalid(
    answer(422, json!({"kind": "Status", "reason": "Invalid", "message": "Invalid value: hunter2",
        "details": {"causes": [{"field": "spec.replicas", "reason": "FieldValueInvalid", "message": "hunter2"}]}})),
    FaultKind::InvalidSpec,
    "spec.replicas (FieldValueInvalid)"
)]
#[case::denied(Reply::Fail(Failure::Denied), FaultKind::Denied, "the host's policy does not allow it")]
fn a_refusal_is_final(#[case] reply: Reply, #[case] kind: FaultKind, #[case] words_of_it: &str) {
    let run = drive(create(), |_| reply.clone());
    let fault = run.fault(WEB).unwrap();
    assert_eq!(fault.kind, kind);
    assert!(fault.message.contains(words_of_it), "{}", fault.message);
    assert!(!fault.message.contains("hunter2"));
    assert_eq!(words(&run), ["POST"]);
}

#[test]
fn a_wrong_document_costs_no_request() {
    let spec = Spec { id: WEB.to_owned(), document: "{}".to_owned(), id_label: None };
    let run = drive(Call::Create(vec![spec]), |asked| World::empty().answer(asked));
    let fault = run.fault(WEB).unwrap();
    assert_eq!((fault.kind, &*fault.message), (FaultKind::InvalidSpec, "$.image is missing"));
    assert!(run.asked.is_empty());
}

/// Two creates that meet in one quota: the server says conflict, and means the quota.
#[test]
fn a_conflict_with_another_create_is_tried_again() {
    let mut posts = 0;
    let run = drive(create(), |asked| {
        posts += 1;
        if posts < 3 { refused(409, "Conflict", "quota") } else { World::empty().answer(asked) }
    });
    assert!(run.outcome(WEB).is_some());
    assert_eq!(words(&run), ["POST"; 3]);
    let run = drive(create(), |_| refused(409, "Conflict", "quota"));
    assert_eq!(run.fault(WEB).unwrap().kind, FaultKind::Conflict);
    assert_eq!(words(&run), ["POST"; 3]);
}

/// Whoever refuses it has seen it whole. A quota's own words hold names and counts.
#[rstest]
#[case::webhook(
    403,
    "admission webhook \"w\" denied the request: PASS is hunter2",
    "admission webhook \"w\" denied the request"
)]
#[case::policy(
    422,
    "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no hunter2",
    "'p' with binding 'b' denied request"
)]
#[case::quota(403, "is forbidden: exceeded quota: q, requested: pods=1", "exceeded quota: q, requested: pods=1")]
#[case::fields(422, "env[0].value: Invalid value: \"hunter2\"", "the server finds it invalid")]
fn no_refusal_repeats_an_environment_value(#[case] code: u16, #[case] said: &str, #[case] told: &str) {
    let document = r#"{"image":"nginx:1","env":{"PASS":"hunter2"}}"#.to_owned();
    let call = Call::Create(vec![Spec { id: WEB.to_owned(), document, id_label: None }]);
    let run = drive(call, |_| answer(code, json!({"kind": "Status", "reason": "Invalid", "message": said})));
    let fault = run.fault(WEB).unwrap();
    assert!(fault.message.contains(told), "{}", fault.message);
    assert!(!format!("{fault:?} {:?} {:?}", run.progress, run.emitted).contains("hunter2"));
}
