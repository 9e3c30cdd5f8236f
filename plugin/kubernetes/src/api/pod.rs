//! `v1` Pod, and the template that Deployments and ReplicaSets make Pods of.

use std::borrow::Cow;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;

use super::deployment::Condition;
use super::text::{Labels, Text};
use super::{Meta, Object};

/// A Pod.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Pod<'a> {
    kind: Option<Text<'a>>,
    api_version: Option<Text<'a>>,
    /// Who it is.
    #[serde(default, deserialize_with = "super::nullable")]
    pub metadata: Meta<'a>,
    #[serde(default, deserialize_with = "super::nullable")]
    spec: PlacedSpec<'a>,
    /// What was seen.
    #[serde(default, deserialize_with = "super::nullable")]
    pub status: PodStatus<'a>,
}

impl<'a> Object<'a> for Pod<'a> {
    const KIND: &'static str = "Pod";
    const API_VERSION: &'static str = "v1";

    fn identity(&self) -> (Option<&str>, Option<&str>, &Meta<'a>) {
        (self.kind.as_deref(), self.api_version.as_deref(), &self.metadata)
    }
}

impl Pod<'_> {
    /// The node it was put on.
    #[must_use]
    pub fn node(&self) -> Option<&str> {
        self.spec.node_name.as_deref().filter(|node| !node.is_empty())
    }

    /// This init container is a sidecar: it runs beside the containers, and the Pod does not wait for its end.
    #[must_use]
    pub fn is_sidecar(&self, container: &str) -> bool {
        self.spec.init_containers.iter().any(|init| init.name == container && init.restart_policy == "Always")
    }

    /// The condition of this type.
    #[must_use]
    pub fn condition(&self, kind: &str) -> Option<&Condition<'_>> {
        self.status.conditions.iter().find(|condition| condition.kind == kind)
    }

    /// Its containers can still run: neither phase at the end. One that is being deleted counts.
    #[must_use]
    pub fn is_live(&self) -> bool {
        !matches!(&*self.status.phase, "Succeeded" | "Failed")
    }

    /// It is ready to serve and not on its way out.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        let ready = self.condition("Ready").is_some_and(|condition| condition.status == "True");
        ready && !self.metadata.is_deleting() && self.is_live()
    }
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct PlacedSpec<'a> {
    node_name: Option<Text<'a>>,
    #[serde(deserialize_with = "super::nullable")]
    init_containers: Vec<InitContainer<'a>>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct InitContainer<'a> {
    name: Text<'a>,
    restart_policy: Text<'a>,
}

/// What the kubelet last wrote about a Pod.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct PodStatus<'a> {
    /// Pending, Running, Succeeded, Failed or Unknown.
    pub phase: Text<'a>,
    /// One word, when the kubelet or the scheduler gave up on it.
    pub reason: Text<'a>,
    /// For a person.
    pub message: Text<'a>,
    /// Ready, PodScheduled and others.
    #[serde(deserialize_with = "super::nullable")]
    pub conditions: Vec<Condition<'a>>,
    /// Init containers, sidecars among them.
    #[serde(deserialize_with = "super::nullable")]
    pub init_container_statuses: Vec<ContainerStatus<'a>>,
    /// The containers.
    #[serde(deserialize_with = "super::nullable")]
    pub container_statuses: Vec<ContainerStatus<'a>>,
}

impl<'a> PodStatus<'a> {
    /// All of them, in the order in which they begin.
    pub fn containers(&self) -> impl Iterator<Item = &ContainerStatus<'a>> {
        self.init_container_statuses.iter().chain(&self.container_statuses)
    }
}

/// What is known of a container.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct ContainerStatus<'a> {
    /// Its name.
    pub name: Text<'a>,
    /// What it runs.
    pub image: Text<'a>,
    /// It serves; of an init container: it ended well.
    #[serde(deserialize_with = "super::nullable")]
    pub ready: bool,
    /// It runs and has passed its startup probe.
    #[serde(deserialize_with = "super::nullable")]
    pub started: bool,
    /// How often it was started again.
    #[serde(deserialize_with = "super::nullable")]
    pub restart_count: i64,
    /// Now.
    #[serde(deserialize_with = "super::nullable")]
    pub state: ContainerState<'a>,
    /// Before the last restart.
    #[serde(deserialize_with = "super::nullable")]
    pub last_state: ContainerState<'a>,
}

/// One of waiting and terminated; neither is running, or not known.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct ContainerState<'a> {
    /// Not yet, or not again.
    pub waiting: Option<Ended<'a>>,
    /// It ended.
    pub terminated: Option<Ended<'a>>,
}

/// Why a container waits or ended.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Ended<'a> {
    /// One word.
    pub reason: Text<'a>,
    /// For a person.
    pub message: Text<'a>,
    /// When it ended.
    #[serde(deserialize_with = "super::nullable")]
    pub exit_code: i64,
}

/// A Pod template.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PodTemplate<'a> {
    /// The Pods' labels and annotations.
    #[serde(deserialize_with = "super::nullable")]
    pub metadata: TemplateMeta<'a>,
    /// As it came, to compare it with another.
    #[serde(borrow)]
    pub spec: Option<&'a RawValue>,
}

impl<'a> PodTemplate<'a> {
    /// The specification, decoded now.
    #[must_use]
    pub fn pod_spec(&self) -> Option<PodSpec<'a>> {
        self.spec.and_then(|raw| serde_json::from_str(raw.get()).ok())
    }

    /// The values of all environment variables: what no message may repeat. None: nobody can tell.
    #[must_use]
    pub fn variables(&self) -> Option<Vec<String>> {
        let Some(spec) = self.spec else { return Some(Vec::new()) };
        let containers: Containers<'_> = serde_json::from_str(spec.get()).ok()?;
        let all = containers.containers.iter().chain(&containers.init_containers).flatten();
        let variables = all.flat_map(|container| &container.env).flatten();
        Some(variables.filter_map(|variable| variable.value.as_deref().map(str::to_owned)).collect())
    }

    /// How many seconds its Pods are given to end, if it says so.
    #[must_use]
    pub fn grace_seconds(&self) -> Option<u64> {
        let grace: Grace = serde_json::from_str(self.spec?.get()).ok()?;
        // The server takes what is below zero for one.
        grace.termination_grace_period_seconds.map(|seconds| u64::try_from(seconds).unwrap_or(1))
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Grace {
    #[serde(default)]
    termination_grace_period_seconds: Option<i64>,
}

/// What may hold an environment variable.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
struct Containers<'a> {
    #[serde(default)]
    containers: Option<Vec<Variables<'a>>>,
    #[serde(default)]
    init_containers: Option<Vec<Variables<'a>>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Variables<'a> {
    #[serde(default)]
    env: Option<Vec<Variable<'a>>>,
}

#[derive(Deserialize)]
#[serde(bound(deserialize = "'de: 'a"))]
struct Variable<'a> {
    #[serde(default, borrow)]
    value: Option<Cow<'a, str>>,
}

/// What a template says about its Pods.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct TemplateMeta<'a> {
    /// Their labels.
    pub labels: Labels<'a>,
    /// Their annotations.
    pub annotations: Labels<'a>,
}

/// What is looked at in a Pod's specification.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct PodSpec<'a> {
    /// Its containers.
    #[serde(deserialize_with = "super::nullable")]
    pub containers: Vec<Container<'a>>,
}

/// What is looked at in a container's specification.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Container<'a> {
    /// What it runs.
    pub image: Text<'a>,
    /// It says itself when it is ready.
    pub readiness_probe: Option<IgnoredAny>,
}
