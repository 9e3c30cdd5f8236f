//! What the server says of itself, of us, and of a namespace.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use super::{Check, CheckName};
use crate::limits::{TEXT, WORD};
use crate::model::FaultKind;
use crate::text::{clean, span};
use crate::transport::{Answered, Probe, Trouble};

/// How far two clocks may be apart without a word: less matters to no credential.
const SKEW: Duration = Duration::from_secs(60);

/// Who nobody is.
const ANONYMOUS: &str = "system:anonymous";

/// The document of an answer, and what it is by itself.
fn document(answered: &Answered) -> Option<(Value, String)> {
    let value: Value = serde_json::from_slice(&answered.body).ok()?;
    let kind = text(&value, "/kind");
    Some((value, kind))
}

/// A text within a document, fit to be shown; empty if it is not there.
fn text(value: &Value, pointer: &str) -> String {
    clean(value.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned(), WORD)
}

/// Whether the answer is a Kubernetes error: nobody else writes those.
fn is_status(answered: &Answered) -> bool {
    document(answered).is_some_and(|(_, kind)| kind == "Status")
}

/// From the answer to `/version`.
pub(super) fn server(probe: &Probe<'_>, answered: &Answered) -> Check {
    let at = probe.authority();
    let found = document(answered).map(|(value, _)| (text(&value, "/gitVersion"), text(&value, "/platform")));
    match (answered.status, found) {
        (200, Some((version, platform))) if !version.is_empty() => {
            let message = format!("Kubernetes {version} on {platform}");
            Check::ok(CheckName::Server, message).with("version", version).with("platform", platform)
        }
        // Its version is none of our business, but nothing else says it like that.
        (status @ (401 | 403), _) if is_status(answered) => {
            let message = format!("a Kubernetes API server, which does not tell its version ({status})");
            Check::ok(CheckName::Server, message)
        }
        (status @ (429 | 500..=599), _) => {
            let message = format!("it answers {status}: is it starting, overloaded, or a proxy without a server?");
            Check::failed(CheckName::Server, FaultKind::Unavailable, message).with("status", status.to_string())
        }
        (status, _) => {
            let page = answered.body.trim_ascii_start().starts_with(b"<");
            let what = if page { "a page for a browser" } else { "something else" };
            let message =
                format!("{at} answers, but with {what} ({status}): it is no Kubernetes API server, or not there");
            Check::failed(CheckName::Server, FaultKind::Malformed, message).with("status", status.to_string())
        }
    }
}

/// Our clock beside the server's.
pub(super) fn clock(date_ms: Option<u64>, now: SystemTime) -> Check {
    let Some(date_ms) = date_ms else {
        return Check::skipped(CheckName::Clock, "the server does not tell its time");
    };
    let ours = now.duration_since(UNIX_EPOCH).unwrap_or_default();
    let theirs = Duration::from_millis(date_ms);
    let (apart, which) = if ours > theirs { (ours - theirs, "ahead of") } else { (theirs - ours, "behind") };
    if apart <= SKEW {
        return Check::ok(CheckName::Clock, "as the server's, within a minute");
    }
    let apart = Duration::from_secs(apart.as_secs());
    let message = format!("this machine's is {} {which} the server's: credentials may be refused for it", span(apart));
    Check::note(CheckName::Clock, message).with("apart-seconds", apart.as_secs().to_string())
}

/// Whom the server takes us for.
pub(super) async fn identity(probe: &Probe<'_>) -> Result<Check, Trouble> {
    let review = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let answered = probe.post("/apis/authentication.k8s.io/v1/selfsubjectreviews", &review).await?;
    let name = CheckName::Identity;
    let found = document(&answered).filter(|(_, kind)| kind == "SelfSubjectReview").map(|(value, _)| value);
    Ok(match (answered.status, found) {
        (200 | 201, Some(found)) => {
            let user = text(&found, "/status/userInfo/username");
            let groups = found.pointer("/status/userInfo/groups").and_then(Value::as_array);
            let groups = groups.map(|groups| groups.iter().filter_map(Value::as_str).collect::<Vec<_>>());
            let groups = clean(groups.unwrap_or_default().join(", "), TEXT);
            let check = if user == ANONYMOUS {
                Check::note(name, "nobody: the server takes no credential of ours, but lets anyone in")
            } else {
                Check::ok(name, format!("{user}, of the groups {groups}"))
            };
            check.with("user", user).with("groups", groups)
        }
        (401, _) => unauthorized(name),
        (status @ 403..=405, _) => {
            let why = if status == 403 { "we may not ask" } else { "it is older than 1.28" };
            Check::skipped(name, format!("the server does not tell: {why}"))
        }
        (status, _) => unexpected(name, status),
    })
}

/// Whether a namespace is there, if we may look.
pub(super) async fn namespace(probe: &Probe<'_>, name: &str) -> Result<Check, Trouble> {
    let answered = probe.get(&format!("/api/v1/namespaces/{name}")).await?;
    let phase = document(&answered).filter(|(_, kind)| kind == "Namespace").map(|(v, _)| text(&v, "/status/phase"));
    let check = match (answered.status, phase) {
        (200, Some(phase)) if phase == "Terminating" => {
            Check::note(CheckName::Namespace, format!("{name} is being deleted: nothing can be created in it"))
        }
        (200, Some(_)) => Check::ok(CheckName::Namespace, format!("{name} is there")),
        (403, _) => Check::skipped(
            CheckName::Namespace,
            format!("whether {name} is there is not known: we may not look, nor need to"),
        ),
        (404, _) if is_status(&answered) => {
            let message = format!("there is no namespace {name}: create it, or name another with --namespace");
            Check::failed(CheckName::Namespace, FaultKind::NotFound, message)
        }
        (401, _) => unauthorized(CheckName::Namespace),
        (status, _) => unexpected(CheckName::Namespace, status),
    };
    Ok(check.with("namespace", name))
}

pub(super) fn unauthorized(name: CheckName) -> Check {
    let message = "the server does not accept the credential (401): is it of this cluster, and still good?";
    Check::failed(name, FaultKind::Unauthorized, message)
}

/// An answer that is none to what was asked.
pub(super) fn unexpected(name: CheckName, status: u16) -> Check {
    let fault = if matches!(status, 429 | 500..=599) { FaultKind::Unavailable } else { FaultKind::Malformed };
    let message =
        format!("the server gives no answer that makes sense ({status}): is it overloaded, or no API server?");
    Check::failed(name, fault, message).with("status", status.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::CheckResult;
    use rstest::rstest;

    #[rstest]
    #[case::same(0, CheckResult::Ok, "within a minute")]
    #[case::a_minute(60, CheckResult::Ok, "within a minute")]
    #[case::ahead(61, CheckResult::Note, "this machine's is 1m1s ahead of the server's")]
    #[case::behind(-7_200, CheckResult::Note, "this machine's is 2h0m0s behind the server's")]
    fn clocks(#[case] ahead: i64, #[case] result: CheckResult, #[case] said: &str) {
        let theirs: i64 = 1_800_000_000;
        let ours = UNIX_EPOCH + Duration::from_secs(u64::try_from(theirs + ahead).unwrap());
        let check = clock(Some(u64::try_from(theirs * 1000).unwrap()), ours);
        assert_eq!(check.result, result, "{}", check.message);
        assert!(check.message.contains(said), "{}", check.message);
        assert_eq!(check.fault, None);
    }

    #[test]
    fn no_date_is_no_clock() {
        assert_eq!(clock(None, UNIX_EPOCH).result, CheckResult::Skipped);
    }
}
