//! What every object says about itself.

use serde::Deserialize;

use super::text::{Labels, Text};
use crate::time::milliseconds;

/// The finalizer with which the server waits for what belongs to an object that was deleted in the foreground.
pub const FOREGROUND: &str = "foregroundDeletion";

/// Metadata, as far as somebody looks at it.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Meta<'a> {
    /// Unique within its kind and namespace.
    pub name: Text<'a>,
    /// Where it is.
    pub namespace: Text<'a>,
    /// Unique for ever: tells an object from the next one of the same name.
    pub uid: Text<'a>,
    /// To be compared for equality only.
    pub resource_version: Text<'a>,
    /// Counts changes of the specification.
    #[serde(deserialize_with = "super::nullable")]
    pub generation: i64,
    /// RFC 3339.
    pub creation_timestamp: Option<Text<'a>>,
    /// Set once deletion is under way.
    pub deletion_timestamp: Option<Text<'a>>,
    /// By which it is selected and owned.
    pub labels: Labels<'a>,
    /// What it belongs to.
    #[serde(deserialize_with = "super::nullable")]
    pub owner_references: Vec<OwnerReference<'a>>,
    /// What must happen before it can go.
    #[serde(deserialize_with = "super::nullable")]
    pub finalizers: Vec<Text<'a>>,
}

impl Meta<'_> {
    /// The one owner that manages it, if any.
    #[must_use]
    pub fn controller(&self) -> Option<&OwnerReference<'_>> {
        self.owner_references.iter().find(|owner| owner.controller)
    }

    /// Its controller is the object of this uid.
    #[must_use]
    pub fn is_controlled_by(&self, uid: &str) -> bool {
        self.controller().is_some_and(|owner| owner.uid == uid)
    }

    /// When it was made by the server's clock, in milliseconds of the Unix epoch.
    #[must_use]
    pub fn created_ms(&self) -> Option<u64> {
        self.creation_timestamp.as_deref().and_then(milliseconds)
    }

    /// Deletion is under way.
    #[must_use]
    pub fn is_deleting(&self) -> bool {
        self.deletion_timestamp.is_some()
    }
}

/// A claim of ownership, by uid.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct OwnerReference<'a> {
    /// The owner's kind.
    pub kind: Text<'a>,
    /// The owner's name.
    pub name: Text<'a>,
    /// The owner's uid.
    pub uid: Text<'a>,
    /// It is the one that manages the object.
    #[serde(deserialize_with = "super::nullable")]
    pub controller: bool,
}
