//! What Pods do by script.

use rstest::rstest;

use super::*;
use crate::resource::EVENTS;
use crate::write;

fn pod(name: &str, annotations: &Value, spec: &Value) -> Value {
    let mut pod = json!({
        "kind": "Pod", "apiVersion": "v1", "metadata": {"name": name, "annotations": annotations},
        "spec": {"containers": [{"name": "main", "image": "image:1"}], "automountServiceAccountToken": false},
    });
    merge(&mut pod["spec"], spec);
    pod
}

impl Test {
    fn make_pod(&self, annotations: &Value, spec: &Value) {
        write::make(&self.state, &PODS, "test", pod("pod", annotations, spec)).unwrap();
    }

    fn pod(&self) -> Value {
        self.get(&PODS, "pod").unwrap_or_default()
    }

    fn annotate(&self, key: &str, value: &str) {
        let annotations = json!({"metadata": {"annotations": {format!("kube-emulator/{key}"): value}}});
        self.patch(&PODS, "pod", Part::Main, &annotations);
    }

    fn delete_pod(&self) {
        self.state.delete(&Key::new(&PODS, "test", "pod"), &Deletion::default()).unwrap();
    }

    fn waits_with(&self, container: usize) -> (String, String) {
        let waiting = &self.pod()["status"]["containerStatuses"][container]["state"]["waiting"];
        (text(waiting, "/reason").to_owned(), text(waiting, "/message").to_owned())
    }

    fn events(&self) -> Vec<String> {
        let mut events: Vec<_> = self.state.store.all(&EVENTS, Some("test"));
        events.sort_by_key(|event| event.version);
        let said = events.iter().map(|event| event.value()).map(|event| {
            let count = fields::number(&event, "/count").max(1);
            format!("{} {} x{count}: {}", text(&event, "/type"), text(&event, "/reason"), text(&event, "/message"))
        });
        said.collect()
    }
}

fn cluster() -> Test {
    Test::new(&json!({"namespaces": ["test"]}))
}

fn is_ready(test: &Test) -> bool {
    fields::holds(&test.pod(), "Ready")
}

#[tokio::test(start_paused = true)]
async fn a_healthy_pod_is_ready_at_once_and_says_so() {
    let test = cluster();
    let begin = Instant::now();
    test.make_pod(&json!({}), &json!({}));
    test.until("it is ready", is_ready).await;
    assert!(begin.elapsed() < Duration::from_millis(500));
    let expected = [
        "Normal Scheduled x1: Successfully assigned test/pod to node-1",
        "Normal Pulling x1: Pulling image \"image:1\"",
        "Normal Pulled x1: Successfully pulled image \"image:1\" in 100ms (100ms including waiting). Image size: 2167089 bytes.",
        "Normal Created x1: Container created",
        "Normal Started x1: Container started",
    ];
    assert_eq!(test.events(), expected);
    test.delete_pod();
    test.until("it is gone", |test| test.get(&PODS, "pod").is_none()).await;
    assert_eq!(test.events().last().unwrap(), "Normal Killing x1: Stopping container main");
}

#[tokio::test(start_paused = true)]
async fn a_container_that_crashes_is_restarted_after_longer_and_longer_pauses() {
    let test = cluster();
    test.make_pod(&json!({"kube-emulator/exit-code": "3"}), &json!({}));
    tokio::time::sleep(Duration::from_secs(200)).await;
    let status = test.pod()["status"]["containerStatuses"][0].clone();
    // At once, and after 10, 20, 40 and 80 s and a part of each more.
    assert_eq!(status["restartCount"], 5);
    assert_eq!(status["lastState"]["terminated"]["exitCode"], 3);
    let backs_off = test.events().into_iter().filter(|event| event.starts_with("Warning BackOff")).collect::<Vec<_>>();
    let uid = test.pod()["metadata"]["uid"].as_str().unwrap().to_owned();
    let said = format!("Warning BackOff x5: Back-off restarting failed container main in pod pod_test({uid})");
    assert_eq!(backs_off, [said]);
}

#[tokio::test(start_paused = true)]
async fn a_container_that_holds_stays_until_it_is_let_go() {
    let test = cluster();
    test.make_pod(&json!({"kube-emulator/stop": "hold"}), &json!({"terminationGracePeriodSeconds": 2}));
    test.until("it is ready", is_ready).await;
    test.delete_pod();
    tokio::time::sleep(Duration::from_secs(120)).await;
    let held = test.pod();
    assert!(held["metadata"]["deletionTimestamp"].is_string() && held["status"]["phase"] == "Running");
    test.annotate("stop", "0");
    test.until("it is gone", |test| test.get(&PODS, "pod").is_none()).await;
}

#[rstest]
#[case::missing(
    "image",
    "missing",
    "ErrImagePull",
    "rpc error: code = NotFound desc = failed to pull and unpack image"
)]
#[case::config("config-error", "secret \"s\" not found", "CreateContainerConfigError", "secret \"s\" not found")]
#[case::create("create-error", "no command", "CreateContainerError", "no command")]
#[case::run("run-error", "exec format error", "RunContainerError", "exec format error")]
#[case::wrong("stop", "soon", "CreateContainerConfigError", "annotation kube-emulator/stop: \"soon\" is no time")]
#[tokio::test(start_paused = true)]
async fn what_keeps_a_container_from_running_is_told_and_can_be_mended(
    #[case] key: &str,
    #[case] value: &str,
    #[case] reason: &str,
    #[case] message: &str,
) {
    let test = cluster();
    test.make_pod(&json!({format!("kube-emulator/{key}"): value}), &json!({}));
    test.until("it waits", |test| test.waits_with(0).0 == reason).await;
    assert!(test.waits_with(0).1.starts_with(message), "{:?}", test.waits_with(0));
    let mended = json!({"metadata": {"annotations": {format!("kube-emulator/{key}"): null}}});
    test.patch(&PODS, "pod", Part::Main, &mended);
    test.until("it is ready", is_ready).await;
}

#[tokio::test(start_paused = true)]
async fn readiness_flaps() {
    let test = cluster();
    test.make_pod(&json!({"kube-emulator/readiness": "flap:2s", "kube-emulator/ready-after": "1s"}), &json!({}));
    let mut changes = Vec::new();
    for _ in 0..100 {
        tokio::time::sleep(Duration::from_millis(100)).await;
        let ready = is_ready(&test);
        if changes.last() != Some(&ready) {
            changes.push(ready);
        }
    }
    assert_eq!(changes, [false, true, false, true, false, true], "in ten seconds");
}

#[rstest]
#[case::never_well("Never", "0", "Succeeded", 0)]
#[case::never_badly("Never", "1", "Failed", 0)]
#[case::on_failure_well("OnFailure", "0", "Succeeded", 0)]
#[case::on_failure_badly("OnFailure", "1", "Running", 1)]
#[case::always("Always", "0", "Running", 1)]
#[tokio::test(start_paused = true)]
async fn a_container_is_restarted_as_its_pod_says(
    #[case] policy: &str,
    #[case] code: &str,
    #[case] phase: &str,
    #[case] restarts: i64,
) {
    let test = cluster();
    test.make_pod(&json!({"kube-emulator/exit-code": code}), &json!({"restartPolicy": policy}));
    tokio::time::sleep(Duration::from_secs(5)).await;
    let status = &test.pod()["status"];
    assert_eq!((&status["phase"], &status["containerStatuses"][0]["restartCount"]), (&json!(phase), &json!(restarts)));
}

#[tokio::test(start_paused = true)]
async fn a_sidecar_begins_before_the_others_and_ends_after_them() {
    let test = cluster();
    let sidecar = json!({"name": "side", "image": "image:1", "restartPolicy": "Always"});
    let annotations = json!({"kube-emulator/side.start-after": "2s", "kube-emulator/stop": "3s"});
    test.make_pod(&annotations, &json!({"initContainers": [sidecar]}));
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(test.waits_with(0).0, "PodInitializing");
    test.until("it is ready", is_ready).await;
    let status = &test.pod()["status"]["initContainerStatuses"][0];
    assert_eq!((&status["ready"], &status["started"]), (&json!(true), &json!(true)));
    test.delete_pod();
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(test.pod()["status"]["initContainerStatuses"][0]["state"]["running"].is_object());
    test.until("it is gone", |test| test.get(&PODS, "pod").is_none()).await;
}

#[tokio::test(start_paused = true)]
async fn a_node_refuses_what_it_has_no_room_for() {
    let test = cluster();
    let resources = json!({"requests": {"cpu": "1000"}});
    let containers = json!([{"name": "main", "image": "image:1", "resources": resources}]);
    test.make_pod(&json!({}), &json!({"nodeName": "node-1", "containers": containers}));
    test.until("it has failed", |test| test.pod()["status"]["phase"] == "Failed").await;
    let status = &test.pod()["status"];
    let message =
        "Pod was rejected: Node didn't have enough resource: cpu, requested: 1000000, used: 0, capacity: 8000";
    assert_eq!((&status["reason"], &status["message"]), (&json!("OutOfcpu"), &json!(message)));
}

#[tokio::test(start_paused = true)]
async fn images_have_scripts_too() {
    let images = json!([{"image": "broken/*", "script": {"exit-code": "7"}}]);
    let test = Test::new(&json!({"namespaces": ["test"], "images": images}));
    test.make_pod(&json!({}), &json!({"containers": [{"name": "main", "image": "broken/one:2"}]}));
    let code = |test: &Test| {
        test.pod()["status"]["containerStatuses"][0]["state"].pointer("/terminated/exitCode") == Some(&json!(7))
    };
    test.until("it ended", code).await;
    test.annotate("exit-code", "8");
    test.until("its annotation goes before", |test| test.events().len() > 5).await;
    tokio::time::sleep(Duration::from_secs(30)).await;
    assert_eq!(test.pod()["status"]["containerStatuses"][0]["state"]["terminated"]["exitCode"], 8);
}

#[tokio::test(start_paused = true)]
async fn who_begins_anew_goes_on_with_what_is_there() {
    let mut test = cluster();
    test.make_pod(&json!({"kube-emulator/exit-after": "50s", "kube-emulator/stop": "3s"}), &json!({}));
    test.until("it is ready", is_ready).await;
    let before = test.pod();
    test.running = None;
    tokio::time::sleep(Duration::from_secs(20)).await;
    test.running = Some(start(Arc::clone(&test.state)));
    tokio::time::sleep(Duration::from_secs(20)).await;
    assert_eq!(test.pod(), before, "nothing has happened to it");
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(test.pod()["status"]["containerStatuses"][0]["restartCount"], 1, "it ended when it was to");
    test.running = None;
    test.delete_pod();
    tokio::time::sleep(Duration::from_secs(60)).await;
    test.running = Some(start(Arc::clone(&test.state)));
    test.until("it is gone", |test| test.get(&PODS, "pod").is_none()).await;
}
