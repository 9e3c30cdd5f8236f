//! What scripts around the command rely on (case B15): what is on which stream, and no colour where nobody sees it.

use std::collections::BTreeSet;
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};

use rstest::rstest;
use serde_json::json;

use crate::home::{Answer, Home, built_in};
use crate::screen::{Terminal, workload};
use crate::server::{Reply, deployment, list, refusal, replica_set, serve, serve_all};

/// A warning of the server, and an answer that it is too busy: standard output has the one document.
#[test]
fn b15_1_everything_but_the_document_goes_to_standard_error() {
    let asked = AtomicUsize::new(0);
    let server = serve_all(move |request| {
        let warned = vec![("warning", "299 - \"apps/v1 is deprecated\"".to_owned())];
        if asked.fetch_add(1, Ordering::SeqCst) == 0 {
            let (code, status) = refusal(429, "TooManyRequests", "deployments", "web");
            return Reply::Answer(code, [warned, vec![("retry-after", "1".to_owned())]].concat(), status);
        }
        let web = deployment("web", "busybox:1", 1, 1);
        let found = match request.path.rsplit('/').next() {
            Some("replicasets") => list("ReplicaSet", &[replica_set(&web)]),
            Some("pods") => list("Pod", &[]),
            _ => web,
        };
        Reply::Answer(200, warned, found)
    });
    let home = Home::new().with_server(server);
    let answer = home.run("-o json -v status web");
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert_eq!(answer.json()["reason"], "available", "{answer:?}");
    assert!(!answer.stderr.is_empty(), "what -v says is there: {answer:?}");
}

/// The state is the answer where nobody answers, and a fault where there is no state.
#[test]
fn b15_2_a_fault_is_a_document_too() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run("-o json status web --timeout 10s");
    assert_eq!((answer.code, &answer.json()["status"]), (Some(6), &json!("unknown")), "{answer:?}");
    let answer = home.run("-o json explain web --timeout 10s");
    assert_eq!((answer.code, &answer.json()["status"]), (Some(6), &json!("unknown")), "{answer:?}");
    let answer = home.run("-o json delete a/b/c");
    assert_eq!((answer.code, &answer.json()["error"]["kind"]), (Some(9), &json!("invalid-id")), "{answer:?}");
}

#[rstest]
#[case::of_one("start full --plan", r#"{"id":"shop/full","outcome":"already-running","plan":null}"#)]
#[case::of_what_is_gone("delete gone --plan", r#"{"id":"shop/gone","outcome":"already-gone","plan":null}"#)]
fn a_plan_without_a_write_says_so(#[case] line: &str, #[case] expected: &str) {
    let home = Home::new().with_server(serve(|method, path, _| {
        let full = deployment("full", "busybox:1", 1, 1);
        match (method, path.rsplit('/').next()) {
            ("GET", Some("full")) => Some((200, full)),
            ("GET", Some("deployments")) => Some((200, list("Deployment", &[full]))),
            ("GET", Some("replicasets")) => Some((200, list("ReplicaSet", &[replica_set(&full)]))),
            ("GET", Some("pods")) => Some((200, list("Pod", &[]))),
            _ => Some(refusal(404, "NotFound", "deployments", "gone")),
        }
    }));
    let answer = home.run(&format!("{line} -o json"));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let mut found = answer.json();
    let workload = found.as_object_mut().unwrap().remove("workload");
    assert!(workload.is_some(), "it is there, be it null: {answer:?}");
    assert_eq!(found.to_string(), expected);
    let answer = home.run(line);
    let said = format!("{} would send nothing: ", found["id"].as_str().unwrap());
    assert_eq!((answer.code, answer.stdout.starts_with(&said)), (Some(0), true), "{answer:?}");
}

/// A server that has a workload which never gets its second replica, and takes every write.
fn shop() -> Home {
    Home::new().with_server(serve(|method, path, body| {
        let web = deployment("web", "busybox:1", 2, 1);
        let name = path.rsplit('/').next().unwrap_or_default();
        Some(match (method, name) {
            ("GET", "deployments") => (200, list("Deployment", &[web])),
            ("GET", "replicasets") => (200, list("ReplicaSet", &[replica_set(&web)])),
            ("GET", "pods") => (200, list("Pod", &[])),
            ("GET", "events") => (200, json!({"apiVersion": "v1", "kind": "EventList", "metadata": {}, "items": []})),
            ("GET", "web") => (200, web),
            ("POST", "deployments") => {
                let mut made = body.clone();
                made["metadata"]["uid"] = "uid-made".into();
                made["metadata"]["resourceVersion"] = "7".into();
                (201, made)
            }
            _ => refusal(404, "NotFound", "deployments", name),
        })
    }))
}

/// Every command, with a line that leads it to its end. Where a command has a live line, it lives long enough to be shown.
fn every_command() -> Vec<(&'static str, String)> {
    let component = built_in().display().to_string();
    vec![
        ("list", "list".to_owned()),
        ("list", "list -A --watch --timeout 2s".to_owned()),
        ("status", "status web gone a/b/c".to_owned()),
        ("status", "status web --watch --timeout 2s".to_owned()),
        ("explain", "explain web".to_owned()),
        ("create", "create new --image busybox:1".to_owned()),
        ("create", "create new --image busybox:1 --plan".to_owned()),
        ("start", "start web --timeout 2s".to_owned()),
        ("stop", "stop web --timeout 2s".to_owned()),
        ("stop", "stop web --plan".to_owned()),
        ("delete", "delete gone".to_owned()),
        ("doctor", "doctor --timeout 5s".to_owned()),
        ("rbac", "rbac".to_owned()),
        ("provider", "provider list".to_owned()),
        ("provider", format!("provider inspect {component}")),
        ("completion", "completion bash".to_owned()),
        ("help", "help start".to_owned()),
    ]
}

/// The commands that the help names.
fn named() -> BTreeSet<String> {
    let help = Home::new().run("--help").stdout;
    let (_, commands) = help.split_once("Commands:\n").unwrap();
    let commands = commands.lines().take_while(|line| !line.is_empty());
    // A line that goes on is further to the right.
    let first = commands.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    first.map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

fn lines_of_every_command() -> Vec<String> {
    let named = named();
    let all = every_command();
    let listed: BTreeSet<String> = all.iter().map(|(name, _)| (*name).to_owned()).collect();
    let forgotten: Vec<_> = named.difference(&listed).collect();
    assert!(forgotten.is_empty(), "no line for these: {forgotten:?}");
    all.into_iter().filter(|(name, _)| named.contains(*name)).map(|(_, line)| line).collect()
}

#[rstest]
#[case::table("")]
#[case::json("-o json")]
#[case::with_traces("-vv")]
fn b15_3_a_pipe_gets_no_escape_byte(#[case] options: &str) {
    let home = shop();
    for line in lines_of_every_command() {
        let mut command = home.command(line.split_whitespace().chain(options.split_whitespace()));
        command.env("TERM", "xterm-256color").env("COLORTERM", "truecolor").stdin(Stdio::null());
        // Which looks for the byte, in both streams.
        let answer = Answer::of(command.output().unwrap());
        assert!(!(answer.stdout.is_empty() && answer.stderr.is_empty()), "{line} says nothing");
    }
}

#[test]
fn b15_3_a_terminal_gets_no_colour_that_is_not_wanted() {
    for line in lines_of_every_command() {
        let left = Terminal::run(workload(shop(), &line).env("NO_COLOR", "1"), 100, 60).end();
        assert!(!left.raw.is_empty(), "{line} says nothing");
        // Of the sequences that begin with these two, the ones that end with an m are colours.
        for sequence in left.raw.split("\u{1b}[").skip(1) {
            let end = sequence.trim_start_matches(|character: char| character.is_ascii_digit() || character == ';');
            assert!(!end.starts_with('m'), "{line}: {:?}", left.raw);
        }
    }
}
