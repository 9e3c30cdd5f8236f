//! One stored object and its key.

use std::cmp::Ordering;
use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use serde_json::Value;

use crate::registry::metadata;
use crate::resource::Resource;

/// Where an object is. Keys are ordered as etcd's are: by the bytes of `namespace/name`.
#[derive(Debug, Clone)]
pub struct Key {
    /// The resource.
    pub resource: &'static Resource,
    path: Arc<str>,
}

impl Key {
    /// Of an object; the namespace is empty for one that has none.
    pub fn new(resource: &'static Resource, namespace: &str, name: &str) -> Key {
        let path = if resource.namespaced { format!("{namespace}/{name}") } else { name.to_owned() };
        Key { resource, path: path.into() }
    }

    /// Of a path as [`Key::path`] gives it.
    pub(crate) fn at(resource: &'static Resource, path: &str) -> Key {
        Key { resource, path: path.into() }
    }

    /// `namespace/name`, or the name alone.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The namespace; empty for an object that has none.
    pub fn namespace(&self) -> &str {
        self.path.split_once('/').map_or("", |(namespace, _)| namespace)
    }

    /// The name.
    pub fn name(&self) -> &str {
        self.path.split_once('/').map_or(&self.path, |(_, name)| name)
    }
}

impl PartialEq for Key {
    fn eq(&self, other: &Key) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for Key {}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Key) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Key) -> Ordering {
        self.resource.cmp(other.resource).then_with(|| self.path.cmp(&other.path))
    }
}

impl std::hash::Hash for Key {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        (self.resource.group, self.resource.plural, &self.path).hash(state);
    }
}

/// One of an object's owners.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Owner {
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// It is the one that manages the object.
    pub controller: bool,
    /// A foreground deletion of the owner waits for this object.
    pub blocks: bool,
}

/// An object as it is stored: the text, and what it is looked for by.
#[derive(Debug)]
pub struct Object {
    /// Where it is.
    pub key: Key,
    /// The version that it was written with.
    pub version: u64,
    /// Its uid.
    pub uid: String,
    /// Its labels.
    pub labels: BTreeMap<String, String>,
    /// Its owners.
    pub owners: Vec<Owner>,
    /// It has a deletion timestamp.
    pub deleting: bool,
    /// The values of the fields that a selector can name, in the order of [`Resource::selectable`].
    pub fields: Vec<String>,
    /// The JSON text without `kind` and `apiVersion`, as it stands in a list.
    pub text: Bytes,
}

impl Object {
    /// Sets the version, and writes the text.
    pub(crate) fn new(key: Key, version: u64, mut value: Value) -> Object {
        metadata(&mut value).insert("resourceVersion".to_owned(), version.to_string().into());
        if let Some(map) = value.as_object_mut() {
            map.remove("kind");
            map.remove("apiVersion");
        }
        let metadata = value.get("metadata").unwrap_or(&Value::Null);
        let text = |from: &Value, field: &str| from.get(field).and_then(Value::as_str).unwrap_or_default().to_owned();
        let flag = |from: &Value, field: &str| from.get(field).and_then(Value::as_bool).unwrap_or_default();
        let labels = metadata.get("labels").and_then(Value::as_object).into_iter().flatten();
        let owners = metadata.get("ownerReferences").and_then(Value::as_array).into_iter().flatten();
        Object {
            version,
            uid: text(metadata, "uid"),
            labels: labels.map(|(k, v)| (k.clone(), v.as_str().unwrap_or_default().to_owned())).collect(),
            owners: owners
                .map(|owner| Owner {
                    kind: text(owner, "kind"),
                    name: text(owner, "name"),
                    uid: text(owner, "uid"),
                    controller: flag(owner, "controller"),
                    blocks: flag(owner, "blockOwnerDeletion"),
                })
                .collect(),
            deleting: metadata.get("deletionTimestamp").is_some(),
            fields: key.resource.selectable.iter().map(|field| selected(&value, field.at, field.otherwise)).collect(),
            text: value.to_string().into(),
            key,
        }
    }

    /// The whole object.
    pub fn value(&self) -> Value {
        // The text was written from a value, so it can be read as one.
        let mut value: Value = serde_json::from_slice(&self.text).unwrap_or_default();
        if let Some(map) = value.as_object_mut() {
            map.insert("kind".to_owned(), self.key.resource.kind.into());
            map.insert("apiVersion".to_owned(), self.key.resource.api_version().into());
        }
        value
    }

    /// The whole object as JSON text, with `kind` and `apiVersion` first as the API server writes them.
    pub fn write_whole(&self, to: &mut Vec<u8>) {
        let resource = self.key.resource;
        to.extend_from_slice(b"{\"kind\":\"");
        to.extend_from_slice(resource.kind.as_bytes());
        to.extend_from_slice(b"\",\"apiVersion\":\"");
        if !resource.group.is_empty() {
            to.extend_from_slice(resource.group.as_bytes());
            to.push(b'/');
        }
        to.extend_from_slice(resource.version.as_bytes());
        to.extend_from_slice(b"\",");
        // What follows the brace; there is always a field, the metadata.
        to.extend_from_slice(self.text.get(1..).unwrap_or_default());
    }

    /// The owner that manages it.
    pub fn controller(&self) -> Option<&Owner> {
        self.owners.iter().find(|owner| owner.controller)
    }
}

/// The text of a field, or of the other place that is looked at when it is not there.
fn selected(value: &Value, at: &str, otherwise: &str) -> String {
    match value.pointer(at) {
        Some(Value::String(text)) if !text.is_empty() => text.clone(),
        None | Some(Value::Null | Value::String(_)) if otherwise.starts_with('/') => selected(value, otherwise, ""),
        None | Some(Value::Null | Value::String(_)) => otherwise.to_owned(),
        Some(other) => other.to_string(),
    }
}
