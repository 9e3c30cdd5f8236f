//! One workload's handle.

use std::fmt;
use std::future::{Future, poll_fn};
use std::ops::Deref;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::core::{Core, Subject};
use crate::effects::Ask;
use crate::{
    Answer, Call, Effect, Either, Exec, ExecResult, Failure, Fault, Forward, Operation, Request, Response, Secret,
    StopReason, Stream, Workload, select,
};

/// What one workload's task asks, reports and is told. Cheap to clone; everything of [`Operation`] is there as well.
///
/// Effects are asked for when first polled, except [`stream`](Self::stream). Their futures hold nothing borrowed.
#[derive(Clone)]
pub struct Cx {
    operation: Operation,
    subject: Subject,
}

impl Cx {
    pub(crate) fn new(operation: Operation, subject: Subject) -> Self {
        Self { operation, subject }
    }

    /// The workload this handle is for; none if it is [shared](Operation::shared), or discover's.
    pub fn id(&self) -> Option<&str> {
        self.subject.as_deref()
    }

    /// A request and its whole answer, parts put together. A failure is one of the exchange: an answer with an error
    /// status is a response.
    pub fn http(&self, mut request: Request) -> impl Future<Output = Result<Response, Failure>> + use<> {
        request.streaming = false;
        self.ask(Effect::Http(request)).response()
    }

    /// A request whose answer is read part by part as it arrives. Asked for at once, not at the first
    /// [`next`](Stream::next), so that nothing is missed of what is read meanwhile.
    pub fn stream(&self, mut request: Request) -> Stream {
        request.streaming = true;
        Stream::open(self.ask(Effect::Http(request)))
    }

    /// Waits so many milliseconds.
    pub fn sleep(&self, ms: u64) -> impl Future<Output = Result<(), Failure>> + use<> {
        let ask = self.ask(Effect::Sleep(ms));
        async move {
            match ask.answer().await? {
                Answer::Elapsed => Ok(()),
                _ => Err(Failure::BadResponse),
            }
        }
    }

    /// Runs a command in a running workload.
    pub fn exec(&self, exec: Exec) -> impl Future<Output = Result<ExecResult, Failure>> + use<> {
        let ask = self.ask(Effect::Exec(exec));
        async move {
            match ask.answer().await? {
                Answer::Exec(result) => Ok(result),
                _ => Err(Failure::BadResponse),
            }
        }
    }

    /// Opens a way to a port of a running workload and gives its handle, for [`call`](Self::call).
    pub fn forward(&self, forward: Forward) -> impl Future<Output = Result<u32, Failure>> + use<> {
        let ask = self.ask(Effect::Forward(forward));
        async move {
            match ask.answer().await? {
                Answer::Forward(handle) => Ok(handle),
                _ => Err(Failure::BadResponse),
            }
        }
    }

    /// Closes a forward by its handle.
    pub fn close(&self, handle: u32) -> impl Future<Output = Result<(), Failure>> + use<> {
        self.done(Effect::Close(handle))
    }

    /// A request through a forward and its whole answer.
    pub fn call(&self, call: Call) -> impl Future<Output = Result<Response, Failure>> + use<> {
        self.ask(Effect::Call(call)).response()
    }

    /// Makes a random secret of so many bytes under this name, unless there is one. Its value is never seen here.
    pub fn make_secret(&self, name: impl Into<String>, bytes: u32) -> impl Future<Output = Result<(), Failure>> {
        self.done(Effect::Secret(Secret::Make((name.into(), bytes))))
    }

    /// Forgets the secret of this name.
    pub fn forget_secret(&self, name: impl Into<String>) -> impl Future<Output = Result<(), Failure>> {
        self.done(Effect::Secret(Secret::Forget(name.into())))
    }

    /// Makes this the workload's record; when it resolves, the record is durable.
    pub fn checkpoint(&self, record: impl Into<Vec<u8>>) -> impl Future<Output = Result<(), Failure>> {
        self.done(Effect::Checkpoint(record.into()))
    }

    /// Drops the workload's record.
    pub fn forget_record(&self) -> impl Future<Output = Result<(), Failure>> + use<> {
        self.done(Effect::ForgetRecord)
    }

    /// Says what the workload waits for now, in a few words; the last one stands in a timeout's message. Said of no
    /// workload, it is not heard.
    pub fn progress(&self, text: impl Into<String>) {
        if let Some(id) = &self.subject {
            self.core.progress(id, text.into());
        }
    }

    /// Hands out the state of a workload: what discover found, and each change that is followed.
    pub fn emit(&self, workload: Workload) {
        self.core.emit(workload);
    }

    /// Says that a place could not be read, and why.
    pub fn incomplete(&self, place: impl Into<String>, fault: Fault) {
        self.core.incomplete(place.into(), fault);
    }

    /// Whether this workload was told to stop, or all were; a shared handle knows only the latter.
    pub fn stopping(&self) -> Option<StopReason> {
        self.core.stop_reason(&self.subject)
    }

    /// Waits until [`stopping`](Self::stopping).
    pub fn stopped(&self) -> impl Future<Output = StopReason> + use<> {
        let this = self.clone();
        poll_fn(move |cx| this.core.poll_stopped(&this.subject, cx))
    }

    /// What must be finished once begun: the effects asked for within it go on in spite of a stop, and while it runs
    /// the host is told that dropping the operation would leave something half made.
    pub fn cleanup<F: Future>(&self, future: F) -> impl Future<Output = F::Output> + use<F> {
        let core = Rc::clone(&self.core);
        async move {
            let _running = Running::begin(&core);
            let mut future = pin!(future);
            poll_fn(|cx| within_cleanup(&core, future.as_mut(), cx)).await
        }
    }

    /// Waits at most so long; None if that was not enough, and then the future is dropped. With a stop it is the
    /// future that ends, not the time.
    pub fn timeout<F: Future>(&self, ms: u64, future: F) -> impl Future<Output = Option<F::Output>> + use<F> {
        let sleep = self.sleep(ms);
        async move {
            let mut future = pin!(future);
            match select(future.as_mut(), sleep).await {
                Either::Left(value) => Some(value),
                Either::Right(Ok(())) => None,
                // No clock: the operation's deadline still holds.
                Either::Right(Err(_)) => Some(future.await),
            }
        }
    }

    fn ask(&self, effect: Effect) -> Ask {
        Ask::new(Rc::clone(&self.core), self.subject.clone(), effect)
    }

    fn done(&self, effect: Effect) -> impl Future<Output = Result<(), Failure>> + use<> {
        let ask = self.ask(effect);
        async move {
            match ask.answer().await? {
                Answer::Done => Ok(()),
                _ => Err(Failure::BadResponse),
            }
        }
    }
}

impl Deref for Cx {
    type Target = Operation;

    fn deref(&self) -> &Operation {
        &self.operation
    }
}

impl fmt::Debug for Cx {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cx").field("id", &self.subject).field("stopping", &self.stopping()).finish_non_exhaustive()
    }
}

/// Counts a cleanup while it runs, also when it is dropped half way.
struct Running<'a>(&'a Core);

impl<'a> Running<'a> {
    fn begin(core: &'a Core) -> Self {
        core.cleanups.set(core.cleanups.get() + 1);
        Self(core)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.0.cleanups.set(self.0.cleanups.get().saturating_sub(1));
    }
}

/// Polls with the mark set by which [`Core::ask`] knows what a stop does not end.
fn within_cleanup<F: Future>(core: &Core, future: Pin<&mut F>, cx: &mut Context<'_>) -> Poll<F::Output> {
    let outer = core.in_cleanup.replace(true);
    let polled = future.poll(cx);
    core.in_cleanup.set(outer);
    polled
}
