//! A Manager whose provider is replaced while it runs.

use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use workload_host::model::{Ownership, Workload};
use workload_host::transport::TransportLimits;
use workload_host::{Manager, Options, Places, Provider, Settings, Source};

use crate::stage::Stage;

/// Reads one workload with the Kubernetes provider, then with another one in its place, then with the first again.
pub async fn show(stage: &Stage, components: &Path, name: &str) -> anyhow::Result<()> {
    let namespace = stage.connection.namespace();
    let provider = Provider {
        upstream: Arc::new(stage.connection.upstream(TransportLimits::default())?),
        given: vec!["*".to_owned()],
        places: Places::only([namespace]),
        ownership: Ownership::new("workload-provider", "default"),
        settings: Vec::new(),
    };
    let id = format!("{namespace}/{name}");
    let manager = Manager::new(Settings::default())?;
    let [kubernetes, glance] = ["kubernetes.wasm", "glance.wasm"].map(|file| components.join(file));

    manager.load("engine", Source::File(kubernetes.clone()), provider).await?;
    println!("loaded   {}", kubernetes.display());
    read(&manager, &id).await?;
    for file in [glance, kubernetes] {
        manager.swap("engine", Source::File(file.clone())).await?;
        println!("swapped  {}", file.display());
        read(&manager, &id).await?;
    }
    Ok(())
}

/// One line of what the provider in place says.
async fn read(manager: &Manager, id: &str) -> anyhow::Result<()> {
    let provider = manager.providers().into_iter().next().context("no provider is loaded")?.inspection.descriptor;
    let report = manager.status("engine", vec![id.to_owned()], Options::default()).finish().await;
    let settled = report.settled.into_iter().next().context("the status did not end")?;
    let outcome = settled.result.map_err(|fault| anyhow::anyhow!("{}", fault.message))?;
    let Workload { status, reason, message, .. } = outcome.workload.context("the status came without a workload")?;
    let message = message.map(|text| format!(": {text}")).unwrap_or_default();
    println!("         {} {} says: {id} is {}, {reason}{message}", provider.name, provider.version, status.word());
    Ok(())
}
