//! Lists, page by page, kept as they came.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde::Deserialize;
use serde_json::value::RawValue;
use workload_guest::{Cx, Response};

use super::retry;
use crate::answer::{Action, Class, Trouble, body, classify};
use crate::api::{List, Malformed, Meta};
use crate::request::{self, Resource, Which};

/// How often a list is begun anew because its version grew too old on the way.
const RESTARTS: u32 = 2;

/// Pages of a list: 500 objects each. More than any one place should hold, so that a server that never ends does.
const PAGES: usize = 400;

/// Bytes of all lists that are kept, of the 64 MiB of memory that the host gives an operation. Beyond it a list is reported
/// as incomplete, where the operation would otherwise end for want of memory: a page stands beside them.
const BYTES: usize = 36 << 20;

/// What an object costs besides its bytes: its place in the table, and what is told of it.
const OBJECT_BYTES: usize = 1 << 10;

/// One object of an answer, not decoded yet.
#[derive(Debug, Clone)]
pub struct Raw(Rc<[u8]>);

impl Raw {
    /// A whole answer.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self(bytes.into())
    }

    /// Its JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }

    /// A copy of an object without these parts of it.
    fn without(object: &str, mut parts: Vec<Range<usize>>) -> Self {
        parts.sort_by_key(|part| part.start);
        let mut bytes = Vec::with_capacity(object.len());
        let mut kept = 0;
        for part in parts {
            bytes.extend_from_slice(object.as_bytes().get(kept..part.start).unwrap_or_default());
            bytes.extend_from_slice(b"null");
            kept = part.end;
        }
        bytes.extend_from_slice(object.as_bytes().get(kept..).unwrap_or_default());
        Self(bytes.into())
    }
}

thread_local! {
    /// Bytes of all lists that are kept now. A component has one thread and one memory, whoever asked for the lists.
    static ALL_KEPT: Cell<usize> = const { Cell::new(0) };
}

/// Bytes that are kept until this is dropped.
#[derive(Debug, Default)]
struct Kept(usize);

impl Kept {
    fn add(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
        ALL_KEPT.set(ALL_KEPT.get().saturating_add(bytes));
    }

    fn is_too_much() -> bool {
        ALL_KEPT.get() > BYTES
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        ALL_KEPT.set(ALL_KEPT.get().saturating_sub(self.0));
    }
}

/// The objects of a list, by name and by who controls them.
#[derive(Debug, Default)]
pub struct Table {
    by_name: BTreeMap<(String, String), Raw>,
    by_controller: BTreeMap<String, Vec<Raw>>,
}

impl Table {
    /// The object of this name.
    #[must_use]
    pub fn named(&self, namespace: &str, name: &str) -> Option<&Raw> {
        self.by_name.get(&(namespace.to_owned(), name.to_owned()))
    }

    /// The objects that the object of this uid controls.
    #[must_use]
    pub fn controlled_by(&self, uid: &str) -> &[Raw] {
        self.by_controller.get(uid).map(Vec::as_slice).unwrap_or_default()
    }

    /// All, in the order of namespace and name.
    pub fn all(&self) -> impl Iterator<Item = (&str, &str, &Raw)> {
        self.by_name.iter().map(|((namespace, name), raw)| (&**namespace, &**name, raw))
    }

    /// Keeps an object, and says how many bytes that takes. Who manages which field, and annotations, which may hold a whole
    /// manifest, are most of a real object and of no use here.
    fn add(&mut self, object: &str) -> Result<usize, Malformed> {
        #[derive(Deserialize)]
        struct Header<'a> {
            #[serde(borrow)]
            metadata: &'a RawValue,
        }

        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Bulk<'a> {
            #[serde(borrow)]
            managed_fields: Option<&'a RawValue>,
            #[serde(borrow)]
            annotations: Option<&'a RawValue>,
        }

        let header: Header<'_> = serde_json::from_str(object).map_err(|_| Malformed)?;
        let meta: Meta<'_> = serde_json::from_str(header.metadata.get()).map_err(|_| Malformed)?;
        let bulk: Bulk<'_> = serde_json::from_str(header.metadata.get()).map_err(|_| Malformed)?;
        if meta.name.is_empty() || meta.namespace.is_empty() || meta.uid.is_empty() {
            return Err(Malformed);
        }
        // Each is borrowed from the object: its place in it is where it points.
        let place = |part: &RawValue| {
            let start = part.get().as_ptr().addr().checked_sub(object.as_ptr().addr())?;
            Some(start..start + part.get().len())
        };
        let parts = [bulk.managed_fields, bulk.annotations].into_iter().flatten().filter_map(place).collect();
        let raw = Raw::without(object, parts);
        if let Some(controller) = meta.controller() {
            self.by_controller.entry(controller.uid.to_string()).or_default().push(raw.clone());
        }
        let bytes = raw.bytes().len();
        self.by_name.insert((meta.namespace.to_string(), meta.name.to_string()), raw);
        Ok(bytes + OBJECT_BYTES)
    }
}

/// A list as far as it could be read.
#[derive(Debug, Default)]
pub struct Listing {
    /// What was collected.
    pub table: Table,
    /// Where a watch begins.
    pub resource_version: String,
    /// The server's clock, in milliseconds of the Unix epoch.
    pub server_ms: Option<u64>,
    /// Why the rest is not there. None: it is whole.
    pub broken: Option<Trouble>,
    kept: Kept,
}

/// Lists to the end. The first page is tried once: whoever asks knows whether to try again. A later one is tried a few
/// times, because what was collected would be lost otherwise.
///
/// # Errors
/// The first page could not be read; a later one ends the list as [`Listing::broken`].
pub async fn list(cx: &Cx, resource: Resource, namespace: Option<&str>, which: Which<'_>) -> Result<Listing, Trouble> {
    let action = Action::list(resource, namespace);
    let mut restarts = 0;
    'anew: loop {
        let mut listing = Listing::default();
        let mut next = String::new();
        for _ in 0..PAGES {
            let page = || async { classify(&action, cx.http(request::list(resource, namespace, which, &next)).await) };
            let answer = if next.is_empty() { page().await } else { retry_page(cx, page).await };
            let response = match answer {
                Ok(response) => response,
                Err(trouble) if trouble.class == Class::Expired && !next.is_empty() && restarts < RESTARTS => {
                    // The token that comes with it is for an inconsistent rest.
                    restarts += 1;
                    continue 'anew;
                }
                Err(trouble) if next.is_empty() => return Err(trouble),
                Err(trouble) => {
                    listing.broken = Some(trouble);
                    return Ok(listing);
                }
            };
            listing.server_ms = response.date_ms.or(listing.server_ms);
            let added = add_page(&mut listing, &response.bytes, resource);
            let token = match body(&action, response.status, added) {
                Ok(_) if Kept::is_too_much() => {
                    listing.broken = Some(Trouble::too_large(&action));
                    return Ok(listing);
                }
                Ok(token) => token,
                Err(trouble) if next.is_empty() => return Err(trouble),
                Err(trouble) => {
                    listing.broken = Some(trouble);
                    return Ok(listing);
                }
            };
            if token.is_empty() {
                return Ok(listing);
            }
            if token == next {
                break;
            }
            next = token;
        }
        listing.broken = Some(Trouble::malformed(&action, 200));
        return Ok(listing);
    }
}

/// A page behind the first, tried a few times. That its token is too old is no passing trouble.
async fn retry_page<F: Future<Output = Result<Response, Trouble>>>(
    cx: &Cx,
    page: impl Fn() -> F,
) -> Result<Response, Trouble> {
    let tried = retry(cx, || async {
        match page().await {
            Err(trouble) if trouble.class == Class::Expired => Ok(Err(trouble)),
            other => other.map(Ok),
        }
    });
    tried.await?
}

/// Adds a page and gives the token of the next one.
fn add_page(listing: &mut Listing, page: &[u8], resource: Resource) -> Result<String, Malformed> {
    let list = List::decode(page, resource.kind())?;
    // The server repeats the version of the first page on each.
    listing.resource_version = list.resource_version.to_string();
    for item in &list.items {
        if Kept::is_too_much() {
            break;
        }
        let bytes = listing.table.add(item.get())?;
        listing.kept.add(bytes);
    }
    Ok(list.next.to_string())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain(
        r#"{"metadata":{"name":"a","namespace":"n","uid":"u"},"spec":{}}"#,
        r#"{"metadata":{"name":"a","namespace":"n","uid":"u"},"spec":{}}"#
    )]
    #[case::bulky(
        r#"{"metadata":{"annotations":{"x":"{}"},"name":"a","namespace":"n","uid":"u","managedFields":[{"f":1}]},"spec":{"annotations":{}}}"#,
        r#"{"metadata":{"annotations":null,"name":"a","namespace":"n","uid":"u","managedFields":null},"spec":{"annotations":{}}}"#
    )]
    #[case::null(
        r#"{"metadata":{"name":"a","namespace":"n","uid":"u","managedFields": null}}"#,
        r#"{"metadata":{"name":"a","namespace":"n","uid":"u","managedFields": null}}"#
    )]
    fn what_nobody_reads_is_not_kept(#[case] object: &str, #[case] want: &str) {
        let mut table = Table::default();
        assert_eq!(table.add(object), Ok(want.len() + OBJECT_BYTES));
        let kept = table.named("n", "a").unwrap();
        assert_eq!(std::str::from_utf8(kept.bytes()).unwrap(), want);
    }

    #[test]
    fn what_is_kept_counts_together_until_it_is_dropped() {
        let (mut one, mut other) = (Kept::default(), Kept::default());
        one.add(BYTES);
        assert!(!Kept::is_too_much());
        other.add(1);
        assert!(Kept::is_too_much());
        drop(one);
        assert!(!Kept::is_too_much());
    }

    #[rstest]
    #[case::no_metadata("{}")]
    #[case::no_uid(r#"{"metadata":{"name":"a","namespace":"n"}}"#)]
    #[case::no_object("1")]
    fn what_is_no_object_is_refused(#[case] object: &str) {
        assert_eq!(Table::default().add(object), Err(Malformed));
    }
}
