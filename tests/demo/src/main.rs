//! `make demo`: the life of a workload, played with the released command on an emulated Kubernetes that it starts itself,
//! or on a cluster that a kubeconfig names. Each command is printed before it runs, and what it prints is its own.

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Context as _;
use clap::Parser;

mod play;
mod stage;
mod swap;

/// Plays the life of a workload on an emulated Kubernetes; with KUBECONFIG set on that cluster, after asking
#[derive(Debug, Parser)]
pub struct Options {
    /// The namespace, instead of the context's; it must exist
    #[arg(long, value_name = "NS")]
    pub namespace: Option<String>,
    /// An image with a shell
    #[arg(long, default_value = "busybox:1.37", value_name = "IMAGE")]
    pub image: String,
    /// When the cluster is to pull it
    #[arg(long, default_value = "IfNotPresent", value_name = "POLICY")]
    pub pull_policy: String,
    /// Do not ask
    #[arg(long)]
    pub yes: bool,
    /// The command to show
    #[arg(long, default_value = "target/release/workload", value_name = "FILE")]
    pub workload: PathBuf,
    /// Where the finished provider components are
    #[arg(long, default_value = "target/components", value_name = "DIR")]
    pub components: PathBuf,
}

#[tokio::main]
async fn main() -> ExitCode {
    match run().await {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Ctrl-C, the end of the terminal, or a polite kill.
async fn told_to_end() {
    use tokio::signal::unix::{SignalKind, signal};
    let kinds = [SignalKind::interrupt(), SignalKind::terminate(), SignalKind::hangup()];
    let waits = kinds.into_iter().filter_map(|kind| signal(kind).ok()).map(|mut told| {
        Box::pin(async move {
            told.recv().await;
        })
    });
    futures_util::future::select_all(waits).await;
}

async fn run() -> anyhow::Result<()> {
    let mut options = Options::parse();
    options.workload = options
        .workload
        .canonicalize()
        .with_context(|| format!("{} is not there: `make` builds it", options.workload.display()))?;
    let Some(stage) = stage::set(&options).await? else { return Ok(()) };
    let mut play = play::Play::new(&options, &stage);
    let end = tokio::select! {
        end = play.all() => end,
        () = told_to_end() => Err(anyhow::anyhow!("interrupted")),
    };
    // Whatever happened, nothing is left on the cluster.
    let cleaned = play.clean().await;
    stage.clear().await;
    end.and(cleaned)
}
