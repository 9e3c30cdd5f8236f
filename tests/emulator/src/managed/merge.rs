//! Merging a configuration into an object.

use serde_json::{Map, Value};

use super::fields::Element;
use super::typed::{Place, entries, pairs};
use crate::schema::Type;

/// An object with what a configuration says.
pub(super) fn merge(live: &Value, config: &Value, kind: &'static Type) -> Value {
    merge_at(Place::root(kind), Some(live), Some(config)).unwrap_or_default()
}

fn merge_at(place: Place, live: Option<&Value>, config: Option<&Value>) -> Option<Value> {
    match place {
        Place::Struct(_) | Place::Map(_) if pairs(live).next().is_some() || pairs(config).next().is_some() => {
            let mut merged = Map::new();
            for (key, value) in pairs(live).chain(pairs(config)) {
                if !merged.contains_key(key) {
                    let said = config.and_then(|config| config.get(key));
                    let was = live.and_then(|live| live.get(key));
                    let value = merge_at(place.below(key).0, was, said).unwrap_or_else(|| value.clone());
                    merged.insert(key.clone(), value);
                }
            }
            Some(Value::Object(merged))
        }
        Place::Keyed(..) | Place::Set(_) if !entries(live).is_empty() || !entries(config).is_empty() => {
            Some(Value::Array(merge_items(place, entries(live), entries(config))))
        }
        _ => config.or(live).cloned(),
    }
}

/// Items in the order of the object, and where the configuration says another order, in that one.
fn merge_items(place: Place, live: &[Value], config: &[Value]) -> Vec<Value> {
    let named = |items: &'_ [Value]| -> Vec<(Element, Value)> {
        items.iter().filter_map(|item| Some((place.name_of(item).ok()?, item.clone()))).collect()
    };
    let (left, right) = (named(live), named(config));
    let find = |list: &'_ [(Element, Value)], name: &Element| -> Option<Value> {
        list.iter().find(|(other, _)| other == name).map(|(_, value)| value.clone())
    };
    let mut shared = right.iter().map(|(name, _)| name).filter(|name| find(&left, name).is_some()).peekable();
    let mut done: Vec<&Element> = Vec::new();
    let mut merged = Vec::new();
    let (mut at_left, mut at_right) = (0, 0);
    loop {
        let (old, new) = (left.get(at_left), right.get(at_right));
        if let (Some((name, was)), Some((wanted, said))) = (old, new) {
            if name == wanted {
                done.push(wanted);
                merged.extend(merge_at(place.item(), Some(was), Some(said)));
                at_left += 1;
                at_right += 1;
                shared.next();
                continue;
            }
            if find(&right, name).is_some() && shared.peek().is_some_and(|next| *next != name) {
                at_left += 1;
                continue;
            }
        }
        if let Some((name, was)) = old {
            if find(&right, name).is_none() {
                merged.extend(merge_at(place.item(), Some(was), None));
                at_left += 1;
                continue;
            }
            if done.contains(&name) {
                at_left += 1;
            }
        }
        match new {
            Some((name, said)) => {
                done.push(name);
                merged.extend(merge_at(place.item(), find(&left, name).as_ref(), Some(said)));
                at_right += 1;
                if shared.peek() == Some(&name) {
                    shared.next();
                }
            }
            None if old.is_none() => return merged,
            None => {}
        }
    }
}
