//! Watches: where they start, what they show, how they end.

use serde_json::{Value, json};

use super::{deployment, role, with};
use crate::server::Who;
use crate::step::*;

const ROLES: &str = "{rbac}/roles";

fn labelled(name: &str, labels: Value) -> Value {
    with(role(name, "", &["pods"], &["get"]), &[("/metadata/labels", labels)])
}

fn label(title: &str, name: &str, labels: Value) -> Step {
    merge(title, &format!("{ROLES}/{name}"), json!({"metadata": {"labels": labels}})).only(&["/metadata/labels"])
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create r1", ROLES, labelled("r1", json!({"tier": "front"}))).only(&["/metadata/name"]),
        get("the list", ROLES).keep("start", "/metadata/resourceVersion"),
        watch("from the list", &format!("{ROLES}?watch=1&resourceVersion={{start}}")),
        watch("front only", &format!("{ROLES}?watch=1&resourceVersion={{start}}&labelSelector=tier=front")),
        watch("one name", &format!("{ROLES}?watch=1&resourceVersion={{start}}&fieldSelector=metadata.name=r2")),
        watch("as metadata", &format!("{ROLES}?watch=1&resourceVersion={{start}}")).accept(METADATA),
        watch("as a table", &format!("{ROLES}?watch=1&resourceVersion={{start}}")).accept(TABLE),
        watch("without a version", &format!("{ROLES}?watch=1")),
        watch("at version 0", &format!("{ROLES}?watch=1&resourceVersion=0")),
        watch(
            "by the old path",
            "/apis/rbac.authorization.k8s.io/v1/watch/namespaces/{ns}/roles?resourceVersion={start}",
        ),
        watch(
            "all namespaces",
            "/apis/rbac.authorization.k8s.io/v1/roles?watch=true&resourceVersion={start}&fieldSelector=metadata.namespace={ns}",
        ),
        post("create r2", ROLES, labelled("r2", json!({"tier": "front"}))).only(&["/metadata/name"]),
        label("r1 leaves the selection", "r1", json!({"tier": "back"})),
        label("r1 enters the selection", "r1", json!({"tier": "front"})),
        label("a write that changes nothing", "r1", json!({"tier": "front"})),
        delete("delete r2", "{rbac}/roles/r2", json!(null)),
        events("events from the list", "from the list", 4),
        events("events of front only", "front only", 4),
        events("events of one name", "one name", 2).whole(),
        events("events as metadata", "as metadata", 4).whole(),
        events("events as a table", "as a table", 4).whole(),
        events("events without a version: the state first", "without a version", 5),
        events("events at version 0: some state first", "at version 0", 5),
        events("events by the old path", "by the old path", 4),
        events("events of all namespaces", "all namespaces", 4),
    ];
    steps.extend(ends());
    steps.extend(initial());
    steps.extend(refused());
    steps.extend(deployments());
    steps
}

/// A version that is too old is not among them: a cluster that has just been started has forgotten none.
fn ends() -> Vec<Step> {
    let short = |query: &str| format!("{ROLES}?watch=1&timeoutSeconds=1&{query}");
    vec![
        get("the list again", ROLES).keep("now", "/metadata/resourceVersion"),
        watch("nothing happens", &short("resourceVersion={now}")),
        to_the_end("nothing happens for a second", "nothing happens"),
        watch("replay", &short("resourceVersion={start}")),
        to_the_end("the past is replayed", "replay"),
        watch("future", &short("resourceVersion=99999999")),
        to_the_end("from a version of the future", "future"),
        watch("no number", &short("resourceVersion=abc")),
        to_the_end("from a version that is no number", "no number"),
        watch("a name that is not there", &short("fieldSelector=metadata.name=absent")),
        to_the_end("of a name that is not there", "a name that is not there"),
        watch(
            "a namespace that is not there",
            "/apis/rbac.authorization.k8s.io/v1/namespaces/nowhere/roles?watch=1&timeoutSeconds=1",
        ),
        to_the_end("in a namespace that is not there", "a namespace that is not there"),
    ]
}

fn initial() -> Vec<Step> {
    let list = "sendInitialEvents=true&allowWatchBookmarks=true&resourceVersionMatch=NotOlderThan";
    vec![
        watch("initial", &format!("{ROLES}?watch=1&timeoutSeconds=3&{list}")),
        events("the state, then a bookmark", "initial", 2).whole(),
        watch(
            "initial at 0",
            &format!("{ROLES}?watch=1&timeoutSeconds=3&{list}&resourceVersion=0&labelSelector=tier=none"),
        ),
        events("only a bookmark", "initial at 0", 1).whole(),
        watch("initial as a table", &format!("{ROLES}?watch=1&timeoutSeconds=3&{list}")).accept(TABLE),
        events("a table, then a bookmark", "initial as a table", 2).whole(),
        watch("initial as metadata", &format!("{ROLES}?watch=1&timeoutSeconds=3&{list}")).accept(METADATA),
        events("metadata, then a bookmark", "initial as metadata", 2).whole(),
        watch(
            "no initial events",
            &format!("{ROLES}?watch=1&timeoutSeconds=1&sendInitialEvents=false&resourceVersionMatch=NotOlderThan"),
        ),
        to_the_end("nothing first", "no initial events"),
    ]
}

fn refused() -> Vec<Step> {
    vec![
        get("sendInitialEvents without a match", &format!("{ROLES}?watch=1&timeoutSeconds=1&sendInitialEvents=true")),
        get(
            "sendInitialEvents without bookmarks",
            &format!("{ROLES}?watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
        ),
        get(
            "sendInitialEvents in a list",
            &format!("{ROLES}?sendInitialEvents=true&resourceVersionMatch=NotOlderThan"),
        ),
        get(
            "resourceVersionMatch in a watch",
            &format!("{ROLES}?watch=1&timeoutSeconds=1&resourceVersion=0&resourceVersionMatch=NotOlderThan"),
        ),
        get("watch with a malformed selector", &format!("{ROLES}?watch=1&labelSelector=a===b")),
        get("watch with a field that is none", &format!("{ROLES}?watch=1&fieldSelector=rules=1")),
        get("watch that is neither true nor false", &format!("{ROLES}?watch=maybe&timeoutSeconds=1")),
        get("timeout that is no number", &format!("{ROLES}?watch=1&timeoutSeconds=x")),
        get("watch of one object by its path", "{rbac}/roles/r1?watch=1").only(&["/kind", "/metadata/name"]),
        get("watch of no such resource", "{rbac}/rolls?watch=1"),
        get("watch by nobody", &format!("{ROLES}?watch=1")).by(Who::Nobody),
        get("watch with a bad token", &format!("{ROLES}?watch=1")).by(Who::BadToken),
        get("watch with an Accept that is not supported", &format!("{ROLES}?watch=1")).accept("image/png"),
    ]
}

/// A life as a watch sees it; how many writes the controllers need in between is their own affair.
fn deployments() -> Vec<Step> {
    vec![
        get("Deployments before", "{apps}/deployments").keep("before", "/metadata/resourceVersion"),
        watch("the Deployments", "{apps}/deployments?watch=1&resourceVersion={before}"),
        watch("the ReplicaSets", "{apps}/replicasets?watch=1&resourceVersion={before}"),
        watch("the Pods", "{core}/pods?watch=1&resourceVersion={before}"),
        post("create", "{apps}/deployments", deployment("app", 1)).only(&["/metadata/name"]),
        settled("app", 1),
        merge("stop", "{apps}/deployments/app/scale", json!({"spec": {"replicas": 0}})),
        settled("app", 0),
        delete("delete", "{apps}/deployments/app", json!({"propagationPolicy": "Background"})),
        events("the life of a Deployment", "the Deployments", 3).merged(),
        events("the life of its ReplicaSet", "the ReplicaSets", 3).merged(),
        events("the life of its Pod", "the Pods", 3).merged(),
    ]
}
