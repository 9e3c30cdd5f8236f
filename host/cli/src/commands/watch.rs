//! `--watch`: what goes on being told until somebody ends it.

use std::future::Future;

use tokio::time::Instant;
use workload_host::model::{Fault, FaultKind, Workload};
use workload_host::{Options, Run};

use super::Session;
use crate::args::Global;
use crate::exit::Exit;
use crate::output::{Console, unread};
use crate::run::follow::{Ender, Followed, Watcher, follow};

/// What is watched.
pub(super) struct Watched {
    /// With these names; none for a list.
    pub(super) ids: Vec<String>,
    /// What has a line of its own on a terminal meanwhile.
    shown: Vec<String>,
    /// For how long, if an end was asked for. The usual limit of an operation is none of a watch.
    limit: Option<std::time::Duration>,
    began: Instant,
}

impl Watched {
    /// Begins now.
    pub(super) fn of(global: &Global, ids: Vec<String>, shown: Vec<String>) -> Watched {
        Watched { ids, shown, limit: global.limited.then_some(global.timeout), began: Instant::now() }
    }

    /// How the operation is run.
    pub(super) fn options(&self) -> Options {
        Options { timeout: self.limit, follow: true, ..Options::default() }
    }

    /// It went on for as long as was asked for.
    fn is_over(&self) -> bool {
        self.limit.is_some_and(|limit| self.began.elapsed() >= limit)
    }
}

impl Session<'_> {
    /// Tells every change until somebody ends it, and says how the process ends.
    pub(super) async fn watch(&mut self, mut operation: Run, watched: Watched) -> Exit {
        self.console.begin("watching", &watched.shown);
        let mut told = Told { console: &mut *self.console, shown: watched.shown.first() };
        let followed = follow(&mut operation, &watched.ids, self.interrupt.wait(), unread(), &mut told).await;
        self.console.end_watch();
        match followed.ender {
            Ender::User => Exit::Interrupted,
            Ender::Reader => Exit::Ok,
            Ender::Operation => self.over(&followed, watched.is_over()),
        }
    }

    /// The exit code of a watch that ended by itself: the worst of how things are now, and of places that could not be read
    /// meanwhile.
    fn over(&mut self, followed: &Followed, in_time: bool) -> Exit {
        let found = followed.found.iter().map(|(_, found)| match found {
            Ok(workload) => self.console.exit_of(workload),
            Err(fault) => fault.into(),
        });
        let places = followed.incomplete.values().map(Exit::from);
        let worst = found.chain(places).max().unwrap_or(Exit::Ok);
        let told = |fault: &Fault| {
            let mut faults = followed.found.iter().filter_map(|(_, found)| found.as_ref().err());
            faults.any(|said| said.kind == fault.kind)
        };
        let fault = match &followed.fault {
            Some(fault) if !told(fault) => fault.clone(),
            None if worst == Exit::Ok && !in_time => unfollowed(),
            _ => return worst,
        };
        self.console.fault(&fault);
        worst.max(Exit::from(&fault))
    }
}

/// A provider need not be able to follow; then it ends when it has looked once.
fn unfollowed() -> Fault {
    Fault::new(FaultKind::Unsupported, "the provider tells no changes: this is how it was when it looked")
}

/// Prints what is seen.
struct Told<'a> {
    console: &'a mut Console,
    shown: Option<&'a String>,
}

impl Watcher for Told<'_> {
    fn workload(&mut self, workload: &Workload) {
        self.console.seen(workload);
    }

    fn ended(&mut self, id: &str, fault: &Fault) {
        self.console.seen_ended(id, fault);
    }

    fn incomplete(&mut self, place: &str, fault: &Fault) {
        self.console.seen_incomplete(place, fault);
    }

    fn progress(&mut self, id: &str, text: &str) {
        // Of several there is one line, which cannot say what each waits for.
        if self.shown.is_none_or(|shown| shown == id) {
            self.console.progress(id, text);
        }
    }

    fn refresh(&mut self) -> impl Future<Output = ()> {
        self.console.refresh()
    }
}
