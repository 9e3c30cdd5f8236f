//! Explain: the status with everything that speaks for it.

use serde_json::{Value, json};
use workload_guest::testing::{Options, Reply, run, text};
use workload_guest::{Failure, Status, Workload as Told};

use super::world::{Workload, World, dated, refused};
use super::*;

fn explain(reply: impl FnMut(&Asked) -> Reply) -> (Told, Run) {
    let run = run::<Kubernetes>(status(), Options::default().setting("explain", "true"), reply);
    (run.outcome(WEB).unwrap().workload.clone().unwrap(), run)
}

fn event(about: (&str, &str, &str), reason: &str, last: &str, count: u64) -> Value {
    let (kind, name, uid) = about;
    json!({
        "metadata": {"name": format!("{name}.{reason}.{last}"), "namespace": "default", "uid": format!("e-{reason}-{last}")},
        "involvedObject": {"kind": kind, "name": name, "uid": uid},
        "type": "Warning", "reason": reason, "message": "because.", "count": count, "lastTimestamp": last,
    })
}

const POD: (&str, &str, &str) = ("Pod", "web-abc-0", "pod-web-0");

fn facts<'a>(told: &'a Told, kind: &str) -> Vec<&'a str> {
    let of_kind = |name: &str| name == kind || name.strip_prefix(kind).is_some_and(|rest| rest.starts_with(' '));
    told.facts.iter().filter(|(name, _)| of_kind(name)).map(|(_, value)| value.as_str()).collect()
}

#[test]
fn everything_is_read_and_what_does_not_depend_goes_out_together() {
    let mut world = World::with(Workload::at(1));
    world.events = vec![
        event(POD, "BackOff", "2026-01-01T00:00:03Z", 12),
        event(("Deployment", "web", "uid-1"), "ScalingReplicaSet", "2026-01-01T00:00:01Z", 1),
        event(("ReplicaSet", "web-abc", "uid-1-set-web"), "SuccessfulCreate", "2026-01-01T00:00:02Z", 1),
        event(("Pod", "other", "another"), "Killing", "2026-01-01T00:00:04Z", 1),
    ];
    let (told, run) = explain(|asked| world.answer(asked));
    assert_eq!(told.status, Status::Running);
    assert_eq!(
        facts(&told, "event"),
        [
            "Warning ScalingReplicaSet deployment/web: because",
            "Warning SuccessfulCreate replicaset/web-abc: because",
            "Warning BackOff pod/web-abc-0 (12x): because",
        ]
    );
    assert!(!facts(&told, "replica-set").is_empty() && !facts(&told, "pod").is_empty());
    assert!(facts(&told, "not-allowed").is_empty());
    assert_eq!(
        words(&run),
        ["GET web", "LIST replicasets", "LIST deployments", "LIST pods", "LIST events", "LIST events", "LIST events"]
    );
    let together = run.turns.iter().map(|turn| turn.need.len()).collect::<Vec<_>>();
    assert_eq!(together[..4], [1, 2, 3, 1], "the Pods and what was reported above them are asked for at once");
}

/// Most reports are written by the second: within one, what makes others comes before what is made.
#[test]
fn reports_of_one_second_are_in_the_order_of_what_happened() {
    let mut world = World::with(Workload::at(1));
    let second = "2026-01-01T00:00:01Z";
    world.events = vec![
        event(POD, "Scheduled", second, 1),
        event(("ReplicaSet", "web-abc", "uid-1-set-web"), "SuccessfulCreate", second, 1),
        event(("Deployment", "web", "uid-1"), "ScalingReplicaSet", second, 3),
    ];
    let (told, _) = explain(|asked| dated(world.answer(asked), 1_767_225_600_000 + 41_000));
    assert_eq!(
        facts(&told, "event"),
        [
            "Warning ScalingReplicaSet deployment/web (3x, last 40s ago): because",
            "Warning SuccessfulCreate replicaset/web-abc (40s ago): because",
            "Warning Scheduled pod/web-abc-0 (40s ago): because",
        ]
    );
}

/// What a webhook, a probe or a container says may repeat what only the workload should know.
#[test]
fn no_value_of_a_variable_is_told() {
    let env = |value: &str| json!([{"name": "PASS", "value": value}]);
    let status = json!({"replicas": 0, "availableReplicas": 0, "conditions": [
        {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate",
            "message": "pods \"web-1\" is forbidden: admission webhook \"w\" denied the request: PASS=hunter2 is weak"},
        {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "late"}]});
    let template = json!({"spec": {"containers": [{"name": "main", "image": "nginx:1", "env": env("hunter2")}]}});
    let mut world = World::with(Workload::at(1).over(json!({"spec": {"template": template}, "status": status})));
    let mut probe = event(POD, "Unhealthy", "2026-01-01T00:00:03Z", 1);
    probe["message"] = json!("Readiness probe failed: login with hunter2 refused");
    world.events = vec![probe];
    let printed = json!({"containerStatuses": [{"name": "main", "restartCount": 4, "ready": false,
        "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}},
        "lastState": {"terminated": {"exitCode": 1, "reason": "Error", "message": "no user hunter2"}}}]});
    let mut answer = |asked: &Asked| {
        let Reply::Respond(mut list) = world.answer(asked) else { panic!() };
        if word(asked).as_deref() == Some("LIST pods") {
            let mut pods: Value = serde_json::from_slice(&list.bytes).unwrap();
            pods["items"][0]["status"]["containerStatuses"] = printed["containerStatuses"].clone();
            list.bytes = pods.to_string().into_bytes();
        }
        Reply::Respond(list)
    };
    let (told, _) = explain(&mut answer);
    let all = format!("{told:?}");
    assert!(!all.contains("hunter2"), "{all}");
    assert_eq!(all.matches("is not shown").count(), 4, "{all}");
    let started = drive(start(), &mut answer);
    let all = format!("{:?} {:?}", started.settled, started.progress);
    assert!(started.fault(WEB).is_some() && all.contains("is not shown") && !all.contains("hunter2"), "{all}");
}

#[test]
fn the_last_ten_events_are_told() {
    let mut world = World::with(Workload::at(1));
    world.events =
        (10..40).map(|second| event(POD, "BackOff", &format!("2026-01-01T00:00:{second}Z"), second)).collect();
    let (told, _) = explain(|asked| world.answer(asked));
    let told = facts(&told, "event");
    assert_eq!(told.len(), 10);
    assert!(told[0].contains("(30x)") && told[9].contains("(39x)"), "{told:?}");
}

#[test]
fn what_must_not_be_seen_is_named() {
    let mut world = World::with(Workload::at(1));
    for refusal in [refused(403, "Forbidden", ""), Reply::Fail(Failure::Denied)] {
        let (told, run) = explain(|asked| match word(asked).as_deref() {
            Some("LIST pods" | "LIST events") => refusal.clone(),
            _ => world.answer(asked),
        });
        assert_eq!(facts(&told, "not-allowed"), ["list pods in namespace default", "list events in namespace default"]);
        assert_eq!(words(&run).len(), 6);
        let (told, _) = explain(|asked| match word(asked).as_deref() {
            Some("LIST replicasets") => refusal.clone(),
            _ => world.answer(asked),
        });
        assert_eq!(facts(&told, "not-allowed"), ["list replicasets in namespace default"]);
    }
}

#[test]
fn events_that_cannot_be_read_are_not_all() {
    let mut world = World::with(Workload::at(1));
    let (told, _) = explain(|asked| match word(asked).as_deref() {
        Some("LIST events") => text(500, ""),
        _ => world.answer(asked),
    });
    assert_eq!(told.status, Status::Running);
    assert_eq!(facts(&told, "events"), ["cannot list events in namespace default: the server answered with 500"]);
}

/// Of very much there is room for what is special.
#[test]
fn no_more_is_told_than_the_host_keeps() {
    let mut world = World::with(Workload::at(60));
    world.events = (10..40).map(|second| event(POD, "BackOff", &format!("2026-01-01T00:00:{second}Z"), 1)).collect();
    let (told, run) = explain(|asked| world.answer(asked));
    assert!(told.facts.len() <= 64, "{}", told.facts.len());
    assert_eq!(facts(&told, "event").len(), 10);
    assert_eq!(words(&run).iter().filter(|word| *word == "LIST events").count(), 5);
}

#[test]
fn nobody_is_told_of_what_is_not_ours() {
    let over = json!({"metadata": {"labels": {"workload-provider/owner": "you"}}});
    let mut world = World::with(Workload::at(1).over(over));
    let (told, run) = explain(|asked| world.answer(asked));
    assert_eq!((told.status, &*told.reason), (Status::Missing, "not-owned"));
    assert_eq!(words(&run), ["GET web"]);
}

#[test]
fn without_the_question_nothing_more_is_read() {
    let mut world = World::with(Workload::at(1));
    let run = drive(status(), |asked| world.answer(asked));
    assert!(!words(&run).contains(&"LIST events".to_owned()));
}
