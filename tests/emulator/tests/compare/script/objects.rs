//! Events, quotas and claims.

use serde_json::{Value, json};

use super::{deployment, pod, with};
use crate::step::*;

fn quota(name: &str, hard: Value) -> Value {
    json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": name}, "spec": {"hard": hard}})
}

fn claim(name: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, "storageClassName": "none"}
    })
}

fn event(name: &str, changes: &[(&str, Value)]) -> Value {
    with(
        json!({
            "apiVersion": "v1", "kind": "Event", "metadata": {"name": name, "namespace": "{ns}"},
            "involvedObject": {"kind": "Deployment", "namespace": "{ns}", "name": "made-up", "uid": OTHER_UID, "apiVersion": "apps/v1"},
            "reason": "Tried", "message": "something was tried", "type": "Warning", "source": {"component": "script"},
            "firstTimestamp": "2020-01-01T00:00:00Z", "lastTimestamp": "2020-01-01T00:00:00Z", "count": 3
        }),
        changes,
    )
}

pub fn steps() -> Vec<Step> {
    let mut steps = events_made();
    steps.extend(quotas());
    steps.extend(claims());
    steps
}

fn events_made() -> Vec<Step> {
    let all = "{core}/events";
    let select = |title: &str, selector: &str| get(title, &format!("{all}?fieldSelector={selector}"));
    vec![
        post("create an Event", all, event("tried.1", &[])),
        post(
            "create an Event of something else",
            all,
            event("tried.2", &[("/involvedObject/kind", json!("Pod")), ("/type", json!("Normal"))]),
        )
        .only(&["/type"]),
        post("create an Event of a type that is none", all, event("tried.3", &[("/type", json!("Odd"))]))
            .only(&["/type"]),
        post(
            "create an Event about another namespace",
            all,
            event("tried.4", &[("/involvedObject/namespace", json!("default"))]),
        ),
        get("get an Event", &format!("{all}/tried.1")),
        select("Events by name", "involvedObject.name=made-up"),
        select("Events by name and kind", "involvedObject.name=made-up,involvedObject.kind=Deployment"),
        select("Events by uid", &format!("involvedObject.uid={OTHER_UID},involvedObject.kind=Pod")),
        select("Events by type", "type=Normal,involvedObject.name=made-up"),
        select("Events by reason", "reason=Tried,type!=Normal"),
        select("Events by source", "source=script,involvedObject.kind=Pod"),
        select("Events by a field that is none", "count=3"),
        get("Events as a table", &format!("{all}?fieldSelector=involvedObject.name=made-up")).accept(TABLE),
        merge("an Event is counted on", &format!("{all}/tried.1"), json!({"count": 4})).only(&["/count"]),
        delete("delete an Event", &format!("{all}/tried.2"), json!(null)),
    ]
}

fn quotas() -> Vec<Step> {
    let all = "{core}/resourcequotas";
    let used = |name: &str, key: &'static str, value: &str| {
        until(
            &format!("until {name} counts {value}"),
            &format!("{all}/{name}"),
            Wanted::Fields(vec![(key, json!(value))]),
        )
    };
    vec![
        post("create a quota", all, quota("pods", json!({"pods": "1", "count/replicasets.apps": "4"}))),
        post("create a quota with a negative number", all, quota("neg", json!({"pods": "-1"}))),
        used("pods", "/status/used/pods", "0"),
        get("get the quota", &format!("{all}/pods")),
        post("create two replicas where one Pod is allowed", "{apps}/deployments", deployment("two", 2))
            .only(&["/spec/replicas"]),
        until(
            "until one runs and one is refused",
            "{apps}/deployments/two",
            Wanted::Condition("ReplicaFailure", "FailedCreate", vec![("/status/availableReplicas", json!(1))]),
        ),
        until(
            "until its ReplicaSet says why",
            "{apps}/replicasets?labelSelector=app=two",
            Wanted::Condition("ReplicaFailure", "FailedCreate", vec![("/items/0/status/availableReplicas", json!(1))]),
        ),
        get("the Deployment that is refused a Pod", "{apps}/deployments/two").only(&["/status"]),
        get("its ReplicaSet", "{apps}/replicasets?labelSelector=app=two").only(&["/items/0/status"]),
        post("a Pod over the quota", "{core}/pods", pod("over")),
        post("a Pod over the quota, dry run", "{core}/pods?dryRun=All", pod("over")),
        get("the quota, used up", &format!("{all}/pods")).only(&["/status"]),
        get("quotas as a table", all).accept(TABLE).only(&["/kind", "/rows/0/object/metadata/name"]),
        merge("the quota is raised", &format!("{all}/pods"), json!({"spec": {"hard": {"pods": "5"}}})).only(&["/spec"]),
        // By itself it tries again too, so how many there are is not said.
        merge("something to make it try again", "{apps}/deployments/two/scale", json!({"spec": {"replicas": 3}}))
            .only(&["/spec"]),
        settled("two", 3),
        get("the Deployment under the raised quota", "{apps}/deployments/two").only(&["/status"]),
        post("a quota of resources", all, quota("cpu", json!({"requests.cpu": "1"}))).only(&["/spec"]),
        used("cpu", "/status/used/requests.cpu", "0"),
        post("a Pod without requests under it", "{core}/pods", pod("none")),
        post(
            "a Pod with too large requests under it",
            "{core}/pods",
            with(pod("large"), &[("/spec/containers/0/resources", json!({"requests": {"cpu": "1500m"}}))]),
        ),
        delete("delete the quota of resources", &format!("{all}/cpu"), json!(null)),
        gone("until the quota of resources is gone", &format!("{all}/cpu")),
        merge(
            "a quota of no ReplicaSets",
            &format!("{all}/pods"),
            json!({"spec": {"hard": {"count/replicasets.apps": "1"}}}),
        )
        .only(&["/spec"]),
        until(
            "until the quota is full",
            &format!("{all}/pods"),
            Wanted::Fields(vec![("/status/hard/count~1replicasets.apps", json!("1"))]),
        ),
        post("create a Deployment that gets no ReplicaSet", "{apps}/deployments", deployment("none", 1))
            .only(&["/spec/replicas"]),
        until(
            "until it says why",
            "{apps}/deployments/none",
            Wanted::Condition("Progressing", "ReplicaSetCreateError", vec![]),
        ),
        get("the Deployment without a ReplicaSet", "{apps}/deployments/none")
            .only(&["/status", "/metadata/generation"]),
        delete("delete it", "{apps}/deployments/none", json!({"propagationPolicy": "Foreground"}))
            .only(&["/metadata/finalizers"]),
        gone("until it is gone", "{apps}/deployments/none"),
    ]
}

fn claims() -> Vec<Step> {
    let all = "{core}/persistentvolumeclaims";
    vec![
        post("create a claim", all, claim("data")),
        post("create a claim without a size", all, with(claim("bad"), &[("/spec/resources", json!({}))])),
        post("create a claim without access modes", all, with(claim("bad"), &[("/spec/accessModes", json!([]))])),
        until(
            "until it is pending",
            &format!("{all}/data"),
            Wanted::Fields(vec![
                ("/status/phase", json!("Pending")),
                ("/metadata/finalizers/0", json!("kubernetes.io/pvc-protection")),
            ]),
        ),
        get("get the claim", &format!("{all}/data")),
        get("claims", all),
        get("claims as a table", all).accept(TABLE),
        merge("a claim is changed", &format!("{all}/data"), json!({"spec": {"storageClassName": "other"}}))
            .no_message("it ends in a difference of Go structures"),
        delete("delete the claim", &format!("{all}/data"), json!(null))
            .only(&["/metadata/finalizers", "/metadata/deletionTimestamp"]),
        gone("until the claim is gone", &format!("{all}/data")),
        get("get the claim that is gone", &format!("{all}/data")),
    ]
}
