//! Where a connection comes from and what it shows: for the operator, never for a provider.

use std::path::PathBuf;
use std::time::Duration;

use super::validity::Validity;

/// What is defined by name in a kubeconfig.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Context,
    Cluster,
    User,
}

impl Kind {
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Context => "context",
            Self::Cluster => "cluster",
            Self::User => "user",
        }
    }
}

/// A name that is used and defined more than once. The first counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Twice {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// One for each time, in the order in which they count.
    pub(crate) files: Vec<PathBuf>,
}

/// Whose certificates are taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Trusted {
    /// Those of the authorities of the kubeconfig, or of the service account.
    Authorities,
    /// Those of this machine's authorities.
    System,
    /// Whoever's: `insecure-skip-tls-verify`.
    Anybody,
    /// There is no TLS.
    #[default]
    Nobody,
}

/// Where a connection comes from. In a Pod without a kubeconfig there is neither file nor name.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Origin {
    /// The files that were read.
    pub(crate) files: Vec<PathBuf>,
    pub(crate) cluster: Option<String>,
    pub(crate) user: Option<String>,
    /// What the context uses of that which is defined more than once.
    pub(crate) twice: Vec<Twice>,
    pub(crate) trusted: Trusted,
    /// The client certificate, if there is one.
    pub(crate) certificate: Option<Validity>,
}

/// The token that is sent, if one is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Credential {
    None,
    Token(Validity),
    File {
        path: PathBuf,
        /// Since it was written, if that can be told.
        age: Option<Duration>,
        validity: Validity,
    },
}
