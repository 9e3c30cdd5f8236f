//! Strict JSON, read and written: what is checked is what is sent.
//!
//! Our own because the usual parser keeps the last of two equal keys and rewrites large numbers, and both are ways to make
//! the checked document differ from the one that the engine reads.

use std::borrow::Cow;

use crate::limits::JSON_DEPTH;

/// A JSON value. Numbers stay as they were written; the members of an object are sorted and no two are equal.
#[derive(Debug, PartialEq)]
pub(crate) enum Json<'a> {
    Null,
    Bool(bool),
    Number(&'a str),
    Text(Cow<'a, str>),
    List(Vec<Json<'a>>),
    Object(Vec<(Cow<'a, str>, Json<'a>)>),
}

/// Why bytes are not strict JSON, and at which of them that was seen.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonError {
    pub(crate) what: &'static str,
    pub(crate) at: usize,
}

/// Reads exactly one value, with nothing but white space around it.
pub(crate) fn parse(bytes: &[u8]) -> Result<Json<'_>, JsonError> {
    let text = std::str::from_utf8(bytes).map_err(|e| JsonError { what: "not UTF-8", at: e.valid_up_to() })?;
    if text.starts_with('\u{feff}') {
        return Err(JsonError { what: "a byte order mark", at: 0 });
    }
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.space();
    if parser.at < text.len() {
        return parser.fail("something after the value");
    }
    Ok(value)
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn fail<T>(&self, what: &'static str) -> Result<T, JsonError> {
        Err(JsonError { what, at: self.at })
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }

    fn space(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    /// Steps over `byte` if it is next.
    fn eat(&mut self, byte: u8) -> bool {
        let next = self.peek() == Some(byte);
        self.at += usize::from(next);
        next
    }

    /// The text from `start` up to here. Both are always at a character's edge.
    fn since(&self, start: usize) -> Result<&'a str, JsonError> {
        self.text.get(start..self.at).ok_or(JsonError { what: "not UTF-8", at: start })
    }

    fn value(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        self.space();
        match self.peek() {
            Some(b'{') => self.object(depth),
            Some(b'[') => self.list(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number().map(Json::Number),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            Some(_) => self.fail("no value"),
            None => self.fail("cut off"),
        }
    }

    fn word(&mut self, word: &str, value: Json<'a>) -> Result<Json<'a>, JsonError> {
        if !self.text.get(self.at..).is_some_and(|rest| rest.starts_with(word)) {
            return self.fail("no value");
        }
        self.at += word.len();
        Ok(value)
    }

    fn deeper(&self, depth: usize) -> Result<usize, JsonError> {
        if depth < JSON_DEPTH { Ok(depth + 1) } else { self.fail("nested too deep") }
    }

    fn list(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        let depth = self.deeper(depth)?;
        self.at += 1;
        let mut items = Vec::new();
        self.space();
        if self.eat(b']') {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth)?);
            self.space();
            if self.eat(b']') {
                return Ok(Json::List(items));
            }
            if !self.eat(b',') {
                return self.fail("no `,` or `]`");
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json<'a>, JsonError> {
        let depth = self.deeper(depth)?;
        let start = self.at;
        self.at += 1;
        let mut members = Vec::new();
        self.space();
        if self.eat(b'}') {
            return Ok(Json::Object(members));
        }
        loop {
            self.space();
            if self.peek() != Some(b'"') {
                return self.fail("no key");
            }
            let key = self.string()?;
            self.space();
            if !self.eat(b':') {
                return self.fail("no `:`");
            }
            members.push((key, self.value(depth)?));
            self.space();
            if self.eat(b'}') {
                break;
            }
            if !self.eat(b',') {
                return self.fail("no `,` or `}`");
            }
        }
        members.sort_unstable_by(|a, b| a.0.cmp(&b.0));
        // Compared as decoded: `"\u0061"` and `"a"` are the same key.
        if members.array_windows().any(|[a, b]| a.0 == b.0) {
            return Err(JsonError { what: "a key given twice", at: start });
        }
        Ok(Json::Object(members))
    }

    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return self.fail("no number");
        }
        while matches!(self.peek(), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        Ok(())
    }

    fn number(&mut self) -> Result<&'a str, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if self.eat(b'e') || self.eat(b'E') {
            let _sign = self.eat(b'+') || self.eat(b'-');
            self.digits()?;
        }
        self.since(start)
    }

    fn string(&mut self) -> Result<Cow<'a, str>, JsonError> {
        self.at += 1;
        let mut start = self.at;
        let mut whole = String::new(); // only of use, and only allocated, once something is escaped
        loop {
            match self.peek() {
                None => return self.fail("cut off"),
                Some(b'"') => {
                    let piece = self.since(start)?;
                    self.at += 1;
                    return Ok(if whole.is_empty() { Cow::Borrowed(piece) } else { Cow::Owned(whole + piece) });
                }
                Some(b'\\') => {
                    whole.push_str(self.since(start)?);
                    self.at += 1;
                    whole.push(self.escaped()?);
                    start = self.at;
                }
                Some(0..0x20) => return self.fail("a control character in a string"),
                Some(_) => self.at += 1,
            }
        }
    }

    fn escaped(&mut self) -> Result<char, JsonError> {
        let Some(letter) = self.peek() else { return self.fail("cut off") };
        let plain = match letter {
            b'"' | b'\\' | b'/' => char::from(letter),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => {
                self.at += 1;
                return self.unicode();
            }
            _ => return self.fail("no such escape"),
        };
        self.at += 1;
        Ok(plain)
    }

    fn unicode(&mut self) -> Result<char, JsonError> {
        let first = self.hex()?;
        let code = match first {
            0xd800..0xdc00 => {
                let start = self.at;
                let paired = self.eat(b'\\') && self.eat(b'u');
                match if paired { self.hex()? } else { 0 } {
                    low @ 0xdc00..0xe000 => 0x10000 + ((first - 0xd800) << 10) + (low - 0xdc00),
                    _ => return Err(JsonError { what: "half a surrogate pair", at: start }),
                }
            }
            code => code,
        };
        // What is left to fail here is a low surrogate without its high one.
        char::from_u32(code).map_or_else(|| self.fail("half a surrogate pair"), Ok)
    }

    fn hex(&mut self) -> Result<u32, JsonError> {
        let mut code = 0;
        for _ in 0..4 {
            let Some(digit) = self.peek().and_then(|b| char::from(b).to_digit(16)) else {
                return self.fail("no such escape");
            };
            code = code * 16 + digit;
            self.at += 1;
        }
        Ok(code)
    }
}

/// Writes the value in its one canonical form: sorted keys, no white space, only what must be escaped is.
pub(crate) fn write(value: &Json<'_>, size: usize) -> Vec<u8> {
    let mut out = Vec::with_capacity(size);
    put(value, &mut out);
    out
}

fn put(value: &Json<'_>, out: &mut Vec<u8>) {
    match value {
        Json::Null => out.extend_from_slice(b"null"),
        Json::Bool(true) => out.extend_from_slice(b"true"),
        Json::Bool(false) => out.extend_from_slice(b"false"),
        Json::Number(number) => out.extend_from_slice(number.as_bytes()),
        Json::Text(text) => put_text(text, out),
        Json::List(items) => {
            let mut before = b'[';
            for item in items {
                out.push(std::mem::replace(&mut before, b','));
                put(item, out);
            }
            out.extend_from_slice(if items.is_empty() { b"[]" } else { b"]" });
        }
        Json::Object(members) => {
            let mut before = b'{';
            for (key, member) in members {
                out.push(std::mem::replace(&mut before, b','));
                put_text(key, out);
                out.push(b':');
                put(member, out);
            }
            out.extend_from_slice(if members.is_empty() { b"{}" } else { b"}" });
        }
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    out.push(b'"');
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' => out.extend_from_slice(&[b'\\', byte]),
            b'\n' => out.extend_from_slice(b"\\n"),
            b'\r' => out.extend_from_slice(b"\\r"),
            b'\t' => out.extend_from_slice(b"\\t"),
            0..0x20 => {
                out.extend_from_slice(b"\\u00");
                out.extend([byte >> 4, byte & 15].iter().filter_map(|nibble| HEX.get(usize::from(*nibble))));
            }
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests;
