//! Stop: no replica wanted, and none left. In this order: the Deployment, its ReplicaSets, their Pods.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, fault};

use super::case::{Case, Written};
use crate::answer::Action;
use crate::read::{Look, Reads};
use crate::request;
use crate::status::Want;
use crate::time::span;

pub(super) async fn stop(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let mut changed = false;
    let mut uncertain = false;
    let mut begun = false;
    let mut look = case.first(|look| look.desired == 0).await?;
    while look.desired > 0 {
        let action = Action::scale(&case.target);
        let request = request::scale(&case.target, &look.about.uid, None, 0);
        begun = true;
        match case.write(&action, request, &look).await? {
            Written::Done(_) => {
                changed = true;
                break;
            }
            Written::Missing => return Err(gone(&case)),
            Written::Again { uncertain: maybe } => {
                uncertain |= maybe;
                let before = look.clone();
                look = case.ours_again(gone).await?;
                if look.desired == 0 {
                    // It took effect after all, also if only after a later try, or somebody else did the same.
                    changed |= uncertain;
                    case.wrote(&before);
                }
            }
        }
    }
    if !begun && look.verdict.is_stopped() {
        return Ok(case.outcome(OutcomeWord::AlreadyStopped, false, &look));
    }
    if !begun && case.cx.plan() {
        return Ok(case.outcome(OutcomeWord::Stopped, false, &look));
    }
    let look = wait(&mut case, (!begun).then_some(look)).await?;
    Ok(case.outcome(OutcomeWord::Stopped, changed, &look))
}

/// Waits until nothing is left. `seen` is a look that was just taken.
async fn wait(case: &mut Case, mut seen: Option<Look>) -> Result<Look, Fault> {
    loop {
        let after = case.group.tick();
        let Some((asked, mut look)) = case.next_ours(seen.take(), after, gone).await? else { continue };
        let mut pods_are_asked = false;
        if !case.is_stale(&look) {
            if look.desired > 0 {
                let words = format!(
                    "{} was started by somebody else while it was stopping: {} wanted",
                    case.target.id(),
                    look.desired
                );
                return Err(fault(FaultKind::Superseded, words).with("desired", look.desired));
            }
            // The Deployment has said all it will say.
            pods_are_asked = look.verdict.want != Want::Nothing || look.sight.depth() > 0;
            let completed = if case.is_close() { case.thorough(look).await } else { case.complete(look).await };
            let Some(completed) = case.usable(completed).await? else { continue };
            look = completed;
            if look.verdict.is_stopped() {
                return Ok(look);
            }
            say(case, &look);
        }
        let patience = if pods_are_asked { case.patience_ms().min(case.eager_ms()) } else { case.patience_ms() };
        case.next(asked, patience).await?;
    }
}

/// Says what is waited for, and how long its Pods are given to end, for a person who wonders how long to wait.
fn say(case: &mut Case, look: &Look) {
    let message = &look.verdict.message;
    let grace_ms = look.sight.grace_seconds().saturating_mul(1_000);
    let given = span(grace_ms);
    match case.cx.deadline() {
        Some(deadline) if grace_ms >= deadline => {
            let only = span(deadline);
            let words = format!("{message}; its pods are given {given} to end, and this operation only {only}");
            case.tell(look, &words, "");
        }
        _ => case.tell(look, message, &format!(" (its pods are given {given} to end)")),
    }
}

fn gone(case: &Case) -> Fault {
    fault(FaultKind::NotFound, format!("{} was deleted while it was stopping", case.target.id()))
}
