//! Responses: their headers, and values as texts.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderValue, Response, header};
use http_body_util::{BodyExt, Full};
use serde_json::Value;

use crate::call::Body;
use crate::clock::Clock;
use crate::error::ApiError;

use super::accept::Text;
use super::yaml;

/// A body of one piece.
pub fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).boxed_unsync()
}

/// The headers that every answer of the API server has.
pub fn respond(clock: &Clock, code: u16, media: &'static str, body: Body) -> Response<Body> {
    // A number of its own for each answer: the names and uids of objects must not depend on who reads.
    static ANSWERS: AtomicU64 = AtomicU64::new(1);
    let number = ANSWERS.fetch_add(1, Ordering::Relaxed);
    let mut response = Response::new(body);
    *response.status_mut() = http::StatusCode::from_u16(code).unwrap_or(http::StatusCode::INTERNAL_SERVER_ERROR);
    let date = clock.wall().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    let fixed = HeaderValue::from_static;
    let headers = response.headers_mut();
    for (name, value) in [
        ("audit-id", HeaderValue::from_str(&format!("00000000-0000-4000-8000-{:012x}", number & 0xffff_ffff_ffff))),
        ("cache-control", Ok(fixed("no-cache, private"))),
        ("content-type", Ok(fixed(media))),
        ("date", HeaderValue::from_str(&date)),
        ("x-kubernetes-pf-flowschema-uid", Ok(fixed("a1a1a1a1-0000-4000-8000-000000000001"))),
        ("x-kubernetes-pf-prioritylevel-uid", Ok(fixed("a1a1a1a1-0000-4000-8000-000000000002"))),
    ] {
        if let Ok(value) = value {
            headers.insert(name, value);
        }
    }
    response
}

/// A text that is no JSON.
pub fn plain(clock: &Clock, code: u16, text: &'static str) -> Response<Body> {
    respond(clock, code, "text/plain; charset=utf-8", full(text))
}

/// A value.
pub fn value(clock: &Clock, code: u16, value: &Value, text: Text) -> Response<Body> {
    respond(clock, code, media(text), full(write(value, text)))
}

/// An error.
pub fn error(clock: &Clock, error: &ApiError, text: Text) -> Response<Body> {
    let mut response = value(clock, error.code, &error.status(), text);
    let headers = response.headers_mut();
    if let Some(seconds) = error.details.as_ref().map(|details| details.retry_after_seconds).filter(|s| *s > 0) {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    if error.code == 403 {
        headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    }
    response
}

/// The media type of a text.
pub fn media(text: Text) -> &'static str {
    match text {
        Text::Json | Text::Pretty => "application/json",
        Text::Yaml => "application/yaml",
    }
}

/// A value as a text; JSON ends with a line feed, as the real server's does.
pub fn write(value: &Value, text: Text) -> Vec<u8> {
    let mut out = Vec::new();
    match text {
        Text::Json => {
            write_json(value, &mut out);
            out.push(b'\n');
        }
        // To memory, and of a value: it cannot fail.
        Text::Pretty => drop(serde_json::to_writer_pretty(&mut out, value)),
        Text::Yaml => out = yaml::write(value).into_bytes(),
    }
    out
}

/// As JSON, with kind and version first: for those who look at the beginning of a text.
pub fn write_json(value: &Value, out: &mut Vec<u8>) {
    let first = ["kind", "apiVersion"];
    let map = value.as_object().filter(|map| first.iter().any(|name| map.contains_key(*name)));
    let Some(map) = map else {
        drop(serde_json::to_writer(out, value));
        return;
    };
    let head = first.into_iter().filter_map(|name| map.get_key_value(name));
    let rest = map.iter().filter(|(name, _)| !first.contains(&name.as_str()));
    for (index, (name, value)) in head.chain(rest).enumerate() {
        out.push(if index == 0 { b'{' } else { b',' });
        drop(serde_json::to_writer(&mut *out, name));
        out.push(b':');
        drop(serde_json::to_writer(&mut *out, value));
    }
    out.push(b'}');
}
