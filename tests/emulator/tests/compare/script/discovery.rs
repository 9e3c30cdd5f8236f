//! Paths, methods, media types and what the server says about itself.

use serde_json::json;

use super::deployment;
use crate::step::*;

const AGGREGATED: &str = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

pub fn steps() -> Vec<Step> {
    let app = "{apps}/deployments/app";
    vec![
        get("version", "/version").only(&["/major", "/minor", "/gitVersion"]),
        get("readyz", "/readyz"),
        get("healthz", "/healthz"),
        get("livez", "/livez"),
        get("readyz, one check that does not exist", "/readyz/nope"),
        get("core versions", "/api").only(&["/kind", "/versions"]),
        get("groups", "/apis"),
        get("group apps", "/apis/apps"),
        get("resources of apps/v1", "/apis/apps/v1"),
        get("resources of v1", "/api/v1"),
        get("resources of rbac", "/apis/rbac.authorization.k8s.io/v1"),
        get("resources of authorization", "/apis/authorization.k8s.io/v1"),
        get("resources of authentication", "/apis/authentication.k8s.io/v1"),
        get("aggregated discovery of the core", "/api").accept(AGGREGATED),
        get("aggregated discovery of the groups", "/apis").accept(AGGREGATED),
        get("no such group", "/apis/nope/v1"),
        get("no such version of a group", "/apis/apps/v1beta9"),
        get("get, no such resource in the group", "{apps}/deploymints/app"),
        get("get, no such group", "/apis/nope/v1/namespaces/{ns}/deployments/app"),
        get("get, version that is not served", "/apis/apps/v1beta9/namespaces/{ns}/deployments/app"),
        get("get, no such core version", "/api/v2/namespaces/{ns}/pods"),
        get("get, path outside the API", "/nope"),
        get("get, path with a double slash", "/apis/apps/v1/namespaces/{ns}//deployments"),
        get("get, namespaced resource without a namespace", "/apis/apps/v1/deployments/app"),
        get("get, cluster resource in a namespace", "/api/v1/namespaces/{ns}/nodes"),
        post("create", "{apps}/deployments", deployment("app", 0)).only(&["/metadata/generation"]),
        settled("app", 0),
        post("POST on an object", app, json!({})),
        put("PUT on a collection", "{apps}/deployments", deployment("app", 0)),
        merge("PATCH on a collection", "{apps}/deployments", json!({})),
        request("HEAD", "HEAD of an object", app),
        request("HEAD", "HEAD of a name that is not there", "{apps}/deployments/absent"),
        request("OPTIONS", "OPTIONS of an object", app),
        request("BREW", "a method that does not exist", app),
        request("TRACE", "TRACE", app),
        post("POST over all namespaces", "/apis/apps/v1/deployments", deployment("x", 0)),
        post("POST on a path outside the API", "/nope", json!({})),
        post("POST on readyz", "/readyz", json!({})),
        get("Accept not supported", app).accept("image/png"),
        get("Accept with a fallback", app).accept("image/png, application/json").only(&["/kind"]),
        get("Accept anything", app).accept("*/*").only(&["/kind"]),
        get("Accept any application", app).accept("application/*").only(&["/kind"]),
        get("Accept weighed", app).accept("application/yaml;q=0.1, application/json;q=0.9").only(&["/kind"]),
        get("Accept with a charset", app).accept("application/json;charset=utf-8").only(&["/kind"]),
        get("Accept malformed", app).accept("json"),
        get("Accept an unknown transformation", app).accept("application/json;as=Picture;v=v1;g=meta.k8s.io"),
        get("Accept a table or else the object", app)
            .accept("application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
        get("Accept a table of an old version", app)
            .accept("application/json;as=Table;v=v1beta1;g=meta.k8s.io")
            .only(&["/kind", "/apiVersion"]),
        get("Accept metadata", app).accept(METADATA),
        get("Accept a list of metadata, for one object", app).accept(METADATA_LIST),
        get("error with Accept of a table", "{apps}/deployments/absent").accept(TABLE),
        get("error with Accept of metadata", "{apps}/deployments/absent").accept(METADATA),
        get("pretty", "{apps}/deployments/absent?pretty=true"),
        get("unknown query", &format!("{app}?nonsense=1")).only(&["/kind"]),
        get("export, which is gone", &format!("{app}?export=true")).only(&["/kind"]),
    ]
}
