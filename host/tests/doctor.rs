//! What the doctor says of each thing that can be wrong, by a server that plays it.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on is a failed test"
)]

#[allow(dead_code, reason = "shared with the transport tests")]
#[path = "transport/server.rs"]
mod server;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use rstest::rstest;
use serde_json::{Value, json};
use server::*;
use tokio::net::TcpListener;
use workload_host::Places;
use workload_host::doctor::{Check, CheckName, CheckResult, examine, unconfigured};
use workload_host::model::FaultKind;
use workload_host::transport::{Connection, KubeconfigOptions};
use workload_policy::{Engine, Grants};

const ASKS: [&str; 4] = ["deployments:get", "deployments:create", "deployments/scale:patch", "pods:list"];

fn grants(places: Places) -> Grants {
    Grants::new(Engine::Kubernetes, ASKS, ["*"], places).unwrap()
}

async fn look(connection: &Connection) -> Vec<Check> {
    look_for(connection, Duration::from_secs(30)).await
}

async fn look_for(connection: &Connection, limit: Duration) -> Vec<Check> {
    let checks = examine(connection, &grants(Places::only(["shop"])), limit).await;
    assert!(checks.is_sorted_by_key(|check| check.name), "{checks:?}");
    for check in &checks {
        assert!(!format!("{check:?}").contains("CANARY"), "{check:?}");
        assert_eq!(check.fault.is_some(), check.result == CheckResult::Failed, "{check:?}");
        assert!(!check.message.is_empty() && !check.message.ends_with('.'), "{check:?}");
    }
    checks
}

/// How the checks ended, each name once: the worst of several.
fn results(checks: &[Check]) -> Vec<(CheckName, CheckResult)> {
    let mut results: Vec<(CheckName, CheckResult)> = Vec::new();
    for check in checks {
        match results.last_mut().filter(|(name, _)| *name == check.name) {
            Some((_, result)) if *result != CheckResult::Failed => *result = check.result,
            Some(_) => {}
            None => results.push((check.name, check.result)),
        }
    }
    results
}

/// The one check of this name.
#[track_caller]
fn the(checks: &[Check], name: CheckName) -> &Check {
    let mut found = checks.iter().filter(|check| check.name == name);
    let one = found.next().unwrap_or_else(|| panic!("no {name:?} in {checks:?}"));
    assert!(found.next().is_none(), "{checks:?}");
    one
}

/// Everything that comes before `name` is well, and everything after it was not looked at.
#[track_caller]
fn fails_at(checks: &[Check], name: CheckName, fault: FaultKind, said: &str) {
    let failed = the(checks, name);
    assert_eq!((failed.result, failed.fault), (CheckResult::Failed, Some(fault)), "{failed:?}");
    assert!(failed.message.contains(said), "{}", failed.message);
    for (other, result) in results(checks).into_iter().filter(|(other, _)| *other != name) {
        let expected = if other > name { result == CheckResult::Skipped } else { result != CheckResult::Failed };
        assert!(expected, "{other:?} is {result:?}: {checks:?}");
    }
    assert_eq!(checks.last().map(|check| check.name), Some(CheckName::Permission));
}

fn body(seen: &Seen) -> Value {
    serde_json::from_str(seen.text.split("\r\n\r\n").nth(1).unwrap()).unwrap_or_default()
}

fn json(status: &str, document: &Value) -> Vec<Act> {
    vec![answer(status, "content-type: application/json\r\n", document.to_string())]
}

fn status(code: u16) -> Vec<Act> {
    let document = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code});
    json(&format!("{code} X"), &document)
}

/// A Kubernetes where everything is as it should be, but for one path.
async fn kubernetes_but(path: &'static str, acts: Vec<Act>) -> Server {
    Server::start(Listening::default(), move |_, seen| {
        if seen.text.split(' ').nth(1).is_some_and(|target| target.starts_with(path)) {
            return acts.clone();
        }
        kubernetes(seen)
    })
    .await
}

fn kubernetes(seen: &Seen) -> Vec<Act> {
    let target = seen.text.split(' ').nth(1).unwrap();
    match target {
        "/version" => json("200 OK", &json!({"gitVersion": "v1.35.4", "platform": "linux/amd64"})),
        "/api/v1/namespaces/shop" => {
            json("200 OK", &json!({"kind": "Namespace", "apiVersion": "v1", "status": {"phase": "Active"}}))
        }
        "/apis/authentication.k8s.io/v1/selfsubjectreviews" => {
            assert_eq!(body(seen)["kind"], "SelfSubjectReview");
            let user = json!({"username": "ann", "groups": ["team", "system:authenticated"]});
            json("201 Created", &json!({"kind": "SelfSubjectReview", "status": {"userInfo": user}}))
        }
        "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews" => json("201 Created", &review(true)),
        _ => status(404),
    }
}

fn review(allowed: bool) -> Value {
    json!({"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}})
}

fn by_token(server: &Server) -> Connection {
    server.connection_as(&format!("token: '{TOKEN}'"), "", "")
}

#[tokio::test]
async fn all_is_well() {
    let server = Server::start(Listening::default(), |_, seen| kubernetes(seen)).await;
    let checks = look(&by_token(&server)).await;
    let skipped = [(CheckName::Clock, CheckResult::Skipped)];
    for (name, result) in results(&checks) {
        let expected = skipped.iter().find(|(skipped, _)| *skipped == name).map_or(CheckResult::Ok, |(_, r)| *r);
        assert_eq!(result, expected, "{checks:?}");
    }
    let address = server.address.to_string();
    assert!(the(&checks, CheckName::Kubeconfig).message.starts_with("context \"c\" of /"), "{checks:?}");
    assert_eq!(the(&checks, CheckName::Address).message, format!("https://{address}"));
    assert_eq!(
        the(&checks, CheckName::Tls).message,
        "the certificate is for 127.0.0.1, by the authorities of the kubeconfig"
    );
    assert_eq!(the(&checks, CheckName::Server).message, "Kubernetes v1.35.4 on linux/amd64");
    assert_eq!(the(&checks, CheckName::Identity).message, "ann, of the groups team, system:authenticated");
    let permissions: Vec<_> =
        checks.iter().filter(|check| check.name == CheckName::Permission).map(|check| &check.message).collect();
    let expected = [
        "get deployments in namespace shop",
        "create deployments in namespace shop",
        "patch deployments/scale in namespace shop",
        "list pods in namespace shop",
    ];
    assert_eq!(permissions, expected);
    // Nothing is written, and nothing is asked for twice.
    assert_eq!(server.seen().len(), 3 + ASKS.len());
}

#[tokio::test]
async fn what_is_missing_is_named_with_what_it_is_for() {
    let server = Server::start(Listening::default(), |_, seen| {
        let asked = &body(seen)["spec"]["resourceAttributes"];
        let scale = json!({
            "verb": "patch", "group": "apps", "resource": "deployments", "subresource": "scale", "namespace": "shop",
        });
        if *asked == scale { json("201 Created", &review(false)) } else { kubernetes(seen) }
    })
    .await;
    let checks = look(&by_token(&server)).await;
    let failed: Vec<_> = checks.iter().filter(|check| check.result == CheckResult::Failed).collect();
    let [failed] = failed[..] else { panic!("{checks:?}") };
    assert_eq!(failed.fault, Some(FaultKind::Forbidden));
    assert_eq!(
        failed.message,
        "not allowed to patch deployments/scale in namespace shop; needed to change how many replicas a Deployment \
         wants: start and stop it"
    );
    let detail: Vec<_> = failed.detail.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let expected = [
        ("verb", "patch"),
        ("group", "apps"),
        ("resource", "deployments/scale"),
        ("operations", "deployments/scale:patch"),
        ("namespace", "shop"),
    ];
    assert_eq!(detail, expected);
}

#[tokio::test]
async fn in_all_namespaces_there_is_none_to_look_at() {
    let server = Server::start(Listening::default(), |_, seen| {
        let asked = &body(seen)["spec"]["resourceAttributes"];
        assert!(asked.is_null() || asked["namespace"].is_null(), "{asked}");
        kubernetes(seen)
    })
    .await;
    let checks = examine(&by_token(&server), &grants(Places::All), Duration::from_secs(30)).await;
    assert!(checks.iter().all(|check| check.name != CheckName::Namespace), "{checks:?}");
    let last = checks.last().unwrap();
    assert_eq!((last.result, last.message.as_str()), (CheckResult::Ok, "list pods in all namespaces"));
}

#[rstest]
#[case::wrong_name("wrong name", "is for another.example, not for 127.0.0.1")]
#[case::expired("expired", "has expired")]
#[case::not_yet("not yet", "is not valid yet")]
#[case::another_authority("another authority", "is of none of the authorities that the kubeconfig has")]
#[tokio::test]
async fn tls_that_fails(#[case] change: &str, #[case] said: &str) {
    let authority = Arc::new(Authority::new());
    let ymd = rcgen::date_time_ymd;
    let identity = match change {
        "wrong name" => authority.issue(&["another.example"], |_| {}),
        "expired" => authority.issue(&["127.0.0.1"], |params| {
            (params.not_before, params.not_after) = (ymd(2000, 1, 1), ymd(2001, 1, 1));
        }),
        "not yet" => authority.issue(&["127.0.0.1"], |params| params.not_before = ymd(2400, 1, 1)),
        _ => Authority::new().server(),
    };
    let listening = Listening { authority, identity: Some(identity), ..Listening::default() };
    let server = Server::start(listening, |_, seen| kubernetes(seen)).await;
    let checks = look(&by_token(&server)).await;
    fails_at(&checks, CheckName::Tls, FaultKind::Unavailable, said);
    assert!(server.seen().is_empty(), "the credential was not sent");
}

#[tokio::test]
async fn a_client_certificate_that_is_not_taken() {
    let listening = Listening { clients: Some(Arc::new(Authority::new())), ..Listening::default() };
    let server = Server::start(listening, |_, seen| kubernetes(seen)).await;
    let stranger = Authority::new().client();
    let user = format!(
        "client-certificate-data: {}, client-key-data: {}",
        STANDARD.encode(&stranger.certificate),
        STANDARD.encode(&stranger.key)
    );
    let checks = look(&server.connection_as(&user, "", "")).await;
    fails_at(&checks, CheckName::Tls, FaultKind::Unavailable, "does not take our client certificate");
}

#[tokio::test]
async fn nobody_listens() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    drop(listener);
    let server = Server::playing(vec![status(404)]).await;
    let connection = server.connection_to(&address, &server.authority.pem, &format!("token: '{TOKEN}'"), "");
    fails_at(&look(&connection).await, CheckName::Connection, FaultKind::Unavailable, "refuses connections");
}

#[tokio::test]
async fn a_name_without_an_address() {
    let server = Server::playing(vec![status(404)]).await;
    let pem = server.authority.pem.clone();
    // `.invalid` is reserved for this.
    let connection = server.connection_to("https://kube.invalid:6443", &pem, &format!("token: '{TOKEN}'"), "");
    fails_at(&look(&connection).await, CheckName::Address, FaultKind::Unavailable, "kube.invalid has no address");
}

#[tokio::test]
async fn a_server_that_takes_connections_and_says_nothing() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    let server = Server::playing(vec![status(404)]).await;
    let connection = server.connection_to(&address, &server.authority.pem, &format!("token: '{TOKEN}'"), "");
    let checks = look_for(&connection, Duration::from_secs(1)).await;
    fails_at(&checks, CheckName::Tls, FaultKind::Unavailable, "begins no TLS");
    drop(listener);
}

#[rstest]
#[case::page(vec![answer("200 OK", "content-type: text/html\r\n", "<!doctype html>")], FaultKind::Malformed, "a page for a browser (200)")]
#[case::page_not_found(vec![answer("404 Not Found", "", " <html>")], FaultKind::Malformed, "a page for a browser (404)")]
#[case::another_document(vec![ok("{\"hello\":1}")], FaultKind::Malformed, "something else (200)")]
#[case::not_found(vec![answer("404 Not Found", "", "404 page not found")], FaultKind::Malformed, "something else (404)")]
#[case::login(vec![answer("302 Found", "location: https://x/\r\n", "")], FaultKind::Malformed, "sends us elsewhere")]
#[case::starting(status(503), FaultKind::Unavailable, "answers 503")]
#[case::no_http(vec![send("SSH-2.0-x\r\n\r\n")], FaultKind::Malformed, "not HTTP")]
#[case::closing(vec![Act::Close { goodbye: true }], FaultKind::Unavailable, "ended before an answer")]
#[case::cut(vec![send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), Act::Close { goodbye: false }], FaultKind::Malformed, "cut")]
#[tokio::test]
async fn what_is_no_api_server(#[case] acts: Vec<Act>, #[case] fault: FaultKind, #[case] said: &str) {
    let server = kubernetes_but("/version", acts).await;
    fails_at(&look(&by_token(&server)).await, CheckName::Server, fault, said);
}

#[rstest]
#[case::stalls(vec![Act::Hang], "no answer in time")]
#[case::stalls_within(vec![send("HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"), Act::Hang], "silence within an answer")]
#[tokio::test]
async fn a_server_that_hangs_costs_no_more_than_its_time(#[case] acts: Vec<Act>, #[case] said: &str) {
    let server = kubernetes_but("/version", acts).await;
    let checks = look_for(&by_token(&server), Duration::from_secs(1)).await;
    fails_at(&checks, CheckName::Server, FaultKind::Unavailable, said);
}

#[rstest]
#[case::all_the_time_is_over("/api/v1/namespaces", CheckName::Namespace)]
#[case::at_the_end("/apis/authorization", CheckName::Permission)]
#[tokio::test]
async fn a_server_that_hangs_later(#[case] path: &'static str, #[case] name: CheckName) {
    let server = kubernetes_but(path, vec![Act::Hang]).await;
    let checks = look_for(&by_token(&server), Duration::from_secs(1)).await;
    fails_at(&checks, name, FaultKind::Unavailable, "");
}

#[rstest]
#[case::identity("/apis/authentication")]
#[case::everywhere("/")]
#[tokio::test]
async fn a_credential_that_is_not_accepted(#[case] path: &'static str) {
    let server = kubernetes_but(path, status(401)).await;
    let checks = look(&by_token(&server)).await;
    fails_at(&checks, CheckName::Identity, FaultKind::Unauthorized, "does not accept the credential (401)");
}

#[rstest]
#[case::may_not_ask(status(403), CheckResult::Skipped, "we may not ask")]
#[case::old(status(404), CheckResult::Skipped, "older than 1.28")]
#[case::nobody(
    json("201 Created", &json!({"kind": "SelfSubjectReview", "status": {"userInfo": {"username": "system:anonymous"}}})),
    CheckResult::Note,
    "nobody: "
)]
#[case::hostile(
    json("201 Created", &json!({"kind": "SelfSubjectReview", "status": {"userInfo": {"username": "\u{1b}[2Jann"}}})),
    CheckResult::Ok,
    "\\u{1b}[2Jann"
)]
#[tokio::test]
async fn identities(#[case] acts: Vec<Act>, #[case] result: CheckResult, #[case] said: &str) {
    let server = kubernetes_but("/apis/authentication", acts).await;
    let checks = look(&by_token(&server)).await;
    let identity = the(&checks, CheckName::Identity);
    assert_eq!(identity.result, result, "{identity:?}");
    assert!(identity.message.contains(said) && !identity.message.contains('\u{1b}'), "{identity:?}");
    assert_eq!(checks.last().map(|check| check.result), Some(CheckResult::Ok), "the rest is looked at: {checks:?}");
}

#[rstest]
#[case::missing(status(404), CheckResult::Failed, "there is no namespace shop")]
#[case::may_not_look(status(403), CheckResult::Skipped, "we may not look")]
#[case::ending(
    json("200 OK", &json!({"kind": "Namespace", "status": {"phase": "Terminating"}})),
    CheckResult::Note,
    "shop is being deleted"
)]
#[tokio::test]
async fn namespaces(#[case] acts: Vec<Act>, #[case] result: CheckResult, #[case] said: &str) {
    let server = kubernetes_but("/api/v1/namespaces", acts).await;
    let checks = look(&by_token(&server)).await;
    let namespace = the(&checks, CheckName::Namespace);
    assert_eq!(namespace.result, result, "{namespace:?}");
    assert!(namespace.message.contains(said), "{namespace:?}");
    assert_eq!(checks.last().map(|check| check.result), Some(CheckResult::Ok), "the rest is looked at: {checks:?}");
}

#[tokio::test]
async fn a_server_that_does_not_say_what_is_allowed() {
    let server = kubernetes_but("/apis/authorization", status(403)).await;
    let checks = look(&by_token(&server)).await;
    let permissions: Vec<_> = checks.iter().filter(|check| check.name == CheckName::Permission).collect();
    assert_eq!(permissions.len(), ASKS.len());
    assert!(permissions.iter().all(|check| check.result == CheckResult::Skipped), "{permissions:?}");
}

#[tokio::test]
async fn clocks_that_differ_are_noted() {
    let date = httpdate::fmt_http_date(SystemTime::now() + Duration::from_secs(3 * 3600));
    let version = json!({"gitVersion": "v1.35.4", "platform": "linux/amd64"}).to_string();
    let server = kubernetes_but("/version", vec![answer("200 OK", &format!("date: {date}\r\n"), version)]).await;
    let checks = look(&by_token(&server)).await;
    let clock = the(&checks, CheckName::Clock);
    assert_eq!(clock.result, CheckResult::Note);
    assert!(clock.message.contains(" behind the server's"), "{clock:?}");
}

#[tokio::test]
async fn a_token_that_says_that_it_is_over() {
    let claims = URL_SAFE_NO_PAD.encode(json!({"exp": 1_000_000_000}).to_string());
    let server = Server::start(Listening::default(), |_, seen| kubernetes(seen)).await;
    let file = server.file("token", &format!("e30.{claims}.CANARY\n"));
    let connection = server.connection_as(&format!("tokenFile: {}", file.display()), "", "");
    let checks = look(&connection).await;
    let credential = the(&checks, CheckName::Credential);
    assert_eq!((credential.result, credential.fault), (CheckResult::Failed, Some(FaultKind::Unauthorized)));
    let file = file.display().to_string();
    assert!(credential.message.starts_with(&format!("the token in {file}, written ")), "{credential:?}");
    assert!(credential.message.ends_with("expired on 2001-09-09T01:46:40Z: get a new one"), "{credential:?}");
    assert_eq!(the(&checks, CheckName::Identity).result, CheckResult::Ok, "the server decides");
}

#[tokio::test]
async fn plain_http_to_this_machine_has_no_tls() {
    let listening = Listening { tls: false, ..Listening::default() };
    let server = Server::start(listening, |_, seen| kubernetes(seen)).await;
    let address = format!("http://{}", server.address);
    let checks = look(&server.connection_to(&address, &server.authority.pem, "extensions: []", "")).await;
    assert_eq!(the(&checks, CheckName::Tls).result, CheckResult::Skipped);
    assert!(the(&checks, CheckName::Credential).message.starts_with("none: "), "{checks:?}");
    assert_eq!(checks.last().map(|check| check.result), Some(CheckResult::Ok));
}

#[test]
fn a_kubeconfig_that_gives_no_connection_is_the_only_thing_looked_at() {
    let file = Some(std::path::PathBuf::from("/nowhere/config"));
    let error = Connection::from_kubeconfig(KubeconfigOptions { file, ..KubeconfigOptions::default() }).unwrap_err();
    let checks = unconfigured(&error);
    fails_at(&checks, CheckName::Kubeconfig, FaultKind::Configuration, "/nowhere/config");
}
