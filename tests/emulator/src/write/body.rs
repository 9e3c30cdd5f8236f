//! Reading an object from the body of a request.

use serde_json::Value;

use super::options::{Validation, unsupported_media};
use crate::call::Call;
use crate::error::ApiError;
use crate::resource::{self, Resource};
use crate::schema::node::Node;
use crate::schema::{Type, decode, of};

/// What a body may be. The last is named by the server, but no client of ours sends it.
pub(super) const ACCEPTED: &[&str] = &["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/// How much of a body that cannot be read is shown.
const SHOWN: usize = 30;

/// Reads the body as its media type says.
pub(super) fn parse(call: &Call<'_>, accepted: &[&str]) -> Result<Result<Node, String>, ApiError> {
    match call.media {
        "" | "application/json" => Ok(Node::parse(call.body)),
        "application/yaml" => Ok(yaml(call.body)),
        _ => Err(unsupported_media(accepted)),
    }
}

/// Reads YAML. JSON is YAML too, and is what most clients send under its name.
pub(super) fn yaml(text: &[u8]) -> Result<Node, String> {
    Node::parse(text).or_else(|_| serde_saphyr::from_slice(text).map_err(|why| why.to_string()))
}

/// What is expected: the kind, its group and version, and the words of the server for it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Expected {
    pub(super) kind: &'static str,
    pub(super) group: &'static str,
    pub(super) version: &'static str,
}

impl Expected {
    pub(super) fn object(resource: &'static Resource) -> Expected {
        Expected { kind: resource.kind, group: resource.group, version: resource.version }
    }

    pub(super) fn scale() -> Expected {
        Expected { kind: "Scale", group: "autoscaling", version: "v1" }
    }

    pub(super) fn schema(self) -> &'static Type {
        of(self.kind)
    }

    pub(super) fn api_version(self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }
}

/// Reads an object, and what is to be warned about.
pub(super) fn object(
    call: &Call<'_>,
    expected: Expected,
    validation: Validation,
) -> Result<(Value, Vec<String>), ApiError> {
    let unrecognized = |why: &str| {
        let kind = expected.kind;
        let shown = summary(call.body);
        ApiError::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why} ({shown})"))
    };
    let node = parse(call, ACCEPTED)?
        .map_err(|why| unrecognized(&format!("couldn't get version/kind; json parse error: {why}")))?;
    let said = |field: &str| match node.get(field) {
        None | Some(Node::Null) => Ok(String::new()),
        Some(Node::Text(text)) => Ok(text.clone()),
        Some(other) => Err(unrecognized(&format!(
            "couldn't get version/kind; json parse error: json: cannot unmarshal {} into Go struct field .{field} of type string",
            other.go_kind()
        ))),
    };
    if !matches!(node, Node::Map(_) | Node::Null) {
        let why = format!(
            "json: cannot unmarshal {} into Go value of type struct {{ APIVersion string \"json:\\\"apiVersion,omitempty\\\"\"; Kind string \"json:\\\"kind,omitempty\\\"\" }}",
            node.go_kind()
        );
        return Err(unrecognized(&format!("couldn't get version/kind; json parse error: {why}")));
    }
    let (mut kind, mut version) = (said("kind")?, said("apiVersion")?);
    if kind.is_empty() {
        expected.kind.clone_into(&mut kind);
    }
    if version.is_empty() {
        version = expected.api_version();
    }
    let (group, bare) = version.split_once('/').unwrap_or(("", &version));
    let refuse = |why: &str| {
        let expected = expected.kind;
        ApiError::bad_request(format!("{kind} in version {bare:?} cannot be handled as a {expected}: {why}"))
    };
    if (kind.as_str(), version.as_str()) != (expected.kind, &expected.api_version()) {
        return Err(of_another_kind(&kind, group, bare, &version, expected, refuse));
    }
    let decoded = decode::decode(&node, expected.schema()).map_err(|why| refuse(&why))?;
    let mut value = decoded.value;
    name(&mut value, expected);
    match validation {
        Validation::Strict if !decoded.strict.is_empty() => {
            Err(refuse(&format!("strict decoding error: {}", decoded.strict.join(", "))))
        }
        Validation::Warn => Ok((value, decoded.strict)),
        _ => Ok((value, Vec::new())),
    }
}

/// Says in an object what it is.
pub(super) fn name(value: &mut Value, expected: Expected) {
    crate::value::put(value, "kind", Some(&expected.kind.into()));
    crate::value::put(value, "apiVersion", Some(&expected.api_version().into()));
}

fn of_another_kind(
    kind: &str,
    group: &str,
    bare: &str,
    version: &str,
    expected: Expected,
    refuse: impl Fn(&str) -> ApiError,
) -> ApiError {
    let old = group == "apps" && matches!(bare, "v1beta1" | "v1beta2");
    if kind == expected.kind && group == expected.group && old {
        return ApiError::bad_request(format!(
            "the API version in the data ({version}) does not match the expected API version ({})",
            expected.api_version()
        ));
    }
    let known = resource::of_kind(group, kind).is_some_and(|resource| resource.version == bare)
        || (group, bare, kind) == ("autoscaling", "v1", "Scale");
    if known {
        let package = |group: &str| match group.split('.').next() {
            None | Some("") => "core".to_owned(),
            Some(first) => first.to_owned(),
        };
        let wanted = format!("{}.{}", package(expected.group), expected.kind);
        return refuse(&format!("converting (v1.{kind}) to ({wanted}): unknown conversion"));
    }
    refuse(&format!(
        "no kind \"{kind}\" is registered for version \"{version}\" in scheme \"pkg/api/legacyscheme/scheme.go:30\""
    ))
}

fn summary(body: &[u8]) -> String {
    let cut = body.get(..SHOWN).unwrap_or(body);
    let more = if body.len() > SHOWN { " ..." } else { "" };
    match body.first() {
        None => "<empty>".to_owned(),
        Some(b'{') => format!("{}{more}", String::from_utf8_lossy(cut)),
        Some(_) => format!("{}{more}", cut.iter().map(|byte| format!("{byte:02x}")).collect::<String>()),
    }
}
