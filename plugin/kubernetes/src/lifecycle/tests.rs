//! The operations against a small cluster made of arithmetic: what it says follows from what it was asked and when.

mod claiming;
mod deleting;
mod explaining;
mod following;
mod looking;
mod making;
mod nudging;
mod numbered_transport;
mod numbered_waits;
mod planning;
mod settling;
mod several;
mod starting;
mod stopping;
mod trouble;
mod watching;
mod world;

use workload_guest::testing::{Asked, Call, Options, Reply, Run, run};
use workload_guest::{Effect, Method, Spec, StopIntent};

use super::Kubernetes;

const WEB: &str = "default/web";

fn create() -> Call {
    Call::Create(vec![Spec { id: WEB.to_owned(), document: r#"{"image":"nginx:1"}"#.to_owned(), id_label: None }])
}

fn start() -> Call {
    Call::Start(vec![WEB.to_owned()])
}

fn stop() -> Call {
    Call::Stop(vec![WEB.to_owned()], StopIntent::Preserve)
}

fn delete() -> Call {
    Call::Delete(vec![WEB.to_owned()], StopIntent::Terminal)
}

fn status() -> Call {
    Call::Status(vec![WEB.to_owned()], false)
}

/// Drives a call with the usual options.
fn drive(call: Call, reply: impl FnMut(&Asked) -> Reply) -> Run {
    run::<Kubernetes>(call, Options::default(), reply)
}

/// A request in a word or two: `GET web`, `PATCH web/scale`, `LIST pods`, `WATCH`.
fn word(asked: &Asked) -> Option<String> {
    let request = asked.request()?;
    let mut tail = request.segments.iter().skip_while(|part| *part != "namespaces").skip(2);
    let resource = tail.next().or_else(|| request.segments.last()).cloned().unwrap_or_default();
    let rest: Vec<&str> = tail.map(String::as_str).collect();
    Some(match (request.method, rest.is_empty()) {
        _ if request.streaming => "WATCH".to_owned(),
        (Method::Get, true) => format!("LIST {resource}"),
        (Method::Get, false) => format!("GET {}", rest.join("/")),
        (Method::Post, _) => "POST".to_owned(),
        (Method::Patch, _) => format!("PATCH {}", rest.join("/")),
        (Method::Delete, _) => format!("DELETE {}", rest.join("/")),
        (Method::Put, _) => format!("PUT {}", rest.join("/")),
    })
}

/// All requests of a run, in order.
fn words(run: &Run) -> Vec<String> {
    run.asked.iter().filter_map(word).collect()
}

/// The bodies of the writes of a run.
fn written(run: &Run) -> Vec<String> {
    let bodies = run.asked.iter().filter_map(Asked::body);
    bodies.map(|bytes| String::from_utf8(bytes.to_vec()).unwrap()).collect()
}

/// How many requests of a run are not writes.
fn reads(run: &Run) -> usize {
    run.requests().filter(|request| request.method == Method::Get).count()
}

/// How many sleeps a run asked for.
fn sleeps(run: &Run) -> usize {
    run.asked.iter().filter(|asked| matches!(asked.effect, Effect::Sleep(_))).count()
}
