//! Watches: streams of changes, one JSON text a line.

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream;
use http::Response;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use serde_json::Value;
use tokio::sync::watch;
use tokio::time::Instant;

use crate::call::Body;
use crate::error::ApiError;
use crate::registry::metadata;
use crate::resource::Resource;
use crate::state::State;
use crate::store::{Change, Object, Range};

use super::accept::{Form, Shape, Text, no_such_stream};
use super::query::{self, ListOptions};
use super::render::Renderer;
use super::{answer, empty, read};

/// How long a watch lasts that does not say it. The real server takes this or up to twice as long.
const LASTS: Duration = Duration::from_secs(1800);
/// How often bookmarks come.
const BOOKMARKS: Duration = Duration::from_secs(60);
/// How long before the end the last bookmark comes.
const BEFORE_END: Duration = Duration::from_secs(2);
/// How much is written at once. A watch that nobody reads holds this much and no more.
const PIECE: usize = 64 << 10;
/// How many changes are looked at at once: the store is locked meanwhile.
const CHANGES: usize = 256;

/// Begins a watch.
///
/// # Errors
/// What the options can do wrong. That a version is too old is told in the stream, as the real server does.
pub fn begin(
    state: &Arc<State>,
    resource: &'static Resource,
    namespace: &str,
    options: ListOptions,
    form: &Form,
) -> Result<Response<Body>, ApiError> {
    if form.text == Text::Yaml {
        return Err(no_such_stream());
    }
    let asked = match options.version.as_str() {
        "" => 0,
        text => query::version(text).map_err(|message| ApiError::new(500, "", message))?,
    };
    let now = Instant::now();
    let lasts = match options.timeout {
        None | Some(0) => LASTS,
        Some(seconds) => Duration::from_secs(u64::try_from(seconds).unwrap_or_default()),
    };
    let mut watch = Watch {
        // Before the state is looked at, so that nothing falls in between.
        news: state.store.news(resource),
        renderer: Renderer { resource, shape: form.shape.clone(), clock: state.clock.clone() },
        namespace: namespace.to_owned(),
        initial: Vec::new().into_iter(),
        end_mark: None,
        position: asked,
        deadline: now + lasts,
        bookmark: None,
        columns: true,
        // The transformation fails, and the real server's stream with it.
        ended: matches!(form.shape, Shape::MetadataList(_)),
        options,
        state: Arc::clone(state),
    };
    watch.bookmark = watch.next_bookmark(now);
    let refused = watch.start(asked).err();
    let stream = stream::unfold((watch, refused), |(mut watch, refused)| async move {
        let piece = match refused {
            Some(error) => {
                watch.ended = true;
                Some(watch.refusal(&error))
            }
            None => watch.next().await,
        };
        Some((Ok::<_, Infallible>(Frame::data(Bytes::from(piece?))), (watch, None)))
    });
    Ok(answer::respond(&state.clock, 200, answer::media(Text::Json), StreamBody::new(stream).boxed_unsync()))
}

struct Watch {
    state: Arc<State>,
    renderer: Renderer,
    namespace: String,
    options: ListOptions,
    /// The state at the beginning, as far as it was not sent.
    initial: std::vec::IntoIter<Arc<Object>>,
    /// The version to tell when that was sent.
    end_mark: Option<u64>,
    /// All changes up to this version were told.
    position: u64,
    news: watch::Receiver<u64>,
    deadline: Instant,
    bookmark: Option<Instant>,
    /// The next table has its columns with it.
    columns: bool,
    ended: bool,
}

impl Watch {
    fn start(&mut self, asked: u64) -> Result<(), ApiError> {
        let resource = self.renderer.resource;
        if self.options.initial == Some(true) {
            read::not_in_future(asked, self.state.store.version())?;
            let namespace = Some(self.namespace.as_str()).filter(|namespace| !namespace.is_empty());
            let range = Range { namespace, ..Range::default() };
            let (labels, fields) = (&self.options.labels, &self.options.fields);
            let wanted = |object: &Object| labels.matches(&object.labels) && fields.matches(object);
            // Now is always known.
            if let Ok(page) = self.state.store.page(resource, range, wanted) {
                self.position = page.version;
                self.initial = page.objects.into_iter();
            }
            self.end_mark = Some(self.position).filter(|_| self.options.bookmarks);
            return Ok(());
        }
        let (version, oldest) = (self.state.store.version(), self.state.store.oldest());
        if asked == 0 {
            self.position = version;
        } else if asked < oldest {
            return Err(ApiError::expired(format!("too old resource version: {asked} ({oldest})")));
        }
        Ok(())
    }

    fn refusal(&mut self, error: &ApiError) -> Vec<u8> {
        let mut out = Vec::new();
        line("ERROR", &mut out, |out| answer::write_json(&error.status(), out));
        out
    }

    fn next_bookmark(&self, now: Instant) -> Option<Instant> {
        let last = self.deadline.checked_sub(BEFORE_END).filter(|last| *last > now)?;
        self.options.bookmarks.then(|| last.min(now + BOOKMARKS))
    }

    /// What is to be sent next; nothing at the end.
    async fn next(&mut self) -> Option<Vec<u8>> {
        while !self.ended && Instant::now() < self.deadline {
            let mut out = Vec::new();
            self.write_initial(&mut out);
            if out.is_empty() && !self.write_changes(&mut out) {
                // Too slow to be told everything. The real server hangs up on such a client as well.
                return None;
            }
            if out.is_empty() && self.bookmark.is_some_and(|time| time <= Instant::now()) {
                self.bookmark = self.next_bookmark(Instant::now());
                self.write_bookmark(self.position, false, &mut out);
            }
            if !out.is_empty() {
                return Some(out);
            }
            if *self.news.borrow_and_update() > self.position {
                continue;
            }
            let wake = self.bookmark.map_or(self.deadline, |time| time.min(self.deadline));
            tokio::select! {
                biased;
                () = tokio::time::sleep_until(wake) => {}
                changed = self.news.changed() => changed.ok()?,
            }
        }
        None
    }

    fn write_initial(&mut self, out: &mut Vec<u8>) {
        while out.len() < PIECE {
            let Some(object) = self.initial.next() else {
                if let Some(version) = self.end_mark.take() {
                    self.write_bookmark(version, true, out);
                }
                return;
            };
            self.write_object("ADDED", &object, out);
        }
    }

    /// Whether the changes since the last ones are known.
    fn write_changes(&mut self, out: &mut Vec<u8>) -> bool {
        // Asked for first: a change after it may be among those told, but none before it can be missing.
        let now = self.state.store.version();
        let Ok(changes) = self.state.store.changes(self.renderer.resource, self.position, CHANGES) else {
            return false;
        };
        let all = changes.len() < CHANGES;
        for change in changes {
            self.position = change.version;
            self.write_change(&change, out);
            if out.len() >= PIECE {
                return true;
            }
        }
        if all {
            // A watch from a version of the future stays there, and is silent until then.
            self.position = self.position.max(now);
        }
        true
    }

    fn wants(&self, object: &Object) -> bool {
        (self.namespace.is_empty() || object.key.namespace() == self.namespace)
            && self.options.labels.matches(&object.labels)
            && self.options.fields.matches(object)
    }

    fn write_change(&mut self, change: &Change, out: &mut Vec<u8>) {
        let before = change.old.as_ref().filter(|old| self.wants(old));
        let after = Some(&change.object).filter(|object| !change.removed && self.wants(object));
        match (before, after) {
            (None, Some(object)) => self.write_object("ADDED", object, out),
            (Some(_), Some(object)) => self.write_object("MODIFIED", object, out),
            (Some(old), None) => {
                // As it was last seen, at the version of the change.
                let mut value = old.value();
                metadata(&mut value).insert("resourceVersion".to_owned(), change.version.to_string().into());
                self.write_value("DELETED", value, out);
            }
            (None, None) => {}
        }
    }

    fn write_object(&mut self, kind: &str, object: &Object, out: &mut Vec<u8>) {
        line(kind, out, |out| self.renderer.object(object, self.columns, out));
        self.columns = false;
    }

    fn write_value(&mut self, kind: &str, value: Value, out: &mut Vec<u8>) {
        line(kind, out, |out| answer::write_json(&self.renderer.value(value, self.columns), out));
        self.columns = false;
    }

    fn write_bookmark(&mut self, version: u64, end: bool, out: &mut Vec<u8>) {
        self.write_value("BOOKMARK", empty::bookmark(self.renderer.resource, version, end), out);
    }
}

fn line(kind: &str, out: &mut Vec<u8>, object: impl FnOnce(&mut Vec<u8>)) {
    out.extend_from_slice(format!("{{\"type\":\"{kind}\",\"object\":").as_bytes());
    object(out);
    out.extend_from_slice(b"}\n");
}
