//! Waiting: what is said meanwhile, what is made of reads that fail, and how it ends when it is told to stop.

use workload_guest::{Cx, Fault, StopReason, fault};

use super::Case;
use crate::answer::{Class, Trouble};
use crate::read::{Look, PATIENT_MS, TRIES, Woken};
use crate::time::span;

/// Between reads that fail while something is waited for; doubled each time, up to [`PATIENT_MS`].
const REREAD_MS: u64 = 250;

/// The pause after so many failures in a row, unless the server asks for a longer one.
pub(in crate::lifecycle) fn pause_ms(failures: u32, trouble: &Trouble) -> u64 {
    let grown = REREAD_MS << failures.min(5);
    grown.min(PATIENT_MS).max(trouble.retry_after_ms.unwrap_or(0))
}

/// The server asks to come back when there is no time left: whoever asked can know that now.
pub(in crate::lifecycle) fn is_hopeless(cx: &Cx, trouble: &Trouble) -> bool {
    let back = trouble.retry_after_ms.map(|ms| cx.now().saturating_add(ms));
    trouble.class == Class::Throttled && cx.deadline().zip(back).is_some_and(|(deadline, back)| back >= deadline)
}

impl Case {
    /// Says what is waited for, once.
    pub fn progress(&mut self, words: &str) {
        self.progress_with(words, "");
    }

    /// The same with something that is of no use any more once it is over.
    pub fn progress_with(&mut self, words: &str, meanwhile: &str) {
        if self.said != words {
            self.said = words.to_owned();
            self.cx.progress(format!("{words}{meanwhile}"));
        }
    }

    /// Says what a look says. One that saw less, of what looks the same from there, has nothing better to say.
    pub fn tell(&mut self, look: &Look, words: &str, meanwhile: &str) {
        if look.sight.depth() >= self.depth {
            self.progress_with(words, meanwhile);
        }
    }

    /// Remembers what a look knows, for a fault.
    pub(super) fn know(&mut self, look: &Look) {
        let verdict = &look.verdict;
        let depth = look.sight.depth();
        if depth == 0 && self.alone != verdict.message {
            self.alone.clone_from(&verdict.message);
            self.depth = 0;
        }
        if depth < self.depth {
            return;
        }
        self.depth = depth;
        self.known = vec![("reason", verdict.reason.to_owned()), ("rule", verdict.rule.to_owned())];
        let more = verdict.detail.iter().filter(|(name, _)| !matches!(*name, "reason" | "rule"));
        self.known.extend(more.cloned());
    }

    /// Waits for a reason to look again.
    pub async fn next(&mut self, asked: u64, patience_ms: u64) -> Result<Woken, Fault> {
        // All that was to be read was read.
        self.failures = 0;
        self.group.next(&self.cx, asked, patience_ms).await.map_err(|_| self.stopped())
    }

    /// Waits so long.
    pub async fn pause(&mut self, ms: u64) -> Result<(), Fault> {
        self.cx.sleep(ms).await.map_err(|_| self.stopped())
    }

    /// What a read of a wait gave. None: it failed in a way that may pass, and the pause before the next try is over.
    pub async fn usable<T>(&mut self, read: Result<T, Trouble>) -> Result<Option<T>, Fault> {
        match read {
            Ok(read) => Ok(Some(read)),
            Err(trouble) => self.patience(&trouble).await.map(|()| None),
        }
    }

    /// A read failed while something is waited for: it goes on if that may pass, after a pause.
    pub async fn patience(&mut self, trouble: &Trouble) -> Result<(), Fault> {
        if trouble.class == Class::Cancelled {
            return Err(self.stopped());
        }
        if !trouble.is_passing() {
            return Err(trouble.fault());
        }
        let pause = pause_ms(self.failures, trouble);
        self.failures = self.failures.saturating_add(1);
        // A plan is a look, and no wait.
        if self.cx.plan() && self.failures >= TRIES {
            return Err(trouble.fault());
        }
        // What was begun is waited for even so: another look may still come in time.
        if self.writes == 0 && is_hopeless(&self.cx, trouble) {
            return Err(trouble.fault());
        }
        self.progress(&trouble.words());
        self.forget(trouble);
        self.pause(pause).await
    }

    /// What is known now is that there was no answer.
    pub(super) fn forget(&mut self, trouble: &Trouble) {
        self.known = trouble.known();
        self.alone.clear();
        self.depth = 0;
    }

    /// The end of an operation by something that trying again does not change.
    pub fn ended(&self, trouble: &Trouble) -> Fault {
        match trouble.class {
            Class::Cancelled => self.stopped(),
            _ => trouble.fault(),
        }
    }

    /// How an operation ends that was told to stop: it names the last thing known.
    pub fn stopped(&self) -> Fault {
        let reason = self.cx.stopping().unwrap_or(StopReason::Cancelled);
        let how = match reason {
            StopReason::Deadline => format!("timed out after {}", span(self.cx.now())),
            StopReason::Cancelled => format!("cancelled after {}", span(self.cx.now())),
            StopReason::Superseded => "superseded by another operation on it".to_owned(),
        };
        if self.said.is_empty() {
            return fault(reason.into(), how);
        }
        let ended = fault(reason.into(), format!("{how}: {}", self.said)).with("last", &self.said);
        self.known.iter().fold(ended, |ended, (name, value)| ended.with(name, value))
    }
}
