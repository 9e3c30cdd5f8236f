//! The ReplicaSet with the template of its Deployment.

use serde_json::{Map, Value, json};

use super::{Round, Sets, name_of, put_annotations, scale};
use crate::controllers::fields::{View, texts};
use crate::controllers::is_terminating;
use crate::controllers::kinds::{
    DESIRED_REPLICAS, Deployment, MAX_REPLICAS, REVISION, REVISION_HISTORY, ReplicaSet, Strategy, TEMPLATE_HASH, find,
    set,
};
use crate::error::ApiError;
use crate::registry::{Part, section};
use crate::resource::REPLICA_SETS;
use crate::state::letter;
use crate::store::Key;
use crate::write;

/// How long the annotation with earlier revisions may become.
const MAX_HISTORY: usize = 2000;
/// The longest name.
const MAX_NAME: usize = 253;
/// Annotations of a Deployment that its ReplicaSets don't get.
const NOT_COPIED: [&str; 6] = [
    "kubectl.kubernetes.io/last-applied-configuration",
    REVISION,
    REVISION_HISTORY,
    DESIRED_REPLICAS,
    MAX_REPLICAS,
    "deprecated.deployment.rollback.to",
];

impl Round<'_> {
    /// Brings the new ReplicaSet's annotations up to date and takes its revision over, or makes it.
    pub(super) fn new_set(
        &mut self,
        existing: Option<ReplicaSet>,
        old: &[ReplicaSet],
        make: bool,
    ) -> Result<Option<ReplicaSet>, ApiError> {
        let revision = old.iter().map(ReplicaSet::revision).max().unwrap_or_default() + 1;
        match existing {
            Some(existing) => self.existing_set(existing, revision).map(Some),
            None if make => self.make_set(old, revision).map(Some),
            None => Ok(None),
        }
    }

    fn existing_set(&mut self, mut existing: ReplicaSet, revision: i64) -> Result<ReplicaSet, ApiError> {
        let before = (existing.annotations.clone(), existing.min_ready);
        annotate(&self.deployment, &mut existing, revision, true);
        existing.min_ready = self.deployment.min_ready;
        if before != (existing.annotations.clone(), existing.min_ready) {
            return self.write_set(&existing);
        }
        let mut changed = self.take_revision(existing.annotations.get(REVISION).cloned().unwrap_or_default());
        let known = find(&self.deployment.status.conditions, "Progressing").is_some();
        if self.deployment.deadline.is_some() && !known {
            let message = format!("Found new replica set \"{}\"", existing.view.name());
            let condition = self.condition("Progressing", "True", "FoundNewReplicaSet", &message);
            set(&mut self.deployment.status.conditions, condition);
            changed = true;
        }
        if changed {
            self.write_status()?;
        }
        Ok(existing)
    }

    fn take_revision(&mut self, revision: String) -> bool {
        let before = self.deployment.annotations.insert(REVISION.to_owned(), revision.clone());
        before != Some(revision)
    }

    /// Writes the number of replicas, the annotations and the time to be ready of a ReplicaSet.
    pub(super) fn write_set(&self, set: &ReplicaSet) -> Result<ReplicaSet, ApiError> {
        self.cluster.write(&set.view, Part::Main, |value| {
            let spec = section(value, "spec");
            spec.insert("replicas".to_owned(), set.replicas.into());
            if set.min_ready == 0 {
                spec.remove("minReadySeconds");
            } else {
                spec.insert("minReadySeconds".to_owned(), set.min_ready.into());
            }
            put_annotations(value, &set.annotations);
        })?;
        self.reread(set.view.key())
    }

    fn reread(&self, key: &Key) -> Result<ReplicaSet, ApiError> {
        let found = self.cluster.get(key).map(ReplicaSet::of);
        found.ok_or_else(|| ApiError::not_found(&REPLICA_SETS, key.name()))
    }

    fn make_set(&mut self, old: &[ReplicaSet], revision: i64) -> Result<ReplicaSet, ApiError> {
        let (value, replicas) = self.new_value(old, revision);
        let namespace = self.deployment.view.namespace().to_owned();
        let name = name_of(&value).to_owned();
        let key = Key::new(&REPLICA_SETS, &namespace, &name);
        let mut existed = false;
        match write::make(&self.cluster.state, &REPLICA_SETS, &namespace, value) {
            Ok(_) => {}
            Err(error) if error.reason == "AlreadyExists" => {
                self.is_ours(&key, error)?;
                existed = true;
            }
            Err(error) if is_terminating(&error) => return Err(error),
            Err(error) => {
                let message = format!("Failed to create new replica set \"{name}\": {}", error.message);
                if self.deployment.deadline.is_some() {
                    let condition = self.condition("Progressing", "False", "ReplicaSetCreateError", &message);
                    set(&mut self.deployment.status.conditions, condition);
                    // The other error is the one to tell.
                    let _ = self.write_status();
                }
                self.say(true, "ReplicaSetCreateError", &message);
                return Err(error);
            }
        }
        if !existed && replicas > 0 {
            self.say(false, "ScalingReplicaSet", &format!("Scaled up replica set {name} from 0 to {replicas}"));
        }
        let mut changed = self.take_revision(revision.to_string());
        if !existed && self.deployment.deadline.is_some() {
            let message = format!("Created new replica set \"{name}\"");
            let condition = self.condition("Progressing", "True", "NewReplicaSetCreated", &message);
            set(&mut self.deployment.status.conditions, condition);
            changed = true;
        }
        if changed {
            self.write_status()?;
        }
        self.reread(&key)
    }

    /// Whether the ReplicaSet that has the name already is the new one. Otherwise two templates have the same hash, and
    /// the next round takes another.
    fn is_ours(&mut self, key: &Key, taken: ApiError) -> Result<(), ApiError> {
        let found = self.reread(key)?;
        let ours = found.view.controlled_by(self.deployment.view.uid())
            && is_same_template(found.template(), self.deployment.template());
        if ours {
            return Ok(());
        }
        *self.deployment.status.collision_count.get_or_insert(0) += 1;
        let _ = self.write_status();
        Err(taken)
    }

    fn new_value(&self, old: &[ReplicaSet], revision: i64) -> (Value, i64) {
        let deployment = &self.deployment;
        let hash = template_hash(deployment.template(), deployment.status.collision_count);
        let mut template = deployment.template().clone();
        with_hash(section(&mut template, "metadata"), "labels", &hash);
        let mut selector = deployment.view.value.pointer("/spec/selector").cloned().unwrap_or_default();
        section(&mut selector, "matchLabels").insert(TEMPLATE_HASH.to_owned(), hash.clone().into());
        let value = json!({
            "kind": "ReplicaSet", "apiVersion": "apps/v1",
            "metadata": {
                "name": set_name(deployment.view.name(), &hash),
                "labels": texts(&template, "/metadata/labels"),
                "ownerReferences": [deployment.view.as_owner()],
            },
            "spec": {"replicas": 0, "selector": selector, "template": template},
        });
        let view = View::of(std::sync::Arc::new(crate::store::Object::new(
            Key::new(&REPLICA_SETS, deployment.view.namespace(), name_of(&value)),
            0,
            value,
        )));
        let mut new = ReplicaSet::of(view);
        annotate(deployment, &mut new, revision, false);
        let sets = Sets { new: Some(new.clone()), old: old.to_vec() };
        let replicas = wanted_of_new(deployment, &sets, &new);
        let mut value = new.view.value;
        let spec = section(&mut value, "spec");
        spec.insert("replicas".to_owned(), replicas.into());
        if deployment.min_ready != 0 {
            spec.insert("minReadySeconds".to_owned(), deployment.min_ready.into());
        }
        put_annotations(&mut value, &new.annotations);
        (value, replicas)
    }
}

/// How many replicas the new ReplicaSet is to have now.
pub(super) fn wanted_of_new(deployment: &Deployment, sets: &Sets, new: &ReplicaSet) -> i64 {
    match deployment.strategy {
        Strategy::Recreate => deployment.replicas,
        Strategy::Rolling { surge, .. } => {
            let room = deployment.replicas + surge.up(deployment.replicas) - sets.replicas();
            new.replicas + room.min(deployment.replicas - new.replicas).max(0)
        }
    }
}

/// Copies what a ReplicaSet gets of its Deployment's annotations, and notes the revision, and for a new one the size.
fn annotate(deployment: &Deployment, set: &mut ReplicaSet, revision: i64, exists: bool) {
    let copied = deployment.annotations.iter().filter(|(name, _)| !NOT_COPIED.contains(&name.as_str()));
    set.annotations.extend(copied.map(|(name, value)| (name.clone(), value.clone())));
    let noted = set.annotations.get(REVISION).cloned();
    let Ok(before) = noted.as_deref().unwrap_or("0").parse::<i64>() else { return };
    if before < revision {
        set.annotations.insert(REVISION.to_owned(), revision.to_string());
        if let Some(noted) = noted {
            remember(set, &noted);
        }
    }
    if !exists {
        scale::note_size(deployment, &mut set.annotations);
    }
}

/// Keeps the revision that a ReplicaSet had, now that it was rolled back to.
fn remember(set: &mut ReplicaSet, revision: &str) {
    let history = set.annotations.get(REVISION_HISTORY).map(String::as_str).unwrap_or_default();
    let mut revisions: Vec<&str> = history.split(',').filter(|one| !one.is_empty()).collect();
    revisions.push(revision);
    while revisions.len() > 1 && revisions.iter().map(|one| one.len() + 1).sum::<usize>() > MAX_HISTORY + 1 {
        revisions.remove(0);
    }
    let history = revisions.join(",");
    set.annotations.insert(REVISION_HISTORY.to_owned(), history);
}

/// Whether two templates are the same but for the label with their hash.
pub(super) fn is_same_template(a: &Value, b: &Value) -> bool {
    comparable(a) == comparable(b)
}

fn comparable(template: &Value) -> Value {
    let mut template = template.clone();
    if let Some(labels) = template.pointer_mut("/metadata/labels").and_then(Value::as_object_mut) {
        labels.remove(TEMPLATE_HASH);
    }
    without_nothing(&mut template);
    template
}

/// Takes away what says nothing: an empty list means the same as none.
fn without_nothing(value: &mut Value) {
    let says_nothing = |value: &Value| match value {
        Value::Null => true,
        Value::Array(list) => list.is_empty(),
        Value::Object(map) => map.is_empty(),
        _ => false,
    };
    match value {
        Value::Array(list) => list.iter_mut().for_each(without_nothing),
        Value::Object(map) => {
            // An empty object can be a choice, such as `emptyDir: {}`; only labels and annotations can't.
            let plain = |key: &str| matches!(key, "labels" | "annotations" | "metadata");
            for inner in map.values_mut() {
                without_nothing(inner);
            }
            map.retain(|key, value| !says_nothing(value) || (value.is_object() && !plain(key)));
        }
        _ => {}
    }
}

fn with_hash(map: &mut Map<String, Value>, name: &str, hash: &str) {
    let labels = map.entry(name).or_insert_with(|| json!({}));
    if let Some(labels) = labels.as_object_mut() {
        labels.insert(TEMPLATE_HASH.to_owned(), hash.into());
    }
}

/// The name of a ReplicaSet, cut to what a name may have.
pub(super) fn set_name(deployment: &str, hash: &str) -> String {
    let most = MAX_NAME - 1 - hash.len();
    format!("{}-{hash}", deployment.get(..most).unwrap_or(deployment))
}

/// The hash of a template. The real one hashes how Go prints the template, so the letters differ; that two templates
/// are told apart, and that a collision changes it, is the same.
pub(super) fn template_hash(template: &Value, collisions: Option<i64>) -> String {
    let mut hash: u32 = 0x811c_9dc5;
    let mut take = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    take(template.to_string().as_bytes());
    if let Some(collisions) = collisions {
        take(&collisions.to_le_bytes());
    }
    hash.to_string().bytes().map(|byte| letter(u64::from(byte))).collect()
}
