//! The real component in the real host, in one process: no sockets, and a clock that only moves when nobody has anything
//! to do, so that five minutes of waiting take no time.
//!
//! ```no_run
//! use serde_json::json;
//! use workload_suite::inside::{Inside, Reply, objects, paused, word};
//!
//! // An emulated cluster:
//! paused(async {
//!     let inside = Inside::emulated().await;
//!     inside.make("app", json!({}), &[("start-after", "2s")]).await;
//!     assert_eq!(word(&inside.start(&["ns/app"]).await, "ns/app"), "started");
//!     assert_eq!(inside.count("PATCH", "/scale"), 1);
//! });
//! // A server that says what a test wants:
//! paused(async {
//!     let still = objects::Still::new(objects::deployment(json!({})));
//!     let inside = Inside::scripted(move |asked| match (asked.verb, asked.nth) {
//!         ("GET", 0) => Reply::status(503, "ServiceUnavailable", "later"),
//!         _ => still.answer(asked),
//!     })
//!     .await;
//!     assert_eq!(word(&inside.status(&["ns/app"]).await, "ns/app"), "running available");
//! });
//! ```

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use workload_host::model::{Fault, Ownership, Spec, StopIntent};
use workload_host::transport::{InProcess, TransportLimits};
use workload_host::{Manager, Options, Report, Run};

mod asked;
mod clock;
mod emulated;
mod managers;
pub mod objects;
mod reply;
mod wire;

pub use asked::Asked;
pub use clock::paused;
pub use emulated::Emulated;
pub use managers::{PROVIDER, Setup};
pub use reply::Reply;
pub use wire::{Gate, Point};

use managers::Lease;
use wire::{Server, Wire};

/// A Manager with the Kubernetes provider, and the server that it asks. Clones are the same, apart from how their
/// operations are run.
#[derive(Clone)]
pub struct Inside {
    shared: Arc<Shared>,
    options: Options,
}

struct Shared {
    lease: Lease,
    wire: Arc<Wire>,
    emulated: Option<Emulated>,
}

impl Inside {
    /// On an emulated cluster of its own, whose controllers run, with a namespace `ns`.
    pub async fn emulated() -> Inside {
        Inside::on(Emulated::new(), Setup::default()).await
    }

    /// The same with a cluster that was set up otherwise, and a provider that is given something else.
    pub async fn on(emulated: Emulated, setup: Setup) -> Inside {
        let wire = Wire::new(Server::Emulated(emulated.emulator().clone()));
        Inside::of(Shared { lease: lease(&wire, setup).await, wire, emulated: Some(emulated) })
    }

    /// On a server that answers as the closure says.
    pub async fn scripted(reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Inside {
        Inside::scripted_with(Setup::default(), reply).await
    }

    /// The same with a provider that is given something else.
    pub async fn scripted_with(setup: Setup, reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Inside {
        let wire = Wire::new(Server::scripted(reply));
        Inside::of(Shared { lease: lease(&wire, setup).await, wire, emulated: None })
    }

    /// Another Manager at the same server, as another process would be. What both ask is in one record.
    pub async fn beside(&self, setup: Setup) -> Inside {
        let Shared { wire, emulated, .. } = &*self.shared;
        let (wire, emulated) = (wire.of_another(), emulated.clone());
        Inside::of(Shared { lease: lease(&wire, setup).await, wire, emulated })
    }

    fn of(shared: Shared) -> Inside {
        Inside { shared: Arc::new(shared), options: Options::default() }
    }

    /// The same, whose operations are told to wind down after this time.
    pub fn within(&self, timeout: Duration) -> Inside {
        self.with(Options { timeout: Some(timeout), ..self.options })
    }

    /// The same, whose operations send reads only.
    pub fn planned(&self) -> Inside {
        self.with(Options { plan: true, ..self.options })
    }

    /// The same, whose operations are run so.
    pub fn with(&self, options: Options) -> Inside {
        Inside { shared: Arc::clone(&self.shared), options }
    }

    /// The Manager, to run an operation beside others. Its provider is [`PROVIDER`].
    pub fn manager(&self) -> &Manager {
        self.shared.lease.manager()
    }

    /// The emulated cluster.
    pub fn cluster(&self) -> &Emulated {
        self.shared.emulated.as_ref().expect("this one is not emulated")
    }

    /// Begins a start.
    pub fn starting(&self, ids: &[&str]) -> Run {
        self.manager().start(PROVIDER, owned(ids), self.options)
    }

    /// Begins a stop.
    pub fn stopping(&self, ids: &[&str]) -> Run {
        self.manager().stop(PROVIDER, owned(ids), StopIntent::Preserve, self.options)
    }

    /// Begins a delete.
    pub fn deleting(&self, ids: &[&str]) -> Run {
        self.manager().delete(PROVIDER, owned(ids), StopIntent::Terminal, self.options)
    }

    /// Begins to look.
    pub fn reading(&self, ids: &[&str]) -> Run {
        self.manager().status(PROVIDER, owned(ids), self.options)
    }

    /// Begins to list these places; none for everywhere.
    pub fn listing(&self, places: &[&str]) -> Run {
        self.manager().discover(PROVIDER, owned(places), self.options)
    }

    /// Begins to make what the documents say.
    pub fn creating(&self, specs: &[(&str, Value)]) -> Run {
        let spec = |(id, document): &(&str, Value)| Spec {
            id: (*id).to_owned(),
            document: document.to_string(),
            id_label: None,
        };
        self.manager().create(PROVIDER, specs.iter().map(spec).collect(), self.options)
    }

    /// Starts, to the end.
    pub async fn start(&self, ids: &[&str]) -> Report {
        self.starting(ids).finish().await
    }

    /// Stops, to the end.
    pub async fn stop(&self, ids: &[&str]) -> Report {
        self.stopping(ids).finish().await
    }

    /// Deletes, to the end.
    pub async fn delete(&self, ids: &[&str]) -> Report {
        self.deleting(ids).finish().await
    }

    /// Looks once.
    pub async fn status(&self, ids: &[&str]) -> Report {
        self.reading(ids).finish().await
    }

    /// Lists these places; none for everywhere.
    pub async fn discover(&self, places: &[&str]) -> Report {
        self.listing(places).finish().await
    }

    /// Makes what the documents say.
    pub async fn create(&self, specs: &[(&str, Value)]) -> Report {
        self.creating(specs).finish().await
    }

    /// Makes an owned Deployment `ns/NAME` in the emulated cluster, past the provider: see [`Emulated::make`].
    pub async fn make(&self, name: &str, change: Value, script: &[(&str, &str)]) -> Value {
        self.cluster().make(name, change, script).await
    }

    /// What was asked so far, in order, when it was sent.
    pub fn requests(&self) -> Vec<Asked> {
        self.shared.wire.requests()
    }

    /// The same in a word or two each, e.g. `GET app`, `LIST pods`, `WATCH deployments`, `PATCH app/scale`.
    pub fn words(&self) -> Vec<String> {
        self.requests().iter().map(Asked::word).collect()
    }

    /// How many requests there were with this verb ([`Asked::verb`]) whose path ends so.
    pub fn count(&self, verb: &str, path: &str) -> usize {
        self.requests().iter().filter(|asked| asked.verb == verb && asked.path.ends_with(path)).count()
    }

    /// What was answered so far, with its code, in the order in which the server did: that in which writes took effect.
    pub fn answered(&self) -> Vec<(Asked, u16)> {
        self.shared.wire.answered()
    }

    /// The requests that change something.
    pub fn writes(&self) -> Vec<Asked> {
        self.requests().into_iter().filter(Asked::writes).collect()
    }

    /// Forgets what was asked so far; times go on.
    pub fn forget(&self) {
        self.shared.wire.forget();
    }

    /// Since this was made, by the clock that is paused.
    pub fn now(&self) -> Duration {
        self.shared.wire.now()
    }

    /// Holds requests or their answers up: `gate` is asked for each, before it is sent and after it was answered.
    pub fn gate(&self, gate: impl Fn(Point, &Asked) -> Gate + Send + Sync + 'static) {
        self.shared.wire.set_gate(Arc::new(gate));
    }
}

async fn lease(wire: &Arc<Wire>, setup: Setup) -> Lease {
    let upstream = InProcess::new(Arc::clone(wire) as _, TransportLimits::default());
    Lease::take(setup, Arc::new(upstream)).await
}

fn owned(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

/// How the emulated workloads and [`objects`] are told to be ours: prefix `workload-provider`, owner `default`.
pub fn ownership() -> Ownership {
    Ownership::new("workload-provider", "default")
}

/// How an id ended.
///
/// # Errors
/// With which fault.
#[track_caller]
pub fn outcome<'a>(report: &'a Report, id: &str) -> Result<&'a workload_host::model::Outcome, &'a Fault> {
    let mut ends = report.settled.iter().filter(|settled| settled.id == id);
    match (ends.next(), ends.next()) {
        (Some(settled), None) => settled.result.as_ref(),
        _ => panic!("{id} did not end once: {report:#?}"),
    }
}

/// How an id ended, in a word: `started`, `already-running`, ..., of a status `STATUS REASON`, or the kind of its fault.
#[track_caller]
pub fn word(report: &Report, id: &str) -> String {
    use workload_host::model::OutcomeWord::Read;
    match outcome(report, id) {
        Ok(outcome) => match (outcome.word, &outcome.workload) {
            (Read, Some(workload)) => format!("{} {}", workload.status, workload.reason),
            (word, _) => word.to_string(),
        },
        Err(fault) => fault.kind.to_string(),
    }
}

/// The fault that an id ended with.
#[track_caller]
pub fn fault<'a>(report: &'a Report, id: &str) -> &'a Fault {
    outcome(report, id).expect_err("it ended with a fault")
}
