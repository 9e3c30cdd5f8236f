//! The answers of the commands about workloads, in each of the forms.

use std::io::{self, IsTerminal as _};

use workload_host::model::{Fault, Ownership, Workload};

use super::{Console, explain, json, manager, table, terminal};
use crate::answer::{End, Entry, Found, Listing, found_exit};
use crate::args::Format;
use crate::exit::Exit;

impl Console {
    /// One id ended. If it is to be told, a fault is said at once, and what went well too unless it comes in JSON: that
    /// is one document, at the end.
    pub fn ended(&mut self, entry: &Entry, told: bool) {
        if let Some(screen) = &mut self.screen {
            screen.live().ended(&entry.id);
        }
        match &entry.end {
            _ if !told => {}
            End::Fault(fault) => self.fault_of(&entry.id, fault),
            End::Done(_) | End::Planned(_) | End::Nothing(_) if self.format != Format::Table => {}
            End::Done(_) | End::Planned(_) | End::Nothing(_) => {
                if let Some(text) = table::entry(entry, terminal::paint(&io::stdout(), self.color)) {
                    self.text(&(text + "\n"));
                }
            }
        }
        // What reads the answer may write it to the same terminal: then it has until the next frame.
        if let Some(screen) = self.screen.as_mut().filter(|_| io::stdout().is_terminal()) {
            screen.restore(&mut self.err);
        }
    }

    /// Everything that was asked for ended.
    pub fn entries(&mut self, entries: &[Entry], several: bool) {
        match self.format {
            Format::Table => {}
            Format::Json => self.document(&json::entries(entries, several)),
            Format::Manager => {
                let owner = self.owner.clone();
                let written = entries.iter().map(|entry| (entry.id.as_str(), manager::written(entry, &owner)));
                self.snapshots(written.collect(), several);
            }
        }
    }

    /// The answer of `status`, and its exit code.
    pub fn statuses(&mut self, found: &[Found], several: bool) -> Exit {
        if self.format == Format::Manager {
            let owner = self.owner.clone();
            let entries = manager::statuses(found, &owner);
            let faults = entries.iter().filter_map(|(id, entry)| Some((*id, entry.as_ref().err()?)));
            let exit = manager::exit(faults.clone().map(|(_, fault)| fault));
            for (id, fault) in faults {
                self.fault_of(id, fault);
            }
            self.snapshots(entries, several);
            return exit;
        }
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
                let look = self.look();
                self.text(&table::statuses(read, look));
            }
        }
        found_exit(found)
    }

    /// Entries of the Manager's snapshot: of one id that, or why there is none; of several those that there are, since
    /// what is not known must not be an entry.
    fn snapshots(&mut self, entries: Vec<(&str, Result<manager::Snapshot<'_>, Fault>)>, several: bool) {
        match entries.as_slice() {
            [(_, Ok(entry))] if !several => self.document(entry),
            [(id, Err(fault))] if !several => self.document(&json::error(&manager::with_id(id, fault))),
            entries => self.document(&entries.iter().filter_map(|(_, entry)| entry.as_ref().ok()).collect::<Vec<_>>()),
        }
    }

    /// The answer of `explain`.
    pub fn explanation(&mut self, workload: &Workload, as_owner: &Ownership) {
        let document = json::explanation(workload, as_owner);
        self.either(|look| explain::explanation(workload, as_owner, look), &document);
    }

    /// The answer of `list`, and its exit code.
    pub fn listing(&mut self, listing: &Listing) -> Exit {
        for (place, fault) in &listing.incomplete {
            self.fault_of(place, fault);
        }
        if let Some(fault) = &listing.fault {
            self.error(&fault.message);
        }
        match (self.format, listing.hole()) {
            (Format::Json, _) => self.document(&json::listing(listing)),
            // Of a place that could not be read nothing is known: that is no list.
            (Format::Manager, Some(fault)) => self.document(&json::error(fault)),
            (Format::Manager, None) => {
                let owner = self.owner.clone();
                let (entries, faults) = manager::listing(&listing.workloads, &owner);
                for (id, fault) in &faults {
                    self.fault_of(id, fault);
                }
                self.document(&entries);
                return manager::exit(faults.iter().map(|(_, fault)| fault)).max(listing.exit());
            }
            (Format::Table, _) if listing.workloads.is_empty() => {
                if listing.exit() == Exit::Ok {
                    self.notice("no workloads found\n");
                }
            }
            (Format::Table, _) => self.text(&table::listing(&listing.workloads, self.look())),
        }
        listing.exit()
    }
}
