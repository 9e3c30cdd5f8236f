//! Replacing an object, or a part of it.

use std::cell::RefCell;

use serde_json::Value;

use super::body::{self, Expected};
use super::create::{empty, namespace_matches, store};
use super::options::{Options, Verb};
use super::{scale, strategy, warnings};
use crate::call::{Call, WriteResult, Written};
use crate::error::ApiError;
use crate::managed::{self, Writer};
use crate::quote::quoted;
use crate::registry::metadata;
use crate::resource::{NODES, Resource};
use crate::store::Key;
use crate::value::{put, text};
use crate::{defaults, validate};

/// Puts the object in the body in the place of the one that is there.
///
/// # Errors
/// As the server answers.
pub fn update(call: &Call<'_>) -> WriteResult {
    let options = Options::read(call, Verb::Update)?;
    if call.target.subresource == "scale" {
        return scale::update(call, &options);
    }
    let (resource, key) = (call.target.resource, call.target.key());
    let expected = Expected::object(resource);
    let (mut value, mut warnings) = body::object(call, expected, options.validation)?;
    defaults::complete(resource.kind, &mut value);
    namespace_matches(resource, &call.target.namespace, &mut value)?;
    name_matches(call, &value)?;
    let uid = text(&value, "/metadata/uid").to_owned();
    if call.state.store.get(&key).is_none() && call.target.subresource.is_empty() && strategy::made_by_update(resource)
    {
        return make(call, value, &options, warnings);
    }
    let seen = RefCell::new(Vec::new());
    let written = rewrite(call, &options, &seen, |before| {
        seen.borrow_mut().clear();
        let known = text(before, "/metadata/uid");
        if !uid.is_empty() && uid != known {
            return Err(another_object(&key, &uid, known));
        }
        let mut after = value.clone();
        own(call, &options, before, &mut after);
        Ok(after)
    })?;
    warnings.append(&mut seen.into_inner());
    Ok(Written { code: 200, value: written, warnings })
}

/// A PUT of something that is not there, where that makes it.
fn make(call: &Call<'_>, mut value: Value, options: &Options, mut warnings: Vec<String>) -> WriteResult {
    let mut live = empty(Expected::object(call.target.resource));
    body::name(&mut live, Expected::object(call.target.resource));
    metadata(&mut value).remove("uid");
    own(call, options, &live, &mut value);
    let (value, mut more) = store(call, value, options.dry_run)?;
    warnings.append(&mut more);
    Ok(Written { code: 201, value, warnings })
}

/// Gives the fields that changed to who asks.
pub(super) fn own(call: &Call<'_>, options: &Options, before: &Value, after: &mut Value) {
    let resource = call.target.resource;
    let (version, now) = (resource.api_version(), call.state.clock.seconds());
    let subresource = call.target.subresource.as_str();
    let reset = strategy::reset(resource, subresource);
    let writer = Writer { manager: &options.manager, version: &version, subresource, now: &now, reset };
    managed::update(before, after, Expected::object(resource).schema(), writer);
}

/// An object in a request has the name of the request.
pub(super) fn name_matches(call: &Call<'_>, value: &Value) -> Result<(), ApiError> {
    let (said, name) = (text(value, "/metadata/name"), &call.target.name);
    if said.is_empty() {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({name} based on URL) was undeterminable: name must be provided"
        )));
    }
    if said != name {
        return Err(ApiError::bad_request(format!(
            "the name of the object ({said}) does not match the name on the URL ({name})"
        )));
    }
    Ok(())
}

/// 409 for a PUT of another object, in the words of the storage.
pub(super) fn another_object(key: &Key, uid: &str, known: &str) -> ApiError {
    let resource = key.resource;
    let folder = if resource == &NODES { "minions" } else { resource.plural };
    let why = format!(
        "StorageError: invalid object, Code: 4, Key: /registry/{folder}/{}, ResourceVersion: 0, AdditionalErrorMsg: \
         Precondition failed: UID in precondition: {uid}, UID in object meta: {known}",
        key.path()
    );
    ApiError::conflict(resource.group, resource.plural, key.name(), &why)
}

/// Looks at the version that a new object names: it must be that of the old one, unless none is named.
pub(super) fn version_matches(resource: &Resource, before: &Value, after: &mut Value) -> Result<(), ApiError> {
    let said = text(after, "/metadata/resourceVersion").to_owned();
    let known = text(before, "/metadata/resourceVersion");
    let number = if said.is_empty() {
        0
    } else {
        said.parse::<u64>().map_err(|_| {
            let quoted = quoted(&said);
            ApiError::new(500, "", format!("strconv.ParseUint: parsing {quoted}: invalid syntax"))
        })?
    };
    if number != 0 && number.to_string() != known {
        return Err(ApiError::stale(resource, text(before, "/metadata/name")));
    }
    metadata(after).insert("resourceVersion".to_owned(), known.into());
    Ok(())
}

/// Changes an object as the registry does: with `change` for what a request wants of the object. What is to be warned
/// about is added to `warned`, which `change` begins anew each time that it is asked.
pub(super) fn rewrite(
    call: &Call<'_>,
    options: &Options,
    warned: &RefCell<Vec<String>>,
    change: impl Fn(&Value) -> Result<Value, ApiError>,
) -> Result<Value, ApiError> {
    let (resource, key) = (call.target.resource, call.target.key());
    // A scale is written like the object itself.
    let subresource = Some(call.target.subresource.as_str()).filter(|name| *name != "scale").unwrap_or_default();
    call.state.rewrite(&key, options.dry_run, |before| {
        let mut after = change(before)?;
        version_matches(resource, before, &mut after)?;
        finish(resource, subresource, before, &mut after)?;
        if subresource.is_empty() {
            warned.borrow_mut().extend(warnings::of_changed(resource, before, &after));
        }
        Ok(after)
    })
}

/// What the registry does to a changed object before it is stored.
fn finish(resource: &Resource, subresource: &str, before: &Value, after: &mut Value) -> Result<(), ApiError> {
    let of = |field: &str| before.pointer(&format!("/metadata/{field}"));
    if let Some(metadata) = after.get_mut("metadata") {
        put(metadata, "generation", of("generation"));
        put(metadata, "creationTimestamp", of("creationTimestamp"));
        put(metadata, "selfLink", None);
        if text(metadata, "/uid").is_empty() {
            put(metadata, "uid", of("uid"));
        }
        if of("deletionTimestamp").is_some() {
            put(metadata, "deletionTimestamp", of("deletionTimestamp"));
        }
        if metadata.get("deletionGracePeriodSeconds").is_none() {
            put(metadata, "deletionGracePeriodSeconds", of("deletionGracePeriodSeconds"));
        }
    }
    strategy::before_update(resource, subresource, before, after);
    validate::updated(resource, subresource, before, after)?;
    managed::ignore_times(before, after);
    Ok(())
}
