//! Takes an answer in: its head is checked and trimmed, its body counted, timed and searched for our credential.

use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::StreamExt as _;
use futures_util::stream::{self, BoxStream};
use http::header::{CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_TYPE, DATE, HeaderName, RETRY_AFTER, TRANSFER_ENCODING};
use http::{HeaderMap, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Body;
use hyper_util::client::legacy::connect::CaptureConnection;

use super::redact::{Needles, Scanner};
use super::trouble::Trouble;
use super::{TransportLimits, media};
use crate::model::Failure;
use crate::upstream::{Incoming, Outgoing};

/// The headers that a provider may see beside those that are parsed. Kubernetes pages within the body, so none is needed
/// for that; `Link` and `Location` would name the server. `warning` is what `kubectl` shows to a person: that an API is
/// deprecated, or that Pods like these will be refused.
const ALLOWED: [HeaderName; 1] = [http::header::WARNING];

/// Values of one allowed header that are passed on, and bytes of each. API servers cut warnings at 256 runes and 4 KiB.
const ALLOWED_VALUES: usize = 16;
const ALLOWED_BYTES: usize = 1024;

/// How long after the end that a watch was asked for (`timeoutSeconds`) it may stay silent.
const WATCH_GRACE: Duration = Duration::from_secs(10);

/// What an answer is held to.
pub(super) struct Reception {
    writes: bool,
    streaming: bool,
    /// Bytes of the body, unless it is a stream.
    body: usize,
    idle: Duration,
    stream_idle: Duration,
    scanner: Scanner,
    /// None of what came on no connection.
    connection: Option<CaptureConnection>,
}

impl Reception {
    pub(super) fn of(
        request: &Outgoing,
        limits: &TransportLimits,
        needles: Vec<Arc<Needles>>,
        connection: Option<CaptureConnection>,
    ) -> Reception {
        let asked = timeout_seconds(&request.target).map(|seconds| Duration::from_secs(seconds.into()) + WATCH_GRACE);
        Reception {
            writes: request.method.writes(),
            streaming: request.streaming,
            body: limits.body,
            idle: limits.idle,
            stream_idle: asked.map_or(limits.stream_idle, |asked| asked.min(limits.stream_idle)),
            scanner: Scanner::new(needles),
            connection,
        }
    }

    /// Gives an answer up, and with it its connection: what else comes on it cannot be trusted.
    fn refuse(&self, failure: Failure, cause: &'static str) -> Trouble {
        // Known since before the request was sent.
        if let Some(connection) = &self.connection
            && let Some(connected) = connection.connection_metadata().as_ref()
        {
            connected.poison();
        }
        Trouble::new(failure, cause)
    }
}

/// The `timeoutSeconds` of a target's query.
fn timeout_seconds(target: &str) -> Option<u32> {
    let (_, query) = target.split_once('?')?;
    query.split('&').find_map(|pair| pair.strip_prefix("timeoutSeconds=")).and_then(|value| value.parse().ok())
}

/// Checks the head and prepares the body.
pub(super) fn receive<B>(response: http::Response<B>, mut reception: Reception) -> Result<Incoming, Trouble>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    let (head, body) = response.into_parts();
    let headers = &head.headers;
    check_status(head.status)
        .and_then(|()| check_framing(head.status, headers))
        .map_err(|(failure, cause)| reception.refuse(failure, cause))?;
    // An answer that is not the stream asked for, an error say, is held to what any answer is.
    reception.streaming &= head.status == StatusCode::OK;
    if !reception.streaming && content_length(headers).is_some_and(|length| length > reception.body as u64) {
        return Err(reception.refuse(Failure::TooLarge, "the declared length is over the limit"));
    }
    let allowed = allowed(headers);
    if allowed.iter().any(|(_, value)| reception.scanner.holds(value.as_bytes())) {
        return Err(leaked(&reception));
    }
    let date = text(headers, &DATE).and_then(|value| httpdate::parse_http_date(value).ok());
    Ok(Incoming {
        status: head.status.as_u16(),
        retry_after_ms: text(headers, &RETRY_AFTER).and_then(|value| retry_after(value, date)),
        date_ms: date.map(epoch_ms),
        media: text(headers, &CONTENT_TYPE).and_then(media::parse),
        headers: allowed,
        body: receive_body(body, reception),
    })
}

type Refusal = (Failure, &'static str);

fn check_status(status: StatusCode) -> Result<(), Refusal> {
    match status.as_u16() {
        200..=299 | 400..=599 => Ok(()),
        300..=399 => Err((Failure::RedirectRefused, "a redirect")),
        _ => Err((Failure::BadResponse, "a status that is no answer to what was sent")),
    }
}

/// Refuses what two readers could understand in two ways, and what we did not ask for.
fn check_framing(status: StatusCode, headers: &HeaderMap) -> Result<(), Refusal> {
    let encodings = headers.get_all(CONTENT_ENCODING);
    if encodings.iter().any(|value| !value.as_bytes().eq_ignore_ascii_case(b"identity")) {
        return Err((Failure::BadResponse, "a content-encoding that was not asked for"));
    }
    let mut transfers = headers.get_all(TRANSFER_ENCODING).iter();
    let transfer = transfers.next();
    if transfers.next().is_some() || transfer.is_some_and(|value| !value.as_bytes().eq_ignore_ascii_case(b"chunked")) {
        return Err((Failure::BadResponse, "a transfer-encoding other than chunked"));
    }
    if transfer.is_some() && headers.contains_key(CONTENT_LENGTH) {
        return Err((Failure::BadResponse, "both a length and a transfer-encoding"));
    }
    let bodiless = status == StatusCode::NO_CONTENT;
    if bodiless && (transfer.is_some() || content_length(headers).is_some_and(|length| length > 0)) {
        return Err((Failure::BadResponse, "a body where there can be none"));
    }
    Ok(())
}

fn text<'a>(headers: &'a HeaderMap, name: &HeaderName) -> Option<&'a str> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim)
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    text(headers, &CONTENT_LENGTH).and_then(|value| value.parse().ok())
}

fn allowed(headers: &HeaderMap) -> Vec<(String, String)> {
    let values = |name: &HeaderName| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values
            .filter(|value| value.len() <= ALLOWED_BYTES)
            .take(ALLOWED_VALUES)
            .map(|value| (name.as_str().to_owned(), value.to_owned()))
            .collect::<Vec<_>>()
    };
    ALLOWED.iter().flat_map(values).collect()
}

/// Seconds, or a date by the server's own clock.
fn retry_after(value: &str, server_now: Option<SystemTime>) -> Option<u64> {
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(value.parse::<u64>().unwrap_or(u64::MAX).saturating_mul(1000));
    }
    let at = httpdate::parse_http_date(value).ok()?;
    let wait = at.duration_since(server_now.unwrap_or_else(SystemTime::now)).unwrap_or_default();
    Some(millis(wait))
}

fn epoch_ms(time: SystemTime) -> u64 {
    millis(time.duration_since(UNIX_EPOCH).unwrap_or_default())
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

fn leaked(reception: &Reception) -> Trouble {
    tracing::error!("an answer held this host's own credential; it was withheld from the provider");
    reception.refuse(Failure::BadResponse, "the credential in an answer")
}

struct Receiving<B> {
    /// None once it ended; dropping it closes the connection unless all of it was read.
    body: Option<B>,
    reception: Reception,
    seen: usize,
}

fn receive_body<B>(body: B, reception: Reception) -> BoxStream<'static, Result<Bytes, Failure>>
where
    B: Body<Data = Bytes> + Send + Unpin + 'static,
{
    let receiving = Receiving { body: Some(body), reception, seen: 0 };
    stream::unfold(receiving, |mut receiving| async move {
        let item = receiving.next().await?;
        if item.is_err() {
            receiving.body = None;
        }
        Some((item, receiving))
    })
    .boxed()
}

impl<B: Body<Data = Bytes> + Unpin> Receiving<B> {
    async fn next(&mut self) -> Option<Result<Bytes, Failure>> {
        let idle = if self.reception.streaming { self.reception.stream_idle } else { self.reception.idle };
        loop {
            let body = self.body.as_mut()?;
            let frame = match tokio::time::timeout(idle, body.frame()).await {
                Err(_) => return Some(Err(self.reception.refuse(Failure::Timeout, "silence within a body").failure)),
                Ok(Some(Err(_))) => return Some(Err(self.cut())),
                Ok(Some(Ok(frame))) => frame,
                Ok(None) => {
                    self.body = None;
                    let rest = self.reception.scanner.finish();
                    return (!rest.is_empty()).then_some(Ok(rest));
                }
            };
            // Trailers are dropped.
            let Ok(chunk) = frame.into_data() else { continue };
            self.seen = self.seen.saturating_add(chunk.len());
            if !self.reception.streaming && self.seen > self.reception.body {
                return Some(Err(self.reception.refuse(Failure::TooLarge, "the body is over the limit").failure));
            }
            match self.reception.scanner.push(chunk) {
                Err(_) => return Some(Err(leaked(&self.reception).failure)),
                Ok(passed) if passed.is_empty() => {}
                Ok(passed) => return Some(Ok(passed)),
            }
        }
    }

    /// A body that ended before its end. Of a read that is a bad answer, to be asked for again; of a write it means that
    /// what was done is not known, and of a stream that it must be taken up again.
    fn cut(&self) -> Failure {
        let lost = self.reception.writes || self.reception.streaming;
        self.reception.refuse(if lost { Failure::Lost } else { Failure::BadResponse }, "a body was cut").failure
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::seconds("7", Some(7_000))]
    #[case::zero("0", Some(0))]
    #[case::huge("99999999999999999999", Some(u64::MAX))]
    #[case::date("Sun, 06 Nov 1994 08:49:47 GMT", Some(10_000))]
    #[case::past("Sun, 06 Nov 1994 08:49:36 GMT", Some(0))]
    #[case::negative("-1", None)]
    #[case::fraction("1.5", None)]
    #[case::empty("", None)]
    #[case::words("soon", None)]
    fn retry_afters(#[case] value: &str, #[case] expected: Option<u64>) {
        let now = httpdate::parse_http_date("Sun, 06 Nov 1994 08:49:37 GMT").unwrap();
        assert_eq!(retry_after(value, Some(now)), expected);
    }

    #[rstest]
    #[case::there("/a?watch=true&timeoutSeconds=290", Some(290))]
    #[case::first("/a?timeoutSeconds=5&x=y", Some(5))]
    #[case::other("/a?xtimeoutSeconds=5", None)]
    #[case::words("/a?timeoutSeconds=five", None)]
    #[case::none("/a", None)]
    fn timeouts_of_watches(#[case] target: &str, #[case] expected: Option<u32>) {
        assert_eq!(timeout_seconds(target), expected);
    }
}
