//! Scaling ReplicaSets: one at a time, and all of them in proportion.

use std::collections::BTreeMap;

use super::{Round, Sets};
use crate::controllers::kinds::{DESIRED_REPLICAS, Deployment, MAX_REPLICAS, ReplicaSet, Strategy};
use crate::error::ApiError;

/// A number among annotations, if there is one that can be.
pub(super) fn count(annotations: &BTreeMap<String, String>, name: &str) -> Option<i64> {
    annotations.get(name)?.parse::<u32>().ok().and_then(|count| i32::try_from(count).ok()).map(i64::from)
}

/// Notes how large the Deployment is, by which a later scaling is recognized.
pub(super) fn note_size(deployment: &Deployment, annotations: &mut BTreeMap<String, String>) {
    let most = deployment.replicas + deployment.max_surge();
    annotations.insert(DESIRED_REPLICAS.to_owned(), deployment.replicas.to_string());
    annotations.insert(MAX_REPLICAS.to_owned(), most.to_string());
}

impl Round<'_> {
    /// What happens to a Deployment that is paused or was scaled.
    pub(super) fn scale_and_report(&mut self) -> Result<(), ApiError> {
        let mut sets = self.sets(false)?;
        self.scale(&mut sets)?;
        if self.deployment.paused {
            self.clean_up(&sets)?;
        }
        self.write_status_of(&sets)
    }

    fn scale(&mut self, sets: &mut Sets) -> Result<(), ApiError> {
        let wanted = self.deployment.replicas;
        sets.old.sort_by(|a, b| ReplicaSet::by_age(b, a));
        let active: Vec<ReplicaSet> = sets.all().filter(|set| set.replicas > 0).cloned().collect();
        let only = match active.as_slice() {
            [] => sets.new.as_ref().or(sets.old.first()).cloned(),
            [only] => Some(only.clone()),
            _ => None,
        };
        if let Some(only) = only {
            return self.scale_set(&only, wanted).map(drop);
        }
        if sets.new.as_ref().is_some_and(|new| is_saturated(&self.deployment, new)) {
            for old in sets.old.iter().filter(|set| set.replicas > 0) {
                self.scale_set(old, 0)?;
            }
        } else if matches!(self.deployment.strategy, Strategy::Rolling { .. }) {
            for (set, size) in proportions(&self.deployment, active) {
                self.resize_set(&set, size)?;
            }
        }
        Ok(())
    }

    /// Gives a ReplicaSet another size. Tells whether it had to, and what it is then.
    pub(super) fn scale_set(&mut self, set: &ReplicaSet, size: i64) -> Result<(bool, ReplicaSet), ApiError> {
        if set.replicas == size {
            return Ok((false, set.clone()));
        }
        self.resize_set(set, size)
    }

    /// Gives a ReplicaSet a size, and notes the Deployment's.
    fn resize_set(&mut self, set: &ReplicaSet, size: i64) -> Result<(bool, ReplicaSet), ApiError> {
        let mut resized = set.clone();
        resized.replicas = size;
        note_size(&self.deployment, &mut resized.annotations);
        let scaled = set.replicas != size;
        if !scaled && resized.annotations == set.annotations {
            return Ok((false, resized));
        }
        let written = self.write_set(&resized)?;
        if scaled {
            let direction = if set.replicas < size { "up" } else { "down" };
            let name = set.view.name();
            let message = format!("Scaled {direction} replica set {name} from {} to {size}", set.replicas);
            self.say(false, "ScalingReplicaSet", &message);
        }
        Ok((scaled, written))
    }
}

/// Whether the new ReplicaSet has everything that the Deployment is to have, and both know it.
fn is_saturated(deployment: &Deployment, set: &ReplicaSet) -> bool {
    let noted = set.annotations.get(DESIRED_REPLICAS).and_then(|text| text.parse::<i64>().ok());
    set.replicas == deployment.replicas
        && noted == Some(deployment.replicas)
        && set.status.available_replicas == deployment.replicas
}

/// The sizes of several ReplicaSets with Pods after a scaling in the middle of a rollout: each gets its share, the
/// largest first, and the largest gets what is left.
fn proportions(deployment: &Deployment, mut active: Vec<ReplicaSet>) -> Vec<(ReplicaSet, i64)> {
    let allowed = if deployment.replicas > 0 { deployment.replicas + deployment.max_surge() } else { 0 };
    let to_add = allowed - active.iter().map(|set| set.replicas).sum::<i64>();
    // Of the same size: growing starts with the newer, shrinking with the older.
    active.sort_by(|a, b| {
        let age = if to_add > 0 { ReplicaSet::by_age(b, a) } else { ReplicaSet::by_age(a, b) };
        if to_add == 0 { std::cmp::Ordering::Equal } else { b.replicas.cmp(&a.replicas).then(age) }
    });
    let mut added = 0;
    let mut sizes: Vec<_> = active
        .into_iter()
        .map(|set| {
            let share = if to_add == 0 { 0 } else { share(deployment, &set, to_add, added) };
            added += share;
            let size = set.replicas + share;
            (set, size)
        })
        .collect();
    if to_add != 0
        && let Some((_, size)) = sizes.first_mut()
    {
        *size = (*size + to_add - added).max(0);
    }
    sizes
}

fn share(deployment: &Deployment, set: &ReplicaSet, to_add: i64, added: i64) -> i64 {
    if set.replicas == 0 || to_add == added {
        return 0;
    }
    let (fraction, allowed) = (fraction(deployment, set), to_add - added);
    if to_add > 0 { fraction.min(allowed) } else { fraction.max(allowed) }
}

#[expect(clippy::cast_precision_loss, clippy::cast_possible_truncation, reason = "numbers of Pods are small")]
fn fraction(deployment: &Deployment, set: &ReplicaSet) -> i64 {
    if deployment.replicas == 0 {
        return -set.replicas;
    }
    let most = deployment.replicas + deployment.max_surge();
    let before = count(&set.annotations, MAX_REPLICAS).filter(|&before| before != 0);
    let before = before.unwrap_or(deployment.status.replicas);
    if before == 0 {
        return 0;
    }
    // As the real one rounds: halves away from zero.
    ((set.replicas * most) as f64 / before as f64).round() as i64 - set.replicas
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::controllers::fields::View;
    use crate::resource::{DEPLOYMENTS, REPLICA_SETS};
    use crate::store::{Key, Object};

    fn deployment(replicas: i64, surge: i64) -> Deployment {
        let rolling = json!({"maxSurge": surge, "maxUnavailable": 0});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        let value = json!({"spec": {"replicas": replicas, "strategy": strategy}});
        Deployment::of(View::of(Arc::new(Object::new(Key::new(&DEPLOYMENTS, "ns", "app"), 1, value))))
    }

    fn set(age: usize, replicas: i64, most: i64) -> ReplicaSet {
        let name = format!("set-{age}");
        let value = json!({
            "metadata": {
                "creationTimestamp": format!("2026-01-01T00:00:{:02}Z", 30 - age),
                "annotations": {MAX_REPLICAS: most.to_string()},
            },
            "spec": {"replicas": replicas},
        });
        ReplicaSet::of(View::of(Arc::new(Object::new(Key::new(&REPLICA_SETS, "ns", &name), 1, value))))
    }

    // The newest first; after `TestScale` in deployment/sync_test.go.
    #[rstest]
    #[case::up_even(12, 0, &[5, 5], 10, &[6, 6])]
    #[case::down_even(8, 0, &[5, 5], 10, &[4, 4])]
    #[case::up_to_a_larger_old_one(20, 0, &[2, 8], 10, &[4, 16])]
    #[case::leftovers_to_the_largest(6, 0, &[2, 3], 5, &[2, 4])]
    #[case::newer_first_of_the_same_size(4, 0, &[1, 1, 1], 3, &[2, 1, 1])]
    #[case::older_first_when_shrinking(2, 0, &[1, 1, 1], 3, &[1, 1, 0])]
    #[case::to_none(0, 0, &[2, 3], 5, &[0, 0])]
    #[case::surge_counts(22, 3, &[4, 7], 11, &[9, 16])]
    fn shares(
        #[case] replicas: i64,
        #[case] surge: i64,
        #[case] sizes: &[i64],
        #[case] most: i64,
        #[case] expected: &[i64],
    ) {
        let sets = sizes.iter().enumerate().map(|(age, &size)| set(age, size, most)).collect();
        let mut shares = proportions(&deployment(replicas, surge), sets);
        shares.sort_by(|(a, _), (b, _)| a.view.name().cmp(b.view.name()));
        assert_eq!(shares.into_iter().map(|(_, size)| size).collect::<Vec<_>>(), expected);
    }
}
