//! Live lines: what a person sees while an operation runs, and what is left of it.

use std::io::{Read as _, Write as _};
use std::net::SocketAddr;

use rstest::rstest;
use serde_json::Value;
use vt100::{Color, Screen};

use crate::home::Home;
use crate::screen::{Terminal, lines, look_of, program, workload};
use crate::server::{deployment, list, refusal, serve};

const PLACE: &str = "/apis/apps/v1/namespaces/shop";

/// A server on which every workload wants one replica and never has it.
fn never_ready() -> SocketAddr {
    serve(|method, path, _| {
        let path = path.strip_prefix(PLACE).unwrap_or(path);
        match (method, path.strip_prefix("/deployments/")) {
            ("GET", Some(name)) => Some((200, deployment(name, "busybox:1", 1, 0))),
            ("GET", None) if path == "/deployments" => Some((200, list("Deployment", &[]))),
            ("GET", None) if path == "/replicasets" => Some((200, list("ReplicaSet", &[]))),
            ("GET", None) if path.ends_with("/pods") => Some((200, list("Pod", &[]))),
            _ => None,
        }
    })
}

fn waiting() -> Home {
    Home::new().with_server(never_ready())
}

/// The lines of a screen without the time at their ends, and the longest of these times in seconds.
fn timed(screen: &Screen) -> (Vec<String>, Option<u64>) {
    let mut longest = None;
    let without = |line: String| match line.rsplit_once("  ") {
        Some((text, time)) if time.ends_with('s') => {
            longest = longest.max(time.trim_end_matches('s').parse().ok());
            text.trim_end().to_owned()
        }
        _ => line,
    };
    (lines(screen).into_iter().map(without).collect(), longest)
}

/// Whether nothing on the screen is cut by its edge: no line goes on in the next.
fn whole(screen: &Screen) -> bool {
    let (rows, columns) = screen.size();
    (0..rows.get()).all(|row| !screen.row_wrapped(row)) && columns.get() > 0
}

#[rstest]
#[case::of_80_columns(80)]
#[case::of_200_columns(200)]
fn each_workload_has_a_line_that_ticks(#[case] columns: u16) {
    let terminal = Terminal::run(workload(waiting(), "start web api"), columns, 24);
    let expected = ["web", "api"].map(|name| format!("shop/{name}  starting: 0 of 1 replica available"));
    for seconds in 0..3 {
        terminal.until("both lines and their time", |screen| {
            let (lines, time) = timed(screen);
            lines == expected && time >= Some(seconds) && screen.cursor_position() == (0, 0)
        });
    }
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    let shown = lines(&left.screen);
    assert_eq!(shown[0], "interrupted: a moment, to see how things were left");
    for name in ["web", "api"] {
        let left = |line: &String| {
            line.starts_with(&format!("error: shop/{name}: ")) && line.ends_with("0 of 1 replica available")
        };
        assert_eq!(shown.iter().filter(|line| left(line)).count(), 1, "{shown:#?}");
    }
    assert_eq!(shown.len(), 3, "{shown:#?}");
    assert_eq!(left.screen.cursor_position(), (3, 0));
}

#[test]
fn an_interrupt_before_the_first_line_is_drawn_leaves_no_trace() {
    let (home, server) = Home::new().with_silent_server();
    let terminal = Terminal::run(workload(home, "start web"), 80, 24);
    let (mut connection, _) = server.accept().unwrap();
    assert_eq!(connection.read(&mut [0]).unwrap(), 1);
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    assert!(left.screen.contents().starts_with("interrupted: "), "{}", left.screen.contents());
}

#[test]
fn no_frame_is_drawn_twice() {
    let terminal = Terminal::run(workload(waiting(), "start web"), 80, 24);
    terminal.until("three seconds", |screen| timed(screen).1 >= Some(3));
    terminal.type_in("\u{3}");
    let raw = terminal.end().raw;
    let frames: Vec<&str> = raw.split("\u{1b}[J").filter(|part| part.contains("starting")).collect();
    assert!(frames.len() >= 4, "{frames:#?}");
    let mut different = frames.clone();
    different.dedup();
    assert_eq!(frames, different);
}

#[test]
fn a_new_size_is_seen() {
    let terminal = Terminal::run(workload(waiting(), "start web a-rather-long-name"), 80, 24);
    terminal.until("its line", |screen| {
        timed(screen).0.contains(&"shop/a-rather-long-name  starting: 0 of 1 replica available".to_owned())
    });
    for (columns, line) in
        [(50, "  starting: 0"), (40, "  starting"), (20, "  st"), (120, "  starting: 0 of 1 replica available")]
    {
        terminal.resize(columns, 24);
        terminal.until(line, |screen| {
            let lines = lines(screen);
            lines.len() == 2 && lines.iter().all(|shown| shown.contains(line) && shown.ends_with('s')) && whole(screen)
        });
    }
    terminal.resize(80, 2);
    terminal.until("one line for both", |screen| lines(screen).iter().any(|line| line.starts_with("… and 2 more  ")));
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
}

#[test]
fn more_workloads_than_lines() {
    let ids: Vec<String> = (10..50).map(|number| format!("web{number}")).collect();
    let terminal = Terminal::run(workload(waiting(), &format!("start {}", ids.join(" "))), 80, 10);
    terminal.until("the first eight and the number of the others", |screen| {
        let lines = lines(screen);
        let first = lines.iter().zip(&ids).take(8).all(|(line, id)| line.starts_with(&format!("shop/{id}  starting")));
        first && lines.len() == 9 && lines[8].starts_with("… and 32 more  ") && screen.cursor_position() == (0, 0)
    });
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    assert!(!left.screen.contents().contains("more"), "{}", left.screen.contents());
}

/// Makes one, refuses one, and says nothing to the third.
fn making() -> Home {
    let home = Home::new().with_server(serve(|_, _, body: &Value| match body["metadata"]["name"].as_str() {
        Some("good") => {
            let mut made = body.clone();
            made["metadata"]["uid"] = "uid-good".into();
            made["metadata"]["resourceVersion"] = "7".into();
            Some((201, made))
        }
        Some("bad") => Some(refusal(403, "Forbidden", "deployments", "bad")),
        _ => None,
    }));
    let specs = ["slow", "bad", "good"].map(|name| format!(r#"{{"name": "{name}", "image": "busybox:1"}}"#));
    home.file("specs.json", format!("[{}]", specs.join(", ")));
    home
}

#[test]
fn the_line_of_what_ended_becomes_its_outcome() {
    let terminal = Terminal::run(workload(making(), "create -f specs.json"), 80, 24);
    terminal.until("one that is left, below two that ended", |screen| {
        let lines = lines(screen);
        lines.len() == 3
            && lines[2].starts_with("shop/slow  creating")
            && lines.iter().any(|line| line.starts_with("error: shop/bad: "))
            && lines.iter().any(|line| line.starts_with("shop/good  created  ("))
            && screen.cursor_position() == (2, 0)
            && look_of(screen, "error:") == (Color::Idx(1), true)
            && look_of(screen, "created") == (Color::Idx(2), false)
    });
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    assert!(left.screen.contents().contains("error: shop/slow: "), "{}", left.screen.contents());
    assert!(!left.screen.contents().contains("creating"), "{}", left.screen.contents());
}

#[test]
fn without_colour_by_the_environment() {
    let terminal = Terminal::run(workload(making(), "create -f specs.json").env("NO_COLOR", "1"), 80, 24);
    terminal
        .until("one that is left", |screen| timed(screen).0.get(2).is_some_and(|line| line == "shop/slow  creating"));
    terminal.type_in("\u{3}");
    let raw = terminal.end().raw;
    assert!(raw.contains("\u{1b}[J"), "the lines are live all the same: {raw:?}");
    let styled =
        raw.split("\u{1b}[").skip(1).any(|part| part.trim_start_matches(|c: char| !c.is_alphabetic()).starts_with('m'));
    assert!(!styled, "{raw:?}");
}

#[rstest]
#[case::dumb("dumb", "start web")]
#[case::not_said("", "start web --color never")]
#[case::with_traces("xterm", "start web -v --color never")]
fn one_below_the_other_where_lines_cannot_be_live(#[case] term: &str, #[case] line: &str) {
    let terminal = Terminal::run(workload(waiting(), line).env("TERM", term), 80, 24);
    terminal.until_line("shop/web: 0 of 1 replica available");
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    assert!(!left.raw.contains('\u{1b}'), "{:?}", left.raw);
    assert!(left.screen.contents().contains("error: shop/web: "), "{}", left.screen.contents());
}

#[rstest]
#[case::status("status web api", &["shop/web  reading", "shop/api  reading"])]
#[case::list("list", &["shop  listing"])]
#[case::list_of_all("list -A", &["all namespaces  listing"])]
#[case::explain("explain web", &["shop/web  reading"])]
#[case::stop("stop web", &["shop/web  stopping"])]
#[case::delete("delete web", &["shop/web  deleting"])]
#[case::plan("stop web --plan", &["shop/web  planning"])]
fn every_command_says_what_it_does(#[case] line: &str, #[case] expected: &[&str]) {
    let home = Home::new().with_server(serve(|_, _, _| None));
    let terminal = Terminal::run(workload(home, line), 80, 24);
    terminal.until("its line", |screen| timed(screen).0 == expected);
    terminal.type_in("\u{3}");
    let left = terminal.end();
    assert_eq!(left.code, Some(130));
    let text = left.screen.contents();
    assert!(text.starts_with("interrupted: ") && !expected.iter().any(|line| text.contains(line)), "{text}");
}

#[test]
fn the_answer_is_plain_in_a_pipe_while_the_terminal_is_live() {
    let mut terminal = Terminal::run(workload(making(), "create -f specs.json").piped_out(), 80, 24);
    terminal.until("one that is left", |screen| timed(screen).0.contains(&"shop/slow  creating".to_owned()));
    terminal.type_in("\u{3}");
    let (out, _) = terminal.piped();
    let left = terminal.end();
    assert!(out.starts_with("shop/good  created  (") && out.lines().count() == 1 && !out.contains('\u{1b}'), "{out:?}");
    assert!(!left.screen.contents().contains("good"), "{}", left.screen.contents());
}

#[test]
fn a_pipe_of_errors_holds_no_escape_while_the_answer_is_on_a_terminal() {
    let mut terminal = Terminal::run(workload(making(), "create -f specs.json").piped_err(), 80, 24);
    terminal.until("its colour", |screen| {
        lines(screen).iter().any(|line| line.starts_with("shop/good  created  ("))
            && look_of(screen, "created") == (Color::Idx(2), false)
    });
    terminal.type_in("\u{3}");
    let (_, err) = terminal.piped();
    assert!(err.contains("error: shop/bad: ") && !err.contains('\u{1b}') && !err.contains("creating"), "{err:?}");
    assert_eq!(lines(&terminal.end().screen).len(), 1);
}

/// What a shell started with `&` must not write over its prompt.
#[test]
fn nothing_is_live_in_the_background() {
    let script =
        format!("set -m; '{}' start web --timeout 2s & wait $!; echo ended with $?", env!("CARGO_BIN_EXE_workload"));
    let terminal = Terminal::run(program(waiting(), "bash", ["-c", &script]).env("NO_COLOR", "1"), 80, 24);
    terminal.until_line("ended with 7");
    let left = terminal.end();
    assert!(!left.raw.contains('\u{1b}'), "{:?}", left.raw);
    assert!(left.screen.contents().contains("error: shop/web: "), "{}", left.screen.contents());
}

#[test]
fn a_closed_standard_error_changes_nothing() {
    let home = making();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = home
        .command(["create", "-f", "-", "-v"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .stderr(writer)
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(br#"[{"name": "bad", "image": "a"}, {"name": "good", "image": "a"}]"#)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(output.stdout.starts_with(b"shop/good  created  ("), "{}", String::from_utf8_lossy(&output.stdout));
}
