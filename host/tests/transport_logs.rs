//! What the transport logs, at every level. A program of its own: a subscriber is for the whole process.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on is a failed test"
)]

#[allow(dead_code, reason = "shared with the other transport tests")]
#[path = "transport/server.rs"]
mod server;

use std::io;
use std::sync::{Arc, Mutex};

use server::*;
use workload_host::upstream::Upstream as _;

#[derive(Clone, Default)]
struct Written(Arc<Mutex<Vec<u8>>>);

impl io::Write for Written {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[tokio::test]
async fn logs_name_the_class_and_no_secret() {
    let log = Written::default();
    let writer = log.clone();
    let subscriber = tracing_subscriber::fmt()
        .with_max_level(tracing::Level::TRACE)
        .with_ansi(false)
        .with_writer(move || writer.clone())
        .finish();
    tracing::subscriber::set_global_default(subscriber).unwrap();

    let server = Server::playing(vec![
        vec![ok("{}")],
        vec![ok(TOKEN)],
        vec![answer("302 Found", "location: https://evil.example/\r\n", "")],
        vec![send("garbage\r\n\r\n")],
        vec![Act::Close { goodbye: true }],
    ])
    .await;
    let upstream = server.upstream();
    for _ in 0..5 {
        // How each fails is for other tests.
        let _ = whole(&upstream, get("/some/path")).await;
    }
    let stranger = server.connection_to(
        &format!("https://localhost:{}", server.address.port()),
        &Authority::new().pem,
        &format!("token: '{TOKEN}'"),
        "",
    );
    let unreachable = stranger.upstream(workload_host::transport::TransportLimits::default()).unwrap();
    let failure = unreachable.send(get("/some/path")).await.unwrap_err();

    let text = String::from_utf8(log.0.lock().unwrap().clone()).unwrap();
    for class in ["RedirectRefused", "BadResponse", "Lost", "Unreachable", "own credential", "of an unknown authority"]
    {
        assert!(text.contains(class), "{class} is not in {text}");
    }
    let debug = format!("{upstream:?} {stranger:?} {failure:?}");
    for secret in ["CANARY", "127.0.0.1", "localhost", "evil", "/some/path", "Bearer"] {
        assert!(!text.contains(secret), "{secret} is in {text}");
        assert!(!debug.contains(secret), "{secret} is in {debug}");
    }
}
