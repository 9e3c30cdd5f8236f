//! Reading objects: a JSON value with names for what is looked at most.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};

use crate::resource::{Resource, is_last_phase};
use crate::store::{Key, Object};
use crate::value::map;
pub(super) use crate::value::{list, number, text};

/// The texts of an object at a JSON pointer, such as labels.
pub(super) fn texts(value: &Value, pointer: &str) -> BTreeMap<String, String> {
    map(value, pointer)
        .iter()
        .map(|(key, value)| (key.clone(), value.as_str().unwrap_or_default().to_owned()))
        .collect()
}

/// The condition of a type.
pub(super) fn condition<'a>(value: &'a Value, kind: &str) -> Option<&'a Value> {
    list(value, "/status/conditions").iter().find(|condition| text(condition, "/type") == kind)
}

/// Whether a condition is `True`.
pub(super) fn holds(value: &Value, kind: &str) -> bool {
    condition(value, kind).is_some_and(|condition| text(condition, "/status") == "True")
}

/// A stored object that was read.
#[derive(Debug, Clone)]
pub(super) struct View {
    /// As it is stored.
    pub object: Arc<Object>,
    /// Its value; controllers change their copy and write it back.
    pub value: Value,
}

impl View {
    /// Reads an object.
    pub fn of(object: Arc<Object>) -> View {
        View { value: object.value(), object }
    }

    /// Its key.
    pub fn key(&self) -> &Key {
        &self.object.key
    }

    /// Its name.
    pub fn name(&self) -> &str {
        self.object.key.name()
    }

    /// Its namespace.
    pub fn namespace(&self) -> &str {
        self.object.key.namespace()
    }

    /// Its uid.
    pub fn uid(&self) -> &str {
        &self.object.uid
    }

    /// The version that it was read at.
    pub fn version(&self) -> u64 {
        self.object.version
    }

    /// Its generation.
    pub fn generation(&self) -> i64 {
        number(&self.value, "/metadata/generation")
    }

    /// When it was made, in whole seconds, which order like texts.
    pub fn created(&self) -> &str {
        text(&self.value, "/metadata/creationTimestamp")
    }

    /// Whether it has a deletion timestamp.
    pub fn deleting(&self) -> bool {
        self.object.deleting
    }

    /// Its finalizers.
    pub fn finalizers(&self) -> Vec<&str> {
        list(&self.value, "/metadata/finalizers").iter().filter_map(Value::as_str).collect()
    }

    /// Whether this uid is its controller's.
    pub fn controlled_by(&self, uid: &str) -> bool {
        self.object.controller().is_some_and(|owner| owner.uid == uid)
    }

    /// The reference by which it owns what its controller makes.
    pub fn as_owner(&self) -> Value {
        let resource: &Resource = self.object.key.resource;
        json!({
            "apiVersion": resource.api_version(), "kind": resource.kind, "name": self.name(), "uid": self.uid(),
            "controller": true, "blockOwnerDeletion": true,
        })
    }
}

/// Whether a Pod is one that counts: it neither has ended nor is being deleted.
pub(super) fn is_active(pod: &View) -> bool {
    !has_ended(&pod.value) && !pod.deleting()
}

/// Whether a Pod's phase is its last.
pub(super) fn has_ended(pod: &Value) -> bool {
    is_last_phase(text(pod, "/status/phase"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_there_is_empty() {
        let value = json!({"spec": {"replicas": 3, "name": 1}, "metadata": {"labels": {"a": "b"}}});
        assert_eq!((number(&value, "/spec/replicas"), number(&value, "/spec/other")), (3, 0));
        assert_eq!(text(&value, "/spec/name"), "", "a number is no text");
        assert!(list(&value, "/status/conditions").is_empty() && !holds(&value, "Ready"));
        assert_eq!(texts(&value, "/metadata/labels").get("a").map(String::as_str), Some("b"));
    }
}
