//! Cases of credentials that change while something is waited for: over TLS, through the transport that is used in earnest.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kube_emulator::call::User;
use kube_emulator::pattern::Pattern;
use kube_emulator::record::Outcome;
use serde_json::json;
use workload_host::model::{Event, Ownership, Spec};
use workload_host::transport::{Connection, KubeconfigOptions, TransportLimits};
use workload_host::{Manager, Options, Places, Provider, Report, Settings, Source};
use workload_suite::{Server, component};

const ENGINE: &str = "engine";

const ID: &str = "default/app";

/// A kubeconfig whose user's token is in a file.
fn kubeconfig(server: &Server, folder: &Path) -> std::path::PathBuf {
    let config = json!({
        "apiVersion": "v1", "kind": "Config", "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": format!("https://{}", server.address()),
            "certificate-authority": server.file("ca.crt")}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "u"}}],
        "users": [{"name": "u", "user": {"tokenFile": folder.join("token")}}],
    });
    let file = folder.join("kubeconfig");
    std::fs::write(&file, config.to_string()).unwrap();
    file
}

async fn manager(server: &Server, folder: &Path) -> Manager {
    let options = KubeconfigOptions { file: Some(kubeconfig(server, folder)), ..KubeconfigOptions::default() };
    let provider = Provider {
        upstream: Arc::new(Connection::from_kubeconfig(options).unwrap().upstream(TransportLimits::default()).unwrap()),
        given: vec!["*".to_owned()],
        places: Places::only(["default"]),
        ownership: Ownership::new("workload-provider", "default"),
        settings: vec![("settle-ms".to_owned(), "0".to_owned())],
    };
    let manager = Manager::new(Settings::default()).unwrap();
    manager.load(ENGINE, Source::File(component("kubernetes")), provider).await.unwrap();
    manager
}

fn word(report: &Report) -> String {
    let [settled] = report.settled.as_slice() else { panic!("not one id: {report:?}") };
    match &settled.result {
        Ok(outcome) => outcome.word.to_string(),
        Err(fault) => fault.kind.to_string(),
    }
}

/// A start waits while its token is replaced. `renewed`: the file has the next one in time.
async fn start_over_a_rotation(renewed: bool) -> (String, Server) {
    let server = Server::emulator();
    let folder = tempfile::tempdir().unwrap();
    let put = |token: &str| std::fs::write(folder.path().join("token"), token).unwrap();
    let user = || User::authenticated("tester", &["system:masters"]);
    let identities = server.emulated().identities();
    identities.add_token("first-token", user());
    put("first-token\n");
    let manager = manager(&server, folder.path()).await;
    // Its image takes 5 s to be ready.
    let document = json!({"image": "emulated/slow:1", "replicas": 0}).to_string();
    let spec = Spec { id: ID.to_owned(), document, id_label: None };
    let made = manager.create(ENGINE, vec![spec], Options::default()).finish().await;
    assert_eq!(word(&made), "created");
    let options = Options { timeout: Some(Duration::from_secs(60)), ..Options::default() };
    let mut run = manager.start(ENGINE, vec![ID.to_owned()], options);
    // Once it tells what it waits for, it has written.
    while written(&server) == 0 {
        let event = run.next().await;
        assert!(matches!(event, Some(Event::Progress { .. })), "it does not end before it writes: {event:?}");
    }
    identities.add_token("second-token", user());
    if renewed {
        put("second-token\n");
    }
    identities.remove_token("first-token");
    (word(&run.finish().await), server)
}

/// Writes that were accepted.
fn written(server: &Server) -> usize {
    let scaled = server.emulated().record().matching(&Pattern::resource("patch", "deployments/scale"));
    scaled.iter().filter(|exchange| exchange.outcome == Outcome::Answered(200)).count()
}

#[tokio::test(flavor = "multi_thread")]
async fn rexec_135_a_token_that_was_rotated_is_read_anew() {
    let (word, server) = start_over_a_rotation(true).await;
    assert_eq!(word, "started");
    assert_eq!(written(&server), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn rexec_135_a_token_that_ran_out_ends_the_wait() {
    let (word, server) = start_over_a_rotation(false).await;
    assert_eq!(word, "unauthorized");
    assert_eq!(written(&server), 1);
}
