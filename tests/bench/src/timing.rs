//! Taking times in turn.

use std::hint::black_box;
use std::time::{Duration, Instant};

/// How often each way is taken.
pub struct Rounds(pub usize);

/// How long each took, shortest first.
pub struct Taken(Vec<Duration>);

impl Taken {
    /// So many of a hundred took no longer.
    pub fn at(&self, percent: usize) -> Duration {
        let place = self.0.len().saturating_sub(1) * percent / 100;
        self.0.get(place).copied().unwrap_or_default()
    }
}

/// Takes two ways in turn. Both must say that they handled as much; the first of each is not counted.
pub fn in_turn(rounds: Rounds, mut left: impl FnMut() -> usize, mut right: impl FnMut() -> usize) -> (Taken, Taken) {
    assert_eq!(left(), right(), "both do the same");
    let mut taken = (Vec::with_capacity(rounds.0), Vec::with_capacity(rounds.0));
    for _ in 0..rounds.0 {
        taken.0.push(time(&mut left));
        taken.1.push(time(&mut right));
    }
    taken.0.sort_unstable();
    taken.1.sort_unstable();
    (Taken(taken.0), Taken(taken.1))
}

fn time(work: &mut impl FnMut() -> usize) -> Duration {
    let began = Instant::now();
    black_box(work());
    began.elapsed()
}

/// A short time, for a person.
pub fn span(time: Duration) -> String {
    let micros = time.as_secs_f64() * 1e6;
    if micros < 1_000.0 { format!("{micros:.0} µs") } else { format!("{:.2} ms", micros / 1_000.0) }
}

/// A size, for a person.
pub fn bytes(count: usize) -> String {
    format!("{} KiB", count >> 10)
}
