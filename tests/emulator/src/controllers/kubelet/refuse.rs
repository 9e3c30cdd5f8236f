//! Pods that were given to a node past the scheduler, and that it has no room for.

use super::Source;
use crate::controllers::Cluster;
use crate::controllers::events::Said;
use crate::controllers::fields::View;
use crate::registry::{Part, section};

/// Refuses a Pod if its node lacks something for it. Tells whether it did.
pub(super) fn refuses(cluster: &mut Cluster, pod: &View, node: &str) -> bool {
    let Some((what, [asked, used, capacity])) = cluster.scheduler.lacks(node, &pod.value) else { return false };
    let why =
        format!("Node didn't have enough resource: {what}, requested: {asked}, used: {used}, capacity: {capacity}");
    let reason = format!("OutOf{what}");
    cluster.say(pod, Said { source: Source::Kubelet(node), warning: true, reason: &reason, message: &why, field: "" });
    let now = cluster.stamp();
    let _ = cluster.patch(pod.key(), pod.uid(), Part::Status, |value| {
        let generation = crate::controllers::fields::number(value, "/metadata/generation");
        let status = section(value, "status");
        status.remove("conditions");
        status.insert("observedGeneration".to_owned(), generation.into());
        status.insert("phase".to_owned(), "Failed".into());
        status.insert("reason".to_owned(), reason.into());
        status.insert("message".to_owned(), format!("Pod was rejected: {why}").into());
        status.insert("startTime".to_owned(), now.into());
    });
    true
}
