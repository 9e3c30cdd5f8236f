//! What the other tests here rely on: a clock that does not run ahead, and servers that answer as they are told.

use std::time::{Duration, Instant};

use serde_json::json;
use workload_host::model::{Failure, FaultKind};
use workload_suite::inside::objects::{Still, deployment};
use workload_suite::inside::{Gate, Inside, Point, Reply, fault, outcome, paused, word};

const APP: &str = "ns/app";

#[test]
fn a_whole_life_on_the_emulator() {
    paused(async {
        let inside = Inside::emulated().await;
        let spec = json!({"image": "busybox:1", "replicas": 2});
        assert_eq!(word(&inside.create(&[(APP, spec)]).await, APP), "created");
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        assert_eq!(word(&inside.status(&[APP]).await, APP), "running available");
        assert_eq!(inside.discover(&[]).await.emitted.len(), 1);
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        assert_eq!(inside.cluster().replicas("app"), Some(0));
        assert_eq!(word(&inside.delete(&[APP]).await, APP), "deleted");
        assert_eq!(inside.cluster().all("pods"), Vec::<serde_json::Value>::new());
        let writes: Vec<_> = inside.writes().iter().map(|asked| asked.word()).collect();
        assert_eq!(writes, ["POST deployments", "PATCH app/scale", "DELETE app"]);
    });
}

#[test]
fn scripts_of_the_emulator_take_virtual_time() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({"spec": {"replicas": 0}}), &[("start-after", "60s")]).await;
        inside.cluster().until_settled("app").await;
        let began = inside.now();
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        let took = inside.now() - began;
        assert!((60..70).contains(&took.as_secs()), "{took:?}");
    });
}

#[test]
fn five_minutes_pass_at_once_and_exactly() {
    paused(async {
        // Nothing is ever available.
        let still = Still::of(deployment(json!({"spec": {"replicas": 1}, "status": null})), vec![], vec![]);
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        let began = Instant::now();
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert_eq!(report.elapsed.as_secs(), 300);
        assert!(report.elapsed < Duration::from_millis(300_100), "no time passes in a step: {:?}", report.elapsed);
        assert!(began.elapsed() < Duration::from_secs(60), "far less in real time");
    });
}

#[test]
fn a_script_answers_by_what_is_asked() {
    paused(async {
        let still = Still::new(deployment(json!({})));
        let inside = Inside::scripted(move |asked| match (asked.verb, asked.nth) {
            ("GET", 0) => Reply::failure(Failure::Unreachable),
            ("GET", 1) => Reply::html(502).after(Duration::from_millis(100)),
            _ => still.answer(asked),
        })
        .await;
        let report = inside.status(&[APP]).await;
        assert_eq!(word(&report, APP), "running available");
        assert!(!outcome(&report, APP).unwrap().changed);
        assert_eq!(inside.count("GET", "/deployments/app"), 3);
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn what_is_held_up_waits() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({}), &[]).await;
        inside.cluster().until_settled("app").await;
        inside.gate(|point, asked| -> Gate {
            let held = point == Point::Answered && asked.verb == "GET" && asked.nth == 0;
            held.then(|| Box::pin(tokio::time::sleep(Duration::from_secs(3))) as _)
        });
        let report = inside.status(&[APP]).await;
        assert_eq!((word(&report, APP).as_str(), report.elapsed.as_secs()), ("running available", 3));
    });
}

#[test]
fn two_managers_are_told_apart_in_one_record() {
    paused(async {
        let inside = Inside::emulated().await;
        let other = inside.beside(Default::default()).await;
        inside.make("app", json!({}), &[]).await;
        inside.cluster().until_settled("app").await;
        let plan = inside.planned().stop(&[APP]).await;
        assert_eq!(plan.planned.len(), 1);
        assert_eq!(word(&other.within(Duration::from_secs(10)).status(&[APP]).await, APP), "running available");
        let mut by: Vec<_> = inside.requests().iter().map(|asked| asked.by).collect();
        by.dedup();
        assert_eq!(by, [0, 1]);
    });
}
