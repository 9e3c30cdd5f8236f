//! The drive loop: runs one operation of a provider to its end.
//!
//! A step is run on a thread of the pool; what it asks for is judged by policy and quota, done concurrently, and
//! handed to the next step. Everything that the operation holds — its instance, its requests under way, its turn on
//! each workload — is owned by the one future that [`run`] returns, so dropping that future leaves nothing behind.

mod body;
mod cause;
mod effects;
mod fate;
mod ids;
mod outbox;
mod quota;
mod record;
mod signals;

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

pub(crate) use fate::stopped;
pub(crate) use ids::Ids;
pub(crate) use outbox::{Outbox, channel};
pub(crate) use record::Audit;
pub(crate) use signals::{Signal, Signals};

use crate::engine::{Broken, Instance, Loaded, Sandbox, Slot};
use crate::limits::{Limits, TOLD};
use crate::model::{Event, Ownership};
use crate::steps::Account;
use crate::upstream::Upstream;
use crate::world::{Call, Context, Input, StopReason, Turn};
use effects::Effects;
use fate::Fate;

/// How much larger what a step tells may be here than what it may copy ([`Limits::hostcall`]).
const INFLATED: usize = 4;

/// Everything that one operation is made of.
pub(crate) struct Setup {
    pub(crate) sandbox: Arc<Sandbox>,
    pub(crate) loaded: Arc<Loaded>,
    pub(crate) upstream: Arc<dyn Upstream>,
    pub(crate) grants: Arc<workload_policy::Grants>,
    pub(crate) audit: Audit,
    pub(crate) ownership: Ownership,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) seed: [u8; 32],
    pub(crate) call: Call,
    pub(crate) plan: bool,
    /// When the stop is sent; none: never.
    pub(crate) deadline: Option<Instant>,
    pub(crate) began: Instant,
    pub(crate) signals: Arc<Signals>,
}

/// A stop that was sent for all, and since when it counts.
#[derive(Debug, Clone, Copy)]
struct Winding {
    reason: StopReason,
    since: Instant,
}

struct Drive {
    limits: Limits,
    began: Instant,
    deadline: Option<Instant>,
    timeout: Option<Duration>,
    /// Discover that does not follow: a stop makes its list incomplete.
    lists: bool,
    follows: bool,
    signals: Arc<Signals>,
    ids: Ids,
    effects: Effects,
    outbox: Outbox,
    /// Stop notices for the next step.
    stops: Vec<Input>,
    winding: Option<Winding>,
    /// Since when every id has ended although the operation has not.
    lingering: Option<Instant>,
    cleaning: bool,
    idle: u32,
    told_bytes: usize,
}

/// Runs an operation to its end and tells everything through `outbox`. The ids that are open are run; `slot` is the
/// right to an instance.
pub(crate) async fn run(setup: Setup, slot: Slot, ids: Ids, outbox: Outbox) {
    let Setup { sandbox, loaded, upstream, grants, audit, ownership, settings, seed, call, plan, .. } = setup;
    let limits = sandbox.limits().clone();
    let timeout = setup.deadline.map(|deadline| deadline.saturating_duration_since(setup.began));
    let context = Context { deadline: timeout.map(milliseconds), plan, ownership, settings, seed, records: Vec::new() };
    let mut drive = Drive {
        lists: matches!(call, Call::Discover { follow: false, .. }),
        follows: call.follows(),
        began: setup.began,
        deadline: setup.deadline,
        timeout,
        signals: setup.signals,
        effects: Effects::new(&limits, upstream, grants, audit, plan, !call.writes(), ids.len()),
        ids,
        outbox,
        stops: Vec::new(),
        winding: None,
        lingering: None,
        cleaning: false,
        idle: 0,
        told_bytes: 0,
        limits,
    };
    let now = milliseconds(drive.began.elapsed());
    let sandbox_of_it = Arc::clone(&sandbox);
    let account = Arc::clone(&loaded.account);
    // Constructors are the provider's code too. The first step follows at once: it never has anything to wait for.
    let first = move || match sandbox_of_it.begin(&loaded, slot, call, context) {
        Ok(instance) => step(instance, now, Vec::new()),
        Err(broken) => (None, Err(broken)),
    };
    let fate = drive.operate(&sandbox, &account, first).await;
    drive.end(fate).await;
}

type Stepped = (Option<Instance>, Result<Turn, Broken>);

/// One step, on a thread of the pool. An instance that is not stepped again is dropped there, too: giving back its
/// memory takes time.
fn step(mut instance: Instance, now: u64, inputs: Vec<Input>) -> Stepped {
    match instance.step(now, inputs) {
        Ok(turn) if turn.finished => (None, Ok(turn)),
        Ok(turn) => (Some(instance), Ok(turn)),
        Err(broken) => (None, Err(broken)),
    }
}

impl Drive {
    /// Step after step, until the operation ends in one way or another.
    async fn operate(
        &mut self,
        sandbox: &Sandbox,
        account: &Arc<Account>,
        first: impl FnOnce() -> Stepped + Send + 'static,
    ) -> Fate {
        let mut stepped = sandbox.steps().run(account, first).await;
        let mut progressed = false;
        loop {
            let (instance, turn) = stepped.unwrap_or_else(|panicked| (None, Err(Broken::host(panicked.to_string()))));
            match turn.and_then(|turn| self.apply(turn, progressed)) {
                Ok(true) => return Fate::Finished,
                Ok(false) => {}
                Err(broken) => return Fate::Broken(broken),
            }
            let Some(instance) = instance else {
                return Fate::Broken(Broken::host("a step kept its instance"));
            };
            if let Some(fate) = self.wait().await {
                return fate;
            }
            let mut inputs = std::mem::take(&mut self.stops);
            self.effects.take_answers(&mut inputs);
            progressed = self.effects.is_progress(&inputs);
            let now = milliseconds(self.began.elapsed());
            stepped = sandbox.steps().run(account, move || step(instance, now, inputs)).await;
        }
    }

    /// Takes in what a step returned. True when the operation has finished.
    fn apply(&mut self, turn: Turn, progressed: bool) -> Result<bool, Broken> {
        // What is told counts only together with an answer: one could tell the same for ever.
        self.idle = if progressed || !turn.settled.is_empty() { 0 } else { self.idle + 1 };
        if self.idle > self.limits.idle_steps {
            let steps = self.limits.idle_steps;
            return Err(Broken::limit(format!("the provider made {steps} steps without getting anywhere")));
        }
        self.cleaning = turn.cleaning;
        for (id, text) in turn.progress {
            // Of an id that has ended there is nothing more to tell; a foreign one is of no use.
            if self.ids.note_progress(&id, &text) {
                self.outbox.push(Event::Progress { id, text });
            }
        }
        let mut told = 0;
        for mut workload in turn.emitted {
            cause::of_workload(&mut workload, |id| self.effects.trouble(id));
            self.told(fate::size(&workload), &mut told)?;
            self.outbox.push(Event::Emitted(workload));
        }
        for (place, mut fault) in turn.incomplete {
            cause::of_fault(&mut fault, || self.effects.trouble(&place));
            self.told(place.len() + fate::fault_size(&fault), &mut told)?;
            self.outbox.push(Event::Incomplete { place, fault });
        }
        // Effects that are no longer wanted go before new ones are counted. What is asked for an id that settles in
        // the same turn was asked before.
        self.effects.drop_unwanted(&turn.dropped)?;
        self.effects.resume();
        let finished = turn.finished;
        for pending in turn.need {
            if finished && pending.effect.writes() {
                return Err(Broken::protocol("the provider asked for a change in its last turn"));
            }
            if let Some(planned) = self.effects.ask(pending, &self.ids)? {
                self.plan(planned);
            }
        }
        if !turn.settled.is_empty() {
            // Before their turns are handed on.
            self.effects.abandon(&turn.settled.iter().map(|(id, _)| id.as_str()).collect(), false);
        }
        for (id, mut result) in turn.settled {
            cause::of_result(&mut result, &id, |id| self.effects.trouble(id));
            if self.ids.settle(&id)? {
                self.outbox.settled(id, result, self.began.elapsed());
            }
        }
        if finished {
            return match self.ids.first_open() {
                Some(id) => Err(Broken::protocol(format!("the provider finished without a result for {id}"))),
                None => Ok(true),
            };
        }
        if self.effects.is_empty() && self.stops.is_empty() {
            return Err(Broken::protocol("the provider waits for nothing and has not finished"));
        }
        Ok(false)
    }

    /// Counts what a caller collects. Of what is followed the caller keeps what it likes, but what one step tells is
    /// held here until it is taken: escapes make texts longer, and a short text costs more here than in the provider.
    fn told(&mut self, bytes: usize, of_step: &mut usize) -> Result<(), Broken> {
        let bytes = bytes.saturating_add(size_of::<Event>());
        *of_step = of_step.saturating_add(bytes);
        if *of_step > self.limits.hostcall.saturating_mul(INFLATED) {
            return Err(Broken::limit("the provider told too much in one step"));
        }
        self.told_bytes = self.told_bytes.saturating_add(bytes);
        if !self.follows && self.told_bytes > TOLD {
            return Err(Broken::limit(format!("the provider told of more than {} MiB", TOLD >> 20)));
        }
        Ok(())
    }

    /// The first write of an id, which is not sent: it stands for the id's result.
    fn plan(&mut self, planned: effects::PlannedWrite) {
        if self.ids.take(&planned.id) {
            self.outbox.planned(planned.id.clone(), planned.request, self.began.elapsed());
            self.stops.push(Input::Stop { id: Some(planned.id), reason: StopReason::Cancelled });
        }
    }

    /// Waits until there is something for the next step, and room for what it tells. Some: the operation ends here.
    async fn wait(&mut self) -> Option<Fate> {
        loop {
            if self.ids.all_ended() && self.lingering.is_none() {
                self.lingering = Some(Instant::now());
            }
            let signals = Arc::clone(&self.signals);
            let stopped = self.winding.is_some() || !self.stops.is_empty();
            let ready = !self.stops.is_empty() || self.effects.has_answers();
            if stopped {
                // Whoever does not listen does not keep an operation from winding down.
                self.outbox.flush_now();
            }
            if ready && (stopped || self.outbox.is_flushed()) {
                self.effects.collect();
                return None;
            }
            let timer = self.timer();
            tokio::select! {
                biased;
                () = signals.changed() => self.signalled(),
                () = until(timer) => {
                    if let Some(fate) = self.timed() {
                        return Some(fate);
                    }
                }
                () = self.outbox.flush(), if !stopped && !self.outbox.is_flushed() => {}
                () = self.effects.advance(), if !ready => {}
            }
        }
    }

    /// Takes in what the caller, or another operation, wants of this one.
    fn signalled(&mut self) {
        for signal in self.signals.take() {
            match signal {
                Signal::Cancel => self.stop_all(StopReason::Cancelled),
                Signal::Supersede(id) => {
                    if self.ids.supersede(&id, Instant::now()) {
                        self.stops.push(Input::Stop { id: Some(id), reason: StopReason::Superseded });
                    }
                }
            }
        }
    }

    fn stop_all(&mut self, reason: StopReason) {
        // Once: a deadline after a cancel changes nothing.
        if self.winding.is_none() {
            self.winding = Some(Winding { reason, since: Instant::now() });
            self.stops.push(Input::Stop { id: None, reason });
        }
    }

    fn grace(&self) -> Duration {
        if self.cleaning { self.limits.wind_down_cleaning } else { self.limits.wind_down }
    }

    /// The next moment at which time itself changes something.
    fn timer(&self) -> Option<Instant> {
        let grace = self.grace();
        let deadline = if self.winding.is_none() { self.deadline } else { None };
        let winding = self.winding.map(|winding| winding.since + grace);
        let lingering = self.lingering.map(|since| since + grace);
        let superseded = self.ids.first_superseded().map(|since| since + grace);
        [deadline, winding, lingering, superseded].into_iter().flatten().min()
    }

    fn timed(&mut self) -> Option<Fate> {
        let (now, grace) = (Instant::now(), self.grace());
        if self.lingering.is_some_and(|since| now >= since + grace) {
            return Some(Fate::Lingered);
        }
        if let Some(winding) = self.winding
            && now >= winding.since + grace
        {
            return Some(Fate::Stopped(winding.reason));
        }
        if self.deadline.is_some_and(|deadline| now >= deadline) {
            self.stop_all(StopReason::Deadline);
        }
        for id in self.ids.overdue(now, grace) {
            // It may still be doing something for this id, whose turn is handed on now.
            self.effects.abandon(&HashSet::from([id.as_str()]), true);
            let fault = self.stopped_fault(StopReason::Superseded, self.ids.progress(&id));
            if self.ids.take(&id) {
                self.outbox.settled(id, Err(fault), self.began.elapsed());
            }
        }
        None
    }
}

/// Until this moment; without one, for ever.
pub(crate) async fn until(timer: Option<Instant>) {
    match timer {
        Some(timer) => tokio::time::sleep_until(timer).await,
        None => std::future::pending().await,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
