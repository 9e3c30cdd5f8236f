//! Who may have an instance: a bounded number, and a bounded queue behind it in which reads go first.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;

/// Operations that wait for an instance. Beyond it they fail at once: a longer queue only hides that nothing moves.
const QUEUE: usize = 4096;

/// The queue is full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("too many operations wait already")]
pub(crate) struct Busy;

/// The right to one live instance. Dropping it hands it on.
pub(crate) struct Slot(Arc<Slots>);

pub(super) struct Slots {
    total: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    reads: VecDeque<oneshot::Sender<Slot>>,
    writes: VecDeque<oneshot::Sender<Slot>>,
}

impl Slots {
    pub(super) fn new(total: usize) -> Arc<Slots> {
        let state = State { free: total, reads: VecDeque::new(), writes: VecDeque::new() };
        Arc::new(Slots { total, state: Mutex::new(state) })
    }

    /// Instances that are live now.
    pub(super) fn live(&self) -> usize {
        self.total - self.state().free
    }

    pub(super) async fn take(slots: &Arc<Slots>, read: bool) -> Result<Slot, Busy> {
        let receiver = {
            let mut state = slots.state();
            if state.free > 0 {
                state.free -= 1;
                return Ok(Slot(Arc::clone(slots)));
            }
            state.reads.retain(|waiting| !waiting.is_closed());
            state.writes.retain(|waiting| !waiting.is_closed());
            if state.reads.len() + state.writes.len() >= QUEUE {
                return Err(Busy);
            }
            let (sender, receiver) = oneshot::channel();
            if read {
                state.reads.push_back(sender)
            } else {
                state.writes.push_back(sender)
            }
            receiver
        };
        // The sender is only dropped after sending, or with the queue itself.
        receiver.await.map_err(|_| Busy)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let next = {
            let mut state = self.0.state();
            let next = loop {
                match state.reads.pop_front().or_else(|| state.writes.pop_front()) {
                    Some(waiting) if waiting.is_closed() => {}
                    next => break next,
                }
            };
            if next.is_none() {
                state.free += 1;
            }
            next
        };
        if let Some(waiting) = next {
            // One that gave up meanwhile gives the slot back by dropping it, after the lock was released.
            drop(waiting.send(Slot(Arc::clone(&self.0))));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::Slots;

    #[test]
    fn reads_go_first_and_who_gives_up_leaves_nothing() {
        let mut context = Context::from_waker(Waker::noop());
        let slots = Slots::new(1);
        let Poll::Ready(Ok(first)) = pin!(Slots::take(&slots, false)).poll(&mut context) else { panic!() };
        let mut write = Box::pin(Slots::take(&slots, false));
        let mut given_up = Box::pin(Slots::take(&slots, true));
        let mut read = Box::pin(Slots::take(&slots, true));
        assert!(write.as_mut().poll(&mut context).is_pending());
        assert!(given_up.as_mut().poll(&mut context).is_pending());
        assert!(read.as_mut().poll(&mut context).is_pending());
        drop(given_up);
        drop(first);
        assert!(write.as_mut().poll(&mut context).is_pending());
        let Poll::Ready(Ok(second)) = read.as_mut().poll(&mut context) else { panic!() };
        drop(second);
        // Handed over but never looked at.
        drop(write);
        assert_eq!(slots.live(), 0);
    }
}
