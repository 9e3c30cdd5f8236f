//! What becomes of the effects that a provider asks for: policy, quotas, records, plans.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "a test may")]

mod common;

use common::{Fake, Host, Reply, detail, fault, ids, limits};
use rstest::rstest;
use workload_host::audit::{AuditAction, WriteResult};
use workload_host::model::{Failure, FaultKind, Method, Spec};
use workload_host::{Limits, Options};

#[tokio::test]
async fn what_is_not_granted_reaches_nobody_and_leaves_one_record_each() {
    let host = Host::new(limits(), Fake::fine()).with(&["out-of-grants"]).await;
    let report = host.start("out-of-grants", &["default/web"]).await;
    let tried = ["secret", "exec", "other-namespace", "all-namespaces", "metrics", "dots"];
    for name in tried {
        assert_eq!(detail(fault(&report), name), Some("denied"), "{name}");
    }
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    let records = host.records.take();
    assert_eq!(records.len(), tried.len(), "{records:?}");
    for record in records {
        assert!(matches!(record.action, AuditAction::Denied { .. }), "{record:?}");
        assert_eq!(record.id.as_deref(), Some("default/web"));
        assert_eq!((record.provider.as_str(), record.generation, record.call), ("out-of-grants", 0, "start"));
    }
    host.works().await;
}

#[tokio::test]
async fn a_body_beyond_the_limit_is_denied() {
    let host = Host::new(limits(), Fake::fine()).with(&["big-body"]).await;
    let report = host.start("big-body", &["default/web"]).await;
    assert_eq!(detail(fault(&report), "big-body"), Some("denied"));
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    assert_eq!(host.records.take().len(), 1);
    host.works().await;
}

#[tokio::test]
async fn what_this_host_does_not_do_is_unsupported() {
    let host = Host::new(limits(), Fake::fine()).with(&["exotic"]).await;
    let report = host.start("exotic", &["default/web"]).await;
    let names = ["exec", "forward", "close", "call", "make-secret", "forget-secret", "checkpoint", "forget-record"];
    for name in names {
        assert_eq!(detail(fault(&report), name), Some("unsupported"), "{name}");
    }
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    host.works().await;
}

#[rstest]
#[case::answered(Reply::Json(200, "{}"), "200", WriteResult::Status(200))]
#[case::refused(Reply::Json(409, "{}"), "409", WriteResult::Status(409))]
#[case::lost(Reply::Fail(Failure::Lost), "lost", WriteResult::Failed(Failure::Lost))]
#[tokio::test]
async fn each_write_leaves_one_record(#[case] reply: Reply, #[case] told: &str, #[case] wanted: WriteResult) {
    let host = Host::new(limits(), Fake::new(move |_| reply.clone())).with(&["write"]).await;
    let report = host.start("write", &["default/web"]).await;
    assert_eq!(detail(fault(&report), "write"), Some(told));
    let [record] = &host.records.take()[..] else { panic!("not one record") };
    let AuditAction::Write { operation, method, target, result } = &record.action else { panic!("{record:?}") };
    assert_eq!((operation.as_str(), *method, *result), ("deployments/scale:patch", Method::Patch, wanted));
    assert!(target.starts_with("/apis/apps/v1/namespaces/default/deployments/web/scale"), "{target}");
    assert_eq!(record.id.as_deref(), Some("default/web"));
    host.is_empty().await;
}

#[tokio::test]
async fn a_write_that_is_given_up_may_have_taken_effect() {
    let host = Host::new(limits(), Fake::new(|_| Reply::Never)).with(&["write"]).await;
    let run = host.manager.start("write", ids(&["default/web"]), Options::default());
    host.reached(1).await;
    drop(run);
    host.is_empty().await;
    let [record] = &host.records.take()[..] else { panic!("not one record") };
    assert!(matches!(record.action, AuditAction::Write { result: WriteResult::Dropped, .. }), "{record:?}");
}

#[tokio::test]
async fn a_plan_sends_no_write() {
    let host = Host::new(limits(), Fake::fine()).with(&["write", "good"]).await;
    let options = Options { plan: true, ..Options::default() };
    let report = host.manager.start("write", ids(&["default/web"]), options).finish().await;
    assert_eq!((report.settled.len(), &report.fault), (0, &None));
    let [planned] = &report.planned[..] else { panic!("{report:?}") };
    assert_eq!((planned.id.as_str(), planned.request.method), ("default/web", Method::Patch));
    assert_eq!(planned.request.target, "/apis/apps/v1/namespaces/default/deployments/web/scale");
    let replicas = planned.request.body.as_ref().and_then(|body| body.pointer("/spec/replicas"));
    assert_eq!(replicas, Some(&serde_json::json!(1)));
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    assert_eq!(host.records.take(), []);
    // One that writes nothing ends as always.
    let report = host.manager.start("good", ids(&["default/web"]), options).finish().await;
    assert!(report.settled[0].result.is_ok() && report.planned.is_empty());
    assert_eq!(host.upstream.targets().len(), 1);
}

/// A provider is told that it is only a plan: what has nothing to write need not wait for anything.
#[rstest::rstest]
#[case::plan(true)]
#[case::no_plan(false)]
#[tokio::test]
async fn a_provider_knows_a_plan(#[case] plan: bool) {
    let host = Host::new(limits(), Fake::fine()).with(&["echo"]).await;
    let options = Options { plan, ..Options::default() };
    let report = host.manager.start("echo", ids(&["default/web"]), options).finish().await;
    let outcome = report.settled[0].result.as_ref().unwrap();
    let facts = &outcome.workload.as_ref().unwrap().facts;
    assert!(facts.contains(&("plan".to_owned(), plan.to_string())), "{facts:?}");
}

#[tokio::test]
async fn what_is_asked_for_at_the_end_is_not_done() {
    let host = Host::new(limits(), Fake::fine()).with(&["finish-asking"]).await;
    let report = host.start("finish-asking", &["default/web"]).await;
    assert!(report.settled[0].result.is_ok() && report.fault.is_none());
    host.is_empty().await;
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
}

#[tokio::test]
async fn more_than_fits_under_way_waits() {
    let host = Host::new(limits(), Fake::fine()).with(&["burst"]).await;
    let report = host.start("burst", &["default/web"]).await;
    assert_eq!(fault(&report).detail, [("200".to_owned(), "100".to_owned())]);
    assert_eq!(host.upstream.most_live.load(std::sync::atomic::Ordering::SeqCst), 32);
    host.works().await;
}

#[tokio::test(start_paused = true)]
async fn more_than_the_quota_is_denied_and_recorded_once() {
    let limits = Limits { effect_burst: 50, ..limits() };
    let host = Host::new(limits, Fake::fine()).with(&["burst"]).await;
    let report = host.start("burst", &["default/web"]).await;
    let wanted = [("200".to_owned(), "50".to_owned()), ("denied".to_owned(), "50".to_owned())];
    assert_eq!(fault(&report).detail, wanted);
    assert_eq!(host.upstream.targets().len(), 50);
    let [record] = &host.records.take()[..] else { panic!("not one record") };
    assert_eq!((&record.action, record.id.as_deref()), (&AuditAction::OverQuota, Some("default/web")));
    host.works().await;
}

#[tokio::test(start_paused = true)]
async fn a_loop_of_requests_is_cut_off() {
    let host = Host::new(limits(), Fake::fine()).with(&["flood"]).await;
    let report = host.start("flood", &["default/web"]).await;
    assert_eq!(fault(&report).kind, FaultKind::ProviderFault);
    assert!(host.upstream.targets().len() < 600, "{}", host.upstream.targets().len());
    host.works().await;
}

#[tokio::test]
async fn more_effects_than_anybody_needs_are_a_fault() {
    let limits = Limits { outstanding: 50, ..limits() };
    let host = Host::new(limits, Fake::fine()).with(&["burst"]).await;
    let report = host.start("burst", &["default/web"]).await;
    common::assert_broken(&report, "limit", "waits for more than 54 effects");
    host.works().await;
}

#[tokio::test]
async fn each_of_several_ids_settles_once() {
    let host = Host::new(limits(), Fake::fine()).with(&["good"]).await;
    let report = host.start("good", &["default/a", "default/b", "default/a", "default/c"]).await;
    let settled: Vec<&str> = report.settled.iter().map(|settled| settled.id.as_str()).collect();
    assert_eq!(settled, ["default/a", "default/b", "default/c"]);
    assert!(report.settled.iter().all(|settled| settled.result.is_ok()));
    // Nothing to do is done at once.
    assert_eq!(host.start("good", &[]).await.settled, []);
}

#[tokio::test]
async fn which_of_two_specs_is_meant_is_not_guessed() {
    let host = Host::new(limits(), Fake::fine()).with(&["good"]).await;
    let spec = |id: &str, document: &str| Spec { id: id.to_owned(), document: document.to_owned(), id_label: None };
    let specs = vec![spec("default/a", "{}"), spec("default/b", "{}"), spec("default/a", "[]")];
    let report = host.manager.create("good", specs, Options::default()).finish().await;
    let result = |id: &str| &report.settled.iter().find(|settled| settled.id == id).expect("a result").result;
    assert_eq!(result("default/a").as_ref().expect_err("a fault").kind, FaultKind::InvalidSpec);
    assert!(result("default/b").is_ok());
    assert_eq!(report.settled.len(), 2);
}

#[tokio::test]
async fn discover_emits_and_has_no_ids() {
    let host = Host::new(limits(), Fake::fine()).with(&["good", "trap-later"]).await;
    let report = host.manager.discover("good", ids(&["default"]), Options::default()).finish().await;
    assert_eq!((report.emitted.len(), report.settled.len(), &report.fault), (1, 0, &None));
    let report = host.manager.discover("trap-later", ids(&["default"]), Options::default()).finish().await;
    assert_eq!(report.fault.expect("a fault").kind, FaultKind::ProviderFault);
}

#[tokio::test]
async fn a_provider_that_is_not_there() {
    let host = Host::new(limits(), Fake::fine());
    let report = host.start("nobody", &["default/web"]).await;
    assert_eq!(fault(&report).kind, FaultKind::Configuration);
    assert_eq!(report.fault.expect("a fault").message, "there is no provider nobody");
}

#[tokio::test]
async fn more_ids_than_one_operation_takes() {
    let host = Host::new(Limits { ids: 2, ..limits() }, Fake::fine()).with(&["good"]).await;
    let report = host.start("good", &["default/a", "default/b", "default/c"]).await;
    assert_eq!(report.settled.len(), 3);
    assert_eq!(report.fault.expect("a fault").kind, FaultKind::Configuration);
}

#[tokio::test]
async fn a_call_that_only_reads_changes_nothing() {
    let host = Host::new(limits(), Fake::fine()).with(&["write"]).await;
    let report = host.manager.status("write", ids(&["default/web"]), Options::default()).finish().await;
    assert_eq!(detail(fault(&report), "write"), Some("denied"));
    assert_eq!(host.upstream.targets(), Vec::<String>::new());
    let [record] = &host.records.take()[..] else { panic!("not one record") };
    assert!(matches!(record.action, AuditAction::Denied { .. }), "{record:?}");
    assert_eq!((record.call, record.id.as_deref()), ("status", Some("default/web")));
    host.works().await;
}
