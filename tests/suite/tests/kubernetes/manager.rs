//! The Manager's own form, labels and ids.

use rstest::rstest;
use serde_json::{Value, json};
use workload_suite::{Cli, Namespace, Server};

const PREFIX: &str = "org.mieweb.opensource-server.";

/// The command as that Manager's node 7 calls it.
fn node(ns: &Namespace<'_>, owner: &str) -> Cli {
    ns.cli().with(&["--output", "manager", "--labels", "opensource-server", "--owner", owner])
}

fn entry(ns: &Namespace<'_>, status: &str) -> Value {
    json!({"vmid": ns.id("web"), "name": "web", "type": "lxc", "status": status, "node": "7"})
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_life_in_snapshots(#[case] server: Server) {
    let ns = server.namespace("manager");
    let cli = node(&ns, "7");
    let created = cli.create_sleeper("web", &["--container-id", "4711"]).json();
    assert_eq!(created["vmid"], json!(ns.id("web")), "{created}");
    let object = ns.deployment("web");
    for labels in [&object["metadata"]["labels"], &object["spec"]["template"]["metadata"]["labels"]] {
        let expected: Value = [("managed", "true"), ("node-id", "7"), ("container-id", "4711")]
            .into_iter()
            .map(|(key, value)| (format!("{PREFIX}{key}"), json!(value)))
            .collect::<serde_json::Map<_, _>>()
            .into();
        assert_eq!(labels, &expected, "exactly these");
    }

    assert_eq!(cli.run(&["start", "web"]).exits(0).json(), entry(&ns, "running"));
    assert_eq!(cli.run(&["list"]).exits(0).json(), json!([entry(&ns, "running")]));
    assert_eq!(cli.run(&["status", "web"]).exits(0).json(), entry(&ns, "running"));
    assert_eq!(cli.run(&["stop", "web"]).exits(0).json(), entry(&ns, "stopped"));
    assert_eq!(cli.run(&["list"]).exits(0).json(), json!([entry(&ns, "stopped")]));

    let ran = cli.run(&["status", "web", "nothing"]).exits(3);
    assert_eq!(ran.json(), json!([entry(&ns, "stopped")]), "what is missing is no entry");
    assert!(ran.stderr.contains("nothing"), "{ran:?}");
    assert_eq!(cli.run(&["status", "nothing"]).exits(3).json()["error"]["kind"], "not-found");
    assert_eq!(cli.run(&["start", "nothing"]).exits(3).json()["error"]["kind"], "not-found");

    assert_eq!(cli.run(&["delete", "web"]).exits(0).json(), entry(&ns, "stopped"));
    assert_eq!(cli.run(&["list"]).exits(0).json(), json!([]));
    assert_eq!(cli.run(&["delete", "web"]).exits(0).json(), entry(&ns, "stopped"), "it is gone already");
    assert_eq!(ns.left(), Vec::<String>::new());
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn others_do_not_see_it(#[case] server: Server) {
    let ns = server.namespace("manager");
    node(&ns, "7").create_sleeper("web", &["--container-id", "4711"]);
    for other in [
        node(&ns, "8"),
        ns.cli().with(&["--output", "manager"]),
        ns.cli().with(&["--output", "manager", "--owner", "7"]),
    ] {
        assert_eq!(other.run(&["list"]).exits(0).json(), json!([]));
        assert_eq!(other.run(&["status", "web"]).exits(12).json()["error"]["kind"], "not-owned");
        assert_eq!(other.run(&["delete", "web"]).exits(12).json()["error"]["kind"], "not-owned");
    }
    assert_eq!(node(&ns, "7").run(&["list"]).exits(0).json()[0]["vmid"], json!(ns.id("web")));
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn what_is_unknown_is_no_entry(#[case] server: Server) {
    let nobody = Cli::new(&server.file("kubeconfig-nobody")).with(&["--output", "manager"]);
    assert_eq!(nobody.run(&["list", "-n", "default"]).exits(5).json()["error"]["kind"], "forbidden");
    assert_eq!(nobody.run(&["status", "default/web"]).exits(5).json()["error"]["kind"], "forbidden");
    let ran = nobody.run(&["status", "default/web", "default/api"]).exits(5);
    assert_eq!(ran.json(), json!([]), "neither running nor stopped");
    assert_eq!(ran.stderr.lines().count(), 2, "{ran:?}");
}
