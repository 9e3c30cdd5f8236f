//! The emulator as a program.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::Context;
use clap::Parser;
use kube_emulator::scenario::{Scenario, ScenarioError};
use kube_emulator::serve::kubeconfig::Written;
use kube_emulator::{Emulator, Options, ServeError, Server};

/// A Kubernetes API server with its controllers and a node, in memory.
///
/// It runs until it is interrupted, and takes the kubeconfigs that it wrote away again. Nothing else is kept.
#[derive(Debug, Parser)]
#[command(version, after_help = AFTER)]
struct Arguments {
    /// Where to listen, on loopback; port 0 takes any that is free
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    listen: SocketAddr,

    /// Where to write the kubeconfig of an administrator, readable by you only. Into a folder (or a path that ends in
    /// a slash) go kubeconfig, kubeconfig-token, kubeconfig-nobody (who is allowed nothing), token and ca.crt. A
    /// kubeconfig of somebody else is not replaced
    #[arg(long, value_name = "FILE|FOLDER/")]
    kubeconfig_out: PathBuf,

    /// What the cluster holds at the start, how its images behave, and what goes wrong: a JSON document
    #[arg(long, value_name = "FILE")]
    scenario: Option<PathBuf>,

    /// With the same seed and the same requests the same names and uids come out
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
}

const AFTER: &str = "\
Exit codes:
  0  it was interrupted, or asked to end
  1  it could not listen, or not write a kubeconfig
  2  the command line or the scenario is wrong";

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let emulator = match prepare(&arguments) {
        Ok(emulator) => emulator,
        Err(error) => return fail(&error.into(), 2),
    };
    match run(&arguments, &emulator) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error, 1),
    }
}

fn fail(error: &anyhow::Error, code: u8) -> ExitCode {
    eprintln!("error: {error:#}");
    ExitCode::from(code)
}

fn prepare(arguments: &Arguments) -> Result<Emulator, ScenarioError> {
    let scenario = arguments.scenario.as_deref().map(Scenario::read).transpose()?.unwrap_or_default();
    Emulator::new(Options { seed: arguments.seed, scenario, ..Options::default() })
}

#[tokio::main]
async fn run(arguments: &Arguments, emulator: &Emulator) -> anyhow::Result<()> {
    // Before anything is made that would have to be taken away.
    let ended = ended()?;
    let server = emulator.listen(arguments.listen).await?;
    let written = write_kubeconfigs(&server, &arguments.kubeconfig_out)?;
    let told = tell(&server, &written);
    if told.is_ok() {
        ended.await;
    }
    server.close().await;
    written.remove();
    told.context("cannot say where it listens")
}

fn write_kubeconfigs(server: &Server, to: &Path) -> Result<Written, ServeError> {
    if to.is_dir() || to.as_os_str().as_encoded_bytes().ends_with(b"/") {
        server.write_kubeconfigs(to)
    } else {
        server.write_kubeconfig(to)
    }
}

fn tell(server: &Server, written: &Written) -> io::Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "listening on {}", server.url())?;
    for path in written.paths() {
        writeln!(out, "wrote {}", path.display())?;
    }
    out.flush()
}

/// Resolves when the program is to end.
#[cfg(unix)]
fn ended() -> anyhow::Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut terminate = signal(SignalKind::terminate())?;
    Ok(async move {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
    })
}

/// Resolves when the program is to end.
#[cfg(not(unix))]
fn ended() -> anyhow::Result<impl Future<Output = ()>> {
    Ok(async {
        // Without a way to hear of an interruption it ends at once, which is seen.
        let _ = tokio::signal::ctrl_c().await;
    })
}
