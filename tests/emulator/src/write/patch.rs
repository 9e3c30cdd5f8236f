//! Changing an object by a patch.

use std::cell::RefCell;

use serde_json::Value;

use super::body::{self, Expected};
use super::create::{empty, namespace_matches, store};
use super::options::{Options, Validation, Verb, unreadable_patch, unsupported_patch};
use super::update::{name_matches, own, rewrite};
use super::{scale, strategy};
use crate::call::{Call, WriteResult, Written};
use crate::defaults;
use crate::error::ApiError;
use crate::managed::{self, Application, Writer};
use crate::patch::{Failure, go_format, json, merge, strategic};
use crate::schema::node::Node;
use crate::schema::{decode, of};
use crate::value::{has, text};

/// A patch, read.
#[derive(Debug)]
pub(super) enum Change {
    Json(json::Patch),
    Merge(Value, Vec<String>),
    Strategic(Value, Vec<String>),
    Apply(Value),
}

/// Patches an object.
///
/// # Errors
/// As the server answers.
pub fn patch(call: &Call<'_>) -> WriteResult {
    let apply = call.media == "application/apply-patch+yaml";
    let known = ["application/json-patch+json", "application/merge-patch+json"];
    if !apply && !known.contains(&call.media) && call.media != "application/strategic-merge-patch+json" {
        return Err(unsupported_patch());
    }
    let options = Options::read(call, Verb::Patch { apply })?;
    let mut warnings = Vec::new();
    let resource = call.target.resource;
    if call.state.store.get(&call.target.key()).is_none() {
        return match apply && call.target.subresource.is_empty() {
            true => make(call, &options),
            false => Err(ApiError::not_found(resource, &call.target.name)),
        };
    }
    let change = read(call, &options, &mut warnings)?;
    if call.target.subresource == "scale" {
        return scale::patch(call, &options, &change, warnings);
    }
    let seen = RefCell::new(Vec::new());
    let value = rewrite(call, &options, &seen, |before| {
        seen.borrow_mut().clear();
        let mut after = changed(call, Expected::object(resource), &options, &change, before, &seen)?;
        namespace_matches(resource, &call.target.namespace, &mut after)?;
        name_matches(call, &after)?;
        Ok(after)
    })?;
    warnings.append(&mut seen.into_inner());
    Ok(Written { code: 200, value, warnings })
}

/// Reads a patch, and adds what is to be warned about.
pub(super) fn read(call: &Call<'_>, options: &Options, warnings: &mut Vec<String>) -> Result<Change, ApiError> {
    let lenient = options.validation == Validation::Ignore;
    let parse = |prefix: &str| Node::parse(call.body).map_err(|why| ApiError::bad_request(format!("{prefix}{why}")));
    let object = |node: &Node, prefix: &str| match node {
        Node::Map(_) => Ok(node.value()),
        Node::Null => Ok(Value::Object(serde_json::Map::new())),
        other => Err(ApiError::bad_request(format!(
            "{prefix}json: cannot unmarshal {} into Go value of type map[string]interface {{}}",
            other.go_kind()
        ))),
    };
    let doubles = |node: &Node| if lenient { Vec::new() } else { node.duplicates() };
    Ok(match call.media {
        "application/json-patch+json" => {
            let mut patch = json::Patch::parse(&parse("error decoding patch: ")?).map_err(Failure::answer)?;
            if lenient {
                patch.strict.clear();
            }
            Change::Json(patch)
        }
        "application/merge-patch+json" => {
            let node = parse("error decoding patch: ")?;
            Change::Merge(object(&node, "error decoding patch: ")?, doubles(&node))
        }
        "application/strategic-merge-patch+json" => {
            let node = parse("")?;
            Change::Strategic(object(&node, "")?, doubles(&node))
        }
        _ => {
            let prefix = "error decoding YAML: ";
            let node = body::yaml(call.body).map_err(|why| ApiError::bad_request(format!("{prefix}{why}")))?;
            let doubles = doubles(&node);
            if options.validation == Validation::Strict && !doubles.is_empty() {
                let why = format!("error strict decoding YAML: {}", doubles.join(", "));
                return Err(ApiError::bad_request(why));
            }
            warnings.extend(doubles);
            Change::Apply(object(&node, prefix)?)
        }
    })
}

/// The object after a patch: applied, read again, completed, and owned.
pub(super) fn changed(
    call: &Call<'_>,
    expected: Expected,
    options: &Options,
    change: &Change,
    before: &Value,
    warnings: &RefCell<Vec<String>>,
) -> Result<Value, ApiError> {
    let kind = expected.schema();
    let mut patched = before.clone();
    let strict = match change {
        Change::Apply(config) => return applied(call, expected, options, config, before),
        Change::Json(patch) => {
            patch.apply(&mut patched).map_err(Failure::answer)?;
            &patch.strict
        }
        Change::Merge(patch, strict) => {
            merge::apply(&mut patched, patch);
            strict
        }
        Change::Strategic(patch, strict) => {
            patched = strategic::apply(before, patch, kind).map_err(Failure::answer)?;
            strict
        }
    };
    let shown = || match change {
        Change::Json(patch) => merge::text(&patched, &patch.touched(), Some(kind)),
        Change::Merge(patch, _) => merge::text(&patched, patch, Some(kind)),
        Change::Strategic(patch, _) | Change::Apply(patch) => go_format(patch),
    };
    let decoded = decode::decode(&Node::from(&patched), kind).map_err(|why| {
        let why = if matches!(change, Change::Strategic(..)) { restored(&why) } else { why };
        unreadable_patch(&shown(), &why)
    })?;
    let mut complaints = strict.to_vec();
    complaints.extend(decoded.strict);
    match options.validation {
        Validation::Strict if !complaints.is_empty() => {
            let why = format!("strict decoding error: {}", complaints.join(", "));
            return Err(unreadable_patch(&shown(), &why));
        }
        Validation::Warn => *warnings.borrow_mut() = complaints,
        _ => {}
    }
    let mut after = decoded.value;
    body::name(&mut after, expected);
    defaults::complete(expected.kind, &mut after);
    if call.target.subresource == "scale" {
        scale::own(call, options, before, &mut after);
    } else {
        own(call, options, before, &mut after);
    }
    Ok(after)
}

/// A strategic merge patch is not read from text, so its complaints have other words.
fn restored(why: &str) -> String {
    let words: Vec<&str> = why.split(' ').collect();
    let (found, wanted) = (words.get(3).copied().unwrap_or_default(), words.last().copied().unwrap_or_default());
    let source = match found {
        "string" | "bool" => found,
        "number" => "int64",
        "array" => "slice",
        "object" => "map",
        _ => return why.to_owned(),
    };
    // Of the types with names of their own, those that are no structs are texts.
    let structure = wanted.strip_prefix("v1.").is_some_and(|name| !of(name).fields.is_empty());
    let scalar = match wanted {
        "int32" | "int64" | "bool" => wanted,
        _ => "string",
    };
    match (wanted, source) {
        (list, source) if list.starts_with("[]") => format!("cannot restore slice from {source}"),
        (map, source) if map.starts_with("map[") => format!("cannot restore map from {source}"),
        _ if structure => format!("cannot restore struct from: {source}"),
        (wanted, "int64") if scalar == "string" => format!("cannot convert int64 to {wanted}"),
        _ => format!("unrecognized type: {scalar}"),
    }
}

fn applied(
    call: &Call<'_>,
    expected: Expected,
    options: &Options,
    config: &Value,
    before: &Value,
) -> Result<Value, ApiError> {
    let (version, now) = (expected.api_version(), call.state.clock.seconds());
    let (resource, subresource) = (call.target.resource, call.target.subresource.as_str());
    let reset = if subresource == "scale" { &[] } else { strategy::reset(resource, subresource) };
    let writer = Writer { manager: &options.manager, version: &version, subresource, now: &now, reset };
    managed::apply(before, Application { config, force: options.force, writer }, expected.schema())
}

/// An apply of something that is not there makes it.
fn make(call: &Call<'_>, options: &Options) -> WriteResult {
    let mut warnings = Vec::new();
    let Change::Apply(config) = read(call, options, &mut warnings)? else {
        return Err(ApiError::not_found(call.target.resource, &call.target.name));
    };
    let expected = Expected::object(call.target.resource);
    let mut live = empty(expected);
    body::name(&mut live, expected);
    let mut value = applied(call, expected, options, &config, &live)?;
    if has(&value, "/metadata/uid") && !text(&value, "/metadata/uid").is_empty() {
        let (resource, uid) = (call.target.resource, text(&value, "/metadata/uid"));
        let why = format!("uid mismatch: the provided object specified uid {uid}, and no existing object was found");
        return Err(ApiError::conflict(resource.group, resource.plural, &call.target.name, &why));
    }
    namespace_matches(call.target.resource, &call.target.namespace, &mut value)?;
    name_matches(call, &value)?;
    let (value, mut more) = store(call, value, options.dry_run)?;
    warnings.append(&mut more);
    Ok(Written { code: 201, value, warnings })
}
