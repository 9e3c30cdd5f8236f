//! How many requests operations cost.

use std::time::Duration;

use rstest::rstest;
use serde_json::json;
use workload_suite::inside::{Inside, paused, word};

const APP: &str = "ns/app";

/// Workloads that are started at once.
const MANY: usize = 256;

/// Requests for all of them together, beyond one write and two reads each.
const TOGETHER: usize = 20;

#[derive(Debug, Clone, Copy)]
enum Does {
    Discover,
    Status,
    Create,
    Start,
    Stop,
    Delete,
}

/// The containers take a second to start and a second to stop. `from`: how many replicas are wanted before. A wait reads
/// each time its watch tells of a change, in a good distance, and before it ends it reads ReplicaSets and Pods too.
#[rstest]
#[case::discover(Does::Discover, 1, "1 listed", 1, None)]
#[case::discover_stopped(Does::Discover, 0, "1 listed", 3, None)]
#[case::status(Does::Status, 1, "running available", 2, None)]
#[case::status_stopped(Does::Status, 0, "offline stopped", 3, None)]
#[case::create(Does::Create, 0, "created", 1, Some("POST deployments"))]
#[case::start(Does::Start, 0, "started", 12, Some("PATCH app/scale"))]
#[case::start_of_what_runs(Does::Start, 1, "already-running", 3, None)]
#[case::stop(Does::Stop, 1, "stopped", 9, Some("PATCH app/scale"))]
#[case::stop_of_what_is_stopped(Does::Stop, 0, "already-stopped", 4, None)]
#[case::delete(Does::Delete, 1, "deleted", 14, Some("DELETE app"))]
#[case::delete_of_what_is_stopped(Does::Delete, 0, "deleted", 8, Some("DELETE app"))]
fn one_in_the_good_case(
    #[case] does: Does,
    #[case] from: u64,
    #[case] end: &str,
    #[case] requests: usize,
    #[case] write: Option<&str>,
) {
    paused(async {
        let inside = Inside::emulated().await;
        if !matches!(does, Does::Create) {
            let script = [("start-after", "1s"), ("stop", "1s")];
            inside.make("app", json!({"spec": {"replicas": from}}), &script).await;
            inside.cluster().until_settled("app").await;
        }
        let report = match does {
            Does::Discover => inside.discover(&["ns"]).await,
            Does::Status => inside.status(&[APP]).await,
            Does::Create => inside.create(&[(APP, json!({"image": "busybox:1"}))]).await,
            Does::Start => inside.start(&[APP]).await,
            Does::Stop => inside.stop(&[APP]).await,
            Does::Delete => inside.delete(&[APP]).await,
        };
        let ended = match does {
            Does::Discover => format!("{} listed", report.emitted.len()),
            _ => word(&report, APP),
        };
        assert_eq!(ended, end);
        let writes: Vec<String> = inside.writes().iter().map(|asked| asked.word()).collect();
        assert_eq!(writes, write.map(str::to_owned).into_iter().collect::<Vec<_>>());
        assert_eq!(inside.requests().len(), requests, "{:?}", inside.words());
    });
}

#[test]
fn many_starts_share_their_reads() {
    paused(async {
        let inside = Inside::emulated().await;
        let names: Vec<String> = (0..MANY).map(|number| format!("app-{number}")).collect();
        for (number, name) in names.iter().enumerate() {
            // They come up one after another, all within the five seconds.
            let start = (500 + number * 4_000 / MANY).to_string();
            inside.make(name, json!({"spec": {"replicas": 0}}), &[("start-after", &start)]).await;
        }
        for name in &names {
            inside.cluster().until_settled(name).await;
        }
        let ids: Vec<String> = names.iter().map(|name| format!("ns/{name}")).collect();
        let ids: Vec<&str> = ids.iter().map(String::as_str).collect();
        let report = inside.start(&ids).await;
        for id in &ids {
            assert_eq!(word(&report, id), "started", "{id}");
        }
        assert!(report.elapsed < Duration::from_secs(10), "{:?}", report.elapsed);
        assert_eq!(inside.count("PATCH", "/scale"), MANY, "one write each");
        let (all, most) = (inside.requests().len(), MANY * 3 + TOGETHER);
        assert!(all <= most, "{all} requests, more than {most}");
    });
}
