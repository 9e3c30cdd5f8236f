//! One request, taken apart, and what it is answered with: the seam between the parts of the API server.

use std::collections::BTreeMap;
use std::convert::Infallible;

use bytes::Bytes;
use http_body_util::combinators::UnsyncBoxBody;
use serde_json::Value;

use crate::error::ApiError;
use crate::resource::Resource;
use crate::state::State;
use crate::store::Key;

/// The body of an answer; it can be a stream without an end.
pub type Body = UnsyncBoxBody<Bytes, Infallible>;

/// Who asks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct User {
    /// The name.
    pub name: String,
    /// What tells it from others that have had its name; empty if nothing does.
    pub uid: String,
    /// The groups.
    pub groups: Vec<String>,
    /// What else is known, such as which certificate was shown.
    pub extra: BTreeMap<String, Vec<String>>,
}

impl User {
    /// Of these groups, and of `system:authenticated`, as everybody with a credential is.
    pub fn authenticated(name: &str, groups: &[&str]) -> User {
        let groups = groups.iter().copied().chain(["system:authenticated"]).map(str::to_owned).collect();
        User { name: name.to_owned(), groups, ..User::default() }
    }

    /// With a uid, as tokens give one.
    pub fn with_uid(self, uid: &str) -> User {
        User { uid: uid.to_owned(), ..self }
    }

    /// Without a credential.
    pub fn anonymous() -> User {
        let groups = vec!["system:unauthenticated".to_owned()];
        User { name: "system:anonymous".to_owned(), groups, ..User::default() }
    }
}

/// What a request is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// The resource.
    pub resource: &'static Resource,
    /// The namespace; empty for all, or for a resource without.
    pub namespace: String,
    /// The name; empty for a collection.
    pub name: String,
    /// The subresource; empty for the object itself.
    pub subresource: String,
}

impl Target {
    /// The key of the object.
    pub fn key(&self) -> Key {
        Key::new(self.resource, &self.namespace, &self.name)
    }
}

/// The pairs of a query, decoded, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query(pub Vec<(String, String)>);

impl Query {
    /// The first value of this name.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// All values of this name.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.0.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// A request that may be answered: the user was let through, and the target exists as a resource.
#[derive(Debug)]
pub struct Call<'a> {
    /// The emulator.
    pub state: &'a State,
    /// Who asks.
    pub user: &'a User,
    /// What it is about.
    pub target: &'a Target,
    /// The query.
    pub query: &'a Query,
    /// The media type of the body, without parameters; empty if none was said.
    pub media: &'a str,
    /// The header `User-Agent`, from which the server makes a field manager when none is named.
    pub agent: &'a str,
    /// The body.
    pub body: &'a [u8],
}

/// What a write is answered with.
#[derive(Debug)]
pub struct Written {
    /// 200 or 201.
    pub code: u16,
    /// The object, or a `Status`.
    pub value: Value,
    /// Texts for headers `Warning`.
    pub warnings: Vec<String>,
}

/// What a write ends with.
pub type WriteResult = Result<Written, ApiError>;
