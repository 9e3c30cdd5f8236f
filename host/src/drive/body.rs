//! Reads an answer's body and hands it over in parts.
//!
//! One part at a time: the next is read only after the step that took this one, so a slow provider slows the engine
//! down instead of filling the host's memory.

use futures_util::{FutureExt as _, StreamExt as _};

use crate::limits::{Limits, STREAM_BUFFER};
use crate::model::{Failure, Media};
use crate::upstream::Incoming;
use crate::world::{Answer, Response};

/// Bytes of one part at most. A page of 500 objects fits; of 32 requests on their way each may hold one.
const PART: usize = 4 << 20;

/// An answer whose head has arrived.
pub(super) struct Reader {
    incoming: Incoming,
    streaming: bool,
    buffer: Vec<u8>,
    /// Of a stream: up to here the buffer is whole lines.
    lines: usize,
    total: usize,
    part: usize,
    line: usize,
    body: usize,
    /// The body has ended, well or not.
    ended: Option<Result<(), Failure>>,
}

/// The next part, and how to go on unless it was the last.
pub(super) type Part = (Answer, Option<Box<Reader>>);

impl Reader {
    pub(super) fn new(incoming: Incoming, streaming: bool, limits: &Limits) -> Box<Reader> {
        let part = PART.min(limits.answers).max(1);
        Box::new(Reader {
            incoming,
            streaming,
            buffer: Vec::new(),
            lines: 0,
            total: 0,
            part,
            line: limits.line.min(part),
            body: limits.response_body,
            ended: None,
        })
    }

    /// Reads until there is a part to hand over.
    pub(super) async fn next(self: Box<Self>) -> Part {
        if self.streaming { self.lines().await } else { self.whole().await }
    }

    /// As much as fits a part; only a body that is larger comes in several.
    async fn whole(mut self: Box<Self>) -> Part {
        while self.ended.is_none() && self.buffer.len() <= self.part {
            self.read().await;
            if self.total > self.body {
                return (Answer::Failed(Failure::TooLarge), None);
            }
        }
        if self.buffer.len() > self.part {
            let bytes = self.cut(self.part);
            return self.more(bytes);
        }
        self.last()
    }

    /// Whole lines: what has arrived, without waiting for more.
    async fn lines(mut self: Box<Self>) -> Part {
        loop {
            let enough = self.lines >= STREAM_BUFFER.min(self.part) || self.buffer.len() > self.part;
            if self.ended.is_none() && !enough {
                if self.lines == 0 {
                    self.read().await;
                } else if self.read().now_or_never().is_none() {
                    let bytes = self.cut(self.lines);
                    return self.checked(bytes);
                }
                if self.lines == 0 && self.buffer.len() > self.line {
                    return (Answer::Failed(Failure::TooLarge), None);
                }
                continue;
            }
            if self.lines == 0 && self.ended.is_some() {
                return if self.buffer.len() > self.line {
                    (Answer::Failed(Failure::TooLarge), None)
                } else {
                    self.last()
                };
            }
            // Of many lines as many as fit.
            let fits = if self.lines <= self.part {
                self.lines
            } else {
                let head = self.buffer.get(..self.part).unwrap_or_default();
                memchr::memrchr(b'\n', head).map_or(0, |at| at + 1)
            };
            if fits == 0 {
                return (Answer::Failed(Failure::TooLarge), None);
            }
            let bytes = self.cut(fits);
            return self.checked(bytes);
        }
    }

    /// Reads one chunk. Dropped while it waits it has read nothing.
    async fn read(&mut self) {
        match self.incoming.body.next().await {
            Some(Ok(chunk)) => {
                self.total = self.total.saturating_add(chunk.len());
                if self.streaming
                    && let Some(at) = memchr::memrchr(b'\n', &chunk)
                {
                    self.lines = self.buffer.len() + at + 1;
                }
                if self.buffer.is_empty() {
                    // No copy of a body that came in one piece.
                    self.buffer = chunk.into();
                } else {
                    self.buffer.extend_from_slice(&chunk);
                }
            }
            Some(Err(failure)) => self.ended = Some(Err(failure)),
            None => self.ended = Some(Ok(())),
        }
    }

    /// Takes the first bytes out of the buffer.
    fn cut(&mut self, at: usize) -> Vec<u8> {
        let rest = self.buffer.split_off(at.min(self.buffer.len()));
        self.lines = self.lines.saturating_sub(at);
        std::mem::replace(&mut self.buffer, rest)
    }

    /// Whole lines, unless one of them is too long.
    fn checked(self: Box<Self>, bytes: Vec<u8>) -> Part {
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', &bytes) {
            if end - start > self.line {
                return (Answer::Failed(Failure::TooLarge), None);
            }
            start = end + 1;
        }
        self.more(bytes)
    }

    fn more(self: Box<Self>, bytes: Vec<u8>) -> Part {
        let headers = self.incoming.headers.clone();
        let response = self.response(headers, bytes, false);
        (Answer::Response(response), Some(self))
    }

    fn last(&mut self) -> Part {
        if let Some(Err(failure)) = self.ended {
            return (Answer::Failed(failure), None);
        }
        let bytes = std::mem::take(&mut self.buffer);
        let headers = std::mem::take(&mut self.incoming.headers);
        (Answer::Response(self.response(headers, bytes, true)), None)
    }

    fn response(&self, headers: Vec<(String, String)>, bytes: Vec<u8>, last: bool) -> Response {
        let Incoming { status, retry_after_ms, date_ms, media, .. } = self.incoming;
        let media: Option<Media> = media;
        Response { status, retry_after_ms, date_ms, headers, media, bytes, last }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use futures_util::StreamExt as _;
    use futures_util::stream;
    use rstest::rstest;

    use super::Reader;
    use crate::limits::Limits;
    use crate::model::Failure;
    use crate::upstream::Incoming;
    use crate::world::{Answer, Response};

    /// What a body does next.
    #[derive(Debug, Clone, Copy)]
    enum Chunk {
        /// It is there already.
        Now(&'static str),
        /// It comes only after a wait.
        Later(&'static str),
        Fails(Failure),
    }

    use Chunk::{Fails, Later, Now};

    fn limits() -> Limits {
        Limits { answers: 8, line: 6, response_body: 20, ..Limits::default() }
    }

    /// Each part in a word: its text, `.` after the last, or the failure.
    async fn parts(chunks: &[Chunk], streaming: bool) -> Vec<String> {
        let body = stream::iter(chunks.to_vec()).then(|chunk| async move {
            match chunk {
                Now(text) => Ok(Bytes::from_static(text.as_bytes())),
                Later(text) => {
                    tokio::task::yield_now().await;
                    Ok(Bytes::from_static(text.as_bytes()))
                }
                Fails(failure) => Err(failure),
            }
        });
        let (headers, body) = (Vec::new(), body.boxed());
        let incoming = Incoming { status: 200, retry_after_ms: None, date_ms: None, headers, media: None, body };
        let mut reader = Some(Reader::new(incoming, streaming, &limits()));
        let mut parts = Vec::new();
        while let Some(next) = reader.take() {
            let (answer, rest) = next.next().await;
            reader = rest;
            parts.push(match answer {
                Answer::Response(Response { bytes, last, .. }) => {
                    assert!(bytes.len() <= 8);
                    format!("{}{}", String::from_utf8(bytes).unwrap(), if last { "." } else { "" })
                }
                other => format!("{other:?}"),
            });
        }
        parts
    }

    #[rstest]
    #[case::empty(&[], &["."])]
    #[case::one(&[Now("abc")], &["abc."])]
    #[case::put_together(&[Now("abc"), Later("def")], &["abcdef."])]
    #[case::exactly_one_part(&[Now("abcdefgh")], &["abcdefgh."])]
    #[case::two_parts(&[Now("abcdefghi")], &["abcdefgh", "i."])]
    #[case::most(&[Now("abcdefghijklmnopqrst")], &["abcdefgh", "ijklmnop", "qrst."])]
    #[case::too_large(&[Now("abcdefghijklmnopqrstu")], &["Failed(TooLarge)"])]
    #[case::too_large_later(&[Now("abcdefghijkl"), Later("mnopqrstuvw")], &["abcdefgh", "Failed(TooLarge)"])]
    #[case::cut(&[Now("abc"), Fails(Failure::Lost)], &["Failed(Lost)"])]
    #[case::failed(&[Fails(Failure::Timeout)], &["Failed(Timeout)"])]
    #[tokio::test]
    async fn whole_bodies(#[case] chunks: &[Chunk], #[case] wanted: &[&str]) {
        assert_eq!(parts(chunks, false).await, wanted);
    }

    #[rstest]
    #[case::empty(&[], &["."])]
    #[case::lines_together(&[Now("a\nb"), Now("\nc\n")], &["a\nb\nc\n", "."])]
    #[case::not_waited_for(&[Now("a\n"), Later("b\n")], &["a\n", "b\n", "."])]
    #[case::never_half_a_line(&[Now("a\nb"), Later("c\n")], &["a\n", "bc\n", "."])]
    #[case::without_a_last_end(&[Now("a\nb")], &["a\n", "b."])]
    #[case::as_many_as_fit(&[Now("aaa\nbbb\nccc\n")], &["aaa\nbbb\n", "ccc\n", "."])]
    #[case::more_than_a_body(&[Now("aaa\nbbb\n"), Now("ccc\nddd\n"), Now("eee\nfff\n")],
        &["aaa\nbbb\n", "ccc\nddd\n", "eee\nfff\n", "."])]
    #[case::longest_line(&[Now("abcdef\n")], &["abcdef\n", "."])]
    #[case::line_too_long(&[Now("abcdefg\n")], &["Failed(TooLarge)"])]
    #[case::line_without_end(&[Now("a\n"), Later("bcdef"), Later("ghi")], &["a\n", "Failed(TooLarge)"])]
    #[case::rest_too_long(&[Now("abcdefg")], &["Failed(TooLarge)"])]
    #[case::failed_after_lines(&[Now("a\nb"), Fails(Failure::Lost)], &["a\n", "Failed(Lost)"])]
    #[tokio::test]
    async fn streams(#[case] chunks: &[Chunk], #[case] wanted: &[&str]) {
        assert_eq!(parts(chunks, true).await, wanted);
    }
}
