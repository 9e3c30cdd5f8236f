//! What a provider may do: the one function that allows or denies its requests.
//!
//! A provider asks for a request as data. [`authorize`] compares it with a catalogue of the operations that the engine
//! has, with what is granted, and with the places (namespaces) that are configured; it answers with exactly what is to be
//! sent, or with the reason why nothing is. What the catalogue does not know is denied, so a mistake here makes something
//! impossible rather than possible. The crate is pure: no I/O, no clock, no engine of its own.
//!
//! Three habits keep it honest. Paths are compared as decoded parts and encoded once, never decoded, so no spelling of
//! `%73ecrets` or `..` can mean something else further on. A JSON body is parsed strictly, checked field by field against an
//! allow-list, and what is sent is written anew from the parsed value, so what was checked is what the engine reads. And
//! a [`Denied`] is for the operator only: it says where, never what was there.
//!
//! ```
//! use workload_policy::{Engine, Grants, Media, Method, Places, Request, authorize};
//!
//! let grants = Grants::new(Engine::Kubernetes, ["deployments:list"], ["*"], Places::only(["default"]))?;
//! let path = ["apis", "apps", "v1", "namespaces", "default", "deployments"].map(String::from);
//! let request = Request {
//!     method: Method::Get,
//!     segments: &path,
//!     query: &[],
//!     accept: Media::Json,
//!     body: None,
//!     streaming: false,
//! };
//!
//! let allowed = authorize(&grants, &request)?;
//! assert_eq!(allowed.operation, "deployments:list");
//! assert_eq!(allowed.target, "/apis/apps/v1/namespaces/default/deployments?limit=500");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod authorize;
mod catalogue;
mod denied;
mod fields;
mod grants;
mod json;
pub mod limits;
pub mod names;
mod query;
mod request;
mod target;

pub use authorize::{Allowed, authorize};
pub use catalogue::{Engine, FieldGrant, Operation, Rbac, Word};
pub use denied::{DenialRule, Denied};
pub use grants::{DropReason, Dropped, GrantError, Grants, Places};
pub use request::{Body, Media, Method, Request};
