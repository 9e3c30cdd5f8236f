//! What carries objects or speaks of them: lists, watch events, `Status`.

use serde::Deserialize;
use serde::de::{Error, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

use super::Malformed;
use super::text::Text;

/// A page of a list. Its items stay as they came, so that each reader decodes only its own.
#[derive(Debug)]
pub struct List<'a> {
    /// Where a watch begins.
    pub resource_version: Text<'a>,
    /// What to ask the next page with; empty on the last one.
    pub next: Text<'a>,
    /// In the server's order.
    pub items: Vec<&'a RawValue>,
}

impl<'a> List<'a> {
    /// Decodes a page of a list of objects of this kind.
    ///
    /// # Errors
    /// It is not JSON, is cut, or is a list of something else.
    pub fn decode(bytes: &'a [u8], item_kind: &str) -> Result<Self, Malformed> {
        #[derive(Deserialize)]
        #[serde(bound(deserialize = "'de: 'a"))]
        struct Page<'a> {
            kind: Text<'a>,
            #[serde(default, deserialize_with = "super::nullable")]
            metadata: PageMeta<'a>,
            #[serde(borrow)]
            items: Option<Vec<&'a RawValue>>,
        }

        #[derive(Default, Deserialize)]
        #[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
        struct PageMeta<'a> {
            resource_version: Text<'a>,
            #[serde(rename = "continue")]
            next: Text<'a>,
        }

        let page: Page<'a> = serde_json::from_slice(bytes).map_err(|_| Malformed)?;
        if page.kind.strip_suffix("List") != Some(item_kind) {
            return Err(Malformed);
        }
        Ok(Self {
            resource_version: page.metadata.resource_version,
            next: page.metadata.next,
            items: page.items.unwrap_or_default(),
        })
    }
}

/// What a line of a watch says. Which object it is does not matter: a fresh read decides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// Something changed.
    Changed,
    /// Nothing changed; the server is there.
    Bookmark,
    /// The watch is over and has to begin anew.
    Error,
}

/// Reads a line of a watch.
///
/// # Errors
/// It is no watch event.
pub fn event(line: &[u8]) -> Result<Event, Malformed> {
    #[derive(Deserialize)]
    #[serde(bound(deserialize = "'de: 'a"))]
    struct Line<'a> {
        #[serde(rename = "type")]
        kind: Text<'a>,
    }

    let line: Line<'_> = serde_json::from_slice(line).map_err(|_| Malformed)?;
    match &*line.kind {
        "ADDED" | "MODIFIED" | "DELETED" => Ok(Event::Changed),
        "BOOKMARK" => Ok(Event::Bookmark),
        "ERROR" => Ok(Event::Error),
        _ => Err(Malformed),
    }
}

/// A `Status`: what the API server says when it has no object to give.
#[derive(Debug, Clone, Default)]
pub struct ServerStatus<'a> {
    /// One word, e.g. "NotFound".
    pub reason: Text<'a>,
    /// For a person. It may quote what was sent.
    pub message: Text<'a>,
    /// Of what it speaks.
    pub details: Details<'a>,
}

impl<'a> ServerStatus<'a> {
    /// Decodes a `Status`. None: the body is something else.
    #[must_use]
    pub fn decode(bytes: &'a [u8]) -> Option<Self> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
        struct Wire<'a> {
            kind: Text<'a>,
            #[serde(default)]
            reason: Text<'a>,
            #[serde(default)]
            message: Text<'a>,
            #[serde(default, deserialize_with = "super::nullable")]
            details: Details<'a>,
        }

        let wire: Wire<'a> = serde_json::from_slice(bytes).ok()?;
        (wire.kind == "Status").then_some(Self { reason: wire.reason, message: wire.message, details: wire.details })
    }
}

/// Of what a `Status` speaks.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
pub struct Details<'a> {
    /// The object's name.
    pub name: Text<'a>,
    /// Its resource, or its kind: the server does both.
    pub kind: Text<'a>,
    /// Its uid.
    pub uid: Text<'a>,
    /// What is wrong with what was sent.
    #[serde(deserialize_with = "super::nullable")]
    pub causes: Vec<Cause<'a>>,
    /// When to come back.
    #[serde(deserialize_with = "super::nullable")]
    pub retry_after_seconds: u32,
}

/// One thing wrong with what was sent.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Cause<'a> {
    /// One word.
    pub reason: Text<'a>,
    /// The field.
    pub field: Text<'a>,
    /// For a person. It may quote the value.
    pub message: Text<'a>,
}

/// One annotation of an object. Nothing else of the annotations is ever built: one of them may hold a whole manifest.
#[must_use]
pub fn annotation(bytes: &[u8], key: &str) -> Option<String> {
    struct Wanted<'k>(&'k str);

    impl<'de> serde::de::DeserializeSeed<'de> for Wanted<'_> {
        type Value = Option<String>;

        fn deserialize<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
            deserializer.deserialize_any(self)
        }
    }

    impl<'de> Visitor<'de> for Wanted<'_> {
        type Value = Option<String>;

        fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
            formatter.write_str("annotations")
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut found = None;
            while let Some(key) = map.next_key::<Text<'de>>()? {
                if key == self.0 {
                    found = Some(map.next_value::<Text<'de>>()?.to_string());
                } else {
                    map.next_value::<IgnoredAny>()?;
                }
            }
            Ok(found)
        }
    }

    #[derive(Deserialize)]
    struct Outer<'a> {
        #[serde(borrow)]
        metadata: Inner<'a>,
    }

    #[derive(Deserialize)]
    struct Inner<'a> {
        #[serde(borrow)]
        annotations: Option<&'a RawValue>,
    }

    let outer: Outer<'_> = serde_json::from_slice(bytes).ok()?;
    let annotations = outer.metadata.annotations?;
    let mut deserializer = serde_json::Deserializer::from_str(annotations.get());
    serde::de::DeserializeSeed::deserialize(Wanted(key), &mut deserializer).ok()?
}
