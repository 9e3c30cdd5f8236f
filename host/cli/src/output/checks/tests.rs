use super::*;
use crate::output::style::Paint;
use rstest::rstest;
use serde_json::json;
use workload_host::model::FaultKind;

fn check(name: CheckName, fault: Option<FaultKind>) -> Check {
    let result = if fault.is_some() { CheckResult::Failed } else { CheckResult::Ok };
    let detail = vec![("verb".to_owned(), "get".to_owned())];
    Check { name, result, message: "what it is; what to do".to_owned(), detail, fault }
}

#[rstest]
#[case::well(&[None, None], 0)]
#[case::kubeconfig(&[Some(FaultKind::Configuration)], 2)]
#[case::credential(&[None, Some(FaultKind::Unauthorized)], 4)]
#[case::permission(&[Some(FaultKind::Unauthorized), Some(FaultKind::Forbidden)], 5)]
#[case::out_of_reach(&[Some(FaultKind::Unavailable), Some(FaultKind::Forbidden)], 6)]
#[case::no_api_server(&[Some(FaultKind::Malformed)], 1)]
fn the_worst_counts(#[case] faults: &[Option<FaultKind>], #[case] code: u8) {
    let checks: Vec<_> = faults.iter().map(|fault| check(CheckName::Server, *fault)).collect();
    assert_eq!(exit(&checks) as u8, code);
}

#[test]
fn a_document() {
    let checks = [check(CheckName::Tls, None), check(CheckName::Permission, Some(FaultKind::Forbidden))];
    let expected = json!({"checks": [
        {"check": "tls", "result": "ok", "message": "what it is; what to do", "detail": {"verb": "get"}},
        {
            "check": "permission", "result": "failed", "message": "what it is; what to do", "detail": {"verb": "get"},
            "fault": "forbidden",
        },
    ]});
    assert_eq!(serde_json::to_value(document(&checks)).unwrap(), expected);
}

#[test]
fn a_line_each() {
    let mut checks = [check(CheckName::Tls, None), check(CheckName::Permission, Some(FaultKind::Forbidden))];
    checks[1].message = "torn\nin two".to_owned();
    let expected = "\
RESULT  CHECK       MESSAGE
ok      tls         what it is; what to do
failed  permission  torn\\u{a}in two
";
    assert_eq!(table(&checks, Look { width: None, paint: Paint(false) }), expected);
}

#[rstest]
#[case::missing(CheckName::Permission, Some(FaultKind::Forbidden), true)]
#[case::there(CheckName::Permission, None, false)]
#[case::another(CheckName::Identity, Some(FaultKind::Unauthorized), false)]
fn permissions_that_are_missing(#[case] name: CheckName, #[case] fault: Option<FaultKind>, #[case] expected: bool) {
    assert_eq!(misses_permissions(&[check(name, fault)]), expected);
}
