//! JSON as it was written: with the order of its keys and with keys that come twice, which a map forgets and the
//! messages of the server show. Its complaints are those of Go's parser, which clients get to see.

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

/// How deep a document may be. Go allows more; this is what a small stack surely holds.
const DEPTH: usize = 400;

/// A piece of JSON.
#[derive(Debug, Clone, PartialEq)]
pub enum Node {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Node>),
    /// An object, in the order in which it was written.
    Map(Vec<(String, Node)>),
}

impl Node {
    /// Reads a document.
    ///
    /// # Errors
    /// What Go's parser says of it.
    pub fn parse(text: &[u8]) -> Result<Node, String> {
        let mut parser = Parser { text, at: 0, depth: 0 };
        let node = parser.value()?;
        match parser.next_solid() {
            None => Ok(node),
            Some(byte) => Err(wrong(byte, "after top-level value")),
        }
    }

    /// The first value of a key.
    pub fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Map(pairs) => pairs.iter().rev().find(|(name, _)| name == key).map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text, if it is one.
    pub fn text(&self) -> Option<&str> {
        match self {
            Node::Text(text) => Some(text),
            _ => None,
        }
    }

    /// As Go calls it in messages.
    pub fn go_kind(&self) -> &'static str {
        match self {
            Node::Null => "null",
            Node::Bool(_) => "bool",
            Node::Number(_) => "number",
            Node::Text(_) => "string",
            Node::List(_) => "array",
            Node::Map(_) => "object",
        }
    }

    /// Without the order; of a key that comes twice the last counts.
    pub fn value(&self) -> Value {
        match self {
            Node::Null => Value::Null,
            Node::Bool(flag) => Value::Bool(*flag),
            Node::Number(text) => number(text).map_or(Value::Null, Value::Number),
            Node::Text(text) => Value::String(text.clone()),
            Node::List(items) => items.iter().map(Node::value).collect(),
            Node::Map(pairs) => {
                Value::Object(pairs.iter().map(|(key, node)| (key.clone(), node.value())).collect::<Map<_, _>>())
            }
        }
    }

    /// The paths of keys that come twice, in the words of a strict decoder.
    pub fn duplicates(&self) -> Vec<String> {
        let mut found = Vec::new();
        self.look_for_duplicates("", &mut found);
        found
    }

    fn look_for_duplicates(&self, path: &str, found: &mut Vec<String>) {
        match self {
            Node::Map(pairs) => {
                let mut seen = std::collections::HashSet::new();
                for (key, node) in pairs {
                    let inner = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                    if !seen.insert(key) {
                        found.push(format!("duplicate field \"{inner}\""));
                    }
                    node.look_for_duplicates(&inner, found);
                }
            }
            Node::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    item.look_for_duplicates(&format!("{path}[{index}]"), found);
                }
            }
            _ => {}
        }
    }
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Node {
        match value {
            Value::Null => Node::Null,
            Value::Bool(flag) => Node::Bool(*flag),
            Value::Number(number) => Node::Number(number.to_string()),
            Value::String(text) => Node::Text(text.clone()),
            Value::Array(items) => Node::List(items.iter().map(Node::from).collect()),
            Value::Object(map) => Node::Map(map.iter().map(|(key, value)| (key.clone(), value.into())).collect()),
        }
    }
}

/// A number as Go keeps it where the type says nothing: whole if it is one, else a float.
fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().ok().map(Number::from);
    whole.or_else(|| text.parse::<f64>().ok().and_then(Number::from_f64))
}

impl<'de> Deserialize<'de> for Node {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Node, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Node;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("any value")
    }

    fn visit_unit<E>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_bool<E>(self, flag: bool) -> Result<Node, E> {
        Ok(Node::Bool(flag))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Node, E> {
        Ok(Node::Number(number.to_string()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Node, E> {
        Ok(Node::Number(number.to_string()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Node, E> {
        Ok(Node::Number(number.to_string()))
    }

    fn visit_str<E>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let mut pairs = Vec::new();
        while let Some(pair) = map.next_entry()? {
            pairs.push(pair);
        }
        Ok(Node::Map(pairs))
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

const ENDED: &str = "unexpected end of JSON input";

fn wrong(byte: u8, place: &str) -> String {
    // Go shows the byte as a character; of a longer one only the first byte, which is rare enough.
    let shown = match byte {
        b'\'' => "'\\''".to_owned(),
        b'"' => "'\"'".to_owned(),
        b'\n' => "'\\n'".to_owned(),
        b'\t' => "'\\t'".to_owned(),
        b'\r' => "'\\r'".to_owned(),
        0..0x20 => format!("'\\x{byte:02x}'"),
        _ => format!("'{}'", char::from(byte)),
    };
    format!("invalid character {shown} {place}")
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn next_solid(&mut self) -> Option<u8> {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\r' | b'\n')) {
            self.at += 1;
        }
        self.peek()
    }

    fn solid(&mut self) -> Result<u8, String> {
        self.next_solid().ok_or_else(|| ENDED.to_owned())
    }

    fn value(&mut self) -> Result<Node, String> {
        match self.solid()? {
            b'{' => self.nested(Parser::map),
            b'[' => self.nested(Parser::list),
            b'"' => self.string().map(Node::Text),
            b't' => self.literal("true", Node::Bool(true)),
            b'f' => self.literal("false", Node::Bool(false)),
            b'n' => self.literal("null", Node::Null),
            b'-' | b'0'..=b'9' => self.number(),
            byte => Err(wrong(byte, "looking for beginning of value")),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Node, String>) -> Result<Node, String> {
        if self.depth == DEPTH {
            return Err("exceeded max depth".to_owned());
        }
        self.depth += 1;
        self.at += 1;
        let node = read(self);
        self.depth -= 1;
        node
    }

    fn map(&mut self) -> Result<Node, String> {
        let mut pairs = Vec::new();
        if self.solid()? == b'}' {
            self.at += 1;
            return Ok(Node::Map(pairs));
        }
        loop {
            match self.solid()? {
                b'"' => {}
                byte => return Err(wrong(byte, "looking for beginning of object key string")),
            }
            let key = self.string()?;
            match self.solid()? {
                b':' => self.at += 1,
                byte => return Err(wrong(byte, "after object key")),
            }
            pairs.push((key, self.value()?));
            let byte = self.solid()?;
            self.at += 1;
            match byte {
                b',' => {}
                b'}' => return Ok(Node::Map(pairs)),
                byte => return Err(wrong(byte, "after object key:value pair")),
            }
        }
    }

    fn list(&mut self) -> Result<Node, String> {
        let mut items = Vec::new();
        if self.solid()? == b']' {
            self.at += 1;
            return Ok(Node::List(items));
        }
        loop {
            items.push(self.value()?);
            let byte = self.solid()?;
            self.at += 1;
            match byte {
                b',' => {}
                b']' => return Ok(Node::List(items)),
                byte => return Err(wrong(byte, "after array element")),
            }
        }
    }

    fn literal(&mut self, word: &str, node: Node) -> Result<Node, String> {
        for expected in word.bytes() {
            match self.peek() {
                None => return Err(ENDED.to_owned()),
                Some(byte) if byte == expected => self.at += 1,
                Some(byte) => {
                    let place = format!("in literal {word} (expecting '{}')", char::from(expected));
                    return Err(wrong(byte, &place));
                }
            }
        }
        Ok(node)
    }

    fn digits(&mut self, place: &str) -> Result<(), String> {
        match self.peek() {
            None => return Err(ENDED.to_owned()),
            Some(b'0'..=b'9') => {}
            Some(byte) => return Err(wrong(byte, place)),
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<Node, String> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        if self.peek() == Some(b'0') {
            self.at += 1;
        } else {
            self.digits("in numeric literal")?;
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits("after decimal point in numeric literal")?;
        }
        if matches!(self.peek(), Some(b'e' | b'E')) {
            self.at += 1;
            if matches!(self.peek(), Some(b'+' | b'-')) {
                self.at += 1;
            }
            self.digits("in exponent of numeric literal")?;
        }
        let text = self.text.get(start..self.at).unwrap_or_default();
        Ok(Node::Number(String::from_utf8_lossy(text).into_owned()))
    }

    fn string(&mut self) -> Result<String, String> {
        self.at += 1;
        let start = self.at;
        loop {
            match self.peek().ok_or_else(|| ENDED.to_owned())? {
                b'"' => break,
                b'\\' => {
                    self.at += 1;
                    self.escape()?;
                }
                byte @ 0..0x20 => return Err(wrong(byte, "in string literal")),
                _ => self.at += 1,
            }
        }
        let raw = self.text.get(start..self.at).unwrap_or_default();
        self.at += 1;
        if !raw.contains(&b'\\') {
            return Ok(String::from_utf8_lossy(raw).into_owned());
        }
        // The escapes are known to be well formed; half a surrogate pair, which Go replaces, is all that can be wrong.
        let quoted = format!("\"{}\"", String::from_utf8_lossy(raw));
        Ok(serde_json::from_str(&quoted).unwrap_or_else(|_| "\u{fffd}".to_owned()))
    }

    fn escape(&mut self) -> Result<(), String> {
        match self.peek().ok_or_else(|| ENDED.to_owned())? {
            b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't' => self.at += 1,
            b'u' => {
                self.at += 1;
                for _ in 0..4 {
                    match self.peek().ok_or_else(|| ENDED.to_owned())? {
                        byte if byte.is_ascii_hexdigit() => self.at += 1,
                        byte => return Err(wrong(byte, "in \\u hexadecimal character escape")),
                    }
                }
            }
            byte => return Err(wrong(byte, "in string escape code")),
        }
        Ok(())
    }
}
