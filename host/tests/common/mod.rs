//! A Manager with a hostile provider and an upstream in memory that records what reaches it.
//!
//! A paused clock runs ahead whenever the test's thread has nothing to do, so also while a step runs on its own thread.
//! It is for tests in which only the order of the operation's own timers counts.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]
#![allow(dead_code, reason = "each test program uses a part of it")]

#[path = "../../src/testing.rs"]
mod testing;

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::{FutureExt as _, StreamExt as _, stream};
pub(crate) use testing::until;
use tokio::sync::Notify;
use workload_host::manager::MemoryProbe;
use workload_host::model::{Failure, Fault, FaultKind, Media, Ownership, Report, Status};
use workload_host::upstream::{Incoming, Outgoing, Upstream};
use workload_host::{AuditEvent, AuditSink, Limits, Manager, Options, Places, Provider, Settings, Source};

/// What the upstream does with a request.
#[derive(Clone)]
pub enum Reply {
    Json(u16, &'static str),
    Body(Vec<u8>),
    Fail(Failure),
    /// The head of the answer never comes.
    Never,
    /// A fine answer, once this was notified.
    When(Arc<Notify>),
    /// The head comes, the body never ends.
    NeverEnds,
}

type Answer = dyn Fn(&Outgoing) -> Reply + Send + Sync;

/// An upstream in memory.
pub struct Fake {
    answer: Box<Answer>,
    pub requests: Mutex<Vec<Outgoing>>,
    /// Requests that have not been answered to the end, nor dropped.
    pub live: Arc<AtomicUsize>,
    pub most_live: Arc<AtomicUsize>,
}

struct Live(Arc<AtomicUsize>);

impl Drop for Live {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Fake {
    pub fn new(answer: impl Fn(&Outgoing) -> Reply + Send + Sync + 'static) -> Arc<Fake> {
        Arc::new(Fake {
            answer: Box::new(answer),
            requests: Mutex::default(),
            live: Arc::default(),
            most_live: Arc::default(),
        })
    }

    /// One that finds everything.
    pub fn fine() -> Arc<Fake> {
        Fake::new(|_| Reply::Json(200, r#"{"kind":"Deployment"}"#))
    }

    pub fn targets(&self) -> Vec<String> {
        self.requests.lock().unwrap().iter().map(|request| request.target.clone()).collect()
    }

    pub fn live(&self) -> usize {
        self.live.load(Ordering::SeqCst)
    }
}

impl Upstream for Fake {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let reply = (self.answer)(&request);
        self.requests.lock().unwrap().push(request);
        let now = self.live.fetch_add(1, Ordering::SeqCst) + 1;
        self.most_live.fetch_max(now, Ordering::SeqCst);
        let live = Live(Arc::clone(&self.live));
        async move {
            // Answers of a real engine are never there at once.
            tokio::task::yield_now().await;
            let (status, body) = match reply {
                Reply::Json(status, text) => (status, Bytes::from_static(text.as_bytes())),
                Reply::Body(bytes) => (200, Bytes::from(bytes)),
                Reply::Fail(failure) => return Err(failure),
                Reply::Never => std::future::pending().await,
                Reply::When(gate) => {
                    gate.notified().await;
                    (200, Bytes::from_static(b"{}"))
                }
                Reply::NeverEnds => {
                    let body = stream::pending().map(move |chunk| {
                        let _ = &live;
                        chunk
                    });
                    return Ok(incoming(200, body.boxed()));
                }
            };
            let body = stream::once(async move {
                let _live = live;
                Ok(body)
            });
            Ok(incoming(status, body.boxed()))
        }
        .boxed()
    }
}

fn incoming(status: u16, body: stream::BoxStream<'static, Result<Bytes, Failure>>) -> Incoming {
    Incoming { status, retry_after_ms: None, date_ms: None, headers: Vec::new(), media: Some(Media::Json), body }
}

/// Keeps every record.
#[derive(Default)]
pub struct Records(Mutex<Vec<AuditEvent>>);

impl Records {
    pub fn take(&self) -> Vec<AuditEvent> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

impl AuditSink for Records {
    fn record(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(event);
    }
}

/// A finished component. The Makefile builds them; a test without its component proves nothing, so it fails.
pub fn component(name: &str) -> Source {
    let folder = std::env::var_os("WORKLOAD_COMPONENTS").expect("WORKLOAD_COMPONENTS is set by .cargo/config.toml");
    let path = PathBuf::from(folder).join(format!("{name}.wasm"));
    assert!(path.exists(), "{} is missing: run `make components`", path.display());
    Source::File(path)
}

/// Few instances: many tests run at once, and each has a pool.
pub fn limits() -> Limits {
    Limits { instances: 8, ..Limits::default() }
}

pub struct Host {
    pub manager: Manager,
    pub upstream: Arc<Fake>,
    pub records: Arc<Records>,
}

impl Host {
    /// A Manager without a provider.
    pub fn new(limits: Limits, upstream: Arc<Fake>) -> Host {
        Host::of(Settings { limits, ..Settings::default() }, upstream)
    }

    /// One that shows the memories of its providers.
    pub fn probed(limits: Limits, upstream: Arc<Fake>, probe: MemoryProbe) -> Host {
        Host::of(Settings { limits, memory_probe: Some(probe), ..Settings::default() }, upstream)
    }

    fn of(settings: Settings, upstream: Arc<Fake>) -> Host {
        let records = Arc::<Records>::default();
        let settings = Settings { audit: records.clone(), ..settings };
        let manager = Manager::new(settings).expect("a sandbox");
        Host { manager, upstream, records }
    }

    /// The same with the scripted provider, under the behaviour's name.
    pub async fn with(self, behaviours: &[&str]) -> Host {
        for behaviour in behaviours {
            self.load(behaviour, &[("behaviour", behaviour)]).await;
        }
        self
    }

    pub async fn load(&self, name: &str, settings: &[(&str, &str)]) {
        let loaded = self.manager.load(name, component("hostile-script"), self.provider(settings)).await;
        loaded.expect("a component that loads");
    }

    pub fn provider(&self, settings: &[(&str, &str)]) -> Provider {
        Provider {
            upstream: self.upstream.clone(),
            given: vec!["*".to_owned()],
            places: Places::only(["default"]),
            ownership: ownership(),
            settings: settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    pub async fn start(&self, behaviour: &str, ids: &[&str]) -> Report {
        self.manager.start(behaviour, self::ids(ids), Options::default()).finish().await
    }

    /// A normal operation of the same Manager.
    pub async fn works(&self) {
        self.load("good", &[("behaviour", "good")]).await;
        let report = self.start("good", &["default/web"]).await;
        let settled = &report.settled[0];
        let outcome = settled.result.as_ref().expect("an outcome");
        assert_eq!(outcome.workload.as_ref().expect("a workload").status, Status::Running);
        assert_eq!(report.fault, None);
        self.is_empty().await;
    }

    /// Lets others run until this many requests have reached the upstream.
    pub async fn reached(&self, requests: usize) {
        let what = format!("{requests} requests have reached the upstream");
        until(&what, || self.upstream.requests.lock().unwrap().len() >= requests).await;
    }

    /// Lets others run until this many instances are live.
    pub async fn lives(&self, instances: usize) {
        until(&format!("{instances} instances are live"), || self.manager.live() >= instances).await;
    }

    /// Nothing is left of any operation.
    pub async fn is_empty(&self) {
        // What was dropped in the middle of a step is gone when that step has ended.
        until("nothing is live", || self.manager.live() == 0 && self.upstream.live() == 0).await;
    }
}

pub fn ownership() -> Ownership {
    Ownership::new("workload-provider", "default")
}

pub fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

/// The one fault of a report with one id.
pub fn fault(report: &Report) -> &Fault {
    assert_eq!(report.settled.len(), 1, "{report:?}");
    report.settled[0].result.as_ref().expect_err("a fault")
}

/// A fault of the provider with this cause, and what its message must say.
pub fn assert_broken(report: &Report, cause: &str, says: &str) {
    for settled in &report.settled {
        let fault = settled.result.as_ref().expect_err("a fault");
        assert_eq!(fault.kind, FaultKind::ProviderFault, "{fault:?}");
        assert_eq!(fault.detail.first(), Some(&("cause".to_owned(), cause.to_owned())), "{fault:?}");
        assert!(fault.message.contains(says), "{fault:?}");
    }
    let whole = report.fault.as_ref().expect("the operation as a whole failed");
    assert_eq!(whole.kind, FaultKind::ProviderFault);
}

/// A fact of the one workload that was reported.
pub fn fact<'a>(report: &'a Report, name: &str) -> Option<&'a str> {
    let outcome = report.settled.first().expect("a result").result.as_ref().expect("an outcome");
    let facts = &outcome.workload.as_ref().expect("a workload").facts;
    facts.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}

/// A detail of a fault.
pub fn detail<'a>(fault: &'a Fault, name: &str) -> Option<&'a str> {
    fault.detail.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
}
