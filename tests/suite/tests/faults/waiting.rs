//! A watch only wakes: whatever it does or loses, a wait ends in the right answer, reads again in time, and does not ask
//! without end.

use std::time::Duration;

use kube_emulator::fault::{Ending, Fault, Point, Rule, When};
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use serde_json::json;
use workload_suite::inside::{Asked, Inside, paused, word};

const APP: &str = "ns/app";

/// A wait reads again so long after its last read at the latest.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long what is waited for takes: several times as long.
const LASTS: Duration = Duration::from_secs(40);

/// Reads of the Deployment, and of what belongs to it, in a wait of that time.
const READS: usize = 60;

/// Watches in a wait of that time, if each ends at once.
const WATCHES: usize = 14;

/// An operation that waits.
#[derive(Debug, Clone, Copy)]
enum Wait {
    Start,
    Stop,
    Delete,
}

fn watching() -> Pattern {
    Pattern { verb: Some("watch".to_owned()), ..Pattern::any() }
}

fn reads_deployments(asked: &Asked) -> bool {
    matches!(asked.verb, "GET" | "LIST") && asked.path.contains("/deployments")
}

#[track_caller]
fn assert_reads_in_time(asked: &[Asked], wait: Wait) {
    let times: Vec<Duration> = asked.iter().filter(|asked| reads_deployments(asked)).map(|asked| asked.at).collect();
    for pair in times.windows(2) {
        let gap = pair[1] - pair[0];
        assert!(gap <= PATIENCE, "{wait:?}: read {gap:?} after the last read, at {:?}", pair[1]);
    }
}

async fn wait_with(wait: Wait, faults: &[Fault]) -> (Inside, Duration) {
    let inside = Inside::emulated().await;
    let lasts = format!("{}s", LASTS.as_secs());
    let replicas = if matches!(wait, Wait::Start) { 0 } else { 1 };
    let script: &[(&str, &str)] = if replicas == 0 { &[("start-after", &lasts)] } else { &[("stop", &lasts)] };
    let spec = json!({"spec": {"replicas": replicas, "template": {"spec": {"terminationGracePeriodSeconds": 60}}}});
    inside.make("app", spec, script).await;
    inside.cluster().until_settled("app").await;
    for fault in faults {
        inside.cluster().emulator().faults().add(Rule::on(watching(), fault.clone()));
    }
    let (report, expected) = match wait {
        Wait::Start => (inside.start(&[APP]).await, "started"),
        Wait::Stop => (inside.stop(&[APP]).await, "stopped"),
        Wait::Delete => (inside.delete(&[APP]).await, "deleted"),
    };
    assert_eq!(word(&report, APP), expected, "{wait:?} {faults:?}");
    (inside, report.elapsed)
}

#[rstest]
#[case::half_open(&[Fault::HalfOpen(When::Before)])]
#[case::half_open_after_its_head(&[Fault::Break(Point::Bytes(0), Ending::HalfOpen)])]
#[case::half_open_after_an_event(&[Fault::Break(Point::Lines(1), Ending::HalfOpen)])]
#[case::silent(&[Fault::silence(0)])]
#[case::closed_every_100_ms(&[Fault::Delay(When::Before, Duration::from_millis(100)), Fault::end_watch(0)])]
#[case::closed_at_once(&[Fault::end_watch(0)])]
#[case::closed_after_an_event(&[Fault::end_watch(1)])]
#[case::expired_in_the_stream(&[Fault::expired()])]
#[case::expired_as_a_status(&[Fault::gone()])]
#[case::throttled(&[Fault::canned(When::Before, 429, &[("retry-after", "2")], "{}")])]
#[case::throttled_for_long(&[Fault::canned(When::Before, 429, &[("retry-after", "3600")], "{}")])]
#[case::internal(&[Fault::status(When::Before, 500, "{}")])]
#[case::unavailable(&[Fault::status(When::Before, 503, "{}")])]
#[case::forbidden(&[Fault::status(When::Before, 403, "{}")])]
#[case::page(&[Fault::html(When::Before, 200)])]
#[case::reset(&[Fault::Reset(When::Before)])]
#[case::cut(&[Fault::cut(10)])]
#[case::deleted_is_lost(&[Fault::drop_event("DELETED", "*")])]
#[case::everything_is_lost(&[Fault::Break(Point::Lines(0), Ending::Silence)])]
fn a_watch_that_fails_costs_no_answer(#[case] faults: &[Fault]) {
    paused(async {
        for wait in [Wait::Start, Wait::Stop, Wait::Delete] {
            let (inside, elapsed) = wait_with(wait, faults).await;
            let late = elapsed.checked_sub(LASTS).expect("it waited for the containers");
            assert!(late <= PATIENCE + Duration::from_secs(2), "{wait:?}: ended {late:?} after it could have");
            let asked = inside.requests();
            assert_reads_in_time(&asked, wait);
            let (watches, others): (Vec<_>, Vec<_>) = asked.iter().partition(|asked| asked.verb == "WATCH");
            assert!(!watches.is_empty(), "{wait:?}: it watched");
            assert!(watches.len() <= WATCHES, "{wait:?}: {} watches", watches.len());
            assert!(others.len() <= READS, "{wait:?}: {} other requests", others.len());
            assert_eq!(inside.writes().len(), 1, "{wait:?}");
        }
    });
}

#[test]
fn a_throttled_watch_comes_back_when_it_was_told() {
    paused(async {
        let fault = Fault::canned(When::Before, 429, &[("retry-after", "10")], "{}");
        let (inside, _) = wait_with(Wait::Start, &[fault]).await;
        let watches: Vec<_> = inside.requests().into_iter().filter(|asked| asked.verb == "WATCH").collect();
        assert!(watches.len() >= 2, "it came back");
        for pair in watches.windows(2) {
            assert!(pair[1].at - pair[0].at >= Duration::from_secs(10), "{watches:?}");
        }
    });
}
