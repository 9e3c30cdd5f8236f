//! What a scripted server answers.

use std::time::Duration;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt as _, StreamExt as _};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::body::Frame;
use serde_json::{Value, json};
use workload_host::model::Failure;
use workload_host::transport::HandlerBody;

/// An answer, or how there is none.
pub struct Reply {
    after: Duration,
    kind: Kind,
}

enum Kind {
    Failure(Failure),
    Never,
    Head { status: u16, headers: Vec<(String, String)>, body: BoxStream<'static, Result<Bytes, Ended>> },
}

/// The connection ended within a body.
#[derive(Debug, thiserror::Error)]
#[error("the connection ended within the body")]
pub(super) struct Ended;

impl Reply {
    fn head(status: u16, media: &str, body: BoxStream<'static, Result<Bytes, Ended>>) -> Reply {
        let headers = vec![("content-type".to_owned(), media.to_owned())];
        Reply { after: Duration::ZERO, kind: Kind::Head { status, headers, body } }
    }

    fn whole(status: u16, media: &str, body: impl Into<Bytes>) -> Reply {
        let body = body.into();
        Reply::head(status, media, stream::iter([Ok(body)]).boxed())
    }

    /// An object.
    pub fn json(status: u16, value: &Value) -> Reply {
        Reply::whole(status, "application/json", value.to_string())
    }

    /// A `Status` of the server with this code, reason and message.
    pub fn status(code: u16, reason: &str, message: &str) -> Reply {
        let status = super::objects::status(code, reason, message, json!({}));
        Reply::json(code, &status)
    }

    /// The proper 404 for one Deployment.
    pub fn not_found(name: &str) -> Reply {
        let message = format!("deployments.apps {name:?} not found");
        let details = json!({"name": name, "group": "apps", "kind": "deployments"});
        Reply::json(404, &super::objects::status(404, "NotFound", &message, details))
    }

    /// Plain text.
    pub fn text(status: u16, text: &str) -> Reply {
        Reply::whole(status, "text/plain; charset=utf-8", text.to_owned())
    }

    /// A page.
    pub fn html(status: u16) -> Reply {
        Reply::whole(status, "text/html", format!("<html><body><h1>{status}</h1></body></html>"))
    }

    /// These bytes as JSON, whatever they are.
    pub fn bytes(status: u16, bytes: impl Into<Bytes>) -> Reply {
        Reply::whole(status, "application/json", bytes)
    }

    /// Half of an object, then the connection ends.
    pub fn cut(status: u16, value: &Value) -> Reply {
        let mut text = value.to_string();
        text.truncate(text.len() / 2);
        Reply::head(status, "application/json", stream::iter([Ok(Bytes::from(text)), Err(Ended)]).boxed())
    }

    /// No answer, for this reason: [`Failure::Unreachable`] for a connection that was refused, [`Failure::Lost`] for one
    /// that was reset.
    pub fn failure(failure: Failure) -> Reply {
        Reply { after: Duration::ZERO, kind: Kind::Failure(failure) }
    }

    /// No answer ever.
    pub fn never() -> Reply {
        Reply { after: Duration::ZERO, kind: Kind::Never }
    }

    /// The events of a watch, each so long after the one before; then it ends in good order.
    pub fn watch(events: impl IntoIterator<Item = (Duration, Value)>) -> Reply {
        Reply::head(200, "application/json", lines(events))
    }

    /// The same; then nothing comes any more.
    pub fn open_watch(events: impl IntoIterator<Item = (Duration, Value)>) -> Reply {
        Reply::head(200, "application/json", lines(events).chain(stream::pending()).boxed())
    }

    /// The same; then the connection ends.
    pub fn cut_watch(events: impl IntoIterator<Item = (Duration, Value)>) -> Reply {
        Reply::head(200, "application/json", lines(events).chain(stream::iter([Err(Ended)])).boxed())
    }

    /// Nothing for so long, then it ends in good order: a watch in which nothing happens.
    pub fn quiet_watch(time: Duration) -> Reply {
        let end = async move { tokio::time::sleep(time).await }.into_stream();
        Reply::head(200, "application/json", end.filter_map(|()| async { None }).boxed())
    }

    /// With one more header.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Reply {
        match &mut self.kind {
            Kind::Head { headers, .. } => headers.push((name.to_owned(), value.to_owned())),
            Kind::Failure(_) | Kind::Never => panic!("there is no answer that could have a header"),
        }
        self
    }

    /// So long after it was asked for.
    #[must_use]
    pub fn after(mut self, time: Duration) -> Reply {
        self.after = time;
        self
    }

    /// As the transport takes it; `date` is the server's clock.
    pub(super) fn into_answer(
        self,
        date: impl FnOnce() -> String + Send + 'static,
    ) -> BoxFuture<'static, Result<http::Response<HandlerBody>, Failure>> {
        async move {
            if !self.after.is_zero() {
                tokio::time::sleep(self.after).await;
            }
            let (status, headers, body) = match self.kind {
                Kind::Failure(failure) => return Err(failure),
                Kind::Never => return std::future::pending().await,
                Kind::Head { status, headers, body } => (status, headers, body),
            };
            let mut response = http::Response::builder().status(status);
            if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("date")) {
                response = response.header("date", date());
            }
            for (name, value) in headers {
                response = response.header(name, value);
            }
            let body = StreamBody::new(body.map(|chunk| chunk.map(Frame::data).map_err(Into::into)));
            Ok(response.body(body.boxed_unsync()).expect("a good answer"))
        }
        .boxed()
    }
}

fn lines(events: impl IntoIterator<Item = (Duration, Value)>) -> BoxStream<'static, Result<Bytes, Ended>> {
    let events: Vec<_> = events.into_iter().collect();
    let lines = stream::iter(events).then(|(after, event)| async move {
        if !after.is_zero() {
            tokio::time::sleep(after).await;
        }
        Ok(Bytes::from(format!("{event}\n")))
    });
    lines.boxed()
}
