//! What is between a Manager and the server: it records, and holds up what a test wants held up.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::BodyExt as _;
use jiff::Timestamp;
use kube_emulator::Emulator;
use kube_emulator::call::User;
use kube_emulator::fault::Broken;
use tokio::time::Instant;
use workload_host::model::Failure;
use workload_host::transport::{Handler, HandlerBody};

use super::{Asked, Reply};

/// When the paused clock begins, by the servers' own clocks.
pub(super) const WALL: &str = "2026-07-01T12:00:00Z";

/// Where a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Point {
    /// On its way to the server.
    Asked,
    /// The server has done what it does; the answer is on its way back.
    Answered,
}

/// How long something is held up: until the future ends. None: it is not.
pub type Gate = Option<BoxFuture<'static, ()>>;

type Gates = Arc<dyn Fn(Point, &Asked) -> Gate + Send + Sync>;
type Script = Box<dyn FnMut(&Asked) -> Reply + Send>;

pub(super) enum Server {
    Emulated(Emulator),
    Scripted(Mutex<Script>),
}

impl Server {
    pub(super) fn scripted(reply: impl FnMut(&Asked) -> Reply + Send + 'static) -> Server {
        Server::Scripted(Mutex::new(Box::new(reply)))
    }
}

pub(super) struct Wire {
    shared: Arc<Shared>,
    /// Which Manager this is of.
    by: usize,
}

struct Shared {
    server: Server,
    began: Instant,
    asked: Mutex<Vec<Asked>>,
    answered: Mutex<Vec<(usize, u16)>>,
    gate: Mutex<Option<Gates>>,
    managers: AtomicUsize,
}

// A test that panicked has failed already.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Wire {
    pub(super) fn new(server: Server) -> Arc<Wire> {
        let shared = Shared {
            server,
            began: Instant::now(),
            asked: Mutex::default(),
            answered: Mutex::default(),
            gate: Mutex::default(),
            managers: AtomicUsize::new(1),
        };
        Arc::new(Wire { shared: Arc::new(shared), by: 0 })
    }

    pub(super) fn of_another(&self) -> Arc<Wire> {
        let by = self.shared.managers.fetch_add(1, Ordering::Relaxed);
        Arc::new(Wire { shared: Arc::clone(&self.shared), by })
    }

    pub(super) fn requests(&self) -> Vec<Asked> {
        lock(&self.shared.asked).clone()
    }

    pub(super) fn answered(&self) -> Vec<(Asked, u16)> {
        let asked = self.requests();
        let answered = lock(&self.shared.answered).clone();
        answered.into_iter().filter_map(|(number, code)| Some((asked.get(number)?.clone(), code))).collect()
    }

    pub(super) fn forget(&self) {
        lock(&self.shared.answered).clear();
        lock(&self.shared.asked).clear();
    }

    pub(super) fn now(&self) -> Duration {
        self.shared.began.elapsed()
    }

    pub(super) fn set_gate(&self, gate: Gates) {
        *lock(&self.shared.gate) = Some(gate);
    }
}

impl Shared {
    fn record(&self, mut asked: Asked) -> Asked {
        let mut all = lock(&self.asked);
        asked.number = all.len();
        asked.nth = all.iter().filter(|other| other.verb == asked.verb && other.path == asked.path).count();
        all.push(asked.clone());
        asked
    }

    async fn hold(&self, point: Point, asked: &Asked) {
        let gate = lock(&self.gate).clone();
        if let Some(held) = gate.and_then(|gate| gate(point, asked)) {
            held.await;
        }
    }

    async fn exchange(&self, asked: &Asked, request: http::Request<Bytes>) -> Answer {
        match &self.server {
            Server::Scripted(script) => {
                let reply = (lock(script))(asked);
                let began = self.began;
                reply.into_answer(move || date(began.elapsed())).await
            }
            Server::Emulated(emulator) => {
                let admin = User::authenticated("admin", &["system:masters"]);
                match emulator.answer(request, Some(admin)).await {
                    Ok(response) => Ok(response.map(|body| body.map_err(Into::into).boxed_unsync())),
                    Err(broken) => Err(failure(&broken)),
                }
            }
        }
    }
}

type Answer = Result<http::Response<HandlerBody>, Failure>;

impl Handler for Wire {
    fn answer(&self, request: http::Request<Bytes>) -> BoxFuture<'static, Answer> {
        let (shared, by) = (Arc::clone(&self.shared), self.by);
        async move {
            let asked = shared.record(Asked::of(&request, by, shared.began.elapsed()));
            shared.hold(Point::Asked, &asked).await;
            let answer = shared.exchange(&asked, request).await;
            if let Ok(response) = &answer {
                lock(&shared.answered).push((asked.number, response.status().as_u16()));
            }
            shared.hold(Point::Answered, &asked).await;
            answer
        }
        .boxed()
    }
}

/// What the transport makes of a connection that ends so before there is an answer.
fn failure(broken: &Broken) -> Failure {
    match broken {
        Broken::Refused => Failure::Unreachable,
        Broken::Reset | Broken::Closed | Broken::HalfOpen => Failure::Lost,
        Broken::Garbage(_) => Failure::BadResponse,
    }
}

pub(super) fn wall() -> Timestamp {
    WALL.parse().expect("a time")
}

fn date(since: Duration) -> String {
    (wall() + since).strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
}
