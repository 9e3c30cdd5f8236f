//! The table, row by row: what each needs to hold, what it answers, and what it wants to read to be sure.

use rstest::rstest;
use serde_json::{Value, json};

use super::super::*;
use super::given::{
    Given, Look, MADE_MS, both, condition, crash_loop, create_error, deadline, deployment, empty_set, none, old, pod,
    read, ready_pod, replica_failure, set, unavailable, unavailable_set, word,
};

/// Nothing, ReplicaSets, Pods: what is needed, and what is wanted.
const N: Want = Want::Nothing;
const R: Want = Want::ReplicaSets;
const P: Want = Want::Pods;

const UNREAD: Given = Given::NotRead;
const HIDDEN: Given = Given::NotReadable;

fn deleting() -> Value {
    json!({"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}})
}

fn ahead() -> Value {
    json!({"metadata": {"generation": 4}})
}

fn three(available: i64) -> Value {
    deployment(json!({"spec": {"replicas": 3},
        "status": {"replicas": 3, "updatedReplicas": 3, "availableReplicas": available}}))
}

fn available_set(available: i64) -> Value {
    set(json!({"status": {"availableReplicas": available}}))
}

#[rstest]
// 4, 5
#[case::deleting(deployment(deleting()), UNREAD, UNREAD, "4 deleting", "deleting", N, N)]
#[case::deleting_at_zero(none(deleting()), UNREAD, UNREAD, "4 deleting", "deleting", N, N)]
#[case::deleting_first(deployment(both(deleting(), json!({"spec": null}))), UNREAD, UNREAD, "4 deleting", "deleting", N, N)]
#[case::no_spec(deployment(json!({"spec": null})), UNREAD, UNREAD, "5 malformed", "malformed", N, N)]
#[case::negative(deployment(json!({"spec": {"replicas": -1}})), UNREAD, UNREAD, "5 malformed", "malformed", N, N)]
#[case::negative_counter(deployment(json!({"status": {"availableReplicas": -1}})), UNREAD, UNREAD, "5 malformed", "malformed", N, N)]
// 5a
#[case::frozen_unread(none(create_error()), UNREAD, UNREAD, "5a frozen", "stopping", R, R)]
#[case::frozen_no_pods_read(none(create_error()), read(&[]), UNREAD, "5a frozen", "stopping", P, P)]
#[case::frozen_gone(none(both(create_error(), json!({"status": {"replicas": 1}}))), read(&[empty_set()]), read(&[]), "5a frozen", "stopped", N, N)]
#[case::frozen_unobserved(none(both(create_error(), ahead())), read(&[empty_set()]), read(&[]), "5a frozen", "stopped", N, N)]
#[case::frozen_set_left(none(create_error()), read(&[set(json!({}))]), read(&[]), "5a frozen", "stopping", N, N)]
#[case::frozen_set_unobserved(none(create_error()), read(&[both(empty_set(), json!({"metadata": {"generation": 2}}))]), read(&[]), "5a frozen", "stopping", N, N)]
#[case::frozen_set_ending(none(create_error()), read(&[both(empty_set(), json!({"status": {"terminatingReplicas": 1}}))]), read(&[]), "5a frozen", "stopping", N, N)]
#[case::frozen_set_ended(none(create_error()), read(&[both(empty_set(), json!({"status": {"terminatingReplicas": 0}}))]), read(&[]), "5a frozen", "stopped", N, N)]
#[case::frozen_set_left_pods_hidden(none(create_error()), read(&[set(json!({}))]), HIDDEN, "5a frozen", "stopping", N, N)]
#[case::frozen_pods_hidden(none(create_error()), read(&[empty_set()]), HIDDEN, "5a frozen", "stopped-unverified", N, N)]
#[case::frozen_pod_left(none(create_error()), read(&[empty_set()]), read(&[pod(json!({}))]), "5a frozen", "stopping", N, N)]
#[case::frozen_hidden(none(create_error()), HIDDEN, UNREAD, "5a frozen", "stopped-unverified", N, N)]
// 6, 7
#[case::unobserved(none(ahead()), UNREAD, UNREAD, "6 unobserved", "stopping", N, N)]
#[case::never_observed(none(json!({"status": null})), UNREAD, UNREAD, "6 unobserved", "stopping", N, N)]
#[case::replicas(none(json!({"status": {"replicas": 1}})), UNREAD, UNREAD, "7 replicas left", "stopping", N, N)]
#[case::terminating(none(json!({"status": {"terminatingReplicas": 1}})), UNREAD, UNREAD, "7 replicas left", "stopping", N, N)]
#[case::set_wants(none(json!({})), read(&[both(empty_set(), json!({"spec": {"replicas": 1}}))]), UNREAD, "7 replicas left", "stopping", N, N)]
#[case::set_wants_the_default(none(json!({})), read(&[both(empty_set(), json!({"spec": {"replicas": null}}))]), UNREAD, "7 replicas left", "stopping", N, N)]
#[case::set_unobserved(none(json!({})), read(&[both(empty_set(), json!({"metadata": {"generation": 2}}))]), UNREAD, "7 replicas left", "stopping", N, N)]
#[case::set_has(none(json!({})), read(&[both(empty_set(), json!({"status": {"replicas": 1}}))]), UNREAD, "7 replicas left", "stopping", N, N)]
#[case::foreign_set(none(json!({})), read(&[set(json!({"metadata": {"ownerReferences": [{"uid": "x", "controller": true}]}}))]), read(&[]), "10 stopped", "stopped", N, N)]
// 8
#[case::pod_left(none(json!({})), read(&[empty_set()]), read(&[pod(json!({}))]), "8 pods left", "stopping", N, N)]
#[case::pod_ending(none(json!({})), read(&[empty_set()]), read(&[pod(deleting())]), "8 pods left", "stopping", N, N)]
#[case::pod_failed(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"status": {"phase": "Failed"}}))]), "10 stopped", "stopped", N, N)]
#[case::pod_succeeded(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"status": {"phase": "Succeeded"}}))]), "10 stopped", "stopped", N, N)]
#[case::pod_of_another(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"metadata": {"ownerReferences": [{"uid": "x", "controller": true}]}}))]), "10 stopped", "stopped", N, N)]
#[case::pod_without_controller(none(json!({})), read(&[empty_set()]), read(&[pod(json!({"metadata": {"ownerReferences": [{"uid": "s"}]}}))]), "10 stopped", "stopped", N, N)]
// 9, 10
#[case::pods_hidden(none(json!({"status": {"terminatingReplicas": null}})), read(&[empty_set()]), HIDDEN, "9 unverified", "stopped-unverified", N, N)]
#[case::pods_hidden_but_counted(none(json!({})), read(&[empty_set()]), HIDDEN, "10 stopped", "stopped", N, N)]
#[case::sets_hidden(none(json!({})), HIDDEN, UNREAD, "9 unverified", "stopped-unverified", N, N)]
#[case::stopped(none(json!({})), read(&[empty_set()]), read(&[]), "10 stopped", "stopped", N, N)]
#[case::stopped_unread(none(json!({})), UNREAD, UNREAD, "10 stopped", "stopped", R, R)]
#[case::stopped_pods_unread(none(json!({})), read(&[]), UNREAD, "10 stopped", "stopped", P, P)]
#[case::stopped_after_a_deadline(none(deadline()), read(&[]), read(&[]), "10 stopped", "stopped", N, N)]
#[case::stopped_after_a_refusal(none(condition("ReplicaFailure", "True", "FailedCreate", "is forbidden")), read(&[]), read(&[]), "10 stopped", "stopped", N, N)]
#[case::stopped_paused(none(json!({"spec": {"paused": true}})), read(&[]), read(&[]), "10 stopped", "stopped", N, N)]
// 11
#[case::create_error_again(
    deployment(both(create_error(), ahead())),
    UNREAD,
    UNREAD,
    "11a rollout error",
    "unobserved",
    R,
    R
)]
#[case::create_error_hidden(
    deployment(both(create_error(), ahead())),
    HIDDEN,
    UNREAD,
    "11a rollout error",
    "unobserved",
    N,
    N
)]
#[case::unobserved_but_perfect(deployment(ahead()), UNREAD, UNREAD, "11b unobserved", "unobserved", N, R)]
#[case::unobserved_deadline(deployment(both(deadline(), ahead())), read(&[]), UNREAD, "11b unobserved", "unobserved", N, N)]
#[case::no_status(deployment(json!({"status": null})), UNREAD, UNREAD, "11b unobserved", "unobserved", N, R)]
#[case::observed_ahead(deployment(json!({"status": {"observedGeneration": 9}})), read(&[set(json!({}))]), UNREAD, "13 available", "available", N, N)]
// 12
#[case::deadline(unavailable(deadline()), UNREAD, UNREAD, "12 progress", "deadline-exceeded", R, R)]
#[case::deadline_pods_unread(unavailable(deadline()), read(&[]), UNREAD, "12 progress", "deadline-exceeded", P, P)]
#[case::deadline_though_serving(three_and(deadline()), read(&[available_set(2)]), UNREAD, "12 progress", "deadline-exceeded", N, N)]
#[case::deadline_of_unknown_status(unavailable(condition("Progressing", "Unknown", "ProgressDeadlineExceeded", "")), read(&[]), read(&[]), "12 progress", "deadline-exceeded", N, N)]
#[case::create_error_observed(unavailable(create_error()), read(&[]), read(&[]), "12 progress", "rollout-error", N, N)]
#[case::other_failure(unavailable(condition("Progressing", "False", "Whatever", "")), read(&[]), read(&[]), "12 progress", "rollout-error", N, N)]
#[case::deadline_of_a_crash(unavailable(deadline()), read(&[unavailable_set()]), read(&[crash_loop()]), "12 progress", "crash-loop", N, N)]
#[case::deadline_of_a_refusal(conditions(&[deadline(), replica_failure("is forbidden")]), read(&[unavailable_set()]), UNREAD, "12 progress", "replica-failure", N, N)]
#[case::deadline_of_a_passing_failure(conditions(&[deadline(), replica_failure("failed calling webhook")]), read(&[unavailable_set()]), read(&[]), "12 progress", "deadline-exceeded", N, N)]
// 13
#[case::available(deployment(json!({})), UNREAD, UNREAD, "13 available", "available", N, R)]
#[case::available_by_set(deployment(json!({})), read(&[set(json!({}))]), UNREAD, "13 available", "available", N, N)]
#[case::available_sets_hidden(deployment(json!({})), HIDDEN, UNREAD, "13 available", "available", N, N)]
#[case::replicas_absent(deployment(json!({"spec": {"replicas": null}})), read(&[set(json!({}))]), UNREAD, "13 available", "available", N, N)]
#[case::paused_and_available(deployment(json!({"spec": {"paused": true}})), read(&[set(json!({}))]), UNREAD, "13 available", "paused", N, N)]
#[case::copied_counters(deployment(json!({})), read(&[unavailable_set()]), read(&[]), "19 starting", "starting", N, N)]
#[case::fewer_by_sets(three(3), read(&[available_set(2)]), read(&[]), "17 partial", "partial", N, N)]
#[case::denied(deployment(condition("Available", "False", "", "")), read(&[set(json!({}))]), read(&[]), "19 starting", "starting", N, N)]
#[case::no_newest(deployment(json!({})), read(&[old(1)]), read(&[]), "18 rollout", "rollout", N, N)]
#[case::set_unobserved_unread(deployment(json!({})), read(&[set(json!({"metadata": {"generation": 2}}))]), UNREAD, "19 starting", "starting", P, P)]
#[case::set_unobserved_ready(deployment(json!({})), read(&[set(json!({"metadata": {"generation": 2}}))]), read(&[ready_pod()]), "13 available", "available", N, N)]
#[case::set_unobserved_ending(deployment(json!({})), read(&[set(json!({"metadata": {"generation": 2}}))]), read(&[both(ready_pod(), deleting())]), "19 starting", "starting", N, N)]
// 14
#[case::quota(unavailable(replica_failure("is Forbidden: exceeded quota")), read(&[unavailable_set()]), UNREAD, "14 replica failure", "replica-failure", N, N)]
#[case::quota_unread(
    unavailable(replica_failure("exceeded quota")),
    UNREAD,
    UNREAD,
    "14 replica failure",
    "replica-failure",
    R,
    R
)]
#[case::quota_hidden(
    unavailable(replica_failure("exceeded quota")),
    HIDDEN,
    UNREAD,
    "14 replica failure",
    "replica-failure",
    N,
    N
)]
#[case::webhook(unavailable(replica_failure("failed calling webhook: is forbidden")), read(&[]), UNREAD, "14 replica failure", "rollout", N, N)]
#[case::in_neither_list(unavailable(replica_failure("something else")), read(&[]), UNREAD, "14 replica failure", "rollout", N, N)]
#[case::refused_but_serving(deployment(both(replica_failure("is forbidden"), json!({"spec": {"replicas": 2}, "status": {"replicas": 1, "updatedReplicas": 1, "availableReplicas": 1}}))), read(&[set(json!({}))]), read(&[]), "17 partial", "partial", N, N)]
#[case::refused_but_all_there(unavailable(condition("ReplicaFailure", "True", "FailedCreate", "is forbidden")), read(&[unavailable_set()]), read(&[]), "19 starting", "starting", N, N)]
#[case::refused_before(unavailable(condition("ReplicaFailure", "False", "FailedCreate", "is forbidden")), read(&[unavailable_set()]), read(&[]), "19 starting", "starting", N, N)]
// 15
#[case::doomed(unavailable(json!({})), read(&[unavailable_set()]), read(&[crash_loop()]), "15 doomed pod", "crash-loop", N, N)]
#[case::doomed_but_one_serves(three(1), read(&[available_set(1)]), read(&[crash_loop()]), "17 partial", "partial", N, N)]
#[case::doomed_and_ending(unavailable(json!({})), read(&[unavailable_set()]), read(&[both(crash_loop(), deleting())]), "19 starting", "starting", N, N)]
// 16
#[case::paused_without_set(deployment(json!({"spec": {"paused": true}, "status": {"updatedReplicas": 0}})), read(&[old(1)]), UNREAD, "16 paused", "paused", N, N)]
#[case::paused_unread(unavailable(json!({"spec": {"paused": true}})), UNREAD, UNREAD, "19 starting", "starting", R, R)]
#[case::paused_with_set(unavailable(json!({"spec": {"paused": true}})), read(&[unavailable_set()]), read(&[]), "19 starting", "starting", N, N)]
// 17
#[case::partial(three(2), read(&[available_set(2)]), UNREAD, "17 partial", "partial", N, P)]
#[case::partial_unread(three(2), UNREAD, UNREAD, "17 partial", "partial", R, R)]
#[case::partial_hidden(three(2), HIDDEN, UNREAD, "17 partial", "partial", N, N)]
// 18, 19
#[case::only_old(deployment(json!({"status": {"replicas": 2}})), read(&[old(1), unavailable_set()]), read(&[]), "18 rollout", "rollout", N, N)]
#[case::only_old_pods_unread(deployment(json!({"status": {"replicas": 2}})), read(&[old(1), unavailable_set()]), UNREAD, "18 rollout", "rollout", P, P)]
#[case::only_old_by_counters(deployment(json!({"status": {"updatedReplicas": 0}})), UNREAD, UNREAD, "18 rollout", "rollout", R, R)]
#[case::starting(unavailable(json!({})), read(&[unavailable_set()]), read(&[]), "19 starting", "starting", N, N)]
#[case::starting_pods_unread(unavailable(json!({})), read(&[unavailable_set()]), UNREAD, "19 starting", "starting", P, P)]
#[case::available_true_with_none(
    unavailable(condition("Available", "True", "", "")),
    UNREAD,
    UNREAD,
    "19 starting",
    "starting",
    R,
    R
)]
#[case::old_still_ending(deployment(json!({"status": {"replicas": 2}})), read(&[set(json!({})), old(0)]), read(&[]), "19 starting", "starting", N, N)]
fn rows(
    #[case] deployment: Value,
    #[case] sets: Given,
    #[case] pods: Given,
    #[case] rule: &str,
    #[case] reason: &str,
    #[case] needs: Want,
    #[case] want: Want,
) {
    let look = Look { sets, pods, own: Own::default(), ..Look::at(deployment) };
    let verdict = look.decide();
    assert_eq!((verdict.rule, verdict.reason), (rule, reason));
    assert_eq!((verdict.needs, verdict.want), (needs, want), "needs and wants");
    assert!(!verdict.message.is_empty() && !verdict.message.ends_with('.'));
}

fn three_and(over: Value) -> Value {
    both(three(2), over)
}

/// One that has none available, with the conditions of all of these.
fn conditions(all: &[Value]) -> Value {
    let list: Vec<Value> = all.iter().map(|over| over["status"]["conditions"][0].clone()).collect();
    let object = all.iter().fold(unavailable(json!({})), |object, over| both(object, over.clone()));
    both(object, json!({"status": {"conditions": list}}))
}

#[rstest]
#[case::first_seen(0, false, 0, "creating")]
#[case::lasting(4_000, false, 0, "failed")]
#[case::a_single_look(0, true, 0, "failed")]
#[case::a_single_look_at_what_was_observed_once(0, true, 2, "creating")]
fn a_create_error_must_last(
    #[case] stuck_for_ms: u64,
    #[case] single: bool,
    #[case] observed: i64,
    #[case] status: &str,
) {
    let object = deployment(both(create_error(), json!({"status": {"observedGeneration": observed}})));
    let own = Own { stuck_for_ms, single, ..Own::default() };
    let verdict = Look { own, ..Look::at(object) }.decide();
    assert_eq!((verdict.rule, word(verdict.status)), ("11a rollout error", status));
    assert!(verdict.message.contains("exceeded quota"), "the condition's message: {}", verdict.message);
}

#[rstest]
#[case::just_written(Some(1_999), "creating", "rollout")]
#[case::long_ago(Some(2_000), "failed", "deadline-exceeded")]
#[case::never(None, "failed", "deadline-exceeded")]
fn a_deadline_may_be_from_before_our_write(
    #[case] since_write_ms: Option<u64>,
    #[case] status: &str,
    #[case] reason: &str,
) {
    let own = Own { since_write_ms, ..Own::default() };
    let verdict = Look { own, ..Look::at(unavailable(deadline())) }.decide();
    assert_eq!((verdict.rule, word(verdict.status), verdict.reason), ("12 progress", status, reason));
}

#[rstest]
#[case::too_soon(0, 1, Some(MADE_MS + 4_999), "6 unobserved")]
#[case::by_the_servers_clock(0, 1, Some(MADE_MS + 5_000), "5a frozen")]
#[case::by_our_clock(5_000, 7, None, "5a frozen")]
#[case::changed_since(0, 2, Some(MADE_MS + 60_000), "6 unobserved")]
#[case::the_servers_clock_is_behind(0, 1, Some(MADE_MS - 60_000), "6 unobserved")]
fn what_was_never_observed_can_be_stopped(
    #[case] stuck_for_ms: u64,
    #[case] generation: i64,
    #[case] server_ms: Option<u64>,
    #[case] rule: &str,
) {
    let object = none(json!({"metadata": {"generation": generation}, "status": null}));
    let own = Own { stuck_for_ms, ..Own::default() };
    let look = Look { own, server_ms, ..Look::at(object) }.with(&[], &[]);
    assert_eq!(look.decide().rule, rule);
    let with_a_set = Look { sets: read(&[set(json!({}))]), ..look };
    assert_eq!(with_a_set.decide().rule, "6 unobserved", "something was made, so somebody will observe it");
    let unread = Look { sets: UNREAD, pods: UNREAD, ..with_a_set }.decide();
    assert_eq!((unread.rule, unread.needs), ("6 unobserved", if rule == "5a frozen" { R } else { N }));
}

#[rstest]
#[case::rollout(deployment(json!({"status": {"replicas": 2}})), &[old(1), unavailable_set()], "18 rollout", true)]
#[case::unobserved(deployment(ahead()), &[old(1)], "11b unobserved", true)]
#[case::unobserved_scaling(deployment(ahead()), &[set(json!({}))], "11b unobserved", false)]
#[case::create_error(deployment(both(create_error(), ahead())), &[old(1)], "11a rollout error", true)]
#[case::frozen_counters(deployment(both(create_error(), ahead())), &[old(0)], "11a rollout error", false)]
#[case::failed(unavailable(deadline()), &[old(1)], "12 progress", true)]
#[case::partial(three(2), &[available_set(1), old(1)], "17 partial", true)]
#[case::available(deployment(json!({})), &[set(json!({}))], "13 available", false)]
#[case::stopped(none(create_error()), &[old(1)], "5a frozen", false)]
fn an_older_revision_serves(
    #[case] deployment: Value,
    #[case] sets: &[Value],
    #[case] rule: &str,
    #[case] serving: bool,
) {
    let verdict = Look { own: Own::default(), ..Look::at(deployment) }.with(sets, &[]).decide();
    assert_eq!((verdict.rule, verdict.serving_old), (rule, serving));
}

#[rstest]
#[case::just_now(180_000, false)]
#[case::long_ago(181_000, true)]
fn the_controller_gives_up(#[case] after_ms: u64, #[case] given_up: bool) {
    let error = json!([{"type": "Progressing", "status": "False", "reason": "ReplicaSetCreateError",
        "message": "exceeded quota", "lastUpdateTime": "2026-01-01T00:00:00Z"}]);
    let object = deployment(json!({"status": {"observedGeneration": null, "conditions": error}}));
    let look = Look::at(object.clone()).server_ms(MADE_MS + after_ms);
    assert_eq!(look.see(gave_up), given_up);
    assert_eq!(look.decide().message.contains("has given up"), given_up);
    assert!(!Look::at(object).see(gave_up), "nobody knows what time it is");
    assert!(!Look::at(unavailable(deadline())).server_ms(MADE_MS + after_ms).see(gave_up), "another failure");
}

#[test]
fn the_available_count_is_the_lower_one() {
    let look = |d: i64, r: i64| Look::at(three(d)).with(&[available_set(r)], &[]).decide().available;
    assert_eq!((look(2, 1), look(1, 2)), (1, 1));
    assert_eq!(Look::at(three(2)).decide().available, 2);
}

/// Of several with the same template the oldest is the newest one, as the controller has it.
#[test]
fn the_newest_does_not_depend_on_the_order_of_the_list() {
    let first = set(json!({"status": {"availableReplicas": 1}}));
    let second = set(json!({"metadata": {"name": "web-2", "uid": "t", "creationTimestamp": "2026-01-01T00:00:01Z"},
        "status": {"availableReplicas": 0}}));
    for sets in [[first.clone(), second.clone()], [second, first]] {
        assert_eq!(Look::at(deployment(json!({}))).with(&sets, &[]).decide().rule, "13 available");
    }
}
