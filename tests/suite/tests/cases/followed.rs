//! Cases that are sequences: what a status says that is followed, one answer after another.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;
use workload_host::Options;
use workload_host::model::{Event, Workload};
use workload_suite::inside::objects::{Still, container, deployment, merge, pod, replica_set};
use workload_suite::inside::{Inside, paused};

use crate::moving::{main_container, running, starting, stopped};
use crate::states::{empty_set, ending, held, refused, rolling, set_of, several, unavailable_set, waiting, word};

/// How long each is shown: twice as long as a look without news may take.
const SHOWN: Duration = Duration::from_secs(10);

/// All that is told while a server shows each of these for a while.
async fn told(shown: Vec<Still>) -> Vec<Workload> {
    let all = SHOWN * u32::try_from(shown.len()).unwrap();
    let inside = Inside::scripted(move |asked| {
        let number = usize::try_from(asked.at.as_secs() / SHOWN.as_secs()).unwrap();
        shown[number.min(shown.len() - 1)].answer(asked)
    })
    .await;
    let mut run = inside.with(Options { follow: true, ..Options::default() }).reading(&["ns/app"]);
    let mut told = Vec::new();
    let listening = async {
        while let Some(event) = run.next().await {
            match event {
                Event::Emitted(workload) => told.push(workload),
                other => panic!("nothing else is told while it is followed: {other:?}"),
            }
        }
    };
    assert!(timeout(all, listening).await.is_err(), "it goes on until it is cancelled");
    run.cancel();
    run.finish().await;
    assert_eq!(inside.writes(), []);
    told
}

/// The words of that, each once in a row.
fn words(told: &[Workload]) -> Vec<String> {
    let mut words: Vec<String> = told.iter().map(word).collect();
    words.dedup();
    words
}

fn follow(shown: Vec<Still>) -> Vec<String> {
    paused(async { words(&told(shown).await) })
}

#[test]
fn a01_complete_then_image_missing() {
    let image = json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off: app:1: not found"}});
    let pulls = json!({"waiting": {"reason": "ContainerCreating"}});
    let shown = vec![
        stopped(),
        starting(3, vec![main_container(pulls, json!({}))]),
        starting(3, vec![main_container(image, json!({}))]),
    ];
    assert_eq!(follow(shown), ["offline stopped", "creating starting", "failed image-error"]);
}

#[test]
fn a04_without_a_status_it_is_looked_at_again() {
    let bare = || deployment(json!({"metadata": {"generation": 1}, "status": null}));
    let mut empty = bare();
    empty["status"] = json!({});
    let shown = vec![Still::of(bare(), vec![], vec![]), Still::of(empty, vec![], vec![]), running(2)];
    assert_eq!(follow(shown), ["creating unobserved", "running available"]);
}

/// The quota, then a webhook that is away, then nothing any more is in the way.
#[test]
fn a10_a_refusal_clears_by_itself() {
    let quota = "pods \"app-x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=1, limited: pods=1";
    let webhook = "Internal error occurred: failed calling webhook \"w\": connect: connection refused";
    let shown = vec![
        Still::of(refused(quota), vec![empty_set()], vec![]),
        Still::of(refused(webhook), vec![empty_set()], vec![]),
        running(2),
    ];
    let told = paused(told(shown));
    assert_eq!(words(&told), ["failed replica-failure", "creating rollout", "running available"]);
    let message = told[0].message.as_deref().unwrap();
    assert!(message.contains("exceeded quota: q"), "{message}");
}

#[test]
fn a13_the_first_exits_are_on_the_way_up() {
    let exited = json!({"terminated": {"reason": "Error", "exitCode": 1}});
    let last = json!({"restartCount": 1, "lastState": exited});
    let shown = vec![
        starting(2, vec![main_container(exited, json!({}))]),
        starting(2, vec![main_container(json!({"running": {}}), last)]),
        running(2),
    ];
    assert_eq!(follow(shown), ["creating pod-error", "creating starting", "running available"]);
}

#[test]
fn a14_pods_of_the_revision_before_do_not_count() {
    let crashing = waiting(1, 1, "CrashLoopBackOff", "back-off", 5);
    let both = Still::of(
        rolling(json!({"unavailableReplicas": 1})),
        vec![unavailable_set(1), replica_set(2, json!({}))],
        vec![crashing, pod(2, 2, json!({}))],
    );
    let new = Still::of(rolling(json!({"replicas": 1})), vec![replica_set(2, json!({}))], vec![pod(2, 2, json!({}))]);
    assert_eq!(follow(vec![both, new]), ["creating starting", "running available"]);
}

/// The deadline of the attempt before shows until the controller has seen the next one.
#[test]
fn a16_a_deadline_from_before_is_not_told_of_the_next_attempt() {
    let progress = |status: &str, reason: &str| {
        let condition = json!({"type": "Progressing", "status": status, "reason": reason, "message": reason});
        json!({"status": {"conditions": [condition]}})
    };
    let mut before = starting(5, vec![]);
    merge(&mut before.deployment, &progress("False", "ProgressDeadlineExceeded"));
    let mut unseen = before.clone();
    merge(&mut unseen.deployment, &json!({"metadata": {"generation": 6}}));
    let mut seen = starting(6, vec![]);
    merge(&mut seen.deployment, &progress("True", "ReplicaSetUpdated"));
    assert_eq!(
        follow(vec![before, unseen, seen, running(6)]),
        ["failed deadline-exceeded", "creating unobserved", "creating starting", "running available"]
    );
}

#[test]
fn a21_a_start_right_after_a_stop() {
    let old = || pod(1, 1, ending());
    let mut stopping = stopped();
    stopping.pods = vec![old()];
    let mut both = running(3);
    both.pods = vec![old(), pod(2, 1, json!({}))];
    let shown = vec![stopping, starting(3, vec![old()]), both];
    assert_eq!(follow(shown), ["offline stopping", "creating starting", "running available"]);
}

/// A Pod that was never placed and is held: the cluster ends it within 20 s, and the object stays.
#[test]
fn a30_a_stop_is_over_when_no_container_can_run() {
    let with = |pods: Vec<Value>| Still { pods, ..stopped() };
    let told = paused(told(vec![with(vec![held("Pending")]), with(vec![held("Failed")]), stopped()]));
    assert_eq!(words(&told), ["offline stopping", "offline stopped"]);
    assert!(told[0].message.as_deref().unwrap().contains("example.com/f"), "{:?}", told[0].message);
}

/// One of two goes through its crash loop: some are available all the time.
#[test]
fn fa18_one_of_two_that_crashes_does_not_flap() {
    let exited = json!({"terminated": {"reason": "Error", "exitCode": 1}});
    let crash = |state: Value, restarts: u32| {
        let change = json!({"restartCount": restarts, "lastState": exited});
        let statuses = json!([container("main", state, change)]);
        let not_ready = json!([{"type": "PodScheduled", "status": "True"}, {"type": "Ready", "status": "False"}]);
        let second = pod(2, 1, json!({"status": {"conditions": not_ready, "containerStatuses": statuses}}));
        Still::of(several(2, 1), vec![set_of(2, 1)], vec![pod(1, 1, json!({})), second])
    };
    let whole = Still::of(several(2, 2), vec![set_of(2, 2)], vec![pod(1, 1, json!({})), pod(2, 1, json!({}))]);
    let shown = vec![
        whole.clone(),
        crash(json!({"terminated": {"reason": "Error", "exitCode": 1}}), 1),
        crash(json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}), 1),
        crash(json!({"terminated": {"reason": "Error", "exitCode": 1}}), 2),
        crash(json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}}), 2),
        whole,
    ];
    let told = paused(told(shown));
    assert_eq!(words(&told), ["running available", "running partial", "running available"]);
    let partial: Vec<_> = told.iter().filter(|workload| workload.reason == "partial").collect();
    assert!(partial.iter().all(|workload| (workload.available, workload.desired) == (1, 2)));
    let last = partial.last().unwrap().message.as_deref().unwrap();
    assert!(last.contains("app-r1-p2") && last.contains("exit code 1"), "the cause is told beside it: {last}");
}

/// The kubelet shows the word only for the last moment of a pause: without it, it is the same crash loop.
#[test]
fn fa06_a_crash_loop_does_not_flap() {
    let exited = || json!({"terminated": {"reason": "Error", "exitCode": 1}});
    let backs_off = || json!({"waiting": {"reason": "CrashLoopBackOff", "message": "back-off"}});
    let shown = [(exited(), 1), (backs_off(), 1), (exited(), 2), (backs_off(), 2), (exited(), 3)]
        .map(|(state, restarts)| {
            let change = json!({"restartCount": restarts, "lastState": exited()});
            starting(2, vec![main_container(state, change)])
        })
        .into();
    assert_eq!(follow(shown), ["creating pod-error", "failed crash-loop"]);
}

/// A namespace that is being deleted: nothing on the Deployment tells, until it is gone.
#[test]
fn fa21_a_namespace_that_is_being_deleted_ends_as_missing() {
    let gone = Still::of(Value::Null, vec![], vec![]);
    let words = follow(vec![running(2), starting(2, vec![]), gone]);
    assert_eq!(words, ["running available", "creating starting", "missing not-found"]);
}
