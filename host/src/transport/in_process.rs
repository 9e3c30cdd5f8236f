//! Asks a server within this process instead of one over the network.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use http_body_util::combinators::UnsyncBoxBody;

use super::TransportLimits;
use super::answer::{self, Reception};
use super::client::put_together;
use super::trouble::Trouble;
use crate::model::Failure;
use crate::upstream::{Incoming, Outgoing, Upstream};

/// The body of an answer of a [`Handler`]. Any error in it is a connection that ended.
pub type HandlerBody = UnsyncBoxBody<Bytes, Box<dyn std::error::Error + Send + Sync>>;

/// A server within this process.
pub trait Handler: Send + Sync + 'static {
    /// Answers a request whose URI is only a path and a query.
    ///
    /// # Errors
    /// What it would mean if there were a connection: [`Failure::Unreachable`] for one that was refused,
    /// [`Failure::Lost`] for one that ended before an answer.
    fn answer(&self, request: http::Request<Bytes>)
    -> BoxFuture<'static, Result<http::Response<HandlerBody>, Failure>>;
}

/// Sends requests to a [`Handler`], with no credential. What comes back is held to the same limits and read in the same
/// way as what comes over the network, so that a test of a provider without sockets sees what it would see with them.
#[derive(Clone)]
pub struct InProcess {
    handler: Arc<dyn Handler>,
    limits: TransportLimits,
}

impl InProcess {
    /// Of this server.
    #[must_use]
    pub fn new(handler: Arc<dyn Handler>, limits: TransportLimits) -> InProcess {
        InProcess { handler, limits }
    }
}

impl fmt::Debug for InProcess {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("InProcess").field("limits", &self.limits).finish_non_exhaustive()
    }
}

impl Upstream for InProcess {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let InProcess { handler, limits } = self.clone();
        async move {
            let failure = |trouble: Trouble| trouble.failure;
            let mut sent = put_together(&request, None, None);
            let target = request.target.parse();
            *sent.uri_mut() = target.map_err(|_| failure(Trouble::new(Failure::Denied, "no target of this server")))?;
            let response = tokio::time::timeout(limits.headers, handler.answer(sent)).await;
            let response = response.map_err(|_| failure(Trouble::new(Failure::Timeout, "no answer in time")))??;
            answer::receive(response, Reception::of(&request, &limits, Vec::new(), None)).map_err(failure)
        }
        .boxed()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Duration;

    use bytes::Bytes;
    use futures_util::future::BoxFuture;
    use futures_util::{FutureExt as _, StreamExt as _, stream};
    use http_body_util::{BodyExt as _, StreamBody};
    use hyper::body::Frame;
    use rstest::rstest;

    use super::{Handler, HandlerBody, InProcess};
    use crate::model::{Failure, Media, Method};
    use crate::transport::{HEADERS, TransportLimits};
    use crate::upstream::{Outgoing, Upstream as _};

    /// Answers by the path.
    struct Paths;

    type Chunk = Result<Bytes, Box<dyn std::error::Error + Send + Sync>>;

    fn body(chunks: Vec<Chunk>, open: bool) -> HandlerBody {
        let chunks = stream::iter(chunks).map(|chunk| chunk.map(Frame::data));
        let rest = if open { stream::pending().boxed() } else { stream::empty().boxed() };
        StreamBody::new(chunks.chain(rest)).boxed_unsync()
    }

    impl Handler for Paths {
        fn answer(
            &self,
            request: http::Request<Bytes>,
        ) -> BoxFuture<'static, Result<http::Response<HandlerBody>, Failure>> {
            async move {
                let ok = || http::Response::builder().header("content-type", "application/json");
                let half = || vec![Ok(Bytes::from_static(b"{\"a\":"))];
                let response = match request.uri().path() {
                    "/refused" => return Err(Failure::Unreachable),
                    "/never" => return futures_util::future::pending().await,
                    "/moved" => ok().status(302).body(body(half(), false)),
                    "/cut" => ok().body(body(half().into_iter().chain([Err("reset".into())]).collect(), false)),
                    "/silent" => ok().body(body(half(), true)),
                    "/large" => ok().header("content-length", "99999999999").body(body(half(), false)),
                    path => ok()
                        .header("date", "Sun, 06 Nov 1994 08:49:37 GMT")
                        .header("retry-after", "7")
                        .body(body(vec![Ok(Bytes::from(format!("{:?}", (request.method(), path))))], false)),
                };
                Ok(response.unwrap())
            }
            .boxed()
        }
    }

    async fn ask(target: &str, method: Method) -> Result<(u16, String), Failure> {
        let upstream = InProcess::new(Arc::new(Paths), TransportLimits::default());
        let outgoing =
            Outgoing { method, target: target.to_owned(), accept: Media::Json, body: None, streaming: false };
        let incoming = upstream.send(outgoing).await?;
        let mut text = format!("{:?} {:?} {:?} ", incoming.media, incoming.date_ms, incoming.retry_after_ms);
        let mut body = incoming.body;
        while let Some(chunk) = body.next().await {
            text.push_str(std::str::from_utf8(&chunk?).unwrap());
        }
        Ok((incoming.status, text))
    }

    #[rstest]
    #[case::refused("/refused", Method::Get, Failure::Unreachable, Duration::ZERO)]
    #[case::never("/never", Method::Get, Failure::Timeout, HEADERS)]
    #[case::moved("/moved", Method::Get, Failure::RedirectRefused, Duration::ZERO)]
    #[case::cut("/cut", Method::Get, Failure::BadResponse, Duration::ZERO)]
    #[case::cut_write("/cut", Method::Patch, Failure::Lost, Duration::ZERO)]
    #[case::silent("/silent", Method::Get, Failure::Timeout, crate::limits::RESPONSE_IDLE)]
    #[case::large("/large", Method::Get, Failure::TooLarge, Duration::ZERO)]
    #[case::no_path("http://[", Method::Get, Failure::Denied, Duration::ZERO)]
    #[tokio::test(start_paused = true)]
    async fn failures_are_those_of_the_network(
        #[case] target: &str,
        #[case] method: Method,
        #[case] failure: Failure,
        #[case] after: Duration,
    ) {
        let began = tokio::time::Instant::now();
        assert_eq!(ask(target, method).await, Err(failure));
        assert_eq!(began.elapsed().as_secs(), after.as_secs());
    }

    #[tokio::test(start_paused = true)]
    async fn an_answer_is_read_as_one_from_the_network() {
        let (status, text) = ask("/some/path?a=b", Method::Get).await.unwrap();
        assert_eq!((status, text.as_str()), (200, "Some(Json) Some(784111777000) Some(7000) (GET, \"/some/path\")"));
    }
}
