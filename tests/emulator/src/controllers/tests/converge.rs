//! Whatever is done to a Deployment: in the end it has what it asks for.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};

use super::*;
use crate::write;

/// Something that is done to a Deployment.
#[derive(Debug, Clone)]
enum Edit {
    Scale(i64),
    Pause(bool),
    Image(u8),
    Annotate(u8),
    DeletePod,
    Wait(u16),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        (0..6_i64).prop_map(Edit::Scale),
        any::<bool>().prop_map(Edit::Pause),
        (0..3_u8).prop_map(Edit::Image),
        (0..3_u8).prop_map(Edit::Annotate),
        Just(Edit::DeletePod),
        (0..3000_u16).prop_map(Edit::Wait),
    ];
    prop::collection::vec(edit, 1..12)
}

fn strategies() -> impl Strategy<Value = Value> {
    let share = || prop_oneof![(0..4_i64).prop_map(Value::from), (0..100_i64).prop_map(|n| json!(format!("{n}%")))];
    let rolling = (share(), share()).prop_map(|(surge, unavailable)| {
        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}})
    });
    prop_oneof![rolling, Just(json!({"type": "Recreate"}))]
}

async fn apply(test: &Test, edit: &Edit) {
    let patch = |body: Value| test.patch(&DEPLOYMENTS, "app", Part::Main, &body);
    match edit {
        Edit::Scale(replicas) => patch(json!({"spec": {"replicas": replicas}})),
        Edit::Pause(paused) => patch(json!({"spec": {"paused": paused}})),
        Edit::Image(image) => {
            let containers = json!([{"name": "main", "image": format!("image:{image}")}]);
            patch(json!({"spec": {"template": {"spec": {"containers": containers}}}}));
        }
        Edit::Annotate(value) => patch(json!({"metadata": {"annotations": {"note": value.to_string()}}})),
        Edit::DeletePod => {
            if let Some(pod) = test.state.store.all(&PODS, Some("test")).first() {
                test.state.delete(&pod.key, &Deletion::default()).unwrap();
            }
        }
        Edit::Wait(time) => tokio::time::sleep(Duration::from_millis(u64::from(*time))).await,
    }
}

async fn converges(strategy: Value, edits: Vec<Edit>) {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let mut made = deployment("app", 2, &json!({"kube-emulator/ready-after": "300", "kube-emulator/stop": "200"}));
    made["spec"]["strategy"] = strategy;
    write::make(&test.state, &DEPLOYMENTS, "test", made).unwrap();
    for edit in &edits {
        apply(&test, edit).await;
    }
    apply(&test, &Edit::Pause(false)).await;
    tokio::time::sleep(Duration::from_secs(60)).await;

    let found = test.get(&DEPLOYMENTS, "app").unwrap();
    let wanted = found["spec"]["replicas"].as_i64().unwrap();
    let count = |name: &str| found["status"].get(name).and_then(Value::as_i64).unwrap_or_default();
    for name in ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas"] {
        assert_eq!(count(name), wanted, "{name} of {found:#}");
    }
    assert_eq!(count("unavailableReplicas") + count("terminatingReplicas"), 0, "{found:#}");
    assert_eq!(found["status"]["observedGeneration"], found["metadata"]["generation"]);
    assert!(fields::holds(&found, "Available") && fields::holds(&found, "Progressing"), "{found:#}");
    let pods = test.state.store.all(&PODS, Some("test"));
    assert_eq!(i64::try_from(pods.len()).unwrap(), wanted);
    let image = &found["spec"]["template"]["spec"]["containers"][0]["image"];
    assert!(
        pods.iter().all(|pod| &pod.value()["spec"]["containers"][0]["image"] == image),
        "all are of the last image"
    );
    let busy = test.state.store.all(&REPLICA_SETS, Some("test"));
    let busy = busy.iter().filter(|set| set.value()["spec"]["replicas"] != 0).count();
    assert!(busy <= 1, "one ReplicaSet has all Pods");
}

#[test]
fn every_sequence_of_edits_ends_with_what_was_asked_for_last() {
    let mut runner = TestRunner::new(Config { cases: 48, failure_persistence: None, ..Config::default() });
    let both = (strategies(), edits());
    runner
        .run(&both, |(strategy, edits)| {
            let clock = tokio::runtime::Builder::new_current_thread().enable_time().start_paused(true).build();
            clock.unwrap().block_on(converges(strategy, edits));
            Ok(())
        })
        .unwrap();
}

#[tokio::test(start_paused = true)]
async fn only_as_many_old_replica_sets_are_kept_as_asked_for() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let mut made = deployment("app", 1, &json!({}));
    made["spec"]["revisionHistoryLimit"] = json!(1);
    write::make(&test.state, &DEPLOYMENTS, "test", made).unwrap();
    for number in 1..5 {
        apply(&test, &Edit::Image(number)).await;
        let done = |test: &Test| {
            let found = test.get(&DEPLOYMENTS, "app").unwrap();
            found["status"]["observedGeneration"] == found["metadata"]["generation"]
                && found["status"]["updatedReplicas"] == 1
                && found["status"]["replicas"] == 1
                && found["status"]["availableReplicas"] == 1
        };
        test.until("the rollout is done", done).await;
    }
    test.until("two ReplicaSets are left", |test| test.state.store.all(&REPLICA_SETS, Some("test")).len() == 2).await;
    let sets = test.state.store.all(&REPLICA_SETS, Some("test"));
    let mut revisions: Vec<_> = sets
        .iter()
        .map(|set| set.value()["metadata"]["annotations"]["deployment.kubernetes.io/revision"].clone())
        .collect();
    revisions.sort_by_key(Value::to_string);
    assert_eq!(revisions, [json!("3"), json!("4")], "the newest are kept");
}

#[tokio::test(start_paused = true)]
async fn going_back_gives_the_old_replica_set_a_new_revision_and_remembers_the_old() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    write::make(&test.state, &DEPLOYMENTS, "test", deployment("app", 1, &json!({}))).unwrap();
    let wait = Duration::from_secs(20);
    tokio::time::sleep(wait).await;
    let first = test.get(&DEPLOYMENTS, "app").unwrap()["spec"]["template"].clone();
    apply(&test, &Edit::Image(2)).await;
    tokio::time::sleep(wait).await;
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"spec": {"template": first}}));
    tokio::time::sleep(wait).await;
    let annotations = |revision: &str| {
        let sets = test.state.store.all(&REPLICA_SETS, Some("test"));
        let mut found = sets.iter().map(|set| set.value()["metadata"]["annotations"].clone());
        found.find(|annotations| annotations["deployment.kubernetes.io/revision"] == revision)
    };
    assert_eq!(annotations("3").unwrap()["deployment.kubernetes.io/revision-history"], "1");
    assert!(annotations("2").is_some() && annotations("1").is_none());
    let found = test.get(&DEPLOYMENTS, "app").unwrap();
    assert_eq!(found["metadata"]["annotations"]["deployment.kubernetes.io/revision"], "3");
}

#[tokio::test(start_paused = true)]
async fn a_start_right_after_a_stop_shows_the_counters_of_before_at_the_new_generation() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    write::make(&test.state, &DEPLOYMENTS, "test", deployment("app", 1, &json!({"kube-emulator/stop": "1s"}))).unwrap();
    let seen = |test: &Test, name: &str| fields::number(&test.get(&DEPLOYMENTS, "app").unwrap(), name);
    test.until("it runs", |test| seen(test, "/status/availableReplicas") == 1).await;
    tokio::time::sleep(Duration::from_secs(1)).await;
    apply(&test, &Edit::Scale(0)).await;
    tokio::time::sleep(Duration::from_millis(8)).await;
    apply(&test, &Edit::Scale(1)).await;
    tokio::time::sleep(Duration::from_millis(4)).await;
    assert_eq!(seen(&test, "/status/observedGeneration"), seen(&test, "/metadata/generation"));
    assert_eq!(seen(&test, "/status/availableReplicas"), 1, "as if nothing had happened");
    let pods = test.state.store.all(&PODS, Some("test"));
    let mut ready = pods.iter().filter(|pod| fields::holds(&pod.value(), "Ready"));
    assert!(ready.all(|pod| pod.deleting), "but the only Pod that is ready is on its way out");
}
