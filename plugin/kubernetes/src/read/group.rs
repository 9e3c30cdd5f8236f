//! The ids of one namespace: what they share, and how they are woken.

mod watch;

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use workload_guest::{Cx, Either, Operation, Ownership, Signal, StopReason, select};

use super::fresh::{Fresh, Pace};
use super::list::{Listing, list};
use super::{Sight, Tick, get};
use crate::answer::Trouble;
use crate::api::{Deployment, Object};
use crate::id::Target;
use crate::ownership::{self, Claim, Owned};
use crate::request::{Resource, Which};
use crate::status::Beside;

/// A wait reads again so long after its last read, whatever the watch says: a watch can be silent for ever.
pub const PATIENT_MS: u64 = 5_000;

/// The same where there is no watch to wake a wait of one workload.
const UNWATCHED_MS: u64 = 2_000;

/// One workload: hardly any delay at first, and at most two reads a second however much changes.
const PACE_ONE: Pace = Pace { first_ms: 20, last_ms: 500 };

/// Many workloads: seven reads in the first five seconds.
const PACE_MANY: Pace = Pace { first_ms: 100, last_ms: 1_500 };

/// From so many ids on, those that select by other labels than ours read all ReplicaSets and Pods of their namespace
/// together; fewer each read their own.
const READ_ALL: usize = 8;

/// Why a wait goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Woken {
    /// Something changed.
    Changed,
    /// Nothing was heard for a while.
    Time,
}

/// Workloads by the value of their id label.
type Claimants = BTreeMap<String, BTreeSet<Target>>;

/// What the ids of a namespace share.
pub struct Group {
    operation: Operation,
    ticks: Rc<Cell<Tick>>,
    namespace: Option<String>,
    /// The first to join, for as long as it is alone.
    first: Option<Target>,
    members: Cell<usize>,
    one: Rc<Fresh<Sight>>,
    deployments: Rc<Fresh<Listing>>,
    replica_sets: Rc<Fresh<Listing>>,
    pods: Rc<Fresh<Listing>>,
    /// Of the whole namespace, whatever their labels.
    all_replica_sets: Rc<Fresh<Listing>>,
    all_pods: Rc<Fresh<Listing>>,
    /// Where a watch begins, and the tick at which it was learnt.
    version: RefCell<(Tick, String)>,
    /// When a Deployment was last read.
    read_ms: Cell<u64>,
    /// The shortest time that somebody wants to wait.
    patience_ms: Cell<u64>,
    waiting: Cell<usize>,
    watching: Cell<bool>,
    /// A watch is not for us to have.
    unwatched: Cell<bool>,
    /// A watch was told that the version it began with is too old.
    expired: Cell<bool>,
    /// The list was asked for.
    listed: Cell<bool>,
    /// The list is not for us to read: each reads its own.
    unlisted: Cell<bool>,
    /// Who claims which id, once somebody wanted to know.
    claims: RefCell<Option<Rc<Claimants>>>,
    last_wake: Cell<Woken>,
    /// When the watch last told of a change.
    changed_at: Cell<Tick>,
    woken: Signal,
    left: Signal,
}

impl Group {
    pub(super) fn one(operation: Operation, ticks: Rc<Cell<Tick>>, target: Target) -> Rc<Self> {
        let namespace = Some(target.namespace.clone());
        Self::new(operation, ticks, namespace, Some(target))
    }

    pub(super) fn all(operation: Operation, ticks: Rc<Cell<Tick>>, namespace: Option<String>) -> Rc<Self> {
        Self::new(operation, ticks, namespace, None)
    }

    fn new(operation: Operation, ticks: Rc<Cell<Tick>>, namespace: Option<String>, first: Option<Target>) -> Rc<Self> {
        let many = || Fresh::new(operation.clone(), Rc::clone(&ticks), PACE_MANY);
        Rc::new(Self {
            namespace,
            first,
            members: Cell::new(0),
            one: Fresh::new(operation.clone(), Rc::clone(&ticks), PACE_ONE),
            deployments: many(),
            replica_sets: many(),
            pods: many(),
            all_replica_sets: many(),
            all_pods: many(),
            version: RefCell::default(),
            read_ms: Cell::new(0),
            patience_ms: Cell::new(PATIENT_MS),
            waiting: Cell::new(0),
            watching: Cell::new(false),
            unwatched: Cell::new(false),
            expired: Cell::new(false),
            listed: Cell::new(false),
            unlisted: Cell::new(false),
            claims: RefCell::default(),
            last_wake: Cell::new(Woken::Changed),
            changed_at: Cell::new(0),
            woken: Signal::new(),
            left: Signal::new(),
            operation,
            ticks,
        })
    }

    pub(super) fn join(&self) {
        self.members.set(self.members.get() + 1);
    }

    /// The tick now: what is asked for after it is fresher than all that was seen so far.
    #[must_use]
    pub fn tick(&self) -> Tick {
        self.ticks.get()
    }

    /// Which namespace it is. None: all of them.
    #[must_use]
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref()
    }

    /// More than one shares this.
    fn is_shared(&self) -> bool {
        self.members.get() > 1 || self.first.is_none()
    }

    /// Remembers from where a watch of this one workload misses nothing. Several begin where their list was.
    pub fn saw(&self, resource_version: &str) {
        if !self.is_shared() {
            self.begin_at(resource_version);
        }
    }

    /// Remembers from where a watch of all misses nothing.
    pub fn begin_at(&self, resource_version: &str) {
        self.listed.set(true);
        *self.version.borrow_mut() = (self.advance(), resource_version.to_owned());
        self.read_ms.set(self.operation.now());
    }

    /// The Deployment as it was after this tick, alone, and when it was asked for.
    ///
    /// # Errors
    /// There is no usable answer.
    pub async fn deployment(self: &Rc<Self>, cx: &Cx, target: &Target, after: Tick) -> Result<(Tick, Sight), Trouble> {
        if !self.is_shared() {
            let read = || {
                let (this, target) = (Rc::clone(self), target.clone());
                async move { get(&this.operation.shared(), &target).await }
            };
            let (asked, sight) = self.one.get(after, read).await;
            self.read_ms.set(self.operation.now());
            return sight.map(|sight| (asked, (*sight).clone()));
        }
        if self.unlisted.get() {
            return self.alone(cx, target).await;
        }
        let (asked, listing) = match self.listing(after).await {
            Ok(listed) => listed,
            Err(trouble) if trouble.is_not_allowed() => {
                self.unlisted.set(true);
                return self.alone(cx, target).await;
            }
            Err(trouble) => return Err(trouble),
        };
        match listing.table.named(&target.namespace, &target.name) {
            Some(raw) => Ok((asked, Sight::new(raw.clone(), listing.server_ms))),
            // Gone, or its labels were edited away: only a read of it tells.
            None => get(cx, target).await.map(|sight| (asked, sight)),
        }
    }

    /// One of several that must not be listed.
    async fn alone(&self, cx: &Cx, target: &Target) -> Result<(Tick, Sight), Trouble> {
        let asked = self.advance();
        let sight = get(cx, target).await;
        self.read_ms.set(self.operation.now());
        sight.map(|sight| (asked, sight))
    }

    /// All Deployments with our labels as they were after this tick.
    ///
    /// # Errors
    /// There is no usable answer, or not the whole of it.
    pub async fn listing(self: &Rc<Self>, after: Tick) -> Result<(Tick, Rc<Listing>), Trouble> {
        self.listed.set(true);
        let (asked, listing) = self.deployments.get(after, || self.list(Resource::Deployments)).await;
        self.read_ms.set(self.operation.now());
        listing.map(|listing| (asked, listing))
    }

    /// The ReplicaSets or Pods of a workload as they were after this tick, among others. What must not be looked at is
    /// no trouble.
    ///
    /// # Errors
    /// There is no usable answer, or not the whole of it.
    pub async fn beside(
        self: &Rc<Self>,
        cx: &Cx,
        resource: Resource,
        selector: &str,
        covered: bool,
        after: Tick,
    ) -> Result<Beside<Rc<Listing>>, Trouble> {
        if self.is_shared() && covered {
            let shared = if resource == Resource::Pods { &self.pods } else { &self.replica_sets };
            return readable(shared.get(after, || self.list(resource)).await.1);
        }
        if self.members.get() >= READ_ALL {
            let shared = if resource == Resource::Pods { &self.all_pods } else { &self.all_replica_sets };
            return readable(shared.get(after, || self.list_by(resource, String::new())).await.1);
        }
        let listing = list(cx, resource, self.namespace.as_deref(), Which::Labels(selector)).await;
        readable(listing.and_then(whole).map(Rc::new))
    }

    /// The ReplicaSets or Pods of a namespace.
    ///
    /// # Errors
    /// As [`beside`](Self::beside).
    pub async fn list_beside(
        &self,
        cx: &Cx,
        resource: Resource,
        namespace: &str,
        selector: &str,
    ) -> Result<Beside<Rc<Listing>>, Trouble> {
        let listing = list(cx, resource, Some(namespace), Which::Labels(selector)).await;
        readable(listing.and_then(whole).map(Rc::new))
    }

    /// Those of the namespace that are ours and claim the id of this label, as they were after this tick or when
    /// somebody else wanted to know.
    ///
    /// # Errors
    /// There is no usable answer, or not the whole of it.
    pub async fn claimants(self: &Rc<Self>, cx: &Cx, value: &str, after: Tick) -> Result<BTreeSet<Target>, Trouble> {
        let ownership = self.operation.ownership();
        let known = self.claims.borrow().clone();
        let claims = match known {
            Some(claims) => claims,
            None if self.is_shared() => {
                let listing = self.listing(after).await.map(|(_, listing)| listing);
                self.unlisted.set(listing.as_ref().is_err_and(Trouble::is_not_allowed));
                let claims = Rc::new(claims(ownership, &*listing?));
                *self.claims.borrow_mut() = Some(Rc::clone(&claims));
                claims
            }
            None => {
                let selector = format!("{},{}={value}", ownership::selector(ownership), ownership.id_key);
                let listing =
                    list(cx, Resource::Deployments, self.namespace.as_deref(), Which::Labels(&selector)).await;
                Rc::new(claims(ownership, &listing.and_then(whole)?))
            }
        };
        Ok(claims.get(value).cloned().unwrap_or_default())
    }

    /// Those with our labels.
    fn list(self: &Rc<Self>, resource: Resource) -> impl Future<Output = Result<Listing, Trouble>> + 'static {
        self.list_by(resource, ownership::selector(self.operation.ownership()))
    }

    /// Those of this selector; of none, all of the namespace.
    fn list_by(
        self: &Rc<Self>,
        resource: Resource,
        selector: String,
    ) -> impl Future<Output = Result<Listing, Trouble>> + 'static {
        let this = Rc::clone(self);
        async move {
            let shared = this.operation.shared();
            let listing = list(&shared, resource, this.namespace.as_deref(), Which::Labels(&selector)).await;
            let listing = listing.and_then(whole)?;
            if resource == Resource::Deployments {
                this.begin_at(&listing.resource_version);
            }
            Ok(listing)
        }
    }

    /// Waits until there is a reason to look again: something changed since the last read was asked for, or so much
    /// time went by.
    ///
    /// # Errors
    /// The id was told to stop.
    pub async fn next(self: &Rc<Self>, cx: &Cx, asked: Tick, patience_ms: u64) -> Result<Woken, StopReason> {
        if let Some(reason) = cx.stopping() {
            return Err(reason);
        }
        // Without a list there is nothing for a watch of several to begin with, and nothing would wake them.
        let blind = self.is_shared() && !self.listed.get();
        if blind || self.changed_at.get() > asked {
            return Ok(Woken::Changed);
        }
        let alone = self.unwatched.get() && !self.is_shared();
        let patience_ms = if alone { patience_ms.min(UNWATCHED_MS) } else { patience_ms };
        self.patience_ms.set(self.patience_ms.get().min(patience_ms));
        let woken = self.woken.wait();
        let _waiting = Waiting::begin(self);
        if !self.watching.replace(true) {
            let this = Rc::clone(self);
            self.operation.spawn(async move { this.watch().await }).detach();
        } else {
            // Whoever watches may have to look sooner now.
            self.left.raise();
        }
        match select(cx.stopped(), woken).await {
            Either::Left(reason) => Err(reason),
            Either::Right(()) => Ok(self.last_wake.get()),
        }
    }

    fn wake(&self, why: Woken) {
        if why == Woken::Changed {
            self.changed_at.set(self.advance());
        }
        self.last_wake.set(why);
        self.patience_ms.set(PATIENT_MS);
        self.woken.raise();
    }

    fn advance(&self) -> Tick {
        let tick = self.ticks.get() + 1;
        self.ticks.set(tick);
        tick
    }
}

/// Who says that it is which workload.
fn claims(ownership: &Ownership, listing: &Listing) -> Claimants {
    let mut claims = Claimants::new();
    for (namespace, name, raw) in listing.table.all() {
        let Ok(deployment) = Deployment::decode_item(raw.bytes()) else { continue };
        if ownership::owned(ownership, &deployment.metadata) == Owned::Yes {
            let target = Target { namespace: namespace.to_owned(), name: name.to_owned() };
            let value = match ownership::claim(ownership, &deployment.metadata) {
                Claim::Own => target.label_value(),
                Claim::Another(value) | Claim::Manager(value) => value,
            };
            claims.entry(value).or_default().insert(target);
        }
    }
    claims
}

/// A part of a list decides nothing.
fn whole(listing: Listing) -> Result<Listing, Trouble> {
    match listing.broken {
        Some(trouble) => Err(trouble),
        None => Ok(listing),
    }
}

/// What must not be looked at is no trouble: it is known that it is not known.
fn readable(result: Result<Rc<Listing>, Trouble>) -> Result<Beside<Rc<Listing>>, Trouble> {
    match result {
        Ok(listing) => Ok(Beside::Read(listing)),
        Err(trouble) if trouble.is_not_allowed() => Ok(Beside::NotReadable),
        Err(trouble) => Err(trouble),
    }
}

/// Counts one who waits, also when it is dropped.
struct Waiting<'a>(&'a Group);

impl<'a> Waiting<'a> {
    fn begin(group: &'a Group) -> Self {
        group.waiting.set(group.waiting.get() + 1);
        Self(group)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.waiting.set(self.0.waiting.get().saturating_sub(1));
        self.0.left.raise();
    }
}
