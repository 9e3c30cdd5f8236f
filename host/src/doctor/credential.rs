//! What we show to the server.

use jiff::Timestamp;

use super::{Check, CheckName, CheckResult};
use crate::model::FaultKind;
use crate::text::span;
use crate::transport::{Credential, Origin, Validity};

/// The kinds of credential there are, and whether one says of itself that it is of no use now. The server decides by its
/// own clock, but what comes of it is hard to tell from other refusals.
pub(super) fn check(token: &Credential, origin: &Origin, now: Timestamp) -> Check {
    let certificate = origin.certificate.map(|validity| ("a client certificate".to_owned(), validity));
    let token = match token {
        Credential::None => None,
        Credential::Token(validity) => Some(("a token".to_owned(), *validity)),
        Credential::File { path, age, validity } => {
            let written = age.map(|age| format!(", written {} ago", span(age))).unwrap_or_default();
            Some((format!("the token in {}{written}", path.display()), *validity))
        }
    };
    let mut kinds = Vec::new();
    let (mut said, mut spent) = (Vec::new(), None);
    let mut check = Check::new(CheckName::Credential, CheckResult::Ok, "");
    for (kind, found) in [("client-certificate", certificate), ("token", token)] {
        let Some((what, validity)) = found else { continue };
        kinds.push(kind);
        let Validity { begins, ends } = validity;
        let (begins, ends) = (begins.filter(|begins| *begins > now), ends.map(|ends| (ends, ends <= now)));
        said.push(match (begins, ends) {
            (Some(begins), _) => {
                spent = Some("is this machine's clock behind?");
                format!("{what}, not good before {begins}")
            }
            (None, Some((ends, true))) => {
                spent = Some("get a new one");
                format!("{what}, expired on {ends}")
            }
            (None, Some((ends, false))) => format!("{what}, good until {ends}"),
            (None, None) => what,
        });
        if let Some((ends, _)) = ends {
            check = check.with(&format!("{kind}-ends"), ends.to_string());
        }
    }
    if kinds.is_empty() {
        check.message = "none: whoever listens on this machine, such as kubectl proxy, has one".to_owned();
        return check.with("kind", "none");
    }
    check.message = said.join(", and ");
    if let Some(advice) = spent {
        check.message = format!("{}: {advice}", check.message);
        check.result = CheckResult::Failed;
        check.fault = Some(FaultKind::Unauthorized);
    }
    check.with("kind", kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use std::path::PathBuf;
    use std::time::Duration;

    fn at(text: &str) -> Option<Timestamp> {
        Some(text.parse().unwrap())
    }

    fn until(ends: &str) -> Validity {
        Validity { begins: at("2026-01-01T00:00:00Z"), ends: at(ends) }
    }

    fn file(validity: Validity) -> Credential {
        Credential::File { path: PathBuf::from("/run/token"), age: Some(Duration::from_secs(185)), validity }
    }

    #[rstest]
    #[case::none(Credential::None, None, "none", Ok("none: whoever listens"))]
    #[case::token(Credential::Token(Validity::default()), None, "token", Ok("a token"))]
    #[case::web_token(
        Credential::Token(until("2026-03-01T00:00:00Z")),
        None,
        "token",
        Ok("a token, good until 2026-03-01T00:00:00Z")
    )]
    #[case::spent_token(
        Credential::Token(until("2026-01-31T23:59:59Z")),
        None,
        "token",
        Err("a token, expired on 2026-01-31T23:59:59Z: get a new one")
    )]
    #[case::file(
        file(until("2026-03-01T00:00:00Z")),
        None,
        "token",
        Ok("the token in /run/token, written 3m5s ago, good until 2026-03-01T00:00:00Z")
    )]
    #[case::certificate(
        Credential::None,
        Some(until("2027-01-01T00:00:00Z")),
        "client-certificate",
        Ok("a client certificate, good until 2027-01-01T00:00:00Z")
    )]
    #[case::future_certificate(
        Credential::None,
        Some(Validity { begins: at("2026-02-02T00:00:00Z"), ends: at("2027-01-01T00:00:00Z") }),
        "client-certificate",
        Err("a client certificate, not good before 2026-02-02T00:00:00Z: is this machine's clock behind?")
    )]
    #[case::both(
        Credential::Token(Validity::default()),
        Some(until("2027-01-01T00:00:00Z")),
        "client-certificate, token",
        Ok("a client certificate, good until 2027-01-01T00:00:00Z, and a token")
    )]
    fn told(
        #[case] token: Credential,
        #[case] certificate: Option<Validity>,
        #[case] kind: &str,
        #[case] expected: Result<&str, &str>,
    ) {
        let origin = Origin { certificate, ..Origin::default() };
        let check = check(&token, &origin, "2026-02-01T00:00:00Z".parse().unwrap());
        let (text, result, fault) = match expected {
            Ok(text) => (text, CheckResult::Ok, None),
            Err(text) => (text, CheckResult::Failed, Some(FaultKind::Unauthorized)),
        };
        assert!(check.message.starts_with(text), "{}", check.message);
        assert_eq!((check.result, check.fault), (result, fault));
        assert!(check.detail.contains(&("kind".to_owned(), kind.to_owned())), "{:?}", check.detail);
    }
}
