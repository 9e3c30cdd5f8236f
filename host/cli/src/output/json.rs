//! The JSON documents. Their shapes are promised to programs: a change here is a breaking one.

use std::time::Duration;

use serde::Serialize;
use serde_json::Value;
use workload_host::Inspection;
use workload_host::model::{Descriptor, Fault, Outcome, OutcomeWord, Ownership, PlannedRequest, Workload};

use super::explain::{self, reasons};
use crate::answer::{End, Entry, Found, Listing};

/// A fault that is of no id.
#[derive(Serialize)]
pub struct ErrorDocument<'a> {
    error: &'a Fault,
}

/// A fault as a document.
pub fn error(fault: &Fault) -> ErrorDocument<'_> {
    ErrorDocument { error: fault }
}

/// A wrong command line. Not a [`Fault`]: nothing that a Manager does can end like this.
#[derive(Serialize)]
pub struct UsageDocument<'a> {
    error: Usage<'a>,
}

#[derive(Serialize)]
struct Usage<'a> {
    kind: &'static str,
    message: &'a str,
    detail: Empty,
}

#[derive(Serialize)]
struct Empty {}

/// A wrong command line as a document.
pub fn usage(message: &str) -> UsageDocument<'_> {
    UsageDocument { error: Usage { kind: "usage", message, detail: Empty {} } }
}

/// One id among several, or alone.
#[derive(Serialize)]
#[serde(untagged)]
pub enum Item<'a> {
    /// What was read of it.
    Workload(&'a Workload),
    /// How it ended well.
    Done {
        /// The id.
        id: &'a str,
        /// `outcome`, `changed`, `workload`.
        #[serde(flatten)]
        outcome: &'a Outcome,
        /// From the beginning of the operation.
        elapsed_ms: u64,
    },
    /// What would have been written.
    Planned {
        /// The id.
        id: &'a str,
        /// The request.
        plan: Plan<'a>,
    },
    /// Nothing would have been written.
    Nothing {
        /// The id.
        id: &'a str,
        /// Always null: there is no request.
        plan: (),
        /// What the command would end with at once, if it would.
        #[serde(skip_serializing_if = "Option::is_none")]
        outcome: Option<OutcomeWord>,
        /// As it was found.
        workload: &'a Option<Workload>,
    },
    /// How it ended otherwise.
    Fault {
        /// The id.
        id: &'a str,
        /// Why.
        error: &'a Fault,
    },
}

/// A request that was not sent.
#[derive(Serialize)]
pub struct Plan<'a> {
    method: &'static str,
    path: &'a str,
    body: &'a Option<Value>,
}

/// One document for one id, a list for several.
#[derive(Serialize)]
#[serde(untagged)]
pub enum OneOrMany<T> {
    /// Of one id.
    One(T),
    /// Of several, in the order in which they were given.
    Many(Vec<T>),
}

fn one_or_many<T>(mut items: Vec<T>, several: bool) -> OneOrMany<T> {
    match items.pop() {
        Some(item) if !several => OneOrMany::One(item),
        last => {
            items.extend(last);
            OneOrMany::Many(items)
        }
    }
}

/// The answer of `status`; `several` says whether more than one id was asked for.
pub fn statuses(found: &[Found], several: bool) -> OneOrMany<Item<'_>> {
    let items = found.iter().map(|(id, result)| match result {
        Ok(workload) => Item::Workload(workload),
        Err(fault) => faulty(id, fault),
    });
    one_or_many(items.collect(), several)
}

/// The answer of `create`, `start`, `stop` and `delete`.
pub fn entries(entries: &[Entry], several: bool) -> OneOrMany<Item<'_>> {
    let items = entries.iter().map(|entry| match &entry.end {
        End::Done(outcome) => Item::Done { id: &entry.id, outcome, elapsed_ms: milliseconds(entry.elapsed) },
        End::Planned(request) => Item::Planned { id: &entry.id, plan: plan(request) },
        End::Nothing(outcome) => Item::Nothing {
            id: &entry.id,
            plan: (),
            outcome: Some(outcome.word).filter(|word| is_final(*word)),
            workload: &outcome.workload,
        },
        End::Fault(fault) => faulty(&entry.id, fault),
    });
    one_or_many(items.collect(), several)
}

/// Whether it says how things are, and not what a wait would lead to.
fn is_final(word: OutcomeWord) -> bool {
    matches!(word, OutcomeWord::AlreadyRunning | OutcomeWord::AlreadyStopped | OutcomeWord::AlreadyGone)
}

fn milliseconds(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX)
}

/// How an id ended that did not end well: alone, among several, and in a line of a watch.
pub fn faulty<'a>(id: &'a str, fault: &'a Fault) -> Item<'a> {
    Item::Fault { id, error: fault }
}

fn plan(request: &PlannedRequest) -> Plan<'_> {
    Plan { method: request.method.as_str(), path: &request.target, body: &request.body }
}

/// The answer of `list`.
#[derive(Serialize)]
pub struct ListDocument<'a> {
    workloads: &'a [Workload],
    incomplete: Vec<LeftOut<'a>>,
    /// Only when the listing as a whole ended early.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Fault>,
}

/// A place that could not be read.
#[derive(Serialize)]
pub struct LeftOut<'a> {
    place: &'a str,
    error: &'a Fault,
}

/// A place that could not be read, as a document.
pub fn left_out<'a>(place: &'a str, fault: &'a Fault) -> LeftOut<'a> {
    LeftOut { place, error: fault }
}

/// A listing as a document.
pub fn listing(listing: &Listing) -> ListDocument<'_> {
    ListDocument {
        workloads: &listing.workloads,
        incomplete: listing.incomplete.iter().map(|(place, fault)| left_out(place, fault)).collect(),
        error: listing.fault.as_ref(),
    }
}

/// The answer of `explain`: that of `status`, and more.
#[derive(Serialize)]
pub struct Explanation<'a> {
    #[serde(flatten)]
    workload: &'a Workload,
    /// The reason in words; null for one that is not of the fixed list.
    meaning: Option<&'static str>,
    /// What can be done; null where all is well.
    advice: Option<String>,
    /// All facts in their order. In `facts`, of several with one name there is only the first.
    evidence: Vec<Fact<'a>>,
}

#[derive(Serialize)]
struct Fact<'a> {
    name: &'a str,
    value: &'a str,
}

/// Why a workload is in its state, as a document.
pub fn explanation<'a>(workload: &'a Workload, as_owner: &Ownership) -> Explanation<'a> {
    let evidence = workload.facts.iter().map(|(name, value)| Fact { name, value }).collect();
    let meaning = reasons::meaning(workload.status, &workload.reason);
    Explanation { workload, meaning, advice: explain::advice(workload, as_owner), evidence }
}

/// The answer of `provider list`.
#[derive(Serialize)]
pub struct ProvidersDocument<'a> {
    providers: Vec<ProviderItem<'a>>,
}

#[derive(Serialize)]
struct ProviderItem<'a> {
    name: &'a str,
    version: &'a str,
    engine: &'a str,
    world: &'a str,
    source: &'a str,
}

/// Providers, each with where it comes from.
pub fn providers<'a>(rows: &[(&'a str, &'a Descriptor)]) -> ProvidersDocument<'a> {
    let item = |(source, found): &(&'a str, &'a Descriptor)| ProviderItem {
        name: &found.name,
        version: &found.version,
        engine: &found.engine,
        world: found.world,
        source,
    };
    ProvidersDocument { providers: rows.iter().map(item).collect() }
}

/// The answer of `provider inspect`.
#[derive(Serialize)]
pub struct InspectionDocument<'a> {
    name: &'a str,
    version: &'a str,
    engine: &'a str,
    world: &'a str,
    asks: &'a [String],
    imports: &'a [String],
    size: usize,
    sha256: &'a str,
    spec_schema: Value,
}

/// A component as a document. Its schema is JSON within; one that is not stands there as text.
pub fn inspection(found: &Inspection) -> InspectionDocument<'_> {
    let Descriptor { name, version, engine, asks, spec_schema, world } = &found.descriptor;
    InspectionDocument {
        name,
        version,
        engine,
        world,
        asks,
        imports: &found.imports,
        size: found.size,
        sha256: &found.sha256,
        spec_schema: serde_json::from_str(spec_schema).unwrap_or_else(|_| Value::from(spec_schema.as_str())),
    }
}

#[cfg(test)]
#[path = "json/tests.rs"]
mod tests;
