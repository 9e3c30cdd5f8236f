//! Kubernetes: what a provider of Deployments needs, and nothing that is not here.
//!
//! Not here, so denied whatever is granted: Secrets and ConfigMaps, tokens and reviews, exec, attach, port-forward, proxy,
//! eviction, binding, ephemeral containers, cluster-scoped kinds, deletion of collections, the legacy `/api/v1/watch`
//! paths, `/metrics` and its like, and every other API group. A new operation is a row here.

mod bodies;
mod pod;

use super::Part::{Fixed, Name, Place};
use super::{FieldGrant, Operation, Part, Path, Rbac};
use crate::fields::Rule;
use crate::limits;
use crate::query::{Key, Takes};
use crate::request::{Media, Method};

/// A resource: what it is called in paths, permissions and sentences.
struct Resource {
    group: &'static str,
    name: &'static str,
    subresource: Option<&'static str>,
}

const DEPLOYMENTS: Resource = Resource { group: "apps", name: "deployments", subresource: None };
const SCALE: Resource = Resource { group: "apps", name: "deployments", subresource: Some("scale") };
const REPLICA_SETS: Resource = Resource { group: "apps", name: "replicasets", subresource: None };
const PODS: Resource = Resource { group: "", name: "pods", subresource: None };
const EVENTS: Resource = Resource { group: "", name: "events", subresource: None };

/// A path of the group `apps`, and of the core group.
macro_rules! apps {
    ($($part:expr),*) => { &[Fixed("apis"), Fixed("apps"), Fixed("v1"), $($part),*] };
}
macro_rules! core {
    ($($part:expr),*) => { &[Fixed("api"), Fixed("v1"), $($part),*] };
}

const IN: Part = Fixed("namespaces");
const DEPLOYMENT: &[Path] = &[apps!(IN, Place, Fixed("deployments"), Name)];
const DEPLOYMENT_SCALE: &[Path] = &[apps!(IN, Place, Fixed("deployments"), Name, Fixed("scale"))];
const DEPLOYMENTS_OF_ONE: &[Path] = &[apps!(IN, Place, Fixed("deployments"))];
// Of one namespace, and of all.
const DEPLOYMENT_LISTS: &[Path] = &[apps!(IN, Place, Fixed("deployments")), apps!(Fixed("deployments"))];
const REPLICA_SET: &[Path] = &[apps!(IN, Place, Fixed("replicasets"), Name)];
const REPLICA_SET_LISTS: &[Path] = &[apps!(IN, Place, Fixed("replicasets")), apps!(Fixed("replicasets"))];
const POD: &[Path] = &[core!(IN, Place, Fixed("pods"), Name)];
const POD_LISTS: &[Path] = &[core!(IN, Place, Fixed("pods")), core!(Fixed("pods"))];
// Only of one namespace: they are read to explain one workload.
const EVENT_LISTS: &[Path] = &[core!(IN, Place, Fixed("events"))];

const READABLE: &[Media] = &[Media::Json, Media::JsonTable, Media::JsonMetadata];
const JSON: &[Media] = &[Media::Json];

const GET: &[Key] = &[Key::may("resourceVersion", Takes::Version)];
const MATCH: Takes = Takes::OneOf(&["Exact", "NotOlderThan"]);

/// The keys of a list and of a watch that may select by these fields.
macro_rules! list {
    ($fields:expr) => {
        &[
            Key::may("limit", Takes::Limit),
            Key::may("continue", Takes::Continue),
            Key::may("labelSelector", Takes::Labels),
            Key::may("fieldSelector", Takes::Fields($fields)),
            Key::may("resourceVersion", Takes::Version),
            Key::may("resourceVersionMatch", MATCH),
        ]
    };
}
macro_rules! watch {
    ($fields:expr) => {
        &[
            Key::must("watch", Takes::OneOf(&["true"])),
            Key::may("allowWatchBookmarks", Takes::OneOf(&["true", "false"])),
            Key::may("timeoutSeconds", Takes::Seconds(limits::WATCH_SECONDS)),
            Key::may("labelSelector", Takes::Labels),
            Key::may("fieldSelector", Takes::Fields($fields)),
            Key::may("resourceVersion", Takes::Version),
            Key::may("resourceVersionMatch", MATCH),
        ]
    };
}
const BY_NAME: &[&str] = &["metadata.name"];
const BY_PHASE: &[&str] = &["metadata.name", "status.phase"];
const BY_OBJECT: &[&str] =
    &["metadata.name", "involvedObject.kind", "involvedObject.name", "involvedObject.uid", "reason", "type"];

/// `force` is not among them: it takes fields away from another program.
const WRITE: &[Key] = &[
    Key::may("fieldManager", Takes::Manager),
    Key::may("fieldValidation", Takes::OneOf(&["Strict", "Warn", "Ignore"])),
    Key::may("dryRun", Takes::OneOf(&["All"])),
];

const fn row(word: &'static str, sentence: &'static str, verb: &'static str, of: Resource) -> Operation {
    Operation {
        word,
        sentence,
        method: Method::Get,
        streaming: false,
        dangerous: false,
        rbac: Rbac { api_group: of.group, resource: of.name, subresource: of.subresource, verb, namespaced: true },
        paths: &[],
        query: &[],
        accept: JSON,
        body: None,
    }
}

const fn get(word: &'static str, sentence: &'static str, of: Resource, paths: &'static [Path]) -> Operation {
    Operation { paths, query: GET, accept: READABLE, ..row(word, sentence, "get", of) }
}

const fn list(
    word: &'static str,
    sentence: &'static str,
    of: Resource,
    paths: &'static [Path],
    query: &'static [Key],
) -> Operation {
    Operation { paths, query, accept: READABLE, ..row(word, sentence, "list", of) }
}

const fn watch(
    word: &'static str,
    sentence: &'static str,
    of: Resource,
    paths: &'static [Path],
    query: &'static [Key],
) -> Operation {
    Operation { paths, query, streaming: true, accept: READABLE, ..row(word, sentence, "watch", of) }
}

const fn merge_patch(
    word: &'static str,
    sentence: &'static str,
    of: Resource,
    paths: &'static [Path],
    body: &'static Rule,
) -> Operation {
    let body = Some((Media::MergePatch, body));
    Operation { method: Method::Patch, paths, query: WRITE, body, ..row(word, sentence, "patch", of) }
}

pub(super) const OPERATIONS: &[Operation] = &[
    get("deployments:get", "read one Deployment", DEPLOYMENTS, DEPLOYMENT),
    list("deployments:list", "list Deployments", DEPLOYMENTS, DEPLOYMENT_LISTS, list!(BY_NAME)),
    watch("deployments:watch", "follow changes of Deployments", DEPLOYMENTS, DEPLOYMENT_LISTS, watch!(BY_NAME)),
    Operation {
        method: Method::Post,
        paths: DEPLOYMENTS_OF_ONE,
        query: WRITE,
        body: Some((Media::Json, &bodies::CREATE_DEPLOYMENT)),
        ..row("deployments:create", "create a Deployment of allowed fields", "create", DEPLOYMENTS)
    },
    merge_patch(
        "deployments:patch",
        "change our own annotations of a Deployment, nothing else of it",
        DEPLOYMENTS,
        DEPLOYMENT,
        &bodies::PATCH_DEPLOYMENT,
    ),
    Operation {
        method: Method::Delete,
        paths: DEPLOYMENT,
        body: Some((Media::Json, &bodies::DELETE)),
        ..row("deployments:delete", "delete a Deployment of known uid, with its Pods", "delete", DEPLOYMENTS)
    },
    Operation {
        accept: JSON,
        ..get("deployments/scale:get", "read how many replicas a Deployment wants", SCALE, DEPLOYMENT_SCALE)
    },
    merge_patch(
        "deployments/scale:patch",
        "change how many replicas a Deployment wants: start and stop it",
        SCALE,
        DEPLOYMENT_SCALE,
        &bodies::PATCH_SCALE,
    ),
    get("replicasets:get", "read one ReplicaSet", REPLICA_SETS, REPLICA_SET),
    list("replicasets:list", "list ReplicaSets", REPLICA_SETS, REPLICA_SET_LISTS, list!(BY_NAME)),
    watch("replicasets:watch", "follow changes of ReplicaSets", REPLICA_SETS, REPLICA_SET_LISTS, watch!(BY_NAME)),
    get("pods:get", "read one Pod", PODS, POD),
    list("pods:list", "list Pods", PODS, POD_LISTS, list!(BY_PHASE)),
    watch("pods:watch", "follow changes of Pods", PODS, POD_LISTS, watch!(BY_PHASE)),
    list("events:list", "list Events, which say what happened to an object", EVENTS, EVENT_LISTS, list!(BY_OBJECT)),
];

pub(super) const FIELD_GRANTS: &[FieldGrant] = &[
    FieldGrant {
        word: pod::PRIVILEGED,
        sentence: "containers that are privileged, run as root by choice, or loosen what confines them",
    },
    FieldGrant { word: pod::HOST_NAMESPACES, sentence: "the network, processes, users or ports of the node" },
    FieldGrant { word: pod::HOST_PATH, sentence: "files of the node" },
    FieldGrant { word: pod::SECRET, sentence: "any Secret of the namespace, as files or environment" },
    FieldGrant { word: pod::CONFIG_MAP, sentence: "any ConfigMap of the namespace, as files or environment" },
    FieldGrant { word: pod::PROJECTED, sentence: "projected volumes; what is in them needs its own grant too" },
    FieldGrant { word: pod::VOLUME_CLAIM, sentence: "any PersistentVolumeClaim of the namespace, as a volume" },
    FieldGrant {
        word: pod::SERVICE_ACCOUNT,
        sentence: "a service account and its token, so all that the account may do in the cluster",
    },
    FieldGrant { word: pod::SCHEDULING, sentence: "tolerations, a priority that evicts others, and a runtime class" },
    FieldGrant {
        word: pod::ANNOTATIONS,
        sentence: "annotations of Pods other than ours, by which add-ons hand out networks, secrets and roles",
    },
];

#[cfg(test)]
mod tests;
