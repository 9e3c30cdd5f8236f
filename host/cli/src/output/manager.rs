//! Workloads as the Manager's snapshot has them: entries that say `running` or `stopped` and know no third word.
//!
//! What is in a snapshot and does not run is offline to that Manager, and what is not in it is missing, or unknown when
//! the snapshot failed. So what is missing or unknown never becomes an entry: it is a fault, and the command fails.

use serde::Serialize;
use workload_host::model::{Fault, FaultKind, Status, Workload};

use crate::answer::{End, Entry, Found};
use crate::exit::Exit;

/// One workload.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Snapshot<'a> {
    vmid: &'a str,
    name: &'a str,
    /// The Manager knows only this type.
    #[serde(rename = "type")]
    kind: &'static str,
    /// The Manager knows only these two, and tests for `running`.
    status: &'static str,
    /// The Manager's own node, which is the owner here.
    node: &'a str,
}

/// A workload's entry.
///
/// # Errors
/// It is missing or unknown: why, as a fault.
pub fn snapshot<'a>(workload: &'a Workload, owner: &'a str) -> Result<Snapshot<'a>, Fault> {
    match workload.status {
        Status::Missing | Status::Unknown => Err(no_entry(workload)),
        Status::Running | Status::Offline | Status::Creating | Status::Failed => Ok(Snapshot {
            vmid: &workload.id,
            name: &workload.name,
            kind: "lxc",
            status: word(workload),
            node: workload.owner.as_deref().unwrap_or(owner),
        }),
    }
}

/// To that Manager what does not run is offline. A new revision that comes up, or does not, changes nothing about the
/// old one that serves; what is being stopped is as good as stopped.
fn word(workload: &Workload) -> &'static str {
    let serves = match workload.status {
        Status::Running => true,
        Status::Creating | Status::Failed => workload.available > 0,
        Status::Offline | Status::Missing | Status::Unknown => false,
    };
    if serves { "running" } else { "stopped" }
}

fn no_entry(workload: &Workload) -> Fault {
    let kind = match (workload.status, workload.reason.as_str()) {
        (Status::Missing, "not-owned") => FaultKind::NotOwned,
        (Status::Missing, _) => FaultKind::NotFound,
        (_, "unauthorized") => FaultKind::Unauthorized,
        (_, "forbidden") => FaultKind::Forbidden,
        (_, "unreachable" | "throttled") => FaultKind::Unavailable,
        _ => FaultKind::Malformed,
    };
    let message = workload.message.as_deref().filter(|message| !message.is_empty()).unwrap_or(&workload.reason);
    Fault::new(kind, message).with("reason", workload.reason.clone())
}

/// What `list` found: entries, and why others are none. What is missing is in no list.
pub fn listing<'a>(workloads: &'a [Workload], owner: &'a str) -> (Vec<Snapshot<'a>>, Vec<(&'a str, Fault)>) {
    let (mut entries, mut faults) = (Vec::new(), Vec::new());
    for workload in workloads.iter().filter(|workload| workload.status != Status::Missing) {
        match snapshot(workload, owner) {
            Ok(entry) => entries.push(entry),
            Err(fault) => faults.push((workload.id.as_str(), fault)),
        }
    }
    (entries, faults)
}

/// What `status` found: for each id an entry, or why there is none.
pub fn statuses<'a>(found: &'a [Found], owner: &'a str) -> Vec<(&'a str, Result<Snapshot<'a>, Fault>)> {
    let one = |(id, result): &'a Found| {
        let entry = match result {
            Ok(workload) => snapshot(workload, owner),
            Err(fault) => Err(fault.clone()),
        };
        (id.as_str(), entry)
    };
    found.iter().map(one).collect()
}

/// How a write ended: the workload as it was last seen, or the fault. What is gone, and what nobody looked at again,
/// does not run.
pub fn written<'a>(entry: &'a Entry, owner: &'a str) -> Result<Snapshot<'a>, Fault> {
    let last = match &entry.end {
        End::Done(outcome) | End::Nothing(outcome) => outcome.workload.as_ref(),
        End::Planned(_) => None,
        End::Fault(fault) => return Err(fault.clone()),
    };
    let seen = last.and_then(|workload| snapshot(workload, owner).ok());
    let name = entry.id.rsplit('/').next().unwrap_or(&entry.id);
    Ok(seen.unwrap_or(Snapshot { vmid: &entry.id, name, kind: "lxc", status: "stopped", node: owner }))
}

/// A fault where an entry could be. Its id is a detail: what has a `vmid` is an entry to whoever looks for one.
pub fn with_id(id: &str, fault: &Fault) -> Fault {
    fault.clone().with("id", id)
}

/// The worst of these faults.
pub fn exit<'a>(faults: impl Iterator<Item = &'a Fault>) -> Exit {
    faults.map(Exit::from).max().unwrap_or(Exit::Ok)
}

#[cfg(test)]
#[path = "manager/tests.rs"]
mod tests;
