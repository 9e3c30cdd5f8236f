//! What was asked, byte for byte, and what became of it.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use http::Request;
use jiff::Timestamp;
use tokio::sync::watch;

use crate::fault::Broken;
use crate::pattern::{Asked, Pattern};

pub(crate) mod wire;

/// What became of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing yet. It stays so for a client that did not wait.
    Open,
    /// An answer with this status began.
    Answered(u16),
    /// The connection ended first.
    Broken(Broken),
    /// It never came to its end, or was no request of HTTP.
    Unreadable,
}

/// One request.
#[derive(Clone)]
pub struct Exchange {
    /// Counts all requests, from 0.
    pub number: u64,
    /// The connection that it came on, counted from 0; none if it did not come on one.
    pub connection: Option<u64>,
    /// When it was complete.
    pub at: Timestamp,
    /// What it asks for. Empty if it was unreadable.
    pub asked: Asked,
    /// All of it as it came: request line, headers, body with its chunks. Put together from its parts if it did not
    /// come on a connection.
    pub raw: Bytes,
    /// Its body.
    pub body: Bytes,
    /// What became of it.
    pub outcome: Outcome,
}

// Its bytes hold a token.
impl fmt::Debug for Exchange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Asked { method, path, query, user, .. } = &self.asked;
        write!(f, "#{} {method} {path}?{query} by {user}: {:?}", self.number, self.outcome)
    }
}

/// The requests so far, oldest first.
#[derive(Debug, Clone)]
pub struct Record {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    held: Mutex<Held>,
    limit: usize,
    news: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Held {
    exchanges: VecDeque<Arc<Exchange>>,
    bytes: usize,
    /// The number of the next one.
    next: u64,
}

/// What one request costs beside its bytes, roughly.
const OVERHEAD: usize = 512;

/// How many bytes a record holds unless something else is said: enough for every request of a test, and no burden for
/// a server that runs for days.
pub const LIMIT: usize = 64 << 20;

impl Record {
    /// Holds at most so many bytes; the oldest requests go first.
    pub fn new(limit: usize) -> Record {
        Record { inner: Arc::new(Inner { held: Mutex::default(), limit, news: watch::Sender::new(0) }) }
    }

    // What the lock guards is a queue and its size; a panic between the two would only make the size wrong.
    fn lock(&self) -> MutexGuard<'_, Held> {
        self.inner.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self) {
        self.inner.news.send_modify(|number| *number += 1);
    }

    /// Adds a request; its number is how the rest is told.
    pub(crate) fn arrived(
        &self,
        at: Timestamp,
        connection: Option<u64>,
        asked: Asked,
        raw: Bytes,
        body: Bytes,
        outcome: Outcome,
    ) -> u64 {
        let mut held = self.lock();
        let number = held.next;
        held.next += 1;
        held.bytes += raw.len() + OVERHEAD;
        held.exchanges.push_back(Arc::new(Exchange { number, connection, at, asked, raw, body, outcome }));
        while held.bytes > self.inner.limit
            && let Some(oldest) = held.exchanges.pop_front()
        {
            held.bytes -= oldest.raw.len() + OVERHEAD;
        }
        drop(held);
        self.tell();
        number
    }

    /// Says what became of a request.
    pub(crate) fn ended(&self, number: u64, outcome: Outcome) {
        let mut held = self.lock();
        let index = held.exchanges.front().and_then(|oldest| number.checked_sub(oldest.number));
        let index = index.and_then(|index| usize::try_from(index).ok());
        if let Some(exchange) = index.and_then(|index| held.exchanges.get_mut(index)) {
            Arc::make_mut(exchange).outcome = outcome;
        }
        drop(held);
        self.tell();
    }

    /// All requests that are still held.
    pub fn all(&self) -> Vec<Arc<Exchange>> {
        self.lock().exchanges.iter().cloned().collect()
    }

    /// Those that are meant.
    pub fn matching(&self, pattern: &Pattern) -> Vec<Arc<Exchange>> {
        let mut all = self.all();
        all.retain(|exchange| exchange.outcome != Outcome::Unreadable && pattern.matches(&exchange.asked));
        all
    }

    /// How many there were of a method and a path, in which `*` stands for anything.
    pub fn count(&self, method: &str, path: &str) -> usize {
        self.matching(&Pattern::path(method, path)).len()
    }

    /// How many requests there were in all, those that are not held any more included.
    pub fn total(&self) -> u64 {
        self.lock().next
    }

    /// Forgets those so far. Numbers go on.
    pub fn clear(&self) {
        let mut held = self.lock();
        held.exchanges.clear();
        held.bytes = 0;
    }

    /// Waits until something holds of the requests so far.
    pub async fn until(&self, mut holds: impl FnMut(&[Arc<Exchange>]) -> bool) {
        let mut news = self.inner.news.subscribe();
        // The sender is held by `self`, so this cannot fail.
        let _ = news.wait_for(|_| holds(&self.all())).await;
    }

    /// Waits until so many requests arrived that are meant, and gives them.
    pub async fn until_arrived(&self, pattern: &Pattern, number: usize) -> Vec<Arc<Exchange>> {
        let mut news = self.inner.news.subscribe();
        loop {
            let found = self.matching(pattern);
            // The sender is held by `self`, so there is always something to wait for.
            if found.len() >= number || news.changed().await.is_err() {
                return found;
            }
        }
    }
}

/// A request that came on no connection, as it would have come on one.
pub(crate) fn put_together(request: &Request<Bytes>) -> Bytes {
    let target = request.uri().path_and_query().map_or("/", |target| target.as_str());
    let mut raw = format!("{} {target} HTTP/1.1\r\n", request.method()).into_bytes();
    for (name, value) in request.headers() {
        raw.extend_from_slice(name.as_str().as_bytes());
        raw.extend_from_slice(b": ");
        raw.extend_from_slice(value.as_bytes());
        raw.extend_from_slice(b"\r\n");
    }
    raw.extend_from_slice(b"\r\n");
    raw.extend_from_slice(request.body());
    raw.into()
}

#[cfg(test)]
mod tests;
