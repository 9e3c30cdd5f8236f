//! Which object it is, whose, and whether anything may be done to it.

use std::collections::BTreeSet;
use std::pin::pin;
use std::rc::Rc;

use workload_guest::{Cx, Either, Fault, FaultKind, Status, fault, select, yield_now};

use super::{Case, until_stopped};
use crate::answer::{Action, Trouble};
use crate::id::Target;
use crate::lifecycle::claims;
use crate::ownership::{Claim, Owned};
use crate::read::{Group, Look, PATIENT_MS, Tick};
use crate::request::Resource;

impl Case {
    /// The first look at what is to be acted on: it is ours, and no other workload claims to be it. None: it is missing.
    pub async fn meet(&mut self) -> Result<Option<Look>, Fault> {
        let own = self.target.label_value();
        let (group, cx) = (Rc::clone(&self.group), self.cx.clone());
        loop {
            // Neither depends on the other. Whose it is, or that it is missing, needs no list.
            let mut asking = pin!(claimants(&group, &cx, &own, 0));
            let mut asked = None;
            let look = {
                let mut reading = pin!(self.persist());
                match select(reading.as_mut(), asking.as_mut()).await {
                    Either::Left(look) => look,
                    Either::Right(found) => {
                        asked = Some((cx.now(), found));
                        reading.await
                    }
                }
            };
            let Some(look) = look? else { return Ok(None) };
            self.recognise(&look)?;
            let looked_ms = cx.now();
            match &look.claim {
                Claim::Own => {
                    let found = match asked {
                        // What was known before a long wait for the object may be over.
                        Some((at, _)) if looked_ms.saturating_sub(at) >= PATIENT_MS => {
                            claimants(&group, &cx, &own, group.tick()).await
                        }
                        Some((_, found)) => found,
                        None => asking.await,
                    };
                    self.undisputed(&own, Some(found)).await?;
                }
                Claim::Another(value) => {
                    return Err(claims::mistaken(&self.cx.ownership().id_key, &self.target, value));
                }
                Claim::Manager(value) => self.undisputed(value, None).await?,
            }
            // And nothing is decided on a look from before a long wait for the list.
            if cx.now().saturating_sub(looked_ms) < PATIENT_MS {
                return Ok(Some(look));
            }
        }
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

    /// Why it would not be acted on, as far as can be known by now: others claim to be it, or it claims to be another.
    pub fn dispute(&self, look: &Look) -> impl Future<Output = Option<Fault>> + use<> {
        let (group, cx) = (Rc::clone(&self.group), self.cx.clone());
        let (target, claim) = (self.target.clone(), look.claim.clone());
        async move {
            let key = &cx.ownership().id_key;
            let value = match claim {
                Claim::Own => target.label_value(),
                Claim::Manager(value) => value,
                Claim::Another(value) => return Some(claims::mistaken(key, &target, &value)),
            };
            let mut found = claimants(&group, &cx, &value, 0).await.ok()?;
            found.insert(target);
            (found.len() > 1).then(|| claims::disputed(key, &value, found.iter()))
        }
    }

    /// Nothing is done to one of two that claim one id. `asked` is what was asked already.
    async fn undisputed(&mut self, value: &str, asked: Option<Result<BTreeSet<Target>, Trouble>>) -> Result<(), Fault> {
        let mut asked = asked;
        // Any list of this operation will do, but one that failed is asked for anew.
        let mut after = 0;
        loop {
            let found = match asked.take() {
                Some(found) => found,
                None => claimants(&self.group, &self.cx, value, after).await,
            };
            match found {
                Ok(mut found) => {
                    found.insert(self.target.clone());
                    let key = &self.cx.ownership().id_key;
                    return if found.len() == 1 { Ok(()) } else { Err(claims::disputed(key, value, found.iter())) };
                }
                // Who must not list cannot know, and goes by the name.
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

/// Who says by the id label that it is this workload.
async fn claimants(group: &Rc<Group>, cx: &Cx, value: &str, after: Tick) -> Result<BTreeSet<Target>, Trouble> {
    // Until all have joined, the first does not know that it is not alone.
    yield_now().await;
    let action = || Action::list(Resource::Deployments, group.namespace());
    until_stopped(cx, group.claimants(cx, value, after), action).await
}
