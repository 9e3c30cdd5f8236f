//! Errors as the API server answers them: a `Status` body.

use serde::Serialize;
use serde_json::{Value, json};

use crate::resource::Resource;

/// An error of the API, with everything that its `Status` shows.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{code} {reason}: {message}")]
pub struct ApiError {
    /// The status code of HTTP.
    pub code: u16,
    /// The word in `reason`; empty leaves it out.
    pub reason: &'static str,
    /// The sentence for people.
    pub message: String,
    /// What it is about. Boxed: an error is moved more often than looked at.
    pub details: Option<Box<Details>>,
    /// A token to go on with, of an expired list.
    pub next: Option<String>,
}

/// The `details` of a `Status`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Details {
    /// The name of the object.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The API group.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub group: String,
    /// The resource, or for some errors the kind.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub kind: String,
    /// The object's uid.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uid: String,
    /// One for each field that is wrong.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub causes: Vec<Cause>,
    /// When to try again, in seconds; 0 for no such advice.
    #[serde(skip_serializing_if = "is_zero")]
    pub retry_after_seconds: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// One cause among the details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Cause {
    /// The word, such as `FieldValueInvalid`.
    pub reason: &'static str,
    /// The sentence.
    pub message: String,
    /// The path of the field.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub field: String,
}

impl ApiError {
    /// With no details.
    pub fn new(code: u16, reason: &'static str, message: impl Into<String>) -> ApiError {
        ApiError { code, reason, message: message.into(), details: None, next: None }
    }

    /// With details, which replace those that were there.
    #[must_use]
    pub fn with(mut self, details: Details) -> ApiError {
        self.details = Some(Box::new(details));
        self
    }

    /// 400
    pub fn bad_request(message: impl Into<String>) -> ApiError {
        ApiError::new(400, "BadRequest", message)
    }

    /// 404 of one object.
    pub fn not_found(resource: &Resource, name: &str) -> ApiError {
        let message = format!("{} \"{name}\" not found", resource.qualified());
        ApiError::new(404, "NotFound", message).with(of_resource(resource, name))
    }

    /// 409 because the name is taken.
    pub fn already_exists(resource: &Resource, name: &str) -> ApiError {
        let message = format!("{} \"{name}\" already exists", resource.qualified());
        ApiError::new(409, "AlreadyExists", message).with(of_resource(resource, name))
    }

    /// 409 because of another version, uid or owner of a field. `kind` is what `details.kind` says: the resource for
    /// most, the kind for a delete.
    pub fn conflict(group: &str, kind: &str, name: &str, why: &str) -> ApiError {
        let dotted = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        let message = format!("Operation cannot be fulfilled on {dotted} \"{name}\": {why}");
        let details =
            Details { name: name.to_owned(), group: group.to_owned(), kind: kind.to_owned(), ..Details::default() };
        ApiError::new(409, "Conflict", message).with(details)
    }

    /// 409 because the object was changed in between.
    pub fn stale(resource: &Resource, name: &str) -> ApiError {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        ApiError::conflict(resource.group, resource.plural, name, why)
    }

    /// 403 with a reason that is not about who asks.
    pub fn forbidden(resource: &Resource, name: &str, why: &str) -> ApiError {
        let message = format!("{} \"{name}\" is forbidden: {why}", resource.qualified());
        ApiError::new(403, "Forbidden", message).with(of_resource(resource, name))
    }

    /// 422 with one cause for each wrong field. Here `details.kind` is the kind.
    pub fn invalid(group: &str, kind: &str, name: &str, causes: Vec<Cause>) -> ApiError {
        let dotted = if group.is_empty() { kind.to_owned() } else { format!("{kind}.{group}") };
        // Two causes that say the same are said once.
        let mut said: Vec<String> = Vec::new();
        for cause in &causes {
            let words = format!("{}: {}", cause.field, cause.message);
            if !said.contains(&words) {
                said.push(words);
            }
        }
        let list = match said.as_slice() {
            [one] => one.clone(),
            several => format!("[{}]", several.join(", ")),
        };
        ApiError::new(422, "Invalid", format!("{dotted} \"{name}\" is invalid: {list}")).with(Details {
            name: name.to_owned(),
            group: group.to_owned(),
            kind: kind.to_owned(),
            causes,
            ..Details::default()
        })
    }

    /// 410: the version is too old.
    pub fn expired(message: impl Into<String>) -> ApiError {
        ApiError::new(410, "Expired", message)
    }

    /// The body.
    pub fn status(&self) -> Value {
        let mut status = json!({
            "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
            "message": self.message, "code": self.code,
        });
        if let Some(map) = status.as_object_mut() {
            if !self.reason.is_empty() {
                map.insert("reason".to_owned(), json!(self.reason));
            }
            if let Some(details) = &self.details {
                map.insert("details".to_owned(), json!(details));
            }
            if let Some(token) = &self.next {
                map.insert("metadata".to_owned(), json!({"continue": token}));
            }
        }
        status
    }
}

/// The details that name a resource and an object of it.
pub fn of_resource(resource: &Resource, name: &str) -> Details {
    Details {
        name: name.to_owned(),
        group: resource.group.to_owned(),
        kind: resource.plural.to_owned(),
        ..Details::default()
    }
}
