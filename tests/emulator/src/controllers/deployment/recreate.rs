//! Replacing Pods all at once: new ones only when no old one is left.

use super::Round;
use crate::error::ApiError;

impl Round<'_> {
    /// One step.
    pub(super) fn recreate(&mut self) -> Result<(), ApiError> {
        let mut sets = self.sets(false)?;
        let mut shrunk = false;
        for old in sets.old.iter().filter(|set| set.replicas > 0) {
            shrunk |= self.scale_set(old, 0)?.0;
        }
        if shrunk || self.old_pods_run(&sets) {
            return self.write_rollout_status(&sets);
        }
        if sets.new.is_none() {
            sets = self.sets(true)?;
        }
        if let Some(new) = sets.new.clone() {
            self.scale_set(&new, self.deployment.replicas)?;
        }
        if self.deployment.is_complete(&self.deployment.status) {
            self.clean_up(&sets)?;
        }
        self.write_rollout_status(&sets)
    }
}
