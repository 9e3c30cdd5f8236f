//! The commands that talk to the engine.

use std::collections::BTreeSet;

use workload_host::model::{Fault, FaultKind, StopIntent};
use workload_host::transport::Connection;
use workload_host::{Manager, Options};

use super::watch::Watched;
use super::{Session, Watch, exit};
use crate::answer::{Entry, Listing, found};
use crate::args::{Create, Delete, Explain, Intent, List, Start, Status, Stop};
use crate::connect::{self, PROVIDER};
use crate::exit::Exit;
use crate::ids;
use crate::ownership::ownership;
use crate::run::Heard;
use crate::spec;

/// The Kubernetes provider's setting: for how many milliseconds a workload must have been available.
const SETTLE: &str = "settle-ms";

/// A provider's setting: whatever it can find out is wanted, also what decides nothing.
const EXPLAIN: &str = "explain";

/// Ids, and a Manager that may reach where they lie.
struct Reach {
    ids: Vec<String>,
    /// More than one was named, be it the same twice: the answer is a list.
    several: bool,
    manager: Manager,
}

impl Session<'_> {
    pub(super) async fn list(&mut self, list: List) -> Result<Exit, Fault> {
        if list.watch {
            self.console.begin_watch(false);
        }
        let connection = self.connection().await?;
        let namespace = connection.namespace().to_owned();
        let (granted, asked, shown) = if list.all_namespaces {
            (None, Vec::new(), vec!["all namespaces".to_owned()])
        } else {
            (Some(ids::places(&[], &namespace)), vec![namespace.clone()], vec![namespace])
        };
        let manager = self.manager(&connection, granted, Vec::new()).await?;
        if list.watch {
            let watched = Watched::of(&self.global, Vec::new(), shown);
            let run = manager.discover(PROVIDER, asked, watched.options());
            return Ok(self.watch(run, watched).await);
        }
        let run = manager.discover(PROVIDER, asked, self.options(false));
        let heard =
            self.listen(run, Watch { doing: "listing", ids: &[], shown: &shown, told: false, plan: false }).await;
        let fault = if heard.interrupted {
            Some(Fault::new(FaultKind::Cancelled, "interrupted; what is listed was read until then"))
        } else {
            heard.fault
        };
        let workloads = heard.emitted.into_values().collect();
        let listing = Listing { workloads, incomplete: heard.incomplete, fault };
        let worst = self.console.listing(&listing);
        Ok(exit(worst, heard.interrupted))
    }

    pub(super) async fn status(&mut self, status: Status) -> Result<Exit, Fault> {
        if status.watch {
            self.console.begin_watch(true);
        }
        let Reach { ids, several, manager } = self.reach(&status.ids.ids, Vec::new()).await?;
        if status.watch {
            let shown = if let [id] = ids.as_slice() { id.clone() } else { format!("{} workloads", ids.len()) };
            let watched = Watched::of(&self.global, ids, vec![shown]);
            let run = manager.status(PROVIDER, watched.ids.clone(), watched.options());
            return Ok(self.watch(run, watched).await);
        }
        let run = manager.status(PROVIDER, ids.clone(), self.options(false));
        let heard = self.listen(run, reading(&ids)).await;
        let unsaid = self.unsaid(&heard);
        let found: Vec<_> = heard.entries.into_iter().map(found).collect();
        let worst = self.console.statuses(&found, several);
        Ok(exit(worst.max(unsaid), heard.interrupted))
    }

    pub(super) async fn explain(&mut self, explain: Explain) -> Result<Exit, Fault> {
        let settings = vec![(EXPLAIN.to_owned(), "true".to_owned())];
        let Reach { ids, manager, .. } = self.reach(&[explain.id], settings).await?;
        let run = manager.status(PROVIDER, ids.clone(), self.options(false));
        let heard = self.listen(run, reading(&ids)).await;
        let unsaid = self.unsaid(&heard);
        let found: Vec<_> = heard.entries.into_iter().map(found).collect();
        let worst = match found.as_slice() {
            [(_, Ok(workload))] => {
                self.console.explanation(workload, &ownership(&self.global));
                Exit::of_status(workload)
            }
            // Not even a state: then it is the answer of `status`, which says why.
            found => self.console.statuses(found, false),
        };
        Ok(exit(worst.max(unsaid), heard.interrupted))
    }

    pub(super) async fn create(&mut self, create: Create) -> Result<Exit, Fault> {
        ids::check(create.name.as_deref())?;
        let connection = self.connection().await?;
        let namespace = connection.namespace();
        let (specs, several) = match (create.file, create.name) {
            (Some(file), _) => {
                let namespace = namespace.to_owned();
                self.read(move || spec::from_file(&file, &namespace)).await?
            }
            (None, Some(name)) => (vec![spec::from_options(&name, namespace, create.fields)], false),
            // The arguments were checked for this.
            (None, None) => return Err(Fault::new(FaultKind::InvalidSpec, "there is nothing to create")),
        };
        let ids: Vec<String> = specs.iter().map(|spec| spec.id.clone()).collect();
        let manager = self.manager(&connection, Some(ids::places(&ids, namespace)), Vec::new()).await?;
        let run = manager.create(PROVIDER, specs, self.options(create.plan));
        let heard = self.listen(run, changes(&ids, "creating", create.plan)).await;
        Ok(self.conclude(&heard, several))
    }

    pub(super) async fn start(&mut self, start: Start) -> Result<Exit, Fault> {
        let settings = start.settle.map(|settle| (SETTLE.to_owned(), settle.as_millis().to_string()));
        let Reach { ids, several, manager } = self.reach(&start.ids.ids, settings.into_iter().collect()).await?;
        let run = manager.start(PROVIDER, ids.clone(), self.options(start.plan));
        let heard = self.listen(run, changes(&ids, "starting", start.plan)).await;
        Ok(self.conclude(&heard, several))
    }

    pub(super) async fn stop(&mut self, stop: Stop) -> Result<Exit, Fault> {
        let Reach { ids, several, manager } = self.reach(&stop.ids.ids, Vec::new()).await?;
        let run = manager.stop(PROVIDER, ids.clone(), stop.intent.into(), self.options(stop.plan));
        let heard = self.listen(run, changes(&ids, "stopping", stop.plan)).await;
        Ok(self.conclude(&heard, several))
    }

    pub(super) async fn delete(&mut self, delete: Delete) -> Result<Exit, Fault> {
        let Reach { ids, several, manager } = self.reach(&delete.ids.ids, Vec::new()).await?;
        let run = manager.delete(PROVIDER, ids.clone(), delete.intent.into(), self.options(delete.plan));
        let heard = self.listen(run, changes(&ids, "deleting", delete.plan)).await;
        Ok(self.conclude(&heard, several))
    }

    async fn reach(&mut self, names: &[String], settings: Vec<(String, String)>) -> Result<Reach, Fault> {
        ids::check(names.iter().map(String::as_str))?;
        let connection = self.connection().await?;
        let namespace = connection.namespace();
        let ids = ids::qualify(names, namespace);
        let manager = self.manager(&connection, Some(ids::places(&ids, namespace)), settings).await?;
        Ok(Reach { several: names.len() > 1, ids, manager })
    }

    async fn connection(&mut self) -> Result<Connection, Fault> {
        let global = self.global.clone();
        self.read(move || connect::connection(&global)).await
    }

    async fn manager(
        &mut self,
        connection: &Connection,
        places: Option<BTreeSet<String>>,
        settings: Vec<(String, String)>,
    ) -> Result<Manager, Fault> {
        let global = self.global.clone();
        self.prepare(connect::manager(&global, connection, places, settings)).await
    }

    fn options(&self, plan: bool) -> Options {
        Options { timeout: Some(self.global.timeout), plan, ..Options::default() }
    }

    fn conclude(&mut self, heard: &Heard, several: bool) -> Exit {
        let unsaid = self.unsaid(heard);
        self.console.entries(&heard.entries, several);
        let worst = heard.entries.iter().map(Entry::exit).max().unwrap_or(Exit::Ok);
        exit(worst.max(unsaid), heard.interrupted)
    }

    /// Says what is no workload's own fault, and how it makes the process end.
    fn unsaid(&mut self, heard: &Heard) -> Exit {
        heard.unsaid().map_or(Exit::Ok, |fault| {
            self.console.operation_fault(fault);
            fault.into()
        })
    }
}

/// An operation that changes what it is about, or would.
fn changes<'a>(ids: &'a [String], doing: &'static str, plan: bool) -> Watch<'a> {
    Watch { doing: if plan { "planning" } else { doing }, ids, shown: ids, told: true, plan }
}

/// One that only looks.
fn reading(ids: &[String]) -> Watch<'_> {
    Watch { doing: "reading", ids, shown: ids, told: false, plan: false }
}

impl From<Intent> for StopIntent {
    fn from(intent: Intent) -> StopIntent {
        match intent {
            Intent::Preserve => StopIntent::Preserve,
            Intent::RecoverableFailure => StopIntent::RecoverableFailure,
            Intent::RollbackFresh => StopIntent::RollbackFresh,
            Intent::Terminal => StopIntent::Terminal,
            Intent::Forced => StopIntent::Forced,
        }
    }
}
