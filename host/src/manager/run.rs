//! A running operation, as its caller holds it.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use tokio::time::Instant;

use crate::drive::{Signal, Signals};
use crate::model::{Event, Fault, FaultKind, Report, Settled};

/// A running operation. It runs whether or not it is looked at, but pauses when far more was told than was taken.
///
/// Dropping it drops the operation at once: its requests are given up, its instance and its turn on each workload are
/// free again. [`Run::cancel`] lets it wind down first.
#[must_use = "dropping it drops the operation"]
pub struct Run {
    receiver: mpsc::Receiver<Vec<Event>>,
    batch: VecDeque<Event>,
    signals: Arc<Signals>,
    task: AbortHandle,
    began: Instant,
    open: HashSet<String>,
    collected: Collected,
    /// Who takes what is followed keeps it, or not: it has no end.
    follows: bool,
    ended: bool,
}

#[derive(Default)]
struct Collected {
    report: Report,
    /// Where each workload is in the list of those emitted.
    workloads: HashMap<String, usize>,
    /// Where each place is in the list of those that could not be read.
    incomplete: HashMap<String, usize>,
}

impl Run {
    pub(super) fn new(
        receiver: mpsc::Receiver<Vec<Event>>,
        signals: Arc<Signals>,
        task: AbortHandle,
        began: Instant,
        ids: Vec<String>,
        follows: bool,
    ) -> Run {
        let open = ids.into_iter().collect();
        let (batch, collected) = (VecDeque::new(), Collected::default());
        Run { receiver, batch, signals, task, began, open, collected, follows, ended: false }
    }

    /// The next thing that became known; none when the operation has ended. May be dropped while it waits.
    pub async fn next(&mut self) -> Option<Event> {
        let event = self.take().await?;
        let passing = matches!(event, Event::Progress { .. } | Event::Emitted(_) | Event::Incomplete { .. });
        if !(self.follows && passing) {
            self.collected.add(event.clone());
        }
        Some(event)
    }

    async fn take(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.batch.pop_front() {
                match &event {
                    Event::Settled(settled) => self.open.remove(&settled.id),
                    Event::Planned(planned) => self.open.remove(&planned.id),
                    _ => false,
                };
                return Some(event);
            }
            if self.ended {
                return None;
            }
            match self.receiver.recv().await {
                Some(batch) => self.batch = batch.into(),
                None => self.end(),
            }
        }
    }

    /// Asks the operation to wind down. It ends within the grace of the limits; what has no result by then settles as
    /// cancelled.
    pub fn cancel(&self) {
        self.signals.send(Signal::Cancel);
    }

    /// Waits for the end and reports everything that was told, what [`Run::next`] returned included; of a followed
    /// operation without the workloads and places that it returned.
    pub async fn finish(mut self) -> Report {
        while let Some(event) = self.take().await {
            self.collected.add(event);
        }
        std::mem::take(&mut self.collected.report)
    }

    /// The operation's task has ended. One that ended without a result for each id panicked in the host.
    fn end(&mut self) {
        self.ended = true;
        let elapsed = self.began.elapsed();
        self.collected.report.elapsed = elapsed;
        let mut open: Vec<String> = self.open.drain().collect();
        open.sort();
        for id in open {
            let fault = Fault::new(FaultKind::Internal, "the operation failed in the host");
            self.batch.push_back(Event::Settled(Settled { id, result: Err(fault), elapsed }));
        }
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Collected {
    fn add(&mut self, event: Event) {
        let report = &mut self.report;
        match event {
            Event::Progress { .. } => {}
            Event::Emitted(workload) => {
                let id = workload.id.clone();
                replace(&mut report.emitted, &mut self.workloads, id, workload);
            }
            Event::Incomplete { place, fault } => {
                replace(&mut report.incomplete, &mut self.incomplete, place.clone(), (place, fault));
            }
            Event::Settled(settled) => report.settled.push(settled),
            Event::Planned(planned) => report.planned.push(planned),
            Event::Failed(fault) => report.fault = Some(fault),
        }
    }
}

/// Puts a value in the place of the earlier one with this key, or at the end.
fn replace<T>(list: &mut Vec<T>, places: &mut HashMap<String, usize>, key: String, value: T) {
    match places.get(&key).and_then(|place| list.get_mut(*place)) {
        Some(known) => *known = value,
        None => {
            places.insert(key, list.len());
            list.push(value);
        }
    }
}
