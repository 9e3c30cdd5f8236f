//! The clock that interrupts a step.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Thread;

use wasmtime::{Engine, EngineWeak};

use crate::limits::TICK;

/// A thread of its own that moves the engine's epoch while a provider runs, and sleeps while none does.
pub(super) struct Ticker {
    shared: Arc<Shared>,
    thread: Thread,
}

#[derive(Default)]
struct Shared {
    running: AtomicUsize,
    ended: AtomicBool,
}

/// A provider runs for as long as this lives.
pub(super) struct Ticking<'a>(&'a Shared);

impl Ticker {
    /// Starts the thread. It holds the engine weakly: it must not keep alive what it interrupts.
    pub(super) fn start(engine: &Engine) -> std::io::Result<Arc<Ticker>> {
        let shared = Arc::<Shared>::default();
        let engine = engine.weak();
        let thread = std::thread::Builder::new().name("workload-ticker".to_owned()).spawn({
            let shared = Arc::clone(&shared);
            move || shared.tick(&engine)
        })?;
        Ok(Arc::new(Ticker { shared, thread: thread.thread().clone() }))
    }

    /// Ticks until the returned value is dropped.
    pub(super) fn during(&self) -> Ticking<'_> {
        if self.shared.running.fetch_add(1, Ordering::SeqCst) == 0 {
            self.thread.unpark();
        }
        Ticking(&self.shared)
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.ended.store(true, Ordering::SeqCst);
        self.thread.unpark();
    }
}

impl Drop for Ticking<'_> {
    fn drop(&mut self) {
        self.0.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Shared {
    fn tick(&self, engine: &EngineWeak) {
        while !self.ended.load(Ordering::SeqCst) {
            if self.running.load(Ordering::SeqCst) == 0 {
                // An `unpark` between the look and this call is kept: it returns at once.
                std::thread::park();
                continue;
            }
            std::thread::sleep(TICK);
            let Some(engine) = engine.upgrade() else { return };
            engine.increment_epoch();
        }
    }
}
