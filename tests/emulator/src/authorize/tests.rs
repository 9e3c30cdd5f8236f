#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::clock::Clock;
use crate::store::Write;

fn put(state: &State, resource: &'static crate::resource::Resource, namespace: &str, name: &str, value: Value) {
    state.store.write::<()>(&Key::new(resource, namespace, name), |_| Ok(Write::Put(value))).unwrap();
}

/// A Role `r` in `ns` with one rule, bound to `alice`.
fn with_rule(rule: Value) -> State {
    let state = State::new(Clock::starting_at(jiff::Timestamp::UNIX_EPOCH), 1, crate::scenario::Scenario::default());
    put(&state, &ROLES, "ns", "r", json!({"rules": [rule]}));
    bind(&state, "Role", json!({"kind": "User", "name": "alice"}));
    state
}

fn bind(state: &State, kind: &str, subject: Value) {
    let binding = json!({"roleRef": {"kind": kind, "name": "r"}, "subjects": [subject]});
    put(state, &ROLE_BINDINGS, "ns", "b", binding);
}

/// `get apps/deployments/scale name`, in `ns`.
fn wanted(text: &str) -> Attributes {
    let words: Vec<_> = text.split(' ').collect();
    if words[1].starts_with("//") {
        let path = words[1][1..].to_owned();
        return Attributes { verb: words[0].to_owned(), path, ..Attributes::default() };
    }
    let (group, resource) = words[1].split_once('/').unwrap();
    let (resource, subresource) = resource.split_once('/').unwrap_or((resource, ""));
    Attributes {
        verb: words[0].to_owned(),
        of_resource: true,
        path: String::new(),
        group: group.to_owned(),
        resource: resource.to_owned(),
        subresource: subresource.to_owned(),
        namespace: "ns".to_owned(),
        name: words.get(2).copied().unwrap_or_default().to_owned(),
    }
}

fn alice() -> User {
    User::authenticated("alice", &["team"])
}

fn rule(verbs: &[&str], groups: &[&str], resources: &[&str], names: &[&str]) -> Value {
    json!({"verbs": verbs, "apiGroups": groups, "resources": resources, "resourceNames": names})
}

#[rstest]
#[case::exactly(rule(&["get"], &["apps"], &["deployments"], &[]), "get apps/deployments a", true)]
#[case::other_verb(rule(&["get"], &["apps"], &["deployments"], &[]), "list apps/deployments", false)]
#[case::other_group(rule(&["get"], &["apps"], &["deployments"], &[]), "get /deployments a", false)]
#[case::other_resource(rule(&["get"], &["apps"], &["deployments"], &[]), "get apps/replicasets a", false)]
#[case::not_the_subresource(rule(&["get"], &["apps"], &["deployments"], &[]), "get apps/deployments/scale a", false)]
#[case::the_subresource(rule(&["get"], &["apps"], &["deployments/scale"], &[]), "get apps/deployments/scale a", true)]
#[case::not_the_resource(rule(&["get"], &["apps"], &["deployments/scale"], &[]), "get apps/deployments a", false)]
#[case::any_subresource(rule(&["get"], &["apps"], &["*/scale"], &[]), "get apps/replicasets/scale a", true)]
#[case::not_any_resource(rule(&["get"], &["apps"], &["*/scale"], &[]), "get apps/replicasets a", false)]
#[case::any_of_a_resource_is_no_word(rule(&["get"], &["apps"], &["deployments/*"], &[]), "get apps/deployments/scale a", false)]
#[case::all_resources(rule(&["get"], &["apps"], &["*"], &[]), "get apps/deployments/scale a", true)]
#[case::all_groups(rule(&["get"], &["*"], &["pods"], &[]), "get /pods a", true)]
#[case::all_verbs(rule(&["*"], &[""], &["pods"], &[]), "deletecollection /pods", true)]
#[case::by_name(rule(&["get"], &[""], &["pods"], &["a", "b"]), "get /pods b", true)]
#[case::other_name(rule(&["get"], &[""], &["pods"], &["a"]), "get /pods c", false)]
#[case::no_name(rule(&["list"], &[""], &["pods"], &["a"]), "list /pods", false)]
#[case::one_of_a_list(rule(&["list"], &[""], &["pods"], &["a"]), "list /pods a", true)]
fn a_rule_allows(#[case] rule: Value, #[case] text: &str, #[case] expected: bool) {
    let state = with_rule(rule);
    assert_eq!(decide(&state, &alice(), &wanted(text)).allowed, expected);
    let elsewhere = Attributes { namespace: "other".to_owned(), ..wanted(text) };
    assert!(!decide(&state, &alice(), &elsewhere).allowed);
    assert!(!decide(&state, &User::authenticated("bob", &[]), &wanted(text)).allowed);
}

#[rstest]
#[case::user(json!({"kind": "User", "name": "alice"}), "alice", "User \"alice\"")]
#[case::group(json!({"kind": "Group", "name": "team"}), "alice", "Group \"team\"")]
#[case::account(json!({"kind": "ServiceAccount", "name": "s", "namespace": "x"}), "system:serviceaccount:x:s", "ServiceAccount \"s/x\"")]
#[case::account_of_the_namespace(json!({"kind": "ServiceAccount", "name": "s"}), "system:serviceaccount:ns:s", "ServiceAccount \"s/ns\"")]
fn a_binding_is_about(#[case] subject: Value, #[case] user: &str, #[case] told: &str) {
    let state = with_rule(rule(&["get"], &[""], &["pods"], &[]));
    bind(&state, "Role", subject);
    let decision = decide(&state, &User::authenticated(user, &["team"]), &wanted("get /pods a"));
    assert_eq!(decision.reason, format!("RBAC: allowed by RoleBinding \"b/ns\" of Role \"r\" to {told}"));
}

#[rstest]
#[case::version("get //version", true, true)]
#[case::health("get //readyz", true, true)]
#[case::discovery("get //apis/apps/v1", true, false)]
#[case::schema("get //openapi/v3/api/v1", true, false)]
#[case::other_verb("post //version", false, false)]
#[case::metrics("get //metrics", false, false)]
#[case::own_rights("create authorization.k8s.io/selfsubjectaccessreviews", true, false)]
#[case::others_rights("create authorization.k8s.io/subjectaccessreviews", false, false)]
#[case::who_am_i("create authentication.k8s.io/selfsubjectreviews", true, false)]
fn everybody_may(#[case] text: &str, #[case] known: bool, #[case] unknown: bool) {
    let state = State::new(Clock::starting_at(jiff::Timestamp::UNIX_EPOCH), 1, crate::scenario::Scenario::default());
    let may = |user: &User| decide(&state, user, &wanted(text)).allowed;
    assert_eq!((may(&alice()), may(&User::anonymous())), (known, unknown));
    assert!(may(&User::authenticated("root", &["system:masters"])));
}

#[test]
fn a_role_that_is_not_there_is_the_reason() {
    let state = with_rule(Value::Null);
    bind(&state, "ClusterRole", json!({"kind": "User", "name": "alice"}));
    let wish = wanted("get /pods a");
    let decision = decide(&state, &alice(), &wish);
    assert_eq!(decision.reason, "RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found");
    let error = forbidden(&alice(), &wish, &decision.reason);
    let message = "pods \"a\" is forbidden: User \"alice\" cannot get resource \"pods\" in API group \"\" in the namespace \
                   \"ns\": RBAC: clusterrole.rbac.authorization.k8s.io \"r\" not found";
    assert_eq!(error.message, message);
}

#[rstest]
#[case::view_reads("view", "list apps/deployments", true)]
#[case::view_writes("view", "patch apps/deployments/scale a", false)]
#[case::edit_writes("edit", "patch apps/deployments/scale a", true)]
#[case::edit_gives_no_rights("edit", "create rbac.authorization.k8s.io/rolebindings", false)]
#[case::admin_gives_rights("admin", "create rbac.authorization.k8s.io/rolebindings", true)]
#[case::cluster_admin("cluster-admin", "delete /resourcequotas q", true)]
fn the_roles_that_every_cluster_has(#[case] role: &str, #[case] text: &str, #[case] expected: bool) {
    let state = State::new(Clock::starting_at(jiff::Timestamp::UNIX_EPOCH), 1, crate::scenario::Scenario::default());
    let subject = json!({"kind": "User", "name": "alice"});
    let binding = json!({"roleRef": {"kind": "ClusterRole", "name": role}, "subjects": [subject]});
    put(&state, &ROLE_BINDINGS, "ns", "b", binding);
    assert_eq!(decide(&state, &alice(), &wanted(text)).allowed, expected);
}

#[test]
fn a_stored_role_takes_the_place_of_one_that_every_cluster_has() {
    let state = State::new(Clock::starting_at(jiff::Timestamp::UNIX_EPOCH), 1, crate::scenario::Scenario::default());
    put(&state, &CLUSTER_ROLES, "", "system:discovery", json!({"rules": null}));
    assert!(!decide(&state, &alice(), &wanted("get //apis")).allowed);
    put(&state, &CLUSTER_ROLE_BINDINGS, "", "system:basic-user", json!({"subjects": null}));
    assert!(!decide(&state, &alice(), &wanted("create authentication.k8s.io/selfsubjectreviews")).allowed);
}
