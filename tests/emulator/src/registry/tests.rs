use jiff::Timestamp;
use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::resource::{DEPLOYMENTS, NAMESPACES, PODS, REPLICA_SETS};

pub(crate) fn state() -> State {
    let start: Timestamp = "2026-11-30T15:00:00Z".parse().unwrap();
    State::new(Clock::starting_at(start), 1, crate::scenario::Scenario::default())
}

fn pod(state: &State, node: &str) -> Key {
    let value = json!({"metadata": {"name": "a"}, "spec": {"nodeName": node, "terminationGracePeriodSeconds": 20}});
    state.create(&PODS, "n", value, false).unwrap();
    Key::new(&PODS, "n", "a")
}

fn changes(state: &State) -> Vec<(bool, Value)> {
    let changes = state.store.all_changes(1, 100).unwrap();
    changes.into_iter().map(|change| (change.removed, change.object.value())).collect()
}

#[tokio::test(start_paused = true)]
async fn a_pod_on_a_node_gets_its_time_and_only_less_later() {
    let state = state();
    let key = pod(&state, "node-1");
    let Ok(Deleted::Waits(first)) = state.delete(&key, &Deletion::default()) else { panic!("gone") };
    assert_eq!(first.pointer("/metadata/deletionTimestamp"), Some(&json!("2026-11-30T15:00:20Z")));
    assert_eq!(first.pointer("/metadata/deletionGracePeriodSeconds"), Some(&json!(20)));
    assert_eq!(first.pointer("/metadata/generation"), Some(&json!(2)));

    let version = state.store.version();
    let longer = Deletion { grace: Some(60), ..Deletion::default() };
    assert!(matches!(state.delete(&key, &longer), Ok(Deleted::Waits(_))));
    assert!(matches!(state.delete(&key, &Deletion::default()), Ok(Deleted::Waits(_))));
    assert_eq!(state.store.version(), version, "nothing was written");

    tokio::time::advance(std::time::Duration::from_secs(4)).await;
    let kill = Deletion { grace: Some(0), ..Deletion::default() };
    assert!(matches!(state.delete(&key, &kill), Ok(Deleted::Gone(_))));
    let changes = changes(&state);
    let [.., (false, marked), (true, removed)] = changes.as_slice() else { panic!("{changes:?}") };
    for seen in [marked, removed] {
        assert_eq!(seen.pointer("/metadata/deletionGracePeriodSeconds"), Some(&json!(0)));
        assert_eq!(seen.pointer("/metadata/deletionTimestamp"), Some(&json!("2026-11-30T15:00:04Z")));
    }
}

#[rstest]
#[case::longest(i64::MAX, i64::MAX)]
#[case::negative(i64::MIN, 1)]
#[tokio::test(start_paused = true)]
async fn odd_grace_periods(#[case] asked: i64, #[case] kept: i64) {
    let state = state();
    let key = pod(&state, "node-1");
    let deleted = state.delete(&key, &Deletion { grace: Some(asked), ..Deletion::default() }).unwrap();
    let Deleted::Waits(value) = deleted else { panic!("{deleted:?}") };
    assert_eq!(value.pointer("/metadata/deletionGracePeriodSeconds"), Some(&json!(kept)));
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_a_node_goes_at_once() {
    let state = state();
    let key = pod(&state, "");
    assert!(matches!(state.delete(&key, &Deletion::default()), Ok(Deleted::Gone(_))));
    assert!(state.store.get(&key).is_none());
}

#[rstest]
#[case::background(Some(Propagation::Background), &[], None)]
#[case::not_said(None, &[], None)]
#[case::foreground(Some(Propagation::Foreground), &[], Some(vec!["foregroundDeletion"]))]
#[case::orphan(Some(Propagation::Orphan), &[], Some(vec!["orphan"]))]
#[case::foreign(Some(Propagation::Background), &["a/b"], Some(vec!["a/b"]))]
#[case::foreign_and_foreground(Some(Propagation::Foreground), &["a/b"], Some(vec!["a/b", "foregroundDeletion"]))]
#[case::finalizer_overrides_the_default(None, &["orphan"], Some(vec!["orphan"]))]
#[case::asked_overrides_the_finalizer(Some(Propagation::Background), &["orphan"], None)]
#[tokio::test(start_paused = true)]
async fn finalizers_keep_what_is_deleted(
    #[case] propagation: Option<Propagation>,
    #[case] before: &[&str],
    #[case] after: Option<Vec<&str>>,
) {
    let state = state();
    let value = json!({"metadata": {"name": "a", "finalizers": before}});
    state.create(&DEPLOYMENTS, "n", value, false).unwrap();
    let key = Key::new(&DEPLOYMENTS, "n", "a");
    let deleted = state.delete(&key, &Deletion { propagation, ..Deletion::default() }).unwrap();
    match after {
        None => {
            let Deleted::Gone(value) = deleted else { panic!("{deleted:?}") };
            assert_eq!(value.pointer("/metadata/deletionTimestamp"), None);
            assert!(state.store.get(&key).is_none());
        }
        Some(finalizers) => {
            let Deleted::Waits(value) = deleted else { panic!("{deleted:?}") };
            assert_eq!(value.pointer("/metadata/finalizers"), Some(&json!(finalizers)));
            assert_eq!(value.pointer("/metadata/generation"), Some(&json!(2)));
            assert_eq!(value.pointer("/metadata/deletionGracePeriodSeconds"), Some(&json!(0)));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn the_last_finalizer_takes_the_object_along() {
    let state = state();
    let value = json!({"metadata": {"name": "a", "finalizers": ["orphan"]}});
    state.create(&REPLICA_SETS, "n", value, false).unwrap();
    let key = Key::new(&REPLICA_SETS, "n", "a");
    state.delete(&key, &Deletion::default()).unwrap();
    let seen = state
        .update(&key, Part::Main, false, |value| {
            metadata(value).remove("finalizers");
            Ok(())
        })
        .unwrap();
    assert_eq!(seen.pointer("/metadata/finalizers"), None);
    assert!(state.store.get(&key).is_none());
    let changes = changes(&state);
    let Some((true, last)) = changes.last() else { panic!("{changes:?}") };
    assert_eq!(last.pointer("/metadata/finalizers"), Some(&json!(["orphan"])), "watchers see how it was");
}

#[tokio::test(start_paused = true)]
async fn a_namespace_ends_in_two_steps() {
    let state = state();
    let value =
        json!({"metadata": {"name": "a"}, "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}});
    state.create(&NAMESPACES, "", value, false).unwrap();
    let key = Key::new(&NAMESPACES, "", "a");
    let Ok(Deleted::Waits(value)) = state.delete(&key, &Deletion::default()) else { panic!("gone") };
    assert_eq!(value.pointer("/status/phase"), Some(&json!("Terminating")));
    assert_eq!(value.pointer("/metadata/deletionGracePeriodSeconds"), None);
    assert!(matches!(state.delete(&key, &Deletion::default()), Ok(Deleted::Waits(_))));
    state
        .update(&key, Part::Main, false, |value| {
            section(value, "spec").remove("finalizers");
            Ok(())
        })
        .unwrap();
    assert!(state.store.get(&key).is_none());
}

#[tokio::test(start_paused = true)]
async fn an_update_that_changes_nothing_writes_nothing() {
    let state = state();
    let value = decode::tidy(&json!({"metadata": {"name": "a"}, "spec": {"replicas": 1}}), schema::of("Deployment"));
    state.create(&DEPLOYMENTS, "n", value.unwrap(), false).unwrap();
    let key = Key::new(&DEPLOYMENTS, "n", "a");
    let version = state.store.version();
    let same = state.update(&key, Part::Main, false, |value| {
        section(value, "spec").insert("replicas".to_owned(), 1.into());
        Ok(())
    });
    assert_eq!(same.unwrap().pointer("/metadata/generation"), Some(&json!(1)));
    assert_eq!(state.store.version(), version);
    let dry = state.update(&key, Part::Main, true, |value| {
        section(value, "spec").insert("replicas".to_owned(), 2.into());
        Ok(())
    });
    assert_eq!(dry.unwrap().pointer("/metadata/generation"), Some(&json!(2)));
    assert_eq!(state.store.version(), version);
}

#[tokio::test(start_paused = true)]
async fn a_generated_name_is_free() {
    let state = state();
    let names: Vec<String> = (0..50)
        .map(|_| {
            let made = state.create(&PODS, "n", json!({"metadata": {"generateName": "a-"}}), false).unwrap();
            made.pointer("/metadata/name").and_then(Value::as_str).unwrap().to_owned()
        })
        .collect();
    assert!(names.iter().all(|name| name.len() == 7 && name.starts_with("a-")));
    assert_eq!(state.store.all(&PODS, Some("n")).len(), 50);
}
