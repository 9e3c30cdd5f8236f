//! A workload's life: create, status, start, stop, start, several at once, delete; each outcome, exit code and document.

use rstest::rstest;
use serde_json::{Value, json};
use workload_suite::{Cli, Server, until};

/// The fields that say how a workload is, without those that differ from run to run.
fn state(workload: &Value) -> Value {
    json!([workload["status"], workload["reason"], workload["settled"], workload["desired"], workload["available"]])
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_whole_life_with_real_pods(#[case] server: Server) {
    let ns = server.namespace("life");
    let (cli, id) = (ns.cli(), ns.id("web"));

    let status = cli.json(&["status", "web"]).exits(0).json();
    assert_eq!(state(&status), json!(["missing", "not-found", true, 0, 0]), "{status}");
    assert_eq!(status["id"], json!(id));

    let created = cli
        .with(&["--output", "json"])
        .create_sleeper("web", &["--replicas", "2", "--cpu", "10m", "--memory", "16Mi"])
        .json();
    assert_eq!(created["outcome"], "created", "{created}");
    assert_eq!((&created["id"], &created["changed"]), (&json!(id), &json!(true)));
    assert!(created["elapsed_ms"].is_u64(), "{created}");
    let object = ns.deployment("web");
    for labels in [&object["metadata"]["labels"], &object["spec"]["template"]["metadata"]["labels"]] {
        assert_eq!(labels["workload-provider/managed"], "true");
        assert_eq!(labels["workload-provider/owner"], "default");
        assert_eq!(labels["workload-provider/id"], format!("{}.web", ns.name));
    }

    let started = cli.json(&["start", "web"]).exits(0).json();
    let words = ["started", "already-running"];
    assert!(words.contains(&started["outcome"].as_str().unwrap()), "however fast the server is: {started}");
    assert_eq!(started["changed"], json!(false), "two replicas were wanted already: nothing to write");
    assert_eq!(state(&started["workload"]), json!(["running", "available", true, 2, 2]), "{started}");
    let again = cli.json(&["start", "web"]).exits(0).json();
    assert_eq!((&again["outcome"], &again["changed"]), (&json!("already-running"), &json!(false)), "{again}");
    assert_eq!(ns.deployment("web")["spec"]["replicas"], 2, "start never lowers a count");

    let stopped = cli.json(&["stop", "web"]).exits(0).json();
    assert_eq!((&stopped["outcome"], &stopped["changed"]), (&json!("stopped"), &json!(true)), "{stopped}");
    assert_eq!(state(&stopped["workload"]), json!(["offline", "stopped", true, 0, 0]), "{stopped}");
    assert_eq!(ns.live_pods(), Vec::<String>::new(), "stop returns when no container is left");
    let again = cli.json(&["stop", "web"]).exits(0).json();
    assert_eq!((&again["outcome"], &again["changed"]), (&json!("already-stopped"), &json!(false)), "{again}");

    let started = cli.json(&["start", "web"]).exits(0).json();
    assert_eq!((&started["outcome"], &started["changed"]), (&json!("started"), &json!(true)), "{started}");
    assert_eq!(state(&started["workload"]), json!(["running", "available", true, 1, 1]), "{started}");

    let deleted = cli.json(&["delete", "web"]).exits(0).json();
    assert_eq!((&deleted["outcome"], &deleted["changed"]), (&json!("deleted"), &json!(true)), "{deleted}");
    assert_eq!(ns.left(), Vec::<String>::new(), "nothing is left behind");
    let again = cli.json(&["delete", "web"]).exits(0).json();
    assert_eq!((&again["outcome"], &again["changed"]), (&json!("already-gone"), &json!(false)), "{again}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn several_at_once_and_one_that_is_not_there(#[case] server: Server) {
    let ns = server.namespace("several");
    let cli = ns.cli();
    for name in ["a", "b", "c"] {
        cli.create_sleeper(name, &["--replicas", "1"]);
    }
    let ran = cli.json(&["start", "a", "b", "nothing", "c"]).exits(3);
    let list = ran.json();
    let ids: Vec<_> = list.as_array().unwrap().iter().map(|one| one["id"].as_str().unwrap().to_owned()).collect();
    assert_eq!(ids, ["a", "b", "nothing", "c"].map(|n| ns.id(n)), "in the order they were given");
    for index in [0, 1, 3] {
        assert!(["started", "already-running"].contains(&list[index]["outcome"].as_str().unwrap()), "{list}");
    }
    assert_eq!(list[2]["error"]["kind"], "not-found", "{list}");

    let listed = cli.json(&["list"]).exits(0).json();
    let ids: Vec<_> = listed["workloads"].as_array().unwrap().iter().map(|one| one["id"].clone()).collect();
    assert_eq!(ids, ["a", "b", "c"].map(|n| json!(ns.id(n))), "{listed}");
    assert_eq!(listed["incomplete"], json!([]));
    let admin = Cli::new(&server.file("kubeconfig"));
    let everywhere = admin.json(&["list", "--all-namespaces"]).exits(0).json();
    assert!(everywhere["workloads"].as_array().unwrap().iter().any(|one| one["id"] == ns.id("b")), "{everywhere}");

    let statuses = cli.json(&["status", "a", "nothing"]).exits(0).json();
    assert_eq!((&statuses[0]["status"], &statuses[1]["status"]), (&json!("running"), &json!("missing")), "{statuses}");

    cli.json(&["stop", "a", "b", "c"]).exits(0);
    assert_eq!(ns.live_pods(), Vec::<String>::new());
    let table = cli.run(&["list"]).exits(0).stdout;
    assert_eq!(table.lines().filter(|line| line.contains("offline")).count(), 3, "{table}");
    assert!(!table.contains('\u{1b}'), "no escape bytes in a pipe");
    cli.json(&["delete", "a", "b", "c", "nothing"]).exits(0);
    assert_eq!(ns.left(), Vec::<String>::new());
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_plan_sends_no_write(#[case] server: Server) {
    let ns = server.namespace("plan");
    let cli = ns.cli();
    cli.create_sleeper("web", &[]);
    cli.json(&["start", "web"]).exits(0);
    let before = ns.deployment("web")["metadata"]["resourceVersion"].clone();

    let plan = cli.json(&["stop", "web", "--plan"]).exits(0).json();
    assert_eq!(plan["id"], json!(ns.id("web")), "{plan}");
    assert_eq!(plan["plan"]["method"], "PATCH", "{plan}");
    let path = format!("/apis/apps/v1/namespaces/{}/deployments/web/scale", ns.name);
    assert!(plan["plan"]["path"].as_str().unwrap().starts_with(&path), "{plan}");
    assert_eq!(plan["plan"]["body"]["spec"]["replicas"], 0, "{plan}");
    let plan = cli.json(&["delete", "web", "--plan"]).exits(0).json();
    assert_eq!(plan["plan"]["body"]["propagationPolicy"], "Foreground", "{plan}");
    let plan = cli.json(&["start", "web", "--plan"]).exits(0).json();
    assert_eq!(plan["outcome"], "already-running", "nothing would be written: {plan}");
    let plan = cli.json(&["create", "other", "--image", "x:1", "--plan"]).exits(0).json();
    assert_eq!(plan["plan"]["body"]["kind"], "Deployment", "{plan}");

    assert_eq!(ns.deployment("web")["metadata"]["resourceVersion"], before, "nothing was written");
    assert_eq!(ns.objects("deployments").len(), 1);
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn what_is_not_ours_is_left_alone(#[case] server: Server) {
    let ns = server.namespace("ours");
    let cli = ns.cli();
    cli.create_sleeper("web", &[]);
    let other = cli.with(&["--owner", "somebody-else"]);
    assert_eq!(other.json(&["list"]).exits(0).json()["workloads"], json!([]));
    assert_eq!(other.json(&["status", "web"]).exits(0).json()["reason"], "not-owned");
    for command in ["start", "stop", "delete"] {
        assert_eq!(other.json(&[command, "web"]).exits(12).json()["error"]["kind"], "not-owned", "{command}");
    }
    let create = ["create", "web", "--image", "x:1"];
    assert_eq!(other.json(&create).exits(10).json()["error"]["kind"], "conflict", "create never adopts");
    assert_eq!(cli.json(&create).exits(10).json()["error"]["kind"], "conflict");
    cli.json(&["start", "web"]).exits(0);
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn stop_waits_for_the_last_container(#[case] server: Server) {
    let ns = server.namespace("slow");
    let cli = ns.cli();
    ns.create_held("web");
    cli.json(&["start", "web"]).exits(0);
    let stopping = cli.with(&["--output", "json"]).spawn(&["stop", "web"]);
    until("the count is 0", || ns.deployment("web")["spec"]["replicas"] == 0);
    let status = cli.json(&["status", "web"]).exits(0).json();
    assert_eq!(state(&status), json!(["offline", "stopping", false, 0, 0]), "its Pod still runs: {status}");
    ns.release();
    let stopped = workload_suite::wait(stopping).exits(0).json();
    assert_eq!(stopped["outcome"], "stopped", "{stopped}");
    assert_eq!(ns.live_pods(), Vec::<String>::new());
}
