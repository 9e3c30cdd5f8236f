//! What a watch tells: a line for each change, in the form that is wanted.

use std::collections::HashMap;
use std::future::pending;
use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::io;
use std::os::fd::AsFd;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use serde::Serialize;
use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};
use workload_host::model::{Fault, Status, Workload};

use super::layout::Row;
use super::layout::growing::Growing;
use super::{Console, json, manager, table};
use crate::args::Format;
use crate::exit::Exit;

/// Rows that become known together are shown together, with columns that fit all of them: a row waits so long for the
/// next one,
const QUIET: Duration = Duration::from_millis(100);

/// and no longer than this for all that come.
const AT_MOST: Duration = Duration::from_millis(500);

/// What was told, and what waits to be.
pub(super) struct Watching {
    table: Growing,
    /// Rows have messages.
    messages: bool,
    /// What was told last of each, as a digest: what does not show is no change to whoever looks on.
    told: HashMap<String, u64>,
    waiting: Vec<Row>,
    /// When the first of those that wait came, and the last.
    since: Option<(Instant, Instant)>,
}

impl Watching {
    fn new(messages: bool) -> Watching {
        Watching { table: table::watched(messages), messages, told: HashMap::new(), waiting: Vec::new(), since: None }
    }

    /// Waits until the rows are to be shown; for ever if there is none.
    pub(super) async fn due(&self) {
        match self.since {
            Some((first, last)) => sleep_until((last + QUIET).min(first + AT_MOST)).await,
            None => pending().await,
        }
    }

    /// Whether this is something else than what was told before.
    fn is_new(&mut self, workload: &Workload, told: &impl Hash) -> bool {
        let mut hasher = DefaultHasher::new();
        told.hash(&mut hasher);
        let digest = hasher.finish();
        let before = self.told.insert(workload.id.clone(), digest);
        before != Some(digest)
    }

    fn row(&mut self, workload: &Workload, now: SystemTime) {
        let row = table::watched_row(workload, self.messages, clock(now));
        // Without the time, which is another for each.
        let told: Vec<String> = row.cells.iter().skip(1).map(|cell| cell.text.clone()).collect();
        if self.is_new(workload, &(told, &row.note)) {
            self.waiting.push(row);
            let now = Instant::now();
            self.since = Some((self.since.map_or(now, |(first, _)| first), now));
        }
    }
}

impl Console {
    /// From here on everything is told line by line; rows have `messages` or not.
    pub fn begin_watch(&mut self, messages: bool) {
        self.watching = Some(Watching::new(messages));
    }

    /// A workload is like this now.
    pub fn seen(&mut self, workload: &Workload) {
        let Some(watching) = &mut self.watching else { return };
        match self.format {
            Format::Table => watching.row(workload, SystemTime::now()),
            Format::Json => self.line_of(workload, workload),
            Format::Manager => match manager::snapshot(workload, &self.owner.clone()) {
                Ok(entry) => self.line_of(workload, &entry),
                Err(fault) => {
                    self.line_of(workload, &json::error(&manager::with_id(&workload.id, &fault)));
                }
            },
        }
        if workload.status == Status::Missing
            && let Some(watching) = &mut self.watching
        {
            // A list that is watched for long sees many come and go.
            watching.told.remove(&workload.id);
        }
    }

    fn line_of(&mut self, workload: &Workload, document: &impl Serialize) {
        let text = serde_json::to_string(document).unwrap_or_default();
        if self.watching.as_mut().is_some_and(|watching| watching.is_new(workload, &text)) {
            self.text(&(text + "\n"));
        }
    }

    /// An id ended: nothing more will be told of it.
    pub fn seen_ended(&mut self, id: &str, fault: &Fault) {
        self.rows();
        self.fault_of(id, fault);
        match self.format {
            Format::Table => {}
            Format::Json => self.document(&json::faulty(id, fault)),
            Format::Manager => self.document(&json::error(&manager::with_id(id, fault))),
        }
    }

    /// A place could not be read.
    pub fn seen_incomplete(&mut self, place: &str, fault: &Fault) {
        self.rows();
        self.fault_of(place, fault);
        match self.format {
            Format::Table => {}
            Format::Json => self.document(&json::left_out(place, fault)),
            Format::Manager => self.document(&json::error(&fault.clone().with("place", place))),
        }
    }

    /// Shows the rows that wait.
    pub(super) fn rows(&mut self) {
        let look = self.look();
        let Some(watching) = &mut self.watching else { return };
        watching.since = None;
        let rows = std::mem::take(&mut watching.waiting);
        if !rows.is_empty() {
            let text = watching.table.add(rows, look);
            self.text(&text);
        }
    }

    /// The watch is over.
    pub fn end_watch(&mut self) {
        self.rows();
        self.end();
    }

    /// The exit code of a workload that was seen last like this.
    pub fn exit_of(&self, workload: &Workload) -> Exit {
        match self.format {
            Format::Manager => {
                manager::snapshot(workload, &self.owner).err().map_or(Exit::Ok, |fault| Exit::from(&fault))
            }
            Format::Table | Format::Json => Exit::of_status(workload),
        }
    }
}

/// Waits until nobody reads standard output any more; for ever where that cannot be told, as of a file.
pub async fn unread() {
    let (tell, told) = oneshot::channel();
    // Of its own, since it lasts as long as the process: it would keep the runtime from ending.
    let waiting = std::thread::Builder::new().name("workload-reader".to_owned()).spawn(move || {
        if is_unread(&io::stdout()) {
            // The watch ended meanwhile.
            let _ = tell.send(());
        }
    });
    if waiting.is_err() || told.await.is_err() {
        pending().await
    }
}

/// Blocks until nobody reads this any more. False where the system cannot tell.
fn is_unread(stream: &impl AsFd) -> bool {
    loop {
        // Nothing is asked for: that its other end is gone is told in any case.
        match poll(&mut [PollFd::new(stream, PollFlags::empty())], None) {
            Ok(_) => return true,
            Err(Errno::INTR) => {}
            Err(_) => return false,
        }
    }
}

/// The time of day, in the zone in which the engine tells times too.
fn clock(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()) % (24 * 60 * 60);
    format!("{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

#[cfg(test)]
#[path = "watching/tests.rs"]
mod tests;
