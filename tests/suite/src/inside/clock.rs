//! A paused clock that does not run ahead of a provider's steps.

use std::cell::RefCell;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};

use workload_host::Manager;

thread_local! {
    /// Whose steps the clock of this thread waits for.
    static WATCHED: RefCell<Vec<Manager>> = const { RefCell::new(Vec::new()) };
}

/// The clock of this thread waits for the steps of this Manager from now on.
pub(super) fn watch(manager: &Manager) {
    WATCHED.with_borrow_mut(|watched| watched.push(manager.clone()));
}

/// It does not any more.
pub(super) fn unwatch() {
    WATCHED.with_borrow_mut(Vec::clear);
}

fn stepping() -> bool {
    WATCHED.with_borrow(|watched| watched.iter().any(|manager| manager.stepping() > 0))
}

/// Runs a test on a runtime of one thread whose clock is paused: when nothing on it can go on, the clock jumps to the next
/// timer.
///
/// A provider's step runs on a thread of the Manager, and the runtime has nothing to do meanwhile, so its clock would jump.
/// Therefore, whenever the runtime is about to idle while a step is under way, a task is woken that does nothing: it is not
/// idle then, and no time passes in a step. A step is counted from within the task that awaits it until that task has the
/// result, so there is no moment between.
pub fn paused<T>(test: impl Future<Output = T>) -> T {
    let keeper = Arc::<Mutex<Option<Waker>>>::default();
    let idle = Arc::clone(&keeper);
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .on_thread_park(move || {
            if stepping()
                && let Some(keeper) = &*idle.lock().unwrap_or_else(PoisonError::into_inner)
            {
                // The step may need this processor.
                std::thread::yield_now();
                keeper.wake_by_ref();
            }
        })
        .build()
        .expect("a runtime");
    let ended = runtime.block_on(async move {
        tokio::spawn(std::future::poll_fn(move |context| {
            *keeper.lock().unwrap_or_else(PoisonError::into_inner) = Some(context.waker().clone());
            Poll::<()>::Pending
        }));
        test.await
    });
    unwatch();
    ended
}
