//! Why a request is denied: a rule with fixed words, and where it was broken.

use std::borrow::Cow;
use std::fmt;

/// The rule that a request broke. Its `Display` is a sentence for the operator.
///
/// ```
/// use workload_policy::DenialRule;
///
/// assert_eq!(DenialRule::NotGranted.code(), "not-granted");
/// assert_eq!(DenialRule::NotGranted.to_string(), "the operation is not granted");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DenialRule {
    /// More segments than the limit, or none.
    SegmentCount,
    /// A segment that is no plain name, or not a name of the kind that belongs there.
    Segment,
    /// No operation of the catalogue has this path.
    UnknownOperation,
    /// Operations of the catalogue have this path, but none with this method.
    Method,
    /// The operation is known, but not as a stream, or only as a stream.
    Streaming,
    /// The operation is known but not granted.
    NotGranted,
    /// The namespace is not among those configured.
    Place,
    /// All namespaces at once need all to be configured.
    AllPlaces,
    /// More query pairs than the limit.
    QueryCount,
    /// A query pair that is longer than the limit.
    QuerySize,
    /// A query key that the operation does not have.
    QueryKey,
    /// A query key given twice.
    QueryDuplicate,
    /// A query value that the operation does not take.
    QueryValue,
    /// A query key that the operation needs is not there.
    QueryMissing,
    /// The encoded path and query are longer than the limit.
    Target,
    /// The operation does not answer in the media that is wanted.
    Accept,
    /// A body where the operation takes none.
    BodyUnexpected,
    /// No body where the operation needs one.
    BodyMissing,
    /// A body that is longer than the limit.
    BodySize,
    /// A body of another media than the operation takes.
    BodyMedia,
    /// A body that is not strictly JSON.
    Json,
    /// A field that is not on the allow-list.
    Field,
    /// A field that must be there is not.
    FieldMissing,
    /// A field whose value is not allowed.
    FieldValue,
    /// A field, or its value, that needs a grant by name.
    FieldGrant,
}

impl DenialRule {
    /// A short stable name, for records that are searched.
    ///
    /// ```
    /// assert_eq!(workload_policy::DenialRule::QueryKey.code(), "query-key");
    /// ```
    #[must_use]
    pub const fn code(self) -> &'static str {
        self.texts().0
    }

    const fn texts(self) -> (&'static str, &'static str) {
        match self {
            Self::SegmentCount => ("segment-count", "the path has too many segments or none"),
            Self::Segment => ("segment", "a path segment is not a plain name"),
            Self::UnknownOperation => ("unknown-operation", "the path is not in the catalogue of operations"),
            Self::Method => ("method", "the path is in the catalogue, but not with this method"),
            Self::Streaming => ("streaming", "the operation streams always or never"),
            Self::NotGranted => ("not-granted", "the operation is not granted"),
            Self::Place => ("place", "the namespace is not configured"),
            Self::AllPlaces => ("all-places", "all namespaces at once are not configured"),
            Self::QueryCount => ("query-count", "the query has too many pairs"),
            Self::QuerySize => ("query-size", "a query pair is too long"),
            Self::QueryKey => ("query-key", "the operation does not have this query key"),
            Self::QueryDuplicate => ("query-duplicate", "a query key is given twice"),
            Self::QueryValue => ("query-value", "the value of a query key is not allowed"),
            Self::QueryMissing => ("query-missing", "the operation needs a query key"),
            Self::Target => ("target", "the encoded path and query are too long"),
            Self::Accept => ("accept", "the operation does not answer in this media"),
            Self::BodyUnexpected => ("body-unexpected", "the operation takes no body"),
            Self::BodyMissing => ("body-missing", "the operation needs a body"),
            Self::BodySize => ("body-size", "the body is too long"),
            Self::BodyMedia => ("body-media", "the operation takes no body of this media"),
            Self::Json => ("json", "the body is not strict JSON"),
            Self::Field => ("field", "a field of the body is not on the allow-list"),
            Self::FieldMissing => ("field-missing", "the body lacks a field"),
            Self::FieldValue => ("field-value", "the value of a field is not allowed"),
            Self::FieldGrant => ("field-grant", "a field of the body needs a grant by name"),
        }
    }
}

impl fmt::Display for DenialRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.texts().1)
    }
}

/// A request that is not sent. `Display` is for the audit record and the operator; a provider learns only that it was
/// denied. It names places (a segment's number, a query key, a JSON path) and words of the catalogue, but no value of a
/// body or a query, which may be secret.
///
/// ```
/// use workload_policy::{DenialRule, Engine, Grants, Media, Method, Places, Request, authorize};
///
/// let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All)?;
/// let segments = ["api", "v1", "secrets"].map(String::from);
/// let request =
///     Request { method: Method::Get, segments: &segments, query: &[], accept: Media::Json, body: None, streaming: false };
/// let denied = authorize(&grants, &request).unwrap_err();
/// assert_eq!(denied.rule(), DenialRule::UnknownOperation);
/// assert_eq!(denied.operation(), None);
/// assert_eq!(denied.to_string(), "the path is not in the catalogue of operations: GET with 3 segments");
/// # Ok::<(), workload_policy::GrantError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denied {
    rule: DenialRule,
    operation: Option<&'static str>,
    detail: Cow<'static, str>,
}

impl Denied {
    pub(crate) fn new(rule: DenialRule, detail: impl Into<Cow<'static, str>>) -> Self {
        Self { rule, operation: None, detail: detail.into() }
    }

    /// Says which operation of the catalogue it was, once that is known.
    pub(crate) fn of(mut self, operation: &'static str) -> Self {
        self.operation = Some(operation);
        self
    }

    /// The rule that was broken.
    ///
    /// ```
    /// # use workload_policy::*;
    /// # fn example(denied: &Denied) {
    /// if denied.rule() == DenialRule::NotGranted {
    ///     // point the operator at the configuration
    /// }
    /// # }
    /// ```
    #[must_use]
    pub fn rule(&self) -> DenialRule {
        self.rule
    }

    /// The word of the operation, if the request was recognised as one.
    ///
    /// ```
    /// # use workload_policy::*;
    /// # fn example(denied: &Denied) {
    /// let what = denied.operation().unwrap_or("unknown");
    /// # }
    /// ```
    #[must_use]
    pub fn operation(&self) -> Option<&'static str> {
        self.operation
    }

    /// Where the rule was broken.
    ///
    /// ```
    /// # use workload_policy::*;
    /// # fn example(denied: &Denied) {
    /// assert_eq!(denied.detail(), "spec.template.spec.hostNetwork needs `pod:host-namespaces`");
    /// # }
    /// ```
    #[must_use]
    pub fn detail(&self) -> &str {
        &self.detail
    }
}

impl fmt::Display for Denied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.rule, self.detail)?;
        self.operation.map_or(Ok(()), |word| write!(f, " ({word})"))
    }
}

impl std::error::Error for Denied {}
