//! Finds our own credential in what a server sends back.
//!
//! A server that echoes the token (a debugging proxy, an error page with the request's headers, an object into which
//! somebody copied it) would hand it to the provider. So each body is searched for the token as it is, as base64 at
//! each of the three alignments it can have within a longer text, and with percent or JSON escapes.
//!
//! The search costs one vectorised pass for each form, four for a usual token. Nothing is delayed, except the end of a
//! chunk that could be the beginning of a match: that is kept back until the next chunk decides.

use std::fmt;
use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use bytes::{Bytes, BytesMut};
use memchr::{memchr_iter, memmem};

/// A shorter token is not searched for: it is a placeholder (`unused`) or would be found in any text.
pub(super) const SHORTEST: usize = 8;

/// The forms of one token. `Debug` shows none of them.
pub(super) struct Needles {
    finders: Vec<memmem::Finder<'static>>,
}

impl fmt::Debug for Needles {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Needles").field("forms", &self.finders.len()).finish_non_exhaustive()
    }
}

impl Needles {
    pub(super) fn of(token: &str) -> Needles {
        if token.len() < SHORTEST {
            return Needles { finders: Vec::new() };
        }
        let mut forms: Vec<Vec<u8>> = vec![token.as_bytes().to_vec()];
        for alignment in 0..3 {
            forms.extend(base64_within(token.as_bytes(), alignment));
        }
        for keep in [unreserved, |_| false] {
            for digits in [b"0123456789ABCDEF", b"0123456789abcdef"] {
                forms.push(percent(token.as_bytes(), keep, digits));
            }
        }
        forms.push(token.replace('/', "\\/").into_bytes());
        forms.sort_unstable();
        forms.dedup();
        Needles { finders: forms.iter().map(|form| memmem::Finder::new(form).into_owned()).collect() }
    }

    fn found_in(&self, text: &[u8]) -> bool {
        self.finders.iter().any(|finder| finder.find(text).is_some())
    }

    /// The length of the longest end of `text` that is the beginning of a form, but not all of it.
    fn open_end(&self, text: &[u8]) -> usize {
        self.finders.iter().map(|finder| open_end(text, finder.needle())).max().unwrap_or(0)
    }
}

fn open_end(text: &[u8], needle: &[u8]) -> usize {
    let Some(first) = needle.first() else { return 0 };
    let from = text.len().saturating_sub(needle.len().saturating_sub(1));
    let window = text.get(from..).unwrap_or_default();
    memchr_iter(*first, window)
        .filter_map(|at| window.get(at..))
        .find(|end| needle.starts_with(end))
        .map_or(0, <[u8]>::len)
}

/// The characters of the base64 of anything that holds `token` at this offset modulo 3, in both alphabets, without those
/// that also depend on what stands before and after it.
fn base64_within(token: &[u8], alignment: usize) -> [Vec<u8>; 2] {
    let mut padded = vec![0; alignment];
    padded.extend_from_slice(token);
    let bits = padded.len() * 8;
    // Of the first characters, those that hold a bit of the padding; of the last, one that is not full.
    let range = (alignment * 8).div_ceil(6)..bits / 6;
    [STANDARD_NO_PAD.encode(&padded), URL_SAFE_NO_PAD.encode(&padded)]
        .map(|text| text.as_bytes().get(range.clone()).unwrap_or_default().to_vec())
}

fn unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~".contains(&byte)
}

fn percent(token: &[u8], keep: fn(u8) -> bool, digits: &[u8; 16]) -> Vec<u8> {
    let digit = |value: u8| digits.get(usize::from(value)).copied().unwrap_or(b'0');
    let mut text = Vec::with_capacity(token.len() * 3);
    for &byte in token {
        if keep(byte) {
            text.push(byte);
        } else {
            text.extend([b'%', digit(byte >> 4), digit(byte & 15)]);
        }
    }
    text
}

/// The credential was in what was searched.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Leak;

/// Searches one body, chunk by chunk.
pub(super) struct Scanner {
    needles: Vec<Arc<Needles>>,
    /// The end of what was seen that could be the beginning of a match.
    kept: Bytes,
}

impl Scanner {
    pub(super) fn new(needles: Vec<Arc<Needles>>) -> Scanner {
        Scanner { needles, kept: Bytes::new() }
    }

    /// Takes a chunk and gives what can be passed on, which may be nothing yet.
    pub(super) fn push(&mut self, chunk: Bytes) -> Result<Bytes, Leak> {
        let mut text = if self.kept.is_empty() {
            chunk
        } else {
            let mut both = BytesMut::with_capacity(self.kept.len() + chunk.len());
            both.extend_from_slice(&self.kept);
            both.extend_from_slice(&chunk);
            both.freeze()
        };
        self.kept = Bytes::new();
        if self.needles.iter().any(|needles| needles.found_in(&text)) {
            return Err(Leak);
        }
        let open = self.needles.iter().map(|needles| needles.open_end(&text)).max().unwrap_or(0);
        self.kept = text.split_off(text.len().saturating_sub(open));
        Ok(text)
    }

    /// What was kept back and turned out to be harmless, at the end of the body.
    pub(super) fn finish(&mut self) -> Bytes {
        std::mem::take(&mut self.kept)
    }

    /// Whether one whole text, a header's value, holds the credential.
    pub(super) fn holds(&self, text: &[u8]) -> bool {
        self.needles.iter().any(|needles| needles.found_in(text))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base64::engine::general_purpose::{STANDARD, URL_SAFE};
    use rstest::rstest;

    const TOKEN: &str = "CANARY-7f3a/x+y~z?>.end==";

    fn scan(text: &[u8], sizes: &[usize]) -> Result<Vec<u8>, Leak> {
        let mut scanner = Scanner::new(vec![Arc::new(Needles::of(TOKEN))]);
        let (mut rest, mut out, mut sizes) = (text, Vec::new(), sizes.iter().cycle());
        while !rest.is_empty() {
            let (chunk, after) = rest.split_at((*sizes.next().unwrap()).min(rest.len()));
            out.extend(scanner.push(Bytes::copy_from_slice(chunk))?);
            rest = after;
        }
        out.extend(scanner.finish());
        Ok(out)
    }

    fn percent_of(token: &str, digits: &[u8; 16], keep: fn(u8) -> bool) -> String {
        String::from_utf8(percent(token.as_bytes(), keep, digits)).unwrap()
    }

    #[rstest]
    #[case::literal(TOKEN.to_owned())]
    #[case::base64_0(STANDARD.encode(TOKEN))]
    #[case::base64_1(STANDARD.encode(format!("a{TOKEN}b")))]
    #[case::base64_2(STANDARD.encode(format!("ab{TOKEN}bc")))]
    #[case::base64_bearer(URL_SAFE.encode(format!("Authorization: Bearer {TOKEN}\r\n")))]
    #[case::percent(percent_of(TOKEN, b"0123456789ABCDEF", unreserved))]
    #[case::percent_lower(percent_of(TOKEN, b"0123456789abcdef", unreserved))]
    #[case::percent_all(percent_of(TOKEN, b"0123456789abcdef", |_| false))]
    #[case::json("CANARY-7f3a\\/x+y~z?>.end==".to_owned())]
    fn found_in_whatever_pieces(#[case] form: String) {
        let text = format!("{{\"message\":\"some words {form} and more\"}}");
        for size in 1..=text.len() {
            assert_eq!(scan(text.as_bytes(), &[size]), Err(Leak), "pieces of {size}");
        }
        assert_eq!(scan(text.as_bytes(), &[1, 7, 3]), Err(Leak));
    }

    #[test]
    fn nothing_of_it_passes_before_it_is_decided() {
        let mut scanner = Scanner::new(vec![Arc::new(Needles::of(TOKEN))]);
        let (begin, end) = TOKEN.split_at(TOKEN.len() - 1);
        assert_eq!(scanner.push(Bytes::from(format!("before {begin}"))), Ok(Bytes::from_static(b"before ")));
        assert_eq!(scanner.push(Bytes::from(end.to_owned())), Err(Leak));
        assert!(scanner.finish().is_empty());
    }

    #[test]
    fn other_texts_pass_unchanged() {
        // Beginnings of the token, again and again, and a whole one but for a character.
        let text = "CANARY CANARY-7f3a CANARY-CANARY-7f3a/x+y~z?>.end=- CANARY-7f3a/x+y~z?>.end=".repeat(3);
        for size in 1..=text.len() {
            assert_eq!(scan(text.as_bytes(), &[size]).unwrap(), text.as_bytes(), "pieces of {size}");
        }
    }

    #[test]
    fn a_whole_line_is_not_kept_back() {
        let mut scanner = Scanner::new(vec![Arc::new(Needles::of(TOKEN))]);
        let line = Bytes::from_static(b"{\"type\":\"ADDED\"}\n");
        assert_eq!(scanner.push(line.clone()), Ok(line));
    }

    #[rstest]
    #[case::empty("")]
    #[case::placeholder("unused")]
    fn short_ones_are_not_searched_for(#[case] token: &str) {
        let scanner = Scanner::new(vec![Arc::new(Needles::of(token))]);
        assert!(!scanner.holds(b"this is unused"));
    }

    #[test]
    fn debug_shows_nothing() {
        let shown = format!("{:?}", Needles::of(TOKEN));
        assert!(!shown.contains("CANARY"), "{shown}");
    }
}
