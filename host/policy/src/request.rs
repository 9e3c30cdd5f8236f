//! What a provider asks for: a request to its engine as data, borrowed from the guest's answer.

use std::fmt;

/// The verb of a request.
///
/// ```
/// use workload_policy::Method;
/// assert_eq!(Method::Patch.as_str(), "PATCH");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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
    ///
    /// ```
    /// assert_eq!(workload_policy::Method::Get.as_str(), "GET");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Patch => "PATCH",
            Self::Delete => "DELETE",
        }
    }

    /// Whether it can change something.
    ///
    /// ```
    /// assert!(workload_policy::Method::Delete.writes() && !workload_policy::Method::Get.writes());
    /// ```
    #[must_use]
    pub const fn writes(self) -> bool {
        !matches!(self, Self::Get)
    }
}

/// What a body is, or is wanted as. A closed list: no text of a provider becomes a header.
///
/// ```
/// use workload_policy::Media;
/// assert_eq!(Media::MergePatch.as_str(), "merge-patch");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Media {
    /// JSON.
    Json,
    /// A Kubernetes table of the objects, in JSON.
    JsonTable,
    /// The metadata of Kubernetes objects only, in JSON.
    JsonMetadata,
    /// A JSON merge patch (RFC 7396).
    MergePatch,
    /// A JSON patch (RFC 6902).
    JsonPatch,
    /// A Kubernetes server-side apply.
    ApplyPatch,
    /// Bytes of no known kind.
    Octets,
    /// Plain text.
    Text,
}

impl Media {
    /// The name that the world of the provider gives it.
    ///
    /// ```
    /// assert_eq!(workload_policy::Media::JsonTable.as_str(), "json-table");
    /// ```
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::JsonTable => "json-table",
            Self::JsonMetadata => "json-metadata",
            Self::MergePatch => "merge-patch",
            Self::JsonPatch => "json-patch",
            Self::ApplyPatch => "apply-patch",
            Self::Octets => "octets",
            Self::Text => "text",
        }
    }
}

/// A request to the provider's engine. It has no scheme, host, port, header or credential, and no way to name one.
///
/// ```
/// use workload_policy::{Body, Media, Method, Request};
///
/// let segments = ["apis", "apps", "v1", "namespaces", "default", "deployments", "web", "scale"].map(String::from);
/// let request = Request {
///     method: Method::Patch,
///     segments: &segments,
///     query: &[],
///     accept: Media::Json,
///     body: Some(Body { media: Media::MergePatch, bytes: br#"{"spec":{"replicas":1}}"# }),
///     streaming: false,
/// };
/// assert_eq!(request.segments.len(), 8);
/// ```
#[derive(Debug, Clone, Copy)]
pub struct Request<'a> {
    /// What to do.
    pub method: Method,
    /// The path in parts, not encoded.
    pub segments: &'a [String],
    /// The query in pairs, not encoded.
    pub query: &'a [(String, String)],
    /// How the answer is wanted.
    pub accept: Media,
    /// What is sent along.
    pub body: Option<Body<'a>>,
    /// Whether the answer is wanted in parts as it arrives.
    pub streaming: bool,
}

/// The body of a [`Request`].
///
/// ```
/// use workload_policy::{Body, Media};
///
/// let body = Body { media: Media::Json, bytes: b"{\"password\":\"secret\"}" };
/// assert_eq!(format!("{body:?}"), "Body { media: Json, bytes: 21 }"); // never what is in it
/// ```
#[derive(Clone, Copy)]
pub struct Body<'a> {
    /// What the bytes are.
    pub media: Media,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl fmt::Debug for Body<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A body may hold what the user calls secret (environment values), and Debug output ends in logs.
        f.debug_struct("Body").field("media", &self.media).field("bytes", &self.bytes.len()).finish()
    }
}
