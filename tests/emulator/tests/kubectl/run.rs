//! Runs the chapters of the script, each in a namespace of its own.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::names::Names;
use crate::output;
use crate::record::Ran;
use crate::script::{Does, Step};

/// How long anything may take that should happen. Generous: two cores may run a whole cluster beside the tests.
const PATIENCE: Duration = Duration::from_secs(120);

/// The time between two reads while waiting for something.
const PAUSE: Duration = Duration::from_millis(200);

struct Run<'a> {
    kubeconfigs: &'a Path,
    /// What `kubectl` keeps about the server; its own for each chapter, since another server was asked before.
    cache: tempfile::TempDir,
    ns: String,
    names: Names,
    watches: BTreeMap<&'static str, Child>,
}

/// Runs one chapter; its namespace is deleted afterwards.
pub fn chapter(kubeconfigs: &Path, name: &str, steps: &[Step]) -> Vec<Ran> {
    let ns = format!("kubectl-{name}-e{}", std::process::id());
    let cache = tempfile::tempdir().expect("a folder for kubectl's cache");
    let mut run = Run { kubeconfigs, cache, ns: ns.clone(), names: Names::default(), watches: BTreeMap::new() };
    run.names.fix(&ns, "{ns}");
    let node = run.wanted("get nodes -o jsonpath={.items[0].metadata.name}");
    run.names.fix(&node, "{node}");
    run.wanted(&format!("create namespace {ns}"));
    run.until_pods_are_admitted();
    let mut all = Vec::new();
    for step in steps {
        all.extend(run.step(step));
    }
    run.wanted(&format!("delete namespace {ns} --wait=false"));
    all
}

impl Run<'_> {
    /// A command line as the program with its arguments; blanks within single quotes do not part.
    fn command(&self, line: &str, kubeconfig: &str) -> Command {
        let binary = binary();
        let line = line.replace("{ns}", &self.ns);
        let mut command = Command::new(&binary);
        // A proxy of this machine leads nowhere near a server on loopback.
        for proxy in ["HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"] {
            command.env_remove(proxy);
        }
        command.env("KUBECTL_KUBERC", "false").env("KUBECACHEDIR", self.cache.path());
        command
            .arg("kubectl")
            .arg("--kubeconfig")
            .arg(self.kubeconfigs.join(kubeconfig))
            .args(["--namespace", &self.ns]);
        command.args(words(&line)).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    fn output(&self, step: &Step) -> Output {
        let mut command = self.command(&step.line, step.kubeconfig);
        let Some(input) = &step.input else { return command.output().expect("kubectl runs") };
        let mut child = command.stdin(Stdio::piped()).spawn().expect("kubectl runs");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(input.replace("{ns}", &self.ns).as_bytes()).expect("kubectl reads");
        drop(stdin);
        child.wait_with_output().expect("kubectl ends")
    }

    /// A command that must succeed, and of which nothing is recorded.
    fn wanted(&self, line: &str) -> String {
        let output = self.command(line, "kubeconfig").output().expect("kubectl runs");
        assert!(output.status.success(), "kubectl {line}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    /// The real server admits no Pod before a controller has made the service account; the emulator has no such resource.
    fn until_pods_are_admitted(&self) {
        let end = Instant::now() + PATIENCE;
        loop {
            let output =
                self.command("get serviceaccount default -o name", "kubeconfig").output().expect("kubectl runs");
            let unknown = String::from_utf8_lossy(&output.stderr).contains("doesn't have a resource type");
            if output.status.success() || unknown {
                return;
            }
            assert!(Instant::now() < end, "no service account");
            std::thread::sleep(PAUSE);
        }
    }

    fn step(&mut self, step: &Step) -> Option<Ran> {
        match &step.does {
            Does::Record => {
                let output = self.output(step);
                let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
                Some(Ran {
                    command: step.shown(),
                    exit: output.status.code().expect("kubectl was not killed"),
                    stdout: output::lines(&mut self.names, &text(&output.stdout), step.form),
                    stderr: output::lines(&mut self.names, &text(&output.stderr), step.form),
                })
            }
            Does::Until(wanted) => {
                let end = Instant::now() + PATIENCE;
                loop {
                    let output = self.output(step);
                    let found = String::from_utf8_lossy(&output.stdout).trim().to_owned();
                    // Learns the hashes in the order in which they come to be.
                    output::lines(&mut self.names, &found, step.form);
                    if found == *wanted {
                        return None;
                    }
                    let error = String::from_utf8_lossy(&output.stderr);
                    assert!(Instant::now() < end, "kubectl {}: wanted {wanted}, found {found} {error}", step.line);
                    std::thread::sleep(PAUSE);
                }
            }
            Does::Watch(name) => {
                let mut command = self.command(&step.line, step.kubeconfig);
                // So that it ends when what it waits for never comes.
                command.arg(format!("--request-timeout={}s", PATIENCE.as_secs()));
                let child = command.spawn().expect("kubectl runs");
                self.watches.insert(name, child);
                None
            }
            Does::Seen(name, count) => Some(self.seen(name, *count, step)),
        }
    }

    /// The first lines of a watch, without those that repeat the one before; then it is ended.
    fn seen(&mut self, name: &'static str, count: usize, step: &Step) -> Ran {
        let mut child = self.watches.remove(name).expect("a watch of this name is open");
        let reader = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut seen: Vec<String> = Vec::new();
        for line in reader.lines() {
            let line = output::lines(&mut self.names, &line.expect("a line"), step.form).join("");
            if seen.last() != Some(&line) {
                seen.push(line);
            }
            if seen.len() == count {
                break;
            }
        }
        child.kill().expect("the watch can be ended");
        child.wait().expect("the watch has ended");
        Ran { command: format!("{name}: {count} lines"), exit: 0, stdout: seen, stderr: Vec::new() }
    }
}

/// The program that `tests/cluster` built, which is `kubectl` as well.
fn binary() -> PathBuf {
    let folder = crate::cluster();
    let entries =
        std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error} (make cluster)", folder.display()));
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    found.retain(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("k8s-")) && path.extension().is_none()
    });
    assert_eq!(found.len(), 1, "one program in {}: {found:?}", folder.display());
    found.remove(0)
}

/// Words parted by blanks, except within single quotes.
fn words(line: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in line.chars() {
        match c {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            other => words.last_mut().expect("there is one").push(other),
        }
    }
    words.retain(|word| !word.is_empty());
    words
}
