//! Objects in the form that was asked for.

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use serde::Deserialize;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::call::Body;
use crate::clock::Clock;
use crate::error::ApiError;
use crate::resource::Resource;
use crate::store::Object;

use super::accept::{Include, Shape, Text, Version};
use super::{answer, table};

/// How the objects of one answer are written.
#[derive(Debug, Clone)]
pub struct Renderer {
    /// Their resource.
    pub resource: &'static Resource,
    /// What becomes of them.
    pub shape: Shape,
    /// By which a table tells ages.
    pub clock: Clock,
}

/// What a list says of itself.
#[derive(Debug, Clone, Default)]
pub struct ListMeta {
    /// The version it is of.
    pub version: u64,
    /// Where it goes on.
    pub next: Option<String>,
    /// How many follow, if that is known.
    pub remaining: Option<usize>,
}

impl ListMeta {
    fn value(&self) -> Value {
        let mut value = json!({"resourceVersion": self.version.to_string()});
        if let Some(map) = value.as_object_mut() {
            map.extend(self.next.as_ref().map(|next| ("continue".to_owned(), next.as_str().into())));
            map.extend(self.remaining.map(|count| ("remainingItemCount".to_owned(), count.into())));
        }
        value
    }
}

impl Renderer {
    /// Refuses what makes no sense for one object.
    ///
    /// # Errors
    /// 406
    pub fn check_object(&self) -> Result<(), ApiError> {
        match self.shape {
            Shape::MetadataList(_) => Err(self.mismatch("PartialObjectMetadataList", "is not a list", "")),
            _ => Ok(()),
        }
    }

    /// Refuses what makes no sense for a list.
    ///
    /// # Errors
    /// 406
    pub fn check_list(&self) -> Result<(), ApiError> {
        match self.shape {
            Shape::Metadata(_) => Err(self.mismatch("PartialObjectMetadata", "is a list", "List")),
            _ => Ok(()),
        }
    }

    fn mismatch(&self, wanted: &str, is: &str, suffix: &str) -> ApiError {
        // Where the real server's own type is.
        let package = match self.resource.group.split('.').next() {
            None | Some("") => "core",
            Some(first) => first,
        };
        let message = format!(
            "you requested {wanted}, but the requested object {is} (*{package}.{}{suffix})",
            self.resource.kind
        );
        ApiError::new(406, "NotAcceptable", message)
    }

    /// One object by itself. `columns` says whether a table has its columns with it.
    pub fn object(&self, object: &Object, columns: bool, out: &mut Vec<u8>) {
        match self.shape {
            Shape::Whole => object.write_whole(out),
            _ => answer::write_json(&self.value(object.value(), columns), out),
        }
    }

    /// One object by itself, which need not be a stored one. A `Status` stays as it is.
    pub fn value(&self, value: Value, columns: bool) -> Value {
        let kind = value.get("kind").and_then(Value::as_str).unwrap_or_default();
        match self.shape {
            _ if kind == "Status" => value,
            Shape::Whole | Shape::MetadataList(_) => value,
            Shape::Metadata(version) => partial(value.get("metadata").cloned().unwrap_or_default(), version),
            Shape::Table(version, include) => {
                let definitions = if columns { table::columns(kind) } else { Value::Null };
                let object_version = value.pointer("/metadata/resourceVersion").cloned().unwrap_or_default();
                json!({
                    "kind": "Table", "apiVersion": version.api_version(),
                    "metadata": {"resourceVersion": object_version},
                    "columnDefinitions": definitions,
                    "rows": [row(value, version, include, &self.clock)],
                })
            }
        }
    }

    fn item(&self, object: &Object, out: &mut Vec<u8>) {
        match self.shape {
            Shape::Whole => out.extend_from_slice(&object.text),
            Shape::Metadata(version) | Shape::MetadataList(version) => {
                answer::write_json(&partial(metadata(object), version), out);
            }
            Shape::Table(version, include) => {
                answer::write_json(&row(object.value(), version, include, &self.clock), out);
            }
        }
    }

    /// What stands before the items of a list.
    fn head(&self, meta: &ListMeta) -> Vec<u8> {
        let (kind, version, columns) = match self.shape {
            Shape::Whole => (format!("{}List", self.resource.kind), self.resource.api_version(), None),
            Shape::Metadata(version) | Shape::MetadataList(version) => {
                ("PartialObjectMetadataList".to_owned(), version.api_version().to_owned(), None)
            }
            Shape::Table(version, _) => {
                ("Table".to_owned(), version.api_version().to_owned(), Some(table::columns(self.resource.kind)))
            }
        };
        let mut head = json!({"kind": kind, "apiVersion": version, "metadata": meta.value()});
        let items = if columns.is_some() { "rows" } else { "items" };
        if let (Some(map), Some(columns)) = (head.as_object_mut(), columns) {
            map.insert("columnDefinitions".to_owned(), columns);
        }
        let mut out = Vec::new();
        answer::write_json(&head, &mut out);
        // Open again.
        out.pop();
        out.extend_from_slice(format!(",\"{items}\":[").as_bytes());
        out
    }

    /// A list, written while it is sent.
    pub fn list(self, meta: &ListMeta, objects: Vec<Arc<Object>>, text: Text) -> Body {
        let mut pieces = Pieces::new(self, meta, objects);
        if text == Text::Json {
            return pieces.boxed_unsync();
        }
        // For people, who do not read lists of any length: the whole as one value.
        let mut all = Vec::new();
        while let Some(piece) = pieces.next() {
            all.extend_from_slice(&piece);
        }
        let value: Value = serde_json::from_slice(&all).unwrap_or_default();
        answer::full(answer::write(&value, text))
    }
}

fn partial(metadata: Value, version: Version) -> Value {
    json!({"kind": "PartialObjectMetadata", "apiVersion": version.api_version(), "metadata": metadata})
}

/// The metadata alone: the rest of the text is passed over.
fn metadata(object: &Object) -> Value {
    #[derive(Deserialize)]
    struct Part {
        metadata: Value,
    }
    serde_json::from_slice::<Part>(&object.text).map(|part| part.metadata).unwrap_or_default()
}

fn row(value: Value, version: Version, include: Include, clock: &Clock) -> Value {
    let mut row = table::row(&value, clock);
    let object = match include {
        Include::None => Value::Null,
        Include::Object => value,
        Include::Metadata => partial(value.get("metadata").cloned().unwrap_or_default(), version),
    };
    if let Some(map) = row.as_object_mut() {
        map.insert("object".to_owned(), object);
    }
    row
}

/// How much of a list is written at once: enough that no time is lost between the pieces.
const PIECE: usize = 64 << 10;

/// A list in pieces. Beside the objects, which others hold as well, there is one piece in memory.
struct Pieces {
    renderer: Renderer,
    objects: std::vec::IntoIter<Arc<Object>>,
    head: Option<Vec<u8>>,
    tail: Option<&'static [u8]>,
    /// How many bytes are left, where that is known before they are written.
    left: Option<u64>,
}

const TAIL: &[u8] = b"]}\n";
/// A table without rows has none, where another list has an empty one.
const NO_ROWS: &[u8] = b"null}\n";

impl Pieces {
    fn new(renderer: Renderer, meta: &ListMeta, objects: Vec<Arc<Object>>) -> Pieces {
        let mut head = renderer.head(meta);
        let no_rows = matches!(renderer.shape, Shape::Table(..)) && objects.is_empty();
        if no_rows {
            head.pop();
        }
        let left = (renderer.shape == Shape::Whole).then(|| {
            let commas = objects.len().saturating_sub(1);
            let fixed = head.len() + commas + TAIL.len();
            (fixed + objects.iter().map(|object| object.text.len()).sum::<usize>()) as u64
        });
        let tail = Some(if no_rows { NO_ROWS } else { TAIL });
        Pieces { renderer, objects: objects.into_iter(), head: Some(head), tail, left }
    }

    fn next(&mut self) -> Option<Bytes> {
        let first = self.head.is_some();
        let mut out = self.head.take().unwrap_or_default();
        out.reserve(PIECE);
        let mut comma = !first;
        while out.len() < PIECE {
            let Some(object) = self.objects.next() else {
                out.extend_from_slice(self.tail.take().unwrap_or_default());
                break;
            };
            if comma {
                out.push(b',');
            }
            comma = true;
            self.renderer.item(&object, &mut out);
        }
        if let Some(left) = &mut self.left {
            *left = left.saturating_sub(out.len() as u64);
        }
        (!out.is_empty()).then(|| out.into())
    }
}

impl hyper::body::Body for Pieces {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Ready(self.next().map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.tail.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map(SizeHint::with_exact).unwrap_or_default()
    }
}
