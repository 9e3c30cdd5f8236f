//! A Kubernetes API server with its controllers, in memory: for the demo, for tests that need an engine which fails at
//! will, and for benchmarks.
//!
//! It is compared with a real cluster, answer by answer: README.md says how, and what differs.
//!
//! ```
//! # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
//! use kube_emulator::fault::{Fault, Rule, When};
//! use kube_emulator::pattern::Pattern;
//! use kube_emulator::{Emulator, Options};
//!
//! let emulator = Emulator::new(Options::default())?;
//! let server = emulator.listen(([127, 0, 0, 1], 0).into()).await?;
//! let kubeconfig = server.admin_kubeconfig();
//!
//! // The first write to a scale takes effect, but the client is not told.
//! let scaling = Pattern::resource("patch", "deployments/scale");
//! let lost = emulator.faults().add(Rule::on(scaling.clone(), Fault::Reset(When::After)).once());
//! # assert_eq!((lost.applied(), emulator.record().matching(&scaling).len()), (0, 0));
//! # assert!(kubeconfig.contains(&server.url()));
//! # Ok::<_, Box<dyn std::error::Error>>(()) })?; Ok::<_, Box<dyn std::error::Error>>(())
//! ```
#![allow(clippy::unreachable, reason = "said where it stands")]

pub mod admission;
pub mod api;
pub mod authorize;
pub mod call;
pub mod clock;
pub mod controllers;
pub mod defaults;
pub mod emulator;
pub mod error;
pub mod fault;
pub mod identity;
pub mod managed;
pub mod patch;
pub mod pattern;
pub mod quantity;
pub mod quote;
pub mod record;
pub mod registry;
pub mod resource;
pub mod scenario;
pub mod schema;
pub mod script;
pub mod selector;
pub mod serve;
pub mod state;
pub mod store;
pub mod validate;
pub mod value;
pub mod write;

pub use emulator::{Emulator, Options, Running};
pub use serve::{ServeError, Server, Written};
