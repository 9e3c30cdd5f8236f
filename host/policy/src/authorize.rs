//! The one decision.

use std::fmt;

use crate::catalogue::Operation;
use crate::denied::{DenialRule, Denied};
use crate::fields;
use crate::grants::{Grants, Places};
use crate::json;
use crate::limits;
use crate::names;
use crate::query;
use crate::request::Request;
use crate::target::Target;

/// A request that may be sent, as it is to be sent.
///
/// ```
/// use workload_policy::{Body, Engine, Grants, Media, Method, Places, Request, authorize};
///
/// let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["default"]))?;
/// let segments = ["apis", "apps", "v1", "namespaces", "default", "deployments", "web", "scale"].map(String::from);
/// let allowed = authorize(&grants, &Request {
///     method: Method::Patch,
///     segments: &segments,
///     query: &[],
///     accept: Media::Json,
///     body: Some(Body { media: Media::MergePatch, bytes: br#"{ "spec": {"replicas": 1}, "metadata": {"uid": "d1"} }"# }),
///     streaming: false,
/// })?;
/// assert_eq!(allowed.operation, "deployments/scale:patch");
/// assert_eq!(allowed.place.as_deref(), Some("default"));
/// assert_eq!(allowed.body.unwrap(), br#"{"metadata":{"uid":"d1"},"spec":{"replicas":1}}"#);
/// assert!(allowed.write && !allowed.safe_to_repeat);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Allowed {
    /// The word of the catalogue, for records.
    pub operation: &'static str,
    /// Whether it changes something.
    pub write: bool,
    /// Whether it may be sent again when it is not known how it ended.
    pub safe_to_repeat: bool,
    /// The namespace; none for a list over all of them.
    pub place: Option<String>,
    /// Path and query, encoded once, to be put behind the base path of the endpoint as they are.
    pub target: String,
    /// The body in canonical form: not the provider's bytes, but what was understood of them.
    pub body: Option<Vec<u8>>,
}

impl fmt::Debug for Allowed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Allowed")
            .field("operation", &self.operation)
            .field("target", &self.target)
            .field("body_bytes", &self.body.as_ref().map(Vec::len))
            .finish_non_exhaustive()
    }
}

/// Decides whether a request may be sent: the only way to an effect on an engine.
///
/// # Errors
/// When anything about it is not in the catalogue or not granted. Nothing of the request may then be sent.
///
/// ```
/// use workload_policy::{DenialRule, Engine, Grants, Media, Method, Places, Request, authorize};
///
/// let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["default"]))?;
/// let segments = ["api", "v1", "namespaces", "kube-system", "pods"].map(String::from);
/// let request =
///     Request { method: Method::Get, segments: &segments, query: &[], accept: Media::Json, body: None, streaming: false };
/// assert_eq!(authorize(&grants, &request).unwrap_err().rule(), DenialRule::Place);
/// # Ok::<(), workload_policy::GrantError>(())
/// ```
pub fn authorize(grants: &Grants, request: &Request<'_>) -> Result<Allowed, Denied> {
    check_shape(request)?;
    let (index, operation) = grants.engine().find(request)?;
    decide(grants, request, index, operation).map_err(|denied| denied.of(operation.word()))
}

/// What holds for every request, checked before anything looks at what it says.
fn check_shape(request: &Request<'_>) -> Result<(), Denied> {
    let segments = request.segments;
    if segments.is_empty() || segments.len() > limits::SEGMENTS {
        return Err(Denied::new(DenialRule::SegmentCount, format!("{} segments", segments.len())));
    }
    for (index, segment) in segments.iter().enumerate() {
        if let Some(why) = names::refuse_segment(segment) {
            return Err(Denied::new(DenialRule::Segment, format!("segment {index} {why}")));
        }
    }
    if request.query.len() > limits::QUERY_PAIRS {
        return Err(Denied::new(DenialRule::QueryCount, format!("{} pairs", request.query.len())));
    }
    match request.body {
        Some(body) if body.bytes.len() > limits::BODY_BYTES => {
            Err(Denied::new(DenialRule::BodySize, format!("{} bytes", body.bytes.len())))
        }
        _ => Ok(()),
    }
}

fn decide(
    grants: &Grants,
    request: &Request<'_>,
    index: usize,
    operation: &'static Operation,
) -> Result<Allowed, Denied> {
    let place = operation.place(request.segments)?;
    if !grants.holds(index) {
        return Err(Denied::new(DenialRule::NotGranted, operation.word()));
    }
    match (place, grants.places()) {
        (Some(place), places) if !places.cover(place) => {
            // Not a secret: a name of the grammar, which the operator needs to see.
            return Err(Denied::new(DenialRule::Place, place.to_owned()));
        }
        (None, Places::Only(_)) if operation.rbac().namespaced => {
            return Err(Denied::new(DenialRule::AllPlaces, "the path names no namespace"));
        }
        _ => {}
    }
    if !operation.accepts(request.accept) {
        return Err(Denied::new(DenialRule::Accept, request.accept.as_str()));
    }
    let mut target = Target::with_room(room(request));
    request.segments.iter().try_for_each(|segment| target.segment(segment))?;
    query::append(&mut target, operation.query(), request.query, place.is_some())?;
    Ok(Allowed {
        operation: operation.word(),
        write: operation.write(),
        safe_to_repeat: operation.safe_to_repeat(),
        body: body(grants, request, operation, place)?,
        place: place.map(str::to_owned),
        target: target.finish(),
    })
}

/// Enough for the usual target in one allocation: a selector grows a little by encoding, and a limit may be added.
fn room(request: &Request<'_>) -> usize {
    let segments: usize = request.segments.iter().map(|segment| segment.len() + 1).sum();
    let query: usize = request.query.iter().map(|(key, value)| key.len() + value.len() + value.len() / 4 + 2).sum();
    segments + query + "?limit=500".len()
}

fn body(
    grants: &Grants,
    request: &Request<'_>,
    operation: &Operation,
    place: Option<&str>,
) -> Result<Option<Vec<u8>>, Denied> {
    let (body, media, rule) = match (request.body, operation.body()) {
        (None, None) => return Ok(None),
        (Some(_), None) => return Err(Denied::new(DenialRule::BodyUnexpected, request.method.as_str())),
        (None, Some((media, _))) => return Err(Denied::new(DenialRule::BodyMissing, media.as_str())),
        (Some(body), Some((media, rule))) => (body, media, rule),
    };
    if body.media != media {
        let detail = format!("{} instead of {}", body.media.as_str(), media.as_str());
        return Err(Denied::new(DenialRule::BodyMedia, detail));
    }
    let mut value = json::parse(body.bytes)
        .map_err(|error| Denied::new(DenialRule::Json, format!("{} at byte {}", error.what, error.at)))?;
    fields::check(rule, &mut value, grants, place)?;
    Ok(Some(json::write(&value, body.bytes.len())))
}
