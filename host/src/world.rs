//! The served versions of the world, each with an adapter to the one internal form.
//!
//! What is in this module is how the drive loop sees an operation, whichever version the component speaks. Bytes are
//! moved, not cloned.

mod v0_1;

use wasmtime::component::{Component, InstancePre};
use wasmtime::{Engine, Store};

use crate::engine::Guest;
use crate::error::Error;
use crate::model::{Descriptor, Failure, Fault, Media, Method, Outcome, Ownership, Spec, StopIntent, Workload};

/// A lifecycle call with its arguments.
#[derive(Debug, Clone)]
pub(crate) enum Call {
    Discover { places: Vec<String>, follow: bool },
    Status { ids: Vec<String>, follow: bool },
    Create { specs: Vec<Spec> },
    Start { ids: Vec<String> },
    Stop { ids: Vec<String>, intent: StopIntent },
    Delete { ids: Vec<String>, intent: StopIntent },
}

impl Call {
    /// The word of the call, for records and messages.
    pub(crate) fn word(&self) -> &'static str {
        match self {
            Call::Discover { .. } => "discover",
            Call::Status { .. } => "status",
            Call::Create { .. } => "create",
            Call::Start { .. } => "start",
            Call::Stop { .. } => "stop",
            Call::Delete { .. } => "delete",
        }
    }

    /// Whether it may change something.
    pub(crate) fn writes(&self) -> bool {
        !matches!(self, Call::Discover { .. } | Call::Status { .. })
    }

    /// Whether it goes on until it is dropped.
    pub(crate) fn follows(&self) -> bool {
        matches!(self, Call::Discover { follow: true, .. } | Call::Status { follow: true, .. })
    }

    /// The ids it is for, each once, in the order in which they were given.
    pub(crate) fn ids(&self) -> Vec<String> {
        let given: Vec<&String> = match self {
            Call::Discover { .. } => Vec::new(),
            Call::Status { ids, .. } | Call::Start { ids } | Call::Stop { ids, .. } | Call::Delete { ids, .. } => {
                ids.iter().collect()
            }
            Call::Create { specs } => specs.iter().map(|spec| &spec.id).collect(),
        };
        let mut seen = std::collections::HashSet::new();
        given.into_iter().filter(|id| seen.insert(*id)).cloned().collect()
    }

    /// The same call without the ids that `keep` refuses.
    pub(crate) fn retain(&mut self, keep: impl Fn(&str) -> bool) {
        match self {
            Call::Discover { .. } => {}
            Call::Status { ids, .. } | Call::Start { ids } | Call::Stop { ids, .. } | Call::Delete { ids, .. } => {
                ids.retain(|id| keep(id));
            }
            Call::Create { specs } => specs.retain(|spec| keep(&spec.id)),
        }
    }
}

/// What an operation is told at its beginning.
#[derive(Debug, Clone)]
pub(crate) struct Context {
    /// Milliseconds after the beginning.
    pub(crate) deadline: Option<u64>,
    /// What is asked for is shown and not sent, if it writes.
    pub(crate) plan: bool,
    pub(crate) ownership: Ownership,
    pub(crate) settings: Vec<(String, String)>,
    pub(crate) seed: [u8; 32],
    pub(crate) records: Vec<(String, Vec<u8>)>,
}

/// Why an operation, or one id of it, is to wind down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StopReason {
    Cancelled,
    Deadline,
    Superseded,
}

/// What a step is given.
#[derive(Debug)]
pub(crate) enum Input {
    Answer { id: u32, answer: Answer },
    Stop { id: Option<String>, reason: StopReason },
}

/// The answer to an effect, or a part of it. The kinds of answers whose effects this host does not do come with them.
#[derive(Debug)]
pub(crate) enum Answer {
    Response(Response),
    Elapsed,
    Failed(Failure),
}

impl Answer {
    /// Roughly the bytes that it takes in the guest.
    pub(crate) fn size(&self) -> usize {
        match self {
            Answer::Response(response) => {
                let headers: usize = response.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
                response.bytes.len() + headers
            }
            Answer::Elapsed | Answer::Failed(_) => 0,
        }
    }
}

/// An answer of the engine, or a part of one.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) retry_after_ms: Option<u64>,
    pub(crate) date_ms: Option<u64>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) media: Option<Media>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) last: bool,
}

/// What a step returned. Texts are cleaned and bounded, ids that must match are as they came.
#[derive(Debug)]
pub(crate) struct Turn {
    pub(crate) need: Vec<Pending>,
    pub(crate) dropped: Vec<u32>,
    pub(crate) emitted: Vec<Workload>,
    pub(crate) settled: Vec<(String, Result<Outcome, Fault>)>,
    pub(crate) incomplete: Vec<(String, Fault)>,
    pub(crate) progress: Vec<(String, String)>,
    pub(crate) cleaning: bool,
    pub(crate) finished: bool,
}

/// An effect that a step asked for.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) id: u32,
    pub(crate) workload: Option<String>,
    pub(crate) effect: Effect,
}

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Effect {
    Http(Request),
    /// Milliseconds.
    Sleep(u64),
    /// Of a kind that this host does not do.
    Unsupported {
        /// It would change something, so it must name its workload.
        writes: bool,
    },
}

impl Effect {
    pub(crate) fn writes(&self) -> bool {
        match self {
            Effect::Http(request) => request.method.writes(),
            Effect::Sleep(_) => false,
            Effect::Unsupported { writes } => *writes,
        }
    }
}

/// A request as the provider made it: nothing in it is to be trusted.
#[derive(Debug)]
pub(crate) struct Request {
    pub(crate) method: Method,
    pub(crate) segments: Vec<String>,
    pub(crate) query: Vec<(String, String)>,
    pub(crate) accept: Media,
    pub(crate) body: Option<(Media, Vec<u8>)>,
    pub(crate) streaming: bool,
}

/// A component of one of the served versions, ready to be instantiated.
pub(crate) enum Pre {
    V0_1(v0_1::Pre),
}

impl Pre {
    /// Finds out which version the component speaks; the newest is tried first.
    pub(crate) fn new(engine: &Engine, component: &Component, pre: InstancePre<Guest>) -> Result<Pre, Error> {
        v0_1::check(engine, component)?;
        v0_1::Pre::new(pre).map(Pre::V0_1).map_err(|error| v0_1::mismatch(&error))
    }

    /// Asks a fresh instance what it is. Blocks for as long as a step may.
    pub(crate) fn describe(&self, store: &mut Store<Guest>) -> wasmtime::Result<Descriptor> {
        match self {
            Pre::V0_1(pre) => v0_1::describe(pre, store),
        }
    }

    /// Begins an operation in a fresh instance. Blocks for as long as a step may.
    pub(crate) fn begin(&self, store: &mut Store<Guest>, call: Call, context: Context) -> wasmtime::Result<Operation> {
        match self {
            Pre::V0_1(pre) => v0_1::Operation::begin(pre, store, call, context).map(Operation::V0_1),
        }
    }
}

/// An operation of one of the served versions.
pub(crate) enum Operation {
    V0_1(v0_1::Operation),
}

impl Operation {
    /// One step. Blocks for as long as a step may.
    pub(crate) fn step(&self, store: &mut Store<Guest>, now: u64, inputs: Vec<Input>) -> wasmtime::Result<Turn> {
        match self {
            Operation::V0_1(operation) => operation.step(store, now, inputs),
        }
    }
}
