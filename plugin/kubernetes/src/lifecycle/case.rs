//! One workload in one operation: what is remembered of it, and the steps that all operations share.

use std::rc::Rc;

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, Request, Status, StopReason, fault};

use crate::answer::{Action, Class, Trouble, classify};
use crate::id::Target;
use crate::ownership::Owned;
use crate::read::{Group, Look, Reads, Sight, Woken, get, retry};
use crate::request::Resource;
use crate::status::{Beside, Own, Want};
use crate::time::span;

/// How often a write is tried when it meets another writer: the server's own clients use five as well.
const WRITES: u32 = 5;

/// Before a write is tried again; five times longer each time, as the server's own clients do.
const REWRITE_MS: u64 = 10;

/// The longest of these pauses.
const REWRITE_LIMIT_MS: u64 = 1_000;

/// Between reads that fail while something is waited for; doubled each time.
const REREAD_MS: u64 = 250;

/// The longest of these pauses, so that a wait reads at most five seconds after its last read.
const REREAD_LIMIT_MS: u64 = 5_000;

/// Without news, a wait reads again after this.
pub(super) const PATIENT_MS: u64 = 5_000;

/// Where no watch tells of what is waited for: Pods are listed, not watched.
pub(super) const EAGER_MS: u64 = 1_000;

/// One workload in one operation.
pub(super) struct Case {
    pub cx: Cx,
    pub target: Target,
    pub group: Rc<Group>,
    /// The object this operation is about.
    uid: Option<String>,
    /// What was read at this generation or a lower one is from before our write.
    floor: Option<i64>,
    wrote_ms: Option<u64>,
    stuck_since: Option<u64>,
    writes: u32,
    failures: u32,
    said: String,
    /// A look without a wait.
    single: bool,
}

/// How a write ended.
pub(super) enum Written {
    /// It took effect.
    Done,
    /// The object is not there.
    Missing,
    /// It did not take effect, or, if uncertain, nobody knows: read, and decide anew.
    Again {
        /// It may have taken effect.
        uncertain: bool,
    },
}

impl Case {
    /// Takes an id apart and joins its group.
    pub fn open(reads: &Reads, cx: Cx, id: &str) -> Result<Self, Fault> {
        let target = Target::parse(id)?;
        let group = reads.join(&target);
        Ok(Self {
            cx,
            target,
            group,
            uid: None,
            floor: None,
            wrote_ms: None,
            stuck_since: None,
            writes: 0,
            failures: 0,
            said: String::new(),
            single: false,
        })
    }

    /// It is only looked at once.
    pub fn single(mut self) -> Self {
        self.single = true;
        self
    }

    fn own(&self) -> Own {
        let since = |at: u64| self.cx.now().saturating_sub(at);
        Own {
            since_write_ms: self.wrote_ms.map(since),
            stuck_for_ms: self.stuck_since.map(since).unwrap_or_default(),
            single: self.single,
        }
    }

    fn look_at(&mut self, sight: Sight) -> Result<Look, Trouble> {
        let malformed = |_| Trouble::malformed(&Action::on("get", &self.target), 200);
        let look = sight.look(self.cx.ownership(), self.own()).map_err(malformed)?;
        if look.stuck {
            self.stuck_since.get_or_insert(self.cx.now());
        } else {
            self.stuck_since = None;
        }
        Ok(look)
    }

    /// A read of its own, with a few tries.
    pub async fn first(&mut self) -> Result<Look, Trouble> {
        let sight = retry(&self.cx, || get(&self.cx, &self.target)).await?;
        let look = self.look_at(sight)?;
        self.group.saw(&look.resource_version);
        Ok(look)
    }

    /// The same after a write that did not take effect, or may have: now it is a wait, and goes on until there is an
    /// answer. None: it is missing.
    pub async fn again(&mut self) -> Result<Option<Look>, Fault> {
        loop {
            match self.first().await {
                Ok(look) => {
                    self.failures = 0;
                    return Ok(Some(look));
                }
                Err(trouble) if trouble.class == Class::Missing => return Ok(None),
                Err(trouble) => self.patience(&trouble).await?,
            }
        }
    }

    /// The first look of a start or stop: what is ours and not being deleted.
    pub async fn ours(&mut self) -> Result<Look, Fault> {
        let look = self.first().await.map_err(|trouble| self.ended(&trouble))?;
        self.recognise(&look)?;
        self.alive(&look)?;
        Ok(look)
    }

    /// The same after a write. `gone` says what it means that it is missing.
    pub async fn ours_again(&mut self, gone: fn(&Self) -> Fault) -> Result<Look, Fault> {
        let look = self.again().await?.ok_or_else(|| gone(self))?;
        self.recognise(&look)?;
        self.alive(&look)?;
        Ok(look)
    }

    /// The next look of a wait, and when it was asked for: `seen`, or one from after that tick. None: there was no
    /// usable answer, and the pause before the next try is over.
    pub async fn next_ours(
        &mut self,
        seen: Option<Look>,
        after: u64,
        gone: fn(&Self) -> Fault,
    ) -> Result<Option<(u64, Look)>, Fault> {
        let (asked, look) = match seen {
            Some(look) => (after, look),
            None => match self.later(after).await {
                Ok(look) => look,
                Err(trouble) if trouble.class == Class::Missing => return Err(gone(self)),
                Err(trouble) => return self.patience(&trouble).await.map(|()| None),
            },
        };
        self.recognise(&look)?;
        self.alive(&look)?;
        Ok(Some((asked, look)))
    }

    /// What the group saw after this tick, and when it asked.
    pub async fn later(&mut self, after: u64) -> Result<(u64, Look), Trouble> {
        let read = self.group.deployment(&self.cx, &self.target, after);
        let (asked, sight) = match workload_guest::select(read, self.cx.stopped()).await {
            workload_guest::Either::Left(read) => read?,
            workload_guest::Either::Right(_) => {
                return Err(Trouble::cancelled(&Action::on("get", &self.target)));
            }
        };
        let look = self.look_at(sight)?;
        self.group.saw(&look.resource_version);
        Ok((asked, look))
    }

    /// Reads what the verdict wants, ReplicaSets before Pods, both after the Deployment.
    pub async fn complete(&mut self, mut look: Look) -> Result<Look, Trouble> {
        loop {
            let resource = match look.verdict.want {
                Want::Nothing => return Ok(look),
                Want::ReplicaSets => Resource::ReplicaSets,
                Want::Pods => Resource::Pods,
            };
            look = self.beside(look, resource).await?;
        }
    }

    /// Reads ReplicaSets and Pods whatever the verdict wants: who stands in the way.
    pub async fn explain(&mut self, mut look: Look) -> Result<Look, Trouble> {
        if matches!(look.sight.replica_sets, Beside::NotRead) {
            look = self.beside(look, Resource::ReplicaSets).await?;
        }
        if matches!((&look.sight.replica_sets, &look.sight.pods), (Beside::Read(_), Beside::NotRead)) {
            look = self.beside(look, Resource::Pods).await?;
        }
        Ok(look)
    }

    /// Reads one kind of what belongs to it.
    pub async fn beside(&mut self, look: Look, resource: Resource) -> Result<Look, Trouble> {
        let after = self.group.tick();
        let (selector, covered) = (look.selector.clone(), look.covered);
        let read = retry(&self.cx, || self.group.beside(&self.cx, resource, &selector, covered, after));
        let read = match workload_guest::select(read, self.cx.stopped()).await {
            workload_guest::Either::Left(read) => read?,
            workload_guest::Either::Right(_) => {
                return Err(Trouble::cancelled(&Action::list(resource, Some(&self.target.namespace))));
            }
        };
        let mut sight = look.sight;
        match resource {
            Resource::Pods => sight.pods = read,
            _ => sight.replica_sets = read,
        }
        self.look_at(sight)
    }

    /// Checks that it is ours, is the object this operation began with, and remembers which one that is.
    pub fn recognise(&mut self, look: &Look) -> Result<(), Fault> {
        match &self.uid {
            Some(uid) if *uid != look.uid => {
                let words = format!("{} was deleted, and another one of the same name was made", self.target.id());
                return Err(fault(FaultKind::NotFound, words).with("uid", uid));
            }
            _ => {}
        }
        if let Some(words) = not_ours(&look.owned) {
            return Err(fault(FaultKind::NotOwned, format!("{} is not ours: {words}", self.target.id())));
        }
        self.uid = Some(look.uid.clone());
        Ok(())
    }

    /// Start and stop have no effect on what is being deleted, and nothing is decided on what cannot be understood.
    pub fn alive(&self, look: &Look) -> Result<(), Fault> {
        if look.deleting {
            let words = format!("{}: {}", self.target.id(), look.verdict.message);
            return Err(fault(FaultKind::Conflict, words).with("reason", "deleting"));
        }
        if look.verdict.status == Status::Unknown {
            let words = format!("{}: {}", self.target.id(), look.verdict.message);
            return Err(fault(FaultKind::Malformed, words).with("reason", look.verdict.reason));
        }
        Ok(())
    }

    /// It was read before the controller could know of our write, or from a server that lags behind.
    pub fn is_stale(&self, look: &Look) -> bool {
        self.floor.is_some_and(|floor| look.generation <= floor)
    }

    /// Sends a write that was decided on this look.
    pub async fn write(&mut self, action: &Action, request: Request, look: &Look) -> Result<Written, Fault> {
        self.writes += 1;
        if self.writes > WRITES {
            let words = format!("{} is changed by others all the time; tried {WRITES} times", self.target.id());
            return Err(fault(FaultKind::Conflict, words));
        }
        let trouble = match classify(action, self.cx.http(request).await) {
            Ok(_) => {
                self.wrote(look);
                return Ok(Written::Done);
            }
            Err(trouble) => trouble,
        };
        let pause = match trouble.class {
            Class::Missing => return Ok(Written::Missing),
            Class::Conflict => self.rewrite_ms(),
            Class::Throttled => trouble.retry_after_ms.unwrap_or(0).max(self.rewrite_ms()),
            _ if trouble.is_uncertain() || trouble.class == Class::Unreachable => {
                trouble.retry_after_ms.unwrap_or(0).max(self.rewrite_ms())
            }
            _ => return Err(self.ended(&trouble)),
        };
        self.said = trouble.words();
        if self.writes >= WRITES && trouble.class != Class::Conflict {
            return Err(trouble.fault());
        }
        match self.cx.sleep(pause).await {
            Ok(()) => Ok(Written::Again { uncertain: trouble.is_uncertain() }),
            Err(_) => Err(self.stopped(&trouble.words())),
        }
    }

    /// A write took effect that was decided on this look.
    pub fn wrote(&mut self, look: &Look) {
        self.floor = Some(look.generation);
        self.wrote_ms = Some(self.cx.now());
        self.stuck_since = None;
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

    /// Says what is waited for, once.
    pub fn progress(&mut self, words: &str) {
        if self.said != words {
            self.said = words.to_owned();
            self.cx.progress(words);
        }
    }

    /// Waits for a reason to look again.
    pub async fn next(&mut self, asked: u64, patience_ms: u64) -> Result<Woken, Fault> {
        // All that was to be read was read.
        self.failures = 0;
        self.group.next(&self.cx, asked, patience_ms).await.map_err(|_| self.stopped(&self.said))
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
            return Err(self.stopped(&self.said));
        }
        if !trouble.is_passing() {
            return Err(trouble.fault());
        }
        self.progress(&trouble.words());
        let grown = REREAD_MS << self.failures.min(5);
        self.failures = self.failures.saturating_add(1);
        let pause = grown.min(REREAD_LIMIT_MS).max(trouble.retry_after_ms.unwrap_or(0));
        self.cx.sleep(pause).await.map_err(|_| self.stopped(&self.said))
    }

    /// The end of an operation whose first reads failed.
    pub fn ended(&self, trouble: &Trouble) -> Fault {
        match trouble.class {
            Class::Cancelled => self.stopped(&self.said),
            // It was told to stop between two tries.
            _ if trouble.is_passing() && self.cx.stopping().is_some() => self.stopped(&trouble.words()),
            _ => trouble.fault(),
        }
    }

    /// How an operation ends that was told to stop: it names the last thing known.
    pub fn stopped(&self, last: &str) -> Fault {
        let reason = self.cx.stopping().unwrap_or(StopReason::Cancelled);
        let how = match reason {
            StopReason::Deadline => format!("timed out after {}", span(self.cx.now())),
            StopReason::Cancelled => format!("cancelled after {}", span(self.cx.now())),
            StopReason::Superseded => "superseded by another operation on it".to_owned(),
        };
        let words = if last.is_empty() { how } else { format!("{how}: {last}") };
        let mut fault = fault(reason.into(), words);
        if !last.is_empty() {
            fault = fault.with("last", last);
        }
        fault
    }

    /// The same, with what was last said.
    pub fn stopped_last(&self) -> Fault {
        self.stopped(&self.said)
    }

    /// How an operation ends well.
    pub fn outcome(&self, word: OutcomeWord, changed: bool, look: &Look) -> Result<Outcome, Fault> {
        let workload = look.sight.with(self.own(), |observed| {
            let mut workload = look.verdict.workload(&self.target, self.cx.ownership(), observed.deployment);
            workload.facts = crate::status::evidence(observed);
            workload
        });
        Ok(Outcome { word, changed, workload: workload.ok() })
    }

    /// The object of this operation, once it was recognised.
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }
}

/// Why it is not ours, in words.
pub(super) fn not_ours(owned: &Owned) -> Option<String> {
    match owned {
        Owned::Yes => None,
        Owned::Labels => Some("it does not carry the labels of this owner".to_owned()),
        Owned::Controlled(by) => Some(format!("it is managed by {by}")),
    }
}
