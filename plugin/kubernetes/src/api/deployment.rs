//! `apps/v1` Deployment.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::pod::{PodSpec, PodTemplate};
use super::text::{Labels, Text};
use super::{Meta, Object};

/// A Deployment.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Deployment<'a> {
    kind: Option<Text<'a>>,
    api_version: Option<Text<'a>>,
    /// Who it is.
    #[serde(default, deserialize_with = "super::nullable")]
    pub metadata: Meta<'a>,
    /// What is wanted. An object without one is malformed.
    pub spec: Option<DeploymentSpec<'a>>,
    /// What was seen.
    #[serde(default, deserialize_with = "super::nullable")]
    pub status: DeploymentStatus<'a>,
}

impl<'a> Object<'a> for Deployment<'a> {
    const KIND: &'static str = "Deployment";
    const API_VERSION: &'static str = "apps/v1";

    fn identity(&self) -> (Option<&str>, Option<&str>, &Meta<'a>) {
        (self.kind.as_deref(), self.api_version.as_deref(), &self.metadata)
    }
}

impl<'a> Deployment<'a> {
    /// How many replicas are wanted: an absent count is one.
    #[must_use]
    pub fn desired(&self) -> i64 {
        self.spec.as_ref().and_then(|spec| spec.replicas).unwrap_or(1)
    }

    /// The controller has seen the present specification.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.status.observed_generation >= self.metadata.generation
    }

    /// The condition of this type.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Condition<'a>> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Why no ReplicaSet could be made. The rest of its status is frozen then.
    #[must_use]
    pub fn create_error(&self) -> Option<&Condition<'a>> {
        let failed = self.condition("Progressing").filter(|condition| condition.status == "False");
        failed.filter(|condition| condition.reason == "ReplicaSetCreateError")
    }

    /// What its Pods are made to, decoded now.
    #[must_use]
    pub fn pod_spec(&self) -> Option<PodSpec<'a>> {
        self.template()?.pod_spec()
    }

    /// The Pod template, decoded now. None: there is none, or it cannot be read.
    #[must_use]
    pub fn template(&self) -> Option<PodTemplate<'a>> {
        self.spec.as_ref().and_then(|spec| spec.template).and_then(|raw| serde_json::from_str(raw.get()).ok())
    }
}

/// What is wanted of a Deployment.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct DeploymentSpec<'a> {
    /// Absent: one.
    pub replicas: Option<i64>,
    /// No rollout; scaling goes on.
    #[serde(deserialize_with = "super::nullable")]
    pub paused: bool,
    /// How long a Pod must be ready to count as available.
    #[serde(deserialize_with = "super::nullable")]
    pub min_ready_seconds: i64,
    /// Which Pods may be its own.
    #[serde(deserialize_with = "super::nullable")]
    pub selector: Selector<'a>,
    /// As it came: most readers do not look into it.
    #[serde(borrow)]
    pub template: Option<&'a RawValue>,
}

/// A label selector.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Selector<'a> {
    /// All of these with these values.
    pub match_labels: Labels<'a>,
    /// And all of these requirements.
    #[serde(deserialize_with = "super::nullable")]
    pub match_expressions: Vec<Requirement<'a>>,
}

/// A requirement of a label selector.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Requirement<'a> {
    /// The label.
    pub key: Text<'a>,
    /// In, NotIn, Exists or DoesNotExist.
    pub operator: Text<'a>,
    /// For the first two.
    #[serde(deserialize_with = "super::nullable")]
    pub values: Vec<Text<'a>>,
}

/// What the controller last wrote. Counters are of active Pods only: zero while the last Pod still ends.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct DeploymentStatus<'a> {
    /// The generation that the rest speaks of.
    #[serde(deserialize_with = "super::nullable")]
    pub observed_generation: i64,
    /// Active Pods of all revisions.
    #[serde(deserialize_with = "super::nullable")]
    pub replicas: i64,
    /// Of these, of the newest.
    #[serde(deserialize_with = "super::nullable")]
    pub updated_replicas: i64,
    /// Ready.
    #[serde(deserialize_with = "super::nullable")]
    pub ready_replicas: i64,
    /// Ready for long enough.
    #[serde(deserialize_with = "super::nullable")]
    pub available_replicas: i64,
    /// Pods that end. Absent is "not written", not zero.
    pub terminating_replicas: Option<i64>,
    /// Available, Progressing, ReplicaFailure.
    #[serde(deserialize_with = "super::nullable")]
    pub conditions: Vec<Condition<'a>>,
}

/// A condition of a Deployment, a ReplicaSet or a Pod.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Condition<'a> {
    /// Its type.
    #[serde(rename = "type")]
    pub kind: Text<'a>,
    /// True, False or Unknown.
    pub status: Text<'a>,
    /// One word.
    pub reason: Text<'a>,
    /// For a person.
    pub message: Text<'a>,
    /// RFC 3339; not stamped again while status and reason stay the same.
    pub last_update_time: Option<Text<'a>>,
}
