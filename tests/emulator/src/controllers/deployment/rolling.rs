//! Replacing Pods step by step.

use super::{Round, Sets};
use crate::controllers::kinds::ReplicaSet;
use crate::error::ApiError;

impl Round<'_> {
    /// One step: more new Pods if there is room, otherwise fewer old ones if enough are available.
    pub(super) fn roll(&mut self) -> Result<(), ApiError> {
        let sets = self.sets(true)?;
        let Some(new) = sets.new.clone() else { return Ok(()) };
        if self.grow_new(&sets, &new)? || self.shrink_old(&sets, &new)? {
            return self.write_rollout_status(&sets);
        }
        if self.deployment.is_complete(&self.deployment.status) {
            self.clean_up(&sets)?;
        }
        self.write_rollout_status(&sets)
    }

    fn grow_new(&mut self, sets: &Sets, new: &ReplicaSet) -> Result<bool, ApiError> {
        let wanted = self.deployment.replicas;
        let size =
            if new.replicas > wanted { wanted } else { super::new_set::wanted_of_new(&self.deployment, sets, new) };
        Ok(self.scale_set(new, size)?.0)
    }

    fn shrink_old(&mut self, sets: &Sets, new: &ReplicaSet) -> Result<bool, ApiError> {
        let mut old: Vec<ReplicaSet> = sets.old.iter().filter(|set| set.replicas > 0).cloned().collect();
        if old.is_empty() {
            return Ok(false);
        }
        let must_be_available = self.deployment.replicas - self.deployment.max_unavailable();
        let new_unavailable = new.replicas - new.status.available_replicas;
        let most = sets.replicas() - must_be_available - new_unavailable;
        if most <= 0 {
            return Ok(false);
        }
        old.sort_by(ReplicaSet::by_age);
        // What goes wrong here is tried again in the next round, which the status still comes before.
        let Ok(unhealthy) = self.shrink_unhealthy(&mut old, most) else { return Ok(false) };
        let Ok(others) = self.shrink_available(&old, new, must_be_available) else { return Ok(false) };
        Ok(unhealthy + others > 0)
    }

    /// Takes away old Pods that serve nobody, which costs nothing.
    fn shrink_unhealthy(&mut self, old: &mut [ReplicaSet], most: i64) -> Result<i64, ApiError> {
        let mut total = 0;
        for set in old {
            let unhealthy = set.replicas - set.status.available_replicas;
            if total >= most || set.replicas == 0 || unhealthy == 0 {
                continue;
            }
            let less = unhealthy.min(most - total);
            if less < 0 {
                let why = format!("cannot scale {} down by {less}", set.view.name());
                return Err(ApiError::new(500, "InternalError", why));
            }
            *set = self.scale_set(set, set.replicas - less)?.1;
            total += less;
        }
        Ok(total)
    }

    fn shrink_available(&mut self, old: &[ReplicaSet], new: &ReplicaSet, needed: i64) -> Result<i64, ApiError> {
        let available: i64 = old.iter().chain([new]).map(|set| set.status.available_replicas).sum();
        let mut total = 0;
        for set in old {
            let less = set.replicas.min(available - needed - total);
            if less > 0 {
                self.scale_set(set, set.replicas - less)?;
                total += less;
            }
        }
        Ok(total)
    }
}
