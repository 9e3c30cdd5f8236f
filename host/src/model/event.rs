//! What an operation tells its caller while it runs, and all of it together at the end.

use std::time::Duration;

use super::{Fault, Method, Outcome, Workload};

/// One thing that became known.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// What a workload waits for now.
    Progress {
        /// The workload.
        id: String,
        /// A few words.
        text: String,
    },
    /// A workload as it is now: of a list, a status or what is followed.
    Emitted(Workload),
    /// A place that could not be read.
    Incomplete {
        /// The engine's place, e.g. a namespace.
        place: String,
        /// Why.
        fault: Fault,
    },
    /// An id ended; each does exactly once, unless [`Event::Planned`] stands for it.
    Settled(Settled),
    /// The first write of an id, which was not sent. Nothing else follows for this id.
    Planned(Planned),
    /// The operation as a whole ended early. Ids that had not ended settle with the same fault before it.
    Failed(Fault),
}

/// How one id ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Settled {
    /// As it was given.
    pub id: String,
    /// Well or not.
    pub result: Result<Outcome, Fault>,
    /// Since the operation began.
    pub elapsed: Duration,
}

/// The first write of one id under `plan`.
#[derive(Debug, Clone, PartialEq)]
pub struct Planned {
    /// The workload it is for.
    pub id: String,
    /// What would have been sent.
    pub request: PlannedRequest,
    /// Since the operation began.
    pub elapsed: Duration,
}

/// A request that policy allowed and that was not sent.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedRequest {
    /// The verb.
    pub method: Method,
    /// Path and query exactly as they would have been sent: encoded, beginning with `/`.
    pub target: String,
    /// The body as JSON, as policy made it.
    pub body: Option<serde_json::Value>,
}

/// Everything that an operation told, in the order in which it did.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Report {
    /// Workloads as they became known. Of one that was emitted several times, the last.
    pub emitted: Vec<Workload>,
    /// Places that could not be read, and why. Of one that was told several times, the last.
    pub incomplete: Vec<(String, Fault)>,
    /// How each id ended.
    pub settled: Vec<Settled>,
    /// Writes that were not sent, with `plan`.
    pub planned: Vec<Planned>,
    /// The operation as a whole ended early.
    pub fault: Option<Fault>,
    /// From the call to the end.
    pub elapsed: Duration,
}
