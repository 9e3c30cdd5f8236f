//! Sends one request: headers, credential, time limits, and what a failure means.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use http::header::{ACCEPT, ACCEPT_ENCODING, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HOST, USER_AGENT};
use http::{HeaderMap, HeaderValue, StatusCode};
use http_body_util::Full;
use hyper::rt::Executor;
use hyper_util::client::legacy::connect::{CaptureConnection, capture_connection};
use hyper_util::client::legacy::{self, Client};
use hyper_util::rt::TokioTimer;
use rustls::AlertDescription;
use tokio::sync::Notify;
use tracing::Dispatch;
use tracing::instrument::WithSubscriber as _;

use super::answer::{self, Reception};
use super::connector::Connector;
use super::credentials::{Credentials, Granted};
use super::endpoint::Endpoint;
use super::tls::Tls;
use super::trouble::{Trouble, Unreached, about_our_certificate, causes};
use super::{TransportLimits, media};
use crate::model::{Failure, Method};
use crate::upstream::{Incoming, Outgoing};

/// Who we say we are.
const AGENT: &str = concat!("workload/", env!("CARGO_PKG_VERSION"));

/// Time that an unused connection is kept. Below the 60 s after which many load balancers forget one.
const POOLED: Duration = Duration::from_secs(30);

/// Unused connections that are kept: as many as one operation has requests on their way.
const POOLED_CONNECTIONS: usize = crate::limits::IN_FLIGHT;

/// Answers of the 1xx class that are passed over before the real one. Kubernetes sends none, a proxy may send one or two.
const INFORMATIONAL: usize = 8;

/// The pool and all that is needed to fill it.
pub(super) struct Sender {
    endpoint: Endpoint,
    authority: Option<HeaderValue>,
    credentials: Credentials,
    limits: TransportLimits,
    client: Client<Connector, Full<Bytes>>,
}

/// An answer's head as hyper has it, and a hold on the connection it came from.
struct Answer {
    response: http::Response<hyper::body::Incoming>,
    connection: CaptureConnection,
}

impl Sender {
    pub(super) fn new(endpoint: Endpoint, tls: &Tls, credentials: Credentials, limits: TransportLimits) -> Sender {
        let connector = Connector::new(&endpoint, tls, limits.connect);
        // `retry_canceled_requests` stays on: it repeats only what was not begun to be sent, when a pooled connection
        // turns out to be closed.
        let client = Client::builder(Quiet)
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(POOLED)
            .pool_max_idle_per_host(POOLED_CONNECTIONS)
            .set_host(false)
            .build(connector);
        let authority = HeaderValue::from_str(endpoint.authority()).ok();
        Sender { endpoint, authority, credentials, limits, client }
    }

    /// See [`crate::upstream::Upstream::send`]; the error says more than a provider may know.
    pub(super) async fn send(&self, request: &Outgoing) -> Result<Incoming, Trouble> {
        match tokio::time::timeout(self.limits.headers, self.exchange(request)).await {
            Ok(result) => result,
            Err(_) => Err(Trouble::new(Failure::Timeout, "no answer in time")),
        }
    }

    /// The request, and after a 401 once more with another credential if there is one.
    ///
    /// Writes are repeated too. By RFC 9110 (15.5.2) a 401 says that the request was not applied, and API servers
    /// authenticate before anything else; should one lie, what providers send holds a name and, where it changes
    /// something, the uid and a fixed target, so the second one changes nothing or conflicts.
    async fn exchange(&self, request: &Outgoing) -> Result<Incoming, Trouble> {
        let mut granted = self.credentials.current().await;
        let mut answer = self.attempt(request, &granted).await?;
        if answer.response.status() == StatusCode::UNAUTHORIZED
            && let Some(fresh) = self.credentials.after_401(&granted).await
        {
            tracing::debug!("the credential was refused; trying once more with a newer one");
            drop(answer);
            granted = fresh;
            answer = self.attempt(request, &granted).await?;
        }
        let reception = Reception::of(request, &self.limits, granted.needles, Some(answer.connection));
        answer::receive(answer.response, reception)
    }

    async fn attempt(&self, request: &Outgoing, granted: &Granted) -> Result<Answer, Trouble> {
        let mut sent =
            self.build(request, granted).ok_or_else(|| Trouble::new(Failure::Denied, "no target of this server"))?;
        let connection = capture_connection(&mut sent);
        let flooded = Arc::new(Notify::new());
        let (seen, notify) = (AtomicUsize::new(0), Arc::clone(&flooded));
        hyper::ext::on_informational(&mut sent, move |_| {
            if seen.fetch_add(1, Ordering::Relaxed) >= INFORMATIONAL {
                notify.notify_one();
            }
        });
        tokio::select! {
            response = self.client.request(sent).with_subscriber(Dispatch::none()) => match response {
                Ok(response) => Ok(Answer { response, connection }),
                Err(error) => Err(classify(&error)),
            },
            () = flooded.notified() => Err(Trouble::new(Failure::BadResponse, "too many informational answers")),
        }
    }

    /// All that is ever sent is decided here.
    fn build(&self, request: &Outgoing, granted: &Granted) -> Option<http::Request<Full<Bytes>>> {
        let token = granted.token.as_ref().map(|token| token.header());
        let mut sent = put_together(request, Some(self.authority.clone()?), token).map(Full::new);
        *sent.uri_mut() = self.endpoint.url(&request.target)?;
        Some(sent)
    }
}

/// What is sent, apart from where it goes.
pub(super) fn put_together(
    request: &Outgoing,
    host: Option<HeaderValue>,
    authorization: Option<HeaderValue>,
) -> http::Request<Bytes> {
    let mut headers = HeaderMap::new();
    if let Some(host) = host {
        headers.insert(HOST, host);
    }
    let accept = media::accept(request.accept, request.method, &request.target, request.streaming);
    headers.insert(ACCEPT, HeaderValue::from_static(accept));
    if let Some(authorization) = authorization {
        headers.insert(AUTHORIZATION, authorization);
    }
    let body = match &request.body {
        None => Bytes::new(),
        Some((media, bytes)) => {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(media::content_type(*media)));
            headers.insert(CONTENT_LENGTH, HeaderValue::from(bytes.len()));
            bytes.clone()
        }
    };
    headers.insert(USER_AGENT, HeaderValue::from_static(AGENT));
    headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
    let mut sent = http::Request::new(body);
    *sent.method_mut() = verb(request.method);
    *sent.headers_mut() = headers;
    sent
}

/// Runs hyper-util's own tasks. It logs the addresses it connects to, at levels that an operator may turn on; in here and
/// around each request it has no one to log to.
#[derive(Clone, Copy)]
struct Quiet;

impl<F: Future<Output: Send> + Send + 'static> Executor<F> for Quiet {
    fn execute(&self, task: F) {
        tokio::spawn(task.with_subscriber(Dispatch::none()));
    }
}

fn verb(method: Method) -> http::Method {
    match method {
        Method::Get => http::Method::GET,
        Method::Post => http::Method::POST,
        Method::Put => http::Method::PUT,
        Method::Patch => http::Method::PATCH,
        Method::Delete => http::Method::DELETE,
    }
}

/// What it means that there is no head of an answer.
fn classify(error: &legacy::Error) -> Trouble {
    if let Some(why) = causes(error).find_map(|cause| cause.downcast_ref::<Unreached>()) {
        return Trouble::unreached(why.clone());
    }
    if error.is_connect() {
        return Trouble::unreached(Unreached::Connection);
    }
    // In TLS 1.3 a server that does not like our certificate says so after we began to send. It has not read that.
    match causes(error).find_map(|cause| cause.downcast_ref::<rustls::Error>()) {
        Some(rustls::Error::AlertReceived(alert)) if about_our_certificate(*alert) => {
            return Trouble::unreached(Unreached::ClientCertificate);
        }
        Some(rustls::Error::AlertReceived(AlertDescription::HandshakeFailure)) => {
            return Trouble::unreached(Unreached::Handshake);
        }
        _ => {}
    }
    match causes(error).find_map(|cause| cause.downcast_ref::<hyper::Error>()) {
        Some(http) if http.is_parse() => Trouble::new(Failure::BadResponse, "the answer is not HTTP"),
        // hyper says so only of a request that it gives back whole.
        Some(http) if http.is_canceled() => Trouble::unreached(Unreached::Ended),
        _ => Trouble::new(Failure::Lost, "the connection ended before an answer"),
    }
}
