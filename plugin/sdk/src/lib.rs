//! Write a workload provider as plain `async fn`; this crate makes steps of it.
//!
//! A provider says which requests to make and what the answers mean. It sends nothing itself: every effect it awaits
//! is handed to the host as data, and its answer comes in a later step. An author writes for one workload; the ids of
//! an operation run side by side, each settled exactly once, and one that fails stops no other.
//!
//! - [`Provider`] is what to implement, [`export!`] makes a component of it.
//! - [`Cx`] is one workload's handle: its effects, what it reports, and whether it has been told to stop.
//! - [`Operation`] is what all ids share: the context, the clock, [`Operation::shared`] reads and
//!   [`Operation::spawn`]ed work.
//! - [`join`], [`join_all`], [`select`] and [`Cx::timeout`] wait for several things at once, [`Signal`] for one another.
//! - `testing` (not on wasm32) drives an operation against a closure, without wasm and without a clock.
//!
//! An effect is a future: asked for at its first poll, dropped with the future, which tells the host. Nothing here
//! reads a clock or makes a random number, so the same inputs give the same turns, byte for byte.
//!
//! # Winding down
//!
//! When the host sends a stop for a workload, what it still *reads* (a GET, a sleep, a stream, the opening of a forward)
//! fails at once with [`Failure::Cancelled`], so that `?` unwinds. A write in flight goes on until its answer, but no
//! new one is begun. What must be finished even so goes into [`Cx::cleanup`].
//!
//! # Example
//!
//! A complete provider for an engine whose things are switched on with a PUT:
//!
//! ```
//! use workload_guest::*;
//!
//! struct Lamps;
//!
//! async fn read(cx: &Cx, id: &str) -> Result<Workload, Fault> {
//!     let answer = cx.http(Request::get(["lamps", id])).await?;
//!     let status = match answer.status {
//!         200 if answer.bytes == b"on" => Status::Running,
//!         200 => Status::Offline,
//!         404 => return Err(Fault::new(FaultKind::NotFound, "no such lamp")),
//!         other => return Err(Fault::new(FaultKind::Unavailable, "no usable answer").with("code", other)),
//!     };
//!     Ok(Workload { kind: "Lamp".into(), settled: true, ..Workload::named(id, status, "available") })
//! }
//!
//! impl Provider for Lamps {
//!     fn describe() -> Descriptor {
//!         Descriptor {
//!             name: "lamps".into(),
//!             version: "1.0.0".into(),
//!             engine: "lamps".into(),
//!             asks: vec!["lamps:get".into(), "lamps:put".into()],
//!             spec_schema: "{}".into(),
//!         }
//!     }
//!     fn new(_operation: Operation) -> Self {
//!         Lamps
//!     }
//!     async fn discover(&self, _cx: Cx, _scope: Scope, _follow: bool) {}
//!     async fn status(&self, cx: Cx, id: String, _follow: bool) -> Result<Outcome, Fault> {
//!         let workload = read(&cx, &id).await?;
//!         Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: Some(workload) })
//!     }
//!     async fn start(&self, cx: Cx, id: String) -> Result<Outcome, Fault> {
//!         let workload = read(&cx, &id).await?;
//!         if workload.status == Status::Running {
//!             return Ok(Outcome { word: OutcomeWord::AlreadyRunning, changed: false, workload: Some(workload) });
//!         }
//!         cx.progress("waiting for the lamp");
//!         cx.http(Request::new(Method::Put, ["lamps", &id]).with_body(Media::Text, "on")).await?;
//!         let workload = read(&cx, &id).await?;
//!         Ok(Outcome { word: OutcomeWord::Started, changed: true, workload: Some(workload) })
//!     }
//! }
//!
//! #[cfg(target_arch = "wasm32")]
//! workload_guest::export!(Lamps);
//!
//! # #[cfg(not(target_arch = "wasm32"))] {
//! use workload_guest::testing::{Asked, Call, Options, run, text};
//! let mut on = false;
//! let run = run::<Lamps>(Call::Start(vec!["hall".into()]), Options::default(), |asked: &Asked| {
//!     on |= asked.method() == Some(Method::Put);
//!     text(200, if on { "on" } else { "off" })
//! });
//! assert_eq!(run.outcome("hall").map(|outcome| outcome.word), Some(OutcomeWord::Started));
//! # }
//! ```

/// The boundary as generated, for what is below this crate: [`export!`], and tests that break its rules.
pub mod bindings;

mod combine;
mod component;
mod core;
mod cx;
mod effects;
mod machine;
mod operation;
mod provider;
mod signal;
mod table;
mod tasks;
mod words;

#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use bindings::exports::workload::provider::lifecycle::{
    Context, Descriptor, Event, Label, Ownership, StopNotice, StopReason, Turn,
};
pub use bindings::workload::provider::effects::{
    Answer, Body, Call, Effect, Exec, ExecResult, Exit, Failure, Forward, Media, Method, Part, Pending, Request,
    Response, Secret,
};
pub use bindings::workload::provider::types::{
    Fault, FaultKind, Instant, Outcome, OutcomeWord, Retention, Scope, Spec, Status, StopIntent, Workload,
};
pub use combine::{Either, join, join_all, select, yield_now};
#[doc(hidden)]
pub use component::Component;
pub use cx::Cx;
pub use effects::Stream;
pub use operation::{Operation, Task};
pub use provider::Provider;
pub use signal::{Raised, Signal};
pub use words::fault;
