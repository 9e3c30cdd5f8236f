//! Delete: once, in the foreground, this object; then wait until it and its Pods are gone.

mod remains;

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, fault};

use super::case::{Case, Written};
use crate::answer::{Action, Class};
use crate::read::{Look, Reads};
use crate::request::{self, Resource};
use crate::status::missing;
use remains::Remains;

pub(super) async fn delete(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let Some(mut look) = first(&mut case).await? else {
        return Ok(gone(&case, OutcomeWord::AlreadyGone, false, "there is no such Deployment"));
    };
    let mut remains = Remains::of(&look);
    if look.deleting && case.cx.plan() {
        return Ok(case.outcome(OutcomeWord::Deleted, false, &look));
    }
    let mut changed = false;
    let mut uncertain = false;
    while !look.deleting {
        let action = Action::on("delete", &case.target);
        let request = request::delete(&case.target, &look.about.uid);
        match case.write(&action, request, &look).await? {
            Written::Done(bytes) => {
                if let Some(uid) = remains::deleted_uid(&bytes).filter(|uid| *uid != look.about.uid) {
                    return Err(another_deleted(&case, &uid));
                }
                changed = true;
                break;
            }
            Written::Missing => {
                changed |= uncertain;
                break;
            }
            Written::Again { uncertain: maybe } => {
                uncertain |= maybe;
                match case.persist().await? {
                    Some(next) if Some(next.about.uid.as_str()) == case.uid() => {
                        // It took effect after all, or somebody else did the same; or it is about to be sent again.
                        changed |= uncertain && next.deleting;
                        if !next.deleting {
                            case.recognise(&next)?;
                        }
                        look = next;
                    }
                    // It is gone. Another object of the name is none of our business.
                    _ => {
                        changed |= uncertain;
                        break;
                    }
                }
            }
        }
    }
    wait_gone(&mut case, &mut remains).await?;
    let words = if remains.wait(&mut case).await? {
        "it was deleted, and no pod of it is left"
    } else {
        "it was deleted; whether a pod is left could not be seen: not allowed to list replicasets or pods"
    };
    Ok(gone(&case, OutcomeWord::Deleted, changed, words))
}

/// The first look, with its ReplicaSets: what is left of it later is told by them, and then they are gone as well. None:
/// there is no such Deployment.
async fn first(case: &mut Case) -> Result<Option<Look>, Fault> {
    let mut met = case.meet().await?;
    loop {
        let Some(look) = met else { return Ok(None) };
        case.recognise(&look)?;
        let whole = case.beside(look, Resource::ReplicaSets).await;
        if let Some(look) = case.usable(whole).await? {
            return Ok(Some(look));
        }
        met = case.persist().await?;
    }
}

/// Waits until it is gone, or another object has its name.
async fn wait_gone(case: &mut Case, remains: &mut Remains) -> Result<(), Fault> {
    let mut uncollected = false;
    loop {
        let after = case.group.tick();
        let read = case.later(after).await;
        if read.as_ref().is_err_and(|trouble| trouble.class == Class::Missing) {
            return Ok(());
        }
        let Some((asked, mut look)) = case.usable(read).await? else { continue };
        if Some(look.about.uid.as_str()) != case.uid() {
            return Ok(());
        }
        if case.is_close() {
            let thorough = case.thorough(look).await;
            let Some(thorough) = case.usable(thorough).await? else { continue };
            look = thorough;
            remains.learn(&look.sight.replica_sets);
            uncollected = case.is_late() && remains::is_uncollected(&look);
        }
        let mut message = look.verdict.message.clone();
        if uncollected {
            message.push_str("; the cluster's garbage collector has not touched what belongs to it");
        }
        case.tell(&look, &message, "");
        case.next(asked, case.patience_ms()).await?;
    }
}

/// Something on the way dropped the precondition, just when the object was replaced.
fn another_deleted(case: &Case, uid: &str) -> Fault {
    let id = case.target.id();
    let words = format!("{id} was replaced by another object of the name, and the server deleted that one");
    fault(FaultKind::Conflict, words).with("uid", uid)
}

fn gone(case: &Case, word: OutcomeWord, changed: bool, words: &str) -> Outcome {
    let workload = missing(&case.target, "not-found", words.to_owned());
    Outcome { word, changed, workload: Some(workload) }
}
