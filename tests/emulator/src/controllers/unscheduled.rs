//! The Pod collector, as far as it concerns a small cluster: a Pod that was never placed and is being deleted has ended,
//! whatever finalizer holds it.

use std::time::Duration;

use super::fields::{View, has_ended};
use super::{Cluster, Kind};
use crate::registry::{Deletion, Part, section};
use crate::resource::PODS;
use crate::store::Key;

/// How often it looks.
pub(super) const EVERY: Duration = Duration::from_secs(20);

/// The key under which it is in the queue: it looks at all Pods without a node.
pub(super) fn any() -> Key {
    Key::new(&PODS, "", "")
}

/// Looks at all Pods without a node.
pub(super) fn sync(cluster: &mut Cluster) {
    for key in cluster.index.unplaced() {
        let Some(pod) = cluster.get(&key).filter(View::deleting) else { continue };
        if !has_ended(&pod.value) {
            let generation = pod.generation();
            // Gone meanwhile is as good.
            let _ = cluster.patch(&key, pod.uid(), Part::Status, |value| {
                let status = section(value, "status");
                status.insert("phase".to_owned(), "Failed".into());
                status.insert("observedGeneration".to_owned(), generation.into());
            });
        }
        let _ = cluster.delete(&key, pod.uid(), Deletion { grace: Some(0), ..Deletion::default() });
    }
    cluster.after(Kind::Unscheduled, &any(), EVERY);
}
