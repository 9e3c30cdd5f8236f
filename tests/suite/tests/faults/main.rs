//! What goes wrong on the way, and between two who want something at once: the real component in the real host, on a
//! clock that is paused.

mod everywhere;
mod inside;
