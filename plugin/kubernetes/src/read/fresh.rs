//! A read that several share: one at a time, and fresh enough for each.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use workload_guest::{Operation, Signal};

use super::Tick;
use crate::answer::Trouble;

/// The least time between two reads of the same, growing with each: a burst of changes ends in a few reads, and a
/// wait that lasts does not ask all the time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Pace {
    /// Before the second read.
    pub first_ms: u64,
    /// At most, after doubling.
    pub last_ms: u64,
}

impl Pace {
    fn gap(self, reads: u32) -> u64 {
        match reads.checked_sub(1) {
            None => 0,
            Some(doublings) => self.first_ms.checked_shl(doublings.min(16)).unwrap_or(self.last_ms).min(self.last_ms),
        }
    }
}

/// The last answer and when it was asked for.
type Last<T> = Option<(Tick, Result<Rc<T>, Trouble>)>;

/// A shared read.
pub(super) struct Fresh<T> {
    operation: Operation,
    ticks: Rc<Cell<Tick>>,
    pace: Pace,
    last: RefCell<Last<T>>,
    running: Cell<bool>,
    reads: Cell<u32>,
    asked_ms: Cell<u64>,
    changed: Signal,
}

impl<T: 'static> Fresh<T> {
    pub fn new(operation: Operation, ticks: Rc<Cell<Tick>>, pace: Pace) -> Rc<Self> {
        Rc::new(Self {
            operation,
            ticks,
            pace,
            last: RefCell::new(None),
            running: Cell::new(false),
            reads: Cell::new(0),
            asked_ms: Cell::new(0),
            changed: Signal::new(),
        })
    }

    /// What was asked for after this tick, and when. `read` is called by whoever finds that nobody reads yet.
    pub async fn get<F>(self: &Rc<Self>, after: Tick, read: impl Fn() -> F) -> (Tick, Result<Rc<T>, Trouble>)
    where
        F: Future<Output = Result<T, Trouble>> + 'static,
    {
        loop {
            let changed = self.changed.wait();
            if let Some((asked, result)) = &*self.last.borrow()
                && *asked > after
            {
                return (*asked, result.clone());
            }
            if !self.running.replace(true) {
                let this = Rc::clone(self);
                let read = read();
                // Beside the ids, so that it goes on for the others when this one is told to stop.
                self.operation.spawn(async move { this.run(read).await }).detach();
            }
            changed.await;
        }
    }

    async fn run(&self, read: impl Future<Output = Result<T, Trouble>>) {
        let since = self.operation.now().saturating_sub(self.asked_ms.get());
        let gap = self.pace.gap(self.reads.get()).saturating_sub(since);
        if gap > 0 {
            // Told to stop, the read itself says so.
            let _ = self.operation.shared().sleep(gap).await;
        }
        self.reads.set(self.reads.get().saturating_add(1));
        // Whoever still wants what was read has it. Two of a long list are more than there is room for.
        *self.last.borrow_mut() = None;
        self.asked_ms.set(self.operation.now());
        let asked = self.ticks.get() + 1;
        self.ticks.set(asked);
        let result = read.await.map(Rc::new);
        *self.last.borrow_mut() = Some((asked, result));
        self.running.set(false);
        self.changed.raise();
    }
}
