//! What comes back, proper and not.

use rstest::rstest;
use workload_host::model::{Failure, Media, Method};
use workload_host::transport::TransportLimits;
use workload_host::upstream::{Outgoing, Upstream as _};

use crate::server::*;

fn small() -> TransportLimits {
    TransportLimits { body: 1000, ..TransportLimits::default() }
}

#[rstest]
#[case::created("201 Created", 201)]
#[case::forbidden("403 Forbidden", 403)]
#[case::missing("404 Not Found", 404)]
#[case::throttled("429 Too Many Requests", 429)]
#[case::broken("500 Internal Server Error", 500)]
#[case::unusual("599 ", 599)]
#[tokio::test]
async fn statuses_pass_with_their_bodies(#[case] line: &str, #[case] status: u16) {
    let server = Server::playing(vec![vec![answer(line, "", "{\"kind\":\"Status\"}")]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap(), (status, b"{\"kind\":\"Status\"}".to_vec()));
}

#[tokio::test]
async fn only_harmless_headers_pass() {
    let headers = "content-type: application/json;as=Table;v=v1;g=meta.k8s.io\r\nretry-after: 3\r\n\
        date: Sun, 06 Nov 1994 08:49:37 GMT\r\nset-cookie: a=b\r\nwww-authenticate: Bearer\r\nserver: x\r\nlocation: /x\r\n\
        link: <https://h/x>; rel=next\r\naudit-id: 1\r\nWarning: 299 - \"first\"\r\nwarning: 299 - \"second\"\r\n";
    let server = Server::playing(vec![vec![answer("200 OK", headers, "{}")]]).await;
    let incoming = server.upstream().send(get("/")).await.unwrap();
    assert_eq!(incoming.retry_after_ms, Some(3_000));
    assert_eq!(incoming.date_ms, Some(784_111_777_000));
    assert_eq!(incoming.media, Some(Media::JsonTable));
    let warning = |text: &str| ("warning".to_owned(), format!("299 - \"{text}\""));
    assert_eq!(incoming.headers, [warning("first"), warning("second")]);
}

#[rstest]
#[case::moved("301 Moved Permanently")]
#[case::found("302 Found")]
#[case::see_other("303 See Other")]
#[case::not_modified("304 Not Modified")]
#[case::temporary("307 Temporary Redirect")]
#[case::permanent("308 Permanent Redirect")]
#[tokio::test]
async fn redirects_are_refused(#[case] line: &str) {
    for location in ["https://evil.example/", "http://127.0.0.1/", "/elsewhere", "file:///etc/passwd"] {
        let server = Server::playing(vec![vec![answer(line, &format!("location: {location}\r\n"), "")]]).await;
        assert_eq!(whole(&server.upstream(), get("/")).await.unwrap_err().0, Failure::RedirectRefused);
        assert_eq!((server.seen().len(), server.connections()), (1, 1));
    }
}

/// Heads that are refused before the body; the connection is never used again.
#[rstest]
#[case::switching(
    "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n",
    Failure::BadResponse
)]
#[case::gzip("HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 2\r\n\r\n{}", Failure::BadResponse)]
#[case::second_encoding(
    "HTTP/1.1 200 OK\r\ncontent-encoding: identity\r\ncontent-encoding: br\r\ncontent-length: 2\r\n\r\n{}",
    Failure::BadResponse
)]
#[case::transfer_gzip("HTTP/1.1 200 OK\r\ntransfer-encoding: gzip, chunked\r\n\r\n0\r\n\r\n", Failure::BadResponse)]
#[case::length_and_chunked(
    "HTTP/1.1 200 OK\r\ncontent-length: 2\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
    Failure::BadResponse
)]
#[case::two_lengths("HTTP/1.1 200 OK\r\ncontent-length: 2\r\ncontent-length: 3\r\n\r\n{}", Failure::BadResponse)]
#[case::negative_length("HTTP/1.1 200 OK\r\ncontent-length: -2\r\n\r\n{}", Failure::BadResponse)]
#[case::body_without_content("HTTP/1.1 204 No Content\r\ncontent-length: 2\r\n\r\n{}", Failure::BadResponse)]
#[case::status_600("HTTP/1.1 600 What\r\ncontent-length: 0\r\n\r\n", Failure::BadResponse)]
#[case::garbage("\u{1}\u{2}garbage\r\n\r\n", Failure::BadResponse)]
#[case::http_09("<html>hello</html>\r\n\r\n", Failure::BadResponse)]
#[case::http_2("HTTP/2 200\r\n\r\n", Failure::BadResponse)]
#[case::broken_header("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", Failure::BadResponse)]
#[case::too_large("HTTP/1.1 200 OK\r\ncontent-length: 1001\r\n\r\n", Failure::TooLarge)]
#[case::huge("HTTP/1.1 200 OK\r\ncontent-length: 18446744073709551000\r\n\r\n", Failure::TooLarge)]
#[tokio::test]
async fn improper_heads(#[case] raw: &str, #[case] failure: Failure) {
    let server = Server::playing(vec![vec![send(raw)], vec![ok("{}")]]).await;
    let upstream = server.upstream_with(small());
    let (said, body) = whole(&upstream, get("/")).await.unwrap_err();
    if raw.contains("18446744073709551000") {
        // hyper itself refuses what is near the largest number.
        assert!(matches!(said, Failure::TooLarge | Failure::BadResponse), "{said:?}");
    } else {
        assert_eq!((said, body), (failure, Vec::new()));
    }
    assert_eq!(whole(&upstream, get("/again")).await.unwrap().0, 200);
    assert_eq!(server.seen().iter().map(|seen| seen.connection).collect::<Vec<_>>(), [0, 1]);
}

#[rstest]
#[case::many_headers(format!("HTTP/1.1 200 OK\r\n{}\r\n", "a: b\r\n".repeat(1000)))]
#[case::long_header(format!("HTTP/1.1 200 OK\r\na: {}\r\n\r\n", "b".repeat(1 << 20)))]
#[tokio::test]
async fn heads_have_a_limit(#[case] raw: String) {
    let server = Server::playing(vec![vec![send(raw), Act::Hang]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap_err().0, Failure::BadResponse);
    server.ended(1).await;
}

const EARLY: &str = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n";

#[tokio::test]
async fn a_few_informational_answers_are_passed_over() {
    let server = Server::playing(vec![vec![send(EARLY.repeat(8)), ok("{}")]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap().0, 200);
}

#[tokio::test]
async fn a_flood_of_them_is_not() {
    let server = Server::playing(vec![vec![Act::Flood(EARLY.into())]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap_err().0, Failure::BadResponse);
    server.ended(1).await;
}

/// The connection ends before there is a head.
#[rstest]
#[case::at_once(vec![], get("/"), Failure::Lost)]
#[case::in_the_head(vec![send("HTTP/1.1 200 OK\r\ncontent-")], get("/"), Failure::Lost)]
#[case::of_a_write(vec![], write_with(Method::Post, Media::Json, "{}"), Failure::Lost)]
#[tokio::test]
async fn lost(
    #[case] mut acts: Vec<Act>,
    #[case] request: Outgoing,
    #[case] failure: Failure,
    #[values(true, false)] goodbye: bool,
) {
    acts.push(Act::Close { goodbye });
    let server = Server::playing(vec![acts]).await;
    assert_eq!(whole(&server.upstream(), request).await.unwrap_err().0, failure);
    assert_eq!(server.seen().len(), 1, "nothing is repeated");
}

const CUT_LENGTH: &str = "HTTP/1.1 200 OK\r\ncontent-length: 10\r\n\r\n{\"a\":";
const CUT_CHUNK: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\n";
const BAD_CHUNK: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n5\r\n{\"a\":\r\nxyz\r\n";

#[rstest]
#[case::length(CUT_LENGTH, get("/"), Failure::BadResponse)]
#[case::chunked(CUT_CHUNK, get("/"), Failure::BadResponse)]
#[case::no_chunk(BAD_CHUNK, get("/"), Failure::BadResponse)]
#[case::of_a_write(CUT_LENGTH, write_with(Method::Patch, Media::MergePatch, "{}"), Failure::Lost)]
#[case::of_a_watch(CUT_CHUNK, watch("/?watch=true"), Failure::Lost)]
#[tokio::test]
async fn cut_bodies(
    #[case] raw: &str,
    #[case] request: Outgoing,
    #[case] failure: Failure,
    #[values(true, false)] goodbye: bool,
) {
    let server = Server::playing(vec![vec![send(raw), Act::Close { goodbye }]]).await;
    assert_eq!(whole(&server.upstream(), request).await.unwrap_err(), (failure, b"{\"a\":".to_vec()));
}

/// A body that only the end of the connection ends is whole only with TLS's goodbye.
#[rstest]
#[case::goodbye(true, Ok((200, b"{}".to_vec())))]
#[case::cut(false, Err((Failure::BadResponse, b"{}".to_vec())))]
#[tokio::test]
async fn a_body_until_the_end(#[case] goodbye: bool, #[case] expected: Result<(u16, Vec<u8>), (Failure, Vec<u8>)>) {
    let server = Server::playing(vec![vec![send("HTTP/1.1 200 OK\r\n\r\n{}"), Act::Close { goodbye }]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await, expected);
}

#[tokio::test]
async fn more_than_its_length_spoils_the_connection() {
    let smuggled = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil";
    let server = Server::playing(vec![vec![send(smuggled)], vec![ok("good")]]).await;
    let upstream = server.upstream();
    assert_eq!(whole(&upstream, get("/")).await.unwrap().1, b"{}");
    assert_eq!(whole(&upstream, get("/")).await.unwrap().1, b"good");
    assert_eq!(server.connections(), 2);
}

fn chunk(size: usize) -> Vec<u8> {
    format!("{size:x}\r\n{}\r\n", "x".repeat(size)).into_bytes()
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

#[rstest]
#[case::just(vec![send(CHUNKED), Act::Send(chunk(1000)), send("0\r\n\r\n")], Ok(1000))]
#[case::one_more(vec![send(CHUNKED), Act::Send(chunk(1001)), send("0\r\n\r\n")], Err(Failure::TooLarge))]
#[case::endless(vec![send(CHUNKED), Act::Flood(chunk(100))], Err(Failure::TooLarge))]
#[case::endless_trailers(vec![send(CHUNKED), send("0\r\n"), Act::Flood(b"a: b\r\n".to_vec())], Err(Failure::BadResponse))]
#[tokio::test]
async fn sizes(#[case] acts: Vec<Act>, #[case] expected: Result<usize, Failure>) {
    let endless = matches!(acts.last(), Some(Act::Flood(_)));
    let server = Server::playing(vec![acts]).await;
    let result = whole(&server.upstream_with(small()), get("/")).await;
    assert_eq!(result.map(|(_, body)| body.len()).map_err(|(failure, _)| failure), expected);
    if endless {
        server.ended(1).await;
    }
}

#[tokio::test]
async fn a_stream_has_no_size_but_its_refusal_has() {
    let long = vec![send(CHUNKED), Act::Send(chunk(1500)), Act::Send(chunk(1500)), send("0\r\n\r\n")];
    let server = Server::playing(vec![long, vec![answer("403 Forbidden", "", "x".repeat(1001))]]).await;
    let upstream = server.upstream_with(small());
    assert_eq!(whole(&upstream, watch("/?watch=true")).await.unwrap().1.len(), 3000);
    assert_eq!(whole(&upstream, watch("/?watch=true")).await.unwrap_err().0, Failure::TooLarge);
}

#[tokio::test]
async fn trailers_are_dropped() {
    let server = Server::playing(vec![vec![send(CHUNKED), send("2\r\n{}\r\n0\r\nset-cookie: a\r\n\r\n")]]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap(), (200, b"{}".to_vec()));
}
