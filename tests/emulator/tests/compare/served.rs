//! What both servers serve: others of the real cluster's resources are left out of both comparisons.

/// The resources, by their plural.
pub const SERVED: [&str; 13] = [
    "deployments",
    "events",
    "namespaces",
    "nodes",
    "persistentvolumeclaims",
    "pods",
    "replicasets",
    "resourcequotas",
    "rolebindings",
    "roles",
    "selfsubjectaccessreviews",
    "selfsubjectreviews",
    "selfsubjectrulesreviews",
];
