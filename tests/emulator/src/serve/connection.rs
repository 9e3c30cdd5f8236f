//! One connection, from its first byte to the way it ends.

use std::error::Error;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use http::{Request, Response};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use super::certificates::Authority;
use super::listener::Door;
use super::tap::{Flushing, Tap, Tapped};
use crate::emulator::{Came, Emulator, LARGEST_BODY};
use crate::fault::{Broken, Fault, Outages, When};
use crate::identity::Certificate;
use crate::pattern::Asked;
use crate::record::Outcome;

/// What every connection of a server needs.
#[derive(Clone)]
pub(super) struct Context {
    pub(super) emulator: Emulator,
    pub(super) tls: TlsAcceptor,
    pub(super) authority: Arc<Authority>,
    pub(super) door: Door,
}

impl Context {
    /// Serves a connection to its end.
    pub(super) async fn serve(self, tcp: TcpStream) {
        let faults = self.emulator.faults();
        let mut outages = faults.outages();
        let before = async {
            for fault in faults.of_connection() {
                if let Fault::Refuse(time) = fault {
                    faults.refuse(time);
                    return Err(Broken::Refused);
                }
                faults.interrupt(When::Before, &fault).await?;
                faults.interrupt(When::After, &fault).await?;
            }
            Ok(())
        };
        let before = tokio::select! {
            before = before => before,
            () = outages.next() => Err(Broken::Refused),
        };
        if let Err(broken) = before {
            return self.end_tcp(tcp, broken).await;
        }
        // Small answers are not to wait for each other. That this fails is no reason to end.
        let _ = tcp.set_nodelay(true);
        let tls = tokio::select! {
            tls = self.tls.accept(tcp) => tls,
            // The handshake is dropped; nothing was said on the connection.
            () = outages.next() => return,
        };
        // A client that gives up, or does not trust our authority.
        let Ok(tls) = tls else { return };
        self.serve_http(tls, outages).await;
    }

    async fn serve_http(self, tls: TlsStream<TcpStream>, mut outages: Outages) {
        let certificate = self.certificate(&tls);
        let number = self.emulator.next_connection();
        let tap = Tap::default();
        let service = service_fn(|request| {
            let (emulator, tap, certificate) = (self.emulator.clone(), tap.clone(), certificate.clone());
            async move { answer(&emulator, number, tap, certificate, request).await }
        });
        let io = TokioIo::new(Tapped { io: tls, tap: tap.clone() });
        let mut http = http1::Builder::new().auto_date_header(false).serve_connection(io, service);
        let broken = tokio::select! {
            result = &mut http => result.err().map(|error| broken_of(&error)),
            () = outages.next() => Some(Broken::Refused),
        };
        let tls = http.into_parts().io.into_inner().io;
        let rest = tap.rest();
        if !rest.is_empty() {
            let wall = self.emulator.state().clock.wall();
            let record = self.emulator.record();
            record.arrived(wall, Some(number), Asked::default(), rest, Bytes::new(), Outcome::Unreadable);
        }
        if let Some(broken) = broken {
            self.end_tls(tls, broken).await;
        }
    }

    fn certificate(&self, tls: &TlsStream<TcpStream>) -> Certificate {
        let (_, session) = tls.get_ref();
        let shown = session.peer_certificates().unwrap_or_default();
        let Some(first) = shown.first() else { return Certificate::Absent };
        let user = self.emulator.identities().of_certificate(first);
        match user.filter(|_| self.authority.accepts(shown)) {
            Some(user) => Certificate::Of(user),
            None => Certificate::Invalid,
        }
    }

    async fn end_tls(&self, mut tls: TlsStream<TcpStream>, broken: Broken) {
        match broken {
            // What the client does not take any more is lost; it is to be broken anyway.
            Broken::Garbage(bytes) => {
                let _ = tls.write_all(&bytes).await;
                let _ = tls.shutdown().await;
            }
            Broken::Closed => drop(tls.shutdown().await),
            broken => self.end_tcp(tls.into_inner().0, broken).await,
        }
    }

    async fn end_tcp(&self, mut tcp: TcpStream, broken: Broken) {
        match broken {
            Broken::Refused => {
                // A client that is quick must not find the door still open.
                self.door.closed().await;
                reset(&tcp);
            }
            Broken::Reset => reset(&tcp),
            Broken::HalfOpen => {
                self.emulator.faults().outages().next().await;
                reset(&tcp);
            }
            Broken::Garbage(bytes) => {
                let _ = tcp.write_all(&bytes).await;
                let _ = tcp.shutdown().await;
            }
            Broken::Closed => drop(tcp.shutdown().await),
        }
    }
}

/// A socket that does not linger is reset when it is dropped.
fn reset(tcp: &TcpStream) {
    // Where that cannot be set the connection is closed, which is as near as one can get.
    let _ = tcp.set_zero_linger();
}

/// How a connection is to end that hyper gave up: by a fault, or because of what the client did.
fn broken_of(error: &hyper::Error) -> Broken {
    error.source().and_then(|source| source.downcast_ref::<Broken>()).cloned().unwrap_or(Broken::Closed)
}

async fn answer(
    emulator: &Emulator,
    connection: u64,
    tap: Tap,
    certificate: Certificate,
    request: Request<Incoming>,
) -> Result<Response<Flushing>, Broken> {
    let (parts, mut body) = request.into_parts();
    let mut bytes = BytesMut::new();
    // More is not read: the server answers that it is too much.
    while bytes.len() <= LARGEST_BODY
        && let Some(frame) = body.frame().await
    {
        // The client went away in the middle of its request.
        let frame = frame.map_err(|_| Broken::Closed)?;
        if let Some(data) = frame.data_ref() {
            bytes.extend_from_slice(data);
        }
    }
    let came = Came { connection: Some(connection), raw: tap.cut(), certificate };
    let response = emulator.exchange(Request::from_parts(parts, bytes.freeze()), came).await?;
    Ok(response.map(|body| Flushing { body, tap, broken: None }))
}
