//! Opens connections: resolve, connect, shake hands, all within one time limit.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http::Uri;
use hyper_rustls::MaybeHttpsStream;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::client::legacy::connect::dns::{GaiResolver, Name};
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;
use tower_service::Service;

use super::endpoint::Endpoint;
use super::tls::Tls;
use super::trouble::Unreached;

/// Silence after which a peer is asked whether it still lives. Watches are silent for minutes, and a load balancer
/// forgets a connection without a word.
const KEEPALIVE: Duration = Duration::from_secs(15);

/// Time between two such questions, and how many go unanswered before the connection counts as dead.
const KEEPALIVE_INTERVAL: Duration = Duration::from_secs(5);
const KEEPALIVE_RETRIES: u32 = 3;

/// Time that sent bytes may stay unacknowledged (Linux). Otherwise the kernel tries for a quarter of an hour.
#[cfg(target_os = "linux")]
const UNACKNOWLEDGED: Duration = Duration::from_secs(30);

/// Connects to one endpoint. No proxy of the environment is used.
#[derive(Clone)]
pub(super) struct Connector {
    tcp: HttpConnector<Resolver>,
    tls: Option<(TlsConnector, Option<ServerName<'static>>)>,
    limit: Duration,
}

impl Connector {
    pub(super) fn new(endpoint: &Endpoint, tls: &Tls, limit: Duration) -> Connector {
        let mut tcp = HttpConnector::new_with_resolver(Resolver::of(endpoint));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(limit));
        tcp.set_keepalive(Some(KEEPALIVE));
        tcp.set_keepalive_interval(Some(KEEPALIVE_INTERVAL));
        tcp.set_keepalive_retries(Some(KEEPALIVE_RETRIES));
        #[cfg(target_os = "linux")]
        tcp.set_tcp_user_timeout(Some(UNACKNOWLEDGED));
        // The scheme is the endpoint's own, which allows plain http to loopback only.
        let tls = endpoint.tls().then(|| {
            let name = tls.server_name().or_else(|| ServerName::try_from(endpoint.host().to_owned()).ok());
            (TlsConnector::from(Arc::new(tls.config())), name)
        });
        Connector { tcp, tls, limit }
    }
}

impl Service<Uri> for Connector {
    type Response = MaybeHttpsStream<TokioIo<TcpStream>>;
    type Error = Unreached;
    type Future = BoxFuture<'static, Result<Self::Response, Unreached>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Unreached>> {
        self.tcp.poll_ready(context).map_err(|error| Unreached::of_tcp(&error))
    }

    fn call(&mut self, uri: Uri) -> Self::Future {
        let deadline = Instant::now() + self.limit;
        let (connecting, tls) = (self.tcp.call(uri), self.tls.clone());
        async move {
            let tcp = match timeout_at(deadline, connecting).await {
                Err(_) => return Err(Unreached::Silent),
                Ok(connected) => connected.map_err(|error| Unreached::of_tcp(&error))?,
            };
            let Some((connector, name)) = tls else { return Ok(MaybeHttpsStream::Http(tcp)) };
            // A kubeconfig whose server has no name to verify was refused.
            let name = name.ok_or(Unreached::Handshake)?;
            match timeout_at(deadline, connector.connect(name, TokioIo::new(tcp))).await {
                Err(_) => Err(Unreached::SilentTls),
                Ok(shaken) => shaken.map(MaybeHttpsStream::from).map_err(|error| Unreached::of_tls(&error)),
            }
        }
        .boxed()
    }
}

/// The system's resolver, and where only loopback is allowed, a check of what it says.
#[derive(Clone)]
pub(super) struct Resolver {
    inner: GaiResolver,
    loopback_only: bool,
}

impl Resolver {
    pub(super) fn of(endpoint: &Endpoint) -> Resolver {
        // A `localhost` that a resolver sends elsewhere must not get a credential in plain text.
        Resolver { inner: GaiResolver::new(), loopback_only: !endpoint.tls() }
    }

    /// The addresses of a host, as a connection would find them.
    pub(super) async fn addresses(mut self, host: &str) -> Result<Vec<IpAddr>, Unreached> {
        if let Ok(address) = host.parse() {
            return Ok(vec![address]);
        }
        let name = host.parse::<Name>().map_err(|_| Unreached::Unresolved)?;
        let mut found: Vec<IpAddr> = self.call(name).await?.map(|address| address.ip()).collect();
        found.dedup();
        Ok(found)
    }
}

impl Service<Name> for Resolver {
    type Response = std::vec::IntoIter<SocketAddr>;
    type Error = Unreached;
    type Future = BoxFuture<'static, Result<Self::Response, Unreached>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Unreached>> {
        self.inner.poll_ready(context).map_err(|_: io::Error| Unreached::Unresolved)
    }

    fn call(&mut self, name: Name) -> Self::Future {
        let resolving = self.inner.call(name);
        let loopback_only = self.loopback_only;
        async move {
            let mut found: Vec<SocketAddr> = resolving.await.map_err(|_| Unreached::Unresolved)?.collect();
            if found.is_empty() {
                return Err(Unreached::Unresolved);
            }
            found.retain(|address| !loopback_only || address.ip().is_loopback());
            if found.is_empty() { Err(Unreached::NotLoopback) } else { Ok(found.into_iter()) }
        }
        .boxed()
    }
}
