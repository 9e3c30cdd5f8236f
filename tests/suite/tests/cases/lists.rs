//! Cases whose point is a list.

use std::time::Duration;

use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{deployment, list, status};
use workload_suite::inside::{Inside, Reply, fault, paused, word};

use crate::moving::running;

const SECOND: Duration = Duration::from_secs(1);

fn named(namespace: &str, name: &str) -> Value {
    let labels = json!({"workload-provider/id": format!("{namespace}.{name}")});
    deployment(
        json!({"metadata": {"namespace": namespace, "name": name, "uid": format!("{namespace}-{name}"), "labels": labels}}),
    )
}

fn page(items: &[Value], next: &str) -> Reply {
    let mut page = list("Deployment", items);
    page["metadata"]["continue"] = json!(next);
    Reply::json(200, &page)
}

fn ids(report: &Report) -> Vec<&str> {
    let mut ids: Vec<&str> = report.emitted.iter().map(|workload| workload.id.as_str()).collect();
    ids.sort_unstable();
    ids
}

fn namespace(path: &str) -> &str {
    path.split('/').skip_while(|part| *part != "namespaces").nth(1).unwrap_or("")
}

#[test]
fn a38_a_token_that_grew_too_old_costs_no_item() {
    paused(async {
        let mut expired = false;
        let inside = Inside::scripted(move |asked| match (asked.query("continue"), expired) {
            (None, _) => page(&[named("ns", "a"), named("ns", "b")], "c1"),
            (Some(_), false) => {
                expired = true;
                // The rest it offers is of another version.
                let mut gone = status(410, "Expired", "The provided continue parameter is too old", json!({}));
                gone["metadata"]["continue"] = json!("inconsistent");
                Reply::json(410, &gone)
            }
            (Some("c1"), true) => page(&[named("ns", "c")], ""),
            (Some(token), true) => panic!("a token that nobody should use: {token}"),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!(ids(&report), ["ns/a", "ns/b", "ns/c"]);
        assert_eq!(report.incomplete, []);
    });
}

#[test]
fn b16_4_one_forbidden_place_hides_no_other() {
    paused(async {
        let inside = Inside::scripted(|asked| match namespace(&asked.path) {
            "b" => Reply::status(403, "Forbidden", "deployments.apps is forbidden"),
            place => page(&[named(place, "app")], ""),
        })
        .await;
        let report = inside.discover(&["a", "b", "c"]).await;
        assert_eq!(ids(&report), ["a/app", "c/app"]);
        let [(place, fault)] = &report.incomplete[..] else { panic!("not one place: {:?}", report.incomplete) };
        assert_eq!((place.as_str(), fault.kind), ("b", FaultKind::Forbidden));
        assert_eq!(inside.count("LIST", "/namespaces"), 0);
    });
}

#[test]
fn b16_5_one_throttled_place_delays_no_other() {
    paused(async {
        let inside = Inside::scripted(|asked| match namespace(&asked.path) {
            "b" => Reply::text(429, "Too many requests").with("retry-after", "1"),
            place => page(&[named(place, "app")], ""),
        })
        .await;
        let report = inside.within(60 * SECOND).discover(&["a", "b", "c"]).await;
        assert_eq!(ids(&report), ["a/app", "c/app"]);
        let [(place, fault)] = &report.incomplete[..] else { panic!("not one place: {:?}", report.incomplete) };
        assert_eq!((place.as_str(), fault.kind), ("b", FaultKind::Unavailable));
        assert!(report.elapsed < 5 * SECOND, "{:?}", report.elapsed);
    });
}

/// A copy carries the label of another name: the one whose name it is is acted on, the copy never.
#[test]
fn b04_2_a_copy_is_told_of_and_left_alone() {
    paused(async {
        let copy = || {
            let labels = json!({"workload-provider/id": "ns.app"});
            deployment(json!({"metadata": {"name": "copy", "uid": "d2", "labels": labels}}))
        };
        let own = running(2);
        let inside = Inside::scripted(move |asked| match asked.word().as_str() {
            "LIST deployments" => page(&[own.deployment.clone(), copy()], ""),
            "GET copy" => Reply::json(200, &copy()),
            _ => own.answer(asked),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!(ids(&report), ["ns/app", "ns/copy"]);
        assert_eq!(report.incomplete.len(), 1);
        assert_eq!(report.incomplete[0].1.kind, FaultKind::Conflict);
        for report in
            [inside.start(&["ns/copy"]).await, inside.stop(&["ns/copy"]).await, inside.delete(&["ns/copy"]).await]
        {
            assert_eq!(fault(&report, "ns/copy").kind, FaultKind::Conflict);
        }
        assert_eq!(word(&inside.start(&["ns/app"]).await, "ns/app"), "already-running");
        assert_eq!(inside.writes(), []);
    });
}
