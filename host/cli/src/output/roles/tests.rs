use super::*;
use rstest::rstest;
use workload_host::Places;
use workload_host::rbac::{Subject, roles};
use workload_policy::{Engine, Grants};

const ASKS: [&str; 4] = ["deployments:get", "deployments:delete", "deployments/scale:patch", "pods:list"];

fn made(asks: &[&str], places: Places, subjects: &[Subject]) -> Vec<Role> {
    roles(&Grants::new(Engine::Kubernetes, asks, ["*"], places).unwrap(), subjects)
}

fn account(namespace: &str, name: &str) -> Subject {
    Subject::ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() }
}

#[test]
fn of_one_namespace() {
    let expected = "\
# All that is needed in namespace shop, and nothing else.
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: workload
  namespace: shop
rules:
- apiGroups: [apps]
  resources: [deployments]
  verbs:
  - get     # read one Deployment
  - delete  # delete a Deployment of known uid, with its Pods
- apiGroups: [apps]
  resources: [deployments/scale]
  verbs:
  - patch  # change how many replicas a Deployment wants: start and stop it
- apiGroups: [\"\"]
  resources: [pods]
  verbs:
  - list  # list Pods
---
# If it is not there yet: kubectl create serviceaccount workload --namespace shop
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: workload
  namespace: shop
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: workload
subjects:
- kind: ServiceAccount
  name: workload
  namespace: shop
";
    let roles = made(&ASKS, Places::only(["shop"]), &[account("shop", "workload")]);
    assert_eq!(yaml(&roles, true), expected);
}

#[rstest]
#[case::one(&ASKS, Places::only(["shop"]), &[Subject::User("ann".to_owned())])]
#[case::several(&ASKS, Places::only(["a", "b"]), &[Subject::Group("g".to_owned()), account("a", "b.c")])]
#[case::all(&ASKS, Places::All, &[account("tools", "manager")])]
#[case::nothing(&["secrets:get"], Places::only(["shop"]), &[account("shop", "workload")])]
#[case::whole_catalogue(&["*"], Places::only(["shop"]), &[account("shop", "workload")])]
#[case::mistakable(&ASKS, Places::only(["1e3", "no", "0x1"]), &[account("123", "null"), Subject::User("true".to_owned())])]
#[case::odd_users(
    &ASKS,
    Places::All,
    &[
        Subject::User("https://id.example#ann: x".to_owned()),
        Subject::User("- \"q\" \\ 'x' # é ✓".to_owned()),
        Subject::Group("~".to_owned()),
        Subject::Group("oidc:a b".to_owned()),
    ]
)]
fn yaml_and_json_say_the_same(#[case] asks: &[&str], #[case] places: Places, #[case] subjects: &[Subject]) {
    let roles = made(asks, places, subjects);
    let text = yaml(&roles, false);
    let read: Vec<Value> = serde_saphyr::from_multiple(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(Value::from(read), list(&roles)["items"], "{text}");
}

#[test]
fn for_all_namespaces_it_is_a_cluster_role() {
    let roles = made(&ASKS, Places::All, &[Subject::User("ann".to_owned())]);
    let items = list(&roles)["items"].clone();
    assert_eq!((&items[0]["kind"], &items[1]["kind"]), (&json!("ClusterRole"), &json!("ClusterRoleBinding")));
    assert_eq!(items[1]["roleRef"]["kind"], "ClusterRole");
    assert_eq!(items[0]["metadata"], json!({"name": "workload"}));
}
