//! What an operation's handles share: what was given, what is outstanding, and what the next turn will say.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;
use std::task::{Context as TaskContext, Poll, Waker};

use crate::table::Table;
use crate::tasks::Tasks;
use crate::{
    Answer, Context, Effect, Failure, Fault, Method, Outcome, Pending, Response, Secret, StopReason, Turn, Workload,
};

/// The workload an effect is for. None: several share it.
pub(crate) type Subject = Option<Rc<str>>;

pub(crate) struct Core {
    pub(crate) now: Cell<u64>,
    pub(crate) context: Context,
    pub(crate) tasks: Tasks,
    /// Whether what is being polled is within a cleanup.
    pub(crate) in_cleanup: Cell<bool>,
    /// How many cleanups have begun and not ended.
    pub(crate) cleanups: Cell<usize>,
    /// Tasks of the operation itself that have not ended: of its ids, or of discover.
    pub(crate) open: Cell<usize>,
    books: RefCell<Books>,
}

#[derive(Default)]
struct Books {
    last_effect: u32,
    outstanding: Table<u32, Slot>,
    need: Vec<Pending>,
    dropped: Vec<u32>,
    emitted: Vec<Workload>,
    settled: Vec<(String, Result<Outcome, Fault>)>,
    incomplete: Vec<(String, Fault)>,
    progress: Vec<(String, String)>,
    stopped: Table<Rc<str>, StopReason>,
    stopped_all: Option<StopReason>,
    stop_waiters: Vec<Waker>,
}

struct Slot {
    subject: Subject,
    nature: Nature,
    /// Asked for within a cleanup: a stop does not end it.
    exempt: bool,
    inbox: VecDeque<Answer>,
    /// The last answer is in the inbox.
    ended: bool,
    waker: Option<Waker>,
}

/// How an effect stands to a stop.
#[derive(Clone, Copy, PartialEq)]
enum Nature {
    /// Changes nothing: ended by a stop.
    Reads,
    /// May change something: goes on until its answer, but is not begun after a stop.
    Writes,
    /// Records or tidies up what was done: goes on, and may be begun.
    Tidies,
}

impl Nature {
    fn of(effect: &Effect) -> Self {
        match effect {
            Effect::Sleep(_) | Effect::Forward(_) => Self::Reads,
            Effect::Http(request) if request.method == Method::Get => Self::Reads,
            Effect::Call(call) if call.request.method == Method::Get => Self::Reads,
            Effect::Http(_) | Effect::Call(_) | Effect::Exec(_) | Effect::Secret(Secret::Make(_)) => Self::Writes,
            Effect::Close(_) | Effect::Secret(Secret::Forget(_)) | Effect::Checkpoint(_) | Effect::ForgetRecord => {
                Self::Tidies
            }
        }
    }
}

/// Whatever changes something names its workload; closing a forward changes nothing that outlives the operation.
fn needs_subject(effect: &Effect, nature: Nature) -> bool {
    nature != Nature::Reads && !matches!(effect, Effect::Close(_))
}

impl Core {
    pub(crate) fn new(context: Context) -> Rc<Self> {
        Rc::new(Self {
            now: Cell::new(0),
            context,
            tasks: Tasks::default(),
            in_cleanup: Cell::new(false),
            cleanups: Cell::new(0),
            open: Cell::new(0),
            books: RefCell::new(Books::default()),
        })
    }

    /// Puts an effect into the next turn, unless it is refused here and now.
    pub(crate) fn ask(&self, subject: &Subject, effect: Effect) -> Result<u32, Failure> {
        let nature = Nature::of(&effect);
        let exempt = self.in_cleanup.get();
        let mut books = self.books.borrow_mut();
        if subject.is_none() && needs_subject(&effect, nature) {
            return Err(Failure::Denied);
        }
        if nature != Nature::Tidies && !exempt && books.stop_reason(subject).is_some() {
            return Err(Failure::Cancelled);
        }
        // Never used twice: an operation that lasts that long gets no more.
        let id = books.last_effect.checked_add(1).ok_or(Failure::Denied)?;
        books.last_effect = id;
        books.need.push(Pending { id, for_: subject.as_deref().map(str::to_owned), effect });
        let slot = Slot { subject: subject.clone(), nature, exempt, inbox: VecDeque::new(), ended: false, waker: None };
        books.outstanding.insert(id, slot);
        Ok(id)
    }

    /// The next answer to an effect, or None when there will be no more.
    pub(crate) fn poll_answer(&self, id: u32, cx: &TaskContext<'_>) -> Poll<Option<Answer>> {
        let mut books = self.books.borrow_mut();
        let Some(slot) = books.outstanding.get_mut(&id) else { return Poll::Ready(None) };
        match slot.inbox.pop_front() {
            Some(answer) => {
                if slot.ended && slot.inbox.is_empty() {
                    books.outstanding.remove(&id);
                }
                Poll::Ready(Some(answer))
            }
            None => {
                if !slot.waker.as_ref().is_some_and(|waker| waker.will_wake(cx.waker())) {
                    slot.waker = Some(cx.waker().clone());
                }
                Poll::Pending
            }
        }
    }

    /// Nobody waits for this effect any more.
    pub(crate) fn forget(&self, id: u32) {
        let mut books = self.books.borrow_mut();
        if let Some(slot) = books.outstanding.remove(&id)
            && !slot.ended
        {
            books.withdraw(id);
        }
    }

    /// An answer of the host. One to an effect that is not outstanding is late, or odd: ignored.
    pub(crate) fn deliver(&self, id: u32, answer: Answer) {
        let waker = {
            let mut books = self.books.borrow_mut();
            let Some(slot) = books.outstanding.get_mut(&id) else { return };
            if slot.ended {
                return;
            }
            slot.ended = !matches!(&answer, Answer::Response(Response { last: false, .. }));
            slot.inbox.push_back(answer);
            slot.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// A stop for one workload or for all. The first reason given to a workload stays.
    pub(crate) fn stop(&self, id: Option<String>, reason: StopReason) {
        let wakers = self.books.borrow_mut().stop(id, reason);
        wakers.into_iter().for_each(Waker::wake);
    }

    pub(crate) fn stop_reason(&self, subject: &Subject) -> Option<StopReason> {
        self.books.borrow().stop_reason(subject)
    }

    pub(crate) fn poll_stopped(&self, subject: &Subject, cx: &TaskContext<'_>) -> Poll<StopReason> {
        let mut books = self.books.borrow_mut();
        if let Some(reason) = books.stop_reason(subject) {
            return Poll::Ready(reason);
        }
        if !books.stop_waiters.iter().any(|waker| waker.will_wake(cx.waker())) {
            books.stop_waiters.push(cx.waker().clone());
        }
        Poll::Pending
    }

    pub(crate) fn emit(&self, workload: Workload) {
        self.books.borrow_mut().emitted.push(workload);
    }

    pub(crate) fn incomplete(&self, place: String, fault: Fault) {
        self.books.borrow_mut().incomplete.push((place, fault));
    }

    pub(crate) fn progress(&self, id: &str, text: String) {
        self.books.borrow_mut().progress.push((id.to_owned(), text));
    }

    pub(crate) fn settle(&self, id: String, result: Result<Outcome, Fault>) {
        self.books.borrow_mut().settled.push((id, result));
    }

    /// What has gathered since the last turn.
    pub(crate) fn take_turn(&self) -> Turn {
        let mut books = self.books.borrow_mut();
        Turn {
            need: std::mem::take(&mut books.need),
            dropped: std::mem::take(&mut books.dropped),
            emitted: std::mem::take(&mut books.emitted),
            settled: std::mem::take(&mut books.settled),
            incomplete: std::mem::take(&mut books.incomplete),
            progress: std::mem::take(&mut books.progress),
            cleaning: self.cleanups.get() > 0,
            finished: self.open.get() == 0,
        }
    }
}

impl Books {
    fn stop_reason(&self, subject: &Subject) -> Option<StopReason> {
        let own = subject.as_ref().and_then(|id| self.stopped.get(id)).copied();
        own.or(self.stopped_all)
    }

    fn stop(&mut self, id: Option<String>, reason: StopReason) -> Vec<Waker> {
        let id: Subject = id.map(Rc::from);
        if self.stop_reason(&id).is_some() {
            return Vec::new();
        }
        match &id {
            Some(id) => {
                self.stopped.insert(Rc::clone(id), reason);
            }
            None => self.stopped_all = Some(reason),
        }
        // Whoever waits for another workload's stop is woken in vain and waits again.
        let mut wakers = std::mem::take(&mut self.stop_waiters);
        let mut withdrawn = Vec::new();
        for (effect, slot) in self.outstanding.iter_mut() {
            let concerned = id.is_none() || slot.subject == id;
            if concerned && slot.nature == Nature::Reads && !slot.exempt && !slot.ended {
                slot.inbox.push_back(Answer::Failed(Failure::Cancelled));
                slot.ended = true;
                wakers.extend(slot.waker.take());
                withdrawn.push(*effect);
            }
        }
        for effect in withdrawn {
            self.withdraw(effect);
        }
        wakers
    }

    /// Takes an effect back: from the coming turn, or from the host if it already has it.
    fn withdraw(&mut self, id: u32) {
        let before = self.need.len();
        self.need.retain(|pending| pending.id != id);
        if self.need.len() == before {
            self.dropped.push(id);
        }
    }
}
