//! The seam between the drive loop and what sends requests.
//!
//! What arrives here was already allowed by [`workload_policy::authorize`]. An [`Upstream`] adds the credentials,
//! sends, and bounds what comes back; it never looks at what a request means. Dropping the future, or the stream of
//! a body, cancels the request.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::BoxStream;

use crate::model::{Failure, Media, Method};

/// Sends one allowed request to the provider's engine.
///
/// The implementation enforces the size of a body, the idle time between its chunks, no redirects, the allow-list of
/// headers, and the redaction of its own credential in what comes back. The drive loop enforces the time of the
/// operation and drops futures to cancel.
pub trait Upstream: Send + Sync + 'static {
    /// Sends `request`; resolves when the head of the answer is there.
    ///
    /// # Errors
    /// The [`Failure`] that the provider is to see. [`Failure::Lost`] when the request may have taken effect.
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>>;

    /// Why the last request had no answer, in fixed words for whoever runs the host; none if it had one. It is added to
    /// what a provider says when that has left the provider, which must not learn about the network of the host.
    fn trouble(&self) -> Option<String> {
        None
    }
}

/// A request that policy allowed, in the form in which it is sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The verb.
    pub method: Method,
    /// Path and query as policy encoded them, beginning with `/`. Append it to the endpoint's base path.
    pub target: String,
    /// What the answer is wanted as.
    pub accept: Media,
    /// What is sent, and as what.
    pub body: Option<(Media, Bytes)>,
    /// The answer comes in parts over a long time (a watch): only the idle time bounds it, not its size.
    pub streaming: bool,
}

/// The head of an answer, and its body as it arrives.
pub struct Incoming {
    /// The HTTP status.
    pub status: u16,
    /// From `Retry-After`, in milliseconds, when it was there and could be read.
    pub retry_after_ms: Option<u64>,
    /// From `Date`: the server's clock in milliseconds of the Unix epoch.
    pub date_ms: Option<u64>,
    /// The few harmless ones, by lower-case name.
    pub headers: Vec<(String, String)>,
    /// None: of another kind than those listed, or not said.
    pub media: Option<Media>,
    /// The body. Ends after its first error.
    pub body: BoxStream<'static, Result<Bytes, Failure>>,
}

impl std::fmt::Debug for Incoming {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Incoming").field("status", &self.status).field("media", &self.media).finish_non_exhaustive()
    }
}
