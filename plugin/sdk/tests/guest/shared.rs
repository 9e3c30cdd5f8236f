//! What the ids of an operation share.

use std::cell::RefCell;
use std::rc::Rc;

use workload_guest::testing::{End, Options, Reply, run};
use workload_guest::*;

use crate::provider::*;

/// A list that one task reads for all.
struct List {
    changed: Signal,
    lines: Rc<RefCell<Vec<String>>>,
    _reader: Task<()>,
}

impl List {
    fn new(operation: &Operation) -> Self {
        let (changed, lines) = (Signal::new(), Rc::new(RefCell::new(Vec::new())));
        let reader = {
            let (changed, lines, cx) = (changed.clone(), Rc::clone(&lines), operation.shared());
            operation.spawn(async move {
                let mut watch = cx.stream(get("watch"));
                while let Some(Ok(part)) = watch.next().await {
                    lines.borrow_mut().extend(text(&part).lines().map(str::to_owned));
                    changed.raise();
                }
            })
        };
        Self { changed, lines, _reader: reader }
    }

    async fn until(&self, id: &str) {
        loop {
            let changed = self.changed.wait();
            if self.lines.borrow().iter().any(|line| line == id) {
                return;
            }
            changed.await;
        }
    }
}

provider!(Shares, shared list: List = |operation| List::new(&operation), async |cx, id| with this {
    this.list.until(&id).await;
    said(format!("seen at {}", cx.now()))
});

#[test]
fn one_stream_serves_many_ids_and_ends_with_the_last() {
    let operation = start::<Shares>(&["a", "b", "c"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn), [(1, None, "watch".into())]);
    let turn = operation.step(5, vec![part(1, "c\na")]);
    assert_eq!(turn.settled.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ["a", "c"]);
    assert_eq!(operation.step(6, vec![part(1, "x")]).settled, []);
    let turn = operation.step(7, vec![part(1, "b")]);
    assert_eq!(words(&turn.settled, "b"), "seen at 7");
    assert_eq!((turn.dropped, turn.finished), (vec![1], true));
}

#[test]
fn a_stop_for_one_does_not_end_what_others_share() {
    provider!(Heeds, shared list: List = |operation| List::new(&operation), async |cx, id| with this {
        match select(cx.stopped(), this.list.until(&id)).await {
            Either::Left(reason) => said(format!("{reason:?}")),
            Either::Right(()) => said("seen"),
        }
    });
    let operation = start::<Heeds>(&["a", "b"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(Some("a"), StopReason::Superseded)]);
    assert_eq!((words(&turn.settled, "a"), turn.dropped, turn.finished), ("StopReason::Superseded", vec![], false));
    let turn = operation.step(2, vec![part(1, "b")]);
    assert_eq!(words(&turn.settled, "b"), "seen");

    let operation = start::<Heeds>(&["a", "b"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(None, StopReason::Deadline)]);
    assert_eq!((turn.settled.len(), turn.dropped, turn.finished), (2, vec![1], true));
}

#[test]
fn a_shared_handle_changes_nothing() {
    provider!(Sneaks, async |cx, id| {
        let cx = cx.shared();
        assert_eq!(cx.id(), None);
        let write = cx.http(put("x")).await;
        let record = cx.checkpoint("x").await;
        let secret = cx.make_secret("x", 1).await;
        let read = cx.http(get("x")).await?;
        said(format!("{write:?} {record:?} {secret:?} {}", read.status))
    });
    let run = run_a::<Sneaks>(Options::default(), |_| testing::text(200, ""));
    assert_eq!(words(&run.settled, "a"), "Err(Failure::Denied) Err(Failure::Denied) Err(Failure::Denied) 200");
    assert_eq!(run.asked.len(), 1);
}

#[test]
fn spawned_work_gives_its_result() {
    provider!(Spawns, async |cx, id| {
        let inner = cx.clone();
        let task = cx.spawn(async move { inner.http(get("beside")).await.map(|answer| text(&answer)) });
        let mine = cx.http(get("mine")).await?;
        said(format!("{} {}", text(&mine), task.await?))
    });
    let run = run_a::<Spawns>(Options::default(), |asked| testing::text(200, asked.path()));
    assert_eq!(words(&run.settled, "a"), "mine beside");
    assert_eq!(run.turns[0].need.len(), 2, "both in the first turn");
}

#[test]
fn work_that_is_dropped_ends_and_work_that_is_detached_goes_on() {
    provider!(Leaves, async |cx, id| {
        let read = |name: &'static str| {
            let cx = cx.clone();
            async move { drop(cx.http(get(name)).await) }
        };
        let dropped = cx.spawn(read("dropped"));
        cx.spawn(read("detached")).detach();
        cx.http(get("first")).await?;
        drop(dropped);
        cx.http(get("second")).await?;
        said("")
    });
    let operation = start::<Leaves>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn).into_iter().map(|(_, _, name)| name).collect::<Vec<_>>(), ["first", "dropped", "detached"]);
    assert_eq!(operation.step(1, vec![answered(1, "")]).dropped, [2]);
    let turn = operation.step(2, vec![answered(4, "")]);
    assert_eq!((turn.finished, turn.dropped), (true, vec![3]), "what is detached ends with the operation");
}

#[test]
fn a_task_can_drop_itself() {
    provider!(Itself, async |cx, id| {
        let place: Rc<RefCell<Option<Task<()>>>> = Rc::default();
        let (own, inner) = (Rc::clone(&place), cx.clone());
        *place.borrow_mut() = Some(cx.spawn(async move {
            inner.sleep(1).await.ok();
            own.borrow_mut().take();
            inner.http(get("never")).await.ok();
        }));
        cx.sleep(10).await?;
        said(format!("{}", place.borrow().is_none()))
    });
    let run = run_a::<Itself>(Options::default(), |_| testing::text(200, ""));
    assert_eq!(words(&run.settled, "a"), "true");
    // It ran on to its next await, asked, and was then dropped with what it had asked for.
    assert_eq!((run.requests().count(), run.end), (0, End::Finished));
}

#[test]
fn everything_of_the_context_can_be_read() {
    provider!(Reads, async |cx, id| {
        let record = cx.record(&id).map(String::from_utf8_lossy);
        said(format!(
            "{:?} {:?} {:?} {:?} {} {} {:?} {:?}",
            cx.now(),
            cx.deadline(),
            cx.setting("wait"),
            cx.setting("none"),
            cx.seed().len(),
            cx.ownership().owner,
            record,
            cx.id(),
        ))
    });
    let mut options = Options::default().setting("wait", "1s");
    options.records.push(("b".into(), b"kept".to_vec()));
    let run = run::<Reads>(starting(&["a", "b"]), options, |_| Reply::Never);
    assert_eq!(words(&run.settled, "a"), r#"0 Some(300000) Some("1s") None 32 default None Some("a")"#);
    assert_eq!(words(&run.settled, "b"), r#"0 Some(300000) Some("1s") None 32 default Some("kept") Some("b")"#);
}

#[test]
fn nothing_is_kept_of_an_operation_that_is_dropped() {
    thread_local! {
        static KEPT: Rc<()> = Rc::new(());
    }
    provider!(Holds, shared kept: Rc<()> = |operation| KEPT.with(Rc::clone), async |cx, id| with this {
        let kept = Rc::clone(&this.kept);
        let inner = cx.clone();
        let task = cx.spawn(async move { inner.sleep(9).await });
        task.await?;
        drop(kept);
        said("")
    });
    let operation = start::<Holds>(&["a", "b"]);
    operation.step(0, vec![]);
    assert!(KEPT.with(Rc::strong_count) > 1);
    drop(operation);
    assert_eq!(KEPT.with(Rc::strong_count), 1);
}
