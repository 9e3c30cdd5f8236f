//! Kubernetes' objects, trimmed to what is looked at, and decoded in place.
//!
//! Decoding is where an operation's time goes: the structs borrow their strings from the answer, a field nobody reads
//! is skipped and not built, and a Pod template stays as it came until somebody asks for it. Unknown fields are
//! ignored and `null` is like absent, but an object is strict about who it is: kind, name and uid must be there.

mod deployment;
mod envelope;
mod event;
mod meta;
mod pod;
mod replica_set;
mod text;

pub use deployment::{Condition, Deployment, Selector};
pub use envelope::{Event, List, ServerStatus, annotation, event};
pub use event::Report;
pub use meta::{FOREGROUND, Meta};
pub use pod::{ContainerStatus, Ended, Pod, PodSpec, PodTemplate};
pub use replica_set::ReplicaSet;
pub use text::Labels;

use serde::{Deserialize, Deserializer};

/// The object in an answer is not the one that was asked for, or is none at all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// An object's own kind and where it must stand.
pub trait Object<'a>: Deserialize<'a> {
    /// As in its `kind`.
    const KIND: &'static str;
    /// As in its `apiVersion`.
    const API_VERSION: &'static str;
    /// `kind`, `apiVersion` and metadata as they came; the first two are absent from an item of a list.
    fn identity(&self) -> (Option<&str>, Option<&str>, &Meta<'a>);

    /// Decodes an answer that must be exactly the object of this name.
    ///
    /// # Errors
    /// It is not JSON, is cut, is of another kind, or has another name or no uid.
    fn decode(bytes: &'a [u8], namespace: &str, name: &str) -> Result<Self, Malformed> {
        let object: Self = serde_json::from_slice(bytes).map_err(|_| Malformed)?;
        let (kind, version, meta) = object.identity();
        let right = kind == Some(Self::KIND)
            && version == Some(Self::API_VERSION)
            && meta.namespace == namespace
            && meta.name == name
            && !meta.uid.is_empty();
        if right { Ok(object) } else { Err(Malformed) }
    }

    /// Decodes an item of a list.
    ///
    /// # Errors
    /// It is of another kind, or lacks a name, namespace or uid.
    fn decode_item(bytes: &'a [u8]) -> Result<Self, Malformed> {
        let object: Self = serde_json::from_slice(bytes).map_err(|_| Malformed)?;
        let (kind, version, meta) = object.identity();
        let right = kind.is_none_or(|kind| kind == Self::KIND)
            && version.is_none_or(|version| version == Self::API_VERSION)
            && !meta.namespace.is_empty()
            && !meta.name.is_empty()
            && !meta.uid.is_empty();
        if right { Ok(object) } else { Err(Malformed) }
    }
}

/// `null` is like absent.
pub(crate) fn nullable<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de> + Default,
{
    Ok(Option::<T>::deserialize(deserializer)?.unwrap_or_default())
}

#[cfg(test)]
mod tests;
