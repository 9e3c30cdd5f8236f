//! `v1` Event: what was done about an object, and what went wrong.

use serde::Deserialize;

use super::text::Text;
use super::{Meta, Object};

/// An Event. Two generations of reporters write it: the older one counts in `count` and stamps `lastTimestamp`, the newer
/// one counts in `series` and stamps `eventTime`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", bound(deserialize = "'de: 'a"))]
pub struct Report<'a> {
    kind: Option<Text<'a>>,
    api_version: Option<Text<'a>>,
    /// Who it is.
    #[serde(default, deserialize_with = "super::nullable")]
    pub metadata: Meta<'a>,
    /// What it is about.
    #[serde(default, deserialize_with = "super::nullable")]
    pub involved_object: Involved<'a>,
    /// Normal or Warning.
    #[serde(default, rename = "type")]
    pub severity: Text<'a>,
    /// One word.
    #[serde(default)]
    pub reason: Text<'a>,
    /// For a person.
    #[serde(default)]
    pub message: Text<'a>,
    #[serde(default, deserialize_with = "super::nullable")]
    count: u64,
    first_timestamp: Option<Text<'a>>,
    last_timestamp: Option<Text<'a>>,
    event_time: Option<Text<'a>>,
    series: Option<Series<'a>>,
}

impl<'a> Object<'a> for Report<'a> {
    const KIND: &'static str = "Event";
    const API_VERSION: &'static str = "v1";

    fn identity(&self) -> (Option<&str>, Option<&str>, &Meta<'a>) {
        (self.kind.as_deref(), self.api_version.as_deref(), &self.metadata)
    }
}

impl Report<'_> {
    /// How often it happened.
    #[must_use]
    pub fn times(&self) -> u64 {
        self.series.as_ref().map_or(0, |series| series.count).max(self.count).max(1)
    }

    /// When it last happened, as it was written.
    #[must_use]
    pub fn last(&self) -> &str {
        let series = self.series.as_ref().and_then(|series| series.last_observed_time.as_ref());
        let stamps = [series, self.last_timestamp.as_ref(), self.event_time.as_ref(), self.first_timestamp.as_ref()];
        let mut stamps = stamps.into_iter().flatten().chain(self.metadata.creation_timestamp.as_ref());
        stamps.find(|stamp| !stamp.is_empty()).map_or("", |stamp| stamp)
    }
}

/// What an Event is about.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, bound(deserialize = "'de: 'a"))]
pub struct Involved<'a> {
    /// Its kind.
    pub kind: Text<'a>,
    /// Its name.
    pub name: Text<'a>,
    /// Its uid.
    pub uid: Text<'a>,
}

#[derive(Debug, Clone, Default, Deserialize)]
#[serde(rename_all = "camelCase", default, bound(deserialize = "'de: 'a"))]
struct Series<'a> {
    #[serde(deserialize_with = "super::nullable")]
    count: u64,
    last_observed_time: Option<Text<'a>>,
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::{Value, json};

    use super::*;

    fn event(over: &Value) -> Value {
        let mut event = json!({
            "metadata": {"name": "web.1", "namespace": "default", "uid": "e1", "creationTimestamp": "2026-01-01T00:00:00Z"},
            "involvedObject": {"kind": "Pod", "name": "web-1-a", "uid": "p1"},
            "type": "Warning", "reason": "BackOff", "message": "m",
        });
        event.as_object_mut().unwrap().extend(over.as_object().unwrap().clone());
        event
    }

    #[rstest]
    #[case::older(
        json!({"count": 3, "firstTimestamp": "2026-01-01T00:00:01Z", "lastTimestamp": "2026-01-01T00:00:02Z", "eventTime": null}),
        3, "2026-01-01T00:00:02Z"
    )]
    #[case::newer(
        json!({"eventTime": "2026-01-01T00:00:03.000001Z", "firstTimestamp": null, "lastTimestamp": null}),
        1, "2026-01-01T00:00:03.000001Z"
    )]
    #[case::newer_and_often(
        json!({"eventTime": "2026-01-01T00:00:03.000001Z", "lastTimestamp": null,
            "series": {"count": 12, "lastObservedTime": "2026-01-01T00:09:00.000000Z"}}),
        12, "2026-01-01T00:09:00.000000Z"
    )]
    #[case::bare(json!({}), 1, "2026-01-01T00:00:00Z")]
    fn both_generations_are_read(#[case] over: Value, #[case] times: u64, #[case] last: &str) {
        let text = event(&over).to_string();
        let report = Report::decode_item(text.as_bytes()).unwrap();
        assert_eq!((report.times(), report.last()), (times, last));
    }
}
