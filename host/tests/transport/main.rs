//! The transport against a real TLS server on loopback that writes what no proper server would.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on is a failed test"
)]

mod answers;
mod credentials;
mod requests;
mod secrecy;
mod server;
mod timing;
mod trust;
