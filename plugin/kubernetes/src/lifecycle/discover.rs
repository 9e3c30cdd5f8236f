//! Discover: every workload of this owner, place by place.

mod found;

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use workload_guest::{Cx, Failure, Fault, FaultKind, Scope, Workload, fault, join_all};

use super::case::{not_ours, pause_ms};
use super::claims::Claims;
use crate::answer::{Class, Trouble};
use crate::id::{Target, is_namespace};
use crate::ownership;
use crate::read::{Group, Listing, PATIENT_MS, Reads, TRIES_MS, Tick, get, list, retry};
use crate::request::{Resource, Which};
use crate::status::{Own, missing};
use found::workloads;

/// How many workloads one turn tells of. The host takes 8 MiB of a turn, and a workload with its facts and messages is
/// well below 4 KiB.
const EMITTED_AT_ONCE: usize = 1_000;

/// Before a followed place is asked for again that we were refused: permissions do not change by the second. Whatever a
/// server asks for, nobody who follows waits longer: what stands between may name any time.
pub(super) const REFUSED_MS: u64 = 30_000;

/// What a place is called that is all of them.
const EVERYWHERE: &str = "all namespaces";

pub(super) async fn discover(reads: &Reads, cx: &Cx, scope: Scope, follow: bool) {
    let mut places: Vec<Option<String>> = scope.places.into_iter().map(Some).collect();
    places.sort();
    places.dedup();
    if places.is_empty() {
        places.push(None);
    }
    let claimed = Claimed::default();
    join_all(places.into_iter().map(|namespace| Place::look(reads, cx, namespace, follow, &claimed))).await;
    claimed.tell(cx);
}

/// What the workloads of all places say that they are. Two of them may say the same.
#[derive(Default)]
struct Claimed {
    by_place: RefCell<BTreeMap<String, Claims>>,
    told: RefCell<BTreeMap<String, Fault>>,
}

impl Claimed {
    /// A place was read.
    fn set(&self, place: &str, claims: Claims) {
        self.by_place.borrow_mut().insert(place.to_owned(), claims);
    }

    /// Tells what is in doubt, unless that was told before.
    fn tell(&self, cx: &Cx) {
        let disputes = Claims::disputes(&cx.ownership().id_key, self.by_place.borrow().values());
        let told = self.told.replace(disputes.clone());
        for (id, fault) in disputes.into_iter().filter(|(id, fault)| told.get(id) != Some(fault)) {
            cx.incomplete(id, fault);
        }
    }
}

/// A place that is looked at.
struct Place<'a> {
    cx: &'a Cx,
    name: String,
    namespace: Option<String>,
    follow: bool,
    group: Rc<Group>,
    claimed: &'a Claimed,
}

impl<'a> Place<'a> {
    async fn look(reads: &Reads, cx: &'a Cx, namespace: Option<String>, follow: bool, claimed: &'a Claimed) {
        let name = namespace.clone().unwrap_or_else(|| EVERYWHERE.to_owned());
        if namespace.as_deref().is_some_and(|namespace| !is_namespace(namespace)) {
            cx.incomplete(name, fault(FaultKind::InvalidId, "it is no name of a namespace"));
            return;
        }
        let group = reads.place(namespace.clone());
        let this = Self { cx, name, namespace, follow, group, claimed };
        let Some((asked, listing)) = this.first().await else { return };
        this.group.begin_at(&listing.resource_version);
        if let Some(trouble) = &listing.broken {
            cx.incomplete(this.name.clone(), ended(cx, trouble));
        }
        let last = this.found(&listing).await;
        // Lists are large, and the next one is read beside what is kept.
        drop(listing);
        if emit(cx, last.values()).await.is_ok() && follow {
            this.follow(asked, last).await;
        }
    }

    /// The first list, and when it was asked for. What is followed is asked for until it comes. None: it does not come.
    async fn first(&self) -> Option<(Tick, Listing)> {
        let selector = ownership::selector(self.cx.ownership());
        let read = || list(self.cx, Resource::Deployments, self.namespace.as_deref(), Which::Labels(&selector));
        let mut failing = Failing::default();
        loop {
            // What changes from now on is a reason to look again, also while the rest is still being read.
            let asked = self.group.tick();
            let trouble = match retry(self.cx, read).await {
                Ok(listing) => return Some((asked, listing)),
                Err(trouble) => trouble,
            };
            if self.follow && trouble.class == Class::Cancelled {
                return None;
            }
            // All the tries of a look failed.
            let pause = failing.seen(self, &trouble, true);
            if !self.follow || self.cx.sleep(pause).await.is_err() {
                return None;
            }
        }
    }

    /// What a list says.
    async fn found(&self, listing: &Listing) -> BTreeMap<Target, Workload> {
        let found = workloads(self.cx, &self.group, listing).await;
        self.claimed.set(&self.name, found.claims);
        if self.follow {
            self.claimed.tell(self.cx);
        }
        found.workloads
    }

    async fn follow(&self, mut asked: Tick, mut last: BTreeMap<Target, Workload>) {
        let cx = self.cx;
        let mut failing = Failing::default();
        loop {
            if self.group.next(cx, asked, PATIENT_MS).await.is_err() {
                return;
            }
            let after = self.group.tick();
            let begun_ms = cx.now();
            let listing = match self.group.listing(after).await {
                Ok((tick, listing)) => {
                    asked = tick;
                    listing
                }
                Err(trouble) if trouble.class == Class::Cancelled => return,
                // It is tried again; until then what was said stands, and that it is not read is said as well.
                Err(trouble) => {
                    asked = after;
                    let took_long = cx.now().saturating_sub(begun_ms) >= TRIES_MS;
                    let pause = failing.seen(self, &trouble, took_long);
                    if cx.sleep(pause).await.is_err() {
                        return;
                    }
                    continue;
                }
            };
            let mut now = self.found(&listing).await;
            // All of it is said anew when it could not be read for a while.
            let again = failing.ends();
            let changed = now.iter().filter(|(target, workload)| again || last.get(target) != Some(workload));
            if emit(cx, changed.map(|(_, workload)| workload)).await.is_err() {
                return;
            }
            let unlisted: Vec<Target> = last.keys().filter(|target| !now.contains_key(target)).cloned().collect();
            let departed = join_all(unlisted.iter().map(|target| departed(cx, target))).await;
            for (target, departed) in unlisted.into_iter().zip(departed) {
                match departed {
                    Some(workload) => cx.emit(workload),
                    // Nobody knows, or it is back: asked again the next time.
                    None => now.extend(last.remove_entry(&target)),
                }
            }
            last = now;
        }
    }
}

/// A place that cannot be read, for as long as that lasts.
#[derive(Default)]
struct Failing {
    told: Option<Fault>,
    failures: u32,
}

impl Failing {
    /// Says why, unless that was said before or may be over with the next try, and for how long nobody needs to ask again.
    /// `tried`: it is as good as several failures in a row.
    fn seen(&mut self, place: &Place<'_>, trouble: &Trouble, tried: bool) -> u64 {
        self.failures = self.failures.max(u32::from(tried));
        let fault = ended(place.cx, trouble);
        let lasts = self.failures > 0 || !trouble.is_passing();
        // The words may count down a time.
        let said = self.told.as_ref().is_some_and(|told| told.kind == fault.kind && reason(told) == reason(&fault));
        if lasts && !said {
            place.cx.incomplete(place.name.clone(), fault.clone());
            self.told = Some(fault);
        }
        let pause = if trouble.is_passing() { pause_ms(self.failures, trouble).min(REFUSED_MS) } else { REFUSED_MS };
        self.failures = self.failures.saturating_add(1);
        pause
    }

    /// It is read again. True: it was not.
    fn ends(&mut self) -> bool {
        std::mem::take(self).told.is_some()
    }
}

fn reason(fault: &Fault) -> Option<&str> {
    fault.detail.iter().find(|(name, _)| name == "reason").map(|(_, value)| value.as_str())
}

/// Emits workloads, over as many turns as it takes.
async fn emit<'a>(cx: &Cx, workloads: impl Iterator<Item = &'a Workload>) -> Result<(), Failure> {
    for (place, workload) in workloads.enumerate() {
        if place > 0 && place % EMITTED_AT_ONCE == 0 {
            cx.sleep(0).await?;
        }
        cx.emit(workload.clone());
    }
    Ok(())
}

/// Why a workload is no longer listed: it is gone, or its labels were edited away, which only a read of it tells.
async fn departed(cx: &Cx, target: &Target) -> Option<Workload> {
    match get(cx, target).await {
        Err(trouble) if trouble.class == Class::Missing => {
            Some(missing(target, "not-found", "there is no such Deployment any more".to_owned()))
        }
        Err(_) => None,
        Ok(sight) => {
            let words = not_ours(&sight.look(cx.ownership(), Own::LOOK).ok()?.owned)?;
            Some(missing(target, "not-owned", format!("the Deployment of this name is no longer ours: {words}")))
        }
    }
}

fn ended(cx: &Cx, trouble: &Trouble) -> Fault {
    match cx.stopping() {
        Some(reason) if trouble.class == Class::Cancelled => fault(reason.into(), "stopped before the list was read"),
        _ => trouble.fault(),
    }
}
