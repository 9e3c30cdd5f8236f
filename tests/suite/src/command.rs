//! The released command as a user runs it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::{IMAGE, SLEEPER, root};

/// The released command, which `make build` makes.
fn binary() -> PathBuf {
    let path = root().join("target/release/workload");
    assert!(path.exists(), "{} is missing: run `make build`", path.display());
    path
}

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    /// The exit code.
    pub code: i32,
    /// Standard output.
    pub stdout: String,
    /// Standard error.
    pub stderr: String,
}

impl Ran {
    fn of(output: Output) -> Ran {
        Ran {
            code: output.status.code().expect("the command was not killed by a signal"),
            stdout: String::from_utf8(output.stdout).expect("standard output is UTF-8"),
            stderr: String::from_utf8(output.stderr).expect("standard error is UTF-8"),
        }
    }

    /// Standard output as the one JSON document it must be.
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("not one JSON document ({e}): {self:?}"))
    }

    /// Asserts the exit code, showing everything when it is another.
    #[track_caller]
    pub fn exits(self, code: i32) -> Ran {
        assert_eq!(self.code, code, "exit code; {self:#?}");
        self
    }
}

/// The released command with options that every call of a test shares.
#[derive(Clone)]
pub struct Cli {
    options: Vec<String>,
    kubeconfig: Option<PathBuf>,
    environment: Vec<(String, OsString)>,
}

impl Cli {
    /// With a kubeconfig; nothing else of the user's environment reaches the command.
    pub fn new(kubeconfig: &Path) -> Cli {
        Cli { options: Vec::new(), kubeconfig: Some(kubeconfig.to_owned()), environment: Vec::new() }
    }

    /// With nothing but these variables of the environment.
    pub fn of_environment(variables: &[(&str, OsString)]) -> Cli {
        let environment = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        Cli { options: Vec::new(), kubeconfig: None, environment }
    }

    /// The same with further options before the command's words.
    pub fn with(&self, options: &[&str]) -> Cli {
        let mut cli = self.clone();
        cli.options.extend(options.iter().map(|&o| o.to_owned()));
        cli
    }

    /// The command, ready to start.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(binary());
        command.env_clear().envs(self.environment.iter().map(|(name, value)| (name, value)));
        if let Some(kubeconfig) = &self.kubeconfig {
            command.arg("--kubeconfig").arg(kubeconfig);
        }
        command.args(&self.options).args(args);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it to its end.
    pub fn run(&self, args: &[&str]) -> Ran {
        Ran::of(self.command(args).output().expect("the command runs"))
    }

    /// Runs it with `-o json`.
    pub fn json(&self, args: &[&str]) -> Ran {
        self.with(&["--output", "json"]).run(args)
    }

    /// Starts it and returns while it runs.
    pub fn spawn(&self, args: &[&str]) -> Child {
        self.command(args).spawn().expect("the command runs")
    }

    /// Creates a workload whose Pods run until they are told to stop, and then stop at once.
    #[track_caller]
    pub fn create_sleeper(&self, name: &str, more: &[&str]) -> Ran {
        let base = ["create", name, "--image", IMAGE, "--pull-policy", "Never"];
        self.run(&[&base[..], more, &["--", "sh", "-c", SLEEPER]].concat()).exits(0)
    }
}

/// The end of a started command.
pub fn wait(child: Child) -> Ran {
    Ran::of(child.wait_with_output().expect("the command ends"))
}
