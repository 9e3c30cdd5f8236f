//! Managers with the Kubernetes provider. Loading compiles it, so they are used again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use workload_host::model::{Failure, Ownership};
use workload_host::upstream::{Incoming, Outgoing, Upstream};
use workload_host::{Manager, Places, Provider, Settings, Source};

use super::clock;
use crate::component;

/// The name of the provider.
pub const PROVIDER: &str = "kubernetes";

/// What the provider is given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setup {
    /// The words of the catalogue; of them it gets what it asks for.
    pub given: Vec<String>,
    /// Where.
    pub places: Places,
    /// How it tells what is ours.
    pub ownership: Ownership,
    /// Its settings.
    pub settings: Vec<(String, String)>,
}

impl Default for Setup {
    /// All that it asks for, everywhere.
    fn default() -> Setup {
        Setup { given: vec!["*".to_owned()], places: Places::All, ownership: super::ownership(), settings: Vec::new() }
    }
}

impl Setup {
    /// With one more setting.
    #[must_use]
    pub fn set(mut self, name: &str, value: &str) -> Setup {
        self.settings.push((name.to_owned(), value.to_owned()));
        self
    }
}

/// Those that nobody uses now.
static IDLE: Mutex<Vec<Held>> = Mutex::new(Vec::new());

struct Held {
    setup: Setup,
    manager: Manager,
    route: Arc<Route>,
}

/// Sends requests on to the server of whoever uses the Manager now.
#[derive(Default)]
struct Route(Mutex<Option<Arc<dyn Upstream>>>);

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A list and a handle: whole at any time.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Upstream for Route {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        match &*lock(&self.0) {
            Some(upstream) => upstream.send(request),
            None => async { Err(Failure::Unreachable) }.boxed(),
        }
    }
}

/// A Manager for a while. What it still runs when this is dropped ends with the test's runtime, so it is not used again then.
pub(super) struct Lease(Option<Held>);

impl Lease {
    pub(super) async fn take(setup: Setup, upstream: Arc<dyn Upstream>) -> Lease {
        let idle = {
            let mut idle = lock(&IDLE);
            let place = idle.iter().position(|held| held.setup == setup);
            place.map(|place| idle.swap_remove(place))
        };
        let held = match idle {
            Some(held) => held,
            None => Held::load(setup),
        };
        *lock(&held.route.0) = Some(upstream);
        clock::watch(&held.manager);
        Lease(Some(held))
    }

    pub(super) fn manager(&self) -> &Manager {
        &self.0.as_ref().expect("it is there until it is dropped").manager
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if let Some(held) = self.0.take() {
            *lock(&held.route.0) = None;
            if held.manager.live() == 0 && held.manager.stepping() == 0 {
                lock(&IDLE).push(held);
            }
        }
    }
}

impl Held {
    /// On a runtime of its own: compiling takes real time, which the clock of a test must not measure.
    fn load(setup: Setup) -> Held {
        let route = Arc::<Route>::default();
        let provider = Provider {
            upstream: Arc::clone(&route) as _,
            given: setup.given.clone(),
            places: setup.places.clone(),
            ownership: setup.ownership.clone(),
            settings: setup.settings.clone(),
        };
        let loading = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
            runtime.block_on(async move {
                let manager = Manager::new(Settings::default()).expect("a sandbox");
                let source = Source::File(component("kubernetes"));
                manager.load(PROVIDER, source, provider).await.expect("the component is good");
                manager
            })
        });
        let manager = loading.join().expect("it loads");
        Held { setup, manager, route }
    }
}
