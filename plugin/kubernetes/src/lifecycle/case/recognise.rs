//! Which object it is, whose, and whether anything may be done to it.

use workload_guest::{Fault, FaultKind, Status, fault};

use super::Case;
use crate::lifecycle::claims;
use crate::ownership::{Claim, Owned};
use crate::read::Look;

impl Case {
    /// The first look at what is to be acted on: it is ours, and no other workload claims to be it.
    pub async fn accept(&mut self, look: &Look) -> Result<(), Fault> {
        let first = self.uid.is_none();
        self.recognise(look)?;
        if first { self.undisputed(look).await } else { Ok(()) }
    }

    /// Checks that it is ours, is the object this operation began with, and remembers which one that is.
    pub fn recognise(&mut self, look: &Look) -> Result<(), Fault> {
        match &self.uid {
            Some(uid) if *uid != look.about.uid => {
                let words = format!("{} was deleted, and another one of the same name was made", self.target.id());
                return Err(fault(FaultKind::NotFound, words).with("uid", uid));
            }
            _ => {}
        }
        if let Some(words) = not_ours(&look.owned) {
            return Err(fault(FaultKind::NotOwned, format!("{} is not ours: {words}", self.target.id())));
        }
        self.uid = Some(look.about.uid.clone());
        Ok(())
    }

    /// Nothing is done to one of two that claim one id. One whose id is that of its own name cannot be mistaken, so
    /// this costs a read only where a Manager gave an id of its own.
    async fn undisputed(&mut self, look: &Look) -> Result<(), Fault> {
        let value = match &look.claim {
            Claim::Own => return Ok(()),
            Claim::Another(value) => return Err(claims::mistaken(&self.target, value)),
            Claim::Manager(value) => value,
        };
        // Any list of this operation will do, but one that failed is asked for anew.
        let mut after = 0;
        loop {
            let claimants = self.group.claimants(&self.cx, value, after).await;
            match claimants {
                Ok(claimants) if claimants.iter().all(|other| *other == self.target) => return Ok(()),
                Ok(claimants) => return Err(claims::disputed(value, claimants.iter())),
                // Who must not list cannot know.
                Err(trouble) if trouble.is_not_allowed() => return Ok(()),
                Err(trouble) => self.patience(&trouble).await?,
            }
            after = self.group.tick();
        }
    }

    /// Start and stop have no effect on what is being deleted, and nothing is decided on what cannot be understood.
    pub fn alive(&self, look: &Look) -> Result<(), Fault> {
        if look.deleting {
            let words = format!("{}: {}", self.target.id(), look.verdict.message);
            return Err(fault(FaultKind::Conflict, words).with("reason", "deleting"));
        }
        if look.verdict.status == Status::Unknown {
            let words = format!("{}: {}", self.target.id(), look.verdict.message);
            return Err(fault(FaultKind::Malformed, words).with("reason", look.verdict.reason));
        }
        Ok(())
    }

    /// It was read before the controller could know of our write, or from a server that lags behind.
    pub fn is_stale(&self, look: &Look) -> bool {
        self.floor.is_some_and(|floor| look.generation <= floor)
    }
}

/// Why it is not ours, in words.
pub(in crate::lifecycle) fn not_ours(owned: &Owned) -> Option<String> {
    match owned {
        Owned::Yes => None,
        Owned::Labels => Some("it does not carry the labels of this owner".to_owned()),
        Owned::Controlled(by) => Some(format!("it is managed by {by}")),
    }
}
