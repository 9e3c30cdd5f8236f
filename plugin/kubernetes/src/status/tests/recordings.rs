//! What the controllers of a real cluster wrote, write by write, and what the table says of it.
//! `testdata/README.md` says what is in a recording.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use rstest::rstest;
use serde::Deserialize;
use serde_json::Value;

use super::super::*;
use super::given::{Given, Look, number, word};

#[derive(Deserialize)]
struct Recording {
    about: String,
    server_ms: u64,
    ends: u64,
    answers: Vec<Answered>,
    writes: Vec<Write>,
}

/// When an answer began, its row, status and reason, and whether an older revision serves.
type Answered = (u64, String, String, String, bool);

#[derive(Deserialize)]
#[serde(untagged)]
enum Write {
    Added { t: u64, added: Value },
    Changed { t: u64, changed: String, to: Value },
    Deleted { t: u64, deleted: String },
}

/// How often one looks while nothing is written.
const LOOK_MS: u64 = 1_000;

/// All objects by kind and uid, one of the Deployments, and since when nothing but trouble is seen of it.
#[derive(Default)]
struct Cluster {
    objects: BTreeMap<String, Value>,
    stuck_since: Option<(i64, u64)>,
}

impl Cluster {
    fn apply(&mut self, write: &Write) {
        match write {
            Write::Added { added, .. } => {
                self.objects.insert(uid(added).to_owned(), added.clone());
            }
            Write::Changed { changed, to, .. } => patch(self.objects.get_mut(changed).unwrap(), to),
            Write::Deleted { deleted, .. } => {
                self.objects.remove(deleted).unwrap();
            }
        }
    }

    fn all(&self, kind: &str) -> Vec<Value> {
        self.objects.values().filter(|object| object["kind"] == kind).cloned().collect()
    }

    /// What somebody sees who has been looking all the time.
    fn look(&mut self, name: &str, t: u64, server_ms: u64) -> (String, String, String, bool) {
        let Some(deployment) = self.all("Deployment").into_iter().find(|object| object["metadata"]["name"] == name)
        else {
            self.stuck_since = None;
            return ("2".to_owned(), "missing".to_owned(), "not-found".to_owned(), false);
        };
        let mut look = Look {
            sets: Given::Items(self.all("ReplicaSet")),
            pods: Given::Items(self.all("Pod")),
            ..Look::at(deployment).server_ms(server_ms + t)
        };
        let stuck = look.see(|observed| stuck(observed.deployment));
        self.stuck_since = stuck.map(|generation| match self.stuck_since {
            Some((before, since)) if before == generation => (generation, since),
            _ => (generation, t),
        });
        look.own.stuck_for_ms = self.stuck_since.map_or(0, |(_, since)| t - since);
        let verdict = look.decide();
        assert!(verdict.want == Want::Nothing, "all was read");
        assert!(!verdict.message.is_empty());
        (number(verdict.rule), word(verdict.status).to_owned(), verdict.reason.to_owned(), verdict.serving_old)
    }
}

/// What does not change by waiting, and for which generation: an error that may be left from an earlier one begins anew.
fn stuck(deployment: &Deployment<'_>) -> Option<i64> {
    let error = deployment.condition("Progressing").is_some_and(|it| it.reason == "ReplicaSetCreateError");
    match deployment.status.observed_generation {
        0 => Some(0),
        _ => (error && !deployment.is_observed()).then_some(deployment.metadata.generation),
    }
}

fn uid(object: &Value) -> &str {
    object["metadata"]["uid"].as_str().unwrap()
}

/// RFC 7386.
fn patch(into: &mut Value, from: &Value) {
    let Value::Object(from) = from else {
        *into = from.clone();
        return;
    };
    if !into.is_object() {
        *into = Value::Object(serde_json::Map::new());
    }
    let into = into.as_object_mut().unwrap();
    for (key, value) in from {
        if value.is_null() {
            into.remove(key);
        } else {
            patch(into.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}

impl Write {
    fn t(&self) -> u64 {
        match self {
            Self::Added { t, .. } | Self::Changed { t, .. } | Self::Deleted { t, .. } => *t,
        }
    }
}

fn replay(recording: &Recording) -> Vec<Answered> {
    let name = recording.writes.iter().find_map(|write| match write {
        Write::Added { added, .. } if added["kind"] == "Deployment" => added["metadata"]["name"].as_str(),
        _ => None,
    });
    let mut cluster = Cluster::default();
    let mut answers: Vec<Answered> = Vec::new();
    let mut see = |cluster: &mut Cluster, t: u64| {
        let (row, status, reason, old) = cluster.look(name.unwrap(), t, recording.server_ms);
        let last = answers.last().map(|(_, row, status, reason, old)| (&**row, &**status, &**reason, *old));
        if last != Some((&row, &status, &reason, old)) {
            answers.push((t, row, status, reason, old));
        }
    };
    let mut writes = recording.writes.iter().peekable();
    let mut now = recording.writes[0].t();
    while now <= recording.ends {
        let begun = cluster.objects.values().any(|object| object["kind"] == "Deployment");
        match writes.next_if(|write| write.t() <= now) {
            Some(write) => cluster.apply(write),
            None => now = writes.peek().map_or(recording.ends + 1, |write| write.t()).min(now + LOOK_MS),
        }
        let begins = cluster.objects.values().any(|object| object["kind"] == "Deployment");
        if (begun || begins) && now <= recording.ends {
            see(&mut cluster, now);
        }
    }
    assert!(writes.next().is_none(), "nothing is written after the end");
    answers
}

#[rstest]
fn recordings(#[files("testdata/recordings/*.json")] path: PathBuf) {
    let recording: Recording = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert!(!recording.about.is_empty());
    let answers = replay(&recording);
    assert_eq!(answers, recording.answers);
}
