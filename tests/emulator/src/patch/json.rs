//! JSON patches (RFC 6902), with the liberties of the library that the server uses.

use serde_json::{Map, Value, json};

use super::Failure;
use crate::schema::node::Node;

/// How many operations a patch may have.
const MOST: usize = 10_000;

/// One operation.
#[derive(Debug, Clone, PartialEq)]
struct Operation {
    op: String,
    path: Option<String>,
    from: Option<String>,
    value: Value,
}

/// A list of operations.
#[derive(Debug, Clone, PartialEq)]
pub struct Patch {
    operations: Vec<Operation>,
    /// What a strict decoder complains about.
    pub strict: Vec<String>,
}

impl Patch {
    /// Reads a patch.
    ///
    /// # Errors
    /// When it is no list of operations.
    pub fn parse(node: &Node) -> Result<Patch, Failure> {
        let bad = |why: String| Failure::Bad(format!("error decoding patch: json: cannot unmarshal {why}"));
        let items = match node {
            Node::List(items) => items.as_slice(),
            Node::Null => &[],
            other => {
                return Err(bad(format!("{} into Go value of type []handlers.jsonPatchOp", other.go_kind())));
            }
        };
        if items.len() > MOST {
            let why = format!("The allowed maximum operations in a JSON patch is {MOST}, got {}", items.len());
            return Err(Failure::Bad(why));
        }
        let (mut operations, mut strict) = (Vec::with_capacity(items.len()), Vec::new());
        for (index, item) in items.iter().enumerate() {
            let Node::Map(pairs) = item else {
                return Err(bad(format!("{} into Go value of type handlers.jsonPatchOp", item.go_kind())));
            };
            let mut operation = Operation { op: String::new(), path: None, from: None, value: Value::Null };
            for (key, value) in pairs {
                let field = match key.as_str() {
                    "op" => Some(&mut operation.op),
                    "path" => Some(operation.path.get_or_insert_default()),
                    "from" => Some(operation.from.get_or_insert_default()),
                    "value" => {
                        operation.value = value.value();
                        continue;
                    }
                    other => {
                        strict.push(format!("json patch unknown field \"[{index}].{other}\""));
                        None
                    }
                };
                let Some(field) = field else { continue };
                match value {
                    Node::Text(text) => field.clone_from(text),
                    Node::Null => {}
                    other => {
                        let place = format!("into Go struct field jsonPatchOp.{key} of type string");
                        return Err(bad(format!("{} {place}", other.go_kind())));
                    }
                }
            }
            operations.push(operation);
        }
        Ok(Patch { operations, strict })
    }

    /// Applies all operations, or none.
    ///
    /// # Errors
    /// When one of them does not fit.
    pub fn apply(&self, document: &mut Value) -> Result<(), Failure> {
        let mut changed = document.clone();
        for operation in &self.operations {
            operation.apply(&mut changed).map_err(Failure::Unfit)?;
        }
        *document = changed;
        Ok(())
    }

    /// Where the operations went, as a document that only has these places.
    pub fn touched(&self) -> Value {
        let mut places = json!({});
        for path in self.operations.iter().filter_map(|operation| operation.path.as_deref()) {
            let mut place = &mut places;
            for part in path.split('/').skip(1) {
                let Value::Object(map) = place else { break };
                place = map.entry(unescaped(part)).or_insert_with(|| Value::Object(Map::new()));
            }
            if place.as_object().is_some_and(Map::is_empty) {
                *place = Value::Bool(true);
            }
        }
        places
    }
}

fn unescaped(part: &str) -> String {
    part.replace("~1", "/").replace("~0", "~")
}

/// The parent of what a path names, and the last part of the path.
fn parent<'a>(document: &'a mut Value, path: &str) -> Result<(&'a mut Value, String), String> {
    let missing = || format!("doc is missing path: {path}");
    let mut parts: Vec<String> = path.split('/').map(unescaped).collect();
    let last = parts.pop().filter(|_| path.starts_with('/')).ok_or_else(missing)?;
    let mut place = document;
    for part in parts.iter().skip(1) {
        place = match place {
            Value::Object(map) => map.get_mut(part).ok_or_else(missing)?,
            Value::Array(items) => {
                let at = position(part, items.len()).ok_or_else(missing)?;
                items.get_mut(at).ok_or_else(missing)?
            }
            _ => return Err(missing()),
        };
    }
    Ok((place, last))
}

/// A place in a list; negative numbers count from its end.
fn position(part: &str, length: usize) -> Option<usize> {
    let number: i64 = part.parse().ok()?;
    let length = i64::try_from(length).ok()?;
    usize::try_from(if number < 0 { number + length } else { number }).ok()
}

fn get(document: &mut Value, path: &str) -> Result<Option<Value>, String> {
    let (place, last) = parent(document, path)?;
    match place {
        Value::Object(map) => Ok(map.get(&last).cloned()),
        Value::Array(items) => {
            let at = position(&last, items.len()).ok_or("invalid index")?;
            Ok(Some(items.get(at).cloned().ok_or("invalid index")?))
        }
        _ => Err("neither object nor list".to_owned()),
    }
}

fn add(document: &mut Value, path: &str, value: Value) -> Result<(), String> {
    let (place, last) = parent(document, path)?;
    match place {
        Value::Object(map) => {
            map.insert(last, value);
        }
        Value::Array(items) => {
            let length = items.len();
            // From the end of the list that it becomes.
            let at = if last == "-" { Some(length) } else { position(&last, length + 1) };
            let at = at.filter(|&at| at <= length).ok_or("invalid index")?;
            items.insert(at, value);
        }
        _ => return Err("neither object nor list".to_owned()),
    }
    Ok(())
}

fn remove(document: &mut Value, path: &str) -> Result<Value, String> {
    let (place, last) = parent(document, path)?;
    match place {
        Value::Object(map) => map.remove(&last).ok_or_else(|| format!("missing key: {last}")),
        Value::Array(items) => {
            let at = position(&last, items.len()).filter(|&at| at < items.len()).ok_or("invalid index")?;
            Ok(items.remove(at))
        }
        _ => Err("neither object nor list".to_owned()),
    }
}

impl Operation {
    fn apply(&self, document: &mut Value) -> Result<(), String> {
        let path = self.path.as_deref().ok_or("missing path")?;
        let from = || self.from.as_deref().ok_or("missing from");
        match self.op.as_str() {
            "add" => add(document, path, self.value.clone()),
            "remove" => remove(document, path).map(|_| ()),
            // The library takes a key that is not there for one that is null.
            "replace" => {
                let (place, last) = parent(document, path)?;
                match place {
                    Value::Object(map) => {
                        map.insert(last, self.value.clone());
                    }
                    Value::Array(items) => {
                        let at = position(&last, items.len()).ok_or("invalid index")?;
                        *items.get_mut(at).ok_or("invalid index")? = self.value.clone();
                    }
                    _ => return Err("neither object nor list".to_owned()),
                }
                Ok(())
            }
            "move" => {
                let value = remove(document, from()?)?;
                add(document, path, value)
            }
            "copy" => {
                let value = get(document, from()?)?.unwrap_or(Value::Null);
                add(document, path, value)
            }
            "test" => {
                let found = get(document, path)?.unwrap_or(Value::Null);
                if found == self.value { Ok(()) } else { Err(format!("testing value {path} failed")) }
            }
            other => Err(format!("unexpected kind: {other}")),
        }
    }
}
