use rstest::rstest;
use serde_json::json;
use workload_guest::testing::response;

use super::*;

fn web() -> Target {
    Target::parse("default/web").unwrap()
}

fn status(reason: &str, details: serde_json::Value) -> String {
    json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "reason": reason, "message": "m", "details": details})
        .to_string()
}

fn not_found(kind: &str, name: &str) -> String {
    status("NotFound", json!({"kind": kind, "name": name, "group": "apps"}))
}

fn invalid(by: &str) -> Class {
    let body = json!({"kind": "Status", "reason": by}).to_string();
    Class::Invalid(Refusal::of_fields(&ServerStatus::decode(body.as_bytes()).unwrap()))
}

/// As a real API server and what stands before one answer a GET of default/web.
#[rstest]
#[case::missing(404, not_found("deployments", "web"), Class::Missing, FaultKind::NotFound, None)]
#[case::another_name(404, not_found("deployments", "other"), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::another_kind(404, not_found("namespaces", "web"), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::no_details(404, status("NotFound", json!({})), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::another_reason(404, status("Gone", json!({"kind": "deployments", "name": "web"})), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::text_404(404, "404 page not found\n".into(), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::gateway_404(404, r#"{"message":"no Route matched"}"#.into(), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::code_in_the_body(200 + 300, not_found("deployments", "web"), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
#[case::unauthorized(401, status("Unauthorized", json!(null)), Class::Unauthorized, FaultKind::Unauthorized, Some("unauthorized"))]
#[case::unauthorized_html(401, "<html>".into(), Class::Unauthorized, FaultKind::Unauthorized, Some("unauthorized"))]
#[case::forbidden(403, status("Forbidden", json!({"kind": "deployments"})), Class::Forbidden(None), FaultKind::Forbidden, Some("forbidden"))]
#[case::forbidden_html(403, "<html>".into(), Class::Forbidden(None), FaultKind::Forbidden, Some("forbidden"))]
#[case::terminating(403, status("Forbidden", json!({"causes": [{"reason": "NamespaceTerminating"}]})), Class::Terminating, FaultKind::Forbidden, Some("forbidden"))]
#[case::redirect(302, String::new(), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::not_acceptable(406, status("NotAcceptable", json!({})), Class::Malformed, FaultKind::Malformed, Some("malformed"))]
#[case::timeout(408, String::new(), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
#[case::conflict(409, status("Conflict", json!({"kind": "deployments/scale"})), Class::Conflict, FaultKind::Conflict, Some("malformed"))]
#[case::exists(409, status("AlreadyExists", json!({})), Class::Exists, FaultKind::Conflict, Some("malformed"))]
#[case::expired(410, status("Expired", json!(null)), Class::Expired, FaultKind::Malformed, Some("malformed"))]
#[case::other_uid(422, status("Invalid", json!({"causes": [{"field": "metadata.uid"}]})), Class::Conflict, FaultKind::Conflict, Some("malformed"))]
#[case::invalid(422, status("Invalid", json!({"causes": [{"field": "spec", "reason": "R"}]})), invalid("spec (R)"), FaultKind::Malformed, Some("malformed"))]
#[case::bad_request(400, status("BadRequest", json!(null)), invalid("BadRequest"), FaultKind::Malformed, Some("malformed"))]
#[case::throttled(429, "busy".into(), Class::Throttled, FaultKind::Unavailable, Some("throttled"))]
#[case::internal(500, status("InternalError", json!({})), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
#[case::bad_gateway(502, "<html>".into(), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
#[case::unavailable(503, status("ServiceUnavailable", json!({})), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
#[case::gateway(504, String::new(), Class::Unreachable, FaultKind::Unavailable, Some("unreachable"))]
fn answers(
    #[case] code: u16,
    #[case] body: String,
    #[case] class: Class,
    #[case] kind: FaultKind,
    #[case] reason: Option<&str>,
) {
    let trouble = classify(&Action::on("get", &web()), Ok(response(code, body))).unwrap_err();
    assert_eq!((&trouble.class, trouble.code), (&class, Some(code)));
    assert_eq!((trouble.fault().kind, trouble.reason()), (kind, reason));
    let message = trouble.fault().message;
    assert!(!message.is_empty() && !message.ends_with('.'), "{message}");
}

#[rstest]
#[case::denied(Failure::Denied, FaultKind::Denied, None, false)]
#[case::timeout(Failure::Timeout, FaultKind::Unavailable, Some("unreachable"), true)]
#[case::too_large(Failure::TooLarge, FaultKind::Malformed, Some("malformed"), true)]
#[case::unreachable(Failure::Unreachable, FaultKind::Unavailable, Some("unreachable"), false)]
#[case::redirect(Failure::RedirectRefused, FaultKind::Malformed, Some("malformed"), true)]
#[case::cancelled(Failure::Cancelled, FaultKind::Cancelled, None, false)]
#[case::bad(Failure::BadResponse, FaultKind::Malformed, Some("malformed"), true)]
#[case::lost(Failure::Lost, FaultKind::Unavailable, Some("unreachable"), true)]
#[case::unsupported(Failure::Unsupported, FaultKind::Unsupported, None, false)]
fn failures(#[case] failure: Failure, #[case] kind: FaultKind, #[case] reason: Option<&str>, #[case] uncertain: bool) {
    let trouble = classify(&Action::scale(&web()), Err(failure)).unwrap_err();
    assert_eq!((trouble.fault().kind, trouble.reason(), trouble.is_uncertain()), (kind, reason, uncertain));
}

#[rstest]
#[case::ok(200)]
#[case::created(201)]
#[case::accepted(202)]
fn what_succeeds(#[case] code: u16) {
    assert!(classify(&Action::on("get", &web()), Ok(response(code, ""))).is_ok());
}

#[test]
fn a_namespace_is_missing_only_for_what_is_made_in_it() {
    let answer = || Ok(response(404, not_found("namespaces", "nowhere")));
    let create = classify(&Action::create("nowhere"), answer()).unwrap_err();
    assert_eq!(create.class, Class::NoNamespace);
    let list = classify(&Action::list(Resource::Pods, Some("nowhere")), answer()).unwrap_err();
    assert_eq!(list.class, Class::Malformed);
}

#[test]
fn when_to_come_back_is_in_the_header_or_the_body() {
    let body = status("TooManyRequests", json!({"retryAfterSeconds": 3}));
    let mut answer = response(429, body);
    let after = |answer: &Response| classify(&Action::create("n"), Ok(answer.clone())).unwrap_err().retry_after_ms;
    assert_eq!(after(&answer), Some(3_000));
    answer.retry_after_ms = Some(1_500);
    assert_eq!(after(&answer), Some(1_500));
}

#[rstest]
#[case::quota("is forbidden: exceeded quota: q")]
#[case::webhook("admission webhook \"w\" denied the request: no")]
#[case::policy("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")]
fn a_refusal_that_is_no_permission_says_why(#[case] message: &str) {
    let body = json!({"kind": "Status", "reason": "Forbidden", "message": message}).to_string();
    let trouble = classify(&Action::create("n"), Ok(response(403, body))).unwrap_err();
    assert!(trouble.fault().message.ends_with(message), "{}", trouble.fault().message);
}

#[test]
fn a_namespace_that_is_not_there_is_not_malformed() {
    let trouble = classify(&Action::create("n"), Ok(response(404, not_found("namespaces", "n")))).unwrap_err();
    assert_eq!((trouble.fault().kind, trouble.reason()), (FaultKind::NotFound, None));
}

/// An admission policy in the server answers 422, with its words in the message and in a cause without a field.
#[test]
fn what_a_policy_says_is_told_unless_it_repeats_a_value() {
    let said = "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no hunter2 here";
    let body = json!({"kind": "Status", "reason": "Invalid", "message": format!("deployments.apps \"web\" is forbidden: {said}"),
        "details": {"causes": [{"message": said}]}});
    let mut trouble = classify(&Action::create("n"), Ok(response(422, body.to_string()))).unwrap_err();
    assert_eq!(trouble.fault().kind, FaultKind::InvalidSpec);
    assert!(trouble.fault().message.ends_with(said), "{}", trouble.fault().message);
    trouble.withhold(|| Some(vec!["hunter2".to_owned()]));
    assert!(!trouble.fault().message.contains("hunter2"));
    assert!(trouble.fault().message.contains("'p' with binding 'b' denied request"));
}

#[test]
fn how_long_to_stay_away_is_told() {
    let answer = Response { retry_after_ms: Some(3_600_000), ..response(429, "busy") };
    let fault = classify(&Action::create("n"), Ok(answer)).unwrap_err().fault();
    assert!(fault.message.ends_with("asks to come back in 1h0m0s"), "{}", fault.message);
    assert!(fault.detail.contains(&("retry-after".to_owned(), "1h0m0s".to_owned())));
}
