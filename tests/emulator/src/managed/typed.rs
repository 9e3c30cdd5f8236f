//! Objects seen through their types: comparing, merging and cutting them field by field.

use serde_json::{Map, Value};

use super::fields::{Element, Fields};
use crate::schema::{Field, Kind, List, Shape, Type, of};

/// What a place in an object holds, and how it is taken apart.
#[derive(Clone, Copy)]
pub(super) enum Place {
    /// A value that is not taken apart.
    Leaf(Scalar),
    /// A struct.
    Struct(&'static Type),
    /// A map.
    Map(&'static Shape),
    /// A list of items with keys.
    Keyed(&'static Shape, &'static [&'static str]),
    /// A set of values.
    Set(&'static Shape),
}

/// What a value that is not taken apart may be.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Scalar {
    Text,
    Number,
    Flag,
    Any,
    /// A struct, a map or a list that is one value.
    Whole,
}

impl Place {
    pub(super) fn root(kind: &'static Type) -> Place {
        Place::Struct(kind)
    }

    fn of_field(field: &'static Field) -> Place {
        Place::of(&field.shape, &field.list, field.atomic)
    }

    fn of_item(shape: &'static Shape) -> Place {
        Place::of(shape, &List::Atomic, false)
    }

    fn of(shape: &'static Shape, list: &'static List, atomic: bool) -> Place {
        match &shape.kind {
            Kind::Struct(name) if atomic || of(name).atomic => Place::Leaf(Scalar::Whole),
            Kind::Struct(name) => Place::Struct(of(name)),
            Kind::Map(_) if atomic => Place::Leaf(Scalar::Whole),
            Kind::Map(item) => Place::Map(item),
            Kind::List(item) => match list {
                List::Atomic => Place::Leaf(Scalar::Whole),
                List::Set => Place::Set(item),
                List::Keys(keys) => Place::Keyed(item, keys),
            },
            Kind::Bool => Place::Leaf(Scalar::Flag),
            Kind::Int32 | Kind::Int64 => Place::Leaf(Scalar::Number),
            Kind::Text | Kind::Time | Kind::MicroTime => Place::Leaf(Scalar::Text),
            Kind::Quantity | Kind::IntOrString | Kind::Any => Place::Leaf(Scalar::Any),
        }
    }

    /// The place below a key of an object, and whether it is a field that the type names.
    pub(super) fn below(self, key: &str) -> (Place, bool) {
        match self {
            Place::Struct(kind) => match kind.field(key) {
                Some(field) => (Place::of_field(field), true),
                None => (Place::Leaf(Scalar::Any), false),
            },
            Place::Map(item) => (Place::of_item(item), false),
            _ => (Place::Leaf(Scalar::Any), false),
        }
    }

    pub(super) fn item(self) -> Place {
        match self {
            Place::Keyed(item, _) | Place::Set(item) => Place::of_item(item),
            _ => Place::Leaf(Scalar::Any),
        }
    }

    /// How an item of a list is called.
    pub(super) fn name_of(self, item: &Value) -> Result<Element, String> {
        let Place::Keyed(shape, keys) = self else {
            return match item {
                Value::Object(_) => Err("associative list without keys has an element that's a map type".to_owned()),
                Value::Array(_) => Err("not supported: associative list with lists as elements".to_owned()),
                Value::Null => Err("associative list without keys has an element that's an explicit null".to_owned()),
                scalar => Ok(Element::Value(scalar.to_string())),
            };
        };
        let Value::Object(map) = item else {
            return Err(if item.is_null() {
                "associative list with keys may not have a null element".to_owned()
            } else {
                "associative list with keys may not have non-map elements".to_owned()
            });
        };
        let default = |key: &str| match &shape.kind {
            Kind::Struct(name) => of(name).field(key)?.default.map(Value::from),
            _ => None,
        };
        let named = keys.iter().filter_map(|key| {
            let value = map.get(*key).cloned().or_else(|| default(key))?;
            Some(((*key).to_owned(), value.to_string()))
        });
        let mut named: Vec<_> = named.collect();
        if named.is_empty() {
            let keys: Vec<_> = keys.iter().map(|key| format!("\"{key}\"")).collect();
            return Err(format!(
                "associative list with keys has an element that omits all key fields [{}] (and doesn't have default \
                 values for any key fields)",
                keys.join(" ")
            ));
        }
        named.sort();
        Ok(Element::Key(named))
    }
}

/// What differs between two objects.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Comparison {
    pub(super) added: Fields,
    pub(super) modified: Fields,
    pub(super) removed: Fields,
}

impl Comparison {
    pub(super) fn without(self, fields: &Fields) -> Comparison {
        Comparison {
            added: self.added.without(fields),
            modified: self.modified.without(fields),
            removed: self.removed.without(fields),
        }
    }
}

/// Compares two objects of a type.
pub(super) fn compare(before: &Value, after: &Value, kind: &'static Type) -> Comparison {
    let mut found = Comparison::default();
    compare_at(Place::root(kind), Some(before), Some(after), &mut Vec::new(), &mut found);
    found
}

pub(super) fn entries(value: Option<&Value>) -> &[Value] {
    value.and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default()
}

pub(super) fn pairs(value: Option<&Value>) -> impl Iterator<Item = (&String, &Value)> {
    value.and_then(Value::as_object).into_iter().flatten()
}

fn compare_at(
    place: Place,
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<Element>,
    found: &mut Comparison,
) {
    let leaf = match place {
        Place::Leaf(_) => true,
        Place::Struct(_) | Place::Map(_) => pairs(before).next().is_none() && pairs(after).next().is_none(),
        Place::Keyed(..) | Place::Set(_) => entries(before).is_empty() && entries(after).is_empty(),
    };
    if leaf {
        match (before, after) {
            (None, _) => found.added.insert(path),
            (_, None) => found.removed.insert(path),
            (Some(before), Some(after)) if before != after => found.modified.insert(path),
            _ => {}
        }
        return;
    }
    match place {
        Place::Struct(_) | Place::Map(_) => {
            let mut keys: Vec<&String> = pairs(before).chain(pairs(after)).map(|(key, _)| key).collect();
            keys.sort();
            keys.dedup();
            for key in keys {
                path.push(Element::Field(key.clone()));
                let (old, new) = (before.and_then(|value| value.get(key)), after.and_then(|value| value.get(key)));
                compare_at(place.below(key).0, old, new, path, found);
                path.pop();
            }
        }
        _ => compare_items(place, before, after, path, found),
    }
    if before.is_none() {
        found.added.insert(path);
    } else if after.is_none() {
        found.removed.insert(path);
    }
}

fn compare_items(
    place: Place,
    before: Option<&Value>,
    after: Option<&Value>,
    path: &mut Vec<Element>,
    found: &mut Comparison,
) {
    let (old, new) = (by_name(place, before), by_name(place, after));
    let fresh = new.iter().filter(|(name, _)| items_of(&old, name).is_empty());
    for (name, _) in old.iter().chain(fresh) {
        path.push(name.clone());
        match (items_of(&old, name), items_of(&new, name)) {
            // Items that come twice are one value.
            (left @ [_, _, ..], right @ [_, _, ..]) => {
                if left != right {
                    found.modified.insert(path);
                }
            }
            ([_, _, ..], one) => {
                if let [one] = one {
                    compare_at(place.item(), None, Some(one), path, found);
                }
                found.removed.insert(path);
            }
            (one, [_, _, ..]) => {
                if let [one] = one {
                    compare_at(place.item(), Some(one), None, path, found);
                }
                found.added.insert(path);
            }
            (left, right) => {
                compare_at(place.item(), left.first().copied(), right.first().copied(), path, found);
            }
        }
        path.pop();
    }
}

/// The items of a list by what they are called, in their order.
fn by_name(place: Place, list: Option<&Value>) -> Vec<(Element, Vec<&Value>)> {
    let mut named: Vec<(Element, Vec<&Value>)> = Vec::new();
    for item in entries(list) {
        let Ok(name) = place.name_of(item) else { continue };
        match named.iter_mut().find(|(other, _)| *other == name) {
            Some((_, items)) => items.push(item),
            None => named.push((name, vec![item])),
        }
    }
    named
}

fn items_of<'a, 'b>(named: &'b [(Element, Vec<&'a Value>)], name: &Element) -> &'b [&'a Value] {
    named.iter().find(|(other, _)| other == name).map(|(_, items)| items.as_slice()).unwrap_or_default()
}

/// All fields that an object has.
pub(super) fn fields_of(value: &Value, kind: &'static Type) -> Fields {
    let mut fields = Fields::default();
    collect(Place::root(kind), value, &mut Vec::new(), &mut fields);
    fields
}

fn collect(place: Place, value: &Value, path: &mut Vec<Element>, fields: &mut Fields) {
    match place {
        Place::Leaf(_) => fields.insert(path),
        Place::Struct(_) | Place::Map(_) => {
            for (key, inner) in pairs(Some(value)) {
                let (below, named) = place.below(key);
                path.push(Element::Field(key.clone()));
                collect(below, inner, path, fields);
                let empty = inner.is_null() || inner.as_object().is_some_and(Map::is_empty);
                if empty || !named {
                    fields.insert(path);
                }
                path.pop();
            }
        }
        Place::Keyed(..) | Place::Set(_) => {
            for item in entries(Some(value)) {
                let Ok(name) = place.name_of(item) else { continue };
                path.push(name);
                collect(place.item(), item, path, fields);
                fields.insert(path);
                path.pop();
            }
        }
    }
}

/// The set with the fields below which something is, as far as types name them.
pub(super) fn with_parents(fields: &Fields, kind: &'static Type) -> Fields {
    fields.with_parents(Place::root(kind), &|place, element| match (place, element) {
        (Place::Struct(_) | Place::Map(_), Element::Field(key)) => Some(place.below(key)),
        (Place::Keyed(..), Element::Key(_)) => Some((place.item(), false)),
        _ => None,
    })
}

/// An object without some fields.
pub(super) fn remove(value: &Value, fields: &Fields, kind: &'static Type) -> Value {
    cut(Place::root(kind), value, fields)
}

fn cut(place: Place, value: &Value, fields: &Fields) -> Value {
    match (place, value) {
        (Place::Struct(_) | Place::Map(_), Value::Object(map)) => {
            let mut kept = Map::new();
            for (key, inner) in map {
                let element = Element::Field(key.clone());
                if fields.has_member(&element) {
                    continue;
                }
                let inner = match fields.below(&element) {
                    Some(fields) => cut(place.below(key).0, inner, fields),
                    None => inner.clone(),
                };
                kept.insert(key.clone(), inner);
            }
            if kept.is_empty() { Value::Null } else { Value::Object(kept) }
        }
        (Place::Keyed(..) | Place::Set(_), Value::Array(items)) => {
            let mut kept = Vec::new();
            for item in items {
                let Ok(name) = place.name_of(item) else { continue };
                if fields.has_member(&name) {
                    continue;
                }
                kept.push(match fields.below(&name) {
                    Some(fields) => cut(place.item(), item, fields),
                    None => item.clone(),
                });
            }
            if kept.is_empty() { Value::Null } else { Value::Array(kept) }
        }
        (Place::Leaf(scalar), value) if scalar != Scalar::Whole => value.clone(),
        _ => Value::Null,
    }
}
