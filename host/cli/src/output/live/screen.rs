//! Writes live lines where the cursor stands, and over them again.
//!
//! Between two frames the cursor rests at the beginning of the first line. So everything from the cursor on is ours to
//! be written over, however a terminal moves lines around when its size changes; and a process that is killed leaves
//! a cursor that is visible, with nothing to restore.

use std::future::pending;
use std::io::{Stderr, Write as _};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

use super::Live;
use crate::output::Stream;
use crate::output::style::Paint;
use crate::output::terminal;

/// What ends sooner needs no line: it would only flicker.
const DELAY: Duration = Duration::from_millis(300);

/// Between two frames: a person sees no more, and a slow terminal shows no more.
const FRAME: Duration = Duration::from_millis(100);

/// Forgets what stands from the cursor on.
const ERASE: &str = "\r\u{1b}[J";

/// Live lines on standard error.
pub struct Screen {
    live: Live,
    began: Instant,
    paint: Paint,
    drawn: bool,
    last: Instant,
    next: Instant,
    resized: Option<Signal>,
}

impl Screen {
    /// Nothing is shown yet.
    pub fn new(live: Live, paint: Paint) -> Screen {
        let began = Instant::now();
        // Without it, a new size is seen with the next frame.
        let resized = signal(SignalKind::window_change()).ok();
        Screen { live, began, paint, drawn: false, last: began, next: began + DELAY, resized }
    }

    /// What it shows, to be changed: that is seen soon.
    pub fn live(&mut self) -> &mut Live {
        self.soon();
        &mut self.live
    }

    /// Takes the lines away, so that something else can be written. They come back with the next frame.
    pub fn erase(&mut self, err: &mut Stream<Stderr>) {
        self.clear(err);
        self.soon();
    }

    /// Waits until there is something else to show.
    pub async fn due(&mut self) {
        let (next, drawn) = (self.next, self.drawn);
        let resized = async {
            match &mut self.resized {
                Some(resized) => resized.recv().await,
                None => pending().await,
            }
        };
        tokio::select! {
            () = sleep_until(next) => {}
            _ = resized, if drawn => {}
        }
    }

    /// Shows how things are now.
    pub fn draw(&mut self, err: &mut Stream<Stderr>) {
        self.last = Instant::now();
        let elapsed = self.last - self.began;
        self.next = self.began + Duration::from_secs(elapsed.as_secs() + 1);
        let stderr = std::io::stderr();
        let Some(size) = terminal::size(&stderr).filter(|_| terminal::is_ours(&stderr)) else { return };
        let lines = self.live.lines(elapsed, size, self.paint);
        if lines.is_empty() {
            self.clear(err);
            return;
        }
        // In one piece, so that no half of it is ever seen.
        err.put(|err| err.write_all(frame(&lines).as_bytes()));
        self.drawn = true;
    }

    /// Shows them again at once after [`Screen::erase`], so that nothing flickers; in a crowd, with the next frame.
    pub fn restore(&mut self, err: &mut Stream<Stderr>) {
        let now = Instant::now();
        if now - self.last >= FRAME && now - self.began >= DELAY {
            self.draw(err);
        }
    }

    /// Ends it after the user's Ctrl-C, which the terminal shows where the cursor stands.
    pub fn close(mut self, err: &mut Stream<Stderr>) {
        self.drawn = true;
        self.clear(err);
    }

    fn clear(&mut self, err: &mut Stream<Stderr>) {
        if std::mem::take(&mut self.drawn) && terminal::is_ours(std::io::stderr()) {
            err.put(|err| err.write_all(ERASE.as_bytes()));
        }
    }

    fn soon(&mut self) {
        let soon = (Instant::now() + FRAME).max(self.began + DELAY);
        self.next = self.next.min(soon);
    }
}

/// The bytes that show these lines from the cursor on and put it back there. A line may fill the terminal's width:
/// what follows it begins with a carriage return, before which no terminal goes to a further line.
fn frame(lines: &[String]) -> String {
    let mut bytes = "\r".to_owned();
    for line in lines {
        // Cleared before, not after: after a full line this would clear its last character.
        bytes.push_str("\u{1b}[K");
        bytes.push_str(line);
        bytes.push_str("\r\n");
    }
    bytes.push_str(&format!("\u{1b}[J\u{1b}[{}A", lines.len()));
    bytes
}

#[cfg(test)]
#[path = "screen/tests.rs"]
mod tests;
