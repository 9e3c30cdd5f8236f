#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use http_body_util::BodyExt;
use jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::resource::{CLUSTER_ROLE_BINDINGS, DEPLOYMENTS, NAMESPACES, PODS, ROLE_BINDINGS, ROLES};
use crate::store::{Key, Write};

mod forms;
mod lists;
mod reviews;
mod watches;

const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";

/// A server with nothing in it but what a test puts there.
struct Server {
    state: Arc<State>,
    user: User,
}

/// What was answered.
struct Answer {
    code: u16,
    headers: HeaderMap,
    text: String,
}

impl Answer {
    fn value(&self) -> Value {
        serde_json::from_str(&self.text).unwrap_or_else(|error| panic!("{error}: {}", self.text))
    }

    fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |value| value.to_str().unwrap())
    }
}

impl Server {
    fn new() -> Server {
        let clock = Clock::starting_at("2026-11-30T12:00:00Z".parse::<Timestamp>().unwrap());
        let user = User::authenticated("admin", &["system:masters"]);
        Server { state: Arc::new(State::new(clock, 1, crate::scenario::Scenario::default())), user }
    }

    /// As somebody else.
    fn as_user(&self, user: User) -> Server {
        Server { state: Arc::clone(&self.state), user }
    }

    fn put(&self, resource: &'static Resource, namespace: &str, name: &str, mut value: Value) -> u64 {
        let metadata = crate::registry::metadata(&mut value);
        metadata.insert("name".to_owned(), name.into());
        if resource.namespaced {
            metadata.insert("namespace".to_owned(), namespace.into());
        }
        let key = Key::new(resource, namespace, name);
        self.state.store.write::<()>(&key, |_| Ok(Write::Put(value))).unwrap().unwrap().version
    }

    fn remove(&self, resource: &'static Resource, namespace: &str, name: &str) {
        let key = Key::new(resource, namespace, name);
        self.state.store.write::<()>(&key, |old| Ok(Write::Remove(old.unwrap().value()))).unwrap();
    }

    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Response<Body> {
        let mut request = Request::builder().method(method).uri(path);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        answer(&self.state, Ok(&self.user), &request.body(Bytes::from(body.to_owned())).unwrap())
    }

    async fn ask(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        let (parts, body) = self.send(method, path, headers, body).into_parts();
        let bytes = body.collect().await.unwrap().to_bytes();
        let text = String::from_utf8(bytes.to_vec()).unwrap();
        Answer { code: parts.status.as_u16(), headers: parts.headers, text }
    }

    async fn get(&self, path: &str) -> Answer {
        self.ask("GET", path, &[], "").await
    }
}

/// What the real server refuses, and in which words: version 1.35.4, asked by an administrator unless it says otherwise.
#[tokio::test]
async fn what_the_real_server_refuses_is_refused_in_the_same_words() {
    let server = Server::new();
    server.put(&NAMESPACES, "", "default", json!({}));
    let anonymous = server.as_user(User::anonymous());
    let mut wrong = Vec::new();
    let lines = include_str!("../../testdata/refusals.jsonl").lines();
    for (number, line) in lines.enumerate() {
        let recorded: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| recorded[name].as_str().unwrap_or_default();
        let (method, path) = text("request").split_once(' ').unwrap();
        let accept = if text("accept").is_empty() { "*/*" } else { text("accept") };
        let asked = if text("user") == "anonymous" { &anonymous } else { &server };
        let answer = asked.ask(method, path, &[("accept", accept)], text("body")).await;
        let expected_type = recorded["type"].as_str().unwrap_or("application/json");
        let mut found = json!(answer.text);
        let mut expected = json!(text("text"));
        if !recorded["status"].is_null() {
            let version = server.state.store.version().to_string();
            found = answer.value();
            expected = recorded["status"].clone();
            for (name, value) in [
                ("kind", json!("Status")),
                ("apiVersion", json!("v1")),
                ("metadata", json!({})),
                ("status", json!("Failure")),
                ("code", recorded["code"].clone()),
                ("message", expected["message"].as_str().unwrap().replace("{version}", &version).into()),
            ] {
                expected[name] = value;
            }
        }
        let same =
            recorded["code"] == answer.code && answer.header("content-type") == expected_type && found == expected;
        if !same {
            wrong.push(format!("line {}: {line}\n     is {} {found}", number + 1, answer.code));
        }
    }
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

#[rstest]
#[case::health("/healthz", "ok")]
#[case::one_check("/readyz/ping", "ok")]
#[case::all_checks("/livez?verbose", "[+]ping ok\n[+]log ok\n[+]etcd ok\nlivez check passed\n")]
#[tokio::test]
async fn health_is_told_in_plain_text(#[case] path: &str, #[case] text: &str) {
    let answer = Server::new().get(path).await;
    let found = (answer.code, answer.header("content-type"), answer.text.as_str());
    assert_eq!(found, (200, "text/plain; charset=utf-8", text));
}

#[tokio::test]
async fn headers_are_those_of_the_real_server() {
    let answer = Server::new().get("/version").await;
    assert_eq!(answer.value()["gitVersion"], "v1.35.4");
    assert_eq!(answer.header("cache-control"), "no-cache, private");
    assert_eq!(answer.header("content-type"), "application/json");
    assert_eq!(answer.header("date"), "Mon, 30 Nov 2026 12:00:00 GMT");
    assert_eq!(answer.header("audit-id").len(), 36);
}

#[tokio::test]
async fn a_request_without_a_valid_credential_gets_401() {
    let server = Server::new();
    let request = Request::builder().uri("/api").body(Bytes::new()).unwrap();
    let refused = ApiError::new(401, "Unauthorized", "Unauthorized");
    let (parts, body) = answer(&server.state, Err(refused), &request).into_parts();
    let text = String::from_utf8(body.collect().await.unwrap().to_bytes().to_vec()).unwrap();
    let expected = r#"{"kind":"Status","apiVersion":"v1","code":401,"message":"Unauthorized","metadata":{},"reason":"Unauthorized","status":"Failure"}"#;
    assert_eq!((parts.status.as_u16(), text.trim_end()), (401, expected));
}

#[rstest]
#[case::malformed("/api/%zz", 400)]
#[case::cut("/api/%4", 400)]
#[case::decoded_slash("/apis/apps/v1/namespaces/ns/deployments/a%2Fstatus", 200)]
#[case::slash_at_the_end("/apis/apps/v1/namespaces/ns/deployments/a/", 200)]
#[case::group("/apis/apps/", 200)]
#[case::old_path_of_a_watch("/api/v1/watch/namespaces?timeoutSeconds=1&resourceVersion=99", 200)]
#[tokio::test(start_paused = true)]
async fn paths_are_decoded_first(#[case] path: &str, #[case] code: u16) {
    let server = Server::new();
    server.put(&DEPLOYMENTS, "ns", "a", json!({}));
    assert_eq!(server.get(path).await.code, code);
}

#[rstest]
#[case::read("GET", 200)]
#[case::write("DELETE", 405)]
#[tokio::test]
async fn what_is_stored_can_be_looked_at_without_more(#[case] method: &str, #[case] code: u16) {
    let server = Server::new();
    server.put(&NAMESPACES, "", "n", json!({}));
    let request = Request::builder().method(method).uri("/api/v1/namespaces/n").body(Bytes::new()).unwrap();
    assert_eq!(answer_read(&server.state, &request).status(), code);
    assert_eq!(server.state.store.version(), 2);
}

#[tokio::test]
async fn writes_come_to_who_writes_and_are_answered_in_the_asked_form() {
    let server = Server::new();
    let json = [("content-type", "application/json"), ("accept", TABLE)];
    let made = server.ask("POST", "/api/v1/namespaces", &json, r#"{"metadata":{"name":"n"}}"#).await;
    assert_eq!((made.code, &made.value()["rows"][0]["cells"][0]), (201, &json!("n")));
    let gone = server.ask("DELETE", "/apis/apps/v1/namespaces/n/deployments?labelSelector=a", &[], "").await;
    assert_eq!((gone.code, &gone.value()["kind"]), (200, &json!("DeploymentList")));
}

#[tokio::test]
async fn discovery_names_every_resource_in_both_forms() {
    let server = Server::new();
    let accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
    let mut names = Vec::new();
    for path in ["/api", "/apis"] {
        let answer = server.ask("GET", path, &[("accept", accept)], "").await;
        assert_eq!(answer.header("content-type"), accept);
        for item in answer.value()["items"].as_array().unwrap() {
            let group = item["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            for resource in item["versions"][0]["resources"].as_array().unwrap() {
                names.push((group.clone(), resource["resource"].as_str().unwrap().to_owned()));
            }
        }
    }
    for resource in crate::resource::ALL {
        assert!(names.contains(&(resource.group.to_owned(), resource.plural.to_owned())), "{}", resource.plural);
    }
    let apps = server.get("/apis/apps/v1").await.value();
    let hash = |plural: &str| {
        let list = apps["resources"].as_array().unwrap();
        list.iter().find(|r| r["name"] == plural).unwrap()["storageVersionHash"].clone()
    };
    assert_eq!((hash("deployments"), hash("replicasets")), (json!("8aSe+NMegvE="), json!("P1RzHs8/mWQ=")));
}

#[tokio::test]
async fn kubectl_gets_an_empty_older_document_for_kinds_that_are_unknown() {
    let server = Server::new();
    assert_eq!(server.get("/openapi/v2").await.value()["swagger"], "2.0");
    let accept = "application/com.github.proto-openapi.spec.v2@v1.0+protobuf";
    let answer = server.ask("GET", "/openapi/v2", &[("accept", accept)], "").await;
    assert_eq!((answer.code, answer.text.as_str()), (200, "\n\u{3}2.0"));
}

#[rstest]
#[case::core("/openapi/v3/api/v1", "/api/v1/namespaces/{namespace}/pods/{name}", "Pod")]
#[case::group("/openapi/v3/apis/apps/v1", "/apis/apps/v1/namespaces/{namespace}/deployments/{name}", "Deployment")]
#[case::cluster("/openapi/v3/api/v1", "/api/v1/namespaces/{name}", "Namespace")]
#[tokio::test]
async fn kubectl_finds_what_it_looks_for_before_it_patches(
    #[case] path: &str,
    #[case] entry: &str,
    #[case] kind: &str,
) {
    let server = Server::new();
    let index = server.get("/openapi/v3").await.value();
    let key = path.trim_start_matches("/openapi/v3/");
    assert_eq!(index["paths"][key]["serverRelativeURL"], path);
    let patch = server.get(path).await.value()["paths"][entry]["patch"].clone();
    assert_eq!(patch["x-kubernetes-group-version-kind"]["kind"], kind);
    let parameters = patch["parameters"].as_array().unwrap();
    assert!(parameters.iter().any(|p| p["name"] == "fieldValidation" && p["in"] == "query"));
}
