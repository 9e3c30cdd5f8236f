//! What goes wrong on the way, and between two who want something at once: the real component in the real host, on a
//! clock that is paused.
#![allow(
    clippy::panic,
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "code of tests: a failure here is a failed test"
)]

mod budgets;
mod class;
mod everywhere;
mod inside;
mod tls;
mod together;
mod waiting;
