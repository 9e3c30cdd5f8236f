//! A plain client of HTTP/1.1 over TLS that repeats nothing and hides nothing.

use std::error::Error;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, Request, StatusCode};
use http_body_util::{BodyExt, Full};
use hyper::body::Incoming;
use hyper::client::conn::http1::{self, SendRequest};
use hyper_util::rt::TokioIo;
use kube_emulator::serve::Issued;
use kube_emulator::{Emulator, Server};
use rustls::client::ResolvesClientCert;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use rustls::sign::CertifiedKey;
use rustls::{ClientConfig, RootCertStore, SignatureScheme};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

/// Where namespaces are: a resource that needs nothing else.
pub const NAMESPACES: &str = "/api/v1/namespaces";

/// A server that nobody asked anything yet.
pub async fn server() -> Server {
    Emulator::default().listen(([127, 0, 0, 1], 0).into()).await.unwrap()
}

/// Whether a namespace is there: whether its creation took effect.
pub fn exists(server: &Server, name: &str) -> bool {
    let key = kube_emulator::store::Key::new(&kube_emulator::resource::NAMESPACES, "", name);
    server.emulator().state().store.get(&key).is_some()
}

/// What takes longer does not come: no test is to wait for ever.
pub async fn patient<F: Future>(future: F) -> F::Output {
    tokio::time::timeout(std::time::Duration::from_secs(60), future).await.expect("it takes too long")
}

#[derive(Clone)]
pub struct Client {
    address: SocketAddr,
    tls: ClientConfig,
    token: Option<String>,
}

impl Client {
    /// Without a credential.
    pub fn anonymous(server: &Server) -> Client {
        Client { address: server.address(), tls: builder(server).with_no_client_auth(), token: None }
    }

    /// As the administrator, by token.
    pub fn new(server: &Server) -> Client {
        Client::anonymous(server).with_token(server.admin_token())
    }

    pub fn with_token(mut self, token: &str) -> Client {
        self.token = Some(token.to_owned());
        self
    }

    pub fn with_certificate(server: &Server, certificate: &str, key: &str) -> Client {
        let certificate = CertificateDer::from_pem_slice(certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(key.as_bytes()).unwrap();
        let tls = builder(server).with_client_auth_cert(vec![certificate], key).unwrap();
        Client { tls, ..Client::anonymous(server) }
    }

    pub fn with_issued(server: &Server, issued: &Issued) -> Client {
        Client::with_certificate(server, &issued.certificate, &issued.key)
    }

    /// With a certificate and the key of another one.
    pub fn with_stolen_certificate(server: &Server, stolen: &Issued, own: &Issued) -> Client {
        let certificate = CertificateDer::from_pem_slice(stolen.certificate.as_bytes()).unwrap();
        let key = PrivateKeyDer::from_pem_slice(own.key.as_bytes()).unwrap();
        let key = rustls::crypto::ring::sign::any_supported_type(&key).unwrap();
        let stolen = Stolen(Arc::new(CertifiedKey::new(vec![certificate], key)));
        let tls = builder(server).with_client_cert_resolver(Arc::new(stolen));
        Client { tls, ..Client::anonymous(server) }
    }

    pub fn with_protocols(mut self, protocols: &[&str]) -> Client {
        self.tls.alpn_protocols = protocols.iter().map(|protocol| protocol.as_bytes().to_vec()).collect();
        self
    }

    /// A connection for bytes.
    pub async fn tls(&self) -> io::Result<TlsStream<TcpStream>> {
        let tls = TlsConnector::from(Arc::new(self.tls.clone()));
        let name = ServerName::from(self.address.ip());
        patient(async { tls.connect(name, TcpStream::connect(self.address).await?).await }).await
    }

    /// A connection for requests.
    pub async fn connect(&self) -> io::Result<Connection> {
        let (sender, connection) = http1::handshake(TokioIo::new(self.tls().await?)).await.map_err(io::Error::other)?;
        // It tells each request how it ended.
        tokio::spawn(async move { connection.await.ok() });
        Ok(Connection { sender, token: self.token.clone() })
    }

    /// One request on a connection of its own.
    pub async fn ask(&self, method: &str, target: &str, body: &str) -> Answer {
        self.connect().await.unwrap().ask(method, target, body).await
    }

    pub async fn get(&self, target: &str) -> Answer {
        self.ask("GET", target, "").await
    }

    /// Creates a namespace.
    pub async fn create(&self, name: &str) -> Answer {
        self.ask("POST", NAMESPACES, &namespace(name)).await
    }

    /// A watch of all namespaces from a version on.
    pub async fn watch(&self, version: u64) -> Lines {
        let target = format!("{NAMESPACES}?watch=true&resourceVersion={version}");
        let response = self.connect().await.unwrap().send("GET", &target, "").await.unwrap();
        assert_eq!(response.status(), 200);
        Lines { body: response.into_body(), held: Vec::new() }
    }
}

#[derive(Debug)]
struct Stolen(Arc<CertifiedKey>);

impl ResolvesClientCert for Stolen {
    fn resolve(&self, _authorities: &[&[u8]], _schemes: &[SignatureScheme]) -> Option<Arc<CertifiedKey>> {
        Some(Arc::clone(&self.0))
    }

    fn has_certs(&self) -> bool {
        true
    }
}

fn builder(server: &Server) -> rustls::ConfigBuilder<ClientConfig, rustls::client::WantsClientCert> {
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_slice(server.ca_pem().as_bytes()).unwrap()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    builder.with_root_certificates(roots)
}

pub fn namespace(name: &str) -> String {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}).to_string()
}

pub struct Connection {
    sender: SendRequest<Full<Bytes>>,
    token: Option<String>,
}

impl Connection {
    pub async fn send(&mut self, method: &str, target: &str, body: &str) -> hyper::Result<http::Response<Incoming>> {
        let mut request = Request::builder().method(method).uri(target).header("host", "localhost");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if !body.is_empty() {
            request = request.header("content-type", "application/json");
        }
        let body = Full::from(Bytes::copy_from_slice(body.as_bytes()));
        self.sender.ready().await?;
        self.sender.send_request(request.body(body).unwrap()).await
    }

    pub async fn ask(&mut self, method: &str, target: &str, body: &str) -> Answer {
        patient(self.ask_for_ever(method, target, body)).await
    }

    async fn ask_for_ever(&mut self, method: &str, target: &str, body: &str) -> Answer {
        let response = match self.send(method, target, body).await {
            Ok(response) => response,
            Err(error) => return Answer { head: None, body: Vec::new(), error: Some(error) },
        };
        let (parts, mut body) = response.into_parts();
        let mut answer = Answer { head: Some((parts.status, parts.headers)), body: Vec::new(), error: None };
        while let Some(frame) = body.frame().await {
            match frame {
                Ok(frame) => answer.body.extend_from_slice(frame.data_ref().unwrap()),
                Err(error) => answer.error = Some(error),
            }
        }
        answer
    }
}

/// All that came, and why no more came.
#[derive(Debug)]
pub struct Answer {
    head: Option<(StatusCode, HeaderMap)>,
    pub body: Vec<u8>,
    error: Option<hyper::Error>,
}

impl Answer {
    /// The status; 0 if there was none.
    pub fn status(&self) -> u16 {
        self.head.as_ref().map_or(0, |(status, _)| status.as_u16())
    }

    pub fn header(&self, name: &str) -> &str {
        self.head.as_ref().and_then(|(_, headers)| headers.get(name)).map_or("", |value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        str::from_utf8(&self.body).unwrap()
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        assert!(self.error.is_none(), "{:?}", self.error);
        serde_json::from_slice(&self.body).unwrap()
    }

    /// `whole`, or how it broke.
    pub fn end(&self) -> &'static str {
        let Some(error) = &self.error else { return "whole" };
        let mut cause: Option<&(dyn Error + 'static)> = Some(error);
        while let Some(error) = cause {
            match error.downcast_ref::<io::Error>().map(io::Error::kind) {
                Some(io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe) => return "reset",
                Some(io::ErrorKind::UnexpectedEof) => return "closed",
                _ => cause = error.source(),
            }
        }
        match error {
            error if error.is_parse() => "garbage",
            error if error.is_incomplete_message() || error.is_body_write_aborted() => "closed",
            _ => "other",
        }
    }
}

/// The lines of a watch.
pub struct Lines {
    body: Incoming,
    held: Vec<u8>,
}

impl Lines {
    /// The next event; none at the end. An error is one of the connection.
    pub async fn next(&mut self) -> hyper::Result<Option<Value>> {
        loop {
            if let Some(end) = self.held.iter().position(|&byte| byte == b'\n') {
                let line: Vec<_> = self.held.drain(..=end).collect();
                return Ok(Some(serde_json::from_slice(&line).unwrap()));
            }
            let Some(frame) = patient(self.body.frame()).await.transpose()? else {
                assert!(self.held.is_empty(), "half a line: {:?}", String::from_utf8_lossy(&self.held));
                return Ok(None);
            };
            self.held.extend_from_slice(frame.data_ref().unwrap());
        }
    }

    /// The next event's type and name.
    pub async fn event(&mut self) -> String {
        match self.next().await.unwrap() {
            Some(event) => {
                let name = event.pointer("/object/metadata/name").and_then(Value::as_str).unwrap_or_default();
                format!("{} {name}", event["type"].as_str().unwrap())
            }
            None => "end".to_owned(),
        }
    }
}
