//! Patches of a Deployment: every kind, every precondition, and what they refuse.

use serde_json::{Value, json};

use super::{deployment, with};
use crate::step::*;

const APP: &str = "{apps}/deployments/app";
const DRY: &str = "{apps}/deployments/app?dryRun=All";

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create", "{apps}/deployments", deployment("app", 0))
            .keep("uid of app", "/metadata/uid")
            .keep("stale", "/metadata/resourceVersion")
            .only(&["/metadata/generation"]),
        settled("app", 0),
    ];
    steps.extend(merges());
    steps.extend(json_patches());
    steps.extend(strategic());
    steps.extend(subresources());
    steps
}

fn merges() -> Vec<Step> {
    let replicas = |metadata: Value| json!({"metadata": metadata, "spec": {"replicas": 0}});
    vec![
        merge("merge: label added", APP, json!({"metadata": {"labels": {"more": "yes"}}})).only(&["/metadata"]),
        merge("merge: the same again", APP, json!({"metadata": {"labels": {"more": "yes"}}}))
            .versions()
            .only(&["/metadata/resourceVersion", "/metadata/generation"]),
        get("after the no-op", APP).versions().only(&["/metadata/resourceVersion"]),
        merge("merge: label removed", APP, json!({"metadata": {"labels": {"more": null}}}))
            .only(&["/metadata/labels", "/metadata/generation"]),
        merge("merge: annotation added", APP, json!({"metadata": {"annotations": {"note": "a b"}}}))
            .only(&["/metadata/annotations", "/metadata/generation"]),
        merge(
            "merge: replicas with the right uid (dry run)",
            DRY,
            json!({"metadata": {"uid": "{uid of app}"}, "spec": {"replicas": 4}}),
        )
        .only(&["/metadata/generation", "/spec/replicas"]),
        merge("merge: wrong uid", APP, replicas(json!({"uid": OTHER_UID}))),
        merge("merge: stale resourceVersion", APP, replicas(json!({"resourceVersion": "{stale}"}))),
        merge("merge: resourceVersion that is no number", APP, replicas(json!({"resourceVersion": "abc"}))),
        merge("merge: another name", APP, replicas(json!({"name": "other"}))),
        merge("merge: another namespace", APP, replicas(json!({"namespace": "other"}))),
        merge("merge: another selector", APP, json!({"spec": {"selector": {"matchLabels": {"app": "other"}}}})),
        merge("merge: replicas a string", APP, json!({"spec": {"replicas": "1"}})),
        merge("merge: replicas null (dry run)", DRY, json!({"spec": {"replicas": null}})).only(&["/spec/replicas"]),
        merge(
            "merge: containers replaced by one without a name",
            APP,
            json!({"spec": {"template": {"spec": {"containers": [{"image": "x"}]}}}}),
        ),
        merge("merge: no such Deployment", "{apps}/deployments/absent", json!({})),
        merge("merge: unknown field", DRY, json!({"spec": {"replicaz": 1}})).only(&["/spec/replicaz"]),
        merge(
            "merge: unknown field, strict",
            &format!("{DRY}&fieldValidation=Strict"),
            json!({"spec": {"replicaz": 1}}),
        ),
        text("PATCH", "merge: not JSON", APP, "{").content_type(MERGE),
        text("PATCH", "merge: a list", APP, "[]").content_type(MERGE),
        text("PATCH", "merge: empty body", APP, "").content_type(MERGE),
        merge("merge: status is left alone", APP, json!({"status": {"replicas": 9}}))
            .only(&["/status/replicas", "/metadata/generation"]),
        merge(
            "merge: creation time is left alone",
            DRY,
            json!({"metadata": {"creationTimestamp": "2020-01-01T00:00:00Z", "generation": 77}}),
        )
        .only(&["/metadata/creationTimestamp", "/metadata/generation"]),
        patch("media type for no patch", APP, "application/json", json!({"spec": {"replicas": 0}})),
        text("PATCH", "no media type", APP, "{}").content_type(""),
        patch("unknown media type", APP, "application/strange-patch+json", json!({})),
    ]
}

fn json_patches() -> Vec<Step> {
    let one = |op: Value| json!([op]);
    vec![
        patch("JSON patch: add and test", APP, JSON_PATCH, json!([
            {"op": "test", "path": "/metadata/uid", "value": "{uid of app}"},
            {"op": "add", "path": "/metadata/labels/json", "value": "yes"}
        ])).only(&["/metadata/labels", "/metadata/generation"]),
        patch("JSON patch: test fails", APP, JSON_PATCH, json!([
            {"op": "test", "path": "/spec/replicas", "value": 3}, {"op": "replace", "path": "/spec/replicas", "value": 0}
        ])),
        patch("JSON patch: path does not exist", APP, JSON_PATCH, one(json!({"op": "remove", "path": "/metadata/nope"}))),
        patch("JSON patch: replace of what is not there", APP, JSON_PATCH, one(json!({"op": "replace", "path": "/metadata/annotations/x", "value": "y"}))),
        patch("JSON patch: unknown operation", APP, JSON_PATCH, one(json!({"op": "bless", "path": "/metadata"}))),
        patch("JSON patch: an object", APP, JSON_PATCH, json!({"op": "remove"})),
        text("PATCH", "JSON patch: not JSON", APP, "[").content_type(JSON_PATCH),
        patch("JSON patch: copy and move (dry run)", DRY, JSON_PATCH, json!([
            {"op": "copy", "from": "/metadata/labels/app", "path": "/metadata/labels/copied"},
            {"op": "move", "from": "/metadata/labels/json", "path": "/metadata/labels/moved"}
        ])).only(&["/metadata/labels"]),
        patch("JSON patch: key with a slash (dry run)", DRY, JSON_PATCH, one(json!({"op": "add", "path": "/metadata/labels/example.org~1key", "value": "v"})))
            .only(&["/metadata/labels"]),
        patch("JSON patch: into a list (dry run)", DRY, JSON_PATCH, one(json!({
            "op": "add", "path": "/spec/template/spec/containers/-", "value": {"name": "second", "image": "localhost/busybox:1"}
        }))).only(&["/spec/template/spec/containers"]),
        patch("JSON patch: invalid result", APP, JSON_PATCH, one(json!({"op": "replace", "path": "/spec/replicas", "value": -2}))),
    ]
}

fn strategic() -> Vec<Step> {
    let pod = |spec: Value| json!({"spec": {"template": {"spec": spec}}});
    vec![
        patch("strategic: image of a container by its name (dry run)", DRY, STRATEGIC, pod(json!({"containers": [{"name": "main", "image": "localhost/busybox:2"}]})))
            .only(&["/spec/template/spec/containers", "/metadata/generation"]),
        patch("strategic: a second container (dry run)", DRY, STRATEGIC, pod(json!({"containers": [{"name": "second", "image": "localhost/busybox:1"}]})))
            .only(&["/spec/template/spec/containers"]),
        patch("strategic: env added", APP, STRATEGIC, pod(json!({"containers": [{"name": "main", "env": [{"name": "B", "value": "2"}, {"name": "A", "value": "1"}]}]})))
            .only(&["/spec/template/spec/containers", "/metadata/generation"]),
        settled("app", 0).titled("until app is settled with env"),
        patch("strategic: env changed and deleted", APP, STRATEGIC, pod(json!({
            "containers": [{"name": "main", "env": [{"name": "A", "value": "3"}, {"name": "B", "$patch": "delete"}]}]
        }))).only(&["/spec/template/spec/containers", "/metadata/generation"]),
        settled("app", 0).titled("until app is settled with other env"),
        patch("strategic: list replaced (dry run)", DRY, STRATEGIC, pod(json!({"containers": [{"$patch": "replace"}, {"name": "only", "image": "x"}]})))
            .only(&["/spec/template/spec/containers"]),
        patch("strategic: order of elements (dry run)", DRY, STRATEGIC, pod(json!({
            "$setElementOrder/containers": [{"name": "new"}, {"name": "main"}], "containers": [{"name": "new", "image": "x"}, {"name": "main"}]
        }))).only(&["/spec/template/spec/containers"]),
        patch("strategic: strategy with retainKeys (dry run)", DRY, STRATEGIC, json!({"spec": {"strategy": {"$retainKeys": ["type"], "type": "Recreate"}}}))
            .only(&["/spec/strategy"]),
        patch("strategic: strategy without retainKeys", DRY, STRATEGIC, json!({"spec": {"strategy": {"type": "Recreate"}}})),
        patch("strategic: field removed by null (dry run)", DRY, STRATEGIC, json!({"metadata": {"annotations": {"note": null}}})).only(&["/metadata/annotations"]),
        patch("strategic: finalizers are merged (dry run)", DRY, STRATEGIC, json!({"metadata": {"finalizers": ["example.org/a"]}})).only(&["/metadata/finalizers"]),
        patch("strategic: wrong uid", APP, STRATEGIC, json!({"metadata": {"uid": OTHER_UID}})),
        patch("strategic: element without its key", APP, STRATEGIC, pod(json!({"containers": [{"image": "x"}]}))),
        text("PATCH", "strategic: not JSON", APP, "{").content_type(STRATEGIC),
    ]
}

fn subresources() -> Vec<Step> {
    vec![
        settled("app", 0).titled("until app is settled after the patches"),
        get("after the patches", APP),
        get("ReplicaSets after the patches", "{apps}/replicasets").whole(),
        merge(
            "status: condition added",
            &format!("{APP}/status"),
            json!({"status": {"conditions": [{
            "type": "Odd", "status": "True", "reason": "Tried", "message": "by hand",
            "lastUpdateTime": "2020-01-01T00:00:00Z", "lastTransitionTime": "2020-01-01T00:00:00Z"
        }]}, "spec": {"replicas": 8}}),
        )
        .only(&["/spec/replicas", "/metadata/generation"]),
        merge("status: negative count", &format!("{APP}/status"), json!({"status": {"replicas": -1}})),
        merge(
            "status: stale resourceVersion",
            &format!("{APP}/status"),
            json!({"metadata": {"resourceVersion": "{stale}"}, "status": {}}),
        ),
        patch("paused by strategic merge", APP, STRATEGIC, json!({"spec": {"paused": true}}))
            .only(&["/spec/paused", "/metadata/generation"]),
        until("until the pause is observed", APP, Wanted::Condition("Progressing", "DeploymentPaused", vec![])),
        post(
            "create with every optional field of a Deployment (dry run)",
            "{apps}/deployments?dryRun=All",
            with(
                deployment("opt", 2),
                &[
                    ("/spec/paused", json!(true)),
                    ("/spec/revisionHistoryLimit", json!(0)),
                    (
                        "/spec/strategy",
                        json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "50%", "maxUnavailable": 1}}),
                    ),
                ],
            ),
        )
        .only(&[
            "/spec/paused",
            "/spec/revisionHistoryLimit",
            "/spec/strategy",
            "/spec/progressDeadlineSeconds",
        ]),
    ]
}
