//! What the controllers make of a Deployment: the whole set of objects at rest.

use serde_json::{Value, json};

use super::{deployment, no_image, with};
use crate::step::*;

const APP: &str = "{apps}/deployments/app";

fn template(name: &str, annotation: &str) -> Step {
    merge(
        &format!("{name}: template changed to {annotation}"),
        &format!("{{apps}}/deployments/{name}"),
        json!({
            "spec": {"template": {"metadata": {"annotations": {"round": annotation}}}}
        }),
    )
    .only(&["/metadata/generation"])
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create", "{apps}/deployments", deployment("app", 2)),
        settled("app", 2),
        get("Deployment", APP),
        get("Deployment as a table", APP).accept(TABLE),
        get("ReplicaSets", "{apps}/replicasets").whole(),
        get("ReplicaSets as a table", "{apps}/replicasets").accept(TABLE),
        get("Pods", "{core}/pods").whole(),
        told("app", 1),
        get("Events of the Deployment", "{core}/events?fieldSelector=involvedObject.name=app").whole(),
        template("app", "two"),
        settled("app", 2).titled("until the second revision is settled"),
        get("Deployment at the second revision", APP),
        get("ReplicaSets at the second revision", "{apps}/replicasets").whole(),
        get("Pods at the second revision", "{core}/pods"),
        told("app", 5),
        get("Events of the rollout", "{core}/events?fieldSelector=involvedObject.name=app").whole(),
        merge("back to the first template", APP, json!({"spec": {"template": {"metadata": {"annotations": null}}}}))
            .only(&["/metadata/generation"]),
        settled("app", 2).titled("until the first template is back"),
        get("Deployment with the first template", APP),
        get("ReplicaSets with the first template", "{apps}/replicasets").whole(),
    ];
    steps.extend(paused());
    steps.extend(recreate());
    steps.extend(history());
    steps.extend(broken());
    steps
}

fn paused() -> Vec<Step> {
    let reason =
        |title: &str, reason: &'static str| until(title, APP, Wanted::Condition("Progressing", reason, vec![]));
    vec![
        merge("pause", APP, json!({"spec": {"paused": true}})).only(&["/metadata/generation", "/spec/paused"]),
        reason("until the pause is noted", "DeploymentPaused"),
        template("app", "paused"),
        until("until the change is observed", APP, Wanted::Fields(vec![("/status/updatedReplicas", json!(null))])),
        get("paused with a change", APP).only(&["/status", "/metadata/annotations", "/metadata/generation"]),
        get("ReplicaSets while paused", "{apps}/replicasets").only(&[
            "/items/0/spec/replicas",
            "/items/1/spec/replicas",
            "/items/2",
        ]),
        merge("scale while paused", "{apps}/deployments/app/scale", json!({"spec": {"replicas": 1}})),
        until(
            "until it is scaled",
            APP,
            Wanted::Fields(vec![
                ("/status/replicas", json!(1)),
                ("/status/terminatingReplicas", json!(0)),
                ("/status/availableReplicas", json!(1)),
            ]),
        ),
        get("paused and scaled", APP).only(&["/status", "/metadata/generation"]),
        merge("resume", APP, json!({"spec": {"paused": null}})).only(&["/metadata/generation", "/spec/paused"]),
        settled("app", 1),
        get("resumed", APP),
        get("ReplicaSets after the resume", "{apps}/replicasets").whole(),
    ]
}

fn recreate() -> Vec<Step> {
    let changed = |name: &str| with(deployment(name, 1), &[("/spec/strategy", json!({"type": "Recreate"}))]);
    vec![
        post("create with Recreate", "{apps}/deployments", changed("rec")).only(&["/spec/strategy"]),
        settled("rec", 1),
        template("rec", "two"),
        settled("rec", 1).titled("until rec is settled again"),
        get("Recreate at the second revision", "{apps}/deployments/rec"),
        get("ReplicaSets of Recreate", "{apps}/replicasets?labelSelector=app=rec").whole(),
        told("rec", 3),
        get("Events of Recreate", "{core}/events?fieldSelector=involvedObject.name=rec").whole(),
        post("create paused", "{apps}/deployments", with(deployment("pau", 1), &[("/spec/paused", json!(true))]))
            .only(&["/spec/paused"]),
        until(
            "until pau is observed",
            "{apps}/deployments/pau",
            Wanted::Condition("Progressing", "DeploymentPaused", vec![("/status/observedGeneration", json!(1))]),
        ),
        get("paused from the start", "{apps}/deployments/pau").only(&["/status", "/metadata/annotations"]),
        get("paused from the start: no ReplicaSet", "{apps}/replicasets?labelSelector=app=pau"),
    ]
}

fn history() -> Vec<Step> {
    let mut steps = vec![
        post(
            "create with a history of one",
            "{apps}/deployments",
            with(deployment("his", 0), &[("/spec/revisionHistoryLimit", json!(1))]),
        )
        .only(&["/spec/revisionHistoryLimit"]),
        settled("his", 0),
    ];
    for round in ["two", "three", "four"] {
        steps.push(template("his", round));
        steps.push(settled("his", 0).titled(&format!("until his is settled at {round}")));
    }
    steps.extend([
        until("until the old ones are gone", "{apps}/replicasets?labelSelector=app=his", Wanted::Items(2)),
        get("ReplicaSets of the history", "{apps}/replicasets?labelSelector=app=his").whole(),
        get("Deployment with a history", "{apps}/deployments/his").only(&["/metadata/annotations", "/status"]),
    ]);
    steps
}

/// An image that is not there, with and without something that serves.
fn broken() -> Vec<Step> {
    let missing = json!("localhost/absent:1");
    let broken = |changes: &[(&str, Value)]| {
        with(
            with(
                deployment("bad", 1),
                &[
                    ("/spec/progressDeadlineSeconds", json!(3)),
                    ("/spec/template/spec/containers/0/image", missing.clone()),
                ],
            ),
            changes,
        )
    };
    vec![
        post("create with an image that is not there", "{apps}/deployments", broken(&[])).only(&["/spec/progressDeadlineSeconds"]),
        until("until its deadline has passed", "{apps}/deployments/bad", Wanted::Condition("Progressing", "ProgressDeadlineExceeded", vec![])),
        until("until its Pod says why", "{core}/pods?labelSelector=app=bad", Wanted::Fields(vec![("/items/0/status/containerStatuses/0/state/waiting/reason", json!("ErrImageNeverPull"))])),
        get("Deployment after its deadline", "{apps}/deployments/bad").only(&["/status"]),
        get("Pods with an image that is not there", "{core}/pods?labelSelector=app=bad").whole(),
        get("Pods with an image that is not there, as a table", "{core}/pods?labelSelector=app=bad").accept(TABLE),
        told("bad", 1),
        get("Events of the failure", "{core}/events?fieldSelector=involvedObject.name=bad").whole(),
        merge("stop it", "{apps}/deployments/bad/scale", json!({"spec": {"replicas": 0}})),
        settled("bad", 0),
        get("Deployment after the stop", "{apps}/deployments/bad").only(&["/status"]),
        merge("app: an image that is not there", APP, json!({"spec": {
            "progressDeadlineSeconds": 3,
            "template": {"metadata": {"annotations": no_image()}, "spec": {"containers": [with(super::pod_spec()["containers"][0].clone(), &[("/image", missing.clone())])]}}
        }})).only(&["/metadata/generation"]),
        until("until the deadline of app has passed", APP, Wanted::Condition("Progressing", "ProgressDeadlineExceeded", vec![])),
        get("the old one serves on", APP).only(&["/status"]),
        get("ReplicaSets of a broken rollout", "{apps}/replicasets?labelSelector=app=app").whole(),
        merge("back to the image that is there", APP, json!({"spec": {"template": {"metadata": {"annotations": null}, "spec": super::pod_spec()}}})).only(&["/metadata/generation"]),
        settled("app", 1).titled("until app is settled at the end"),
        get("Deployment at the end", APP).only(&["/status", "/metadata/annotations"]),
    ]
}
