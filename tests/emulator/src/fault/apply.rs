//! The one place where faults are applied.

use std::future::pending;

use bytes::Bytes;
use http::header::{CONTENT_LENGTH, HeaderName, HeaderValue};
use http::{Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper::body::Body as _;

use super::{Broken, Fault, Faults, When, body};
use crate::call::Body;
use crate::fault::{Canned, Ending};
use crate::pattern::Asked;

/// The body of an answer that something may happen to on its way.
pub type Streamed = UnsyncBoxBody<Bytes, Broken>;

impl Faults {
    /// Answers a request with what `answer` says and whatever goes wrong.
    pub(crate) async fn apply(
        &self,
        asked: &Asked,
        answer: impl FnOnce() -> Response<Body>,
    ) -> Result<Response<Streamed>, Broken> {
        if self.refusing() {
            return Err(Broken::Refused);
        }
        let faults = self.of_request(asked);
        let mut instead = None;
        for fault in &faults {
            match fault {
                Fault::Refuse(time) => {
                    self.refuse(*time);
                    return Err(Broken::Refused);
                }
                Fault::Answer(When::Before, canned) => instead = Some(given(canned)),
                fault => self.interrupt(When::Before, fault).await?,
            }
        }
        let mut response = match instead {
            Some(response) => response,
            None => answer().map(|body| body.map_err(|never| match never {}).boxed_unsync()),
        };
        for fault in &faults {
            self.interrupt(When::After, fault).await?;
            response = change(fault, response);
        }
        Ok(response)
    }

    /// What happens to the connection at this moment.
    pub(crate) async fn interrupt(&self, now: When, fault: &Fault) -> Result<(), Broken> {
        match fault {
            Fault::Reset(when) if *when == now => Err(Broken::Reset),
            Fault::HalfOpen(when) if *when == now => Err(Broken::HalfOpen),
            Fault::Garbage(when, bytes) if *when == now => Err(Broken::Garbage(bytes.clone())),
            Fault::Stall(when) if *when == now => pending().await,
            Fault::Delay(when, time) if *when == now => {
                tokio::time::sleep(*time).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }
}

/// What happens to an answer.
fn change(fault: &Fault, mut response: Response<Streamed>) -> Response<Streamed> {
    match fault {
        Fault::Answer(When::After, canned) => given(canned),
        Fault::Body(bytes) => {
            response.headers_mut().remove(CONTENT_LENGTH);
            response.map(|_| whole(bytes.clone()))
        }
        Fault::Break(point, ending) => {
            let honest = *ending == Ending::Complete;
            promise(response, !honest).map(|body| body::broken(body, *point, *ending))
        }
        Fault::Drip(bytes, time) => promise(response, true).map(|body| body::dripping(body, *bytes, *time)),
        Fault::DropEvent { kind, name, skip } => {
            let (kind, name, skip) = (kind.clone(), name.clone(), *skip);
            response.map(|body| body::without_event(body, kind, name, skip))
        }
        Fault::Expire(events) => response.map(|body| body::expiring(body, *events)),
        _ => response,
    }
}

/// Says the length of the body as it is, before something happens to it, or leaves it open.
fn promise(mut response: Response<Streamed>, keep: bool) -> Response<Streamed> {
    if keep {
        if let Some(length) = response.body().size_hint().exact() {
            response.headers_mut().entry(CONTENT_LENGTH).or_insert(length.into());
        }
    } else {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}

fn whole(bytes: Bytes) -> Streamed {
    Full::new(bytes).map_err(|never| match never {}).boxed_unsync()
}

fn given(canned: &Canned) -> Response<Streamed> {
    let mut response = Response::new(whole(canned.body.clone()));
    // A test that gives what is no status or no header means something else; it sees the difference at once.
    *response.status_mut() = StatusCode::from_u16(canned.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    for (name, value) in &canned.headers {
        if let (Ok(name), Ok(value)) = (HeaderName::try_from(name), HeaderValue::try_from(value)) {
            response.headers_mut().append(name, value);
        }
    }
    response
}
