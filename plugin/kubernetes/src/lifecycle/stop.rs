//! Stop: no replica wanted, and none left. In this order: the Deployment, its ReplicaSets, their Pods.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, fault};

use super::case::{Case, EAGER_MS, PATIENT_MS, Written};
use crate::answer::Action;
use crate::read::{Look, Reads, Woken};
use crate::request;
use crate::status::Beside;

pub(super) async fn stop(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let mut changed = false;
    let mut uncertain = false;
    let mut begun = false;
    let mut look = case.ours().await?;
    while look.desired > 0 {
        let action = Action::scale(&case.target);
        let request = request::scale(&case.target, &look.uid, None, 0);
        begun = true;
        match case.write(&action, request, &look).await? {
            Written::Done => {
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
    if !begun {
        look = case.complete(look).await.map_err(|trouble| case.ended(&trouble))?;
        if look.verdict.is_stopped() {
            return case.outcome(OutcomeWord::AlreadyStopped, false, &look);
        }
    }
    let look = wait(&mut case, (!begun).then_some(look)).await?;
    case.outcome(OutcomeWord::Stopped, changed, &look)
}

/// Waits until nothing is left. `seen` is a look that was just taken.
async fn wait(case: &mut Case, mut seen: Option<Look>) -> Result<Look, Fault> {
    let mut woken = Woken::Changed;
    loop {
        let after = case.group.tick();
        let Some((asked, mut look)) = case.next_ours(seen.take(), after, gone).await? else { continue };
        let mut patience = PATIENT_MS;
        if !case.is_stale(&look) {
            if look.desired > 0 {
                let words = format!(
                    "{} was started by somebody else while it was stopping: {} wanted",
                    case.target.id(),
                    look.desired
                );
                return Err(fault(FaultKind::Superseded, words).with("desired", look.desired));
            }
            // When nothing was heard for a while, a person will want to know what stands in the way.
            let completed = if woken == Woken::Time { case.explain(look).await } else { case.complete(look).await };
            let Some(completed) = case.usable(completed).await? else { continue };
            look = completed;
            if look.verdict.is_stopped() {
                return Ok(look);
            }
            case.progress(&look.verdict.message);
            if matches!(look.sight.replica_sets, Beside::Read(_)) {
                // The Deployment has said all it will say.
                patience = EAGER_MS;
            }
        }
        woken = case.next(asked, patience).await?;
    }
}

fn gone(case: &Case) -> Fault {
    fault(FaultKind::NotFound, format!("{} was deleted while it was stopping", case.target.id()))
}
