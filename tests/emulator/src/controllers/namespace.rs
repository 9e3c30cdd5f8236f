//! The namespace controller: what is in a namespace goes before it, the Pods first.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};

use super::fields::{View, condition, has_ended, list, number, text};
use super::{Cluster, Kind, Task};
use crate::error::ApiError;
use crate::registry::{Deletion, Part, Propagation, section};
use crate::resource::{ALL, PODS};
use crate::store::{Change, Key};

/// How long the controller waits after a change, so that servers that don't know of the deletion yet are done.
const GRACE: Duration = Duration::from_secs(5);
/// How long finalizers are taken to need, in seconds; it looks again when half of that is over.
const HELD: i64 = 15;

/// A namespace changed.
pub(super) fn observe(cluster: &mut Cluster, change: &Change) {
    if change.object.deleting && !change.removed {
        cluster.after(Kind::Namespace, &change.object.key, GRACE);
    }
}

/// Deletes what is in a namespace that is being deleted, and then the namespace.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    match empty(cluster, key) {
        Ok(Some(wait)) => cluster.after(Kind::Namespace, key, wait),
        Ok(None) => cluster.queue.forget(&Task { kind: Kind::Namespace, key: key.clone() }),
        Err(_) => cluster.retry(Kind::Namespace, key),
    }
}

/// Tells when to look again, if something remains.
fn empty(cluster: &mut Cluster, key: &Key) -> Result<Option<Duration>, ApiError> {
    let Some(mut namespace) = cluster.get(key).filter(View::deleting) else { return Ok(None) };
    if text(&namespace.value, "/status/phase") != "Terminating" {
        cluster.write(&namespace, Part::Status, |value| {
            section(value, "status").insert("phase".to_owned(), "Terminating".into());
        })?;
        let Some(changed) = cluster.get(key) else { return Ok(None) };
        namespace = changed;
    }
    if list(&namespace.value, "/spec/finalizers").is_empty() {
        return Ok(None);
    }
    let pods = cluster.state.store.all(&PODS, Some(key.name()));
    let estimate = pods
        .iter()
        .map(|pod| pod.value())
        .filter(|pod| !has_ended(pod))
        .map(|pod| number(&pod, "/spec/terminationGracePeriodSeconds"))
        .max()
        .unwrap_or_default();
    for pod in &pods {
        delete(cluster, &pod.key)?;
    }
    let mut remaining = Remaining::of(cluster, key.name(), true);
    let pods_remain = !remaining.is_empty();
    let nothing = Remaining::default();
    if !pods_remain {
        let resources = ALL.into_iter().filter(|resource| resource.namespaced && *resource != &PODS);
        for resource in resources {
            for object in cluster.state.store.all(resource, Some(key.name())) {
                delete(cluster, &object.key)?;
            }
        }
        remaining = Remaining::of(cluster, key.name(), false);
    }
    // About Pods it only tells once they are gone.
    report(cluster, &namespace, if pods_remain { &nothing } else { &remaining })?;
    if !remaining.is_empty() {
        // Pods that are being stopped are waited for as long as they may take, whatever else holds them.
        let stopping = pods_remain && estimate > 0;
        let estimate = if stopping || remaining.finalizers.is_empty() { estimate } else { estimate.max(HELD) };
        let seconds = u64::try_from(estimate / 2 + 1).unwrap_or(1);
        return Ok(Some(Duration::from_secs(seconds)));
    }
    let finalized = cluster.patch(key, namespace.uid(), Part::Main, |value| {
        if let Some(finalizers) = section(value, "spec").get_mut("finalizers").and_then(Value::as_array_mut) {
            finalizers.retain(|one| one.as_str() != Some("kubernetes"));
        }
    });
    match finalized {
        Err(error) if error.code != 404 => Err(error),
        _ => Ok(None),
    }
}

fn delete(cluster: &Cluster, key: &Key) -> Result<(), ApiError> {
    let how = Deletion { propagation: Some(Propagation::Background), ..Deletion::default() };
    match cluster.state.delete(key, &how) {
        Err(error) if error.code != 404 => Err(error),
        _ => Ok(()),
    }
}

/// What is left in a namespace.
#[derive(Debug, Default)]
struct Remaining {
    /// How many objects of each resource, which is named by its plural and group even if it has none.
    resources: BTreeMap<String, usize>,
    /// How many objects each finalizer holds.
    finalizers: BTreeMap<String, usize>,
}

impl Remaining {
    /// The Pods, or everything.
    fn of(cluster: &Cluster, namespace: &str, pods: bool) -> Remaining {
        let mut remaining = Remaining::default();
        for resource in ALL.into_iter().filter(|resource| resource.namespaced && (!pods || *resource == &PODS)) {
            for object in cluster.state.store.all(resource, Some(namespace)) {
                let name = format!("{}.{}", resource.plural, resource.group);
                *remaining.resources.entry(name).or_default() += 1;
                for finalizer in View::of(object).finalizers() {
                    *remaining.finalizers.entry(finalizer.to_owned()).or_default() += 1;
                }
            }
        }
        remaining
    }

    fn is_empty(&self) -> bool {
        self.resources.is_empty()
    }

    /// The conditions about content and about finalizers: status, reason, message.
    fn conditions(&self) -> [(&'static str, &'static str, String); 2] {
        let list = |counts: &BTreeMap<String, usize>, between: &str| {
            let all = counts.iter().map(|(name, count)| format!("{name} {between} {count} resource instances"));
            all.collect::<Vec<_>>().join(", ")
        };
        let content = if self.resources.is_empty() {
            ("False", "ContentRemoved", "All content successfully removed".to_owned())
        } else {
            let what = list(&self.resources, "has");
            ("True", "SomeResourcesRemain", format!("Some resources are remaining: {what}"))
        };
        let held = if self.finalizers.is_empty() {
            ("False", "ContentHasNoFinalizers", "All content-preserving finalizers finished".to_owned())
        } else {
            let what = list(&self.finalizers, "in");
            let message = format!("Some content in the namespace has finalizers remaining: {what}");
            ("True", "SomeFinalizersRemain", message)
        };
        [content, held]
    }
}

/// Tells in the status how far it is. A change wakes the controller again, after its grace.
fn report(cluster: &Cluster, namespace: &View, remaining: &Remaining) -> Result<(), ApiError> {
    let [content, held] = remaining.conditions();
    let fixed = |kind, reason, message: &str| (kind, "False", reason, message.to_owned());
    let wanted = [
        fixed("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
        fixed(
            "NamespaceDeletionGroupVersionParsingFailure",
            "ParsedGroupVersions",
            "All legacy kube types successfully parsed",
        ),
        fixed(
            "NamespaceDeletionContentFailure",
            "ContentDeleted",
            "All content successfully deleted, may be waiting on finalization",
        ),
        ("NamespaceContentRemaining", content.0, content.1, content.2),
        ("NamespaceFinalizersRemaining", held.0, held.1, held.2),
    ];
    let now = cluster.stamp();
    let conditions = wanted.map(|(kind, status, reason, message)| {
        let same = condition(&namespace.value, kind).filter(|old| text(old, "/status") == status);
        let since = same.map_or(now.as_str(), |old| text(old, "/lastTransitionTime"));
        json!({
            "type": kind, "status": status, "lastTransitionTime": since, "reason": reason, "message": message,
        })
    });
    cluster.patch(namespace.key(), namespace.uid(), Part::Status, |value| {
        section(value, "status").insert("conditions".to_owned(), conditions.to_vec().into());
    })?;
    Ok(())
}
