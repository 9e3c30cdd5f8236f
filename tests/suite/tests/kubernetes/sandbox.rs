//! What the sandbox promises, with the real provider on both servers: no secret comes in, nothing but types is
//! imported, and a component is replaced while the Manager runs.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex};

use rstest::rstest;
use workload_host::model::{OutcomeWord, Ownership, Spec, StopIntent};
use workload_host::transport::{Connection, KubeconfigOptions, TransportLimits};
use workload_host::{Manager, Options, Places, Provider, Report, Settings, Source};
use workload_suite::{Cli, IMAGE, Namespace, SLEEPER, Server, component};

/// A provider's connection to the cluster as `kubeconfig` says, for one namespace.
fn provider(kubeconfig: &Path, ns: &Namespace<'_>, settings: &[(&str, &str)]) -> Provider {
    let options = KubeconfigOptions { file: Some(kubeconfig.to_owned()), ..KubeconfigOptions::default() };
    let connection = Connection::from_kubeconfig(options).unwrap();
    Provider {
        upstream: Arc::new(connection.upstream(TransportLimits::default()).unwrap()),
        given: vec!["*".to_owned()],
        places: Places::only([ns.name.as_str()]),
        ownership: Ownership::new("workload-provider", "default"),
        settings: settings.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect(),
    }
}

fn sleeper(id: &str) -> Spec {
    let document = serde_json::json!({"image": IMAGE, "pull_policy": "Never", "command": ["sh", "-c", SLEEPER]});
    Spec { id: id.to_owned(), document: document.to_string(), id_label: None }
}

/// The word that the only id of a report ended with.
#[track_caller]
fn word(report: &Report) -> OutcomeWord {
    let [settled] = report.settled.as_slice() else { panic!("not one id: {report:?}") };
    settled.result.as_ref().unwrap_or_else(|fault| panic!("{fault:?}")).word
}

/// What must never be in a provider's memory, by name: the credential, what proves the server, and where it is.
fn secrets(server: &Server, kubeconfig: &Path) -> Vec<(&'static str, Vec<u8>)> {
    let text = std::fs::read_to_string(kubeconfig).unwrap();
    // Of the flow style `{key: value, key: value}` that the cluster writes.
    let value = |key: &str| {
        let rest = text.split_once(&format!("{key}: ")).map(|(_, rest)| rest)?;
        Some(rest.split([',', '}', '\n']).next()?.trim_matches('"').as_bytes().to_vec())
    };
    let url = value("server").expect("a server");
    let address = url.strip_prefix(b"https://").expect("https").to_vec();
    let mut secrets = vec![("server", url), ("address", address)];
    for key in ["certificate-authority-data", "client-certificate-data", "client-key-data", "token"] {
        secrets.extend(value(key).map(|value| (key, value)));
    }
    // The same as PEM, where a part of a line is enough to tell.
    let pem = std::fs::read_to_string(server.file("ca.crt")).unwrap();
    secrets.push(("certificate authority", pem.lines().nth(1).unwrap().as_bytes().to_vec()));
    // What was freed has its first bytes written over by the allocator, so a part of a long one is enough to tell.
    secrets
        .into_iter()
        .map(|(name, secret)| (name, secret.get(16..48).map_or(secret.clone(), <[u8]>::to_vec)))
        .collect()
}

fn holds(memory: &[u8], wanted: &[u8]) -> bool {
    memory.windows(wanted.len()).any(|window| window == wanted)
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
#[tokio::test(flavor = "multi_thread")]
async fn no_secret_enters_the_guest_in_a_whole_life(#[case] server: Server) {
    for file in ["kubeconfig-token", "kubeconfig"] {
        let ns = server.namespace("memory");
        let kubeconfig = server.file(file);
        let secrets = secrets(&server, &kubeconfig);
        assert!(
            secrets.iter().any(|(name, _)| *name == "token" || *name == "client-key-data"),
            "a credential is looked for"
        );

        let memories: Arc<Mutex<Vec<Vec<u8>>>> = Arc::default();
        let seen = Arc::clone(&memories);
        let probe = Arc::new(move |memory: &[u8]| seen.lock().unwrap().push(memory.to_vec()));
        let manager = Manager::new(Settings { memory_probe: Some(probe), ..Settings::default() }).unwrap();
        let source = Source::File(component("kubernetes"));
        manager.load("kubernetes", source, provider(&kubeconfig, &ns, &[])).await.unwrap();

        let id = ns.id("web");
        let (ids, options) = (|| vec![id.clone()], Options::default());
        assert_eq!(
            word(&manager.create("kubernetes", vec![sleeper(&id)], options).finish().await),
            OutcomeWord::Created
        );
        assert_eq!(word(&manager.start("kubernetes", ids(), options).finish().await), OutcomeWord::Started);
        assert_eq!(word(&manager.status("kubernetes", ids(), options).finish().await), OutcomeWord::Read);
        let listed = manager.discover("kubernetes", vec![ns.name.clone()], options).finish().await;
        assert_eq!(listed.emitted.len(), 1, "{listed:?}");
        let stop = manager.stop("kubernetes", ids(), StopIntent::Preserve, options).finish().await;
        assert_eq!(word(&stop), OutcomeWord::Stopped);
        let delete = manager.delete("kubernetes", ids(), StopIntent::Terminal, options).finish().await;
        assert_eq!(word(&delete), OutcomeWord::Deleted);

        let memories = memories.lock().unwrap();
        // One instance described the provider, and each of the six operations had its own.
        let used = memories.iter().filter(|memory| holds(memory, ns.name.as_bytes())).count();
        assert_eq!((used, memories.len()), (6, 7), "the probe saw what the operations left in memory");
        for memory in memories.iter() {
            for (name, secret) in &secrets {
                assert!(!holds(memory, secret), "{file}: the guest's memory holds the {name}");
            }
        }
    }
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn the_provider_imports_types_only(#[case] server: Server) {
    let cli = Cli::new(&server.file("kubeconfig"));
    let path = component("kubernetes");
    let inspected = cli.json(&["provider", "inspect", path.to_str().unwrap()]).exits(0).json();
    let imports: BTreeSet<_> = inspected["imports"].as_array().unwrap().iter().map(|i| i.as_str().unwrap()).collect();
    let types = ["workload:provider/effects@0.1.0", "workload:provider/types@0.1.0"];
    assert_eq!(imports, BTreeSet::from(types), "{inspected}");

    let path = component("hostile-import");
    let refused = cli.json(&["provider", "inspect", path.to_str().unwrap()]).exits(2).json();
    assert!(refused["error"]["message"].as_str().unwrap().contains("evil:net/sockets@1.0.0"), "{refused}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
#[tokio::test(flavor = "multi_thread")]
async fn a_running_manager_swaps_its_provider_between_two_operations(#[case] server: Server) {
    let ns = server.namespace("swap");
    let id = ns.id("web");
    let ids = || vec![id.clone()];
    let manager = Manager::new(Settings::default()).unwrap();
    let kubernetes = || Source::File(component("kubernetes"));
    // The Kubernetes provider has no such setting; the other one shows by it that it is the one that runs.
    let given = provider(&server.file("kubeconfig"), &ns, &[("behaviour", "echo")]);
    manager.load("engine", kubernetes(), given).await.unwrap();
    let options = Options::default();
    assert_eq!(word(&manager.create("engine", vec![sleeper(&id)], options).finish().await), OutcomeWord::Created);

    // A start that goes on over the swap ends on the provider it began with.
    let running = manager.start("engine", ids(), options);
    manager.swap("engine", Source::File(component("hostile-script"))).await.unwrap();
    let (started, echo) = (running.finish().await, manager.status("engine", ids(), options).finish().await);
    assert_eq!(word(&started), OutcomeWord::Started);
    let workload = echo.settled[0].result.as_ref().unwrap().workload.as_ref().unwrap();
    for (name, value) in [("setting behaviour", "echo"), ("status", "200")] {
        let fact = workload.facts.iter().find(|(key, _)| key == name);
        assert_eq!(fact.map(|(_, value)| value.as_str()), Some(value), "{name}: {workload:?}");
    }

    // A bad one leaves the one before serving.
    for bad in ["hostile-import", "hostile-describe-trap"] {
        manager.swap("engine", Source::File(component(bad))).await.unwrap_err();
    }
    assert_eq!(word(&manager.status("engine", ids(), options).finish().await), OutcomeWord::Read);

    manager.swap("engine", kubernetes()).await.unwrap();
    let delete = manager.delete("engine", ids(), StopIntent::Terminal, options).finish().await;
    assert_eq!(word(&delete), OutcomeWord::Deleted);
    assert_eq!(ns.left(), Vec::<String>::new());
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn another_component_needs_no_other_command(#[case] server: Server) {
    let ns = server.namespace("component");
    let cli = ns.cli();
    cli.create_sleeper("web", &[]);
    let other = component("hostile-script");
    let other = cli.with(&["--component", other.to_str().unwrap()]);
    // This one says `started` after a single GET and writes nothing, so it is not the built-in one that answers.
    let started = other.json(&["start", "web"]).exits(0).json();
    assert_eq!(started["outcome"], "started", "{started}");
    let file = component("kubernetes");
    let same = cli.with(&["--component", file.to_str().unwrap()]);
    same.json(&["start", "web"]).exits(0);
    same.json(&["delete", "web"]).exits(0);
    assert_eq!(ns.left(), Vec::<String>::new());
}
