//! Where to look, so that nothing has to look at everything.

use std::collections::{BTreeMap, BTreeSet};

use crate::resource::{PODS, REPLICA_SETS, is_last_phase};
use crate::store::{Change, Key, Object};

/// Keys by what they are looked for.
#[derive(Debug, Default)]
pub(super) struct Index {
    orphans: BTreeSet<Key>,
    on_node: BTreeMap<String, BTreeSet<Key>>,
    unplaced: BTreeSet<Key>,
}

/// The node that a Pod is bound to; empty for none.
pub(super) fn node_of(pod: &Object) -> &str {
    // The first of the fields that Pods are selected by.
    pod.fields.first().map(String::as_str).unwrap_or_default()
}

/// Whether a Pod's phase is its last.
pub(super) fn has_ended(pod: &Object) -> bool {
    let phase = PODS.selectable.iter().position(|field| field.name == "status.phase");
    phase.and_then(|place| pod.fields.get(place)).is_some_and(|phase| is_last_phase(phase))
}

impl Index {
    /// Takes a change in.
    pub fn note(&mut self, change: &Change) {
        let (old, key) = (change.old.as_deref(), &change.object.key);
        if key.resource != &PODS && key.resource != &REPLICA_SETS {
            return;
        }
        if !change.removed && change.object.controller().is_none() {
            self.orphans.insert(key.clone());
        } else {
            self.orphans.remove(key);
        }
        if key.resource != &PODS {
            return;
        }
        let (before, after) = (old.map(node_of), node_of(&change.object));
        if let Some(before) = before.filter(|&before| change.removed || before != after) {
            self.leave(before, key);
        }
        if change.removed {
            self.leave(after, key);
        } else if before != Some(after) {
            self.set(after).insert(key.clone());
        }
    }

    fn set(&mut self, node: &str) -> &mut BTreeSet<Key> {
        if node.is_empty() { &mut self.unplaced } else { self.on_node.entry(node.to_owned()).or_default() }
    }

    fn leave(&mut self, node: &str, key: &Key) {
        let set = self.set(node);
        set.remove(key);
        if set.is_empty() {
            self.on_node.remove(node);
        }
    }

    /// The objects of this kind in a namespace that no controller has, by their keys.
    pub fn orphans<'a>(&'a self, like: &Key) -> impl Iterator<Item = &'a Key> {
        let (resource, namespace) = (like.resource, like.namespace().to_owned());
        let first = Key::new(resource, &namespace, "");
        let of = move |key: &&Key| key.resource == resource && key.namespace() == namespace;
        self.orphans.range(first..).take_while(of)
    }

    /// The Pods of a node.
    pub fn on_node(&self, node: &str) -> Vec<Key> {
        self.on_node.get(node).into_iter().flatten().cloned().collect()
    }

    /// The Pods without a node.
    pub fn unplaced(&self) -> Vec<Key> {
        self.unplaced.iter().cloned().collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::{Value, json};

    use super::*;

    fn change(name: &str, value: Value, removed: bool) -> Change {
        let key = Key::new(&PODS, "ns", name);
        Change { version: 1, old: None, object: Arc::new(Object::new(key, 1, value)), removed }
    }

    fn names<'a>(keys: impl IntoIterator<Item = &'a Key>) -> Vec<&'a str> {
        keys.into_iter().map(Key::name).collect()
    }

    #[test]
    fn pods_are_found_by_their_node_and_by_having_no_owner() {
        let mut index = Index::default();
        let owned = json!([{"kind": "ReplicaSet", "name": "r", "uid": "u", "controller": true}]);
        index.note(&change("a", json!({"metadata": {"ownerReferences": owned}, "spec": {}}), false));
        index.note(&change("b", json!({"spec": {"nodeName": "n"}}), false));
        assert_eq!(names(index.orphans(&Key::new(&PODS, "ns", ""))), ["b"]);
        assert!(names(index.orphans(&Key::new(&PODS, "n", ""))).is_empty());
        assert_eq!((names(&index.unplaced()), names(&index.on_node("n"))), (vec!["a"], vec!["b"]));

        let mut bound = change("a", json!({"metadata": {"ownerReferences": owned}, "spec": {"nodeName": "n"}}), false);
        bound.old = Some(change("a", json!({"spec": {}}), false).object);
        index.note(&bound);
        assert_eq!((index.unplaced().len(), names(&index.on_node("n"))), (0, vec!["a", "b"]));
        let mut gone = change("a", json!({"spec": {"nodeName": "n"}}), true);
        gone.old = Some(bound.object);
        index.note(&gone);
        assert_eq!(names(&index.on_node("n")), ["b"]);
    }
}
