//! `--watch`: how it begins, what it looks like on a terminal, and who ends it.

use std::io::{BufRead as _, BufReader, Read as _};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::{Value, json};
use vt100::Color;

use crate::home::{Answer, Home};
use crate::screen::{Terminal, lines, look_of, workload};
use crate::server::{Asked, Reply, deployment, list, refusal, replica_set, serve_all};

/// A server with two workloads, one of which gets its replica as soon as somebody watches. Then nothing happens any more.
fn shop() -> SocketAddr {
    let watched = AtomicUsize::new(0);
    serve_all(move |asked: &Asked<'_>| {
        let available = u32::from(watched.load(Ordering::SeqCst) > 0);
        let all = [deployment("api", "nginx:1.29", 3, 3), deployment("web", "busybox:1", 1, available)];
        let path = asked.path.rsplit("/namespaces/shop/").next().unwrap();
        match (asked.query.contains("watch=true"), path) {
            (true, "deployments") => {
                if watched.fetch_add(1, Ordering::SeqCst) > 0 {
                    return Reply::Lines(Vec::new());
                }
                Reply::Lines(vec![json!({"type": "MODIFIED", "object": deployment("web", "busybox:1", 1, 1)})])
            }
            (true, _) => Reply::Lines(Vec::new()),
            (false, "deployments") => Reply::ok(list("Deployment", &all)),
            (false, "replicasets") => Reply::ok(list("ReplicaSet", &all.each_ref().map(replica_set))),
            (false, "pods") => Reply::ok(list("Pod", &[])),
            (false, path) => {
                let name = path.trim_start_matches("deployments/");
                match all.into_iter().find(|found| found["metadata"]["name"] == name) {
                    Some(found) => Reply::ok(found),
                    None => {
                        let (code, status) = refusal(404, "NotFound", "deployments", name);
                        Reply::Answer(code, Vec::new(), status)
                    }
                }
            }
        }
    })
}

fn home() -> Home {
    Home::new().with_server(shop())
}

fn spawn(home: &Home, line: &str) -> (Child, BufReader<std::process::ChildStdout>) {
    let mut command = home.command(line.split_whitespace());
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let out = BufReader::new(child.stdout.take().unwrap());
    (child, out)
}

fn line(out: &mut BufReader<std::process::ChildStdout>) -> String {
    let mut line = String::new();
    assert!(out.read_line(&mut line).unwrap() > 0, "it tells nothing more");
    line
}

#[rstest]
#[case::ctrl_c("INT")]
#[case::by_a_supervisor("TERM")]
fn an_interrupt_ends_it_quietly(#[case] signal: &str, #[values("status web", "list")] command: &str) {
    let home = home();
    let (mut child, mut out) = spawn(&home, &format!("{command} --watch -o json"));
    loop {
        let told: Value = serde_json::from_str(&line(&mut out)).unwrap();
        if told["name"] == "web" && told["available"] == 1 {
            break;
        }
    }
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    child.stdout = None;
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str(), rest.as_str()), (Some(130), "", ""));
}

/// Nothing happens any more that it could tell and fail at.
#[rstest]
#[case::of_a_status("status api --watch -o json")]
#[case::of_a_list("list --watch")]
fn it_ends_when_its_reader_goes_away(#[case] command: &str) {
    let home = home();
    let (child, mut out) = spawn(&home, command);
    line(&mut out);
    drop(out);
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
}

#[test]
fn rows_on_a_terminal_and_one_line_that_lives() {
    let terminal = Terminal::run(workload(home(), "status web --watch"), 100, 24);
    terminal.until("both states and that it goes on", |screen| {
        let lines = lines(screen);
        lines.len() == 4
            && lines[0].starts_with("TIME ")
            && lines[1].contains("  creating  ")
            && lines[2].contains("  running ")
            && lines[3].starts_with("shop/web  watching")
            && lines[0].find("STATUS") == lines[2].find("running")
            && screen.cursor_position() == (3, 0)
            && look_of(screen, "running") == (Color::Idx(2), false)
    });
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    let shown = lines(&left.screen);
    assert_eq!(shown.len(), 3, "nothing is left of the line that lived: {shown:#?}");
    assert!(!left.screen.contents().contains("interrupted"), "{shown:#?}");
}

#[rstest]
#[case::several("status web api --watch", "2 workloads  watching")]
#[case::a_place("list --watch", "shop  watching")]
#[case::everywhere("list -A --watch", "all namespaces  watching")]
fn what_is_watched_is_said(#[case] command: &str, #[case] said: &str) {
    let silent = Home::new().with_server(serve_all(|_| Reply::Silence));
    let terminal = Terminal::run(workload(silent, command), 80, 24);
    terminal.until(said, |screen| lines(screen).iter().any(|line| line.starts_with(said)));
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!((left.code, lines(&left.screen)), (Some(130), Vec::new()));
}

#[test]
fn an_id_that_is_none_ends_no_other() {
    let home = home();
    let answer = home.run("status api a/b/c --watch -o json --timeout 1s");
    assert_eq!(answer.code, Some(9), "{answer:?}");
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told.len(), 2, "{answer:?}");
    let of = |id: &str| told.iter().find(|line| line["id"] == id).unwrap_or_else(|| panic!("{answer:?}"));
    assert_eq!(of("a/b/c")["error"]["kind"], "invalid-id");
    assert_eq!(of("shop/api")["status"], "running");
    assert!(answer.stderr.starts_with("error: \"a/b/c\" "), "{answer:?}");
}

#[rstest]
#[case::json("json")]
#[case::manager("manager")]
fn what_is_wrong_before_it_begins_is_one_line_too(#[case] format: &str) {
    let answer = Home::new().run(&format!("list --watch -o {format}"));
    assert_eq!((answer.code, answer.stdout.lines().count()), (Some(2), 1), "{answer:?}");
    assert_eq!(answer.json()["error"]["kind"], "configuration");
}

/// The one that `make demo` puts in place looks once.
#[test]
fn a_provider_that_tells_no_changes() {
    let glance = PathBuf::from(env!("WORKLOAD_COMPONENTS")).join("glance.wasm");
    let answer = home().run(&format!("status api --watch -o json --component {}", glance.display()));
    assert_eq!(answer.code, Some(15), "{answer:?}");
    let told: Vec<Value> = answer.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(told[0]["message"], "at a glance: 3 of 3", "{answer:?}");
    assert_eq!((told.len(), &told[1]["error"]["kind"]), (2, &json!("unsupported")), "{answer:?}");
}
