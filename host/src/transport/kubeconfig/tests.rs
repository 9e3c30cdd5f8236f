use std::error::Error as _;
use std::fmt::Write as _;
use std::io;

use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair};
use rstest::rstest;

use super::*;

mod lists;

/// In every secret of these tests, so that one search finds any of them.
const CANARY: &str = "CANARY-7f3a";

struct Place {
    directory: tempfile::TempDir,
    around: Surroundings,
}

impl Place {
    fn new() -> Place {
        let directory = tempfile::tempdir().unwrap();
        let around = Surroundings {
            kubeconfig: None,
            home: Some(directory.path().join("home")),
            service: None,
            service_account: directory.path().join("account"),
        };
        std::fs::create_dir_all(directory.path().join("home/.kube")).unwrap();
        Place { directory, around }
    }

    fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn connect(&self, options: &KubeconfigOptions) -> Result<Connection, ConfigError> {
        connection(options, &self.around)
    }

    /// What comes of one kubeconfig.
    fn of(&self, text: impl AsRef<[u8]>) -> Result<Connection, ConfigError> {
        let file = self.write("config", text);
        self.connect(&KubeconfigOptions { file: Some(file), ..KubeconfigOptions::default() })
    }
}

fn context(name: &str) -> KubeconfigOptions {
    KubeconfigOptions { context: Some(name.to_owned()), ..KubeconfigOptions::default() }
}

fn data(bytes: impl AsRef<[u8]>) -> String {
    STANDARD.encode(bytes)
}

/// A certificate authority and a key, in PEM.
fn authority() -> (String, String) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    (params.self_signed(&key).unwrap().pem(), key.serialize_pem())
}

/// A kubeconfig of one context `c`, with these fields of its cluster and its user.
fn kubeconfig(cluster: &str, user: &str) -> String {
    let fields = |text: &str| {
        text.lines().fold(String::new(), |mut out, line| {
            writeln!(out, "    {line}").unwrap();
            out
        })
    };
    format!(
        "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {{cluster: k, user: u, namespace: ns}}\n\
         clusters:\n- name: k\n  cluster:\n{}users:\n- name: u\n  user:\n{}",
        fields(cluster),
        fields(user)
    )
}

/// A server, a CA and a token; nothing else.
fn usual() -> String {
    let (ca, _) = authority();
    let cluster = format!("server: https://canary-host.example:6443\ncertificate-authority-data: {}", data(ca));
    kubeconfig(&cluster, &format!("token: {CANARY}-token"))
}

/// All that a person or a log could get to see of an error.
fn shown(error: &ConfigError) -> String {
    let mut text = format!("{error}\n{error:?}");
    let mut source = error.source();
    while let Some(cause) = source {
        write!(text, "\n{cause}\n{cause:?}").unwrap();
        source = cause.source();
    }
    text
}

#[test]
fn the_usual_one_connects() {
    let connection = Place::new().of(usual()).unwrap();
    assert_eq!(connection.namespace(), "ns");
    assert_eq!(connection.context(), Some("c"));
    assert!(matches!(connection.credentials, Credentials::Fixed(_)));
    assert_eq!(connection.endpoint.authority(), "canary-host.example:6443");
    connection.upstream(crate::transport::TransportLimits::default()).unwrap();
    let debug = format!("{connection:?}");
    assert!(!debug.contains("CANARY") && !debug.contains("canary-host"), "{debug}");
}

#[rstest]
#[case::user_exec(
    "",
    "exec: {apiVersion: v1, command: CANARY-7f3a, env: [{name: A, value: CANARY-7f3a}]}",
    "uses exec (a credential plugin) for \"u\""
)]
#[case::exec_beside_a_token("", "token: CANARY-7f3a-token\nexec: {command: aws}", "uses exec")]
#[case::auth_provider("", "auth-provider: {name: oidc, config: {id-token: CANARY-7f3a}}", "uses auth-provider")]
#[case::basic("", "username: me\npassword: CANARY-7f3a", "uses username and password")]
#[case::impersonation("", "token: CANARY-7f3a-token\nas: admin", "uses as (impersonation)")]
#[case::impersonated_group("", "token: CANARY-7f3a-token\nas-groups: [system:masters]", "uses as (impersonation)")]
#[case::proxy("proxy-url: http://me:CANARY-7f3a@proxy:3128", "token: CANARY-7f3a-token", "uses proxy-url for \"k\"")]
#[case::no_credential("", "extensions: []", "the context \"c\" has no credential")]
#[case::empty_token("", "token: \"\"", "token of the user \"u\" cannot be used: it is empty")]
#[case::blank_token("", "token: \"  \"", "it is empty")]
#[case::broken_token("", "token: \"CANARY-7f3a\\r\\nX-Remote-User: admin\"", "it has blanks, control characters")]
#[case::token_file_missing("", "tokenFile: absent", "tokenFile names the file")]
#[case::token_file_empty("", "tokenFile: empty", "tokenFile of the user \"u\" cannot be used: it is empty")]
#[case::certificate_without_key("", "client-certificate-data: Q0FOQVJZ", "there is no client-key for it")]
#[case::key_without_certificate("", "client-key-data: Q0FOQVJZ", "there is no client-certificate for it")]
#[case::certificate_not_base64(
    "",
    "client-certificate-data: CANARY-7f3a!\nclient-key-data: Q0FOQVJZ",
    "client-certificate-data of the user \"u\" cannot be used: it is not valid base64"
)]
#[case::certificate_not_pem(
    "",
    "client-certificate-data: Q0FOQVJZ\nclient-key-data: Q0FOQVJZ",
    "client-certificate of the user \"u\" cannot be used: it holds no certificate"
)]
#[case::certificate_missing("", "client-certificate: absent\nclient-key: absent", "client-certificate names the file")]
#[case::server_missing("server: \"\"", "token: CANARY-7f3a-token", "the cluster \"k\" has no server")]
#[case::server_plain("server: http://canary-host.example", "token: CANARY-7f3a-token", "plain http is allowed only to")]
#[case::server_userinfo("server: https://me:CANARY-7f3a@h", "token: CANARY-7f3a-token", "it holds a user or password")]
#[case::server_name("server: https://-_-", "token: CANARY-7f3a-token", "its host is neither a DNS name nor an address")]
#[case::ca_not_base64(
    "certificate-authority-data: CANARY-7f3a!",
    "token: CANARY-7f3a-token",
    "certificate-authority-data of the cluster \"k\" cannot be used: it is not valid base64"
)]
#[case::ca_not_pem(
    "certificate-authority-data: Q0FOQVJZ",
    "token: CANARY-7f3a-token",
    "it holds no certificate in PEM"
)]
#[case::ca_missing("certificate-authority: absent", "token: CANARY-7f3a-token", "certificate-authority names the file")]
#[case::ca_and_skip(
    "insecure-skip-tls-verify: true\ncertificate-authority-data: Q0FOQVJZ",
    "token: CANARY-7f3a-token",
    "insecure-skip-tls-verify of the cluster \"k\" cannot be used"
)]
#[case::tls_server_name(
    "tls-server-name: \"a b\"",
    "token: CANARY-7f3a-token",
    "tls-server-name of the cluster \"k\" cannot be used"
)]
fn each_mistake_is_named(#[case] cluster: &str, #[case] user: &str, #[case] expected: &str) {
    let place = Place::new();
    place.write("empty", "\n");
    let cluster = if cluster.contains("server:") {
        cluster.to_owned()
    } else {
        format!("server: https://canary-host.example\n{cluster}")
    };
    let error = place.of(kubeconfig(&cluster, user)).unwrap_err();
    let shown = shown(&error);
    assert!(error.to_string().contains(expected), "{error}");
    for secret in [CANARY, "canary-host", "Q0FOQVJZ"] {
        assert!(!shown.contains(secret), "{shown}");
    }
}

#[rstest]
#[case::broken_yaml("a: b\nusers: [{token: CANARY-7f3a\n", Some(2..=3))]
#[case::tabs("clusters:\n\t- CANARY-7f3a", Some(2..=2))]
#[case::wrong_type("kind: Config\nusers:\n- name: u\n  user: CANARY-7f3a\n", Some(4..=4))]
#[case::binary("\u{0}\u{1}", None)]
fn not_a_kubeconfig(#[case] text: &str, #[case] lines: Option<std::ops::RangeInclusive<u64>>) {
    let error = Place::new().of(text).unwrap_err();
    let ConfigError::Parse { line, .. } = &error else { panic!("{error}") };
    if let Some(lines) = lines {
        assert!(line.is_some_and(|line| lines.contains(&line)), "{line:?}");
        assert!(error.to_string().contains("(line "), "{error}");
    }
    assert!(!shown(&error).contains(CANARY), "{}", shown(&error));
}

#[rstest]
#[case::utf8_mark([&[0xef, 0xbb, 0xbf][..], usual().as_bytes()].concat(), true)]
#[case::utf16_little([&[0xff, 0xfe][..], &usual().encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<_>>()].concat(), true)]
#[case::utf16_big([&[0xfe, 0xff][..], &usual().encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>()].concat(), true)]
#[case::utf16_odd(vec![0xff, 0xfe, 0x61], false)]
#[case::latin1(b"kind: \xe9".to_vec(), false)]
fn encodings(#[case] bytes: Vec<u8>, #[case] good: bool) {
    assert_eq!(Place::new().of(bytes).is_ok(), good);
}

#[test]
fn a_key_of_another_certificate_is_named() {
    let ((certificate, _), (_, other)) = (authority(), authority());
    let user = format!("client-certificate-data: {}\nclient-key-data: {}", data(certificate), data(other));
    let error = Place::new().of(kubeconfig("server: https://h", &user)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "client-key of the user \"u\" cannot be used: it does not belong to the client certificate"
    );
}

#[rstest]
#[case::certificate_only(true, "", "None")]
#[case::certificate_and_empty_token(true, "token: \"\"", "None")]
#[case::certificate_and_token(true, "token: CANARY-7f3a-token", "Fixed")]
#[case::token_file_wins(false, "token: CANARY-7f3a-token\ntokenFile: fresh", "File")]
fn credentials(#[case] certificate: bool, #[case] more: &str, #[case] expected: &str) {
    let place = Place::new();
    place.write("fresh", format!("{CANARY}-other\n"));
    let (pem, key) = authority();
    let identity = format!("client-certificate-data: {}\nclient-key-data: {}\n", data(pem), data(key));
    let user = if certificate { identity + more } else { more.to_owned() };
    let connection = place.of(kubeconfig("server: https://h", &user)).unwrap();
    assert_eq!(format!("{:?}", connection.credentials), expected);
}

#[rstest]
#[case::proxy_of_kubectl("server: http://127.0.0.1:8001", "extensions: []", true)]
#[case::token_over_loopback("server: http://localhost:8001", "token: CANARY-7f3a-token", true)]
#[case::skipping("server: https://h\ninsecure-skip-tls-verify: true", "token: CANARY-7f3a-token", true)]
#[case::skipping_anonymous("server: https://h\ninsecure-skip-tls-verify: true", "extensions: []", false)]
fn without_verified_tls(#[case] cluster: &str, #[case] user: &str, #[case] good: bool) {
    assert_eq!(Place::new().of(kubeconfig(cluster, user)).is_ok(), good);
}

#[test]
fn a_client_certificate_needs_tls() {
    let (pem, key) = authority();
    let user = format!("client-certificate-data: {}\nclient-key-data: {}", data(pem), data(key));
    let error = Place::new().of(kubeconfig("server: http://127.0.0.1:8001", &user)).unwrap_err();
    assert!(matches!(error, ConfigError::BadServer { .. }), "{error}");
    assert!(error.to_string().ends_with("is of no use without https"), "{error}");
}

#[rstest]
#[case::context_missing(context("nope"), "there is no context \"nope\" in the kubeconfig; it has: a, b, bare")]
#[case::cluster_missing(context("a"), "the context \"a\" names the cluster \"gone\", which is not")]
#[case::user_missing(context("b"), "the context \"b\" names the user \"gone\", which is not")]
#[case::no_user(context("bare"), "the context \"bare\" has no credential")]
#[case::no_current(KubeconfigOptions::default(), "has no current-context and none was named; it has: a, b, bare")]
fn names_that_lead_nowhere(#[case] mut options: KubeconfigOptions, #[case] expected: &str) {
    let place = Place::new();
    options.file = Some(place.write(
        "config",
        "contexts:\n- {name: a, context: {cluster: gone, user: u}}\n- {name: b, context: {cluster: k, user: gone}}\n\
         - {name: bare, context: {cluster: k}}\n\
         clusters: [{name: k, cluster: {server: 'https://h'}}]\nusers: [{name: u, user: {token: CANARY-7f3a}}]\n",
    ));
    let error = place.connect(&options).unwrap_err();
    assert!(error.to_string().contains(expected), "{error}");
}

#[rstest]
#[case::option(Some("mine"), "namespace: ns", "mine")]
#[case::context(None, "namespace: ns", "ns")]
#[case::empty_option(Some(""), "namespace: ns", "ns")]
#[case::neither(None, "extensions: []", "default")]
#[case::empty(None, "namespace: ''", "default")]
fn namespaces(#[case] option: Option<&str>, #[case] field: &str, #[case] expected: &str) {
    let place = Place::new();
    let file = place.write("config", usual().replace("namespace: ns", field));
    let options = KubeconfigOptions { file: Some(file), namespace: option.map(str::to_owned), context: None };
    assert_eq!(place.connect(&options).unwrap().namespace(), expected);
}

#[test]
fn paths_are_relative_to_their_file() {
    let mut place = Place::new();
    let ((ca, _), (certificate, key)) = (authority(), authority());
    place.write("one/pki/ca.crt", ca);
    place.write("two/pki/client.crt", certificate);
    place.write("two/pki/client.key", key);
    place.write("two/token", "file-token\n");
    let first = place.write(
        "one/config",
        "contexts: [{name: c, context: {cluster: k, user: u}}]\ncurrent-context: c\n\
         clusters: [{name: k, cluster: {server: 'https://h', certificate-authority: pki/ca.crt}}]\n",
    );
    let second = place.write(
        "two/config",
        "users: [{name: u, user: {client-certificate: pki/client.crt, client-key: ./pki/client.key, tokenFile: token}}]\n",
    );
    place.around.kubeconfig = Some(std::env::join_paths([first, second]).unwrap());
    let connection = place.connect(&KubeconfigOptions::default()).unwrap();
    assert!(matches!(connection.credentials, Credentials::File(_)));
}

#[test]
fn files_are_merged_as_kubectl_does() {
    let mut place = Place::new();
    // The first has an empty current-context, which says nothing, and a context that the second has too.
    let first = place.write("first", usual().replace("current-context: c", "current-context: ''"));
    let second = place.write(
        "second",
        "current-context: d\ncontexts:\n- {name: c, context: {cluster: x, user: x}}\n\
         - {name: d, context: {cluster: k, user: u, namespace: of-d}}\n",
    );
    let absent = place.directory.path().join("absent");
    place.around.kubeconfig = Some(std::env::join_paths([absent, PathBuf::new(), first, second]).unwrap());
    assert_eq!(place.connect(&KubeconfigOptions::default()).unwrap().namespace(), "of-d");
    assert_eq!(place.connect(&context("c")).unwrap().namespace(), "ns", "the first to name it wins");
}

#[test]
fn files_of_different_kinds_are_not_merged() {
    let mut place = Place::new();
    let (first, second) = (place.write("first", usual()), place.write("second", "kind: Other\n"));
    place.around.kubeconfig = Some(std::env::join_paths([first, second]).unwrap());
    assert!(matches!(place.connect(&KubeconfigOptions::default()), Err(ConfigError::Merge)));
}

#[test]
fn the_home_directory_is_looked_in_last() {
    let mut place = Place::new();
    place.write("home/.kube/config", usual());
    assert_eq!(place.connect(&KubeconfigOptions::default()).unwrap().context(), Some("c"));
    // KUBECONFIG replaces it, also where it leads nowhere.
    place.around.kubeconfig = Some(place.directory.path().join("absent").into_os_string());
    let error = place.connect(&KubeconfigOptions::default()).unwrap_err();
    assert!(error.to_string().contains("absent; name one with"), "{error}");
    // An empty one is as none.
    place.around.kubeconfig = Some(OsString::new());
    assert!(place.connect(&KubeconfigOptions::default()).is_ok());
}

#[test]
fn a_named_file_must_exist() {
    let place = Place::new();
    place.write("home/.kube/config", usual());
    let file = Some(place.directory.path().join("absent"));
    let error = place.connect(&KubeconfigOptions { file, ..KubeconfigOptions::default() }).unwrap_err();
    assert!(matches!(&error, ConfigError::Read { source, .. } if source.kind() == io::ErrorKind::NotFound), "{error}");
}

#[test]
fn in_a_pod_the_service_account_is_used() {
    let mut place = Place::new();
    place.around.service = Some(("10.0.0.1".to_owned(), "443".to_owned()));
    let error = place.connect(&KubeconfigOptions::default()).unwrap_err();
    assert!(error.to_string().contains("token names the file"), "{error}");

    place.write("account/token", format!("{CANARY}\n"));
    place.write("account/ca.crt", authority().0);
    place.write("account/namespace", "of-the-pod\n");
    let connection = place.connect(&KubeconfigOptions::default()).unwrap();
    assert_eq!((connection.namespace(), connection.context()), ("of-the-pod", None));
    assert_eq!(connection.endpoint.url("/api").unwrap().to_string(), "https://10.0.0.1:443/api");

    // A context can only be of a kubeconfig, and a kubeconfig goes first.
    assert!(matches!(place.connect(&context("c")), Err(ConfigError::NoKubeconfig { .. })));
    place.write("home/.kube/config", usual());
    assert_eq!(place.connect(&KubeconfigOptions::default()).unwrap().context(), Some("c"));
}
