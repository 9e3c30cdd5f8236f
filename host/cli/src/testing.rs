//! Values for the tests of several modules.

use std::cell::Cell;
use std::collections::VecDeque;
use std::future::pending;

use workload_host::Inspection;
use workload_host::model::{Descriptor, Event, Outcome, OutcomeWord, Status, Workload};

use crate::run::Events;

/// A workload that runs.
pub fn workload(id: &str) -> Workload {
    Workload {
        id: id.to_owned(),
        name: id.rsplit('/').next().unwrap_or_default().to_owned(),
        kind: "Deployment".to_owned(),
        status: Status::Running,
        reason: "available".to_owned(),
        message: None,
        settled: true,
        serving_old: false,
        desired: 1,
        available: 1,
        image: Some("nginx:1.29".to_owned()),
        node: None,
        address: None,
        created: Some("2026-01-02T03:04:05Z".to_owned()),
        owner: Some("default".to_owned()),
        uid: Some("c0ffee".to_owned()),
        retention: None,
        rule: "13".to_owned(),
        facts: vec![("updated".to_owned(), "1".to_owned())],
    }
}

/// A good end, with a workload as last seen.
pub fn outcome(word: OutcomeWord, id: &str) -> Outcome {
    Outcome { word, changed: true, workload: Some(workload(id)) }
}

/// A component that was looked into.
pub fn inspection() -> Inspection {
    Inspection {
        descriptor: Descriptor {
            name: "kubernetes".to_owned(),
            version: "0.1.0".to_owned(),
            engine: "kubernetes".to_owned(),
            asks: vec!["deployments:get".to_owned(), "pods:list".to_owned()],
            spec_schema: r#"{"type":"object"}"#.to_owned(),
            world: "0.1",
        },
        size: 4711,
        sha256: "c0ffee".to_owned(),
        imports: vec!["workload:provider/types@0.1.0".to_owned()],
    }
}

/// Says what it was given; what comes after a cancel only then; and then ends, or never does.
#[derive(Default)]
pub struct Script {
    /// Said at once.
    pub before: VecDeque<Event>,
    /// Said after a cancel.
    pub after: VecDeque<Event>,
    /// It has no end.
    pub hangs: bool,
    /// How often it was cancelled.
    pub cancelled: Cell<u32>,
}

impl Events for Script {
    async fn next(&mut self) -> Option<Event> {
        if let Some(event) = self.before.pop_front() {
            return Some(event);
        }
        if self.cancelled.get() > 0
            && let Some(event) = self.after.pop_front()
        {
            return Some(event);
        }
        if self.hangs || (self.cancelled.get() == 0 && !self.after.is_empty()) { pending().await } else { None }
    }

    fn cancel(&self) {
        self.cancelled.set(self.cancelled.get() + 1);
    }
}
