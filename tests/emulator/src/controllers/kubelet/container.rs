//! One container: what runs, what ran before, and when the next thing happens to it.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::{FIRST_BACK_OFF, LAST_BACK_OFF, NOTICED_AFTER, Stopping};
use crate::clock::{Clock, seconds};
use crate::controllers::fields::{list, text};
use crate::script::{Readiness, Script, Stop};

/// What a container is in its Pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// It has to end well before the next one begins.
    Init,
    /// It begins among those, and runs on.
    Sidecar,
    /// One of those that the Pod is for.
    Main,
}

/// A container.
#[derive(Debug, Clone)]
pub(super) struct Container {
    /// Its name.
    pub name: String,
    /// Its image.
    pub image: String,
    /// Whether its image may be pulled.
    pub never_pull: bool,
    /// What it is in its Pod.
    pub role: Role,
    /// What there is of it now.
    pub run: Run,
    /// Why it doesn't run, from the last try to start it.
    pub waiting: Option<(&'static str, String)>,
    /// How it ended before.
    pub last: Option<Ended>,
    /// How often it was started again.
    pub restarts: i64,
    /// The pause before its next start.
    pub back_off: BackOff,
    /// The pause before its image is pulled again.
    pub pull: BackOff,
    /// When that failed last.
    pub pull_failed: Option<Instant>,
    /// Its image is on the node.
    pub pulled: bool,
    /// How the last pull failed.
    pub pull_error: String,
}

/// What there is of a container.
#[derive(Debug, Clone)]
pub(super) enum Run {
    /// Nothing.
    Nothing,
    /// It begins at this time.
    Starting(Instant),
    /// It runs since then.
    Running(Instant, String),
    /// It ended.
    Ended(Ended),
}

/// How a container ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ended {
    /// Its code.
    pub code: i64,
    /// The word for it.
    pub reason: &'static str,
    /// The sentence, if there is one.
    pub message: Option<String>,
    /// When it began and when it ended; none if nobody knows.
    pub times: Option<(String, String)>,
    /// Which of its runs it was.
    pub run: i64,
    /// When it ended.
    pub at: Instant,
}

/// A pause that doubles each time it is begun.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BackOff(Option<Duration>);

impl BackOff {
    /// Whether the pause that began at a moment still goes on.
    pub fn holds(self, since: Instant, now: Instant) -> bool {
        self.0.is_some_and(|pause| now < since + pause)
    }

    /// How long the pause is.
    pub fn pause(self) -> Duration {
        self.0.unwrap_or_default()
    }

    /// Makes the next pause longer.
    pub fn grow(&mut self) {
        self.0 = Some(self.0.map_or(FIRST_BACK_OFF, |pause| (pause * 2).min(LAST_BACK_OFF)));
    }
}

/// The containers of a Pod, as its spec has them.
pub(super) fn all_of(pod: &Value) -> Vec<Container> {
    let init = list(pod, "/spec/initContainers").iter().map(|spec| {
        let sidecar = text(spec, "/restartPolicy") == "Always";
        Container::of(spec, if sidecar { Role::Sidecar } else { Role::Init })
    });
    init.chain(list(pod, "/spec/containers").iter().map(|spec| Container::of(spec, Role::Main))).collect()
}

impl Container {
    fn of(spec: &Value, role: Role) -> Container {
        Container {
            name: text(spec, "/name").to_owned(),
            image: text(spec, "/image").to_owned(),
            never_pull: text(spec, "/imagePullPolicy") == "Never",
            role,
            run: Run::Nothing,
            waiting: None,
            last: None,
            restarts: 0,
            back_off: BackOff::default(),
            pull: BackOff::default(),
            pull_failed: None,
            pulled: false,
            pull_error: String::new(),
        }
    }

    /// Whether it runs.
    pub fn runs(&self) -> bool {
        matches!(self.run, Run::Running(..))
    }

    /// How it ended, if it did.
    pub fn ended(&self) -> Option<&Ended> {
        if let Run::Ended(ended) = &self.run { Some(ended) } else { None }
    }

    /// Whether it is one that had to end well, and did.
    pub fn is_done(&self) -> bool {
        self.role == Role::Init && self.ended().is_some_and(|ended| ended.code == 0)
    }

    /// Lets time pass.
    pub fn advance(&mut self, script: &Script, stopping: Option<&Stopping>, now: Instant, clock: &Clock) {
        if let Run::Starting(at) = self.run
            && at <= now
        {
            self.run = Run::Running(at, seconds(wall(clock, at)));
        }
        if let Run::Running(since, began) = &self.run
            && let Some((at, code, reason)) = self.end(*since, script, stopping)
            && at <= now
        {
            let times = Some((began.clone(), seconds(wall(clock, at))));
            self.run = Run::Ended(Ended { code, reason, message: None, times, run: self.restarts, at });
        }
    }

    /// When and how it ends, as far as is known now.
    fn end(
        &self,
        since: Instant,
        script: &Script,
        stopping: Option<&Stopping>,
    ) -> Option<(Instant, i64, &'static str)> {
        let word = |code: i64| if code == 0 { "Completed" } else { "Error" };
        let crashes = script.crashes.is_none_or(|crashes| self.restarts < crashes);
        let itself = script.exit_after.filter(|_| crashes || self.role == Role::Init).map(|after| {
            let code = if crashes { script.exit_code } else { 0 };
            (since + after, code, if script.oom && crashes { "OOMKilled" } else { word(code) })
        });
        let stopped = stopping.and_then(|stopping| {
            let term = stopping.term.max(since);
            match script.stop {
                Stop::After(after) if term + after <= stopping.kill => {
                    Some((term + after, script.stop_code, word(script.stop_code)))
                }
                Stop::After(_) | Stop::Ignored => Some((stopping.kill.max(term), 137, "Error")),
                Stop::Hold => None,
            }
        });
        itself.into_iter().chain(stopped).min()
    }

    /// When its kubelet sees the next thing that happens to it by itself.
    pub fn next(&self, script: &Script, stopping: Option<&Stopping>, now: Instant) -> Option<Instant> {
        match &self.run {
            // One that ends at once is only seen when it has ended.
            Run::Starting(at) => Some(*at + NOTICED_AFTER),
            Run::Running(since, _) => {
                let end = self.end(*since, script, stopping).map(|(at, ..)| at + NOTICED_AFTER);
                end.into_iter().chain(next_probe(*since, script, now)).min()
            }
            _ => None,
        }
    }

    /// Whether it is ready.
    pub fn is_ready(&self, script: &Script, now: Instant) -> bool {
        let Run::Running(since, _) = self.run else { return false };
        let passed = now.saturating_duration_since(since);
        let ready = match script.readiness {
            Readiness::Yes => true,
            Readiness::No => false,
            Readiness::Flaps(each) => {
                let turns = passed.saturating_sub(script.ready_after).as_millis() / each.as_millis().max(1);
                turns.is_multiple_of(2)
            }
        };
        passed >= script.ready_after && ready
    }

    /// Its id, which differs for each of its runs.
    pub fn id(&self, pod: &str, run: i64) -> String {
        let hash = Sha256::new().chain_update(format!("{pod}/{}/{run}", self.name)).finalize();
        format!("containerd://{}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
    }

    /// The id of its image.
    pub fn image_id(&self) -> String {
        image_id(&self.image)
    }
}

/// The id of an image.
pub(super) fn image_id(image: &str) -> String {
    let hash = Sha256::digest(image);
    format!("sha256:{}", hash.iter().map(|byte| format!("{byte:02x}")).collect::<String>())
}

impl Ended {
    /// As it stands in a status.
    pub fn value(&self, id: Option<&str>) -> Value {
        let mut value = json!({"exitCode": self.code, "reason": self.reason});
        if let Some(map) = value.as_object_mut() {
            let (began, ended) = match &self.times {
                Some((began, ended)) => (Value::from(began.as_str()), Value::from(ended.as_str())),
                None => (Value::Null, Value::Null),
            };
            map.insert("startedAt".to_owned(), began);
            map.insert("finishedAt".to_owned(), ended);
            if let Some(message) = &self.message {
                map.insert("message".to_owned(), message.as_str().into());
            }
            if let Some(id) = id {
                map.insert("containerID".to_owned(), id.into());
            }
        }
        value
    }
}

/// When a probe next says something else.
fn next_probe(since: Instant, script: &Script, now: Instant) -> Option<Instant> {
    let first = since + script.ready_after;
    match script.readiness {
        Readiness::Yes | Readiness::Flaps(_) if now < first => Some(first),
        Readiness::Flaps(each) => {
            let passed = now.saturating_duration_since(first).as_millis() / each.as_millis().max(1);
            Some(first + each * u32::try_from(passed).unwrap_or(u32::MAX).saturating_add(1))
        }
        _ => None,
    }
}

fn wall(clock: &Clock, at: Instant) -> Timestamp {
    clock.wall() - clock.now().saturating_duration_since(at)
}
