//! Patches: how a body changes an object.

use serde_json::{Map, Value};

use crate::error::{ApiError, Details};

pub mod json;
pub mod merge;
pub mod strategic;

/// Why a patch cannot be applied.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Failure {
    /// The patch makes no sense: 400.
    #[error("{0}")]
    Bad(String),
    /// The patch does not fit the object: 422 without a word about why.
    #[error("the patch does not fit: {0}")]
    Unfit(String),
    /// The server did not expect it: 500.
    #[error("{0}")]
    Unexpected(String),
}

impl Failure {
    /// The answer to the request.
    pub fn answer(self) -> ApiError {
        match self {
            Failure::Bad(why) => ApiError::bad_request(why),
            Failure::Unfit(_) => {
                ApiError::new(422, "Invalid", "the server rejected our request due to an error in our request")
                    .with(Details::default())
            }
            Failure::Unexpected(why) => ApiError::new(500, "", why),
        }
    }
}

/// A value as Go's `%v` shows it.
pub fn go_format(value: &Value) -> String {
    match value {
        Value::Null => "<nil>".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("[{}]", items.iter().map(go_format).collect::<Vec<_>>().join(" ")),
        Value::Object(map) => go_map(map),
        other => other.to_string(),
    }
}

fn go_map(map: &Map<String, Value>) -> String {
    let pairs: Vec<_> = map.iter().map(|(key, value)| format!("{key}:{}", go_format(value))).collect();
    format!("map[{}]", pairs.join(" "))
}

#[cfg(test)]
mod tests;
