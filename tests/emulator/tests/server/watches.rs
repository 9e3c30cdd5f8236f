//! Faults of watches, over TLS.

use futures_util::FutureExt;
use kube_emulator::Server;
use kube_emulator::fault::{Ending, Fault, Point, Rule};
use kube_emulator::pattern::Pattern;

use crate::client::{Client, server};

fn watching() -> Pattern {
    Pattern::resource("watch", "namespaces")
}

/// A server whose controllers stand still, so that every event is one of the test's.
async fn still() -> (Server, Client, u64) {
    let server = server().await;
    server.emulator().pause_controllers();
    let client = Client::new(&server);
    let version = server.emulator().state().store.version();
    (server, client, version)
}

#[tokio::test]
async fn an_event_is_lost_and_the_next_one_comes() {
    let (server, client, version) = still().await;
    server.emulator().faults().add(Rule::on(watching(), Fault::drop_event("ADDED", "two")));
    let mut watch = client.watch(version).await;
    for name in ["one", "two", "three"] {
        assert_eq!(client.create(name).await.status(), 201);
    }
    assert_eq!(watch.event().await, "ADDED one");
    assert_eq!(watch.event().await, "ADDED three");
}

#[tokio::test]
async fn a_watch_expires_by_an_event_and_ends() {
    let (server, client, version) = still().await;
    server.emulator().faults().add(Rule::on(watching(), Fault::Expire(1)).once());
    let mut watch = client.watch(version).await;
    client.create("one").await;
    assert_eq!(watch.event().await, "ADDED one");
    let error = watch.next().await.unwrap().unwrap();
    assert_eq!((error["type"].as_str(), error["object"]["code"].as_u64()), (Some("ERROR"), Some(410)));
    assert_eq!(error["object"]["kind"], "Status");
    assert_eq!(watch.event().await, "end");
    assert_eq!(client.watch(version).await.event().await, "ADDED one", "it happened once");
}

#[tokio::test]
async fn a_watch_ends_in_good_order_without_events() {
    let (server, client, version) = still().await;
    server.emulator().faults().add(Rule::on(watching(), Fault::end_watch(0)).once());
    assert_eq!(client.watch(version).await.event().await, "end");
    client.create("one").await;
    assert_eq!(client.watch(version).await.event().await, "ADDED one");
}

#[tokio::test]
async fn a_watch_breaks_after_its_events() {
    for ending in [Ending::Close, Ending::Reset] {
        let (server, client, version) = still().await;
        server.emulator().faults().add(Rule::on(watching(), Fault::Break(Point::Lines(1), ending)));
        let mut watch = client.watch(version).await;
        client.create("one").await;
        assert_eq!(watch.event().await, "ADDED one");
        assert!(watch.next().await.is_err(), "{ending:?}");
    }
}

#[tokio::test]
async fn a_watch_falls_silent_and_the_connection_stays() {
    for ending in [Ending::Silence, Ending::HalfOpen] {
        let (server, client, version) = still().await;
        server.emulator().faults().add(Rule::on(watching(), Fault::Break(Point::Lines(1), ending)));
        let mut watch = client.watch(version).await;
        client.create("one").await;
        assert_eq!(watch.event().await, "ADDED one");
        client.create("two").await;
        // Another watch has it, so this one had its chance.
        server.emulator().faults().clear();
        let mut other = client.watch(version).await;
        assert_eq!((other.event().await.as_str(), other.event().await.as_str()), ("ADDED one", "ADDED two"));
        assert!(watch.next().now_or_never().is_none(), "{ending:?}");
        // Had the connection been gone, this would be an end without an error.
        server.emulator().faults().refuse(None);
        assert!(watch.next().await.is_err());
    }
}

#[tokio::test]
async fn a_watch_sees_what_the_controllers_do_when_they_go_on() {
    let (server, client, version) = still().await;
    let mut watch = client.watch(version).await;
    client.create("one").await;
    assert_eq!(watch.event().await, "ADDED one");
    server.emulator().resume_controllers();
    server
        .emulator()
        .until(|state| {
            let key = kube_emulator::store::Key::new(&kube_emulator::resource::NAMESPACES, "", "one");
            state.store.get(&key).is_some_and(|namespace| namespace.value()["status"]["phase"] == "Active")
        })
        .await;
}

#[tokio::test]
async fn a_compaction_expires_old_versions() {
    let (server, client, version) = still().await;
    client.create("one").await;
    let store = &server.emulator().state().store;
    let before = store.changes(&kube_emulator::resource::NAMESPACES, version, 10).map(|changes| changes.len());
    assert_eq!(before, Ok(1));
    store.compact();
    assert!(store.changes(&kube_emulator::resource::NAMESPACES, version, 10).is_err());
}
