//! Bodies that something happens to on their way.

use std::time::Duration;

use bytes::{Bytes, BytesMut};
use futures_util::stream::{self, BoxStream, StreamExt};
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::Value;

use super::apply::Streamed;
use super::{Broken, Ending, Point, expired_event};
use crate::pattern::glob;

type Chunks = BoxStream<'static, Result<Bytes, Broken>>;

fn body(chunks: impl stream::Stream<Item = Result<Bytes, Broken>> + Send + 'static) -> Streamed {
    StreamBody::new(chunks.map(|chunk| chunk.map(Frame::data))).boxed_unsync()
}

fn chunks(body: Streamed) -> Chunks {
    // No body here has trailers.
    body.into_data_stream().boxed()
}

/// Whole lines, one at a time; what is after the last one comes at the end.
fn lines(body: Streamed) -> Chunks {
    stream::unfold((Some(chunks(body)), BytesMut::new()), |(mut from, mut held)| async move {
        loop {
            if let Some(end) = held.iter().position(|&byte| byte == b'\n') {
                return Some((Ok(held.split_to(end + 1).freeze()), (from, held)));
            }
            match from.as_mut()?.next().await {
                Some(Ok(chunk)) => held.extend_from_slice(&chunk),
                Some(Err(broken)) => return Some((Err(broken), (None, held))),
                None if held.is_empty() => return None,
                None => return Some((Ok(held.split().freeze()), (None, held))),
            }
        }
    })
    .boxed()
}

/// Goes on with something else from a point on.
fn until(whole: Streamed, point: Point, tail: Chunks) -> Streamed {
    let (from, left) = match point {
        Point::Bytes(bytes) => (chunks(whole), bytes),
        Point::Lines(count) => (lines(whole), count),
    };
    let by_lines = matches!(point, Point::Lines(_));
    // What is left until the point, and what comes then.
    body(stream::unfold((from, Some((left, tail))), move |(mut from, mut then)| async move {
        if let Some((_, tail)) = then.take_if(|(left, _)| *left == 0) {
            from = tail;
        }
        let mut item = from.next().await?;
        if let (Ok(chunk), Some((left, _))) = (&mut item, &mut then) {
            if !by_lines {
                chunk.truncate(*left);
            }
            *left -= if by_lines { 1 } else { chunk.len() };
        }
        Some((item, (from, then)))
    }))
}

/// Ends at a point before its end.
pub(super) fn broken(whole: Streamed, point: Point, ending: Ending) -> Streamed {
    let fails = |broken| stream::iter([Err(broken)]).boxed();
    let tail = match ending {
        Ending::Complete => stream::empty().boxed(),
        Ending::Close => fails(Broken::Closed),
        Ending::Reset => fails(Broken::Reset),
        Ending::HalfOpen => fails(Broken::HalfOpen),
        Ending::Silence => stream::pending().boxed(),
    };
    until(whole, point, tail)
}

/// Comes in small pieces, each after a time.
pub(super) fn dripping(whole: Streamed, bytes: usize, time: Duration) -> Streamed {
    let piece = bytes.max(1);
    body(stream::unfold((chunks(whole), Bytes::new()), move |(mut from, mut held)| async move {
        while held.is_empty() {
            match from.next().await? {
                Ok(chunk) => held = chunk,
                Err(broken) => return Some((Err(broken), (from, held))),
            }
        }
        tokio::time::sleep(time).await;
        let drop = held.split_to(piece.min(held.len()));
        Some((Ok(drop), (from, held)))
    }))
}

/// Loses one event of a watch.
pub(super) fn without_event(whole: Streamed, kind: String, name: String, skip: usize) -> Streamed {
    let mut left = Some(skip);
    body(lines(whole).filter(move |line| {
        let meant = left.is_some() && line.as_ref().is_ok_and(|line| is_event(line, &kind, &name));
        let lost = meant && left == Some(0);
        if meant {
            left = left.and_then(|left| left.checked_sub(1));
        }
        std::future::ready(!lost)
    }))
}

fn is_event(line: &[u8], kind: &str, name: &str) -> bool {
    let Ok(event) = serde_json::from_slice::<Value>(line) else { return false };
    let text = |pointer: &str| event.pointer(pointer).and_then(Value::as_str).unwrap_or_default();
    // A table has its objects in rows.
    let in_rows = event.pointer("/object/rows").and_then(Value::as_array).into_iter().flatten();
    let mut in_rows = in_rows.filter_map(|row| row.pointer("/object/metadata/name").and_then(Value::as_str));
    glob(kind, text("/type"))
        && (glob(name, text("/object/metadata/name")) || in_rows.any(|row_name| glob(name, row_name)))
}

/// Says after some events that its version is too old, and ends.
pub(super) fn expiring(whole: Streamed, events: usize) -> Streamed {
    until(whole, Point::Lines(events), stream::iter([Ok(expired_event())]).boxed())
}
