//! The scale of a Deployment, as the project uses it: with preconditions, by each kind of patch, and by PUT.

use serde_json::{Value, json};

use super::deployment;
use crate::step::*;

const SCALE: &str = "{apps}/deployments/app/scale";
const DRY: &str = "{apps}/deployments/app/scale?dryRun=All";

fn to(replicas: i64) -> Value {
    json!({"spec": {"replicas": replicas}})
}

fn object(metadata: Value, spec: Value) -> Value {
    let mut metadata = metadata;
    metadata["name"] = json!("app");
    metadata["namespace"] = json!("{ns}");
    json!({"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec})
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create", "{apps}/deployments", deployment("app", 0)).only(&["/metadata/generation"]),
        settled("app", 0),
        get("get /scale at 0", SCALE).keep("uid of app", "/metadata/uid").keep("stale", "/metadata/resourceVersion"),
        get("get /scale, no such name", "{apps}/deployments/absent/scale"),
        merge(
            "scale to 1 with the right uid",
            SCALE,
            json!({"metadata": {"uid": "{uid of app}"}, "spec": {"replicas": 1}}),
        ),
        settled("app", 1),
        get("get after the scale", "{apps}/deployments/app"),
        get("get /scale, one running", SCALE).keep("version", "/metadata/resourceVersion").versions(),
        merge("scale to the same count", SCALE, json!({"metadata": {"uid": "{uid of app}"}, "spec": {"replicas": 1}}))
            .versions(),
        get("get after the no-op", "{apps}/deployments/app")
            .only(&["/metadata/generation", "/metadata/resourceVersion"])
            .versions(),
        get("the version now", SCALE).keep("version", "/metadata/resourceVersion").versions(),
        merge("scale with a wrong uid", SCALE, json!({"metadata": {"uid": OTHER_UID}, "spec": {"replicas": 0}})),
        merge(
            "scale with a stale resourceVersion",
            SCALE,
            json!({"metadata": {"resourceVersion": "{stale}"}, "spec": {"replicas": 0}}),
        ),
        merge(
            "scale with both, the uid wrong",
            SCALE,
            json!({
                "metadata": {"uid": OTHER_UID, "resourceVersion": "{version}"}, "spec": {"replicas": 0}
            }),
        ),
        merge(
            "scale with a resourceVersion that is no number",
            SCALE,
            json!({
                "metadata": {"resourceVersion": "abc"}, "spec": {"replicas": 0}
            }),
        ),
        merge(
            "scale with a wrong name in the body",
            SCALE,
            json!({"metadata": {"name": "other"}, "spec": {"replicas": 0}}),
        ),
        merge(
            "scale with a wrong namespace in the body",
            SCALE,
            json!({"metadata": {"namespace": "other"}, "spec": {"replicas": 0}}),
        ),
        merge(
            "scale to the same count with a wrong uid",
            SCALE,
            json!({"metadata": {"uid": OTHER_UID}, "spec": {"replicas": 1}}),
        ),
        merge(
            "scale to the same count with a stale resourceVersion",
            SCALE,
            json!({
                "metadata": {"resourceVersion": "{stale}"}, "spec": {"replicas": 1}
            }),
        ),
        merge("scale to -1", SCALE, to(-1)),
        merge("scale, replicas a string", SCALE, json!({"spec": {"replicas": "1"}})),
        merge("scale, replicas a fraction", SCALE, json!({"spec": {"replicas": 1.5}})),
        merge("scale, replicas null (dry run)", DRY, json!({"spec": {"replicas": null}})),
        merge("scale to 5000000000", SCALE, to(5_000_000_000)),
        merge("scale, no such Deployment", "{apps}/deployments/absent/scale", to(1)),
        merge("scale, dry run", DRY, to(7)),
        merge("scale, empty patch", SCALE, json!({})).versions(),
        merge(
            "scale, unknown field, strict",
            &format!("{SCALE}?fieldValidation=Strict"),
            json!({"spec": {"replicaz": 1}}),
        ),
    ];
    steps.extend(kinds());
    steps.extend(replaced());
    steps.extend(down());
    steps
}

/// Each kind of patch.
fn kinds() -> Vec<Step> {
    let test = |value: i64| json!([{"op": "test", "path": "/spec/replicas", "value": value}, {"op": "replace", "path": "/spec/replicas", "value": 2}]);
    vec![
        patch("scale by strategic merge patch (dry run)", DRY, STRATEGIC, to(2)),
        patch(
            "scale by apply patch (dry run)",
            &format!("{DRY}&fieldManager=x"),
            APPLY,
            object(json!({}), json!({"replicas": 2})),
        ),
        patch(
            "scale by apply patch, forced (dry run)",
            &format!("{DRY}&fieldManager=x&force=true"),
            APPLY,
            object(json!({}), json!({"replicas": 2})),
        ),
        patch("scale by JSON patch, test holds (dry run)", DRY, JSON_PATCH, test(1)),
        patch("scale by JSON patch, test fails", SCALE, JSON_PATCH, test(3)),
        patch(
            "scale by JSON patch, test of the uid holds (dry run)",
            DRY,
            JSON_PATCH,
            json!([
                {"op": "test", "path": "/metadata/uid", "value": "{uid of app}"}, {"op": "replace", "path": "/spec/replicas", "value": 0}
            ]),
        ),
        patch("scale, media type not for patches", SCALE, "application/json", to(0)),
        post("scale by POST", SCALE, object(json!({}), json!({"replicas": 2}))),
        request("DELETE", "delete of a scale", SCALE),
    ]
}

fn replaced() -> Vec<Step> {
    let one = json!({"replicas": 1});
    vec![
        put("PUT with a stale resourceVersion", SCALE, object(json!({"resourceVersion": "{stale}"}), one.clone())),
        put("PUT without resourceVersion", SCALE, object(json!({"uid": "{uid of app}"}), one.clone())),
        put("PUT with a wrong uid", SCALE, object(json!({"uid": OTHER_UID}), one.clone())),
        put("PUT with an empty spec (dry run)", DRY, object(json!({}), json!({}))),
        put("PUT with -1", SCALE, object(json!({}), json!({"replicas": -1}))),
        put(
            "PUT with another name",
            SCALE,
            json!({
                "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "other", "namespace": "{ns}"}, "spec": one
            }),
        ),
        put("PUT of another kind", SCALE, deployment("app", 1)),
        put(
            "PUT, no such Deployment",
            "{apps}/deployments/absent/scale",
            json!({
                "kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": {"name": "absent", "namespace": "{ns}"}, "spec": {}
            }),
        ),
    ]
}

/// Up to three and down to none, as the controllers leave it.
fn down() -> Vec<Step> {
    vec![
        merge("scale to 3", SCALE, to(3)),
        settled("app", 3),
        get("get at 3", "{apps}/deployments/app"),
        get("ReplicaSets at 3", "{apps}/replicasets").whole(),
        get("get /scale at 3", SCALE),
        merge("scale to 1", SCALE, to(1)),
        settled("app", 1).titled("until app is settled at 1 again"),
        get("get at 1 again", "{apps}/deployments/app"),
        merge("scale to 0", SCALE, to(0)),
        settled("app", 0).titled("until app is settled at 0 again"),
        get("get at 0 again", "{apps}/deployments/app"),
        get("ReplicaSets at 0", "{apps}/replicasets").whole(),
        get("get /scale at 0 again", SCALE),
        get("Pods at 0", "{core}/pods"),
        told("app", 4),
        get("Events of the scales", "{core}/events?fieldSelector=involvedObject.name=app").whole(),
    ]
}
