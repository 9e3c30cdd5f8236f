//! The controller that protects claims: one that is being deleted goes when no Pod on a node uses it any more.

use super::fields::{View, list, text};
use super::{Cluster, Kind};
use crate::registry::{Part, metadata};
use crate::resource::{PERSISTENT_VOLUME_CLAIMS, PODS};
use crate::store::{Change, Key};

/// What keeps a claim until this controller takes it away.
const FINALIZER: &str = "kubernetes.io/pvc-protection";

/// A claim changed.
pub(super) fn observe_claim(cluster: &mut Cluster, change: &Change) {
    if change.object.deleting && !change.removed {
        cluster.soon(Kind::Protection, &change.object.key);
    }
}

/// A Pod is gone: what it used may go.
pub(super) fn observe_pod(cluster: &mut Cluster, change: &Change) {
    if !change.removed {
        return;
    }
    let pod = change.object.value();
    for claim in claims(&pod) {
        let key = Key::new(&PERSISTENT_VOLUME_CLAIMS, change.object.key.namespace(), claim);
        cluster.soon(Kind::Protection, &key);
    }
}

/// Lets a claim go if it is being deleted and nobody uses it.
pub(super) fn sync(cluster: &mut Cluster, key: &Key) {
    let Some(claim) = cluster.get(key).filter(View::deleting) else { return };
    if !claim.finalizers().contains(&FINALIZER) {
        return;
    }
    let pods = cluster.state.store.all(&PODS, Some(key.namespace()));
    let used = pods.iter().map(|pod| pod.value()).any(|pod| {
        // One on no node hasn't begun to use it, and won't be let.
        !text(&pod, "/spec/nodeName").is_empty() && claims(&pod).any(|claim| claim == key.name())
    });
    if used {
        return;
    }
    let released = cluster.write(&claim, Part::Main, |value| {
        if let Some(finalizers) = metadata(value).get_mut("finalizers").and_then(serde_json::Value::as_array_mut) {
            finalizers.retain(|one| one.as_str() != Some(FINALIZER));
        }
    });
    if released.is_err_and(|error| error.code != 404) {
        cluster.retry(Kind::Protection, key);
    }
}

/// The names of the claims that a Pod uses.
fn claims(pod: &serde_json::Value) -> impl Iterator<Item = &str> {
    let volumes = list(pod, "/spec/volumes").iter();
    volumes.map(|volume| text(volume, "/persistentVolumeClaim/claimName")).filter(|name| !name.is_empty())
}
