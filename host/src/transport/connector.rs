//! Opens connections: resolve, connect, shake hands, all within one time limit.

use std::io;
use std::net::SocketAddr;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::{FixedServerNameResolver, HttpsConnector, HttpsConnectorBuilder, MaybeHttpsStream};
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tower_service::Service;

use super::endpoint::Endpoint;
use super::tls::Tls;

/// Silence after which a peer is asked whether it still lives. Watches are silent for minutes, and a load balancer
/// forgets a connection without a word.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Time between two such questions, and how many go unanswered before the connection counts as dead.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// Time that sent bytes may stay unacknowledged (Linux). Otherwise the kernel tries for a quarter of an hour.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// Connects to one endpoint. No proxy of the environment is used.
#[derive(Clone)]
pub(super) struct Connector {
    inner: HttpsConnector<HttpConnector<Resolver>>,
    limit: Duration,
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint, tls: &Tls, limit: Duration) -> Connector {
        let mut tcp = HttpConnector::new_with_resolver(Resolver {
            inner: GaiResolver::new(),
            // A `localhost` that a resolver sends elsewhere must not get a credential in plain text.
            loopback_only: !endpoint.tls(),
        });
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));

        let builder = HttpsConnectorBuilder::new().with_tls_config(tls.config());
        // The scheme is the endpoint's own, which allows plain http to loopback only.
        let builder = if endpoint.tls() { builder.https_only() } else { builder.https_or_http() };
        let builder = match tls.server_name() {
            Some(name) => builder.with_server_name_resolver(FixedServerNameResolver::new(name)),
            None => builder,
        };
        Connector { inner: builder.enable_http1().wrap_connector(tcp), limit }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = BoxError;
    type Future = BoxFuture<'static, Result<Self::Response, BoxError>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), BoxError>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let connecting = self.inner.call(uri);
        let limit = self.limit;
        async move {
            match tokio::time::timeout(limit, connecting).await {
                Ok(connected) => connected,
                Err(_) => Err(io::Error::from(io::ErrorKind::TimedOut).into()),
            }
        }
        .boxed()
    }
}

/// The system's resolver, and where only loopback is allowed, a check of what it says.
#[derive(Clone)]
struct Resolver {
    inner: GaiResolver,
    loopback_only: bool,
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = io::Error;
    type Future = BoxFuture<'static, io::Result<Self::Response>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolving = self.inner.call(name);
        let loopback_only = self.loopback_only;
        async move {
            let found = resolving.await?.filter(|address| !loopback_only || address.ip().is_loopback());
            let found: Vec<SocketAddr> = found.collect();
            if found.is_empty() {
                return Err(io::Error::new(io::ErrorKind::AddrNotAvailable, "no address that may be used"));
            }
            Ok(found.into_iter())
        }
        .boxed()
    }
}
