//! What a command found out, before it is printed in one form or another.

use std::time::Duration;

use workload_host::model::{Fault, FaultKind, Outcome, PlannedRequest, Workload};

use crate::exit::Exit;

/// How one id ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Entry {
    /// The id as the provider got it.
    pub id: String,
    /// How.
    pub end: End,
    /// From the beginning of the operation.
    pub elapsed: Duration,
}

/// The ways in which an id can end.
#[derive(Debug, Clone, PartialEq)]
pub enum End {
    /// Well.
    Done(Box<Outcome>),
    /// With a write that was not sent.
    Planned(PlannedRequest),
    /// Without a write, where only a plan of one was asked for.
    Nothing(Box<Outcome>),
    /// Not well.
    Fault(Fault),
}

impl Entry {
    /// The exit code of a write to this id.
    pub fn exit(&self) -> Exit {
        match &self.end {
            End::Done(_) | End::Planned(_) | End::Nothing(_) => Exit::Ok,
            End::Fault(fault) => fault.into(),
        }
    }

    /// The same where only a plan was asked for: what ended well had nothing to write.
    pub fn of_a_plan(self) -> Entry {
        match self.end {
            End::Done(outcome) => Entry { end: End::Nothing(outcome), ..self },
            _ => self,
        }
    }
}

/// What `status` found of one id.
pub type Found = (String, Result<Workload, Fault>);

/// The exit code of what `status` found.
pub fn found_exit(found: &[Found]) -> Exit {
    let one = |(_, result): &Found| match result {
        Ok(workload) => Exit::of_status(workload),
        Err(fault) => fault.into(),
    };
    found.iter().map(one).max().unwrap_or(Exit::Ok)
}

/// Turns the end of a `status` into the workload that was read.
pub fn found(entry: Entry) -> Found {
    let result = match entry.end {
        End::Done(outcome) | End::Nothing(outcome) => outcome.workload.ok_or_else(nothing_read),
        End::Planned(_) => Err(nothing_read()),
        End::Fault(fault) => Err(fault),
    };
    (entry.id, result)
}

fn nothing_read() -> Fault {
    let message = "the provider said that it read the status, but not what it is";
    Fault::new(FaultKind::ProviderFault, message).with("cause", "protocol")
}

/// What `list` found.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Listing {
    /// In the order of their ids.
    pub workloads: Vec<Workload>,
    /// Places that could not be read, and why.
    pub incomplete: Vec<(String, Fault)>,
    /// The listing as a whole ended early: what is here is what came before.
    pub fault: Option<Fault>,
}

impl Listing {
    /// The worst of what was left out, or that the whole ended early.
    pub fn worst(&self) -> Option<&Fault> {
        let places = self.incomplete.iter().map(|(_, fault)| fault);
        places.chain(&self.fault).max_by_key(|fault| Exit::from(*fault))
    }

    /// The worst that leaves a hole in it. That workloads are in conflict does not: they are listed.
    pub fn hole(&self) -> Option<&Fault> {
        let places = self.incomplete.iter().map(|(_, fault)| fault);
        places
            .filter(|fault| fault.kind != FaultKind::Conflict)
            .chain(&self.fault)
            .max_by_key(|fault| Exit::from(*fault))
    }

    /// Its exit code.
    pub fn exit(&self) -> Exit {
        self.worst().map_or(Exit::Ok, Exit::from)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{outcome, workload};
    use workload_host::model::OutcomeWord;

    fn entry(end: End) -> Entry {
        Entry { id: "default/web".to_owned(), end, elapsed: Duration::ZERO }
    }

    #[test]
    fn status_takes_what_was_read() {
        let read = entry(End::Done(Box::new(outcome(OutcomeWord::Read, "default/web"))));
        assert_eq!(found(read), ("default/web".to_owned(), Ok(workload("default/web"))));
    }

    #[test]
    fn a_status_without_a_workload_is_the_providers_fault() {
        let empty = entry(End::Done(Box::new(Outcome { word: OutcomeWord::Read, changed: false, workload: None })));
        let (_, result) = found(empty);
        assert_eq!(result.map_err(|fault| fault.kind), Err(FaultKind::ProviderFault));
    }

    #[test]
    fn a_plan_without_a_write_is_a_good_end() {
        let done = outcome(OutcomeWord::AlreadyRunning, "default/web");
        let planned = entry(End::Done(Box::new(done.clone()))).of_a_plan();
        assert_eq!((planned.exit(), &planned.end), (Exit::Ok, &End::Nothing(Box::new(done))));
        let fault = entry(End::Fault(Fault::new(FaultKind::NotFound, "x")));
        assert_eq!(fault.clone().of_a_plan(), fault);
    }

    #[test]
    fn a_listing_ends_as_its_worst_place() {
        let mut listing = Listing { workloads: vec![workload("a/b")], ..Listing::default() };
        assert_eq!(listing.exit(), Exit::Ok);
        listing.incomplete.push(("a".to_owned(), Fault::new(FaultKind::Unavailable, "x")));
        listing.incomplete.push(("b".to_owned(), Fault::new(FaultKind::Forbidden, "x")));
        assert_eq!(listing.exit(), Exit::Unavailable);
        listing.fault = Some(Fault::new(FaultKind::ProviderFault, "x"));
        assert_eq!(listing.exit(), Exit::ProviderFault);
    }

    #[test]
    fn a_conflict_between_workloads_is_no_hole() {
        let mut listing = Listing { workloads: vec![workload("a/b")], ..Listing::default() };
        listing.incomplete.push(("4711".to_owned(), Fault::new(FaultKind::Conflict, "two say that they are this")));
        assert_eq!((listing.hole(), listing.exit()), (None, Exit::Conflict));
        listing.incomplete.push(("a".to_owned(), Fault::new(FaultKind::Unavailable, "x")));
        assert_eq!(listing.hole().map(|fault| fault.kind), Some(FaultKind::Unavailable));
    }
}
