//! The promises of the SDK, each held against a small provider of its own.

mod driver;
mod provider;
mod shared;
mod steps;
mod waiting;
mod winding;
