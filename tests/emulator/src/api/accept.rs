//! In which form an answer is wanted: the header `Accept`, as the API server reads it.

use http::{HeaderMap, header};

use crate::call::Query;
use crate::error::ApiError;

use super::query;

/// The form of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Form {
    /// What becomes of the objects.
    pub shape: Shape,
    /// In which text they are written.
    pub text: Text,
}

/// What becomes of the objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Shape {
    /// Nothing.
    Whole,
    /// A table for people.
    Table(Version, Include),
    /// The metadata alone.
    Metadata(Version),
    /// The metadata of a list.
    MetadataList(Version),
}

/// The version of a table, or of metadata.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Version {
    /// `v1`
    V1,
    /// `v1beta1`
    V1beta1,
}

impl Version {
    /// What stands in `apiVersion`.
    pub fn api_version(self) -> &'static str {
        match self {
            Version::V1 => "meta.k8s.io/v1",
            Version::V1beta1 => "meta.k8s.io/v1beta1",
        }
    }
}

/// What a row of a table has with it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Include {
    /// The metadata.
    Metadata,
    /// The whole object.
    Object,
    /// Nothing.
    None,
}

/// How an answer is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Text {
    /// JSON, closely.
    Json,
    /// JSON for people.
    Pretty,
    /// YAML.
    Yaml,
}

/// What an endpoint can answer with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Offer {
    /// One object: every form.
    Object,
    /// A list or a watch of objects: every form.
    Collection,
    /// Lists of groups and resources: no other shapes.
    Discovery,
    /// JSON alone.
    Json,
}

struct Clause {
    media: String,
    parameters: Vec<(String, String)>,
    weight: f32,
}

fn clauses(header: &str) -> Vec<Clause> {
    let read = |part: &str| {
        let mut pieces = part.split(';').map(str::trim);
        let media = pieces.next().filter(|media| !media.is_empty())?.to_owned();
        let mut clause = Clause { media, parameters: Vec::new(), weight: 1.0 };
        for (name, value) in pieces.filter_map(|piece| piece.split_once('=')) {
            match name.trim() {
                "q" => clause.weight = value.trim().parse().unwrap_or(1.0),
                name => clause.parameters.push((name.to_owned(), value.trim().trim_matches('"').to_owned())),
            }
        }
        Some(clause)
    };
    let mut clauses: Vec<_> = header.split(',').filter_map(read).collect();
    // Stable: of equal weight the first one wins.
    clauses.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    clauses
}

fn accept(headers: &HeaderMap) -> String {
    let values: Vec<_> = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok()).collect();
    values.join(",")
}

impl Offer {
    fn media(self) -> &'static [&'static str] {
        match self {
            Offer::Json => &["application/json"],
            Offer::Object | Offer::Discovery => &["application/json", "application/yaml", PROTOBUF],
            Offer::Collection => &[
                "application/json",
                "application/yaml",
                PROTOBUF,
                "application/json;stream=watch",
                "application/vnd.kubernetes.protobuf;stream=watch",
            ],
        }
    }
}

const PROTOBUF: &str = "application/vnd.kubernetes.protobuf";

/// Picks a form.
///
/// # Errors
/// 406, and 400 for a wish about tables that makes no sense.
pub fn negotiate(headers: &HeaderMap, query: &Query, offer: Offer) -> Result<Form, ApiError> {
    let header = accept(headers);
    let clauses = clauses(&header);
    let known = |media: &str| media == "*/*" || offer.media().contains(&media);
    if !header.is_empty() && !clauses.iter().any(|clause| known(&clause.media)) {
        let message = format!("406: Not Acceptable\n\nAvailable representations: {}", offer.media().join(", "));
        return Err(ApiError::new(406, "NotAcceptable", message).with(Default::default()));
    }
    let (shape, mut text) = match clauses.iter().find_map(|clause| clause.form(offer)) {
        Some(form) => form,
        None if header.is_empty() => (Shape::Whole, Text::Json),
        None => return Err(no_such_form()),
    };
    if text == Text::Json && wants_pretty(headers, query) {
        text = Text::Pretty;
    }
    let shape = match (shape, query.get("includeObject").unwrap_or_default()) {
        (Shape::Table(version, _), wish) => Shape::Table(version, include(wish)?),
        (other, _) => other,
    };
    Ok(Form { shape, text })
}

fn include(wish: &str) -> Result<Include, ApiError> {
    match wish {
        "" | "Metadata" => Ok(Include::Metadata),
        "Object" => Ok(Include::Object),
        "None" => Ok(Include::None),
        other => Err(ApiError::bad_request(format!(
            "Unable to convert to Table as requested: includeObject: Invalid value: {}: must be 'Metadata', 'Object', \
             'None', or empty",
            crate::quote::quoted(other)
        ))),
    }
}

/// 406 when a media type is known and its parameters are not.
pub fn no_such_form() -> ApiError {
    let message = format!("only the following media types are accepted: {}", Offer::Object.media().join(", "));
    ApiError::new(406, "NotAcceptable", message)
}

/// 406 for a watch in a text that has no streams.
pub fn no_such_stream() -> ApiError {
    ApiError::new(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json;stream=watch, \
         application/vnd.kubernetes.protobuf;stream=watch",
    )
}

impl Clause {
    fn get(&self, name: &str) -> &str {
        self.parameters.iter().find(|(known, _)| known == name).map_or("", |(_, value)| value)
    }

    /// The form that this clause asks for, when it can be had. Protobuf cannot: clients name JSON besides.
    fn form(&self, offer: Offer) -> Option<(Shape, Text)> {
        let text = match self.media.as_str() {
            "application/json" | "application/*" | "*/*" if self.get("pretty") == "1" => Text::Pretty,
            "application/json" | "application/*" | "*/*" => Text::Json,
            "application/yaml" if offer != Offer::Json => Text::Yaml,
            _ => return None,
        };
        let stream = self.get("stream");
        if !stream.is_empty() && stream != "watch" {
            return None;
        }
        let shape = match (self.get("as"), self.get("g"), self.get("v")) {
            ("", "", "") => Shape::Whole,
            _ if matches!(offer, Offer::Json | Offer::Discovery) => return None,
            (kind, "meta.k8s.io", version) => {
                let version = match version {
                    "v1" => Version::V1,
                    "v1beta1" => Version::V1beta1,
                    _ => return None,
                };
                match kind {
                    "Table" => Shape::Table(version, Include::Metadata),
                    "PartialObjectMetadata" => Shape::Metadata(version),
                    "PartialObjectMetadataList" => Shape::MetadataList(version),
                    _ => return None,
                }
            }
            _ => return None,
        };
        Some((shape, text))
    }
}

/// Browsers and command line tools get a text for people, unless the query says otherwise.
fn wants_pretty(headers: &HeaderMap, query: &Query) -> bool {
    if let Some(wish) = query.get("pretty").filter(|wish| !wish.is_empty()) {
        return matches!(wish, "1" | "t" | "T" | "TRUE" | "true" | "True");
    }
    let agent = headers.get(header::USER_AGENT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    ["curl", "Wget", "Mozilla/5.0"].iter().any(|tool| agent.starts_with(tool))
}

/// The text for an answer that has one shape only, such as an error: whatever was asked for, there is an answer.
pub fn text(headers: &HeaderMap, query: &Query) -> Text {
    let yaml = clauses(&accept(headers)).first().is_some_and(|clause| clause.media == "application/yaml");
    match () {
        () if yaml => Text::Yaml,
        () if wants_pretty(headers, query) => Text::Pretty,
        () => Text::Json,
    }
}

/// Whether the groups and resources are wanted in one piece.
pub fn wants_aggregated(headers: &HeaderMap) -> bool {
    let aggregated = |clause: &Clause| {
        clause.media == "application/json"
            && (clause.get("as"), clause.get("g"), clause.get("v"))
                == ("APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2")
    };
    // What comes first, of the two that can be had.
    let plain = |clause: &Clause| ["application/json", "*/*"].contains(&&*clause.media) && clause.get("as").is_empty();
    clauses(&accept(headers)).iter().find(|clause| aggregated(clause) || plain(clause)).is_some_and(aggregated)
}

/// How long a request may take, if it says so: `timeout` in the query.
///
/// # Errors
/// 400 for what is no duration.
pub fn check_timeout(query: &Query) -> Result<(), ApiError> {
    let Some(text) = query.get("timeout").filter(|text| !text.is_empty()) else { return Ok(()) };
    query::check_duration(text)
        .map_err(|why| ApiError::bad_request(format!("invalid timeout specified in the request URL - time: {why}")))
}
