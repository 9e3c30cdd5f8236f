//! What goes out.

use rstest::rstest;
use workload_host::model::{Media, Method};
use workload_host::transport::TransportLimits;
use workload_host::upstream::Outgoing;

use crate::server::*;

const AGENT: &str = concat!("user-agent: workload/", env!("CARGO_PKG_VERSION"));

/// The bytes of one request, with `ADDRESS` for the server's.
async fn sent(user: &str, base: &str, request: Outgoing) -> String {
    let server = Server::playing(vec![vec![ok("{}")]]).await;
    let upstream = server.connection_as(user, base, "").upstream(TransportLimits::default()).unwrap();
    whole(&upstream, request).await.unwrap();
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    seen[0].text.replace(&server.address.to_string(), "ADDRESS")
}

/// The golden set: these headers, in this order, and nothing else.
#[rstest]
#[case::read(
    get("/apis/apps/v1/namespaces/a/deployments?limit=500"),
    "GET /apis/apps/v1/namespaces/a/deployments?limit=500 HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\nAGENT\r\naccept-encoding: identity\r\n\r\n"
)]
#[case::create(
    write_with(Method::Post, Media::Json, "{\"a\":1}"),
    "POST /apis/x HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\ncontent-type: application/json\r\ncontent-length: 7\r\n\
     AGENT\r\naccept-encoding: identity\r\n\r\n{\"a\":1}"
)]
#[case::merge_patch(
    write_with(Method::Patch, Media::MergePatch, "{}"),
    "PATCH /apis/x HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\ncontent-type: application/merge-patch+json\r\ncontent-length: 2\r\n\
     AGENT\r\naccept-encoding: identity\r\n\r\n{}"
)]
#[case::delete_with_options(
    write_with(Method::Delete, Media::Json, "{}"),
    "DELETE /apis/x HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\
     AGENT\r\naccept-encoding: identity\r\n\r\n{}"
)]
#[case::delete_without_a_body(
    Outgoing { method: Method::Delete, ..get("/apis/x") },
    "DELETE /apis/x HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\nAGENT\r\naccept-encoding: identity\r\n\r\n"
)]
#[case::put_with_an_empty_body(
    write_with(Method::Put, Media::Octets, ""),
    "PUT /apis/x HTTP/1.1\r\nhost: ADDRESS\r\naccept: application/json\r\n\
     authorization: Bearer CANARY-7f3a9d/c1+token=\r\ncontent-type: application/octet-stream\r\ncontent-length: 0\r\n\
     AGENT\r\naccept-encoding: identity\r\n\r\n"
)]
#[tokio::test]
async fn byte_for_byte(#[case] request: Outgoing, #[case] expected: &str) {
    let text = sent(&format!("token: '{TOKEN}'"), "", request).await;
    assert_eq!(text, expected.replace("AGENT", AGENT));
}

#[rstest]
#[case::json(Media::Json, "application/json", "application/json")]
#[case::table(Media::JsonTable, "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", "application/json")]
#[case::metadata(
    Media::JsonMetadata,
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
    "application/json"
)]
#[case::merge(Media::MergePatch, "application/json", "application/merge-patch+json")]
#[case::json_patch(Media::JsonPatch, "application/json", "application/json-patch+json")]
#[case::apply(Media::ApplyPatch, "application/json", "application/apply-patch+yaml")]
#[case::octets(Media::Octets, "application/octet-stream", "application/octet-stream")]
#[case::text(Media::Text, "text/plain", "text/plain")]
#[tokio::test]
async fn media_as_http_writes_them(#[case] media: Media, #[case] accept: &str, #[case] content_type: &str) {
    let request = Outgoing { accept: media, ..write_with(Method::Patch, media, "x") };
    let text = sent(&format!("token: '{TOKEN}'"), "", request).await;
    assert!(text.contains(&format!("\r\naccept: {accept}\r\n")), "{text}");
    assert!(text.contains(&format!("\r\ncontent-type: {content_type}\r\n")), "{text}");
}

#[rstest]
#[case::none("", "GET /api/v1/pods HTTP/1.1")]
#[case::slash("/", "GET /api/v1/pods HTTP/1.1")]
#[case::rancher("/k8s/clusters/c1", "GET /k8s/clusters/c1/api/v1/pods HTTP/1.1")]
#[case::trailing("/k8s/clusters/c1/", "GET /k8s/clusters/c1/api/v1/pods HTTP/1.1")]
#[tokio::test]
async fn the_base_path_stays(#[case] base: &str, #[case] line: &str) {
    let text = sent(&format!("token: '{TOKEN}'"), base, get("/api/v1/pods")).await;
    assert_eq!(text.lines().next(), Some(line));
}

#[tokio::test]
async fn a_target_that_is_none_reaches_nobody() {
    let server = Server::playing(vec![vec![ok("{}")]]).await;
    let upstream = server.upstream();
    for target in ["@evil/api", ":1/api", "api", "/../x", "/a b", "/a\r\nx: y"] {
        assert!(whole(&upstream, get(target)).await.is_err(), "{target:?}");
    }
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn connections_are_used_again_but_not_by_another_upstream() {
    let server = Server::playing(vec![vec![ok("{}")]]).await;
    let connection = server.connection_as(&format!("token: '{TOKEN}'"), "", "");
    let first = connection.upstream(TransportLimits::default()).unwrap();
    whole(&first, get("/1")).await.unwrap();
    whole(&first, get("/2")).await.unwrap();
    let second = connection.upstream(TransportLimits::default()).unwrap();
    whole(&second, get("/3")).await.unwrap();
    let used: Vec<usize> = server.seen().iter().map(|seen| seen.connection).collect();
    assert_eq!(used, [0, 0, 1]);
}

#[tokio::test]
async fn plain_http_to_loopback() {
    let listening = Listening { tls: false, ..Listening::default() };
    let server = Server::start(listening, |_, _| vec![ok("{}")]).await;
    for host in ["127.0.0.1", "localhost"] {
        let address = format!("http://{host}:{}", server.address.port());
        let connection = server.connection_to(&address, &server.authority.pem, "extensions: []", "");
        let upstream = connection.upstream(TransportLimits::default()).unwrap();
        assert_eq!(whole(&upstream, get("/api")).await.unwrap(), (200, b"{}".to_vec()));
    }
    assert!(server.seen().iter().all(|seen| !seen.text.contains("authorization")));
}
