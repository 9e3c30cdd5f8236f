//! What is to be done, and when: a key is in it once, and is taken in the order in which it became due.
//!
//! It behaves as the work queues of Kubernetes' controllers do: what was added at once and what was added for later are
//! kept apart, and a key that failed comes back after 5 ms, doubling.

use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::time::Duration;

use tokio::time::Instant;

/// How long after a first failure a key comes back.
const FIRST_RETRY: Duration = Duration::from_millis(5);
/// The longest time until a key that failed comes back.
const LAST_RETRY: Duration = Duration::from_secs(1000);

/// The queue.
#[derive(Debug)]
pub(super) struct Queue<T> {
    soon: Table<T>,
    later: Table<T>,
    failures: HashMap<T, u32>,
}

#[derive(Debug)]
struct Table<T> {
    by_time: BTreeMap<(Instant, u64), T>,
    places: HashMap<T, (Instant, u64)>,
    added: u64,
}

impl<T: Clone + Eq + Hash> Table<T> {
    fn new() -> Table<T> {
        Table { by_time: BTreeMap::new(), places: HashMap::new(), added: 0 }
    }

    /// Adds, or makes it come earlier.
    fn add(&mut self, task: T, due: Instant) {
        if let Some(place) = self.places.get(&task) {
            if place.0 <= due {
                return;
            }
            self.by_time.remove(place);
        }
        let place = (due, self.added);
        self.added += 1;
        self.by_time.insert(place, task.clone());
        self.places.insert(task, place);
    }

    fn first(&self) -> Option<Instant> {
        self.by_time.first_key_value().map(|((due, _), _)| *due)
    }

    fn take(&mut self, now: Instant) -> Option<(Instant, T)> {
        if self.first()? > now {
            return None;
        }
        let ((due, _), task) = self.by_time.pop_first()?;
        self.places.remove(&task);
        Some((due, task))
    }
}

impl<T: Clone + Eq + Hash> Queue<T> {
    /// An empty one.
    pub fn new() -> Queue<T> {
        Queue { soon: Table::new(), later: Table::new(), failures: HashMap::new() }
    }

    /// Adds a key because something changed.
    pub fn add(&mut self, task: T, due: Instant) {
        self.soon.add(task, due);
    }

    /// Adds a key for a time at which something may have to be done although nothing changed.
    pub fn add_later(&mut self, task: T, due: Instant) {
        self.later.add(task, due);
    }

    /// Adds a key that failed.
    pub fn retry(&mut self, task: T, now: Instant) {
        let failures = self.failures.entry(task.clone()).or_default();
        let before = *failures;
        *failures += 1;
        let wait = FIRST_RETRY.saturating_mul(1_u32.checked_shl(before).unwrap_or(u32::MAX)).min(LAST_RETRY);
        self.later.add(task, now + wait);
    }

    /// How often a key failed since it last went well.
    pub fn failures(&self, task: &T) -> u32 {
        self.failures.get(task).copied().unwrap_or_default()
    }

    /// The key went well, or is given up.
    pub fn forget(&mut self, task: &T) {
        self.failures.remove(task);
    }

    /// When the first one is due.
    pub fn next(&self) -> Option<Instant> {
        self.soon.first().into_iter().chain(self.later.first()).min()
    }

    /// Takes the first one that is due.
    pub fn take(&mut self, now: Instant) -> Option<T> {
        while let Some((due, task)) = self.later.take(now) {
            self.soon.add(task, due);
        }
        self.soon.take(now).map(|(_, task)| task)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drain(queue: &mut Queue<&'static str>, now: Instant) -> Vec<&'static str> {
        std::iter::from_fn(|| queue.take(now)).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_key_is_there_once_and_comes_in_order() {
        let (mut queue, now) = (Queue::new(), Instant::now());
        queue.add("late", now + Duration::from_millis(2));
        queue.add("a", now);
        queue.add("b", now);
        queue.add("a", now);
        assert_eq!(drain(&mut queue, now), ["a", "b"]);
        assert_eq!(queue.next(), Some(now + Duration::from_millis(2)));
        queue.add("late", now + Duration::from_millis(1));
        assert_eq!(queue.next(), Some(now + Duration::from_millis(1)), "the earlier time counts");
    }

    #[tokio::test(start_paused = true)]
    async fn a_later_check_survives_an_earlier_one() {
        let (mut queue, now) = (Queue::new(), Instant::now());
        queue.add_later("a", now + Duration::from_secs(10));
        queue.add("a", now);
        assert_eq!(drain(&mut queue, now), ["a"]);
        assert_eq!(drain(&mut queue, now + Duration::from_secs(10)), ["a"]);
    }

    #[tokio::test(start_paused = true)]
    async fn failures_double_the_wait_until_it_goes_well() {
        let (mut queue, now) = (Queue::new(), Instant::now());
        let waits: Vec<_> = (0..4)
            .map(|_| {
                queue.retry("a", now);
                let wait = queue.next().unwrap() - now;
                drain(&mut queue, now + wait);
                wait.as_millis()
            })
            .collect();
        assert_eq!(waits, [5, 10, 20, 40]);
        assert_eq!(queue.failures(&"a"), 4);
        queue.forget(&"a");
        queue.retry("a", now);
        assert_eq!(queue.next(), Some(now + FIRST_RETRY));
    }
}
