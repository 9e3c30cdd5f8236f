//! How operations end before they are done, and how they make way for each other.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod common;

use std::sync::Arc;
use std::time::Duration;

use common::{Fake, Host, Reply, component, detail, fault, ids, limits, until};
use futures_util::FutureExt as _;
use rstest::rstest;
use tokio::sync::Notify;
use workload_host::audit::AuditAction;
use workload_host::model::{Event, FaultKind, StopIntent};
use workload_host::{Error, Limits, Options, Run};

/// What a behaviour is given before it is dropped.
#[rstest]
#[case::deadline("ignore-stop", false, FaultKind::Timeout, 12)]
#[case::deadline_while_cleaning("clean-forever", false, FaultKind::Timeout, 70)]
#[case::cancelled("ignore-stop", true, FaultKind::Cancelled, 2)]
#[case::cancelled_while_cleaning("clean-forever", true, FaultKind::Cancelled, 60)]
#[tokio::test(start_paused = true)]
async fn one_that_ignores_the_stop_is_dropped(
    #[case] behaviour: &str,
    #[case] cancel: bool,
    #[case] kind: FaultKind,
    #[case] seconds: u64,
) {
    let host = Host::new(limits(), Fake::fine()).with(&[behaviour]).await;
    let options = Options { timeout: Some(Duration::from_secs(10)), ..Options::default() };
    let run = host.manager.start(behaviour, ids(&["default/web"]), options);
    if cancel {
        host.lives(1).await;
        run.cancel();
    }
    let report = run.finish().await;
    assert_eq!(fault(&report).kind, kind);
    assert_eq!(report.fault.as_ref().expect("a fault").kind, kind);
    assert!((seconds..=seconds + 1).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
    host.works().await;
}

#[tokio::test]
async fn one_that_has_to_clean_up_may() {
    let host = Host::new(limits(), Fake::fine()).with(&["ask-after-stop"]).await;
    let run = host.manager.start("ask-after-stop", ids(&["default/web"]), Options::default());
    host.lives(1).await;
    run.cancel();
    let report = run.finish().await;
    assert_eq!(detail(fault(&report), "write"), Some("200"));
    assert_eq!(report.fault, None);
    assert_eq!(host.upstream.targets().len(), 1);
    host.is_empty().await;
}

#[tokio::test]
async fn one_that_has_not_begun_is_cancelled_at_once() {
    let host = Host::new(Limits { instances: 1, ..limits() }, Fake::new(|_| Reply::Never)).with(&["good"]).await;
    let first = host.manager.status("good", ids(&["default/a"]), Options::default());
    host.reached(1).await;
    let second = host.manager.start("good", ids(&["default/b"]), Options::default());
    second.cancel();
    let report = second.finish().await;
    assert_eq!(fault(&report).kind, FaultKind::Cancelled);
    drop(first);
    host.is_empty().await;
}

/// Drops an operation after so many turns of the scheduler: before, in and after each of its waits.
#[rstest]
#[case::answered(Reply::Json(200, "{}"))]
#[case::head_never_comes(Reply::Never)]
#[case::body_never_ends(Reply::NeverEnds)]
#[tokio::test]
async fn a_drop_at_any_point_leaves_nothing(#[case] reply: Reply) {
    let host = Host::new(limits(), Fake::new(move |_| reply.clone())).with(&["good", "write", "burst"]).await;
    for turns in 0..60 {
        for behaviour in ["good", "write", "burst"] {
            let mut run = host.manager.start(behaviour, ids(&["default/a", "default/b"]), Options::default());
            for _ in 0..turns {
                let _ = run.next().now_or_never();
                tokio::task::yield_now().await;
            }
            drop(run);
        }
        host.is_empty().await;
    }
    // Each turn on the workloads was handed on, too.
    let host = Host { upstream: Fake::fine(), ..host };
    host.works().await;
}

#[tokio::test]
async fn a_drop_in_the_middle_of_a_step_leaves_nothing() {
    let limits = Limits { step: Duration::from_millis(60), ..limits() };
    let host = Host::new(limits, Fake::fine()).with(&["loop-step", "loop-call"]).await;
    for behaviour in ["loop-step", "loop-call"] {
        let run = host.manager.start(behaviour, ids(&["default/web"]), Options::default());
        host.lives(1).await;
        drop(run);
        host.is_empty().await;
    }
    host.works().await;
}

async fn first_progress(run: &mut Run) -> String {
    loop {
        if let Event::Progress { text, .. } = run.next().await.expect("progress") {
            return text;
        }
    }
}

#[tokio::test]
async fn writes_on_one_id_take_turns_and_reads_do_not_wait() {
    let gate = Arc::new(Notify::new());
    let reply = Reply::When(gate.clone());
    let host = Host::new(
        limits(),
        Fake::new(move |request| if request.target.contains("/web") { reply.clone() } else { Reply::Json(200, "{}") }),
    )
    .with(&["good"])
    .await;
    let start = |id: &str| host.manager.start("good", ids(&[id]), Options::default());
    let first = start("default/web");
    host.reached(1).await;
    let mut second = start("default/web");
    assert_eq!(first_progress(&mut second).await, "waits for another operation on it");
    // Another id, and a read of the same one.
    assert!(start("default/db").finish().await.settled[0].result.is_ok());
    let read = host.manager.status("good", ids(&["default/web"]), Options::default());
    host.reached(3).await;
    drop(read);
    assert_eq!(host.upstream.targets().len(), 3);
    gate.notify_one();
    assert!(first.finish().await.settled[0].result.is_ok());
    host.reached(4).await;
    gate.notify_one();
    assert!(second.finish().await.settled[0].result.is_ok());
    host.is_empty().await;
}

#[tokio::test]
async fn a_stop_takes_over_from_a_start() {
    let gate = Arc::new(Notify::new());
    let host = Host::new(limits(), Fake::new(move |_| Reply::When(gate.clone()))).with(&["good"]).await;
    let start = host.manager.start("good", ids(&["default/a", "default/web"]), Options::default());
    host.reached(1).await;
    let waiting = host.manager.start("good", ids(&["default/web"]), Options::default());
    tokio::task::yield_now().await;
    let stop = host.manager.stop("good", ids(&["default/web"]), StopIntent::Preserve, Options::default());
    // This provider settles when it is told to make way.
    assert!(start.finish().await.settled[0].result.is_ok());
    assert_eq!(fault(&waiting.finish().await).kind, FaultKind::Superseded);
    host.reached(2).await;
    stop.cancel();
    assert!(stop.finish().await.settled[0].result.is_ok());
    host.is_empty().await;
}

#[tokio::test]
async fn a_stop_takes_over_from_a_start_that_waits_for_another_id() {
    let host = Host::new(limits(), Fake::new(|_| Reply::Never)).with(&["good"]).await;
    let stop = |id: &str| host.manager.stop("good", ids(&[id]), StopIntent::Preserve, Options::default());
    let first = stop("default/a");
    host.reached(1).await;
    let mut start = host.manager.start("good", ids(&["default/a", "default/web"]), Options::default());
    assert_eq!(first_progress(&mut start).await, "waits for another operation on it");
    // Otherwise the start would have its turn on this one after the stop.
    let second = stop("default/web");
    let settled = loop {
        if let Event::Settled(settled) = start.next().await.expect("a result") {
            break settled;
        }
    };
    assert_eq!(settled.id, "default/web");
    assert_eq!(settled.result.expect_err("a fault").kind, FaultKind::Superseded);
    host.reached(2).await;
    drop((first, start, second));
    host.is_empty().await;
}

#[tokio::test]
async fn a_runtime_that_ends_ends_its_operations() {
    let host = Host::new(limits(), Fake::new(|_| Reply::Never)).with(&["write"]).await;
    let (manager, upstream) = (host.manager.clone(), host.upstream.clone());
    let begun = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime");
        let run = runtime.block_on(async move { manager.start("write", ids(&["default/web"]), Options::default()) });
        runtime.block_on(until("its request is under way", || upstream.live() > 0));
        // Its task goes with the runtime.
        drop(runtime);
        run
    });
    let run = tokio::task::spawn_blocking(move || begun.join().expect("no panic")).await.expect("no panic");
    assert_eq!(fault(&run.finish().await).kind, FaultKind::Internal);
    host.is_empty().await;
    assert_eq!(host.records.take().len(), 1);
}

#[tokio::test]
async fn operations_go_on_without_their_manager() {
    let gate = Arc::new(Notify::new());
    let reply = Reply::When(gate.clone());
    let host = Host::new(limits(), Fake::new(move |_| reply.clone())).with(&["write"]).await;
    let run = host.manager.start("write", ids(&["default/web"]), Options::default());
    host.reached(1).await;
    let Host { manager, upstream, .. } = host;
    drop(manager);
    gate.notify_one();
    assert_eq!(detail(fault(&run.finish().await), "write"), Some("200"));
    assert_eq!(upstream.live(), 0);
}

#[tokio::test]
async fn a_start_that_does_not_make_way_loses_its_turn() {
    let limits = Limits { wind_down: Duration::from_millis(10), ..limits() };
    let host = Host::new(limits, Fake::fine()).with(&["ignore-stop"]).await;
    let mut start = host.manager.start("ignore-stop", ids(&["default/a", "default/web"]), Options::default());
    host.lives(1).await;
    let stop = host.manager.stop("ignore-stop", ids(&["default/web"]), StopIntent::Preserve, Options::default());
    let settled = loop {
        if let Some(Event::Settled(settled)) = start.next().await {
            break settled;
        }
    };
    assert_eq!(settled.id, "default/web");
    assert_eq!(settled.result.expect_err("a fault").kind, FaultKind::Superseded);
    // The other id goes on, and the stop has its turn.
    host.lives(2).await;
    drop((start, stop));
    host.is_empty().await;
}

#[tokio::test]
async fn a_provider_is_swapped_while_it_runs() {
    let gate = Arc::new(Notify::new());
    let reply = Reply::When(gate.clone());
    let host = Host::new(limits(), Fake::new(move |_| reply.clone())).with(&["write"]).await;
    let start = |id: &str| host.manager.start("write", ids(&[id]), Options::default());
    let old = start("default/a");
    host.reached(1).await;

    let bad = host.manager.swap("write", component("hostile-describe-trap")).await;
    assert!(matches!(bad, Err(Error::Describe { .. })), "{bad:?}");
    assert_eq!(host.manager.providers()[0].generation, 0);
    host.manager.swap("write", component("hostile-script")).await.expect("a swap");
    assert_eq!(host.manager.providers()[0].generation, 1);
    let nobody = host.manager.swap("nobody", component("hostile-script")).await;
    assert!(matches!(nobody, Err(Error::NoProvider { .. })), "{nobody:?}");

    let new = start("default/b");
    host.reached(2).await;
    gate.notify_one();
    gate.notify_waiters();
    for run in [old, new] {
        gate.notify_one();
        assert_eq!(detail(fault(&run.finish().await), "write"), Some("200"));
    }
    let mut generations: Vec<(Option<String>, u64)> = Vec::new();
    for record in host.records.take() {
        assert!(matches!(record.action, AuditAction::Write { .. }));
        generations.push((record.id, record.generation));
    }
    generations.sort();
    assert_eq!(generations, [(Some("default/a".to_owned()), 0), (Some("default/b".to_owned()), 1)]);
    host.is_empty().await;
}

#[tokio::test]
async fn a_slow_listener_is_waited_for_but_not_by_the_clock() {
    let host = Host::new(limits(), Fake::fine()).with(&["emit-forever"]).await;
    let options = Options { follow: true, ..Options::default() };
    let follow = |id: &str| host.manager.status("emit-forever", ids(&[id]), options);
    let mut slow = follow("default/web");
    // As far as the slow one could have come: the other one is listened to.
    let mut other = follow("default/other");
    let mut told = 0;
    while told < 100 {
        told += usize::from(matches!(other.next().await.expect("an event"), Event::Emitted(_)));
    }
    // It paused with what fits. Nothing is awaited here, so it cannot go on meanwhile.
    let waiting = std::iter::from_fn(|| slow.next().now_or_never().flatten()).count();
    assert!((1..=10).contains(&waiting), "{waiting}");
    // Once more, with nothing taken: a cancel gets through all the same.
    while told < 200 {
        told += usize::from(matches!(other.next().await.expect("an event"), Event::Emitted(_)));
    }
    slow.cancel();
    let report = slow.finish().await;
    assert_eq!(report.settled.len(), 1);
    drop(other);
    host.is_empty().await;
}
