//! Who may do what: certificates, tokens, Roles, and the reviews that tell.

use serde_json::{Value, json};

use super::{binding, deployment, role};
use crate::server::Who;
use crate::step::*;

const APP: &str = "{apps}/deployments/app";
const SCALE: &str = "{apps}/deployments/app/scale";
const REVIEWS: &str = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

fn nobody(step: Step) -> Step {
    step.by(Who::Nobody)
}

fn review(attributes: Value) -> Value {
    json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {"resourceAttributes": attributes}})
}

fn may(title: &str, verb: &str, group: &str, resource: &str) -> Step {
    nobody(post(
        title,
        REVIEWS,
        review(json!({"namespace": "{ns}", "verb": verb, "group": group, "resource": resource})),
    ))
}

pub fn steps() -> Vec<Step> {
    let mut steps = vec![
        post("create", "{apps}/deployments", deployment("app", 0)).only(&["/metadata/generation"]),
        settled("app", 0),
        get("get by an administrator's token", APP).by(Who::AdminByToken).only(&["/metadata/name"]),
        get("get with a bad token", APP).by(Who::BadToken),
        get("list with a bad token", "{core}/pods").by(Who::BadToken),
        get("no such path with a bad token", "/nope").by(Who::BadToken),
        get("get without credentials", APP).by(Who::Anonymous),
        get("no such path without credentials", "/nope").by(Who::Anonymous),
        get("version without credentials", "/version").by(Who::Anonymous).only(&["/major"]),
        get("readyz without credentials", "/readyz").by(Who::Anonymous),
        get("discovery without credentials", "/apis/apps/v1").by(Who::Anonymous),
        get("list of groups without credentials", "/apis").by(Who::Anonymous),
        get("authorization that is no bearer token", APP).by(Who::Anonymous).header("authorization", "Basic YTpi"),
        get("an empty bearer token", APP).by(Who::Anonymous).header("authorization", "Bearer "),
    ];
    steps.extend(without_rights());
    steps.extend(with_roles());
    steps.extend(reviews());
    steps
}

fn without_rights() -> Vec<Step> {
    vec![
        nobody(get("get, no rights", APP)),
        nobody(get("get, no rights, absent name", "{apps}/deployments/absent")),
        nobody(get("get, no rights, absent namespace", "/apis/apps/v1/namespaces/nowhere/deployments/app")),
        nobody(get("list, no rights", "{apps}/deployments")),
        nobody(get("list over all namespaces, no rights", "/apis/apps/v1/deployments")),
        nobody(get("watch, no rights", "{apps}/deployments?watch=1")),
        nobody(get("get nodes, no rights", "/api/v1/nodes")),
        nobody(get("get a namespace, no rights", "/api/v1/namespaces/{ns}")),
        nobody(post("create, no rights", "{apps}/deployments", deployment("b", 0))),
        nobody(text("POST", "create, no rights and no JSON", "{apps}/deployments", "{")),
        nobody(delete("delete, no rights", APP, json!({"propagationPolicy": "Foreground"}))),
        nobody(request("DELETE", "delete a collection, no rights", "{apps}/deployments")),
        nobody(get("no such resource, no rights", "{apps}/deploymints/app")),
        nobody(get("no such subresource, no rights", "{apps}/deployments/app/skale")),
        nobody(get("path outside the API, no rights", "/nope")),
        nobody(get("metrics, no rights", "/metrics")),
        nobody(get("version, no rights", "/version")).only(&["/major"]),
        nobody(get("discovery, no rights", "/apis/apps/v1")),
        nobody(request("HEAD", "head, no rights", APP)),
    ]
}

fn with_roles() -> Vec<Step> {
    vec![
        post("a Role", "{rbac}/roles", role("reader", "apps", &["deployments"], &["get", "list"])),
        post("a Role again", "{rbac}/roles", role("reader", "apps", &["deployments"], &["get", "list"])),
        post("a RoleBinding", "{rbac}/rolebindings", binding("reader", "reader")),
        post("a Role without verbs", "{rbac}/roles", role("bad", "apps", &["deployments"], &[])),
        get("get a Role", "{rbac}/roles/reader"),
        get("list the RoleBindings", "{rbac}/rolebindings"),
        until("until nobody may read", APP, Wanted::Code(200)).by(Who::Nobody),
        nobody(get("role has deployments: get", APP)).only(&["/metadata/name"]),
        nobody(get("role has deployments: list", "{apps}/deployments")),
        nobody(get("role has no watch", "{apps}/deployments?watch=1")),
        nobody(merge("role has deployments but not deployments/scale: patch", SCALE, json!({"spec": {"replicas": 0}}))),
        nobody(get("role has deployments but not deployments/scale: get", SCALE)),
        nobody(get("role has deployments but not its status: get", "{apps}/deployments/app/status")),
        nobody(get("role has deployments but not pods: list", "{core}/pods?labelSelector=app=app")),
        nobody(get("role has deployments but not replicasets: list", "{apps}/replicasets")),
        nobody(merge("role without patch", APP, json!({"spec": {"replicas": 1}}))),
        nobody(put("role without update", APP, deployment("app", 0))),
        nobody(get("role is of another namespace", "/apis/apps/v1/namespaces/default/deployments")),
        merge(
            "the Role allows patches of one name",
            "{rbac}/roles/reader",
            json!({"rules": [
                {"apiGroups": ["apps"], "resources": ["deployments/scale"], "verbs": ["*"]},
                {"apiGroups": ["apps"], "resources": ["deployments"], "verbs": ["patch", "get"], "resourceNames": ["app"]},
                {"apiGroups": ["*"], "resources": ["pods"], "verbs": ["list", "watch"]}
            ]}),
        ),
        until("until nobody may read the scale", SCALE, Wanted::Code(200)).by(Who::Nobody),
        nobody(merge("role has deployments/scale: patch, same count", SCALE, json!({"spec": {"replicas": 0}}))),
        nobody(merge(
            "role has patch for the name (dry run)",
            &format!("{APP}?dryRun=All"),
            json!({"spec": {"replicas": 2}}),
        ))
        .only(&["/spec/replicas"]),
        nobody(get("role has another name only", "{apps}/deployments/other")),
        nobody(get("role for names does not list", "{apps}/deployments")),
        nobody(get("role for all groups: list pods", "{core}/pods")),
        nobody(patch(
            "apply needs patch, and create for a new one",
            "{apps}/deployments/new?fieldManager=x",
            APPLY,
            deployment("new", 0),
        )),
        put("a RoleBinding cannot change its role", "{rbac}/rolebindings/reader", binding("reader", "other")),
        nobody(post("nobody gives himself a Role", "{rbac}/roles", role("more", "", &["pods"], &["delete"]))),
    ]
}

fn reviews() -> Vec<Step> {
    let whoami = json!({"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"});
    let rules = json!({"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectRulesReview", "spec": {"namespace": "{ns}"}});
    vec![
        may("review: list pods", "list", "", "pods"),
        may("review: delete pods", "delete", "", "pods"),
        may("review: everything", "*", "*", "*"),
        may("review: patch any deployment", "patch", "apps", "deployments"),
        nobody(post(
            "review: patch the one deployment",
            REVIEWS,
            review(json!({
                "namespace": "{ns}", "verb": "patch", "group": "apps", "resource": "deployments", "name": "app"
            })),
        )),
        nobody(post(
            "review: a subresource",
            REVIEWS,
            review(json!({
                "namespace": "{ns}", "verb": "patch", "group": "apps", "resource": "deployments", "subresource": "scale"
            })),
        )),
        nobody(post(
            "review: a path",
            REVIEWS,
            json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                "spec": {"nonResourceAttributes": {"path": "/metrics", "verb": "get"}}
            }),
        )),
        post(
            "review by an administrator",
            REVIEWS,
            review(json!({"namespace": "{ns}", "verb": "delete", "resource": "pods"})),
        ),
        post(
            "review without attributes",
            REVIEWS,
            json!({
                "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview", "spec": {}
            }),
        ),
        post(
            "review by nobody known",
            REVIEWS,
            review(json!({"namespace": "{ns}", "verb": "get", "resource": "pods"})),
        )
        .by(Who::Anonymous),
        nobody(post("rules of nobody", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", rules)),
        post("who am I: admin by certificate", "/apis/authentication.k8s.io/v1/selfsubjectreviews", whoami.clone()),
        post("who am I: admin by token", "/apis/authentication.k8s.io/v1/selfsubjectreviews", whoami.clone())
            .by(Who::AdminByToken),
        nobody(post("who am I: nobody", "/apis/authentication.k8s.io/v1/selfsubjectreviews", whoami.clone())),
        post("who am I: anonymous", "/apis/authentication.k8s.io/v1/selfsubjectreviews", whoami).by(Who::Anonymous),
        get("reviews cannot be read", REVIEWS),
        delete("delete the RoleBinding", "{rbac}/rolebindings/reader", json!(null)),
        until("until nobody may not read any more", SCALE, Wanted::Code(403)).by(Who::Nobody),
        nobody(get("role without binding", APP)),
    ]
}
