//! The table itself: its rows in their order, each a condition and its answers.
//!
//! `docs/status.md` shows the same rows to a reader; a test compares the two.

use workload_guest::Status::{self, Creating, Failed, Offline, Running, Unknown};

use super::Want;
use super::inputs::Inputs;

/// How long ReplicaSetCreateError must be seen before a wait calls it a failure: a controller that merely lags behind
/// has caught up by then.
const ERROR_PERSISTS_MS: u64 = 4_000;

/// How long nothing must have been observed before a stop no longer waits for it.
const NOTHING_PERSISTS_MS: u64 = 5_000;

/// How long after our own write a deadline may be left from before it.
const STALE_DEADLINE_MS: u64 = 2_000;

/// What a row says.
#[derive(Debug, Clone, Copy)]
pub(super) struct Answer {
    pub status: Status,
    pub reason: &'static str,
    pub needs: Want,
    pub want: Want,
}

impl Answer {
    /// An answer that needs nothing more.
    fn sure(status: Status, reason: &'static str) -> Self {
        Self { status, reason, needs: Want::Nothing, want: Want::Nothing }
    }

    /// It may be wrong without this.
    fn needs(self, needs: Want) -> Self {
        Self { needs, want: self.want.max(needs), ..self }
    }

    /// It can say more with this.
    fn wants(self, want: Want) -> Self {
        Self { want: self.want.max(want), ..self }
    }
}

/// A row: its name, all that it may answer, and what it answers if it holds.
pub(super) struct Row {
    pub name: &'static str,
    pub answers: &'static [(Status, &'static str)],
    holds: fn(&Inputs<'_, '_>) -> Option<Answer>,
}

/// There was no usable answer.
pub(super) const NO_ANSWER: &str = "1 no answer";

/// There is no such Deployment.
pub(super) const NOT_FOUND: &str = "2 not found";

/// There is one, and it is not ours.
pub(super) const NOT_OWNED: &str = "3 not owned";

/// The rows that are decided by how a read ended, before there is anything to look at.
#[cfg(test)]
pub(super) const UNSEEN: [(&str, &[(Status, &str)]); 3] = [
    (
        NO_ANSWER,
        &[
            (Unknown, "unreachable"),
            (Unknown, "unauthorized"),
            (Unknown, "forbidden"),
            (Unknown, "throttled"),
            (Unknown, "malformed"),
        ],
    ),
    (NOT_FOUND, &[(Status::Missing, "not-found")]),
    (NOT_OWNED, &[(Status::Missing, "not-owned")]),
];

/// All others. The first that holds gives the answer, and the last always does.
pub(super) const ROWS: [Row; 18] = [
    Row { name: "4 deleting", answers: &[(Offline, "deleting")], holds: deleting },
    Row { name: "5 malformed", answers: &[(Unknown, "malformed")], holds: malformed },
    Row {
        name: "5a frozen",
        answers: &[(Offline, "stopped"), (Offline, "stopping"), (Offline, "stopped-unverified")],
        holds: frozen,
    },
    Row { name: "6 unobserved", answers: &[(Offline, "stopping")], holds: stop_unobserved },
    Row { name: "7 replicas left", answers: &[(Offline, "stopping")], holds: replicas_left },
    Row { name: "8 pods left", answers: &[(Offline, "stopping")], holds: pods_left },
    Row { name: "9 unverified", answers: &[(Offline, "stopped-unverified")], holds: unverified },
    Row { name: "10 stopped", answers: &[(Offline, "stopped")], holds: stopped },
    Row {
        name: "11a rollout error",
        answers: &[(Failed, "rollout-error"), (Creating, "unobserved")],
        holds: rollout_error,
    },
    Row { name: "11b unobserved", answers: &[(Creating, "unobserved")], holds: unobserved },
    Row {
        name: "12 progress",
        answers: &[
            (Failed, "deadline-exceeded"),
            (Failed, "rollout-error"),
            (Failed, "replica-failure"),
            (Failed, "image-error"),
            (Failed, "config-error"),
            (Failed, "init-error"),
            (Failed, "crash-loop"),
            (Creating, "rollout"),
        ],
        holds: progress,
    },
    Row { name: "13 available", answers: &[(Running, "available"), (Running, "paused")], holds: available },
    Row {
        name: "14 replica failure",
        answers: &[(Failed, "replica-failure"), (Creating, "rollout")],
        holds: replica_failure,
    },
    Row {
        name: "15 doomed pod",
        answers: &[
            (Failed, "image-error"),
            (Failed, "config-error"),
            (Failed, "init-error"),
            (Failed, "crash-loop"),
            (Failed, "replica-failure"),
        ],
        holds: doomed_pod,
    },
    Row { name: "16 paused", answers: &[(Failed, "paused")], holds: paused },
    Row { name: "17 partial", answers: &[(Running, "partial")], holds: partial },
    Row { name: "18 rollout", answers: &[(Creating, "rollout")], holds: rollout },
    Row {
        name: "19 starting",
        answers: &[
            (Creating, "starting"),
            (Creating, "unschedulable"),
            (Creating, "image-pull"),
            (Creating, "pod-error"),
        ],
        holds: starting,
    },
];

/// Rows that are about one revision taking the place of another: they say whether the older one still serves.
pub(super) fn tells_of_old(rule: &str) -> bool {
    ["11a", "11b", "12", "14", "15", "16", "17", "18"].iter().any(|number| rule.split(' ').next() == Some(number))
}

/// The first row that holds, and its answer.
pub(super) fn answer(see: &Inputs<'_, '_>) -> (&'static str, Answer) {
    let found = ROWS.iter().find_map(|row| {
        let answer = (row.holds)(see)?;
        debug_assert!(row.answers.contains(&(answer.status, answer.reason)), "an answer that its row does not list");
        Some((row.name, answer))
    });
    found.unwrap_or(("5 malformed", Answer::sure(Unknown, "malformed")))
}

/// Deleting is not stopping: Pods may serve on for as long as something holds the Deployment.
fn deleting(see: &Inputs<'_, '_>) -> Option<Answer> {
    see.deleting.then_some(Answer::sure(Offline, "deleting"))
}

fn malformed(see: &Inputs<'_, '_>) -> Option<Answer> {
    see.malformed.then_some(Answer::sure(Unknown, "malformed"))
}

// None wanted.

/// The controller does not get as far as writing the status: ReplicaSets and Pods alone tell.
fn frozen(see: &Inputs<'_, '_>) -> Option<Answer> {
    let ignored = see.is_ignored(NOTHING_PERSISTS_MS) && see.nothing_made();
    if see.desired > 0 || !see.create_error && !ignored {
        return None;
    }
    let reason = if see.unread() != Want::Nothing || see.sets_left() || see.sets_ending() || see.live_pods() {
        "stopping"
    } else if !see.pods_readable() {
        "stopped-unverified"
    } else {
        "stopped"
    };
    Some(Answer::sure(Offline, reason).needs(see.unread()))
}

fn stop_unobserved(see: &Inputs<'_, '_>) -> Option<Answer> {
    // Whether it is the row above depends on whether a ReplicaSet was made.
    let needs = if see.is_ignored(NOTHING_PERSISTS_MS) { see.unread_sets() } else { Want::Nothing };
    (see.desired == 0 && !see.observed).then_some(Answer::sure(Offline, "stopping").needs(needs))
}

fn replicas_left(see: &Inputs<'_, '_>) -> Option<Answer> {
    let left = see.replicas > 0 || see.terminating.is_some_and(|count| count > 0) || see.sets_left();
    (see.desired == 0 && left).then_some(Answer::sure(Offline, "stopping"))
}

/// The counters are of active Pods only: they say zero while the last one still ends.
fn pods_left(see: &Inputs<'_, '_>) -> Option<Answer> {
    (see.desired == 0 && see.live_pods()).then_some(Answer::sure(Offline, "stopping"))
}

fn unverified(see: &Inputs<'_, '_>) -> Option<Answer> {
    let unseen = !see.pods_readable() && (see.terminating.is_none() || !see.sets_readable());
    (see.desired == 0 && unseen).then_some(Answer::sure(Offline, "stopped-unverified").needs(see.unread()))
}

/// Whatever the conditions say: they are of the last time that something was wanted.
fn stopped(see: &Inputs<'_, '_>) -> Option<Answer> {
    (see.desired == 0).then_some(Answer::sure(Offline, "stopped").needs(see.unread()))
}

// One or more wanted.

/// The controller cannot make the ReplicaSet, and until it can it writes nothing but that.
fn rollout_error(see: &Inputs<'_, '_>) -> Option<Answer> {
    if see.observed || !see.create_error {
        return None;
    }
    let own = &see.all.own;
    let lasting = own.stuck_for_ms >= ERROR_PERSISTS_MS || own.single && see.never_observed;
    let (status, reason) = if lasting { (Failed, "rollout-error") } else { (Creating, "unobserved") };
    Some(Answer::sure(status, reason).needs(see.unread_sets()))
}

/// Even if the counters look perfect: they are of what was wanted before.
fn unobserved(see: &Inputs<'_, '_>) -> Option<Answer> {
    (!see.observed).then_some(Answer::sure(Creating, "unobserved").wants(see.unread_sets()))
}

/// The rollout has failed. Why it did is better told by the rows for that, when they hold too.
fn progress(see: &Inputs<'_, '_>) -> Option<Answer> {
    let failed = see.progress_failed?;
    if see.all.own.since_write_ms.is_some_and(|ms| ms < STALE_DEADLINE_MS) {
        return Some(Answer::sure(Creating, "rollout").wants(see.unread_sets()));
    }
    let rejected = (see.replica_failure() == Some(true)).then_some("replica-failure");
    let reason = rejected.or_else(|| see.doomed()).unwrap_or(failed);
    // Pods tell nothing more about what was refused or serves.
    let told = rejected.is_some() || see.newest_serves() == Some(true);
    Some(Answer::sure(Failed, reason).needs(if told { see.unread_sets() } else { see.unread() }))
}

fn available(see: &Inputs<'_, '_>) -> Option<Answer> {
    let complete = see.updated >= see.desired && see.replicas == see.updated && see.available >= see.desired;
    let denied = see.all.deployment.condition("Available").is_some_and(|condition| condition.status == "False");
    if !complete || denied || !see.newest_agrees() {
        return None;
    }
    let reason = if see.paused { "paused" } else { "available" };
    Some(Answer::sure(Running, reason).wants(see.unread_sets()))
}

/// Clears by itself when the cause goes.
fn replica_failure(see: &Inputs<'_, '_>) -> Option<Answer> {
    let (status, reason) = if see.replica_failure()? { (Failed, "replica-failure") } else { (Creating, "rollout") };
    Some(Answer::sure(status, reason).needs(see.unread_sets()))
}

fn doomed_pod(see: &Inputs<'_, '_>) -> Option<Answer> {
    see.doomed().map(|reason| Answer::sure(Failed, reason))
}

/// Without a ReplicaSet of the present template it will never start by itself.
fn paused(see: &Inputs<'_, '_>) -> Option<Answer> {
    (see.paused && see.no_newest_set()).then_some(Answer::sure(Failed, "paused"))
}

fn partial(see: &Inputs<'_, '_>) -> Option<Answer> {
    let some = see.available >= 1 && see.available < see.desired && see.newest_serves() == Some(true);
    some.then_some(Answer::sure(Running, "partial").needs(see.unread_sets()).wants(see.unread()))
}

fn rollout(see: &Inputs<'_, '_>) -> Option<Answer> {
    let old_only = see.available >= 1 && see.newest_serves() == Some(false);
    old_only.then_some(Answer::sure(Creating, "rollout").needs(see.unread()))
}

fn starting(see: &Inputs<'_, '_>) -> Option<Answer> {
    let reason = see.heard.first.as_ref().map_or("starting", |finding| finding.signal.creating());
    Some(Answer::sure(Creating, reason).needs(see.unread()))
}
