//! The quota controller: counts anew what a ResourceQuota limits when something goes away. What comes is counted when it
//! is let in.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::json;

use super::fields::texts;
use super::{Cluster, Kind};
use crate::admission::quota::{self, Amounts};
use crate::quantity::Quantity;
use crate::registry::{Part, section};
use crate::resource::{ALL, PERSISTENT_VOLUME_CLAIMS, PODS, RESOURCE_QUOTAS, Resource};
use crate::store::{Change, Key};

/// How long after a change it counts: a namespace that is emptied is counted once, not for each object.
const AFTER: Duration = Duration::from_millis(100);

/// A quota changed.
pub(super) fn observe_quota(cluster: &mut Cluster, change: &Change) {
    if !change.removed {
        cluster.soon(Kind::Quota, &change.object.key);
    }
}

/// Something is gone, or a Pod has ended: it counts no more.
pub(super) fn observe(cluster: &mut Cluster, change: &Change) {
    let object = &change.object;
    if !object.key.resource.namespaced || object.key.resource == &RESOURCE_QUOTAS {
        return;
    }
    if change.old.is_none() || !(change.removed || object.key.resource == &PODS) {
        return;
    }
    for quota in cluster.state.store.all(&RESOURCE_QUOTAS, Some(object.key.namespace())) {
        if change.removed || super::index::has_ended(object) {
            cluster.after(Kind::Quota, &quota.key, AFTER);
        }
    }
}

/// Counts for one quota.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let Some(quota) = cluster.get(key) else { return };
    let hard = quota.value.pointer("/spec/hard").cloned().unwrap_or_else(|| json!({}));
    let mut used: Amounts = texts(&hard, "").into_keys().map(|name| (name, Quantity::ZERO)).collect();
    let now = cluster.state.clock.wall();
    let counted = ALL.into_iter().filter(|resource| resource.namespaced && is_counted(resource, &used));
    for resource in counted.collect::<Vec<_>>() {
        for object in cluster.state.store.all(resource, Some(key.namespace())) {
            let value = object.value();
            if !quota::matches(&quota.value, resource, &value) {
                continue;
            }
            for (name, amount) in quota::usage(resource, &value, now) {
                if let Some(sum) = used.get_mut(&name) {
                    *sum += amount;
                }
            }
        }
    }
    let used: BTreeMap<_, _> = used.into_iter().map(|(name, sum)| (name, sum.to_string())).collect();
    let _ = cluster.patch(key, quota.uid(), Part::Status, |value| {
        let status = section(value, "status");
        status.insert("hard".to_owned(), hard);
        status.insert("used".to_owned(), json!(used));
    });
}

/// Whether a quota has a word for objects of a resource.
fn is_counted(resource: &Resource, used: &Amounts) -> bool {
    let several = [&PODS, &PERSISTENT_VOLUME_CLAIMS, &RESOURCE_QUOTAS].contains(&resource);
    used.contains_key(&format!("count/{}", resource.qualified()))
        || (several && used.keys().any(|name| !name.starts_with("count/")))
}
