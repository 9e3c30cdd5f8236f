//! Writes, as the API server makes them of requests: reading the body, checking, completing, storing.

use serde_json::Value;

use crate::error::ApiError;
use crate::resource::Resource;
use crate::schema::{self, decode};
use crate::state::State;
use crate::{defaults, registry};

mod body;
mod create;
mod delete;
mod options;
mod patch;
mod scale;
mod strategy;
mod update;
mod warnings;

pub use create::create;
pub use delete::{delete, delete_collection};
pub use patch::patch;
pub use scale::scale_of;
pub use update::update;

/// Makes an object for a controller: completed, admitted and stored as if it had come in a request.
///
/// # Errors
/// When the namespace is missing or going, a quota has no room, or the name is taken.
pub fn make(state: &State, resource: &'static Resource, namespace: &str, value: Value) -> Result<Value, ApiError> {
    let mut value = decode::tidy(&value, schema::of(resource.kind)).map_err(ApiError::bad_request)?;
    registry::name_kind(&mut value, resource);
    defaults::complete(resource.kind, &mut value);
    registry::metadata(&mut value).insert("namespace".to_owned(), namespace.into());
    if !resource.namespaced {
        registry::metadata(&mut value).remove("namespace");
    }
    let making = create::Making { state, resource, namespace, dry_run: false, posted: false, checked: false };
    making.store(value).map(|(value, _)| value)
}

#[cfg(test)]
mod tests;
