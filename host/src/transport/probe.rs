//! The connection of the operator's own checks: it may tell what a provider must not know.

use std::net::IpAddr;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::StreamExt as _;

use super::client::Sender;
use super::connector::Resolver;
use super::credentials::Credentials;
use super::origin::{Credential, Origin};
use super::trouble::{Trouble, Unreached};
use super::{Connection, TransportLimits};
use crate::model::{Failure, Media, Method};
use crate::upstream::Outgoing;

/// Bytes of an answer that are read. The largest, a Namespace with all its annotations, is below 1.5 MiB.
const BODY: usize = 2 << 20;

/// Sends requests as [`super::KubernetesUpstream`] does, and says more of what comes of them.
pub(crate) struct Probe<'a> {
    connection: &'a Connection,
    sender: Sender,
    limit: Duration,
}

/// A whole answer.
#[derive(Debug)]
pub(crate) struct Answered {
    pub(crate) status: u16,
    /// The server's clock, in milliseconds of the Unix epoch.
    pub(crate) date_ms: Option<u64>,
    pub(crate) body: Bytes,
}

impl<'a> Probe<'a> {
    /// `limit` is the time for each single thing: resolving, connecting, an answer, the rest of a body.
    pub(crate) fn new(connection: &'a Connection, limit: Duration) -> Probe<'a> {
        let usual = TransportLimits::default();
        let limits = TransportLimits {
            body: BODY,
            connect: usual.connect.min(limit),
            // Longer than to connect, so that it is told which of the two takes too long.
            headers: limit + limit / 4,
            idle: usual.idle.min(limit),
            ..usual
        };
        let sender = Sender::new(connection.endpoint.clone(), &connection.tls, connection.credentials.clone(), limits);
        Probe { connection, sender, limit }
    }

    pub(crate) fn origin(&self) -> &Origin {
        &self.connection.origin
    }

    /// The server as the kubeconfig names it.
    pub(crate) fn server(&self) -> &str {
        self.connection.endpoint.shown()
    }

    /// Its name or address alone.
    pub(crate) fn host(&self) -> &str {
        self.connection.endpoint.host()
    }

    /// Its name or address, with the port if one is given.
    pub(crate) fn authority(&self) -> &str {
        self.connection.endpoint.authority()
    }

    /// Whether it speaks TLS.
    pub(crate) fn tls(&self) -> bool {
        self.connection.endpoint.tls()
    }

    /// The name that its certificate must have.
    pub(crate) fn verified_name(&self) -> String {
        let named = self.connection.tls.server_name();
        named.map_or_else(|| self.host().to_owned(), |name| name.to_str().into_owned())
    }

    /// The token, without itself. Reads how old its file is.
    pub(crate) async fn credential(&self) -> Credential {
        match &self.connection.credentials {
            Credentials::None => Credential::None,
            Credentials::Fixed(token) => Credential::Token(token.validity()),
            Credentials::File(file) => {
                let path = file.path().to_owned();
                let about = path.clone();
                let age = tokio::task::spawn_blocking(move || {
                    let written = std::fs::metadata(about).and_then(|found| found.modified()).ok()?;
                    written.elapsed().ok()
                });
                let age = age.await.ok().flatten();
                let token = self.connection.credentials.current().await.token;
                Credential::File { path, age, validity: token.map(|token| token.validity()).unwrap_or_default() }
            }
        }
    }

    /// The addresses of the server.
    pub(crate) async fn addresses(&self) -> Result<Vec<IpAddr>, Unreached> {
        let resolver = Resolver::of(&self.connection.endpoint);
        let found = tokio::time::timeout(self.limit, resolver.addresses(self.host())).await;
        found.unwrap_or(Err(Unreached::Unresolved))
    }

    /// Asks for a document.
    pub(crate) async fn get(&self, target: &str) -> Result<Answered, Trouble> {
        self.send(Method::Get, target, None).await
    }

    /// Sends a document, of which nothing is stored.
    pub(crate) async fn post(&self, target: &str, document: &serde_json::Value) -> Result<Answered, Trouble> {
        self.send(Method::Post, target, Some((Media::Json, Bytes::from(document.to_string())))).await
    }

    async fn send(&self, method: Method, target: &str, body: Option<(Media, Bytes)>) -> Result<Answered, Trouble> {
        let request = Outgoing { method, target: target.to_owned(), accept: Media::Json, body, streaming: false };
        let mut incoming = self.sender.send(&request).await?;
        let mut body = BytesMut::new();
        while let Some(chunk) = incoming.body.next().await {
            let cause = |failure| match failure {
                Failure::Timeout => "silence within an answer",
                Failure::TooLarge => "an answer of more than two megabytes",
                _ => "an answer that was cut",
            };
            body.extend_from_slice(&chunk.map_err(|failure| Trouble::new(failure, cause(failure)))?);
        }
        Ok(Answered { status: incoming.status, date_ms: incoming.date_ms, body: body.freeze() })
    }
}
