//! What others want of a running operation.

use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

use tokio::sync::Notify;

/// One wish.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Signal {
    /// The caller takes the operation back.
    Cancel,
    /// Another operation takes over this id.
    Supersede(String),
}

/// Wishes that the operation has not looked at yet. One operation listens, anybody may wish.
#[derive(Debug, Default)]
pub(crate) struct Signals {
    waiting: Mutex<BTreeSet<Signal>>,
    notify: Notify,
}

impl Signals {
    pub(crate) fn send(&self, signal: Signal) {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner).insert(signal);
        // Kept until somebody waits, so none is missed.
        self.notify.notify_one();
    }

    pub(crate) fn take(&self) -> Vec<Signal> {
        let waiting = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        waiting.into_iter().collect()
    }

    pub(crate) async fn changed(&self) {
        self.notify.notified().await;
    }
}
