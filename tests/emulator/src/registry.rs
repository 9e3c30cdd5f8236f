//! Changes to stored objects as the API server's registry makes them: uids, times, generations, deletion. Requests and
//! controllers come through here alike.

use std::sync::Arc;

use serde_json::{Map, Value, json};

use crate::error::ApiError;
use crate::managed::{self, Writer};
use crate::resource::{NAMESPACES, Resource};
use crate::schema::{self, decode};
use crate::state::State;
use crate::store::{Key, Object, Write};
use crate::value::{list, put};

mod deletion;
pub use deletion::{Deleted, Deletion, Propagation};

/// How often a name is made up when the one before was taken.
const NAMES: usize = 8;

/// How much of `generateName` is taken: as long as a label may be, less the suffix.
const BASE: usize = 58;

/// Which part of an object an update changes; the other part stays as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// Everything but the status.
    Main,
    /// The status. Annotations and finalizers go along, as they do when a controller of the real one writes a status.
    Status,
}

/// The metadata of an object, made if it is not there.
pub fn metadata(value: &mut Value) -> &mut Map<String, Value> {
    section(value, "metadata")
}

/// An object inside an object, made if it is not there.
pub fn section<'a>(value: &'a mut Value, name: &str) -> &'a mut Map<String, Value> {
    if !value.is_object() {
        *value = json!({});
    }
    let part = match value {
        Value::Object(map) => map.entry(name).or_insert(Value::Null),
        other => other,
    };
    if !part.is_object() {
        *part = json!({});
    }
    match part {
        Value::Object(map) => map,
        // It was made an object just now.
        _ => unreachable!("not an object"),
    }
}

impl State {
    /// Makes an object that has been checked and completed. Its name may come from `generateName`.
    ///
    /// # Errors
    /// When the name is taken.
    pub fn create(
        &self,
        resource: &'static Resource,
        namespace: &str,
        mut value: Value,
        dry_run: bool,
    ) -> Result<Value, ApiError> {
        let (uid, now) = (self.uid(), self.clock.seconds());
        let meta = metadata(&mut value);
        if resource.namespaced {
            meta.insert("namespace".to_owned(), namespace.into());
        }
        meta.insert("uid".to_owned(), uid.into());
        meta.insert("creationTimestamp".to_owned(), now.into());
        for field in ["deletionTimestamp", "deletionGracePeriodSeconds", "resourceVersion", "selfLink", "generation"] {
            meta.remove(field);
        }
        if resource.generation {
            meta.insert("generation".to_owned(), 1.into());
        }
        let said = |meta: &Map<String, Value>, name: &str| {
            meta.get(name).and_then(Value::as_str).filter(|text| !text.is_empty()).map(str::to_owned)
        };
        if let Some(name) = said(meta, "name") {
            return self.create_named(resource, namespace, &name, value, dry_run);
        }
        let base: String = said(meta, "generateName").unwrap_or_default().chars().take(BASE).collect();
        let mut last = None;
        for _ in 0..NAMES {
            let name = format!("{base}{}", self.suffix());
            metadata(&mut value).insert("name".to_owned(), name.clone().into());
            match self.create_named(resource, namespace, &name, value.clone(), dry_run) {
                Err(error) if error.reason == "AlreadyExists" => last = Some(error),
                result => return result,
            }
        }
        Err(last.unwrap_or_else(|| ApiError::new(500, "InternalError", "no name was generated")))
    }

    fn create_named(
        &self,
        resource: &'static Resource,
        namespace: &str,
        name: &str,
        value: Value,
        dry_run: bool,
    ) -> Result<Value, ApiError> {
        let mut result = Value::Null;
        let made = self.store.write(&Key::new(resource, namespace, name), |old| match old {
            Some(old) => {
                let mut error = ApiError::already_exists(resource, name);
                if old.deleting {
                    error.message = format!("object is being deleted: {}", error.message);
                }
                Err(error)
            }
            None if dry_run => {
                result = value;
                Ok(Write::Keep)
            }
            None => Ok(Write::Put(value)),
        })?;
        Ok(made.map_or(result, |object| object.value()))
    }

    /// Changes a part of an object. Nothing is written when nothing changes. An object that is being deleted goes when
    /// its last finalizer is taken away.
    ///
    /// # Errors
    /// Those of `edit`, and when the object is not there.
    pub fn update(
        &self,
        key: &Key,
        part: Part,
        dry_run: bool,
        edit: impl FnOnce(&mut Value) -> Result<(), ApiError>,
    ) -> Result<Value, ApiError> {
        let mut settled = Settled::default();
        let written = self.store.write(key, |old| {
            let old = old.ok_or_else(|| ApiError::not_found(key.resource, key.name()))?;
            let before = old.value();
            let mut after = before.clone();
            edit(&mut after)?;
            let kind = schema::of(key.resource.kind);
            let mut after = decode::tidy(&after, kind).map_err(ApiError::bad_request)?;
            keep_what_an_update_cannot_change(&before, &mut after, part);
            if key.resource.generation && part == Part::Main && asks_for_work(key.resource, &before, &after) {
                raise_generation(&mut after);
            }
            if !list(&before, "/metadata/managedFields").is_empty() {
                self.own(key.resource, part, &before, &mut after);
            }
            Ok(settled.settle(key.resource, dry_run, before, after))
        })?;
        Ok(settled.answer(written))
    }

    /// Gives the fields that changed to the controller that does such things. Only objects of clients have owners: it
    /// would cost much for those that controllers make, and nobody asks who owns their fields.
    fn own(&self, resource: &'static Resource, part: Part, before: &Value, after: &mut Value) {
        let manager = match resource.kind {
            "Pod" | "Node" => "kubelet",
            _ => "kube-controller-manager",
        };
        let (version, now) = (resource.api_version(), self.clock.seconds());
        let (subresource, reset): (_, &[&str]) = match part {
            Part::Main => ("", &["status"]),
            Part::Status => ("status", &["spec", "metadata.labels"]),
        };
        let writer = Writer { manager, version: &version, subresource, now: &now, reset };
        managed::update(before, after, schema::of(resource.kind), writer);
    }

    /// Puts a new object in the place of one. Nothing is written when it is the same. An object that is being deleted
    /// goes when its last finalizer is taken away. When somebody else writes in between, `change` is asked again.
    ///
    /// # Errors
    /// Those of `change`, and when the object is not there.
    pub fn rewrite(
        &self,
        key: &Key,
        dry_run: bool,
        change: impl Fn(&Value) -> Result<Value, ApiError>,
    ) -> Result<Value, ApiError> {
        loop {
            let missing = || ApiError::not_found(key.resource, key.name());
            let seen = self.store.get(key).ok_or_else(missing)?;
            let before = seen.value();
            let after = change(&before)?;
            let mut settled = Settled::default();
            let mut overtaken = false;
            let written = self.store.write(key, |old| {
                let old = old.ok_or_else(missing)?;
                overtaken = old.version != seen.version;
                Ok::<_, ApiError>(match overtaken {
                    true => Write::Keep,
                    false => settled.settle(key.resource, dry_run, before, after),
                })
            })?;
            if !overtaken {
                return Ok(settled.answer(written));
            }
        }
    }
}

/// What became of a change.
#[derive(Default)]
struct Settled {
    result: Value,
    /// What was stored is not what the answer is.
    apart: bool,
}

impl Settled {
    fn settle(&mut self, resource: &Resource, dry_run: bool, before: Value, after: Value) -> Write {
        self.apart = dry_run;
        self.result = after;
        if dry_run || self.result == before {
            return Write::Keep;
        }
        if ends(resource, &before, &self.result) {
            // The one who took the last finalizer away sees what he wrote; watchers see how it was before.
            self.apart = true;
            return Write::Remove(before);
        }
        Write::Put(self.result.clone())
    }

    fn answer(self, written: Option<Arc<Object>>) -> Value {
        match written {
            Some(object) if !self.apart => object.value(),
            _ => self.result,
        }
    }
}

/// Adds one to the generation.
pub fn raise_generation(value: &mut Value) {
    let meta = metadata(value);
    let generation = meta.get("generation").and_then(Value::as_i64).unwrap_or_default();
    meta.insert("generation".to_owned(), (generation + 1).into());
}

fn keep_what_an_update_cannot_change(before: &Value, after: &mut Value, part: Part) {
    let fixed = ["name", "namespace", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"];
    let fixed = fixed.into_iter().chain(["generation", "resourceVersion", "generateName"]);
    let labels: &[&str] = if part == Part::Status { &["labels", "ownerReferences"] } else { &[] };
    let old = before.get("metadata").cloned().unwrap_or_default();
    if let Some(metadata) = after.get_mut("metadata") {
        for field in fixed.chain(labels.iter().copied()) {
            put(metadata, field, old.get(field));
        }
    }
    let other = if part == Part::Status { "spec" } else { "status" };
    put(after, other, before.get(other));
}

/// Whether a change raises the generation: the spec, and of a Deployment the annotations too.
pub fn asks_for_work(resource: &Resource, before: &Value, after: &Value) -> bool {
    let differs = |pointer: &str| before.pointer(pointer) != after.pointer(pointer);
    differs("/spec") || (resource.plural == "deployments" && differs("/metadata/annotations"))
}

/// Whether nothing holds an object any more that is being deleted.
fn ends(resource: &Resource, before: &Value, after: &Value) -> bool {
    let deleting = before.pointer("/metadata/deletionTimestamp").is_some();
    let grace = before.pointer("/metadata/deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or_default();
    deleting
        && grace == 0
        && list(after, "/metadata/finalizers").is_empty()
        && (resource != &NAMESPACES || list(after, "/spec/finalizers").is_empty())
}

/// Says in an object what it is.
pub fn name_kind(value: &mut Value, resource: &Resource) {
    put(value, "kind", Some(&resource.kind.into()));
    put(value, "apiVersion", Some(&resource.api_version().into()));
}

#[cfg(test)]
pub(crate) mod tests;
