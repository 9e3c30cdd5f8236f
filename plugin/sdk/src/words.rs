//! Short ways to write the boundary's own types.

use std::fmt::Display;

use crate::{Body, Failure, Fault, FaultKind, Media, Method, Request, Status, StopReason, Workload};

/// A fault of this kind. The same as [`Fault::new`].
pub fn fault(kind: FaultKind, message: impl Into<String>) -> Fault {
    Fault::new(kind, message)
}

impl Fault {
    /// A fault of this kind, with one sentence for a person and no detail.
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), detail: Vec::new() }
    }

    /// Adds a detail by name.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Display) -> Self {
        self.detail.push((name.to_owned(), value.to_string()));
        self
    }
}

/// What is left to say of a failure when a provider knows nothing better.
impl From<Failure> for Fault {
    fn from(failure: Failure) -> Self {
        let (kind, message) = match failure {
            Failure::Denied => (FaultKind::Denied, "the host does not allow this request"),
            Failure::Timeout => (FaultKind::Unavailable, "the engine did not answer in time"),
            Failure::TooLarge => (FaultKind::Malformed, "more was sent or answered than the limits allow"),
            Failure::Unreachable => (FaultKind::Unavailable, "the engine cannot be reached"),
            Failure::RedirectRefused => (FaultKind::Malformed, "the engine answered with a redirect"),
            Failure::Cancelled => (FaultKind::Cancelled, "cancelled before it was done"),
            Failure::BadResponse => (FaultKind::Malformed, "the engine's answer cannot be used"),
            Failure::Lost => (FaultKind::Unavailable, "the connection was lost; the request may have taken effect"),
            Failure::Unsupported => (FaultKind::Unsupported, "this host does not do that"),
            Failure::StoreFailed => (FaultKind::Unavailable, "the host could not keep the workload's record"),
        };
        Self::new(kind, message)
    }
}

/// The kind of fault with which an id settles that was told to stop.
impl From<StopReason> for FaultKind {
    fn from(reason: StopReason) -> Self {
        match reason {
            StopReason::Cancelled => Self::Cancelled,
            StopReason::Deadline => Self::Timeout,
            StopReason::Superseded => Self::Superseded,
        }
    }
}

impl Request {
    /// A request that wants JSON and has no query and no body. The path is in parts, not encoded.
    pub fn new<S: Into<String>>(method: Method, segments: impl IntoIterator<Item = S>) -> Self {
        Self {
            method,
            segments: segments.into_iter().map(Into::into).collect(),
            query: Vec::new(),
            accept: Media::Json,
            body: None,
            streaming: false,
        }
    }

    /// A GET that wants JSON.
    pub fn get<S: Into<String>>(segments: impl IntoIterator<Item = S>) -> Self {
        Self::new(Method::Get, segments)
    }

    /// Adds a query parameter, not encoded. The host refuses a key given twice.
    #[must_use]
    pub fn with_query(mut self, key: impl Into<String>, value: impl Into<String>) -> Self {
        self.query.push((key.into(), value.into()));
        self
    }

    /// Asks for an answer of another kind than JSON.
    #[must_use]
    pub fn with_accept(mut self, media: Media) -> Self {
        self.accept = media;
        self
    }

    /// Gives it a body.
    #[must_use]
    pub fn with_body(mut self, media: Media, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Some(Body { media, bytes: bytes.into() });
        self
    }
}

impl Workload {
    /// A workload of which nothing is known but its id (also used as its name), status and reason, to be completed
    /// with `..`. The rule is called as the reason.
    pub fn named(id: impl Into<String>, status: Status, reason: &str) -> Self {
        let id = id.into();
        Self {
            name: id.clone(),
            id,
            kind: String::new(),
            status,
            reason: reason.to_owned(),
            message: None,
            settled: false,
            serving_old: false,
            desired: 0,
            available: 0,
            image: None,
            node: None,
            address: None,
            created: None,
            owner: None,
            uid: None,
            retention: None,
            rule: reason.to_owned(),
            facts: Vec::new(),
        }
    }
}
