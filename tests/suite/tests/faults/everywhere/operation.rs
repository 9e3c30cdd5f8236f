//! The operations: what they begin with, how they end well, and what they may leave behind.

use std::time::Duration;

use serde_json::{Value, json};
use workload_host::Report;
use workload_host::model::{OutcomeWord, Status};
use workload_suite::inside::{Inside, outcome};

use crate::class::End;

const APP: &str = "ns/app";

const SECOND: Duration = Duration::from_secs(1);

/// An operation on a workload in a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    Discover,
    Status,
    StatusStopped,
    Create,
    Start,
    StartRunning,
    /// Of one whose controller has given up: what was in the way is gone, and only an edit helps.
    StartGivenUp,
    Stop,
    StopStopped,
    Delete,
}

/// What is there afterwards.
#[derive(Debug)]
pub struct After {
    /// None: there is no Deployment.
    deployment: Option<Value>,
    /// Writes of others than the controllers: by how much its generation grew.
    grown: u64,
    uid: Option<Value>,
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_default()
}

impl Operation {
    /// Makes what it begins with.
    pub async fn prepare(self, inside: &Inside) -> Option<Value> {
        let replicas = match self {
            Operation::Create => return None,
            Operation::StatusStopped | Operation::Start | Operation::StopStopped => 0,
            Operation::StartGivenUp => return Some(given_up(inside).await),
            _ => 1,
        };
        let script = [("start-after", "1s"), ("stop", "1s")];
        inside.make("app", json!({"spec": {"replicas": replicas}}), &script).await;
        if self == Operation::Discover {
            inside.make("off", json!({"spec": {"replicas": 0}}), &script).await;
            inside.cluster().until_settled("off").await;
        }
        Some(inside.cluster().until_settled("app").await)
    }

    /// Runs it to its end.
    pub async fn run(self, inside: &Inside) -> Report {
        match self {
            Operation::Discover => inside.discover(&["ns"]).await,
            Operation::Status | Operation::StatusStopped => inside.status(&[APP]).await,
            Operation::Create => inside.create(&[(APP, json!({"image": "busybox:1"}))]).await,
            Operation::Start | Operation::StartRunning | Operation::StartGivenUp => inside.start(&[APP]).await,
            Operation::Stop | Operation::StopStopped => inside.stop(&[APP]).await,
            Operation::Delete => inside.delete(&[APP]).await,
        }
    }

    /// Whether it waits for something, and so may run out of time.
    pub fn waits(self) -> bool {
        !matches!(self, Operation::Discover | Operation::Status | Operation::StatusStopped)
    }

    /// How it ended.
    pub fn end(self, report: &Report) -> End {
        if self == Operation::Discover {
            return discovered(report);
        }
        let outcome = match outcome(report, APP) {
            Err(fault) => return End::of(fault.kind),
            Ok(outcome) => outcome,
        };
        let changes = match outcome.word {
            OutcomeWord::Read => return read(self, report),
            word => (word, outcome.changed),
        };
        let good = match self {
            Operation::Create => (OutcomeWord::Created, true),
            Operation::Start | Operation::StartGivenUp => (OutcomeWord::Started, true),
            Operation::StartRunning => (OutcomeWord::AlreadyRunning, false),
            Operation::Stop => (OutcomeWord::Stopped, true),
            Operation::StopStopped => (OutcomeWord::AlreadyStopped, false),
            Operation::Delete => (OutcomeWord::Deleted, true),
            Operation::Discover | Operation::Status | Operation::StatusStopped => (OutcomeWord::Read, false),
        };
        if changes == good { End::Good } else { End::Other(format!("{changes:?}")) }
    }

    /// What is there now. `before` is what it began with.
    pub async fn after(self, inside: &Inside, before: Option<Value>) -> After {
        let deployment = inside.cluster().deployment("app");
        let generation = |object: &Option<Value>| object.as_ref().map_or(0, |o| number(&o["metadata"]["generation"]));
        let grown = generation(&deployment).saturating_sub(generation(&before));
        After { grown, uid: before.map(|before| before["metadata"]["uid"].clone()), deployment }
    }

    /// What is wrong with what it left behind. `good`: it ended well. `took_effect`: a write did whose answer was lost.
    /// `refused`: no write ever took effect.
    pub fn wrong_state(self, after: &After, good: bool, took_effect: bool, refused: bool) -> Option<String> {
        let done = match (self, &after.deployment) {
            (Operation::Create, made) => made.is_some(),
            (Operation::Delete, None) => true,
            (_, None) => return Some("the Deployment is gone".to_owned()),
            (_, Some(now)) if after.uid.as_ref() != Some(&now["metadata"]["uid"]) => {
                return Some("there is another Deployment".to_owned());
            }
            (Operation::Delete, Some(now)) => now["metadata"]["deletionTimestamp"].is_string(),
            (Operation::Start | Operation::Stop, Some(now)) => {
                let (from, to) = if self == Operation::Start { (0, 1) } else { (1, 0) };
                match (number(&now["spec"]["replicas"]), after.grown) {
                    (count, 0) if count == from => false,
                    (count, 1) if count == to => true,
                    (count, writes) => return Some(format!("{writes} writes took effect, and {count} is wanted")),
                }
            }
            // The server counts a changed annotation of a Deployment as a new generation.
            (Operation::StartGivenUp, Some(now)) => {
                match (now["metadata"]["annotations"]["workload-provider/nudged"].is_string(), after.grown) {
                    (nudged, writes) if u64::from(nudged) == writes => nudged,
                    (_, writes) => return Some(format!("{writes} writes took effect")),
                }
            }
            (_, Some(_)) if after.grown > 0 => return Some("it was written to".to_owned()),
            (_, Some(_)) => return None,
        };
        match (good, took_effect, refused) {
            (true, _, _) | (_, true, _) if !done => Some("nothing was done".to_owned()),
            (_, _, true) if done => Some("something was done".to_owned()),
            _ => None,
        }
    }
}

/// A quota kept its ReplicaSet from being made for so long that the controller tries no more, and was lifted then.
async fn given_up(inside: &Inside) -> Value {
    const QUOTAS: &str = "/api/v1/namespaces/ns/resourcequotas";
    let hard = json!({"count/replicasets.apps": "0"});
    let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "q"}, "spec": {"hard": hard}});
    let cluster = inside.cluster();
    cluster.ask("POST", QUOTAS, "application/json", &quota).await;
    tokio::time::sleep(SECOND).await;
    inside.make("app", json!({}), &[("start-after", "1s"), ("stop", "1s")]).await;
    let failed = |now: &Value| {
        let conditions = now["status"]["conditions"].as_array().cloned().unwrap_or_default();
        conditions.iter().any(|condition| condition["reason"] == "ReplicaSetCreateError")
    };
    cluster.until("app", failed).await;
    tokio::time::sleep(200 * SECOND).await;
    cluster.ask("DELETE", &format!("{QUOTAS}/q"), "application/json", &Value::Null).await;
    cluster.deployment("app").expect("it was made")
}

fn discovered(report: &Report) -> End {
    if let Some((_, fault)) = report.incomplete.first() {
        return End::of(fault.kind);
    }
    let unknown = report.emitted.iter().find(|workload| workload.status == Status::Unknown);
    if let Some(workload) = unknown {
        return End::unknown(&workload.reason);
    }
    let mut found: Vec<_> = report.emitted.iter().map(|w| format!("{} {} {}", w.id, w.status, w.reason)).collect();
    found.sort();
    match found.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["ns/app running available", "ns/off offline stopped" | "ns/off offline stopped-unverified"]
            if report.fault.is_none() =>
        {
            End::Good
        }
        _ => End::Other(format!("{found:?} {:?}", report.fault)),
    }
}

fn read(operation: Operation, report: &Report) -> End {
    let outcome = outcome(report, APP).expect("it was read");
    let Some(workload) = &outcome.workload else { return End::Other("nothing was read".to_owned()) };
    let good = if operation == Operation::Status {
        &[(Status::Running, "available")][..]
    } else {
        &[(Status::Offline, "stopped"), (Status::Offline, "stopped-unverified")]
    };
    match workload.status {
        Status::Unknown => End::unknown(&workload.reason),
        status if good.contains(&(status, workload.reason.as_str())) => End::Good,
        status => End::Other(format!("{status} {}", workload.reason)),
    }
}
