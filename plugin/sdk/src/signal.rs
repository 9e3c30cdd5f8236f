//! How one task tells others that what they share has changed.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Wakes everyone who waits for it, as often as it is raised. Clones are the same signal.
///
/// Made for shared reads: one task keeps a list fresh in a `RefCell` and raises, each id's task waits and looks.
#[derive(Clone, Debug, Default)]
pub struct Signal(Rc<RefCell<State>>);

#[derive(Debug, Default)]
struct State {
    raised: u64,
    waiting: Vec<Waker>,
}

impl Signal {
    /// One that has not been raised.
    pub fn new() -> Self {
        Self::default()
    }

    /// Resolves everything that [`wait`](Self::wait) has returned so far.
    pub fn raise(&self) {
        let waiting = {
            let mut state = self.0.borrow_mut();
            state.raised = state.raised.wrapping_add(1);
            std::mem::take(&mut state.waiting)
        };
        waiting.into_iter().for_each(Waker::wake);
    }

    /// Resolves at the next raise after this call, not after its first poll: call it before looking at what is
    /// shared, await it after, and no change is missed.
    pub fn wait(&self) -> Raised {
        Raised { signal: self.clone(), seen: self.0.borrow().raised }
    }
}

/// The future of [`Signal::wait`].
#[derive(Debug)]
#[must_use = "futures do nothing unless awaited"]
pub struct Raised {
    signal: Signal,
    seen: u64,
}

impl Future for Raised {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = self.signal.0.borrow_mut();
        if state.raised != self.seen {
            return Poll::Ready(());
        }
        if !state.waiting.iter().any(|waker| waker.will_wake(cx.waker())) {
            state.waiting.push(cx.waker().clone());
        }
        Poll::Pending
    }
}
