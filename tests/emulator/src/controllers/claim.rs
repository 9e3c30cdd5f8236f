//! Which objects a controller manages: those that name it and that it selects, and those that nobody has and it selects.

use serde_json::{Value, json};

use super::Cluster;
use super::fields::View;
use crate::error::ApiError;
use crate::registry::{Part, metadata};
use crate::resource::Resource;
use crate::selector::Selector;
use crate::store::Key;

impl Cluster {
    /// The objects of a resource that a controller manages. It takes on those that have none, and lets go of those that
    /// it selects no more. What was taken on or let go is returned as it was before: who writes it again in the same
    /// round finds a newer version, as in a cluster.
    pub(super) fn claim(
        &self,
        resource: &'static Resource,
        owner: &View,
        selector: &Selector,
        wanted: impl Fn(&View) -> bool,
    ) -> Result<Vec<View>, ApiError> {
        let mut claimed: Vec<View> = Vec::new();
        for object in self.owned(resource, owner.uid()).into_iter().filter(&wanted) {
            if selector.takes(&object.object.labels) {
                claimed.push(object);
            } else if !owner.deleting() {
                self.release(owner, &object)?;
            }
        }
        let orphans: Vec<Key> = self.index.orphans(&Key::new(resource, owner.namespace(), "")).cloned().collect();
        for orphan in orphans.iter().filter_map(|key| self.state.store.get(key)) {
            if !selector.takes(&orphan.labels) || orphan.controller().is_some() || orphan.deleting {
                continue;
            }
            let orphan = View::of(orphan);
            if !owner.deleting() && wanted(&orphan) {
                self.adopt(owner, &orphan)?;
                claimed.push(orphan);
            }
        }
        claimed.sort_by(|a, b| a.key().cmp(b.key()));
        Ok(claimed)
    }

    fn adopt(&self, owner: &View, object: &View) -> Result<(), ApiError> {
        // Between reading the owner and now it may have been deleted, or made anew under its name.
        let fresh = self.state.store.get(owner.key()).filter(|fresh| fresh.uid == owner.uid());
        let fresh = fresh.ok_or_else(|| ApiError::not_found(owner.key().resource, owner.name()))?;
        if fresh.deleting {
            let why = format!("{}/{} has just been deleted", owner.namespace(), owner.name());
            return Err(ApiError::new(500, "InternalError", why));
        }
        self.patch(object.key(), object.uid(), Part::Main, |value| {
            let owners = metadata(value).entry("ownerReferences").or_insert_with(|| json!([]));
            if let Some(owners) = owners.as_array_mut() {
                owners.push(owner.as_owner());
            }
        })?;
        Ok(())
    }

    fn release(&self, owner: &View, object: &View) -> Result<(), ApiError> {
        let released = self.patch(object.key(), object.uid(), Part::Main, |value| without_owner(value, owner.uid()));
        match released {
            // It is gone, or another by now: then there is nothing to let go.
            Err(error) if error.code == 404 => Ok(()),
            other => other.map(drop),
        }
    }
}

/// Takes an owner out of an object.
pub(super) fn without_owner(value: &mut Value, uid: &str) {
    let meta = metadata(value);
    if let Some(owners) = meta.get_mut("ownerReferences").and_then(Value::as_array_mut) {
        owners.retain(|owner| owner.get("uid").and_then(Value::as_str) != Some(uid));
        if owners.is_empty() {
            meta.remove("ownerReferences");
        }
    }
}
