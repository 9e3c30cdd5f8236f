//! What a Deployment that is gone may have left behind: the Pods of its ReplicaSets, told by the uids these had.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde::Deserialize;
use workload_guest::Fault;

use crate::answer::{Action, Trouble};
use crate::api::{FOREGROUND, Meta, Object, Pod, ReplicaSet, ServerStatus};
use crate::lifecycle::case::{Case, until_stopped};
use crate::read::{Listing, Look};
use crate::request::Resource;
use crate::status::{Beside, Observed, Own, blocker};

/// What is remembered of it.
pub(super) struct Remains {
    uid: String,
    /// Its ReplicaSets, name by uid. None: they must not be listed.
    sets: Option<Sets>,
    /// Its controller may have made one since: it has not seen what is wanted, or nothing was made yet.
    growing: bool,
    selector: String,
    covered: bool,
}

/// Names of ReplicaSets by their uids.
type Sets = BTreeMap<String, String>;

impl Remains {
    /// Of a look with its ReplicaSets.
    pub fn of(look: &Look) -> Self {
        let uid = look.about.uid.clone();
        let sets = look.sight.replica_sets.get().map(|listing| own_sets(listing, &uid).collect::<Sets>());
        let growing = !look.observed || sets.as_ref().is_some_and(Sets::is_empty);
        Self { uid, sets, growing, selector: look.selector.clone(), covered: look.covered }
    }

    /// A later look may know more of them.
    pub fn learn(&mut self, listing: &Beside<Rc<Listing>>) {
        if let (Some(sets), Beside::Read(listing)) = (&mut self.sets, listing) {
            sets.extend(own_sets(listing, &self.uid));
        }
    }

    /// Waits until no Pod of it can still run. False: nobody can tell, because we must not look.
    pub async fn wait(mut self, case: &mut Case) -> Result<bool, Fault> {
        while self.growing {
            // What it made last still carries its uid, unless it was orphaned within this moment.
            let read = self.list(case, Resource::ReplicaSets).await;
            if let Some(read) = case.usable(read).await? {
                self.learn(&read);
                self.growing = false;
            }
        }
        let Some(sets) = &self.sets else { return Ok(false) };
        if sets.is_empty() {
            return Ok(true);
        }
        let mut looked = false;
        loop {
            let read = self.list(case, Resource::Pods).await;
            let Some(read) = case.usable(read).await? else { continue };
            let Beside::Read(pods) = read else { return Ok(false) };
            let Some(left) = left(&pods, sets) else { return Ok(true) };
            // A Pod that is ending is waited for. One whose ReplicaSet was left behind as well never ends.
            let orphaned = if looked {
                let read = self.list(case, Resource::ReplicaSets).await;
                let Some(read) = case.usable(read).await? else { continue };
                read.get().and_then(|listing| orphan(listing, sets))
            } else {
                None
            };
            looked = true;
            case.progress(&match orphaned {
                Some(name) => format!("it is deleted, but replica set {name} was left behind, and {left}"),
                None => format!("it is deleted, but {left}"),
            });
            case.pause(case.eager_ms()).await?;
        }
    }

    /// What there is now.
    async fn list(&self, case: &Case, resource: Resource) -> Result<Beside<Rc<Listing>>, Trouble> {
        let after = case.group.tick();
        let read = case.group.beside(&case.cx, resource, &self.selector, self.covered, after);
        until_stopped(&case.cx, read, || Action::list(resource, Some(&case.target.namespace))).await
    }
}

/// Which object the server says that it deleted. It answers with the object while that is still there, and else with a
/// `Status`; a proxy may answer with nothing.
pub(super) fn deleted_uid(answer: &[u8]) -> Option<String> {
    #[derive(Deserialize)]
    struct Header<'a> {
        #[serde(borrow)]
        metadata: Meta<'a>,
    }

    let uid = match ServerStatus::decode(answer) {
        Some(status) => status.details.uid.to_string(),
        None => serde_json::from_slice::<Header<'_>>(answer).ok()?.metadata.uid.to_string(),
    };
    (!uid.is_empty()).then_some(uid)
}

/// It waits for the collector, which has not begun: nothing that belongs to it is being deleted, or nothing is left.
pub(super) fn is_uncollected(look: &Look) -> bool {
    let untouched = |observed: &Observed<'_, '_>| {
        observed.replica_sets.get().is_some() && observed.own_sets().all(|set| !set.metadata.is_deleting())
    };
    look.waits_for(FOREGROUND) && look.sight.with(Own::default(), untouched).unwrap_or_default()
}

fn own_sets(listing: &Listing, uid: &str) -> impl Iterator<Item = (String, String)> {
    let rows = listing.table.controlled_by(uid).iter();
    let sets = rows.filter_map(|raw| ReplicaSet::decode_item(raw.bytes()).ok());
    sets.map(|set| (set.metadata.uid.to_string(), set.metadata.name.to_string()))
}

/// One of these ReplicaSets that is still there and belongs to nobody.
fn orphan<'a>(listing: &Listing, sets: &'a Sets) -> Option<&'a str> {
    let is_orphan = |uid: &str, set: &ReplicaSet<'_>| set.metadata.uid == *uid && set.metadata.controller().is_none();
    let found = |(uid, name): &(&String, &String)| {
        listing
            .table
            .all()
            .filter(|(_, other, _)| other == *name)
            .any(|(_, _, raw)| ReplicaSet::decode_item(raw.bytes()).is_ok_and(|set| is_orphan(uid, &set)))
    };
    sets.iter().find(found).map(|(_, name)| name.as_str())
}

/// The first Pod of these ReplicaSets that can still run, in words.
fn left(listing: &Listing, sets: &Sets) -> Option<String> {
    let rows = sets.keys().flat_map(|uid| listing.table.controlled_by(uid));
    // A Pod that cannot be understood may be one that runs.
    rows.map(|raw| match Pod::decode_item(raw.bytes()) {
        Ok(pod) => pod.is_live().then(|| blocker(&pod, listing.server_ms)),
        Err(_) => Some("a pod of it is left".to_owned()),
    })
    .find_map(|words| words)
}
