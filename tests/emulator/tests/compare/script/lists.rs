//! Lists: pages, selectors, resource versions, tables and metadata.

use serde_json::{Value, json};

use super::{pod, role, with};
use crate::step::*;

const ROLES: &str = "{rbac}/roles";

/// Roles, because nobody but the script writes them.
fn labelled(name: &str, labels: Value) -> Value {
    with(role(name, "", &["pods"], &["get"]), &[("/metadata/labels", labels)])
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        get("empty list", ROLES),
        get("empty list as a table", ROLES).accept(TABLE),
        post("create r1", ROLES, labelled("r1", json!({"tier": "front", "app": "one"})))
            .only(&["/metadata/name"])
            .keep("first version", "/metadata/resourceVersion"),
        post("create r2", ROLES, labelled("r2", json!({"tier": "back", "app": "two"}))).only(&["/metadata/name"]),
        post("create r3", ROLES, labelled("r3", json!({"tier": "front"}))).only(&["/metadata/name"]),
        post("create r4", ROLES, labelled("r4", json!({}))).only(&["/metadata/name"]),
        post("create r5", ROLES, labelled("r5", json!({"example.org/tier": "x"}))).only(&["/metadata/name"]),
        until("until the cache has them", &format!("{ROLES}?resourceVersion=0"), Wanted::Items(5)),
    ];
    steps.extend(pages());
    steps.extend(selectors());
    steps.extend(versions());
    steps.extend(forms());
    steps.extend(fields());
    steps
}

fn pages() -> Vec<Step> {
    let list = |query: &str| format!("{ROLES}?{query}");
    vec![
        get("limit 2, page 1", &list("limit=2"))
            .keep("second", "/metadata/continue")
            .keep("version", "/metadata/resourceVersion"),
        post("create r0 in between", ROLES, labelled("r0", json!({}))).only(&["/metadata/name"]),
        post("create r9 in between", ROLES, labelled("r9", json!({}))).only(&["/metadata/name"]),
        get("limit 2, page 2", &list("limit=2&continue={second}")).keep("third", "/metadata/continue"),
        get("limit 2, page 3, the last", &list("limit=2&continue={third}")),
        get("page 2 without a limit", &list("continue={second}")),
        get("page 2 with another limit", &list("limit=1&continue={second}")),
        delete("delete r9", "{rbac}/roles/r9", json!(null)),
        delete("delete r0", "{rbac}/roles/r0", json!(null)),
        get("limit as large as the list", &list("limit=5")),
        get("limit larger than the list", &list("limit=500")),
        get("limit 0 is none", &list("limit=0")),
        get("limit and a selector: no remaining count", &list("limit=1&labelSelector=tier=front"))
            .keep("selected", "/metadata/continue"),
        get("the rest with the selector", &list("limit=1&labelSelector=tier=front&continue={selected}")),
        get("continue together with a resourceVersion", &list("limit=2&resourceVersion=1&continue={second}")),
        get("continue together with resourceVersion 0", &list("limit=2&resourceVersion=0&continue={second}")),
        get("continue is rubbish", &list("limit=2&continue=rubbish")),
        get("continue is empty", &list("limit=2&continue=")),
        get("limit is no number", &list("limit=x")),
        get("limit is negative", &list("limit=-1")),
        get("limit with resourceVersion 0", &list("limit=2&resourceVersion=0")),
    ]
}

fn selectors() -> Vec<Step> {
    let select = |title: &str, selector: &str| get(title, &format!("{ROLES}?labelSelector={selector}"));
    vec![
        select("equal", "tier=front"),
        select("equal, two signs", "tier==front"),
        select("not equal", "tier!=front"),
        select("in", "tier in (front,back)"),
        select("notin", "tier notin (front)"),
        select("exists", "app"),
        select("does not exist", "!app"),
        select("both", "tier=front,app"),
        select("key with a domain", "example.org/tier=x"),
        select("empty value", "tier="),
        select("empty selector", ""),
        select("greater", "app>1"),
        select("three signs", "a===b"),
        select("open bracket", "tier in (front"),
        select("value with a blank", "tier=a b"),
        select("key malformed", "-a=b"),
        select("value too long", &format!("a={}", "v".repeat(64))),
        get("by name", &format!("{ROLES}?fieldSelector=metadata.name=r2")),
        get("by name and namespace", &format!("{ROLES}?fieldSelector=metadata.name=r2,metadata.namespace={{ns}}")),
        get("by another namespace", &format!("{ROLES}?fieldSelector=metadata.namespace=default")),
        get("not by name", &format!("{ROLES}?fieldSelector=metadata.name!=r2")),
        get("field selector not supported", &format!("{ROLES}?fieldSelector=rules=1")),
        get("field selector malformed", &format!("{ROLES}?fieldSelector=metadata.name")),
        get("get with a selector that does not fit", "{rbac}/roles/r1?labelSelector=tier=back")
            .only(&["/metadata/name"]),
        get(
            "over all namespaces",
            "/apis/rbac.authorization.k8s.io/v1/roles?labelSelector=tier&fieldSelector=metadata.namespace={ns}",
        ),
    ]
}

fn versions() -> Vec<Step> {
    let list = |query: &str| format!("{ROLES}?{query}");
    vec![
        get("at least version 0", &list("resourceVersion=0")),
        get("at least the version of the first", &list("resourceVersion={first version}")),
        get(
            "not older than the version of the first",
            &list("resourceVersion={first version}&resourceVersionMatch=NotOlderThan"),
        ),
        get("exactly at the version of the first", &list("resourceVersion={first version}&resourceVersionMatch=Exact")),
        get(
            "exactly at the version of page 1, limited",
            &list("resourceVersion={version}&resourceVersionMatch=Exact&limit=4"),
        ),
        get("exact without a version", &list("resourceVersionMatch=Exact")),
        get("exact at 0", &list("resourceVersion=0&resourceVersionMatch=Exact")),
        get("match misspelt", &list("resourceVersion=5&resourceVersionMatch=Roughly")),
        get("version that is no number", &list("resourceVersion=abc")),
        get("version of the future", &list("resourceVersion=99999999")),
        get("get with a version of the future", "{rbac}/roles/r1?resourceVersion=99999999"),
        get("get at version 0", "{rbac}/roles/r1?resourceVersion=0").only(&["/metadata/name"]),
        get("get with a version that is no number", "{rbac}/roles/r1?resourceVersion=abc"),
    ]
}

fn forms() -> Vec<Step> {
    vec![
        get("as a table", ROLES).accept(TABLE),
        get("as a table, limited", &format!("{ROLES}?limit=2")).accept(TABLE),
        get("as a table with whole objects", &format!("{ROLES}?limit=1&includeObject=Object")).accept(TABLE).whole(),
        get("as a table without objects", &format!("{ROLES}?limit=1&includeObject=None")).accept(TABLE),
        get("as a table, includeObject misspelt", &format!("{ROLES}?includeObject=Some")).accept(TABLE),
        get("as metadata", &format!("{ROLES}?limit=2")).accept(METADATA_LIST).whole(),
        get("as metadata of one object, for a list", ROLES).accept(METADATA),
        get("whole", &format!("{ROLES}?limit=1")).whole(),
        get("one as a table", "{rbac}/roles/r1").accept(TABLE),
        get("one as metadata", "{rbac}/roles/r1").accept(METADATA),
    ]
}

/// Field selectors of Pods that no controller touches.
fn fields() -> Vec<Step> {
    let idle = |name: &str| with(pod(name), &[("/spec/schedulerName", json!("none"))]);
    let select = |title: &str, selector: &str| get(title, &format!("{{core}}/pods?fieldSelector={selector}"));
    vec![
        post("create Pod p1", "{core}/pods", idle("p1")).only(&["/metadata/name"]),
        post("create Pod p2", "{core}/pods", with(idle("p2"), &[("/spec/restartPolicy", json!("Never"))]))
            .only(&["/metadata/name"]),
        select("Pods by phase", "status.phase=Pending"),
        select("Pods not of two phases", "status.phase!=Succeeded,status.phase!=Failed"),
        select("Pods by phase, none", "status.phase=Running"),
        select("Pods without a node", "spec.nodeName="),
        select("Pods of a node", "spec.nodeName={node}"),
        select("Pods by restart policy", "spec.restartPolicy=Never"),
        select("Pods by scheduler", "spec.schedulerName=none"),
        select("Pods by name and phase", "metadata.name=p1,status.phase=Pending"),
        select("Pods by a field that is none", "spec.containers=1"),
        get("Pods as a table", "{core}/pods").accept(TABLE),
        get("Pods over all namespaces as metadata", "/api/v1/pods?fieldSelector=metadata.namespace={ns}")
            .accept(METADATA_LIST)
            .whole(),
    ]
}
