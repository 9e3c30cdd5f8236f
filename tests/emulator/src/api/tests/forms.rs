use super::*;

fn object(kind: &str, value: Value) -> Value {
    let mut value = value;
    value["kind"] = kind.into();
    let metadata = crate::registry::metadata(&mut value);
    metadata.entry("name").or_insert_with(|| "n".into());
    metadata.entry("creationTimestamp").or_insert_with(|| "2026-11-30T11:57:30Z".into());
    value
}

fn container(state: Value) -> Value {
    let mut status = json!({"name": "c", "restartCount": 0, "ready": false});
    for (name, value) in state.as_object().unwrap() {
        status[name] = value.clone();
    }
    json!({"spec": {"containers": [{"name": "c"}]}, "status": {"phase": "Running", "containerStatuses": [status]}})
}

fn ended(code: i64, reason: &str) -> Value {
    json!({"state": {"terminated": {"exitCode": code, "reason": reason}}})
}

#[rstest]
#[case::pending(json!({"spec": {"containers": [{}, {}]}, "status": {"phase": "Pending"}}), "0/2", "Pending", "0")]
#[case::reason(json!({"status": {"phase": "Failed", "reason": "Evicted"}}), "0/0", "Evicted", "0")]
#[case::gated(
    json!({"status": {"phase": "Pending", "conditions": [{"type": "PodScheduled", "reason": "SchedulingGated"}]}}),
    "0/0", "SchedulingGated", "0"
)]
#[case::running(container(json!({"ready": true, "state": {"running": {}}})), "1/1", "Running", "0")]
#[case::not_ready(container(json!({"state": {"running": {}}})), "0/1", "Running", "0")]
#[case::waiting(container(json!({"state": {"waiting": {"reason": "ImagePullBackOff"}}})), "0/1", "ImagePullBackOff", "0")]
#[case::restarted(
    container(json!({
        "restartCount": 3, "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"finishedAt": "2026-11-30T11:59:15Z"}},
    })),
    "0/1", "CrashLoopBackOff", "3 (45s ago)"
)]
#[case::ended_well(container(ended(0, "Completed")), "0/1", "Completed", "0")]
#[case::ended_badly(container(ended(3, "Error")), "0/1", "Error", "0")]
#[case::exit_code(container(ended(3, "")), "0/1", "ExitCode:3", "0")]
#[case::signal(container(json!({"state": {"terminated": {"exitCode": 137, "signal": 9}}})), "0/1", "Signal:9", "0")]
#[case::one_completed_one_running(
    json!({"spec": {"containers": [{}, {}]}, "status": {"phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}], "containerStatuses": [
        {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}, {"ready": true, "state": {"running": {}}}]}}),
    "1/2", "Running", "0"
)]
#[case::one_completed_one_not_ready(
    json!({"spec": {"containers": [{}, {}]}, "status": {"phase": "Running", "containerStatuses": [
        {"state": {"terminated": {"exitCode": 0, "reason": "Completed"}}}, {"ready": true, "state": {"running": {}}}]}}),
    "1/2", "NotReady", "0"
)]
#[case::init_runs(
    json!({"spec": {"initContainers": [{"name": "i"}, {"name": "j"}], "containers": [{}]},
        "status": {"phase": "Pending", "initContainerStatuses": [
        {"name": "i", "state": {"terminated": {"exitCode": 0}}}, {"name": "j", "state": {"running": {}}}]}}),
    "0/1", "Init:1/2", "0"
)]
#[case::init_crashes(
    json!({"spec": {"initContainers": [{"name": "i"}], "containers": [{}]},
        "status": {"phase": "Pending", "initContainerStatuses": [
        {"name": "i", "restartCount": 2, "state": {"waiting": {"reason": "CrashLoopBackOff"}}}]}}),
    "0/1", "Init:CrashLoopBackOff", "2"
)]
#[case::init_failed(
    json!({"spec": {"initContainers": [{"name": "i"}], "containers": [{}]},
        "status": {"phase": "Pending", "initContainerStatuses": [
        {"name": "i", "state": {"terminated": {"exitCode": 2}}}]}}),
    "0/1", "Init:ExitCode:2", "0"
)]
#[case::sidecar(
    json!({"spec": {"initContainers": [{"name": "s", "restartPolicy": "Always"}], "containers": [{}]},
        "status": {"phase": "Running", "initContainerStatuses": [
        {"name": "s", "started": true, "ready": true, "restartCount": 1, "state": {"running": {}}}],
        "containerStatuses": [{"ready": true, "state": {"running": {}}}]}}),
    "2/2", "Running", "1"
)]
#[case::stopping(
    json!({"metadata": {"deletionTimestamp": "2026-11-30T12:00:00Z"}, "status": {"phase": "Running"}}),
    "0/0", "Terminating", "0"
)]
#[case::stopped(
    json!({"metadata": {"deletionTimestamp": "2026-11-30T12:00:00Z"}, "status": {"phase": "Succeeded"}}),
    "0/0", "Succeeded", "0"
)]
#[case::lost(
    json!({"metadata": {"deletionTimestamp": "2026-11-30T12:00:00Z"}, "status": {"phase": "Running", "reason": "NodeLost"}}),
    "0/0", "Unknown", "0"
)]
#[tokio::test(start_paused = true)]
async fn a_pod_is(#[case] pod: Value, #[case] ready: &str, #[case] status: &str, #[case] restarts: &str) {
    let row = table::row(&object("Pod", pod), &Server::new().state.clock);
    assert_eq!(row["cells"], json!(["n", ready, status, restarts, "2m30s", "<none>", "<none>", "<none>", "<none>"]));
}

#[rstest]
#[case::namespace("Namespace", json!({"status": {"phase": "Active"}}), json!(["n", "Active", "2m30s"]))]
#[case::node(
    "Node",
    json!({"metadata": {"labels": {"node-role.kubernetes.io/b": "", "kubernetes.io/role": "a"}},
        "spec": {"unschedulable": true}, "status": {"conditions": [{"type": "Ready", "status": "Unknown"}],
        "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}], "nodeInfo": {"kubeletVersion": "v1"}}}),
    json!(["n", "NotReady,SchedulingDisabled", "a,b", "2m30s", "v1", "10.0.0.1", "<none>", "<unknown>", "<unknown>",
        "<unknown>"])
)]
#[case::node_of_which_nothing_is_known(
    "Node", json!({}),
    json!(["n", "Unknown", "<none>", "2m30s", "", "<none>", "<none>", "<unknown>", "<unknown>", "<unknown>"])
)]
#[case::deployment(
    "Deployment",
    json!({"spec": {"replicas": 3, "selector": {"matchLabels": {"b": "1", "a": "2"},
        "matchExpressions": [{"key": "aa", "operator": "In", "values": ["y", "x"]}]},
        "template": {"spec": {"containers": [{"name": "c", "image": "i"}, {"name": "d", "image": "j"}]}}},
        "status": {"readyReplicas": 1, "updatedReplicas": 2}}),
    json!(["n", "1/3", 2, 0, "2m30s", "c,d", "i,j", "a=2,aa in (x,y),b=1"])
)]
#[case::replica_set(
    "ReplicaSet", json!({"spec": {"replicas": 3}, "status": {"replicas": 2, "readyReplicas": 1}}),
    json!(["n", 3, 2, 1, "2m30s", "", "", "<none>"])
)]
#[case::scale("Scale", json!({"spec": {"replicas": 3}, "status": {"replicas": 2}}), json!(["n", 3, 2, "2m30s"]))]
#[case::event(
    "Event",
    json!({"type": "Normal", "reason": "R", "message": " m ", "count": 4, "source": {"component": "c", "host": "h"},
        "involvedObject": {"kind": "Pod", "name": "p", "fieldPath": "f"}, "firstTimestamp": "2026-11-30T11:00:00Z",
        "lastTimestamp": "2026-11-30T11:59:00Z"}),
    json!(["60s", "Normal", "R", "pod/p", "f", "c, h", "m", "60m", 4, "n"])
)]
#[case::event_of_the_new_kind(
    "Event",
    json!({"type": "Normal", "reason": "R", "message": "m", "eventTime": "2026-11-30T11:59:50.000000Z",
        "reportingComponent": "c", "reportingInstance": "i", "involvedObject": {"kind": "Pod"},
        "series": {"count": 7, "lastObservedTime": "2026-11-30T11:59:55.000000Z"}}),
    json!(["5s", "Normal", "R", "pod", "", "c, i", "m", "10s", 7, "n"])
)]
#[case::quota(
    "ResourceQuota",
    json!({"status": {"hard": {"pods": "3", "limits.cpu": "2", "count/x": "1"}, "used": {"pods": "1"}}}),
    json!(["n", "count/x: 0/1, pods: 1/3", "limits.cpu: 0/2", "2m30s"])
)]
#[case::claim(
    "PersistentVolumeClaim",
    json!({"spec": {"volumeName": "v", "storageClassName": "s", "volumeMode": "Block"}, "status": {"phase": "Bound",
        "capacity": {"storage": "1Gi"}, "accessModes": ["ReadOnlyMany", "ReadWriteOnce"]}}),
    json!(["n", "Bound", "v", "1Gi", "RWO,ROX", "s", "<unset>", "2m30s", "Block"])
)]
#[case::claim_that_waits(
    "PersistentVolumeClaim", json!({"status": {"phase": "Pending"}}),
    json!(["n", "Pending", "", "", "", "", "<unset>", "2m30s", "<unset>"])
)]
#[case::binding(
    "RoleBinding",
    json!({"roleRef": {"kind": "Role", "name": "r"}, "subjects": [{"kind": "User", "name": "u"},
        {"kind": "User", "name": "v"}, {"kind": "ServiceAccount", "namespace": "ns", "name": "s"}]}),
    json!(["n", "Role/r", "2m30s", "u, v", "", "ns/s"])
)]
#[case::role("Role", json!({}), json!(["n", "2026-11-30T11:57:30Z"]))]
#[tokio::test(start_paused = true)]
async fn the_cells_are(#[case] kind: &str, #[case] value: Value, #[case] cells: Value) {
    let row = table::row(&object(kind, value), &Server::new().state.clock);
    assert_eq!(row["cells"], cells);
    assert_eq!(table::columns(kind).as_array().unwrap().len(), cells.as_array().unwrap().len());
}

#[rstest]
#[case("2026-11-30T12:00:01.5Z", "0s")]
#[case("2026-11-30T12:00:02Z", "<invalid>")]
#[case("2026-11-30T11:58:01Z", "119s")]
#[case("2026-11-30T11:58:00Z", "2m")]
#[case("2026-11-30T11:50:01Z", "9m59s")]
#[case("2026-11-30T11:50:00Z", "10m")]
#[case("2026-11-30T09:00:00Z", "3h")]
#[case("2026-11-30T08:30:00Z", "3h30m")]
#[case("2026-11-30T04:00:00Z", "8h")]
#[case("2026-11-28T12:00:00Z", "2d")]
#[case("2026-11-27T09:00:00Z", "3d3h")]
#[case("2026-11-20T12:00:00Z", "10d")]
#[case("2024-11-29T12:00:00Z", "2y1d")]
#[case("2016-11-29T12:00:00Z", "10y")]
#[case("", "<unknown>")]
#[tokio::test(start_paused = true)]
async fn an_age_is_told_as(#[case] time: &str, #[case] told: &str) {
    let value = json!({"kind": "Namespace", "metadata": {"creationTimestamp": time}});
    assert_eq!(table::row(&value, &Server::new().state.clock)["cells"][2], told);
}

#[tokio::test]
async fn tables_of_lists_have_a_row_for_each_object() {
    let server = Server::new();
    let path = "/apis/apps/v1/namespaces/ns/deployments";
    let table = [("accept", TABLE)];
    let empty = server.ask("GET", path, &table, "").await.value();
    assert_eq!((&empty["rows"], &empty["kind"]), (&Value::Null, &json!("Table")));
    for name in ["a", "b"] {
        server.put(&DEPLOYMENTS, "ns", name, json!({"spec": {"replicas": 1}}));
    }
    let page = server.ask("GET", &format!("{path}?limit=1"), &table, "").await.value();
    assert_eq!((&page["metadata"]["remainingItemCount"], &page["rows"][0]["cells"][1]), (&json!(1), &json!("0/1")));
    assert_eq!(page["rows"][0]["object"]["kind"], "PartialObjectMetadata");
    let whole = server.ask("GET", &format!("{path}/a?includeObject=Object"), &table, "").await.value();
    assert_eq!(whole["rows"][0]["object"]["spec"], json!({"replicas": 1}));
    let none = server.ask("GET", &format!("{path}?includeObject=None"), &table, "").await.value();
    assert_eq!((none["rows"].as_array().unwrap().len(), &none["rows"][1]["object"]), (2, &Value::Null));
    let old = [("accept", "application/json;as=Table;v=v1beta1;g=meta.k8s.io")];
    assert_eq!(server.ask("GET", path, &old, "").await.value()["apiVersion"], "meta.k8s.io/v1beta1");
}

#[tokio::test]
async fn the_scale_is_a_form_of_its_own() {
    let server = Server::new();
    server.put(&DEPLOYMENTS, "ns", "a", json!({"spec": {"replicas": 2}}));
    let path = "/apis/apps/v1/namespaces/ns/deployments/a/scale";
    assert_eq!(server.get(path).await.value()["kind"], "Scale");
    let table = server.ask("GET", path, &[("accept", TABLE)], "").await.value();
    assert_eq!((&table["columnDefinitions"][1]["name"], &table["rows"][0]["cells"][1]), (&json!("Desired"), &json!(2)));
}

#[rstest]
#[case::first_of_equals("application/yaml, application/json", "application/yaml")]
#[case::weighed("application/yaml;q=0.1, application/json;q=0.9", "application/json")]
#[case::protobuf_is_passed_over("application/vnd.kubernetes.protobuf, application/json", "application/json")]
#[case::table_or_else("application/json;as=Chart;g=meta.k8s.io;v=v1,application/json", "application/json")]
#[tokio::test]
async fn the_text_is(#[case] accept: &str, #[case] media: &str) {
    let server = Server::new();
    server.put(&NAMESPACES, "", "n", json!({}));
    let answer = server.ask("GET", "/api/v1/namespaces/n", &[("accept", accept)], "").await;
    assert_eq!((answer.code, answer.header("content-type")), (200, media));
}

#[tokio::test]
async fn people_get_texts_for_people() {
    let server = Server::new();
    server.put(
        &NAMESPACES,
        "",
        "n",
        json!({"metadata": {"labels": {"a": "true", "b": ""}}, "x": [1, {"y": [], "z": "a: b"}]}),
    );
    let curl = [("user-agent", "curl/8")];
    assert!(server.ask("GET", "/api/v1/namespaces/n", &curl, "").await.text.contains("\n  \"kind\""));
    assert!(!server.ask("GET", "/api/v1/namespaces/n?pretty=false", &curl, "").await.text.contains("\n  "));
    let list = server.get("/api/v1/namespaces?pretty=true").await;
    assert!(list.text.contains("\n      \"metadata\": {"), "{}", list.text);
    let yaml = server.ask("GET", "/api/v1/namespaces/n", &[("accept", "application/yaml")], "").await.text;
    let expected = "apiVersion: v1\nkind: Namespace\nmetadata:\n  labels:\n    a: \"true\"\n    b: \"\"\n  name: \"n\"\n  \
                    resourceVersion: \"2\"\nx:\n- 1\n- \"y\": []\n  z: \"a: b\"\n";
    assert_eq!(yaml, expected);
}
