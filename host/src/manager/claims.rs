//! Writes on one workload take turns; a stop or delete takes over from a start.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

use crate::drive::{Signal, Signals};
use crate::world::Call;

/// Provider and id.
type Key = (String, String);

/// Who holds each workload, and who waits for it.
#[derive(Default)]
pub(super) struct Claims {
    queues: Mutex<HashMap<Key, VecDeque<Entry>>>,
}

struct Entry {
    ticket: Arc<()>,
    starts: bool,
    signals: Arc<Signals>,
    /// Of one that waits.
    turn: Option<oneshot::Sender<()>>,
}

/// The turn on one workload, or a place in the queue for it. Dropping it hands it on.
pub(crate) struct Claim {
    claims: Arc<Claims>,
    key: Key,
    ticket: Arc<()>,
}

/// A place in a queue, and when it is at its head.
pub(super) struct Waiting {
    claim: Claim,
    turn: Option<oneshot::Receiver<()>>,
}

impl Claims {
    /// Queues up for several workloads at once, so that whoever comes later is later for each of them: operations
    /// never wait for each other in a circle, and a stop is never overtaken by a start that was there before it. What
    /// is ahead and would only start a workload is told to make way.
    pub(super) fn queue_all(
        self: &Arc<Self>,
        provider: &str,
        ids: &[String],
        call: &Call,
        signals: &Arc<Signals>,
    ) -> HashMap<String, Waiting> {
        let mut queues = self.queues();
        ids.iter().map(|id| (id.clone(), self.queue(&mut queues, provider, id, call, signals))).collect()
    }

    fn queue(
        self: &Arc<Self>,
        queues: &mut HashMap<Key, VecDeque<Entry>>,
        provider: &str,
        id: &str,
        call: &Call,
        signals: &Arc<Signals>,
    ) -> Waiting {
        let key = (provider.to_owned(), id.to_owned());
        let ticket = Arc::new(());
        let (sender, receiver) = oneshot::channel();
        let queue = queues.entry(key.clone()).or_default();
        if matches!(call, Call::Stop { .. } | Call::Delete { .. }) {
            for ahead in queue.iter().filter(|entry| entry.starts) {
                ahead.signals.send(Signal::Supersede(id.to_owned()));
            }
        }
        let first = queue.is_empty();
        queue.push_back(Entry {
            ticket: Arc::clone(&ticket),
            starts: matches!(call, Call::Start { .. }),
            signals: Arc::clone(signals),
            turn: (!first).then_some(sender),
        });
        let claim = Claim { claims: Arc::clone(self), key, ticket };
        Waiting { claim, turn: (!first).then_some(receiver) }
    }

    fn queues(&self) -> MutexGuard<'_, HashMap<Key, VecDeque<Entry>>> {
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Waiting {
    /// Nobody is ahead.
    pub(super) fn is_ready(&self) -> bool {
        self.turn.is_none()
    }

    /// Waits until nobody is ahead. May be dropped and called again.
    pub(super) async fn turn(&mut self) {
        if let Some(turn) = &mut self.turn {
            // An error would mean that the entry is gone, which only this claim can remove.
            let _ = turn.await;
            self.turn = None;
        }
    }

    pub(super) fn into_claim(self) -> Claim {
        self.claim
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        let mut queues = self.claims.queues();
        let Some(queue) = queues.get_mut(&self.key) else { return };
        queue.retain(|entry| !Arc::ptr_eq(&entry.ticket, &self.ticket));
        match queue.front_mut() {
            Some(next) => {
                if let Some(turn) = next.turn.take() {
                    // It may be giving up at this very moment; then its own drop hands the turn on.
                    let _ = turn.send(());
                }
            }
            None => {
                queues.remove(&self.key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::sync::Arc;
    use std::task::{Context, Waker};

    use super::Claims;
    use crate::drive::{Signal, Signals};
    use crate::model::StopIntent;
    use crate::world::Call;

    fn queue(claims: &Arc<Claims>, id: &str, call: &Call, signals: &Arc<Signals>) -> super::Waiting {
        claims.queue_all("p", &[id.to_owned()], call, signals).remove(id).unwrap()
    }

    fn start() -> Call {
        Call::Start { ids: vec!["a".to_owned()] }
    }

    fn stop() -> Call {
        Call::Stop { ids: vec!["a".to_owned()], intent: StopIntent::Preserve }
    }

    #[test]
    fn turns_are_handed_on_in_order() {
        let claims = Arc::new(Claims::default());
        let mut context = Context::from_waker(Waker::noop());
        let signals = Arc::new(Signals::default());
        let first = queue(&claims, "a", &start(), &signals);
        let second = queue(&claims, "a", &start(), &signals);
        let mut third = queue(&claims, "a", &start(), &signals);
        let elsewhere = queue(&claims, "b", &start(), &signals);
        assert!(first.is_ready() && elsewhere.is_ready() && !second.is_ready());
        assert!(pin!(third.turn()).poll(&mut context).is_pending());
        // One that gives up while it waits.
        drop(second);
        assert!(pin!(third.turn()).poll(&mut context).is_pending());
        drop(first.into_claim());
        assert!(pin!(third.turn()).poll(&mut context).is_ready());
        drop((third, elsewhere));
        assert!(claims.queues().is_empty());
        assert_eq!(signals.take(), []);
    }

    #[test]
    fn a_stop_takes_over_from_starts_and_waits_for_stops() {
        let claims = Arc::new(Claims::default());
        let of = || Arc::new(Signals::default());
        let (running, waiting, first_stop, second_stop) = (of(), of(), of(), of());
        let held = queue(&claims, "a", &start(), &running);
        let queued = queue(&claims, "a", &start(), &waiting);
        let stopping = queue(&claims, "a", &stop(), &first_stop);
        let later = queue(&claims, "a", &stop(), &second_stop);
        let superseded = [Signal::Supersede("a".to_owned())];
        assert_eq!(running.take(), superseded);
        assert_eq!(waiting.take(), superseded);
        assert_eq!(first_stop.take(), []);
        drop((held, queued, stopping, later));
        assert!(claims.queues().is_empty());
    }
}
