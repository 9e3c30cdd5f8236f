//! The path and query as they are sent: encoded once, from decoded parts, bounded.

use crate::denied::{DenialRule, Denied};
use crate::limits;

/// Builds the target. Everything but the unreserved characters of RFC 3986 is percent-encoded, so that each part can only
/// be read as one part.
pub(crate) struct Target {
    text: String,
    asked: bool,
}

impl Target {
    /// One with room for so many bytes, so that the usual target takes one allocation.
    pub(crate) fn with_room(bytes: usize) -> Self {
        Self { text: String::with_capacity(bytes.min(limits::TARGET_BYTES)), asked: false }
    }

    pub(crate) fn segment(&mut self, segment: &str) -> Result<(), Denied> {
        self.text.push('/');
        self.encode(segment)
    }

    pub(crate) fn pair(&mut self, key: &str, value: &str) -> Result<(), Denied> {
        self.text.push(if self.asked { '&' } else { '?' });
        self.asked = true;
        self.encode(key)?;
        self.text.push('=');
        self.encode(value)
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }

    fn encode(&mut self, part: &str) -> Result<(), Denied> {
        const HEX: &[u8; 16] = b"0123456789ABCDEF";
        let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'.' | b'_' | b'~');
        // Most parts need no encoding.
        if part.bytes().all(plain) {
            self.text.push_str(part);
        } else {
            for byte in part.bytes() {
                if plain(byte) {
                    self.text.push(char::from(byte));
                } else {
                    self.text.push('%');
                    let nibbles = [byte >> 4, byte & 15];
                    self.text.extend(nibbles.iter().filter_map(|n| HEX.get(usize::from(*n))).map(|b| char::from(*b)));
                }
            }
        }
        // Here and not at the end, so that a hostile request never makes a large string.
        if self.text.len() > limits::TARGET_BYTES {
            return Err(Denied::new(DenialRule::Target, format!("more than {} bytes", limits::TARGET_BYTES)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rstest::rstest;

    use super::*;

    /// Decodes as a server does, written independently of the encoder.
    fn decode(part: &str) -> String {
        let mut bytes = Vec::new();
        let mut rest = part.as_bytes();
        while let [first, tail @ ..] = rest {
            if let (b'%', [high, low, after @ ..]) = (first, tail) {
                let hex = std::str::from_utf8(&[*high, *low]).map(|h| u8::from_str_radix(h, 16));
                bytes.push(hex.expect("ASCII").expect("hexadecimal"));
                rest = after;
            } else {
                bytes.push(*first);
                rest = tail;
            }
        }
        String::from_utf8(bytes).expect("UTF-8")
    }

    fn encode(segments: &[String], pairs: &[(String, String)]) -> Result<String, Denied> {
        let mut target = Target::with_room(64);
        segments.iter().try_for_each(|s| target.segment(s))?;
        pairs.iter().try_for_each(|(k, v)| target.pair(k, v))?;
        Ok(target.finish())
    }

    #[rstest]
    #[case::plain("a-b.c_d~9", "a-b.c_d~9")]
    #[case::percent("%2e", "%252e")]
    #[case::line_end("\r\n", "%0D%0A")]
    #[case::separators("a&b=c#d?e/f+g h", "a%26b%3Dc%23d%3Fe%2Ff%2Bg%20h")]
    #[case::not_ascii("ä\u{ff0f}", "%C3%A4%EF%BC%8F")]
    #[case::nul("\0", "%00")]
    fn encoded(#[case] part: &str, #[case] expected: &str) {
        let target = encode(&[part.into()], &[(part.into(), part.into())]).expect("short");
        assert_eq!(target, format!("/{expected}?{expected}={expected}"));
    }

    #[test]
    fn bounded_while_it_is_built() {
        let long = "%".repeat(1024);
        let denied = encode(&[long.clone(), long], &[]).expect_err("6 KiB");
        assert_eq!(denied.rule(), DenialRule::Target);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        /// The server sees exactly the segments and pairs that were asked for, whatever is in them.
        #[test]
        fn decodes_to_what_was_encoded(
            segments in prop::collection::vec(any::<String>(), 1..16),
            pairs in prop::collection::vec(any::<(String, String)>(), 0..8),
        ) {
            let Ok(target) = encode(&segments, &pairs) else { return Ok(()) };
            prop_assert!(target.bytes().all(|b| b.is_ascii_graphic()));
            let (path, query) = target.split_once('?').map_or((target.as_str(), None), |(p, q)| (p, Some(q)));
            let seen: Vec<String> = path.split('/').skip(1).map(decode).collect();
            prop_assert_eq!(seen, segments);
            let asked: Vec<(String, String)> = query.map_or_else(Vec::new, |query| {
                query.split('&').map(|p| p.split_once('=').expect("a pair")).map(|(k, v)| (decode(k), decode(v))).collect()
            });
            prop_assert_eq!(asked, pairs);
        }
    }
}
