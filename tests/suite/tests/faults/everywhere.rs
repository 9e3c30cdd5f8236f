//! Every fault at every request of every operation, once and from there on for ever.

mod followed;
mod operation;
mod several;

use std::time::Duration;

use kube_emulator::fault::Rule;
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use workload_host::model::{Fault, FaultKind};
use workload_suite::inside::{Asked, Inside, paused};

use crate::class::{CLASSES, Class, End, Role};
use operation::{After, Operation};

/// How long an operation is given: more than one request without an answer takes, and several waits.
const TIMEOUT: Duration = Duration::from_secs(100);

/// Until what has no answer is given up.
const NO_ANSWER: Duration = Duration::from_secs(30);

/// What an operation may take beyond its time: to wind down.
const WINDING: Duration = Duration::from_secs(2);

/// What a look that is no wait may take for its tries of one read.
const TRIES: Duration = Duration::from_secs(2);

/// Requests beyond those of the good case that a fault may cost at once, and for each minute of waiting.
const MORE: usize = 8;
const MORE_A_MINUTE: usize = 15;

/// How often a fault comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Often {
    Once,
    ForEver,
}

/// What one run was like.
struct Ran {
    end: End,
    fault: Option<Fault>,
    elapsed: Duration,
    asked: Vec<Asked>,
    after: After,
}

/// Runs an operation in a cluster of its own, with a fault from its `at`th request on.
async fn run(operation: Operation, fault: Option<(&Class, usize, Often)>) -> Ran {
    let inside = Inside::emulated().await.within(TIMEOUT);
    let before = operation.prepare(&inside).await;
    let faults = inside.cluster().emulator().faults().clone();
    let added = fault.map(|(class, at, often)| {
        let rule = Rule::on(Pattern::any(), class.fault()).skip(at);
        faults.add(if often == Often::Once { rule.once() } else { rule })
    });
    let report = operation.run(&inside).await;
    let asked = inside.requests();
    if let Some(added) = added {
        assert!(added.applied() > 0, "the fault came: {operation:?} {fault:?}");
    }
    faults.clear();
    let fault = report.settled.first().and_then(|settled| settled.result.clone().err());
    let after = operation.after(&inside, before).await;
    Ran { end: operation.end(&report), fault, elapsed: report.elapsed, asked, after }
}

/// What is wrong with a run, in words.
fn complaints(operation: Operation, good: &Ran, ran: &Ran, class: &Class, at: usize, often: Often) -> Vec<String> {
    let mut wrong = Vec::new();
    let role = Role::of(&ran.asked, at);
    let mut expected = class.ends(role, often == Often::ForEver);
    if !operation.waits() {
        // What only looks does not run out of time, and tries nothing again that took longer than all its tries may.
        expected.retain(|end| *end != End::Timeout);
        if class.silent {
            expected = vec![End::Fault(FaultKind::Unavailable)];
        }
    }
    if operation == Operation::StartGivenUp && class.ends(Role::Write, false) == [End::Fault(FaultKind::Forbidden)] {
        // Who must not edit it can say that it does not start by itself, and what would help.
        expected.push(End::Fault(FaultKind::RolloutFailed));
    }
    if !expected.contains(&ran.end) {
        wrong.push(format!("ended with {:?}, not with one of {expected:?}", ran.end));
    }
    let most = match (operation.waits(), class.silent) {
        // What may have been made is looked for even so.
        (true, true) if operation == Operation::Create => TIMEOUT + NO_ANSWER,
        (true, _) => TIMEOUT + WINDING,
        (false, true) => TRIES + NO_ANSWER,
        (false, false) => TRIES,
    };
    if ran.elapsed > most {
        wrong.push(format!("took {:?}, more than {most:?}", ran.elapsed));
    }
    let minutes = ran.elapsed.as_secs_f64() / 60.0;
    let bound = good.asked.len() + MORE + (minutes * MORE_A_MINUTE as f64) as usize;
    if ran.asked.len() > bound {
        wrong.push(format!("sent {} requests, more than {bound}", ran.asked.len()));
    }
    wrong.extend(blind_writes(&ran.asked, class, at, often));
    wrong.extend(too_soon(&ran.asked, class, at, often));
    wrong.extend(ran.fault.as_ref().and_then(says_too_little));
    let took_effect = class.takes_effect && role == Role::Write;
    let refused = role == Role::Write && often == Often::ForEver && !class.takes_effect;
    wrong.extend(operation.wrong_state(&ran.after, ran.end == End::Good, took_effect, refused));
    wrong
}

/// Writes that were sent again, although the one before may have taken effect, before anything was read.
fn blind_writes(asked: &[Asked], class: &Class, at: usize, often: Often) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut before: Option<&Asked> = None;
    for one in asked {
        if one.verb == "GET" || one.verb == "LIST" && one.path.ends_with("deployments") {
            before = None;
        } else if one.writes() {
            let faulted = |asked: &Asked| asked.number == at || often == Often::ForEver && asked.number > at;
            if let Some(before) = before.filter(|before| !(faulted(before) && class.did_nothing(before))) {
                wrong.push(format!(
                    "request {} was sent again as {} before anything was read",
                    before.number, one.number
                ));
            }
            before = Some(one);
        }
    }
    wrong
}

/// What was asked for again before the time that the server said.
fn too_soon(asked: &[Asked], class: &Class, at: usize, often: Often) -> Vec<String> {
    let Some(pause) = class.retry_after else { return Vec::new() };
    let refused = asked.iter().skip(at).take(if often == Often::Once { 1 } else { asked.len() });
    let again = |one: &Asked| {
        let mut later = asked.iter().skip(one.number + 1);
        let same = later.find(|next| (next.verb, &next.path) == (one.verb, &one.path))?;
        (same.at < one.at + pause).then(|| format!("{} was sent again after {:?}", one.word(), same.at - one.at))
    };
    refused.filter_map(again).collect()
}

/// A fault from which a person could not tell what it was about.
fn says_too_little(fault: &Fault) -> Option<String> {
    let detail = |name: &str| fault.detail.iter().any(|(key, value)| key == name && !value.is_empty());
    let enough = match fault.kind {
        FaultKind::Timeout => detail("last") && detail("reason"),
        FaultKind::Forbidden => detail("verb") && detail("resource"),
        _ => detail("reason"),
    };
    (!enough).then(|| format!("the fault says too little: {fault:?}"))
}

#[rstest]
#[case::discover(Operation::Discover)]
#[case::status(Operation::Status)]
#[case::status_of_a_stopped_one(Operation::StatusStopped)]
#[case::create(Operation::Create)]
#[case::start(Operation::Start)]
#[case::start_of_what_runs(Operation::StartRunning)]
#[case::start_of_what_was_given_up(Operation::StartGivenUp)]
#[case::stop(Operation::Stop)]
#[case::stop_of_what_is_stopped(Operation::StopStopped)]
#[case::delete(Operation::Delete)]
fn any_fault_at_any_request(#[case] operation: Operation) {
    paused(async {
        let good = run(operation, None).await;
        assert_eq!(good.end, End::Good, "without a fault");
        let mut wrong: Vec<_> = operation.wrong_state(&good.after, true, false, false).into_iter().collect();
        for at in 0..good.asked.len() {
            for class in CLASSES {
                for often in [Often::Once, Often::ForEver] {
                    let ran = run(operation, Some((class, at, often))).await;
                    for complaint in complaints(operation, &good, &ran, class, at, often) {
                        let words: Vec<_> =
                            ran.asked.iter().skip(at.saturating_sub(1)).take(8).map(Asked::word).collect();
                        wrong.push(format!(
                            "{operation:?}, request {at} ({}), {} {often:?}: {complaint}; then {words:?}",
                            ran.asked[at].word(),
                            class.name,
                        ));
                    }
                }
            }
        }
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
    });
}
