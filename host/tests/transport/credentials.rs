//! Who we say we are, and what happens after a 401.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use workload_host::model::{Failure, Media, Method};
use workload_host::transport::TransportLimits;
use workload_host::upstream::Outgoing;

use crate::server::*;

fn presenting(identity: &Identity) -> String {
    format!(
        "client-certificate-data: {}, client-key-data: {}",
        STANDARD.encode(&identity.certificate),
        STANDARD.encode(&identity.key)
    )
}

#[tokio::test]
async fn the_client_certificate_is_presented() {
    let clients = Arc::new(Authority::new());
    let listening = Listening { clients: Some(Arc::clone(&clients)), ..Listening::default() };
    let server = Server::start(listening, |_, _| vec![ok("{}")]).await;
    let connection = server.connection_as(&presenting(&clients.client()), "", "");
    let upstream = connection.upstream(TransportLimits::default()).unwrap();
    assert_eq!(whole(&upstream, get("/api")).await.unwrap().0, 200);
    assert_eq!(server.client_certificates(), 1);
    assert!(!server.seen()[0].text.contains("authorization"));
}

#[tokio::test]
async fn a_client_certificate_that_is_refused_is_no_lost_request() {
    let listening = Listening { clients: Some(Arc::new(Authority::new())), ..Listening::default() };
    let server = Server::start(listening, |_, _| vec![ok("{}")]).await;
    let stranger = Authority::new().client();
    let upstream = server.connection_as(&presenting(&stranger), "", "").upstream(TransportLimits::default()).unwrap();
    let request = write_with(Method::Post, Media::Json, "{}");
    assert_eq!(whole(&upstream, request).await.unwrap_err().0, Failure::Unreachable);
    assert!(server.seen().is_empty());
}

fn authorizations(server: &Server) -> Vec<String> {
    let of = |text: &str| text.lines().find_map(|line| line.strip_prefix("authorization: ").map(str::to_owned));
    server.seen().iter().map(|seen| of(&seen.text).unwrap_or_default()).collect()
}

/// A server that takes only this token.
async fn taking(token: &'static str) -> Server {
    Server::start(Listening::default(), move |_, seen| {
        let good = seen.text.contains(&format!("authorization: Bearer {token}\r\n"));
        vec![if good { ok("{}") } else { answer("401 Unauthorized", "", "{\"kind\":\"Status\"}") }]
    })
    .await
}

#[rstest]
#[case::read(get("/api"))]
#[case::write(write_with(Method::Post, Media::Json, "{\"a\":1}"))]
#[tokio::test]
async fn after_a_401_a_rotated_token_is_tried_once(#[case] request: Outgoing) {
    let server = taking("second-token").await;
    let file = server.file("token", "first-token\n");
    let user = format!("tokenFile: {}", file.display());
    let upstream = server.connection_as(&user, "", "").upstream(TransportLimits::default()).unwrap();
    server.file("token", "second-token\n");
    assert_eq!(whole(&upstream, request.clone()).await.unwrap().0, 200);
    assert_eq!(authorizations(&server), ["Bearer first-token", "Bearer second-token"]);
    let bodies: Vec<String> =
        server.seen().iter().map(|seen| seen.text.split("\r\n\r\n").nth(1).unwrap().to_owned()).collect();
    assert_eq!(bodies[0], bodies[1]);
    // It is known from now on.
    assert_eq!(whole(&upstream, request).await.unwrap().0, 200);
    assert_eq!(server.seen().len(), 3);
}

#[rstest]
#[case::unchanged(Some("first-token"), 1)]
#[case::changed_but_wrong(Some("third-token"), 2)]
#[case::gone(None, 1)]
#[tokio::test]
async fn a_401_that_stays_is_the_answer(#[case] rotated: Option<&str>, #[case] requests: usize) {
    let server = taking("second-token").await;
    let file = server.file("token", "first-token");
    let user = format!("tokenFile: {}", file.display());
    let upstream = server.connection_as(&user, "", "").upstream(TransportLimits::default()).unwrap();
    match rotated {
        Some(token) => drop(server.file("token", token)),
        None => std::fs::remove_file(file).unwrap(),
    }
    let (status, body) = whole(&upstream, get("/api")).await.unwrap();
    assert_eq!((status, body.as_slice()), (401, b"{\"kind\":\"Status\"}".as_slice()));
    assert_eq!(server.seen().len(), requests);
}

#[tokio::test]
async fn a_fixed_token_is_not_tried_twice() {
    let server = taking("another-token").await;
    assert_eq!(whole(&server.upstream(), get("/api")).await.unwrap().0, 401);
    assert_eq!(server.seen().len(), 1);
}
