//! Follows one operation to its end, or to the user's interrupt.

pub mod follow;

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use workload_host::Run;
use workload_host::model::{Event, Fault, FaultKind, Workload};

use crate::answer::{End, Entry};

/// After an interrupt the operation may still say how its workloads were left. A person waits this long; the host
/// itself would allow more.
const GRACE: Duration = Duration::from_secs(1);

/// An operation under way. [`Run`] is one; tests have their own.
pub trait Events {
    /// The next thing that became known; none at the end.
    fn next(&mut self) -> impl Future<Output = Option<Event>>;
    /// Asks it to wind down.
    fn cancel(&self);
}

impl Events for Run {
    fn next(&mut self) -> impl Future<Output = Option<Event>> {
        Run::next(self)
    }

    fn cancel(&self) {
        Run::cancel(self);
    }
}

/// What is told while it runs.
pub trait Listener {
    /// A workload waits for something else than before.
    fn progress(&mut self, id: &str, text: &str);
    /// An id ended.
    fn ended(&mut self, entry: &Entry);
    /// The user ended it, and what follows is how things were left.
    fn interrupted(&mut self);
    /// Waits until what it shows has grown old, and shows it anew; for ever if it shows nothing.
    fn refresh(&mut self) -> impl Future<Output = ()>;
}

/// Everything that became known.
#[derive(Debug, Default)]
pub struct Heard {
    /// How each id ended, in the order in which they were given.
    pub entries: Vec<Entry>,
    /// Workloads by id, each as it was last emitted.
    pub emitted: BTreeMap<String, Workload>,
    /// Places that could not be read.
    pub incomplete: Vec<(String, Fault)>,
    /// The operation as a whole ended early.
    pub fault: Option<Fault>,
    /// The user ended it.
    pub interrupted: bool,
}

impl Heard {
    /// Why the operation ended early, if none of its workloads ended so: a provider can break a rule after all of them
    /// were settled.
    pub fn unsaid(&self) -> Option<&Fault> {
        let fault = self.fault.as_ref().filter(|_| !self.interrupted)?;
        let said = |entry: &Entry| matches!(&entry.end, End::Fault(said) if said.kind == fault.kind);
        if self.entries.iter().any(said) { None } else { Some(fault) }
    }
}

/// Listens to an operation on `ids` until it ends. When `interrupt` resolves, the operation is told to wind down, and
/// what has not ended within [`GRACE`] is reported as it was last known. Whoever drops `events` then drops the rest.
pub async fn listen(
    events: &mut impl Events,
    ids: &[String],
    interrupt: impl Future<Output = ()>,
    listener: &mut impl Listener,
) -> Heard {
    let mut heard = Heard::default();
    let mut ended: BTreeMap<String, Entry> = BTreeMap::new();
    let mut waits: BTreeMap<String, String> = BTreeMap::new();
    let mut interrupt = pin!(interrupt);
    let began = tokio::time::Instant::now();
    let mut give_up = pin!(tokio::time::sleep(GRACE));
    loop {
        let event = tokio::select! {
            biased;
            () = interrupt.as_mut(), if !heard.interrupted => {
                heard.interrupted = true;
                events.cancel();
                listener.interrupted();
                give_up.as_mut().reset(tokio::time::Instant::now() + GRACE);
                continue;
            }
            // Before the events: they may come without a pause.
            () = listener.refresh() => continue,
            event = events.next() => event,
            () = give_up.as_mut(), if heard.interrupted => None,
        };
        let Some(event) = event else { break };
        match event {
            Event::Progress { id, text } => {
                if waits.get(&id) != Some(&text) {
                    listener.progress(&id, &text);
                    waits.insert(id, text);
                }
            }
            Event::Emitted(workload) => {
                heard.emitted.insert(workload.id.clone(), workload);
            }
            Event::Incomplete { place, fault } => heard.incomplete.push((place, fault)),
            Event::Settled(settled) => {
                let end = match settled.result {
                    Ok(outcome) => End::Done(Box::new(outcome)),
                    Err(fault) if heard.interrupted && fault.kind == FaultKind::Cancelled => {
                        End::Fault(with_last(fault, waits.get(&settled.id)))
                    }
                    Err(fault) => End::Fault(fault),
                };
                let entry = Entry { id: settled.id, end, elapsed: settled.elapsed };
                listener.ended(&entry);
                ended.insert(entry.id.clone(), entry);
            }
            Event::Planned(planned) => {
                let entry = Entry { id: planned.id, end: End::Planned(planned.request), elapsed: planned.elapsed };
                listener.ended(&entry);
                ended.insert(entry.id.clone(), entry);
            }
            Event::Failed(fault) => heard.fault = Some(fault),
        }
    }
    for id in ids {
        let entry = ended.remove(id).unwrap_or_else(|| {
            let fault = if heard.interrupted {
                left(waits.get(id))
            } else {
                heard.fault.clone().unwrap_or_else(|| {
                    Fault::new(FaultKind::Internal, "the operation ended without saying how this workload did")
                })
            };
            let entry = Entry { id: id.clone(), end: End::Fault(fault), elapsed: began.elapsed() };
            listener.ended(&entry);
            entry
        });
        heard.entries.push(entry);
    }
    heard
}

/// An interrupt left a workload that has not ended even now. What only reads ends at once, so this is on its way to
/// change something.
fn left(last: Option<&String>) -> Fault {
    let message = "interrupted before its end was known; what was already sent may still take effect";
    with_last(Fault::new(FaultKind::Cancelled, message), last)
}

/// The state in which an interrupt left a workload, as far as anything said it.
fn with_last(mut fault: Fault, last: Option<&String>) -> Fault {
    let Some(last) = last else {
        fault.message.push_str("; nothing is known of its state");
        return fault;
    };
    // The provider may have said it: without what was of use only while it waited, or with why there was no answer.
    let said = fault.detail.iter().any(|(name, value)| name == "last" && fault.message.contains(value.as_str()));
    if said {
        return fault;
    }
    if !fault.message.contains(last.as_str()) {
        fault.message = format!("{}; last known: {last}", fault.message);
    }
    fault.with("last", last.clone())
}

#[cfg(test)]
#[path = "run/tests.rs"]
mod tests;
