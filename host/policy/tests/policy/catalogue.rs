//! Every row of the catalogue: allowed with its own word, denied without it.

use std::collections::BTreeSet;

use rstest::rstest;
use serde_json::json;
use workload_policy::{DenialRule, Engine, Media, Method};

use crate::ask::{Ask, DEPLOYMENTS, PODS, SCALE, WEB, deployment, only};

const REPLICA_SETS: &str = "apis/apps/v1/namespaces/default/replicasets";
const EVENTS: &str = "api/v1/namespaces/default/events";

/// A request of each row as the provider sends it, and its target.
pub fn rows() -> Vec<(&'static str, Ask, String)> {
    let delete = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": "d1"}});
    let nudge = json!({"metadata": {"uid": "d1", "annotations": {"workload-provider/nudged": "now"}}});
    let nudge = Ask::new(Method::Patch, WEB).body(Media::MergePatch, nudge.to_string());
    let stop = Ask::scale(&json!({"metadata": {"uid": "d1"}, "spec": {"replicas": 0}}));
    let by_uid = "involvedObject.uid=d1,type!=Normal";
    vec![
        ("deployments:get", Ask::get(WEB), format!("/{WEB}")),
        ("deployments:get", Ask::get(WEB).query("resourceVersion", "0"), format!("/{WEB}?resourceVersion=0")),
        ("deployments:list", Ask::get(DEPLOYMENTS), format!("/{DEPLOYMENTS}?limit=500")),
        ("deployments:list", Ask::get("apis/apps/v1/deployments"), "/apis/apps/v1/deployments?limit=500".into()),
        (
            "deployments:watch",
            Ask::watch(DEPLOYMENTS).query("allowWatchBookmarks", "true").query("timeoutSeconds", "290"),
            format!("/{DEPLOYMENTS}?watch=true&allowWatchBookmarks=true&timeoutSeconds=290"),
        ),
        (
            "deployments:watch",
            Ask::watch(DEPLOYMENTS).query("fieldSelector", "metadata.name=web").query("resourceVersion", "7"),
            format!("/{DEPLOYMENTS}?watch=true&fieldSelector=metadata.name%3Dweb&resourceVersion=7"),
        ),
        (
            "deployments:create",
            Ask::create(&deployment()).query("fieldManager", "workload-provider").query("fieldValidation", "Strict"),
            format!("/{DEPLOYMENTS}?fieldManager=workload-provider&fieldValidation=Strict"),
        ),
        ("deployments:patch", nudge, format!("/{WEB}")),
        ("deployments:delete", Ask::delete(&delete), format!("/{WEB}")),
        ("deployments/scale:get", Ask::get(SCALE), format!("/{SCALE}")),
        ("deployments/scale:patch", stop.query("dryRun", "All"), format!("/{SCALE}?dryRun=All")),
        ("replicasets:get", Ask::get(&format!("{REPLICA_SETS}/web-5d")), format!("/{REPLICA_SETS}/web-5d")),
        (
            "replicasets:list",
            Ask::get(REPLICA_SETS).query("resourceVersion", "7").query("resourceVersionMatch", "NotOlderThan"),
            format!("/{REPLICA_SETS}?resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=500"),
        ),
        ("replicasets:watch", Ask::watch(REPLICA_SETS), format!("/{REPLICA_SETS}?watch=true")),
        ("pods:get", Ask::get(&format!("{PODS}/web-5d-x")), format!("/{PODS}/web-5d-x")),
        (
            "pods:list",
            Ask::get(PODS).query("fieldSelector", "status.phase!=Succeeded").accept(Media::JsonMetadata),
            format!("/{PODS}?fieldSelector=status.phase%21%3DSucceeded&limit=500"),
        ),
        ("pods:watch", Ask::watch("api/v1/pods"), "/api/v1/pods?watch=true".into()),
        (
            "events:list",
            Ask::get(EVENTS).query("fieldSelector", by_uid).accept(Media::JsonTable),
            format!("/{EVENTS}?fieldSelector=involvedObject.uid%3Dd1%2Ctype%21%3DNormal&limit=500"),
        ),
    ]
}

#[test]
fn every_row_is_tried_here() {
    let tried: BTreeSet<_> = rows().into_iter().map(|(word, _, _)| word).collect();
    let listed: BTreeSet<_> = Engine::Kubernetes.operations().iter().map(|operation| operation.word()).collect();
    assert_eq!(tried, listed);
}

#[test]
fn allowed_with_its_word_alone() {
    for (word, ask, target) in rows() {
        let allowed = ask.decide(&only(&[word])).unwrap_or_else(|denied| panic!("{word}: {denied}"));
        assert_eq!((allowed.operation, allowed.target), (word, target));
        assert_eq!(allowed.write, ask.method != Method::Get, "{word}");
        assert_eq!(allowed.safe_to_repeat, !allowed.write, "{word}");
        assert_eq!(allowed.body.is_some(), ask.body.is_some(), "{word}");
        let place = ask.segments.iter().any(|segment| segment == "default").then_some("default");
        assert_eq!(allowed.place.as_deref(), place, "{word}");
    }
}

#[test]
fn denied_with_every_word_but_its_own() {
    for (word, ask, _) in rows() {
        let others: Vec<_> = Engine::Kubernetes.words().map(|w| w.word).filter(|other| *other != word).collect();
        let denied = ask.decide(&only(&others)).expect_err("not granted");
        assert_eq!((denied.rule(), denied.operation()), (DenialRule::NotGranted, Some(word)));
    }
}

#[rstest]
#[case::nothing(&[])]
#[case::dangerous_fields_only(&["pod:privileged", "pod:secret"])]
fn denied_without_any_word(#[case] words: &[&str]) {
    for (_, ask, _) in rows() {
        assert_eq!(ask.denied(&only(words)), DenialRule::NotGranted);
    }
}

/// A denial says where and by which word, but nothing of what was sent.
#[test]
fn denials_hold_no_values() {
    let canary = "CANARY-7f3a";
    let asks = [
        Ask::get(PODS).query("continue", &format!("{canary} ")),
        Ask::get(PODS).query("fieldSelector", canary),
        Ask::get(PODS).query(canary, "1"),
        Ask::get(&format!("{PODS}/{canary}")),
        Ask::create(&json!({"apiVersion": canary})),
        Ask::create(&json!({ format!("{canary} \u{1b}[31m"): 1 })),
        Ask::scale(&json!({"metadata": {"uid": format!("{canary} ")}})),
        Ask::scale(&json!({"spec": {"replicas": canary}})),
        Ask::new(Method::Post, DEPLOYMENTS).body(Media::Json, format!("{{\"a\":{canary}")),
    ];
    for ask in asks {
        let denied = ask.decide(&only(&["*"])).expect_err("denied");
        assert!(!format!("{denied} {denied:?} {}", denied.detail()).contains(canary), "{denied}");
    }
}
