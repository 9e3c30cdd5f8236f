//! Which old ReplicaSets are kept.

use super::{Round, Sets};
use crate::controllers::kinds::ReplicaSet;
use crate::error::ApiError;
use crate::registry::Deletion;

impl Round<'_> {
    /// Deletes the oldest ReplicaSets beyond the limit, of those without Pods.
    pub(super) fn clean_up(&mut self, sets: &Sets) -> Result<(), ApiError> {
        let Some(limit) = self.deployment.history.and_then(|limit| usize::try_from(limit).ok()) else {
            return Ok(());
        };
        let mut alive: Vec<&ReplicaSet> = sets.old.iter().filter(|set| !set.view.deleting()).collect();
        alive.sort_by(|a, b| a.revision().cmp(&b.revision()).then_with(|| ReplicaSet::by_age(a, b)));
        let too_many = alive.len().saturating_sub(limit);
        for set in alive.into_iter().take(too_many) {
            let settled = set.view.generation() <= set.status.observed_generation;
            if set.status.replicas != 0 || set.replicas != 0 || !settled {
                continue;
            }
            match self.cluster.state.delete(set.view.key(), &Deletion::default()) {
                Err(error) if error.code != 404 => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
