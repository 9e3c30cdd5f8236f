//! Providers that misbehave, for the host's tests.
//!
//! They are written on the raw bindings, not on the SDK's executor, which would keep the promises they break. Each
//! example is a component: `cargo build --profile component --target wasm32-unknown-unknown -p workload-hostile
//! --examples`.
//!
//! | component | what it does |
//! |---|---|
//! | `hostile-script` | what its setting `behaviour` says, see below |
//! | `hostile-describe-trap` | `describe` traps; otherwise as `hostile-script` |
//! | `hostile-describe-loop` | `describe` never returns; otherwise as `hostile-script` |
//! | `hostile-import` | imports the function `connect` of `evil:net/sockets@1.0.0` |
//!
//! # Behaviours of `hostile-script`
//!
//! All calls behave alike. Where a request is sent it is, unless said otherwise, a GET of the Deployment that the first
//! id names (`default/probe` if there is none). "Reports" means: each id settles with a fault of kind `denied` whose
//! detail says what came of each effect: a status (`200`), a failure in the words of the WIT (`denied`), or another
//! answer (`done`). Discover has no id to settle, so it then reports the same fault as incomplete, of the place
//! `report`. The setting `count` changes how many.
//!
//! Honest ones:
//! - `good`: one GET, then every id settles as `started` (discover emits a workload). Also without a behaviour.
//! - `echo`: one GET, then every id settles as `read` (discover emits) with everything that the provider was given
//!   among the workload's facts: `call`, `argument`, `deadline`, `plan`, `owner`, `id-key`, `label KEY`, `setting
//!   NAME`, `seed-length`, `record ID`, `now`, and of the answer `status`, `retry-after-ms`, `date-ms`, `media`,
//!   `header NAME`, `bytes`, or `failed`.
//!
//! What is run away with:
//! - `loop-call`, `loop-step`: the call, or the first step, never returns.
//! - `recurse`: recursion without end in a step.
//! - `grow`: memory without end in a step.
//! - `huge-return`: a turn of 9 MiB. `huge-return-100`: a turn of 100 MiB that is one buffer of 1 MiB, many times.
//! - `trap-call`, `trap-step`: the call, or the first step, traps. `trap-later`: the step after the first answer.
//!
//! Against the rules of steps:
//! - `stall`: nothing outstanding, nothing settled and not finished.
//! - `idle`: one sleep of an hour, then nothing.
//! - `sleep-forever`: a sleep of 1 ms, again and again. `sleep-zero`: of 0 ms. Nothing else ever happens.
//! - `emit-forever`: the same with an emitted workload in each turn.
//! - `duplicate-effect`: two effects of the same id in one turn. `reuse-effect`: the id again, after its answer.
//! - `settle-twice`: in one turn. `settle-again`: in a later one. `settle-unknown`: an id that nobody gave.
//! - `finish-unsettled`: finished, no id settled.
//! - `finish-asking`: settled and finished, and asks in the same turn (and in each further one).
//! - `drop-unknown`: drops an effect that was never asked for, then goes on as `good`.
//! - `escape`: settles with escape sequences, line ends and a bidirectional override in every text.
//!
//! Against quotas and grants:
//! - `burst`: `count` (100) GETs at once; reports how many got which answer.
//! - `flood`: `count` (10,000) GETs, 32 at a time; reports how many got which answer.
//! - `big-body`: a POST of a Deployment with a body of 2 MiB; reports.
//! - `write-unnamed`: a PATCH of the scale that names no workload; reports. `write-foreign`: one that names a
//!   workload which is not of this operation; reports.
//! - `write`: a PATCH of the scale, as it should be; reports. For audit records and plans.
//! - `out-of-grants`: a Secret's GET, `pods/exec`, a Deployment in `kube-system`, all namespaces, `/metrics`, a segment
//!   `..`; reports by these names: `secret`, `exec`, `other-namespace`, `all-namespaces`, `metrics`, `dots`.
//! - `exotic`: every effect that is no request; reports by `exec`, `forward`, `close`, `call`, `make-secret`,
//!   `forget-secret`, `checkpoint`, `forget-record`.
//!
//! Against winding down:
//! - `ignore-stop`: sleeps on and settles nothing, whatever it is told.
//! - `clean-forever`: the same, and says that it is cleaning once it was told to stop.
//! - `ask-after-stop`: after a stop a PATCH of the scale, then reports.

mod behaviour;
mod component;
mod given;

pub use component::{Describe, Hostile, descriptor};
