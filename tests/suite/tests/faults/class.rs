//! The faults, and what each must end in.

use std::time::Duration;

use kube_emulator::fault::{Ending, Fault, Point, When};
use serde_json::json;
use workload_host::model::FaultKind;
use workload_suite::inside::{Asked, objects};

/// How an operation ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// As it does without a fault.
    Good,
    /// Its time ran out.
    Timeout,
    /// With this kind of fault; of a look, it is unknown for this reason.
    Fault(FaultKind),
    /// Otherwise.
    Other(String),
}

impl End {
    pub fn of(kind: FaultKind) -> End {
        if kind == FaultKind::Timeout { End::Timeout } else { End::Fault(kind) }
    }

    /// Of a status that is not known for this reason: the fault that has the same cause.
    pub fn unknown(reason: &str) -> End {
        End::Fault(match reason {
            "unreachable" | "throttled" => FaultKind::Unavailable,
            "unauthorized" => FaultKind::Unauthorized,
            "forbidden" => FaultKind::Forbidden,
            "malformed" => FaultKind::Malformed,
            _ => FaultKind::Internal,
        })
    }
}

/// What a request is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// To read the Deployment, or the list, before anything is decided.
    First,
    /// To read the Deployment while something is waited for.
    Wait,
    /// To read what belongs to it, or who else claims to be it.
    Beside,
    /// To be woken.
    Watch,
    /// To change it.
    Write,
}

impl Role {
    /// Of this request among all of an operation.
    pub fn of(asked: &[Asked], at: usize) -> Role {
        let one = &asked[at];
        let waits = asked[..at].iter().any(|before| before.writes() || before.verb == "WATCH");
        match one.verb {
            "WATCH" => Role::Watch,
            "POST" | "PATCH" | "PUT" | "DELETE" => Role::Write,
            "LIST" if !one.path.ends_with("/deployments") || asks_who_claims(one) => Role::Beside,
            _ if waits => Role::Wait,
            _ => Role::First,
        }
    }
}

fn asks_who_claims(asked: &Asked) -> bool {
    asked.query("labelSelector").is_some_and(|labels| labels.contains("workload-provider/id="))
}

/// A kind of fault.
#[derive(Debug)]
pub struct Class {
    pub name: &'static str,
    fault: fn() -> Fault,
    /// It comes after the request took effect.
    pub takes_effect: bool,
    /// It proves that nothing was done.
    did_nothing: bool,
    /// It takes as long as a request is waited for.
    pub silent: bool,
    /// The server says when to come back.
    pub retry_after: Option<Duration>,
    means: Means,
}

/// What a client learns from it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Means {
    /// That the server cannot be reached, or has too much to do: it may pass.
    Unavailable,
    /// That what answers is not the server: it may pass.
    Malformed,
    /// Who we are is not known.
    Unauthorized,
    /// We may not.
    Forbidden,
    /// Somebody else was faster. Of a read it makes no sense.
    Conflict,
}

const fn class(name: &'static str, fault: fn() -> Fault, means: Means) -> Class {
    Class { name, fault, takes_effect: false, did_nothing: false, silent: false, retry_after: None, means }
}

const fn harmless(class: Class) -> Class {
    Class { did_nothing: true, ..class }
}

const fn effective(class: Class) -> Class {
    Class { takes_effect: true, ..class }
}

const fn silent(class: Class) -> Class {
    Class { silent: true, ..class }
}

const fn after_a_second(class: Class) -> Class {
    Class { retry_after: Some(Duration::from_secs(1)), ..class }
}

/// All of them.
pub const CLASSES: &[Class] = &[
    harmless(class("connection refused", || Fault::Refuse(Some(Duration::ZERO)), Means::Unavailable)),
    class("reset before it took effect", || Fault::Reset(When::Before), Means::Unavailable),
    effective(class("reset after it took effect", || Fault::Reset(When::After), Means::Unavailable)),
    silent(class("no answer", || Fault::Stall(When::Before), Means::Unavailable)),
    silent(effective(class("no answer after it took effect", || Fault::Stall(When::After), Means::Unavailable))),
    harmless(class("401", || status(401, "Unauthorized", "Unauthorized", &[]), Means::Unauthorized)),
    harmless(class("403", || status(403, "Forbidden", "deployments.apps is forbidden", &[]), Means::Forbidden)),
    class("409", || status(409, "Conflict", "the object has been modified", &[]), Means::Conflict),
    class("410", || status(410, "Expired", "too old resource version: 1 (2)", &[]), Means::Malformed),
    harmless(class("429", || Fault::canned(When::Before, 429, &[], "too many requests"), Means::Unavailable)),
    after_a_second(harmless(class(
        "429 with a time",
        || status(429, "TooManyRequests", "too many requests", &[("retry-after", "1")]),
        Means::Unavailable,
    ))),
    class("500", || status(500, "InternalError", "etcdserver: leader changed", &[]), Means::Unavailable),
    class("503", || status(503, "ServiceUnavailable", "apiserver is shutting down", &[]), Means::Unavailable),
    class("504", || status(504, "Timeout", "request did not complete", &[]), Means::Unavailable),
    class("a page with 200", || Fault::html(When::Before, 200), Means::Malformed),
    class("a page with 502", || Fault::html(When::Before, 502), Means::Unavailable),
    class("a redirect", || Fault::redirect(302, "https://login.example/"), Means::Malformed),
    effective(class("half a body", || Fault::Break(Point::Bytes(40), Ending::Close), Means::Malformed)),
    class("a page with 404", || Fault::html(When::Before, 404), Means::Malformed),
];

fn status(code: u16, reason: &str, message: &str, headers: &[(&str, &str)]) -> Fault {
    let headers = [&[("content-type", "application/json")], headers].concat();
    Fault::canned(When::Before, code, &headers, objects::status(code, reason, message, json!({})).to_string())
}

impl Class {
    pub fn fault(&self) -> Fault {
        (self.fault)()
    }

    /// It ends all connections, not only the one of the request.
    pub fn ends_connections(&self) -> bool {
        matches!(self.fault(), Fault::Refuse(_))
    }

    /// It proves that nothing was done by this write, and there is nothing that would have to be read before it is sent
    /// again. What met another's change is decided anew; what is to be made is not there.
    pub fn did_nothing(&self, write: &Asked) -> bool {
        self.did_nothing || self.means == Means::Conflict && write.verb == "POST"
    }

    /// The ends that are right when it happens to a request of this role, once or to all from there on.
    pub fn ends(&self, role: Role, for_ever: bool) -> Vec<End> {
        use FaultKind::{Conflict, Forbidden, Malformed, Unauthorized, Unavailable};
        use Means as M;
        use Role as R;
        let fault = End::Fault;
        match (self.means, role, for_ever) {
            // What passes costs time only: a look tries three times, a wait goes on, a write is looked after.
            (M::Unavailable | M::Malformed, _, false) => vec![End::Good],
            // A look gives up after its tries, a wait with its time. Which of them the first read of an operation is that
            // goes on to wait is left open, and so is how often a write is tried.
            (M::Unavailable, R::First | R::Write | R::Beside, true) => vec![fault(Unavailable), End::Timeout],
            (M::Malformed, R::First | R::Write | R::Beside, true) => vec![fault(Malformed), End::Timeout],
            (M::Unavailable | M::Malformed, R::Wait | R::Watch, true) => vec![End::Timeout],
            // Without another credential there is nothing to try.
            (M::Unauthorized, R::First | R::Wait | R::Write, _) => vec![fault(Unauthorized)],
            (M::Forbidden, R::First | R::Wait | R::Write, _) => vec![fault(Forbidden)],
            // A watch only wakes, and what belongs to it may be hidden: the reads that follow decide.
            (M::Unauthorized | M::Forbidden | M::Conflict, R::Watch, false) => vec![End::Good],
            (M::Forbidden, R::Beside, false) => vec![End::Good],
            (M::Forbidden, R::Beside | R::Watch, true) => vec![End::Good, fault(Forbidden)],
            (M::Unauthorized, R::Beside, false) => vec![End::Good, fault(Unauthorized)],
            (M::Unauthorized, R::Beside | R::Watch, true) => vec![fault(Unauthorized)],
            // A write that met another is decided anew.
            (M::Conflict, R::Write, false) => vec![End::Good],
            // No server answers a read so: it may end it or be tried again, but it is no "missing".
            (M::Conflict, R::First | R::Wait | R::Beside, false) => vec![End::Good, fault(Conflict), fault(Malformed)],
            (M::Conflict, _, true) => vec![fault(Conflict), fault(Malformed), End::Timeout],
        }
    }
}
