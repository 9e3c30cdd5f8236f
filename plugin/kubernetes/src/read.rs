//! What an operation reads, shared by its ids.
//!
//! [`Reads`] is one value per operation. Ids of the same namespace belong to one [`Group`]: when there is more than
//! one, they share a watch and decide from lists that one of them asked for; a single one reads its own object. Either
//! way a reader says how fresh it must be, and gets what was asked for after that.

mod fresh;
mod group;
mod list;
mod sight;

pub use group::{Group, PATIENT_MS, Woken};
pub use list::{Listing, list};
pub use sight::{Look, Sight, Stuck};

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use workload_guest::{Cx, Operation};

use crate::answer::{Action, Trouble, body, classify};
use crate::id::Target;
use crate::request;

/// How often a failing read is tried when nothing waits for better times.
pub const TRIES: u32 = 3;

/// Between these tries, in milliseconds.
const RETRY_MS: [u64; 2] = [300, 900];

/// No try begins later than so long after the first: whoever looks is not kept waiting by a server that is silent.
pub const TRIES_MS: u64 = 2_000;

/// How long such a retry waits at most because the server said so.
const RETRY_LIMIT_MS: u64 = 1_500;

/// An instant in the order of this operation's requests: what was asked for at a later one is fresher.
pub type Tick = u64;

/// What the ids of an operation read.
pub struct Reads {
    operation: Operation,
    ticks: Rc<Cell<Tick>>,
    /// By namespace.
    groups: RefCell<BTreeMap<String, Rc<Group>>>,
}

impl Reads {
    /// For one operation.
    #[must_use]
    pub fn new(operation: Operation) -> Self {
        Self { operation, ticks: Rc::default(), groups: RefCell::default() }
    }

    /// Takes an id into the group of its namespace. To be called before the id's first request, so that all know how
    /// many they are.
    #[must_use]
    pub fn join(&self, target: &Target) -> Rc<Group> {
        let mut groups = self.groups.borrow_mut();
        let group = groups
            .entry(target.namespace.clone())
            .or_insert_with(|| Group::one(self.operation.clone(), Rc::clone(&self.ticks), target.clone()));
        group.join();
        Rc::clone(group)
    }

    /// The group of all workloads that are ours, of a namespace or everywhere.
    #[must_use]
    pub fn place(&self, namespace: Option<String>) -> Rc<Group> {
        Group::all(self.operation.clone(), Rc::clone(&self.ticks), namespace)
    }
}

/// Reads one Deployment.
///
/// # Errors
/// There is no usable answer.
pub async fn get(cx: &Cx, target: &Target) -> Result<Sight, Trouble> {
    let action = Action::on("get", target);
    let response = classify(&action, cx.http(request::get(target)).await)?;
    body(&action, response.status, Sight::of_answer(target, response))
}

/// Tries a read a few times within two seconds.
///
/// # Errors
/// The last trouble, if it did not pass.
pub async fn retry<T, F: Future<Output = Result<T, Trouble>>>(cx: &Cx, read: impl Fn() -> F) -> Result<T, Trouble> {
    let mut pauses = RETRY_MS.iter();
    let mut tries = 0;
    let last_ms = cx.now().saturating_add(TRIES_MS);
    loop {
        tries += 1;
        let trouble = match read().await {
            Ok(value) => return Ok(value),
            Err(trouble) => trouble,
        };
        let pause = pauses.next().copied().unwrap_or_default().max(trouble.retry_after_ms.unwrap_or(0));
        let late = cx.now().saturating_add(pause) > last_ms;
        if tries >= TRIES || !trouble.is_passing() || pause > RETRY_LIMIT_MS || late {
            return Err(trouble);
        }
        if cx.sleep(pause).await.is_err() {
            return Err(trouble);
        }
    }
}
