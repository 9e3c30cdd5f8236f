//! A Manager in about thirty lines: `cargo run --example manager -- PROVIDER.wasm NAMESPACE/NAME`.
//!
//! By the user's kubeconfig it starts one workload, replaces the provider while that runs, and shows the workload.

use std::sync::Arc;

use workload_host::model::Ownership;
use workload_host::transport::{Connection, KubeconfigOptions, TransportLimits};
use workload_host::{Manager, Options, Places, Provider, Settings, Source};

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let (Some(file), Some(id)) = (arguments.next(), arguments.next()) else {
        anyhow::bail!("usage: manager PROVIDER.wasm NAMESPACE/NAME");
    };
    let connection = Connection::from_kubeconfig(KubeconfigOptions::default())?;
    let provider = Provider {
        upstream: Arc::new(connection.upstream(TransportLimits::default())?),
        given: vec!["*".to_owned()],
        places: Places::only(id.split_once('/').map(|(namespace, _)| namespace)),
        ownership: Ownership::new("workload-provider", "default"),
        settings: Vec::new(),
    };
    let manager = Manager::new(Settings::default())?;
    manager.load("engine", Source::File(file.clone().into()), provider).await?;

    let mut start = manager.start("engine", vec![id.clone()], Options::default());
    // What has begun finishes on the old component; what follows runs on the new one.
    manager.swap("engine", Source::File(file.into())).await?;
    while let Some(event) = start.next().await {
        println!("{event:?}");
    }
    println!("{:?}", manager.status("engine", vec![id], Options::default()).finish().await.settled);
    Ok(())
}
