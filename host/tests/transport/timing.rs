//! Time limits, on a clock that is stopped once the server has the request, and what dropping does.

use std::time::Duration;

use futures_util::StreamExt as _;
use rstest::rstest;
use tokio::time::Instant;
use workload_host::model::{Failure, Media, Method};
use workload_host::transport::{CONNECT, HEADERS, TransportLimits};
use workload_host::upstream::{Outgoing, Upstream as _};

use crate::server::*;

/// Runs on the virtual clock from when the server has the request, and gives what came and how long that took.
async fn timed<T: Send + 'static>(server: &Server, work: impl Future<Output = T> + Send + 'static) -> (T, Duration) {
    let working = tokio::spawn(work);
    server.requested(1).await;
    tokio::time::pause();
    let begun = Instant::now();
    let result = working.await.unwrap();
    (result, begun.elapsed())
}

#[rstest]
#[case::silence(vec![Act::Hang])]
#[case::half_a_head(vec![send("HTTP/1.1 200 OK\r\n"), Act::Hang])]
#[tokio::test]
async fn the_head_must_come_in_time(#[case] acts: Vec<Act>) {
    let server = Server::playing(vec![acts]).await;
    let upstream = server.upstream();
    let request = write_with(Method::Post, Media::Json, "{}");
    let (result, took) = timed(&server, async move { whole(&upstream, request).await }).await;
    assert_eq!(result.unwrap_err().0, Failure::Timeout);
    assert!(took < HEADERS + Duration::from_secs(1) && took > HEADERS - Duration::from_secs(20), "{took:?}");
    server.ended(1).await;
}

const HALF: &str = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"a\":";
const EVENT: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\n{}\n\r\n";

#[rstest]
#[case::read(HALF, get("/"), 30)]
#[case::watch(EVENT, watch("/?watch=true"), 600)]
#[case::watch_that_says_when_it_ends(EVENT, watch("/?timeoutSeconds=290&watch=true"), 300)]
#[case::watch_that_says_too_much(EVENT, watch("/?timeoutSeconds=86400&watch=true"), 600)]
#[tokio::test]
async fn a_body_must_go_on(#[case] raw: &str, #[case] request: Outgoing, #[case] seconds: u64) {
    let server = Server::playing(vec![vec![send(raw), Act::Hang]]).await;
    let upstream = server.upstream();
    let incoming = upstream.send(request).await.unwrap();
    tokio::time::pause();
    let begun = Instant::now();
    let (failure, before) = body(incoming).await.unwrap_err();
    assert_eq!(failure, Failure::Timeout);
    assert!(!before.is_empty());
    let (took, limit) = (begun.elapsed(), Duration::from_secs(seconds));
    assert!(took >= limit && took < limit + Duration::from_secs(1), "{took:?}");
    server.ended(1).await;
}

#[tokio::test]
async fn a_handshake_must_end() {
    // It accepts and says nothing.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let server = Server::playing(vec![vec![ok("{}")]]).await;
    let address = format!("https://{}", listener.local_addr().unwrap());
    let connection = server.connection_to(&address, &server.authority.pem, &format!("token: '{TOKEN}'"), "");
    let upstream = connection.upstream(TransportLimits::default()).unwrap();
    let sending = tokio::spawn(async move { whole(&upstream, get("/")).await });
    let (stream, _) = listener.accept().await.unwrap();
    stream.readable().await.unwrap();
    tokio::time::pause();
    let begun = Instant::now();
    assert_eq!(sending.await.unwrap().unwrap_err().0, Failure::Unreachable);
    // A timer's grain is a millisecond.
    assert!(begun.elapsed() < CONNECT + Duration::from_secs(1), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn a_dropped_future_closes_its_connection() {
    let server = Server::playing(vec![vec![Act::Hang]]).await;
    let upstream = server.upstream();
    let sending = tokio::spawn(async move { whole(&upstream, get("/")).await });
    server.requested(1).await;
    sending.abort();
    server.ended(1).await;
}

#[tokio::test]
async fn a_dropped_body_closes_its_connection() {
    let server = Server::playing(vec![vec![send(EVENT), Act::Hang], vec![ok("{}")]]).await;
    let upstream = server.upstream();
    let mut incoming = upstream.send(watch("/?watch=true")).await.unwrap();
    assert_eq!(incoming.body.next().await.unwrap().unwrap(), "{}\n");
    drop(incoming);
    server.ended(1).await;
    whole(&upstream, get("/")).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn events_of_a_watch_come_as_they_are_sent() {
    let server = Server::playing(vec![vec![send(EVENT), Act::Hang]]).await;
    let mut incoming = server.upstream().send(watch("/?watch=true")).await.unwrap();
    // The server sends nothing more: nothing of the line may be kept back.
    assert_eq!(incoming.body.next().await.unwrap().unwrap(), "{}\n");
}

/// A pooled connection that the server has closed: hyper sends on a new one, and the request only once.
#[tokio::test]
async fn a_stale_connection_costs_nothing() {
    let server = Server::playing(vec![vec![ok("{}"), Act::Close { goodbye: true }], vec![ok("{}")]]).await;
    let upstream = server.upstream();
    whole(&upstream, get("/")).await.unwrap();
    server.ended(1).await;
    let request = write_with(Method::Post, Media::Json, "{}");
    let result = whole(&upstream, request).await;
    assert_eq!(result.unwrap().0, 200);
    assert_eq!(server.seen().len(), 2);
}
