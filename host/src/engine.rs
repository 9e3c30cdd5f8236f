//! The sandbox: one wasmtime engine, what it refuses to load, and fresh instances under limits.

mod check;
mod config;
mod limiter;
mod probe;
mod slots;
mod ticker;

use std::borrow::Cow;
use std::sync::Arc;

use wasmtime::component::{Component, Linker};
use wasmtime::{Store, Trap};

pub use config::Allocation;
pub(crate) use limiter::Guest;
pub use probe::MemoryProbe;
pub(crate) use slots::{Busy, Slot};

use crate::error::Error;
use crate::limits::{self, Limits};
use crate::model::{Descriptor, Fault, FaultKind};
use crate::steps::{Account, Steps};
use crate::text::clean;
use crate::world::{Call, Context, Input, Operation, Pre, Turn};

/// One engine with its limits. Everything that runs a provider goes through here.
pub(crate) struct Sandbox {
    engine: wasmtime::Engine,
    allocation: Allocation,
    limits: Limits,
    slots: Arc<slots::Slots>,
    ticker: Arc<ticker::Ticker>,
    steps: Steps,
}

/// A component that passed every check, ready to be instantiated.
pub(crate) struct Loaded {
    pre: Pre,
    pub(crate) descriptor: Descriptor,
    /// Bytes of the component's file.
    pub(crate) size: usize,
    /// Of the component's file.
    pub(crate) sha256: [u8; 32],
    /// Interfaces of types, which are no way out.
    pub(crate) imports: Vec<String>,
    /// What its steps took of the step threads.
    pub(crate) account: Arc<Account>,
    weight: usize,
}

/// A component that passed every check but was not asked yet what it is.
struct Prepared {
    pre: Pre,
    size: usize,
    sha256: [u8; 32],
    imports: Vec<String>,
    weight: usize,
}

/// What a provider did that ended its instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Trap,
    Limit,
    Protocol,
    /// Not the provider's doing.
    Host,
}

/// An instance that must not be entered again, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Broken {
    pub(crate) cause: Cause,
    pub(crate) message: String,
}

impl Broken {
    pub(crate) fn protocol(message: impl Into<String>) -> Broken {
        Broken { cause: Cause::Protocol, message: message.into() }
    }

    pub(crate) fn limit(message: impl Into<String>) -> Broken {
        Broken { cause: Cause::Limit, message: message.into() }
    }

    pub(crate) fn host(message: impl Into<String>) -> Broken {
        Broken { cause: Cause::Host, message: message.into() }
    }

    /// What the caller is told.
    pub(crate) fn fault(&self) -> Fault {
        let cause = match self.cause {
            Cause::Trap => "trap",
            Cause::Limit => "limit",
            Cause::Protocol => "protocol",
            Cause::Host => return Fault::new(FaultKind::Internal, self.message.clone()),
        };
        Fault::new(FaultKind::ProviderFault, self.message.clone()).with("cause", cause)
    }
}

/// A fresh instance and the operation in it. Dropping it frees its slot.
pub(crate) struct Instance {
    operation: Operation,
    // In this order: the slot counts what is live, so the store goes before it.
    store: Store<Guest>,
    ticker: Arc<ticker::Ticker>,
    step_ticks: u64,
    _slot: Slot,
}

impl Instance {
    /// One step, on the thread of the caller.
    pub(crate) fn step(&mut self, now: u64, inputs: Vec<Input>) -> Result<Turn, Broken> {
        let _ticking = self.ticker.during();
        self.store.set_epoch_deadline(self.step_ticks);
        let turn = self.operation.step(&mut self.store, now, inputs);
        turn.map_err(|error| broken(&self.store, &error))
    }
}

impl Sandbox {
    /// Sets up the engine, its ticker and the step threads.
    pub(crate) fn new(limits: Limits, probe: Option<MemoryProbe>) -> Result<Sandbox, Error> {
        let (engine, allocation) = config::engine(&limits, probe)?;
        let ticker = ticker::Ticker::start(&engine).map_err(|error| Error::Sandbox { what: error.to_string() })?;
        let steps = Steps::start().map_err(|error| Error::Sandbox { what: error.to_string() })?;
        let slots = slots::Slots::new(limits.instances as usize);
        Ok(Sandbox { engine, allocation, limits, slots, ticker, steps })
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn steps(&self) -> &Steps {
        &self.steps
    }

    pub(crate) fn allocation(&self) -> Allocation {
        self.allocation
    }

    /// Instances that are live now.
    pub(crate) fn live(&self) -> usize {
        self.slots.live()
    }

    /// Waits for a free instance of a component; reads before writes.
    pub(crate) async fn slot(&self, loaded: &Loaded, read: bool) -> Result<Slot, Busy> {
        slots::Slots::take(&self.slots, read, loaded.weight).await
    }

    /// Checks, compiles and describes a component.
    pub(crate) async fn load(self: &Arc<Self>, bytes: Cow<'static, [u8]>) -> Result<Loaded, Error> {
        let sandbox = Arc::clone(self);
        // Compiling takes up to seconds and its own threads: neither for the reactor nor for a step's thread.
        let prepared = tokio::task::spawn_blocking(move || sandbox.prepare(&bytes)).await;
        let Prepared { pre, size, sha256, imports, weight } =
            prepared.map_err(|_| Error::Compile { what: "the compiler panicked".to_owned() })??;
        let slot = slots::Slots::take(&self.slots, true, weight).await;
        let slot = slot.map_err(|busy| Error::Sandbox { what: busy.to_string() })?;
        let sandbox = Arc::clone(self);
        let account = Arc::<Account>::default();
        let described = self.steps.run(&account, move || sandbox.describe(pre, slot)).await;
        let (pre, descriptor) = described.map_err(|panicked| Error::Sandbox { what: panicked.to_string() })??;
        Ok(Loaded { pre, descriptor, size, sha256, imports, account, weight })
    }

    fn prepare(&self, bytes: &[u8]) -> Result<Prepared, Error> {
        use sha2::Digest as _;
        if bytes.len() > self.limits.component {
            return Err(Error::TooLarge { limit: self.limits.component });
        }
        check::structure(bytes)?;
        let component = self.compile(bytes)?;
        let imports = check::imports(&self.engine, &component)?;
        let pre = Linker::<Guest>::new(&self.engine)
            .instantiate_pre(&component)
            .map_err(|error| Error::Refused { what: clean(format!("{error:#}"), limits::WORD) })?;
        let pre = Pre::new(&self.engine, &component, pre)?;
        let sha256 = sha2::Sha256::digest(bytes).into();
        Ok(Prepared { pre, size: bytes.len(), sha256, imports, weight: weight(&component) })
    }

    /// The one place where machine code is made of what a stranger wrote.
    fn compile(&self, bytes: &[u8]) -> Result<Component, Error> {
        Component::from_binary(&self.engine, bytes)
            .map_err(|error| Error::Compile { what: clean(format!("{error:#}"), limits::WORD) })
    }

    fn describe(&self, pre: Pre, slot: Slot) -> Result<(Pre, Descriptor), Error> {
        let mut store = self.store();
        let _ticking = self.ticker.during();
        store.set_epoch_deadline(self.step_ticks());
        let descriptor = pre.describe(&mut store);
        let described = match descriptor {
            Ok(descriptor) => Ok((pre, descriptor)),
            Err(error) => Err(Error::Describe { fault: broken(&store, &error).fault() }),
        };
        drop(store);
        drop(slot);
        described
    }

    /// Begins an operation in a fresh instance, on the thread of the caller.
    pub(crate) fn begin(&self, loaded: &Loaded, slot: Slot, call: Call, context: Context) -> Result<Instance, Broken> {
        let mut store = self.store();
        let ticker = Arc::clone(&self.ticker);
        let step_ticks = self.step_ticks();
        let ticking = ticker.during();
        store.set_epoch_deadline(step_ticks);
        let operation = loaded.pre.begin(&mut store, call, context).map_err(|error| broken(&store, &error))?;
        drop(ticking);
        Ok(Instance { operation, store, ticker, step_ticks, _slot: slot })
    }

    fn store(&self) -> Store<Guest> {
        let mut store = Store::new(&self.engine, Guest::new(&self.limits));
        store.limiter(|guest| guest);
        store.set_hostcall_fuel(self.limits.hostcall);
        store.epoch_deadline_trap();
        store
    }

    /// One more than fit: the first tick may come at once.
    fn step_ticks(&self) -> u64 {
        let ticks = self.limits.step.as_millis() / limits::TICK.as_millis().max(1);
        u64::try_from(ticks).unwrap_or(u64::MAX).saturating_add(1)
    }
}

/// How many ordinary instances the pool could hold instead of one of this component: it has a memory and two tables for
/// each.
fn weight(component: &Component) -> usize {
    component.resources_required().map_or(limits::MEMORIES.max(limits::TABLES.div_ceil(2)), |required| {
        let tables = usize::try_from(required.num_tables).unwrap_or(usize::MAX);
        let memories = usize::try_from(required.num_memories).unwrap_or(usize::MAX);
        memories.max(tables.div_ceil(2)).max(1)
    })
}

/// Why a call of the guest failed. The text of wasmtime may quote the guest, so it is cleaned.
fn broken(store: &Store<Guest>, error: &wasmtime::Error) -> Broken {
    if let Some(what) = store.data().exceeded() {
        return Broken::limit(what);
    }
    if error.is::<wasmtime::PoolConcurrencyLimitError>() {
        return Broken::host("no free slot in the pool of instances");
    }
    match error.downcast_ref::<Trap>() {
        Some(Trap::Interrupt) => Broken::limit("the provider computed for too long in one step"),
        Some(Trap::StackOverflow) => Broken::limit("the provider used up its stack"),
        Some(trap) => Broken { cause: Cause::Trap, message: format!("the provider trapped: {trap}") },
        None => {
            let text = clean(format!("{error:#}"), limits::WORD);
            if text.contains("fuel allocated for hostcalls") {
                return Broken::limit("the provider returned more than one call may copy");
            }
            if let Some((_, what)) = text.split_once("resource limit exceeded: ") {
                return Broken::limit(format!("the provider needs too much: {what}"));
            }
            Broken { cause: Cause::Trap, message: format!("the provider's answer cannot be read: {text}") }
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use wasmtime::Engine;
    use wasmtime::component::Component;

    #[rstest]
    #[case::nothing("", 1)]
    #[case::usual("(memory 1) (table 1 funcref)", 1)]
    #[case::tables("(table 1 funcref) (table 1 funcref) (table 1 funcref)", 2)]
    fn weights(#[case] module: &str, #[case] wanted: usize) {
        let text = format!("(component (core module $m {module}) (core instance (instantiate $m)))");
        let component = Component::from_binary(&Engine::default(), &wat::parse_str(text).unwrap()).unwrap();
        assert_eq!(super::weight(&component), wanted);
    }

    #[test]
    fn each_instance_of_a_module_weighs() {
        let instances = "(core instance (instantiate $m))".repeat(4);
        let text = format!("(component (core module $m (memory 1)) {instances})");
        let component = Component::from_binary(&Engine::default(), &wat::parse_str(text).unwrap()).unwrap();
        assert_eq!(super::weight(&component), 4);
    }
}
