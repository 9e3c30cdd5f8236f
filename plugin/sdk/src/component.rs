//! Between the generated bindings and the machine.

use std::marker::PhantomData;

use crate::bindings::exports::workload::provider::lifecycle::{Guest, GuestOperation, Operation};
use crate::machine::{Call, Machine};
use crate::{Context, Descriptor, Event, Provider, Scope, Spec, StopIntent, Turn};

/// A provider as the component's exports see it. Made by [`export!`](crate::export).
#[derive(Debug)]
pub struct Component<P>(PhantomData<P>);

/// The resource behind `operation`.
pub struct Running(Machine);

impl GuestOperation for Running {
    fn step(&self, now: u64, events: Vec<Event>) -> Turn {
        self.0.step(now, events)
    }
}

fn begin<P: Provider>(context: Context, call: Call) -> Operation {
    Operation::new(Running(Machine::begin::<P>(context, call)))
}

impl<P: Provider> Guest for Component<P> {
    type Operation = Running;

    fn describe() -> Descriptor {
        P::describe()
    }

    fn discover(context: Context, scope: Scope, follow: bool) -> Operation {
        begin::<P>(context, Call::Discover(scope, follow))
    }

    fn status(context: Context, ids: Vec<String>, follow: bool) -> Operation {
        begin::<P>(context, Call::Status(ids, follow))
    }

    fn create(context: Context, specs: Vec<Spec>) -> Operation {
        begin::<P>(context, Call::Create(specs))
    }

    fn start(context: Context, ids: Vec<String>) -> Operation {
        begin::<P>(context, Call::Start(ids))
    }

    fn stop(context: Context, ids: Vec<String>, intent: StopIntent) -> Operation {
        begin::<P>(context, Call::Stop(ids, intent))
    }

    fn delete(context: Context, ids: Vec<String>, intent: StopIntent) -> Operation {
        begin::<P>(context, Call::Delete(ids, intent))
    }
}
