//! Connections that are refused, reset, or hang, and the protocol on those that do not.

use std::io;
use std::time::Duration;

use futures_util::FutureExt;
use kube_emulator::Emulator;
use kube_emulator::fault::{Fault, Rule, When};
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

use crate::client::{Client, NAMESPACES, exists, namespace, patient, server};

fn creating() -> Pattern {
    Pattern::resource("create", "namespaces")
}

fn kind<T>(result: io::Result<T>) -> Option<io::ErrorKind> {
    result.err().map(|error| error.kind())
}

#[tokio::test]
async fn several_requests_use_one_connection() {
    let server = server().await;
    let mut connection = Client::new(&server).connect().await.unwrap();
    for name in ["a", "b", "c"] {
        assert_eq!(connection.ask("POST", NAMESPACES, &namespace(name)).await.status(), 201);
    }
    let all = server.emulator().record().all();
    assert!(all.iter().all(|exchange| exchange.connection == all[0].connection), "{all:?}");
}

#[tokio::test]
async fn only_http_1_is_agreed_upon() {
    let server = server().await;
    let both = Client::new(&server).with_protocols(&["h2", "http/1.1"]).tls().await.unwrap();
    assert_eq!(both.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
    assert!(Client::new(&server).with_protocols(&["h2"]).tls().await.is_err());
}

#[tokio::test]
async fn an_outage_refuses_resets_and_ends() {
    let server = server().await;
    let client = Client::new(&server);
    let mut open = client.connect().await.unwrap();
    assert_eq!(open.ask("GET", NAMESPACES, "").await.status(), 200);

    server.refuse(None).await;
    assert_eq!(kind(client.tls().await), Some(io::ErrorKind::ConnectionRefused));
    let answer = open.ask("POST", NAMESPACES, &namespace("one")).await;
    assert_eq!(answer.status(), 0, "the open connection is gone, too");

    // The port is still ours: nobody is given it in the meantime.
    assert!(TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap() != server.address());
    server.accept().await;
    assert_eq!(client.create("two").await.status(), 201);
    assert!(!exists(&server, "one"));
}

#[tokio::test]
async fn an_outage_begins_with_a_request() {
    let server = server().await;
    let client = Client::new(&server);
    let rule = Rule::on(creating(), Fault::Refuse(None)).skip(1).once();
    server.emulator().faults().add(rule);
    assert_eq!(client.create("one").await.status(), 201);
    let answer = client.create("two").await;
    assert_eq!((answer.status(), answer.end()), (0, "reset"));
    // Who tries again at once finds nobody there, however quick.
    assert_eq!(kind(client.tls().await), Some(io::ErrorKind::ConnectionRefused));
    server.emulator().faults().clear();
    server.until_listening().await;
    assert_eq!(client.create("three").await.status(), 201);
    assert!(!exists(&server, "two"));
}

#[tokio::test]
async fn an_outage_ends_by_itself() {
    let server = server().await;
    let client = Client::new(&server);
    for time in [0, 50] {
        patient(server.refuse(Some(Duration::from_millis(time)))).await;
        patient(server.until_listening()).await;
    }
    assert_eq!(client.create("one").await.status(), 201);
}

#[rstest]
#[case::reset(Fault::Reset(When::Before))]
#[case::garbage(Fault::Garbage(When::Before, "HTTP/1.0 400 Bad Request\r\n\r\n".into()))]
#[case::refuse(Fault::Refuse(Some(Duration::from_millis(10))))]
#[tokio::test]
async fn a_connection_breaks_before_anything_is_said(#[case] fault: Fault) {
    let server = server().await;
    let client = Client::new(&server);
    let rule = server.emulator().faults().add(Rule::on_connections(fault).once());
    assert!(client.tls().await.is_err());
    rule.until_applied(1).await;
    server.until_listening().await;
    assert_eq!(client.get(NAMESPACES).await.status(), 200);
    assert_eq!(server.emulator().record().total(), 1);
}

#[rstest]
#[case::stall(Fault::Stall(When::Before))]
#[case::half_open(Fault::HalfOpen(When::Before))]
#[tokio::test]
async fn a_connection_is_accepted_and_nothing_more(#[case] fault: Fault) {
    let server = server().await;
    let client = Client::new(&server);
    let rule = server.emulator().faults().add(Rule::on_connections(fault).once());
    let stalled = client.tls();
    tokio::pin!(stalled);
    tokio::select! {
        _ = &mut stalled => panic!("it got an answer"),
        () = rule.until_applied(1) => {}
    }
    assert_eq!(client.get(NAMESPACES).await.status(), 200, "others are served");
    assert!(stalled.as_mut().now_or_never().is_none());
    server.close().await;
    assert!(stalled.await.is_err());
}

#[tokio::test]
async fn garbage_comes_in_the_place_of_tls() {
    let server = server().await;
    server.emulator().faults().add(Rule::on_connections(Fault::Garbage(When::Before, "SSH-2.0".into())));
    let mut tcp = TcpStream::connect(server.address()).await.unwrap();
    let mut bytes = Vec::new();
    tcp.read_to_end(&mut bytes).await.unwrap();
    assert_eq!(bytes, b"SSH-2.0");
}

/// What a client reads after it sent a request that is not answered, and said that it goes.
#[rstest]
#[case::stall(Fault::Stall(When::Before), false, true)]
#[case::stall_after(Fault::Stall(When::After), true, true)]
#[case::half_open(Fault::HalfOpen(When::Before), false, false)]
#[case::half_open_after(Fault::HalfOpen(When::After), true, false)]
#[tokio::test]
async fn a_request_gets_no_answer(#[case] fault: Fault, #[case] effect: bool, #[case] notices: bool) {
    let server = server().await;
    let client = Client::new(&server);
    let rule = server.emulator().faults().add(Rule::on(creating(), fault));
    let mut tls = client.tls().await.unwrap();
    let body = namespace("one");
    let token = server.admin_token();
    let head = format!("POST {NAMESPACES} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer {token}\r\n");
    let rest = format!("content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}", body.len());
    tls.write_all(head.as_bytes()).await.unwrap();
    tls.write_all(rest.as_bytes()).await.unwrap();
    rule.until_applied(1).await;
    // Another request goes all the way, and in the meantime nothing came.
    assert_eq!(client.get(NAMESPACES).await.status(), 200);
    assert_eq!(exists(&server, "one"), effect);
    let mut byte = [0];
    assert!(tls.read(&mut byte).now_or_never().is_none());

    tls.shutdown().await.unwrap();
    if notices {
        assert_eq!(tls.read(&mut byte).await.unwrap(), 0, "the server closes its side, too");
    } else {
        assert_eq!(client.get(NAMESPACES).await.status(), 200);
        assert!(tls.read(&mut byte).now_or_never().is_none(), "the server does not notice");
    }
}

#[tokio::test]
async fn a_dropped_server_is_gone() {
    let emulator = Emulator::default();
    let (one, two) = (emulator.listen(([127, 0, 0, 1], 0).into()).await.unwrap(), server().await);
    let (first, second) = (Client::new(&one), Client::new(&two));
    assert_eq!(first.create("one").await.status(), 201);
    assert_eq!(second.get(&format!("{NAMESPACES}/one")).await.status(), 404, "two emulators share nothing");
    let address = one.address();
    one.close().await;
    assert_eq!(kind(first.tls().await), Some(io::ErrorKind::ConnectionRefused));
    assert_eq!(second.get(NAMESPACES).await.status(), 200);

    let again = emulator.listen(address).await.unwrap();
    assert_eq!(again.address(), address);
    assert_eq!(Client::new(&again).get(&format!("{NAMESPACES}/one")).await.status(), 200, "its objects stay");
}

#[tokio::test]
async fn one_port_is_not_given_twice() {
    let server = server().await;
    let error = Emulator::default().listen(server.address()).await.unwrap_err();
    assert_eq!(error.to_string(), format!("cannot listen on {}", server.address()));
}

#[rstest]
#[case::everywhere([0, 0, 0, 0])]
#[case::elsewhere([10, 0, 0, 1])]
#[tokio::test]
async fn it_listens_on_loopback_only(#[case] address: [u8; 4]) {
    let error = Emulator::default().listen((address, 0).into()).await.unwrap_err();
    assert!(error.to_string().contains("127.0.0.1"), "{error}");
}

#[tokio::test]
async fn the_second_loopback_address_is_served_where_there_is_one() {
    // Not every machine has it.
    if TcpListener::bind("[::1]:0").await.is_err() {
        return;
    }
    let server = Emulator::default().listen("[::1]:0".parse().unwrap()).await.unwrap();
    assert!(server.url().starts_with("https://[::1]:"));
    assert_eq!(Client::new(&server).get(NAMESPACES).await.status(), 200);
}
