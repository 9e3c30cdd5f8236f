//! Listens to an operation that goes on telling changes, until somebody ends it.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;

use workload_host::model::{Event, Fault, Workload};

use super::Events;
use crate::answer::Found;

/// What is told while something is followed.
pub trait Watcher {
    /// A workload is like this now.
    fn workload(&mut self, workload: &Workload);
    /// An id ended: nothing more will be told of it.
    fn ended(&mut self, id: &str, fault: &Fault);
    /// A place could not be read.
    fn incomplete(&mut self, place: &str, fault: &Fault);
    /// A workload waits for something else than before.
    fn progress(&mut self, id: &str, text: &str);
    /// Waits until there is something to be shown, and shows it; for ever if there is nothing.
    fn refresh(&mut self) -> impl Future<Output = ()>;
}

/// Who ended it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ender {
    /// The user, with Ctrl-C.
    User,
    /// Whoever read what was told went away.
    Reader,
    /// The operation itself.
    Operation,
}

/// What was known at the end.
#[derive(Debug)]
pub struct Followed {
    /// Each id as it was last seen, in the order in which they were given. One that was not seen is not here.
    pub found: Vec<Found>,
    /// Places that could not be read, each with the last reason.
    pub incomplete: BTreeMap<String, Fault>,
    /// The operation as a whole ended early.
    pub fault: Option<Fault>,
    /// Who ended it.
    pub ender: Ender,
}

/// Listens until the operation ends, `interrupt` resolves, or `unread` does. What only looks needs no winding down, so
/// nothing is waited for then: whoever drops `events` ends it.
pub async fn follow(
    events: &mut impl Events,
    ids: &[String],
    interrupt: impl Future<Output = ()>,
    unread: impl Future<Output = ()>,
    watcher: &mut impl Watcher,
) -> Followed {
    let (mut interrupt, mut unread) = (pin!(interrupt), pin!(unread));
    let mut last: BTreeMap<String, Result<Workload, Fault>> = BTreeMap::new();
    let mut incomplete = BTreeMap::new();
    let mut whole = None;
    let ender = loop {
        let event = tokio::select! {
            biased;
            () = interrupt.as_mut() => break Ender::User,
            () = unread.as_mut() => break Ender::Reader,
            // Before the events: they may come without a pause.
            () = watcher.refresh() => continue,
            event = events.next() => event,
        };
        match event {
            None => break Ender::Operation,
            Some(Event::Emitted(workload)) => {
                watcher.workload(&workload);
                if ids.contains(&workload.id) {
                    last.insert(workload.id.clone(), Ok(workload));
                }
            }
            Some(Event::Settled(settled)) => match settled.result {
                // A provider that does not follow says what it read only here.
                Ok(outcome) => {
                    if let Some(workload) = outcome.workload
                        && !matches!(last.get(&settled.id), Some(Ok(seen)) if *seen == workload)
                    {
                        watcher.workload(&workload);
                        last.insert(settled.id, Ok(workload));
                    }
                }
                Err(fault) => {
                    watcher.ended(&settled.id, &fault);
                    last.insert(settled.id, Err(fault));
                }
            },
            Some(Event::Incomplete { place, fault }) => {
                if incomplete.get(&place) != Some(&fault) {
                    watcher.incomplete(&place, &fault);
                    incomplete.insert(place, fault);
                }
            }
            Some(Event::Progress { id, text }) => watcher.progress(&id, &text),
            Some(Event::Planned(_)) => {}
            Some(Event::Failed(fault)) => whole = Some(fault),
        }
    };
    let found = ids.iter().filter_map(|id| last.remove_entry(id)).collect();
    Followed { found, incomplete, fault: whole, ender }
}

#[cfg(test)]
#[path = "follow/tests.rs"]
mod tests;
