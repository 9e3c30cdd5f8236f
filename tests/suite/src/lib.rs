//! What the end-to-end tests share: the released command as a user runs it, and the real cluster with `kubectl` as an
//! independent witness.
//!
//! The tests on the cluster are `#[ignore]`d so that a plain `cargo test` works without one; `make test` brings the
//! cluster up and runs them.
#![allow(clippy::panic, clippy::expect_used, reason = "a test's helper: a failure here is a failed test")]

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

/// How long a condition may take before a test gives up. Generous: two cores run a whole cluster beside the tests.
pub const PATIENCE: Duration = Duration::from_secs(90);

/// The folder the workspace is in.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).expect("tests/suite is two below the root").to_owned()
}

/// The released command, which `make build` makes.
pub fn binary() -> PathBuf {
    let path = root().join("target/release/workload");
    assert!(path.exists(), "{} is missing: run `make build`", path.display());
    path
}

/// A finished component by name, e.g. `kubernetes` or `hostile-script`.
pub fn component(name: &str) -> PathBuf {
    let path = Path::new(env!("WORKLOAD_COMPONENTS")).join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `make components`", path.display());
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

/// The real cluster as `make cluster` leaves it.
pub struct Cluster;

impl Cluster {
    /// A file that the cluster wrote for the tests, e.g. `kubeconfig` or `kubeconfig-token`.
    pub fn file(name: &str) -> PathBuf {
        let path = root().join("target/cluster").join(name);
        assert!(path.exists(), "{} is missing: run `make cluster`", path.display());
        path
    }

    /// Runs the cluster's own `kubectl` as its administrator and returns what it printed.
    #[track_caller]
    pub fn kubectl(args: &[&str]) -> String {
        let output = Self::kubectl_command(args).output().expect("kubectl runs");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "kubectl {args:?}: {}", String::from_utf8_lossy(&output.stderr));
        text
    }

    fn kubectl_command(args: &[&str]) -> Command {
        let mut command = Command::new(root().join("tests/cluster/cluster"));
        command.arg("kubectl").args(args).stdin(Stdio::null());
        command
    }
}

/// One namespace, for one test; deleted with everything in it when the test ends.
pub struct Namespace {
    /// Its name.
    pub name: String,
}

impl Namespace {
    /// Makes a namespace whose name starts with `test`.
    #[track_caller]
    pub fn new(test: &str) -> Namespace {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{test}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Cluster::kubectl(&["create", "namespace", &name]);
        Namespace { name }
    }

    /// An id in this namespace.
    pub fn id(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    /// `kubectl` in this namespace.
    #[track_caller]
    pub fn kubectl(&self, args: &[&str]) -> String {
        Cluster::kubectl(&[&["--namespace", self.name.as_str()], args].concat())
    }

    /// The names of all objects of these kinds, e.g. `pods,replicasets`.
    #[track_caller]
    pub fn names(&self, kinds: &str) -> Vec<String> {
        self.kubectl(&["get", kinds, "--output", "name"]).lines().map(str::to_owned).collect()
    }

    /// The names of Pods in which a container may still run. A Pod whose containers have ended can be there for a moment.
    #[track_caller]
    pub fn live_pods(&self) -> Vec<String> {
        let selector = "--field-selector=status.phase!=Succeeded,status.phase!=Failed";
        self.kubectl(&["get", "pods", selector, "--output", "name"]).lines().map(str::to_owned).collect()
    }

    /// One object as JSON.
    #[track_caller]
    pub fn object(&self, kind: &str, name: &str) -> Value {
        serde_json::from_str(&self.kubectl(&["get", kind, name, "--output", "json"])).expect("kubectl prints JSON")
    }

    /// The command with this namespace and the administrator's kubeconfig.
    pub fn cli(&self) -> Cli {
        Cli::new(&Cluster::file("kubeconfig")).with(&["--namespace", &self.name])
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let args = ["delete", "namespace", &self.name, "--wait=false", "--ignore-not-found"];
        // Nothing can be done about a failure here: the cluster ends after the tests anyway.
        let _ = Cluster::kubectl_command(&args).output();
    }
}

/// The released command with options that every call of a test shares.
#[derive(Clone)]
pub struct Cli {
    options: Vec<String>,
    kubeconfig: PathBuf,
}

impl Cli {
    /// With a kubeconfig; nothing else of the user's environment reaches the command.
    pub fn new(kubeconfig: &Path) -> Cli {
        Cli { options: Vec::new(), kubeconfig: kubeconfig.to_owned() }
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
        command.env_clear().arg("--kubeconfig").arg(&self.kubeconfig).args(&self.options).args(args);
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
        self.create_shell(name, more, SLEEPER)
    }

    /// Creates a workload whose Pods run a shell script.
    #[track_caller]
    pub fn create_shell(&self, name: &str, more: &[&str], script: &str) -> Ran {
        let base = ["create", name, "--image", IMAGE, "--pull-policy", "Never"];
        self.run(&[&base[..], more, &["--", "sh", "-c", script]].concat()).exits(0)
    }
}

/// The image that the cluster has without any registry.
pub const IMAGE: &str = "localhost/busybox:1";

/// Runs until it gets SIGTERM.
pub const SLEEPER: &str = "trap exit TERM; while :; do sleep 0.2; done";

/// The end of a started command.
pub fn wait(child: Child) -> Ran {
    Ran::of(child.wait_with_output().expect("the command ends"))
}

/// Waits until `condition` holds, asking again and again; a test's failure when it takes longer than [`PATIENCE`].
#[track_caller]
pub fn until(what: &str, mut condition: impl FnMut() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < PATIENCE, "not within {PATIENCE:?}: {what}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
