//! How often a workload may ask for something.

use std::collections::HashMap;

use tokio::time::Instant;

use crate::limits::Limits;

/// A bucket of tokens for each workload, and one for what several share.
pub(super) struct Quota {
    burst: f64,
    rate: f64,
    buckets: HashMap<Option<String>, Bucket>,
}

struct Bucket {
    tokens: f64,
    at: Instant,
    /// An excess was recorded.
    told: bool,
}

/// Whether an effect is within the quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    Within,
    /// Beyond it for the first time.
    FirstOver,
    Over,
}

impl Quota {
    pub(super) fn new(limits: &Limits) -> Quota {
        Quota { burst: f64::from(limits.effect_burst), rate: f64::from(limits.effect_rate), buckets: HashMap::new() }
    }

    /// Counts one effect for a workload of the operation, or for none.
    pub(super) fn count(&mut self, workload: Option<&str>, now: Instant) -> Verdict {
        let bucket = self.buckets.entry(workload.map(str::to_owned)).or_insert(Bucket {
            tokens: self.burst,
            at: now,
            told: false,
        });
        let elapsed = now.saturating_duration_since(bucket.at).as_secs_f64();
        bucket.tokens = (bucket.tokens + elapsed * self.rate).min(self.burst);
        bucket.at = now;
        if bucket.tokens >= 1.0 {
            bucket.tokens -= 1.0;
            Verdict::Within
        } else if std::mem::replace(&mut bucket.told, true) {
            Verdict::Over
        } else {
            Verdict::FirstOver
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use tokio::time::Instant;

    use super::{Quota, Verdict};
    use crate::limits::Limits;

    #[test]
    fn a_burst_and_then_the_rate() {
        let limits = Limits { effect_burst: 3, effect_rate: 10, ..Limits::default() };
        let (mut quota, now) = (Quota::new(&limits), Instant::now());
        let mut count = |workload, after| quota.count(workload, now + Duration::from_millis(after));
        for _ in 0..3 {
            assert_eq!(count(Some("a"), 0), Verdict::Within);
        }
        assert_eq!(count(Some("a"), 0), Verdict::FirstOver);
        assert_eq!(count(Some("a"), 90), Verdict::Over);
        assert_eq!(count(Some("a"), 110), Verdict::Within);
        assert_eq!(count(Some("a"), 120), Verdict::Over);
        assert_eq!(count(Some("b"), 120), Verdict::Within);
        assert_eq!(count(None, 120), Verdict::Within);
    }
}
