//! Server-side apply: a manager says all that it wants of an object, and owns that.

use serde_json::Value;

use super::fields::{Element, Fields};
use super::{Id, Managers, Owned, Writer, changed, complaints, read, strip, typed, unowned, write};
use crate::defaults;
use crate::error::{ApiError, Cause, Details};
use crate::schema::node::Node;
use crate::schema::{Type, decode};
use crate::value::{put, text};

/// Where kubectl keeps what it applied itself.
const LAST_APPLIED: &str = "kubectl.kubernetes.io/last-applied-configuration";

/// What is applied, and how.
#[derive(Debug, Clone, Copy)]
pub struct Application<'a> {
    /// The configuration.
    pub config: &'a Value,
    /// Take fields away from other managers.
    pub force: bool,
    /// Who applies.
    pub writer: Writer<'a>,
}

/// Somebody else's field.
type Conflict = (Id, Vec<Element>);

/// Applies a configuration to an object, which is an empty one if it is to be made.
///
/// # Errors
/// 400 for another kind, 409 for fields of others, 500 for what is not of the type, as the server has it.
pub fn apply(live: &Value, how: Application<'_>, kind: &'static Type) -> Result<Value, ApiError> {
    let (config, writer) = (how.config, how.writer);
    check(live, config, kind)?;
    let mut managers = read(live).unwrap_or_default();
    let mut bare = live.clone();
    strip(&mut bare);
    if managers.is_empty() && !text(live, "/metadata/uid").is_empty() {
        // Until the first apply nobody was asked.
        let before = Writer { manager: "before-first-apply", ..writer };
        managers = changed(&empty(live, kind)?, &bare, kind, before, managers);
    }
    let upgrade = writer.manager == "kubectl" && !has_last_applied(&bare).is_empty();
    let merged = match merge(&bare, how, kind, managers.clone()) {
        Ok(merged) => merged,
        Err(conflicts) => {
            let allowed = if upgrade { allowed(&bare, kind) } else { Fields::default() };
            let left: Vec<_> = conflicts.into_iter().filter(|(_, path)| !allowed.has(path)).collect();
            if !left.is_empty() {
                return Err(refusal(&left));
            }
            merge(&bare, Application { force: true, ..how }, kind, managers)
                .map_err(|_| ApiError::new(500, "InternalError", "an apply that was forced had conflicts"))?
        }
    };
    let (mut object, managers) = merged;
    if upgrade {
        remember(&mut object, config);
    }
    write(&mut object, &managers);
    Ok(object)
}

/// An object of this type in which nobody has set anything.
pub(super) fn empty(like: &Value, kind: &'static Type) -> Result<Value, ApiError> {
    let mut empty = decode::tidy(&Value::Object(serde_json::Map::new()), kind).map_err(ApiError::bad_request)?;
    for field in ["kind", "apiVersion"] {
        put(&mut empty, field, like.get(field));
    }
    Ok(empty)
}

fn check(live: &Value, config: &Value, kind: &'static Type) -> Result<(), ApiError> {
    let said = (text(config, "/apiVersion"), text(config, "/kind"));
    // Go shows the group and the version, also when there is none.
    let shown = if said.0.contains('/') { said.0.to_owned() } else { format!("/{}", said.0) };
    if said != (text(live, "/apiVersion"), text(live, "/kind")) {
        return Err(ApiError::bad_request(format!("invalid object type: {shown}, Kind={}", said.1)));
    }
    if config.pointer("/metadata/managedFields").is_some_and(|fields| !fields.is_null()) {
        return Err(ApiError::bad_request("metadata.managedFields must be nil"));
    }
    let found = complaints::of(config, kind);
    let why = match found.as_slice() {
        [] => return Ok(()),
        [one] => one.clone(),
        several => format!("errors:\n  {}", several.join("\n  ")),
    };
    let (namespace, name) = (text(config, "/metadata/namespace"), text(config, "/metadata/name"));
    let what = format!("{namespace}/{name}; {shown}, Kind={}", said.1);
    Err(ApiError::new(500, "", format!("failed to create typed patch object ({what}): {why}")))
}

fn merge(
    live: &Value,
    how: Application<'_>,
    kind: &'static Type,
    mut managers: Managers,
) -> Result<(Value, Managers), Vec<Conflict>> {
    let writer = how.writer;
    let (id, reset) = (writer.id(true), writer.reset());
    let merged = super::merge::merge(live, how.config, kind);
    let fields = typed::fields_of(how.config, kind).without(&reset);
    let last = managers.get(&id).cloned();
    let time = last.as_ref().and_then(|last| last.time.clone());
    managers.insert(id.clone(), Owned { version: writer.version.to_owned(), fields, time });
    let object = match &last {
        Some(last) if !last.fields.is_empty() => prune(&merged, &managers, &last.fields, kind),
        _ => merged,
    };
    let comparison = typed::compare(live, &object, kind).without(&reset);
    let touched = comparison.modified.union(&comparison.added);
    let mut conflicts = Vec::new();
    for (other, owned) in managers.iter_mut().filter(|(other, _)| **other != id) {
        let taken = owned.fields.intersection(&touched);
        if !how.force {
            let taken = taken.paths().into_iter().map(|path| (other.clone(), path));
            conflicts.extend(taken);
        }
        owned.fields = owned.fields.difference(&taken).difference(&comparison.removed);
    }
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let same = object == *live;
    if let Some(owned) = managers.get_mut(&id) {
        owned.fields = owned.fields.difference(&unowned());
        if !same {
            owned.time = Some(writer.now.to_owned());
        }
    }
    managers.retain(|_, owned| !owned.fields.is_empty());
    if same {
        return Ok((live.clone(), managers));
    }
    // Empty things and nulls go, and what nobody says gets its default.
    let mut object = decode::decode(&Node::from(&object), kind).map_or(object, |decoded| decoded.value);
    defaults::complete(kind.name, &mut object);
    Ok((object, managers))
}

/// Takes away what this manager applied the last time and does not apply now, unless somebody else owns it.
fn prune(merged: &Value, managers: &Managers, last: &Fields, kind: &'static Type) -> Value {
    let parents = |fields: &Fields| typed::with_parents(fields, kind);
    let all = parents(&typed::fields_of(merged, kind));
    let pruned = typed::remove(merged, &parents(last), kind);
    let kept = parents(&typed::fields_of(&pruned, kind));
    let owned = managers.values().fold(Fields::default(), |all, owned| all.union(&owned.fields));
    let pruned = typed::remove(merged, &all.difference(&kept.union(&parents(&owned))), kind);
    let kept = parents(&typed::fields_of(&pruned, kind));
    typed::remove(merged, &all.difference(&kept).intersection(&parents(last)), kind)
}

fn refusal(conflicts: &[Conflict]) -> ApiError {
    let who = |id: &Id| {
        let mut who = format!("\"{}\"", id.manager);
        if !id.subresource.is_empty() {
            who.push_str(&format!(" with subresource \"{}\"", id.subresource));
        }
        if !id.applied {
            who.push_str(&format!(" using {}", id.version));
        }
        who
    };
    let shown = |path: &[Element]| path.iter().map(ToString::to_string).collect::<String>();
    let causes: Vec<Cause> = conflicts
        .iter()
        .map(|(id, path)| Cause {
            reason: "FieldManagerConflict",
            message: format!("conflict with {}", who(id)),
            field: shown(path),
        })
        .collect();
    let message = match conflicts {
        [(id, path)] => format!("Apply failed with 1 conflict: conflict with {}: {}", who(id), shown(path)),
        several => {
            let mut lines = Vec::new();
            let mut last = None;
            for (id, path) in several {
                if last != Some(id) {
                    lines.push(format!("conflicts with {}:", who(id)));
                    last = Some(id);
                }
                lines.push(format!("- {}", shown(path)));
            }
            format!("Apply failed with {} conflicts: {}", several.len(), lines.join("\n"))
        }
    };
    ApiError::new(409, "Conflict", message).with(Details { causes, ..Details::default() })
}

fn has_last_applied(value: &Value) -> &str {
    value
        .pointer("/metadata/annotations")
        .and_then(|annotations| annotations.get(LAST_APPLIED))
        .and_then(Value::as_str)
        .unwrap_or_default()
}

/// What kubectl applied itself before and nobody has changed since: it may take that over.
fn allowed(live: &Value, kind: &'static Type) -> Fields {
    let Ok(last) = serde_json::from_str::<Value>(has_last_applied(live)) else { return Fields::default() };
    let comparison = typed::compare(&last, live, kind);
    let fields = typed::fields_of(&last, kind);
    fields.difference(&comparison.modified).difference(&comparison.added).difference(&comparison.removed)
}

/// Keeps the annotation of kubectl up to date with what it applies now.
fn remember(object: &mut Value, config: &Value) {
    let mut said = config.clone();
    if let Some(annotations) = said.pointer_mut("/metadata/annotations").and_then(Value::as_object_mut) {
        annotations.remove(LAST_APPLIED);
    }
    if let Some(annotations) = object.pointer_mut("/metadata/annotations") {
        put(annotations, LAST_APPLIED, Some(&format!("{said}\n").into()));
    }
}
