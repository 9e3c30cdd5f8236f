//! Start: at least one replica wanted, and all that are wanted available.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, Status, fault};

use super::case::{Case, Written};
use super::{nudge, settle};
use crate::answer::Action;
use crate::read::{Look, Reads};
use crate::request;

/// How many replicas a start asks for. It never lowers a count, so it only asks where none is wanted.
const REPLICAS: u32 = 1;

pub(super) async fn start(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let mut changed = false;
    let mut uncertain = false;
    let mut begun = false;
    // One that is given up is written to before anything more is read of it.
    let mut look = case.first(|look| look.desired >= 1 && !look.gave_up).await?;
    if look.desired >= 1 && look.gave_up {
        begun = true;
        look = match nudge::nudge(&mut case, look).await? {
            Ok(()) => return waited(&mut case, None, true).await,
            Err(look) => look,
        };
    }
    loop {
        if look.desired >= 1 {
            // It was wanted already, or a write without a certain answer took effect after all.
            changed |= uncertain;
            break;
        }
        let action = Action::scale(&case.target);
        // What was read as nothing wanted must still be so: otherwise a start could lower a count.
        let request = request::scale(&case.target, &look.about.uid, Some(&look.resource_version), REPLICAS);
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
                if look.desired >= 1 && look.generation > before.generation {
                    case.wrote(&before);
                }
            }
        }
    }
    if !begun && look.verdict.is_running() {
        return Ok(case.outcome(OutcomeWord::AlreadyRunning, false, &look));
    }
    if !begun && case.cx.plan() {
        return Ok(case.outcome(OutcomeWord::Started, false, &look));
    }
    waited(&mut case, (!begun).then_some(look), changed).await
}

async fn waited(case: &mut Case, seen: Option<Look>, changed: bool) -> Result<Outcome, Fault> {
    let look = wait(case, seen).await?;
    Ok(case.outcome(OutcomeWord::Started, changed, &look))
}

/// Waits until it runs. `seen` is a look that was just taken.
async fn wait(case: &mut Case, mut seen: Option<Look>) -> Result<Look, Fault> {
    let mut settling = settle::Settling::new(&case.cx);
    loop {
        let after = case.group.tick();
        let Some((asked, mut look)) = case.next_ours(seen.take(), after, gone).await? else { continue };
        if !case.is_stale(&look) {
            if look.desired == 0 {
                let words = format!("{} was stopped by somebody else while it was starting", case.target.id());
                return Err(fault(FaultKind::Superseded, words));
            }
            let ends = look.verdict.is_running() || look.verdict.status == Status::Failed;
            let completed = if case.is_close() || ends && settling.concerns(&look) {
                case.thorough(look).await
            } else if ends || look.paused {
                case.complete(look).await
            } else {
                Ok(look)
            };
            let Some(completed) = case.usable(completed).await? else { continue };
            look = completed;
            if look.verdict.status == Status::Failed {
                return Err(look.verdict.rollout_failed(&case.target));
            }
            case.tell(&look, &look.verdict.message, "");
            if look.verdict.is_running() {
                match settling.left(case, &look) {
                    0 => return Ok(look),
                    left => case.pause(left).await?,
                }
                continue;
            }
            settling.begin_anew();
        }
        case.next(asked, case.patience_ms()).await?;
    }
}

pub(super) fn gone(case: &Case) -> Fault {
    fault(FaultKind::NotFound, format!("{} was deleted while it was starting", case.target.id()))
}
