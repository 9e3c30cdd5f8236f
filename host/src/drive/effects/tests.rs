use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use workload_policy::{Engine, Grants, Places};

use super::super::ids::Ids;
use super::super::record::Audit;
use super::Effects;
use crate::audit::{AuditAction, AuditEvent, AuditSink, WriteResult};
use crate::engine::Broken;
use crate::limits::{Limits, QUEUED, STREAMS};
use crate::model::{Failure, Media, Method};
use crate::upstream::{Incoming, Outgoing, Upstream};
use crate::world::{Answer, Effect, Input, Pending, Request};

/// Never answers; its `Arc` is held by each request under way.
struct Silent(Arc<()>);

impl Upstream for Silent {
    fn send(&self, _request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let held = Arc::clone(&self.0);
        async move {
            let _held = held;
            std::future::pending().await
        }
        .boxed()
    }
}

/// Cannot be reached by one of them.
struct Half;

impl Upstream for Half {
    fn send(&self, request: Outgoing) -> BoxFuture<'static, Result<Incoming, Failure>> {
        let reached = !request.target.ends_with("/a");
        let silent = Silent(Arc::default());
        async move { if reached { silent.send(request).await } else { Err(Failure::Unreachable) } }.boxed()
    }

    fn trouble(&self) -> Option<String> {
        Some("refused".to_owned())
    }
}

#[derive(Default)]
struct Records(Mutex<Vec<AuditEvent>>);

impl AuditSink for Records {
    fn record(&self, event: AuditEvent) {
        self.0.lock().unwrap().push(event);
    }
}

impl Records {
    fn results(&self) -> Vec<WriteResult> {
        let result = |event: AuditEvent| match event.action {
            AuditAction::Write { result, .. } => result,
            other => panic!("{other:?}"),
        };
        std::mem::take(&mut *self.0.lock().unwrap()).into_iter().map(result).collect()
    }
}

struct Given {
    effects: Effects,
    ids: Ids,
    records: Arc<Records>,
    held: Arc<()>,
}

impl Given {
    fn new(in_flight: usize) -> Given {
        let held = Arc::<()>::default();
        Given::with(in_flight, Arc::new(Silent(held.clone())), held)
    }

    fn with(in_flight: usize, upstream: Arc<dyn Upstream>, held: Arc<()>) -> Given {
        let records = Arc::<Records>::default();
        let all = ["*".to_owned()];
        let asked = ["deployments:get", "deployments:watch", "deployments/scale:patch"].map(str::to_owned);
        let grants = Grants::new(Engine::Kubernetes, &asked, &all, Places::only(["default"])).unwrap();
        let audit = Audit { sink: records.clone(), provider: "p".to_owned(), generation: 0, call: "start" };
        let limits = Limits { in_flight, ..Limits::default() };
        let effects = Effects::new(&limits, upstream, Arc::new(grants), audit, false, false, 2);
        let ids = Ids::new(["default/a", "default/b"].map(|id| (id.to_owned(), None)));
        Given { effects, ids, records, held }
    }

    fn ask(&mut self, id: u32, workload: &str, writes: bool) {
        self.try_ask(id, workload, writes).unwrap();
    }

    fn try_ask(&mut self, id: u32, workload: &str, writes: bool) -> Result<(), Broken> {
        let name = workload.trim_start_matches("default/");
        let mut segments =
            ["apis", "apps", "v1", "namespaces", "default", "deployments", name].map(str::to_owned).to_vec();
        segments.extend(writes.then(|| "scale".to_owned()));
        let request = Request {
            method: if writes { Method::Patch } else { Method::Get },
            segments,
            query: Vec::new(),
            accept: Media::Json,
            body: writes.then(|| (Media::MergePatch, br#"{"spec":{"replicas":1}}"#.to_vec())),
            streaming: false,
        };
        let pending = Pending { id, workload: Some(workload.to_owned()), effect: Effect::Http(request) };
        self.effects.ask(pending, &self.ids).map(|planned| assert!(planned.is_none()))
    }

    /// Watches the Deployments.
    fn watch(&mut self, id: u32) {
        let segments = ["apis", "apps", "v1", "namespaces", "default", "deployments"].map(str::to_owned).to_vec();
        let query = vec![("watch".to_owned(), "true".to_owned())];
        let accept = Media::Json;
        let request = Request { method: Method::Get, segments, query, accept, body: None, streaming: true };
        let pending = Pending { id, workload: None, effect: Effect::Http(request) };
        assert!(self.effects.ask(pending, &self.ids).unwrap().is_none());
    }

    /// Requests that are under way.
    fn under_way(&mut self) -> usize {
        // What was aborted is cleared away first.
        while self.effects.advance().now_or_never().is_some() {}
        Arc::strong_count(&self.held) - 2
    }

    fn answers(&mut self) -> Vec<(u32, Failure)> {
        let mut inputs = Vec::new();
        self.effects.take_answers(&mut inputs);
        let answer = |input| match input {
            Input::Answer { id, answer: Answer::Failed(failure) } => (id, failure),
            other => panic!("{other:?}"),
        };
        inputs.into_iter().map(answer).collect()
    }
}

#[test]
fn what_still_changes_something_for_an_id_that_settled_ends_at_once() {
    let mut given = Given::new(2);
    given.ask(1, "default/a", true);
    given.ask(2, "default/b", true);
    given.ask(3, "default/a", true);
    assert_eq!(given.under_way(), 2);
    given.effects.abandon(&HashSet::from(["default/a"]), false);
    // Gone before anybody polls anything again.
    assert_eq!(Arc::strong_count(&given.held) - 2, 1);
    assert_eq!(given.records.results(), [WriteResult::Dropped, WriteResult::Failed(Failure::Cancelled)]);
    // One may have taken effect, the other was never sent.
    assert_eq!(given.answers(), [(1, Failure::Lost), (3, Failure::Cancelled)]);
    assert_eq!(given.under_way(), 1);
    given.effects.clear();
    assert_eq!(given.records.results(), [WriteResult::Dropped]);
}

#[test]
fn what_only_reads_goes_on_after_the_providers_own_result() {
    let mut given = Given::new(2);
    given.ask(1, "default/a", false);
    assert_eq!(given.under_way(), 1);
    given.effects.abandon(&HashSet::from(["default/a"]), false);
    assert_eq!(given.answers(), []);
    assert_eq!(given.under_way(), 1);
    given.effects.abandon(&HashSet::from(["default/a"]), true);
    assert_eq!(given.answers(), [(1, Failure::Cancelled)]);
    assert_eq!(given.under_way(), 0);
}

#[test]
fn more_drops_than_effects_are_a_fault() {
    let mut given = Given::new(2);
    given.ask(1, "default/a", false);
    assert_eq!(given.effects.drop_unwanted(&[1, 1, 1]), Ok(()));
    assert!(given.effects.is_empty());
    assert!(given.effects.drop_unwanted(&vec![1; 100_000]).is_err());
    // The place is free again.
    given.ask(2, "default/a", false);
    assert_eq!(given.under_way(), 1);
}

#[test]
fn streams_have_their_own_places_and_more_wait() {
    let mut given = Given::new(1);
    for id in 0..=u32::try_from(STREAMS).unwrap() {
        given.watch(id);
    }
    assert_eq!(given.under_way(), STREAMS);
    // They take no place of a request, and it takes none of theirs.
    given.ask(100, "default/a", false);
    assert_eq!(given.under_way(), STREAMS + 1);
    // The one that waits has the first place that is free, and then there are as many as places.
    assert_eq!(given.effects.drop_unwanted(&[0]), Ok(()));
    assert_eq!(given.under_way(), STREAMS + 1);
    assert_eq!(given.effects.drop_unwanted(&[1]), Ok(()));
    assert_eq!(given.under_way(), STREAMS);
}

#[test]
fn bodies_that_are_not_sent_yet_have_a_limit_together() {
    let mut given = Given::new(1);
    given.ask(1, "default/a", true);
    let one = given.effects.queued_bytes;
    assert!(one > 0);
    // The second waits, and counts as well; what has no body does not.
    given.ask(2, "default/b", true);
    given.ask(3, "default/a", false);
    assert_eq!(given.effects.queued_bytes, 2 * one);
    // What has ended no longer counts, whether it was under way or waited.
    assert_eq!(given.effects.drop_unwanted(&[1, 2]), Ok(()));
    assert_eq!(given.effects.queued_bytes, 0);
    // As if 64 MiB less one body waited.
    given.effects.queued_bytes = QUEUED - one;
    given.ask(4, "default/a", true);
    let broken = given.try_ask(5, "default/b", true).unwrap_err();
    assert_eq!(broken, Broken::limit("the provider sends more than 64 MiB at once"));
}

/// Why one has no answer is not said of the other.
#[test]
fn why_there_was_no_answer_is_known_of_each() {
    let mut given = Given::with(4, Arc::new(Half), Arc::default());
    given.ask(1, "default/a", false);
    given.ask(2, "default/b", false);
    while given.effects.advance().now_or_never().is_some() {}
    assert_eq!(given.answers(), [(1, Failure::Unreachable)]);
    assert_eq!(given.effects.trouble("default/a").as_deref(), Some("refused"));
    assert_eq!(given.effects.trouble("default/b"), None);
}
