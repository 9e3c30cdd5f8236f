//! What may be asked behind the `?`: an allow-list of keys for each operation, and what each key takes.

use crate::denied::{DenialRule, Denied};
use crate::limits;
use crate::names;
use crate::target::Target;

/// A query key of an operation.
#[derive(Debug)]
pub(crate) struct Key {
    pub(crate) name: &'static str,
    pub(crate) takes: Takes,
    /// Without it the operation would be another one.
    pub(crate) needed: bool,
}

impl Key {
    pub(crate) const fn may(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, needed: false }
    }

    pub(crate) const fn must(name: &'static str, takes: Takes) -> Self {
        Self { name, takes, needed: true }
    }
}

/// What a query key takes for a value.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Takes {
    /// One of these words.
    OneOf(&'static [&'static str]),
    /// A page size; brought down to the limit, and put there where it is missing.
    Limit,
    /// Seconds, from 1 to this many.
    Seconds(u64),
    /// A resource version.
    Version,
    /// What the server gave to go on with a list. Its bound is the path, but a forged one is not worth sending.
    Continue,
    /// A selector by labels. Any text: it only narrows what the path allows, and is encoded as one value.
    Labels,
    /// A selector by these fields, never by namespace.
    Fields(&'static [&'static str]),
    /// The name that the server notes as the writer of fields. A provider must not pass for another program.
    Manager,
}

/// [`limits::PAGE`] as it is sent.
const PAGE: &str = "500";

/// What a manager's name starts with.
const MANAGER: &str = "workload";

/// Checks the pairs and adds them to the target. `placed`: the path names one namespace.
pub(crate) fn append(
    target: &mut Target,
    keys: &[Key],
    pairs: &[(String, String)],
    placed: bool,
) -> Result<(), Denied> {
    let mut seen = 0u32;
    for (index, (name, value)) in pairs.iter().enumerate() {
        if name.len() + value.len() > limits::QUERY_PAIR_BYTES {
            return Err(Denied::new(DenialRule::QuerySize, format!("pair {index}")));
        }
        let Some((place, key)) = keys.iter().enumerate().find(|(_, key)| key.name == name) else {
            return Err(Denied::new(DenialRule::QueryKey, format!("key of pair {index}")));
        };
        // No operation has 32 keys (a test holds the tables to that).
        let bit = 1u32.checked_shl(u32::try_from(place).unwrap_or(u32::MAX)).unwrap_or(0);
        if seen & bit != 0 {
            return Err(Denied::new(DenialRule::QueryDuplicate, key.name));
        }
        seen |= bit;
        let value = key.takes.check(value, placed).ok_or(Denied::new(DenialRule::QueryValue, key.name))?;
        target.pair(key.name, value)?;
    }
    for (place, key) in keys.iter().enumerate() {
        let missing = seen.checked_shr(u32::try_from(place).unwrap_or(u32::MAX)).is_none_or(|s| s & 1 == 0);
        if missing && key.needed {
            return Err(Denied::new(DenialRule::QueryMissing, key.name));
        }
        if missing && matches!(key.takes, Takes::Limit) {
            target.pair(key.name, PAGE)?;
        }
    }
    Ok(())
}

impl Takes {
    /// The value to send, if this one is allowed.
    fn check(self, value: &str, placed: bool) -> Option<&str> {
        let good = match self {
            Self::OneOf(words) => words.contains(&value),
            Self::Limit => return page(value),
            Self::Seconds(most) => number(value).is_some_and(|n| (1..=most).contains(&n)),
            Self::Version => names::is_token(value),
            Self::Continue => is_continue(value, placed),
            Self::Labels => true,
            Self::Fields(fields) => value.split(',').all(|term| is_term(term, fields)),
            Self::Manager => {
                value.len() <= 63
                    && value.strip_prefix(MANAGER).is_some_and(|rest| {
                        rest.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.'))
                    })
            }
        };
        good.then_some(value)
    }
}

/// A page size within the limit. 0 means "all" to Kubernetes, so it becomes the limit too.
fn page(value: &str) -> Option<&str> {
    let digits = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
    match number(value) {
        Some(1..=limits::PAGE) => Some(value),
        _ if digits => Some(PAGE),
        _ => None,
    }
}

/// A number as a server writes it: digits, no sign, no leading zero.
fn number(value: &str) -> Option<u64> {
    let plain = value.bytes().all(|b| b.is_ascii_digit()) && (value == "0" || !value.starts_with('0'));
    if plain { value.parse().ok() } else { None }
}

/// One term of a field selector. The selector language has escapes; a value that would need one is not allowed.
fn is_term(term: &str, fields: &[&str]) -> bool {
    let Some((field, rest)) = term.split_once('=') else { return false };
    let value = rest.strip_prefix('=').unwrap_or(rest);
    let field = field.strip_suffix('!').unwrap_or(field);
    fields.contains(&field) && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// A continue token is base64 of JSON with the key to start from, relative to the path. One that can be read so must
/// not leave the path; one that cannot is for the server to judge, which refuses it or has a form of its own.
fn is_continue(token: &str, placed: bool) -> bool {
    if token.is_empty() || !token.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-' | b'=')) {
        return false;
    }
    let Some(bytes) = decode(token) else { return true };
    // What starts like JSON but is not strictly so might be read by a more lenient parser.
    let Ok(value) = crate::json::parse(&bytes) else { return bytes.trim_ascii_start().first() != Some(&b'{') };
    let crate::json::Json::Object(members) = value else { return true };
    // The server's parser matches keys without regard to case.
    members.iter().filter(|(key, _)| key.eq_ignore_ascii_case("start")).all(|(_, start)| match start {
        crate::json::Json::Text(start) => {
            let start = start.strip_prefix('/').unwrap_or(start);
            let steps = start.split('/').count();
            steps <= if placed { 1 } else { 2 } && start.split('/').all(|step| !matches!(step, "" | "." | ".."))
        }
        _ => false,
    })
}

/// Base64 in the alphabet for URLs, with or without padding.
fn decode(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=');
    let mut bytes = Vec::with_capacity(text.len());
    let (mut held, mut bits) = (0u32, 0u32);
    for letter in text.bytes() {
        let six = match letter {
            b'A'..=b'Z' => letter - b'A',
            b'a'..=b'z' => letter - b'a' + 26,
            b'0'..=b'9' => letter - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        };
        held = (held << 6) | u32::from(six);
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from((held >> bits) & 0xff).ok()?);
            held &= (1 << bits) - 1;
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[test]
    fn the_page_is_the_limit() {
        assert_eq!(PAGE, limits::PAGE.to_string());
    }

    #[rstest]
    #[case::empty("", b"")]
    #[case::one("YQ", b"a")]
    #[case::padded("YQ==", b"a")]
    #[case::two("YWI", b"ab")]
    #[case::three("YWJj", b"abc")]
    #[case::for_addresses("-_8", &[0xfb, 0xff])]
    fn base64(#[case] text: &str, #[case] bytes: &[u8]) {
        assert_eq!(decode(text).as_deref(), Some(bytes));
        assert_eq!(decode(&format!("+{text}")), None, "the other alphabet");
    }

    /// Tokens as JSON, encoded here by hand.
    #[rstest]
    #[case::within(r#"{"v":"meta.k8s.io/v1","rv":1,"start":"web\u0000"}"#, true, true)]
    #[case::rooted(r#"{"start":"/web"}"#, true, true)]
    #[case::deeper(r#"{"start":"a/b"}"#, false, true)]
    #[case::too_deep(r#"{"start":"a/b/c"}"#, false, false)]
    #[case::upwards(r#"{"start":"a/.."}"#, false, false)]
    #[case::rooted_twice(r#"{"start":"//a"}"#, false, false)]
    #[case::empty(r#"{"start":""}"#, false, false)]
    #[case::other_case(r#"{"START":"../a"}"#, false, false)]
    #[case::other_kind(r#"{"start":1}"#, true, false)]
    #[case::lenient(r#" {"start":"../a",}"#, false, false)]
    #[case::no_json("page 2", true, true)]
    fn tokens(#[case] json: &str, #[case] placed: bool, #[case] good: bool) {
        const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let bits: String = json.bytes().map(|byte| format!("{byte:08b}")).collect();
        let six = |chunk: &[u8]| format!("{:0<6}", String::from_utf8_lossy(chunk));
        let letter = |chunk| LETTERS[usize::from_str_radix(&six(chunk), 2).expect("bits")];
        let token: Vec<u8> = bits.as_bytes().chunks(6).map(letter).collect();
        assert_eq!(is_continue(&String::from_utf8(token).expect("letters"), placed), good);
    }
}
