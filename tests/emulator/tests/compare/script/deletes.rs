//! Deletes: every policy, every precondition, finalizers, and what is left behind.

use serde_json::{Value, json};

use super::{deployment, with};
use crate::step::*;

fn policy(policy: &str) -> Value {
    json!({"propagationPolicy": policy})
}

/// A Deployment made, and at rest.
fn made(name: &str, replicas: i64) -> Vec<Step> {
    vec![
        post(&format!("create {name}"), "{apps}/deployments", deployment(name, replicas))
            .only(&["/metadata/generation"]),
        settled(name, replicas),
    ]
}

fn path(name: &str) -> String {
    format!("{{apps}}/deployments/{name}")
}

fn nothing_left(name: &str) -> Vec<Step> {
    vec![
        gone(&format!("until {name} is gone"), &path(name)),
        until(
            &format!("until the ReplicaSets of {name} are gone"),
            &format!("{{apps}}/replicasets?labelSelector=app={name}"),
            Wanted::Items(0),
        ),
        until(
            &format!("until the Pods of {name} are gone"),
            &format!("{{core}}/pods?labelSelector=app={name}"),
            Wanted::Items(0),
        ),
    ]
}

pub fn steps() -> Vec<Step> {
    let mut steps = made("app", 1);
    steps.extend(refused());
    steps.extend(background());
    steps.extend(foreground());
    steps.extend(orphan());
    steps.extend(finalizers());
    steps.extend(collection());
    steps
}

fn refused() -> Vec<Step> {
    let app = &path("app");
    vec![
        get("the object", app)
            .keep("uid of app", "/metadata/uid")
            .keep("version", "/metadata/resourceVersion")
            .only(&["/metadata/generation"]),
        delete("wrong uid", app, json!({"propagationPolicy": "Foreground", "preconditions": {"uid": OTHER_UID}})),
        delete(
            "stale resourceVersion",
            app,
            json!({"propagationPolicy": "Foreground", "preconditions": {"resourceVersion": "1"}}),
        ),
        delete(
            "right uid, stale resourceVersion",
            app,
            json!({"preconditions": {"uid": "{uid of app}", "resourceVersion": "1"}}),
        ),
        delete("invalid policy", app, policy("Sideways")),
        delete(
            "policy and orphanDependents",
            app,
            json!({"propagationPolicy": "Foreground", "orphanDependents": true}),
        ),
        delete("negative grace period", app, json!({"gracePeriodSeconds": -1, "dryRun": ["All"]})),
        delete("dryRun misspelt", app, json!({"dryRun": ["Some"]})),
        text("DELETE", "body malformed", app, "{"),
        delete("body of another kind", app, json!({"apiVersion": "apps/v1", "kind": "Deployment"}))
            .no_message("it names a line of a Go file"),
        text("DELETE", "content type not supported", app, "x").content_type("text/plain"),
        delete("no such name", &path("absent"), policy("Background")),
        delete("no such name, with a uid", &path("absent"), json!({"preconditions": {"uid": OTHER_UID}})),
        delete("invalid policy as a query", &format!("{app}?propagationPolicy=Sideways"), json!(null)),
        delete("dry run, Foreground", app, json!({"propagationPolicy": "Foreground", "dryRun": ["All"]}))
            .only(&["/metadata"]),
        delete("dry run, Background, as a query", &format!("{app}?dryRun=All"), json!(null)),
        get("nothing was deleted", app).only(&[
            "/metadata/generation",
            "/metadata/deletionTimestamp",
            "/metadata/finalizers",
        ]),
    ]
}

fn background() -> Vec<Step> {
    let app = &path("app");
    let mut steps = vec![
        delete(
            "Background, right uid and resourceVersion",
            app,
            json!({
                "propagationPolicy": "Background", "preconditions": {"uid": "{uid of app}", "resourceVersion": "{version}"}
            }),
        ),
        delete("again", app, json!({"propagationPolicy": "Background", "preconditions": {"uid": "{uid of app}"}})),
        get("get after the delete", app),
        merge("patch after the delete", app, json!({})),
        merge("scale after the delete", "{apps}/deployments/app/scale", json!({"spec": {"replicas": 1}})),
    ];
    steps.extend(nothing_left("app"));
    steps.extend(made("bare", 0));
    steps.push(delete("no body: the default is Background", &path("bare"), json!(null)));
    steps.extend(nothing_left("bare"));
    steps.extend(made("grace", 1));
    steps.push(delete(
        "grace 0 in the body",
        &path("grace"),
        json!({"propagationPolicy": "Background", "gracePeriodSeconds": 0}),
    ));
    steps.extend(nothing_left("grace"));
    steps
}

fn foreground() -> Vec<Step> {
    let mut steps = made("fore", 2);
    steps.extend([
        watch("the Deployments", "{apps}/deployments?watch=1&labelSelector=app=fore"),
        delete("Foreground", &path("fore"), policy("Foreground")),
        events("what a watch sees of it", "the Deployments", 3).merged(),
    ]);
    steps.extend(nothing_left("fore"));
    steps.extend(made("zero", 0));
    steps.push(delete(
        "Foreground at 0, as a query",
        &format!("{}?propagationPolicy=Foreground", path("zero")),
        json!(null),
    ));
    steps.extend(nothing_left("zero"));
    // A Pod that a finalizer holds keeps the Deployment there, so that it can be looked at.
    steps.extend(made("held", 1));
    steps.extend([
        until("until held has a Pod", "{core}/pods?labelSelector=app=held", Wanted::Items(1))
            .keep("pod", "/items/0/metadata/name"),
        merge("a finalizer on the Pod", "{core}/pods/{pod}", json!({"metadata": {"finalizers": ["example.org/hold"]}}))
            .only(&["/metadata/finalizers"]),
        delete("Foreground, held", &path("held"), policy("Foreground")).only(&["/metadata"]),
        until(
            "until the ReplicaSet of held is being deleted",
            "{apps}/replicasets?labelSelector=app=held",
            Wanted::Fields(vec![
                ("/items/0/metadata/finalizers", json!(["foregroundDeletion"])),
                ("/items/0/status/replicas", json!(0)),
            ]),
        ),
        until(
            "until the Pod of held has stopped",
            "{core}/pods/{pod}",
            Wanted::Fields(vec![
                ("/status/phase", json!("Succeeded")),
                ("/metadata/deletionGracePeriodSeconds", json!(0)),
            ]),
        ),
        until("until held counts no Pod", &path("held"), Wanted::Fields(vec![("/status/replicas", json!(null))])),
        get("held, being deleted", &path("held")).only(&[
            "/metadata/finalizers",
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/generation",
            "/spec/replicas",
        ]),
        get("ReplicaSets of held", "{apps}/replicasets?labelSelector=app=held").only(&[
            "/items/0/metadata/finalizers",
            "/items/0/metadata/deletionTimestamp",
            "/items/0/metadata/ownerReferences",
        ]),
        get("the Pod of held", "{core}/pods/{pod}").only(&[
            "/metadata/finalizers",
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/ownerReferences",
            "/status/phase",
        ]),
        post("create while it is being deleted", "{apps}/deployments", deployment("held", 1)),
        merge("scale while it is being deleted", "{apps}/deployments/held/scale", json!({"spec": {"replicas": 3}})),
        merge(
            "finalizer added while it is being deleted",
            &path("held"),
            json!({"metadata": {"finalizers": ["foregroundDeletion", "example.org/late"]}}),
        ),
        delete("Foreground once more", &path("held"), policy("Foreground"))
            .only(&["/metadata/finalizers", "/metadata/deletionGracePeriodSeconds"]),
        delete(
            "Orphan while it is being deleted",
            &path("held"),
            json!({"propagationPolicy": "Orphan", "dryRun": ["All"]}),
        )
        .only(&["/metadata/finalizers"]),
        merge("the finalizer is taken off", "{core}/pods/{pod}", json!({"metadata": {"finalizers": null}}))
            .only(&["/metadata/finalizers"]),
    ]);
    steps.extend(nothing_left("held"));
    steps
}

fn orphan() -> Vec<Step> {
    let mut steps = made("orph", 1);
    steps.extend([
        delete("Orphan", &path("orph"), policy("Orphan")).only(&["/metadata"]),
        gone("until orph is gone", &path("orph")),
        until(
            "until its ReplicaSet has no owner",
            "{apps}/replicasets?labelSelector=app=orph",
            Wanted::Fields(vec![("/items/0/metadata/ownerReferences", json!(null))]),
        ),
        get("the orphaned ReplicaSet", "{apps}/replicasets?labelSelector=app=orph").only(&[
            "/items/0/metadata/ownerReferences",
            "/items/0/metadata/finalizers",
            "/items/0/status",
        ]),
        get("its Pod", "{core}/pods?labelSelector=app=orph")
            .only(&["/items/0/metadata/ownerReferences", "/items/0/status/phase"]),
        post("create it again", "{apps}/deployments", deployment("orph", 1)).only(&["/metadata/generation"]),
        settled("orph", 1).titled("until orph is settled again"),
        get("the adopted ReplicaSet", "{apps}/replicasets?labelSelector=app=orph").whole(),
        get("orph again", &path("orph")),
        delete("Orphan by the old field", &path("orph"), json!({"orphanDependents": true}))
            .only(&["/metadata/finalizers"]),
        gone("until orph is gone again", &path("orph")),
        request(
            "DELETE",
            "the ReplicaSets of orph, as a collection",
            "{apps}/replicasets?labelSelector=app=orph&propagationPolicy=Background",
        )
        .only(&["/status"]),
    ]);
    steps.extend(nothing_left("orph").into_iter().skip(1));
    steps
}

fn finalizers() -> Vec<Step> {
    let fin = &path("fin");
    let mut steps = vec![
        post(
            "create with a finalizer that is malformed",
            "{apps}/deployments",
            with(deployment("fin", 0), &[("/metadata/finalizers", json!(["a b"]))]),
        ),
        post(
            "create with a finalizer",
            "{apps}/deployments",
            with(deployment("fin", 0), &[("/metadata/finalizers", json!(["example.org/keep"]))]),
        )
        .keep("uid of fin", "/metadata/uid")
        .only(&["/metadata"]),
        settled("fin", 0),
        delete("Background, with a finalizer", fin, policy("Background")).only(&["/metadata"]),
        get("fin, being deleted", fin).only(&[
            "/metadata/deletionTimestamp",
            "/metadata/deletionGracePeriodSeconds",
            "/metadata/finalizers",
            "/metadata/generation",
        ]),
        delete("Background once more", fin, policy("Background"))
            .only(&["/metadata/generation", "/metadata/finalizers"]),
        merge("the last finalizer is taken off", fin, json!({"metadata": {"uid": "{uid of fin}", "finalizers": null}}))
            .only(&["/metadata/finalizers", "/metadata/deletionGracePeriodSeconds"]),
    ];
    steps.extend(nothing_left("fin"));
    steps
}

fn collection() -> Vec<Step> {
    let mut steps = made("many-a", 0);
    steps.extend(made("many-b", 1));
    steps.extend([
        request("DELETE", "collection, dry run", "{apps}/deployments?dryRun=All&labelSelector=app in (many-a,many-b)"),
        request("DELETE", "collection, nothing selected", "{apps}/deployments?labelSelector=app=nothing"),
        request("DELETE", "collection, malformed selector", "{apps}/deployments?labelSelector=a===b"),
        request("DELETE", "collection, two selected", "{apps}/deployments?labelSelector=app in (many-a,many-b)"),
        get("list after the collection", "{apps}/deployments"),
    ]);
    steps.extend(nothing_left("many-b"));
    steps
}
