//! Cuts what came on a connection into requests, so that the record has the very bytes.

use bytes::{Bytes, BytesMut};

/// What came and was not cut off yet.
#[derive(Debug, Default)]
pub(crate) struct Arrived {
    bytes: BytesMut,
}

impl Arrived {
    /// More came.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    /// Cuts off the first request. What was read ahead of the next one stays.
    pub(crate) fn cut(&mut self) -> Bytes {
        // HTTP was read already and found good; were this ever in doubt, all of it is nearer to the truth than a part.
        let length = length(&self.bytes).unwrap_or(self.bytes.len());
        self.bytes.split_to(length).freeze()
    }

    /// What is left when the connection ends.
    pub(crate) fn rest(&mut self) -> Bytes {
        self.bytes.split().freeze()
    }
}

/// How long the first request is; none if it is not complete.
fn length(bytes: &[u8]) -> Option<usize> {
    // Empty lines before a request are allowed.
    let blank = bytes.iter().take_while(|&&byte| byte == b'\r' || byte == b'\n').count();
    let mut at = blank;
    let (mut content, mut chunked) = (0, false);
    loop {
        let line = line(bytes, at)?;
        at += line.len();
        let text = line.trim_ascii();
        if text.is_empty() {
            break;
        }
        let Some(colon) = text.iter().position(|&byte| byte == b':') else { continue };
        let (name, value) = text.split_at_checked(colon)?;
        let value = value.get(1..)?.trim_ascii();
        if name.eq_ignore_ascii_case(b"content-length") {
            content = str::from_utf8(value).ok()?.parse().ok()?;
        } else if name.eq_ignore_ascii_case(b"transfer-encoding") {
            chunked = value.to_ascii_lowercase().ends_with(b"chunked");
        }
    }
    if chunked {
        return chunks_end(bytes, at);
    }
    let end = at.checked_add(content)?;
    (end <= bytes.len()).then_some(end)
}

/// The line that begins there, its end included.
fn line(bytes: &[u8], at: usize) -> Option<&[u8]> {
    let rest = bytes.get(at..)?;
    let end = rest.iter().position(|&byte| byte == b'\n')?;
    rest.get(..=end)
}

/// Where the chunks end that begin there, trailers included.
fn chunks_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let size_line = line(bytes, at)?;
        at += size_line.len();
        let size = size_line.split(|&byte| byte == b';').next()?.trim_ascii();
        let size = usize::from_str_radix(str::from_utf8(size).ok()?, 16).ok()?;
        if size == 0 {
            break;
        }
        at = at.checked_add(size)?;
        at += line(bytes, at)?.len();
    }
    loop {
        let trailer = line(bytes, at)?;
        at += trailer.len();
        if trailer.trim_ascii().is_empty() {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_body(b"GET / HTTP/1.1\r\nhost: x\r\n\r\n", 0)]
    #[case::a_length(b"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc", 0)]
    #[case::chunks(b"POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3;x=y\r\na\nc\r\n0\r\n\r\n", 0)]
    #[case::trailers(b"POST / HTTP/1.1\r\ntransfer-encoding: gzip, Chunked\r\n\r\n0\r\nx: y\r\n\r\n", 0)]
    #[case::plain_line_feeds(b"GET / HTTP/1.1\nhost: x\n\n", 0)]
    #[case::an_empty_line_before(b"\r\nGET / HTTP/1.1\r\n\r\n", 0)]
    #[case::the_next_one(b"GET / HTTP/1.1\r\n\r\nGET /next", 9)]
    #[case::a_body_and_the_next_one(b"PUT / HTTP/1.1\r\ncontent-length: 1\r\n\r\n1GET /next", 9)]
    fn requests_are_cut_where_they_end(#[case] bytes: &[u8], #[case] more: usize) {
        let mut arrived = Arrived::default();
        for byte in bytes {
            arrived.push(&[*byte]);
        }
        let (first, rest) = bytes.split_at(bytes.len() - more);
        assert_eq!(arrived.cut(), first);
        assert_eq!(arrived.rest(), rest);
        assert!(arrived.rest().is_empty());
    }

    #[rstest]
    #[case::headers(b"GET / HTTP/1.1\r\nhost: x\r\n")]
    #[case::body(b"PUT / HTTP/1.1\r\ncontent-length: 2\r\n\r\n1")]
    #[case::chunk(b"PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n5\r\nab")]
    #[case::last_chunk(b"PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n")]
    #[case::no_number(b"PUT / HTTP/1.1\r\ncontent-length: x\r\n\r\n")]
    #[case::too_large(b"PUT / HTTP/1.1\r\ncontent-length: 18446744073709551615\r\n\r\n")]
    fn what_is_not_complete_has_no_length(#[case] bytes: &[u8]) {
        assert_eq!(length(bytes), None);
    }
}
