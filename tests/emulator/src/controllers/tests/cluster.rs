//! Nodes, owners, quotas, and the cluster as a whole.

use super::*;
use crate::resource::{NAMESPACES, NODES, PERSISTENT_VOLUME_CLAIMS, RESOURCE_QUOTAS};
use crate::write;

fn make(test: &Test, resource: &'static Resource, value: Value) -> Value {
    write::make(&test.state, resource, "test", value).unwrap()
}

fn pods_on(test: &Test, node: &str) -> usize {
    let pods = test.state.store.all(&PODS, Some("test"));
    pods.iter().filter(|pod| pod.value()["spec"]["nodeName"] == node && !pod.deleting).count()
}

fn available(count: i64) -> impl Fn(&Test) -> bool {
    move |test| {
        let found = test.get(&DEPLOYMENTS, "app").unwrap();
        fields::number(&found, "/status/availableReplicas") == count && found["status"]["updatedReplicas"] == count
    }
}

#[tokio::test(start_paused = true)]
async fn pods_of_a_lost_node_are_replaced_on_another_after_their_toleration() {
    let test = Test::new(&json!({"namespaces": ["test"], "nodes": [{"name": "a"}, {"name": "b"}]}));
    make(&test, &DEPLOYMENTS, deployment("app", 2, &json!({})));
    test.until("both run", available(2)).await;
    assert_eq!((pods_on(&test, "a"), pods_on(&test, "b")), (1, 1));

    let lost = |value: Value| json!({"metadata": {"annotations": {"kube-emulator/lost": value}}});
    test.patch(&NODES, "a", Part::Main, &lost("true".into()));
    tokio::time::sleep(Duration::from_secs(50)).await;
    let node = test.get(&NODES, "a").unwrap();
    let effects: Vec<_> = fields::list(&node, "/spec/taints").iter().map(|taint| text(taint, "/effect")).collect();
    assert_eq!(effects, ["NoSchedule", "NoExecute"], "another node is well");
    assert_eq!(pods_on(&test, "a"), 1, "they tolerate it for 300 s");
    tokio::time::sleep(Duration::from_secs(300)).await;
    assert_eq!((pods_on(&test, "a"), pods_on(&test, "b")), (0, 2));
    assert_eq!(test.state.store.all(&PODS, Some("test")).len(), 3, "the old one can't be told to go");

    test.patch(&NODES, "a", Part::Main, &lost(Value::Null));
    test.until("the old one is gone", |test| test.state.store.all(&PODS, Some("test")).len() == 2).await;
    let node = test.get(&NODES, "a").unwrap();
    assert!(fields::holds(&node, "Ready") && fields::list(&node, "/spec/taints").is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_node_that_is_made_takes_pods() {
    let test = Test::new(&json!({"namespaces": ["test"], "nodes": []}));
    make(&test, &DEPLOYMENTS, deployment("app", 1, &json!({})));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let pods = test.state.store.all(&PODS, Some("test"));
    let why = fields::condition(&pods[0].value(), "PodScheduled").cloned().unwrap();
    assert_eq!(why["message"], "no nodes available to schedule pods");
    write::make(&test.state, &NODES, "", json!({"metadata": {"name": "new"}})).unwrap();
    test.until("it runs", available(1)).await;
    assert_eq!(pods_on(&test, "new"), 1);
}

#[tokio::test(start_paused = true)]
async fn a_pod_that_is_labelled_away_is_let_go_and_taken_back() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    make(&test, &DEPLOYMENTS, deployment("app", 1, &json!({})));
    test.until("it runs", available(1)).await;
    let name = test.state.store.all(&PODS, Some("test"))[0].key.name().to_owned();
    let label = |value: &str| json!({"metadata": {"labels": {"app": value}}});
    let owned =
        |test: &Test| test.get(&PODS, &name).is_some_and(|pod| pod["metadata"].get("ownerReferences").is_some());
    test.patch(&PODS, &name, Part::Main, &label("other"));
    test.until("it is let go", |test| !owned(test)).await;
    test.until("there is another", |test| test.state.store.all(&PODS, Some("test")).len() == 2).await;
    test.until("which runs", available(1)).await;
    test.patch(&PODS, &name, Part::Main, &label("app"));
    test.until("one of them goes", |test| test.state.store.all(&PODS, Some("test")).len() == 1).await;
    tokio::time::sleep(Duration::from_secs(5)).await;
    assert!(test.get(&DEPLOYMENTS, "app").unwrap()["status"]["replicas"] == 1);
}

#[tokio::test(start_paused = true)]
async fn a_pod_can_take_its_node_down() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    make(&test, &DEPLOYMENTS, deployment("app", 1, &json!({"kube-emulator/node-lost-after": "5s"})));
    test.until("it runs", available(1)).await;
    test.until("the node is silent", |test| {
        let node = test.get(&NODES, "node-1").unwrap();
        fields::condition(&node, "Ready").is_some_and(|ready| text(ready, "/status") == "Unknown")
    })
    .await;
    let ready = |test: &Test| fields::number(&test.get(&DEPLOYMENTS, "app").unwrap(), "/status/readyReplicas");
    test.until("it isn't ready", |test| ready(test) == 0).await;
}

#[tokio::test(start_paused = true)]
async fn an_unscheduled_pod_that_a_finalizer_holds_has_ended() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let pod = json!({
        "metadata": {"name": "pod", "finalizers": ["test/hold"]},
        "spec": {"containers": [{"name": "main", "image": "a"}], "nodeSelector": {"no": "such"}},
    });
    make(&test, &PODS, pod);
    tokio::time::sleep(Duration::from_secs(1)).await;
    test.state.delete(&Key::new(&PODS, "test", "pod"), &Deletion::default()).unwrap();
    tokio::time::sleep(Duration::from_secs(21)).await;
    assert_eq!(test.get(&PODS, "pod").unwrap()["status"]["phase"], "Failed");
}

fn owner(of: &Value, blocks: bool) -> Value {
    json!({
        "apiVersion": of["apiVersion"], "kind": of["kind"], "name": of["metadata"]["name"],
        "uid": of["metadata"]["uid"], "blockOwnerDeletion": blocks,
    })
}

fn quota(name: &str, owners: &Value) -> Value {
    json!({"metadata": {"name": name, "ownerReferences": owners}, "spec": {"hard": {"pods": "5"}}})
}

#[tokio::test(start_paused = true)]
async fn what_has_no_owner_left_is_collected() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let first = make(&test, &RESOURCE_QUOTAS, quota("first", &json!([])));
    let second = make(&test, &RESOURCE_QUOTAS, quota("second", &json!([])));
    let gone = json!({"apiVersion": "v1", "kind": "ResourceQuota", "name": "gone", "uid": "gone"});
    make(&test, &RESOURCE_QUOTAS, quota("of-nobody", &json!([gone])));
    make(&test, &RESOURCE_QUOTAS, quota("of-one", &json!([owner(&first, true), gone])));
    make(&test, &RESOURCE_QUOTAS, quota("of-two", &json!([owner(&first, true), owner(&second, true)])));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(test.get(&RESOURCE_QUOTAS, "of-nobody").is_none());
    let owners = |name: &str| {
        let found = test.get(&RESOURCE_QUOTAS, name)?;
        Some(fields::list(&found, "/metadata/ownerReferences").len())
    };
    assert_eq!((owners("of-one"), owners("of-two")), (Some(1), Some(2)));
    test.state.delete(&Key::new(&RESOURCE_QUOTAS, "test", "first"), &Deletion::default()).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!((owners("of-one"), owners("of-two")), (None, Some(1)));
}

#[tokio::test(start_paused = true)]
async fn a_foreground_deletion_waits_only_for_what_blocks_it() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let first = make(&test, &RESOURCE_QUOTAS, quota("first", &json!([])));
    let mut held = quota("held", &json!([owner(&first, true)]));
    held["metadata"]["finalizers"] = json!(["test/hold"]);
    make(&test, &RESOURCE_QUOTAS, held);
    let mut loose = quota("loose", &json!([owner(&first, false)]));
    loose["metadata"]["finalizers"] = json!(["test/hold"]);
    make(&test, &RESOURCE_QUOTAS, loose);
    let how = Deletion { propagation: Some(Propagation::Foreground), ..Deletion::default() };
    test.state.delete(&Key::new(&RESOURCE_QUOTAS, "test", "first"), &how).unwrap();
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert!(test.get(&RESOURCE_QUOTAS, "first").is_some() && test.get(&RESOURCE_QUOTAS, "held").is_some());
    test.patch(&RESOURCE_QUOTAS, "held", Part::Main, &json!({"metadata": {"finalizers": null}}));
    test.until("it is gone", |test| test.get(&RESOURCE_QUOTAS, "first").is_none()).await;
    assert!(test.get(&RESOURCE_QUOTAS, "loose").is_some());
}

#[tokio::test(start_paused = true)]
async fn a_quota_counts_what_goes_away() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    make(&test, &RESOURCE_QUOTAS, quota("quota", &json!([])));
    tokio::time::sleep(Duration::from_secs(1)).await;
    make(&test, &DEPLOYMENTS, deployment("app", 3, &json!({})));
    test.until("they run", available(3)).await;
    let used = |test: &Test| test.get(&RESOURCE_QUOTAS, "quota").unwrap()["status"]["used"]["pods"].clone();
    assert_eq!(used(&test), "3");
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"spec": {"replicas": 1}}));
    test.until("one is counted", |test| used(test) == "1").await;
}

#[tokio::test(start_paused = true)]
async fn changes_that_were_forgotten_are_made_up_for() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    make(&test, &DEPLOYMENTS, deployment("app", 2, &json!({})));
    // Before the controllers get to see it.
    test.state.store.compact();
    test.until("they run", available(2)).await;
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"spec": {"replicas": 0}}));
    test.state.store.compact();
    test.until("none is left", |test| test.state.store.all(&PODS, Some("test")).is_empty()).await;
}

#[tokio::test(start_paused = true)]
async fn a_claim_that_is_deleted_stays_as_long_as_a_pod_uses_it() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let claim = |name: &str| {
        let spec = json!({"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}});
        make(&test, &PERSISTENT_VOLUME_CLAIMS, json!({"metadata": {"name": name}, "spec": spec}));
        Key::new(&PERSISTENT_VOLUME_CLAIMS, "test", name)
    };
    let (used, unused) = (claim("used"), claim("unused"));
    let mut app = deployment("app", 1, &json!({}));
    let volume = json!({"name": "data", "persistentVolumeClaim": {"claimName": "used"}});
    app["spec"]["template"]["spec"]["volumes"] = json!([volume]);
    make(&test, &DEPLOYMENTS, app);
    test.until("it runs", available(1)).await;

    for key in [&used, &unused] {
        test.state.delete(key, &Deletion::default()).unwrap();
        assert!(test.state.store.get(key).unwrap().deleting, "the controller lets it go, not who deletes it");
    }
    test.until("the unused one is gone", |test| test.state.store.get(&unused).is_none()).await;
    tokio::time::sleep(Duration::from_secs(60)).await;
    assert!(test.state.store.get(&used).is_some());
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"spec": {"replicas": 0}}));
    test.until("the Pod is gone", |test| test.state.store.all(&PODS, Some("test")).is_empty()).await;
    test.until("the other is gone", |test| test.state.store.get(&used).is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn a_namespace_tells_which_finalizers_keep_it() {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let mut app = deployment("app", 0, &json!({}));
    app["metadata"]["finalizers"] = json!(["example.org/keep"]);
    make(&test, &DEPLOYMENTS, app);
    let namespace = Key::new(&NAMESPACES, "", "test");
    test.state.delete(&namespace, &Deletion::default()).unwrap();
    let remaining = |test: &Test, kind: &str| {
        let namespace = test.get(&NAMESPACES, "test")?;
        fields::condition(&namespace, kind).map(|condition| text(condition, "/message").to_owned())
    };
    let kind = "NamespaceFinalizersRemaining";
    let held = "Some content in the namespace has finalizers remaining: example.org/keep in 1 resource instances";
    test.until("it tells", |test| remaining(test, kind).as_deref() == Some(held)).await;
    let content = "Some resources are remaining: deployments.apps has 1 resource instances";
    assert_eq!(remaining(&test, "NamespaceContentRemaining").as_deref(), Some(content));
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"metadata": {"finalizers": null}}));
    test.until("it is gone", |test| test.get(&NAMESPACES, "test").is_none()).await;
}

async fn history() -> Vec<String> {
    let test = Test::new(&json!({"namespaces": ["test"]}));
    let start = test.state.store.version();
    make(&test, &DEPLOYMENTS, deployment("app", 3, &json!({"kube-emulator/ready-after": "700"})));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let image = json!({"containers": [{"name": "main", "image": "image:2"}]});
    test.patch(&DEPLOYMENTS, "app", Part::Main, &json!({"spec": {"template": {"spec": image}}}));
    tokio::time::sleep(Duration::from_secs(30)).await;
    let changes = test.state.store.all_changes(start, usize::MAX).unwrap();
    changes.iter().map(|change| change.object.value().to_string()).collect()
}

#[tokio::test(start_paused = true)]
async fn the_same_happens_again() {
    let (first, second) = (history().await, history().await);
    assert!(first.len() > 50);
    assert_eq!(first, second);
}
