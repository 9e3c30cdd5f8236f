//! A Kubernetes to run tests on, and what is really in it.

use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};

use bytes::Bytes;
use http_body_util::BodyExt as _;
use kube_emulator::call::User;
use kube_emulator::scenario::Scenario;
use kube_emulator::{Emulator, Options};
use serde_json::{Value, json};
use tempfile::{TempDir, TempPath};
use tokio::runtime::Runtime;

use crate::role::TESTER;
use crate::{Cli, IMAGE, Ran, root};

/// Images of the emulator whose Pods do what a shell script does on the real cluster.
const SCENARIO: &str = r#"{"images": [
    {"image": "emulated/held:1", "script": {"stop": "hold"}},
    {"image": "emulated/slow:1", "script": {"ready-after": "5s"}},
    {"image": "localhost/does-not-exist:1", "script": {"image": "missing"}}
]}"#;

/// A container of the real cluster that takes its time after SIGTERM: until the test has seen what it wants to see.
const HELD: &str = "trap 'until [ -e /tmp/go ]; do sleep 0.1; done; exit' TERM; while :; do sleep 0.1; done";

/// The emulator, one for each test, or the real cluster.
pub struct Server(pub(crate) Kind);

pub(crate) enum Kind {
    Real,
    Emulated(Box<Emulated>),
}

/// In the order in which it is dropped.
pub(crate) struct Emulated {
    server: kube_emulator::Server,
    emulator: Emulator,
    runtime: Background,
    folder: TempDir,
}

/// A runtime that can be used and dropped by a test that runs on one itself.
struct Background(Option<Runtime>);

impl Background {
    fn new() -> Background {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
        Background(Some(runtime.expect("a runtime")))
    }

    /// Runs it there, and waits.
    fn wait<T: Send + 'static>(&self, future: impl Future<Output = T> + Send + 'static) -> T {
        let (tell, told) = std::sync::mpsc::sync_channel(1);
        self.0.as_ref().expect("it is there until it is dropped").spawn(async move { tell.send(future.await) });
        told.recv().expect("it ends without a panic")
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl Server {
    /// The cluster that `make cluster` started.
    pub fn real() -> Server {
        Server(Kind::Real)
    }

    /// An emulator that ends with this value.
    pub fn emulator() -> Server {
        let runtime = Background::new();
        let scenario = Scenario::parse(SCENARIO, "of the tests").expect("the scenario is good");
        let emulator = Emulator::new(Options { scenario, ..Options::default() }).expect("the scenario can be set up");
        let listening = emulator.clone();
        let server = runtime.wait(async move { listening.listen(([127, 0, 0, 1], 0).into()).await });
        let server = server.expect("the emulator listens");
        let folder = tempfile::tempdir().expect("a folder");
        server.write_kubeconfigs(folder.path()).expect("the kubeconfigs are written");
        Server(Kind::Emulated(Box::new(Emulated { server, emulator, runtime, folder })))
    }

    fn inside(&self) -> &Emulated {
        match &self.0 {
            Kind::Emulated(emulated) => emulated,
            Kind::Real => panic!("this is the real cluster"),
        }
    }

    /// The emulator, to let something go wrong or to see what arrived.
    pub fn emulated(&self) -> &Emulator {
        &self.inside().emulator
    }

    /// Where the emulator listens.
    pub fn address(&self) -> std::net::SocketAddr {
        self.inside().server.address()
    }

    /// A file with what a client needs: `kubeconfig`, `kubeconfig-token`, `kubeconfig-nobody`, `token` or `ca.crt`.
    pub fn file(&self, name: &str) -> PathBuf {
        let path = match &self.0 {
            Kind::Real => root().join("target/cluster").join(name),
            Kind::Emulated(emulated) => emulated.folder.path().join(name),
        };
        assert!(path.exists(), "{} is missing: run `make cluster`", path.display());
        path
    }

    /// Makes a namespace whose name starts with `test`, and a user of it who has the role that `workload rbac` prints.
    #[track_caller]
    pub fn namespace(&self, test: &str) -> Namespace<'_> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("{test}-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        match &self.0 {
            Kind::Real => {
                kubectl(&["create", "namespace", &name]);
            }
            Kind::Emulated(_) => {
                let object = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}});
                self.request("POST", "/api/v1/namespaces", "application/json", &object);
            }
        }
        let admin = Cli::new(&self.file("kubeconfig")).with(&["--namespace", &name]);
        self.apply_role(&admin, &["--service-account", &format!("{name}:{TESTER}")]);
        let kubeconfig = self.kubeconfig_of(&self.tester(&name));
        let namespace = Namespace { server: self, name, kubeconfig };
        namespace.role_is_in_force();
        namespace
    }

    /// A request to the emulator, past its listener, as one who may do everything.
    pub(crate) fn request(&self, method: &str, path: &str, media: &str, body: &Value) -> Value {
        let Emulated { emulator, runtime, .. } = self.inside();
        let request = http::Request::builder().method(method).uri(path).header("content-type", media);
        let request = request.body(Bytes::from(if body.is_null() { String::new() } else { body.to_string() }));
        let admin = User::authenticated("witness", &["system:masters"]);
        let emulator = emulator.clone();
        let (code, body) = runtime.wait(async move {
            let answer =
                emulator.answer(request.expect("a good request"), Some(admin)).await.expect("nothing breaks it");
            let code = answer.status();
            (code, answer.into_body().collect().await.expect("it ends").to_bytes())
        });
        assert!(code.is_success(), "{method} {path}: {code} {}", String::from_utf8_lossy(&body));
        serde_json::from_slice(&body).expect("it is JSON")
    }
}

/// Runs the cluster's own `kubectl` as its administrator and returns what it printed.
#[track_caller]
pub(crate) fn kubectl(args: &[&str]) -> String {
    let output = kubectl_command(args).output().expect("kubectl runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "kubectl {args:?}: {}", String::from_utf8_lossy(&output.stderr));
    text
}

pub(crate) fn kubectl_command(args: &[&str]) -> Command {
    let mut command = Command::new(root().join("tests/cluster/cluster"));
    command.arg("kubectl").args(args).stdin(Stdio::null());
    command
}

/// One namespace, for one test; deleted with everything in it when the test ends.
pub struct Namespace<'a> {
    pub(crate) server: &'a Server,
    /// Its name.
    pub name: String,
    kubeconfig: TempPath,
}

impl Namespace<'_> {
    /// An id in this namespace.
    pub fn id(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    /// `kubectl` in this namespace of the real cluster.
    #[track_caller]
    fn kubectl(&self, args: &[&str]) -> String {
        kubectl(&[&["--namespace", self.name.as_str()], args].concat())
    }

    /// The path of a kind's objects in this namespace.
    fn path(&self, plural: &str) -> String {
        let api = if plural == "pods" { "/api/v1" } else { "/apis/apps/v1" };
        format!("{api}/namespaces/{}/{plural}", self.name)
    }

    /// All objects of a kind, by its plural.
    #[track_caller]
    pub fn objects(&self, plural: &str) -> Vec<Value> {
        let list = match &self.server.0 {
            Kind::Real => serde_json::from_str(&self.kubectl(&["get", plural, "--output", "json"])),
            Kind::Emulated(_) => Ok(self.server.request("GET", &self.path(plural), "", &Value::Null)),
        };
        let list: Value = list.expect("kubectl prints JSON");
        list["items"].as_array().expect("a list").clone()
    }

    /// The names of all Deployments, ReplicaSets and Pods, each with its kind in front.
    #[track_caller]
    pub fn left(&self) -> Vec<String> {
        let names = |plural: &str| {
            let objects = self.objects(plural);
            let name = |object: &Value| object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            objects.iter().map(|object| format!("{plural}/{}", name(object))).collect::<Vec<_>>()
        };
        ["deployments", "replicasets", "pods"].into_iter().flat_map(names).collect()
    }

    /// The names of Pods in which a container may still run. A Pod whose containers have ended can be there for a moment.
    #[track_caller]
    pub fn live_pods(&self) -> Vec<String> {
        let ended = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Succeeded" | "Failed"));
        let pods = self.objects("pods").into_iter().filter(|pod| !ended(pod));
        pods.map(|pod| pod["metadata"]["name"].as_str().expect("a name").to_owned()).collect()
    }

    /// One Deployment as JSON.
    #[track_caller]
    pub fn deployment(&self, name: &str) -> Value {
        match &self.server.0 {
            Kind::Real => serde_json::from_str(&self.kubectl(&["get", "deployment", name, "--output", "json"]))
                .expect("kubectl prints JSON"),
            Kind::Emulated(_) => {
                self.server.request("GET", &format!("{}/{name}", self.path("deployments")), "", &Value::Null)
            }
        }
    }

    /// The command with this namespace, as the user who may do in it what `workload rbac` prints and nothing else. So
    /// all tests prove that it is enough.
    pub fn cli(&self) -> Cli {
        Cli::new(&self.kubeconfig).with(&["--namespace", &self.name])
    }

    /// The same user without a namespace, for what is about all of them.
    pub fn cli_of_all(&self) -> Cli {
        Cli::new(&self.kubeconfig)
    }

    /// The same as the administrator, for what is about other namespaces too.
    pub fn admin(&self) -> Cli {
        Cli::new(&self.server.file("kubeconfig")).with(&["--namespace", &self.name])
    }

    /// Creates a workload whose containers stop only when [`Namespace::release`] is called.
    #[track_caller]
    pub fn create_held(&self, name: &str) -> Ran {
        let (image, script) = match &self.server.0 {
            Kind::Real => (IMAGE, HELD),
            Kind::Emulated(_) => ("emulated/held:1", "held"),
        };
        let create = ["create", name, "--image", image, "--pull-policy", "Never", "--", "sh", "-c", script];
        self.cli().run(&create).exits(0)
    }

    /// Lets the held Pods stop.
    #[track_caller]
    pub fn release(&self) {
        for pod in self.live_pods() {
            match &self.server.0 {
                Kind::Real => {
                    self.kubectl(&["exec", &pod, "--", "touch", "/tmp/go"]);
                }
                Kind::Emulated(_) => {
                    let path = format!("{}/{pod}", self.path("pods"));
                    let released = json!({"metadata": {"annotations": {"kube-emulator/stop": "0"}}});
                    self.server.request("PATCH", &path, "application/merge-patch+json", &released);
                }
            }
        }
    }
}

impl Drop for Namespace<'_> {
    fn drop(&mut self) {
        if let Kind::Real = self.server.0 {
            let args = ["delete", "namespace", &self.name, "--wait=false", "--ignore-not-found"];
            // Nothing can be done about a failure here: the cluster ends after the tests anyway.
            let _ = kubectl_command(&args).output();
        }
    }
}
