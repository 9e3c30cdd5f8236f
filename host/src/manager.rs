//! The way in: load providers, run operations through them, replace them while operations run.

mod claims;
mod operation;
mod run;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use serde::Serialize;
use workload_policy::{Grants, Places};

pub use crate::engine::{Allocation, MemoryProbe};
pub use crate::model::{Report, Settled};
pub(crate) use claims::Claim;
pub use run::Run;

use crate::audit::{AuditSink, Traced};
use crate::engine::{Loaded, Sandbox};
use crate::error::Error;
use crate::limits::Limits;
use crate::model::{Descriptor, Ownership, Spec, StopIntent};
use crate::upstream::Upstream;
use crate::world::Call;

/// What is the same for all providers of a [`Manager`].
#[derive(Clone)]
pub struct Settings {
    /// The limits of the sandbox.
    pub limits: Limits,
    /// Where the records of denials and writes go.
    pub audit: Arc<dyn AuditSink>,
    /// Shown every linear memory of a provider when its instance ends, to search it for what must not be there. Costs
    /// the pool of instances and the fast way to access memory, so it is for audits and tests.
    pub memory_probe: Option<MemoryProbe>,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings { limits: Limits::default(), audit: Arc::new(Traced), memory_probe: None }
    }
}

/// Where a component comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// A file, read when it is loaded.
    File(PathBuf),
    /// What is in memory, e.g. embedded in the program.
    Bytes(Cow<'static, [u8]>),
}

/// What a provider is given: whom it speaks to, as whom, and what it may do.
#[derive(Clone)]
pub struct Provider {
    /// Sends its requests.
    pub upstream: Arc<dyn Upstream>,
    /// What the operator gives, in the words of the catalogue. Nothing given, nothing allowed.
    pub given: Vec<String>,
    /// The places in which it is given.
    pub places: Places,
    /// How it tells what is ours.
    pub ownership: Ownership,
    /// Its own settings, as name and value.
    pub settings: Vec<(String, String)>,
}

/// How one operation is run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Until the provider is told to wind down. None: [`Limits::operation`], or no end for what is followed. More than
    /// [`Limits::operation_max`] counts as that.
    pub timeout: Option<Duration>,
    /// Of discover and status: go on telling changes until the operation is cancelled or dropped.
    pub follow: bool,
    /// Send reads only: each id ends at its first write, with [`crate::Event::Planned`].
    pub plan: bool,
}

/// What a component is, as far as it can be told without running an operation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Inspection {
    /// What it says of itself.
    pub descriptor: Descriptor,
    /// Bytes of its file.
    pub size: usize,
    /// SHA-256 of its file, in hexadecimal digits.
    pub sha256: String,
    /// Interfaces of types that it imports; there are no imports of another kind.
    pub imports: Vec<String>,
}

/// A provider that is loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct ProviderInfo {
    /// The name that it was loaded under.
    pub name: String,
    /// How often it was swapped.
    pub generation: u64,
    /// What it is.
    pub inspection: Inspection,
    /// The words of the catalogue that it holds: what it asks for and is given.
    pub granted: Vec<String>,
    /// What it asks for in vain, and why.
    pub dropped: Vec<(String, String)>,
}

/// Runs operations through providers. Cheap to clone; all clones are one Manager.
///
/// Everything on it is called within a tokio runtime that has time enabled.
#[derive(Clone)]
pub struct Manager {
    inner: Arc<Inner>,
}

struct Inner {
    sandbox: Arc<Sandbox>,
    audit: Arc<dyn AuditSink>,
    claims: Arc<claims::Claims>,
    /// Held only to copy an entry out or in.
    providers: RwLock<BTreeMap<String, Arc<Entry>>>,
    random: &'static dyn rustls::crypto::SecureRandom,
}

/// One generation of a provider. Operations that run on it keep it alive.
struct Entry {
    generation: u64,
    loaded: Arc<Loaded>,
    grants: Arc<Grants>,
    provider: Provider,
}

impl Manager {
    /// Sets up the sandbox: its engine, a clock thread and a few threads for steps.
    ///
    /// # Errors
    /// [`Error::Sandbox`] when this machine cannot run it.
    pub fn new(settings: Settings) -> Result<Manager, Error> {
        let sandbox = Arc::new(Sandbox::new(settings.limits, settings.memory_probe)?);
        let inner = Inner {
            sandbox,
            audit: settings.audit,
            claims: Arc::default(),
            providers: RwLock::default(),
            random: rustls::crypto::ring::default_provider().secure_random,
        };
        Ok(Manager { inner: Arc::new(inner) })
    }

    /// Loads a provider under a name; one of this name is replaced, as with [`Manager::swap`].
    ///
    /// # Errors
    /// When the component cannot be read, is refused, cannot describe itself, or speaks to an engine that is not known;
    /// when a grant does not exist. Then nothing has changed.
    pub async fn load(&self, name: &str, source: Source, provider: Provider) -> Result<Descriptor, Error> {
        let loaded = Arc::new(self.prepare(source).await?);
        self.install(name, loaded, provider)
    }

    /// Replaces a provider's component while operations run: they finish on the old one, new ones begin on the new.
    ///
    /// # Errors
    /// As with [`Manager::load`]; then the old one goes on serving. [`Error::NoProvider`] when there is none.
    pub async fn swap(&self, name: &str, source: Source) -> Result<Descriptor, Error> {
        let missing = || Error::NoProvider { name: name.to_owned() };
        self.entry(name).ok_or_else(missing)?;
        let loaded = Arc::new(self.prepare(source).await?);
        // Read again: it may have been loaded with other grants meanwhile.
        let provider = self.entry(name).ok_or_else(missing)?.provider.clone();
        self.install(name, loaded, provider)
    }

    /// Checks a component as [`Manager::load`] does, and says what it is.
    ///
    /// # Errors
    /// As with [`Manager::load`].
    pub async fn inspect(&self, source: Source) -> Result<Inspection, Error> {
        Ok(inspection(&self.prepare(source).await?))
    }

    /// What is loaded, by name.
    #[must_use]
    pub fn providers(&self) -> Vec<ProviderInfo> {
        let providers = self.inner.providers.read().unwrap_or_else(PoisonError::into_inner);
        let info = |(name, entry): (&String, &Arc<Entry>)| ProviderInfo {
            name: name.clone(),
            generation: entry.generation,
            inspection: inspection(&entry.loaded),
            granted: entry.grants.words().map(str::to_owned).collect(),
            dropped: entry.grants.dropped().iter().map(|d| (d.word.clone(), d.reason.to_string())).collect(),
        };
        providers.iter().map(info).collect()
    }

    /// What a loaded provider may do: of what it asks for, what is given, and where.
    #[must_use]
    pub fn grants(&self, name: &str) -> Option<Grants> {
        self.entry(name).map(|entry| Grants::clone(&entry.grants))
    }

    /// Instances of providers that are live now: operations that run, and what is being loaded.
    #[must_use]
    pub fn live(&self) -> usize {
        self.inner.sandbox.live()
    }

    /// Steps of providers that are queued or under way now. What is live and not stepping waits for its engine; more than
    /// there are processors, for long, means that this machine has too much to do.
    #[must_use]
    pub fn stepping(&self) -> usize {
        self.inner.sandbox.steps().awaited()
    }

    /// Where instances get their memory from on this machine.
    #[must_use]
    pub fn allocation(&self) -> Allocation {
        self.inner.sandbox.allocation()
    }

    /// Every workload of the owner in these places; none means everywhere that the engine lets us look.
    pub fn discover(&self, name: &str, places: Vec<String>, options: Options) -> Run {
        self.run(name, Call::Discover { places, follow: options.follow }, options)
    }

    /// Each id settles with `read`; with `follow` each change is told until a stop.
    pub fn status(&self, name: &str, ids: Vec<String>, options: Options) -> Run {
        self.run(name, Call::Status { ids, follow: options.follow }, options)
    }

    /// Makes workloads.
    pub fn create(&self, name: &str, specs: Vec<Spec>, options: Options) -> Run {
        self.run(name, Call::Create { specs }, options)
    }

    /// Starts workloads and waits until they run.
    pub fn start(&self, name: &str, ids: Vec<String>, options: Options) -> Run {
        self.run(name, Call::Start { ids }, options)
    }

    /// Stops workloads and waits until nothing of them runs. Takes over from a `start` that is under way.
    pub fn stop(&self, name: &str, ids: Vec<String>, intent: StopIntent, options: Options) -> Run {
        self.run(name, Call::Stop { ids, intent }, options)
    }

    /// Deletes workloads and waits until they are gone. Takes over from a `start` that is under way.
    pub fn delete(&self, name: &str, ids: Vec<String>, intent: StopIntent, options: Options) -> Run {
        self.run(name, Call::Delete { ids, intent }, options)
    }

    fn run(&self, name: &str, call: Call, options: Options) -> Run {
        operation::run(&self.inner, name, self.entry(name), call, options)
    }

    fn entry(&self, name: &str) -> Option<Arc<Entry>> {
        self.inner.providers.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    async fn prepare(&self, source: Source) -> Result<Loaded, Error> {
        let limit = self.inner.sandbox.limits().component;
        let bytes = match source {
            Source::Bytes(bytes) => bytes,
            Source::File(path) => {
                let read = tokio::task::spawn_blocking(move || read(path, limit)).await;
                Cow::Owned(read.map_err(|_| Error::Sandbox { what: "reading the component panicked".to_owned() })??)
            }
        };
        self.inner.sandbox.load(bytes).await
    }

    fn install(&self, name: &str, loaded: Arc<Loaded>, provider: Provider) -> Result<Descriptor, Error> {
        let descriptor = loaded.descriptor.clone();
        let grants = grants(name, &descriptor, &provider.given, provider.places.clone())?;
        // The labels' prefix is also that of our annotations, which a patch may touch.
        let grants = match provider.ownership.id_key.split_once('/') {
            Some((prefix, _)) => {
                let wrong = |source| Error::Grants { provider: name.to_owned(), source };
                grants.with_prefix(prefix).map_err(wrong)?
            }
            None => grants,
        };
        let mut providers = self.inner.providers.write().unwrap_or_else(PoisonError::into_inner);
        let generation = providers.get(name).map_or(0, |old| old.generation + 1);
        let entry = Entry { generation, loaded, grants: Arc::new(grants), provider };
        let old = providers.insert(name.to_owned(), Arc::new(entry));
        drop(providers);
        // Its compiled code may be unmapped here, so not under the lock.
        drop(old);
        Ok(descriptor)
    }
}

/// Reads a file, but never more than is allowed.
fn read(path: PathBuf, limit: usize) -> Result<Vec<u8>, Error> {
    use std::io::Read as _;
    let most = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    let read = std::fs::File::open(&path).and_then(|file| {
        let mut bytes = Vec::new();
        file.take(most).read_to_end(&mut bytes)?;
        Ok(bytes)
    });
    match read {
        Ok(bytes) if bytes.len() > limit => Err(Error::TooLarge { limit }),
        Ok(bytes) => Ok(bytes),
        Err(source) => Err(Error::Read { path, source }),
    }
}

/// What a provider of this description may do: of what it asks for, what is given, in these places. `name` is for the
/// error only.
///
/// # Errors
/// When its engine is not known, or a grant does not exist.
pub fn grants(name: &str, descriptor: &Descriptor, given: &[String], places: Places) -> Result<Grants, Error> {
    let engine = workload_policy::Engine::from_name(&descriptor.engine)
        .ok_or_else(|| Error::UnknownEngine { engine: descriptor.engine.clone() })?;
    let wrong = |source| Error::Grants { provider: name.to_owned(), source };
    Grants::new(engine, &descriptor.asks, given, places).map_err(wrong)
}

fn inspection(loaded: &Loaded) -> Inspection {
    use std::fmt::Write as _;
    let mut sha256 = String::with_capacity(64);
    for byte in loaded.sha256 {
        // Cannot fail: writing to a String.
        let _ = write!(sha256, "{byte:02x}");
    }
    Inspection { descriptor: loaded.descriptor.clone(), size: loaded.size, sha256, imports: loaded.imports.clone() }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::{Arc, Weak};

    use futures_util::FutureExt as _;
    use futures_util::future::BoxFuture;
    use tokio::sync::Notify;

    use super::{Manager, Options, Provider, Settings, Source};
    use crate::limits::Limits;
    use crate::model::{Failure, Ownership};
    use crate::testing::until;
    use crate::upstream::{Incoming, Outgoing, Upstream};

    /// Answers nothing before it is notified.
    #[derive(Default)]
    struct Gate(Arc<Notify>, Arc<Notify>);

    impl Upstream for Gate {
        fn send(&self, _request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
            let (asked, answer) = (Arc::clone(&self.0), Arc::clone(&self.1));
            async move {
                asked.notify_one();
                answer.notified().await;
                Err(Failure::Unreachable)
            }
            .boxed()
        }
    }

    fn component() -> Source {
        let folder = std::env::var_os("WORKLOAD_COMPONENTS").expect("WORKLOAD_COMPONENTS is set by .cargo/config.toml");
        Source::File(PathBuf::from(folder).join("hostile-script.wasm"))
    }

    #[tokio::test]
    async fn a_component_that_was_swapped_is_freed_with_its_last_operation() {
        let gate = Arc::new(Gate::default());
        let settings = Settings { limits: Limits { instances: 8, ..Limits::default() }, ..Settings::default() };
        let manager = Manager::new(settings).unwrap();
        let provider = Provider {
            upstream: gate.clone(),
            given: vec!["*".to_owned()],
            places: workload_policy::Places::only(["default"]),
            ownership: Ownership::new("workload-provider", "default"),
            settings: Vec::new(),
        };
        manager.load("p", component(), provider).await.unwrap();
        let loaded = || Arc::downgrade(&manager.entry("p").unwrap().loaded);
        let idle: Weak<_> = loaded();
        manager.swap("p", component()).await.unwrap();
        assert!(idle.upgrade().is_none(), "nothing ran on it");
        let old = loaded();
        let run = manager.status("p", vec!["default/web".to_owned()], Options::default());
        gate.0.notified().await;
        manager.swap("p", component()).await.unwrap();
        gate.1.notify_one();
        run.finish().await;
        // The thread of its last step may still be about to let go of it.
        until("the old component is freed", || old.upgrade().is_none()).await;
        assert_eq!(manager.live(), 0);
    }
}
