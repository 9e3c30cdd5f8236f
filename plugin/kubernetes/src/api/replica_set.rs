//! `apps/v1` ReplicaSet.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::pod::PodTemplate;
use super::text::Text;
use super::{Meta, Object};

/// A ReplicaSet.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct ReplicaSet<'a> {
    kind: Option<Text<'a>>,
    api_version: Option<Text<'a>>,
    /// Who it is.
    #[serde(default, deserialize_with = "super::nullable")]
    pub metadata: Meta<'a>,
    #[serde(default, deserialize_with = "super::nullable")]
    spec: ReplicaSetSpec<'a>,
    /// What was seen.
    #[serde(default, deserialize_with = "super::nullable")]
    pub status: ReplicaSetStatus,
}

impl<'a> Object<'a> for ReplicaSet<'a> {
    const KIND: &'static str = "ReplicaSet";
    const API_VERSION: &'static str = "apps/v1";

    fn identity(&self) -> (Option<&str>, Option<&str>, &Meta<'a>) {
        (self.kind.as_deref(), self.api_version.as_deref(), &self.metadata)
    }
}

impl<'a> ReplicaSet<'a> {
    /// How many replicas are wanted: an absent count is one.
    #[must_use]
    pub fn desired(&self) -> i64 {
        self.spec.replicas.unwrap_or(1)
    }

    /// The controller has seen the present specification.
    #[must_use]
    pub fn is_observed(&self) -> bool {
        self.status.observed_generation >= self.metadata.generation
    }

    /// The Pod template, decoded now.
    #[must_use]
    pub fn template(&self) -> Option<PodTemplate<'a>> {
        self.spec.template.and_then(|raw| serde_json::from_str(raw.get()).ok())
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
struct ReplicaSetSpec<'a> {
    replicas: Option<i64>,
    #[serde(borrow)]
    template: Option<&'a RawValue>,
}

/// What the controller last wrote about a ReplicaSet.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReplicaSetStatus {
    /// The generation that the rest speaks of.
    #[serde(deserialize_with = "super::nullable")]
    pub observed_generation: i64,
    /// Active Pods.
    #[serde(deserialize_with = "super::nullable")]
    pub replicas: i64,
    /// Of these, ready for long enough.
    #[serde(deserialize_with = "super::nullable")]
    pub available_replicas: i64,
    /// Pods that end. Absent is "not written", not zero.
    pub terminating_replicas: Option<i64>,
}
