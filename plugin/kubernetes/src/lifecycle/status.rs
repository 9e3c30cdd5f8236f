//! Status: what is known now, and with `follow` each change of it.

use workload_guest::{Cx, Fault, Outcome, OutcomeWord, Status, StopReason, Workload};

use super::case::{Case, not_ours};
use super::claims::remark;
use super::discover::REFUSED_MS;
use super::explain;
use crate::answer::{Class, Trouble};
use crate::ownership::Owned;
use crate::read::{Look, PATIENT_MS, Reads};
use crate::status::{missing, unknown};

pub(super) async fn status(reads: &Reads, cx: Cx, id: &str, follow: bool) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?.single();
    // What changes from now on is a reason to look again, also while the rest is still being read.
    let mut asked = case.group.tick();
    let first = match case.glance().await {
        Ok(look) if look.owned == Owned::Yes && !follow && explain::is_wanted(&case.cx) => {
            explain::explain(&mut case, look).await
        }
        // What is not ours is not looked into.
        Ok(look) if look.owned == Owned::Yes => seen(&mut case, look).await.map(|look| told(&case, &look)),
        other => other.map(|look| told(&case, &look)),
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
            Ok((_, look)) if look.owned == Owned::Yes => seen(&mut case, look).await,
            other => other.map(|(_, look)| look),
        };
        if matches!(&read, Err(trouble) if trouble.class == Class::Cancelled) {
            continue;
        }
        let back_ms = read.as_ref().err().and_then(|trouble| trouble.retry_after_ms);
        let workload = answer(&case, read.map(|look| told(&case, &look)))?;
        if workload != last {
            case.cx.emit(workload.clone());
            last = workload;
        }
        // Whatever else wakes it, the server asked not to be asked before.
        if let Some(ms) = back_ms
            && case.cx.sleep(ms.min(REFUSED_MS)).await.is_err()
        {
            return Ok(Outcome { word: OutcomeWord::Read, changed: false, workload: Some(last) });
        }
    }
}

/// With all that its verdict wants. Of what is stopping that is also what is in the way.
async fn seen(case: &mut Case, look: Look) -> Result<Look, Trouble> {
    let stopping = look.verdict.status == Status::Offline && look.desired == 0 && !look.deleting;
    if stopping { case.thorough(look).await } else { case.complete(look).await }
}

/// What a look says.
fn told(case: &Case, look: &Look) -> Workload {
    if let Some(words) = not_ours(&look.owned) {
        let words = format!("the Deployment of this name is not ours: {words}");
        return missing(&case.target, "not-owned", words);
    }
    remarked(case.workload(look), remark(&look.claim))
}

/// The same with a remark behind its message.
pub(super) fn remarked(mut workload: Workload, remark: Option<String>) -> Workload {
    if let Some(remark) = remark {
        let message = workload.message.take().map(|message| format!("{message}; {remark}"));
        workload.message = Some(message.unwrap_or(remark));
    }
    workload
}

/// Whatever there is to say of it, also that nobody knows.
fn answer(case: &Case, read: Result<Workload, Trouble>) -> Result<Workload, Fault> {
    let trouble = match read {
        Ok(workload) => return Ok(workload),
        Err(trouble) => trouble,
    };
    match (&trouble.class, trouble.reason()) {
        (Class::Missing, _) => Ok(missing(&case.target, "not-found", "there is no such Deployment".to_owned())),
        (_, Some(reason)) => Ok(unknown(&case.target, reason, trouble.words())),
        // That no answer came in the time that was given is an answer.
        (Class::Cancelled, None) if case.cx.stopping() == Some(StopReason::Deadline) => {
            let words = "the server gave no answer in the time that was given".to_owned();
            Ok(unknown(&case.target, "unreachable", words))
        }
        (_, None) => Err(case.ended(&trouble)),
    }
}
