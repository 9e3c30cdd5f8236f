//! One request, as the server gets it.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

/// One request.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// `GET` of one object, `LIST`, `WATCH`, `POST`, `PUT`, `PATCH` or `DELETE`.
    pub verb: &'static str,
    /// The path, e.g. `/apis/apps/v1/namespaces/ns/deployments/app/scale`.
    pub path: String,
    /// The query's names and values, decoded.
    pub query: Vec<(String, String)>,
    /// The body; `null` if there is none.
    pub body: Value,
    /// Its number among all, from 0.
    pub number: usize,
    /// Its number among those of this verb and path, from 0.
    pub nth: usize,
    /// When it was sent, by the clock that is paused.
    pub at: Duration,
    /// Which Manager sent it, from 0.
    pub by: usize,
}

impl Asked {
    pub(super) fn of(request: &http::Request<Bytes>, by: usize, at: Duration) -> Asked {
        let query: Vec<_> = request.uri().query().map(pairs).unwrap_or_default();
        let path = request.uri().path().to_owned();
        let watch = query.iter().any(|(name, value)| name == "watch" && value == "true");
        let verb = match request.method().as_str() {
            "GET" if watch => "WATCH",
            "GET" if is_collection(&path) => "LIST",
            "GET" => "GET",
            "POST" => "POST",
            "PUT" => "PUT",
            "PATCH" => "PATCH",
            "DELETE" => "DELETE",
            other => panic!("the provider has no way to send {other}"),
        };
        let body = match request.body().as_ref() {
            b"" => Value::Null,
            bytes => serde_json::from_slice(bytes).expect("a provider sends JSON"),
        };
        Asked { verb, path, query, body, number: 0, nth: 0, at, by }
    }

    /// Whether it changes something.
    pub fn writes(&self) -> bool {
        matches!(self.verb, "POST" | "PUT" | "PATCH" | "DELETE")
    }

    /// The first value of this name in the query.
    pub fn query(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The verb, and what follows the namespace or the version: of one object its name and subresource, else the
    /// resource.
    pub fn word(&self) -> String {
        let parts = parts(&self.path);
        let about = match (self.verb, parts.as_slice()) {
            ("LIST" | "WATCH" | "POST", [resource, ..]) => (*resource).to_owned(),
            (_, [_, rest @ ..]) => rest.join("/"),
            (_, []) => self.path.clone(),
        };
        format!("{} {about}", self.verb)
    }
}

/// The resource, name and subresource of a path.
fn parts(path: &str) -> Vec<&str> {
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let rest = match segments.as_slice() {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        rest => return rest.to_vec(),
    };
    match rest {
        ["namespaces", _, rest @ ..] if !rest.is_empty() => rest.to_vec(),
        rest => rest.to_vec(),
    }
}

fn is_collection(path: &str) -> bool {
    parts(path).len() == 1
}

fn pairs(query: &str) -> Vec<(String, String)> {
    let pair = |pair: &str| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    };
    query.split('&').map(pair).collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16)).expect("two digits follow");
        match byte {
            b'%' => bytes.push(u8::try_from(digit() * 16 + digit()).expect("two digits are a byte")),
            b'+' => bytes.push(b' '),
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).expect("a query is UTF-8")
}
