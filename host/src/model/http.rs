//! Methods, media and failures: what the drive loop, policy and transport share.

pub use workload_policy::{Media, Method};

/// Why an effect has no answer, as the provider sees it: a class and nothing else.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Failure {
    /// By policy or quota. Nothing was sent.
    Denied,
    /// The request's own time ran out.
    Timeout,
    /// More than the limits allow came back, or was to be sent.
    TooLarge,
    /// No connection, TLS included; nothing was sent.
    Unreachable,
    /// The engine answered with a redirect, which is never followed.
    RedirectRefused,
    /// Taken back before it was sent.
    Cancelled,
    /// An answer that is not proper HTTP, was cut, or held what a provider must not see.
    BadResponse,
    /// The connection ended after the request may have been sent: it may have taken effect.
    Lost,
    /// This host does not do that.
    Unsupported,
    /// The host's store failed.
    StoreFailed,
}
