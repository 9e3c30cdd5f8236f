//! What is printed, and where: the answer on standard output, everything else on standard error.

pub mod json;
mod stream;
pub mod table;

use std::io::{self, IsTerminal as _, Stderr, Stdout, Write as _};

use serde::Serialize;
use workload_host::model::Fault;

use crate::answer::{End, Entry, Found, Listing};
use crate::args::Format;
use crate::exit::Exit;
pub use stream::Stream;

/// Standard output is written line by line, and a JSON document has many short ones: this much goes at once.
const DOCUMENT_BUFFER: usize = 64 << 10;

/// Both streams, and in what form the answer is wanted. Neither stays locked: traces of other threads go to standard
/// error too.
pub struct Console {
    out: Stream<Stdout>,
    err: Stream<Stderr>,
    format: Format,
    progress: bool,
}

impl Console {
    /// The process's own streams. Progress is said to a terminal, and to whoever asks for it.
    pub fn new(format: Format, verbose: bool) -> Console {
        let progress = verbose || io::stderr().is_terminal();
        Console { out: Stream::new(io::stdout()), err: Stream::new(io::stderr()), format, progress }
    }

    /// What a workload waits for.
    pub fn progress(&mut self, id: &str, text: &str) {
        if self.progress {
            self.err.line(&table::plain(&format!("{id}: {text}")));
        }
    }

    /// One id ended: in a table it is said at once, in JSON all are said at the end.
    pub fn ended(&mut self, entry: &Entry) {
        match &entry.end {
            End::Fault(fault) => self.fault_of(&entry.id, fault),
            End::Done(_) | End::Planned(_) if self.format == Format::Json => {}
            End::Done(_) | End::Planned(_) => {
                if let Some(text) = table::entry(entry) {
                    self.out.line(&text);
                }
            }
        }
    }

    /// Everything that was asked for ended.
    pub fn entries(&mut self, entries: &[Entry], several: bool) {
        if self.format == Format::Json {
            self.document(&json::entries(entries, several));
        }
    }

    /// The answer of `status`.
    pub fn statuses(&mut self, found: &[Found], several: bool) {
        for (id, result) in found {
            if let Err(fault) = result {
                self.fault_of(id, fault);
            }
        }
        if self.format == Format::Json {
            self.document(&json::statuses(found, several));
        } else {
            let mut read = found.iter().filter_map(|(_, result)| result.as_ref().ok()).peekable();
            if read.peek().is_some() {
                self.text(&table::statuses(read));
            }
        }
    }

    /// The answer of `list`.
    pub fn listing(&mut self, listing: &Listing) {
        for (place, fault) in &listing.incomplete {
            self.fault_of(place, fault);
        }
        if let Some(fault) = &listing.fault {
            self.error(&fault.message);
        }
        match self.format {
            Format::Json => self.document(&json::listing(listing)),
            Format::Manager => match listing.worst() {
                // Never a snapshot with holes: the Manager takes for missing what is not in it.
                Some(fault) => self.document(&json::error(fault)),
                None => self.document(&json::snapshots(&listing.workloads)),
            },
            Format::Table if listing.workloads.is_empty() => {
                if listing.exit() == Exit::Ok {
                    self.err.line("no workloads found");
                }
            }
            Format::Table => self.text(&table::listing(&listing.workloads)),
        }
    }

    /// The operation broke off after its ids had ended: they are answered as they did.
    pub fn operation_fault(&mut self, fault: &Fault) {
        self.error(&fault.message);
    }

    /// Nothing else is answered but this fault.
    pub fn fault(&mut self, fault: &Fault) {
        self.error(&fault.message);
        if self.format != Format::Table {
            self.document(&json::error(fault));
        }
    }

    /// A text and a document that mean the same.
    pub fn either(&mut self, text: impl FnOnce() -> String, document: &impl Serialize) {
        if self.format == Format::Table {
            self.text(&text());
        } else {
            self.document(document);
        }
    }

    /// A text on standard output as it is, line ends included.
    pub fn text(&mut self, text: &str) {
        self.out.put(|out| out.write_all(text.as_bytes()));
    }

    /// A text on standard error as it is.
    pub fn notice(&mut self, text: &str) {
        self.err.put(|err| err.write_all(text.as_bytes()));
    }

    /// One JSON document.
    pub fn document(&mut self, document: &impl Serialize) {
        self.out.put(|out| {
            let mut buffered = io::BufWriter::with_capacity(DOCUMENT_BUFFER, &mut *out);
            serde_json::to_writer_pretty(&mut buffered, document)?;
            buffered.write_all(b"\n")?;
            buffered.flush()
        });
    }

    fn fault_of(&mut self, about: &str, fault: &Fault) {
        self.error(&about_and_why(about, &fault.message));
    }

    fn error(&mut self, text: &str) {
        self.err.line(&table::plain(&format!("error: {text}")));
    }

    /// The exit code, made worse if the answer could not be written.
    pub fn finish(mut self, exit: Exit) -> Exit {
        let Some(error) = self.out.error().map(crate::text::io_error) else { return exit };
        self.error(&format!("the answer could not be written: {error}"));
        exit.max(Exit::Other)
    }
}

/// A fault's message with what it is about in front, unless it begins with that itself.
fn about_and_why(about: &str, message: &str) -> String {
    let rest = message.strip_prefix(about).or_else(|| message.strip_prefix(&format!("{about:?}")));
    if rest.is_some_and(|rest| rest.starts_with([' ', ':'])) {
        message.to_owned()
    } else {
        format!("{about}: {message}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::in_front("there is no Deployment web", "shop/web: there is no Deployment web")]
    #[case::already_there("shop/web is not ours", "shop/web is not ours")]
    #[case::quoted("\"shop/web\" is no id", "\"shop/web\" is no id")]
    #[case::of_another("shop/web2 is not ours", "shop/web: shop/web2 is not ours")]
    fn said_once(#[case] message: &str, #[case] expected: &str) {
        assert_eq!(about_and_why("shop/web", message), expected);
    }
}
