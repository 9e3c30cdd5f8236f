//! Sets of fields, as trees.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde_json::{Map, Value};

/// A step on the way to a field.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Element {
    /// A field, or a key of a map.
    Field(String),
    /// An item of a list, by the values of its keys as JSON.
    Key(Vec<(String, String)>),
    /// An item of a set, as JSON.
    Value(String),
    /// An item by its place.
    Index(i64),
}

impl Element {
    fn read(text: &str) -> Option<Element> {
        let (kind, rest) = text.split_once(':')?;
        Some(match kind {
            "f" => Element::Field(rest.to_owned()),
            "v" => Element::Value(serde_json::from_str::<Value>(rest).ok()?.to_string()),
            "i" => Element::Index(rest.parse().ok()?),
            "k" => {
                let keys: Map<String, Value> = serde_json::from_str(rest).ok()?;
                Element::Key(keys.into_iter().map(|(name, value)| (name, value.to_string())).collect())
            }
            _ => return None,
        })
    }

    fn write(&self) -> String {
        match self {
            Element::Field(name) => format!("f:{name}"),
            Element::Value(value) => format!("v:{value}"),
            Element::Index(index) => format!("i:{index}"),
            Element::Key(keys) => {
                let pairs: Vec<_> =
                    keys.iter().map(|(name, value)| format!("{}:{value}", Value::from(name.as_str()))).collect();
                format!("k:{{{}}}", pairs.join(","))
            }
        }
    }
}

impl fmt::Display for Element {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Element::Field(name) => write!(out, ".{name}"),
            Element::Value(value) => write!(out, "[={value}]"),
            Element::Index(index) => write!(out, "[{index}]"),
            Element::Key(keys) => {
                let pairs: Vec<_> = keys.iter().map(|(name, value)| format!("{name}={value}")).collect();
                write!(out, "[{}]", pairs.join(","))
            }
        }
    }
}

/// A set of fields.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    members: BTreeSet<Element>,
    children: BTreeMap<Element, Fields>,
}

impl Fields {
    /// Reads the form that clients see.
    pub fn read(value: &Value) -> Option<Fields> {
        let mut fields = Fields::default();
        let Value::Object(map) = value else { return value.is_null().then_some(fields) };
        for (key, inner) in map {
            if key == "." {
                continue;
            }
            let element = Element::read(key)?;
            let children = Fields::read(inner)?;
            if children.is_empty() || inner.get(".").is_some() {
                fields.members.insert(element.clone());
            }
            if !children.is_empty() {
                fields.children.insert(element, children);
            }
        }
        Some(fields)
    }

    /// The form that clients see.
    pub fn write(&self) -> Value {
        let mut map = Map::new();
        for member in &self.members {
            map.insert(member.write(), Value::Object(Map::new()));
        }
        for (element, children) in &self.children {
            let mut inner = children.write();
            if self.members.contains(element)
                && let Some(inner) = inner.as_object_mut()
            {
                inner.insert(".".to_owned(), Value::Object(Map::new()));
            }
            map.insert(element.write(), inner);
        }
        Value::Object(map)
    }

    /// Nothing in it.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty() && self.children.is_empty()
    }

    /// Puts a field in.
    pub fn insert(&mut self, path: &[Element]) {
        match path {
            [] => {}
            [last] => {
                self.members.insert(last.clone());
            }
            [first, rest @ ..] => self.children.entry(first.clone()).or_default().insert(rest),
        }
    }

    /// Whether this very field is in it.
    pub fn has(&self, path: &[Element]) -> bool {
        match path {
            [] => false,
            [last] => self.members.contains(last),
            [first, rest @ ..] => self.children.get(first).is_some_and(|children| children.has(rest)),
        }
    }

    /// Whether an element at this level is in it.
    pub(super) fn has_member(&self, element: &Element) -> bool {
        self.members.contains(element)
    }

    /// What is below an element.
    pub(super) fn below(&self, element: &Element) -> Option<&Fields> {
        self.children.get(element)
    }

    /// All fields, those of a level before those below.
    pub fn paths(&self) -> Vec<Vec<Element>> {
        let mut paths = Vec::new();
        self.collect(&mut Vec::new(), &mut paths);
        paths
    }

    fn collect(&self, prefix: &mut Vec<Element>, paths: &mut Vec<Vec<Element>>) {
        for member in &self.members {
            paths.push(prefix.iter().chain([member]).cloned().collect());
        }
        for (element, children) in &self.children {
            prefix.push(element.clone());
            children.collect(prefix, paths);
            prefix.pop();
        }
    }

    fn of(members: BTreeSet<Element>, children: impl Iterator<Item = (Element, Fields)>) -> Fields {
        Fields { members, children: children.filter(|(_, fields)| !fields.is_empty()).collect() }
    }

    /// What is in one or the other.
    #[must_use]
    pub fn union(&self, other: &Fields) -> Fields {
        let mut both = self.clone();
        both.members.extend(other.members.iter().cloned());
        for (element, children) in &other.children {
            let mine = both.children.entry(element.clone()).or_default();
            *mine = mine.union(children);
        }
        both
    }

    /// What is in both.
    #[must_use]
    pub fn intersection(&self, other: &Fields) -> Fields {
        let members = self.members.intersection(&other.members).cloned().collect();
        let children = self.children.iter().filter_map(|(element, children)| {
            Some((element.clone(), children.intersection(other.children.get(element)?)))
        });
        Fields::of(members, children)
    }

    /// What is not in the other.
    #[must_use]
    pub fn difference(&self, other: &Fields) -> Fields {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().map(|(element, children)| {
            let rest = other.children.get(element).map(|other| children.difference(other));
            (element.clone(), rest.unwrap_or_else(|| children.clone()))
        });
        Fields::of(members, children)
    }

    /// What is neither in the other nor below what is in it.
    #[must_use]
    pub fn without(&self, other: &Fields) -> Fields {
        let members = self.members.difference(&other.members).cloned().collect();
        let children = self.children.iter().filter(|(element, _)| !other.members.contains(element));
        let children = children.map(|(element, children)| {
            let rest = other.children.get(element).map(|other| children.without(other));
            (element.clone(), rest.unwrap_or_else(|| children.clone()))
        });
        Fields::of(members, children)
    }

    /// Puts in the elements below which something is, as far as `named` says so, level by level.
    pub(super) fn with_parents<T: Copy>(&self, at: T, step: &impl Fn(T, &Element) -> Option<(T, bool)>) -> Fields {
        let mut members = self.members.clone();
        let children: Vec<_> = self
            .children
            .iter()
            .map(|(element, children)| {
                let next = step(at, element);
                if next.is_some_and(|(_, named)| named) {
                    members.insert(element.clone());
                }
                let children = next.map_or_else(|| children.clone(), |(at, _)| children.with_parents(at, step));
                (element.clone(), children)
            })
            .collect();
        Fields::of(members, children.into_iter())
    }
}
