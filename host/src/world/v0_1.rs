//! Version 0.1 of the world.

mod from_guest;
mod to_guest;

use wasmtime::component::types::ComponentItem;
use wasmtime::component::{Component, ResourceAny};
use wasmtime::{Engine, Store};

use super::{Call, Context, Input, Turn};
use crate::engine::Guest;
use crate::error::Error;
use crate::model::Descriptor;

/// Generated from the world's files.
#[allow(missing_docs, unused_qualifications, clippy::all, reason = "generated code")]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "generated code")]
mod bindings {
    wasmtime::component::bindgen!({
        path: "../wit",
        world: "workload-provider",
    });
}

use bindings::exports::workload::provider::lifecycle;
use bindings::workload::provider::{effects, types};

pub(super) type Pre = bindings::WorkloadProviderPre<Guest>;

/// What a component must export.
const LIFECYCLE: &str = "workload:provider/lifecycle@0.1.0";

/// The version as [`Descriptor::world`] says it.
const WORLD: &str = "0.1";

/// Names what is missing, before wasmtime says that something is.
pub(super) fn check(engine: &Engine, component: &Component) -> Result<(), Error> {
    let component = component.component_type();
    match component.get_export(engine, LIFECYCLE).map(|export| export.ty) {
        Some(ComponentItem::ComponentInstance(_)) => Ok(()),
        Some(_) => Err(Error::World { wanted: LIFECYCLE, what: "its export of this name is no interface".to_owned() }),
        None => {
            let exports: Vec<String> =
                component.exports(engine).map(|(name, _)| crate::text::clean(name.to_owned(), 128)).take(8).collect();
            let what = if exports.is_empty() {
                "it exports nothing".to_owned()
            } else {
                format!("it exports {}", exports.join(", "))
            };
            Err(Error::World { wanted: LIFECYCLE, what })
        }
    }
}

/// A missing function, or one of another type.
pub(super) fn mismatch(error: &wasmtime::Error) -> Error {
    Error::World { wanted: LIFECYCLE, what: crate::text::clean(format!("{error:#}"), 512) }
}

pub(super) fn describe(pre: &Pre, store: &mut Store<Guest>) -> wasmtime::Result<Descriptor> {
    let provider = pre.instantiate(&mut *store)?;
    let descriptor = provider.workload_provider_lifecycle().call_describe(&mut *store)?;
    Ok(from_guest::descriptor(descriptor, WORLD))
}

/// A resource `operation` and the instance that it lives in.
pub(crate) struct Operation {
    provider: bindings::WorkloadProvider,
    resource: ResourceAny,
}

impl Operation {
    pub(super) fn begin(
        pre: &Pre,
        store: &mut Store<Guest>,
        call: Call,
        context: Context,
    ) -> wasmtime::Result<Operation> {
        let provider = pre.instantiate(&mut *store)?;
        let context = to_guest::context(context);
        let lifecycle = provider.workload_provider_lifecycle();
        let resource = match call {
            Call::Discover { places, follow } => {
                lifecycle.call_discover(&mut *store, &context, &types::Scope { places }, follow)
            }
            Call::Status { ids, follow } => lifecycle.call_status(&mut *store, &context, &ids, follow),
            Call::Create { specs } => {
                let specs: Vec<types::Spec> = specs.into_iter().map(to_guest::spec).collect();
                lifecycle.call_create(&mut *store, &context, &specs)
            }
            Call::Start { ids } => lifecycle.call_start(&mut *store, &context, &ids),
            Call::Stop { ids, intent } => {
                lifecycle.call_stop(&mut *store, &context, &ids, to_guest::stop_intent(intent))
            }
            Call::Delete { ids, intent } => {
                lifecycle.call_delete(&mut *store, &context, &ids, to_guest::stop_intent(intent))
            }
        }?;
        Ok(Operation { provider, resource })
    }

    pub(super) fn step(&self, store: &mut Store<Guest>, now: u64, inputs: Vec<Input>) -> wasmtime::Result<Turn> {
        let events: Vec<lifecycle::Event> = inputs.into_iter().map(to_guest::event).collect();
        let lifecycle = self.provider.workload_provider_lifecycle();
        let turn = lifecycle.operation().call_step(&mut *store, self.resource, now, &events)?;
        Ok(from_guest::turn(turn))
    }
}
