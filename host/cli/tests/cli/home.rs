//! The built command in a folder of its own, and what it answered.

use std::ffi::OsStr;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};

/// A folder of its own, without anything of the user's.
pub struct Home(tempfile::TempDir);

impl Home {
    pub fn new() -> Home {
        Home(tempfile::tempdir().unwrap())
    }

    pub fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn command<S: AsRef<OsStr>>(&self, arguments: impl IntoIterator<Item = S>) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_workload"));
        command.args(arguments).env_clear().env("HOME", self.0.path()).current_dir(self.0.path());
        command
    }

    pub fn run(&self, line: &str) -> Answer {
        Answer::of(self.command(line.split_whitespace()).stdin(Stdio::null()).output().unwrap())
    }

    /// The kubeconfig that `kubectl` would find, for a server at a port where nobody listens.
    pub fn with_unreachable_server(self) -> Home {
        let (home, listener) = self.with_silent_server();
        drop(listener);
        home
    }

    /// The same for a server that takes connections and says nothing.
    pub fn with_silent_server(self) -> (Home, TcpListener) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        (self.with_server(address), listener)
    }

    /// The same for this server.
    pub fn with_server(self, address: SocketAddr) -> Home {
        let server = format!("http://{address}");
        std::fs::create_dir(self.0.path().join(".kube")).unwrap();
        let kubeconfig = json!({
            "apiVersion": "v1", "kind": "Config", "current-context": "here",
            "clusters": [{"name": "c", "cluster": {"server": server}}],
            "users": [{"name": "u", "user": {"token": "hunter2"}}],
            "contexts": [{"name": "here", "context": {"cluster": "c", "user": "u", "namespace": "shop"}}],
        });
        std::fs::write(self.0.path().join(".kube/config"), kubeconfig.to_string()).unwrap();
        self
    }
}

pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Answer {
    pub fn of(output: Output) -> Answer {
        let answer = Answer {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        };
        for text in [&answer.stdout, &answer.stderr] {
            assert!(!text.contains('\u{1b}'), "an escape byte in a pipe: {text:?}");
            assert!(!text.contains("hunter2"), "the token: {text}");
            assert!(!text.contains("panicked"), "{text}");
        }
        answer
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }
}

impl std::fmt::Debug for Answer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "exit code {:?}\n--- stdout\n{}--- stderr\n{}", self.code, self.stdout, self.stderr)
    }
}

/// The finished component that the command embeds.
pub fn built_in() -> PathBuf {
    PathBuf::from(env!("WORKLOAD_COMPONENTS")).join("kubernetes.wasm")
}
