//! The provider that runs Kubernetes Deployments.
//!
//! A plain library that says which requests to make and what their answers mean; for wasm32 it is a component. It
//! sends nothing and knows no credential, address or clock.

pub mod answer;
pub mod api;
pub mod create;
pub mod id;
pub mod lifecycle;
pub mod ownership;
pub mod read;
pub mod request;
pub mod status;
pub mod time;

pub use lifecycle::Kubernetes;

#[cfg(target_arch = "wasm32")]
workload_guest::export!(Kubernetes);
