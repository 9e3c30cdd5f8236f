//! Whom we talk to.

use std::sync::Arc;

use rstest::rstest;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;
use workload_host::model::Failure;
use workload_host::transport::{Connection, KubeconfigOptions, TransportLimits};
use workload_host::upstream::Upstream as _;

use crate::server::*;

fn issued(change: &str, authority: &Authority) -> Identity {
    match change {
        "good" => authority.server(),
        "wrong name" => authority.issue(&["another.example"], |_| {}),
        "other address" => authority.issue(&["127.0.0.2"], |_| {}),
        "expired" => authority.issue(&["127.0.0.1"], |params| {
            params.not_before = rcgen::date_time_ymd(2000, 1, 1);
            params.not_after = rcgen::date_time_ymd(2001, 1, 1);
        }),
        "not yet" => authority.issue(&["127.0.0.1"], |params| params.not_before = rcgen::date_time_ymd(2400, 1, 1)),
        "another authority" => Authority::new().server(),
        other => panic!("{other}"),
    }
}

#[rstest]
#[case::good("good", "", None)]
#[case::wrong_name("wrong name", "", Some("for another name"))]
#[case::other_address("other address", "", Some("for another name"))]
#[case::expired("expired", "", Some("expired"))]
#[case::not_yet("not yet", "", Some("not valid yet"))]
#[case::another_authority("another authority", "", Some("of an unknown authority"))]
#[case::the_name_that_is_given("wrong name", ", tls-server-name: another.example", None)]
#[case::a_name_that_it_has_not("good", ", tls-server-name: another.example", Some("for another name"))]
#[tokio::test]
async fn certificates(#[case] change: &str, #[case] cluster: &str, #[case] wrong: Option<&str>) {
    let authority = Arc::new(Authority::new());
    let identity = Some(issued(change, &authority));
    let server = Server::start(Listening { authority, identity, ..Listening::default() }, |_, _| vec![ok("{}")]).await;
    let connection = server.connection_as(&format!("token: '{TOKEN}'"), "", cluster);
    let upstream = connection.upstream(TransportLimits::default()).unwrap();
    let result = whole(&upstream, get("/api")).await;
    match wrong {
        None => {
            assert_eq!(result.unwrap().0, 200);
            assert_eq!(upstream.trouble(), None);
        }
        Some(words) => {
            assert_eq!(result.unwrap_err().0, Failure::Unreachable);
            assert!(server.seen().is_empty(), "nothing was sent");
            let trouble = upstream.trouble().unwrap();
            assert!(trouble.ends_with(words) && !trouble.contains("example"), "{trouble}");
        }
    }
}

#[tokio::test]
async fn verification_can_only_be_skipped_by_the_kubeconfig() {
    let identity = Some(Authority::new().issue(&["another.example"], |_| {}));
    let server = Server::start(Listening { identity, ..Listening::default() }, |_, _| vec![ok("{}")]).await;
    let file = server.file(
        "skipping",
        &format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: 'https://{}', insecure-skip-tls-verify: true}}}}]\n\
             users: [{{name: u, user: {{token: '{TOKEN}'}}}}]\n",
            server.address
        ),
    );
    let options = KubeconfigOptions { file: Some(file), ..KubeconfigOptions::default() };
    let connection = Connection::from_kubeconfig(options).unwrap();
    let upstream = connection.upstream(TransportLimits::default()).unwrap();
    assert_eq!(whole(&upstream, get("/api")).await.unwrap().0, 200);
}

#[rstest]
#[case::nobody_listens(None)]
#[case::plain_http(Some("HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"))]
#[case::goodbye(Some(""))]
#[tokio::test]
async fn no_tls_is_unreachable(#[case] says: Option<&'static str>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("https://{}", listener.local_addr().unwrap());
    match says {
        None => drop(listener),
        Some(text) => drop(tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.write_all(text.as_bytes()).await.unwrap();
        })),
    }
    let elsewhere = Server::playing(vec![vec![ok("{}")]]).await;
    let connection = elsewhere.connection_to(&address, &elsewhere.authority.pem, &format!("token: '{TOKEN}'"), "");
    let result = whole(&connection.upstream(TransportLimits::default()).unwrap(), get("/api")).await;
    assert_eq!(result.unwrap_err().0, Failure::Unreachable);
}
