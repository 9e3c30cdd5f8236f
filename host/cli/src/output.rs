//! What is printed, and where: the answer on standard output, everything else on standard error.

mod answers;
pub mod checks;
mod explain;
pub mod json;
mod layout;
mod live;
mod manager;
pub mod roles;
mod stream;
mod style;
pub mod table;
mod terminal;
mod watching;
mod width;

use std::future::pending;
use std::io::{self, IsTerminal as _, Stderr, Stdout, Write as _};

use clap::builder::StyledStr;
use serde::Serialize;
use workload_host::model::Fault;

use crate::args::{Color, Format, Global};
use crate::exit::Exit;
use live::Live;
use live::screen::Screen;
pub use stream::Stream;
use style::{ERROR, Paint};
pub use terminal::Look;
use watching::Watching;
pub use watching::unread;

/// Standard output is written line by line, and a JSON document has many short ones: this much goes at once.
const DOCUMENT_BUFFER: usize = 64 << 10;

/// Both streams, and in what form the answer is wanted. Neither stays locked: traces of other threads go to standard
/// error too.
pub struct Console {
    out: Stream<Stdout>,
    err: Stream<Stderr>,
    format: Format,
    color: Color,
    /// Of standard error.
    paint: Paint,
    progress: Progress,
    screen: Option<Screen>,
    /// The Manager's node of a workload that does not say whose it is.
    owner: String,
    /// What is told line by line, until the user ends it.
    watching: Option<Watching>,
}

/// How it is told what workloads wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// Not at all: nobody looks on.
    None,
    /// A line at every change, between which others may write theirs.
    Lines,
    /// Lines that are written anew.
    Live,
}

impl Progress {
    /// Live lines would be torn by what `verbose` writes between them.
    fn of(verbose: bool, terminal: bool, live: bool) -> Progress {
        match (verbose, terminal, live) {
            (false, _, true) => Progress::Live,
            (true, ..) | (_, true, _) => Progress::Lines,
            (false, false, false) => Progress::None,
        }
    }
}

impl Console {
    /// The process's own streams, for a command.
    pub fn new(global: &Global) -> Console {
        let stderr = io::stderr();
        let progress = Progress::of(global.verbose > 0, stderr.is_terminal(), terminal::is_live(&stderr));
        Console { owner: global.owner.clone(), ..Console::with(global.output, global.color, progress) }
    }

    /// The same where there is none.
    pub fn plain(format: Format, color: Color) -> Console {
        Console::with(format, color, Progress::None)
    }

    fn with(format: Format, color: Color, progress: Progress) -> Console {
        let (stdout, stderr) = (io::stdout(), io::stderr());
        let paint = terminal::paint(&stderr, color);
        let (out, err) = (Stream::new(stdout), Stream::new(stderr));
        let owner = String::new();
        Console { out, err, format, color, paint, progress, screen: None, owner, watching: None }
    }

    /// From here on something is done with these, such as "starting".
    pub fn begin(&mut self, doing: &'static str, ids: &[String]) {
        if self.progress == Progress::Live {
            self.screen = Some(Screen::new(Live::new(doing, ids), self.paint));
        }
    }

    /// What a workload waits for.
    pub fn progress(&mut self, id: &str, text: &str) {
        if self.progress == Progress::Lines {
            self.err.line(&table::plain(&format!("{id}: {text}")));
        } else if let Some(screen) = &mut self.screen {
            screen.live().waits(id, text);
        }
    }

    /// Waits until what is shown has grown old, and shows it anew; of a watch, until there are rows to be shown.
    pub async fn refresh(&mut self) {
        let old = async {
            match &mut self.screen {
                Some(screen) => screen.due().await,
                None => pending().await,
            }
        };
        let rows = async {
            match &self.watching {
                Some(watching) => watching.due().await,
                None => pending().await,
            }
        };
        let rows = tokio::select! {
            () = rows => true,
            () = old => false,
        };
        if rows {
            self.rows();
        } else if let Some(screen) = &mut self.screen {
            screen.draw(&mut self.err);
        }
    }

    /// The user ended it. What is said from here on stays.
    pub fn interrupted(&mut self) {
        if let Some(screen) = self.screen.take() {
            screen.close(&mut self.err);
            self.err.line("interrupted: a moment, to see how things were left");
        }
    }

    /// Nothing is under way any more.
    pub fn end(&mut self) {
        self.clear();
        self.screen = None;
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
    pub fn either(&mut self, text: impl FnOnce(Look) -> String, document: &impl Serialize) {
        if self.format == Format::Table {
            self.text(&text(self.look()));
        } else {
            self.document(document);
        }
    }

    /// A text on standard output as it is, line ends included.
    pub fn text(&mut self, text: &str) {
        self.clear();
        self.out.put(|out| out.write_all(text.as_bytes()));
    }

    /// A text on standard error as it is.
    pub fn notice(&mut self, text: &str) {
        self.clear();
        self.err.put(|err| err.write_all(text.as_bytes()));
    }

    /// The help, or the version.
    pub fn help(&mut self, text: &StyledStr) {
        let text = styled(text, terminal::paint(&io::stdout(), self.color));
        self.text(&text);
    }

    /// What is wrong with the command line.
    pub fn usage(&mut self, text: &StyledStr) {
        let text = styled(text, self.paint);
        self.notice(&text);
    }

    /// One JSON document: of a watch a line, of everything else in a form for people too.
    pub fn document(&mut self, document: &impl Serialize) {
        self.clear();
        let line = self.watching.is_some();
        self.out.put(|out| {
            let mut buffered = io::BufWriter::with_capacity(DOCUMENT_BUFFER, &mut *out);
            if line {
                serde_json::to_writer(&mut buffered, document)?;
            } else {
                serde_json::to_writer_pretty(&mut buffered, document)?;
            }
            buffered.write_all(b"\n")?;
            buffered.flush()
        });
    }

    fn fault_of(&mut self, about: &str, fault: &Fault) {
        self.error(&about_and_why(about, &fault.message));
    }

    fn error(&mut self, text: &str) {
        let line = format!("{} {}\n", self.paint.on(ERROR, "error:"), table::plain(text));
        self.notice(&line);
    }

    fn look(&self) -> Look {
        Look::of(&io::stdout(), self.color)
    }

    fn clear(&mut self) {
        if let Some(screen) = &mut self.screen {
            screen.erase(&mut self.err);
        }
    }

    /// The exit code, made worse if the answer could not be written.
    pub fn finish(mut self, exit: Exit) -> Exit {
        let Some(error) = self.out.error().map(crate::text::io_error) else { return exit };
        self.error(&format!("the answer could not be written: {error}"));
        exit.max(Exit::Other)
    }
}

fn styled(text: &StyledStr, paint: Paint) -> String {
    if paint == Paint(true) { text.ansi().to_string() } else { text.to_string() }
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
    #[case::terminal(false, true, true, Progress::Live)]
    #[case::dumb_terminal(false, true, false, Progress::Lines)]
    #[case::pipe(false, false, false, Progress::None)]
    #[case::verbose(true, true, true, Progress::Lines)]
    #[case::verbose_pipe(true, false, false, Progress::Lines)]
    fn told(#[case] verbose: bool, #[case] terminal: bool, #[case] live: bool, #[case] expected: Progress) {
        assert_eq!(Progress::of(verbose, terminal, live), expected);
    }

    #[rstest]
    #[case::in_front("there is no Deployment web", "shop/web: there is no Deployment web")]
    #[case::already_there("shop/web is not ours", "shop/web is not ours")]
    #[case::quoted("\"shop/web\" is no id", "\"shop/web\" is no id")]
    #[case::of_another("shop/web2 is not ours", "shop/web: shop/web2 is not ours")]
    fn said_once(#[case] message: &str, #[case] expected: &str) {
        assert_eq!(about_and_why("shop/web", message), expected);
    }
}
