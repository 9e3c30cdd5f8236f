//! The watch of a group. It wakes those who wait, and decides nothing.

use std::pin::Pin;
use std::rc::Rc;

use workload_guest::{Cx, Either, Failure, Response, Stream, select};

use super::{Group, PATIENT_MS, Tick, UNWATCHED_MS, Woken};
use crate::answer::{Action, Class, classify};
use crate::api::{self, Event};
use crate::ownership;
use crate::request::{self, Resource, Watched};

/// Before a watch that ended is opened again; doubled each time, up to [`PATIENT_MS`].
const REOPEN_MS: u64 = 250;

/// A watch that lasted so long was a good one: the next is opened soon. Whatever it said, one that always ends sooner
/// is opened ever less often.
const LASTED_MS: u64 = PATIENT_MS;

impl Group {
    /// Wakes those who wait, until there have been none for a while.
    pub(super) async fn watch(self: Rc<Self>) {
        let cx = self.operation.shared();
        let mut watch: Option<Stream> = None;
        let mut timer = Timer::default();
        let mut pause = Pause::default();
        let mut alone_since: Option<u64> = None;
        loop {
            let left = self.left.wait();
            let now = self.operation.now();
            if watch.is_none() && now >= pause.until_ms {
                let (learnt, version) = self.version.borrow().clone();
                if learnt > pause.learnt_after {
                    pause.open(now);
                    watch = Some(cx.stream(request::watch(&self.watched(), self.begin(&version))));
                }
            }
            let until = if self.waiting.get() > 0 {
                alone_since = None;
                let reread = self.read_ms.get().saturating_add(self.patience_ms.get());
                if now >= reread {
                    self.read_ms.set(now);
                    self.wake(Woken::Time);
                    continue;
                }
                reread
            } else {
                // Those who were woken read now, and most come back.
                let since = *alone_since.get_or_insert(now);
                if now.saturating_sub(since) >= PATIENT_MS {
                    break;
                }
                since + PATIENT_MS
            };
            let until = if watch.is_none() && pause.until_ms > now { until.min(pause.until_ms) } else { until };
            let waited = timer.until(&cx, until);
            let heard = match &mut watch {
                Some(stream) => match select(stream.next(), select(waited, left)).await {
                    Either::Left(part) => heard(part),
                    Either::Right(Either::Left(Err(_))) => break,
                    Either::Right(_) => continue,
                },
                None => match select(waited, left).await {
                    Either::Left(Err(_)) => break,
                    _ => continue,
                },
            };
            match heard {
                Heard::Changed => self.wake(Woken::Changed),
                Heard::Silence => {}
                Heard::End { expired, after_ms } => {
                    watch = None;
                    let reopen_ms = pause.close(self.operation.now(), self.ticks.get(), after_ms);
                    self.expired.set(self.expired.get() || expired);
                    // What happened meanwhile is only found by reading.
                    self.patience_ms.set(self.patience_ms.get().min(reopen_ms));
                }
                Heard::Never => {
                    watch = None;
                    pause.learnt_after = Tick::MAX;
                    self.unwatched.set(true);
                    if !self.is_shared() {
                        self.patience_ms.set(self.patience_ms.get().min(UNWATCHED_MS));
                    }
                }
            }
        }
        self.watching.set(false);
        // Without a stop it is the host that gives no more time. Whoever waits finds that out by reading.
        self.wake(Woken::Time);
    }

    fn watched(&self) -> Watched {
        match &self.first {
            Some(target) if !self.is_shared() => Watched::One(target.clone()),
            _ => Watched::Labelled(self.namespace.clone(), ownership::selector(self.operation.ownership())),
        }
    }

    /// Where a watch begins. A list has a version of its own, but an object that nobody changed for long has one that
    /// the server no longer knows, and will have it again when it is read again: then the watch begins with now.
    fn begin<'a>(&self, version: &'a str) -> Option<&'a str> {
        (self.is_shared() || !self.expired.get()).then_some(version)
    }
}

/// When a watch may be opened next.
#[derive(Default)]
struct Pause {
    /// The version to begin with must have been learnt after this.
    learnt_after: Tick,
    until_ms: u64,
    opened_ms: u64,
    /// How often in a row it ended soon.
    ended: u32,
}

impl Pause {
    fn open(&mut self, now: u64) {
        self.learnt_after = Tick::MAX;
        self.opened_ms = now;
    }

    /// How long to wait before it is opened again.
    fn close(&mut self, now: u64, tick: Tick, after_ms: u64) -> u64 {
        if now.saturating_sub(self.opened_ms) >= LASTED_MS {
            self.ended = 0;
        }
        let reopen_ms = (REOPEN_MS << self.ended.min(8)).min(PATIENT_MS);
        self.ended = self.ended.saturating_add(1);
        self.learnt_after = tick;
        self.until_ms = now.saturating_add(reopen_ms.max(after_ms));
        reopen_ms
    }
}

/// What a part of a watch said.
enum Heard {
    Changed,
    Silence,
    End {
        /// The version it began with is too old, or it may be.
        expired: bool,
        /// When to come back, if the server said so.
        after_ms: u64,
    },
    /// It is not allowed, and will not be.
    Never,
}

fn heard(part: Option<Result<Response, Failure>>) -> Heard {
    let action = Action::list(Resource::Deployments, None);
    let response = match part.map(|part| classify(&action, part)) {
        Some(Ok(response)) => response,
        Some(Err(trouble)) if matches!(trouble.class, Class::Forbidden(_) | Class::Denied | Class::Unsupported) => {
            return Heard::Never;
        }
        Some(Err(trouble)) => {
            let expired = trouble.class == Class::Expired;
            return Heard::End { expired, after_ms: trouble.retry_after_ms.unwrap_or(0) };
        }
        None => return Heard::End { expired: false, after_ms: 0 },
    };
    let mut heard = Heard::Silence;
    for line in response.bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
        match api::event(line) {
            Ok(Event::Changed) => heard = Heard::Changed,
            Ok(Event::Bookmark) => {}
            Ok(Event::Error) => return Heard::End { expired: true, after_ms: 0 },
            Err(_) => return Heard::End { expired: false, after_ms: 0 },
        }
    }
    // What follows the last part is None, which ends it.
    heard
}

/// One sleep at a time. It is kept as long as it ends early enough: a watch that says much costs no timers.
#[derive(Default)]
struct Timer(Option<(u64, Sleep)>);

/// A sleep on its way.
type Sleep = Pin<Box<dyn Future<Output = Result<(), Failure>>>>;

impl Timer {
    async fn until(&mut self, cx: &Cx, until: u64) -> Result<(), Failure> {
        let kept = self.0.take().filter(|(end, _)| *end <= until && *end > cx.now());
        let (_, sleep) = self.0.insert(match kept {
            Some(kept) => kept,
            None => (until, Box::pin(cx.sleep(until.saturating_sub(cx.now())))),
        });
        let result = sleep.await;
        self.0 = None;
        result
    }
}
