//! Drives a provider's operation against a closure: natively, without wasm, without a clock, always the same way.
//!
//! The closure is called once for each effect but a sleep, in the order of asking, and says what comes of it. Time
//! stands still while anything can go on, and then jumps to what comes next: the end of a sleep, a delayed answer, a
//! stop, the deadline. As the host does, a run drops an operation that is told to stop and does not end in time.
//!
//! ```
//! # use workload_guest::*;
//! # struct Lamps;
//! # impl Provider for Lamps {
//! #     fn describe() -> Descriptor { unreachable!() }
//! #     fn new(_: Operation) -> Self { Lamps }
//! #     async fn discover(&self, _: Cx, _: Scope, _: bool) {}
//! #     async fn status(&self, cx: Cx, id: String, _: bool) -> Result<Outcome, Fault> {
//! #         cx.sleep(1000).await?;
//! #         cx.http(Request::get(["lamps", &id])).await?;
//! #         Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: None })
//! #     }
//! # }
//! use workload_guest::testing::{Asked, Call, End, Options, json, run};
//!
//! let run = run::<Lamps>(Call::Status(vec!["hall".into()], false), Options::default(), |asked: &Asked| {
//!     assert_eq!(asked.path(), "lamps/hall");
//!     json(200, r#"{"on":true}"#)
//! });
//! assert_eq!(run.end, End::Finished);
//! assert_eq!(run.now, 1000);
//! assert!(run.outcome("hall").is_some());
//! ```

mod drive;

use std::fmt;
use std::rc::Rc;

pub use crate::machine::Call;
use crate::machine::Machine;
use crate::{
    Answer, Context, Effect, Event, ExecResult, Failure, Fault, Label, Media, Method, Outcome, Ownership, Provider,
    Request, Response, StopReason, Turn, Workload,
};

/// After a stop for all the host waits this many milliseconds for the operation to end.
pub const GRACE_MS: u64 = 2_000;

/// The same while it says that it is cleaning.
pub const CLEANING_GRACE_MS: u64 = 60_000;

/// No test needs more; an operation that does goes round in circles.
pub const MOST_STEPS: usize = 10_000;

/// Runs an operation to its end, answering each of its effects as `reply` says.
pub fn run<P: Provider>(call: Call, options: Options, mut reply: impl FnMut(&Asked) -> Reply) -> Run {
    drive::drive(&Stepper::new::<P>(call, &options), options, &mut reply)
}

/// An operation to be stepped by hand, for tests of single turns.
pub struct Stepper(Machine);

impl Stepper {
    /// Begins an operation. Its first step has no events.
    pub fn new<P: Provider>(call: Call, options: &Options) -> Self {
        Self(Machine::begin::<P>(options.context(), call))
    }

    /// One step, as the host makes it.
    pub fn step(&self, now: u64, events: Vec<Event>) -> Turn {
        self.0.step(now, events)
    }
}

impl fmt::Debug for Stepper {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stepper").finish_non_exhaustive()
    }
}

/// What the operation is given, and when it is told to stop.
#[derive(Clone, Debug)]
pub struct Options {
    /// How what is ours is told from what is not.
    pub ownership: Ownership,
    /// The provider's settings.
    pub settings: Vec<(String, String)>,
    /// The only entropy.
    pub seed: Vec<u8>,
    /// When a stop for all comes by itself, in milliseconds.
    pub deadline: Option<u64>,
    /// Only what would be sent is asked for.
    pub plan: bool,
    /// The host's records, by id.
    pub records: Vec<(String, Vec<u8>)>,
    /// Stops besides that of the deadline.
    pub stops: Vec<Stop>,
}

impl Default for Options {
    /// The owner `default` with the usual labels, no settings or records, a fixed seed, five minutes, no stop.
    fn default() -> Self {
        let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
        Self {
            ownership: Ownership {
                owner: "default".to_owned(),
                labels: vec![label("workload-provider/managed", "true"), label("workload-provider/owner", "default")],
                id_key: "workload-provider/id".to_owned(),
            },
            settings: Vec::new(),
            seed: (0..32).collect(),
            deadline: Some(300_000),
            plan: false,
            records: Vec::new(),
            stops: Vec::new(),
        }
    }
}

impl Options {
    /// Adds a setting.
    #[must_use]
    pub fn setting(mut self, name: &str, value: &str) -> Self {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds a stop for one id or, with None, for all.
    #[must_use]
    pub fn stop(mut self, when: When, id: Option<&str>, reason: StopReason) -> Self {
        self.stops.push(Stop { when, id: id.map(str::to_owned), reason });
        self
    }

    /// What the provider is given of this.
    pub fn context(&self) -> Context {
        Context {
            deadline: self.deadline,
            plan: self.plan,
            ownership: self.ownership.clone(),
            settings: self.settings.clone(),
            seed: self.seed.clone(),
            records: self.records.clone(),
        }
    }
}

/// A stop to be given.
#[derive(Clone, Debug)]
pub struct Stop {
    /// When.
    pub when: When,
    /// For this id; none means all.
    pub id: Option<String>,
    /// Why.
    pub reason: StopReason,
}

/// When a stop is given: once, before any answer of the same step.
#[derive(Clone)]
pub enum When {
    /// In this step; the first is 0.
    Step(usize),
    /// At this time, in milliseconds.
    At(u64),
    /// In the step after an effect was asked of which this is true.
    Asked(Rc<dyn Fn(&Asked) -> bool>),
}

impl When {
    /// In the step after an effect was asked of which this is true.
    pub fn asked(test: impl Fn(&Asked) -> bool + 'static) -> Self {
        Self::Asked(Rc::new(test))
    }
}

impl fmt::Debug for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Step(step) => f.debug_tuple("Step").field(step).finish(),
            Self::At(ms) => f.debug_tuple("At").field(ms).finish(),
            Self::Asked(_) => f.debug_tuple("Asked").finish(),
        }
    }
}

/// An effect that was asked for.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// The number the operation gave it.
    pub id: u32,
    /// The workload it is for; none if several share it.
    pub for_id: Option<String>,
    /// The time of the step, in milliseconds.
    pub now: u64,
    /// What was asked.
    pub effect: Effect,
}

impl Asked {
    /// The request, if it is one.
    pub fn request(&self) -> Option<&Request> {
        match &self.effect {
            Effect::Http(request) => Some(request),
            _ => None,
        }
    }

    /// Its method, if it is a request.
    pub fn method(&self) -> Option<Method> {
        self.request().map(|request| request.method)
    }

    /// The segments of its path with `/` between; empty if it is no request.
    pub fn path(&self) -> String {
        self.request().map(|request| request.segments.join("/")).unwrap_or_default()
    }

    /// A query parameter of it.
    pub fn query(&self, key: &str) -> Option<&str> {
        let mut pairs = self.request()?.query.iter();
        pairs.find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The bytes of its body.
    pub fn body(&self) -> Option<&[u8]> {
        self.request()?.body.as_ref().map(|body| body.bytes.as_slice())
    }
}

/// What comes of an effect.
#[derive(Clone, Debug)]
pub enum Reply {
    /// A whole response.
    Respond(Response),
    /// A response in parts, one a step; the last is marked as such.
    Parts(Vec<Response>),
    /// Parts of a stream, one a step, after which it stays open.
    Open(Vec<Response>),
    /// No answer but a failure.
    Fail(Failure),
    /// It stays outstanding.
    Never,
    /// What a command gave.
    Exec(ExecResult),
    /// The handle of a forward.
    Forward(u32),
    /// It is done.
    Done,
    /// The same, so many milliseconds later.
    After(u64, Box<Reply>),
    /// Any answers, each so many milliseconds after the effect was asked for.
    Script(Vec<(u64, Answer)>),
}

impl From<Response> for Reply {
    fn from(response: Response) -> Self {
        Self::Respond(response)
    }
}

impl From<Failure> for Reply {
    fn from(failure: Failure) -> Self {
        Self::Fail(failure)
    }
}

/// A whole response of JSON: anything that prints as such.
pub fn json(status: u16, value: impl fmt::Display) -> Reply {
    Reply::Respond(Response { media: Some(Media::Json), ..response(status, value.to_string()) })
}

/// A whole response of text.
pub fn text(status: u16, text: impl Into<String>) -> Reply {
    Reply::Respond(Response { media: Some(Media::Text), ..response(status, text.into()) })
}

/// A response, or a part of one, of which nothing is known but its status and bytes.
pub fn response(status: u16, bytes: impl Into<Vec<u8>>) -> Response {
    Response {
        status,
        retry_after_ms: None,
        date_ms: None,
        headers: Vec::new(),
        media: None,
        bytes: bytes.into(),
        last: true,
    }
}

/// How a run ended.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum End {
    /// The operation said so.
    Finished,
    /// It waits for what will never be answered.
    Waiting,
    /// It waits for nothing: the host would call this a fault of the provider.
    Stalled,
    /// It was told to stop and did not end within the time the host gives for it.
    Dropped,
    /// It took more than [`MOST_STEPS`].
    Endless,
}

/// What an operation did.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// How it ended.
    pub end: End,
    /// The time at the end, in milliseconds.
    pub now: u64,
    /// Each id's result, in the order of settling.
    pub settled: Vec<(String, Result<Outcome, Fault>)>,
    /// What was emitted.
    pub emitted: Vec<Workload>,
    /// Places that could not be read.
    pub incomplete: Vec<(String, Fault)>,
    /// What was said of progress, by id.
    pub progress: Vec<(String, String)>,
    /// Every effect, in the order of asking.
    pub asked: Vec<Asked>,
    /// Effects that were taken back.
    pub dropped: Vec<u32>,
    /// Every turn, as it was given.
    pub turns: Vec<Turn>,
}

impl Run {
    /// How an id ended.
    pub fn result(&self, id: &str) -> Option<&Result<Outcome, Fault>> {
        self.settled.iter().find(|(settled, _)| settled == id).map(|(_, result)| result)
    }

    /// How an id ended well.
    pub fn outcome(&self, id: &str) -> Option<&Outcome> {
        self.result(id)?.as_ref().ok()
    }

    /// How an id failed.
    pub fn fault(&self, id: &str) -> Option<&Fault> {
        self.result(id)?.as_ref().err()
    }

    /// The requests, in the order of asking.
    pub fn requests(&self) -> impl Iterator<Item = &Request> {
        self.asked.iter().filter_map(Asked::request)
    }

    /// What an id last said it waits for.
    pub fn last_progress(&self, id: &str) -> Option<&str> {
        let mut said = self.progress.iter().rev();
        said.find(|(of, _)| of == id).map(|(_, text)| text.as_str())
    }
}
