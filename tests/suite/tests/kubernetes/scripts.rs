//! What a script around the command relies on: one document on standard output, and a start that can be interrupted.

use std::io::{BufRead as _, BufReader, Read as _};

use kube_emulator::pattern::Pattern;
use workload_suite::{Server, until};

/// Case B15, 4.
#[test]
fn b15_4_an_interrupted_start_writes_once_and_the_next_goes_on() {
    let server = Server::emulator();
    let ns = server.namespace("scripts");
    let cli = ns.cli();
    cli.run(&["create", "web", "--image", "emulated/slow:1"]).exits(0);
    cli.run(&["stop", "web"]).exits(0);
    let writes = || {
        let patches = Pattern { method: Some("PATCH".to_owned()), ..Pattern::any() };
        server.emulated().record().matching(&patches.named("web")).len()
    };
    let before = writes();

    let mut child = cli.with(&["--output", "json"]).spawn(&["start", "web", "-v"]);
    let mut err = BufReader::new(child.stderr.take().unwrap());
    let waits = format!("{}: 0 of 1 replica available", ns.id("web"));
    let mut said = String::new();
    while !said.lines().last().is_some_and(|line| line.starts_with(&waits)) {
        assert!(err.read_line(&mut said).unwrap() > 0, "it waits and says for what: {said}");
    }
    assert!(std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let mut rest = String::new();
    err.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{rest}");
    let answer: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["error"]["kind"], "cancelled", "{answer}");
    let error = rest.lines().find(|line| line.starts_with("error: ")).unwrap_or_default();
    assert!(error.contains("0 of 1 replica available"), "what it waited for: {rest}");
    assert_eq!(writes(), before + 1, "one write, and none to take it back");
    assert_eq!(ns.deployment("web")["spec"]["replicas"], 1);

    let started = cli.json(&["start", "web"]).exits(0).json();
    assert_eq!(started["workload"]["reason"], "available", "{started}");
    assert_eq!((&started["changed"], writes()), (&false.into(), before + 1), "{started}");
    until("its Pod is there", || ns.live_pods().len() == 1);
}
