//! Where the demo plays: on its own emulator, or on the user's cluster if the user agrees.

use std::io::{BufRead as _, Write as _};
use std::path::PathBuf;

use anyhow::Context as _;
use kube_emulator::Written;
use kube_emulator::{Emulator, Server};
use workload_host::transport::{Connection, KubeconfigOptions};

use crate::Options;
use crate::play::NAMES;

/// The scene that the emulator begins with.
const SCENARIO: &str = include_str!("../scenario.json");

/// A cluster to play on.
pub struct Stage {
    /// The value of `KUBECONFIG` for the commands, where it is not the user's own.
    pub kubeconfig: Option<PathBuf>,
    /// The same kubeconfig, read.
    pub connection: Connection,
    emulated: Option<(Server, Written)>,
}

impl Stage {
    /// Takes away what was set up for it.
    pub async fn clear(self) {
        if let Some((server, written)) = self.emulated {
            server.close().await;
            written.remove();
        }
    }
}

/// Starts the emulator, or asks whether the cluster of the kubeconfig may be used. None if it may not.
pub async fn set(options: &Options) -> anyhow::Result<Option<Stage>> {
    // An empty KUBECONFIG is none, as for kubectl.
    if std::env::var_os("KUBECONFIG").is_none_or(|files| files.is_empty()) {
        return emulated(options).await.map(Some);
    }
    let find = KubeconfigOptions { namespace: options.namespace.clone(), ..KubeconfigOptions::default() };
    let connection = Connection::from_kubeconfig(find)?;
    println!(
        "This plays on the cluster of your kubeconfig: context {}, namespace {}.\n\
         It makes the Deployments {} there, from the image {}, and deletes them at the end.",
        connection.context().unwrap_or("of the Pod"),
        connection.namespace(),
        NAMES.join(", "),
        options.image,
    );
    if !options.yes && !agreed()? {
        println!("Nothing was done. Without KUBECONFIG the demo plays on an emulator of its own.");
        return Ok(None);
    }
    Ok(Some(Stage { kubeconfig: None, connection, emulated: None }))
}

fn agreed() -> anyhow::Result<bool> {
    print!("Go on? [y/N] ");
    std::io::stdout().flush()?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

async fn emulated(options: &Options) -> anyhow::Result<Stage> {
    let scenario = kube_emulator::scenario::Scenario::parse(SCENARIO, "of the demo")?;
    let emulator = Emulator::new(kube_emulator::Options { scenario, ..kube_emulator::Options::default() })?;
    let server = emulator.listen(([127, 0, 0, 1], 0).into()).await.context("the emulator could not listen")?;
    let file = std::env::temp_dir().join(format!("workload-demo-{}.kubeconfig", std::process::id()));
    let written = server.write_kubeconfig(&file)?;
    let connection = Connection::from_kubeconfig(KubeconfigOptions {
        file: Some(file.clone()),
        namespace: options.namespace.clone(),
        ..KubeconfigOptions::default()
    })?;
    println!("This plays on an emulated Kubernetes, which ends with the demo.");
    Ok(Stage { kubeconfig: Some(file), connection, emulated: Some((server, written)) })
}
