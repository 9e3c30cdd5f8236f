//! Effects as futures.

use std::fmt;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::core::{Core, Subject};
use crate::{Answer, Effect, Failure, Response};

/// One effect: asked for when it is first polled, and no longer wanted once this is dropped.
pub(crate) struct Ask {
    core: Rc<Core>,
    state: State,
}

enum State {
    New(Subject, Effect),
    Asked(u32),
    /// Not asked for: what to answer instead, once.
    Refused(Failure),
    Ended,
}

impl Ask {
    pub(crate) fn new(core: Rc<Core>, subject: Subject, effect: Effect) -> Self {
        Self { core, state: State::New(subject, effect) }
    }

    /// Asks now rather than at the first poll.
    fn begin(&mut self) {
        if let State::New(subject, effect) = std::mem::replace(&mut self.state, State::Ended) {
            self.state = match self.core.ask(&subject, effect) {
                Ok(id) => State::Asked(id),
                Err(failure) => State::Refused(failure),
            };
        }
    }

    /// The next answer: None after the last.
    fn poll_next(&mut self, cx: &Context<'_>) -> Poll<Option<Answer>> {
        if matches!(self.state, State::New(..)) {
            self.begin();
        }
        match self.state {
            State::Asked(id) => self.core.poll_answer(id, cx),
            State::Refused(failure) => {
                self.state = State::Ended;
                Poll::Ready(Some(Answer::Failed(failure)))
            }
            State::New(..) | State::Ended => Poll::Ready(None),
        }
    }

    /// The one answer.
    pub(crate) async fn answer(mut self) -> Result<Answer, Failure> {
        match poll_fn(|cx| self.poll_next(cx)).await {
            Some(Answer::Failed(failure)) => Err(failure),
            Some(answer) => Ok(answer),
            None => Err(Failure::Cancelled),
        }
    }

    /// The whole response. One of a single part is handed on as it came; further parts are added to the first.
    pub(crate) async fn response(mut self) -> Result<Response, Failure> {
        let mut whole = self.part().await.unwrap_or(Err(Failure::Cancelled))?;
        while !whole.last {
            let part = self.part().await.unwrap_or(Err(Failure::Cancelled))?;
            whole.bytes.extend_from_slice(&part.bytes);
            whole.last = part.last;
        }
        Ok(whole)
    }

    async fn part(&mut self) -> Option<Result<Response, Failure>> {
        match poll_fn(|cx| self.poll_next(cx)).await? {
            Answer::Response(part) => Some(Ok(part)),
            Answer::Failed(failure) => Some(Err(failure)),
            // An answer to something else than what was asked.
            _ => Some(Err(Failure::BadResponse)),
        }
    }
}

impl Drop for Ask {
    fn drop(&mut self) {
        if let State::Asked(id) = self.state {
            self.core.forget(id);
        }
    }
}

/// An answer that comes in parts, each of whole lines. Dropping it closes it.
#[must_use = "a stream that is dropped is closed at once"]
pub struct Stream(Ask);

impl Stream {
    pub(crate) fn open(mut ask: Ask) -> Self {
        ask.begin();
        Self(ask)
    }

    /// The next part, or why there are no more; None after the last. A stop is [`Failure::Cancelled`].
    pub async fn next(&mut self) -> Option<Result<Response, Failure>> {
        self.0.part().await
    }
}

impl fmt::Debug for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Stream").finish_non_exhaustive()
    }
}
