//! Settling: what cannot say itself that it is ready must stay available for a moment before it counts as started.

use workload_guest::Cx;

use super::case::Case;
use crate::read::Look;

/// The setting that says how long.
const SETTLE: &str = "settle-ms";

/// Unless the setting says otherwise: a process that is going to fail at once has failed by then.
const SETTLE_MS: u64 = 1_000;

/// How long something has been running, by our own clock.
pub(super) struct Settling {
    settle_ms: u64,
    since: Option<(u64, Running)>,
}

/// What ran.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Running {
    /// Pods, and how often each was started again.
    Pods(Vec<(String, i64)>),
    /// They must not be looked at: the Deployment at this version. Whatever happens to a Pod changes it.
    Version(String),
}

impl Running {
    /// All of these still run, and none was started again meanwhile. Others may have come.
    fn goes_on(&self, now: &Self) -> bool {
        match (self, now) {
            (Self::Pods(before), Self::Pods(now)) => before.iter().all(|pod| now.contains(pod)),
            (before, now) => before == now,
        }
    }
}

impl Settling {
    /// As long as the settings say.
    pub fn new(cx: &Cx) -> Self {
        let settle_ms = cx.setting(SETTLE).and_then(|text| text.parse().ok()).unwrap_or(SETTLE_MS);
        Self { settle_ms, since: None }
    }

    /// It has no readiness probe and no least time of being ready.
    pub fn concerns(&self, look: &Look) -> bool {
        self.settle_ms > 0 && look.ready_at_once
    }

    /// It does not run any more.
    pub fn begin_anew(&mut self) {
        self.since = None;
    }

    /// It runs. For how long must it go on?
    pub fn left(&mut self, case: &Case, look: &Look) -> u64 {
        if !self.concerns(look) {
            return 0;
        }
        let pods = look.sight.restarts(case.own()).map(Running::Pods);
        let running = pods.unwrap_or_else(|| Running::Version(look.resource_version.clone()));
        let now = case.cx.now();
        let since = match self.since.take() {
            Some((since, before)) if before.goes_on(&running) => since,
            _ => now,
        };
        self.since = Some((since, running));
        self.settle_ms.saturating_sub(now.saturating_sub(since))
    }
}
