//! Objects that are alike but for a few words, made without reading or writing JSON for each.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::error::ApiError;
use crate::resource::Resource;
use crate::state::State;
use crate::store::{Key, Object, Owner};

/// What differs between objects of the same mold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Its version.
    Version,
    /// Its name.
    Name,
    /// Its uid.
    Uid,
    /// Its owner's uid.
    OwnerUid,
    /// The name of its Deployment.
    App,
    /// The hash of its template.
    Hash,
    /// The name of its ReplicaSet.
    Set,
    /// The name of its node.
    Node,
    /// Its address.
    Address,
}

/// All slots.
const SLOTS: [Slot; 9] =
    [Slot::Version, Slot::Name, Slot::Uid, Slot::OwnerUid, Slot::App, Slot::Hash, Slot::Set, Slot::Node, Slot::Address];
/// The first of the letters that stand for slots: they are nobody's, so no text has them.
const FIRST: u32 = 0xe000;

impl Slot {
    fn place(self) -> usize {
        SLOTS.iter().position(|slot| *slot == self).unwrap_or_default()
    }

    /// What stands for it in the pattern.
    pub fn text(self) -> String {
        let letter = FIRST + u32::try_from(self.place()).unwrap_or_default();
        char::from_u32(letter).map(String::from).unwrap_or_default()
    }
}

/// The words for the slots.
type Words<'a> = [&'a str; SLOTS.len()];

/// A text with slots.
#[derive(Debug)]
struct Text(Vec<(String, Option<usize>)>);

impl Text {
    fn of(text: &str) -> Text {
        let mut parts = vec![(String::new(), None)];
        for letter in text.chars() {
            let slot = u32::from(letter).checked_sub(FIRST).and_then(|place| usize::try_from(place).ok());
            match (slot.filter(|place| *place < SLOTS.len()), parts.last_mut()) {
                (None, Some((literal, _))) => literal.push(letter),
                (slot, Some((_, end))) => {
                    *end = slot;
                    parts.push((String::new(), None));
                }
                (_, None) => {}
            }
        }
        Text(parts)
    }

    fn fill(&self, words: &Words<'_>) -> String {
        let length = |(literal, slot): &(String, Option<usize>)| {
            literal.len() + slot.and_then(|slot| words.get(slot)).map_or(0, |word| word.len())
        };
        let mut text = String::with_capacity(self.0.iter().map(length).sum());
        for (literal, slot) in &self.0 {
            text.push_str(literal);
            text.push_str(slot.and_then(|slot| words.get(slot)).unwrap_or(&""));
        }
        text
    }
}

/// What objects of one kind are cast from.
#[derive(Debug)]
pub(super) struct Mold {
    resource: &'static Resource,
    namespace: String,
    text: Text,
    labels: BTreeMap<String, Text>,
    fields: Vec<Text>,
    owners: Vec<Owner>,
}

impl Mold {
    /// Of an object with slots.
    pub fn of(resource: &'static Resource, namespace: &str, mut pattern: Value) -> Mold {
        if let Some(members) = pattern.as_object_mut() {
            // As in the text of every stored object.
            members.remove("kind");
            members.remove("apiVersion");
        }
        let text = Text::of(&pattern.to_string());
        let object = Object::new(Key::new(resource, namespace, ""), 0, pattern);
        Mold {
            resource,
            namespace: namespace.to_owned(),
            text,
            labels: object.labels.into_iter().map(|(key, value)| (key, Text::of(&value))).collect(),
            fields: object.fields.iter().map(|field| Text::of(field)).collect(),
            owners: object.owners,
        }
    }

    /// Stores an object with these words in its slots, as a creation would, and notes that nobody has to look at it.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn cast<'a>(&self, state: &State, slots: impl Iterator<Item = (Slot, &'a str)>) -> Result<(), ApiError> {
        let mut words: Words<'_> = [""; SLOTS.len()];
        for (slot, word) in slots {
            if let Some(place) = words.get_mut(slot.place()) {
                *place = word;
            }
        }
        let word = |slot: Slot| words.get(slot.place()).copied().unwrap_or_default();
        let key = Key::new(self.resource, &self.namespace, word(Slot::Name));
        let made = state.store.insert(&key, |version| {
            let number = version.to_string();
            let mut words = words;
            if let Some(place) = words.get_mut(Slot::Version.place()) {
                *place = &number;
            }
            let owner = |owner: &Owner| Owner {
                name: Text::of(&owner.name).fill(&words),
                uid: word(Slot::OwnerUid).to_owned(),
                ..owner.clone()
            };
            Object {
                key: key.clone(),
                version,
                uid: word(Slot::Uid).to_owned(),
                labels: self.labels.iter().map(|(key, value)| (key.clone(), value.fill(&words))).collect(),
                owners: self.owners.iter().map(owner).collect(),
                deleting: false,
                fields: self.fields.iter().map(|field| field.fill(&words)).collect(),
                text: self.text.fill(&words).into(),
            }
        });
        let version = made.ok_or_else(|| ApiError::already_exists(self.resource, key.name()))?;
        state.settle(version);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use serde_json::json;

    use super::*;
    use crate::clock::Clock;
    use crate::resource::PODS;
    use crate::scenario::Scenario;

    #[test]
    fn a_cast_is_what_would_have_been_stored() {
        let pattern = json!({
            "metadata": {
                "name": Slot::Name.text(), "namespace": "default", "uid": Slot::Uid.text(),
                "resourceVersion": Slot::Version.text(), "labels": {"app": format!("{}-x", Slot::App.text())},
                "ownerReferences": [{"kind": "K", "name": Slot::Set.text(), "uid": Slot::OwnerUid.text(), "controller": true}],
            },
            "spec": {"nodeName": Slot::Node.text()}, "status": {"podIP": Slot::Address.text(), "phase": "Running"},
        });
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _guard = runtime.enter();
        let state =
            State::prepared(Clock::starting_at("2026-01-01T00:00:00Z".parse().unwrap()), 1, Scenario::default());
        let mold = Mold::of(&PODS, "default", pattern);
        let slots = [
            (Slot::Name, "pod"),
            (Slot::Uid, "u1"),
            (Slot::OwnerUid, "u2"),
            (Slot::App, "app"),
            (Slot::Set, "set"),
            (Slot::Node, "node"),
            (Slot::Address, "1.2.3.4"),
        ];
        mold.cast(&state, slots.into_iter()).unwrap();
        let key = Key::new(&PODS, "default", "pod");
        let cast = state.store.get(&key).unwrap();
        let same = Object::new(key.clone(), cast.version, cast.value());
        assert_eq!(format!("{cast:?}"), format!("{:?}", Arc::new(same)));
        assert_eq!(state.store.owned_by("u2").len(), 1);
        assert_eq!(cast.value()["metadata"]["labels"]["app"], "app-x");
        assert!(state.settled(cast.version) && !state.settled(cast.version - 1));
        assert!(mold.cast(&state, slots.into_iter()).is_err(), "the name is taken");
    }
}
