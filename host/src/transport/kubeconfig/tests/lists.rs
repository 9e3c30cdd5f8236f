//! Case B10: `KUBECONFIG` is a list, and the command may run in a Pod of another cluster.

use super::*;
use crate::transport::origin::Trusted;

/// Two files: `one` has the cluster c1, the user u and the context A; `two` has the cluster c2 with an authority beside it,
/// another user u, and the context B, which is the current one.
fn two_files() -> Place {
    let mut place = Place::new();
    place.write("two/ca.pem", authority().0);
    let one = place.write(
        "one/config",
        "clusters: [{name: c1, cluster: {server: 'http://127.0.0.1:1'}}]\nusers: [{name: u, user: {token: token-one}}]\n\
         contexts: [{name: A, context: {cluster: c1, user: u}}]\n",
    );
    let two = place.write(
        "two/config",
        "clusters: [{name: c2, cluster: {server: 'https://127.0.0.1:2', certificate-authority: ca.pem}}]\n\
         users: [{name: u, user: {token: token-two}}]\ncurrent-context: B\n\
         contexts: [{name: B, context: {cluster: c2, user: u, namespace: default}}]\n",
    );
    let absent = place.directory.path().join("absent");
    place.around.kubeconfig = Some(std::env::join_paths([one, absent, PathBuf::new(), two]).unwrap());
    place
}

/// Within a Pod of another cluster.
fn in_a_pod(mut place: Place) -> Place {
    place.around.service = Some(("10.0.0.1".to_owned(), "443".to_owned()));
    place.write("account/token", "token-of-the-pod");
    place.write("account/ca.crt", authority().0);
    place.write("account/namespace", "ci");
    place
}

/// The server, the token and the namespace.
fn sent(connection: &Connection) -> (String, String, String) {
    let Credentials::Fixed(token) = &connection.credentials else { panic!("{connection:?}") };
    let header = token.header().to_str().unwrap().to_owned();
    (connection.endpoint.shown().to_owned(), header, connection.namespace().to_owned())
}

fn expected(server: &str, token: &str, namespace: &str) -> (String, String, String) {
    (server.to_owned(), format!("Bearer {token}"), namespace.to_owned())
}

#[rstest]
#[case::at_home(two_files())]
#[case::in_a_pod(in_a_pod(two_files()))]
fn b10_the_first_to_define_a_name_wins_and_paths_belong_to_their_file(#[case] place: Place) {
    let connection = place.connect(&KubeconfigOptions::default()).unwrap();
    assert_eq!(sent(&connection), expected("https://127.0.0.1:2", "token-one", "default"));
    assert_eq!(connection.origin.trusted, Trusted::Authorities, "by the file beside the second");

    let connection = place.connect(&context("A")).unwrap();
    assert_eq!(sent(&connection), expected("http://127.0.0.1:1", "token-one", "default"));

    let named = KubeconfigOptions { namespace: Some("apps".to_owned()), ..KubeconfigOptions::default() };
    assert_eq!(place.connect(&named).unwrap().namespace(), "apps");
}

#[test]
fn b10_what_is_defined_twice_is_known() {
    let place = two_files();
    let connection = place.connect(&KubeconfigOptions::default()).unwrap();
    let [twice] = &connection.origin.twice[..] else { panic!("{:?}", connection.origin) };
    assert_eq!((twice.kind.word(), twice.name.as_str()), ("user", "u"));
    let files = ["one/config", "two/config"].map(|name| place.directory.path().join(name));
    assert_eq!(twice.files, files);
    assert_eq!(connection.origin.files, files);
}

#[test]
fn b10_one_file_is_no_list() {
    let place = two_files();
    let file = Some(place.directory.path().join("two/config"));
    let connection = place.connect(&KubeconfigOptions { file, ..KubeconfigOptions::default() }).unwrap();
    assert_eq!(sent(&connection), expected("https://127.0.0.1:2", "token-two", "default"));
    assert!(connection.origin.twice.is_empty());
}

#[rstest]
#[case::absent("absent")]
#[case::several("absent:also-absent")]
#[case::nothing(":")]
fn b10_entries_that_lead_nowhere_are_no_reason_to_use_the_pods(#[case] list: &str) {
    for mut place in [Place::new(), in_a_pod(Place::new())] {
        let entries = std::env::split_paths(list).map(|entry| match entry.as_os_str().is_empty() {
            true => entry,
            false => place.directory.path().join(entry),
        });
        place.around.kubeconfig = Some(std::env::join_paths(entries.collect::<Vec<_>>()).unwrap());
        let error = place.connect(&KubeconfigOptions::default()).unwrap_err();
        assert!(matches!(error, ConfigError::NoKubeconfig { .. }), "{error}");
    }
}

#[rstest]
#[case::alone(&["broken"])]
#[case::behind_a_good_one(&["config", "broken"])]
fn b10_a_file_that_is_no_yaml_is_named(#[case] names: &[&str]) {
    let mut place = in_a_pod(Place::new());
    place.write("config", usual());
    place.write("broken", "a: b: c\n\t{");
    let list = names.iter().map(|name| place.directory.path().join(name));
    place.around.kubeconfig = Some(std::env::join_paths(list).unwrap());
    let error = place.connect(&KubeconfigOptions::default()).unwrap_err();
    assert!(matches!(&error, ConfigError::Parse { path, .. } if path.ends_with("broken")), "{error}");
}

#[rstest]
#[case::context(None, None, Ok("default"))]
#[case::asked(None, Some("apps"), Ok("apps"))]
#[case::context_without_one(Some("A"), None, Ok("default"))]
#[case::no_such_context(Some("C"), None, Err("there is no context \"C\""))]
fn a_namespace_alone(#[case] context: Option<&str>, #[case] asked: Option<&str>, #[case] expected: Result<&str, &str>) {
    let owned = |text: Option<&str>| text.map(str::to_owned);
    let options = KubeconfigOptions { file: None, context: owned(context), namespace: owned(asked) };
    let found = namespace(&options, &two_files().around);
    match expected {
        Ok(name) => assert_eq!(found.unwrap(), name),
        Err(said) => assert!(found.unwrap_err().to_string().contains(said)),
    }
}

#[test]
fn a_namespace_needs_no_credential_and_no_kubeconfig() {
    let namespace = |place: &Place| namespace(&KubeconfigOptions::default(), &place.around);
    let place = Place::new();
    assert_eq!(namespace(&place).unwrap(), "default");
    assert_eq!(namespace(&in_a_pod(Place::new())).unwrap(), "ci");
    // One that gives no connection, since plugins are not run.
    place.write("home/.kube/config", kubeconfig("server: https://h", "exec: {apiVersion: v1, command: aws}"));
    assert_eq!(namespace(&place).unwrap(), "ns");
    place.write("home/.kube/config", "{");
    assert!(matches!(namespace(&place), Err(ConfigError::Parse { .. })));
}
