//! What to do about each way in which a connection can fail.

use std::net::IpAddr;

use super::{Check, CheckName};
use crate::model::{Failure, FaultKind};
use crate::transport::{Probe, Trusted, Unreached};

/// The check that fails by it.
pub(super) fn check_of(why: &Unreached) -> CheckName {
    match why {
        Unreached::Unresolved | Unreached::NotLoopback => CheckName::Address,
        Unreached::Refused | Unreached::NoRoute | Unreached::Silent | Unreached::Connection => CheckName::Connection,
        Unreached::SilentTls
        | Unreached::NotTls
        | Unreached::EndedTls
        | Unreached::UnknownAuthority
        | Unreached::Expired
        | Unreached::NotYetValid
        | Unreached::WrongName(_)
        | Unreached::BadCertificate
        | Unreached::ClientCertificate
        | Unreached::Handshake => CheckName::Tls,
        Unreached::Ended => CheckName::Server,
    }
}

/// What it is, and what to do.
pub(super) fn message(probe: &Probe<'_>, why: &Unreached) -> String {
    let (host, server) = (probe.host(), probe.authority());
    match why {
        Unreached::Unresolved => {
            format!("{host} has no address: is the name right, and can this machine resolve names?")
        }
        Unreached::NotLoopback => format!("{host} is another machine, and plain http is only for this one: use https"),
        Unreached::Refused => format!("{server} refuses connections: does the API server run, and on this port?"),
        Unreached::NoRoute => format!("there is no route to {server}: is a network or a VPN down?"),
        Unreached::Silent => {
            format!("{server} does not answer at all: does a firewall drop it, or is a network or a VPN down?")
        }
        Unreached::Connection => format!("there is no connection to {server}: is a network or a VPN down?"),
        Unreached::SilentTls => {
            format!("{server} takes connections but begins no TLS: it hangs, or it is no TLS server")
        }
        Unreached::NotTls => format!("{server} does not speak TLS: is the port right, or is something in between?"),
        Unreached::EndedTls => {
            format!("{server} ends connections at once: a load balancer without an API server behind it, or no TLS?")
        }
        Unreached::UnknownAuthority => {
            let trusted = match probe.origin().trusted {
                Trusted::System => "this machine trusts, and the kubeconfig has no certificate-authority",
                _ => "the kubeconfig has: was the cluster made anew, or is somebody in between?",
            };
            format!("the certificate of {server} is of none of the authorities that {trusted}")
        }
        Unreached::Expired => {
            format!("the certificate of {server} has expired: renew it (or is this machine's clock ahead?)")
        }
        Unreached::NotYetValid => {
            format!("the certificate of {server} is not valid yet: is this machine's clock behind?")
        }
        Unreached::WrongName(names) => {
            let wanted = probe.verified_name();
            let names = if names.is_empty() { "other names".to_owned() } else { names.join(", ") };
            format!("the certificate of {server} is for {names}, not for {wanted}: use such a name, or tls-server-name")
        }
        Unreached::BadCertificate => format!("the certificate of {server} cannot be accepted: it is no server's"),
        Unreached::ClientCertificate => {
            format!("{server} does not take our client certificate: is it of this cluster, and still good?")
        }
        Unreached::Handshake => {
            format!("{server} and we find no way to speak TLS: it is too old, or set up too narrowly")
        }
        Unreached::Ended => format!("{server} ended the connection before it read anything: is it overloaded?"),
    }
}

/// What a request that was answered badly, or not, comes to.
pub(super) fn no_answer(failure: Failure, cause: &str) -> (FaultKind, String) {
    match failure {
        Failure::RedirectRefused => (
            FaultKind::Malformed,
            "it sends us elsewhere, as a login page does, and no API server: is the server's address right?".to_owned(),
        ),
        Failure::Timeout => (FaultKind::Unavailable, format!("{cause}: it takes requests but is overloaded, or hangs")),
        Failure::Lost => (FaultKind::Unavailable, format!("{cause}: is it starting, or overloaded?")),
        _ => (FaultKind::Malformed, format!("{cause}: what answers is no API server, or something is in between")),
    }
}

pub(super) fn address(probe: &Probe<'_>, addresses: &[IpAddr]) -> Check {
    let (host, server) = (probe.host(), probe.server());
    let found: Vec<String> = addresses.iter().map(ToString::to_string).collect();
    let found = found.join(", ");
    let message = if found == host { server.to_owned() } else { format!("{server}: {host} is {found}") };
    Check::ok(CheckName::Address, message).with("server", server).with("addresses", found)
}

/// It is known who answers, as far as it is to be.
pub(super) fn verified(probe: &Probe<'_>) -> Check {
    let by = match probe.origin().trusted {
        Trusted::Authorities if probe.tls() => "the authorities of the kubeconfig",
        Trusted::System if probe.tls() => "the authorities of this machine",
        Trusted::Anybody if probe.tls() => {
            let message = "insecure-skip-tls-verify: whoever is in the way can read and use the credential";
            return Check::note(CheckName::Tls, message);
        }
        _ => return Check::skipped(CheckName::Tls, "plain http to this machine has none"),
    };
    let name = probe.verified_name();
    let message = format!("the certificate is for {name}, by {by}");
    Check::ok(CheckName::Tls, message).with("name", name)
}
