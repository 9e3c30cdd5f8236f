//! `rbac` prints what is needed and no more, and `doctor` names what is missing and what else is wrong.

use rstest::rstest;
use serde_json::{Value, json};
use workload_suite::{Cli, Namespace, Ran, Server, TESTER, until};

/// The checks of this name.
fn checks<'a>(document: &'a Value, name: &str) -> Vec<&'a Value> {
    document["checks"].as_array().unwrap().iter().filter(|check| check["check"] == name).collect()
}

/// Verb and resource of each permission that ended so.
fn permissions(document: &Value, result: &str) -> Vec<(String, String)> {
    let found = checks(document, "permission").into_iter().filter(|check| check["result"] == result);
    let text = |check: &Value, name: &str| check["detail"][name].as_str().unwrap().to_owned();
    found.map(|check| (text(check, "verb"), text(check, "resource"))).collect()
}

/// Verb and resource of each permission of these rules.
fn allowed(rules: &Value) -> Vec<(String, String)> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let of_rule = |rule: &Value| {
        let verbs: Vec<Value> = rule["verbs"].as_array().unwrap().clone();
        let resource = text(&rule["resources"][0]);
        verbs.into_iter().map(move |verb| (text(&verb), resource.clone()))
    };
    rules.as_array().unwrap().iter().flat_map(of_rule).collect()
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn the_printed_role_is_enough_for_a_whole_life(#[case] server: Server) {
    let ns = server.namespace("role");
    let cli = ns.cli();
    cli.create_sleeper("web", &["--replicas", "1"]);
    for command in ["start", "status", "stop", "start", "delete"] {
        cli.json(&[command, "web"]).exits(0);
    }
    assert_eq!(cli.json(&["list"]).exits(0).json(), json!({"workloads": [], "incomplete": []}));

    let found = cli.json(&["doctor"]).exits(0).json();
    let needed = allowed(&ns.rules());
    assert!(needed.len() >= 8, "{needed:?}");
    assert_eq!(permissions(&found, "ok"), needed, "each is looked at, and allowed");
    let identity = &checks(&found, "identity")[0]["detail"]["user"];
    assert_eq!(*identity, json!(format!("system:serviceaccount:{}:{TESTER}", ns.name)), "nobody else ran this");
    assert_eq!(checks(&found, "namespace")[0]["result"], "skipped", "nobody needs to look at it: {found}");
    for name in ["kubeconfig", "credential", "address", "connection", "tls", "server", "clock", "identity"] {
        assert_eq!(checks(&found, name)[0]["result"], "ok", "{name}: {found}");
    }

    // It is the smallest: nobody may look into another namespace, or at anything else.
    let elsewhere = cli.json(&["doctor", "--namespace", "default"]).exits(5).json();
    assert_eq!(permissions(&elsewhere, "failed"), needed);
    ns.cli_of_all().json(&["list", "--all-namespaces"]).exits(5);
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn the_doctor_names_each_verb_that_is_taken_away(#[case] server: Server) {
    let ns = server.namespace("taken");
    let whole = ns.rules();
    for taken in allowed(&whole) {
        let mut rules = whole.clone();
        for rule in rules.as_array_mut().unwrap().iter_mut().filter(|rule| rule["resources"][0] == taken.1) {
            rule["verbs"].as_array_mut().unwrap().retain(|verb| *verb != taken.0);
        }
        // A role may not have a rule without a verb.
        rules.as_array_mut().unwrap().retain(|rule| rule["verbs"] != json!([]));
        ns.set_rules(&rules);
        until(&format!("{taken:?} alone is missing"), || missing(&ns) == [taken.clone()]);
    }
    ns.set_rules(&whole);
    until("nothing is missing", || missing(&ns).is_empty());
}

/// What the doctor says is missing; its exit code says the same.
fn missing(ns: &Namespace<'_>) -> Vec<(String, String)> {
    let ran = ns.cli().json(&["doctor"]);
    let missing = permissions(&ran.json(), "failed");
    assert_eq!(ran.code, if missing.is_empty() { 0 } else { 5 }, "{ran:?}");
    missing
}

#[test]
fn a_cluster_role_is_enough_for_all_namespaces() {
    let server = Server::emulator();
    let ns = server.namespace("all");
    let here = ns.cli();
    let everywhere = ns.cli_of_all();
    everywhere.json(&["doctor", "-A"]).exits(5);
    server.apply_role(&here, &["-A", "--service-account", &format!("{}:{TESTER}", ns.name)]);
    let found = everywhere.json(&["doctor", "-A"]).exits(0).json();
    assert_eq!(permissions(&found, "ok"), allowed(&ns.rules()));
    everywhere.json(&["list", "-A"]).exits(0);
}

/// The first failed check, by name, and the exit code.
#[track_caller]
fn fails(ran: Ran, code: i32, name: &str) -> Value {
    let document = ran.exits(code).json();
    let failed = document["checks"].as_array().unwrap().iter().find(|check| check["result"] == "failed");
    let failed = failed.unwrap_or_else(|| panic!("{document}")).clone();
    assert_eq!(failed["check"], name, "{document}");
    failed
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn what_else_can_be_wrong_is_told_apart(#[case] server: Server) {
    let nobody = Cli::new(&server.file("kubeconfig-nobody"));
    fails(nobody.json(&["doctor"]), 5, "permission");
    let missing = permissions(&nobody.json(&["doctor"]).json(), "failed");
    assert!(missing.contains(&("patch".to_owned(), "deployments/scale".to_owned())), "{missing:?}");

    let wrong = server.kubeconfig_of("wrong-token");
    fails(Cli::new(&wrong).json(&["doctor"]), 4, "identity");

    let admin = Cli::new(&server.file("kubeconfig"));
    let found = admin.json(&["doctor", "--namespace", "default"]).exits(0).json();
    let credential = &checks(&found, "credential")[0]["detail"];
    assert!(credential["client-certificate-ends"].as_str().is_some_and(|ends| ends.ends_with('Z')), "{credential}");
    assert_eq!(checks(&found, "namespace")[0]["result"], "ok", "{found}");
    fails(admin.json(&["doctor", "--namespace", "there-is-none"]), 3, "namespace");

    // Another cluster's authority, and a port where nobody listens.
    let text = std::fs::read_to_string(server.file("kubeconfig-token")).unwrap();
    let authority = |text: &str| {
        let (_, rest) = text.split_once("certificate-authority-data: ").unwrap();
        rest.split(['}', ',', '\n']).next().unwrap().to_owned()
    };
    let other = std::fs::read_to_string(Server::emulator().file("kubeconfig-token")).unwrap();
    let (_, address) = text.split_once("https://").unwrap();
    let address = address.split(['"', ',', '}']).next().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, text.replace(&authority(&text), &authority(&other))).unwrap();
    let failed = fails(Cli::new(file.path()).json(&["doctor"]), 6, "tls");
    assert!(failed["detail"]["class"].as_str().unwrap().contains("unknown authority"), "{failed}");
    std::fs::write(&file, text.replace(address, "127.0.0.1:1")).unwrap();
    fails(Cli::new(file.path()).json(&["doctor"]), 6, "connection");
}
