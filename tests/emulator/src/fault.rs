//! What goes wrong, when, and for whom: rules that a test adds at any time.
//!
//! Every rule that fits a request applies, in the order in which the rules were added: one may slow everything down
//! while another breaks the third write.
//!
//! In a scenario a rule is written so; `on`, `skip` and `times` can be left out:
//!
//! ```json
//! {"on": {"request": {"verb": "patch", "resource": "deployments/scale", "name": "web*"}}, "skip": 1, "times": 2,
//!  "fault": {"answer": ["after", {"status": 503, "headers": [["retry-after", "1"]], "body": "later"}]}}
//! ```
//!
//! `on` can be `"connection"`; what a request can be told by is in [`Pattern`](crate::pattern::Pattern). The other
//! faults, each with what it stands for in [`Fault`]:
//!
//! ```json
//! {"refuse": 5} {"refuse": null} {"reset": "before"} {"delay": ["before", 1.5]} {"stall": "after"}
//! {"half-open": "before"} {"garbage": ["before", "SSH-2.0"]} {"body": "{"} {"break": [{"bytes": 100}, "close"]}
//! {"break": [{"lines": 2}, "complete"]} {"drip": [1, 0.1]} {"drop-event": {"type": "DELETED", "name": "web-*"}}
//! {"expire": 0}
//! ```
//!
//! A body breaks as `complete`, `close`, `reset`, `silence` or `half-open`. Times are in seconds.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::json;
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

use crate::error::ApiError;
use crate::pattern::Asked;

mod apply;
mod body;
mod rule;

pub use apply::Streamed;
pub use rule::{Canned, Ending, Fault, On, Point, Rule, When};

/// A connection that ended otherwise than by an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Broken {
    /// Nobody listens.
    #[error("the connection was refused")]
    Refused,
    /// It was reset.
    #[error("the connection was reset")]
    Reset,
    /// It was closed in good order, too early.
    #[error("the connection was closed before the answer was complete")]
    Closed,
    /// The other side is gone and does not say so: nothing comes any more, and nothing is taken.
    #[error("nothing comes from the other side any more")]
    HalfOpen,
    /// These bytes came instead of an answer.
    #[error("what came is no answer of HTTP")]
    Garbage(Bytes),
}

/// Whether the server serves at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Service {
    Up,
    /// Until this moment, or until it is told otherwise.
    Down(Option<Instant>),
}

impl Service {
    fn is_down(self) -> bool {
        match self {
            Service::Up => false,
            Service::Down(until) => until.is_none_or(|until| Instant::now() < until),
        }
    }
}

/// The rules, and whether the server serves at all.
#[derive(Debug, Clone)]
pub struct Faults {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    rules: Mutex<Vec<Active>>,
    /// Counts how often any rule applied, so that one can wait for it.
    applied: watch::Sender<u64>,
    service: watch::Sender<Service>,
}

#[derive(Debug)]
struct Active {
    rule: Rule,
    counts: Arc<Mutex<Counts>>,
}

#[derive(Debug, Default)]
struct Counts {
    fitting: usize,
    applied: usize,
}

impl Default for Faults {
    fn default() -> Faults {
        Faults {
            inner: Arc::new(Inner {
                rules: Mutex::default(),
                applied: watch::Sender::new(0),
                service: watch::Sender::new(Service::Up),
            }),
        }
    }
}

// What the locks guard is counted up or replaced, and whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Faults {
    /// Adds a rule after those that are there. It stays until it is removed, also when what is returned is dropped.
    pub fn add(&self, rule: Rule) -> Added {
        let counts = Arc::new(Mutex::new(Counts::default()));
        lock(&self.inner.rules).push(Active { rule, counts: Arc::clone(&counts) });
        Added { faults: self.clone(), counts }
    }

    /// Removes every rule, and listens again.
    pub fn clear(&self) {
        lock(&self.inner.rules).clear();
        self.accept();
    }

    /// From now on the server is gone: its connections are reset and new ones refused, for so long or until
    /// [`Faults::accept`].
    pub fn refuse(&self, time: Option<Duration>) {
        self.inner.service.send_replace(Service::Down(time.map(|time| Instant::now() + time)));
    }

    /// The server is back.
    pub fn accept(&self) {
        self.inner.service.send_replace(Service::Up);
    }

    /// Whether the server is gone.
    pub fn refusing(&self) -> bool {
        self.inner.service.borrow().is_down()
    }

    /// Tells when the server goes, from now on.
    pub(crate) fn outages(&self) -> Outages {
        let news = self.inner.service.subscribe();
        let down = news.borrow().is_down();
        Outages { news, down }
    }

    /// Waits until the server is back.
    pub(crate) async fn up(&self) {
        let mut news = self.inner.service.subscribe();
        loop {
            let service = *news.borrow_and_update();
            match service {
                service if !service.is_down() => return,
                Service::Down(Some(until)) => drop(timeout_at(until, news.changed()).await),
                _ => drop(news.changed().await),
            }
        }
    }

    /// What a new connection meets.
    pub(crate) fn of_connection(&self) -> Vec<Fault> {
        self.due(|rule| rule.on == On::Connection)
    }

    /// What a request meets.
    fn of_request(&self, asked: &Asked) -> Vec<Fault> {
        self.due(|rule| rule.fits(asked))
    }

    fn due(&self, fits: impl Fn(&Rule) -> bool) -> Vec<Fault> {
        let rules = lock(&self.inner.rules);
        let due: Vec<_> = rules.iter().filter(|active| fits(&active.rule) && active.count()).collect();
        let due: Vec<_> = due.into_iter().map(|active| active.rule.fault.clone()).collect();
        drop(rules);
        if !due.is_empty() {
            self.inner.applied.send_modify(|number| *number += 1);
        }
        due
    }
}

/// Tells when the server goes. An outage that is over before anybody looks is told all the same.
#[derive(Debug)]
pub(crate) struct Outages {
    news: watch::Receiver<Service>,
    /// It was gone already, and that was not told yet.
    down: bool,
}

impl Outages {
    /// Waits until the server is gone, or goes again.
    pub(crate) async fn next(&mut self) {
        if std::mem::take(&mut self.down) {
            return;
        }
        // Without a sender nothing is served any more: as good as gone.
        while self.news.changed().await.is_ok() {
            if matches!(*self.news.borrow_and_update(), Service::Down(_)) {
                return;
            }
        }
    }
}

impl Active {
    /// Counts one that fits; says whether the rule applies to it.
    fn count(&self) -> bool {
        let mut counts = lock(&self.counts);
        counts.fitting += 1;
        let due = counts.fitting > self.rule.skip && self.rule.times.is_none_or(|times| counts.applied < times);
        counts.applied += usize::from(due);
        due
    }
}

/// A rule that was added.
#[derive(Debug, Clone)]
pub struct Added {
    faults: Faults,
    counts: Arc<Mutex<Counts>>,
}

impl Added {
    /// How often it has applied.
    pub fn applied(&self) -> usize {
        lock(&self.counts).applied
    }

    /// Waits until it has applied so often.
    pub async fn until_applied(&self, times: usize) {
        let mut news = self.faults.inner.applied.subscribe();
        // The sender is held by `self`, so this cannot fail.
        let _ = news.wait_for(|_| self.applied() >= times).await;
    }

    /// Takes the rule away; requests that it holds up already are held up further.
    pub fn remove(&self) {
        lock(&self.faults.inner.rules).retain(|active| !Arc::ptr_eq(&active.counts, &self.counts));
    }
}

/// The event that ends a watch whose version is too old.
fn expired_event() -> Bytes {
    let mut line = json!({"type": "ERROR", "object": expired().status()}).to_string();
    line.push('\n');
    line.into()
}

fn expired() -> ApiError {
    // The real numbers would be those of the watch and of the oldest version; nobody reads them.
    ApiError::expired("too old resource version: 1 (2)")
}

#[cfg(test)]
mod tests;
