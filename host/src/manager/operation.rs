//! One operation from the call to its end: its turn on each workload, an instance, then the drive loop.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::claims::Waiting;
use super::{Entry, Inner, Options, Run};
use crate::drive::{self, Audit, Ids, Outbox, Setup, Signal, Signals, stopped, until};
use crate::model::{Event, Fault, FaultKind};
use crate::world::{Call, StopReason};

/// What an operation is before it has an instance.
struct Beginning {
    inner: Arc<Inner>,
    name: String,
    call: Call,
    plan: bool,
    began: Instant,
    timeout: Option<Duration>,
    signals: Arc<Signals>,
    outbox: Outbox,
    /// Ids in the order in which they were given, each once.
    order: Vec<String>,
    /// Those without a result.
    open: HashSet<String>,
}

/// Why it never gets an instance.
enum Early {
    Stopped(StopReason),
    Fault(Fault),
}

/// Starts the operation's task.
pub(super) fn run(inner: &Arc<Inner>, name: &str, entry: Option<Arc<Entry>>, call: Call, options: Options) -> Run {
    let began = Instant::now();
    let signals = Arc::<Signals>::default();
    let (outbox, receiver) = drive::channel();
    let ids = call.ids();
    let follows = call.follows();
    let limits = inner.sandbox.limits();
    let timeout = match options.timeout {
        None if follows => None,
        timeout => Some(timeout.unwrap_or(limits.operation).min(limits.operation_max)),
    };
    let beginning = Beginning {
        inner: Arc::clone(inner),
        name: name.to_owned(),
        call,
        plan: options.plan,
        began,
        timeout,
        signals: Arc::clone(&signals),
        outbox,
        order: ids.clone(),
        open: ids.iter().cloned().collect(),
    };
    let task = tokio::spawn(beginning.operate(entry)).abort_handle();
    Run::new(receiver, signals, task, began, ids, follows)
}

impl Beginning {
    async fn operate(mut self, entry: Option<Arc<Entry>>) {
        let begun = match entry {
            Some(entry) => self.begin(entry).await,
            None => Err(Early::Fault(Fault::new(
                FaultKind::Configuration,
                format!("there is no provider {}", crate::text::clean(self.name.clone(), crate::limits::WORD)),
            ))),
        };
        let early = match begun {
            Ok(Some((setup, slot, ids))) => return drive::run(setup, slot, ids, self.outbox).await,
            // Every id was settled meanwhile.
            Ok(None) => None,
            Err(early) => Some(early),
        };
        if let Some(early) = early {
            let fault = match early {
                Early::Stopped(reason) => stopped(reason, self.timeout, Some("waiting for its turn")),
                Early::Fault(fault) => fault,
            };
            for id in std::mem::take(&mut self.order) {
                self.settle(&id, fault.clone());
            }
            self.outbox.push(Event::Failed(fault));
        }
        self.outbox.flush().await;
    }

    async fn begin(&mut self, entry: Arc<Entry>) -> Result<Option<(Setup, crate::engine::Slot, Ids)>, Early> {
        self.check()?;
        let named = !matches!(self.call, Call::Discover { .. });
        let mut claims = if self.call.writes() { self.claim().await? } else { HashMap::new() };
        if named && self.open.is_empty() {
            return Ok(None);
        }
        let slot = {
            let inner = Arc::clone(&self.inner);
            let read = !self.call.writes();
            let slot = self.unless_stopped(inner.sandbox.slot(&entry.loaded, read), &mut claims).await?;
            slot.map_err(|busy| Early::Fault(Fault::new(FaultKind::Unavailable, busy.to_string())))?
        };
        if named && self.open.is_empty() {
            return Ok(None);
        }
        let mut seed = [0; 32];
        let random = self.inner.random.fill(&mut seed);
        random.map_err(|_| Early::Fault(Fault::new(FaultKind::Internal, "the system gives no random numbers")))?;
        let mut call = self.call.clone();
        call.retain(|id| self.open.contains(id));
        let audit = Audit {
            sink: Arc::clone(&self.inner.audit),
            provider: self.name.clone(),
            generation: entry.generation,
            call: call.word(),
        };
        let setup = Setup {
            sandbox: Arc::clone(&self.inner.sandbox),
            loaded: Arc::clone(&entry.loaded),
            upstream: Arc::clone(&entry.provider.upstream),
            grants: Arc::clone(&entry.grants),
            audit,
            ownership: entry.provider.ownership.clone(),
            settings: entry.provider.settings.clone(),
            seed,
            call,
            plan: self.plan,
            deadline: self.deadline(),
            began: self.began,
            signals: Arc::clone(&self.signals),
        };
        let open = self.order.iter().filter(|id| self.open.contains(*id));
        let ids = open.map(|id| (id.clone(), claims.remove(id).map(Waiting::into_claim)));
        Ok(Some((setup, slot, Ids::new(ids))))
    }

    /// What can be said of a call before anything else.
    fn check(&mut self) -> Result<(), Early> {
        let most = self.inner.sandbox.limits().ids;
        if self.open.len() > most {
            let fault = Fault::new(FaultKind::Configuration, format!("more than {most} ids in one operation"));
            return Err(Early::Fault(fault));
        }
        if let Call::Create { specs } = &self.call {
            // Which of them is meant cannot be known.
            let mut seen = HashSet::new();
            let twice: HashSet<String> =
                specs.iter().filter(|spec| !seen.insert(&spec.id)).map(|spec| spec.id.clone()).collect();
            for id in twice {
                self.settle(&id, Fault::new(FaultKind::InvalidSpec, "two specs have this id"));
            }
        } else {
            // A provider need not know how to handle an id that is given twice.
            let mut seen = HashSet::new();
            if let Call::Status { ids, .. } | Call::Start { ids } | Call::Stop { ids, .. } | Call::Delete { ids, .. } =
                &mut self.call
            {
                ids.retain(|id| seen.insert(id.clone()));
            }
        }
        Ok(())
    }

    /// The turn on each workload.
    async fn claim(&mut self) -> Result<HashMap<String, Waiting>, Early> {
        let ids: Vec<String> = self.order.iter().filter(|id| self.open.contains(*id)).cloned().collect();
        let mut places = self.inner.claims.queue_all(&self.name, &ids, &self.call, &self.signals);
        for id in ids.iter().filter(|id| places.get(*id).is_some_and(|place| !place.is_ready())) {
            let text = "waits for another operation on it".to_owned();
            self.outbox.push(Event::Progress { id: id.clone(), text });
        }
        // Whoever does not listen must not keep it from being stopped, nor from making way.
        self.outbox.flush_now();
        let (signals, deadline) = (Arc::clone(&self.signals), self.deadline());
        for id in ids {
            // Of one that another operation took over meanwhile the place is gone.
            while let Some(place) = places.get_mut(&id).filter(|place| !place.is_ready()) {
                tokio::select! {
                    biased;
                    () = signals.changed() => self.signalled(&mut places)?,
                    () = until(deadline) => return Err(Early::Stopped(StopReason::Deadline)),
                    () = place.turn() => {}
                }
            }
        }
        Ok(places)
    }

    /// Waits for something while listening to whoever wants this operation to stop.
    async fn unless_stopped<T>(
        &mut self,
        future: impl Future<Output = T>,
        claims: &mut HashMap<String, Waiting>,
    ) -> Result<T, Early> {
        let mut future = std::pin::pin!(future);
        let (signals, deadline) = (Arc::clone(&self.signals), self.deadline());
        loop {
            tokio::select! {
                biased;
                () = signals.changed() => self.signalled(claims)?,
                () = until(deadline) => return Err(Early::Stopped(StopReason::Deadline)),
                done = &mut future => return Ok(done),
            }
        }
    }

    fn signalled(&mut self, claims: &mut HashMap<String, Waiting>) -> Result<(), Early> {
        for signal in self.signals.take() {
            match signal {
                Signal::Cancel => return Err(Early::Stopped(StopReason::Cancelled)),
                Signal::Supersede(id) => {
                    claims.remove(&id);
                    self.settle(&id, stopped(StopReason::Superseded, None, None));
                }
            }
        }
        // Its caller need not wait for the other ids to learn of it.
        self.outbox.flush_now();
        Ok(())
    }

    fn settle(&mut self, id: &str, fault: Fault) {
        if self.open.remove(id) {
            self.outbox.settled(id.to_owned(), Err(fault), self.began.elapsed());
        }
    }

    fn deadline(&self) -> Option<Instant> {
        self.timeout.map(|timeout| self.began + timeout)
    }
}
