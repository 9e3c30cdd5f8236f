use std::time::Duration;

use tokio::time::Instant;

use super::*;

const PATH: &str = "/apis/apps/v1/namespaces/ns/deployments";

/// A watch that a test reads.
struct Events {
    body: Body,
    read: String,
}

impl Events {
    fn of(server: &Server, query: &str) -> Events {
        Events::accepting(server, &format!("{PATH}?watch=1{query}"), "application/json")
    }

    fn accepting(server: &Server, path: &str, accept: &str) -> Events {
        let response = server.send("GET", path, &[("accept", accept)], "");
        assert_eq!(response.status(), 200);
        Events { body: response.into_body(), read: String::new() }
    }

    /// The next event; nothing at the end.
    async fn next(&mut self) -> Option<Value> {
        loop {
            if let Some((line, rest)) = self.read.split_once('\n') {
                let event = serde_json::from_str(line).unwrap();
                self.read = rest.to_owned();
                return Some(event);
            }
            let frame = self.body.frame().await?.unwrap();
            self.read.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
        }
    }

    /// What is told of the next event: `ADDED a 2`.
    async fn told(&mut self) -> String {
        let Some(event) = self.next().await else { return "end".to_owned() };
        let metadata = &event["object"]["metadata"];
        let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
        format!("{} {} {}", text(&event["type"]), text(&metadata["name"]), text(&metadata["resourceVersion"]))
    }

    async fn rest(&mut self) -> Vec<String> {
        let mut all = Vec::new();
        loop {
            match self.told().await.as_str() {
                "end" => return all,
                told => all.push(told.to_owned()),
            }
        }
    }
}

fn tier(tier: &str) -> Value {
    json!({"metadata": {"labels": {"tier": tier}, "finalizers": ["f"]}})
}

/// `a` and `b`, at versions 2 and 3.
fn two() -> Server {
    let server = Server::new();
    server.put(&DEPLOYMENTS, "ns", "a", tier("x"));
    server.put(&DEPLOYMENTS, "ns", "b", tier("y"));
    server
}

#[rstest]
#[case::from_a_version("&resourceVersion=2", &["ADDED b 3"])]
#[case::from_now("&resourceVersion=3", &[])]
#[case::none("", &["ADDED a 2", "ADDED b 3"])]
#[case::zero("&resourceVersion=0", &["ADDED a 2", "ADDED b 3"])]
#[case::none_with_bookmarks("&allowWatchBookmarks=true", &["ADDED a 2", "ADDED b 3", "BOOKMARK - 3"])]
#[case::by_label("&labelSelector=tier%3Dy", &["ADDED b 3"])]
#[case::by_name("&fieldSelector=metadata.name%3Da", &["ADDED a 2"])]
#[case::state_and_end(
    "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=1&resourceVersion=2",
    &["ADDED a 2", "ADDED b 3", "BOOKMARK - 3"]
)]
#[case::no_state("&sendInitialEvents=false&resourceVersionMatch=NotOlderThan", &[])]
#[case::future("&resourceVersion=99", &[])]
#[tokio::test(start_paused = true)]
async fn a_watch_begins(#[case] query: &str, #[case] expected: &[&str]) {
    let server = two();
    assert_eq!(Events::of(&server, &format!("{query}&timeoutSeconds=1")).rest().await, expected);
}

#[tokio::test(start_paused = true)]
async fn what_enters_or_leaves_the_selection_is_added_or_deleted() {
    let server = two();
    let mut all = Events::of(&server, "&resourceVersion=3");
    let mut some = Events::of(&server, "&resourceVersion=3&labelSelector=tier%3Dx");
    server.put(&DEPLOYMENTS, "ns", "a", tier("y"));
    server.put(&DEPLOYMENTS, "other", "a", tier("x"));
    server.put(&DEPLOYMENTS, "ns", "b", tier("x"));
    server.put(&DEPLOYMENTS, "ns", "b", tier("x"));
    server.remove(&DEPLOYMENTS, "ns", "b");
    for expected in ["MODIFIED a 4", "MODIFIED b 6", "MODIFIED b 7", "DELETED b 8"] {
        assert_eq!(all.told().await, expected);
    }
    let left = some.next().await.unwrap();
    // As it was last selected, at the version of the change.
    assert_eq!((&left["type"], &left["object"]["metadata"]["resourceVersion"]), (&json!("DELETED"), &json!("4")));
    assert_eq!(left["object"]["metadata"]["labels"]["tier"], "x");
    for expected in ["ADDED b 6", "MODIFIED b 7", "DELETED b 8"] {
        assert_eq!(some.told().await, expected);
    }
}

#[tokio::test(start_paused = true)]
async fn a_deletion_shows_what_was_stored_before_it() {
    let server = two();
    let mut events = Events::of(&server, "&resourceVersion=3");
    let key = Key::new(&DEPLOYMENTS, "ns", "a");
    let without = json!({"metadata": {"name": "a", "namespace": "ns"}});
    server.state.store.write::<()>(&key, |_| Ok(Write::Remove(without))).unwrap();
    let event = events.next().await.unwrap();
    assert_eq!(event["object"]["metadata"]["finalizers"], json!(["f"]));
    assert_eq!(event["object"]["kind"], "Deployment");
}

#[rstest]
#[case::short("2", &[])]
#[case::before_the_end("4", &[2])]
#[case::every_minute("150", &[60, 120, 148])]
#[tokio::test(start_paused = true)]
async fn bookmarks_come_every_minute_and_before_the_end(#[case] seconds: &str, #[case] expected: &[u64]) {
    let server = two();
    let query = format!("&resourceVersion=3&allowWatchBookmarks=true&timeoutSeconds={seconds}");
    let mut events = Events::of(&server, &query);
    let start = Instant::now();
    // Something else happens meanwhile: the bookmark tells how far the watch has come.
    server.put(&PODS, "ns", "p", json!({}));
    let mut times = Vec::new();
    while let Some(event) = events.next().await {
        assert_eq!(
            (&event["type"], &event["object"]["metadata"]),
            (&json!("BOOKMARK"), &json!({"resourceVersion": "4"}))
        );
        times.push(start.elapsed().as_secs());
    }
    assert_eq!(times, expected);
    assert_eq!(start.elapsed(), Duration::from_secs(seconds.parse().unwrap()));
}

#[tokio::test(start_paused = true)]
async fn a_change_wakes_a_watch_that_waits() {
    let server = two();
    let mut events = Events::of(&server, "&resourceVersion=3");
    let start = Instant::now();
    let (told, ()) = tokio::join!(events.told(), async {
        tokio::time::sleep(Duration::from_secs(5)).await;
        server.put(&DEPLOYMENTS, "ns", "c", json!({}));
    });
    assert_eq!((told.as_str(), start.elapsed().as_secs()), ("ADDED c 4", 5));
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_is_an_event() {
    let server = two();
    server.state.store.compact();
    let mut events = Events::of(&server, "&resourceVersion=2&timeoutSeconds=9");
    let event = events.next().await.unwrap();
    let status = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "too old resource version: 2 (3)", "reason": "Expired", "code": 410,
    });
    assert_eq!(event, json!({"type": "ERROR", "object": status}));
    assert_eq!(events.next().await, None);
}

#[tokio::test(start_paused = true)]
async fn a_state_of_the_future_is_an_event() {
    let query = "&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&resourceVersion=99";
    let event = Events::of(&two(), query).next().await.unwrap();
    assert_eq!((&event["type"], &event["object"]["code"]), (&json!("ERROR"), &json!(504)));
}

#[tokio::test(start_paused = true)]
async fn a_compaction_disturbs_no_watch_that_has_seen_everything() {
    let server = two();
    let mut events = Events::of(&server, "&resourceVersion=3&timeoutSeconds=100");
    server.put(&PODS, "ns", "p", json!({}));
    server.state.store.compact();
    server.put(&DEPLOYMENTS, "ns", "c", json!({}));
    assert_eq!(events.told().await, "ADDED c 5");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_nobody_reads_keeps_nothing_and_ends() {
    let server = two();
    let mut events = Events::of(&server, "&resourceVersion=3");
    assert_eq!(Arc::strong_count(&server.state), 2);
    for _ in 0..=crate::store::HISTORY {
        server.put(&DEPLOYMENTS, "ns", "a", tier("x"));
    }
    assert_eq!(events.next().await, None);
    drop(events);
    assert_eq!(Arc::strong_count(&server.state), 1);
}

#[tokio::test(start_paused = true)]
async fn large_states_come_in_pieces() {
    let server = Server::new();
    for number in 0..300 {
        let text = "x".repeat(1000);
        server.put(&DEPLOYMENTS, "ns", &format!("d{number:03}"), json!({"spec": {"text": text}}));
    }
    let mut events = Events::of(&server, "&timeoutSeconds=1");
    let first = events.body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert!((64 << 10..80 << 10).contains(&first.len()), "{}", first.len());
    events.read = String::from_utf8(first.to_vec()).unwrap();
    assert_eq!(events.rest().await.len(), 300);
}

#[tokio::test(start_paused = true)]
async fn tables_have_their_columns_once() {
    let server = two();
    let path = format!("{PATH}?watch=1&allowWatchBookmarks=true&timeoutSeconds=1");
    let mut events = Events::accepting(&server, &path, TABLE);
    let (first, second) = (events.next().await.unwrap(), events.next().await.unwrap());
    let end = events.next().await.unwrap();
    assert_eq!(first["object"]["columnDefinitions"].as_array().unwrap().len(), 8);
    assert_eq!(first["object"]["metadata"], json!({"resourceVersion": "2"}));
    assert_eq!((&second["object"]["columnDefinitions"], &second["object"]["kind"]), (&Value::Null, &json!("Table")));
    assert_eq!(second["object"]["rows"][0]["object"]["metadata"]["name"], "b");
    let row = &end["object"]["rows"][0];
    assert_eq!(row["cells"], json!(["", "0/0", 0, 0, "<unknown>", "", "", ""]));
    assert_eq!(row["object"]["metadata"]["annotations"], json!({"k8s.io/initial-events-end": "true"}));
}

#[tokio::test(start_paused = true)]
async fn metadata_alone_can_be_watched() {
    let accept = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
    let mut events = Events::accepting(&two(), &format!("{PATH}?watch=1&timeoutSeconds=1"), accept);
    let object = events.next().await.unwrap()["object"].clone();
    assert_eq!((&object["kind"], &object["metadata"]["name"]), (&json!("PartialObjectMetadata"), &json!("a")));
    assert_eq!(object.as_object().unwrap().len(), 3);
}

#[rstest]
#[case::of_a_list("application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io")]
#[tokio::test(start_paused = true)]
async fn a_form_that_no_event_has_ends_the_watch(#[case] accept: &str) {
    let mut events = Events::accepting(&two(), &format!("{PATH}?watch=1"), accept);
    assert_eq!(events.next().await, None);
}

/// What an empty object of each kind consists of is written down as text.
#[tokio::test(start_paused = true)]
async fn every_kind_has_its_bookmark() {
    let server = Server::new();
    for resource in crate::resource::ALL {
        let group = if resource.group.is_empty() { "api".to_owned() } else { format!("apis/{}", resource.group) };
        let path =
            format!("/{group}/{}/{}?watch=1&allowWatchBookmarks=1&timeoutSeconds=1", resource.version, resource.plural);
        let event = Events::accepting(&server, &path, "*/*").next().await.unwrap();
        let object = event["object"].as_object().unwrap();
        assert_eq!((&event["type"], &object["kind"]), (&json!("BOOKMARK"), &json!(resource.kind)));
        assert!(object.len() > 3, "{event}");
    }
}
