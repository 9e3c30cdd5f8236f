//! One workload in one operation: what is remembered of it, and how it is looked at.

mod recognise;
mod waiting;
mod write;

use std::rc::Rc;

use workload_guest::{Cx, Either, Fault, Outcome, OutcomeWord, Workload, select};

use crate::answer::{Action, Class, Trouble};
use crate::id::Target;
use crate::read::{Group, Look, PATIENT_MS, Reads, Sight, Stuck, get, retry};
use crate::request::Resource;
use crate::status::{Beside, Own, Want, evidence};

pub(super) use recognise::not_ours;
pub(super) use waiting::{is_hopeless, pause_ms};
pub(super) use write::Written;

/// Between looks where no watch tells of what is waited for: Pods are listed, not watched.
const EAGER_MS: u64 = 1_000;

/// For so long. Pods are given 30 seconds to end unless they say otherwise; what has not ended by then may take for ever.
const EAGER_FOR_MS: u64 = 60_000;

/// After this a wait looks at ReplicaSets and Pods as well, and again every [`PATIENT_MS`]: most have ended before that,
/// and of the others only these tell what is in the way.
const CLOSE_MS: u64 = 1_500;

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
    /// What is seen that does not change by waiting, at which generation, and since when.
    stuck: Option<(Stuck, i64, u64)>,
    writes: u32,
    failures: u32,
    /// When to look closely again.
    close_ms: u64,
    /// What it was last said to wait for.
    said: String,
    /// What else is known of that, as name and value.
    known: Vec<(&'static str, String)>,
    /// What the Deployment alone said then.
    alone: String,
    /// How deep a look knew it.
    depth: u8,
    /// A look without a wait.
    single: bool,
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
            stuck: None,
            writes: 0,
            failures: 0,
            close_ms: CLOSE_MS,
            said: String::new(),
            known: Vec::new(),
            alone: String::new(),
            depth: 0,
            single: false,
        })
    }

    /// It is only looked at once.
    pub fn single(mut self) -> Self {
        self.single = true;
        self
    }

    /// What is known of this operation's own doing.
    pub fn own(&self) -> Own {
        let since = |at: u64| self.cx.now().saturating_sub(at);
        Own {
            since_write_ms: self.wrote_ms.map(since),
            stuck_for_ms: self.stuck.map(|(_, _, at)| since(at)).unwrap_or_default(),
            single: self.single,
        }
    }

    fn look_at(&mut self, sight: Sight) -> Result<Look, Trouble> {
        let malformed = |_| Trouble::malformed(&Action::on("get", &self.target), 200);
        let look = sight.look(self.cx.ownership(), self.own()).map_err(malformed)?;
        // One does not count as the other, that nothing was observed is no error; and who edits it begins anew.
        let stuck = look.stuck.map(|what| (what, look.generation));
        if stuck != self.stuck.map(|(what, generation, _)| (what, generation)) {
            self.stuck = stuck.map(|(what, generation)| (what, generation, self.cx.now()));
        }
        self.know(&look);
        Ok(look)
    }

    /// A read of its own.
    pub async fn look(&mut self) -> Result<Look, Trouble> {
        let sight = get(&self.cx, &self.target).await?;
        let look = self.look_at(sight)?;
        self.group.saw(&look.resource_version);
        Ok(look)
    }

    /// The same with a few tries, for a look that nobody waits for.
    pub async fn glance(&mut self) -> Result<Look, Trouble> {
        let sight = retry(&self.cx, || get(&self.cx, &self.target)).await?;
        let look = self.look_at(sight)?;
        self.group.saw(&look.resource_version);
        Ok(look)
    }

    /// A read of its own by somebody who waits: it goes on until there is an answer. None: it is missing.
    pub async fn persist(&mut self) -> Result<Option<Look>, Fault> {
        loop {
            match self.look().await {
                Ok(look) => {
                    self.failures = 0;
                    return Ok(Some(look));
                }
                Err(trouble) if trouble.class == Class::Missing => return Ok(None),
                Err(trouble) => self.patience(&trouble).await?,
            }
        }
    }

    /// The first look of a start or stop: at what is ours and not being deleted, and if it may be the last one, with
    /// all that its verdict wants.
    pub async fn first(&mut self, may_be_last: fn(&Look) -> bool) -> Result<Look, Fault> {
        let mut met = self.meet().await?;
        loop {
            let look = met.ok_or_else(|| Trouble::missing(&Action::on("get", &self.target)).fault())?;
            self.recognise(&look)?;
            self.alive(&look)?;
            if !may_be_last(&look) {
                return Ok(look);
            }
            let completed = self.complete(look).await;
            if let Some(look) = self.usable(completed).await? {
                return Ok(look);
            }
            met = self.persist().await?;
        }
    }

    /// The same after a write. `gone` says what it means that it is missing.
    pub async fn ours_again(&mut self, gone: fn(&Self) -> Fault) -> Result<Look, Fault> {
        let look = self.persist().await?.ok_or_else(|| gone(self))?;
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
        let (asked, sight) = until_stopped(&self.cx, read, || Action::on("get", &self.target)).await?;
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
    pub async fn thorough(&mut self, mut look: Look) -> Result<Look, Trouble> {
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
        let (selector, covered) = (look.selector.clone(), look.covered);
        // What others share is kept also when it failed: each try asks for one from after it.
        let read = || self.group.beside(&self.cx, resource, &selector, covered, self.group.tick());
        let read = retry(&self.cx, read);
        let action = || Action::list(resource, Some(&self.target.namespace));
        let read = until_stopped(&self.cx, read, action).await?;
        let mut sight = look.sight;
        match resource {
            Resource::Pods => sight.pods = read,
            _ => sight.replica_sets = read,
        }
        self.look_at(sight)
    }

    /// The workload as this look saw it, with the facts behind its state.
    pub fn workload(&self, look: &Look) -> Workload {
        // What was looked at can be decoded.
        let facts = look.sight.with(self.own(), evidence).unwrap_or_default();
        Workload { facts, ..look.workload(&self.target, self.cx.ownership()) }
    }

    /// How an operation ends well.
    pub fn outcome(&self, word: OutcomeWord, changed: bool, look: &Look) -> Outcome {
        Outcome { word, changed, workload: Some(self.workload(look)) }
    }

    /// It is time to look closely.
    pub fn is_close(&mut self) -> bool {
        let now = self.cx.now();
        let due = now >= self.close_ms;
        if due {
            self.close_ms = now.saturating_add(PATIENT_MS);
        }
        due
    }

    /// Whoever had to do something about it would have begun.
    pub fn is_late(&self) -> bool {
        self.cx.now().saturating_sub(self.wrote_ms.unwrap_or_default()) >= PATIENT_MS
    }

    /// How long a wait may last without news.
    pub fn patience_ms(&self) -> u64 {
        self.close_ms.saturating_sub(self.cx.now()).clamp(1, PATIENT_MS)
    }

    /// When to look again at what no watch tells of.
    pub fn eager_ms(&self) -> u64 {
        let since = self.cx.now().saturating_sub(self.wrote_ms.unwrap_or_default());
        if since < EAGER_FOR_MS { EAGER_MS } else { PATIENT_MS }
    }

    /// The object of this operation, once it was recognised.
    pub fn uid(&self) -> Option<&str> {
        self.uid.as_deref()
    }
}

/// A read that others share, as far as this id is concerned: it does not end with the id.
pub(super) async fn until_stopped<T>(
    cx: &Cx,
    read: impl Future<Output = Result<T, Trouble>>,
    action: impl FnOnce() -> Action,
) -> Result<T, Trouble> {
    match select(read, cx.stopped()).await {
        Either::Left(read) => read,
        Either::Right(_) => Err(Trouble::cancelled(&action())),
    }
}
