//! Field selectors.

use crate::resource::Resource;
use crate::store::Object;

/// Terms that must all hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FieldSelector(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    field: String,
    equal: bool,
    value: String,
}

impl FieldSelector {
    /// Every object whose field has this value.
    pub fn equal(field: &str, value: &str) -> FieldSelector {
        FieldSelector(vec![Term { field: field.to_owned(), equal: true, value: value.to_owned() }])
    }

    /// Reads a selector.
    ///
    /// # Errors
    /// With the message of the real server.
    pub fn parse(text: &str) -> Result<FieldSelector, String> {
        let mut parts = split(text);
        parts.sort_unstable();
        let parts = parts.into_iter().filter(|part| !part.is_empty());
        let terms = parts.map(|part| {
            let (field, equal, value) =
                operator(part).ok_or_else(|| format!("invalid selector: '{text}'; can't understand '{part}'"))?;
            Ok(Term { field: field.to_owned(), equal, value: unescape(value)? })
        });
        terms.collect::<Result<_, _>>().map(FieldSelector)
    }

    /// No term.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The value that a field must have, when the selector says so.
    pub fn exact(&self, field: &str) -> Option<&str> {
        self.0.iter().find(|term| term.equal && term.field == field).map(|term| term.value.as_str())
    }

    /// Whether a resource has all of these fields to select by.
    ///
    /// # Errors
    /// With the message of the real server.
    pub fn check(&self, resource: &Resource) -> Result<(), String> {
        // Kinds with fields of their own have their own list of all that can be named.
        let own = !resource.selectable.is_empty();
        let known = |field: &str| {
            field == "metadata.name"
                || (field == "metadata.namespace" && (resource.namespaced || !own))
                || resource.selectable.iter().any(|known| known.name == field)
        };
        match self.0.iter().find(|term| !known(&term.field)) {
            None => Ok(()),
            Some(term) if own => Err(format!("field label not supported: {}", term.field)),
            Some(term) => Err(format!(
                "\"{}\" is not a known field selector: only \"metadata.name\", \"metadata.namespace\"",
                term.field
            )),
        }
    }

    /// Whether an object is selected.
    pub fn matches(&self, object: &Object) -> bool {
        self.0.iter().all(|term| (value(object, &term.field) == term.value) == term.equal)
    }
}

fn value<'a>(object: &'a Object, field: &str) -> &'a str {
    match field {
        "metadata.name" => object.key.name(),
        "metadata.namespace" => object.key.namespace(),
        _ => {
            let index = object.key.resource.selectable.iter().position(|known| known.name == field);
            index.and_then(|index| object.fields.get(index)).map_or("", String::as_str)
        }
    }
}

/// At the commas that are not escaped.
fn split(text: &str) -> Vec<&str> {
    let mut escaped = false;
    let comma = |letter: char| {
        let found = letter == ',' && !escaped;
        escaped = letter == '\\' && !escaped;
        found
    };
    text.split(comma).collect()
}

fn operator(term: &str) -> Option<(&str, bool, &str)> {
    for (index, _) in term.char_indices() {
        let (field, rest) = term.split_at(index);
        for (sign, equal) in [("!=", false), ("==", true), ("=", true)] {
            if let Some(value) = rest.strip_prefix(sign) {
                return Some((field, equal, value));
            }
        }
    }
    None
}

fn unescape(text: &str) -> Result<String, String> {
    let mut out = String::with_capacity(text.len());
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => match letters.next() {
                Some(escaped @ ('\\' | ',' | '=')) => out.push(escaped),
                Some(other) => return Err(format!("invalid field selector: invalid escape sequence: \\{other}")),
                None => return Err("invalid field selector: invalid escape sequence: \\".to_owned()),
            },
            ',' | '=' => {
                return Err(format!("invalid field selector: unescaped character in value: {}", u32::from(letter)));
            }
            other => out.push(other),
        }
    }
    Ok(out)
}
