//! Ctrl-C while a server keeps silent.

use std::io::Read as _;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rstest::rstest;

use crate::home::{Answer, Home};

#[rstest]
#[case::one("start web", "INT", "error: shop/web: ")]
#[case::several("stop a b", "INT", "error: shop/a: ")]
#[case::by_a_supervisor("delete web", "TERM", "error: shop/web: ")]
#[case::a_write_on_its_way("create web --image nginx", "INT", "may still take effect")]
#[case::a_list("list", "INT", "error: ")]
fn ends_and_says_how_it_left_things(#[case] line: &str, #[case] signal: &str, #[case] said: &str) {
    let (home, server) = Home::new().with_silent_server();
    let child = home
        .command(line.split_whitespace().chain(["-o", "json"]))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // Once its request is here, it waits for an answer.
    let (mut connection, _) = server.accept().unwrap();
    assert_eq!(connection.read(&mut [0]).unwrap(), 1);
    let kill = Command::new("sh").args(["-c", &format!("kill -{signal} {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let answer = Answer::of(child.wait_with_output().unwrap());
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.stderr.contains(said), "{answer:?}");
    let document = answer.json();
    match document.as_array() {
        Some(items) => {
            let ids: Vec<_> = items.iter().map(|item| item["id"].clone()).collect();
            assert_eq!(ids, ["shop/a", "shop/b"]);
            assert!(items.iter().all(|item| item["error"]["kind"] == "cancelled"), "{answer:?}");
        }
        None => assert_eq!(document["error"]["kind"], "cancelled", "{answer:?}"),
    }
}

/// Waits until the process has a handler for SIGINT.
#[allow(clippy::unwrap_used, reason = "a helper of tests")]
fn listens(pid: u32) {
    const SIGINT: u64 = 1 << 1;
    let start = Instant::now();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap();
        if u64::from_str_radix(caught.trim(), 16).unwrap() & SIGINT != 0 {
            return;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "it never listened for SIGINT");
        std::thread::yield_now();
    }
}

#[rstest]
#[case::specs("create -f -")]
#[case::a_pipe_by_name("create -f /dev/stdin -o json")]
#[case::a_kubeconfig("list --kubeconfig /dev/stdin")]
fn ends_while_a_pipe_says_nothing(#[case] line: &str) {
    let (home, _server) = Home::new().with_silent_server();
    let mut child = home
        .command(line.split_whitespace())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let stdin = child.stdin.take().unwrap();
    // Before it listens for signals, one would kill it.
    listens(child.id());
    let kill = Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status().unwrap();
    assert!(kill.success());
    let answer = Answer::of(child.wait_with_output().unwrap());
    drop(stdin);
    assert_eq!(answer.code, Some(130), "{answer:?}");
    assert!(answer.stderr.contains("interrupted before anything was asked for"), "{answer:?}");
}
