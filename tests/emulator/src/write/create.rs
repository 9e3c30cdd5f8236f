//! Creating an object.

use serde_json::Value;

use super::body::{self, Expected};
use super::options::{Options, Verb};
use super::{strategy, warnings};
use crate::admission;
use crate::call::{Call, WriteResult, Written};
use crate::error::{ApiError, Details};
use crate::managed::{self, Writer};
use crate::registry::metadata;
use crate::resource::Resource;
use crate::schema::{decode, of};
use crate::state::State;
use crate::value::{put, text};
use crate::{defaults, validate};

/// How often a name is made up when the one before was taken.
const NAMES: usize = 8;

/// How much of `generateName` is taken.
const BASE: usize = 58;

/// Makes the object in the body.
///
/// # Errors
/// As the server answers.
pub fn create(call: &Call<'_>) -> WriteResult {
    let resource = call.target.resource;
    // The form of the body is looked at before the options are.
    if !matches!(call.media, "" | "application/json" | "application/yaml") {
        return Err(super::options::unsupported_media(body::ACCEPTED));
    }
    let options = Options::read(call, Verb::Create)?;
    let expected = Expected::object(resource);
    let (mut value, warnings) = body::object(call, expected, options.validation)?;
    defaults::complete(resource.kind, &mut value);
    if let Some(metadata) = value.get_mut("metadata") {
        for field in ["creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds", "uid", "selfLink"] {
            put(metadata, field, None);
        }
    }
    namespace_matches(resource, &call.target.namespace, &mut value)?;
    let mut live = empty(expected);
    body::name(&mut live, expected);
    let now = call.state.clock.seconds();
    let version = expected.api_version();
    let reset = strategy::reset(resource, "");
    let writer = Writer { manager: &options.manager, version: &version, subresource: "", now: &now, reset };
    managed::update(&live, &mut value, of(resource.kind), writer);
    let (value, mut more) = store(call, value, options.dry_run)?;
    let mut all = warnings;
    all.append(&mut more);
    Ok(Written { code: 201, value, warnings: all })
}

/// An object in which nobody has set anything.
pub(super) fn empty(expected: Expected) -> Value {
    decode::tidy(&Value::Object(serde_json::Map::new()), expected.schema()).unwrap_or_default()
}

/// An object in a request is in the namespace of the request; it may leave that out.
pub(super) fn namespace_matches(resource: &Resource, namespace: &str, value: &mut Value) -> Result<(), ApiError> {
    let said = text(value, "/metadata/namespace").to_owned();
    if !resource.namespaced {
        metadata(value).remove("namespace");
        return Ok(());
    }
    if said.is_empty() {
        metadata(value).insert("namespace".to_owned(), namespace.into());
    } else if said != namespace {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(ApiError::bad_request(why));
    }
    Ok(())
}

/// How a new object is stored.
#[derive(Debug, Clone, Copy)]
pub(super) struct Making<'a> {
    pub(super) state: &'a State,
    pub(super) resource: &'static Resource,
    pub(super) namespace: &'a str,
    pub(super) dry_run: bool,
    /// By a POST: only that minds a version, which what was there before may still have.
    pub(super) posted: bool,
    /// From a client, whose objects may be anything.
    pub(super) checked: bool,
}

/// Admits, checks and stores a new object. Says what is to be warned about.
pub(super) fn store(call: &Call<'_>, value: Value, dry_run: bool) -> Result<(Value, Vec<String>), ApiError> {
    let target = call.target;
    Making {
        state: call.state,
        resource: target.resource,
        namespace: &target.namespace,
        dry_run,
        posted: target.name.is_empty(),
        checked: true,
    }
    .store(value)
}

impl Making<'_> {
    pub(super) fn store(self, mut value: Value) -> Result<(Value, Vec<String>), ApiError> {
        let (state, resource, namespace) = (self.state, self.resource, self.namespace);
        let said = text(&value, "/metadata/name").to_owned();
        let base = text(&value, "/metadata/generateName").to_owned();
        // How messages call it while it has no name.
        let called = [said.as_str(), base.as_str()].into_iter().find(|name| !name.is_empty()).unwrap_or("Unknown");
        admission::namespace_is_there(state, resource, namespace, called)?;
        admission::complete(state, resource, namespace, &mut value)?;
        let generated = said.is_empty() && !base.is_empty();
        let mut tries = 0;
        loop {
            tries += 1;
            let mut value = value.clone();
            if generated {
                let base: String = base.chars().take(BASE).collect();
                let name = format!("{base}{}", state.suffix());
                metadata(&mut value).insert("name".to_owned(), name.into());
                defaults::complete(resource.kind, &mut value);
            }
            match self.store_named(value) {
                Err(error) if generated && error.reason == "AlreadyExists" => {
                    if tries == NAMES {
                        return Err(no_name_left(error));
                    }
                }
                made => return made,
            }
        }
    }

    fn store_named(self, mut value: Value) -> Result<(Value, Vec<String>), ApiError> {
        let resource = self.resource;
        strategy::before_create(resource, &mut value);
        if resource.generation {
            metadata(&mut value).insert("generation".to_owned(), 1.into());
        } else {
            metadata(&mut value).remove("generation");
        }
        let mut warned = Vec::new();
        if self.checked {
            validate::created(resource, &value)?;
            warned = warnings::of_new(resource, &value);
        }
        admission::quota::admit(self.state, resource, self.namespace, &value, self.dry_run)?;
        if self.posted && !text(&value, "/metadata/resourceVersion").is_empty() {
            return Err(ApiError::new(500, "", "resourceVersion should not be set on objects to be created"));
        }
        Ok((self.state.create(resource, self.namespace, value, self.dry_run)?, warned))
    }
}

fn no_name_left(error: ApiError) -> ApiError {
    let details = error.details.as_deref().cloned().unwrap_or_default();
    let message = format!("{}, the server was not able to generate a unique name for the object", error.message);
    ApiError::new(409, "AlreadyExists", message).with(Details { retry_after_seconds: 1, ..details })
}
