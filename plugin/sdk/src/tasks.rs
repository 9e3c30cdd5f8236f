//! The executor: each task has its own waker and is polled only when that was used, in the order of waking.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::table::Table;

pub(crate) type Work = Pin<Box<dyn Future<Output = ()>>>;

/// Never reused, so that a late wake-up of a task that has ended finds nothing.
pub(crate) type Key = u64;

#[derive(Default)]
pub(crate) struct Tasks {
    next: Cell<Key>,
    live: RefCell<Table<Key, Running>>,
    queue: Arc<Queue>,
}

struct Running {
    /// None while it is being polled.
    work: Option<Work>,
    flag: Arc<Flag>,
    waker: Waker,
}

/// Wakers must be `Send`, so the queue has a lock; there is never a second thread to wait for.
#[derive(Default)]
struct Queue(Mutex<VecDeque<Key>>);

impl Queue {
    fn push(&self, key: Key) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push_back(key);
    }

    fn pop(&self) -> Option<Key> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }
}

struct Flag {
    key: Key,
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if !self.queued.swap(true, Ordering::Relaxed) {
            self.queue.push(self.key);
        }
    }
}

impl Tasks {
    /// Adds a task, to be polled for the first time in this step.
    pub(crate) fn add(&self, work: Work) -> Key {
        let key = self.next.get();
        self.next.set(key + 1);
        let flag = Arc::new(Flag { key, queued: AtomicBool::new(false), queue: Arc::clone(&self.queue) });
        flag.wake_by_ref();
        let waker = Waker::from(Arc::clone(&flag));
        self.live.borrow_mut().insert(key, Running { work: Some(work), flag, waker });
        key
    }

    /// Drops a task. One that drops itself ends at its next await.
    pub(crate) fn remove(&self, key: Key) {
        // Dropped after the borrow has ended: its own drop may come back here.
        let running = self.live.borrow_mut().remove(&key);
        drop(running);
    }

    /// Drops every task.
    pub(crate) fn clear(&self) {
        let live = std::mem::take(&mut *self.live.borrow_mut());
        drop(live);
    }

    /// Polls what was woken, and again what wakes meanwhile, until nothing is.
    pub(crate) fn run(&self) {
        while let Some(key) = self.queue.pop() {
            let Some((mut work, waker)) = self.take(key) else { continue };
            match work.as_mut().poll(&mut Context::from_waker(&waker)) {
                Poll::Ready(()) => self.remove(key),
                Poll::Pending => self.put_back(key, work),
            }
        }
    }

    fn take(&self, key: Key) -> Option<(Work, Waker)> {
        let mut live = self.live.borrow_mut();
        let running = live.get_mut(&key)?;
        running.flag.queued.store(false, Ordering::Relaxed);
        Some((running.work.take()?, running.waker.clone()))
    }

    fn put_back(&self, key: Key, work: Work) {
        let mut live = self.live.borrow_mut();
        match live.get_mut(&key) {
            Some(running) => running.work = Some(work),
            None => {
                // It was dropped while it ran.
                drop(live);
                drop(work);
            }
        }
    }
}
