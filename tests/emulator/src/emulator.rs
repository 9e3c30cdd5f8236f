//! The emulator as a whole, with or without a listener.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use futures_util::stream;
use http::header::{DATE, HeaderValue};
use http::{Request, Response};
use http_body_util::{BodyExt, Full, StreamBody};
use jiff::Timestamp;

use crate::api;
use crate::call::{Body, User};
use crate::clock::Clock;
use crate::controllers::{self, Parts};
use crate::error::ApiError;
use crate::fault::{Broken, Faults, Outages, Streamed};
use crate::identity::{Certificate, Identities};
use crate::pattern::Asked;
use crate::record::{self, Outcome, Record};
use crate::scenario::{Scenario, ScenarioError};
use crate::state::State;

/// The largest body of a request that the server reads.
pub(crate) const LARGEST_BODY: usize = 3 << 20;

/// How an emulator starts.
#[derive(Debug, Default)]
pub struct Options {
    /// With the same seed and the same requests the same names and uids come out.
    pub seed: u64,
    /// What the cluster holds at the start, how its images behave, and what goes wrong.
    pub scenario: Scenario,
    /// The wall time at the start; that of the machine if not said.
    pub wall: Option<Timestamp>,
    /// How many bytes of requests the record holds; [`record::LIMIT`] if not said.
    pub record: Option<usize>,
}

/// A cluster in memory. Clones are the same one.
#[derive(Debug, Clone)]
pub struct Emulator {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    state: Arc<State>,
    identities: Identities,
    faults: Faults,
    record: Record,
    connections: AtomicU64,
    controllers: Mutex<Controllers>,
}

/// What runs of the controllers.
#[derive(Debug)]
struct Controllers {
    /// How many want them to run.
    wanted: usize,
    /// Which of them may.
    parts: Parts,
    running: Option<(Parts, controllers::Running)>,
}

/// A request as it came.
#[derive(Debug)]
pub(crate) struct Came {
    /// The connection that it came on.
    pub connection: Option<u64>,
    /// Its bytes.
    pub raw: Bytes,
    /// What was shown when the connection was made.
    pub certificate: Certificate,
}

impl Default for Emulator {
    fn default() -> Emulator {
        // Without a scenario there are no objects that could be refused.
        let clock = Clock::starting_at(Timestamp::now());
        Emulator::of(State::prepared(clock, 0, Scenario::default()), record::LIMIT)
    }
}

impl Emulator {
    /// A new cluster. Its controllers do not run yet.
    ///
    /// # Errors
    /// When an object of the scenario is refused.
    pub fn new(options: Options) -> Result<Emulator, ScenarioError> {
        let clock = Clock::starting_at(options.wall.unwrap_or_else(Timestamp::now));
        let state = State::start(clock, options.seed, options.scenario)?;
        Ok(Emulator::of(state, options.record.unwrap_or(record::LIMIT)))
    }

    fn of(state: State, record: usize) -> Emulator {
        let faults = Faults::default();
        for rule in &state.scenario.faults {
            faults.add(rule.clone());
        }
        Emulator {
            inner: Arc::new(Inner {
                state: Arc::new(state),
                identities: Identities::default(),
                faults,
                record: Record::new(record),
                connections: AtomicU64::new(0),
                controllers: Mutex::new(Controllers { wanted: 0, parts: Parts::ALL, running: None }),
            }),
        }
    }

    /// The objects and the clock.
    pub fn state(&self) -> &Arc<State> {
        &self.inner.state
    }

    /// What goes wrong.
    pub fn faults(&self) -> &Faults {
        &self.inner.faults
    }

    /// What was asked.
    pub fn record(&self) -> &Record {
        &self.inner.record
    }

    /// The tokens and certificates that are known.
    pub fn identities(&self) -> &Identities {
        &self.inner.identities
    }

    pub(crate) fn next_connection(&self) -> u64 {
        self.inner.connections.fetch_add(1, Ordering::Relaxed)
    }

    /// Waits until something holds; it is looked at after every change of an object.
    pub async fn until(&self, mut holds: impl FnMut(&State) -> bool) {
        let mut news = self.inner.state.store.any_news();
        // The sender is held by `self`, so this cannot fail.
        let _ = news.wait_for(|_| holds(&self.inner.state)).await;
    }

    /// Answers a request without any connection, as one that would have come with this certificate. A token in its
    /// headers is looked at as well.
    ///
    /// # Errors
    /// When something was to go wrong with the connection. A body can fail in the same way.
    pub async fn answer(
        &self,
        request: Request<Bytes>,
        certificate: Option<User>,
    ) -> Result<Response<Streamed>, Broken> {
        let raw = record::put_together(&request);
        let came = Came { connection: None, raw, certificate: certificate.into() };
        let mut outages = self.faults().outages();
        let result = tokio::select! {
            biased;
            result = self.exchange(request, came) => result,
            () = outages.next() => Err(Broken::Reset),
        };
        match result {
            Ok(response) => Ok(response.map(|body| until_gone(body, outages))),
            Err(Broken::HalfOpen) => {
                outages.next().await;
                Err(Broken::Reset)
            }
            Err(broken) => Err(broken),
        }
    }

    /// Records, authenticates and answers a request, and lets go wrong what is to go wrong.
    pub(crate) async fn exchange(&self, request: Request<Bytes>, came: Came) -> Result<Response<Streamed>, Broken> {
        let Inner { state, identities, faults, record, .. } = &*self.inner;
        let user = identities.authenticate(request.headers(), &came.certificate);
        let asked = Asked::of(&request, user.as_ref().map(|user| user.name.as_str()).unwrap_or_default());
        let body = request.body().clone();
        let number = record.arrived(state.clock.wall(), came.connection, asked.clone(), came.raw, body, Outcome::Open);
        let result = faults.apply(&asked, || dated(state, answer(state, user, &request))).await;
        record.ended(
            number,
            match &result {
                Ok(response) => Outcome::Answered(response.status().as_u16()),
                Err(broken) => Outcome::Broken(broken.clone()),
            },
        );
        result
    }

    /// Lets the controllers work until what is returned is dropped. They stop when the last of several is dropped.
    pub fn run_controllers(&self) -> Running {
        self.change_controllers(|controllers| controllers.wanted += 1);
        Running { emulator: self.clone() }
    }

    /// Says which of the controllers work, as if the processes of the others had ended. Those that go on are started
    /// anew, too, and begin with what they find.
    pub fn set_controllers(&self, parts: Parts) {
        self.change_controllers(|controllers| controllers.parts = parts);
    }

    /// Stops all controllers: nothing becomes of objects until [`Emulator::resume_controllers`].
    pub fn pause_controllers(&self) {
        self.set_controllers(NONE);
    }

    /// Lets all controllers work again, if anybody wants them to.
    pub fn resume_controllers(&self) {
        self.set_controllers(Parts::ALL);
    }

    fn change_controllers(&self, change: impl FnOnce(&mut Controllers)) {
        let mut controllers = lock(&self.inner.controllers);
        change(&mut controllers);
        let parts = if controllers.wanted == 0 { NONE } else { controllers.parts };
        if controllers.running.as_ref().map_or(NONE, |(running, _)| *running) != parts {
            // The old ones end first: two of a kind would undo each other's work.
            controllers.running = None;
            if parts != NONE {
                let running = controllers::start_parts(Arc::clone(&self.inner.state), parts);
                controllers.running = Some((parts, running));
            }
        }
    }
}

const NONE: Parts = Parts { manager: false, scheduler: false, nodes: false };

// Numbers and a handle; whole at any time.
fn lock(controllers: &Mutex<Controllers>) -> MutexGuard<'_, Controllers> {
    controllers.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The controllers run as long as this is there.
#[derive(Debug)]
#[must_use = "the controllers stop when this is dropped"]
pub struct Running {
    emulator: Emulator,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.emulator.change_controllers(|controllers| controllers.wanted -= 1);
    }
}

fn answer(state: &Arc<State>, user: Result<User, ApiError>, request: &Request<Bytes>) -> Response<Body> {
    if user.is_ok() && request.body().len() > LARGEST_BODY {
        let message = format!("Request entity too large: limit is {LARGEST_BODY}");
        return status(&ApiError::new(413, "RequestEntityTooLarge", message));
    }
    api::answer(state, user.as_ref().map_err(Clone::clone), request)
}

fn status(error: &ApiError) -> Response<Body> {
    let mut response = Response::new(Full::new(Bytes::from(error.status().to_string())).boxed_unsync());
    *response.status_mut() = http::StatusCode::from_u16(error.code).unwrap_or_default();
    response.headers_mut().insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// The time of the answer, by the emulator's clock.
fn dated(state: &State, mut response: Response<Body>) -> Response<Body> {
    let date = state.clock.wall().strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
    if let Ok(date) = HeaderValue::from_str(&date) {
        response.headers_mut().entry(DATE).or_insert(date);
    }
    response
}

/// A body that breaks when the server goes, and to which nothing happens that only a connection can show.
fn until_gone(body: Streamed, outages: Outages) -> Streamed {
    let chunks = stream::unfold(Some((body, outages)), |held| async move {
        let (mut body, mut outages) = held?;
        let frame = tokio::select! {
            biased;
            () = outages.next() => Some(Err(Broken::Reset)),
            frame = body.frame() => frame,
        };
        match frame? {
            Ok(frame) => Some((Ok(frame), Some((body, outages)))),
            Err(Broken::HalfOpen) => {
                outages.next().await;
                Some((Err(Broken::Reset), None))
            }
            Err(broken) => Some((Err(broken), None)),
        }
    });
    StreamBody::new(chunks).boxed_unsync()
}
