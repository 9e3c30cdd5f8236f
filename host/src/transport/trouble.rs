//! Why a request has no answer: what a provider sees of it, and what only the operator may know.
//!
//! To a provider all of [`Unreached`] is one thing, [`Failure::Unreachable`]: it must not learn about the network of the
//! host, and could do nothing about it. The host names the class beside what the provider says, `-v` names it for each
//! request, and `doctor` says what to do.

use std::error::Error as StdError;
use std::fmt;
use std::io;

use rustls::{AlertDescription, CertificateError};

use super::TransportLimits;
use crate::model::Failure;
use crate::text::{clean, span};

/// Names of a certificate that are told: more are of no help to a person.
const NAMES: usize = 4;

/// Bytes of one of them: the longest DNS name.
const NAME_BYTES: usize = 253;

/// Why there is no connection. Nothing of a request was sent, or nothing of it was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unreached {
    /// The name has no address, or nobody could tell it.
    Unresolved,
    /// The name of a plain-text server leads to another machine.
    NotLoopback,
    /// Nobody listens.
    Refused,
    /// There is no way to the address.
    NoRoute,
    /// No connection in time.
    Silent,
    /// It did not come about, for another reason.
    Connection,
    /// A connection, but no TLS in time.
    SilentTls,
    /// What answers does not speak TLS.
    NotTls,
    /// The connection ended within the handshake.
    EndedTls,
    /// The server's certificate is of an authority that is not trusted.
    UnknownAuthority,
    /// The server's certificate has ended.
    Expired,
    /// The server's certificate has not begun.
    NotYetValid,
    /// The server's certificate is for other names: some of them, fit to be shown.
    WrongName(Vec<String>),
    /// The server's certificate is bad in another way.
    BadCertificate,
    /// The server does not take our certificate, or wants one.
    ClientCertificate,
    /// The two agree on no version, or not on how to go on.
    Handshake,
    /// The connection ended before the request was sent.
    Ended,
}

impl Unreached {
    /// In fixed words, for logs: neither a name nor an address is in them.
    pub(crate) fn words(&self) -> &'static str {
        match self {
            Self::Unresolved => "the name was not resolved",
            Self::NotLoopback => "the name of a server without TLS is not this machine's",
            Self::Refused => "the connection was refused",
            Self::NoRoute => "there is no route",
            Self::Silent => "no connection in time",
            Self::Connection => "no connection",
            Self::SilentTls => "no TLS handshake in time",
            Self::NotTls => "the server does not speak TLS",
            Self::EndedTls => "the connection ended within the TLS handshake",
            Self::UnknownAuthority => "the server's certificate is of an unknown authority",
            Self::Expired => "the server's certificate has expired",
            Self::NotYetValid => "the server's certificate is not valid yet",
            Self::WrongName(_) => "the server's certificate is for another name",
            Self::BadCertificate => "the server's certificate is bad",
            Self::ClientCertificate => "the server refused the client certificate",
            Self::Handshake => "the TLS handshake failed",
            Self::Ended => "the connection ended before the request was sent",
        }
    }

    /// What it means that the system opened no connection.
    pub(super) fn of_tcp(error: &(dyn StdError + 'static)) -> Unreached {
        if let Some(said) = causes(error).find_map(|cause| cause.downcast_ref::<Unreached>()) {
            return said.clone();
        }
        let kind = causes(error).find_map(|cause| cause.downcast_ref::<io::Error>()).map(io::Error::kind);
        match kind {
            Some(io::ErrorKind::ConnectionRefused) => Self::Refused,
            Some(io::ErrorKind::HostUnreachable | io::ErrorKind::NetworkUnreachable) => Self::NoRoute,
            Some(io::ErrorKind::TimedOut) => Self::Silent,
            _ => Self::Connection,
        }
    }

    /// What it means that there is no TLS.
    pub(super) fn of_tls(error: &(dyn StdError + 'static)) -> Unreached {
        match causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
            Some(rustls::Error::InvalidCertificate(why)) => Self::of_certificate(why),
            Some(rustls::Error::AlertReceived(alert)) if about_our_certificate(*alert) => Self::ClientCertificate,
            Some(rustls::Error::InvalidMessage(_)) => Self::NotTls,
            Some(_) => Self::Handshake,
            None => Self::EndedTls,
        }
    }

    fn of_certificate(why: &CertificateError) -> Unreached {
        match why {
            // A signature that does not fit: another authority of the same name, as of a cluster that was made anew.
            CertificateError::UnknownIssuer | CertificateError::BadSignature => Self::UnknownAuthority,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => Self::Expired,
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => Self::NotYetValid,
            CertificateError::NotValidForName => Self::WrongName(Vec::new()),
            CertificateError::NotValidForNameContext { presented, .. } => {
                // As in `DnsName("a.example")`: only the name is for a person.
                let name = |text: &String| text.split('"').nth(1).unwrap_or(text).to_owned();
                let names = presented.iter().map(name).take(NAMES);
                Self::WrongName(names.map(|name| clean(name, NAME_BYTES)).collect())
            }
            _ => Self::BadCertificate,
        }
    }
}

impl fmt::Display for Unreached {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

impl StdError for Unreached {}

/// Why a request has no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Trouble {
    /// What a provider sees.
    pub(crate) failure: Failure,
    /// What only the operator does.
    pub(crate) why: Why,
}

/// More than a provider may know.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Why {
    /// There was no connection.
    Unreached(Unreached),
    /// There was one: what went wrong then, in fixed words.
    Answer(&'static str),
}

impl Trouble {
    /// Something that went wrong after the connection. It is told to the operator who asks for it.
    pub(super) fn new(failure: Failure, cause: &'static str) -> Trouble {
        Trouble::told(failure, Why::Answer(cause))
    }

    /// No connection.
    pub(super) fn unreached(why: Unreached) -> Trouble {
        Trouble::told(Failure::Unreachable, Why::Unreached(why))
    }

    /// Why, in words that name neither a host nor a certificate, and how long was waited for what did not come.
    pub(super) fn words(&self, limits: &TransportLimits) -> String {
        match (&self.why, self.failure) {
            (Why::Unreached(Unreached::Silent), _) => format!("no connection within {}", span(limits.connect)),
            (Why::Unreached(Unreached::SilentTls), _) => format!("no TLS handshake within {}", span(limits.connect)),
            (Why::Unreached(why), _) => why.words().to_owned(),
            (Why::Answer(_), Failure::Timeout) => format!("no answer within {}", span(limits.headers)),
            (Why::Answer(cause), _) => (*cause).to_owned(),
        }
    }

    /// Tells the operator the class and the cause in fixed words. Never an error's own text: those of resolvers and TLS
    /// name hosts and certificates.
    fn told(failure: Failure, why: Why) -> Trouble {
        let cause = match &why {
            Why::Unreached(why) => why.words(),
            Why::Answer(cause) => cause,
        };
        tracing::debug!(?failure, cause, "a request failed");
        Trouble { failure, why }
    }
}

/// An error and what is beneath it. What an [`io::Error`] was made of is the next: its `source` would pass over that.
pub(super) fn causes<'a>(error: &'a (dyn StdError + 'static)) -> impl Iterator<Item = &'a (dyn StdError + 'static)> {
    std::iter::successors(Some(error), |error: &&'a (dyn StdError + 'static)| {
        let inner = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
        inner.map(|inner| inner as &(dyn StdError + 'static)).or_else(|| (*error).source())
    })
}

/// Whether an alert says that the server does not like who we are, or wants to know it.
pub(super) fn about_our_certificate(alert: AlertDescription) -> bool {
    matches!(
        alert,
        AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
            | AlertDescription::DecryptError
            | AlertDescription::CertificateRequired
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;
    use rustls::pki_types::{ServerName, UnixTime};
    use std::time::Duration;

    fn expired() -> CertificateError {
        let at = UnixTime::since_unix_epoch(Duration::from_secs(1));
        CertificateError::ExpiredContext { time: at, not_after: at }
    }

    fn of_another() -> CertificateError {
        CertificateError::NotValidForNameContext {
            expected: ServerName::try_from("canary-host.example").unwrap(),
            presented: vec!["DnsName(\"a.example\")".to_owned(), "DnsName(\"\u{202e}b\")".to_owned()],
        }
    }

    #[rstest]
    #[case::authority(CertificateError::UnknownIssuer, Unreached::UnknownAuthority)]
    #[case::made_anew(CertificateError::BadSignature, Unreached::UnknownAuthority)]
    #[case::expired(expired(), Unreached::Expired)]
    #[case::not_yet(CertificateError::NotValidYet, Unreached::NotYetValid)]
    #[case::name(of_another(), Unreached::WrongName(vec!["a.example".to_owned(), "\\u{202e}b".to_owned()]))]
    #[case::other(CertificateError::BadEncoding, Unreached::BadCertificate)]
    fn of_certificates(#[case] why: CertificateError, #[case] expected: Unreached) {
        // Within two I/O errors, as it comes.
        let error =
            io::Error::other(io::Error::new(io::ErrorKind::InvalidData, rustls::Error::InvalidCertificate(why)));
        assert_eq!(Unreached::of_tls(&error), expected);
    }

    #[rstest]
    #[case::refused(io::ErrorKind::ConnectionRefused, Unreached::Refused)]
    #[case::route(io::ErrorKind::HostUnreachable, Unreached::NoRoute)]
    #[case::timeout(io::ErrorKind::TimedOut, Unreached::Silent)]
    #[case::other(io::ErrorKind::PermissionDenied, Unreached::Connection)]
    fn of_the_system(#[case] kind: io::ErrorKind, #[case] expected: Unreached) {
        assert_eq!(Unreached::of_tcp(&io::Error::from(kind)), expected);
        assert_eq!(Unreached::of_tcp(&io::Error::other(Unreached::Unresolved)), Unreached::Unresolved);
    }

    #[rstest]
    #[case::refused(Trouble::unreached(Unreached::Refused), "the connection was refused")]
    #[case::silent(Trouble::unreached(Unreached::Silent), "no connection within 10s")]
    #[case::silent_tls(Trouble::unreached(Unreached::SilentTls), "no TLS handshake within 10s")]
    #[case::no_names(
        Trouble::unreached(Unreached::WrongName(vec!["canary.example".to_owned()])),
        "the server's certificate is for another name"
    )]
    #[case::no_answer(Trouble::new(Failure::Timeout, "no answer in time"), "no answer within 30s")]
    #[case::lost(
        Trouble::new(Failure::Lost, "the connection ended before an answer"),
        "the connection ended before an answer"
    )]
    fn for_the_operator(#[case] trouble: Trouble, #[case] words: &str) {
        assert_eq!(trouble.words(&TransportLimits::default()), words);
    }

    #[test]
    fn a_handshake_that_ends_without_a_word() {
        assert_eq!(Unreached::of_tls(&io::Error::from(io::ErrorKind::UnexpectedEof)), Unreached::EndedTls);
    }
}
