//! Why a provider cannot be loaded or used.

use std::path::PathBuf;

use crate::model::Fault;

/// Errors of this crate. How an operation ended is never one of these: that is a [`Fault`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The component's file cannot be read.
    #[error("cannot read the component {path}")]
    Read {
        /// As it was given.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },

    /// The component's file is larger than [`crate::Limits::component`].
    #[error("the component is larger than {limit} bytes")]
    TooLarge {
        /// The limit in bytes.
        limit: usize,
    },

    /// Not a component: a core module, text, a cut or damaged file.
    #[error("not a component: {what}")]
    NotAComponent {
        /// What it is instead, or where it ends.
        what: String,
    },

    /// It imports what would be a way out of the sandbox.
    #[error("the component imports {}; a provider imports nothing but types", names.join(", "))]
    Imports {
        /// Each refused import, by name.
        names: Vec<String>,
    },

    /// It is a component but no provider of a world that this host serves.
    #[error("not a provider of {wanted}: {what}")]
    World {
        /// The export that was looked for.
        wanted: &'static str,
        /// What is wrong with it.
        what: String,
    },

    /// It uses what this host refuses before it compiles anything.
    #[error("the component is refused: {what}")]
    Refused {
        /// What, and why.
        what: String,
    },

    /// It did not compile.
    #[error("the component does not compile: {what}")]
    Compile {
        /// What the compiler said.
        what: String,
    },

    /// It broke a limit, or trapped, when it was asked to describe itself.
    #[error("the component cannot describe itself: {}", fault.message)]
    Describe {
        /// How it broke.
        fault: Fault,
    },

    /// Its engine is none that this host knows.
    #[error("the provider speaks to the engine {engine}, which this host does not know")]
    UnknownEngine {
        /// The descriptor's word.
        engine: String,
    },

    /// The grants are wrong.
    #[error("the grants of provider {provider} are wrong")]
    Grants {
        /// The provider's name.
        provider: String,
        /// What is wrong with them.
        source: workload_policy::GrantError,
    },

    /// No provider of this name was loaded.
    #[error("there is no provider {name}")]
    NoProvider {
        /// The name that was asked for.
        name: String,
    },

    /// The sandbox cannot be set up on this machine.
    #[error("cannot set up the sandbox: {what}")]
    Sandbox {
        /// What failed.
        what: String,
    },
}
