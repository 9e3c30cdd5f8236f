//! The exports, for every component of this crate.

use std::cell::RefCell;
use std::marker::PhantomData;

use workload_guest::bindings::exports::workload::provider::lifecycle::{Guest, GuestOperation, Operation};
use workload_guest::{Context, Descriptor, Event, Scope, Spec, StopIntent, Turn};

use crate::behaviour::{self, Step};
use crate::given::Given;

/// How a component describes itself, if it gets that far.
pub trait Describe: 'static {
    /// The answer to `describe`.
    fn describe() -> Descriptor;
}

/// A proper description, which asks for what an honest provider would.
pub fn descriptor() -> Descriptor {
    let asks = [
        "deployments:get",
        "deployments:list",
        "deployments:watch",
        "deployments:create",
        "deployments:delete",
        "deployments/scale:get",
        "deployments/scale:patch",
        "pods:list",
    ];
    Descriptor {
        name: "hostile".into(),
        version: env!("CARGO_PKG_VERSION").into(),
        engine: "kubernetes".into(),
        asks: asks.map(str::to_owned).into(),
        spec_schema: r#"{"type":"object"}"#.into(),
    }
}

/// A provider that does what its setting `behaviour` says.
#[derive(Debug)]
pub struct Hostile<D>(PhantomData<D>);

/// The resource behind `operation`.
pub struct Running(RefCell<Step>);

impl GuestOperation for Running {
    fn step(&self, now: u64, events: Vec<Event>) -> Turn {
        (self.0.borrow_mut())(now, events)
    }
}

fn begin(call: &'static str, context: Context, ids: Vec<String>, argument: String) -> Operation {
    let given = Given { call, context, ids, argument };
    Operation::new(Running(RefCell::new(behaviour::of(given))))
}

impl<D: Describe> Guest for Hostile<D> {
    type Operation = Running;

    fn describe() -> Descriptor {
        D::describe()
    }

    fn discover(context: Context, scope: Scope, follow: bool) -> Operation {
        begin("discover", context, Vec::new(), format!("{:?} {follow}", scope.places))
    }

    fn status(context: Context, ids: Vec<String>, follow: bool) -> Operation {
        begin("status", context, ids, follow.to_string())
    }

    fn create(context: Context, specs: Vec<Spec>) -> Operation {
        let ids = specs.iter().map(|spec| spec.id.clone()).collect();
        begin("create", context, ids, format!("{specs:?}"))
    }

    fn start(context: Context, ids: Vec<String>) -> Operation {
        begin("start", context, ids, String::new())
    }

    fn stop(context: Context, ids: Vec<String>, intent: StopIntent) -> Operation {
        begin("stop", context, ids, format!("{intent:?}"))
    }

    fn delete(context: Context, ids: Vec<String>, intent: StopIntent) -> Operation {
        begin("delete", context, ids, format!("{intent:?}"))
    }
}
