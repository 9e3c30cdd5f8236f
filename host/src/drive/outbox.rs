//! What an operation tells, on its way to a caller who may be slow.

use std::time::Duration;

use tokio::sync::mpsc;

use crate::model::{Event, Fault, Outcome, Planned, PlannedRequest, Settled};

/// Batches that may wait for the caller, each of one step. Beyond it the operation pauses.
const BATCHES: usize = 8;

/// The sending half, with what was not handed over yet.
pub(crate) struct Outbox {
    sender: mpsc::Sender<Vec<Event>>,
    waiting: Vec<Event>,
}

/// A caller's end and an operation's.
pub(crate) fn channel() -> (Outbox, mpsc::Receiver<Vec<Event>>) {
    let (sender, receiver) = mpsc::channel(BATCHES);
    (Outbox { sender, waiting: Vec::new() }, receiver)
}

impl Outbox {
    pub(crate) fn push(&mut self, event: Event) {
        self.waiting.push(event);
    }

    pub(crate) fn settled(&mut self, id: String, result: Result<Outcome, Fault>, elapsed: Duration) {
        self.push(Event::Settled(Settled { id, result, elapsed }));
    }

    pub(super) fn planned(&mut self, id: String, request: PlannedRequest, elapsed: Duration) {
        self.push(Event::Planned(Planned { id, request, elapsed }));
    }

    pub(super) fn is_flushed(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Hands over, waiting for the caller. Dropped half way it has handed over nothing or all.
    pub(crate) async fn flush(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        match self.sender.reserve().await {
            Ok(room) => room.send(std::mem::take(&mut self.waiting)),
            // Nobody will ever listen; the operation is about to be dropped.
            Err(_) => self.waiting.clear(),
        }
    }

    /// Hands over what there is room for. Without room only results are kept: while an operation winds down it must
    /// neither wait nor pile up.
    pub(crate) fn flush_now(&mut self) {
        if self.waiting.is_empty() {
            return;
        }
        match self.sender.try_reserve() {
            Ok(room) => room.send(std::mem::take(&mut self.waiting)),
            Err(_) => self.waiting.retain(|event| !matches!(event, Event::Progress { .. } | Event::Emitted(_))),
        }
    }
}
