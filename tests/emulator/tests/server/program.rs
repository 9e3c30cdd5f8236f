//! The program.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use rstest::rstest;

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_kube-emulator"));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> (i32, String) {
    let Output { status, stderr, .. } = program(arguments).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stderr).unwrap())
}

/// A program that serves; it is ended whatever becomes of the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // It has ended already unless the test failed.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts it, and gives what it says and where it listens.
fn start(out: &str, more: &[&str]) -> (Running, Vec<String>, BufReader<std::process::ChildStdout>) {
    let mut child = program(&[&["--kubeconfig-out", out], more].concat()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut said = Vec::new();
    let wanted = if Path::new(out).extension().is_some() { 2 } else { 6 };
    while said.len() < wanted {
        let mut line = String::new();
        assert!(lines.read_line(&mut line).unwrap() > 0, "it ended after {said:?}");
        said.push(line.trim_end().to_owned());
    }
    (Running(child), said, lines)
}

#[rstest]
#[case::interrupted("-INT")]
#[case::asked_to_end("-TERM")]
fn it_says_where_it_listens_and_ends_clean(#[case] signal: &str) {
    let folder = tempfile::tempdir().unwrap();
    let out = format!("{}/", folder.path().join("new").display());
    let (mut running, said, mut lines) = start(&out, &["--seed", "7"]);
    let address = said[0].strip_prefix("listening on https://").unwrap();
    std::net::TcpStream::connect(address).unwrap();
    let kubeconfig = fs::read_to_string(format!("{out}kubeconfig")).unwrap();
    assert!(kubeconfig.contains(address));
    assert_eq!(said[1], format!("wrote {out}kubeconfig"));
    let token = fs::read_to_string(format!("{out}token")).unwrap();

    assert!(Command::new("kill").args([signal, &running.0.id().to_string()]).status().unwrap().success());
    assert_eq!(running.0.wait().unwrap().code(), Some(0));
    let (mut more, mut errors) = (String::new(), String::new());
    lines.read_to_string(&mut more).unwrap();
    running.0.stderr.take().unwrap().read_to_string(&mut errors).unwrap();
    assert_eq!((more.as_str(), errors.as_str()), ("", ""));
    assert!(!said.join("\n").contains(token.trim()), "no secret is printed");
    assert_eq!(fs::read_dir(&out).unwrap().count(), 0, "what it wrote is gone");
    assert!(std::net::TcpStream::connect(address).is_err());
}

#[tokio::test]
async fn faults_stand_in_the_scenario() {
    let folder = tempfile::tempdir().unwrap();
    let (scenario, out) = (folder.path().join("scenario.json"), folder.path().join("kubeconfig.yaml"));
    fs::write(&scenario, r#"{"faults": [{"on": "connection", "fault": {"garbage": ["before", "SSH-2.0"]}}]}"#).unwrap();
    let (_running, said, _) = start(out.to_str().unwrap(), &["--scenario", scenario.to_str().unwrap()]);
    let mut bytes = Vec::new();
    let address = said[0].strip_prefix("listening on https://").unwrap();
    std::net::TcpStream::connect(address).unwrap().read_to_end(&mut bytes).unwrap();
    assert_eq!(bytes, b"SSH-2.0");
}

#[rstest]
#[case::no_place_for_the_kubeconfig(&[], 2, "--kubeconfig-out")]
#[case::no_address(&["--listen", "here", "--kubeconfig-out", "OUT"], 2, "--listen")]
#[case::not_on_loopback(&["--listen", "0.0.0.0:0", "--kubeconfig-out", "OUT"], 1, "0.0.0.0 is not an address of this machine alone")]
#[case::no_folder(&["--kubeconfig-out", "/nowhere/at/all"], 1, "cannot write /nowhere/at/all: ")]
#[case::no_scenario(&["--kubeconfig-out", "OUT", "--scenario", "/nowhere"], 2, "scenario /nowhere: cannot read it: ")]
#[case::not_ours(&["--kubeconfig-out", "FOREIGN"], 1, "was not written by kube-emulator")]
#[case::no_json(&["--kubeconfig-out", "OUT", "--scenario", "FOREIGN"], 2, "FOREIGN: it cannot be understood: expected value at line 1 column 1\n")]
#[case::a_fault_that_is_none(&["--kubeconfig-out", "OUT", "--scenario", "FAULT"], 2, "unknown variant `explode`")]
fn what_is_wrong_is_said(#[case] arguments: &[&str], #[case] code: i32, #[case] said: &str) {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    fs::write(path("FOREIGN"), "kind: Config\n").unwrap();
    fs::write(path("FAULT"), r#"{"faults": [{"fault": {"explode": 1}}]}"#).unwrap();
    let arguments: Vec<_> = arguments
        .iter()
        .map(|argument| match *argument {
            "OUT" | "FOREIGN" | "FAULT" => path(argument),
            other => other.to_owned(),
        })
        .collect();
    let arguments: Vec<_> = arguments.iter().map(String::as_str).collect();
    let (got, error) = run(&arguments);
    assert_eq!(got, code, "{error}");
    assert!(error.contains(said), "{error}");
    assert!(!folder.path().join("OUT").exists());
}

#[test]
fn a_taken_port_is_said() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("config");
    let (code, error) = run(&["--listen", &address, "--kubeconfig-out", out.to_str().unwrap()]);
    assert_eq!(code, 1);
    assert!(error.starts_with(&format!("error: cannot listen on {address}: ")), "{error}");
}
