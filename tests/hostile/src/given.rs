//! What a behaviour has to work with, and the turns it makes of it.

use std::collections::BTreeMap;

use workload_guest::{
    Answer, Context, Effect, Event, Failure, Fault, FaultKind, Media, Method, Outcome, OutcomeWord, Pending, Request,
    Status, Turn, Workload,
};

/// The arguments of the call.
pub(crate) struct Given {
    pub(crate) call: &'static str,
    pub(crate) context: Context,
    pub(crate) ids: Vec<String>,
    pub(crate) argument: String,
}

impl Given {
    pub(crate) fn setting(&self, name: &str) -> Option<&str> {
        let mut settings = self.context.settings.iter();
        settings.find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub(crate) fn count(&self, otherwise: u32) -> u32 {
        self.setting("count").and_then(|count| count.parse().ok()).unwrap_or(otherwise)
    }

    pub(crate) fn first(&self) -> Option<String> {
        self.ids.first().cloned()
    }

    /// Namespace and name of the first id.
    pub(crate) fn target(&self) -> (String, String) {
        let id = self.first().unwrap_or_else(|| "probe".to_owned());
        match id.split_once('/') {
            Some((namespace, name)) => (namespace.to_owned(), name.to_owned()),
            None => ("default".to_owned(), id),
        }
    }

    pub(crate) fn get(&self) -> Effect {
        let (namespace, name) = self.target();
        Effect::Http(Request::get(deployment(&namespace, &name)))
    }

    pub(crate) fn patch_scale(&self) -> Effect {
        let (namespace, name) = self.target();
        let mut segments = deployment(&namespace, &name);
        segments.push("scale".to_owned());
        let body = r#"{"spec":{"replicas":1}}"#;
        Effect::Http(Request::new(Method::Patch, segments).with_body(Media::MergePatch, body))
    }

    /// The effect, for the first id.
    pub(crate) fn ask(&self, id: u32, effect: Effect) -> Pending {
        Pending { id, for_: self.first(), effect }
    }

    /// Every id settled in this way, and finished.
    pub(crate) fn settle(&self, result: &Result<Outcome, Fault>) -> Turn {
        let mut turn = turn();
        turn.settled = self.ids.iter().map(|id| (id.clone(), result.clone())).collect();
        turn.finished = true;
        match (self.call, result) {
            ("discover", Ok(outcome)) => turn.emitted.extend(outcome.workload.clone()),
            ("discover", Err(fault)) => turn.incomplete.push(("report".to_owned(), fault.clone())),
            _ => {}
        }
        turn
    }

    /// Every id settled well.
    pub(crate) fn well(&self, word: OutcomeWord, facts: Vec<(String, String)>) -> Turn {
        let (namespace, name) = self.target();
        let mut workload = Workload::named(format!("{namespace}/{name}"), Status::Running, "available");
        workload.kind = "Deployment".to_owned();
        workload.settled = true;
        workload.facts = facts;
        self.settle(&Ok(Outcome { word, changed: false, workload: Some(workload) }))
    }

    /// Every id settled with a fault that tells what came of what was tried.
    pub(crate) fn report(&self, results: impl IntoIterator<Item = (String, String)>) -> Turn {
        let mut fault = Fault::new(FaultKind::Denied, "what came of it is in the detail");
        fault.detail.extend(results);
        self.settle(&Err(fault))
    }
}

pub(crate) fn deployment(namespace: &str, name: &str) -> Vec<String> {
    ["apis", "apps", "v1", "namespaces", namespace, "deployments", name].map(str::to_owned).into()
}

/// A turn in which nothing happens.
pub(crate) fn turn() -> Turn {
    Turn {
        need: Vec::new(),
        dropped: Vec::new(),
        emitted: Vec::new(),
        settled: Vec::new(),
        incomplete: Vec::new(),
        progress: Vec::new(),
        cleaning: false,
        finished: false,
    }
}

/// A turn that only asks.
pub(crate) fn asking(need: Vec<Pending>) -> Turn {
    Turn { need, ..turn() }
}

/// The answers among what happened.
pub(crate) fn answers(events: Vec<Event>) -> Vec<(u32, Answer)> {
    let answer = |event| match event {
        Event::Answer(answer) => Some(answer),
        Event::Stop(_) => None,
    };
    events.into_iter().filter_map(answer).collect()
}

pub(crate) fn is_stop(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::Stop(_)))
}

/// An answer in one word.
pub(crate) fn word(answer: &Answer) -> String {
    match answer {
        Answer::Response(response) => response.status.to_string(),
        Answer::Elapsed => "elapsed".to_owned(),
        Answer::Exec(_) => "exec".to_owned(),
        Answer::Forward(_) => "forward".to_owned(),
        Answer::Done => "done".to_owned(),
        Answer::Failed(failure) => failure_word(*failure).to_owned(),
    }
}

/// The word of the WIT.
pub(crate) fn failure_word(failure: Failure) -> &'static str {
    match failure {
        Failure::Denied => "denied",
        Failure::Timeout => "timeout",
        Failure::TooLarge => "too-large",
        Failure::Unreachable => "unreachable",
        Failure::RedirectRefused => "redirect-refused",
        Failure::Cancelled => "cancelled",
        Failure::BadResponse => "bad-response",
        Failure::Lost => "lost",
        Failure::Unsupported => "unsupported",
        Failure::StoreFailed => "store-failed",
    }
}

/// How often each word came.
#[derive(Default)]
pub(crate) struct Tally(BTreeMap<String, u32>);

impl Tally {
    pub(crate) fn add(&mut self, answer: &Answer) {
        *self.0.entry(word(answer)).or_default() += 1;
    }

    pub(crate) fn report(&self) -> Vec<(String, String)> {
        self.0.iter().map(|(word, count)| (word.clone(), count.to_string())).collect()
    }
}
