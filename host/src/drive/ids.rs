//! The ids of one operation: which are open, what they wait for, and the claims held on them.

use std::collections::HashMap;
use std::time::Duration;

use tokio::time::Instant;

use crate::engine::Broken;
use crate::limits::WORD;
use crate::manager::Claim;
use crate::text::clean;

/// All of them, in the order in which they were given.
#[derive(Default)]
pub(crate) struct Ids {
    order: Vec<String>,
    entries: HashMap<String, Entry>,
    open: usize,
}

struct Entry {
    state: State,
    progress: Option<String>,
    /// Since when a notice that another operation takes over is out.
    superseded: Option<Instant>,
    /// Held until the id ends, then handed on.
    claim: Option<Claim>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    Open,
    /// By the provider.
    Settled,
    /// By the host, without the provider's knowledge: what it still does for this id is not held against it.
    Taken,
}

impl Ids {
    /// Each once, with the claim that is held on it.
    pub(crate) fn new(ids: impl IntoIterator<Item = (String, Option<Claim>)>) -> Ids {
        let mut all = Ids::default();
        for (id, claim) in ids {
            let entry = Entry { state: State::Open, progress: None, superseded: None, claim };
            if all.entries.insert(id.clone(), entry).is_none() {
                all.order.push(id);
                all.open += 1;
            }
        }
        all
    }

    pub(crate) fn len(&self) -> usize {
        self.order.len()
    }

    /// Of the operation and without a result: what a change must name.
    pub(super) fn may_write(&self, id: &str) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.state != State::Settled)
    }

    pub(super) fn is_known(&self, id: &str) -> bool {
        self.entries.contains_key(id)
    }

    /// The host has given this id's result; its effects are pointless.
    pub(super) fn is_taken(&self, id: &str) -> bool {
        self.entries.get(id).is_some_and(|entry| entry.state == State::Taken)
    }

    /// The provider settles an id. False when the host had done so already.
    pub(super) fn settle(&mut self, id: &str) -> Result<bool, Broken> {
        let name = || clean(id.to_owned(), WORD);
        let Some(entry) = self.entries.get_mut(id) else {
            return Err(Broken::protocol(format!("the provider gave a result for {}, which nobody asked for", name())));
        };
        match entry.state {
            State::Open => {
                entry.end(State::Settled);
                self.open -= 1;
                Ok(true)
            }
            State::Taken => {
                entry.end(State::Settled);
                Ok(false)
            }
            State::Settled => Err(Broken::protocol(format!("the provider gave two results for {}", name()))),
        }
    }

    /// The host settles an id. False when it had a result.
    pub(super) fn take(&mut self, id: &str) -> bool {
        match self.entries.get_mut(id) {
            Some(entry) if entry.state == State::Open => {
                entry.end(State::Taken);
                self.open -= 1;
                true
            }
            _ => false,
        }
    }

    /// Notes that another operation takes over. False when the id has ended or was told before.
    pub(super) fn supersede(&mut self, id: &str, now: Instant) -> bool {
        match self.entries.get_mut(id) {
            Some(entry) if entry.state == State::Open && entry.superseded.is_none() => {
                entry.superseded = Some(now);
                true
            }
            _ => false,
        }
    }

    /// Since when the one waits that has waited longest to be superseded.
    pub(super) fn first_superseded(&self) -> Option<Instant> {
        self.superseded().map(|(_, since)| since).min()
    }

    /// Superseded ids that did not end in time.
    pub(super) fn overdue(&self, now: Instant, grace: Duration) -> Vec<String> {
        self.superseded().filter(|(_, since)| now >= *since + grace).map(|(id, _)| id.clone()).collect()
    }

    fn superseded(&self) -> impl Iterator<Item = (&String, Instant)> {
        let open = self.entries.iter().filter(|(_, entry)| entry.state == State::Open);
        open.filter_map(|(id, entry)| entry.superseded.map(|since| (id, since)))
    }

    /// Notes what an id waits for. False when it is not open, or said so before.
    pub(super) fn note_progress(&mut self, id: &str, text: &str) -> bool {
        match self.entries.get_mut(id) {
            Some(entry) if entry.state == State::Open && entry.progress.as_deref() != Some(text) => {
                entry.progress = Some(text.to_owned());
                true
            }
            _ => false,
        }
    }

    pub(super) fn progress(&self, id: &str) -> Option<&str> {
        self.entries.get(id).and_then(|entry| entry.progress.as_deref())
    }

    pub(super) fn first_open(&self) -> Option<String> {
        self.iter_open().next().cloned()
    }

    pub(super) fn open(&self) -> Vec<String> {
        self.iter_open().cloned().collect()
    }

    fn iter_open(&self) -> impl Iterator<Item = &String> {
        self.order.iter().filter(|id| self.entries.get(*id).is_some_and(|entry| entry.state == State::Open))
    }

    /// There were some, and each has its result.
    pub(super) fn all_ended(&self) -> bool {
        self.open == 0 && !self.order.is_empty()
    }
}

impl Entry {
    fn end(&mut self, state: State) {
        self.state = state;
        self.claim = None;
    }
}
