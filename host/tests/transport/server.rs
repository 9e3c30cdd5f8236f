//! A TLS server for tests: it records each request's bytes and plays a script of raw answers.

#[path = "../../src/testing.rs"]
mod testing;

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use futures_util::StreamExt as _;
use rcgen::{BasicConstraints, CertificateParams, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair};
use rustls::RootCertStore;
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use testing::until;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;
use workload_host::model::{Failure, Media, Method};
use workload_host::transport::{Connection, KubeconfigOptions, KubernetesUpstream, TransportLimits};
use workload_host::upstream::{Incoming, Outgoing, Upstream as _};

/// The token of most tests. What is searched for when something must not have got out.
pub const TOKEN: &str = "CANARY-7f3a9d/c1+token=";

/// A certificate authority of a test.
pub struct Authority {
    pub pem: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, in PEM.
#[derive(Clone)]
pub struct Identity {
    pub certificate: String,
    pub key: String,
}

impl Authority {
    pub fn new() -> Authority {
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Authority { pem, issuer: Issuer::new(params, key) }
    }

    pub fn issue(&self, names: &[&str], change: impl FnOnce(&mut CertificateParams)) -> Identity {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let mut params = CertificateParams::new(names).unwrap();
        change(&mut params);
        let key = KeyPair::generate().unwrap();
        Identity { certificate: params.signed_by(&key, &self.issuer).unwrap().pem(), key: key.serialize_pem() }
    }

    pub fn server(&self) -> Identity {
        self.issue(&["127.0.0.1"], |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth])
    }

    pub fn client(&self) -> Identity {
        self.issue(&["client"], |params| params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth])
    }
}

/// One thing that the server does with a request.
#[derive(Debug, Clone)]
pub enum Act {
    /// Writes these bytes and flushes.
    Send(Vec<u8>),
    /// Writes these bytes again and again until the client is gone.
    Flood(Vec<u8>),
    /// Does nothing until the client is gone.
    Hang,
    /// Ends the connection: with TLS's own goodbye, or without.
    Close { goodbye: bool },
}

pub fn send(bytes: impl AsRef<[u8]>) -> Act {
    Act::Send(bytes.as_ref().to_vec())
}

/// A proper answer with a body.
pub fn answer(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Act {
    let body = body.as_ref();
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n", body.len());
    Act::Send([head.as_bytes(), body].concat())
}

pub fn ok(body: impl AsRef<[u8]>) -> Act {
    answer("200 OK", "content-type: application/json\r\n", body)
}

/// A request as it came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub connection: usize,
    pub text: String,
}

type Script = dyn Fn(usize, &Seen) -> Vec<Act> + Send + Sync;

struct Shared {
    script: Box<Script>,
    seen: Mutex<Vec<Seen>>,
    connections: AtomicUsize,
    ended: AtomicUsize,
    client_certificates: AtomicUsize,
}

/// The server. It ends with the runtime of the test.
pub struct Server {
    pub address: SocketAddr,
    pub authority: Arc<Authority>,
    shared: Arc<Shared>,
    directory: tempfile::TempDir,
}

/// How a server listens.
pub struct Listening {
    pub authority: Arc<Authority>,
    pub identity: Option<Identity>,
    /// Whom it takes client certificates from; it then insists on one.
    pub clients: Option<Arc<Authority>>,
    pub tls: bool,
}

impl Default for Listening {
    fn default() -> Listening {
        Listening { authority: Arc::new(Authority::new()), identity: None, clients: None, tls: true }
    }
}

impl Server {
    /// Answers the nth request with the nth list, and further ones with the last.
    pub async fn playing(acts: Vec<Vec<Act>>) -> Server {
        Server::start(Listening::default(), move |nth, _| acts.get(nth).or(acts.last()).cloned().unwrap()).await
    }

    pub async fn start(
        listening: Listening,
        script: impl Fn(usize, &Seen) -> Vec<Act> + Send + Sync + 'static,
    ) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            script: Box::new(script),
            seen: Mutex::default(),
            connections: AtomicUsize::new(0),
            ended: AtomicUsize::new(0),
            client_certificates: AtomicUsize::new(0),
        });
        let identity = listening.identity.clone().unwrap_or_else(|| listening.authority.server());
        let acceptor = listening.tls.then(|| TlsAcceptor::from(Arc::new(tls(&identity, listening.clients.as_deref()))));
        let accepting = Arc::clone(&shared);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                stream.set_nodelay(true).unwrap();
                let (shared, acceptor) = (Arc::clone(&accepting), acceptor.clone());
                let connection = shared.connections.fetch_add(1, Ordering::SeqCst);
                tokio::spawn(async move {
                    match acceptor {
                        None => shared.serve(connection, stream).await,
                        Some(acceptor) => {
                            if let Ok(stream) = acceptor.accept(stream).await {
                                let presented = usize::from(stream.get_ref().1.peer_certificates().is_some());
                                shared.client_certificates.fetch_add(presented, Ordering::SeqCst);
                                shared.serve(connection, stream).await;
                            }
                        }
                    }
                    shared.ended.fetch_add(1, Ordering::SeqCst);
                });
            }
        });
        Server { address, authority: listening.authority, shared, directory: tempfile::tempdir().unwrap() }
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.shared.seen.lock().unwrap().clone()
    }

    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    pub fn client_certificates(&self) -> usize {
        self.shared.client_certificates.load(Ordering::SeqCst)
    }

    /// Waits until so many requests have come.
    pub async fn requested(&self, count: usize) {
        until(&format!("{count} requests have come"), || self.seen().len() >= count).await;
    }

    /// Waits until so many connections have ended.
    pub async fn ended(&self, count: usize) {
        until(&format!("{count} connections have ended"), || self.shared.ended.load(Ordering::SeqCst) >= count).await;
    }

    pub fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.directory.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// A connection by a kubeconfig with this user, these changes to the cluster, and what comes after the address.
    pub fn connection_as(&self, user: &str, base: &str, cluster: &str) -> Connection {
        let server = format!("https://{}{base}", self.address);
        self.connection_to(&server, &self.authority.pem, user, cluster)
    }

    pub fn connection_to(&self, server: &str, authority: &str, user: &str, cluster: &str) -> Connection {
        let text = format!(
            "current-context: c\ncontexts: [{{name: c, context: {{cluster: k, user: u}}}}]\n\
             clusters: [{{name: k, cluster: {{server: '{server}', certificate-authority-data: {}{cluster}}}}}]\n\
             users: [{{name: u, user: {{{user}}}}}]\n",
            STANDARD.encode(authority)
        );
        let file = Some(self.file("kubeconfig", &text));
        Connection::from_kubeconfig(KubeconfigOptions { file, ..KubeconfigOptions::default() }).unwrap()
    }

    pub fn upstream(&self) -> KubernetesUpstream {
        self.upstream_with(TransportLimits::default())
    }

    pub fn upstream_with(&self, limits: TransportLimits) -> KubernetesUpstream {
        self.connection_as(&format!("token: '{TOKEN}'"), "", "").upstream(limits).unwrap()
    }
}

fn tls(identity: &Identity, clients: Option<&Authority>) -> ServerConfig {
    let provider = Arc::new(ring::default_provider());
    let builder =
        ServerConfig::builder_with_provider(Arc::clone(&provider)).with_safe_default_protocol_versions().unwrap();
    let builder = match clients {
        None => builder.with_no_client_auth(),
        Some(clients) => {
            let mut roots = RootCertStore::empty();
            roots.add(CertificateDer::from_pem_slice(clients.pem.as_bytes()).unwrap()).unwrap();
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            builder.with_client_cert_verifier(verifier.build().unwrap())
        }
    };
    let chain = vec![CertificateDer::from_pem_slice(identity.certificate.as_bytes()).unwrap()];
    builder.with_single_cert(chain, PrivateKeyDer::from_pem_slice(identity.key.as_bytes()).unwrap()).unwrap()
}

impl Shared {
    async fn serve(&self, connection: usize, mut stream: impl AsyncRead + AsyncWrite + Unpin) {
        let mut buffer = Vec::new();
        while let Some(text) = read_request(&mut stream, &mut buffer).await {
            let seen = Seen { connection, text };
            let nth = {
                let mut all = self.seen.lock().unwrap();
                all.push(seen.clone());
                all.len() - 1
            };
            for act in (self.script)(nth, &seen) {
                let written = match act {
                    Act::Send(bytes) => write(&mut stream, &bytes).await,
                    Act::Flood(bytes) => loop {
                        if let Err(gone) = write(&mut stream, &bytes).await {
                            break Err(gone);
                        }
                    },
                    Act::Hang => stream.read_u8().await.map(drop),
                    Act::Close { goodbye } => {
                        if goodbye {
                            // The client may be gone already.
                            let _ = stream.shutdown().await;
                        }
                        return;
                    }
                };
                if written.is_err() {
                    return;
                }
            }
        }
    }
}

async fn write(stream: &mut (impl AsyncWrite + Unpin), bytes: &[u8]) -> std::io::Result<()> {
    stream.write_all(bytes).await?;
    stream.flush().await
}

/// Head and body of one request; none when the client is gone.
async fn read_request(stream: &mut (impl AsyncRead + Unpin), buffer: &mut Vec<u8>) -> Option<String> {
    loop {
        let text = String::from_utf8_lossy(buffer).into_owned();
        if let Some(head) = text.find("\r\n\r\n").map(|at| at + 4) {
            let length =
                text[..head].lines().find_map(|line| line.strip_prefix("content-length: ")?.parse::<usize>().ok());
            let total = head + length.unwrap_or(0);
            if buffer.len() >= total {
                let request: Vec<u8> = buffer.drain(..total).collect();
                return Some(String::from_utf8(request).unwrap());
            }
        }
        if stream.read_buf(buffer).await.ok()? == 0 {
            return None;
        }
    }
}

pub fn get(target: &str) -> Outgoing {
    Outgoing { method: Method::Get, target: target.to_owned(), accept: Media::Json, body: None, streaming: false }
}

pub fn watch(target: &str) -> Outgoing {
    Outgoing { streaming: true, ..get(target) }
}

pub fn write_with(method: Method, media: Media, body: &'static str) -> Outgoing {
    Outgoing { method, body: Some((media, Bytes::from_static(body.as_bytes()))), ..get("/apis/x") }
}

/// All of an answer: its status and body, or how it failed and what of the body came before.
pub async fn whole(upstream: &KubernetesUpstream, request: Outgoing) -> Result<(u16, Vec<u8>), (Failure, Vec<u8>)> {
    let incoming = upstream.send(request).await.map_err(|failure| (failure, Vec::new()))?;
    let status = incoming.status;
    body(incoming).await.map(|body| (status, body))
}

pub async fn body(mut incoming: Incoming) -> Result<Vec<u8>, (Failure, Vec<u8>)> {
    let mut all = Vec::new();
    while let Some(chunk) = incoming.body.next().await {
        match chunk {
            Ok(chunk) => all.extend_from_slice(&chunk),
            Err(failure) => {
                assert!(incoming.body.next().await.is_none(), "a body ends after its first error");
                return Err((failure, all));
            }
        }
    }
    Ok(all)
}
