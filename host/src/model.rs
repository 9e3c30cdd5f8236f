//! The one internal model: what every served version of the world is translated to.
//!
//! Texts here were cleaned of control characters and bounded ([`crate::text`]) when they came from a provider; ids of
//! results are exactly those that were asked for. The fixed words serialise as in the world, in kebab case; fields in
//! snake case.

mod event;
mod http;

pub use event::{Event, Planned, PlannedRequest, Report, Settled};
pub use http::{Failure, Media, Method};

use serde::ser::SerializeMap as _;
use serde::{Serialize, Serializer};

/// Where a workload is in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// It serves, perhaps with fewer replicas than wanted.
    Running,
    /// It is stopped, or stopping.
    Offline,
    /// It is on its way to running.
    Creating,
    /// It cannot come to run by itself.
    Failed,
    /// There is no such object, or it is not ours: needs a proper "not found".
    Missing,
    /// The engine gave no usable answer.
    Unknown,
}

impl Status {
    /// The fixed word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Status::Running => "running",
            Status::Offline => "offline",
            Status::Creating => "creating",
            Status::Failed => "failed",
            Status::Missing => "missing",
            Status::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// What is kept of a workload that can be recovered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Retention {
    /// It is in use.
    Active,
    /// It is kept for recovery.
    Retained,
    /// It is being removed.
    Terminating,
    /// Nothing is left.
    Gone,
}

/// A workload as a provider describes it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Workload {
    /// Stable over the workload's whole life, e.g. `namespace/name`.
    pub id: String,
    /// Its name within its place.
    pub name: String,
    /// The engine's own word: `Deployment`, `Pod`, `Container`.
    pub kind: String,
    /// Where it is in its life.
    pub status: Status,
    /// From the fixed list of reasons, e.g. `available`.
    pub reason: String,
    /// One sentence for a person.
    pub message: Option<String>,
    /// False while the engine is still moving to what was asked.
    pub settled: bool,
    /// An older revision answers while the newest does not.
    pub serving_old: bool,
    /// Replicas wanted.
    pub desired: u32,
    /// Replicas that can serve now.
    pub available: u32,
    /// The image of its first container.
    pub image: Option<String>,
    /// Where it runs.
    pub node: Option<String>,
    /// Where it listens.
    pub address: Option<String>,
    /// RFC 3339, as the engine wrote it.
    pub created: Option<String>,
    /// The owner in its labels.
    pub owner: Option<String>,
    /// The engine's own identity of this very object.
    pub uid: Option<String>,
    /// For a workload that can be recovered.
    pub retention: Option<Retention>,
    /// The name of the rule that gave the status.
    pub rule: String,
    /// The evidence, as name and value; in JSON an object.
    #[serde(serialize_with = "as_map")]
    pub facts: Vec<(String, String)>,
}

/// Why a workload is stopped or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum StopIntent {
    /// Keep what can be recovered.
    Preserve,
    /// It failed in a way that can be recovered.
    RecoverableFailure,
    /// A fresh one was just made and is to be undone.
    RollbackFresh,
    /// It is never wanted again.
    Terminal,
    /// Without waiting for grace.
    Forced,
}

/// What kind of fault: the provider's own kinds and three of the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// No such object.
    NotFound,
    /// The engine does not know who we are.
    Unauthorized,
    /// The engine knows and says no.
    Forbidden,
    /// No connection, no usable answer, or throttled.
    Unavailable,
    /// The time of the operation ran out.
    Timeout,
    /// The engine gave up on the rollout, or nothing but a change can repair it.
    RolloutFailed,
    /// Not an id, before any request.
    InvalidId,
    /// Not a spec, before any request.
    InvalidSpec,
    /// Somebody else changed it meanwhile, or it exists already.
    Conflict,
    /// A stop or delete of the same workload took over.
    Superseded,
    /// There is one, but it is not ours.
    NotOwned,
    /// The host's policy said no.
    Denied,
    /// The engine's answer makes no sense.
    Malformed,
    /// The provider, or this host, does not do that.
    Unsupported,
    /// The caller took it back.
    Cancelled,
    /// The provider broke a rule of the sandbox; the detail `cause` is `trap`, `limit` or `protocol`.
    ProviderFault,
    /// The host's own configuration is wrong.
    Configuration,
    /// The host failed; never a provider's doing.
    Internal,
}

impl FaultKind {
    /// The fixed word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FaultKind::NotFound => "not-found",
            FaultKind::Unauthorized => "unauthorized",
            FaultKind::Forbidden => "forbidden",
            FaultKind::Unavailable => "unavailable",
            FaultKind::Timeout => "timeout",
            FaultKind::RolloutFailed => "rollout-failed",
            FaultKind::InvalidId => "invalid-id",
            FaultKind::InvalidSpec => "invalid-spec",
            FaultKind::Conflict => "conflict",
            FaultKind::Superseded => "superseded",
            FaultKind::NotOwned => "not-owned",
            FaultKind::Denied => "denied",
            FaultKind::Malformed => "malformed",
            FaultKind::Unsupported => "unsupported",
            FaultKind::Cancelled => "cancelled",
            FaultKind::ProviderFault => "provider-fault",
            FaultKind::Configuration => "configuration",
            FaultKind::Internal => "internal",
        }
    }
}

impl std::fmt::Display for FaultKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// Why something did not end well.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fault {
    /// What kind.
    pub kind: FaultKind,
    /// One sentence for a person: what failed and, where known, the last cause.
    pub message: String,
    /// Names and values that a program or a person may want; in JSON an object.
    #[serde(serialize_with = "as_map")]
    pub detail: Vec<(String, String)>,
}

impl Fault {
    /// A fault without details.
    #[must_use]
    pub fn new(kind: FaultKind, message: impl Into<String>) -> Fault {
        Fault { kind, message: message.into(), detail: Vec::new() }
    }

    /// The same with one more detail.
    #[must_use]
    pub fn with(mut self, name: &str, value: impl Into<String>) -> Fault {
        self.detail.push((name.to_owned(), value.into()));
        self
    }
}

impl std::fmt::Display for Fault {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.kind, self.message)
    }
}

/// How an id ended well.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutcomeWord {
    /// Made, and known to be ours.
    Created,
    /// It runs now.
    Started,
    /// It ran at the first read.
    AlreadyRunning,
    /// Nothing of it runs now.
    Stopped,
    /// Nothing of it ran at the first read.
    AlreadyStopped,
    /// It is gone now.
    Deleted,
    /// There was none at the first read.
    AlreadyGone,
    /// Its status was read.
    Read,
}

impl OutcomeWord {
    /// The fixed word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            OutcomeWord::Created => "created",
            OutcomeWord::Started => "started",
            OutcomeWord::AlreadyRunning => "already-running",
            OutcomeWord::Stopped => "stopped",
            OutcomeWord::AlreadyStopped => "already-stopped",
            OutcomeWord::Deleted => "deleted",
            OutcomeWord::AlreadyGone => "already-gone",
            OutcomeWord::Read => "read",
        }
    }
}

impl std::fmt::Display for OutcomeWord {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.word())
    }
}

/// How an id ended well, and what was last seen of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// How.
    #[serde(rename = "outcome")]
    pub word: OutcomeWord,
    /// A write took effect.
    pub changed: bool,
    /// As last seen.
    pub workload: Option<Workload>,
}

/// What is to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spec {
    /// The id it is to have.
    pub id: String,
    /// A JSON document of the provider's own schema.
    pub document: String,
    /// The value of the id label, where the caller has its own; otherwise the provider makes it from the id.
    pub id_label: Option<String>,
}

/// What a provider says of itself. A wish, never a right.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Descriptor {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The kind of engine it speaks to, e.g. `kubernetes`.
    pub engine: String,
    /// What it would like to be allowed, in the words of the catalogue.
    pub asks: Vec<String>,
    /// JSON Schema of a spec's document, as text.
    pub spec_schema: String,
    /// The version of the world that it speaks, e.g. `0.1`.
    pub world: &'static str,
}

/// How what is ours is told from what is not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ownership {
    /// The owner's name.
    pub owner: String,
    /// Labels, as key and value: all of them mark what is ours, with exactly these values.
    pub labels: Vec<(String, String)>,
    /// The key of the label that carries the id; it proves nothing.
    pub id_key: String,
}

impl Ownership {
    /// The usual labels of an owner, whose keys have this prefix: `<prefix>/managed=true` and `<prefix>/owner=<owner>`,
    /// and `<prefix>/id` as the key of the id.
    ///
    /// ```
    /// let ownership = workload_host::model::Ownership::new("example.org", "team-a");
    /// let label = |key: &str, value: &str| (key.to_owned(), value.to_owned());
    /// let labels = [label("example.org/managed", "true"), label("example.org/owner", "team-a")];
    /// assert_eq!((ownership.owner.as_str(), &ownership.labels[..]), ("team-a", &labels[..]));
    /// assert_eq!(ownership.id_key, "example.org/id");
    /// ```
    #[must_use]
    pub fn new(prefix: &str, owner: &str) -> Ownership {
        let key = |name: &str| format!("{prefix}/{name}");
        let labels = vec![(key("managed"), "true".to_owned()), (key("owner"), owner.to_owned())];
        Ownership { owner: owner.to_owned(), labels, id_key: key("id") }
    }
}

/// Serialises names and values as an object. Of a name that comes twice the first counts.
pub(crate) fn as_map<S: Serializer>(pairs: &[(String, String)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    for (at, (name, value)) in pairs.iter().enumerate() {
        if !pairs.iter().take(at).any(|(earlier, _)| earlier == name) {
            map.serialize_entry(name, value)?;
        }
    }
    map.end()
}
