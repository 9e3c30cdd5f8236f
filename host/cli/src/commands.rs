//! What each command does.

mod completion;
mod doctor;
mod provider;
mod rbac;
mod watch;
mod workloads;

use std::future::Future;

use workload_host::Run;
use workload_host::model::{Fault, FaultKind};

use crate::answer::Entry;
use crate::args::{Cli, Command, Global};
use crate::exit::Exit;
use crate::interrupt::Interrupt;
use crate::output::Console;
use crate::run::{self, Heard, Listener};

/// What every command works with.
struct Session<'a> {
    global: Global,
    interrupt: Interrupt,
    console: &'a mut Console,
}

/// Runs a command to its end, prints its answer, and says how the process ends.
pub async fn run(cli: Cli, console: &mut Console) -> Exit {
    let Cli { global, command } = cli;
    let result = match Interrupt::listen() {
        Ok(interrupt) => Session { global, interrupt, console }.run(command).await,
        Err(fault) => Err(fault),
    };
    result.unwrap_or_else(|fault| {
        console.fault(&fault);
        Exit::from(&fault)
    })
}

impl Session<'_> {
    /// An error here means that nothing was answered yet.
    async fn run(&mut self, command: Command) -> Result<Exit, Fault> {
        match command {
            Command::List(list) => self.list(list).await,
            Command::Status(status) => self.status(status).await,
            Command::Explain(explain) => self.explain(explain).await,
            Command::Create(create) => self.create(*create).await,
            Command::Start(start) => self.start(start).await,
            Command::Stop(stop) => self.stop(stop).await,
            Command::Delete(delete) => self.delete(delete).await,
            Command::Doctor(doctor) => self.doctor(doctor).await,
            Command::Rbac(rbac) => self.rbac(rbac).await,
            Command::Provider(command) => self.provider(command).await,
            Command::Completion(completion) => {
                self.console.text(&completion::script(completion.shell));
                Ok(Exit::Ok)
            }
        }
    }

    /// Waits for what comes before an operation, unless the user ends it.
    async fn prepare<T>(&mut self, work: impl Future<Output = Result<T, Fault>>) -> Result<T, Fault> {
        tokio::select! {
            result = work => result,
            () = self.interrupt.wait() => {
                Err(Fault::new(FaultKind::Cancelled, "interrupted before anything was asked for"))
            }
        }
    }

    /// Reads files the same way, on a thread of its own: one may be a pipe whose writer says nothing.
    async fn read<T: Send + 'static>(
        &mut self,
        work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
    ) -> Result<T, Fault> {
        let reader = tokio::task::spawn_blocking(work);
        self.prepare(async {
            reader.await.unwrap_or_else(|_| Err(Fault::new(FaultKind::Internal, "the reader of a file ended early")))
        })
        .await
    }

    /// Follows an operation.
    async fn listen(&mut self, mut operation: Run, watch: Watch<'_>) -> Heard {
        self.console.begin(watch.doing, watch.shown);
        let mut teller = Teller { console: &mut *self.console, watch: &watch };
        let mut heard = run::listen(&mut operation, watch.ids, self.interrupt.wait(), &mut teller).await;
        self.console.end();
        if watch.plan {
            heard.entries = heard.entries.into_iter().map(Entry::of_a_plan).collect();
        }
        heard
    }
}

/// An operation as it is followed.
struct Watch<'a> {
    /// What is done, such as "starting".
    doing: &'static str,
    /// With which workloads.
    ids: &'a [String],
    /// What has a line of its own while it runs: the ids, or the one place that is looked through.
    shown: &'a [String],
    /// Ids are printed as they end.
    told: bool,
    /// Only a plan was asked for.
    plan: bool,
}

/// Prints what happens.
struct Teller<'a> {
    console: &'a mut Console,
    watch: &'a Watch<'a>,
}

impl Listener for Teller<'_> {
    fn progress(&mut self, id: &str, text: &str) {
        self.console.progress(id, text);
    }

    fn ended(&mut self, entry: &Entry) {
        if self.watch.plan {
            self.console.ended(&entry.clone().of_a_plan(), self.watch.told);
        } else {
            self.console.ended(entry, self.watch.told);
        }
    }

    fn interrupted(&mut self) {
        self.console.interrupted();
    }

    fn refresh(&mut self) -> impl Future<Output = ()> {
        self.console.refresh()
    }
}

/// The exit code of an operation that was perhaps interrupted.
fn exit(worst: Exit, heard_interrupt: bool) -> Exit {
    if heard_interrupt { worst.max(Exit::Interrupted) } else { worst }
}
