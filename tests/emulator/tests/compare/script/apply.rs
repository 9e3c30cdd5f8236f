//! Server-side apply: owners of fields, conflicts, and the price of a stop through the scale.

use serde_json::{Value, json};

use super::{deployment, with};
use crate::step::*;

const APP: &str = "{apps}/deployments/app";
const SCALE: &str = "{apps}/deployments/app/scale?fieldManager=scaler";
const SHORT: [&str; 3] = ["/metadata/generation", "/spec/replicas", "/metadata/labels"];

fn apply(title: &str, query: &str, body: Value) -> Step {
    patch(title, &format!("{APP}?{query}"), APPLY, body)
}

fn without_replicas() -> Value {
    let mut body = deployment("app", 0);
    body["spec"].as_object_mut().expect("a spec").remove("replicas");
    body
}

fn paused(replicas: i64) -> Value {
    // Paused, so that no controller writes in between.
    with(deployment("app", replicas), &[("/spec/paused", json!(true))])
}

pub fn steps() -> Vec<Step> {
    let one = || deployment("app", 1);
    let owners = |title: &str| {
        get(title, APP).managed().only(&["/metadata/managedFields", "/spec/replicas", "/metadata/generation"])
    };
    let mut steps = vec![
        apply("without a manager", "force=true", one()),
        apply("create with replicas 1, dry run", "fieldManager=gitops&dryRun=All", one()).only(&SHORT),
        apply("create with replicas 1", "fieldManager=gitops", one()).managed(),
        settled("app", 1),
        owners("owners after the create"),
        apply("the same again", "fieldManager=gitops", one()).only(&SHORT),
        merge("scale to 2 by another manager", SCALE, json!({"spec": {"replicas": 2}})),
        settled("app", 2),
        owners("owners after the scale"),
        apply("again with replicas 1, not forced", "fieldManager=gitops", one()),
        apply("again, forced", "fieldManager=gitops&force=true", one()).only(&SHORT),
        settled("app", 1).titled("until app is settled at 1 again"),
        owners("owners after the forced apply"),
        merge("scale to 0 by another manager", SCALE, json!({"spec": {"replicas": 0}})),
        settled("app", 0),
        owners("owners after the scale to 0: nobody owns the count"),
        apply("again with replicas 1, not forced, after a scale to 0", "fieldManager=gitops", one()).only(&SHORT),
        merge(
            "merge patch to 0 on the Deployment",
            &format!("{APP}?fieldManager=scaler"),
            json!({"spec": {"replicas": 0}}),
        )
        .only(&SHORT),
        settled("app", 0).titled("until app is settled at 0 by the patch"),
        owners("owners after the merge patch"),
        apply("again with replicas 1, not forced, after a merge patch to 0", "fieldManager=gitops", one()),
        apply("without replicas: gives the field up", "fieldManager=gitops", without_replicas()).only(&SHORT),
        owners("owners after it was given up"),
        apply(
            "a second manager adds a label",
            "fieldManager=second",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "labels": {"second": "yes"}}
            }),
        )
        .only(&SHORT),
        apply(
            "two managers of one value",
            "fieldManager=third",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "labels": {"second": "yes"}}
            }),
        )
        .only(&SHORT),
        apply(
            "the second gives it up: it stays",
            "fieldManager=second",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}
            }),
        )
        .only(&SHORT),
        apply(
            "the third gives it up: it goes",
            "fieldManager=third",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}
            }),
        )
        .only(&SHORT),
        apply(
            "conflicts over two fields",
            "fieldManager=third",
            json!({
                "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app", "labels": {"app": "changed"}},
                "spec": {"template": {"spec": {"containers": [{"name": "main", "image": "localhost/busybox:9"}]}}}
            }),
        ),
        owners("owners at the end"),
    ];
    steps.extend(refused());
    steps.extend(updates());
    steps
}

fn refused() -> Vec<Step> {
    vec![
        apply("another name in the body", "fieldManager=x", deployment("other", 0)),
        apply("no kind", "fieldManager=x", json!({"metadata": {"name": "app"}})),
        apply(
            "another kind",
            "fieldManager=x",
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}}),
        ),
        apply(
            "with managed fields",
            "fieldManager=x",
            with(deployment("app", 0), &[("/metadata/managedFields", json!([{"manager": "x"}]))]),
        ),
        apply("unknown field", "fieldManager=x", with(deployment("app", 0), &[("/spec/replicaz", json!(1))])),
        apply(
            "a container without a name",
            "fieldManager=x",
            with(deployment("app", 0), &[("/spec/template/spec/containers/0/name", json!(null))]),
        ),
        apply("wrong uid", "fieldManager=x", with(deployment("app", 0), &[("/metadata/uid", json!(OTHER_UID))])),
        apply("uid of something not there", "fieldManager=x", json!({})),
        text("PATCH", "not YAML", &format!("{APP}?fieldManager=x"), "{:")
            .content_type(APPLY)
            .no_message("the parser's own words"),
        text(
            "PATCH",
            "YAML (dry run)",
            &format!("{APP}?fieldManager=second&dryRun=All"),
            "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: app\n  labels:\n    yaml: \"yes\"\n",
        )
        .content_type(APPLY)
        .only(&SHORT),
        text("PATCH", "force on another patch", &format!("{APP}?force=true"), "{}").content_type(MERGE),
        patch("invalid result", "{apps}/deployments/bad?fieldManager=x", APPLY, deployment("bad", -1)),
        patch(
            "new, with a uid",
            "{apps}/deployments/fresh?fieldManager=x",
            APPLY,
            with(deployment("fresh", 0), &[("/metadata/uid", json!(OTHER_UID))]),
        ),
        patch(
            "new, with a resourceVersion",
            "{apps}/deployments/fresh?fieldManager=x",
            APPLY,
            with(deployment("fresh", 0), &[("/metadata/resourceVersion", json!("5"))]),
        ),
        patch(
            "new, in a namespace that does not exist",
            "/apis/apps/v1/namespaces/nowhere/deployments/app?fieldManager=x",
            APPLY,
            deployment("app", 0),
        ),
    ]
}

/// Owners by other requests than apply.
fn updates() -> Vec<Step> {
    let path = "{apps}/deployments/upd";
    let owners = |title: &str| get(title, path).managed().only(&["/metadata/managedFields"]);
    let body = with(paused(1), &[("/metadata/name", json!("upd")), ("/spec/replicas", json!(0))]);
    vec![
        post("create by POST", "{apps}/deployments", body.clone()).managed().only(&["/metadata/managedFields"]),
        until(
            "until upd is observed",
            path,
            Wanted::Condition("Available", "MinimumReplicasAvailable", vec![("/status/observedGeneration", json!(1))]),
        ),
        merge(
            "annotation by a named manager",
            &format!("{path}?fieldManager=named"),
            json!({"metadata": {"annotations": {"a": "b"}}}),
        )
        .only(&["/metadata/annotations"]),
        merge("and again by the default one", path, json!({"metadata": {"annotations": {"c": "d"}}}))
            .only(&["/metadata/annotations"]),
        owners("owners after two patches"),
        merge("managed fields emptied", path, json!({"metadata": {"managedFields": [{}]}}))
            .managed()
            .only(&["/metadata/managedFields"]),
        patch("apply after that", &format!("{path}?fieldManager=gitops"), APPLY, body).only(&SHORT),
        owners("owners after the apply"),
    ]
}
