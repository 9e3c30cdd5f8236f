//! Which groups, versions and resources there are.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::resource::{ALL, Resource};

use super::route::{REVIEW_GROUPS, Review};

/// The groups but for the core group, in the order of the real server, each with its version.
fn groups() -> Vec<(&'static str, &'static str)> {
    let order = ["apps", "authentication.k8s.io", "authorization.k8s.io", "rbac.authorization.k8s.io"];
    let place = |group: &str| order.iter().position(|known| *known == group).unwrap_or(order.len());
    let stored = ALL.iter().filter(|r| !r.group.is_empty()).map(|r| (r.group, r.version));
    let mut groups: Vec<_> = stored.chain(REVIEW_GROUPS.iter().map(|g| (g.name, g.version))).collect();
    groups.sort_by_key(|(group, version)| (place(group), *group, *version));
    groups.dedup();
    groups
}

fn group_value(group: &str, version: &str) -> Value {
    let version = json!({"groupVersion": format!("{group}/{version}"), "version": version});
    json!({"name": group, "versions": [version], "preferredVersion": version})
}

/// `/api`
pub fn core_versions(host: &str) -> Value {
    let address = json!({"clientCIDR": "0.0.0.0/0", "serverAddress": host});
    json!({"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": [address]})
}

/// `/apis`
pub fn group_list() -> Value {
    let groups: Vec<_> = groups().into_iter().map(|(group, version)| group_value(group, version)).collect();
    json!({"kind": "APIGroupList", "apiVersion": "v1", "groups": groups})
}

/// `/apis/GROUP`
pub fn group(name: &str) -> Option<Value> {
    let (group, version) = groups().into_iter().find(|(group, _)| *group == name)?;
    let mut value = group_value(group, version);
    if let Some(map) = value.as_object_mut() {
        map.insert("kind".to_owned(), "APIGroup".into());
        map.insert("apiVersion".to_owned(), "v1".into());
    }
    Some(value)
}

fn verbs(resource: &Resource) -> Vec<&'static str> {
    let all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];
    all.into_iter().filter(|verb| *verb != "deletecollection" || resource.plural != "namespaces").collect()
}

fn subresource_verbs(subresource: &str) -> &'static [&'static str] {
    if subresource == "finalize" { &["update"] } else { &["get", "patch", "update"] }
}

/// In which form a kind is stored: the real server's number, which is made of the names.
fn storage_hash(resource: &Resource) -> String {
    let text = format!("{}/{}/{}", resource.group, resource.version, resource.kind);
    STANDARD.encode(Sha256::digest(text).get(..8).unwrap_or_default())
}

/// The resources of a version of a group, in alphabetical order.
fn resources(group: &str, version: &str) -> Vec<&'static Resource> {
    let mut resources: Vec<_> = ALL.into_iter().filter(|r| r.group == group && r.version == version).collect();
    resources.sort_by_key(|r| r.plural);
    resources
}

fn reviews(group: &str) -> impl Iterator<Item = &'static Review> {
    REVIEW_GROUPS.iter().filter(move |g| g.name == group).flat_map(|g| g.reviews)
}

/// `/api/V` and `/apis/GROUP/V`
pub fn resource_list(group: &str, version: &str) -> Value {
    let mut list = Vec::new();
    for r in resources(group, version) {
        let mut entry = json!({
            "name": r.plural, "singularName": r.singular, "namespaced": r.namespaced, "kind": r.kind,
            "verbs": verbs(r), "storageVersionHash": storage_hash(r),
        });
        put_names(&mut entry, r);
        list.push(entry);
        let mut subresources = r.subresources.to_vec();
        subresources.sort_unstable();
        for subresource in subresources {
            let mut entry = json!({
                "name": format!("{}/{subresource}", r.plural), "singularName": "", "namespaced": r.namespaced,
                "kind": r.kind, "verbs": subresource_verbs(subresource),
            });
            if let Some(map) = entry.as_object_mut().filter(|_| subresource == "scale") {
                for (name, value) in [("group", "autoscaling"), ("version", "v1"), ("kind", "Scale")] {
                    map.insert(name.to_owned(), value.into());
                }
            }
            list.push(entry);
        }
    }
    for review in reviews(group) {
        list.push(json!({
            "name": review.plural, "singularName": review.kind.to_lowercase(), "namespaced": review.namespaced,
            "kind": review.kind, "verbs": ["create"],
        }));
    }
    let name = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    let mut value = json!({"kind": "APIResourceList", "groupVersion": name, "resources": list});
    // The core group is older than this field.
    if let Some(map) = value.as_object_mut().filter(|_| !group.is_empty()) {
        map.insert("apiVersion".to_owned(), "v1".into());
    }
    value
}

fn put_names(entry: &mut Value, resource: &Resource) {
    if let Some(map) = entry.as_object_mut() {
        for (name, list) in [("shortNames", resource.short), ("categories", resource.categories)] {
            if !list.is_empty() {
                map.insert(name.to_owned(), json!(list));
            }
        }
    }
}

fn aggregated_version(group: &str, version: &str) -> Value {
    let own = |kind: &str| json!({"group": "", "version": "", "kind": kind});
    let scope = |namespaced: bool| if namespaced { "Namespaced" } else { "Cluster" };
    let stored = resources(group, version).into_iter().map(|r| {
        let mut subresources = r.subresources.to_vec();
        subresources.sort_unstable();
        let parts = subresources.into_iter().map(|subresource| {
            let kind = match subresource {
                "scale" => json!({"group": "autoscaling", "version": "v1", "kind": "Scale"}),
                _ => own(r.kind),
            };
            json!({"subresource": subresource, "responseKind": kind, "verbs": subresource_verbs(subresource)})
        });
        let parts: Vec<_> = parts.collect();
        let mut entry = json!({
            "resource": r.plural, "responseKind": own(r.kind), "scope": scope(r.namespaced),
            "singularResource": r.singular, "verbs": verbs(r),
        });
        put_names(&mut entry, r);
        if let Some(map) = entry.as_object_mut().filter(|_| !parts.is_empty()) {
            map.insert("subresources".to_owned(), parts.into());
        }
        entry
    });
    let reviews = reviews(group).map(|review| {
        json!({
            "resource": review.plural, "responseKind": own(review.kind), "scope": scope(review.namespaced),
            "singularResource": review.kind.to_lowercase(), "verbs": ["create"],
        })
    });
    let resources: Vec<_> = stored.chain(reviews).collect();
    json!({"version": version, "resources": resources, "freshness": "Current"})
}

/// `/api` or `/apis` with all resources in one piece.
pub fn aggregated(core: bool) -> Value {
    let items: Vec<_> = if core {
        vec![json!({"metadata": {}, "versions": [aggregated_version("", "v1")]})]
    } else {
        let groups = groups().into_iter();
        let entry =
            |(group, version)| json!({"metadata": {"name": group}, "versions": [aggregated_version(group, version)]});
        groups.map(entry).collect()
    };
    json!({"kind": "APIGroupDiscoveryList", "apiVersion": "apidiscovery.k8s.io/v2", "metadata": {}, "items": items})
}
