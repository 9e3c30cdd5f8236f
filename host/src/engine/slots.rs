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

/// Reads in a row that go before a write that waits: a stream of reads must not keep a stop from its turn for ever.
const READS: u32 = 8;

/// The right to one live instance. Dropping it hands it on.
pub(crate) struct Slot {
    slots: Arc<Slots>,
    weight: usize,
}

pub(super) struct Slots {
    total: usize,
    state: Mutex<State>,
}

struct State {
    free: usize,
    live: usize,
    reads: VecDeque<Waiting>,
    writes: VecDeque<Waiting>,
    reads_in_a_row: u32,
}

struct Waiting {
    weight: usize,
    sender: oneshot::Sender<Slot>,
}

impl State {
    /// Who is next, without those that gave up.
    fn queue(&mut self) -> &mut VecDeque<Waiting> {
        for queue in [&mut self.reads, &mut self.writes] {
            while queue.front().is_some_and(|waiting| waiting.sender.is_closed()) {
                queue.pop_front();
            }
        }
        let write = self.reads.is_empty() || (self.reads_in_a_row >= READS && !self.writes.is_empty());
        if write { &mut self.writes } else { &mut self.reads }
    }

    /// Takes the next out of its queue, if there is room for it.
    fn next(&mut self) -> Option<Waiting> {
        let free = self.free;
        let reads = self.reads.len();
        let next = self.queue().pop_front_if(|next| next.weight <= free)?;
        let read = self.reads.len() < reads;
        self.reads_in_a_row = if read { self.reads_in_a_row + 1 } else { 0 };
        self.free -= next.weight;
        self.live += 1;
        Some(next)
    }
}

impl Slots {
    pub(super) fn new(total: usize) -> Arc<Slots> {
        let (reads, writes) = (VecDeque::new(), VecDeque::new());
        Arc::new(Slots { total, state: Mutex::new(State { free: total, live: 0, reads, writes, reads_in_a_row: 0 }) })
    }

    /// Instances that are live now.
    pub(super) fn live(&self) -> usize {
        self.state().live
    }

    /// Waits for a place. `weight` is how many ordinary instances the pool could hold instead: one with many memories
    /// or tables must not leave others a slot without a memory.
    pub(super) async fn take(slots: &Arc<Slots>, read: bool, weight: usize) -> Result<Slot, Busy> {
        // Who gives up may have been in the way of others.
        let _handed_on = HandOn(slots);
        let receiver = {
            let mut state = slots.state();
            if state.reads.len() + state.writes.len() >= QUEUE {
                state.reads.retain(|waiting| !waiting.sender.is_closed());
                state.writes.retain(|waiting| !waiting.sender.is_closed());
            }
            if state.reads.len() + state.writes.len() >= QUEUE {
                return Err(Busy);
            }
            let (sender, receiver) = oneshot::channel();
            let waiting = Waiting { weight: weight.clamp(1, slots.total.max(1)), sender };
            if read {
                state.reads.push_back(waiting)
            } else {
                state.writes.push_back(waiting)
            }
            receiver
        };
        Slots::hand_on(slots);
        // The sender is only dropped after sending, or with the queue itself.
        receiver.await.map_err(|_| Busy)
    }

    /// Gives what is free to who waits.
    fn hand_on(slots: &Arc<Slots>) {
        loop {
            // Bound first: the lock is free again when the slot is sent.
            let next = slots.state().next();
            let Some(Waiting { weight, sender }) = next else { return };
            // One that gave up meanwhile gives the slot back by dropping it.
            drop(sender.send(Slot { slots: Arc::clone(slots), weight }));
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

struct HandOn<'a>(&'a Arc<Slots>);

impl Drop for HandOn<'_> {
    fn drop(&mut self) {
        Slots::hand_on(self.0);
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.slots.state();
            state.free += self.weight;
            state.live -= 1;
        }
        Slots::hand_on(&self.slots);
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
        let Poll::Ready(Ok(first)) = pin!(Slots::take(&slots, false, 1)).poll(&mut context) else { panic!() };
        let mut write = Box::pin(Slots::take(&slots, false, 1));
        let mut given_up = Box::pin(Slots::take(&slots, true, 1));
        let mut read = Box::pin(Slots::take(&slots, true, 1));
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

    #[test]
    fn a_write_waits_for_some_reads_but_not_for_all() {
        let mut context = Context::from_waker(Waker::noop());
        let slots = Slots::new(1);
        let Poll::Ready(Ok(mut held)) = pin!(Slots::take(&slots, true, 1)).poll(&mut context) else { panic!() };
        let mut write = Box::pin(Slots::take(&slots, false, 1));
        assert!(write.as_mut().poll(&mut context).is_pending());
        for reads in 1.. {
            let mut read = Box::pin(Slots::take(&slots, true, 1));
            assert!(read.as_mut().poll(&mut context).is_pending());
            drop(held);
            if write.as_mut().poll(&mut context).is_ready() {
                assert_eq!(reads, super::READS);
                break;
            }
            let Poll::Ready(Ok(next)) = read.as_mut().poll(&mut context) else { panic!() };
            held = next;
        }
    }

    #[test]
    fn a_heavy_one_waits_for_its_room_and_is_not_overtaken() {
        let mut context = Context::from_waker(Waker::noop());
        let slots = Slots::new(3);
        let Poll::Ready(Ok(first)) = pin!(Slots::take(&slots, true, 1)).poll(&mut context) else { panic!() };
        let mut heavy = Box::pin(Slots::take(&slots, true, 200));
        let mut light = Box::pin(Slots::take(&slots, true, 1));
        assert!(heavy.as_mut().poll(&mut context).is_pending());
        assert!(light.as_mut().poll(&mut context).is_pending());
        drop(first);
        let Poll::Ready(Ok(all)) = heavy.as_mut().poll(&mut context) else { panic!() };
        assert!(light.as_mut().poll(&mut context).is_pending());
        drop(all);
        let Poll::Ready(Ok(one)) = light.as_mut().poll(&mut context) else { panic!() };
        // One that gives up is no longer in the way.
        let mut heavy = Box::pin(Slots::take(&slots, true, 3));
        let mut light = Box::pin(Slots::take(&slots, true, 2));
        assert!(heavy.as_mut().poll(&mut context).is_pending());
        assert!(light.as_mut().poll(&mut context).is_pending());
        drop(heavy);
        let Poll::Ready(Ok(two)) = light.as_mut().poll(&mut context) else { panic!() };
        assert_eq!(slots.live(), 2);
        drop((one, two));
        assert_eq!(slots.live(), 0);
    }
}
