//! Deployments one by one: made, read, and refused.

use serde_json::{Value, json};

use super::{deployment, with};
use crate::step::*;

const ALL: &str = "{apps}/deployments";

/// A name that is too long by one, and one that is not.
fn long(length: usize) -> String {
    "c".repeat(length)
}

fn named(name: &str) -> Value {
    with(deployment("x", 0), &[("/metadata/name", json!(name))])
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create", ALL, deployment("app", 0)).keep("uid of app", "/metadata/uid"),
        post("create again: already exists", ALL, deployment("app", 0)),
        settled("app", 0),
        get("get", "{apps}/deployments/app"),
        get("get /status", "{apps}/deployments/app/status"),
        get("get, no such name", "{apps}/deployments/absent"),
        get("get, no such namespace", "/apis/apps/v1/namespaces/nowhere/deployments/app"),
        get("list, no such namespace", "/apis/apps/v1/namespaces/nowhere/deployments"),
        post(
            "create in a namespace that does not exist",
            "/apis/apps/v1/namespaces/nowhere/deployments",
            deployment("app", 0),
        ),
        get("get, empty name: the list", "{apps}/deployments/"),
        get("get, name in capitals", "{apps}/deployments/APP"),
        get("get, name with an encoded slash", "{apps}/deployments/a%2Fscale"),
        get("get, name ..", "{apps}/deployments/.."),
        get("get, name %2e%2e", "{apps}/deployments/%2e%2e"),
        get("get, no such subresource", "{apps}/deployments/app/skale"),
    ];
    steps.extend(refused());
    steps.extend(accepted());
    steps.extend(replaced());
    steps
}

fn refused() -> Vec<Step> {
    let neg = |name: &str, changes: &[(&str, Value)]| with(deployment(name, 0), changes);
    vec![
        post("create, name in capitals", ALL, named("APP")),
        post("create, empty name", ALL, named("")),
        post("create, name of 254 characters", ALL, named(&long(254))),
        post("create, name with an underscore", ALL, named("a_b")),
        post("create, negative replicas", ALL, deployment("neg", -1)),
        post(
            "create, selector does not match the template",
            ALL,
            neg("sel", &[("/spec/selector/matchLabels", json!({"a": "b"}))]),
        ),
        post("create, no selector", ALL, neg("sel", &[("/spec/selector", json!(null))])),
        post("create, no containers", ALL, neg("con", &[("/spec/template/spec/containers", json!([]))])),
        post(
            "create, container without image",
            ALL,
            neg("con", &[("/spec/template/spec/containers/0/image", json!(""))]),
        ),
        post(
            "create, two containers of one name",
            ALL,
            neg(
                "con",
                &[(
                    "/spec/template/spec/containers",
                    json!([{"name": "a", "image": "x"}, {"name": "a", "image": "x"}]),
                )],
            ),
        ),
        post(
            "create, quantity malformed",
            ALL,
            neg("con", &[("/spec/template/spec/containers/0/resources", json!({"limits": {"memory": "much"}}))]),
        ),
        post(
            "create, request above the limit",
            ALL,
            neg(
                "con",
                &[(
                    "/spec/template/spec/containers/0/resources",
                    json!({"limits": {"cpu": "100m"}, "requests": {"cpu": "1"}}),
                )],
            ),
        ),
        post("create, replicas is a string", ALL, neg("typ", &[("/spec/replicas", json!("one"))])),
        post("create, label value with a slash", ALL, neg("lbl", &[("/metadata/labels", json!({"app": "a/b"}))])),
        post("create, annotation key malformed", ALL, neg("ann", &[("/metadata/annotations", json!({"a b": "c"}))])),
        post(
            "create, activeDeadlineSeconds in the template",
            ALL,
            neg("adl", &[("/spec/template/spec/activeDeadlineSeconds", json!(5))]),
        ),
        post("create, restartPolicy Never", ALL, neg("rst", &[("/spec/template/spec/restartPolicy", json!("Never"))])),
        post(
            "create, Recreate with a rolling update",
            ALL,
            neg("str", &[("/spec/strategy", json!({"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}))]),
        ),
        post(
            "create, maxSurge and maxUnavailable 0",
            ALL,
            neg("str", &[("/spec/strategy", json!({"rollingUpdate": {"maxSurge": 0, "maxUnavailable": 0}}))]),
        ),
        post(
            "create, progress deadline not above minReadySeconds",
            ALL,
            neg("dl", &[("/spec/minReadySeconds", json!(9)), ("/spec/progressDeadlineSeconds", json!(9))]),
        ),
        post("create, resourceVersion in the body", ALL, neg("ver", &[("/metadata/resourceVersion", json!("5"))])),
        post("create, another namespace in the body", ALL, neg("nsp", &[("/metadata/namespace", json!("default"))])),
        text("POST", "create, body is not JSON", ALL, "{\"kind\":"),
        text("POST", "create, empty body", ALL, ""),
        text("POST", "create, body is a list", ALL, "[]"),
        post("create, body without kind", ALL, json!({"metadata": {"name": "x"}})),
        post(
            "create, body of another kind",
            ALL,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"}}),
        ),
        post("create, body of another version", ALL, neg("v", &[("/apiVersion", json!("apps/v1beta1"))])),
        text("POST", "create, content type not supported", ALL, "hello").content_type("text/plain"),
        text("POST", "create, more than three mebibytes", ALL, &format!("{{\"kind\": \"{}\"}}", "x".repeat(3 << 20))),
        post("create, unknown field, strict", &format!("{ALL}?fieldValidation=Strict"), unknown()),
        text("POST", "create, a field twice, strict", &format!("{ALL}?fieldValidation=Strict"), &twice()),
        post("create, fieldValidation misspelt", &format!("{ALL}?fieldValidation=Severe"), unknown()),
        post("create, dryRun misspelt", &format!("{ALL}?dryRun=Some"), deployment("dry", 0)),
        post("create, fieldManager too long", &format!("{ALL}?fieldManager={}", long(129)), deployment("man", 0)),
    ]
}

fn unknown() -> Value {
    with(deployment("unk", 0), &[("/spec/replicaz", json!(1)), ("/spec/template/spec/containers/0/imag", json!("x"))])
}

fn twice() -> String {
    deployment("unk", 0).to_string().replacen("\"replicas\":0", "\"replicas\":0,\"replicas\":1", 1)
}

fn accepted() -> Vec<Step> {
    vec![
        post("create, name of 253 characters (dry run)", &format!("{ALL}?dryRun=All"), named(&long(253)))
            .only(&["/metadata/name"]),
        post("create, name with dots (dry run)", &format!("{ALL}?dryRun=All"), named("a.b"))
            .only(&["/metadata/name", "/metadata/uid"]),
        get("get after the dry run", "{apps}/deployments/a.b"),
        post("create, unknown field, default validation (dry run)", &format!("{ALL}?dryRun=All"), unknown())
            .only(&["/spec/replicaz"]),
        post("create, unknown field, warn (dry run)", &format!("{ALL}?dryRun=All&fieldValidation=Warn"), unknown())
            .only(&["/spec/replicaz"]),
        post("create, unknown field, ignore (dry run)", &format!("{ALL}?dryRun=All&fieldValidation=Ignore"), unknown())
            .only(&["/spec/replicaz"]),
        text(
            "POST",
            "create, a field twice, warn (dry run)",
            &format!("{ALL}?dryRun=All&fieldValidation=Warn"),
            &twice(),
        )
        .only(&["/spec/replicas"]),
        post(
            "create, no replicas, resources, a probe and a port (dry run)",
            &format!("{ALL}?dryRun=All"),
            with(
                deployment("full", 0),
                &[
                    ("/spec/replicas", json!(null)),
                    ("/spec/minReadySeconds", json!(3)),
                    (
                        "/spec/template/spec/containers/0",
                        json!({
                            "name": "main",
                            "image": "localhost/busybox",
                            "resources": {"limits": {"cpu": "1000m", "memory": "0.5Gi"}},
                            "ports": [{"containerPort": 80}],
                            "readinessProbe": {"httpGet": {"port": 80}},
                            "env": [{"name": "A", "value": "b"}, {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}]
                        }),
                    ),
                ],
            ),
        ),
        post(
            "create with a generated name (dry run)",
            &format!("{ALL}?dryRun=All"),
            with(deployment("x", 0), &[("/metadata/name", json!(null)), ("/metadata/generateName", json!("made-"))]),
        )
        .only(&["/metadata/name", "/metadata/generateName"]),
        post(
            "create with status, uid and times in the body (dry run)",
            &format!("{ALL}?dryRun=All"),
            with(
                deployment("sts", 0),
                &[
                    ("/status", json!({"replicas": 7})),
                    ("/metadata/uid", json!(OTHER_UID)),
                    ("/metadata/generation", json!(9)),
                    ("/metadata/creationTimestamp", json!("2020-01-01T00:00:00Z")),
                    ("/metadata/deletionTimestamp", json!("2020-01-01T00:00:00Z")),
                ],
            ),
        )
        .only(&["/metadata", "/status"]),
    ]
}

fn replaced() -> Vec<Step> {
    let app = "{apps}/deployments/app";
    let body = |changes: &[(&str, Value)]| with(deployment("app", 0), changes);
    vec![
        get("the version before", app)
            .keep("version of app", "/metadata/resourceVersion")
            .only(&["/metadata/generation"]),
        put(
            "replace, label added",
            app,
            body(&[("/metadata/labels/more", json!("yes")), ("/metadata/resourceVersion", json!("{version of app}"))]),
        )
        .only(&["/metadata"]),
        put(
            "replace with a stale resourceVersion",
            app,
            body(&[("/metadata/resourceVersion", json!("{version of app}"))]),
        ),
        put("replace with a wrong uid", app, body(&[("/metadata/uid", json!(OTHER_UID))])),
        put("replace without resourceVersion", app, body(&[("/spec/minReadySeconds", json!(1))]))
            .only(&["/metadata", "/spec/minReadySeconds"]),
        put(
            "replace with a resourceVersion that is no number",
            app,
            body(&[("/metadata/resourceVersion", json!("abc"))]),
        ),
        put("replace with another name in the body", app, deployment("other", 0)),
        put(
            "replace with another selector",
            app,
            body(&[
                ("/spec/selector/matchLabels", json!({"app": "other"})),
                ("/spec/template/metadata/labels", json!({"app": "other"})),
            ]),
        ),
        put("replace, no such name", "{apps}/deployments/absent", deployment("absent", 0)),
        put(
            "replace with a body of another kind",
            app,
            json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "app"}}),
        ),
        put("replace, dry run", &format!("{app}?dryRun=All"), deployment("app", 3))
            .only(&["/metadata/generation", "/spec/replicas"]),
        settled("app", 0).titled("until app is settled after the replacements"),
        get("get after the replacements", app),
        put(
            "replace the status",
            &format!("{app}/status"),
            body(&[
                ("/spec/replicas", json!(5)),
                ("/metadata/labels/ignored", json!("yes")),
                ("/status", json!({"observedGeneration": 1, "replicas": 3})),
            ]),
        )
        .only(&["/metadata/labels", "/metadata/generation", "/spec/replicas", "/status/replicas"]),
    ]
}
