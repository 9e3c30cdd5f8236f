//! Start: at least one replica wanted, and all that are wanted available.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, Status, fault};

use super::case::{Case, PATIENT_MS, Written};
use crate::answer::Action;
use crate::read::{Look, Reads, Woken};
use crate::request;

/// The setting that says how long a workload must stay available that has no way to say itself that it is ready.
const SETTLE: &str = "settle-ms";

/// Unless the setting says otherwise: a process that is going to fail at once has failed by then.
const SETTLE_MS: u64 = 1_000;

/// How many replicas a start asks for. It never lowers a count, so it only asks where none is wanted.
const REPLICAS: u32 = 1;

pub(super) async fn start(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let mut changed = false;
    let mut uncertain = false;
    let mut look = case.ours().await?;
    let mut begun = false;
    loop {
        if look.desired >= 1 {
            // It was wanted already, or a write without a certain answer took effect after all.
            changed |= uncertain;
            break;
        }
        let action = Action::scale(&case.target);
        // What was read as nothing wanted must still be so: otherwise a start could lower a count.
        let request = request::scale(&case.target, &look.uid, Some(&look.resource_version), REPLICAS);
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
                if look.desired >= 1 && look.generation > before.generation {
                    case.wrote(&before);
                }
            }
        }
    }
    if !begun {
        look = case.complete(look).await.map_err(|trouble| case.ended(&trouble))?;
        if look.verdict.is_running() {
            return case.outcome(OutcomeWord::AlreadyRunning, false, &look);
        }
    }
    let look = wait(&mut case, (!begun).then_some(look)).await?;
    case.outcome(OutcomeWord::Started, changed, &look)
}

/// Waits until it runs. `seen` is a look that was just taken.
async fn wait(case: &mut Case, mut seen: Option<Look>) -> Result<Look, Fault> {
    let settle_ms = case.cx.setting(SETTLE).and_then(|text| text.parse().ok()).unwrap_or(SETTLE_MS);
    let mut running_since = None;
    let mut woken = Woken::Changed;
    loop {
        let after = case.group.tick();
        let Some((asked, mut look)) = case.next_ours(seen.take(), after, gone).await? else { continue };
        if !case.is_stale(&look) {
            if look.desired == 0 {
                let words = format!("{} was stopped by somebody else while it was starting", case.target.id());
                return Err(fault(FaultKind::Superseded, words));
            }
            let ends = look.verdict.is_running() || look.verdict.status == Status::Failed;
            // When nothing was heard for a while, a person will want to know what it waits for.
            let completed = match woken {
                Woken::Time if !ends => case.explain(look).await,
                _ if ends || look.paused => case.complete(look).await,
                _ => Ok(look),
            };
            let Some(completed) = case.usable(completed).await? else { continue };
            look = completed;
            if look.verdict.status == Status::Failed {
                return Err(look.verdict.rollout_failed(&case.target));
            }
            case.progress(&look.verdict.message);
            if look.verdict.is_running() {
                let since = *running_since.get_or_insert(case.cx.now());
                let left = settle_ms.saturating_sub(case.cx.now().saturating_sub(since));
                if left == 0 || !look.ready_at_once {
                    return Ok(look);
                }
                case.cx.sleep(left).await.map_err(|_| case.stopped(&look.verdict.message))?;
                continue;
            }
            running_since = None;
        }
        woken = case.next(asked, PATIENT_MS).await?;
    }
}

fn gone(case: &Case) -> Fault {
    fault(FaultKind::NotFound, format!("{} was deleted while it was starting", case.target.id()))
}
