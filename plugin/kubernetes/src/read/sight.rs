//! One workload as it was read, and what it says.

use std::rc::Rc;

use workload_guest::{Ownership, Response, Workload};

use super::list::{Listing, Raw};
use crate::api::{Deployment, Malformed, Object, Pod, PodSpec, ReplicaSet, annotation};
use crate::id::Target;
use crate::ownership::{self, Claim, Owned};
use crate::request;
use crate::status::{self, About, Beside, Observed, Own, Verdict, decide};

/// What Pods are given to end where their template does not say.
const GRACE_SECONDS: u64 = 30;

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
    /// Which workload it says that it is.
    pub claim: Claim,
    /// Which object it is, and what else is told of it.
    pub about: About,
    /// As it was read.
    pub resource_version: String,
    /// Counts changes of what is wanted.
    pub generation: i64,
    /// Its controller has seen the present generation.
    pub observed: bool,
    /// Replicas wanted.
    pub desired: i64,
    /// Deletion is under way.
    pub deleting: bool,
    /// What must happen before it can go.
    pub finalizers: Vec<String>,
    /// Its controller could not make a ReplicaSet and has given up: only an edit of it helps.
    pub gave_up: bool,
    /// No rollout until it is resumed.
    pub paused: bool,
    /// What it shows that does not change by waiting.
    pub stuck: Option<Stuck>,
    /// A container of it is available the moment it runs, and may crash at once.
    pub ready_at_once: bool,
    /// What finds its ReplicaSets and Pods; all of the namespace, if the selector says something unknown.
    pub selector: String,
    /// One list by our labels finds them too.
    pub covered: bool,
}

/// What does not change by waiting, and is only believed once it was seen for a while.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stuck {
    /// No ReplicaSet could be made.
    CreateError,
    /// Nothing was ever observed.
    Nothing,
}

impl Look {
    /// As what the boundary speaks of, without the facts behind it.
    #[must_use]
    pub fn workload(&self, target: &Target, ownership: &Ownership) -> Workload {
        self.verdict.workload(target, ownership, &self.about)
    }

    /// It does not go before this has happened.
    #[must_use]
    pub fn waits_for(&self, finalizer: &str) -> bool {
        self.finalizers.iter().any(|name| name == finalizer)
    }
}

impl Sight {
    /// An answer, if it is exactly this Deployment.
    ///
    /// # Errors
    /// It is something else.
    pub fn of_answer(target: &Target, response: Response) -> Result<Self, Malformed> {
        Deployment::decode(&response.bytes, &target.namespace, &target.name)?;
        Ok(Self::new(Raw::whole(response.bytes), response.date_ms))
    }

    /// A Deployment, alone.
    #[must_use]
    pub fn new(deployment: Raw, server_ms: Option<u64>) -> Self {
        Self { deployment, server_ms, replica_sets: Beside::NotRead, pods: Beside::NotRead }
    }

    /// How much was asked for beside the Deployment: nothing, the ReplicaSets, or the Pods as well.
    #[must_use]
    pub fn depth(&self) -> u8 {
        let asked = [!matches!(self.replica_sets, Beside::NotRead), !matches!(self.pods, Beside::NotRead)];
        asked.into_iter().map(u8::from).sum()
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

    /// The values of all environment variables of its templates: what no message may repeat. None: nobody can tell.
    #[must_use]
    pub fn variables(&self) -> Option<Vec<String>> {
        self.with(Own::default(), |observed| observed.variables()).ok().flatten()
    }

    /// An annotation of it. One of a list has none: they are not kept.
    #[must_use]
    pub fn annotation(&self, key: &str) -> Option<String> {
        annotation(self.deployment.bytes(), key)
    }

    /// How many seconds its Pods are given to end.
    #[must_use]
    pub fn grace_seconds(&self) -> u64 {
        let said = self.with(Own::default(), |observed| observed.deployment.template()?.grace_seconds());
        said.ok().flatten().unwrap_or(GRACE_SECONDS)
    }

    /// Its Pods that are there to stay, each with how often its containers were started again. None: they were not read.
    #[must_use]
    pub fn restarts(&self, own: Own) -> Option<Vec<(String, i64)>> {
        let restarts = |observed: &Observed<'_, '_>| {
            let pods = observed.pods.get()?;
            let staying = pods.iter().filter(|pod| pod.is_live() && !pod.metadata.is_deleting());
            let count = |pod: &Pod<'_>| status::total(pod.status.containers().map(|container| container.restart_count));
            Some(staying.map(|pod| (pod.metadata.uid.to_string(), count(pod))).collect())
        };
        self.with(own, restarts).ok().flatten()
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
            let pod_spec = deployment.pod_spec();
            Look {
                sight,
                verdict: decide(observed),
                owned: ownership::owned(ownership, meta),
                claim: ownership::claim(ownership, meta),
                about: About::of(deployment, pod_spec.as_ref()),
                resource_version: meta.resource_version.to_string(),
                generation: meta.generation,
                observed: deployment.is_observed(),
                desired: deployment.desired(),
                deleting: meta.is_deleting(),
                finalizers: meta.finalizers.iter().map(ToString::to_string).collect(),
                gave_up: status::gave_up(observed),
                paused: spec.is_some_and(|spec| spec.paused),
                stuck: match (deployment.is_observed(), deployment.create_error().is_some()) {
                    (false, true) => Some(Stuck::CreateError),
                    (false, false) if deployment.status.observed_generation == 0 => Some(Stuck::Nothing),
                    _ => None,
                },
                ready_at_once: ready_at_once(deployment, pod_spec.as_ref()),
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
fn ready_at_once(deployment: &Deployment<'_>, pod_spec: Option<&PodSpec<'_>>) -> bool {
    let patient = deployment.spec.as_ref().is_some_and(|spec| spec.min_ready_seconds > 0);
    let probed =
        pod_spec.is_some_and(|spec| spec.containers.iter().any(|container| container.readiness_probe.is_some()));
    !patient && !probed
}
