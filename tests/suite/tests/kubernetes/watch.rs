//! What goes on being told: each change in a line, until somebody ends it.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command};
use std::sync::mpsc::{Receiver, channel};

use rstest::rstest;
use serde_json::{Value, json};
use workload_suite::{Cli, PATIENCE, Server};

/// A watch and what it has told.
struct Watch {
    child: Child,
    lines: Receiver<String>,
}

impl Watch {
    fn of(cli: &Cli, arguments: &[&str]) -> Watch {
        let mut child = cli.spawn(arguments);
        let out = child.stdout.take().unwrap();
        let (tell, lines) = channel();
        std::thread::spawn(move || {
            // Whoever has seen enough listens no more.
            BufReader::new(out).lines().map_while(Result::ok).all(|line| tell.send(line).is_ok())
        });
        Watch { child, lines }
    }

    fn line(&self) -> String {
        self.lines.recv_timeout(PATIENCE).expect("it tells more")
    }

    /// The next line like this, and what came before it.
    fn until(&self, wanted: impl Fn(&Value) -> bool) -> Vec<Value> {
        let mut seen = Vec::new();
        loop {
            let line: Value = serde_json::from_str(&self.line()).expect("each line is an object");
            let found = wanted(&line);
            seen.push(line);
            if found {
                return seen;
            }
        }
    }

    /// Ctrl-C, and the exit code.
    fn interrupt(mut self) -> Option<i32> {
        let pid = self.child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
        self.child.wait().unwrap().code()
    }
}

fn is(status: &'static str, reason: &'static str) -> impl Fn(&Value) -> bool {
    move |line| line["status"] == status && line["reason"] == reason
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_status_through_a_whole_life(#[case] server: Server) {
    let ns = server.namespace("watch");
    let cli = ns.cli();
    let watch = Watch::of(&cli.with(&["--output", "json"]), &["status", "web", "--watch"]);
    assert_eq!(watch.until(|_| true)[0]["reason"], "not-found", "first how it is");
    for _ in 0..2 {
        cli.create_sleeper("web", &[]);
        let seen = watch.until(is("running", "available"));
        assert!(seen.iter().all(|line| line["id"] == json!(ns.id("web"))), "{seen:?}");
        assert!(seen.windows(2).all(|two| two[0] != two[1]), "each line is a change: {seen:?}");
        cli.run(&["stop", "web"]).exits(0);
        watch.until(is("offline", "stopped"));
        cli.run(&["delete", "web"]).exits(0);
        watch.until(is("missing", "not-found"));
    }
    assert_eq!(watch.interrupt(), Some(130));
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn a_list_with_what_comes_and_goes(#[case] server: Server) {
    let (ns, other) = (server.namespace("watch"), server.namespace("other"));
    let cli = ns.cli();
    cli.create_sleeper("first", &[]);
    cli.run(&["start", "first"]).exits(0);
    let watch = Watch::of(&cli.with(&["--output", "json"]), &["list", "--watch"]);
    let first = watch.until(is("running", "available"));
    assert_eq!(first.last().unwrap()["id"], json!(ns.id("first")));
    other.cli().create_sleeper("elsewhere", &[]);
    cli.create_sleeper("second", &[]);
    watch.until(|line| line["id"] == json!(ns.id("second")) && line["status"] == "running");
    cli.run(&["delete", "first", "second"]).exits(0);
    let mut gone = BTreeSet::new();
    while gone.len() < 2 {
        let seen = watch.until(|line| line["status"] == "missing");
        assert!(seen.iter().all(|line| line["name"] != "elsewhere"), "it is in another namespace: {seen:?}");
        gone.extend(seen.last().map(|line| line["id"].to_string()));
    }
    assert_eq!(watch.interrupt(), Some(130));
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn rows_are_below_their_heads(#[case] server: Server) {
    let ns = server.namespace("watch");
    let cli = ns.cli();
    cli.create_sleeper("web", &[]);
    cli.run(&["start", "web"]).exits(0);
    let watch = Watch::of(&cli, &["list", "--watch"]);
    let head = watch.line();
    assert_eq!(head.split_whitespace().collect::<Vec<_>>(), ["TIME", "ID", "STATUS", "REASON", "READY", "IMAGE"]);
    let row = watch.line();
    let words: Vec<_> = row.split_whitespace().collect();
    assert_eq!(words[1..5], [ns.id("web").as_str(), "running", "available", "1/1"], "{row}");
    assert_eq!(head.find("STATUS"), row.find("running"), "{head}\n{row}");
    cli.run(&["stop", "web"]).exits(0);
    let stopped = std::iter::repeat_with(|| watch.line()).find(|line| line.contains(" stopped ")).unwrap();
    assert_eq!(head.find("STATUS"), stopped.find("offline"), "{head}\n{stopped}");
    assert_eq!(watch.interrupt(), Some(130));
}

#[test]
fn snapshots_as_they_change() {
    let server = Server::emulator();
    let ns = server.namespace("watch");
    let cli = ns.cli();
    let watch = Watch::of(&cli.with(&["--output", "manager"]), &["status", "web", "--watch"]);
    let first = &watch.until(|_| true)[0];
    assert_eq!((&first["error"]["kind"], &first["error"]["detail"]["id"]), (&json!("not-found"), &json!(ns.id("web"))));
    assert!(first.get("vmid").is_none(), "what is missing is no entry: {first}");
    cli.create_sleeper("web", &[]);
    let seen = watch.until(|line| line["status"] == "running");
    let words: Vec<_> = seen.iter().map(|line| line["status"].as_str().unwrap()).collect();
    assert!(words == ["stopped", "running"] || words == ["running"], "each once: {words:?}");
    assert_eq!(watch.interrupt(), Some(130));
}

#[test]
fn it_ends_when_it_was_asked_to_with_the_code_of_the_state() {
    let server = Server::emulator();
    let ns = server.namespace("watch");
    ns.cli().create_sleeper("web", &[]);
    for arguments in
        [&["status", "web", "nothing", "--watch", "--timeout", "1s"][..], &["list", "--watch", "--timeout", "1s"]]
    {
        let ran = ns.cli().json(arguments).exits(0);
        assert!(ran.stdout.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{ran:?}");
        assert!(ran.stdout.contains("\"name\":\"web\""), "{ran:?}");
        assert_eq!(ran.stderr, "");
    }
    let nobody = Cli::new(&server.file("kubeconfig-nobody"));
    let ran = nobody.json(&["status", "default/web", "--watch", "--timeout", "1s"]).exits(5);
    assert!(ran.stdout.contains("\"reason\":\"forbidden\""), "{ran:?}");
    let ran = nobody.json(&["list", "--watch", "-n", "default", "--timeout", "1s"]).exits(5);
    let line: Value = ran.json();
    assert_eq!((&line["place"], &line["error"]["kind"]), (&json!("default"), &json!("forbidden")), "{ran:?}");
}
