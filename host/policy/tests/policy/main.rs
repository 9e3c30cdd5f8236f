//! The policy from outside: the attack list by its numbers, the catalogue, bodies, grants, and properties of all of them.

#![allow(
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "all of this is tests; clippy only knows so within the functions marked as such"
)]

mod ask;
mod attacks;
mod attacks_meaning;
mod bodies;
mod catalogue;
mod fields;
mod grants;
mod properties;
