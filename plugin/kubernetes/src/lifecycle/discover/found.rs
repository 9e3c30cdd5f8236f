//! What a list says of each workload. ReplicaSets and Pods are read once for a namespace, and only where a Deployment alone
//! does not decide.

use std::collections::BTreeMap;
use std::rc::Rc;

use workload_guest::{Cx, Workload, join_all};

use crate::answer::Trouble;
use crate::id::Target;
use crate::lifecycle::case::not_ours;
use crate::lifecycle::claims::{Claims, remark, shared};
use crate::lifecycle::status::remarked;
use crate::ownership::{self, Owned};
use crate::read::{Group, Listing, Look, Sight, retry};
use crate::request::Resource;
use crate::status::{Beside, Own, Want, missing, unknown};

/// What was found.
pub(super) struct Found {
    /// By namespace and name.
    pub workloads: BTreeMap<Target, Workload>,
    /// Which workload each says that it is.
    pub claims: Claims,
}

/// Reads what a list does not tell of the workloads in it, and describes them.
pub(super) async fn workloads(cx: &Cx, group: &Rc<Group>, listing: &Listing) -> Found {
    let mut found = Found { workloads: BTreeMap::new(), claims: Claims::default() };
    let mut remarks: Vec<(Target, Option<String>)> = Vec::new();
    let mut open: BTreeMap<String, Vec<(Target, Look)>> = BTreeMap::new();
    for (namespace, name, raw) in listing.table.all() {
        let target = Target { namespace: namespace.to_owned(), name: name.to_owned() };
        let look = match Sight::new(raw.clone(), listing.server_ms).look(cx.ownership(), Own::LOOK) {
            Ok(look) => look,
            Err(_) => {
                let words = "the server's answer is no Deployment that can be understood".to_owned();
                found.workloads.insert(target.clone(), unknown(&target, "malformed", words));
                continue;
            }
        };
        match &look.owned {
            Owned::Yes => {}
            // A list by our labels holds it only if they were edited away just now.
            Owned::Labels => continue,
            Owned::Controlled(_) => {
                let words = not_ours(&look.owned).unwrap_or_default();
                let words = format!("the Deployment of this name is not ours: {words}");
                found.workloads.insert(target.clone(), missing(&target, "not-owned", words));
                continue;
            }
        }
        found.claims.add(&target, &look.claim);
        if let Some(remark) = remark(&look.claim) {
            remarks.push((target.clone(), Some(remark)));
        }
        if look.verdict.needs == Want::Nothing {
            found.workloads.insert(target.clone(), look.workload(&target, cx.ownership()));
        } else {
            open.entry(namespace.to_owned()).or_default().push((target, look));
        }
    }
    let decided = open.into_iter().map(|(namespace, looks)| decide(cx, group, namespace, looks));
    found.workloads.extend(join_all(decided).await.into_iter().flatten());
    remarks.extend(found.claims.rivals().map(|(target, rivals)| (target.clone(), shared(&rivals))));
    for (target, remark) in remarks {
        if let Some((target, workload)) = found.workloads.remove_entry(&target) {
            found.workloads.insert(target, remarked(workload, remark));
        }
    }
    found
}

/// Those of a namespace that their Deployments do not decide.
async fn decide(cx: &Cx, group: &Rc<Group>, namespace: String, open: Vec<(Target, Look)>) -> Vec<(Target, Workload)> {
    // One list by our labels finds what belongs to all, unless one of them selects by other labels.
    let covered = open.iter().all(|(_, look)| look.covered);
    let selector = if covered { ownership::selector(cx.ownership()) } else { String::new() };
    let mut decided = Vec::new();
    let mut open = open;
    for resource in [Resource::ReplicaSets, Resource::Pods] {
        // What does not need the Pods was decided by the ReplicaSets.
        if open.is_empty() {
            break;
        }
        let read = retry(cx, || group.list_beside(cx, resource, &namespace, &selector)).await;
        let looked: Vec<(Target, Result<Look, Workload>)> =
            open.into_iter().map(|(target, look)| with(cx, target, look, resource, &read)).collect();
        open = Vec::new();
        for (target, looked) in looked {
            match looked {
                Ok(look) if look.verdict.needs != Want::Nothing && resource == Resource::ReplicaSets => {
                    open.push((target, look));
                }
                Ok(look) => decided.push((target.clone(), look.workload(&target, cx.ownership()))),
                Err(workload) => decided.push((target, workload)),
            }
        }
    }
    decided
}

/// The same with what was read beside it.
fn with(
    cx: &Cx,
    target: Target,
    look: Look,
    resource: Resource,
    read: &Result<Beside<Rc<Listing>>, Trouble>,
) -> (Target, Result<Look, Workload>) {
    let mut sight = look.sight;
    match (resource, read) {
        (Resource::Pods, Ok(read)) => sight.pods = read.clone(),
        (_, Ok(read)) => sight.replica_sets = read.clone(),
        (_, Err(trouble)) => {
            let reason = trouble.reason().unwrap_or("unreachable");
            let unknown = unknown(&target, reason, trouble.words());
            return (target, Err(unknown));
        }
    }
    let words = || unknown(&target, "malformed", "its replica sets or pods cannot be understood".to_owned());
    let look = sight.look(cx.ownership(), Own::LOOK).map_err(|_| words());
    (target, look)
}
