//! The table and what it says, against made-up objects and recorded ones.

mod cases;
mod document;
mod findings;
mod given;
mod properties;
mod recordings;
mod rows;
mod signals;
mod telling;
