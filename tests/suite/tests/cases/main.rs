//! Cases from public bug reports of other programs, by number: what was answered wrong there must not be here. Each runs
//! through the real component in the host, against a server that shows exactly the case. What the table of states says of
//! them is also tested in the provider, without a host.
//!
//! `a01` to `a40` are what others show or do wrong with a Deployment, `b01` and so on what goes wrong between a client and a
//! server. `fa` and `fb` are what was found out on a real cluster: where a plain reading of its objects is wrong, and what its
//! API does that nobody expects. A number behind a program's name is that of its public report.
#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod classes;
mod creates;
mod emulated;
mod ends;
mod findings;
mod followed;
mod lists;
mod moving;
mod states;
mod tokens;
mod transport;
mod writes;
