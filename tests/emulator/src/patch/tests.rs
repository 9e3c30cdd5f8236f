use proptest::prelude::*;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::schema::node::Node;
use crate::schema::of;

fn containers(items: Value) -> Value {
    json!({"spec": {"containers": items}})
}

#[rstest]
#[case::adds_before_what_only_the_server_knows(
    containers(json!([{"name": "a"}])), containers(json!([{"name": "b"}])),
    containers(json!([{"name": "b"}, {"name": "a"}]))
)]
#[case::merges_by_key(
    containers(json!([{"name": "a", "image": "1", "tty": true}])), containers(json!([{"name": "a", "image": "2"}])),
    containers(json!([{"name": "a", "image": "2", "tty": true}]))
)]
#[case::keeps_the_place(
    containers(json!([{"name": "a"}, {"name": "b"}])), containers(json!([{"name": "b", "image": "2"}])),
    containers(json!([{"name": "a"}, {"name": "b", "image": "2"}]))
)]
#[case::deletes_one(
    containers(json!([{"name": "a"}, {"name": "b"}])), containers(json!([{"name": "a", "$patch": "delete"}])),
    containers(json!([{"name": "b"}]))
)]
#[case::replaces_all(
    containers(json!([{"name": "a"}, {"name": "b"}])), containers(json!([{"$patch": "replace"}, {"name": "c"}])),
    containers(json!([{"name": "c"}]))
)]
#[case::order_is_said(
    containers(json!([{"name": "a"}, {"name": "b"}, {"name": "s"}])),
    json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}, {"name": "n"}], "containers": [{"name": "n"}]}}),
    containers(json!([{"name": "b"}, {"name": "a"}, {"name": "n"}, {"name": "s"}]))
)]
#[case::order_alone(
    containers(json!([{"name": "a"}, {"name": "b"}])),
    json!({"spec": {"$setElementOrder/containers": [{"name": "b"}, {"name": "a"}]}}),
    containers(json!([{"name": "b"}, {"name": "a"}]))
)]
#[case::atomic_list(
    json!({"spec": {"containers": [{"name": "a", "args": ["x", "y"]}]}}), containers(json!([{"name": "a", "args": ["z"]}])),
    containers(json!([{"name": "a", "args": ["z"]}]))
)]
#[case::primitive_list(
    json!({"metadata": {"finalizers": ["a", "b"]}}), json!({"metadata": {"finalizers": ["c"]}}),
    json!({"metadata": {"finalizers": ["c", "a", "b"]}})
)]
#[case::primitives_deleted(
    json!({"metadata": {"finalizers": ["a", "b"]}}), json!({"metadata": {"$deleteFromPrimitiveList/finalizers": ["a"]}}),
    json!({"metadata": {"finalizers": ["b"]}})
)]
#[case::map_merged(
    json!({"metadata": {"labels": {"a": "1", "b": "2"}}}), json!({"metadata": {"labels": {"a": null, "c": "3"}}}),
    json!({"metadata": {"labels": {"b": "2", "c": "3"}}})
)]
#[case::map_replaced(
    json!({"metadata": {"labels": {"a": "1"}}}), json!({"metadata": {"labels": {"$patch": "replace", "c": "3"}}}),
    json!({"metadata": {"labels": {"c": "3"}}})
)]
#[case::map_deleted(
    json!({"metadata": {"labels": {"a": "1"}}}), json!({"metadata": {"labels": {"$patch": "delete"}}}),
    json!({"metadata": {"labels": {}}})
)]
#[case::unmatched_nulls_go(
    json!({"metadata": {}}), json!({"metadata": {"labels": {"a": null, "b": "1"}}}), json!({"metadata": {"labels": {"b": "1"}}})
)]
#[case::nested_keys(
    containers(json!([{"name": "a", "env": [{"name": "X", "value": "1"}, {"name": "Y", "value": "2"}]}])),
    containers(json!([{"name": "a", "env": [{"name": "Y", "value": "3"}, {"name": "X", "$patch": "delete"}]}])),
    containers(json!([{"name": "a", "env": [{"name": "Y", "value": "3"}]}]))
)]
fn strategic_merges(#[case] before: Value, #[case] patch: Value, #[case] after: Value) {
    assert_eq!(strategic::apply(&before, &patch, of("Pod")), Ok(after));
}

#[test]
fn keys_that_are_not_retained_go() {
    let before = json!({"spec": {"strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}}}});
    let patch = json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}});
    let after = json!({"spec": {"strategy": {"type": "Recreate"}}});
    assert_eq!(strategic::apply(&before, &patch, of("Deployment")), Ok(after));
}

#[rstest]
#[case::no_key(
    containers(json!([{"name": "a"}])), containers(json!([{"image": "x"}])),
    Failure::Unexpected("map: map[image:x] does not contain declared merge key: name".to_owned())
)]
#[case::retained_but_not_named(
    json!({"spec": {}}), json!({"spec": {"$retainKeys": ["a"], "b": 1}}),
    Failure::Bad("invalid patch format of retainKeys".to_owned())
)]
#[case::unknown_directive(
    json!({"spec": {}}), json!({"spec": {"$patch": "turn"}}),
    Failure::Unexpected("unknown patch type: turn in map: map[$patch:turn]".to_owned())
)]
fn strategic_failures(#[case] before: Value, #[case] patch: Value, #[case] failure: Failure) {
    assert_eq!(strategic::apply(&before, &patch, of("Pod")), Err(failure));
}

fn patched(document: &Value, operations: Value) -> Result<Value, Failure> {
    let mut document = document.clone();
    json::Patch::parse(&Node::from(&operations))?.apply(&mut document)?;
    Ok(document)
}

#[rstest]
#[case::add(json!([{"op": "add", "path": "/b", "value": 2}]), json!({"a": [1, 2], "b": 2}))]
#[case::add_to_the_end(json!([{"op": "add", "path": "/a/-", "value": 3}]), json!({"a": [1, 2, 3]}))]
#[case::insert(json!([{"op": "add", "path": "/a/0", "value": 0}]), json!({"a": [0, 1, 2]}))]
#[case::remove(json!([{"op": "remove", "path": "/a/1"}]), json!({"a": [1]}))]
#[case::from_the_end(json!([{"op": "remove", "path": "/a/-1"}]), json!({"a": [1]}))]
#[case::replace(json!([{"op": "replace", "path": "/a/0", "value": {"x": 1}}]), json!({"a": [{"x": 1}, 2]}))]
#[case::moved(json!([{"op": "move", "from": "/a/0", "path": "/b"}]), json!({"a": [2], "b": 1}))]
#[case::copied(json!([{"op": "copy", "from": "/a", "path": "/b"}]), json!({"a": [1, 2], "b": [1, 2]}))]
#[case::tested(json!([{"op": "test", "path": "/a/0", "value": 1}]), json!({"a": [1, 2]}))]
#[case::nothing_is_null(json!([{"op": "test", "path": "/z", "value": null}]), json!({"a": [1, 2]}))]
#[case::escaped(json!([{"op": "add", "path": "/x~1y~0", "value": 1}]), json!({"a": [1, 2], "x/y~": 1}))]
fn json_patches(#[case] operations: Value, #[case] after: Value) {
    assert_eq!(patched(&json!({"a": [1, 2]}), operations), Ok(after));
}

#[rstest]
#[case::test_fails(json!([{"op": "test", "path": "/a/0", "value": 2}]))]
#[case::no_such_key(json!([{"op": "remove", "path": "/z"}]))]
#[case::no_such_parent(json!([{"op": "add", "path": "/z/y", "value": 1}]))]
#[case::beyond_the_end(json!([{"op": "add", "path": "/a/5", "value": 1}]))]
#[case::unknown(json!([{"op": "turn", "path": "/a"}]))]
#[case::no_path(json!([{"op": "remove"}]))]
fn json_patches_that_do_not_fit(#[case] operations: Value) {
    assert!(matches!(patched(&json!({"a": [1, 2]}), operations), Err(Failure::Unfit(_))));
}

#[test]
fn nothing_is_done_when_a_later_operation_fails() {
    let mut document = json!({"a": 1});
    let operations = json!([{"op": "add", "path": "/b", "value": 1}, {"op": "test", "path": "/a", "value": 2}]);
    let patch = json::Patch::parse(&Node::from(&operations)).unwrap();
    assert!(patch.apply(&mut document).is_err());
    assert_eq!(document, json!({"a": 1}));
}

fn any_json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![Just(Value::Null), (0..3i64).prop_map(Value::from), "[ab]".prop_map(Value::from)];
    leaf.prop_recursive(4, 24, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
            prop::collection::btree_map("[a-c]", inner, 0..3).prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(map) => map.values().any(has_null),
        _ => false,
    }
}

proptest! {
    #[test]
    fn merging_twice_is_merging_once(document in any_json(), patch in any_json()) {
        let mut once = document;
        merge::apply(&mut once, &patch);
        let mut twice = once.clone();
        merge::apply(&mut twice, &patch);
        prop_assert_eq!(once, twice);
    }

    #[test]
    fn merging_an_object_into_nothing_gives_it_without_nulls(patch in any_json()) {
        let mut document = json!({});
        merge::apply(&mut document, &patch);
        if patch.is_object() {
            prop_assert!(!has_null(&document));
        } else {
            prop_assert_eq!(document, patch);
        }
    }

    #[test]
    fn an_empty_patch_changes_nothing(document in prop::collection::btree_map("[a-c]", any_json(), 0..3)) {
        let document = Value::Object(document.into_iter().collect());
        let mut merged = document.clone();
        merge::apply(&mut merged, &json!({}));
        prop_assert_eq!(&merged, &document);
        prop_assert_eq!(strategic::apply(&document, &json!({}), of("Pod")), Ok(document));
    }
}
