//! One workload as it was read, and what it says.

use std::rc::Rc;

use workload_guest::{Ownership, Response};

use super::list::{Listing, Raw};
use crate::api::{Deployment, Malformed, Object, Pod, ReplicaSet};
use crate::ownership::{self, Owned};
use crate::request;
use crate::status::{Beside, Observed, Own, Verdict, decide};

/// A Deployment as it was read, with what was read beside it.
#[derive(Debug, Clone)]
pub struct Sight {
    deployment: Raw,
    /// As the server's clock stood, in milliseconds of the Unix epoch.
    pub server_ms: Option<u64>,
    /// The lists that hold its ReplicaSets.
    pub replica_sets: Beside<Rc<Listing>>,
    /// The lists that hold its Pods.
    pub pods: Beside<Rc<Listing>>,
}

/// What a sight says.
#[derive(Debug, Clone)]
pub struct Look {
    /// What was looked at.
    pub sight: Sight,
    /// In which state it is.
    pub verdict: Verdict,
    /// Whose it is.
    pub owned: Owned,
    /// Which object it is.
    pub uid: String,
    /// As it was read.
    pub resource_version: String,
    /// Counts changes of what is wanted.
    pub generation: i64,
    /// Replicas wanted.
    pub desired: i64,
    /// Deletion is under way.
    pub deleting: bool,
    /// No rollout until it is resumed.
    pub paused: bool,
    /// ReplicaSetCreateError, or nothing was ever observed: what does not change by waiting.
    pub stuck: bool,
    /// A container of it is available the moment it runs, and may crash at once.
    pub ready_at_once: bool,
    /// What finds its ReplicaSets and Pods; all of the namespace, if the selector says something unknown.
    pub selector: String,
    /// One list by our labels finds them too.
    pub covered: bool,
}

impl Sight {
    /// An answer that is exactly this Deployment.
    pub(super) fn of_answer(response: Response) -> Self {
        Self::new(Raw::whole(response.bytes), response.date_ms)
    }

    /// A Deployment, alone.
    #[must_use]
    pub fn new(deployment: Raw, server_ms: Option<u64>) -> Self {
        Self { deployment, server_ms, replica_sets: Beside::NotRead, pods: Beside::NotRead }
    }

    /// Decodes what was read and hands it out.
    ///
    /// # Errors
    /// Something in it is no object of its kind.
    pub fn with<T>(&self, own: Own, look: impl FnOnce(&Observed<'_, '_>) -> T) -> Result<T, Malformed> {
        let deployment = Deployment::decode_item(self.deployment.bytes())?;
        let sets = match &self.replica_sets {
            Beside::Read(listing) => {
                Beside::Read(decode_all::<ReplicaSet<'_>>(listing.table.controlled_by(&deployment.metadata.uid))?)
            }
            Beside::NotRead => Beside::NotRead,
            Beside::NotReadable => Beside::NotReadable,
        };
        let pods = match (&self.pods, sets.get()) {
            (Beside::Read(listing), Some(sets)) => {
                let mut pods = Vec::new();
                for set in sets {
                    pods.extend(decode_all::<Pod<'_>>(listing.table.controlled_by(&set.metadata.uid))?);
                }
                Beside::Read(pods)
            }
            (Beside::NotReadable, _) => Beside::NotReadable,
            _ => Beside::NotRead,
        };
        let observed = Observed { deployment: &deployment, replica_sets: sets, pods, own, server_ms: self.server_ms };
        Ok(look(&observed))
    }

    /// Decides what it says.
    ///
    /// # Errors
    /// As [`with`](Self::with).
    pub fn look(self, ownership: &Ownership, own: Own) -> Result<Look, Malformed> {
        let sight = self.clone();
        self.with(own, |observed| {
            let deployment = observed.deployment;
            let meta = &deployment.metadata;
            let spec = deployment.spec.as_ref();
            let error = deployment
                .condition("Progressing")
                .is_some_and(|condition| condition.status == "False" && condition.reason == "ReplicaSetCreateError");
            Look {
                sight,
                verdict: decide(observed),
                owned: ownership::owned(ownership, meta),
                uid: meta.uid.to_string(),
                resource_version: meta.resource_version.to_string(),
                generation: meta.generation,
                desired: deployment.desired(),
                deleting: meta.is_deleting(),
                paused: spec.is_some_and(|spec| spec.paused),
                stuck: !deployment.is_observed() && (error || deployment.status.observed_generation == 0),
                ready_at_once: ready_at_once(deployment),
                selector: spec.and_then(|spec| request::selector(&spec.selector)).unwrap_or_default(),
                covered: spec.is_some_and(|spec| ownership::covers(ownership, &spec.selector)),
            }
        })
    }
}

fn decode_all<'a, T: Object<'a>>(rows: &'a [Raw]) -> Result<Vec<T>, Malformed> {
    rows.iter().map(|raw| T::decode_item(raw.bytes())).collect()
}

/// No readiness probe and no least time of being ready.
fn ready_at_once(deployment: &Deployment<'_>) -> bool {
    let patient = deployment.spec.as_ref().is_some_and(|spec| spec.min_ready_seconds > 0);
    let probed = deployment
        .template()
        .and_then(|template| template.pod_spec())
        .is_some_and(|spec| spec.containers.iter().any(|container| container.readiness_probe.is_some()));
    !patient && !probed
}
