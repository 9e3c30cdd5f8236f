//! A small bounded pool of threads on which providers run.
//!
//! A step takes microseconds to seconds of pure computing. On the reactor's threads it would hold up every
//! connection; on tokio's blocking pool a burst of operations would start hundreds of threads. The queue is bounded by
//! the number of instances: an operation has one step in it at most.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::oneshot;

use crate::limits::THREAD_STACK;

type Job = Box<dyn FnOnce() + Send>;

/// The threads. Dropping it lets queued work finish and the threads end.
///
/// A provider that computes as long as it may in each of its steps would hold every thread, and all others would wait
/// for it. So whoever used up its [`Account`] is heavy from then on: the heavy ones share all threads but one, whoever
/// has used least first, and what is light never waits for them.
pub struct Steps {
    queue: Arc<Queue>,
    awaited: AtomicUsize,
}

/// Counts one who waits for a step, also when it is dropped.
struct Awaited<'a>(&'a AtomicUsize);

impl<'a> Awaited<'a> {
    fn begin(count: &'a AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::SeqCst);
        Awaited(count)
    }
}

impl Drop for Awaited<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Queue {
    state: Mutex<State>,
    ready: Condvar,
    /// Threads that may run heavy work at the same time.
    heavy: usize,
}

#[derive(Default)]
struct State {
    light: VecDeque<Task>,
    heavy: VecDeque<Task>,
    heavy_running: usize,
    closed: bool,
}

struct Task {
    account: Arc<Account>,
    job: Job,
}

/// What an account holds at most: many usual steps, half of the longest.
const CREDIT: f64 = 1.0;

/// Seconds that it gains in a second.
const GAIN: f64 = 1.0 / 16.0;

/// So far in debt, all are equal.
const DEBT: f64 = -60.0;

/// What the steps of one component took, in seconds; it refills with time.
#[derive(Default)]
pub struct Account(Mutex<Balance>);

#[derive(Default)]
struct Balance {
    used: f64,
    at: Option<Instant>,
}

impl Account {
    /// What it holds now.
    fn balance(&self, now: Instant) -> f64 {
        self.settled(now).1
    }

    fn charge(&self, took: Duration, now: Instant) {
        let (mut balance, _) = self.settled(now);
        balance.used = (balance.used + took.as_secs_f64()).min(CREDIT - DEBT);
    }

    fn settled(&self, now: Instant) -> (MutexGuard<'_, Balance>, f64) {
        let mut balance = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = balance.at.map_or(0.0, |at| now.saturating_duration_since(at).as_secs_f64());
        balance.used = since.mul_add(-GAIN, balance.used).max(0.0);
        balance.at = Some(now);
        let left = CREDIT - balance.used;
        (balance, left)
    }
}

/// The work panicked in the host; whatever it owned was dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a step panicked in the host")]
pub struct Panicked;

impl Steps {
    /// Starts one thread for each processor, two at least, and one more that is kept from heavy work.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub fn start() -> std::io::Result<Steps> {
        let heavy = std::thread::available_parallelism().map_or(2, |count| count.get().max(2));
        // Owned from here on, so that threads end again when a later one cannot be started.
        let queue = Queue { state: Mutex::default(), ready: Condvar::new(), heavy };
        let steps = Steps { queue: Arc::new(queue), awaited: AtomicUsize::new(0) };
        for number in 0..=heavy {
            let queue = Arc::clone(&steps.queue);
            std::thread::Builder::new()
                .name(format!("workload-step-{number}"))
                .stack_size(THREAD_STACK)
                .spawn(move || queue.work())?;
        }
        Ok(steps)
    }

    /// Steps that somebody waits for: queued, running, or done and not yet taken.
    pub fn awaited(&self) -> usize {
        self.awaited.load(Ordering::SeqCst)
    }

    /// Runs `work` on one of the threads and charges the account with its time. Dropping the future before it began
    /// takes the work back; one that has begun runs to its end (a step is bounded) and its result is dropped there.
    ///
    /// # Errors
    /// [`Panicked`]; the thread goes on with the next.
    pub async fn run<T, F>(&self, account: &Arc<Account>, work: F) -> Result<T, Panicked>
    where
        T: Send + 'static,
        F: FnOnce() -> T + Send + 'static,
    {
        let _awaited = Awaited::begin(&self.awaited);
        let (sender, receiver) = oneshot::channel();
        let job = Box::new(move || {
            if !sender.is_closed() {
                // Nobody waits any more: the result is dropped here.
                let _ = sender.send(work());
            }
        });
        self.queue.push(Task { account: Arc::clone(account), job });
        receiver.await.map_err(|_| Panicked)
    }
}

impl Drop for Steps {
    fn drop(&mut self) {
        self.queue.state().closed = true;
        self.queue.ready.notify_all();
    }
}

impl Queue {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, task: Task) {
        self.state().light.push_back(task);
        self.ready.notify_one();
    }

    fn work(&self) {
        let mut was_heavy = false;
        while let Some((Task { account, job }, heavy)) = self.next(was_heavy) {
            let began = Instant::now();
            // The result's sender is dropped with the job, which is how the caller learns of it. Nothing that the job
            // touched is used again: it owned all of it.
            let _ = catch_unwind(AssertUnwindSafe(job));
            let now = Instant::now();
            account.charge(now.saturating_duration_since(began), now);
            was_heavy = heavy;
        }
    }

    fn next(&self, was_heavy: bool) -> Option<(Task, bool)> {
        let mut state = self.state();
        if was_heavy {
            state.heavy_running -= 1;
            if !state.heavy.is_empty() {
                // This thread may take something light now, and another is waiting.
                self.ready.notify_one();
            }
        }
        loop {
            let now = Instant::now();
            while let Some(task) = state.light.pop_front() {
                if task.account.balance(now) > 0.0 {
                    return Some((task, false));
                }
                state.heavy.push_back(task);
            }
            if state.heavy_running < self.heavy
                && let Some(task) = state.take_heavy(now)
            {
                state.heavy_running += 1;
                return Some((task, true));
            }
            // What is heavy and still waits is done by those that are at it.
            if state.closed {
                return None;
            }
            state = self.ready.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl State {
    /// Whose account holds most; of several, who came first.
    fn take_heavy(&mut self, now: Instant) -> Option<Task> {
        let balances = self.heavy.iter().map(|task| task.account.balance(now)).enumerate();
        let most = balances.reduce(|best, next| if next.1 > best.1 { next } else { best });
        most.and_then(|(at, _)| self.heavy.remove(at))
    }
}

#[cfg(test)]
mod tests {
    use std::future::Future as _;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};
    use std::task::{Context, Waker};

    use std::time::{Duration, Instant};

    use super::{Account, CREDIT, Panicked, Steps};

    #[tokio::test]
    async fn a_panic_does_not_take_down_the_pool() {
        let steps = Steps::start().unwrap();
        let account = Arc::<Account>::default();
        for _ in 0..64 {
            assert_eq!(steps.run(&account, || panic!("in a step")).await, Err::<(), _>(Panicked));
        }
        assert_eq!(steps.run(&account, || 7).await, Ok(7));
    }

    #[tokio::test]
    async fn work_that_nobody_waits_for_is_taken_back() {
        let steps = Steps::start().unwrap();
        let account = Arc::<Account>::default();
        let threads = steps.queue.heavy + 1;
        // Every thread is held until the sender is dropped.
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        let mut blockers: Vec<_> = (0..threads)
            .map(|_| {
                let held = Arc::clone(&held);
                Box::pin(steps.run(&account, move || held.lock().unwrap().recv().unwrap_err()))
            })
            .collect();
        for blocker in &mut blockers {
            let mut context = Context::from_waker(Waker::noop());
            assert!(blocker.as_mut().poll(&mut context).is_pending());
        }
        let ran = Arc::new(AtomicBool::new(false));
        let mark = Arc::clone(&ran);
        let mut given_up = Box::pin(steps.run(&account, move || mark.store(true, Ordering::SeqCst)));
        assert!(given_up.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        assert_eq!(steps.awaited(), threads + 1);
        drop(given_up);
        assert_eq!(steps.awaited(), threads);
        drop(hold);
        for blocker in blockers {
            blocker.await.unwrap();
        }
        steps.run(&account, || ()).await.unwrap();
        assert!(!ran.load(Ordering::SeqCst));
    }

    #[tokio::test]
    async fn what_is_light_does_not_wait_for_what_is_heavy() {
        let steps = Steps::start().unwrap();
        let (heavy, light) = (Arc::<Account>::default(), Arc::<Account>::default());
        heavy.charge(Duration::from_secs(2), Instant::now());
        let (hold, held) = std::sync::mpsc::channel::<()>();
        let held = Arc::new(std::sync::Mutex::new(held));
        let mut blockers: Vec<_> = (0..steps.queue.heavy * 4)
            .map(|_| {
                let held = Arc::clone(&held);
                Box::pin(steps.run(&heavy, move || held.lock().unwrap().recv().unwrap_err()))
            })
            .collect();
        for blocker in &mut blockers {
            assert!(blocker.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
        }
        for _ in 0..64 {
            assert_eq!(steps.run(&light, || 7).await, Ok(7));
        }
        drop(hold);
        for blocker in blockers {
            blocker.await.unwrap();
        }
    }

    #[test]
    fn an_account_refills() {
        let (account, now) = (Account::default(), Instant::now());
        assert!(account.balance(now) >= CREDIT);
        account.charge(Duration::from_secs(2), now);
        assert!(account.balance(now + Duration::from_secs(15)) < 0.0);
        assert!(account.balance(now + Duration::from_secs(17)) > 0.0);
        assert!(account.balance(now + Duration::from_secs(100)) <= CREDIT);
    }
}
