use super::*;

const GROUP: &str = "/apis/authorization.k8s.io/v1";

fn alice() -> User {
    User::authenticated("alice", &["team"])
}

fn with_role() -> Server {
    let server = Server::new();
    let rule = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    server.put(&ROLES, "ns", "reader", json!({"rules": [rule]}));
    let binding =
        json!({"roleRef": {"kind": "Role", "name": "reader"}, "subjects": [{"kind": "User", "name": "alice"}]});
    server.put(&ROLE_BINDINGS, "ns", "reader", binding);
    server
}

async fn post(server: &Server, path: &str, body: Value) -> Value {
    let json = [("content-type", "application/json")];
    let answer = server.ask("POST", path, &json, &body.to_string()).await;
    assert_eq!(answer.code, 201, "{}", answer.text);
    answer.value()
}

#[rstest]
#[case::may(json!({"verb": "get", "resource": "pods", "namespace": "ns"}), json!({
    "allowed": true, "reason": "RBAC: allowed by RoleBinding \"reader/ns\" of Role \"reader\" to User \"alice\"",
}))]
#[case::other_verb(json!({"verb": "list", "resource": "pods", "namespace": "ns"}), json!({"allowed": false}))]
#[case::subresource(
    json!({"verb": "get", "resource": "pods", "subresource": "log", "namespace": "ns"}),
    json!({"allowed": false})
)]
#[tokio::test]
async fn who_asks_is_told_what_he_may(#[case] attributes: Value, #[case] status: Value) {
    let server = with_role().as_user(alice());
    let spec = json!({"resourceAttributes": attributes});
    let answer = post(&server, &format!("{GROUP}/selfsubjectaccessreviews"), json!({"spec": spec})).await;
    assert_eq!((&answer["status"], &answer["spec"]), (&status, &spec));
    assert_eq!(answer["kind"], "SelfSubjectAccessReview");
}

#[tokio::test]
async fn an_administrator_may_ask_about_others() {
    let server = with_role();
    let attributes = json!({"verb": "get", "resource": "pods", "namespace": "ns"});
    for (user, allowed) in [("alice", true), ("bob", false)] {
        let body = json!({"spec": {"user": user, "resourceAttributes": attributes}});
        let answer = post(&server, &format!("{GROUP}/subjectaccessreviews"), body.clone()).await;
        assert_eq!(answer["status"]["allowed"], allowed, "{user}");
        let local = post(&server, &format!("{GROUP}/namespaces/ns/localsubjectaccessreviews"), body).await;
        assert_eq!((&local["status"]["allowed"], &local["metadata"]["namespace"]), (&json!(allowed), &json!("ns")));
    }
    let refused = server.as_user(alice()).ask("POST", &format!("{GROUP}/subjectaccessreviews"), &[], "{}").await;
    assert_eq!(refused.code, 403);
}

#[tokio::test]
async fn rules_and_names_are_told() {
    let server = with_role().as_user(alice());
    let body = json!({"spec": {"namespace": "ns"}});
    let status = post(&server, &format!("{GROUP}/selfsubjectrulesreviews"), body).await["status"].clone();
    let own = json!({"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]});
    assert!(status["resourceRules"].as_array().unwrap().contains(&own), "{status}");
    assert_eq!(status["nonResourceRules"].as_array().unwrap().len(), 2);
    let who = post(&server, "/apis/authentication.k8s.io/v1/selfsubjectreviews", json!({})).await;
    let groups = json!(["team", "system:authenticated"]);
    assert_eq!(who["status"]["userInfo"], json!({"username": "alice", "groups": groups}));
}

#[rstest]
#[case::user(&[("impersonate-user", "alice")], Ok(("alice", &["system:authenticated"][..])))]
#[case::groups(
    &[("impersonate-user", "alice"), ("impersonate-group", "team")],
    Ok(("alice", &["team", "system:authenticated"][..]))
)]
#[case::account(
    &[("impersonate-user", "system:serviceaccount:ns:s")],
    Ok(("system:serviceaccount:ns:s", &[
        "system:serviceaccounts", "system:serviceaccounts:ns", "system:authenticated",
    ][..]))
)]
#[case::anonymous(
    &[("impersonate-user", "system:anonymous")],
    Ok(("system:anonymous", &["system:unauthenticated"][..]))
)]
#[case::groups_of_nobody(&[("impersonate-group", "team")], Err(500))]
#[tokio::test]
async fn an_administrator_can_act_as(#[case] headers: &[(&str, &str)], #[case] expected: Result<(&str, &[&str]), u16>) {
    let server = Server::new();
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.append(header::HeaderName::from_bytes(name.as_bytes()).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    let found = impersonate::read(&server.state, &server.user, &map).map_err(|error| error.code);
    let user = |(name, groups): (&str, &[&str])| User {
        name: name.to_owned(),
        groups: groups.iter().map(|group| (*group).to_owned()).collect(),
        ..User::default()
    };
    assert_eq!(found, expected.map(|expected| Some(user(expected))));
    let refused = server.as_user(alice()).ask("GET", "/api", headers, "").await;
    assert!(refused.code == 403 || expected == Err(500), "{}", refused.text);
}

#[tokio::test]
async fn who_asks_is_told_everything_that_is_known_of_him() {
    let mut user = alice().with_uid("alice-1");
    user.extra.insert("example.org/shown".to_owned(), vec!["a card".to_owned()]);
    let server = Server::new().as_user(user);
    let answer = server.ask("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", &[], "{}").await;
    assert_eq!(
        answer.value()["status"]["userInfo"],
        json!({
            "username": "alice", "uid": "alice-1", "groups": ["team", "system:authenticated"],
            "extra": {"example.org/shown": ["a card"]},
        })
    );
}

#[tokio::test]
async fn nobody_acts_as_another_who_may_not() {
    let server = Server::new().as_user(alice());
    let answer = server.ask("GET", "/api", &[("impersonate-user", "admin")], "").await;
    let message = "users \"admin\" is forbidden: User \"alice\" cannot impersonate resource \"users\" in API group \"\" \
                   at the cluster scope";
    assert_eq!((answer.code, &answer.value()["message"]), (403, &json!(message)));
}

/// A field of a message: its number, and a text.
fn field(number: u8, bytes: &[u8]) -> Vec<u8> {
    [&[number << 3 | 2, u8::try_from(bytes.len()).unwrap()], bytes].concat()
}

fn envelope(version: &str, kind: &str, message: &[u8]) -> Vec<u8> {
    let meta = [field(1, version.as_bytes()), field(2, kind.as_bytes())].concat();
    [b"k8s\0".to_vec(), field(1, &meta), field(2, message)].concat()
}

#[test]
fn what_kubectl_sends_in_protobuf_is_read() {
    let attributes = [field(1, b"ns"), field(2, b"get"), field(5, b"pods")].concat();
    let review = [field(1, &field(1, b"")), field(2, &field(1, &attributes))].concat();
    let body = envelope("authorization.k8s.io/v1", "SelfSubjectAccessReview", &review);
    let value = protobuf::decode(&body, "", "").unwrap();
    let expected = json!({"namespace": "ns", "verb": "get", "resource": "pods"});
    assert_eq!(value["spec"]["resourceAttributes"], expected);
    assert_eq!(value["kind"], "SelfSubjectAccessReview");

    let labels = field(11, &[field(1, b"a"), field(2, b"b")].concat());
    let metadata = [field(1, b"web"), labels, field(8, &[])].concat();
    let port = [16, 0, 24, 80];
    let container = [field(1, b"c"), field(3, b"sh"), field(3, b"-c"), field(6, &port), vec![0x80, 1, 0]].concat();
    let template = field(2, &field(2, &container));
    let strategy = field(2, &field(2, &[8, 0, 16, 1]));
    let spec = [vec![8, 0], field(3, &template), field(4, &strategy)].concat();
    let message = [field(1, &metadata), field(2, &spec)].concat();
    let value = protobuf::decode(&envelope("apps/v1", "Deployment", &message), "", "").unwrap();
    let expected = json!({
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "labels": {"a": "b"}},
        "spec": {
            "replicas": 0, "strategy": {"rollingUpdate": {"maxSurge": 1}},
            "template": {"spec": {"containers": [
                {"name": "c", "command": ["sh", "-c"], "ports": [{"containerPort": 80}]},
            ]}},
        },
    });
    assert_eq!(value, expected);
}

#[rstest]
#[case::no_envelope(b"{}".to_vec(), "it has no envelope")]
#[case::unknown_kind(envelope("v1", "Secret", b""), "v1 Secret is not known here")]
#[case::unknown_field(envelope("v1", "Namespace", &field(9, b"x")), "field 9 is not known here")]
#[case::cut(envelope("v1", "Namespace", &[10, 5, 1]), "it ends within a field")]
#[case::wrong_type(envelope("v1", "Namespace", &[8, 1]), "field metadata has another type")]
fn what_is_not_understood_is_refused(#[case] body: Vec<u8>, #[case] why: &str) {
    let error = protobuf::decode(&body, "v1", "Namespace").unwrap_err();
    assert_eq!(error.code, 400);
    assert!(error.message.ends_with(why), "{}", error.message);
}

proptest::proptest! {
    #[test]
    fn no_body_does_any_harm(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
        let _ = protobuf::decode(&bytes, "v1", "Namespace");
        let _ = protobuf::decode(&envelope("apps/v1", "Deployment", &bytes), "", "");
    }
}

#[tokio::test]
async fn a_namespace_can_be_made_by_kubectl() {
    let server = Server::new();
    let body = envelope("v1", "Namespace", &field(1, &field(1, b"made")));
    let body = String::from_utf8(body).unwrap();
    let headers =
        [("content-type", protobuf::MEDIA), ("accept", "application/vnd.kubernetes.protobuf,application/json")];
    let answer = server.ask("POST", "/api/v1/namespaces", &headers, &body).await;
    assert_eq!((answer.code, &answer.value()["metadata"]["name"]), (201, &json!("made")));
    assert_eq!(server.get("/api/v1/namespaces/made").await.code, 200);
}

#[tokio::test]
async fn a_cluster_wide_binding_holds_everywhere() {
    let server = Server::new();
    let binding =
        json!({"roleRef": {"kind": "ClusterRole", "name": "view"}, "subjects": [{"kind": "Group", "name": "team"}]});
    server.put(&CLUSTER_ROLE_BINDINGS, "", "team", binding);
    let alice = server.as_user(alice());
    assert_eq!(alice.get("/api/v1/pods").await.code, 200);
    assert_eq!(alice.ask("DELETE", "/api/v1/namespaces/ns/pods/p", &[], "").await.code, 403);
}
