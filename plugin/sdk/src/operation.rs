//! What all ids of an operation have in common.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use crate::core::Core;
use crate::tasks::Key;
use crate::{Cx, Ownership};

/// The operation as a whole: its context, its clock, and what is shared by its ids. Cheap to clone.
#[derive(Clone)]
pub struct Operation {
    pub(crate) core: Rc<Core>,
}

impl Operation {
    /// Monotonic milliseconds since the operation began, as of this step.
    pub fn now(&self) -> u64 {
        self.core.now.get()
    }

    /// When the host will send a stop for all, in the same milliseconds; none for an operation that is followed.
    pub fn deadline(&self) -> Option<u64> {
        self.core.context.deadline
    }

    /// How what is ours is told from what is not.
    pub fn ownership(&self) -> &Ownership {
        &self.core.context.ownership
    }

    /// Only what would be sent is asked for: each id ends at its first write. One that has nothing to write settles with
    /// what was read.
    pub fn plan(&self) -> bool {
        self.core.context.plan
    }

    /// A setting of the provider, by name.
    pub fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.core.context.settings.iter();
        settings.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The only entropy.
    pub fn seed(&self) -> &[u8] {
        &self.core.context.seed
    }

    /// What the host keeps for a workload, as it was when the operation began.
    pub fn record(&self, id: &str) -> Option<&[u8]> {
        let mut records = self.core.context.records.iter();
        records.find(|(key, _)| key == id).map(|(_, bytes)| bytes.as_slice())
    }

    /// A handle for what several ids read together. It can read, and only a stop for all concerns it; what changes
    /// something must name its workload and fails here with [`Failure::Denied`](crate::Failure::Denied).
    pub fn shared(&self) -> Cx {
        Cx::new(self.clone(), None)
    }

    /// Runs something beside the ids, until the operation ends or what is returned is dropped.
    pub fn spawn<F>(&self, future: F) -> Task<F::Output>
    where
        F: Future + 'static,
    {
        let place = Rc::new(RefCell::new(Place { value: None, waker: None }));
        let result = Rc::clone(&place);
        let key = self.core.tasks.add(Box::pin(async move {
            let value = future.await;
            let waker = {
                let mut place = result.borrow_mut();
                place.value = Some(value);
                place.waker.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        }));
        Task { place, owner: Some((Rc::clone(&self.core), key)) }
    }
}

impl fmt::Debug for Operation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Operation").field("now", &self.now()).finish_non_exhaustive()
    }
}

/// Work that runs beside the ids. Awaiting it gives its result; dropping it ends the work.
#[must_use = "work that is dropped ends; `detach` lets it run on"]
pub struct Task<T> {
    place: Rc<RefCell<Place<T>>>,
    owner: Option<(Rc<Core>, Key)>,
}

struct Place<T> {
    value: Option<T>,
    waker: Option<Waker>,
}

impl<T> Task<T> {
    /// Lets it run until the operation ends.
    pub fn detach(mut self) {
        self.owner = None;
    }
}

impl<T> Future for Task<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let mut place = self.place.borrow_mut();
        match place.value.take() {
            Some(value) => Poll::Ready(value),
            None => {
                place.waker = Some(cx.waker().clone());
                Poll::Pending
            }
        }
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        if let Some((core, key)) = self.owner.take() {
            core.tasks.remove(key);
        }
    }
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}
