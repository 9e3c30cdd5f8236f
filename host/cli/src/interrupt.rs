//! Ctrl-C: the first one ends the operation in order, the second one the process.

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use workload_host::model::{Fault, FaultKind};

use crate::exit::Exit;

/// Resolves at the first interrupt.
pub struct Interrupt(oneshot::Receiver<()>);

impl Interrupt {
    /// Takes over SIGINT and SIGTERM. Runs on a worker of the runtime, so that a second signal ends the process even
    /// while the main thread is busy.
    ///
    /// # Errors
    /// The system has no more room for a handler.
    pub fn listen() -> Result<Interrupt, Fault> {
        let failed = |error: std::io::Error| {
            Fault::new(FaultKind::Internal, format!("cannot listen for signals: {}", crate::text::io_error(&error)))
        };
        let mut interrupts = signal(SignalKind::interrupt()).map_err(failed)?;
        let mut terminations = signal(SignalKind::terminate()).map_err(failed)?;
        let (first, receiver) = oneshot::channel();
        tokio::spawn(async move {
            let mut next = async || {
                tokio::select! {
                    _ = interrupts.recv() => {}
                    _ = terminations.recv() => {}
                }
            };
            next().await;
            // Nobody listens any more: the operation is over, and its answer is being printed.
            let _ = first.send(());
            next().await;
            std::process::exit(i32::from(Exit::Interrupted as u8));
        });
        Ok(Interrupt(receiver))
    }

    /// Waits for the first one.
    pub async fn wait(&mut self) {
        if (&mut self.0).await.is_err() {
            // The runtime is going down, and no signal will ever come.
            std::future::pending::<()>().await;
        }
    }
}
