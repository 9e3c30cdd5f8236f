//! What an author implements, and the macro that makes a component of it.

use crate::{Cx, Descriptor, Fault, FaultKind, Operation, Outcome, Scope, Spec, StopIntent};

/// A provider, written for one workload at a time.
///
/// One value is made per operation and shared by its ids, so it is the place for what they share: a list that one
/// reads for all, a watch. Calls that an engine cannot do are left out; they answer `unsupported`.
#[allow(async_fn_in_trait, reason = "an instance has one thread: no future needs to be `Send`")]
pub trait Provider: Sized + 'static {
    /// Who this is and what it would like to be allowed.
    fn describe() -> Descriptor;

    /// Called once at the start of each operation.
    fn new(operation: Operation) -> Self;

    /// Find the workloads that are ours: [`Cx::emit`] each, and [`Cx::incomplete`] for a place that could not be read.
    /// With `follow`, emit each change until a stop.
    async fn discover(&self, cx: Cx, scope: Scope, follow: bool);

    /// What state one workload is in. With `follow`, emit each change until a stop.
    async fn status(&self, cx: Cx, id: String, follow: bool) -> Result<Outcome, Fault>;

    /// Make one.
    async fn create(&self, cx: Cx, spec: Spec) -> Result<Outcome, Fault> {
        let _ = (cx, spec);
        Err(unsupported("create"))
    }

    /// Start one and wait until it runs.
    async fn start(&self, cx: Cx, id: String) -> Result<Outcome, Fault> {
        let _ = (cx, id);
        Err(unsupported("start"))
    }

    /// Stop one and wait until it has stopped.
    async fn stop(&self, cx: Cx, id: String, intent: StopIntent) -> Result<Outcome, Fault> {
        let _ = (cx, id, intent);
        Err(unsupported("stop"))
    }

    /// Delete one and wait until it is gone.
    async fn delete(&self, cx: Cx, id: String, intent: StopIntent) -> Result<Outcome, Fault> {
        let _ = (cx, id, intent);
        Err(unsupported("delete"))
    }
}

fn unsupported(call: &str) -> Fault {
    Fault::new(FaultKind::Unsupported, format!("this provider has no {call}"))
}

/// Makes the crate a component that exports this [`Provider`]. Once per crate, and only for wasm32:
///
/// ```
/// #[cfg(target_arch = "wasm32")]
/// workload_guest::export!(Lamps);
/// ```
#[macro_export]
macro_rules! export {
    ($provider:ty) => {
        #[allow(unsafe_code, missing_docs, reason = "the exports of a component are functions without names of Rust")]
        const _: () = {
            type Exported = $crate::Component<$provider>;
    $crate::bindings::export_component!(Exported with_types_in $crate::bindings);
        };
    };
}
