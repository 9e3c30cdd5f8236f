//! Standard output and standard error, without panics.

use std::io::{self, ErrorKind, Write};

/// A stream whose reader may go away. What is written after that is dropped quietly, as of `workload list | head`:
/// the operation itself goes on to its end. Any other error is kept, and told at the end.
pub struct Stream<W> {
    inner: W,
    closed: bool,
    error: Option<io::Error>,
}

impl<W: Write> Stream<W> {
    /// Writes to `inner`.
    pub fn new(inner: W) -> Stream<W> {
        Stream { inner, closed: false, error: None }
    }

    /// Lets `write` write, and flushes, so that a reader sees each piece when it is said.
    pub fn put(&mut self, write: impl FnOnce(&mut W) -> io::Result<()>) {
        if self.closed {
            return;
        }
        let result = write(&mut self.inner).and_then(|()| self.inner.flush());
        if let Err(error) = result {
            self.closed = true;
            if error.kind() != ErrorKind::BrokenPipe {
                self.error = Some(error);
            }
        }
    }

    /// Writes one line.
    pub fn line(&mut self, text: &str) {
        // In one piece: standard error is not buffered, and others write to it too.
        self.put(|inner| inner.write_all(format!("{text}\n").as_bytes()));
    }

    /// The first error that was not a reader that went away.
    pub fn error(&self) -> Option<&io::Error> {
        self.error.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    struct Failing(ErrorKind, usize);

    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            self.1 += 1;
            Err(self.0.into())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[rstest]
    #[case::reader_gone(ErrorKind::BrokenPipe, None)]
    #[case::disk_full(ErrorKind::StorageFull, Some(ErrorKind::StorageFull))]
    fn stops_at_the_first_error(#[case] kind: ErrorKind, #[case] kept: Option<ErrorKind>) {
        let mut stream = Stream::new(Failing(kind, 0));
        stream.line("one");
        stream.line("two");
        assert_eq!(stream.inner.1, 1);
        assert_eq!(stream.error().map(io::Error::kind), kept);
    }

    #[test]
    fn writes_lines() {
        let mut stream = Stream::new(Vec::new());
        stream.line("one");
        stream.line("two");
        assert_eq!(stream.inner, b"one\ntwo\n");
    }
}
