use rstest::rstest;
use serde_json::json;

use super::*;
use crate::registry::tests::state;
use crate::resource::DEPLOYMENTS;
use crate::store::Key;

fn with_quota(hard: Value, used: Value) -> State {
    let state = state();
    let quota = json!({"metadata": {"name": "q"}, "spec": {"hard": hard}, "status": {"hard": hard, "used": used}});
    state.create(&RESOURCE_QUOTAS, "n", quota, false).unwrap();
    state
}

fn pod(cpu: Option<&str>) -> Value {
    let resources = cpu.map_or(json!({}), |cpu| json!({"requests": {"cpu": cpu}}));
    json!({"metadata": {"name": "p"}, "spec": {"containers": [{"name": "main", "resources": resources}]}})
}

#[rstest]
#[case::room(json!({"pods": "3"}), json!({"pods": "2"}), None, Ok(json!({"pods": "3"})))]
#[case::full(
    json!({"pods": "2"}), json!({"pods": "2"}), None,
    Err("pods \"p\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2")
)]
#[case::several(
    json!({"pods": "2", "requests.cpu": "1"}), json!({"pods": "2", "requests.cpu": "800m"}), Some("300m"),
    Err("pods \"p\" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=300m, used: pods=2,requests.cpu=800m, limited: pods=2,requests.cpu=1")
)]
#[case::not_said(
    json!({"requests.cpu": "1", "limits.memory": "1Gi"}), json!({"requests.cpu": "0", "limits.memory": "0"}), None,
    Err("pods \"p\" is forbidden: failed quota: q: must specify limits.memory for: main; requests.cpu for: main")
)]
#[case::not_counted_yet(
    json!({"pods": "2"}), json!({}), None,
    Err("pods \"p\" is forbidden: status unknown for quota: q, resources: pods")
)]
#[case::another_resource(json!({"count/deployments.apps": "0"}), json!({}), None, Ok(json!({})))]
#[case::adds_amounts(
    json!({"requests.cpu": "1"}), json!({"requests.cpu": "500m"}), Some("500m"), Ok(json!({"requests.cpu": "1"}))
)]
#[tokio::test(start_paused = true)]
async fn pods_are_counted(
    #[case] hard: Value,
    #[case] used: Value,
    #[case] cpu: Option<&str>,
    #[case] expected: Result<Value, &str>,
) {
    let state = with_quota(hard, used);
    let result = admit(&state, &PODS, "n", &pod(cpu), false);
    let after = state.store.get(&Key::new(&RESOURCE_QUOTAS, "n", "q")).unwrap().value();
    match expected {
        Ok(used) => {
            assert_eq!(result, Ok(()));
            assert_eq!(after.pointer("/status/used"), Some(&used));
        }
        Err(message) => {
            let error = result.unwrap_err();
            assert_eq!((error.code, error.message.as_str()), (403, message));
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_dry_run_counts_nothing() {
    let state = with_quota(json!({"count/deployments.apps": "1"}), json!({"count/deployments.apps": "0"}));
    let version = state.store.version();
    assert_eq!(admit(&state, &DEPLOYMENTS, "n", &json!({"metadata": {"name": "d"}}), true), Ok(()));
    assert_eq!(state.store.version(), version);
    assert_eq!(admit(&state, &DEPLOYMENTS, "n", &json!({"metadata": {"name": "d"}}), false), Ok(()));
    let error = admit(&state, &DEPLOYMENTS, "n", &json!({"metadata": {"name": "d"}}), true).unwrap_err();
    assert_eq!(
        error.message,
        "deployments.apps \"d\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, \
         used: count/deployments.apps=1, limited: count/deployments.apps=1"
    );
}

#[rstest]
#[case::nothing(json!({}), "BestEffort")]
#[case::requests(json!({"requests": {"cpu": "1"}}), "Burstable")]
#[case::all(json!({"requests": {"cpu": "1", "memory": "1"}, "limits": {"cpu": "1", "memory": "1"}}), "Guaranteed")]
#[case::more(json!({"requests": {"cpu": "1", "memory": "1"}, "limits": {"cpu": "2", "memory": "1"}}), "Burstable")]
fn quality_of_service(#[case] resources: Value, #[case] class: &str) {
    assert_eq!(quality(&json!({"spec": {"containers": [{"resources": resources}]}})), class);
}
