//! All objects in memory, their versions, and the history that watches and pages are answered from.
//!
//! An object is kept as the JSON text that is sent, beside the few fields by which it is looked for: a list is then a
//! matter of copying, also of 100,000.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;
use tokio::sync::watch;

use crate::resource::{ALL, Resource};

mod object;
pub use object::{Key, Object, Owner};

/// How many changes are kept for watches and for the pages of a list that was begun.
pub const HISTORY: usize = 50_000;

/// What happened to an object.
#[derive(Debug, Clone)]
pub struct Change {
    /// The version that this change made.
    pub version: u64,
    /// How it was before; none of one that was made.
    pub old: Option<Arc<Object>>,
    /// How it is now; of one that was removed, how it was last, at the version of the removal.
    pub object: Arc<Object>,
    /// It is gone.
    pub removed: bool,
}

/// The changes after that version are not known any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    /// The oldest version from which the changes are known.
    pub oldest: u64,
}

/// What to do with an object that was looked at.
#[derive(Debug)]
pub enum Write {
    /// Nothing.
    Keep,
    /// Make it, or put this in its place.
    Put(Value),
    /// Remove it; this is how it was last.
    Remove(Value),
}

/// A part of a list.
#[derive(Debug)]
pub struct Page {
    /// The version that the whole list is of.
    pub version: u64,
    /// The objects, in the order of their keys.
    pub objects: Vec<Arc<Object>>,
    /// Something follows, wanted or not: like the real server, which stops looking at the limit.
    pub more: bool,
    /// How many follow, where that was to be counted.
    pub remaining: usize,
}

/// What is wanted of a list.
#[derive(Debug, Clone, Copy, Default)]
pub struct Range<'a> {
    /// Of this namespace only.
    pub namespace: Option<&'a str>,
    /// What comes after this path of a key.
    pub after: Option<&'a str>,
    /// At most so many; 0 for all.
    pub limit: usize,
    /// Count what follows.
    pub count: bool,
    /// As it was at this version; 0 for now.
    pub version: u64,
}

/// The objects.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Inner>,
    news: HashMap<&'static str, watch::Sender<u64>>,
    any: watch::Sender<u64>,
}

#[derive(Debug, Default)]
struct Inner {
    version: u64,
    objects: BTreeMap<Key, Arc<Object>>,
    owned: HashMap<String, BTreeSet<Key>>,
    history: VecDeque<Change>,
    /// Changes up to this version are forgotten.
    forgotten: u64,
    /// The newest forgotten change of each resource.
    lost: HashMap<&'static Resource, u64>,
}

impl Default for Store {
    fn default() -> Store {
        Store::new()
    }
}

impl Store {
    /// An empty store. Its first version is 1: 0 has a meaning of its own in requests.
    pub fn new() -> Store {
        Store {
            inner: Mutex::new(Inner { version: 1, forgotten: 1, ..Inner::default() }),
            news: ALL.iter().map(|r| (r.plural, watch::Sender::new(0))).collect(),
            any: watch::Sender::new(0),
        }
    }

    // A panic while the lock is held would be one of ours; what it guards is replaced piece by piece and stays whole.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The newest version.
    pub fn version(&self) -> u64 {
        self.lock().version
    }

    /// One object.
    pub fn get(&self, key: &Key) -> Option<Arc<Object>> {
        self.lock().objects.get(key).cloned()
    }

    /// One object, with the version that all objects are at.
    pub fn look(&self, key: &Key) -> (u64, Option<Arc<Object>>) {
        let inner = self.lock();
        (inner.version, inner.objects.get(key).cloned())
    }

    /// The version from which on the changes are known.
    pub fn oldest(&self) -> u64 {
        self.lock().forgotten
    }

    /// All objects of a resource, of one namespace or of all.
    pub fn all(&self, resource: &'static Resource, namespace: Option<&str>) -> Vec<Arc<Object>> {
        self.lock().range(resource, namespace, None).map(|(_, object)| Arc::clone(object)).collect()
    }

    /// The objects that name this uid among their owners.
    pub fn owned_by(&self, uid: &str) -> Vec<Arc<Object>> {
        let inner = self.lock();
        let keys = inner.owned.get(uid).into_iter().flatten();
        keys.filter_map(|key| inner.objects.get(key)).cloned().collect()
    }

    /// A part of a list of those that `wanted` takes.
    ///
    /// # Errors
    /// When the version asked for is not known any more.
    pub fn page(
        &self,
        resource: &'static Resource,
        range: Range<'_>,
        wanted: impl Fn(&Object) -> bool,
    ) -> Result<Page, Expired> {
        let inner = self.lock();
        let version = if range.version == 0 { inner.version } else { range.version };
        let undone = inner.undone(resource, range.namespace, version)?;
        let now = inner.range(resource, range.namespace, range.after);
        let mut page = Page { version, objects: Vec::new(), more: false, remaining: 0 };
        if undone.is_empty() {
            page.fill(now.map(|(_, object)| object), &range, wanted);
        } else {
            let undone = undone.into_iter().filter(|(key, _)| range.after.is_none_or(|after| key.path() > after));
            page.fill(then(now, undone), &range, wanted);
        }
        Ok(page)
    }

    /// Looks at an object and changes it, with nothing in between. What is put gets the next version.
    ///
    /// # Errors
    /// Those of `decide`; nothing is changed then.
    pub fn write<E>(
        &self,
        key: &Key,
        decide: impl FnOnce(Option<&Arc<Object>>) -> Result<Write, E>,
    ) -> Result<Option<Arc<Object>>, E> {
        let mut inner = self.lock();
        let old = inner.objects.get(key).cloned();
        let (value, removed) = match decide(old.as_ref())? {
            Write::Keep => return Ok(old),
            Write::Put(value) => (value, false),
            Write::Remove(value) => (value, true),
        };
        inner.version += 1;
        let version = inner.version;
        let object = Arc::new(Object::new(key.clone(), version, value));
        inner.put(Change { version, old, object: Arc::clone(&object), removed });
        drop(inner);
        self.tell(key.resource, version);
        Ok(Some(object))
    }

    /// Puts an object in that is made of the version that it gets, unless its name is taken. Tells the version.
    pub(crate) fn insert(&self, key: &Key, make: impl FnOnce(u64) -> Object) -> Option<u64> {
        let mut inner = self.lock();
        if inner.objects.contains_key(key) {
            return None;
        }
        inner.version += 1;
        let version = inner.version;
        inner.put(Change { version, old: None, object: Arc::new(make(version)), removed: false });
        drop(inner);
        self.tell(key.resource, version);
        Some(version)
    }

    fn tell(&self, resource: &Resource, version: u64) {
        if let Some(news) = self.news.get(resource.plural) {
            news.send_replace(version);
        }
        self.any.send_replace(version);
    }

    /// The changes of a resource after a version, at most `limit`. What was forgotten of other resources does not
    /// matter: who watches one and has seen all of it must not be told otherwise.
    ///
    /// # Errors
    /// When they are not known any more.
    pub fn changes(&self, resource: &'static Resource, after: u64, limit: usize) -> Result<Vec<Change>, Expired> {
        let inner = self.lock();
        if inner.lost.get(resource).is_some_and(|lost| after < *lost) {
            return Err(Expired { oldest: inner.forgotten });
        }
        let changes = inner.known_after(after);
        Ok(changes.filter(|change| change.object.key.resource == resource).take(limit).cloned().collect())
    }

    /// The changes of every resource after a version, at most `limit`: what controllers work on.
    ///
    /// # Errors
    /// When they are not known any more.
    pub fn all_changes(&self, after: u64, limit: usize) -> Result<Vec<Change>, Expired> {
        Ok(self.lock().after(after)?.take(limit).cloned().collect())
    }

    /// Tells the version of each change of a resource, from now on.
    pub fn news(&self, resource: &Resource) -> watch::Receiver<u64> {
        self.news.get(resource.plural).unwrap_or(&self.any).subscribe()
    }

    /// Tells the version of each change, from now on.
    pub fn any_news(&self) -> watch::Receiver<u64> {
        self.any.subscribe()
    }

    /// Forgets all changes so far, as a compaction does: watches and pages from before have expired.
    pub fn compact(&self) {
        let mut inner = self.lock();
        while !inner.history.is_empty() {
            inner.forget_one();
        }
        inner.forgotten = inner.version;
    }
}

impl Page {
    fn fill<'a>(
        &mut self,
        objects: impl Iterator<Item = &'a Arc<Object>>,
        range: &Range<'_>,
        wanted: impl Fn(&Object) -> bool,
    ) {
        let mut objects = objects.fuse();
        while range.limit == 0 || self.objects.len() < range.limit {
            let Some(object) = objects.next() else { return };
            if wanted(object) {
                self.objects.push(Arc::clone(object));
            }
        }
        self.remaining = if range.count { objects.count() } else { usize::from(objects.next().is_some()) };
        self.more = self.remaining > 0;
    }
}

impl Inner {
    fn range(
        &self,
        resource: &'static Resource,
        namespace: Option<&str>,
        after: Option<&str>,
    ) -> impl Iterator<Item = (&Key, &Arc<Object>)> {
        let start = match (namespace, after) {
            (_, Some(after)) => Bound::Excluded(Key::at(resource, after)),
            (Some(namespace), None) => Bound::Included(Key::at(resource, &format!("{namespace}/"))),
            (None, None) => Bound::Included(Key::at(resource, "")),
        };
        let prefix = namespace.map(|namespace| format!("{namespace}/"));
        self.objects.range((start, Bound::Unbounded)).take_while(move |(key, _)| {
            key.resource == resource && prefix.as_ref().is_none_or(|prefix| key.path().starts_with(prefix.as_str()))
        })
    }

    fn after(&self, version: u64) -> Result<impl Iterator<Item = &Change>, Expired> {
        if version < self.forgotten {
            return Err(Expired { oldest: self.forgotten });
        }
        Ok(self.known_after(version))
    }

    fn known_after(&self, version: u64) -> impl Iterator<Item = &Change> {
        let first = self.history.partition_point(|change| change.version <= version);
        self.history.range(first..)
    }

    fn put(&mut self, change: Change) {
        let key = change.object.key.clone();
        self.replace(change.old.as_ref(), (!change.removed).then_some(&change.object), &key);
        self.history.push_back(change);
        if self.history.len() > HISTORY {
            self.forget_one();
        }
    }

    fn forget_one(&mut self) {
        if let Some(change) = self.history.pop_front() {
            self.forgotten = change.version;
            self.lost.insert(change.object.key.resource, change.version);
        }
    }

    /// How the objects that were changed after a version were at it.
    fn undone(
        &self,
        resource: &'static Resource,
        namespace: Option<&str>,
        version: u64,
    ) -> Result<BTreeMap<&Key, Option<&Arc<Object>>>, Expired> {
        let mut undone = BTreeMap::new();
        for change in self.after(version)? {
            let key = &change.object.key;
            if key.resource == resource && namespace.is_none_or(|namespace| key.namespace() == namespace) {
                // The first change after the version knows how it was at it.
                undone.entry(key).or_insert(change.old.as_ref());
            }
        }
        Ok(undone)
    }

    fn replace(&mut self, old: Option<&Arc<Object>>, new: Option<&Arc<Object>>, key: &Key) {
        for owner in old.map(|old| &old.owners).into_iter().flatten() {
            if let Some(keys) = self.owned.get_mut(&owner.uid) {
                keys.remove(key);
                if keys.is_empty() {
                    self.owned.remove(&owner.uid);
                }
            }
        }
        for owner in new.map(|new| &new.owners).into_iter().flatten() {
            self.owned.entry(owner.uid.clone()).or_default().insert(key.clone());
        }
        match new {
            Some(new) => self.objects.insert(key.clone(), Arc::clone(new)),
            None => self.objects.remove(key),
        };
    }
}

/// What there is now, with what was changed since put back: both in the order of their keys.
fn then<'a>(
    now: impl Iterator<Item = (&'a Key, &'a Arc<Object>)>,
    undone: impl Iterator<Item = (&'a Key, Option<&'a Arc<Object>>)>,
) -> impl Iterator<Item = &'a Arc<Object>> {
    let (mut now, mut undone) = (now.peekable(), undone.peekable());
    std::iter::from_fn(move || {
        loop {
            let order = match (now.peek(), undone.peek()) {
                (Some((now, _)), Some((undone, _))) => now.cmp(undone),
                (_, None) => Ordering::Less,
                (None, _) => Ordering::Greater,
            };
            if order == Ordering::Less {
                return now.next().map(|(_, object)| object);
            }
            if order == Ordering::Equal {
                now.next();
            }
            if let Some((_, Some(object))) = undone.next() {
                return Some(object);
            }
        }
    })
}

#[cfg(test)]
mod tests;
