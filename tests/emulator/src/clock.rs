//! The emulator's only clock: tokio's, so that a test that pauses it pauses every controller too.

use std::time::Duration;

use jiff::Timestamp;
use tokio::time::Instant;

/// Counts from the moment it was made, at the wall time of that moment.
#[derive(Debug, Clone)]
pub struct Clock {
    start: Instant,
    wall: Timestamp,
}

impl Clock {
    /// A clock that begins now, at this wall time.
    pub fn starting_at(wall: Timestamp) -> Clock {
        Clock { start: Instant::now(), wall }
    }

    /// What tokio's timers compare with.
    pub fn now(&self) -> Instant {
        Instant::now()
    }

    /// The wall time, which passes as tokio's clock does.
    pub fn wall(&self) -> Timestamp {
        self.wall + self.start.elapsed()
    }

    /// The wall time as Kubernetes writes most times: RFC 3339 in UTC, whole seconds.
    pub fn seconds(&self) -> String {
        seconds(self.wall())
    }

    /// The wall time as Kubernetes writes a `MicroTime`.
    pub fn micros(&self) -> String {
        self.wall().strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
    }

    /// How long ago a time was that an object holds; zero for one in the future or one that cannot be read.
    pub fn since(&self, text: &str) -> Duration {
        let Ok(then) = text.parse::<Timestamp>() else { return Duration::ZERO };
        Duration::try_from(self.wall().duration_since(then)).unwrap_or_default()
    }
}

/// A time as Kubernetes writes most of them.
pub fn seconds(time: Timestamp) -> String {
    time.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}
