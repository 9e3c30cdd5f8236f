//! From a call to its turns: a task for each id, and one poll of what was woken in each step.

use std::future::Future;
use std::rc::Rc;

use crate::core::Core;
use crate::table::Table;
use crate::{
    Context, Cx, Event, Fault, FaultKind, Operation, Outcome, Provider, Scope, Spec, StopIntent, StopNotice, Turn,
};

/// A call of the lifecycle, as the host makes it.
#[derive(Clone, Debug, PartialEq)]
pub enum Call {
    /// Find what is ours, with or without following.
    Discover(Scope, bool),
    /// The state of these ids, with or without following.
    Status(Vec<String>, bool),
    /// Make these.
    Create(Vec<Spec>),
    /// Start these.
    Start(Vec<String>),
    /// Stop these.
    Stop(Vec<String>, StopIntent),
    /// Delete these.
    Delete(Vec<String>, StopIntent),
}

/// An operation under way.
pub(crate) struct Machine {
    core: Rc<Core>,
}

impl Machine {
    /// Makes the provider and its tasks. Nothing is polled before the first step.
    pub(crate) fn begin<P: Provider>(context: Context, call: Call) -> Self {
        let core = Core::new(context);
        let operation = Operation { core: Rc::clone(&core) };
        let provider = Rc::new(P::new(operation.clone()));
        let start = Start { operation, provider };
        match call {
            Call::Discover(scope, follow) => start.discover(scope, follow),
            Call::Status(ids, follow) => start.each(ids, async move |p, cx, id| p.status(cx, id, follow).await),
            Call::Create(specs) => start.create(specs),
            Call::Start(ids) => start.each(ids, async |p, cx, id| p.start(cx, id).await),
            Call::Stop(ids, intent) => start.each(ids, async move |p, cx, id| p.stop(cx, id, intent).await),
            Call::Delete(ids, intent) => start.each(ids, async move |p, cx, id| p.delete(cx, id, intent).await),
        }
        Self { core }
    }

    /// Hands over what happened, lets everyone concerned go on, and gathers what they ask for.
    pub(crate) fn step(&self, now: u64, events: Vec<Event>) -> Turn {
        self.core.now.set(now);
        for event in events {
            match event {
                Event::Answer((id, answer)) => self.core.deliver(id, answer),
                Event::Stop(StopNotice { id, reason }) => self.core.stop(id, reason),
            }
        }
        self.core.tasks.run();
        if self.core.open.get() == 0 {
            // What ran beside the ids ends with them, and takes its effects with it.
            self.core.tasks.clear();
        }
        self.core.take_turn()
    }
}

impl Drop for Machine {
    /// The tasks hold the core that holds them.
    fn drop(&mut self) {
        self.core.tasks.clear();
    }
}

struct Start<P> {
    operation: Operation,
    provider: Rc<P>,
}

impl<P: Provider> Start<P> {
    fn discover(&self, scope: Scope, follow: bool) {
        let provider = Rc::clone(&self.provider);
        let cx = self.operation.shared();
        self.add(async move { provider.discover(cx, scope, follow).await });
    }

    /// An id given twice is one workload: it runs once and settles once.
    fn each<F>(&self, ids: Vec<String>, run: F)
    where
        F: AsyncFn(Rc<P>, Cx, String) -> Result<Outcome, Fault> + Clone + 'static,
    {
        let mut seen = Table::default();
        for id in ids {
            if seen.insert(id.clone(), ()) {
                let (provider, run) = (Rc::clone(&self.provider), run.clone());
                self.one(id, async move |cx, id| run(provider, cx, id).await);
            }
        }
    }

    /// The same spec given twice is one; two that differ are a mistake that must not be settled by their order.
    fn create(&self, specs: Vec<Spec>) {
        let mut places = Table::default();
        let mut all: Vec<(String, Result<Spec, Fault>)> = Vec::new();
        for spec in specs {
            if places.insert(spec.id.clone(), all.len()) {
                all.push((spec.id.clone(), Ok(spec)));
            } else if let Some((_, first)) = places.get(&spec.id).and_then(|place| all.get_mut(*place))
                && first.as_ref().is_ok_and(|first| *first != spec)
            {
                *first = Err(Fault::new(FaultKind::InvalidSpec, "given twice with different specs"));
            }
        }
        for (id, spec) in all {
            let provider = Rc::clone(&self.provider);
            self.one(id, async move |cx, _| provider.create(cx, spec?).await);
        }
    }

    /// One id's task, which settles it.
    fn one<F>(&self, id: String, run: F)
    where
        F: AsyncFnOnce(Cx, String) -> Result<Outcome, Fault> + 'static,
    {
        let core = Rc::clone(&self.operation.core);
        let cx = Cx::new(self.operation.clone(), Some(Rc::from(id.as_str())));
        self.add(async move {
            let result = run(cx, id.clone()).await;
            core.settle(id, result);
        });
    }

    fn add(&self, work: impl Future<Output = ()> + 'static) {
        let core = Rc::clone(&self.operation.core);
        core.open.set(core.open.get() + 1);
        let tasks = Rc::clone(&core);
        tasks.tasks.add(Box::pin(async move {
            work.await;
            core.open.set(core.open.get().saturating_sub(1));
        }));
    }
}
