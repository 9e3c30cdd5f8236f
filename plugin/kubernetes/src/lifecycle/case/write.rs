//! Writes: each decided on a look, tried again only after another one.

use std::borrow::Cow;

use serde::Deserialize;
use workload_guest::{Fault, FaultKind, Request, fault};

use super::waiting::is_hopeless;
use super::{CLOSE_MS, Case};
use crate::answer::{Action, Class, Trouble, classify};
use crate::read::Look;

/// How often a write is tried when it meets another writer: the server's own clients use five as well.
const WRITES: u32 = 5;

/// Before a write is tried again; five times longer each time, as the server's own clients do.
const REWRITE_MS: u64 = 10;

/// The longest of these pauses.
const REWRITE_LIMIT_MS: u64 = 1_000;

/// What the server answers a write with: an object, or of a deletion a `Status`.
fn is_object(answer: &[u8]) -> bool {
    #[derive(Deserialize)]
    struct Header<'a> {
        #[serde(borrow)]
        kind: Cow<'a, str>,
    }

    serde_json::from_slice(answer)
        .is_ok_and(|header: Header<'_>| matches!(&*header.kind, "Scale" | "Deployment" | "Status"))
}

/// How a write ended.
pub(in crate::lifecycle) enum Written {
    /// It took effect, and this was the answer.
    Done(Vec<u8>),
    /// The object is not there.
    Missing,
    /// It did not take effect, or, if uncertain, nobody knows: read, and decide anew.
    Again {
        /// It may have taken effect.
        uncertain: bool,
    },
}

impl Case {
    /// Sends a write of the count, or a deletion, that was decided on this look.
    pub async fn write(&mut self, action: &Action, request: Request, look: &Look) -> Result<Written, Fault> {
        match self.send(action, request, look).await? {
            Ok(written) => {
                if matches!(written, Written::Done(_)) {
                    self.wrote(look);
                }
                Ok(written)
            }
            Err(trouble) => Err(self.ended(&trouble)),
        }
    }

    /// Sends any write. A trouble is a refusal that trying again does not change.
    pub async fn send(
        &mut self,
        action: &Action,
        request: Request,
        look: &Look,
    ) -> Result<Result<Written, Trouble>, Fault> {
        self.writes += 1;
        if self.writes > WRITES {
            let words = format!("{} is changed by others all the time; tried {WRITES} times", self.target.id());
            return Err(fault(FaultKind::Conflict, words));
        }
        let mut trouble = match classify(action, self.cx.http(request).await) {
            Ok(response) if is_object(&response.bytes) => return Ok(Ok(Written::Done(response.bytes))),
            // Nobody knows what was done: what is between may say 200 to anything, or lose the server's words.
            Ok(response) => Trouble::malformed(action, response.status),
            Err(trouble) => trouble,
        };
        // A webhook sees the object and may quote it.
        trouble.withhold(|| look.sight.variables());
        let pause = match trouble.class {
            Class::Missing => return Ok(Ok(Written::Missing)),
            Class::Conflict => self.rewrite_ms(),
            Class::Throttled => trouble.retry_after_ms.unwrap_or(0).max(self.rewrite_ms()),
            _ if trouble.is_uncertain() || trouble.class == Class::Unreachable => {
                trouble.retry_after_ms.unwrap_or(0).max(self.rewrite_ms())
            }
            _ => return Ok(Err(trouble)),
        };
        self.said = trouble.words();
        self.forget(&trouble);
        if self.writes >= WRITES && trouble.class != Class::Conflict {
            return Err(trouble.fault());
        }
        if is_hopeless(&self.cx, &trouble) {
            return Err(trouble.fault());
        }
        match self.cx.sleep(pause).await {
            Ok(()) => Ok(Ok(Written::Again { uncertain: trouble.is_uncertain() })),
            Err(_) => Err(self.stopped()),
        }
    }

    /// A write took effect that was decided on this look.
    pub fn wrote(&mut self, look: &Look) {
        self.floor = Some(look.generation);
        self.nudged();
    }

    /// A write took effect that does not change the count: what failed before it may be tried anew.
    pub fn nudged(&mut self) {
        self.wrote_ms = Some(self.cx.now());
        self.close_ms = self.cx.now().saturating_add(CLOSE_MS);
        self.stuck = None;
    }

    /// Grows, and differs by the seed so that two who met do not meet again.
    fn rewrite_ms(&self) -> u64 {
        let grown =
            REWRITE_MS.saturating_mul(5_u64.saturating_pow(self.writes.saturating_sub(1))).min(REWRITE_LIMIT_MS);
        let position = self.target.name.len() + usize::try_from(self.writes).unwrap_or_default();
        let seed = self.cx.seed();
        let jitter = seed.get(position.checked_rem(seed.len()).unwrap_or_default()).copied().unwrap_or_default();
        grown + grown * u64::from(jitter) / 512
    }
}
