//! Cases as they come about on a cluster: its controllers bring it into the state of the case, and go on from there.

use std::time::Duration;

use kube_emulator::controllers::Parts;
use serde_json::{Value, json};
use workload_host::model::FaultKind;
use workload_suite::inside::{Asked, Inside, fault, outcome, paused, word};

use crate::moving::detail;

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

const PODS: &str = "/api/v1/namespaces/ns/pods";

const QUOTAS: &str = "/api/v1/namespaces/ns/resourcequotas";

const MERGE: &str = "application/merge-patch+json";

/// One that was rolled out at 0 replicas, whose containers behave so.
async fn stopped(script: &[(&str, &str)]) -> Inside {
    let inside = Inside::emulated().await;
    inside.make("app", json!({"spec": {"replicas": 0}}), script).await;
    inside.cluster().until_settled("app").await;
    inside
}

/// One that runs.
pub async fn running(change: Value, script: &[(&str, &str)]) -> Inside {
    let inside = Inside::emulated().await;
    inside.make("app", change, script).await;
    inside.cluster().until_settled("app").await;
    inside
}

pub async fn look(inside: &Inside) -> String {
    word(&inside.status(&[APP]).await, APP)
}

pub fn writes(inside: &Inside) -> Vec<String> {
    inside.writes().iter().map(Asked::word).collect()
}

fn progressing(inside: &Inside) -> String {
    let object = inside.cluster().deployment("app").unwrap();
    let conditions = object["status"]["conditions"].as_array().unwrap();
    let found = conditions.iter().find(|condition| condition["type"] == "Progressing").unwrap();
    format!("{}/{}", found["status"].as_str().unwrap(), found["reason"].as_str().unwrap())
}

/// How many Pods there are in which a container may still run.
fn live(inside: &Inside) -> usize {
    let ended = |pod: &Value| matches!(pod["status"]["phase"].as_str(), Some("Failed" | "Succeeded"));
    inside.cluster().all("pods").iter().filter(|pod| !ended(pod)).count()
}

async fn change_pods(inside: &Inside, change: Value) {
    for pod in inside.cluster().all("pods") {
        let path = format!("{PODS}/{}", pod["metadata"]["name"].as_str().unwrap());
        inside.cluster().ask("PATCH", &path, MERGE, &change).await;
    }
}

#[test]
fn a01_complete_at_zero_then_image_missing() {
    paused(async {
        let inside = stopped(&[("image", "missing")]).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::RolloutFailed);
        assert_eq!((detail(&report, "reason"), detail(&report, "container")), ("image-error", "main"));
        // No deadline will ever tell.
        assert_eq!(progressing(&inside), "True/NewReplicaSetAvailable");
        assert_eq!(
            (look(&inside).await.as_str(), writes(&inside)),
            ("failed image-error", vec!["PATCH app/scale".into()])
        );
    });
}

#[test]
fn a02_a_bad_template_beside_the_old_pod() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        let crashes = json!({"kube-emulator/exit-after": "1s", "kube-emulator/exit-code": "1",
            "kube-emulator/ready-after": "5s"});
        inside.cluster().change("app", &json!({"spec": {"template": {"metadata": {"annotations": crashes}}}})).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::RolloutFailed);
        let report = inside.status(&[APP]).await;
        assert_eq!(word(&report, APP), "failed crash-loop");
        let workload = outcome(&report, APP).unwrap().workload.as_ref().unwrap();
        assert!(workload.serving_old, "{workload:?}");
        assert_eq!(inside.writes(), []);
    });
}

#[test]
fn a10_a_quota_that_is_lifted() {
    paused(async {
        let inside = stopped(&[]).await;
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"},
            "spec": {"hard": {"pods": "0"}}});
        inside.cluster().ask("POST", QUOTAS, "application/json", &quota).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::RolloutFailed);
        assert!(fault(&report, APP).message.contains("exceeded quota: q"), "{}", fault(&report, APP).message);
        assert_eq!(look(&inside).await, "failed replica-failure");
        inside.cluster().ask("DELETE", &format!("{QUOTAS}/q"), "", &Value::Null).await;
        inside.cluster().until_settled("app").await;
        assert_eq!(look(&inside).await, "running available");
        assert_eq!(inside.writes().len(), 1);
    });
}

#[test]
fn a11_a_node_that_comes_later() {
    paused(async {
        let inside = stopped(&[("unschedulable", "0/1 nodes are available")]).await;
        let report = inside.within(60 * SECOND).start(&[APP]).await;
        assert_eq!((fault(&report, APP).kind, detail(&report, "reason")), (FaultKind::Timeout, "unschedulable"));
        assert_eq!(look(&inside).await, "creating unschedulable");
        let run = inside.starting(&[APP]);
        change_pods(&inside, json!({"metadata": {"annotations": {"kube-emulator/unschedulable": null}}})).await;
        let report = run.finish().await;
        assert_eq!(word(&report, APP), "started");
        assert!(!outcome(&report, APP).unwrap().changed, "it was wanted already");
        assert_eq!(inside.writes().len(), 1);
    });
}

#[test]
fn a12_an_init_container_that_crashes() {
    paused(async {
        let inside = Inside::emulated().await;
        let init = json!([{"name": "prepare", "image": "app:1"}]);
        let spec = json!({"spec": {"replicas": 0, "template": {"spec": {"initContainers": init}}}});
        inside.make("app", spec, &[("prepare.exit-code", "1")]).await;
        inside.cluster().until_settled("app").await;
        let report = inside.start(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::RolloutFailed);
        assert_eq!(["reason", "container"].map(|name| detail(&report, name)), ["init-error", "prepare"]);
    });
}

#[test]
fn a13_a_container_that_exits_twice_and_then_stays() {
    paused(async {
        let inside =
            stopped(&[("exit-after", "1s"), ("exit-code", "1"), ("crashes", "2"), ("ready-after", "2s")]).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed > 10 * SECOND, "there were pauses between: {:?}", report.elapsed);
        let pods = inside.cluster().all("pods");
        assert_eq!(pods[0]["status"]["containerStatuses"][0]["restartCount"], 2);
        assert_eq!(inside.writes().len(), 1);
    });
}

#[test]
fn a18_a_stop_returns_when_the_containers_have_ended() {
    paused(async {
        let inside = running(json!({}), &[("stop", "20s")]).await;
        let run = inside.stopping(&[APP]);
        // From here on the counters say that none is left.
        inside
            .cluster()
            .until("app", |now| now["spec"]["replicas"] == 0 && now["status"].get("replicas").is_none())
            .await;
        assert_eq!(look(&inside.beside(Default::default()).await).await, "offline stopping");
        let report = run.finish().await;
        assert_eq!(word(&report, APP), "stopped");
        assert!((20..23).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
        assert_eq!(live(&inside), 0);
    });
}

#[test]
fn a21_a_start_beside_a_pod_that_still_ends() {
    paused(async {
        let inside = running(json!({}), &[("stop", "25s")]).await;
        inside.cluster().change("app", &json!({"spec": {"replicas": 0}})).await;
        inside.cluster().until("app", |now| now["status"]["terminatingReplicas"] == 1).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!(report.elapsed < 8 * SECOND, "{:?}", report.elapsed);
        let ending = |pod: &&Value| pod["metadata"].get("deletionTimestamp").is_some();
        assert_eq!(inside.cluster().all("pods").iter().filter(ending).count(), 1);
        assert_eq!(look(&inside).await, "running available");
    });
}

#[test]
fn a22_what_never_started_is_stopped() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({}), &[("image", "missing")]).await;
        inside.cluster().until("app", |now| now["status"]["unavailableReplicas"] == 1).await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        assert_eq!(writes(&inside), ["PATCH app/scale"]);
        assert_eq!(inside.cluster().all("pods"), Vec::<Value>::new());
    });
}

#[test]
fn a23_two_that_select_the_same_pods() {
    paused(async {
        let inside = Inside::emulated().await;
        for name in ["app", "other"] {
            let selector = json!({"matchLabels": {"app": "x", "workload-provider/id": null,
                "workload-provider/managed": null, "workload-provider/owner": null}});
            inside.make(name, json!({"spec": {"selector": selector}}), &[]).await;
        }
        inside.cluster().until_settled("app").await;
        inside.cluster().until_settled("other").await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        assert_eq!((look(&inside).await.as_str(), live(&inside)), ("offline stopped", 1));
        assert_eq!(word(&inside.status(&["ns/other"]).await, "ns/other"), "running available");
    });
}

#[test]
fn a25_another_one_of_the_name_is_left_alone() {
    paused(async {
        let inside = running(json!({}), &[("stop", "5s")]).await;
        let run = inside.deleting(&[APP]);
        inside.cluster().until("app", Value::is_null).await;
        let new = inside.make("app", json!({}), &[]).await;
        assert_eq!(word(&run.finish().await, APP), "deleted");
        assert_eq!(writes(&inside), ["DELETE app"]);
        assert_eq!(inside.cluster().deployment("app").unwrap()["metadata"]["uid"], new["metadata"]["uid"]);
    });
}

#[test]
fn a26_a_delete_of_somebody_else_is_only_waited_for() {
    paused(async {
        let inside = running(json!({"metadata": {"finalizers": ["example.com/x"]}}), &[]).await;
        let path = "/apis/apps/v1/namespaces/ns/deployments/app?propagationPolicy=Foreground";
        inside.cluster().ask("DELETE", path, "", &Value::Null).await;
        let report = inside.within(30 * SECOND).delete(&[APP]).await;
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert!(fault(&report, APP).message.contains("example.com/x"), "{}", fault(&report, APP).message);
        assert_eq!(inside.writes(), []);
        let run = inside.deleting(&[APP]);
        tokio::time::sleep(7 * SECOND).await;
        inside.cluster().change("app", &json!({"metadata": {"finalizers": null}})).await;
        let report = run.finish().await;
        assert_eq!((word(&report, APP).as_str(), inside.writes().len()), ("deleted", 0));
    });
}

#[test]
fn a28_without_a_garbage_collector() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        let emulator = inside.cluster().emulator().clone();
        emulator.set_controllers(Parts { manager: false, ..Parts::ALL });
        let report = inside.within(60 * SECOND).delete(&[APP]).await;
        let fault = fault(&report, APP);
        assert_eq!((fault.kind, report.elapsed.as_secs()), (FaultKind::Timeout, 60));
        assert!(fault.message.contains("garbage collector has not touched"), "{}", fault.message);
        assert_eq!(detail(&report, "finalizer"), "foregroundDeletion");
        emulator.resume_controllers();
        assert_eq!(word(&inside.delete(&[APP]).await, APP), "deleted");
        assert_eq!(writes(&inside), ["DELETE app"], "one in both");
        assert_eq!(inside.cluster().all("pods"), Vec::<Value>::new());
    });
}

#[test]
fn a29_the_node_is_lost() {
    paused(async {
        let inside = running(json!({}), &[("node-lost-after", "5s")]).await;
        inside.cluster().until("app", |now| now["status"].get("availableReplicas").is_none()).await;
        let report = inside.within(90 * SECOND).stop(&[APP]).await;
        let pods = inside.cluster().all("pods");
        let name = pods[0]["metadata"]["name"].as_str().unwrap();
        assert_eq!(fault(&report, APP).kind, FaultKind::Timeout);
        assert_eq!((detail(&report, "pod"), detail(&report, "node")), (name, "node-1"));
        assert_eq!(look(&inside).await, "offline stopping");
        assert_eq!(writes(&inside), ["PATCH app/scale"], "no Pod is taken away by force");
    });
}

#[test]
fn a30_a_pod_without_a_node_that_is_held() {
    paused(async {
        let inside = Inside::emulated().await;
        inside.make("app", json!({}), &[("unschedulable", "0/1 nodes are available")]).await;
        inside.cluster().emulator().until(|_| inside.cluster().all("pods").len() == 1).await;
        change_pods(&inside, json!({"metadata": {"finalizers": ["example.com/f"]}})).await;
        let run = inside.stopping(&[APP]);
        inside.cluster().until("app", |now| now["status"]["terminatingReplicas"] == 1).await;
        let report = inside.beside(Default::default()).await.status(&[APP]).await;
        let message = outcome(&report, APP).unwrap().workload.as_ref().unwrap().message.clone().unwrap();
        assert_eq!(word(&report, APP), "offline stopping");
        assert!(message.contains("example.com/f"), "{message}");
        // The cluster ends it within 20 s; the object stays.
        let report = run.finish().await;
        assert_eq!(word(&report, APP), "stopped");
        assert!(report.elapsed < 27 * SECOND, "{:?}", report.elapsed);
        assert_eq!(inside.cluster().all("pods")[0]["status"]["phase"], "Failed");
        assert_eq!(look(&inside).await, "offline stopped");
    });
}

#[test]
fn a32_a_start_waits_for_a_probe() {
    paused(async {
        let inside = stopped(&[("ready-after", "30s")]).await;
        let report = inside.start(&[APP]).await;
        assert_eq!(word(&report, APP), "started");
        assert!((30..37).contains(&report.elapsed.as_secs()), "{:?}", report.elapsed);
    });
}

/// What a person does with `apply` and without the count leaves ours alone.
#[test]
fn a33_an_apply_without_the_count_keeps_it() {
    paused(async {
        let inside = running(json!({}), &[]).await;
        assert_eq!(word(&inside.stop(&[APP]).await, APP), "stopped");
        let applied = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app",
            "labels": {"tier": "web"}}});
        let path = "/apis/apps/v1/namespaces/ns/deployments/app?fieldManager=person";
        inside.cluster().ask("PATCH", path, "application/apply-patch+yaml", &applied).await;
        assert_eq!(inside.cluster().replicas("app"), Some(0));
        assert_eq!(look(&inside).await, "offline stopped");
        assert_eq!(word(&inside.start(&[APP]).await, APP), "started");
        let bodies: Vec<Value> = inside.writes().into_iter().map(|write| write.body["spec"].clone()).collect();
        assert_eq!(bodies, [json!({"replicas": 0}), json!({"replicas": 1})]);
    });
}
