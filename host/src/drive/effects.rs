//! The effects of one operation: judged, queued, under way, and answered.

mod plan;
#[cfg(test)]
mod tests;
mod used;

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::{AbortHandle, Abortable, Aborted, BoxFuture};
use futures_util::stream::{FuturesUnordered, StreamExt as _};
use tokio::time::Instant;
use workload_policy::Grants;

use super::body::{Part, Reader};
use super::ids::Ids;
use super::quota::{Quota, Verdict};
use super::record::{Audit, WriteRecord};
use crate::audit::{AuditAction, WriteResult};
use crate::engine::Broken;
use crate::limits::{EVENTS, Limits, QUEUED, STREAMS, WORD};
use crate::model::Failure;
use crate::text::clean;
use crate::upstream::{Outgoing, Upstream};
use crate::world::{Answer, Effect, Input, Pending, Request};
pub(super) use plan::PlannedWrite;
use used::Used;

/// See the module.
pub(super) struct Effects {
    limits: Limits,
    upstream: Arc<dyn Upstream>,
    grants: Arc<Grants>,
    audit: Audit,
    plan: bool,
    /// A call that only reads holds no turn on any workload, so it must not change one.
    reads: bool,
    quota: Quota,
    used: Used,
    /// Asked for and not yet answered to the end.
    open: HashMap<u32, Open>,
    most: usize,
    /// Requests that wait for one of the places under way. Streams have places of their own: a watch lasts as long as
    /// the operation, and would keep a place from what has an end.
    requests: Lane,
    streams: Lane,
    queued_bytes: usize,
    running: FuturesUnordered<Abortable<UnderWay>>,
    /// Answers for the next step, with the way to go on reading.
    answers: VecDeque<(u32, Part)>,
    /// Readers whose last part the step under way takes.
    taken: Vec<(u32, Box<Reader>)>,
    troubles: Troubles,
}

/// Why there was no answer to the last request for a workload, or for none of them alone.
type Troubles = Arc<Mutex<HashMap<Option<String>, String>>>;

/// Places under way, and who waits for one.
struct Lane {
    free: usize,
    waiting: VecDeque<u32>,
}

/// One effect that is not yet answered to the end.
struct Open {
    workload: Option<String>,
    place: Place,
    writes: bool,
    /// Of what is under way.
    abort: Option<Abort>,
    /// Of what waits in a lane.
    waiting: Option<Exchange>,
    /// Of the body, as long as it waits or is under way.
    bytes: usize,
}

type Work = BoxFuture<'static, (u32, Part)>;

/// What is done for one effect. The drive loop polls it, and whoever ends the effect drops it: at once, not when it is
/// polled again.
struct UnderWay(Arc<Mutex<Option<Work>>>);

/// Ends what is under way when it is dropped.
struct Abort {
    handle: AbortHandle,
    work: Arc<Mutex<Option<Work>>>,
}

impl Future for UnderWay {
    type Output = (u32, Part);

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(u32, Part)> {
        match &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            Some(work) => work.poll_unpin(context),
            None => Poll::Pending,
        }
    }
}

impl Drop for Abort {
    fn drop(&mut self) {
        self.handle.abort();
        let work = self.work.lock().unwrap_or_else(PoisonError::into_inner).take();
        drop(work);
    }
}

/// What an effect holds a place of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    None,
    Request,
    Stream,
}

/// A request that is allowed.
struct Exchange {
    outgoing: Outgoing,
    record: Option<WriteRecord>,
}

impl Effects {
    pub(super) fn new(
        limits: &Limits,
        upstream: Arc<dyn Upstream>,
        grants: Arc<Grants>,
        audit: Audit,
        plan: bool,
        reads: bool,
        ids: usize,
    ) -> Effects {
        Effects {
            limits: limits.clone(),
            upstream,
            grants,
            audit,
            plan,
            reads,
            quota: Quota::new(limits),
            used: Used::default(),
            open: HashMap::new(),
            // A few for each of many workloads are no misuse.
            most: limits.outstanding.saturating_add(ids.saturating_mul(4)),
            requests: Lane { free: limits.in_flight.max(1), waiting: VecDeque::new() },
            streams: Lane { free: STREAMS, waiting: VecDeque::new() },
            queued_bytes: 0,
            running: FuturesUnordered::new(),
            answers: VecDeque::new(),
            taken: Vec::new(),
            troubles: Troubles::default(),
        }
    }

    /// Nothing is asked for that will be answered.
    pub(super) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// Why the engine gave no answer to what was last asked for this workload, or for several; none if it gave one.
    pub(super) fn trouble(&self, workload: &str) -> Option<String> {
        let troubles = self.troubles.lock().unwrap_or_else(PoisonError::into_inner);
        troubles.get(&Some(workload.to_owned())).or_else(|| troubles.get(&None)).cloned()
    }

    pub(super) fn has_answers(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Whether a step that is given these can get anywhere: what the host refused at once does not count, or a provider
    /// could go round for ever.
    pub(super) fn is_progress(&self, inputs: &[Input]) -> bool {
        inputs.iter().any(|input| match input {
            Input::Stop { .. } => true,
            Input::Answer { answer, .. } => {
                !matches!(answer, Answer::Failed(Failure::Denied | Failure::Unsupported | Failure::Cancelled))
            }
        })
    }

    /// Takes in one effect. Some: it is a write that is to be planned instead of sent.
    pub(super) fn ask(&mut self, pending: Pending, ids: &Ids) -> Result<Option<PlannedWrite>, Broken> {
        let Pending { id, workload, effect } = pending;
        if !self.used.insert(id) {
            return Err(Broken::protocol(format!("the provider used the number {id} for two effects")));
        }
        if self.used.is_full() {
            return Err(Broken::limit("the provider's numbers of effects are too scattered to be kept"));
        }
        if self.open.len() >= self.most {
            return Err(Broken::limit(format!("the provider waits for more than {} effects", self.most)));
        }
        if effect.writes() {
            match &workload {
                None => {
                    return Err(Broken::protocol("the provider asked for a change without saying for which workload"));
                }
                Some(workload) if !ids.may_write(workload) => {
                    let workload = clean(workload.clone(), WORD);
                    let why = format!("the provider asked for a change for {workload}, which is not its to change now");
                    return Err(Broken::protocol(why));
                }
                Some(_) => {}
            }
        }
        // A read for a workload that is none of the operation's counts as shared.
        let workload = workload.filter(|workload| ids.is_known(workload));
        if workload.as_deref().is_some_and(|workload| ids.is_taken(workload)) {
            self.answer(id, workload, Failure::Cancelled);
            return Ok(None);
        }
        match self.quota.count(workload.as_deref(), Instant::now()) {
            Verdict::Within => {}
            over => {
                if over == Verdict::FirstOver {
                    self.audit.record(workload.clone(), AuditAction::OverQuota);
                }
                self.answer(id, workload, Failure::Denied);
                return Ok(None);
            }
        }
        match effect {
            Effect::Http(request) => self.request(id, workload, request),
            Effect::Sleep(milliseconds) => {
                let done = async move {
                    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
                    (id, (Answer::Elapsed, None))
                };
                let abort = self.start(done.boxed());
                self.open.insert(id, Open { abort: Some(abort), ..Open::of(workload) });
                Ok(None)
            }
            Effect::Unsupported { .. } => {
                self.answer(id, workload, Failure::Unsupported);
                Ok(None)
            }
        }
    }

    fn request(&mut self, id: u32, workload: Option<String>, request: Request) -> Result<Option<PlannedWrite>, Broken> {
        let body = request.body.as_ref();
        let asked = workload_policy::Request {
            method: request.method,
            segments: &request.segments,
            query: &request.query,
            accept: request.accept,
            body: body.map(|(media, bytes)| workload_policy::Body { media: *media, bytes }),
            streaming: request.streaming,
        };
        let allowed = match workload_policy::authorize(&self.grants, &asked) {
            Ok(allowed) => allowed,
            Err(denied) => {
                self.audit.record(workload.clone(), AuditAction::Denied { reason: denied.to_string() });
                self.answer(id, workload, Failure::Denied);
                return Ok(None);
            }
        };
        let writes = allowed.write || request.method.writes();
        if writes && (self.reads || workload.is_none()) {
            let reason = if self.reads { "a call that only reads changes nothing" } else { "a change for no workload" };
            self.audit.record(workload.clone(), AuditAction::Denied { reason: reason.to_owned() });
            self.answer(id, workload, Failure::Denied);
            return Ok(None);
        }
        if let (true, true, Some(workload)) = (self.plan, writes, &workload) {
            let planned = PlannedWrite::new(workload.clone(), request.method, allowed);
            self.answer(id, Some(workload.clone()), Failure::Cancelled);
            return Ok(Some(planned));
        }
        let media = request.body.map(|(media, _)| media);
        let body = media.zip(allowed.body.map(bytes::Bytes::from));
        let bytes = body.as_ref().map_or(0, |(_, bytes)| bytes.len());
        self.queued_bytes += bytes;
        if self.queued_bytes > QUEUED {
            return Err(Broken::limit(format!("the provider sends more than {} MiB at once", QUEUED >> 20)));
        }
        let record = writes.then(|| {
            let operation = allowed.operation.to_string();
            WriteRecord::new(self.audit.clone(), workload.clone(), operation, request.method, allowed.target.clone())
        });
        let outgoing = Outgoing {
            method: request.method,
            target: allowed.target,
            accept: request.accept,
            body,
            streaming: request.streaming,
        };
        let waiting = Some(Exchange { outgoing, record });
        self.open.insert(id, Open { writes, waiting, bytes, ..Open::of(workload) });
        if request.streaming {
            self.streams.waiting.push_back(id)
        } else {
            self.requests.waiting.push_back(id)
        }
        self.fill();
        Ok(None)
    }

    /// An answer that the host gives at once.
    fn answer(&mut self, id: u32, workload: Option<String>, failure: Failure) {
        self.open.insert(id, Open::of(workload));
        self.answers.push_back((id, (Answer::Failed(failure), None)));
    }

    /// Sends what waits, as long as there are places.
    fn fill(&mut self) {
        while let Some((id, place)) = self.next_waiting() {
            let Some(open) = self.open.get_mut(&id) else { continue };
            let Some(exchange) = open.waiting.take() else { continue };
            open.place = place;
            match place {
                Place::Stream => self.streams.free -= 1,
                Place::Request | Place::None => self.requests.free -= 1,
            }
            let (upstream, troubles) = (Arc::clone(&self.upstream), Arc::clone(&self.troubles));
            let answered = exchange.run(upstream, self.limits.clone(), troubles, open.workload.clone());
            let abort = self.start(answered.map(move |part| (id, part)).boxed());
            if let Some(open) = self.open.get_mut(&id) {
                open.abort = Some(abort);
            }
        }
    }

    fn next_waiting(&mut self) -> Option<(u32, Place)> {
        for (lane, place) in [(&mut self.requests, Place::Request), (&mut self.streams, Place::Stream)] {
            if lane.free > 0
                && let Some(id) = lane.waiting.pop_front()
            {
                return Some((id, place));
            }
        }
        None
    }

    fn start(&mut self, work: Work) -> Abort {
        let (handle, registration) = AbortHandle::new_pair();
        let work = Arc::new(Mutex::new(Some(work)));
        self.running.push(Abortable::new(UnderWay(Arc::clone(&work)), registration));
        Abort { handle, work }
    }

    /// Waits until one of those under way has something to answer. Never returns while nothing is under way.
    pub(super) async fn advance(&mut self) {
        match self.running.next().await {
            Some(done) => self.came(done),
            None => std::future::pending().await,
        }
    }

    /// Takes what else is there already, so that one step is given all of it.
    pub(super) fn collect(&mut self) {
        while let Some(Some(done)) = self.running.next().now_or_never() {
            self.came(done);
        }
    }

    fn came(&mut self, done: Result<(u32, Part), Aborted>) {
        // Of those that were aborted nothing is left.
        let Ok((id, part)) = done else { return };
        if self.open.contains_key(&id) {
            if part.1.is_none() {
                // The connection is free again, even if the step is not given this yet.
                self.release(id);
            }
            self.answers.push_back((id, part));
        }
    }

    /// Gives back the place that an effect holds, to who waits for one.
    fn release(&mut self, id: u32) {
        self.vacate(id);
        self.fill();
    }

    fn vacate(&mut self, id: u32) {
        let Some(open) = self.open.get_mut(&id) else { return };
        self.queued_bytes = self.queued_bytes.saturating_sub(std::mem::take(&mut open.bytes));
        match std::mem::replace(&mut open.place, Place::None) {
            Place::None => {}
            Place::Request => self.requests.free += 1,
            Place::Stream => self.streams.free += 1,
        }
    }

    /// Moves answers into the next step's inputs, as many as its limits allow; one at least.
    pub(super) fn take_answers(&mut self, inputs: &mut Vec<Input>) {
        let mut bytes = 0;
        while inputs.len() < EVENTS {
            let Some((_, (answer, _))) = self.answers.front() else { break };
            let size = answer.size();
            if bytes > 0 && bytes + size > self.limits.answers {
                break;
            }
            let Some((id, (answer, reader))) = self.answers.pop_front() else { break };
            bytes += size;
            match reader {
                Some(reader) => self.taken.push((id, reader)),
                None => {
                    // Answered to the end.
                    self.release(id);
                    self.open.remove(&id);
                }
            }
            inputs.push(Input::Answer { id, answer });
        }
    }

    fn read_on(&mut self, id: u32, reader: Box<Reader>) {
        if !self.open.contains_key(&id) {
            return;
        }
        let abort = self.start(reader.next().map(move |part| (id, part)).boxed());
        if let Some(open) = self.open.get_mut(&id) {
            open.abort = Some(abort);
        }
    }

    /// Reads on what the step that has returned took.
    pub(super) fn resume(&mut self) {
        for (id, reader) in std::mem::take(&mut self.taken) {
            self.read_on(id, reader);
        }
    }

    /// Ends effects that the provider no longer wants.
    pub(super) fn drop_unwanted(&mut self, dropped: &[u32]) -> Result<(), Broken> {
        if dropped.len() > self.most.saturating_add(EVENTS) {
            return Err(Broken::limit("the provider dropped more effects than it can have asked for"));
        }
        for id in dropped {
            if !self.used.contains(*id) {
                return Err(Broken::protocol(format!(
                    "the provider dropped the effect {id}, which it never asked for"
                )));
            }
        }
        // Of those that were answered meanwhile there is nothing to drop.
        self.forget(dropped);
        Ok(())
    }

    /// Ends what is under way for workloads that have their result: their turns are handed on, so nothing of theirs may
    /// still change something. The provider is told what became of it. After its own result a provider may read on.
    pub(super) fn abandon(&mut self, workloads: &HashSet<&str>, reads: bool) {
        let answered: HashSet<u32> =
            self.answers.iter().filter(|(_, (_, reader))| reader.is_none()).map(|(id, _)| *id).collect();
        let of_them = |open: &Open| open.workload.as_deref().is_some_and(|workload| workloads.contains(workload));
        let mut ended: Vec<(u32, Option<String>, Failure)> = Vec::new();
        for (id, open) in &self.open {
            if of_them(open) && (reads || open.writes) && !answered.contains(id) {
                let failure = if open.writes && open.waiting.is_none() { Failure::Lost } else { Failure::Cancelled };
                ended.push((*id, open.workload.clone(), failure));
            }
        }
        // In the order in which they were asked for, more or less: the same inputs give the same outputs.
        ended.sort_unstable_by_key(|(id, ..)| *id);
        self.forget(&ended.iter().map(|(id, ..)| *id).collect::<Vec<_>>());
        for (id, workload, failure) in ended {
            self.answer(id, workload, failure);
        }
    }

    /// Ends effects, however far they are.
    fn forget(&mut self, ids: &[u32]) {
        let before = self.open.len();
        for id in ids {
            self.vacate(*id);
            self.open.remove(id);
        }
        if self.open.len() < before {
            self.answers.retain(|(answered, _)| self.open.contains_key(answered));
            self.fill();
        }
    }

    /// Ends all of them.
    pub(super) fn clear(&mut self) {
        self.requests.waiting.clear();
        self.streams.waiting.clear();
        self.running = FuturesUnordered::new();
        self.open.clear();
        self.answers.clear();
        self.taken.clear();
    }
}

impl Open {
    /// One that waits for nothing and holds nothing.
    fn of(workload: Option<String>) -> Open {
        Open { workload, place: Place::None, writes: false, abort: None, waiting: None, bytes: 0 }
    }
}

impl Exchange {
    async fn run(
        mut self,
        upstream: Arc<dyn Upstream>,
        limits: Limits,
        troubles: Troubles,
        workload: Option<String>,
    ) -> Part {
        if let Some(record) = &mut self.record {
            record.begun();
        }
        let streaming = self.outgoing.streaming;
        let answered = upstream.send(self.outgoing).await;
        let trouble = answered.as_ref().err().and_then(|_| upstream.trouble());
        {
            let mut troubles = troubles.lock().unwrap_or_else(PoisonError::into_inner);
            match trouble {
                Some(words) => troubles.insert(workload, words),
                None => troubles.remove(&workload),
            };
        }
        if let Some(record) = self.record {
            record.done(match &answered {
                Ok(incoming) => WriteResult::Status(incoming.status),
                Err(failure) => WriteResult::Failed(*failure),
            });
        }
        match answered {
            Ok(incoming) => Reader::new(incoming, streaming, &limits).next().await,
            Err(failure) => (Answer::Failed(failure), None),
        }
    }
}
