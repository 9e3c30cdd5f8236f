//! The emulator behind its listener, as a client sees it: a plain one, and one that looks at the bytes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod client;
mod connections;
mod credentials;
mod faults;
mod in_process;
mod kubeconfig;
mod program;
mod record;
mod watches;
