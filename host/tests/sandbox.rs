//! Each limit and each rule of steps, broken; afterwards the same Manager completes a normal operation.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod common;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Fake, Host, Reply, assert_broken, component, fact, fault, ids, limits};
use rstest::rstest;
use workload_host::manager::{Allocation, MemoryProbe};
use workload_host::model::FaultKind;
use workload_host::upstream::Outgoing;
use workload_host::{Error, Limits, Options};

/// For what only ends by being interrupted. Others have the usual 2 s: this machine may be busy.
fn short_steps() -> Limits {
    Limits { step: Duration::from_millis(60), ..limits() }
}

#[rstest]
#[case::memory("grow", "limit", "more than 64 MiB of memory")]
#[case::recursion("recurse", "limit", "stack")]
#[case::copied("huge-return", "limit", "more than one call may copy")]
#[case::copied_many_times("huge-return-100", "limit", "more than one call may copy")]
#[case::trap_in_constructor("trap-call", "trap", "unreachable")]
#[case::trap_in_step("trap-step", "trap", "unreachable")]
#[case::trap_later("trap-later", "trap", "unreachable")]
#[case::stall("stall", "protocol", "waits for nothing")]
#[case::effect_twice("duplicate-effect", "protocol", "for two effects")]
#[case::effect_reused("reuse-effect", "protocol", "for two effects")]
#[case::drop_unknown("drop-unknown", "protocol", "never asked for")]
#[case::finish_unsettled("finish-unsettled", "protocol", "finished without a result for default/web")]
#[case::write_unnamed("write-unnamed", "protocol", "without saying for which workload")]
#[case::write_foreign("write-foreign", "protocol", "not its to change")]
#[tokio::test]
async fn one_that_breaks_a_rule(#[case] behaviour: &str, #[case] cause: &str, #[case] says: &str) {
    let host = Host::new(limits(), Fake::fine()).with(&[behaviour]).await;
    let report = host.start(behaviour, &["default/web"]).await;
    assert_eq!(report.settled.len(), 1);
    assert_broken(&report, cause, says);
    host.works().await;
}

#[rstest]
#[case::in_the_constructor("loop-call")]
#[case::in_a_step("loop-step")]
#[tokio::test]
async fn one_that_never_returns(#[case] behaviour: &str) {
    let host = Host::new(short_steps(), Fake::fine()).with(&[behaviour]).await;
    let report = host.start(behaviour, &["default/web"]).await;
    assert_broken(&report, "limit", "too long in one step");
    host.works().await;
}

#[rstest]
#[case::twice_in_a_turn("settle-twice", "two results for default/web")]
#[case::twice_in_two("settle-again", "two results for default/web")]
#[tokio::test]
async fn a_result_stays_when_it_is_given_again(#[case] behaviour: &str, #[case] says: &str) {
    let host = Host::new(limits(), Fake::fine()).with(&[behaviour]).await;
    let report = host.start(behaviour, &["default/web", "default/db"]).await;
    assert_eq!(report.settled.len(), 2, "{report:?}");
    assert!(report.settled.iter().any(|settled| settled.id == "default/web" && settled.result.is_ok()));
    let whole = report.fault.expect("a fault");
    assert!(whole.message.contains(says), "{whole:?}");
    host.works().await;
}

#[tokio::test]
async fn a_result_that_nobody_asked_for() {
    let host = Host::new(limits(), Fake::fine()).with(&["settle-unknown"]).await;
    let report = host.start("settle-unknown", &["default/web"]).await;
    let whole = report.fault.as_ref().expect("a fault");
    assert!(whole.message.contains("which nobody asked for"), "{whole:?}");
    assert_eq!(report.settled.len(), 1, "{report:?}");
    host.works().await;
}

#[rstest]
#[case::sleeps("sleep-forever")]
#[case::sleeps_of_nothing("sleep-zero")]
#[case::emissions("emit-forever")]
#[tokio::test(start_paused = true)]
async fn one_that_goes_round_is_throttled_and_then_stopped(#[case] behaviour: &str) {
    let host = Host::new(limits(), Fake::fine()).with(&[behaviour]).await;
    let report = host.start(behaviour, &["default/web"]).await;
    assert_broken(&report, "limit", "without getting anywhere");
    host.works().await;
}

#[tokio::test(start_paused = true)]
async fn the_time_of_an_operation_ends() {
    let host = Host::new(limits(), Fake::fine()).with(&["idle"]).await;
    let report = host.start("idle", &["default/web"]).await;
    let fault = fault(&report);
    assert_eq!(fault.kind, FaultKind::Timeout);
    assert!(fault.message.starts_with("not done after 5m0s"), "{fault:?}");
    // The default, and the grace. The clock runs ahead while a step runs, so not exactly.
    assert!(report.elapsed.as_secs() >= 302);
    host.works().await;
}

#[rstest]
#[case::default(None, "Some(300000)")]
#[case::shorter(Some(7), "Some(7000)")]
#[case::an_hour_at_most(Some(1_000_000), "Some(3600000)")]
#[tokio::test]
async fn the_provider_knows_its_deadline(#[case] seconds: Option<u64>, #[case] told: &str) {
    let host = Host::new(limits(), Fake::fine()).with(&["echo"]).await;
    let options = Options { timeout: seconds.map(Duration::from_secs), ..Options::default() };
    let report = host.manager.start("echo", ids(&["default/web"]), options).finish().await;
    assert_eq!(fact(&report, "deadline"), Some(told));
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_too_large() {
    let limits = Limits { response_body: 1 << 20, ..limits() };
    let first = AtomicBool::new(true);
    let answer = move |_: &Outgoing| match first.swap(false, Ordering::SeqCst) {
        true => Reply::Body(vec![b' '; (1 << 20) + 1]),
        false => Reply::Json(200, "{}"),
    };
    let host = Host::new(limits, Fake::new(answer)).with(&["echo"]).await;
    let report = host.start("echo", &["default/web"]).await;
    assert_eq!(fact(&report, "failed"), Some("too-large"));
    host.works().await;
}

#[tokio::test]
async fn texts_are_made_fit_for_a_terminal() {
    let host = Host::new(limits(), Fake::fine()).with(&["escape"]).await;
    let report = host.start("escape", &["default/web"]).await;
    let shown = serde_json::to_string(&(fault(&report), &report.emitted)).expect("JSON");
    assert!(shown.contains("u{1b}"), "{shown}");
    assert!(!shown.contains("\\u001b") && !shown.contains("\\n") && !shown.contains('\u{202e}'), "{shown}");
    host.works().await;
}

#[rstest]
#[case::traps("hostile-describe-trap", "trapped")]
#[case::never_returns("hostile-describe-loop", "too long")]
#[tokio::test]
async fn a_component_that_cannot_describe_itself(#[case] name: &str, #[case] says: &str) {
    let host = Host::new(short_steps(), Fake::fine());
    let error = host.manager.load("bad", component(name), host.provider(&[])).await.expect_err("an error");
    assert!(matches!(&error, Error::Describe { .. }), "{error:?}");
    assert!(error.to_string().contains(says), "{error}");
    host.works().await;
}

#[tokio::test]
async fn many_hostile_operations_at_once_leave_nothing() {
    let behaviours = ["grow", "recurse", "loop-step", "trap-later", "stall", "huge-return", "good"];
    let host = Host::new(Limits { instances: 4, ..short_steps() }, Fake::fine()).with(&behaviours).await;
    let runs = (0..70).map(|number| {
        let id = format!("default/web-{number}");
        host.manager.start(behaviours[number % behaviours.len()], vec![id], Options::default()).finish()
    });
    for report in futures_util::future::join_all(runs).await {
        assert_eq!(report.settled.len(), 1, "{report:?}");
    }
    host.works().await;
}

#[tokio::test]
async fn a_thousand_operations_at_once_end_well() {
    let host = Host::new(limits(), Fake::fine()).with(&["good"]).await;
    let most = AtomicUsize::new(0);
    let runs = (0..1000).map(|number| {
        let (host, most) = (&host, &most);
        let run = host.manager.start("good", vec![format!("default/web-{number}")], Options::default());
        async move {
            let report = run.finish().await;
            most.fetch_max(host.manager.live(), Ordering::SeqCst);
            report
        }
    });
    for report in futures_util::future::join_all(runs).await {
        assert!(report.settled[0].result.is_ok() && report.fault.is_none(), "{report:?}");
    }
    // Each has one request under way, which needs an instance.
    assert!(host.upstream.most_live.load(Ordering::SeqCst) <= 8);
    assert!(most.into_inner() <= 8);
    assert_eq!(host.upstream.targets().len(), 1000);
    host.works().await;
}

#[tokio::test]
async fn one_that_computes_without_end_does_not_hold_up_others() {
    let limits = Limits { step: Duration::from_millis(1500), instances: 64, ..Limits::default() };
    let host = Host::new(limits, Fake::fine()).with(&["loop-step", "good"]).await;
    // It has used its share of the threads up.
    host.start("loop-step", &["default/first"]).await;
    let start = |number| host.manager.start("loop-step", vec![format!("default/{number}")], Options::default());
    let busy: Vec<_> = (0..40).map(start).collect();
    host.lives(40).await;
    // Behind forty steps on the same threads it would have to wait for most of a minute.
    let good = tokio::time::timeout(Duration::from_secs(8), host.start("good", &["default/web"])).await;
    assert!(good.expect("in time").settled[0].result.is_ok());
    drop(busy);
    host.is_empty().await;
}

#[tokio::test]
async fn the_same_provider_ends_up_with_the_same_limits_when_its_memory_is_looked_at() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let probe: MemoryProbe = {
        let seen = Arc::clone(&seen);
        Arc::new(move |memory: &[u8]| seen.lock().unwrap().push(memory.to_vec()))
    };
    let host = Host::probed(limits(), Fake::new(|_| Reply::Json(200, r#"{"kind":"marker-7f3a"}"#)), probe);
    assert_eq!(host.manager.allocation(), Allocation::Probed);
    for (behaviour, limit) in [("grow", "MiB of memory"), ("recurse", "stack")] {
        host.load(behaviour, &[("behaviour", behaviour)]).await;
        assert_broken(&host.start(behaviour, &["default/web"]).await, "limit", limit);
    }
    seen.lock().unwrap().clear();
    host.load("echo", &[("behaviour", "echo")]).await;
    host.start("echo", &["default/web"]).await;
    let memories = std::mem::take(&mut *seen.lock().unwrap());
    let holds = |text: &str| memories.iter().any(|memory| memory.windows(text.len()).any(|at| at == text.as_bytes()));
    assert!(holds("marker-7f3a") && holds("default/web"));
    host.works().await;
}
