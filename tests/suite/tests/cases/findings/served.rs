//! Those about what a server does, on one that does it.

use std::time::Duration;

use serde_json::{Value, json};
use workload_host::model::FaultKind;
use workload_suite::inside::{Gate, Inside, Point, fault, outcome, paused, word};

use crate::emulated::{look, running, writes};
use crate::moving::detail;

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

const PATH: &str = "/apis/apps/v1/namespaces/ns/deployments/app";

const MERGE: &str = "application/merge-patch+json";

/// A second delete sends nothing while the first one waits, through another Manager too.
#[test]
fn fa13_a_foreground_delete_is_sent_once() {
    paused(async {
        let inside = running(json!({"metadata": {"finalizers": ["example.com/x"]}}), &[]).await;
        let other = inside.beside(Default::default()).await;
        let first = inside.deleting(&[APP]);
        inside.cluster().until("app", |now| now["metadata"].get("deletionTimestamp").is_some()).await;
        let second = other.deleting(&[APP]);
        tokio::time::sleep(10 * SECOND).await;
        let finalizers = inside.cluster().deployment("app").unwrap()["metadata"]["finalizers"].clone();
        assert_eq!(finalizers, json!(["example.com/x"]), "the collector has had its turn, and it was not asked again");
        inside.cluster().change("app", &json!({"metadata": {"finalizers": null}})).await;
        assert_eq!(word(&first.finish().await, APP), "deleted");
        assert_eq!(word(&second.finish().await, APP), "deleted");
        assert_eq!(writes(&inside), ["DELETE app"]);
    });
}

/// Of what is orphaned only the ReplicaSet loses its owner: the Pod still points to it, and lives.
#[test]
fn fa16_what_somebody_else_orphaned_is_not_deleted() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        // In the moment before ours arrives.
        let cluster = inside.cluster().clone();
        inside.gate(move |point, asked| -> Gate {
            let first = point == Point::Asked && asked.verb == "DELETE";
            let cluster = cluster.clone();
            first.then(|| {
                Box::pin(async move {
                    cluster.ask("DELETE", &format!("{PATH}?propagationPolicy=Orphan"), "", &Value::Null).await;
                    cluster.until("app", Value::is_null).await;
                }) as _
            })
        });
        let report = inside.within(30 * SECOND).delete(&[APP]).await;
        let sets = inside.cluster().all("replicasets");
        let pods = inside.cluster().all("pods");
        assert_eq!(sets[0]["metadata"].get("ownerReferences"), None);
        assert_eq!(pods[0]["metadata"]["ownerReferences"][0]["uid"], sets[0]["metadata"]["uid"]);
        let fault = fault(&report, APP);
        assert_eq!(fault.kind, FaultKind::Timeout);
        for left in [&sets[0], &pods[0]] {
            let name = left["metadata"]["name"].as_str().unwrap();
            assert!(fault.message.contains(name), "{name}: {}", fault.message);
        }
        assert_eq!(writes(&inside), ["DELETE app"]);
    });
}

/// The same one made again adopts both, and then they go with it.
#[test]
fn fa16_what_was_orphaned_is_adopted_when_it_is_made_again() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        let before = inside.cluster().all("pods")[0]["metadata"]["uid"].clone();
        inside.cluster().ask("DELETE", &format!("{PATH}?propagationPolicy=Orphan"), "", &Value::Null).await;
        inside.cluster().until("app", Value::is_null).await;
        assert_eq!(look(&inside).await, "missing not-found");
        inside.make("app", json!({}), &[]).await;
        inside.cluster().until_settled("app").await;
        assert_eq!(look(&inside).await, "running available");
        let pods = inside.cluster().all("pods");
        assert_eq!((pods.len(), &pods[0]["metadata"]["uid"]), (1, &before));
        assert_eq!(word(&inside.delete(&[APP]).await, APP), "deleted");
        assert_eq!(inside.cluster().all("pods"), Vec::<Value>::new());
        assert_eq!(inside.cluster().all("replicasets"), Vec::<Value>::new());
    });
}

/// Deleting is not stopping: deleted in the background and held, its Pods serve on for ever, and a count has no effect.
#[test]
fn fa17_what_is_being_deleted_cannot_be_stopped() {
    paused(async {
        let inside = running(json!({"metadata": {"finalizers": ["example.com/x"]}}), &[]).await;
        inside.cluster().ask("DELETE", &format!("{PATH}?propagationPolicy=Background"), "", &Value::Null).await;
        let report = inside.status(&[APP]).await;
        assert_eq!(word(&report, APP), "offline deleting");
        let message = outcome(&report, APP).unwrap().workload.as_ref().unwrap().message.clone().unwrap();
        assert!(message.contains("example.com/x") && message.contains("may still serve"), "{message}");
        for report in [inside.start(&[APP]).await, inside.stop(&[APP]).await] {
            assert_eq!((fault(&report, APP).kind, detail(&report, "reason")), (FaultKind::Conflict, "deleting"));
        }
        assert_eq!(inside.writes(), []);
        inside.cluster().ask("PATCH", &format!("{PATH}/scale"), MERGE, &json!({"spec": {"replicas": 0}})).await;
        tokio::time::sleep(60 * SECOND).await;
        assert_eq!(inside.cluster().all("pods").len(), 1);
        assert_eq!(look(&inside).await, "offline deleting");
    });
}

/// On `/scale` an absent count is none, on the Deployment it is one.
#[test]
fn fb01_an_absent_count_of_a_scale_is_none() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        let scale = inside.cluster().ask("GET", &format!("{PATH}/scale"), "", &Value::Null).await;
        assert_eq!(scale["spec"], json!({}));
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        let none = json!({"spec": {"replicas": null}});
        inside.cluster().ask("PATCH", &format!("{PATH}/scale"), MERGE, &none).await;
        inside.cluster().until_settled("app").await;
        assert_eq!((look(&inside).await.as_str(), inside.cluster().replicas("app")), ("offline stopped", Some(0)));
        inside.cluster().change("app", &none).await;
        inside.cluster().until_settled("app").await;
        assert_eq!((look(&inside).await.as_str(), inside.cluster().replicas("app")), ("running available", Some(1)));
    });
}

/// After a stop nobody owns the count: an apply that is not forced undoes it, and the status says what is there.
#[test]
fn fb02_an_apply_undoes_a_stop() {
    paused(async {
        let inside = running(json!({}), &[("stop", "20s")]).await;
        let run = inside.stopping(&[APP]);
        inside.cluster().until("app", |now| now["status"]["terminatingReplicas"] == 1).await;
        let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}, "spec": {"replicas": 1}});
        let path = format!("{PATH}?fieldManager=person");
        inside.cluster().ask("PATCH", &path, "application/apply-patch+yaml", &applied).await;
        assert_eq!(word(&run.finish().await, APP), "superseded");
        assert_eq!(writes(&inside), ["PATCH app/scale"], "it is not taken back");
        inside.cluster().until_settled("app").await;
        assert_eq!(look(&inside).await, "running available");
    });
}

/// A server decodes a name before it routes.
#[test]
fn fb03_an_encoded_slash_reaches_the_subresource() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        let answer = inside.cluster().ask("GET", &format!("{PATH}%2Fscale"), "", &Value::Null).await;
        assert_eq!(answer["kind"], "Scale", "only our own grammar protects");
        for report in [inside.status(&["ns/app%2Fscale"]).await, inside.delete(&["ns/app%2Fscale"]).await] {
            assert_eq!(fault(&report, "ns/app%2Fscale").kind, FaultKind::InvalidId);
        }
        assert_eq!(inside.words(), Vec::<String>::new());
    });
}

/// What somebody writes may be news without a new generation, a label or only who wrote it: a wait is woken, and nothing else.
#[test]
fn fb04_news_without_a_new_generation_end_no_wait() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({"spec": {"replicas": 0}}), &[("ready-after", "20s")]).await;
        inside.cluster().until_settled("app").await;
        let run = inside.starting(&[APP]);
        inside.cluster().until("app", |now| now["spec"]["replicas"] == 1).await;
        tokio::time::sleep(5 * SECOND).await;
        let version = |object: &Value, name: &str| object["metadata"][name].clone();
        let before = inside.cluster().deployment("app").unwrap();
        let path = format!("{PATH}?fieldManager=another");
        inside.cluster().ask("PATCH", &path, MERGE, &json!({"metadata": {"labels": {"x": "y"}}})).await;
        let after = inside.cluster().deployment("app").unwrap();
        assert_eq!(version(&after, "generation"), version(&before, "generation"));
        assert_ne!(version(&after, "resourceVersion"), version(&before, "resourceVersion"));
        let report = run.finish().await;
        assert_eq!(word(&report, APP), "started");
        assert!((20..27).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(inside.writes().len(), 1);
    });
}

/// The kind in the details of a 404 is what makes it one of this object; a wrong resource has none.
#[test]
fn fb07_only_a_404_of_the_object_has_its_details() {
    paused(async {
        let inside = Inside::emulated().await;
        let (code, absent) = inside.cluster().try_ask("GET", PATH, "", &Value::Null).await;
        assert_eq!(
            (code, &absent["details"]["kind"], &absent["details"]["name"]),
            (404, &json!("deployments"), &json!("app"))
        );
        let (code, wrong) =
            inside.cluster().try_ask("GET", "/apis/apps/v1/namespaces/ns/deploys/app", "", &Value::Null).await;
        assert_eq!((code, wrong["details"].get("kind"), wrong["details"].get("name")), (404, None, None));
        assert_eq!(look(&inside).await, "missing not-found");
    });
}
