//! The provider that runs Kubernetes Deployments.
//!
//! A plain library that says which requests to make and what their answers mean; for wasm32 it is a component. It
//! sends nothing and knows no credential, address or clock.

mod answer;
mod api;
mod create;
mod id;
mod lifecycle;
mod ownership;
mod read;
mod request;
mod status;
mod time;

pub use lifecycle::Kubernetes;

#[cfg(target_arch = "wasm32")]
workload_guest::export!(Kubernetes);
