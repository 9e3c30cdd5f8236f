//! ReplicaSets without a Deployment.

use serde_json::{Value, json};

use super::{pod_spec, with};
use crate::step::*;

const ALL: &str = "{apps}/replicasets";

fn set(name: &str, replicas: i64) -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": name},
        "spec": {
            "replicas": replicas, "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": {"app": name}}, "spec": pod_spec()}
        }
    })
}

fn available(name: &str, count: i64, title: &str) -> Step {
    let pointer = "/status/availableReplicas";
    let value = if count == 0 { json!(null) } else { json!(count) };
    until(
        title,
        &format!("{ALL}/{name}"),
        Wanted::Fields(vec![
            (pointer, value),
            ("/status/replicas", json!(count)),
            ("/status/terminatingReplicas", json!(0)),
            ("/spec/replicas", json!(count)),
        ]),
    )
}

pub fn steps() -> Vec<Step> {
    let rs = "{apps}/replicasets/rs";
    vec![
        post("create", ALL, set("rs", 1)).keep("uid of rs", "/metadata/uid"),
        post("create again", ALL, set("rs", 1)),
        available("rs", 1, "until rs is available"),
        get("get", rs),
        get("as a table", rs).accept(TABLE),
        get("list", ALL),
        get("get /scale", &format!("{rs}/scale")),
        get("its Pods", "{core}/pods?labelSelector=app=rs").whole(),
        told("rs", 1),
        get("its Events", "{core}/events?fieldSelector=involvedObject.name=rs").whole(),
        merge(
            "scale to 2",
            &format!("{rs}/scale"),
            json!({"metadata": {"uid": "{uid of rs}"}, "spec": {"replicas": 2}}),
        ),
        available("rs", 2, "until two are available"),
        get("get at 2", rs).only(&["/status", "/metadata/generation"]),
        merge(
            "scale with a wrong uid",
            &format!("{rs}/scale"),
            json!({"metadata": {"uid": OTHER_UID}, "spec": {"replicas": 0}}),
        ),
        merge("change of the selector", rs, json!({"spec": {"selector": {"matchLabels": {"app": "other"}}}})),
        merge("change of the template", rs, json!({"spec": {"template": {"metadata": {"labels": {"more": "yes"}}}}}))
            .only(&["/metadata/generation", "/spec/template/metadata"]),
        merge("negative count", rs, json!({"spec": {"replicas": -1}})),
        post(
            "create, selector does not match",
            ALL,
            with(set("bad", 0), &[("/spec/selector/matchLabels", json!({"a": "b"}))]),
        ),
        until("one of its Pods", "{core}/pods?labelSelector=app=rs", Wanted::Items(2))
            .keep("pod", "/items/0/metadata/name"),
        delete("delete one of its Pods", "{core}/pods/{pod}", json!({"gracePeriodSeconds": 1}))
            .only(&["/metadata/deletionGracePeriodSeconds"]),
        gone("until that Pod is gone", "{core}/pods/{pod}"),
        available("rs", 2, "until it is replaced"),
        get("get after the replacement", rs).only(&["/status", "/metadata/generation"]),
        until("another of its Pods", "{core}/pods?labelSelector=app=rs", Wanted::Items(2))
            .keep("pod", "/items/0/metadata/name"),
        merge("a Pod leaves the selection", "{core}/pods/{pod}", json!({"metadata": {"labels": {"app": "free"}}}))
            .only(&["/metadata/labels/app"]),
        until(
            "until it is released",
            "{core}/pods/{pod}",
            Wanted::Fields(vec![("/metadata/ownerReferences", json!(null))]),
        ),
        until("until it is replaced, too", "{core}/pods?labelSelector=app=rs", Wanted::Items(2)),
        available("rs", 2, "until two are available once more"),
        merge("scale to 0", &format!("{rs}/scale"), json!({"spec": {"replicas": 0}})),
        available("rs", 0, "until none is left"),
        get("get at 0", rs).only(&["/status", "/metadata/generation", "/spec/replicas"]),
        until("until only the free Pod is left", "{core}/pods", Wanted::Items(1)),
        get("Pods that are left", "{core}/pods"),
        delete("delete, Background", rs, json!({"propagationPolicy": "Background"})),
        get("get after the delete", rs),
    ]
}
