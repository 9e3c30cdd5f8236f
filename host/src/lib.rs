//! Runs workload providers: sandbox, policy, credentials, transport.
//!
//! A provider is a WebAssembly component that imports nothing but types. It says which requests to make and
//! what the answers mean; this crate decides whether a request is allowed ([`workload_policy`]), adds the
//! credentials and sends it ([`transport`]), and hands back the answer. The way in is [`Manager`].

pub mod audit;
pub mod doctor;
mod drive;
mod engine;
mod error;
pub mod limits;
pub mod manager;
pub mod model;
pub mod rbac;
mod steps;
#[cfg(test)]
mod testing;
pub mod text;
pub mod transport;
pub mod upstream;
mod world;

pub use audit::{AuditEvent, AuditSink};
pub use error::Error;
pub use limits::Limits;
pub use manager::{Inspection, Manager, Options, Provider, Report, Run, Settings, Settled, Source, grants};
pub use model::Event;
pub use workload_policy::Places;
