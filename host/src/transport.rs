//! Sends allowed requests to a Kubernetes API server, with the operator's credential, over verified TLS.
//!
//! The one place that knows the server's address and the credential. kube reads the kubeconfig's format, no more; the
//! TLS configuration, the credentials, the time limits and the checks of what comes back are ours, because kube's
//! retry writes, wait without end, take a token file's newline for part of the token, and run plugins unasked.
//!
//! ```text
//! kubeconfig -> Connection -> KubernetesUpstream: credentials -> client (pool, TLS) -> answer (limits, redaction)
//! ```
//!
//! What leaves: the request line, and `host`, `accept`, `authorization`, `content-type` and `content-length` of a body,
//! `user-agent`, `accept-encoding: identity`. Nothing of a provider can become a header. What comes back: a status, a
//! few parsed headers, and a body that does not hold the credential. Failures are classes without a text; what is
//! logged here names the class, never a host, path, header or token.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::limits;
use crate::model::Failure;
use crate::upstream::{Incoming, Outgoing, Upstream};

mod answer;
mod client;
mod connector;
mod credentials;
mod endpoint;
mod error;
mod in_process;
mod kubeconfig;
mod media;
mod origin;
mod probe;
mod redact;
mod tls;
mod trouble;
mod validity;

pub use error::ConfigError;
pub use in_process::{Handler, HandlerBody, InProcess};
pub use kubeconfig::KubeconfigOptions;
pub(crate) use origin::{Credential, Origin, Trusted};
pub(crate) use probe::{Answered, Probe};
pub(crate) use trouble::{Trouble, Unreached, Why};
pub(crate) use validity::Validity;

use credentials::Credentials;
use endpoint::Endpoint;
use tls::Tls;

/// Time to resolve, connect and shake hands. A server in reach answers within a second; a filtered port never does.
pub const CONNECT: Duration = Duration::from_secs(10);

/// Time from handing over a request to the head of its answer, connecting and a repeat after a 401 included. API
/// servers end ordinary requests after 60 s, but answer within one unless they are overloaded.
pub const HEADERS: Duration = Duration::from_secs(30);

/// The limits of one [`KubernetesUpstream`]. [`Default`] is the constants; tests and embedders may lower them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TransportLimits {
    /// Bytes of one body that is not a stream: [`limits::RESPONSE_BODY`].
    pub body: usize,
    /// Time to connect: [`CONNECT`].
    pub connect: Duration,
    /// Time to the head of an answer: [`HEADERS`].
    pub headers: Duration,
    /// Time between two chunks of a body: [`limits::RESPONSE_IDLE`].
    pub idle: Duration,
    /// Time between two chunks of a stream, at most: [`limits::STREAM_IDLE`]. A watch that says in `timeoutSeconds` when
    /// it ends is given up shortly after that.
    pub stream_idle: Duration,
}

impl Default for TransportLimits {
    fn default() -> TransportLimits {
        TransportLimits {
            body: limits::RESPONSE_BODY,
            connect: CONNECT,
            headers: HEADERS,
            idle: limits::RESPONSE_IDLE,
            stream_idle: limits::STREAM_IDLE,
        }
    }
}

/// Where a cluster is and who we are there: a kubeconfig's context, checked and with its files read.
///
/// `Debug` shows neither address nor credential.
#[derive(Clone)]
pub struct Connection {
    endpoint: Endpoint,
    tls: Tls,
    credentials: Credentials,
    namespace: String,
    context: Option<String>,
    origin: Arc<Origin>,
}

/// The namespace for bare names, without looking at anything else of the kubeconfig: of the options, else of the context,
/// else of the Pod that this runs in, else `default`, also where there is no kubeconfig at all. Blocks on reading a few
/// small files.
///
/// # Errors
/// A [`ConfigError`] for a kubeconfig that cannot be read, and for a context that was named and is not there.
pub fn namespace(options: &KubeconfigOptions) -> Result<String, ConfigError> {
    kubeconfig::namespace(options, &kubeconfig::Surroundings::of_process())
}

impl Connection {
    /// Reads the kubeconfig that `options` and the environment name, as `kubectl` would.
    ///
    /// The file named, else the files of `KUBECONFIG` merged, else `~/.kube/config`, else the service account of the Pod
    /// that this runs in. Blocks on reading a few small files.
    ///
    /// # Errors
    /// A [`ConfigError`] for whatever is missing or wrong, and for each way to authenticate that is not supported: there
    /// is no silent fall-back to an anonymous request.
    pub fn from_kubeconfig(options: KubeconfigOptions) -> Result<Connection, ConfigError> {
        kubeconfig::connection(&options, &kubeconfig::Surroundings::of_process())
    }

    /// The namespace for bare names: of the options, else of the context, else `default`.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.namespace
    }

    /// The name of the context; none in a Pod.
    #[must_use]
    pub fn context(&self) -> Option<&str> {
        self.context.as_deref()
    }

    /// Makes a way to send requests, with a pool of connections and TLS sessions of its own.
    ///
    /// Call it once for each provider: then no connection is ever used by two of them. Connects to nothing yet.
    ///
    /// # Errors
    /// None at present; what can be wrong was found by [`Connection::from_kubeconfig`].
    pub fn upstream(&self, limits: TransportLimits) -> Result<KubernetesUpstream, ConfigError> {
        let sender = client::Sender::new(self.endpoint.clone(), &self.tls, self.credentials.clone(), limits.clone());
        Ok(KubernetesUpstream { sender: Arc::new(sender), limits, trouble: Arc::default() })
    }
}

impl fmt::Debug for Connection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Connection")
            .field("context", &self.context)
            .field("namespace", &self.namespace)
            .field("credentials", &self.credentials)
            .finish_non_exhaustive()
    }
}

/// Sends requests to one API server with one credential. Clones share the pool.
#[derive(Clone)]
pub struct KubernetesUpstream {
    sender: Arc<client::Sender>,
    limits: TransportLimits,
    /// Of the last request that ended.
    trouble: Arc<Mutex<Option<Trouble>>>,
}

impl fmt::Debug for KubernetesUpstream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KubernetesUpstream").finish_non_exhaustive()
    }
}

impl Upstream for KubernetesUpstream {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let (sender, last) = (Arc::clone(&self.sender), Arc::clone(&self.trouble));
        async move {
            let (answer, trouble) = match sender.send(&request).await {
                Ok(incoming) => (Ok(incoming), None),
                Err(trouble) => (Err(trouble.failure), Some(trouble)),
            };
            *last.lock().unwrap_or_else(PoisonError::into_inner) = trouble;
            answer
        }
        .boxed()
    }

    fn trouble(&self) -> Option<String> {
        let last = self.trouble.lock().unwrap_or_else(PoisonError::into_inner);
        last.as_ref().map(|trouble| trouble.words(&self.limits))
    }
}
