//! A connection that keeps what comes over it, and knows when all that was written is on its way.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use crate::fault::{Broken, Streamed};
use crate::record::wire::Arrived;

/// What a connection and its requests share.
#[derive(Debug, Clone, Default)]
pub(super) struct Tap {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    arrived: Arrived,
    /// Counts the moments at which everything written was on its way.
    flushes: u64,
    waiting: Option<Waker>,
}

impl Tap {
    // Bytes and a number; whole at any time.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes of the request that was read last.
    pub(super) fn cut(&self) -> Bytes {
        self.lock().arrived.cut()
    }

    /// What came after the last request.
    pub(super) fn rest(&self) -> Bytes {
        self.lock().arrived.rest()
    }

    fn flushed(&self) {
        let mut inner = self.lock();
        inner.flushes += 1;
        if let Some(waker) = inner.waiting.take() {
            waker.wake();
        }
    }
}

/// The connection.
#[derive(Debug)]
pub(super) struct Tapped<T> {
    pub(super) io: T,
    pub(super) tap: Tap,
}

impl<T: AsyncRead + Unpin> AsyncRead for Tapped<T> {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let result = Pin::new(&mut self.io).poll_read(cx, buffer);
        if let Some(new) = buffer.filled().get(before..)
            && !new.is_empty()
        {
            self.tap.lock().arrived.push(new);
        }
        result
    }
}

impl<T: AsyncWrite + Unpin> AsyncWrite for Tapped<T> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.io).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let result = Pin::new(&mut self.io).poll_flush(cx);
        if matches!(result, Poll::Ready(Ok(()))) {
            self.tap.flushed();
        }
        result
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.io).poll_shutdown(cx)
    }
}

/// A body that breaks only when all that came before is on its way: hyper drops what it holds when a body fails, the
/// headers too.
pub(super) struct Flushing {
    pub(super) body: Streamed,
    pub(super) tap: Tap,
    /// What it breaks with, and how often there had been a flush when it was known.
    pub(super) broken: Option<(Broken, u64)>,
}

impl Body for Flushing {
    type Data = Bytes;
    type Error = Broken;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Broken>>> {
        if self.broken.is_none() {
            match Pin::new(&mut self.body).poll_frame(cx) {
                Poll::Ready(Some(Err(broken))) => {
                    let flushes = self.tap.lock().flushes;
                    self.broken = Some((broken, flushes));
                }
                other => return other,
            }
        }
        let Some((broken, before)) = &self.broken else { return Poll::Pending };
        let mut inner = self.tap.lock();
        if inner.flushes > *before {
            return Poll::Ready(Some(Err(broken.clone())));
        }
        inner.waiting = Some(cx.waker().clone());
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
