//! What cannot be done ends with the right word and exit code, and nothing secret in it.

use rstest::rstest;
use serde_json::json;
use workload_suite::{Cli, Ran, Server, until, wait};

/// The kubeconfig `name` of the server with `edit` done to its text.
fn edited(server: &Server, name: &str, edit: impl FnOnce(String) -> String) -> tempfile::TempPath {
    let text = std::fs::read_to_string(server.file(name)).unwrap();
    let path = tempfile::NamedTempFile::new().unwrap().into_temp_path();
    std::fs::write(&path, edit(text)).unwrap();
    path
}

/// The document says what the exit code says, and neither stream holds the token or the server's address.
#[track_caller]
fn says(server: &Server, ran: Ran, code: i32, status: &str, reason: &str) {
    let ran = ran.exits(code);
    let document = ran.json();
    assert_eq!((&document["status"], &document["reason"]), (&json!(status), &json!(reason)), "{document}");
    let token = std::fs::read_to_string(server.file("token")).unwrap();
    for text in [&ran.stdout, &ran.stderr] {
        assert!(!text.contains(token.trim()) && !text.contains("127.0.0.1"), "{text}");
    }
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn an_engine_that_gives_no_answer_is_unknown_and_never_missing(#[case] server: Server) {
    let token = std::fs::read_to_string(server.file("token")).unwrap().trim().to_owned();
    let nobody = edited(&server, "kubeconfig-token", |text| text.replace(&token, "wrong"));
    says(&server, Cli::new(&nobody).json(&["status", "default/web"]), 4, "unknown", "unauthorized");
    says(
        &server,
        Cli::new(&server.file("kubeconfig-nobody")).json(&["status", "default/web"]),
        5,
        "unknown",
        "forbidden",
    );

    let elsewhere = edited(&server, "kubeconfig-token", |text| {
        let (_, rest) = text.split_once("https://").unwrap();
        let address = rest.split(['"', ',', '}', '\n']).next().unwrap();
        // Port 1 has no listener on a machine that runs tests.
        text.replace(address, "127.0.0.1:1")
    });
    says(&server, Cli::new(&elsewhere).json(&["status", "default/web"]), 6, "unknown", "unreachable");
    let fault = Cli::new(&elsewhere).json(&["start", "default/web", "--timeout", "2s"]);
    // A wait goes on to its deadline, and then says what was in its way.
    let fault = fault.exits(7).json();
    assert_eq!(fault["error"]["kind"], "timeout", "{fault}");
    assert_eq!(fault["error"]["detail"]["reason"], "unreachable", "{fault}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn bad_ids_and_what_is_not_there(#[case] server: Server) {
    let ns = server.namespace("ids");
    let cli = ns.cli();
    for bad in ["a/b/c", "UPPER", "a%2Fscale", "..", "a?b"] {
        let ran = cli.json(&["status", bad]).exits(9);
        assert_eq!(ran.json()["error"]["kind"], "invalid-id", "{bad}: {ran:?}");
    }
    for command in ["start", "stop"] {
        assert_eq!(cli.json(&[command, "web"]).exits(3).json()["error"]["kind"], "not-found", "{command}");
    }
    let listed = cli.json(&["list"]).exits(0).json();
    assert_eq!(listed, json!({"workloads": [], "incomplete": []}));
    let spec = cli.json(&["create", "web", "--image", "x:1", "--cpu", "many"]).exits(2).json();
    assert_eq!(spec["error"]["kind"], "invalid-spec", "{spec}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_list_names_the_place_that_could_not_be_read(#[case] server: Server) {
    let nobody = Cli::new(&server.file("kubeconfig-nobody"));
    let listed = nobody.json(&["list", "--namespace", "default"]).exits(5).json();
    assert_eq!(listed["workloads"], json!([]), "{listed}");
    assert_eq!(listed["incomplete"][0]["place"], "default", "{listed}");
    assert_eq!(listed["incomplete"][0]["error"]["kind"], "forbidden", "{listed}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_start_that_cannot_finish_times_out_with_what_it_waited_for(#[case] server: Server) {
    let ns = server.namespace("timeout");
    let cli = ns.cli();
    let huge = ["create", "web", "--image", workload_suite::IMAGE, "--pull-policy", "Never", "--memory", "900Gi"];
    cli.run(&huge).exits(0);
    let fault = cli.json(&["start", "web", "--timeout", "3s"]).exits(7).json();
    assert_eq!(fault["error"]["kind"], "timeout", "{fault}");
    assert!(fault["error"]["message"].as_str().unwrap().contains("0 of 1"), "the last thing known: {fault}");
    cli.json(&["delete", "web"]).exits(0);
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn an_interrupt_ends_the_wait_within_moments(#[case] server: Server) {
    let ns = server.namespace("interrupt");
    let cli = ns.cli();
    cli.run(&[
        "create",
        "web",
        "--image",
        workload_suite::IMAGE,
        "--pull-policy",
        "Never",
        "--memory",
        "900Gi",
        "--replicas",
        "1",
    ])
    .exits(0);
    cli.json(&["stop", "web"]).exits(0);
    let child = cli.with(&["--output", "json"]).spawn(&["start", "web"]);
    until("the start has written the count", || ns.deployment("web")["spec"]["replicas"] == 1);
    let pid = child.id().to_string();
    assert!(std::process::Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let ran = wait(child).exits(130);
    assert_eq!(ran.json()["error"]["kind"], "cancelled", "{ran:?}");
    assert!(ran.stderr.contains("web"), "it says what state the workload was left in: {ran:?}");
}
