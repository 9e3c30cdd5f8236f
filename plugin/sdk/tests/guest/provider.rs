//! Small providers, and events and results in short.

use workload_guest::testing::{Asked, Call, Options, Reply, Run, Stepper, response, run};
use workload_guest::*;

/// A provider whose `start` is the body given. `shared` and `discover` are for those who need them.
macro_rules! provider {
    ($name:ident, $(shared $shared:ident: $type:ty = |$operation:ident| $make:expr,)? $(discover |$dcx:ident| $discover:block,)?
     async |$cx:ident, $id:ident| $(with $this:ident)? $body:block) => {
        #[allow(dead_code)]
        struct $name { $($shared: $type)? }

        impl Provider for $name {
            fn describe() -> Descriptor {
                crate::provider::descriptor()
            }
            #[allow(unused_variables)]
            fn new(operation: Operation) -> Self {
                $(let $operation = operation;)?
                Self { $($shared: $make)? }
            }
            #[allow(unused_variables)]
            async fn discover(&self, cx: Cx, _scope: Scope, _follow: bool) {
                $(let $dcx = cx; $discover)?
            }
            async fn status(&self, cx: Cx, id: String, _follow: bool) -> Result<Outcome, Fault> {
                self.start(cx, id).await
            }
            async fn create(&self, cx: Cx, spec: Spec) -> Result<Outcome, Fault> {
                self.start(cx, spec.document).await
            }
            #[allow(unused_variables)]
            async fn start(&self, $cx: Cx, $id: String) -> Result<Outcome, Fault> {
                $(let $this = self;)?
                $body
            }
        }
    };
}
pub(crate) use provider;

pub(crate) fn descriptor() -> Descriptor {
    Descriptor {
        name: "probe".into(),
        version: "0".into(),
        engine: "none".into(),
        asks: Vec::new(),
        spec_schema: "{}".into(),
    }
}

/// An id that ended well, with these words.
pub(crate) fn said(words: impl Into<String>) -> Result<Outcome, Fault> {
    let workload = Workload { message: Some(words.into()), ..Workload::named("probe", Status::Running, "available") };
    Ok(Outcome { word: OutcomeWord::Started, changed: true, workload: Some(workload) })
}

/// The words with which an id ended, well or not.
pub(crate) fn words<'a>(settled: &'a [(String, Result<Outcome, Fault>)], id: &str) -> &'a str {
    let mut of_id = settled.iter().filter(|(settled, _)| settled == id).map(|(_, result)| match result {
        Ok(outcome) => outcome.workload.as_ref().and_then(|workload| workload.message.as_deref()).unwrap_or(""),
        Err(fault) => fault.message.as_str(),
    });
    let words = of_id.next().unwrap_or("(not settled)");
    assert_eq!(of_id.next(), None, "{id} was settled twice");
    words
}

/// What `start` of these ids was asked.
pub(crate) fn start<P: Provider>(ids: &[&str]) -> Stepper {
    Stepper::new::<P>(starting(ids), &Options::default())
}

pub(crate) fn starting(ids: &[&str]) -> Call {
    Call::Start(ids.iter().map(|id| (*id).to_owned()).collect())
}

/// Runs `start` of one id, `a`.
pub(crate) fn run_a<P: Provider>(options: Options, reply: impl FnMut(&Asked) -> Reply) -> Run {
    run::<P>(starting(&["a"]), options, reply)
}

pub(crate) fn get(name: &str) -> Request {
    Request::get([name])
}

pub(crate) fn put(name: &str) -> Request {
    Request::new(Method::Put, [name])
}

/// The last answer to an effect.
pub(crate) fn answered(id: u32, text: &str) -> Event {
    Event::Answer((id, Answer::Response(response(200, text))))
}

/// An answer with more to come.
pub(crate) fn part(id: u32, text: &str) -> Event {
    Event::Answer((id, Answer::Response(Response { last: false, ..response(200, text) })))
}

pub(crate) fn failed(id: u32, failure: Failure) -> Event {
    Event::Answer((id, Answer::Failed(failure)))
}

pub(crate) fn stop(id: Option<&str>, reason: StopReason) -> Event {
    Event::Stop(StopNotice { id: id.map(str::to_owned), reason })
}

/// What is asked for in a turn: number, workload, and the path or kind of effect.
pub(crate) fn asked(turn: &Turn) -> Vec<(u32, Option<&str>, String)> {
    turn.need.iter().map(|pending| (pending.id, pending.for_.as_deref(), name(&pending.effect))).collect()
}

fn name(effect: &Effect) -> String {
    match effect {
        Effect::Http(request) => request.segments.join("/"),
        Effect::Sleep(ms) => format!("sleep {ms}"),
        other => format!("{other:?}"),
    }
}

pub(crate) fn text(response: &Response) -> String {
    String::from_utf8_lossy(&response.bytes).into_owned()
}
