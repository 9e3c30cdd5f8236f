//! Rules, roles and bindings, and those of them that are in every cluster.

use serde::{Deserialize, Serialize};

use crate::call::User;
use crate::quote::quoted;

use super::Attributes;

/// What a role allows.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Rule {
    /// The verbs.
    #[serde(deserialize_with = "or_none")]
    pub verbs: Vec<String>,
    /// The API groups.
    #[serde(deserialize_with = "or_none", skip_serializing_if = "Vec::is_empty")]
    pub api_groups: Vec<String>,
    /// The resources, with a slash and the subresource for one of those.
    #[serde(deserialize_with = "or_none", skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<String>,
    /// Only these objects.
    #[serde(deserialize_with = "or_none", skip_serializing_if = "Vec::is_empty")]
    pub resource_names: Vec<String>,
    /// Paths that are no resources.
    #[serde(rename = "nonResourceURLs", deserialize_with = "or_none", skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
}

/// `null` is an empty list.
fn or_none<'de, D: serde::Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Vec<T>, D::Error> {
    Option::<Vec<T>>::deserialize(from).map(Option::unwrap_or_default)
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Role {
    pub(super) rules: Option<Vec<Rule>>,
}

/// A role and who has it.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Binding {
    #[serde(skip)]
    pub(super) name: String,
    pub(super) role_ref: RoleRef,
    #[serde(deserialize_with = "or_none")]
    pub(super) subjects: Vec<Subject>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct RoleRef {
    pub(super) kind: String,
    pub(super) name: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Subject {
    kind: String,
    name: String,
    namespace: String,
}

impl Rule {
    /// Whether it allows something.
    pub fn allows(&self, wanted: &Attributes) -> bool {
        let has = |list: &[String], word: &str| list.iter().any(|one| one == "*" || one == word);
        if !has(&self.verbs, &wanted.verb) {
            return false;
        }
        if !wanted.of_resource {
            return self.paths.iter().any(|path| match path.strip_suffix('*') {
                Some(start) => wanted.path.starts_with(start.trim_end_matches('*')),
                None => *path == wanted.path,
            });
        }
        has(&self.api_groups, &wanted.group)
            && self.has_resource(wanted)
            && (self.resource_names.is_empty() || self.resource_names.contains(&wanted.name))
    }

    fn has_resource(&self, wanted: &Attributes) -> bool {
        self.resources.iter().any(|one| {
            one == "*"
                || match (one.split_once('/'), wanted.subresource.as_str()) {
                    (None, "") => *one == wanted.resource,
                    (Some((resource, subresource)), part) if !part.is_empty() => {
                        subresource == part && (resource == "*" || resource == wanted.resource)
                    }
                    _ => false,
                }
        })
    }
}

impl Binding {
    /// The words by which the reason of a decision names it.
    pub(super) fn told(&self, subject: &Subject, namespace: &str) -> String {
        let role = format!("{} {}", self.role_ref.kind, quoted(&self.role_ref.name));
        let subject_name = match subject.kind.as_str() {
            "ServiceAccount" if subject.namespace.is_empty() => format!("{}/{namespace}", subject.name),
            "ServiceAccount" => format!("{}/{}", subject.name, subject.namespace),
            _ => subject.name.clone(),
        };
        let (kind, name) = match namespace {
            "" => ("ClusterRoleBinding", self.name.clone()),
            namespace => ("RoleBinding", format!("{}/{namespace}", self.name)),
        };
        format!("{kind} {} of {role} to {} {}", quoted(&name), subject.kind, quoted(&subject_name))
    }
}

impl Subject {
    pub(super) fn is(&self, user: &User, namespace: &str) -> bool {
        match self.kind.as_str() {
            "User" => self.name == user.name,
            "Group" => user.groups.contains(&self.name),
            "ServiceAccount" => {
                let namespace = if self.namespace.is_empty() { namespace } else { &self.namespace };
                !namespace.is_empty() && user.name == format!("system:serviceaccount:{namespace}:{}", self.name)
            }
            _ => false,
        }
    }
}

fn group(name: &str) -> Subject {
    Subject { kind: "Group".to_owned(), name: name.to_owned(), namespace: String::new() }
}

/// The bindings that every cluster has: what everybody may ask, and what an administrator may.
pub fn builtin_bindings() -> Vec<Binding> {
    let binding = |name: &str, groups: &[&str]| Binding {
        name: name.to_owned(),
        role_ref: RoleRef { kind: "ClusterRole".to_owned(), name: name.to_owned() },
        subjects: groups.iter().map(|name| group(name)).collect(),
    };
    vec![
        binding("cluster-admin", &["system:masters"]),
        binding("system:basic-user", &["system:authenticated"]),
        binding("system:discovery", &["system:authenticated"]),
        binding("system:public-info-viewer", &["system:authenticated", "system:unauthenticated"]),
    ]
}

fn words(list: &[&str]) -> Vec<String> {
    list.iter().map(|word| (*word).to_owned()).collect()
}

fn rule(verbs: &[&str], api_groups: &[&str], resources: &[&str]) -> Rule {
    Rule { verbs: words(verbs), api_groups: words(api_groups), resources: words(resources), ..Rule::default() }
}

fn paths(verbs: &[&str], paths: &[&str]) -> Rule {
    Rule { verbs: words(verbs), paths: words(paths), ..Rule::default() }
}

/// The rules of a ClusterRole that every cluster has. Of `admin`, `edit` and `view` what is about resources that are
/// served here.
pub fn builtin_role(name: &str) -> Option<Vec<Rule>> {
    let read = ["get", "list", "watch"];
    let write = ["create", "delete", "deletecollection", "patch", "update"];
    let rbac = "rbac.authorization.k8s.io";
    let view = || {
        let core = [
            "pods",
            "pods/status",
            "persistentvolumeclaims",
            "persistentvolumeclaims/status",
            "events",
            "resourcequotas",
            "resourcequotas/status",
            "namespaces",
            "namespaces/status",
        ];
        let apps = [
            "deployments",
            "deployments/scale",
            "deployments/status",
            "replicasets",
            "replicasets/scale",
            "replicasets/status",
        ];
        vec![rule(&read, &[""], &core), rule(&read, &["apps"], &apps)]
    };
    let edit = || {
        let apps = ["deployments", "deployments/scale", "replicasets", "replicasets/scale"];
        let core = ["pods", "persistentvolumeclaims", "events"];
        let mut rules = vec![rule(&write, &[""], &core), rule(&write, &["apps"], &apps)];
        rules.extend(view());
        rules
    };
    Some(match name {
        "cluster-admin" => vec![rule(&["*"], &["*"], &["*"]), paths(&["*"], &["*"])],
        "admin" => {
            let mut rules = edit();
            let all: Vec<_> = read.into_iter().chain(write).collect();
            rules.push(rule(&all, &[rbac], &["rolebindings", "roles"]));
            rules.push(rule(&["create"], &["authorization.k8s.io"], &["localsubjectaccessreviews"]));
            rules
        }
        "edit" => edit(),
        "view" => view(),
        "system:basic-user" => vec![
            rule(&["create"], &["authorization.k8s.io"], &["selfsubjectaccessreviews", "selfsubjectrulesreviews"]),
            rule(&["create"], &["authentication.k8s.io"], &["selfsubjectreviews"]),
        ],
        "system:discovery" => vec![paths(
            &["get"],
            &[
                "/api",
                "/api/*",
                "/apis",
                "/apis/*",
                "/healthz",
                "/livez",
                "/openapi",
                "/openapi/*",
                "/readyz",
                "/version",
                "/version/",
            ],
        )],
        "system:public-info-viewer" => {
            vec![paths(&["get"], &["/healthz", "/livez", "/readyz", "/version", "/version/"])]
        }
        _ => return None,
    })
}
