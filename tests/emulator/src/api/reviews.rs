//! The reviews: who may do what, and who asks. Nothing is stored.

use serde_json::{Map, Value, json};

use crate::authorize::{self, Attributes, Rule};
use crate::call::User;
use crate::error::{ApiError, Cause};
use crate::state::State;

use super::protobuf;
use crate::quote::quoted;

/// Answers a review of this plural.
///
/// # Errors
/// For a body that is no such review.
pub fn answer(
    state: &State,
    user: &User,
    plural: &str,
    namespace: &str,
    media: &str,
    body: &[u8],
) -> Result<Value, ApiError> {
    let (group, kind) = match plural {
        "selfsubjectreviews" => ("authentication.k8s.io/v1", "SelfSubjectReview"),
        "selfsubjectrulesreviews" => ("authorization.k8s.io/v1", "SelfSubjectRulesReview"),
        "selfsubjectaccessreviews" => ("authorization.k8s.io/v1", "SelfSubjectAccessReview"),
        "localsubjectaccessreviews" => ("authorization.k8s.io/v1", "LocalSubjectAccessReview"),
        _ => ("authorization.k8s.io/v1", "SubjectAccessReview"),
    };
    let asked = read(media, body, group, kind)?;
    let mut answer = match kind {
        "SelfSubjectReview" => json!({
            "metadata": {"creationTimestamp": state.clock.seconds()},
            "status": {"userInfo": info(user)},
        }),
        "SelfSubjectRulesReview" => rules(state, user, &asked)?,
        "SelfSubjectAccessReview" => access(state, user, &asked, None)?,
        _ => {
            let other = subject(&asked);
            let local = (kind == "LocalSubjectAccessReview").then_some(namespace);
            access(state, &other, &asked, Some(local))?
        }
    };
    if let Some(map) = answer.as_object_mut() {
        map.insert("kind".to_owned(), kind.into());
        map.insert("apiVersion".to_owned(), group.into());
    }
    Ok(answer)
}

fn read(media: &str, body: &[u8], version: &str, kind: &str) -> Result<Value, ApiError> {
    if media == protobuf::MEDIA {
        return protobuf::decode(body, version, kind);
    }
    if !["", "application/json", "application/yaml"].contains(&media) {
        return Err(ApiError::new(
            415,
            "UnsupportedMediaType",
            "the body of the request was in an unknown format - accepted media types include: application/json, \
             application/yaml, application/vnd.kubernetes.protobuf",
        ));
    }
    let unrecognized = |why: String| {
        let start: String = match body {
            [] => "<empty>".to_owned(),
            [b'{', ..] => {
                let more = if body.len() > 30 { " ..." } else { "" };
                format!("{}{more}", String::from_utf8_lossy(body.get(..30).unwrap_or(body)))
            }
            _ => {
                let more = if body.len() > 30 { " ..." } else { "" };
                let hex: String = body.iter().take(30).map(|byte| format!("{byte:02x}")).collect();
                hex + more
            }
        };
        ApiError::bad_request(format!("the object provided is unrecognized (must be of type {kind}): {why} ({start})"))
    };
    let value: Value = serde_json::from_slice(body)
        .map_err(|error| unrecognized(format!("couldn't get version/kind; json parse error: {error}")))?;
    if !value.is_object() {
        return Err(unrecognized("couldn't get version/kind; json parse error: not an object".to_owned()));
    }
    let said = |name: &str, otherwise: &str| value.get(name).and_then(Value::as_str).unwrap_or(otherwise).to_owned();
    let (said_kind, said_version) = (said("kind", kind), said("apiVersion", version));
    if said_kind != kind || said_version != version {
        let message = format!("{said_kind} in version {} cannot be handled as a {kind}", quoted(&said_version));
        return Err(ApiError::bad_request(message));
    }
    Ok(value)
}

fn rules(state: &State, user: &User, asked: &Value) -> Result<Value, ApiError> {
    let namespace = asked.pointer("/spec/namespace").and_then(Value::as_str).unwrap_or_default();
    if namespace.is_empty() {
        return Err(ApiError::bad_request("no namespace on request"));
    }
    let (mut rules, missing) = authorize::rules_for(state, user, namespace);
    if user.groups.iter().any(|group| group == "system:masters") && rules.is_empty() {
        rules = authorize::builtin_role("cluster-admin").unwrap_or_default();
    }
    let of_paths: Vec<_> = rules.iter().filter(|rule| !rule.paths.is_empty()).map(path_rule).collect();
    let of_resources: Vec<_> = rules.iter().filter(|rule| !rule.resources.is_empty()).map(resource_rule).collect();
    let mut status = json!({"resourceRules": of_resources, "nonResourceRules": of_paths, "incomplete": false});
    if let Some(map) = status.as_object_mut().filter(|_| !missing.is_empty()) {
        map.insert("evaluationError".to_owned(), missing.join(", ").into());
    }
    Ok(json!({"metadata": {}, "spec": {}, "status": status}))
}

fn path_rule(rule: &Rule) -> Value {
    json!(Rule { resources: Vec::new(), api_groups: Vec::new(), resource_names: Vec::new(), ..rule.clone() })
}

fn resource_rule(rule: &Rule) -> Value {
    json!(Rule { paths: Vec::new(), ..rule.clone() })
}

/// What is known of a user.
fn info(user: &User) -> Value {
    let mut info = json!({"username": user.name, "groups": user.groups});
    if let Some(map) = info.as_object_mut() {
        if !user.uid.is_empty() {
            map.insert("uid".to_owned(), user.uid.as_str().into());
        }
        if !user.extra.is_empty() {
            map.insert("extra".to_owned(), json!(user.extra));
        }
    }
    info
}

/// Somebody else than who asks.
fn subject(asked: &Value) -> User {
    let groups = asked.pointer("/spec/groups").and_then(Value::as_array).into_iter().flatten();
    User {
        name: asked.pointer("/spec/user").and_then(Value::as_str).unwrap_or_default().to_owned(),
        groups: groups.filter_map(Value::as_str).map(str::to_owned).collect(),
        ..User::default()
    }
}

/// `other` says that it is about somebody else, and within it the namespace that it must be about.
fn access(state: &State, user: &User, asked: &Value, other: Option<Option<&str>>) -> Result<Value, ApiError> {
    let part = |name: &str| asked.pointer(&format!("/spec/{name}")).and_then(Value::as_object);
    let (of_resource, of_path) = (part("resourceAttributes"), part("nonResourceAttributes"));
    let text =
        |map: &Map<String, Value>, name: &str| map.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut causes = Vec::new();
    if let (Some(_), Some(path)) = (of_resource, of_path) {
        let shown = format!("{{\"Path\":{},\"Verb\":{}}}", quoted(&text(path, "path")), quoted(&text(path, "verb")));
        let why = "cannot be specified in combination with resourceAttributes";
        causes.push(invalid("spec.nonResourceAttributes", &shown, why));
    }
    if of_resource.is_none() && of_path.is_none() {
        let why = "exactly one of nonResourceAttributes or resourceAttributes must be specified";
        causes.push(invalid("spec.resourceAttributes", "null", why));
    }
    if other.is_some() && user.name.is_empty() && user.groups.is_empty() {
        causes.push(invalid("spec.user", "\"\"", "at least one of user or group must be specified"));
    }
    let own_namespace = asked.pointer("/metadata/namespace").and_then(Value::as_str);
    if let Some(Some(namespace)) = other {
        let own_namespace = own_namespace.unwrap_or(namespace);
        let meant = of_resource.map(|map| text(map, "namespace"));
        if let Some(meant) = meant.filter(|meant| meant != own_namespace) {
            causes.push(invalid("spec.resourceAttributes.namespace", &quoted(&meant), "must match metadata.namespace"));
        }
        if own_namespace != namespace {
            let message = "the namespace of the provided object does not match the namespace sent on the request";
            return Err(ApiError::bad_request(message));
        }
    }
    if !causes.is_empty() {
        return Err(ApiError::invalid("authorization.k8s.io", "", "", causes));
    }
    let wanted = match (of_resource, of_path) {
        (Some(map), _) => Attributes {
            verb: text(map, "verb"),
            of_resource: true,
            path: String::new(),
            group: text(map, "group"),
            resource: text(map, "resource"),
            subresource: text(map, "subresource"),
            namespace: text(map, "namespace"),
            name: text(map, "name"),
        },
        (None, Some(map)) => Attributes { verb: text(map, "verb"), path: text(map, "path"), ..Attributes::default() },
        (None, None) => Attributes::default(),
    };
    let decision = authorize::decide(state, user, &wanted);
    let mut status = json!({"allowed": decision.allowed});
    if let Some(map) = status.as_object_mut().filter(|_| !decision.reason.is_empty()) {
        map.insert("reason".to_owned(), decision.reason.into());
    }
    let mut metadata = json!({});
    if let (Some(map), Some(Some(namespace))) = (metadata.as_object_mut(), other) {
        map.insert("namespace".to_owned(), namespace.into());
    }
    Ok(json!({"metadata": metadata, "spec": asked.get("spec").map(without_empty_texts), "status": status}))
}

/// The attributes that were asked about, as they are answered: an empty text is as good as none.
fn without_empty_texts(spec: &Value) -> Value {
    let mut spec = spec.clone();
    for part in ["resourceAttributes", "nonResourceAttributes"] {
        if let Some(map) = spec.get_mut(part).and_then(Value::as_object_mut) {
            map.retain(|_, value| !value.is_null() && value.as_str() != Some(""));
        }
    }
    spec
}

fn invalid(field: &str, value: &str, why: &str) -> Cause {
    let message = format!("Invalid value: {value}: {why}");
    Cause { reason: "FieldValueInvalid", message, field: field.to_owned() }
}
