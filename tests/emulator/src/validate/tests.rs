use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::defaults;
use crate::patch::merge;
use crate::resource::{DEPLOYMENTS, NAMESPACES, PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, ROLE_BINDINGS, ROLES};
use crate::schema::{decode, of};

fn deployment(change: Value) -> Value {
    let mut value = json!({
        "metadata": {"name": "a", "namespace": "n"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": {
            "metadata": {"labels": {"a": "b"}}, "spec": {"containers": [{"name": "m", "image": "i"}]},
        }},
    });
    merge::apply(&mut value, &change);
    complete("Deployment", &value)
}

fn pod(change: Value) -> Value {
    let mut value = json!({
        "metadata": {"name": "a", "namespace": "n"}, "spec": {"containers": [{"name": "m", "image": "i"}]},
    });
    merge::apply(&mut value, &change);
    complete("Pod", &value)
}

fn complete(kind: &str, value: &Value) -> Value {
    let mut value = decode::tidy(value, of(kind)).unwrap();
    defaults::complete(kind, &mut value);
    value
}

fn causes(result: Result<(), ApiError>) -> Vec<(String, String)> {
    let error = result.unwrap_err();
    assert_eq!(error.code, 422);
    error.details.unwrap().causes.into_iter().map(|cause| (cause.field, cause.message)).collect()
}

fn one(field: &str, message: &str) -> Vec<(String, String)> {
    vec![(field.to_owned(), message.to_owned())]
}

#[rstest]
#[case::replicas(
    json!({"spec": {"replicas": -1}}), "spec.replicas", "Invalid value: -1: must be greater than or equal to 0"
)]
#[case::surge_and_unavailable(
    json!({"spec": {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}}}),
    "spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: 0: may not be 0 when `maxSurge` is 0"
)]
#[case::too_much_unavailable(
    json!({"spec": {"strategy": {"rollingUpdate": {"maxUnavailable": "101%"}}}}),
    "spec.strategy.rollingUpdate.maxUnavailable", "Invalid value: \"101%\": must not be greater than 100%"
)]
#[case::unknown_strategy(
    json!({"spec": {"strategy": {"type": "Blue"}}}), "spec.strategy",
    "Unsupported value: {\"Type\":\"Blue\",\"RollingUpdate\":null}: supported values: \"Recreate\", \"RollingUpdate\""
)]
#[case::deadline(
    json!({"spec": {"minReadySeconds": 10, "progressDeadlineSeconds": 10}}), "spec.progressDeadlineSeconds",
    "Invalid value: 10: must be greater than minReadySeconds"
)]
#[case::no_containers(
    json!({"spec": {"template": {"spec": {"containers": null}}}}), "spec.template.spec.containers", "Required value"
)]
#[case::container_without_image(
    json!({"spec": {"template": {"spec": {"containers": [{"name": "m"}]}}}}), "spec.template.spec.containers[0].image",
    "Required value"
)]
#[case::annotation(
    json!({"metadata": {"annotations": {"a b": "c"}}}), "metadata.annotations",
    "Invalid value: \"a b\": name part must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
)]
fn deployments(#[case] change: Value, #[case] field: &str, #[case] message: &str) {
    assert_eq!(causes(created(&DEPLOYMENTS, &deployment(change))), one(field, message));
}

#[rstest]
#[case::two_of_a_name(
    json!({"spec": {"containers": [{"name": "m", "image": "i"}, {"name": "m", "image": "i"}]}}),
    "spec.containers[1].name", "Duplicate value: \"m\""
)]
#[case::name_with_a_dot(
    json!({"spec": {"containers": [{"name": "m.n", "image": "i"}]}}), "spec.containers[0].name",
    "Invalid value: \"m.n\": must not contain dots"
)]
#[case::more_than_the_limit(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}]}}),
    "spec.containers[0].resources.requests", "Invalid value: \"2\": must be less than or equal to cpu limit of 1"
)]
#[case::negative_amount(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "resources": {"limits": {"memory": "-1Mi"}, "requests": {"memory": "-1Mi"}}}]}}),
    "spec.containers[0].resources.limits[memory]", "Invalid value: \"-1Mi\": must be greater than or equal to 0"
)]
#[case::port(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "ports": [{"containerPort": 70000}]}]}}),
    "spec.containers[0].ports[0].containerPort", "Invalid value: 70000: must be between 1 and 65535, inclusive"
)]
#[case::variable(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "env": [{"name": "A=B"}]}]}}), "spec.containers[0].env[0].name",
    "Invalid value: \"A=B\": a valid environment variable name must consist only of printable ASCII characters other than '='"
)]
#[case::mount_of_nothing(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "volumeMounts": [{"name": "v", "mountPath": "/v"}]}]}}),
    "spec.containers[0].volumeMounts[0].name", "Not found: \"v\""
)]
#[case::restart_policy(
    json!({"spec": {"restartPolicy": "Sometimes"}}), "spec.restartPolicy",
    "Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", \"Never\""
)]
#[case::deadline(
    json!({"spec": {"activeDeadlineSeconds": 0}}), "spec.activeDeadlineSeconds",
    "Invalid value: 0: must be between 1 and 2147483647, inclusive"
)]
#[case::probe(
    json!({"spec": {"containers": [{"name": "m", "image": "i", "livenessProbe": {"failureThreshold": 1}}]}}),
    "spec.containers[0].livenessProbe", "Required value: must specify a handler type"
)]
fn pods(#[case] change: Value, #[case] field: &str, #[case] message: &str) {
    let found = causes(created(&PODS, &pod(change)));
    assert_eq!(found.first(), one(field, message).first());
}

#[test]
fn of_a_pod_only_a_few_fields_change() {
    let before = pod(json!({}));
    let image = pod(json!({"spec": {"containers": [{"name": "m", "image": "other"}]}}));
    assert_eq!(updated(&PODS, "", &before, &image), Ok(()));
    let grace = pod(json!({"spec": {"terminationGracePeriodSeconds": 5}}));
    let found = causes(updated(&PODS, "", &before, &grace));
    let [(field, message)] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(field, "spec");
    assert!(message.starts_with("Forbidden: pod updates may not change fields other than `spec.containers[*].image`,"));
    let more = pod(json!({"spec": {"containers": [{"name": "m", "image": "i"}, {"name": "n", "image": "i"}]}}));
    let expected = one("spec.containers", "Forbidden: pod updates may not add or remove containers");
    assert_eq!(causes(updated(&PODS, "", &before, &more)), expected);
}

#[rstest]
#[case::namespace(&NAMESPACES, "Namespace", json!({"metadata": {"name": "a.b"}}), "metadata.name", "Invalid value: \"a.b\": must not contain dots")]
#[case::quota_name(
    &RESOURCE_QUOTAS, "ResourceQuota", json!({"metadata": {"name": "q", "namespace": "n"}, "spec": {"hard": {"pods": "1500m"}}}),
    "spec.hard[pods]", "Invalid value: \"1500m\": must be an integer"
)]
#[case::claim(
    &PERSISTENT_VOLUME_CLAIMS, "PersistentVolumeClaim",
    json!({"metadata": {"name": "c", "namespace": "n"}, "spec": {"resources": {"requests": {"storage": "1Gi"}}}}),
    "spec.accessModes", "Required value: at least 1 access mode is required"
)]
#[case::role(
    &ROLES, "Role", json!({"metadata": {"name": "r", "namespace": "n"}, "rules": [{"apiGroups": [""], "resources": ["pods"]}]}),
    "rules[0].verbs", "Required value: verbs must contain at least one value"
)]
#[case::binding(
    &ROLE_BINDINGS, "RoleBinding",
    json!({"metadata": {"name": "r", "namespace": "n"}, "roleRef": {"kind": "Rule", "name": "x"}}),
    "roleRef.kind", "Unsupported value: \"Rule\": supported values: \"Role\", \"ClusterRole\""
)]
fn others(
    #[case] resource: &'static Resource,
    #[case] kind: &str,
    #[case] value: Value,
    #[case] field: &str,
    #[case] message: &str,
) {
    assert_eq!(causes(created(resource, &complete(kind, &value))), one(field, message));
}

#[test]
fn nothing_is_added_to_the_finalizers_of_what_goes() {
    let before = deployment(json!({"metadata": {"deletionTimestamp": "2026-11-30T15:00:00Z", "finalizers": ["a/b"]}}));
    let mut after = before.clone();
    after["metadata"]["finalizers"] = json!(["a/b", "c/d"]);
    let found = causes(updated(&DEPLOYMENTS, "", &before, &after));
    let message = "Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{\"c/d\"}";
    assert_eq!(found.first(), one("metadata.finalizers", message).first());
}

proptest::proptest! {
    #[test]
    fn a_name_that_is_taken_is_a_label_of_dns(name in "[a-z0-9.-]{1,8}") {
        let good = names::subdomain(&name, false).is_empty();
        let parts = name.split('.').all(|part| names::label(part, false).is_empty());
        proptest::prop_assert_eq!(good, parts);
    }
}
