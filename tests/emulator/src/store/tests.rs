#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use serde_json::json;

use super::*;
use crate::resource::{DEPLOYMENTS, PODS};

fn key(name: &str) -> Key {
    Key::new(&DEPLOYMENTS, "ns", name)
}

fn put(store: &Store, key: &Key, value: Value) {
    store.write::<()>(key, |_| Ok(Write::Put(value))).unwrap();
}

fn remove(store: &Store, key: &Key) {
    store.write::<()>(key, |old| Ok(Write::Remove(old.unwrap().value()))).unwrap();
}

fn names(page: &Page) -> Vec<&str> {
    page.objects.iter().map(|object| object.key.name()).collect()
}

#[test]
fn a_page_is_of_the_version_that_the_list_began_with() {
    let store = Store::new();
    for name in ["a", "b", "c", "d"] {
        put(&store, &key(name), json!({"metadata": {"name": name}}));
    }
    let first = store.page(&DEPLOYMENTS, Range { limit: 2, count: true, ..Range::default() }, |_| true).unwrap();
    assert_eq!((names(&first), first.more, first.remaining), (vec!["a", "b"], true, 2));

    remove(&store, &key("c"));
    put(&store, &key("bb"), json!({}));
    put(&store, &key("d"), json!({"metadata": {"labels": {"new": "yes"}}}));
    let rest = Range { version: first.version, after: Some("ns/b"), ..Range::default() };
    let rest = store.page(&DEPLOYMENTS, rest, |_| true).unwrap();
    assert_eq!((names(&rest), rest.more), (vec!["c", "d"], false));
    assert!(rest.objects[1].labels.is_empty(), "as it was then");
    assert_eq!(names(&store.page(&DEPLOYMENTS, Range::default(), |_| true).unwrap()), ["a", "b", "bb", "d"]);

    store.compact();
    let old = Range { version: first.version, after: Some("ns/b"), ..Range::default() };
    assert!(store.page(&DEPLOYMENTS, old, |_| true).is_err());
}

#[test]
fn a_list_is_ordered_as_the_keys_of_etcd_are() {
    let store = Store::new();
    for (namespace, name) in [("a", "x"), ("a-b", "x"), ("a", "x-1"), ("a", "x.1")] {
        put(&store, &Key::new(&DEPLOYMENTS, namespace, name), json!({}));
    }
    put(&store, &Key::new(&PODS, "a", "pod"), json!({}));
    let paths: Vec<_> = store.all(&DEPLOYMENTS, None).iter().map(|object| object.key.path().to_owned()).collect();
    assert_eq!(paths, ["a-b/x", "a/x", "a/x-1", "a/x.1"]);
    assert_eq!(store.all(&DEPLOYMENTS, Some("a")).len(), 3);
    assert_eq!(store.all(&PODS, Some("a")).len(), 1);
}

#[test]
fn what_an_object_owns_is_found_until_it_is_gone() {
    let store = Store::new();
    let owned =
        json!({"metadata": {"ownerReferences": [{"uid": "u", "controller": true, "kind": "Deployment", "name": "o"}]}});
    put(&store, &key("a"), owned.clone());
    put(&store, &key("b"), owned);
    assert_eq!(store.owned_by("u").len(), 2);
    put(&store, &key("a"), json!({}));
    remove(&store, &key("b"));
    assert!(store.owned_by("u").is_empty());
}

#[test]
fn changes_tell_what_was_before_and_expire() {
    let store = Store::new();
    let start = store.version();
    put(&store, &key("a"), json!({}));
    put(&store, &key("a"), json!({"metadata": {"labels": {"x": "1"}}}));
    remove(&store, &key("a"));
    let changes = store.changes(&DEPLOYMENTS, start, 10).unwrap();
    let told: Vec<_> = changes.iter().map(|c| (c.version, c.old.is_some(), c.removed)).collect();
    assert_eq!(told, [(2, false, false), (3, true, false), (4, true, true)]);
    assert!(changes[2].object.value()["metadata"]["resourceVersion"] == "4", "the version of the removal");
    store.compact();
    assert_eq!(store.changes(&DEPLOYMENTS, start, 10).unwrap_err(), Expired { oldest: 4 });
    assert!(store.changes(&DEPLOYMENTS, 4, 10).unwrap().is_empty());
}
