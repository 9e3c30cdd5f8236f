//! Delete: once, in the foreground, this object; then wait until it and its Pods are gone.

use workload_guest::{Cx, Either, Fault, Outcome, OutcomeWord, select};

use super::case::{Case, EAGER_MS, PATIENT_MS, Written};
use crate::answer::{Action, Class};
use crate::api::{Object, Pod, ReplicaSet};
use crate::read::{Listing, Reads, Woken};
use crate::request::{self, Resource};
use crate::status::{Beside, blocker, missing};

pub(super) async fn delete(reads: &Reads, cx: Cx, id: &str) -> Result<Outcome, Fault> {
    let mut case = Case::open(reads, cx, id)?;
    let look = match case.first().await {
        Ok(look) => look,
        Err(trouble) if trouble.class == Class::Missing => {
            return Ok(gone(&case, OutcomeWord::AlreadyGone, false, "there is no such Deployment"));
        }
        Err(trouble) => return Err(case.ended(&trouble)),
    };
    case.recognise(&look)?;
    // What is left of it later is told by its ReplicaSets, which then are gone as well.
    let mut look = case.beside(look, Resource::ReplicaSets).await.map_err(|trouble| case.ended(&trouble))?;
    let sets = match &look.sight.replica_sets {
        Beside::Read(listing) => Some(owned_sets(listing, &look.uid)),
        _ => None,
    };
    let selector = look.selector.clone();
    let covered = look.covered;
    let mut changed = false;
    let mut uncertain = false;
    while !look.deleting {
        let action = Action::on("delete", &case.target);
        let request = request::delete(&case.target, &look.uid);
        match case.write(&action, request, &look).await? {
            Written::Done => {
                changed = true;
                break;
            }
            Written::Missing => {
                changed |= uncertain;
                break;
            }
            Written::Again { uncertain: maybe } => {
                uncertain |= maybe;
                match case.again().await? {
                    Some(next) if Some(next.uid.as_str()) == case.uid() => {
                        // It took effect after all, or somebody else did the same.
                        changed |= uncertain && next.deleting;
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
    wait_gone(&mut case).await?;
    let unseen = match sets {
        Some(sets) if !sets.is_empty() => wait_pods(&mut case, &sets, &selector, covered).await?,
        Some(_) => false,
        None => true,
    };
    let words = if unseen {
        "it was deleted; whether a pod is left could not be seen: not allowed to list replicasets or pods"
    } else {
        "it was deleted, and no pod of it is left"
    };
    Ok(gone(&case, OutcomeWord::Deleted, changed, words))
}

/// Waits until it is gone, or another object has its name.
async fn wait_gone(case: &mut Case) -> Result<(), Fault> {
    let mut woken = Woken::Changed;
    loop {
        let after = case.group.tick();
        let read = case.later(after).await;
        if read.as_ref().is_err_and(|trouble| trouble.class == Class::Missing) {
            return Ok(());
        }
        let Some((asked, mut look)) = case.usable(read).await? else { continue };
        if Some(look.uid.as_str()) != case.uid() {
            return Ok(());
        }
        if woken == Woken::Time {
            let explained = case.explain(look).await;
            let Some(explained) = case.usable(explained).await? else { continue };
            look = explained;
        }
        case.progress(&look.verdict.message);
        woken = case.next(asked, PATIENT_MS).await?;
    }
}

/// Waits until no Pod of these ReplicaSets can still run. True: nobody can tell, we must not look.
async fn wait_pods(case: &mut Case, sets: &[String], selector: &str, covered: bool) -> Result<bool, Fault> {
    loop {
        let after = case.group.tick();
        let read = case.group.beside(&case.cx, Resource::Pods, selector, covered, after);
        // A read that others share does not end with this id.
        let read = match select(read, case.cx.stopped()).await {
            Either::Left(read) => read,
            Either::Right(_) => return Err(case.stopped_last()),
        };
        let Some(read) = case.usable(read).await? else { continue };
        let Beside::Read(listing) = read else { return Ok(true) };
        match left(&listing, sets) {
            None => return Ok(false),
            Some(words) => case.progress(&format!("it is deleted, but {words}")),
        }
        if case.cx.sleep(EAGER_MS).await.is_err() {
            return Err(case.stopped_last());
        }
    }
}

fn owned_sets(listing: &Listing, uid: &str) -> Vec<String> {
    let rows = listing.table.controlled_by(uid).iter();
    rows.filter_map(|raw| ReplicaSet::decode_item(raw.bytes()).ok()).map(|set| set.metadata.uid.to_string()).collect()
}

/// The first Pod of these ReplicaSets that can still run, in words.
fn left(listing: &Listing, sets: &[String]) -> Option<String> {
    let rows = sets.iter().flat_map(|uid| listing.table.controlled_by(uid));
    // A Pod that cannot be understood may be one that runs.
    rows.map(|raw| match Pod::decode_item(raw.bytes()) {
        Ok(pod) => pod.is_live().then(|| blocker(&pod, listing.server_ms)),
        Err(_) => Some("a pod of it is left".to_owned()),
    })
    .find_map(|words| words)
}

fn gone(case: &Case, word: OutcomeWord, changed: bool, words: &str) -> Outcome {
    let workload = missing(&case.target, "not-found", words.to_owned());
    Outcome { word, changed, workload: Some(workload) }
}
