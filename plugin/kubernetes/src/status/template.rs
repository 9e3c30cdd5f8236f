//! Which ReplicaSet is the newest.

use crate::api::{Deployment, PodTemplate, ReplicaSet};

/// The label by which a ReplicaSet's Pods differ; its template has it, the Deployment's has not.
const TEMPLATE_HASH: &str = "pod-template-hash";

/// The ReplicaSet whose template is the Deployment's, not the one of the highest revision: while a rollout is paused
/// that one is still the old template's. Of several the oldest, as the controller itself chooses.
pub(super) fn newest<'a, 'b>(deployment: &Deployment<'a>, sets: &[&'b ReplicaSet<'a>]) -> Option<&'b ReplicaSet<'a>> {
    if sets.is_empty() {
        return None;
    }
    let template = deployment.template()?;
    let age = |set: &&ReplicaSet<'a>| {
        let meta = &set.metadata;
        (meta.creation_timestamp.as_deref().map(str::to_owned), meta.name.to_string(), meta.uid.to_string())
    };
    let same = sets.iter().filter(|set| set.template().is_some_and(|other| same(&template, &other)));
    same.min_by_key(|set| age(set)).copied()
}

fn same(left: &PodTemplate<'_>, right: &PodTemplate<'_>) -> bool {
    let spec = match (left.spec, right.spec) {
        // The same server writes both: as a rule byte for byte alike.
        (Some(left), Some(right)) => left.get() == right.get() || values(left.get()) == values(right.get()),
        (None, None) => true,
        _ => false,
    };
    spec && labels(left) == labels(right) && annotations(left) == annotations(right)
}

fn labels<'t>(template: &'t PodTemplate<'_>) -> Vec<(&'t str, &'t str)> {
    let mut labels: Vec<_> = template.metadata.labels.iter().filter(|(key, _)| *key != TEMPLATE_HASH).collect();
    labels.sort_unstable();
    labels
}

fn annotations<'t>(template: &'t PodTemplate<'_>) -> Vec<(&'t str, &'t str)> {
    let mut annotations: Vec<_> = template.metadata.annotations.iter().collect();
    annotations.sort_unstable();
    annotations
}

fn values(json: &str) -> Option<serde_json::Value> {
    serde_json::from_str(json).ok()
}
