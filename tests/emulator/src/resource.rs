//! The resources that are served, as one table.

use std::cmp::Ordering;

/// A resource of the API.
#[derive(Debug)]
pub struct Resource {
    /// The API group, empty for the core group.
    pub group: &'static str,
    /// The only version that is served of it.
    pub version: &'static str,
    /// The word in paths, such as `deployments`.
    pub plural: &'static str,
    /// The word for one, such as `deployment`.
    pub singular: &'static str,
    /// The kind of its objects.
    pub kind: &'static str,
    /// What `kubectl` understands besides.
    pub short: &'static [&'static str],
    /// Groups such as `all`.
    pub categories: &'static [&'static str],
    /// Whether its objects are in a namespace.
    pub namespaced: bool,
    /// Its subresources.
    pub subresources: &'static [&'static str],
    /// Whether `metadata.generation` is kept.
    pub generation: bool,
    /// Fields that a field selector can name besides `metadata.name` and `metadata.namespace`.
    pub selectable: &'static [Selectable],
}

/// A field that a field selector can name.
#[derive(Debug)]
pub struct Selectable {
    /// Its name.
    pub name: &'static str,
    /// The JSON pointer of its value.
    pub at: &'static str,
    /// What it is when nothing is there: a text, or another JSON pointer.
    pub otherwise: &'static str,
}

impl Resource {
    /// `group/version`, or the version alone for the core group: what stands in `apiVersion`.
    pub fn api_version(&self) -> String {
        if self.group.is_empty() { self.version.to_owned() } else { format!("{}/{}", self.group, self.version) }
    }

    /// `plural.group`, as messages name it.
    pub fn qualified(&self) -> String {
        if self.group.is_empty() { self.plural.to_owned() } else { format!("{}.{}", self.plural, self.group) }
    }
}

// One static for each resource, so these say the same thing.
impl PartialEq for Resource {
    fn eq(&self, other: &Resource) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Resource {}

impl std::hash::Hash for Resource {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.group, self.plural).hash(state);
    }
}

impl PartialOrd for Resource {
    fn partial_cmp(&self, other: &Resource) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Resource {
    fn cmp(&self, other: &Resource) -> Ordering {
        (self.group, self.plural).cmp(&(other.group, other.plural))
    }
}

const fn field(name: &'static str, at: &'static str) -> Selectable {
    or(name, at, "")
}

const fn or(name: &'static str, at: &'static str, otherwise: &'static str) -> Selectable {
    Selectable { name, at, otherwise }
}

/// What most resources have in common.
const PLAIN: Resource = Resource {
    group: "",
    version: "v1",
    plural: "",
    singular: "",
    kind: "",
    short: &[],
    categories: &[],
    namespaced: true,
    subresources: &[],
    generation: false,
    selectable: &[],
};

/// `namespaces`
pub static NAMESPACES: Resource = Resource {
    plural: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    short: &["ns"],
    namespaced: false,
    subresources: &["status", "finalize"],
    selectable: &[field("status.phase", "/status/phase")],
    ..PLAIN
};

/// `nodes`
pub static NODES: Resource = Resource {
    plural: "nodes",
    singular: "node",
    kind: "Node",
    short: &["no"],
    namespaced: false,
    subresources: &["status"],
    selectable: &[or("spec.unschedulable", "/spec/unschedulable", "false")],
    ..PLAIN
};

/// `pods`
pub static PODS: Resource = Resource {
    plural: "pods",
    singular: "pod",
    kind: "Pod",
    short: &["po"],
    categories: &["all"],
    subresources: &["status"],
    generation: true,
    selectable: &[
        field("spec.nodeName", "/spec/nodeName"),
        field("spec.restartPolicy", "/spec/restartPolicy"),
        field("spec.schedulerName", "/spec/schedulerName"),
        field("spec.serviceAccountName", "/spec/serviceAccountName"),
        or("spec.hostNetwork", "/spec/hostNetwork", "false"),
        field("status.phase", "/status/phase"),
        or("status.podIP", "/status/podIPs/0/ip", "/status/podIP"),
        field("status.nominatedNodeName", "/status/nominatedNodeName"),
    ],
    ..PLAIN
};

/// Whether a Pod's phase is its last: its containers have ended and will not run again.
pub fn is_last_phase(phase: &str) -> bool {
    matches!(phase, "Succeeded" | "Failed")
}

/// `events`, of the core group
pub static EVENTS: Resource = Resource {
    plural: "events",
    singular: "event",
    kind: "Event",
    short: &["ev"],
    selectable: &[
        field("involvedObject.kind", "/involvedObject/kind"),
        field("involvedObject.namespace", "/involvedObject/namespace"),
        field("involvedObject.name", "/involvedObject/name"),
        field("involvedObject.uid", "/involvedObject/uid"),
        field("involvedObject.apiVersion", "/involvedObject/apiVersion"),
        field("involvedObject.resourceVersion", "/involvedObject/resourceVersion"),
        field("involvedObject.fieldPath", "/involvedObject/fieldPath"),
        field("reason", "/reason"),
        field("reportingComponent", "/reportingComponent"),
        or("source", "/source/component", "/reportingComponent"),
        field("type", "/type"),
    ],
    ..PLAIN
};

/// `resourcequotas`
pub static RESOURCE_QUOTAS: Resource = Resource {
    plural: "resourcequotas",
    singular: "resourcequota",
    kind: "ResourceQuota",
    short: &["quota"],
    subresources: &["status"],
    ..PLAIN
};

/// `persistentvolumeclaims`
pub static PERSISTENT_VOLUME_CLAIMS: Resource = Resource {
    plural: "persistentvolumeclaims",
    singular: "persistentvolumeclaim",
    kind: "PersistentVolumeClaim",
    short: &["pvc"],
    subresources: &["status"],
    ..PLAIN
};

/// `deployments`
pub static DEPLOYMENTS: Resource = Resource {
    group: "apps",
    plural: "deployments",
    singular: "deployment",
    kind: "Deployment",
    short: &["deploy"],
    categories: &["all"],
    subresources: &["status", "scale"],
    generation: true,
    ..PLAIN
};

/// `replicasets`
pub static REPLICA_SETS: Resource = Resource {
    group: "apps",
    plural: "replicasets",
    singular: "replicaset",
    kind: "ReplicaSet",
    short: &["rs"],
    categories: &["all"],
    subresources: &["status", "scale"],
    generation: true,
    ..PLAIN
};

/// `roles`
pub static ROLES: Resource = Resource { plural: "roles", singular: "role", kind: "Role", ..RBAC };

/// `rolebindings`
pub static ROLE_BINDINGS: Resource =
    Resource { plural: "rolebindings", singular: "rolebinding", kind: "RoleBinding", ..RBAC };

/// `clusterroles`
pub static CLUSTER_ROLES: Resource =
    Resource { plural: "clusterroles", singular: "clusterrole", kind: "ClusterRole", namespaced: false, ..RBAC };

/// `clusterrolebindings`
pub static CLUSTER_ROLE_BINDINGS: Resource = Resource {
    plural: "clusterrolebindings",
    singular: "clusterrolebinding",
    kind: "ClusterRoleBinding",
    namespaced: false,
    ..RBAC
};

const RBAC: Resource = Resource { group: "rbac.authorization.k8s.io", ..PLAIN };

/// Every resource that is stored, the core group first.
pub static ALL: [&Resource; 12] = [
    &NAMESPACES,
    &NODES,
    &PODS,
    &EVENTS,
    &RESOURCE_QUOTAS,
    &PERSISTENT_VOLUME_CLAIMS,
    &DEPLOYMENTS,
    &REPLICA_SETS,
    &ROLES,
    &ROLE_BINDINGS,
    &CLUSTER_ROLES,
    &CLUSTER_ROLE_BINDINGS,
];

/// The resource of these words.
pub fn find(group: &str, version: &str, plural: &str) -> Option<&'static Resource> {
    ALL.into_iter().find(|r| r.group == group && r.version == version && r.plural == plural)
}

/// The resource whose objects are of this kind.
pub fn of_kind(group: &str, kind: &str) -> Option<&'static Resource> {
    ALL.into_iter().find(|r| r.group == group && r.kind == kind)
}
