//! The credential goes to the server and nowhere else.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rstest::rstest;
use workload_host::model::Failure;

use crate::server::*;

fn chunked(pieces: &[&str]) -> Vec<Act> {
    let mut acts = vec![send("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n")];
    acts.extend(pieces.iter().map(|piece| send(format!("{:x}\r\n{piece}\r\n", piece.len()))));
    acts.push(send("0\r\n\r\n"));
    acts
}

#[rstest]
#[case::in_one_piece(vec![ok(format!("{{\"message\":\"Bearer {TOKEN}\"}}"))])]
#[case::at_the_end(vec![ok(format!("Bearer {TOKEN}"))])]
#[case::base64(vec![ok(format!("{{\"data\":{{\"a\":\"{}\"}}}}", STANDARD.encode(TOKEN)))])]
#[case::base64_of_more(vec![ok(STANDARD.encode(format!("apiVersion: v1\nusers: [{{token: {TOKEN}}}]\n")))])]
#[case::percent(vec![ok(TOKEN.replace('/', "%2F").replace('+', "%2b").replace('=', "%3D").replace("%2b", "%2B"))])]
#[case::across_chunks(chunked(&["{\"a\":\"CAN", "ARY-7f3a9", "d/c1+token", "=\"}"]))]
#[case::byte_by_byte(TOKEN.chars().fold(vec![send(format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", TOKEN.len()))], |mut acts, byte| { acts.push(send(byte.to_string())); acts }))]
#[case::in_an_error(vec![answer("403 Forbidden", "", format!("headers were: {TOKEN}"))])]
#[case::in_a_header(vec![answer("200 OK", &format!("warning: 299 - \"{TOKEN}\"\r\n"), "{}")])]
#[tokio::test]
async fn an_echo_is_withheld(#[case] acts: Vec<Act>) {
    let server = Server::playing(vec![acts, vec![ok("{}")]]).await;
    let upstream = server.upstream();
    let (failure, before) = whole(&upstream, get("/")).await.unwrap_err();
    assert_eq!(failure, Failure::BadResponse);
    let before = String::from_utf8(before).unwrap();
    assert!(!before.contains("CAN") && !before.contains(&STANDARD.encode(TOKEN)[..4]), "{before}");
    // And that connection is not used again.
    whole(&upstream, get("/")).await.unwrap();
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn what_only_begins_like_it_passes() {
    let server = Server::playing(vec![chunked(&["CAN", "ARY-", "7f3a9d/c1+toke", "\nCANARY"])]).await;
    assert_eq!(whole(&server.upstream(), get("/")).await.unwrap().1, b"CANARY-7f3a9d/c1+toke\nCANARY");
}
