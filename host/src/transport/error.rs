//! What can be wrong with a kubeconfig.

use std::io;
use std::path::PathBuf;

/// Why there is no connection to be had from a kubeconfig.
///
/// For the operator: it names files, contexts, clusters and users, as far as they are needed to find the mistake. It
/// never holds a token, a key, a certificate, a server's address, or a line of the file.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// Nothing to read, and not in a Pod.
    #[error("no kubeconfig: looked for {looked}; name one with --kubeconfig or KUBECONFIG")]
    NoKubeconfig {
        /// The places, for a person.
        looked: String,
    },
    /// A kubeconfig could not be read.
    #[error("the kubeconfig {} cannot be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A kubeconfig is not text, not YAML, or not a kubeconfig.
    #[error("the kubeconfig {} is not valid{}", path.display(), at(*line))]
    Parse {
        /// The file.
        path: PathBuf,
        /// Where, counted from 1, if that is known.
        line: Option<u64>,
    },
    /// Files of `KUBECONFIG` of different kinds or versions.
    #[error("the files of KUBECONFIG differ in kind or apiVersion and cannot be merged")]
    Merge,
    /// No context was asked for and there is no current one.
    #[error("the kubeconfig has no current-context and none was named; it has: {available}")]
    NoContext {
        /// The contexts that exist.
        available: String,
    },
    /// There is no such context.
    #[error("there is no context {context:?} in the kubeconfig; it has: {available}")]
    ContextNotFound {
        /// The one looked for.
        context: String,
        /// The contexts that exist.
        available: String,
    },
    /// The context names a cluster that does not exist.
    #[error("the context {context:?} names the cluster {cluster:?}, which is not in the kubeconfig")]
    ClusterNotFound {
        /// The context.
        context: String,
        /// The cluster looked for.
        cluster: String,
    },
    /// The context names a user that does not exist.
    #[error("the context {context:?} names the user {user:?}, which is not in the kubeconfig")]
    UserNotFound {
        /// The context.
        context: String,
        /// The user looked for.
        user: String,
    },
    /// The cluster has no address.
    #[error("the cluster {cluster:?} has no server")]
    NoServer {
        /// The cluster.
        cluster: String,
    },
    /// The cluster's address is of no use.
    #[error("the server of the cluster {cluster:?} cannot be used: {why}")]
    BadServer {
        /// The cluster.
        cluster: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// Something of the cluster other than its address is wrong.
    #[error("{field} of the cluster {cluster:?} cannot be used: {why}")]
    BadCluster {
        /// The cluster.
        cluster: String,
        /// The field of the kubeconfig.
        field: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A credential of the user is wrong.
    #[error("{field} of the user {user:?} cannot be used: {why}")]
    BadUser {
        /// The user.
        user: String,
        /// The field of the kubeconfig.
        field: &'static str,
        /// What is wrong with it.
        why: &'static str,
    },
    /// A file that the kubeconfig names could not be read.
    #[error("{field} names the file {}, which cannot be read", path.display())]
    File {
        /// The field of the kubeconfig.
        field: &'static str,
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The user has no credential at all.
    #[error("the context {context:?} has no credential: a client certificate, a token or a token file is needed")]
    NoCredential {
        /// The context.
        context: String,
    },
    /// The kubeconfig asks for what this host does not do.
    #[error("the kubeconfig uses {field} for {of:?}, which is not supported")]
    Unsupported {
        /// The field of the kubeconfig.
        field: &'static str,
        /// The user or cluster.
        of: String,
    },
    /// The machine's own certificate authorities could not be used.
    #[error("there is no certificate-authority for the cluster {cluster:?}, and this machine's own cannot be used")]
    SystemRoots {
        /// The cluster.
        cluster: String,
    },
}

fn at(line: Option<u64>) -> String {
    line.map(|line| format!(" (line {line})")).unwrap_or_default()
}
