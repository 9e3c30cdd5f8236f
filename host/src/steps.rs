//! A small bounded pool of threads on which providers run.
//!
//! A step takes microseconds to seconds of pure computing. On the reactor's threads it would hold up every
//! connection; on tokio's blocking pool a burst of operations would start hundreds of threads. The queue is bounded by
//! the number of instances: an operation has one step in it at most.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::limits::THREAD_STACK;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. Dropping it lets queued work finish and the threads end.
pub struct Steps {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    ready: Condvar,
}

#[derive(Default)]
struct State {
    jobs: VecDeque<Job>,
    closed: bool,
}

/// The work panicked in the host; whatever it owned was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a step panicked in the host")]
pub struct Panicked;

impl Steps {
    /// Starts one thread for each processor, two at least: a busy provider must not hold up all others.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start() -> std::io::Result<Steps> {
        let threads = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        // Owned from here on, so that threads end again when a later one cannot be started.
        let steps = Steps { queue: Arc::default() };
        for number in 0..threads {
            let queue = Arc::clone(&steps.queue);
            std::thread::Builder::new()
                .name(format!("workload-step-{number}"))
                .stack_size(THREAD_STACK)
                .spawn(move || queue.work())?;
        }
        Ok(steps)
    }

    /// Runs `work` on one of the threads. Dropping the future before it began takes the work back; one that has
    /// begun runs to its end (a step is bounded) and its result is dropped there.
    ///
    /// # Errors
    /// [`Panicked`]; the thread goes on with the next.
    pub async fn run<T, F>(&self, work: F) -> Result<T, Panicked>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let (sender, receiver) = oneshot::channel();
        self.queue.push(Box::new(move || {
            if !sender.is_closed() {
                // Nobody waits any more: the result is dropped here.
                let _ = sender.send(work());
            }
        }));
        receiver.await.map_err(|_| Panicked)
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.queue.state.lock().unwrap_or_else(PoisonError::into_inner).closed = true;
        self.queue.ready.notify_all();
    }
}

impl Queue {
    fn push(&self, job: Job) {
        self.state.lock().unwrap_or_else(PoisonError::into_inner).jobs.push_back(job);
        self.ready.notify_one();
    }

    fn work(&self) {
        while let Some(job) = self.next() {
            // The result's sender is dropped with the job, which is how the caller learns of it. Nothing that the job
            // touched is used again: it owned all of it.
            let _ = catch_unwind(AssertUnwindSafe(job));
        }
    }

    fn next(&self) -> Option<Job> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if let Some(job) = state.jobs.pop_front() {
                return Some(job);
            }
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Waker};

    use super::{Panicked, Steps};

    #[tokio::test]
    async fn a_panic_does_not_take_down_the_pool() {
        let steps = Steps::start().unwrap();
        for _ in 0..64 {
            assert_eq!(steps.run(|| panic!("in a step")).await, Err::<(), _>(Panicked));
        }
        assert_eq!(steps.run(|| 7).await, Ok(7));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_taken_back() {
        let steps = Steps::start().unwrap();
        let threads = std::thread::available_parallelism().unwrap().get().max(2);
        // Every thread is held until the sender is dropped.
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        let mut blockers: Vec<_> = (0..threads)
            .map(|_| {
                let held = Arc::clone(&held);
                Box::pin(steps.run(move || held.lock().unwrap().recv().unwrap_err()))
            })
            .collect();
        for blocker in &mut blockers {
            let mut context = Context::from_waker(Waker::noop());
            assert!(blocker.as_mut().poll(&mut context).is_pending());
        }
        let ran = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&ran);
        let mut given_up = Box::pin(steps.run(move || mark.store(true, Ordering::SeqCst)));
        assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        drop(given_up);
        drop(hold);
        for blocker in blockers {
            blocker.await.unwrap();
        }
        steps.run(|| ()).await.unwrap();
        assert!(!ran.load(Ordering::SeqCst));
    }
}
