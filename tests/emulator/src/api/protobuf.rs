//! Bodies in protobuf: the typed part of `kubectl` sends nothing else. Only what it sends in the commands that people use
//! is known here; the rest is refused with a message that says what.

use serde_json::{Map, Value};

use crate::error::ApiError;

mod schema;
use schema::{Field, Kind};

/// The media type.
pub const MEDIA: &str = "application/vnd.kubernetes.protobuf";

/// Reads a body, which is of this kind unless it says otherwise.
///
/// # Errors
/// 400 for a body that is no such message, or that says more than is known here.
pub fn decode(body: &[u8], version: &str, kind: &str) -> Result<Value, ApiError> {
    let refused = |why: String| ApiError::bad_request(format!("the body is not a {kind} in protobuf: {why}"));
    let envelope = body.strip_prefix(b"k8s\0").ok_or_else(|| refused("it has no envelope".to_owned()))?;
    let envelope = message(envelope, schema::ENVELOPE).map_err(refused)?;
    let said = |pointer: &str, otherwise: &str| {
        envelope
            .pointer(pointer)
            .and_then(Value::as_str)
            .filter(|text| !text.is_empty())
            .unwrap_or(otherwise)
            .to_owned()
    };
    let (kind, version) = (said("/typeMeta/kind", kind), said("/typeMeta/apiVersion", version));
    let schema = schema::of(&version, &kind).ok_or_else(|| refused(format!("{version} {kind} is not known here")))?;
    let raw = raw(body).map_err(refused)?;
    let mut value = message(raw, schema).map_err(refused)?;
    if let Some(map) = value.as_object_mut() {
        map.insert("kind".to_owned(), kind.into());
        map.insert("apiVersion".to_owned(), version.into());
    }
    Ok(value)
}

/// The message inside the envelope.
fn raw(body: &[u8]) -> Result<&[u8], String> {
    let mut reader = Reader(body.get(4..).unwrap_or_default());
    while let Some((number, wire)) = reader.next()? {
        if let (2, Wire::Bytes(bytes)) = (number, wire) {
            return Ok(bytes);
        }
    }
    Ok(&[])
}

enum Wire<'a> {
    Number(u64),
    Bytes(&'a [u8]),
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0u64;
        for shift in (0..64).step_by(7) {
            let (byte, rest) = self.0.split_first().ok_or("it ends within a number")?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number is too long".to_owned())
    }

    fn next(&mut self) -> Result<Option<(u64, Wire<'a>)>, String> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let tag = self.number()?;
        let wire = match tag & 7 {
            0 => Wire::Number(self.number()?),
            2 => {
                let length = usize::try_from(self.number()?).map_err(|_| "a length is too long")?;
                let (bytes, rest) = self.0.split_at_checked(length).ok_or("it ends within a field")?;
                self.0 = rest;
                Wire::Bytes(bytes)
            }
            other => return Err(format!("it has a field of type {other}")),
        };
        Ok(Some((tag >> 3, wire)))
    }
}

fn message(bytes: &[u8], schema: &[Field]) -> Result<Value, String> {
    let mut reader = Reader(bytes);
    let mut map = Map::new();
    while let Some((number, wire)) = reader.next()? {
        let Some(field) = schema.iter().find(|field| field.number == number) else {
            return Err(format!("field {number} is not known here"));
        };
        put(&mut map, field, wire)?;
    }
    Ok(map.into())
}

fn text(bytes: &[u8]) -> Result<Value, String> {
    std::str::from_utf8(bytes).map(Value::from).map_err(|_| "a text is not UTF-8".to_owned())
}

fn put(map: &mut Map<String, Value>, field: &Field, wire: Wire<'_>) -> Result<(), String> {
    let name = field.name.to_owned();
    let value = match (field.kind, wire) {
        (Kind::Ignored, _) => return Ok(()),
        // What Go leaves out of JSON when it is empty, and writes here all the same.
        (Kind::Text, Wire::Bytes([])) => return Ok(()),
        (Kind::Text, Wire::Bytes(bytes)) => text(bytes)?,
        (Kind::Number | Kind::Flag, Wire::Number(0)) => return Ok(()),
        (Kind::Number | Kind::SaidNumber, Wire::Number(number)) => i64::from_ne_bytes(number.to_ne_bytes()).into(),
        (Kind::Flag, Wire::Number(number)) => (number != 0).into(),
        (Kind::Message(schema), Wire::Bytes(bytes)) => message(bytes, schema)?,
        (Kind::Quantity, Wire::Bytes(bytes)) => {
            message(bytes, schema::QUANTITY)?.get("string").cloned().unwrap_or_default()
        }
        (Kind::NumberOrText, Wire::Bytes(bytes)) => {
            let value = message(bytes, schema::NUMBER_OR_TEXT)?;
            let is_text = value.get("type").and_then(Value::as_i64) == Some(1);
            value.get(if is_text { "text" } else { "number" }).cloned().unwrap_or_else(|| 0.into())
        }
        (Kind::Texts | Kind::Messages(_), Wire::Bytes(bytes)) => {
            let item = match field.kind {
                Kind::Messages(schema) => message(bytes, schema)?,
                _ => text(bytes)?,
            };
            if let Some(list) = map.entry(name).or_insert_with(|| Value::Array(Vec::new())).as_array_mut() {
                list.push(item);
            }
            return Ok(());
        }
        (Kind::TextMap | Kind::QuantityMap, Wire::Bytes(bytes)) => {
            let schema = if matches!(field.kind, Kind::TextMap) { schema::TEXT_ENTRY } else { schema::QUANTITY_ENTRY };
            let entry = message(bytes, schema)?;
            let part = |name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            if let Some(map) = map.entry(name).or_insert_with(|| Value::Object(Map::new())).as_object_mut() {
                map.insert(part("key"), part("value").into());
            }
            return Ok(());
        }
        _ => return Err(format!("field {} has another type", field.name)),
    };
    map.insert(name, value);
    Ok(())
}
