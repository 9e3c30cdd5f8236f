//! Reading a document as Go reads it into its structs, and writing it again as Go would: fields that no struct has are
//! left out, empty ones too where Go omits them, and what Go always writes is there.

use serde_json::{Map, Value};

use super::node::Node;
use super::{Field, Kind, Shape, Type, of};
use crate::quantity::Quantity;

/// What was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Decoded {
    /// The object as the server keeps it.
    pub value: Value,
    /// What a strict decoder complains about, such as `unknown field "spec.replicaz"`.
    pub strict: Vec<String>,
}

/// Reads an object of a type.
///
/// # Errors
/// What Go says when a field has another type.
pub fn decode(node: &Node, kind: &'static Type) -> Result<Decoded, String> {
    let mut reader = Reader::default();
    let shape = Shape { kind: Kind::Struct(kind.name), go: format!("v1.{}", kind.name), pointer: false };
    let value = reader.value(node, &shape)?;
    match reader.first {
        Some(error) => Err(error),
        None => Ok(Decoded { value: value.unwrap_or_else(|| zero(&shape)), strict: reader.strict }),
    }
}

/// The object as the server would keep it after reading it: [`decode`] of what is a value already.
///
/// # Errors
/// Those of [`decode`].
pub fn tidy(value: &Value, kind: &'static Type) -> Result<Value, String> {
    decode(&Node::from(value), kind).map(|decoded| decoded.value)
}

#[derive(Default)]
struct Reader<'a> {
    /// The struct whose field is being read.
    holder: &'a str,
    /// The fields that lead to it.
    fields: Vec<&'a str>,
    /// Where we are, with indices.
    path: String,
    /// The first field of another type. Go reads on after one.
    first: Option<String>,
    strict: Vec<String>,
}

impl<'a> Reader<'a> {
    /// Nothing for `null` and for what has another type. An error ends the reading.
    fn value(&mut self, node: &Node, shape: &'a Shape) -> Result<Option<Value>, String> {
        Ok(Some(match (&shape.kind, node) {
            (_, Node::Null) => return Ok(None),
            (Kind::Any, node) => node.value(),
            (Kind::Text, Node::Text(text)) => Value::String(text.clone()),
            (Kind::Bool, Node::Bool(flag)) => Value::Bool(*flag),
            (Kind::Int32, Node::Number(text)) => match text.parse::<i32>() {
                Ok(number) => number.into(),
                Err(_) => return Ok(self.mismatch(&format!("number {text}"), shape)),
            },
            (Kind::Int64, Node::Number(text)) => match text.parse::<i64>() {
                Ok(number) => number.into(),
                Err(_) => return Ok(self.mismatch(&format!("number {text}"), shape)),
            },
            (Kind::Time | Kind::MicroTime, Node::Text(text)) => time(text, shape.kind == Kind::MicroTime)?,
            (Kind::Time | Kind::MicroTime, node) => {
                return Err(format!("json: cannot unmarshal {} into Go value of type string", node.go_kind()));
            }
            (Kind::Quantity, Node::Text(text) | Node::Number(text)) => {
                Value::String(Quantity::parse(text.trim()).map_err(|why| why.to_string())?.to_string())
            }
            (Kind::Quantity, _) => return Err(crate::quantity::Unreadable::Format.to_string()),
            (Kind::IntOrString, Node::Text(text)) => Value::String(text.clone()),
            (Kind::IntOrString, node) => int_or_string(node)?,
            (Kind::Struct(name), Node::Map(pairs)) => self.structure(pairs, of(name))?,
            (Kind::List(item), Node::List(items)) => self.list(items, item)?,
            (Kind::Map(item), Node::Map(pairs)) => self.map(pairs, item)?,
            (_, node) => return Ok(self.mismatch(node.go_kind(), shape)),
        }))
    }

    fn mismatch(&mut self, what: &str, shape: &Shape) -> Option<Value> {
        let place = match self.holder {
            "" => "value".to_owned(),
            holder => format!("struct field {holder}.{}", self.fields.join(".")),
        };
        let error = format!("json: cannot unmarshal {what} into Go {place} of type {}", shape.go);
        self.first.get_or_insert(error);
        None
    }

    fn structure(&mut self, pairs: &[(String, Node)], kind: &'static Type) -> Result<Value, String> {
        let mut found: Map<String, Value> = Map::new();
        let mut seen: Vec<&str> = Vec::new();
        for (name, node) in pairs {
            let length = self.enter(name);
            match kind.field(name) {
                None => self.strict.push(format!("unknown field \"{}\"", self.path)),
                Some(field) => {
                    if seen.contains(&field.name) {
                        self.strict.push(format!("duplicate field \"{}\"", self.path));
                    }
                    seen.push(field.name);
                    let holder = std::mem::replace(&mut self.holder, kind.name);
                    self.fields.push(field.name);
                    let value = self.value(node, &field.shape);
                    self.fields.pop();
                    self.holder = holder;
                    match value? {
                        Some(value) => found.insert(name.clone(), value),
                        None if field.shape.pointer || is_collection(field) => found.remove(name),
                        None => None,
                    };
                }
            }
            self.path.truncate(length);
        }
        finish(&mut found, kind);
        Ok(Value::Object(found))
    }

    fn list(&mut self, items: &[Node], shape: &'a Shape) -> Result<Value, String> {
        let mut list = Vec::with_capacity(items.len());
        for (index, item) in items.iter().enumerate() {
            let length = self.path.len();
            self.path.push_str(&format!("[{index}]"));
            list.push(self.value(item, shape)?.unwrap_or_else(|| zero(shape)));
            self.path.truncate(length);
        }
        Ok(Value::Array(list))
    }

    fn map(&mut self, pairs: &[(String, Node)], shape: &'a Shape) -> Result<Value, String> {
        let mut map = Map::new();
        for (name, node) in pairs {
            let length = self.enter(name);
            let value = self.value(node, shape)?.unwrap_or_else(|| zero(shape));
            if map.insert(name.clone(), value).is_some() {
                self.strict.push(format!("duplicate field \"{}\"", self.path));
            }
            self.path.truncate(length);
        }
        Ok(Value::Object(map))
    }

    fn enter(&mut self, name: &str) -> usize {
        let length = self.path.len();
        if length > 0 {
            self.path.push('.');
        }
        self.path.push_str(name);
        length
    }
}

fn is_collection(field: &Field) -> bool {
    matches!(field.shape.kind, Kind::List(_) | Kind::Map(_))
}

/// Leaves out and puts in what Go does when it writes the struct.
fn finish(found: &mut Map<String, Value>, kind: &'static Type) {
    for field in &kind.fields {
        let shape = &field.shape;
        let present = match found.remove(field.name) {
            Some(value) if shape.pointer => Some(value),
            None if shape.pointer => (!field.omit_empty).then_some(Value::Null),
            value => {
                let value = value.unwrap_or_else(|| zero(shape));
                let omitted = match &shape.kind {
                    Kind::Struct(name) => field.omit_zero && value == zero_of(of(name)),
                    Kind::Time | Kind::MicroTime => field.omit_zero && value.is_null(),
                    Kind::Quantity | Kind::IntOrString => false,
                    _ => field.omit_empty && is_empty(&value),
                };
                // What is stored has no empty lists: nothing and empty are the same there.
                let value = if is_collection(field) && is_empty(&value) { Value::Null } else { value };
                (!omitted).then_some(value)
            }
        };
        if let Some(value) = present {
            found.insert(field.name.to_owned(), value);
        }
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Bool(flag) => !flag,
        Value::Number(number) => number.as_i64() == Some(0),
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(map) => map.is_empty(),
    }
}

/// What Go writes of a value that nobody set.
pub fn zero(shape: &Shape) -> Value {
    match &shape.kind {
        _ if shape.pointer => Value::Null,
        Kind::Text => Value::String(String::new()),
        Kind::Bool => Value::Bool(false),
        Kind::Int32 | Kind::Int64 | Kind::IntOrString => 0.into(),
        Kind::Quantity => Value::String("0".to_owned()),
        Kind::Time | Kind::MicroTime | Kind::Any | Kind::List(_) | Kind::Map(_) => Value::Null,
        Kind::Struct(name) => zero_of(of(name)),
    }
}

fn zero_of(kind: &'static Type) -> Value {
    let mut found = Map::new();
    finish(&mut found, kind);
    Value::Object(found)
}

fn int_or_string(node: &Node) -> Result<Value, String> {
    let failed = |what: &str| Err(format!("json: cannot unmarshal {what} into Go value of type int32"));
    match node {
        Node::Number(text) => match text.parse::<i32>() {
            Ok(number) => Ok(number.into()),
            Err(_) => failed(&format!("number {text}")),
        },
        node => failed(node.go_kind()),
    }
}

fn time(text: &str, micro: bool) -> Result<Value, String> {
    let layout = if micro { "2006-01-02T15:04:05.000000Z07:00" } else { "2006-01-02T15:04:05Z07:00" };
    // Go reads any fraction of a second for both, and wants a capital T and a zone.
    let parsed = text.contains('T').then(|| text.parse::<jiff::Timestamp>().ok()).flatten();
    let parsed = parsed.ok_or_else(|| {
        let rest = text;
        format!("parsing time \"{text}\" as \"{layout}\": cannot parse \"{rest}\" as \"2006\"")
    })?;
    Ok(Value::String(if micro {
        parsed.strftime("%Y-%m-%dT%H:%M:%S.%6fZ").to_string()
    } else {
        crate::clock::seconds(parsed)
    }))
}
