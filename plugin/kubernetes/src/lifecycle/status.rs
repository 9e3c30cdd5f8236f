//! Status: what is known now, and with `follow` each change of it.

use workload_guest::{Cx, Fault, Outcome, OutcomeWord, Workload};

use super::case::{Case, PATIENT_MS, not_ours};
use crate::answer::{Class, Trouble};
use crate::ownership::Owned;
use crate::read::{Look, Reads};
use crate::status::{missing, unknown};

pub(super) async fn status(reads: &Reads, cx: Cx, id: &str, follow: bool) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?.single();
    // What changes from now on is a reason to look again, also while the rest is still being read.
    let mut asked = case.group.tick();
    let first = match case.first().await {
        // What is not ours is not looked into.
        Ok(look) if look.owned == Owned::Yes => case.complete(look).await,
        other => other,
    };
    let workload = answer(&case, first)?;
    if !follow {
        return Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: Some(workload) });
    }
    let mut last = workload;
    case.cx.emit(last.clone());
    loop {
        if case.group.next(&case.cx, asked, PATIENT_MS).await.is_err() {
            return Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: Some(last) });
        }
        let after = case.group.tick();
        let read = case.later(after).await;
        asked = read.as_ref().map_or(after, |(asked, _)| *asked);
        let read = match read {
            Ok((_, look)) if look.owned == Owned::Yes => case.complete(look).await,
            other => other.map(|(_, look)| look),
        };
        if matches!(&read, Err(trouble) if trouble.class == Class::Cancelled) {
            continue;
        }
        let workload = answer(&case, read)?;
        if workload != last {
            case.cx.emit(workload.clone());
            last = workload;
        }
    }
}

/// Whatever there is to say of it, also that nobody knows.
fn answer(case: &Case, read: Result<Look, Trouble>) -> Result<Workload, Fault> {
    let trouble = match read {
        Ok(look) => {
            if let Some(words) = not_ours(&look.owned) {
                return Ok(missing(
                    &case.target,
                    "not-owned",
                    format!("the Deployment of this name is not ours: {words}"),
                ));
            }
            let outcome = case.outcome(OutcomeWord::Read, false, &look)?;
            return Ok(outcome.workload.unwrap_or_else(|| unknown(&case.target, "malformed", look.verdict.message)));
        }
        Err(trouble) => trouble,
    };
    match (&trouble.class, trouble.reason()) {
        (Class::Missing, _) => Ok(missing(&case.target, "not-found", "there is no such Deployment".to_owned())),
        (_, Some(reason)) => Ok(unknown(&case.target, reason, trouble.words())),
        (_, None) => Err(case.ended(&trouble)),
    }
}
