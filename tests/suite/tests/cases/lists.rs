//! Cases whose point is a list.

use std::time::Duration;

use rstest::rstest;
use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::FaultKind;
use workload_suite::inside::objects::{deployment, list, owner, pod, replica_set, status};
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

/// A copy carries the label of another name: both are told of, and neither is acted on.
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
        for id in ["ns/copy", "ns/app"] {
            for report in [inside.start(&[id]).await, inside.stop(&[id]).await, inside.delete(&[id]).await] {
                assert_eq!(fault(&report, id).kind, FaultKind::Conflict);
            }
        }
        assert_eq!(inside.writes(), []);
    });
}

/// A token that always runs out: what is missing is said, never that this is all, and nobody asks for ever.
#[test]
fn a38_a_token_that_always_grows_too_old_is_told() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.query("continue") {
            None => page(&[named("ns", "a"), named("ns", "b")], "c1"),
            Some(_) => Reply::status(410, "Expired", "The provided continue parameter is too old"),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!(ids(&report), ["ns/a", "ns/b"]);
        let [(place, fault)] = &report.incomplete[..] else { panic!("not one place: {:?}", report.incomplete) };
        assert_eq!((place.as_str(), fault.kind), ("ns", FaultKind::Malformed));
        assert!(inside.requests().len() <= 6, "{:?}", inside.words());
    });
}

/// A server whose pages never end, or turn into something else: what came before is kept, and the rest is told of.
#[rstest]
#[case::the_same_token(|| page(&[named("ns", "c")], "c1"), &["ns/a", "ns/b", "ns/c"])]
#[case::another_kind(|| Reply::json(200, &list("ReplicaSet", &[])), &["ns/a", "ns/b"])]
#[case::a_page(|| Reply::html(200), &["ns/a", "ns/b"])]
#[case::half(|| Reply::cut(200, &list("Deployment", &[named("ns", "c")])), &["ns/a", "ns/b"])]
#[case::forbidden(|| Reply::status(403, "Forbidden", "deployments.apps is forbidden"), &["ns/a", "ns/b"])]
fn a38_a_page_that_is_none_costs_only_the_rest(#[case] second: fn() -> Reply, #[case] kept: &[&str]) {
    paused(async {
        let inside = Inside::scripted(move |asked| match asked.query("continue") {
            None => page(&[named("ns", "a"), named("ns", "b")], "c1"),
            Some(_) => second(),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!(ids(&report), kept);
        assert_eq!(report.incomplete.len(), 1, "{:?}", report.incomplete);
        assert!(inside.requests().len() <= 4, "{:?}", inside.words());
    });
}

/// An empty page with a token is not the end.
#[test]
fn a38_an_empty_page_is_not_the_last() {
    paused(async {
        let inside = Inside::scripted(|asked| match asked.query("continue") {
            None => page(&[named("ns", "a")], "c1"),
            Some("c1") => page(&[], "c2"),
            Some(_) => page(&[named("ns", "b")], ""),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!((ids(&report), report.incomplete.len()), (vec!["ns/a", "ns/b"], 0));
        // Version and place of a list are in its token.
        assert!(inside.requests().iter().all(|asked| asked.query("resourceVersion").is_none()));
    });
}

/// Leftovers of an earlier attempt have all the same labels. They are neither taken for it nor taken away.
#[test]
fn b04_1_leftovers_with_the_same_labels_count_for_nothing() {
    paused(async {
        let gone = owner("apps/v1", "Deployment", "app", "d0");
        let mut still = running(2);
        still.replica_sets.push(replica_set(7, json!({"metadata": {"ownerReferences": [gone]}})));
        let labels = still.deployment["metadata"]["labels"].clone();
        let failed = json!({"metadata": {"labels": labels}, "status": {"phase": "Failed", "conditions": null}});
        still.pods.push(pod(7, 7, failed));
        let inside = Inside::scripted(move |asked| still.answer(asked)).await;
        assert_eq!(word(&inside.start(&["ns/app"]).await, "ns/app"), "already-running");
        let report = inside.discover(&["ns"]).await;
        let uids: Vec<_> = report.emitted.iter().map(|workload| workload.uid.as_deref()).collect();
        assert_eq!(uids, [Some("d1")]);
        assert_eq!(inside.writes(), []);
    });
}

/// A Manager's own number on two: nobody can tell which one is meant, so nothing is done to either.
#[test]
fn b04_2_two_of_one_number_are_both_left_alone() {
    paused(async {
        let numbered = |name: &str| {
            let labels = json!({"workload-provider/id": "105"});
            let change = json!({"metadata": {"name": name, "uid": format!("d-{name}"), "labels": labels},
                "spec": {"replicas": 0}});
            deployment(change)
        };
        let inside = Inside::scripted(move |asked| match asked.word().as_str() {
            "LIST deployments" => page(&[numbered("x"), numbered("y")], ""),
            "GET x" => Reply::json(200, &numbered("x")),
            "GET y" => Reply::json(200, &numbered("y")),
            "LIST replicasets" => Reply::json(200, &list("ReplicaSet", &[])),
            "LIST pods" => Reply::json(200, &list("Pod", &[])),
            other => panic!("nobody asks for this: {other}"),
        })
        .await;
        let report = inside.discover(&["ns"]).await;
        assert_eq!(ids(&report), ["ns/x", "ns/y"]);
        let [(id, conflict)] = &report.incomplete[..] else { panic!("not one: {:?}", report.incomplete) };
        assert_eq!((id.as_str(), conflict.kind), ("105", FaultKind::Conflict));
        assert!(conflict.message.contains("ns/x, ns/y"), "{}", conflict.message);
        for report in [
            inside.start(&["ns/x", "ns/y"]).await,
            inside.stop(&["ns/x", "ns/y"]).await,
            inside.delete(&["ns/x", "ns/y"]).await,
        ] {
            assert_eq!(["ns/x", "ns/y"].map(|id| fault(&report, id).kind), [FaultKind::Conflict; 2]);
        }
        assert_eq!(inside.writes(), []);
    });
}
