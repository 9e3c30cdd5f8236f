//! Two operations on one workload at once.

mod pair;

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_host::model::FaultKind;
use workload_suite::inside::{Gate, Inside, Point, fault, paused, word};

use pair::{Does, Pair, Way};

const APP: &str = "ns/app";

/// What may come of both, and how many replicas are wanted in the end; none if it is gone.
type Allowed = &'static [(&'static str, &'static str, Option<u64>)];

/// Through two Managers, as two processes have them: neither knows of the other.
///
/// One operation is held up at each of its requests in turn, on the way there or on the way back, until the other one
/// has got so far. What is allowed is what comes about when one ends before the other begins to decide, and:
/// - a start or stop that finds its count changed after its own write was superseded;
/// - what finds the Deployment being deleted is in conflict with that, and what finds it gone has nothing to act on;
/// - of two that want the same, both end well.
#[rstest]
#[case::start_and_stop(Does::Start, Does::Stop, 0, &[
    ("started", "already-stopped", Some(1)), ("started", "stopped", Some(0)), ("superseded", "stopped", Some(0)),
    ("started", "superseded", Some(1)),
])]
#[case::start_and_stop_of_what_runs(Does::Start, Does::Stop, 1, &[
    ("already-running", "stopped", Some(0)), ("superseded", "stopped", Some(0)), ("started", "stopped", Some(0)), ("started", "stopped", Some(1)),
    ("started", "superseded", Some(1)),
])]
#[case::stop_and_start(Does::Stop, Does::Start, 1, &[
    ("stopped", "already-running", Some(0)), ("stopped", "started", Some(1)), ("superseded", "started", Some(1)),
    ("stopped", "started", Some(0)), ("stopped", "superseded", Some(0)),
])]
#[case::two_starts(Does::Start, Does::Start, 0, &[
    ("started", "started", Some(1)), ("started", "already-running", Some(1)), ("already-running", "started", Some(1)),
])]
#[case::two_stops(Does::Stop, Does::Stop, 1, &[
    ("stopped", "stopped", Some(0)), ("stopped", "already-stopped", Some(0)), ("already-stopped", "stopped", Some(0)),
])]
#[case::stop_and_delete(Does::Stop, Does::Delete, 1, &[
    ("stopped", "deleted", None), ("conflict", "deleted", None), ("not-found", "deleted", None),
])]
#[case::start_and_delete(Does::Start, Does::Delete, 0, &[
    ("started", "deleted", None), ("conflict", "deleted", None), ("not-found", "deleted", None),
])]
#[case::two_deletes(Does::Delete, Does::Delete, 1, &[
    ("deleted", "deleted", None), ("deleted", "already-gone", None), ("already-gone", "deleted", None),
])]
#[case::two_creates(Does::Create, Does::Create, 0, &[
    ("created", "conflict", Some(1)), ("conflict", "created", Some(1)),
])]
#[case::create_and_delete(Does::Create, Does::Delete, 0, &[
    ("created", "already-gone", Some(1)), ("created", "deleted", None),
])]
fn through_two_managers(#[case] first: Does, #[case] second: Does, #[case] from: u64, #[case] allowed: Allowed) {
    let pair = Pair { first, second, from };
    paused(async {
        let mut wrong = Vec::new();
        let mut seen = std::collections::BTreeSet::new();
        let alone = pair.alone().await;
        for held in 0..alone {
            for way in [Way::There, Way::Back] {
                for until in pair::UNTIL {
                    let ran = pair.held(held, way, *until).await;
                    let ends = (ran.first.as_str(), ran.second.as_str(), ran.wanted);
                    seen.insert(format!("{ends:?}"));
                    if !allowed.contains(&ends) {
                        wrong.push(format!("request {held} held {way:?} until {until:?}: {ends:?}; {:?}", ran.asked));
                    }
                    wrong.extend(
                        ran.lost_update().map(|why| format!("request {held} held {way:?} until {until:?}: {why}")),
                    );
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        assert!(seen.len() > 1 || allowed.len() == 1, "holding up made a difference: {seen:?}");
    });
}

/// Through one Manager, which lets them take turns: the second begins when the first has sent a request, or has the answer.
/// Only a start gives way, to a stop or delete. What the second leaves behind is what is there in the end.
#[rstest]
#[case::start_and_stop(Does::Start, Does::Stop, 0, &[
    ("superseded", "stopped", Some(0)), ("superseded", "already-stopped", Some(0)), ("started", "stopped", Some(0)),
])]
#[case::stop_and_start(Does::Stop, Does::Start, 1, &[("stopped", "started", Some(1))])]
#[case::two_starts(Does::Start, Does::Start, 0, &[("started", "already-running", Some(1))])]
#[case::two_stops(Does::Stop, Does::Stop, 1, &[("stopped", "already-stopped", Some(0))])]
#[case::stop_and_delete(Does::Stop, Does::Delete, 1, &[("stopped", "deleted", None)])]
#[case::start_and_delete(Does::Start, Does::Delete, 0, &[("superseded", "deleted", None), ("started", "deleted", None)])]
#[case::delete_and_start(Does::Delete, Does::Start, 1, &[("deleted", "not-found", None)])]
#[case::two_deletes(Does::Delete, Does::Delete, 1, &[("deleted", "already-gone", None)])]
#[case::two_creates(Does::Create, Does::Create, 0, &[("created", "conflict", Some(1))])]
#[case::create_and_delete(Does::Create, Does::Delete, 0, &[("created", "deleted", None)])]
fn through_one_manager(#[case] first: Does, #[case] second: Does, #[case] from: u64, #[case] allowed: Allowed) {
    let pair = Pair { first, second, from };
    paused(async {
        let mut wrong = Vec::new();
        let alone = pair.alone().await;
        for after in 0..alone {
            for way in [Way::There, Way::Back] {
                let ran = pair.after(after, way).await;
                let ends = (ran.first.as_str(), ran.second.as_str(), ran.wanted);
                if !allowed.contains(&ends) {
                    wrong.push(format!("begun at request {after} {way:?}: {ends:?}; {:?}", ran.asked));
                }
                wrong.extend(ran.lost_update().map(|why| format!("begun at request {after} {way:?}: {why}")));
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}

/// A start that waits for what never comes, also while the server is silent.
#[rstest]
#[case::waiting(None)]
#[case::read_without_an_answer(Some("GET"))]
#[case::write_without_an_answer(Some("PATCH"))]
fn a_stop_is_not_kept_waiting_by_a_start(#[case] silent: Option<&'static str>) {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({"spec": {"replicas": 0}}), &[("start-after", "9m")]).await;
        inside.cluster().until_settled("app").await;
        let begun = inside.now() + Duration::from_secs(10);
        if let Some(verb) = silent {
            // Of the start only: what the stop sends comes later.
            let shared = inside.clone();
            inside.gate(move |point, asked| -> Gate {
                let held = point == Point::Answered && asked.verb == verb && shared.now() < begun && asked.number > 0;
                held.then(|| Box::pin(std::future::pending()) as _)
            });
        }
        let starting = inside.starting(&[APP]);
        tokio::time::sleep(begun - inside.now()).await;
        let stop = inside.stop(&[APP]).await;
        let report = starting.finish().await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Superseded);
        assert_eq!(word(&stop, APP), "stopped");
        // The container has not even begun, and ends at once; the start has two seconds to wind down.
        assert!(stop.elapsed < Duration::from_secs(4), "{:?}", stop.elapsed);
        assert_eq!(inside.cluster().replicas("app"), Some(0));
    });
}
