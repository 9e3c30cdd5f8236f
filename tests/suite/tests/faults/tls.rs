//! The same faults over TLS, through the transport that is used in earnest: once for a write and for a read.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use kube_emulator::fault::Rule;
use kube_emulator::pattern::Pattern;
use kube_emulator::resource::DEPLOYMENTS;
use kube_emulator::store::Key;
use serde_json::json;
use workload_host::model::{OutcomeWord, Ownership, Spec, Status, StopIntent};
use workload_host::transport::{Connection, KubeconfigOptions, TransportLimits};
use workload_host::{Manager, Options, Places, Provider, Report, Settings, Source};
use workload_suite::{Server, component};

use crate::class::{CLASSES, Class, End, Role};

const ENGINE: &str = "engine";

/// A namespace that every cluster has.
const NS: &str = "default";

/// How long an answer is waited for here: there is no clock that could be paused.
const NO_ANSWER: Duration = Duration::from_secs(2);

async fn manager(server: &Server) -> Manager {
    let options = KubeconfigOptions { file: Some(server.file("kubeconfig")), ..KubeconfigOptions::default() };
    let limits = TransportLimits { headers: NO_ANSWER, ..TransportLimits::default() };
    let provider = Provider {
        upstream: Arc::new(Connection::from_kubeconfig(options).unwrap().upstream(limits).unwrap()),
        given: vec!["*".to_owned()],
        places: Places::only([NS]),
        ownership: Ownership::new("workload-provider", "default"),
        settings: vec![("settle-ms".to_owned(), "0".to_owned())],
    };
    let manager = Manager::new(Settings::default()).unwrap();
    manager.load(ENGINE, Source::File(component("kubernetes")), provider).await.unwrap();
    manager
}

fn ended(report: &Report) -> End {
    let [settled] = report.settled.as_slice() else { panic!("not one id: {report:?}") };
    match &settled.result {
        Err(fault) => End::of(fault.kind),
        Ok(outcome) => match &outcome.workload {
            _ if (outcome.word, outcome.changed) == (OutcomeWord::Stopped, true) => End::Good,
            Some(workload) if outcome.word == OutcomeWord::Read && workload.status == Status::Unknown => {
                End::unknown(&workload.reason)
            }
            _ => End::Other(format!("{outcome:?}")),
        },
    }
}

/// Stops a workload of its own while the first write fails so, then looks at it while every read does.
async fn stop_and_look(server: &Server, manager: &Manager, class: &Class, name: &str) -> Vec<String> {
    let id = || vec![format!("{NS}/{name}")];
    let faults = server.emulated().faults();
    let writing = Pattern::resource("patch", "deployments/scale").named(name);
    let write = faults.add(Rule::on(writing.clone(), class.fault()).once());
    let report = manager.stop(ENGINE, id(), StopIntent::Preserve, Options::default()).finish().await;
    let mut wrong = Vec::new();
    let mut expect = |what: &str, end: End, expected: Vec<End>| {
        if !expected.contains(&end) {
            wrong.push(format!("{what}, {}: ended with {end:?}, not with one of {expected:?}", class.name));
        }
    };
    let end = ended(&report);
    let stopped = end == End::Good;
    expect("stop", end, class.ends(Role::Write, false));
    assert_eq!(write.applied(), 1, "{}", class.name);
    let sent = server.emulated().record().matching(&writing).len();
    let read = faults.add(Rule::on(Pattern::resource("get", "deployments").named(name), class.fault()));
    let report = manager.status(ENGINE, id(), Options::default()).finish().await;
    expect("status", ended(&report), class.ends(Role::First, true));
    read.remove();
    let object = server.emulated().state().store.get(&Key::new(&DEPLOYMENTS, NS, name)).unwrap();
    let wanted = object.value()["spec"]["replicas"].clone();
    if wanted != json!(i32::from(!(stopped || class.takes_effect))) {
        wrong.push(format!("stop, {}: {wanted} are wanted", class.name));
    }
    let most = if stopped && !class.takes_effect { 2 } else { 1 };
    if sent > most {
        wrong.push(format!("stop, {}: {sent} writes were sent", class.name));
    }
    wrong
}

#[tokio::test(flavor = "multi_thread")]
async fn any_fault_over_tls() {
    let server = Server::emulator();
    let manager = manager(&server).await;
    let name = |number: usize| format!("app-{number}");
    let ids: Vec<String> = (0..CLASSES.len()).map(|number| format!("{NS}/{}", name(number))).collect();
    let document = json!({"image": "busybox:1", "replicas": 1}).to_string();
    let spec = |id: &String| Spec { id: id.clone(), document: document.clone(), id_label: None };
    let made = manager.create(ENGINE, ids.iter().map(spec).collect(), Options::default()).finish().await;
    assert!(made.settled.iter().all(|settled| settled.result.is_ok()), "{made:?}");
    let started = manager.start(ENGINE, ids, Options::default()).finish().await;
    assert!(started.settled.iter().all(|settled| settled.result.is_ok()), "{started:?}");
    // One that ends every connection must not meet the others.
    let (alone, beside): (Vec<_>, Vec<_>) = CLASSES.iter().enumerate().partition(|(_, class)| class.ends_connections());
    let mut wrong = Vec::new();
    for (number, class) in alone {
        wrong.extend(stop_and_look(&server, &manager, class, &name(number)).await);
    }
    let runs = beside.into_iter().map(|(number, class)| {
        let (server, manager, name) = (&server, &manager, name(number));
        async move { stop_and_look(server, manager, class, &name).await }
    });
    wrong.extend(join_all(runs).await.into_iter().flatten());
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}
