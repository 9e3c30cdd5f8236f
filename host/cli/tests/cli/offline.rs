//! What needs no server: wrong arguments, configurations, components and specs, and a server that is not there.

use std::ffi::OsStr;
use std::io::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::process::Stdio;

use rstest::rstest;
use serde_json::json;

use crate::home::{Answer, Home, built_in};

#[rstest]
#[case::nothing("", "Usage: workload")]
#[case::unknown_command("restart web", "unrecognized subcommand 'restart'")]
#[case::no_id("start", "<ID>")]
#[case::bad_timeout("list --timeout 2h", "a timeout is at most 1h")]
#[case::reserved_labels("list --label-prefix apps.kubernetes.io", "labels of kubernetes.io are Kubernetes' own")]
#[case::typed_out_of_order("list --timeout \u{202e}5", r"invalid value '\u{202e}5' for '--timeout")]
#[case::label_conflict("--labels opensource-server list --label-prefix x", "cannot be used with")]
fn a_wrong_command_line(#[case] line: &str, #[case] said: &str) {
    let answer = Home::new().run(line);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert!(answer.stderr.contains(said), "{answer:?}");
    assert_eq!(answer.stdout, "");
}

#[test]
fn a_wrong_command_line_that_is_no_text() {
    let answer = Answer::of(Home::new().command(["status".as_ref(), OsStr::from_bytes(b"\xff")]).output().unwrap());
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.starts_with("error: invalid UTF-8") && answer.stderr.lines().count() > 2, "{answer:?}");
}

#[rstest]
#[case::before("-o json restart web", "unrecognized subcommand 'restart'")]
#[case::after("list --timeout 2h -ojson", "invalid value '2h' for '--timeout <TIME>': a timeout is at most 1h")]
fn a_wrong_command_line_in_json(#[case] line: &str, #[case] message: &str) {
    let answer = Home::new().run(line);
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert_eq!(answer.json(), json!({"error": {"kind": "usage", "message": message, "detail": {}}}));
    assert!(answer.stderr.contains(message), "{answer:?}");
}

#[rstest]
#[case::all("--help", "Exit codes:")]
#[case::create("create --help", "busybox:1.37 -- sh -c")]
#[case::version("--version", env!("CARGO_PKG_VERSION"))]
fn help_goes_to_standard_output(#[case] line: &str, #[case] said: &str) {
    let answer = Home::new().run(line);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(answer.stdout.contains(said), "{answer:?}");
}

#[rstest]
#[case::none("list", "no kubeconfig")]
#[case::named("list --kubeconfig nowhere", "nowhere")]
#[case::of_several("status a b/c d", "no kubeconfig")]
#[case::of_a_write("start web", "no kubeconfig")]
fn a_missing_kubeconfig(#[case] line: &str, #[case] said: &str) {
    let home = Home::new();
    let answer = home.run(line);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.starts_with("error: ") && answer.stderr.contains(said), "{answer:?}");
    assert_eq!(answer.stderr.lines().count(), 1, "{answer:?}");

    let answer = home.run(&format!("{line} -o json"));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert_eq!(answer.json()["error"]["kind"], "configuration");
}

#[test]
fn an_unknown_context() {
    let answer = Home::new().with_unreachable_server().run("list --context there -o json");
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let error = &answer.json()["error"];
    assert_eq!(error["kind"], "configuration");
    assert!(
        error["message"].as_str().is_some_and(|text| text.contains("there") && text.contains("here")),
        "{answer:?}"
    );
}

#[test]
fn an_unreachable_server_is_unknown_never_missing() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run("status web -o json --timeout 10s");
    assert_eq!(answer.code, Some(6), "{answer:?}");
    let workload = answer.json();
    assert_eq!(workload["id"], "shop/web");
    assert_eq!((&workload["status"], &workload["reason"]), (&json!("unknown"), &json!("unreachable")));
    assert_eq!(workload["settled"], false);
    let refused = "the connection was refused";
    assert!(workload["message"].as_str().is_some_and(|text| text.ends_with(refused)), "{workload}");
    assert_eq!(workload["facts"]["transport"], refused, "{workload}");

    let answer = home.run("status web --timeout 10s");
    assert_eq!(answer.code, Some(6), "{answer:?}");
    let mut lines = answer.stdout.lines();
    assert!(lines.next().is_some_and(|head| head.starts_with("ID ")), "{answer:?}");
    let row: Vec<_> = lines.next().unwrap_or_default().split_whitespace().take(4).collect();
    assert_eq!(row, ["shop/web", "unknown", "unreachable", "-"]);
}

#[test]
fn several_are_a_list_in_the_order_given_and_each_once() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run("status b a/b/c prod/a shop/b -n shop -o json --timeout 10s");
    // The highest: an invalid id (9) beside an unreachable server (6).
    assert_eq!(answer.code, Some(9), "{answer:?}");
    let found = answer.json();
    let ids: Vec<_> = found.as_array().into_iter().flatten().map(|item| item["id"].clone()).collect();
    assert_eq!(ids, ["shop/b", "a/b/c", "prod/a"]);
    assert_eq!(found[0]["status"], "unknown");
    assert_eq!(found[1]["error"]["kind"], "invalid-id");
    assert_eq!(found[2]["status"], "unknown");
}

#[test]
fn a_list_of_an_unreachable_server_says_what_is_left_out() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run("list -o json --timeout 10s");
    assert_eq!(answer.code, Some(6), "{answer:?}");
    let found = answer.json();
    assert_eq!(found["workloads"], json!([]));
    assert_eq!(found["incomplete"][0]["place"], "shop", "{answer:?}");
    assert_eq!(found["incomplete"][0]["error"]["kind"], "unavailable", "{answer:?}");
    assert_eq!(found["incomplete"][0]["error"]["detail"]["transport"], "the connection was refused", "{answer:?}");

    let answer = home.run("list --timeout 10s");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(6), ""), "{answer:?}");
    assert!(answer.stderr.starts_with("error: shop: "), "{answer:?}");
}

#[test]
fn a_snapshot_is_whole_or_not_there() {
    let answer = Home::new().with_unreachable_server().run("list -o manager --timeout 10s");
    assert_eq!(answer.code, Some(6), "{answer:?}");
    assert_eq!(answer.json()["error"]["kind"], "unavailable", "{answer:?}");
}

#[rstest]
#[case::start("start web")]
#[case::stop("stop web")]
#[case::delete("delete web")]
#[case::plan("start web --plan")]
#[case::create("create web --image nginx")]
fn a_write_to_an_unreachable_server(#[case] line: &str) {
    let home = Home::new().with_unreachable_server();
    let answer = home.run(&format!("{line} -o json --timeout 5s"));
    // Some writes wait for the server until the time is over.
    let kind = match answer.code {
        Some(6) => "unavailable",
        Some(7) => "timeout",
        _ => panic!("{answer:?}"),
    };
    let document = answer.json();
    assert_eq!(document["error"]["kind"], kind, "{answer:?}");
    assert_eq!(document["error"]["detail"]["transport"], "the connection was refused", "{answer:?}");
    assert!(answer.stderr.starts_with("error: shop/web: "), "{answer:?}");
    assert!(answer.stderr.trim_end().ends_with("no answer from the server: the connection was refused"), "{answer:?}");
}

#[rstest]
#[case::status("status a/b/c")]
#[case::explain("explain a/b/c")]
#[case::start("start a/b/c")]
#[case::delete("delete a/b/c")]
#[case::create("create a/b/c --image nginx")]
fn a_fault_says_whose_it_is(#[case] line: &str) {
    let home = Home::new().with_unreachable_server();
    let answer = home.run(&format!("{line} -o json"));
    let document = answer.json();
    assert_eq!((answer.code, &document["id"]), (Some(9), &json!("a/b/c")), "{answer:?}");
    assert_eq!(document["error"]["kind"], "invalid-id", "{answer:?}");
    if !line.starts_with("explain") {
        let answer = home.run(&format!("{line} -o manager"));
        let document = answer.json();
        assert_eq!((answer.code, &document["error"]["detail"]["id"]), (Some(9), &json!("a/b/c")), "{answer:?}");
    }
}

#[rstest]
#[case::a_list("list", "GET /apis/apps/v1/namespaces/shop/deployments?")]
#[case::a_status("status web", "GET /apis/apps/v1/namespaces/shop/deployments/web")]
fn what_was_asked_is_told_to_whoever_wants_to_know(#[case] line: &str, #[case] asked: &str) {
    let home = Home::new().with_unreachable_server();
    let answer = home.run(&format!("{line} -v --timeout 10s"));
    let told = answer.stderr.lines().find(|line| line.contains(asked)).unwrap_or_else(|| panic!("{answer:?}"));
    assert!(told.contains(": the connection was refused (") && !told.contains("127.0.0.1"), "{told}");
    assert!(!home.run(&format!("{line} --timeout 10s")).stderr.contains("GET "), "nobody asked");
}

/// As of a variable of a shell that is not set.
#[rstest]
#[case::one(&["explain", ""], "error: \"\" is no id of a workload: it is NAME or NAMESPACE/NAME, such as web or shop/web\n")]
#[case::beside_others(&["stop", "", "a/b/c"], "error: \"\" is no id of a workload: it is NAME or NAMESPACE/NAME")]
#[case::a_place_alone(&["status", "shop/"], "error: \"shop/\" is no id of a workload: its name is no DNS subdomain\n")]
fn an_id_that_is_empty(#[case] words: &[&str], #[case] said: &str) {
    let home = Home::new().with_unreachable_server();
    let answer = Answer::of(home.command(words).output().unwrap());
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(9), ""), "{answer:?}");
    assert!(answer.stderr.starts_with(said), "{answer:?}");
}

#[test]
fn the_component_can_be_another_file() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run(&format!("status web -o json --timeout 10s --component {}", built_in().display()));
    assert_eq!(answer.code, Some(6), "{answer:?}");
}

#[rstest]
#[case::garbage(Some(b"this is no component".to_vec()))]
#[case::empty(Some(Vec::new()))]
#[case::core_module(Some(b"\0asm\x01\0\0\0".to_vec()))]
#[case::cut(None)]
fn a_broken_component(#[case] content: Option<Vec<u8>>) {
    let home = Home::new().with_unreachable_server();
    let whole = std::fs::read(built_in()).unwrap();
    let content = content.unwrap_or_else(|| whole[..whole.len() / 2].to_vec());
    let file = home.file("broken.wasm", content);
    for line in [format!("provider inspect {}", file.display()), format!("start web --component {}", file.display())] {
        let answer = home.run(&format!("{line} -o json"));
        assert_eq!(answer.code, Some(2), "{answer:?}");
        let error = &answer.json()["error"];
        assert_eq!(error["kind"], "configuration");
        assert!(error["message"].as_str().is_some_and(|text| text.contains("broken.wasm: ")), "{answer:?}");
    }
}

#[test]
fn a_missing_component() {
    let answer = Home::new().run("provider inspect nowhere.wasm");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.contains("nowhere.wasm: no such file"), "{answer:?}");
}

#[test]
fn inspecting_the_built_in_component() {
    let home = Home::new();
    let answer = home.run(&format!("provider inspect {} -o json", built_in().display()));
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let found = answer.json();
    assert_eq!(found["engine"], "kubernetes", "{answer:?}");
    assert!(found["asks"].as_array().is_some_and(|asks| !asks.is_empty()), "{answer:?}");
    assert_eq!(found["spec_schema"]["type"], "object", "{answer:?}");

    let answer = home.run(&format!("provider inspect {}", built_in().display()));
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stdout.contains("engine") && answer.stdout.contains("kubernetes"), "{answer:?}");
}

#[test]
fn listing_the_built_in_provider() {
    let home = Home::new();
    let answer = home.run("provider list -o json");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let found = answer.json();
    assert_eq!(found["providers"][0]["engine"], "kubernetes");
    assert_eq!(found["providers"][0]["source"], "built-in");

    let answer = home.run("provider list");
    assert!(answer.stdout.starts_with("NAME "), "{answer:?}");
    assert_eq!(answer.stdout.lines().count(), 2, "{answer:?}");
}

#[rstest]
#[case::no_json("{", "invalid-spec")]
#[case::nameless("{\"image\": \"nginx\"}", "invalid-spec")]
#[case::empty_list("[]", "invalid-spec")]
fn a_bad_spec_from_standard_input(#[case] text: &str, #[case] kind: &str) {
    let home = Home::new().with_unreachable_server();
    let mut child = home
        .command(["create", "-f", "-", "-o", "json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert_eq!(answer.json()["error"]["kind"], kind);
    assert!(answer.stderr.starts_with("error: standard input: "), "{answer:?}");
}

#[test]
fn a_missing_spec_file() {
    let home = Home::new().with_unreachable_server();
    let answer = home.run("create -f nowhere.json");
    assert_eq!(answer.code, Some(2), "{answer:?}");
    assert_eq!(answer.stderr, "error: nowhere.json: no such file\n");
}

#[cfg(target_os = "linux")]
#[test]
fn an_answer_that_cannot_be_written() {
    let home = Home::new();
    let full = std::fs::File::options().write(true).open(Path::new("/dev/full")).unwrap();
    let output = home.command(["provider", "list"]).stdout(full).output().unwrap();
    let answer = Answer::of(output);
    assert_eq!(answer.code, Some(1), "{answer:?}");
    assert_eq!(answer.stderr, "error: the answer could not be written: no space left on device\n");
}

#[test]
fn a_reader_that_went_away_is_no_error() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home.command(["provider", "list", "-o", "json"]).stdout(writer).output().unwrap();
    let answer = Answer::of(output);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
}
