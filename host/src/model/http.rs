//! Methods, media and failures: what the drive loop, policy and transport share.

use serde::Serialize;

/// The verb of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Reads.
    Get,
    /// Makes.
    Post,
    /// Replaces.
    Put,
    /// Changes a part.
    Patch,
    /// Removes.
    Delete,
}

impl Method {
    /// The verb as HTTP writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
            Method::Patch => "PATCH",
            Method::Delete => "DELETE",
        }
    }

    /// Whether it can change something.
    #[must_use]
    pub fn writes(self) -> bool {
        self != Method::Get
    }
}

impl std::fmt::Display for Method {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

impl From<Method> for workload_policy::Method {
    fn from(method: Method) -> Self {
        match method {
            Method::Get => Self::Get,
            Method::Post => Self::Post,
            Method::Put => Self::Put,
            Method::Patch => Self::Patch,
            Method::Delete => Self::Delete,
        }
    }
}

/// What a body is, or is wanted as.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Media {
    /// `application/json`.
    Json,
    /// `application/json;as=Table;v=v1;g=meta.k8s.io`.
    JsonTable,
    /// `application/json;as=PartialObjectMetadata;…`, or its list.
    JsonMetadata,
    /// `application/merge-patch+json`.
    MergePatch,
    /// `application/json-patch+json`.
    JsonPatch,
    /// `application/apply-patch+yaml`, whose body is JSON.
    ApplyPatch,
    /// `application/octet-stream`.
    Octets,
    /// `text/plain`.
    Text,
}

impl From<Media> for workload_policy::Media {
    fn from(media: Media) -> Self {
        match media {
            Media::Json => Self::Json,
            Media::JsonTable => Self::JsonTable,
            Media::JsonMetadata => Self::JsonMetadata,
            Media::MergePatch => Self::MergePatch,
            Media::JsonPatch => Self::JsonPatch,
            Media::ApplyPatch => Self::ApplyPatch,
            Media::Octets => Self::Octets,
            Media::Text => Self::Text,
        }
    }
}

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
