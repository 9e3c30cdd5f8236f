//! Discover: every workload of this owner, place by place.

use std::collections::BTreeMap;
use std::rc::Rc;

use workload_guest::{Cx, Failure, Fault, FaultKind, Scope, Workload, fault, join_all};

use super::case::{PATIENT_MS, not_ours};
use crate::answer::{Class, Trouble};
use crate::id::{Target, is_namespace};
use crate::ownership::{self, Owned};
use crate::read::{Group, Listing, Look, Reads, Sight, get, list, retry};
use crate::request::Resource;
use crate::status::{Beside, Own, Want, missing, unknown};

/// How many workloads one turn tells of. The host takes 8 MiB of a turn, and a workload with its facts and messages is
/// well below 4 KiB.
const EMITTED_AT_ONCE: usize = 1_000;

/// What a place is called that is all of them.
const EVERYWHERE: &str = "all namespaces";

pub(super) async fn discover(reads: &Reads, cx: &Cx, scope: Scope, follow: bool) {
    let mut places: Vec<Option<String>> = scope.places.into_iter().map(Some).collect();
    places.sort();
    places.dedup();
    if places.is_empty() {
        places.push(None);
    }
    join_all(places.into_iter().map(|place| one_place(reads, cx, place, follow))).await;
}

async fn one_place(reads: &Reads, cx: &Cx, namespace: Option<String>, follow: bool) {
    let name = namespace.clone().unwrap_or_else(|| EVERYWHERE.to_owned());
    if namespace.as_deref().is_some_and(|namespace| !is_namespace(namespace)) {
        cx.incomplete(name, fault(FaultKind::InvalidId, "it is no name of a namespace"));
        return;
    }
    let group = reads.place(namespace.clone());
    // What changes from now on is a reason to look again, also while the rest is still being read.
    let mut asked = group.tick();
    let selector = ownership::selector(cx.ownership());
    let read = || list(cx, Resource::Deployments, namespace.as_deref(), &selector);
    let listing = match retry(cx, read).await {
        Ok(listing) => listing,
        Err(trouble) => {
            cx.incomplete(name, ended(cx, &trouble));
            return;
        }
    };
    group.begin_at(&listing.resource_version);
    if let Some(trouble) = &listing.broken {
        cx.incomplete(name, ended(cx, trouble));
    }
    let mut last = workloads(cx, &group, &listing).await;
    if emit(cx, last.values()).await.is_err() || !follow {
        return;
    }
    loop {
        if group.next(cx, asked, PATIENT_MS).await.is_err() {
            return;
        }
        // What fails now is tried again; until then what was said stands.
        let after = group.tick();
        let listing = match group.listing(after).await {
            Ok((tick, listing)) => {
                asked = tick;
                listing
            }
            Err(_) => {
                asked = after;
                continue;
            }
        };
        let mut now = workloads(cx, &group, &listing).await;
        let changed = now.iter().filter(|(target, workload)| last.get(target) != Some(workload));
        if emit(cx, changed.map(|(_, workload)| workload)).await.is_err() {
            return;
        }
        let unlisted: Vec<Target> = last.keys().filter(|target| !now.contains_key(target)).cloned().collect();
        for target in unlisted {
            match departed(cx, &target).await {
                Some(workload) => cx.emit(workload),
                // Nobody knows, or it is back: asked again the next time.
                None => now.extend(last.remove_entry(&target)),
            }
        }
        last = now;
    }
}

/// Emits workloads, over as many turns as it takes.
async fn emit<'a>(cx: &Cx, workloads: impl Iterator<Item = &'a Workload>) -> Result<(), Failure> {
    for (place, workload) in workloads.enumerate() {
        if place > 0 && place % EMITTED_AT_ONCE == 0 {
            cx.sleep(0).await?;
        }
        cx.emit(workload.clone());
    }
    Ok(())
}

/// Why a workload is no longer listed: it is gone, or its labels were edited away, which only a read of it tells.
async fn departed(cx: &Cx, target: &Target) -> Option<Workload> {
    match get(cx, target).await {
        Err(trouble) if trouble.class == Class::Missing => {
            Some(missing(target, "not-found", "there is no such Deployment any more".to_owned()))
        }
        Err(_) => None,
        Ok(sight) => {
            let words = not_ours(&sight.look(cx.ownership(), OWN).ok()?.owned)?;
            Some(missing(target, "not-owned", format!("the Deployment of this name is no longer ours: {words}")))
        }
    }
}

/// All workloads of a list that are ours, by namespace and name.
async fn workloads(cx: &Cx, group: &Rc<Group>, listing: &Listing) -> BTreeMap<Target, Workload> {
    let mut found = BTreeMap::new();
    // ReplicaSets and Pods are read once for a namespace, and only for those that need them.
    let mut wanting: BTreeMap<String, Vec<(Target, Look)>> = BTreeMap::new();
    for (namespace, name, raw) in listing.table.all() {
        let target = Target { namespace: namespace.to_owned(), name: name.to_owned() };
        let sight = Sight::new(raw.clone(), listing.server_ms);
        match sight.look(cx.ownership(), OWN) {
            Err(_) => {
                let words = "the server's answer is no Deployment that can be understood".to_owned();
                found.insert(target.clone(), unknown(&target, "malformed", words));
            }
            Ok(look) if look.owned != Owned::Yes => {}
            Ok(look) if look.desired == 0 && look.verdict.want != Want::Nothing => {
                wanting.entry(namespace.to_owned()).or_default().push((target, look));
            }
            Ok(look) => {
                if let Some(workload) = workload(cx, &target, &look) {
                    found.insert(target, workload);
                }
            }
        }
    }
    let complete = wanting.into_iter().map(|(namespace, looks)| stopped(cx, group, namespace, looks));
    for (target, workload) in join_all(complete).await.into_iter().flatten() {
        found.insert(target, workload);
    }
    found
}

/// A list is a look, not a wait.
const OWN: Own = Own { since_write_ms: None, stuck_for_ms: 0, single: true };

/// Those of a namespace of which no replica is wanted: is one left?
async fn stopped(cx: &Cx, group: &Rc<Group>, namespace: String, looks: Vec<(Target, Look)>) -> Vec<(Target, Workload)> {
    // One list by our labels finds what belongs to all, unless one of them selects by other labels.
    let covered = looks.iter().all(|(_, look)| look.covered);
    let selector = if covered { ownership::selector(cx.ownership()) } else { String::new() };
    let read = |resource: Resource| {
        let (namespace, selector) = (&namespace, &selector);
        async move { retry(cx, || group.list_beside(cx, resource, namespace, selector)).await }
    };
    let (sets, pods) = match read(Resource::ReplicaSets).await {
        Ok(Beside::Read(sets)) => (Ok(Beside::Read(sets)), read(Resource::Pods).await),
        other => (other, Ok(Beside::NotRead)),
    };
    let describe = |(target, mut look): (Target, Look)| {
        let trouble = match (&sets, &pods) {
            (Ok(sets), Ok(pods)) => {
                look.sight.replica_sets = sets.clone();
                look.sight.pods = pods.clone();
                None
            }
            (Err(trouble), _) | (_, Err(trouble)) => Some(trouble),
        };
        let workload = match trouble {
            None => look.sight.look(cx.ownership(), OWN).ok().and_then(|look| workload(cx, &target, &look)),
            Some(trouble) => Some(unknown(&target, trouble.reason().unwrap_or("unreachable"), trouble.words())),
        };
        let words = || unknown(&target, "malformed", "its replica sets or pods cannot be understood".to_owned());
        (target.clone(), workload.unwrap_or_else(words))
    };
    looks.into_iter().map(describe).collect()
}

fn workload(cx: &Cx, target: &Target, look: &Look) -> Option<Workload> {
    let describe = |deployment: &crate::api::Deployment<'_>| look.verdict.workload(target, cx.ownership(), deployment);
    look.sight.with(OWN, |observed| describe(observed.deployment)).ok()
}

fn ended(cx: &Cx, trouble: &Trouble) -> Fault {
    match cx.stopping() {
        Some(reason) => fault(reason.into(), "stopped before the list was read"),
        None => trouble.fault(),
    }
}
