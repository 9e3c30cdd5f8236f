//! Strategic merge patches: merge patches that know which lists are maps by a key, and that can say how to merge.
//!
//! What kubectl sends to `apply`, `set image`, `label` or `rollout restart`. The order of merged lists is that of the
//! original code, oddities included: a new item comes before those that only the server knows.

use serde_json::{Map, Value};

use super::{Failure, go_format, go_map};
use crate::schema::{Field, Kind, Type, of};

const DIRECTIVE: &str = "$patch";
const RETAIN: &str = "$retainKeys";
const DELETE_FROM: &str = "$deleteFromPrimitiveList";
const ORDER: &str = "$setElementOrder";

/// Merges a patch into an object of a type.
///
/// # Errors
/// When the patch is malformed, or items have no merge key.
pub fn apply(document: &Value, patch: &Value, kind: &'static Type) -> Result<Value, Failure> {
    let original = document.as_object().cloned().unwrap_or_default();
    let patch = patch.as_object().cloned().unwrap_or_default();
    merge_map(original, patch, Some(kind)).map(Value::Object)
}

type Object = Map<String, Value>;

fn bad(why: &str) -> Failure {
    Failure::Bad(why.to_owned())
}

fn merge_map(mut original: Object, mut patch: Object, kind: Option<&'static Type>) -> Result<Object, Failure> {
    if let Some(directive) = patch.get(DIRECTIVE).cloned() {
        return match directive.as_str() {
            Some("replace") => {
                patch.remove(DIRECTIVE);
                Ok(patch)
            }
            Some("delete") => Ok(Object::new()),
            _ => Err(unknown_directive(&directive, &patch)),
        };
    }
    retain_keys(&mut original, &mut patch)?;
    merge_ordered_lists(&mut original, &mut patch, kind)?;
    for (key, change) in patch {
        let deletes = key.starts_with(DELETE_FROM);
        let key = if deletes { list_name(&key, "invalid patch format of primitive list")? } else { key };
        if change.is_null() {
            original.remove(&key);
            continue;
        }
        let Some(old) = original.remove(&key) else {
            if !deletes && let Some(new) = without_directives(without_nulls(change)) {
                original.insert(key, new);
            }
            continue;
        };
        let field = kind.and_then(|kind| kind.field(&key));
        let merged = match (old, change) {
            (Value::Object(old), Value::Object(change)) => {
                Some(Value::Object(merge_map(old, change, field.and_then(|field| item_of(&field.shape.kind)))?))
            }
            (Value::Array(old), Value::Array(change)) => Some(Value::Array(merge_list(old, change, field, deletes)?)),
            (old, _) if deletes => Some(old),
            (_, change) => without_directives(without_nulls(change)),
        };
        original.extend(merged.map(|merged| (key, merged)));
    }
    Ok(original)
}

fn unknown_directive(directive: &Value, patch: &Object) -> Failure {
    Failure::Unexpected(format!("unknown patch type: {} in map: {}", go_format(directive), go_map(patch)))
}

/// The struct inside a field, a list of them or a map of them.
fn item_of(kind: &Kind) -> Option<&'static Type> {
    match kind {
        Kind::Struct(name) => Some(of(name)),
        Kind::List(item) | Kind::Map(item) => item_of(&item.kind),
        _ => None,
    }
}

fn list_name(key: &str, complaint: &str) -> Result<String, Failure> {
    key.split_once('/').map(|(_, name)| name.to_owned()).ok_or_else(|| bad(complaint))
}

/// What is not among the keys to be kept is taken away.
fn retain_keys(original: &mut Object, patch: &mut Object) -> Result<(), Failure> {
    let Some(keys) = patch.remove(RETAIN) else { return Ok(()) };
    let complaint = || bad("invalid patch format of retainKeys");
    let keys = keys.as_array().cloned().ok_or_else(complaint)?;
    let kept = |key: &str| keys.iter().any(|kept| kept == key);
    let named = |key: &str| kept(key) || key.starts_with(DELETE_FROM) || key.starts_with(ORDER);
    if patch.iter().any(|(key, value)| !value.is_null() && !named(key)) {
        return Err(complaint());
    }
    original.retain(|key, _| kept(key));
    Ok(())
}

/// Merges the lists whose order the patch says.
fn merge_ordered_lists(original: &mut Object, patch: &mut Object, kind: Option<&'static Type>) -> Result<(), Failure> {
    let orders: Vec<_> = patch.keys().filter(|key| key.starts_with(ORDER)).cloned().collect();
    for directive in orders {
        let complaint = "invalid patch format of setElementOrder list";
        let order = patch.remove(&directive).unwrap_or_default();
        let Value::Array(order) = order else {
            return Err(Failure::Unexpected(format!(
                "expected a []interface {{}}, but received a {}",
                go_kind(&order)
            )));
        };
        let name = list_name(&directive, complaint)?;
        let field = kind.and_then(|kind| kind.field(&name));
        let field = field.ok_or_else(|| {
            let holder = kind.map_or("", |kind| kind.name);
            Failure::Unexpected(format!("unable to find api field in struct {holder} for the json field \"{name}\""))
        })?;
        let old = list_of(original.get(&name))?;
        let new = list_of(patch.remove(&name).as_ref())?;
        let key = field.merge_key.unwrap_or_default();
        if let Some(new) = &new {
            follows(new, &order, key)?;
        }
        let merged = match (old.clone(), new) {
            (Some(old), None) => old,
            (None, Some(new)) => new.into_iter().filter_map(without_directives).collect(),
            (Some(old), Some(new)) => merge_list(old, new, Some(field), false)?,
            (None, None) => continue,
        };
        original.insert(name, Value::Array(in_order(merged, &order, &old.unwrap_or_default(), key)));
    }
    Ok(())
}

fn go_kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "nil",
        Value::Bool(_) => "bool",
        Value::Number(_) => "int64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

fn list_of(value: Option<&Value>) -> Result<Option<Vec<Value>>, Failure> {
    match value {
        None | Some(Value::Null) => Ok(None),
        Some(Value::Array(items)) => Ok(Some(items.clone())),
        Some(other) => {
            Err(Failure::Unexpected(format!("expected a []interface {{}}, but received a {}", go_kind(other))))
        }
    }
}

/// The items of the patch must come in the order that it asks for.
fn follows(items: &[Value], order: &[Value], key: &str) -> Result<(), Failure> {
    let mut wanted = items.iter().filter(|item| item.get(DIRECTIVE).is_none()).peekable();
    if items.is_empty() || order.is_empty() {
        return Ok(());
    }
    for place in order {
        if wanted.peek().is_some_and(|item| same(item, place, key)) {
            wanted.next();
        }
    }
    if wanted.peek().is_none() {
        return Ok(());
    }
    Err(Failure::Unexpected(format!(
        "The order in patch list:\n{}\n doesn't match {ORDER} list:\n{}\n",
        go_format(&Value::from(items.to_vec())),
        go_format(&Value::from(order.to_vec()))
    )))
}

/// Whether two items stand for the same: by the merge key, or by themselves if they are no objects.
fn same(one: &Value, other: &Value, key: &str) -> bool {
    if one.is_object() { one.get(key).is_some() && one.get(key) == other.get(key) } else { one == other }
}

fn merge_list(
    mut old: Vec<Value>,
    new: Vec<Value>,
    field: Option<&Field>,
    deletes: bool,
) -> Result<Vec<Value>, Failure> {
    if !deletes && !field.is_some_and(|field| field.merge) {
        return Ok(new);
    }
    if old.is_empty() && new.is_empty() {
        return Ok(old);
    }
    let mut all = old.iter().chain(&new);
    let objects = all.clone().all(Value::is_object);
    if all.any(Value::is_array) {
        return Err(Failure::Unfit("lists of lists are not supported".to_owned()));
    }
    if !objects && old.iter().chain(&new).any(Value::is_object) {
        return Err(Failure::Unexpected("list element types are not identical".to_owned()));
    }
    let server = old.clone();
    if !objects {
        if deletes {
            old.retain(|item| !new.contains(item));
            return Ok(old);
        }
        for item in &new {
            if !old.contains(item) {
                old.push(item.clone());
            }
        }
        return Ok(in_order(old, &new, &server, ""));
    }
    let (field, key) = field.and_then(|field| Some((field, field.merge_key?))).ok_or_else(|| {
        let name = field.map_or("", |field| field.name);
        Failure::Unexpected(format!("cannot merge lists without merge key for {name}"))
    })?;
    let (mut merged, new) = special_items(old, new, key)?;
    for item in &new {
        let (Some(change), Some(_)) = (item.as_object(), item.get(key)) else {
            return Err(no_key(item, key));
        };
        match merged.iter_mut().find(|old| same(old, item, key)) {
            Some(old) => {
                let before = old.as_object().cloned().unwrap_or_default();
                *old = Value::Object(merge_map(before, change.clone(), item_of(&field.shape.kind))?);
            }
            None => merged.push(item.clone()),
        }
    }
    Ok(in_order(merged, &new, &server, key).into_iter().filter_map(without_directives).collect())
}

fn no_key(item: &Value, key: &str) -> Failure {
    Failure::Unexpected(format!("map: {} does not contain declared merge key: {key}", go_format(item)))
}

/// Items that only say what to do: delete one, or replace them all.
fn special_items(mut old: Vec<Value>, new: Vec<Value>, key: &str) -> Result<(Vec<Value>, Vec<Value>), Failure> {
    let (mut plain, mut replace) = (Vec::new(), false);
    for item in new {
        let Some(directive) = item.get(DIRECTIVE) else {
            plain.push(item);
            continue;
        };
        match directive.as_str() {
            Some("delete") => {
                let value = item.get(key).ok_or_else(|| no_key(&item, key))?;
                old.retain(|old| old.get(key) != Some(value));
            }
            Some("replace") => replace = true,
            Some("merge") => {
                return Err(Failure::Unexpected("merging lists cannot yet be specified in the patch".to_owned()));
            }
            _ => return Err(unknown_directive(directive, item.as_object().unwrap_or(&Object::new()))),
        }
    }
    Ok(if replace { (plain, Vec::new()) } else { (old, plain) })
}

/// Puts the items of the patch in its order, and between them those that only the server knows, in theirs.
fn in_order(merged: Vec<Value>, order: &[Value], server: &[Value], key: &str) -> Vec<Value> {
    let place = |list: &[Value], item: &Value| list.iter().position(|other| same(item, other, key));
    let (mut patched, mut known): (Vec<_>, Vec<_>) = merged.into_iter().partition(|item| place(order, item).is_some());
    patched.sort_by_key(|item| place(order, item));
    known.sort_by_key(|item| place(server, item));
    let (mut patched, mut known) = (patched.into_iter().peekable(), known.into_iter().peekable());
    let mut all = Vec::new();
    loop {
        let known_first = match (known.peek(), patched.peek()) {
            (None, None) => return all,
            (Some(_), None) => true,
            (None, Some(_)) => false,
            (Some(left), Some(right)) => {
                place(server, left).zip(place(server, right)).is_some_and(|(left, right)| left < right)
            }
        };
        all.extend(if known_first { known.next() } else { patched.next() });
    }
}

/// What is new has nothing to take away.
fn without_nulls(value: Value) -> Value {
    match value {
        Value::Object(map) => {
            let kept = map.into_iter().filter(|(_, value)| !value.is_null());
            Value::Object(kept.map(|(key, value)| (key, without_nulls(value))).collect())
        }
        other => other,
    }
}

/// Nothing of an item that only says what to do; the rest without such parts.
fn without_directives(value: Value) -> Option<Value> {
    match value {
        Value::Object(map) if map.contains_key(DIRECTIVE) => None,
        Value::Object(map) => {
            let kept = map.into_iter().filter_map(|(key, value)| Some((key, without_directives(value)?)));
            Some(Value::Object(kept.collect()))
        }
        Value::Array(items) => Some(items.into_iter().filter_map(without_directives).collect()),
        other => Some(other),
    }
}
