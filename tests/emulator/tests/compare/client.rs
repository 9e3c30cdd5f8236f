//! A plain HTTP client: one connection for a request, nothing retried, nothing interpreted. It shares no code with the
//! project's transport, so that both cannot be wrong in the same way.

use std::time::Duration;

use anyhow::{Context, Result, anyhow};
use bytes::Bytes;
use http::{HeaderMap, Method, Request};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;

use crate::server::{Server, Who};

/// How long anything may take that should happen. Generous: two cores may run a whole cluster beside the tests.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// One request, ready to be sent.
#[derive(Clone, Debug)]
pub struct Call {
    pub who: Who,
    pub method: Method,
    /// Path and query, encoded.
    pub target: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Option<Bytes>,
}

/// A whole answer.
#[derive(Debug)]
pub struct Answer {
    pub code: u16,
    pub headers: HeaderMap,
    pub body: Bytes,
}

/// An answer whose body arrives bit by bit: a watch.
pub struct Stream {
    pub code: u16,
    pub headers: HeaderMap,
    body: Incoming,
    buffer: Vec<u8>,
}

/// Sends a request and reads the answer to its end.
pub async fn send(server: &Server, call: &Call) -> Result<Answer> {
    let whole = async {
        let stream = open(server, call).await?;
        let body = stream.body.collect().await.with_context(|| format!("the body of {}", call.target))?.to_bytes();
        Ok(Answer { code: stream.code, headers: stream.headers, body })
    };
    tokio::time::timeout(PATIENCE, whole).await.map_err(|_| anyhow!("no answer: {} {}", call.method, call.target))?
}

/// Sends a request and returns when the head of the answer is there.
pub async fn open(server: &Server, call: &Call) -> Result<Stream> {
    let config = if call.who == Who::Admin { &server.with_certificate } else { &server.without };
    let (host, _) = server.authority.rsplit_once(':').context("an address without a port")?;
    let tcp = TcpStream::connect(&server.authority).await.with_context(|| server.authority.clone())?;
    let tls = TlsConnector::from(config.clone()).connect(ServerName::try_from(host.to_owned())?, tcp).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(tls)).await?;
    // Ends with the answer, or when whoever reads it lets go of it.
    tokio::spawn(connection);
    let mut request = Request::builder().method(call.method.clone()).uri(&call.target);
    request = request.header("host", &server.authority).header("user-agent", "compare/1");
    if let Some(token) = server.token(call.who) {
        request = request.header("authorization", format!("Bearer {token}"));
    }
    for (name, value) in &call.headers {
        request = request.header(*name, value);
    }
    let request = request.body(Full::new(call.body.clone().unwrap_or_default()))?;
    let (head, body) = sender.send_request(request).await.with_context(|| call.target.clone())?.into_parts();
    Ok(Stream { code: head.status.as_u16(), headers: head.headers, body, buffer: Vec::new() })
}

impl Stream {
    /// The next line, or none at the end; a last line may lack its end.
    pub async fn line(&mut self) -> Result<Option<Vec<u8>>> {
        loop {
            if let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') {
                let rest = self.buffer.split_off(end + 1);
                let mut line = std::mem::replace(&mut self.buffer, rest);
                line.truncate(end);
                return Ok(Some(line));
            }
            let frame = tokio::time::timeout(PATIENCE, self.body.frame()).await.context("a watch that says nothing")?;
            match frame {
                Some(frame) => {
                    if let Ok(data) = frame?.into_data() {
                        self.buffer.extend_from_slice(&data);
                    }
                }
                None if self.buffer.is_empty() => return Ok(None),
                None => return Ok(Some(std::mem::take(&mut self.buffer))),
            }
        }
    }
}
