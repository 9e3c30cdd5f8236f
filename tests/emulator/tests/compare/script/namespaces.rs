//! Namespaces and nodes.

use serde_json::{Value, json};

use super::{deployment, pod, with};
use crate::step::*;

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": {"second": "{ns}"}}})
}

pub fn steps() -> Vec<Step> {
    let second = "/api/v1/namespaces/{ns}-b";
    let apps = "/apis/apps/v1/namespaces/{ns}-b";
    let mut steps = vec![
        get("the chapter's namespace", "/api/v1/namespaces/{ns}"),
        get("no such namespace", "/api/v1/namespaces/nowhere"),
        get("namespaces by label", "/api/v1/namespaces?labelSelector=chapter={ns}").whole(),
        get("namespaces by name as a table", "/api/v1/namespaces?fieldSelector=metadata.name={ns}").accept(TABLE),
        get("namespaces by phase", "/api/v1/namespaces?fieldSelector=status.phase=Active&labelSelector=chapter={ns}"),
        post("create a second", "/api/v1/namespaces", namespace("{ns}-b")),
        post("create the second again", "/api/v1/namespaces", namespace("{ns}-b")),
        post("name with dots", "/api/v1/namespaces", namespace("a.b")),
        post("name of 64 characters", "/api/v1/namespaces", namespace(&"n".repeat(64))),
        merge("label added", second, json!({"metadata": {"labels": {"more": "yes"}}})).only(&["/metadata/labels"]),
        put("replace", second, namespace("{ns}-b")).only(&["/metadata/labels", "/spec", "/status"]),
        merge("the finalizers are not changed that way", second, json!({"spec": {"finalizers": []}})).only(&["/spec"]),
        post(
            "create a Deployment in the second",
            &format!("{apps}/deployments"),
            with(deployment("app", 0), &[("/metadata/finalizers", json!(["example.org/keep"]))]),
        )
        .only(&["/metadata/namespace"]),
        until(
            "until it is observed",
            &format!("{apps}/deployments/app"),
            Wanted::Fields(vec![("/status/observedGeneration", json!(1))]),
        ),
        delete("delete with a wrong uid", second, json!({"preconditions": {"uid": OTHER_UID}})),
        delete("delete, dry run", &format!("{second}?dryRun=All"), json!(null)),
        delete("delete the second", second, json!(null)),
        delete("delete the second again", second, json!(null)),
        get("the second as a table", second).accept(TABLE),
        post("create a Deployment in it", &format!("{apps}/deployments"), deployment("late", 0)),
        post("create a Pod in it", &format!("{second}/pods"), pod("late")),
        patch(
            "apply a Deployment in it",
            &format!("{apps}/deployments/late?fieldManager=x"),
            APPLY,
            deployment("late", 0),
        ),
        until(
            "until the Deployment is being deleted",
            &format!("{apps}/deployments/app"),
            Wanted::Fields(vec![("/metadata/deletionGracePeriodSeconds", json!(0))]),
        ),
        until(
            "until the conditions tell what is left",
            second,
            Wanted::Condition("NamespaceFinalizersRemaining", "SomeFinalizersRemain", vec![]),
        ),
        get("what is left", second).only(&["/spec", "/status", "/metadata/deletionTimestamp"]),
        merge(
            "the Deployment is let go",
            &format!("{apps}/deployments/app"),
            json!({"metadata": {"finalizers": null}}),
        )
        .only(&["/metadata/finalizers"]),
        gone("until the second is gone", second),
        request("DELETE", "namespaces are not deleted as a collection", "/api/v1/namespaces"),
        get("a Deployment of a namespace that is gone", &format!("{apps}/deployments/app")),
    ];
    steps.extend(nodes());
    steps
}

fn nodes() -> Vec<Step> {
    vec![
        get("nodes", "/api/v1/nodes").only(&["/kind", "/apiVersion"]),
        get("the node", "/api/v1/nodes/{node}").only(&[
            "/kind",
            "/apiVersion",
            "/metadata/name",
            "/status/conditions/0/type",
        ]),
        get("no such node", "/api/v1/nodes/nowhere"),
        get("the node as metadata", "/api/v1/nodes/{node}").accept(METADATA).only(&[
            "/kind",
            "/apiVersion",
            "/metadata/name",
        ]),
        get("nodes by name", "/api/v1/nodes?fieldSelector=metadata.name={node}").only(&["/kind"]),
        get("nodes that can be scheduled", "/api/v1/nodes?fieldSelector=spec.unschedulable=false").only(&["/kind"]),
        get("nodes by a field that is none", "/api/v1/nodes?fieldSelector=spec.podCIDR=x"),
        merge("cordon (dry run)", "/api/v1/nodes/{node}?dryRun=All", json!({"spec": {"unschedulable": true}}))
            .only(&["/spec/unschedulable"]),
        post(
            "a node with a name that is malformed",
            "/api/v1/nodes",
            json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "A_B"}}),
        ),
    ]
}
