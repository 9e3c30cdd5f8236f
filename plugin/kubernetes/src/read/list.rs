//! Lists, page by page, kept as they came.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use serde::Deserialize;
use workload_guest::{Cx, Response};

use super::retry;
use crate::answer::{Action, Class, Trouble, body, classify};
use crate::api::{List, Malformed, Meta};
use crate::request::{self, Resource, Which};

/// How often a list is begun anew because its version grew too old on the way.
const RESTARTS: u32 = 2;

/// Pages of a list: 500 objects each. More than any one place should hold, so that a server that never ends does.
const PAGES: usize = 400;

/// Bytes of a list that are kept: half of the memory that the host gives an operation. Beyond it the list is reported as
/// incomplete, where the operation would otherwise end for want of memory.
const BYTES: usize = 32 << 20;

/// One object of an answer, not decoded yet.
#[derive(Debug, Clone)]
pub struct Raw {
    page: Rc<Vec<u8>>,
    range: Range<usize>,
}

impl Raw {
    /// A whole answer.
    pub(super) fn whole(bytes: Vec<u8>) -> Self {
        Self { range: 0..bytes.len(), page: Rc::new(bytes) }
    }

    /// Its JSON.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        self.page.get(self.range.clone()).unwrap_or_default()
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

    fn add(&mut self, page: &Rc<Vec<u8>>, range: Range<usize>) -> Result<(), Malformed> {
        #[derive(Deserialize)]
        struct Header<'a> {
            #[serde(borrow)]
            metadata: Meta<'a>,
        }

        let raw = Raw { page: Rc::clone(page), range };
        let header: Header<'_> = serde_json::from_slice(raw.bytes()).map_err(|_| Malformed)?;
        let meta = &header.metadata;
        if meta.name.is_empty() || meta.namespace.is_empty() || meta.uid.is_empty() {
            return Err(Malformed);
        }
        if let Some(controller) = meta.controller() {
            self.by_controller.entry(controller.uid.to_string()).or_default().push(raw.clone());
        }
        self.by_name.insert((meta.namespace.to_string(), meta.name.to_string()), raw.clone());
        Ok(())
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
        let mut kept: usize = 0;
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
            kept = kept.saturating_add(response.bytes.len());
            if kept > BYTES {
                listing.broken = Some(Trouble::too_large(&action));
                return Ok(listing);
            }
            let page = Rc::new(response.bytes);
            let token = match body(&action, response.status, add_page(&mut listing, &page, resource)) {
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
fn add_page(listing: &mut Listing, page: &Rc<Vec<u8>>, resource: Resource) -> Result<String, Malformed> {
    let list = List::decode(page, resource.kind())?;
    // The server repeats the version of the first page on each.
    listing.resource_version = list.resource_version.to_string();
    let base = page.as_ptr().addr();
    for item in &list.items {
        let text = item.get();
        // An item is borrowed from the page: its place in it is where it points.
        let start = text.as_ptr().addr().checked_sub(base).ok_or(Malformed)?;
        listing.table.add(page, start..start + text.len())?;
    }
    Ok(list.next.to_string())
}
