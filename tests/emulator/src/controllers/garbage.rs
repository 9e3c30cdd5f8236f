//! The garbage collector: what an object owned goes with it, before it or not at all, as its deletion asked for.

use std::sync::Arc;

use serde_json::Value;

use super::claim::without_owner;
use super::fields::{View, list, text};
use super::{Cluster, Kind, Task};
use crate::error::ApiError;
use crate::registry::{Deletion, Part, Propagation, metadata};
use crate::resource::{Resource, of_kind};
use crate::store::{Change, Key, Object};

/// The finalizer of a foreground deletion.
const DEPENDENTS: &str = "foregroundDeletion";
/// The finalizer of a deletion that leaves what was owned.
const ORPHAN: &str = "orphan";

/// Something changed: what it owns may have to go, or its owner may have waited for it.
pub(super) fn observe(cluster: &mut Cluster, change: &Change) {
    let object = &change.object;
    if change.removed {
        for dependent in cluster.state.store.owned_by(&object.uid) {
            cluster.soon(Kind::Garbage, &dependent.key);
        }
        wake_owners(cluster, object);
        return;
    }
    if let Some(old) = &change.old
        && old.owners != object.owners
    {
        // An owner may have waited for what is now another's.
        wake_owners(cluster, old);
    }
    let owners_changed = change.old.as_ref().is_none_or(|old| old.owners != object.owners);
    if object.deleting || (owners_changed && !object.owners.is_empty()) {
        cluster.soon(Kind::Garbage, &object.key);
    }
}

fn wake_owners(cluster: &mut Cluster, object: &Arc<Object>) {
    for owner in View::of(Arc::clone(object)).owners() {
        if owner.find(cluster, object.key.namespace()).is_some_and(|found| found.deleting) {
            cluster.soon(Kind::Garbage, &owner.key(object.key.namespace()));
        }
    }
}

/// One of an object's owners, as the object names it.
struct Reference {
    resource: &'static Resource,
    name: String,
    uid: String,
}

impl Reference {
    fn key(&self, namespace: &str) -> Key {
        Key::new(self.resource, namespace, &self.name)
    }

    /// The owner, if it is there and is the very one.
    fn find(&self, cluster: &Cluster, namespace: &str) -> Option<Arc<Object>> {
        cluster.state.store.get(&self.key(namespace)).filter(|found| found.uid == self.uid)
    }
}

impl View {
    /// The owners that are of a resource that is served. Of others nobody can tell whether they are there.
    fn owners(&self) -> Vec<Reference> {
        let references = list(&self.value, "/metadata/ownerReferences").iter();
        let read = references.filter_map(|reference| {
            let group = text(reference, "/apiVersion").split_once('/').map_or("", |(group, _)| group);
            Some(Reference {
                resource: of_kind(group, text(reference, "/kind"))?,
                name: text(reference, "/name").to_owned(),
                uid: text(reference, "/uid").to_owned(),
            })
        });
        read.collect()
    }

    fn names_unknown_owners(&self) -> bool {
        self.owners().len() < list(&self.value, "/metadata/ownerReferences").len()
    }
}

/// Does for an object what its deletion or its owners ask for.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    match collect(cluster, key) {
        Ok(()) => cluster.queue.forget(&Task { kind: Kind::Garbage, key: key.clone() }),
        Err(error) if error.code == 404 => {}
        Err(_) => cluster.retry(Kind::Garbage, key),
    }
}

fn collect(cluster: &mut Cluster, key: &Key) -> Result<(), ApiError> {
    let Some(object) = cluster.get(key) else { return Ok(()) };
    if object.deleting() {
        return if object.finalizers().contains(&DEPENDENTS) {
            delete_dependents(cluster, &object)
        } else if object.finalizers().contains(&ORPHAN) {
            orphan_dependents(cluster, &object)
        } else {
            Ok(())
        };
    }
    let (mut solid, mut waiting, mut gone) = (object.names_unknown_owners(), Vec::new(), Vec::new());
    for owner in object.owners() {
        match owner.find(cluster, key.namespace()) {
            None => gone.push(owner),
            Some(found) if is_waiting(&found) => waiting.push(owner),
            Some(_) => solid = true,
        }
    }
    if gone.is_empty() && waiting.is_empty() {
        return Ok(());
    }
    if solid {
        // Somebody still wants it: it only loses the others.
        let uids: Vec<_> = gone.iter().chain(&waiting).map(|owner| owner.uid.clone()).collect();
        cluster.patch(key, object.uid(), Part::Main, |value| uids.iter().for_each(|uid| without_owner(value, uid)))?;
        return Ok(());
    }
    let has_dependents = !cluster.state.store.owned_by(object.uid()).is_empty();
    let propagation = if !waiting.is_empty() && has_dependents {
        Propagation::Foreground
    } else if object.finalizers().contains(&ORPHAN) {
        Propagation::Orphan
    } else if object.finalizers().contains(&DEPENDENTS) {
        Propagation::Foreground
    } else {
        Propagation::Background
    };
    let version = Some(object.version().to_string());
    cluster.delete(key, object.uid(), Deletion { propagation: Some(propagation), version, ..Deletion::default() })
}

fn is_waiting(owner: &Arc<Object>) -> bool {
    owner.deleting && View::of(Arc::clone(owner)).finalizers().contains(&DEPENDENTS)
}

/// A foreground deletion: what blocks it goes first.
fn delete_dependents(cluster: &mut Cluster, owner: &View) -> Result<(), ApiError> {
    let mut blocked = false;
    for dependent in cluster.state.store.owned_by(owner.uid()) {
        if !dependent.owners.iter().any(|reference| reference.uid == owner.uid() && reference.blocks) {
            continue;
        }
        blocked = true;
        if !is_waiting(&dependent) {
            cluster.soon(Kind::Garbage, &dependent.key);
        }
    }
    if blocked { Ok(()) } else { without_finalizer(cluster, owner, DEPENDENTS) }
}

/// A deletion that leaves what was owned: it loses its owner.
fn orphan_dependents(cluster: &Cluster, owner: &View) -> Result<(), ApiError> {
    for dependent in cluster.state.store.owned_by(owner.uid()) {
        let freed =
            cluster.patch(&dependent.key, &dependent.uid, Part::Main, |value| without_owner(value, owner.uid()));
        match freed {
            Err(error) if error.code != 404 => return Err(error),
            _ => {}
        }
    }
    without_finalizer(cluster, owner, ORPHAN)
}

fn without_finalizer(cluster: &Cluster, object: &View, finalizer: &str) -> Result<(), ApiError> {
    cluster.patch(object.key(), object.uid(), Part::Main, |value| {
        let meta = metadata(value);
        if let Some(finalizers) = meta.get_mut("finalizers").and_then(Value::as_array_mut) {
            finalizers.retain(|one| one.as_str() != Some(finalizer));
            if finalizers.is_empty() {
                meta.remove("finalizers");
            }
        }
    })?;
    Ok(())
}
