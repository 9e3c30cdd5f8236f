//! As much of the OpenAPI documents as `kubectl` reads before it writes: which kinds can be patched, and that the server
//! looks for unknown fields itself. There are no schemas in them.

use http::{HeaderMap, header};
use serde_json::{Map, Value, json};

use crate::resource::{ALL, Resource};

fn base(resource: &Resource) -> String {
    match resource.group {
        "" => format!("api/{}", resource.version),
        group => format!("apis/{group}/{}", resource.version),
    }
}

/// The media type of the older document in protobuf, the only one that `kubectl` takes.
pub const PROTOBUF: &str = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";

/// `/openapi/v2` in protobuf: the field `swagger`, which is the first one.
pub const OLD_AS_PROTOBUF: &[u8] = b"\x0a\x032.0";

/// Whether `/openapi/v2` is asked for in protobuf.
pub fn wants_protobuf(headers: &HeaderMap) -> bool {
    let accept = headers.get_all(header::ACCEPT).iter().filter_map(|value| value.to_str().ok());
    accept.flat_map(|value| value.split(',')).any(|media| media.contains("proto-openapi.spec.v2"))
}

/// `/openapi/v2`, which `kubectl` asks for when the newer documents don't tell of a kind. It has no schema either, so
/// that nothing is found to be wrong with an object of that kind.
pub fn old() -> Value {
    json!({"swagger": "2.0", "info": {"title": "Kubernetes", "version": "v1.35.4"}, "paths": {}})
}

/// `/openapi/v3`
pub fn index() -> Value {
    let entry = |r: &&Resource| (base(r), json!({"serverRelativeURL": format!("/openapi/v3/{}", base(r))}));
    let paths: Map<_, _> = ALL.iter().map(entry).collect();
    json!({"paths": paths})
}

/// `/openapi/v3/apis/GROUP/VERSION`
pub fn document(path: &str) -> Option<Value> {
    let resources: Vec<_> = ALL.iter().filter(|r| base(r) == path).collect();
    if resources.is_empty() {
        return None;
    }
    let mut paths = Map::new();
    for resource in resources {
        let scope = if resource.namespaced { "namespaces/{namespace}/" } else { "" };
        let collection = format!("/{path}/{scope}{}", resource.plural);
        paths.insert(collection.clone(), json!({"post": operation(resource, "post", "create")}));
        let object = json!({
            "get": operation(resource, "get", "read"), "put": operation(resource, "put", "replace"),
            "patch": operation(resource, "patch", "partially update"),
            "delete": operation(resource, "delete", "delete"),
        });
        paths.insert(format!("{collection}/{{name}}"), object);
    }
    Some(json!({
        "openapi": "3.0.0", "info": {"title": "Kubernetes", "version": "1.35"}, "paths": paths,
        "components": {"schemas": {}},
    }))
}

fn operation(resource: &Resource, action: &str, word: &str) -> Value {
    let mut names = Vec::new();
    if action != "get" {
        names.push("dryRun");
    }
    if ["post", "put", "patch"].contains(&action) {
        names.extend(["fieldManager", "fieldValidation"]);
    }
    let parameters: Vec<_> =
        names.into_iter().map(|name| json!({"name": name, "in": "query", "schema": {"type": "string"}})).collect();
    let group_version_kind = json!({"group": resource.group, "version": resource.version, "kind": resource.kind});
    let mut operation = json!({
        "description": format!("{word} the specified {}", resource.kind), "parameters": parameters,
        "x-kubernetes-action": action, "x-kubernetes-group-version-kind": group_version_kind,
        "responses": {"200": {"description": "OK"}},
    });
    // Not the strategic merge patch: kubectl would look for schemas, and without them takes those that it has built in.
    if let Some(map) = operation.as_object_mut().filter(|_| action == "patch") {
        let media = ["application/apply-patch+yaml", "application/json-patch+json", "application/merge-patch+json"];
        let content: Map<_, _> = media.iter().map(|media| ((*media).to_owned(), json!({}))).collect();
        map.insert("requestBody".to_owned(), json!({"content": content, "required": true}));
    }
    operation
}
