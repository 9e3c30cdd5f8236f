//! Who may do what: the stored Roles and bindings, and the few that every cluster has.

use std::sync::Arc;

use crate::call::User;
use crate::error::{ApiError, Details};
use crate::quote::quoted;
use crate::resource::{CLUSTER_ROLE_BINDINGS, CLUSTER_ROLES, ROLE_BINDINGS, ROLES};
use crate::state::State;
use crate::store::{Key, Object};

mod rules;
use rules::{Binding, Role};
pub use rules::{Rule, builtin_bindings, builtin_role};

/// What somebody wants to do.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Attributes {
    /// `get`, `list` and so on.
    pub verb: String,
    /// Of a resource; a path otherwise.
    pub of_resource: bool,
    /// The path.
    pub path: String,
    /// The API group.
    pub group: String,
    /// The resource.
    pub resource: String,
    /// The subresource.
    pub subresource: String,
    /// The namespace; empty for all.
    pub namespace: String,
    /// The name; empty for all.
    pub name: String,
}

/// Whether somebody may.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Decision {
    /// He may.
    pub allowed: bool,
    /// Why, or what went wrong while that was found out. Often empty.
    pub reason: String,
}

/// Decides.
pub fn decide(state: &State, user: &User, wanted: &Attributes) -> Decision {
    if user.groups.iter().any(|group| group == "system:masters") {
        return Decision { allowed: true, reason: String::new() };
    }
    let mut missing = Vec::new();
    for found in resolve(state, user, &wanted.namespace) {
        match found {
            Err(role) => missing.push(role),
            Ok((binding, rules)) => {
                if rules.iter().any(|rule| rule.allows(wanted)) {
                    return Decision { allowed: true, reason: format!("RBAC: allowed by {binding}") };
                }
            }
        }
    }
    let reason = match missing.as_slice() {
        [] => String::new(),
        [one] => format!("RBAC: {one}"),
        several => format!("RBAC: [{}]", several.join(", ")),
    };
    Decision { allowed: false, reason }
}

/// All rules that hold for somebody in a namespace, and the roles that were not found.
pub fn rules_for(state: &State, user: &User, namespace: &str) -> (Vec<Rule>, Vec<String>) {
    let (mut rules, mut missing) = (Vec::new(), Vec::new());
    for found in resolve(state, user, namespace) {
        match found {
            Ok((_, more)) => rules.extend(more),
            Err(role) => missing.push(role),
        }
    }
    (rules, missing)
}

/// For each binding that is about somebody, what it is called and its rules; or that there is no such role.
fn resolve<'a>(
    state: &'a State,
    user: &'a User,
    namespace: &'a str,
) -> impl Iterator<Item = Result<(String, Vec<Rule>), String>> + 'a {
    let stored = state.store.all(&CLUSTER_ROLE_BINDINGS, None);
    let names: Vec<_> = stored.iter().map(|binding| binding.key.name().to_owned()).collect();
    // One that was stored under the same name takes the place.
    let builtin = builtin_bindings().into_iter().filter(move |binding| !names.contains(&binding.name));
    let local = match namespace {
        "" => Vec::new(),
        namespace => state.store.all(&ROLE_BINDINGS, Some(namespace)),
    };
    let everywhere = builtin.chain(read(stored)).map(|binding| (binding, ""));
    let here = read(local).map(move |binding| (binding, namespace));
    everywhere.chain(here).filter_map(move |(binding, namespace)| {
        let subject = binding.subjects.iter().find(|subject| subject.is(user, namespace))?;
        let told = binding.told(subject, namespace);
        Some(role(state, &binding, namespace).map(|rules| (told, rules)))
    })
}

fn read(objects: Vec<Arc<Object>>) -> impl Iterator<Item = Binding> {
    objects.into_iter().filter_map(|object| {
        let mut binding: Binding = serde_json::from_slice::<Binding>(&object.text).ok()?;
        object.key.name().clone_into(&mut binding.name);
        Some(binding)
    })
}

fn role(state: &State, binding: &Binding, namespace: &str) -> Result<Vec<Rule>, String> {
    let name = binding.role_ref.name.as_str();
    let (key, kind) = match binding.role_ref.kind.as_str() {
        "Role" => (Key::new(&ROLES, namespace, name), "role"),
        "ClusterRole" => (Key::new(&CLUSTER_ROLES, "", name), "clusterrole"),
        other => return Err(format!("unsupported role reference kind: {}", quoted(other))),
    };
    let stored = state.store.get(&key).and_then(|object| serde_json::from_slice::<Role>(&object.text).ok());
    match stored {
        Some(role) => Some(role.rules.unwrap_or_default()),
        None if kind == "clusterrole" => builtin_role(name),
        None => None,
    }
    .ok_or_else(|| format!("{kind}.rbac.authorization.k8s.io {} not found", quoted(name)))
}

/// 403 for who may not.
pub fn forbidden(user: &User, wanted: &Attributes, reason: &str) -> ApiError {
    let resource = match wanted.subresource.as_str() {
        "" => wanted.resource.clone(),
        subresource => format!("{}/{subresource}", wanted.resource),
    };
    let who = quoted(&user.name);
    let what = if wanted.of_resource {
        let place = match wanted.namespace.as_str() {
            "" => "at the cluster scope".to_owned(),
            namespace => format!("in the namespace {}", quoted(namespace)),
        };
        let (resource, group) = (quoted(&resource), quoted(&wanted.group));
        format!("User {who} cannot {} resource {resource} in API group {group} {place}", wanted.verb)
    } else {
        format!("User {who} cannot {} path {}", wanted.verb, quoted(&wanted.path))
    };
    let mut what = what.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    if !reason.is_empty() {
        what = format!("{what}: {reason}");
    }
    let dotted = match wanted.group.as_str() {
        "" => wanted.resource.clone(),
        group => format!("{}.{group}", wanted.resource),
    };
    let message = match (wanted.of_resource, wanted.name.as_str()) {
        (false, _) => format!("forbidden: {what}"),
        (true, "") => format!("{dotted} is forbidden: {what}"),
        (true, name) => format!("{dotted} {} is forbidden: {what}", quoted(name)),
    };
    ApiError::new(403, "Forbidden", message).with(Details {
        name: wanted.name.clone(),
        group: wanted.group.clone(),
        kind: wanted.resource.clone(),
        ..Details::default()
    })
}

#[cfg(test)]
mod tests;
