//! Events, as the recorder of Kubernetes' controllers writes them: the same one again only counts, many that differ in
//! nothing but their text become one, and who says too much about an object isn't heard any more.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::Instant;

use super::fields::{View, number};
use super::{Cluster, Kind};
use crate::registry::{Deletion, Part};
use crate::resource::{EVENTS, Resource};
use crate::store::Key;

/// From so many different texts on, they become one Event.
const SIMILAR: usize = 10;
/// How long texts count as similar to each other.
const SIMILAR_FOR: Duration = Duration::from_secs(600);
/// How many Events of one type a source can say about an object at once,
const BURST: f64 = 25.0;
/// and how many a second after that.
const REFILL: f64 = 1.0 / 300.0;
/// How many Events the recorder remembers. More of them would be said anew, which nobody notices.
const REMEMBERED: usize = 4096;
/// How long an Event is kept: the default of the API server.
const KEPT: Duration = Duration::from_secs(3600);

/// Who says something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source<'a> {
    /// A controller.
    Controller(&'static str),
    /// The kubelet of a node.
    Kubelet(&'a str),
    /// The scheduler, which writes Events in their newer form.
    Scheduler(&'static str),
}

impl Source<'_> {
    fn component(self) -> &'static str {
        match self {
            Source::Controller(name) => name,
            Source::Kubelet(_) => "kubelet",
            Source::Scheduler(_) => "default-scheduler",
        }
    }
}

/// Something to say.
#[derive(Debug, Clone, Copy)]
pub(super) struct Said<'a> {
    /// Who says it.
    pub source: Source<'a>,
    /// It is about something that is wrong.
    pub warning: bool,
    /// The word.
    pub reason: &'a str,
    /// The sentence.
    pub message: &'a str,
    /// What part of the object it is about; empty for all of it.
    pub field: &'a str,
}

/// What the recorder remembers.
#[derive(Debug, Default)]
pub(super) struct Events {
    /// Events that were written, by what they say.
    written: HashMap<String, Key>,
    similar: HashMap<String, Similar>,
    allowance: HashMap<String, Allowance>,
    made: u64,
}

#[derive(Debug)]
struct Similar {
    texts: BTreeSet<String>,
    since: Instant,
}

#[derive(Debug)]
struct Allowance {
    left: f64,
    at: Instant,
}

impl Events {
    /// Whether the source may say one more thing.
    fn allow(&mut self, spam: &str, now: Instant) -> bool {
        let allowance = self.allowance.entry(spam.to_owned()).or_insert(Allowance { left: BURST, at: now });
        let more = now.duration_since(allowance.at).as_secs_f64() * REFILL;
        *allowance = Allowance { left: (allowance.left + more).min(BURST), at: now };
        if allowance.left < 1.0 {
            return false;
        }
        allowance.left -= 1.0;
        true
    }

    /// Whether there have been so many like this one that they become one.
    fn aggregate(&mut self, group: &str, text: &str, now: Instant) -> bool {
        let similar = self.similar.entry(group.to_owned()).or_insert(Similar { texts: BTreeSet::new(), since: now });
        if now.duration_since(similar.since) > SIMILAR_FOR {
            similar.texts.clear();
        }
        similar.since = now;
        similar.texts.insert(text.to_owned());
        if similar.texts.len() < SIMILAR {
            return false;
        }
        // One is forgotten, so that the next different one is the tenth again.
        similar.texts.pop_first();
        true
    }

    fn forget_if_many(&mut self) {
        if self.written.len() > REMEMBERED {
            self.written.clear();
        }
        if self.similar.len() > REMEMBERED {
            self.similar.clear();
        }
        if self.allowance.len() > REMEMBERED {
            self.allowance.clear();
        }
    }
}

impl Cluster {
    /// Says something about an object.
    pub(super) fn say(&mut self, about: &View, said: Said<'_>) {
        let now = self.now();
        let host = if let Source::Kubelet(node) = said.source { node } else { "" };
        let kind = if said.warning { "Warning" } else { "Normal" };
        let about_whom = format!("{}\n{host}\n{}\n{kind}", said.source.component(), about.uid());
        let group = format!("{about_whom}\n{}\n{}", said.reason, said.field);
        self.events.forget_if_many();
        let scheduler = matches!(said.source, Source::Scheduler(_));
        let combined = !scheduler && self.events.aggregate(&group, said.message, now);
        let message = if combined {
            format!("(combined from similar events): {}", said.message)
        } else {
            said.message.to_owned()
        };
        if !scheduler && !self.events.allow(&about_whom, now) {
            return;
        }
        let same = if combined { group } else { format!("{group}\n{message}") };
        if let Some(key) = self.events.written.get(&same).cloned()
            && self.count_again(&key, &message, scheduler)
        {
            return;
        }
        self.events.made += 1;
        if let Some(key) = self.make_event(about, &said, kind, &message) {
            self.after(Kind::Event, &key, KEPT);
            self.events.written.insert(same, key);
        }
    }

    /// The same again. Tells whether it is still there.
    fn count_again(&self, key: &Key, message: &str, scheduler: bool) -> bool {
        let (stamp, micros) = (self.stamp(), self.state.clock.micros());
        let counted = self.state.update(key, Part::Main, false, |event| {
            let count = number(event, if scheduler { "/series/count" } else { "/count" }).max(1) + 1;
            let Some(event) = event.as_object_mut() else { return Ok(()) };
            if scheduler {
                event.insert("series".to_owned(), json!({"count": count, "lastObservedTime": micros}));
            } else {
                event.insert("count".to_owned(), count.into());
                event.insert("lastTimestamp".to_owned(), stamp.into());
                event.insert("message".to_owned(), message.into());
            }
            Ok(())
        });
        counted.is_ok()
    }

    fn make_event(&self, about: &View, said: &Said<'_>, kind: &str, message: &str) -> Option<Key> {
        let resource: &Resource = about.key().resource;
        // Events about what has no namespace are in the default one.
        let namespace = if about.namespace().is_empty() { "default" } else { about.namespace() };
        // As the real recorder does, from the time; two of the same moment are told apart by their number.
        let moment = self.state.clock.wall().as_nanosecond() + i128::from(self.events.made);
        let mut involved = BTreeMap::from([
            ("kind", resource.kind.to_owned()),
            ("name", about.name().to_owned()),
            ("uid", about.uid().to_owned()),
            ("apiVersion", resource.api_version()),
            ("resourceVersion", about.version().to_string()),
        ]);
        if resource.namespaced {
            involved.insert("namespace", about.namespace().to_owned());
        }
        if !said.field.is_empty() {
            involved.insert("fieldPath", said.field.to_owned());
        }
        let component = said.source.component();
        let mut event: Value = json!({
            "kind": "Event", "apiVersion": "v1",
            "metadata": {"name": format!("{}.{moment:x}", about.name())},
            "involvedObject": involved, "reason": said.reason, "message": message, "type": kind,
            "reportingComponent": component,
        });
        let rest = match said.source {
            Source::Scheduler(action) => json!({
                "source": {}, "firstTimestamp": null, "lastTimestamp": null, "eventTime": self.state.clock.micros(),
                "action": action, "reportingInstance": "default-scheduler-control-plane",
            }),
            Source::Kubelet(node) => json!({
                "source": {"component": component, "host": node}, "firstTimestamp": self.stamp(),
                "lastTimestamp": self.stamp(), "count": 1, "eventTime": null, "reportingInstance": node,
            }),
            Source::Controller(_) => json!({
                "source": {"component": component}, "firstTimestamp": self.stamp(),
                "lastTimestamp": self.stamp(), "count": 1, "eventTime": null, "reportingInstance": "",
            }),
        };
        if let (Some(event), Value::Object(rest)) = (event.as_object_mut(), rest) {
            event.extend(rest);
        }
        let place = Key::new(&crate::resource::NAMESPACES, "", namespace);
        // A namespace on its way out takes no new objects, Events among them.
        if self.state.store.get(&place).is_none_or(|namespace| namespace.deleting) {
            return None;
        }
        let made = self.state.create(&EVENTS, namespace, event, false).ok()?;
        Some(Key::new(&EVENTS, namespace, super::fields::text(&made, "/metadata/name")))
    }
}

/// Removes an Event that has been there long enough.
pub(super) fn expire(cluster: &mut Cluster, key: &Key) {
    // Somebody else may have removed it before.
    let _ = cluster.state.delete(key, &Deletion::default());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn the_tenth_text_that_is_like_others_is_combined() {
        let (mut events, now) = (Events::default(), Instant::now());
        let combined: Vec<_> = (0..12).map(|number| events.aggregate("g", &format!("{number:02}"), now)).collect();
        assert_eq!(combined.iter().position(|&one| one), Some(9));
        assert_eq!(combined.iter().filter(|&&one| one).count(), 3, "and all that follow");
        assert!(!events.aggregate("g", "x", now + SIMILAR_FOR + Duration::from_secs(1)), "not much later");
    }

    #[tokio::test(start_paused = true)]
    async fn a_source_can_say_twenty_five_things_and_then_one_in_five_minutes() {
        let (mut events, now) = (Events::default(), Instant::now());
        assert_eq!((0..40).filter(|_| events.allow("s", now)).count(), 25);
        assert!(!events.allow("s", now + Duration::from_secs(200)));
        assert!(events.allow("s", now + Duration::from_secs(301)));
        assert!(events.allow("other", now));
    }
}
