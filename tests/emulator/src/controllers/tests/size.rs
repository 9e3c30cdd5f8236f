//! Many Deployments: nobody looks at those that nothing happens to.

use super::*;

#[tokio::test(start_paused = true)]
async fn what_was_filled_in_is_left_alone_and_reacts() {
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap());
    let state = Arc::new(State::prepared(clock, 1, Scenario::default()));
    let labels = [("owner".to_owned(), "tests".to_owned())].into();
    let what = Fill { namespace: "test".to_owned(), count: 300, labels, ..Fill::default() };
    fill(&state, &what).unwrap();
    let before = state.store.version();
    let running = start(Arc::clone(&state));
    let test = Test { state, running: Some(running) };
    tokio::time::sleep(Duration::from_secs(120)).await;
    assert_eq!(test.state.store.version(), before, "nobody wrote anything");

    test.patch(&DEPLOYMENTS, "app-7", Part::Main, &json!({"spec": {"replicas": 2}}));
    let ready = |test: &Test| test.get(&DEPLOYMENTS, "app-7").unwrap()["status"]["availableReplicas"] == 2;
    test.until("two are available", ready).await;
    test.patch(&DEPLOYMENTS, "app-7", Part::Main, &json!({"spec": {"replicas": 0}}));
    let gone = |test: &Test| {
        let pods = test.state.store.all(&PODS, Some("test"));
        pods.iter().all(|pod| pod.labels.get("app").map(String::as_str) != Some("app-7"))
    };
    test.until("none is left", gone).await;
    let changed = test.state.store.all_changes(before, usize::MAX).unwrap();
    let others = changed.iter().filter(|change| {
        let key = &change.object.key;
        key.namespace() == "test" && !key.name().starts_with("app-7-") && key.name() != "app-7"
    });
    let others: Vec<_> = others.filter(|change| !change.object.key.name().starts_with("app-7.")).collect();
    assert!(others.is_empty(), "others were touched: {others:?}");
    assert_eq!(test.state.store.all(&PODS, Some("test")).len(), 299);
    assert_eq!(test.state.store.all(&REPLICA_SETS, Some("test")).len(), 300, "its ReplicaSet was recognized");
}
