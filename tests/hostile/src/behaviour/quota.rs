//! More than is allowed, and other than is allowed.

use workload_guest::{Call, Effect, Exec, Forward, Media, Method, Part, Request, Secret};

use super::Step;
use crate::given::{Given, Tally, answers, asking, deployment, turn, word};

/// 2 MiB: twice what a request's body may have.
const BIG_BODY: usize = 2 << 20;

/// As many requests as `flood` keeps under way.
const WAVE: u32 = 32;

pub(super) fn burst(given: Given) -> Step {
    let count = given.count(100);
    flood_by(given, count, count)
}

pub(super) fn flood(given: Given) -> Step {
    let count = given.count(10_000);
    flood_by(given, count, WAVE)
}

fn flood_by(given: Given, count: u32, at_once: u32) -> Step {
    let mut tally = Tally::default();
    let (mut asked, mut open) = (0, 0);
    Box::new(move |_, events| {
        for (_, answer) in answers(events) {
            tally.add(&answer);
            open = u32::saturating_sub(open, 1);
        }
        let more = (count - asked).min(at_once - open);
        let need = (asked + 1..=asked + more).map(|id| given.ask(id, given.get())).collect();
        asked += more;
        open += more;
        if open == 0 { given.report(tally.report()) } else { asking(need) }
    })
}

/// Asks for each at once, and reports by their names when all are answered.
fn try_each(given: Given, attempts: Vec<(&'static str, Option<String>, Effect)>) -> Step {
    let names: Vec<&str> = attempts.iter().map(|(name, ..)| *name).collect();
    let mut need: Vec<_> =
        (0..).zip(attempts).map(|(id, (_, for_, effect))| workload_guest::Pending { id, for_, effect }).collect();
    let mut results: Vec<Option<String>> = vec![None; names.len()];
    Box::new(move |_, events| {
        for (id, answer) in answers(events) {
            if let Some(result) = results.get_mut(id as usize) {
                *result = Some(word(&answer));
            }
        }
        if results.iter().any(Option::is_none) {
            return if need.is_empty() { turn() } else { asking(std::mem::take(&mut need)) };
        }
        let told = names.iter().zip(&results);
        given.report(told.map(|(name, result)| ((*name).to_owned(), result.clone().unwrap_or_default())))
    })
}

pub(super) fn big_body(given: Given) -> Step {
    let (namespace, _) = given.target();
    let mut segments = deployment(&namespace, "");
    segments.pop();
    let mut body = br#"{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"annotations":{"big":""#.to_vec();
    body.resize(BIG_BODY, b'x');
    body.extend_from_slice(br#""}}}"#);
    let effect = Effect::Http(Request::new(Method::Post, segments).with_body(Media::Json, body));
    let for_ = given.first();
    try_each(given, vec![("big-body", for_, effect)])
}

pub(super) fn write(given: Given) -> Step {
    let (for_, effect) = (given.first(), given.patch_scale());
    try_each(given, vec![("write", for_, effect)])
}

pub(super) fn write_unnamed(given: Given) -> Step {
    let effect = given.patch_scale();
    try_each(given, vec![("write-unnamed", None, effect)])
}

pub(super) fn write_foreign(given: Given) -> Step {
    let effect = given.patch_scale();
    try_each(given, vec![("write-foreign", Some("default/not-of-this-operation".to_owned()), effect)])
}

pub(super) fn out_of_grants(given: Given) -> Step {
    let (namespace, _) = given.target();
    let get = |segments: &[&str]| Effect::Http(Request::get(segments.iter().copied()));
    let exec = ["api", "v1", "namespaces", &namespace, "pods", "probe", "exec"];
    let exec = Request::new(Method::Post, exec).with_query("command", "id").with_query("stdout", "true");
    let attempts = vec![
        ("secret", get(&["api", "v1", "namespaces", &namespace, "secrets", "probe"])),
        ("exec", Effect::Http(exec)),
        ("other-namespace", get(&["apis", "apps", "v1", "namespaces", "kube-system", "deployments", "coredns"])),
        ("all-namespaces", get(&["apis", "apps", "v1", "deployments"])),
        ("metrics", get(&["metrics"])),
        ("dots", get(&["apis", "apps", "v1", "namespaces", &namespace, "deployments", "..", "..", "secrets"])),
    ];
    let for_ = given.first();
    let attempts = attempts.into_iter().map(|(name, effect)| (name, for_.clone(), effect)).collect();
    try_each(given, attempts)
}

pub(super) fn exotic(given: Given) -> Step {
    let (namespace, name) = given.target();
    let pod: Vec<String> = ["api", "v1", "namespaces", &namespace, "pods", &name].map(str::to_owned).into();
    let exec = Exec {
        segments: pod.clone(),
        container: None,
        command: vec!["id".to_owned()],
        stdin: vec![Part::Bytes(b"x".to_vec()), Part::Secret("probe".to_owned())],
        output_limit: 1024,
    };
    let call = Call {
        forward: 1,
        request: Request::get(["metrics"]),
        authorization: Some("probe".to_owned()),
        keep: vec![("/token".to_owned(), "kept".to_owned())],
    };
    let attempts = vec![
        ("exec", Effect::Exec(exec)),
        ("forward", Effect::Forward(Forward { segments: pod, port: 8080 })),
        ("close", Effect::Close(1)),
        ("call", Effect::Call(call)),
        ("make-secret", Effect::Secret(Secret::Make(("probe".to_owned(), 32)))),
        ("forget-secret", Effect::Secret(Secret::Forget("probe".to_owned()))),
        ("checkpoint", Effect::Checkpoint(b"state".to_vec())),
        ("forget-record", Effect::ForgetRecord),
    ];
    let for_ = given.first();
    let attempts = attempts.into_iter().map(|(name, effect)| (name, for_.clone(), effect)).collect();
    try_each(given, attempts)
}
