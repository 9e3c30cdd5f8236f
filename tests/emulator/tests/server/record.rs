//! What the record has of what came over TLS.

use kube_emulator::fault::{Broken, Fault, Rule, When};
use kube_emulator::pattern::Pattern;
use kube_emulator::record::Outcome;
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::client::{Client, NAMESPACES, namespace, server};

/// Sends bytes that end with `connection: close`, or after which the client closes its side, and reads all that comes.
async fn exchange(client: &Client, bytes: &[u8]) -> String {
    let mut tls = client.tls().await.unwrap();
    tls.write_all(bytes).await.unwrap();
    let mut answer = Vec::new();
    // A server that does not like what it got may close without a word of TLS.
    let _ = tls.read_to_end(&mut answer).await;
    String::from_utf8_lossy(&answer).into_owned()
}

#[rstest]
#[case::odd_letters(
    "GET /api/v1/namespaces?limit=1&x=%2f HTTP/1.1\r\nHOST:x\r\nUser-agent: odd/1\r\nX-A:   1 \r\nConnection: Close\r\n\r\n",
    ""
)]
#[case::a_length(
    "PUT /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nContent-Length: 4\r\nconnection: close\r\n\r\n{\r\n}",
    "{\r\n}"
)]
#[case::chunks(
    "POST /api/v1/namespaces HTTP/1.1\r\nhost: x\r\nTransfer-Encoding: chunked\r\nconnection: close\r\n\r\n2;a=b\r\n{\"\r\n1\r\na\r\n0\r\n\r\n",
    "{\"a"
)]
#[case::the_old_protocol("GET /api/v1/namespaces HTTP/1.0\r\n\r\n", "")]
#[tokio::test]
async fn a_request_is_kept_byte_for_byte(#[case] bytes: &str, #[case] body: &str) {
    let server = server().await;
    let answer = exchange(&Client::anonymous(&server), bytes.as_bytes()).await;
    let all = server.emulator().record().all();
    let [only] = all.as_slice() else { panic!("{all:?}") };
    assert_eq!(only.raw, bytes);
    assert_eq!(only.body, body);
    let Outcome::Answered(status) = only.outcome else { panic!("{only:?}") };
    assert_eq!(answer.split(' ').nth(1), Some(status.to_string().as_str()), "{answer}");
    assert_eq!(only.asked.user, "system:anonymous");
}

#[tokio::test]
async fn requests_sent_at_once_are_kept_apart() {
    let server = server().await;
    let token = server.admin_token();
    let requests = ["a", "b"].map(|name| {
        let body = namespace(name);
        let length = body.len();
        format!("POST {NAMESPACES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}")
    });
    let last = "GET /readyz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n".to_owned();
    let sent: String = requests.iter().chain([&last]).map(String::as_str).collect();
    let answers = exchange(&Client::anonymous(&server), sent.as_bytes()).await;
    assert_eq!(answers.matches("HTTP/1.1 ").count(), 3, "{answers}");
    let all = server.emulator().record().all();
    let raw: Vec<_> = all.iter().map(|exchange| str::from_utf8(&exchange.raw).unwrap()).collect();
    assert_eq!(raw, [&requests[0], &requests[1], &last]);
    assert!(all.iter().all(|exchange| exchange.connection == Some(0)));
}

#[rstest]
#[case::no_http("\x16\x03\x01 hello\r\n\r\n")]
#[case::half_a_head("GET /api/v1/namespaces HTTP/1.1\r\nhost: x\r\n")]
#[tokio::test]
async fn what_is_no_request_is_kept_too(#[case] bytes: &str) {
    let server = server().await;
    let mut tls = Client::anonymous(&server).tls().await.unwrap();
    tls.write_all(bytes.as_bytes()).await.unwrap();
    tls.shutdown().await.unwrap();
    server.emulator().record().until(|all| !all.is_empty()).await;
    let all = server.emulator().record().all();
    assert_eq!((&all[0].raw[..], &all[0].outcome), (bytes.as_bytes(), &Outcome::Unreadable));
    assert_eq!(server.emulator().record().count("*", "*"), 0, "it matches nothing");
}

#[tokio::test]
async fn connections_are_told_apart_and_outcomes_are_told() {
    let server = server().await;
    let client = Client::new(&server);
    let record = server.emulator().record();
    server.emulator().faults().add(Rule::on(Pattern::any().named("c"), Fault::Reset(When::After)));
    client.create("a").await;
    let mut connection = client.connect().await.unwrap();
    connection.ask("GET", &format!("{NAMESPACES}/b"), "").await;
    connection.ask("GET", &format!("{NAMESPACES}/c"), "").await;
    let told: Vec<_> = record.all().iter().map(|e| (e.connection, e.outcome.clone())).collect();
    let wanted = [
        (Some(0), Outcome::Answered(201)),
        (Some(1), Outcome::Answered(404)),
        (Some(1), Outcome::Broken(Broken::Reset)),
    ];
    assert_eq!(told, wanted);
    assert_eq!(record.count("GET", &format!("{NAMESPACES}/*")), 2);
}

#[tokio::test]
async fn one_can_wait_for_a_request() {
    let server = server().await;
    let client = Client::new(&server);
    let record = server.emulator().record();
    let creating = Pattern::resource("create", "namespaces").from_user("admin-by-token");
    let (found, _) = tokio::join!(record.until_arrived(&creating, 2), async {
        client.create("a").await;
        client.get(NAMESPACES).await;
        client.create("b").await;
    });
    let bodies: Vec<_> = found.iter().map(|exchange| exchange.body.clone()).collect();
    assert_eq!(bodies, [namespace("a"), namespace("b")]);
}
