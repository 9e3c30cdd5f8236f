//! The built command under a terminal: what a person would see.

use std::ffi::OsStr;
use std::io::{Read as _, Write as _};
use std::num::NonZeroU16;
use std::process::{Child, Stdio};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use rustix::termios::{LocalModes, OptionalActions, tcgetattr, tcsetattr};
use vt100::{Parser, Screen};

use crate::home::Home;

/// Nothing here takes that long; a test that waits for more has failed.
const PATIENCE: Duration = Duration::from_secs(60);

/// A terminal in which a command runs.
pub struct Terminal {
    /// The folder that the command runs in, which goes away with it.
    _home: Home,
    pty: Arc<Pty>,
    child: Child,
    seen: Arc<(Mutex<Seen>, Condvar)>,
}

struct Seen {
    parser: Parser,
    raw: Vec<u8>,
    ended: bool,
}

/// What is left when the command has ended.
pub struct Left {
    pub code: Option<i32>,
    pub screen: Screen,
    pub raw: String,
}

fn size(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap()
}

/// What is run in it.
pub struct Run {
    home: Home,
    command: Command,
}

/// The command line with these arguments in a folder of its own.
pub fn workload(home: Home, line: &str) -> Run {
    program(home, env!("CARGO_BIN_EXE_workload"), line.split_whitespace())
}

/// Any program.
pub fn program<S: AsRef<OsStr>>(home: Home, program: &str, arguments: impl IntoIterator<Item = S>) -> Run {
    let command = Command::new(program).args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
    Run { home, command: command.env("TERM", "xterm-256color") }
}

impl Run {
    /// With a variable in its environment.
    pub fn env(self, name: &str, value: &str) -> Run {
        Run { command: self.command.env(name, value), ..self }
    }

    /// With standard output in a pipe.
    pub fn piped_out(self) -> Run {
        Run { command: self.command.stdout(Stdio::piped()), ..self }
    }

    /// With standard error in a pipe.
    pub fn piped_err(self) -> Run {
        Run { command: self.command.stderr(Stdio::piped()), ..self }
    }
}

impl Terminal {
    /// Runs a command in a terminal of this size.
    pub fn run(run: Run, columns: u16, rows: u16) -> Terminal {
        Terminal::start(run, columns, rows, |pty| pty.resize(Size::new(rows, columns)).unwrap())
    }

    /// The same in one that does not say its size.
    pub fn without_size(run: Run) -> Terminal {
        Terminal::start(run, 80, 24, |_| ())
    }

    fn start(run: Run, columns: u16, rows: u16, prepare: impl FnOnce(&Pty)) -> Terminal {
        let (pty, pts) = open().unwrap();
        // At Ctrl-C the kernel shows it, and drops what nobody has read yet: when, is no matter of ours.
        let mut modes = tcgetattr(&pty).unwrap();
        modes.local_modes.remove(LocalModes::ECHO);
        modes.local_modes.insert(LocalModes::NOFLSH);
        tcsetattr(&pty, OptionalActions::Now, &modes).unwrap();
        prepare(&pty);
        let child = run.command.spawn(pts).unwrap();
        let parser = Parser::new(size(rows), size(columns), 1000);
        let seen = Arc::new((Mutex::new(Seen { parser, raw: Vec::new(), ended: false }), Condvar::new()));
        let pty = Arc::new(pty);
        let (reader, shown) = (Arc::clone(&pty), Arc::clone(&seen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            loop {
                // An error is how the last writer goes away.
                let read = (&*reader).read(&mut bytes).unwrap_or(0);
                let mut seen = shown.0.lock().unwrap_or_else(PoisonError::into_inner);
                seen.parser.process(&bytes[..read]);
                seen.raw.extend_from_slice(&bytes[..read]);
                seen.ended = read == 0;
                shown.1.notify_all();
                if seen.ended {
                    return;
                }
            }
        });
        Terminal { _home: run.home, pty, child, seen }
    }

    /// Waits until the terminal shows what is wanted.
    pub fn until(&self, wanted: &str, shows: impl Fn(&Screen) -> bool) {
        self.wait(wanted, |seen| shows(seen.parser.screen()));
    }

    /// Waits until the terminal shows a line.
    pub fn until_line(&self, line: &str) {
        self.until(line, |screen| lines(screen).iter().any(|shown| shown == line));
    }

    fn wait(&self, wanted: &str, done: impl Fn(&Seen) -> bool) {
        let (seen, changed) = &*self.seen;
        let began = Instant::now();
        let mut seen = seen.lock().unwrap();
        while !done(&seen) {
            let left = PATIENCE.saturating_sub(began.elapsed());
            let text = seen.parser.screen().contents();
            assert!(!left.is_zero() && !seen.ended, "waited for {wanted:?} and saw:\n{text}");
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
    }

    /// Types.
    pub fn type_in(&self, text: &str) {
        (&*self.pty).write_all(text.as_bytes()).unwrap();
    }

    /// Changes its size, as a person who draws at the corner of its window.
    pub fn resize(&self, columns: u16, rows: u16) {
        let mut seen = self.seen.0.lock().unwrap();
        seen.parser.screen_mut().set_size(size(rows), size(columns));
        self.pty.resize(Size::new(rows, columns)).unwrap();
    }

    /// What the command wrote to a pipe instead.
    pub fn piped(&mut self) -> (String, String) {
        let mut texts = (String::new(), String::new());
        if let Some(mut out) = self.child.stdout.take() {
            out.read_to_string(&mut texts.0).unwrap();
        }
        if let Some(mut err) = self.child.stderr.take() {
            err.read_to_string(&mut texts.1).unwrap();
        }
        texts
    }

    /// Waits until the command has ended.
    pub fn end(mut self) -> Left {
        let (seen, changed) = &*self.seen;
        let began = Instant::now();
        let mut seen = seen.lock().unwrap();
        while !seen.ended {
            let left = PATIENCE.saturating_sub(began.elapsed());
            assert!(!left.is_zero(), "it did not end:\n{}", seen.parser.screen().contents());
            seen = changed.wait_timeout(seen, left).unwrap().0;
        }
        let raw = String::from_utf8(seen.raw.clone()).unwrap();
        assert!(!raw.contains("hunter2") && !raw.contains("panicked"), "{raw}");
        let screen = seen.parser.screen().clone();
        assert!(!screen.hide_cursor(), "the cursor is hidden");
        Left { code: self.child.wait().unwrap().code(), screen, raw }
    }
}

/// The lines of a screen down to the last that is not empty.
pub fn lines(screen: &Screen) -> Vec<String> {
    let columns = screen.size().1.get();
    let mut lines: Vec<String> = screen.rows(0, columns).map(|line| line.trim_end().to_owned()).collect();
    while lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    lines
}

/// The colour of the first character of a word on the screen, and whether it is bold.
pub fn look_of(screen: &Screen, word: &str) -> (vt100::Color, bool) {
    let columns = screen.size().1.get();
    let place = screen.rows(0, columns).enumerate().find_map(|(row, line)| Some((row, line.find(word)?)));
    let (row, column) = place.unwrap_or_else(|| panic!("{word} is not on the screen:\n{}", screen.contents()));
    let cell = screen.cell(row.try_into().unwrap(), column.try_into().unwrap()).unwrap();
    (cell.fgcolor(), cell.bold())
}
