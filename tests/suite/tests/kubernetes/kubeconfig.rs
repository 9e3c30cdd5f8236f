//! Case B10 through the command: `KUBECONFIG` is a list of files, and the command may run in a Pod of another cluster.

use std::ffi::OsString;
use std::net::TcpListener;
use std::path::PathBuf;

use kube_emulator::call::User;
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use workload_suite::{Cli, Server};

/// Two clusters of their own authorities, and the two files of the case in a folder: `one` has the cluster c1, the user u
/// with the token T1 and the context A; `two` has the cluster c2 with an authority beside it, the user u with another token,
/// and the context B, which is the current one. Each cluster knows both tokens.
struct Case {
    one: Server,
    two: Server,
    folder: tempfile::TempDir,
    /// Of the cluster that the Pod is in. Nobody is to come here.
    pod: TcpListener,
}

impl Case {
    fn new() -> Case {
        let (one, two) = (Server::emulator(), Server::emulator());
        for server in [&one, &two] {
            for (token, user) in [("T1-of-the-first-file", "first"), ("T2-of-the-second-file", "second")] {
                server.emulated().identities().add_token(token, User::authenticated(user, &["system:masters"]));
            }
        }
        let case =
            Case { folder: tempfile::tempdir().unwrap(), pod: TcpListener::bind("127.0.0.1:0").unwrap(), one, two };
        case.pod.set_nonblocking(true).unwrap();
        case.write("one/ca.pem", &std::fs::read_to_string(case.one.file("ca.crt")).unwrap());
        case.write("two/ca.pem", &std::fs::read_to_string(case.two.file("ca.crt")).unwrap());
        let cluster = |name, server: &Server| {
            let address = server.address();
            format!(
                "clusters: [{{name: {name}, cluster: {{server: 'https://{address}', certificate-authority: ca.pem}}}}]\n"
            )
        };
        case.write(
            "one/config",
            &(cluster("c1", &case.one)
                + "users: [{name: u, user: {token: T1-of-the-first-file}}]\n\
                   contexts: [{name: A, context: {cluster: c1, user: u}}]\n"),
        );
        case.write(
            "two/config",
            &(cluster("c2", &case.two)
                + "users: [{name: u, user: {token: T2-of-the-second-file}}]\ncurrent-context: B\n\
                   contexts: [{name: B, context: {cluster: c2, user: u, namespace: default}}]\n"),
        );
        case
    }

    fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The command with this list, perhaps in a Pod.
    fn cli(&self, list: &[&str], in_a_pod: bool) -> Cli {
        let paths = list.iter().map(|name| if name.is_empty() { PathBuf::new() } else { self.path(name) });
        let list = std::env::join_paths(paths).unwrap();
        let pod = self.pod.local_addr().unwrap();
        let word = |text: String| OsString::from(text);
        let mut variables = vec![("KUBECONFIG", list)];
        if in_a_pod {
            variables.push(("KUBERNETES_SERVICE_HOST", word(pod.ip().to_string())));
            variables.push(("KUBERNETES_SERVICE_PORT", word(pod.port().to_string())));
            variables.push(("POD_NAMESPACE", word("ci".to_owned())));
        }
        Cli::of_environment(&variables)
    }

    /// Who listed what namespace of each cluster, since the last time.
    fn listed(&self) -> [Vec<(String, String)>; 2] {
        [&self.one, &self.two].map(|server| {
            let record = server.emulated().record();
            let found = record.matching(&Pattern::resource("list", "deployments"));
            record.clear();
            found.iter().map(|seen| (seen.asked.user.clone(), seen.asked.namespace.clone())).collect()
        })
    }

    fn nobody_came_to_the_pods_cluster(&self) {
        let came = self.pod.accept().map(|_| ()).map_err(|error| error.kind());
        assert_eq!(came, Err(std::io::ErrorKind::WouldBlock));
    }
}

const LIST: [&str; 4] = ["one/config", "absent", "", "two/config"];

fn by(user: &str, namespace: &str) -> Vec<(String, String)> {
    vec![(user.to_owned(), namespace.to_owned())]
}

#[rstest]
#[case::at_home(false)]
#[case::in_a_pod(true)]
fn b10_a_list_of_kubeconfigs_is_merged(#[case] in_a_pod: bool) {
    let case = Case::new();
    let cli = case.cli(&LIST, in_a_pod);
    cli.json(&["list"]).exits(0);
    assert_eq!(case.listed(), [vec![], by("first", "default")], "the second's server, by the first's token");
    cli.json(&["list", "--context", "A"]).exits(0);
    assert_eq!(case.listed(), [by("first", "default"), vec![]]);
    cli.json(&["list", "--namespace", "apps"]).exits(0);
    assert_eq!(case.listed(), [vec![], by("first", "apps")]);
    let two = case.path("two/config");
    cli.with(&["--kubeconfig", two.to_str().unwrap()]).json(&["list"]).exits(0);
    assert_eq!(case.listed(), [vec![], by("second", "default")], "one file is no list");

    let found = cli.json(&["doctor"]).exits(0).json();
    let twice = found["checks"].as_array().unwrap().iter().find(|check| check["check"] == "definitions").unwrap();
    assert_eq!((&twice["result"], &twice["detail"]["user"]), (&"note".into(), &"u".into()), "{twice}");
    let message = twice["message"].as_str().unwrap();
    assert!(
        message.starts_with("user u is defined twice, in ") && message.ends_with(": the first counts"),
        "{message}"
    );
    case.nobody_came_to_the_pods_cluster();
}

#[rstest]
#[case::absent(&["absent", "also-absent"], "also-absent")]
#[case::nothing(&["", ""], "no kubeconfig")]
#[case::no_yaml(&["one/config", "broken", "two/config"], "broken")]
fn b10_a_list_that_cannot_be_used_is_told_before_anybody_is_asked(#[case] list: &[&str], #[case] said: &str) {
    let case = Case::new();
    case.write("broken", "a: [b\n\tc");
    for in_a_pod in [false, true] {
        let cli = case.cli(list, in_a_pod);
        for command in ["list", "doctor"] {
            let ran = cli.run(&[command]).exits(2);
            assert!(format!("{}{}", ran.stdout, ran.stderr).contains(said), "{ran:?}");
        }
    }
    assert_eq!(case.one.emulated().record().all().len() + case.two.emulated().record().all().len(), 0);
    case.nobody_came_to_the_pods_cluster();
}
