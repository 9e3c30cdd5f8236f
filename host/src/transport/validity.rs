//! From when to when a credential is good, as far as it says so itself: for the operator, who wonders why it is refused.
//!
//! Nothing is decided by this. The server verifies credentials by its own clock, and what cannot be read here is simply
//! not told.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use secrecy::zeroize::Zeroizing;
use serde::Deserialize;

/// A span of time; an end that is not known is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Validity {
    /// Good from here on.
    pub(crate) begins: Option<Timestamp>,
    /// Good until then.
    pub(crate) ends: Option<Timestamp>,
}

impl Validity {
    /// What an X.509 certificate in DER says.
    pub(super) fn of_certificate(der: &[u8]) -> Option<Validity> {
        // Certificate and TBSCertificate are sequences; in the latter stand version (tagged, may be absent), serial number,
        // signature algorithm and issuer before the validity (RFC 5280, 4.1).
        let (_, certificate, _) = element(der)?;
        let (_, mut rest, _) = element(certificate)?;
        if let Some((EXPLICIT_0, _, after)) = element(rest) {
            rest = after;
        }
        for _ in 0..3 {
            (_, _, rest) = element(rest)?;
        }
        let (_, validity, _) = element(rest)?;
        let (kind, begins, rest) = element(validity)?;
        let begins = time(kind, begins);
        let (kind, ends, _) = element(rest)?;
        Some(Validity { begins, ends: time(kind, ends) })
    }

    /// What a token says, if it is a JSON Web Token, as those of service accounts are.
    pub(super) fn of_token(token: &str) -> Option<Validity> {
        #[derive(Deserialize)]
        struct Claims {
            nbf: Option<f64>,
            exp: Option<f64>,
        }
        let claims = Zeroizing::new(URL_SAFE_NO_PAD.decode(token.split('.').nth(1)?).ok()?);
        let claims: Claims = serde_json::from_slice(&claims).ok()?;
        // As a cast does: what is out of range is no time either.
        let at = |seconds: f64| Timestamp::from_second(seconds as i64).ok();
        Some(Validity { begins: claims.nbf.and_then(at), ends: claims.exp.and_then(at) })
    }
}

const EXPLICIT_0: u8 = 0xa0;
const UTC_TIME: u8 = 0x17;
const GENERALIZED_TIME: u8 = 0x18;

/// The tag and the content of the first element of this DER, and what follows it.
fn element(der: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = der.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match usize::from(first) {
        short @ 0..=0x7f => (short, rest),
        // Certificates are far below 16 MiB.
        long @ 0x81..=0x83 => {
            let (length, rest) = rest.split_at_checked(long - 0x80)?;
            (length.iter().fold(0, |length, &byte| length << 8 | usize::from(byte)), rest)
        }
        _ => return None,
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

/// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`, the only forms that RFC 5280 allows.
fn time(kind: u8, text: &[u8]) -> Option<Timestamp> {
    let text = std::str::from_utf8(text).ok()?.strip_suffix('Z')?;
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    let (year, rest) = match kind {
        UTC_TIME => {
            let (year, rest) = text.split_at_checked(2)?;
            let year: i16 = year.parse().ok()?;
            (if year < 50 { 2000 + year } else { 1900 + year }, rest)
        }
        GENERALIZED_TIME => {
            let (year, rest) = text.split_at_checked(4)?;
            (year.parse().ok()?, rest)
        }
        _ => return None,
    };
    let part = |at: usize| rest.get(at..at + 2)?.parse::<i8>().ok();
    let civil = DateTime::new(year, part(0)?, part(2)?, part(4)?, part(6)?, part(8)?, 0).ok()?;
    (rest.len() == 10).then(|| TimeZone::UTC.to_timestamp(civil).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{CertificateParams, KeyPair};
    use rstest::rstest;

    #[rstest]
    #[case::short_year((1999, 2, 3), (2049, 12, 31), "1999-02-03T00:00:00Z", "2049-12-31T00:00:00Z")]
    #[case::long_year((2000, 1, 1), (2051, 1, 2), "2000-01-01T00:00:00Z", "2051-01-02T00:00:00Z")]
    fn of_certificates(
        #[case] from: (i32, u8, u8),
        #[case] to: (i32, u8, u8),
        #[case] begins: &str,
        #[case] ends: &str,
    ) {
        let mut params = CertificateParams::new(vec!["a.example".to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(from.0, from.1, from.2);
        params.not_after = rcgen::date_time_ymd(to.0, to.1, to.2);
        let certificate = params.self_signed(&KeyPair::generate().unwrap()).unwrap();
        let der: &[u8] = certificate.der();
        let found = Validity::of_certificate(der).unwrap();
        assert_eq!((found.begins, found.ends), (begins.parse().ok(), ends.parse().ok()));
        for cut in 0..der.len() {
            // No cut one makes it panic, and none is read beyond its end.
            let _ = Validity::of_certificate(&der[..cut]);
        }
    }

    #[rstest]
    #[case::no_date(UTC_TIME, "991332000000Z")]
    #[case::zone(UTC_TIME, "990101000000+0100")]
    #[case::no_seconds(UTC_TIME, "9901010000Z")]
    #[case::letters(GENERALIZED_TIME, "2050010100000aZ")]
    #[case::empty(UTC_TIME, "")]
    #[case::another_kind(0x0c, "990101000000Z")]
    fn no_times(#[case] kind: u8, #[case] text: &str) {
        assert_eq!(time(kind, text.as_bytes()), None);
    }

    #[rstest]
    #[case::service_account(r#"{"exp":1767225600,"nbf":1767222000,"sub":"x"}"#, Some("2026-01-01T00:00:00Z"))]
    #[case::fraction(r#"{"exp":1767225600.5}"#, Some("2026-01-01T00:00:00Z"))]
    #[case::endless(r#"{"sub":"x"}"#, None)]
    #[case::nonsense(r#"{"exp":1e300}"#, None)]
    fn of_tokens(#[case] claims: &str, #[case] ends: Option<&str>) {
        let token = format!("e30.{}.sig", URL_SAFE_NO_PAD.encode(claims));
        let found = Validity::of_token(&token).unwrap();
        assert_eq!(found.ends, ends.map(|ends| ends.parse().unwrap()));
    }

    #[rstest]
    #[case::opaque("CANARY-7f3a9d")]
    #[case::three_words("a.b.c")]
    #[case::empty("")]
    fn no_web_tokens(#[case] token: &str) {
        assert_eq!(Validity::of_token(token), None);
    }
}
