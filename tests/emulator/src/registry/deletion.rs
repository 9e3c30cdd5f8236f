//! Deleting an object: at once, after its grace period, or when its finalizers are gone.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use super::{metadata, raise_generation};
use crate::clock;
use crate::error::ApiError;
use crate::resource::{EVENTS, NAMESPACES, PODS, Resource, is_last_phase};
use crate::state::State;
use crate::store::{Key, Object, Write};
use crate::value::{int, list, text, texts};

/// What happens to the objects that an object owns when it is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Propagation {
    /// They lose their owner and stay.
    Orphan,
    /// The object goes at once, they follow.
    Background,
    /// They go first.
    Foreground,
}

impl Propagation {
    /// The finalizer that keeps the object until it is done.
    pub fn finalizer(self) -> Option<&'static str> {
        match self {
            Propagation::Orphan => Some("orphan"),
            Propagation::Background => None,
            Propagation::Foreground => Some("foregroundDeletion"),
        }
    }
}

/// How to delete.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Deletion {
    /// Only this very object.
    pub uid: Option<String>,
    /// Only at this version.
    pub version: Option<String>,
    /// What happens to what it owns; by default they follow, unless a finalizer says something else.
    pub propagation: Option<Propagation>,
    /// How long a Pod has, in seconds; its own time if not said.
    pub grace: Option<i64>,
    /// Change nothing.
    pub dry_run: bool,
}

/// What became of a deletion.
#[derive(Debug, Clone)]
pub enum Deleted {
    /// It is gone; this is how it was.
    Gone(Value),
    /// It has a deletion timestamp now, or had one: something must end first.
    Waits(Value),
}

/// What is to be done.
enum Plan {
    /// It is being deleted already, and nobody has less patience now.
    Pending,
    /// It goes as it is.
    Now,
    /// It is marked. Without a grace period and finalizers it goes then: watchers see both.
    Mark { marked: Value, goes: bool },
}

impl State {
    /// Deletes an object, or marks it so.
    ///
    /// # Errors
    /// When it is not there, or is another than was meant.
    pub fn delete(&self, key: &Key, how: &Deletion) -> Result<Deleted, ApiError> {
        let (resource, name) = (key.resource, key.name());
        let (mut waits, mut last, mut marked_only) = (true, Value::Null, false);
        let written = self.store.write(key, |old| {
            let old = old.ok_or_else(|| ApiError::not_found(resource, name))?;
            preconditions(old, how)?;
            let before = old.value();
            let plan = if resource == &NAMESPACES {
                plan_of_namespace(self, &before, how)
            } else {
                plan(self, resource, &before, how)
            };
            Ok(match plan {
                Plan::Pending => {
                    last = before;
                    Write::Keep
                }
                Plan::Now => {
                    (waits, last) = (false, before.clone());
                    if how.dry_run { Write::Keep } else { Write::Remove(before) }
                }
                Plan::Mark { marked, goes } => {
                    (waits, last, marked_only) = (!goes, marked.clone(), goes);
                    if how.dry_run || marked == before { Write::Keep } else { Write::Put(marked) }
                }
            })
        })?;
        if how.dry_run {
            return Ok(if waits { Deleted::Waits(last) } else { Deleted::Gone(last) });
        }
        let now = written.map_or(last, |object| object.value());
        if waits {
            return Ok(Deleted::Waits(now));
        }
        if !marked_only {
            return Ok(Deleted::Gone(now));
        }
        let removed = self.store.write(key, |old| {
            let same = old.filter(|old| old.uid == text(&now, "/metadata/uid"));
            Ok::<_, ApiError>(same.map_or(Write::Keep, |old| Write::Remove(old.value())))
        })?;
        Ok(Deleted::Gone(removed.map_or(now, |object| object.value())))
    }
}

fn preconditions(old: &Object, how: &Deletion) -> Result<(), ApiError> {
    let (resource, name) = (old.key.resource, old.key.name());
    let wrong_uid = how.uid.as_ref().filter(|uid| **uid != old.uid);
    let version = old.version.to_string();
    let wrong_version = how.version.as_ref().filter(|asked| **asked != version);
    if resource == &NAMESPACES {
        // Namespaces have words of their own.
        let conflict = |why: String| Err(ApiError::conflict("", "namespaces", name, &why));
        if let Some(uid) = wrong_uid {
            let why = format!("Precondition failed: UID in precondition: {uid}, UID in object meta: {}", old.uid);
            return conflict(why);
        }
        if let Some(asked) = wrong_version {
            return conflict(format!(
                "Precondition failed: ResourceVersion in precondition: {asked}, ResourceVersion in object meta: {version}"
            ));
        }
        return Ok(());
    }
    let conflict = |why: String| Err(ApiError::conflict(resource.group, resource.kind, name, &why));
    if let Some(uid) = wrong_uid {
        return conflict(format!(
            "the UID in the precondition ({uid}) does not match the UID in record ({}). The object might have been \
             deleted and then recreated",
            old.uid
        ));
    }
    if let Some(asked) = wrong_version {
        return conflict(format!(
            "the ResourceVersion in the precondition ({asked}) does not match the ResourceVersion in record \
             ({version}). The object might have been modified"
        ));
    }
    Ok(())
}

fn plan(state: &State, resource: &Resource, before: &Value, how: &Deletion) -> Plan {
    let mut marked = before.clone();
    let grace = if resource == &PODS { mark_gracefully(state, &mut marked, how) } else { Grace::None };
    if matches!(grace, Grace::Pending) {
        return Plan::Pending;
    }
    if resource != &EVENTS {
        set_finalizers(&mut marked, how);
    }
    let held = !list(&marked, "/metadata/finalizers").is_empty();
    match grace {
        Grace::Period(period) => Plan::Mark { marked, goes: !held && period == 0 },
        _ if held => {
            mark_at_once(state, &mut marked);
            Plan::Mark { marked, goes: false }
        }
        // Nothing to wait for: watchers see it as it was.
        _ => Plan::Now,
    }
}

/// The first deletion begins the end of a namespace; a later one ends it once its content is gone.
fn plan_of_namespace(state: &State, before: &Value, how: &Deletion) -> Plan {
    if before.pointer("/metadata/deletionTimestamp").is_some() {
        return if list(before, "/spec/finalizers").is_empty() {
            plan(state, &NAMESPACES, before, how)
        } else {
            Plan::Pending
        };
    }
    let mut marked = before.clone();
    set_finalizers(&mut marked, how);
    metadata(&mut marked).insert("deletionTimestamp".to_owned(), state.clock.seconds().into());
    super::section(&mut marked, "status").insert("phase".to_owned(), "Terminating".into());
    Plan::Mark { marked, goes: false }
}

enum Grace {
    /// This kind of object has none, or its time is over.
    None,
    /// It runs already.
    Pending,
    /// It runs from now, in seconds.
    Period(i64),
}

fn mark_gracefully(state: &State, pod: &mut Value, how: &Deletion) -> Grace {
    // Less than nothing is taken for a second.
    let asked = how.grace.map(|asked| if asked < 0 { 1 } else { asked });
    if let Ok(until) = text(pod, "/metadata/deletionTimestamp").parse::<Timestamp>() {
        let Some(running) = int(pod, "/metadata/deletionGracePeriodSeconds").filter(|&running| running != 0) else {
            return Grace::None;
        };
        let Some(mut period) = asked.filter(|&asked| asked < running) else { return Grace::Pending };
        let now = state.clock.wall();
        let mut sooner = until - seconds(running) + seconds(period);
        if sooner < now {
            sooner = now;
            period = period.min(1);
        }
        set_grace(pod, sooner, period);
        return Grace::Period(period);
    }
    let own = int(pod, "/spec/terminationGracePeriodSeconds").unwrap_or_default();
    let placed = !text(pod, "/spec/nodeName").is_empty();
    let ended = is_last_phase(text(pod, "/status/phase"));
    let period = match asked.unwrap_or(own) {
        _ if !placed || ended => 0,
        period if period < 0 => 1,
        period => period,
    };
    set_grace(pod, state.clock.wall() + seconds(period), period);
    raise_generation(pod);
    Grace::Period(period)
}

/// A number of seconds that can be added to any time of today: nobody waits for a century.
fn seconds(number: i64) -> Duration {
    const CENTURY: u64 = 100 * 365 * 24 * 3600;
    Duration::from_secs(u64::try_from(number).unwrap_or_default().min(CENTURY))
}

fn set_grace(value: &mut Value, until: Timestamp, period: i64) {
    let meta = metadata(value);
    meta.insert("deletionTimestamp".to_owned(), clock::seconds(until).into());
    meta.insert("deletionGracePeriodSeconds".to_owned(), period.into());
}

fn mark_at_once(state: &State, value: &mut Value) {
    let now = state.clock.wall();
    let before = text(value, "/metadata/deletionTimestamp").parse::<Timestamp>().ok();
    if before.is_none() && int(value, "/metadata/generation").is_some_and(|generation| generation > 0) {
        raise_generation(value);
    }
    set_grace(value, before.map_or(now, |before| before.min(now)), 0);
}

/// Puts the finalizer that was asked for in place of the other one.
fn set_finalizers(value: &mut Value, how: &Deletion) {
    let Some(propagation) = how.propagation else { return };
    let before = texts(value, "/metadata/finalizers");
    let mut after: Vec<String> =
        before.iter().filter(|name| *name != "orphan" && *name != "foregroundDeletion").cloned().collect();
    after.extend(propagation.finalizer().map(str::to_owned));
    let same = before.len() == after.len() && before.iter().all(|name| after.contains(name));
    if same {
        return;
    }
    if after.is_empty() {
        metadata(value).remove("finalizers");
    } else {
        metadata(value).insert("finalizers".to_owned(), after.into());
    }
}
