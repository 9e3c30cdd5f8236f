//! A write that is told instead of sent.

use workload_policy::Allowed;

use crate::model::{Method, PlannedRequest};

/// The first write of a workload under `plan`.
pub(in crate::drive) struct PlannedWrite {
    pub(in crate::drive) id: String,
    pub(in crate::drive) request: PlannedRequest,
}

impl PlannedWrite {
    pub(super) fn new(id: String, method: Method, allowed: &Allowed) -> PlannedWrite {
        let (path, query) = allowed.target.split_once('?').unwrap_or((&allowed.target, ""));
        let query = query.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            (decode(name), decode(value))
        });
        let body = allowed.body.as_deref().map(|body| {
            // Policy wrote it, so it is JSON; anything else is shown as text.
            serde_json::from_slice(body)
                .unwrap_or_else(|_| serde_json::Value::String(String::from_utf8_lossy(body).into_owned()))
        });
        PlannedWrite { id, request: PlannedRequest { method, path: path.to_owned(), query: query.collect(), body } }
    }
}

/// Reverts the percent-encoding of policy, for a person to read.
fn decode(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let escaped = match (first, tail) {
            (b'%', [high, low, tail @ ..]) => hex(*high).zip(hex(*low)).map(|(high, low)| (high * 16 + low, tail)),
            _ => None,
        };
        let (byte, tail) = escaped.unwrap_or((*first, tail));
        bytes.push(byte);
        rest = tail;
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::decode;

    #[rstest]
    #[case::plain("fieldManager", "fieldManager")]
    #[case::escaped("a%3Db%2Cc", "a=b,c")]
    #[case::wide("%C3%A4", "ä")]
    #[case::no_escape("100%", "100%")]
    #[case::half("%4", "%4")]
    fn decoded(#[case] text: &str, #[case] wanted: &str) {
        assert_eq!(decode(text), wanted);
    }
}
