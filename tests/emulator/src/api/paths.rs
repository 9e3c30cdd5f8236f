//! Paths that are no resources: health, version, discovery.

use http::{HeaderValue, Method, header};
use serde_json::json;

use crate::error::ApiError;

use super::accept::{self, Offer};
use super::{Answered, Exchange, answer, discovery, no_method, no_resource, openapi, route};

/// The version that is spoken, with the words of an upstream build.
fn version() -> serde_json::Value {
    json!({
        "major": "1", "minor": "35", "emulationMajor": "1", "emulationMinor": "35", "minCompatibilityMajor": "1",
        "minCompatibilityMinor": "34", "gitVersion": "v1.35.4",
        "gitCommit": "0000000000000000000000000000000000000000", "gitTreeState": "clean",
        "buildDate": "2026-01-01T00:00:00Z", "goVersion": "go1.26.8", "compiler": "gc", "platform": "linux/amd64",
    })
}

/// The parts that the health of a server consists of; here they cannot fail one by one.
const CHECKS: [&str; 3] = ["ping", "log", "etcd"];

/// Answers what is no resource.
pub fn other(exchange: &Exchange<'_>) -> Answered {
    let path = exchange.asked.path.as_str();
    let clock = &exchange.state.clock;
    let nothing = || Ok(answer::plain(clock, 404, "404 page not found\n"));
    if let Some(health) = health(path, exchange) {
        return health;
    }
    // A slash at the end makes no difference from here on.
    let parts: Vec<&str> = match path.strip_suffix('/').unwrap_or(path).split('/').collect::<Vec<_>>().as_slice() {
        ["", parts @ ..] => parts.to_vec(),
        _ => Vec::new(),
    };
    let found = match parts.as_slice() {
        [] => {
            json!({"paths": [
                "/api", "/api/v1", "/apis", "/healthz", "/livez", "/openapi/v2", "/openapi/v3", "/readyz", "/version",
            ]})
        }
        ["version"] => version(),
        ["api" | "apis"] if wants_aggregated(exchange) => return aggregated(exchange, parts == ["api"]),
        ["api"] => discovery::core_versions(exchange.header(header::HOST)),
        ["apis"] => discovery::group_list(),
        ["api", version] if route::version_exists("", version) => discovery::resource_list("", version),
        ["api", _] => return Err(no_resource()),
        ["apis", group] => match discovery::group(group) {
            Some(group) => group,
            None => return nothing(),
        },
        ["apis", group, version] if !group.is_empty() && route::version_exists(group, version) => {
            discovery::resource_list(group, version)
        }
        ["apis", group, _] if !group.is_empty() && route::group_exists(group) => return Err(no_resource()),
        ["openapi", "v2"] if openapi::wants_protobuf(exchange.headers()) => {
            return Ok(answer::respond(clock, 200, openapi::PROTOBUF, answer::full(openapi::OLD_AS_PROTOBUF)));
        }
        ["openapi", "v2"] => openapi::old(),
        ["openapi", "v3"] => openapi::index(),
        ["openapi", "v3", rest @ ..] => match openapi::document(&rest.join("/")) {
            Some(document) => document,
            None => return Ok(answer::respond(clock, 404, "text/plain; charset=utf-8", answer::full(""))),
        },
        _ => return nothing(),
    };
    if exchange.request.method() != Method::GET {
        return Err(no_method());
    }
    let offer = if parts == ["version"] { Offer::Json } else { Offer::Discovery };
    let form = accept::negotiate(exchange.headers(), exchange.query, offer)?;
    Ok(answer::value(clock, 200, &found, form.text))
}

fn health(path: &str, exchange: &Exchange<'_>) -> Option<Answered> {
    let rest = ["/healthz", "/livez", "/readyz"].iter().find_map(|start| path.strip_prefix(start))?;
    let check = rest.strip_prefix('/');
    if !rest.is_empty() && check.is_none_or(|check| !CHECKS.contains(&check)) {
        return None;
    }
    let clock = &exchange.state.clock;
    if !rest.is_empty() || exchange.query.get("verbose").is_none() {
        return Some(Ok(answer::plain(clock, 200, "ok")));
    }
    let name = path.trim_start_matches('/');
    let lines: String = CHECKS.iter().map(|check| format!("[+]{check} ok\n")).collect();
    let text = format!("{lines}{name} check passed\n");
    Some(Ok(answer::respond(clock, 200, "text/plain; charset=utf-8", answer::full(text))))
}

fn wants_aggregated(exchange: &Exchange<'_>) -> bool {
    exchange.request.method() == Method::GET && accept::wants_aggregated(exchange.headers())
}

fn aggregated(exchange: &Exchange<'_>, core: bool) -> Result<http::Response<crate::call::Body>, ApiError> {
    let value = discovery::aggregated(core);
    let mut response = answer::value(&exchange.state.clock, 200, &value, accept::Text::Json);
    let media = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media));
    headers.insert(header::VARY, HeaderValue::from_static("Accept"));
    Ok(response)
}
