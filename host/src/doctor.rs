//! What stands between the host and its engine, for the operator: can we reach it, who are we, which permissions are
//! missing.
//!
//! No provider takes part. The host asks with its own transport what policy denies to providers (who am I, may I), and it
//! tells the operator what it hides from them: the server's address and why there is no connection.
//!
//! ```no_run
//! use std::time::Duration;
//! use workload_host::transport::{Connection, KubeconfigOptions};
//! use workload_host::{Places, doctor};
//! use workload_policy::{Engine, Grants};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! // What a Manager computes when it loads a provider: `Manager::grants`.
//! let grants = Grants::new(Engine::Kubernetes, ["deployments:*"], ["*"], Places::only(["shop"]))?;
//! let checks = match Connection::from_kubeconfig(KubeconfigOptions::default()) {
//!     Ok(connection) => doctor::examine(&connection, &grants, Duration::from_secs(30)).await,
//!     Err(error) => doctor::unconfigured(&error),
//! };
//! for check in &checks {
//!     println!("{} {}: {}", check.result.word(), check.name.word(), check.message);
//! }
//! # Ok(())
//! # }
//! ```

mod access;
mod advice;
mod credential;
mod engine;

use std::error::Error as StdError;
use std::fmt::Write as _;
use std::time::Duration;

use serde::{Serialize, Serializer};
use workload_policy::{Grants, Places};

use crate::model::FaultKind;
use crate::text::span;
use crate::transport::{ConfigError, Connection, Probe, Trouble, Unreached, Why};

/// Time for each single thing: to resolve, to connect, for an answer. A server in reach answers within a second; who asks
/// for an examination waits in front of it.
const EACH: Duration = Duration::from_secs(10);

/// What was looked at, in the order in which it is: what fails explains what comes after it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum CheckName {
    /// The files, the context and what it names.
    Kubeconfig,
    /// What the context uses and more than one definition exists of. Only there when it is so.
    Definitions,
    /// What we show to the server, and until when it is good.
    Credential,
    /// The server's name has an address.
    Address,
    /// Somebody takes a connection there.
    Connection,
    /// It is the server that the kubeconfig means.
    Tls,
    /// It is a Kubernetes API server.
    Server,
    /// Our clock and the server's.
    Clock,
    /// Whom the server takes us for.
    Identity,
    /// The namespace is there; one check for each.
    Namespace,
    /// Something that the granted operations need is allowed; one check for each.
    Permission,
}

impl CheckName {
    /// All of them.
    pub const ALL: [CheckName; 11] = [
        Self::Kubeconfig,
        Self::Definitions,
        Self::Credential,
        Self::Address,
        Self::Connection,
        Self::Tls,
        Self::Server,
        Self::Clock,
        Self::Identity,
        Self::Namespace,
        Self::Permission,
    ];

    /// As it is written in documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Kubeconfig => "kubeconfig",
            Self::Definitions => "definitions",
            Self::Credential => "credential",
            Self::Address => "address",
            Self::Connection => "connection",
            Self::Tls => "tls",
            Self::Server => "server",
            Self::Clock => "clock",
            Self::Identity => "identity",
            Self::Namespace => "namespace",
            Self::Permission => "permission",
        }
    }
}

/// How a check ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CheckResult {
    /// As it should be.
    Ok,
    /// It works, but whoever wonders about something else should know this.
    Note,
    /// It keeps operations from working: why, and what to do, is in the message.
    Failed,
    /// It was not looked at, or could not be: an earlier one failed, or we may not.
    Skipped,
}

impl CheckResult {
    /// As it is written in documents.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Note => "note",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }
}

impl Serialize for CheckName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Serialize for CheckResult {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

/// One thing that was looked at.
///
/// For the operator: it may hold the server's address, names of the kubeconfig and what the server calls us. It never holds
/// a credential. What the server said is cleaned and cut.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Check {
    /// What.
    #[serde(rename = "check")]
    pub name: CheckName,
    /// How it ended.
    pub result: CheckResult,
    /// What was found and, where it failed, what to do: a sentence for a person.
    pub message: String,
    /// The same for a program, by name; which names there are depends on the check.
    #[serde(serialize_with = "crate::model::as_map")]
    pub detail: Vec<(String, String)>,
    /// Of what failed: how an operation fails by it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fault: Option<FaultKind>,
}

impl Check {
    fn new(name: CheckName, result: CheckResult, message: impl Into<String>) -> Check {
        Check { name, result, message: message.into(), detail: Vec::new(), fault: None }
    }

    fn ok(name: CheckName, message: impl Into<String>) -> Check {
        Check::new(name, CheckResult::Ok, message)
    }

    fn note(name: CheckName, message: impl Into<String>) -> Check {
        Check::new(name, CheckResult::Note, message)
    }

    fn skipped(name: CheckName, message: impl Into<String>) -> Check {
        Check::new(name, CheckResult::Skipped, message)
    }

    fn failed(name: CheckName, fault: FaultKind, message: impl Into<String>) -> Check {
        Check { fault: Some(fault), ..Check::new(name, CheckResult::Failed, message) }
    }

    fn with(mut self, name: &str, value: impl Into<String>) -> Check {
        self.detail.push((name.to_owned(), value.into()));
        self
    }
}

/// What a kubeconfig that gives no connection comes to: one failed check, and the rest skipped.
#[must_use]
pub fn unconfigured(error: &ConfigError) -> Vec<Check> {
    let mut message = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        // Cannot fail: writing to a String.
        let _ = write!(message, ": {cause}");
        source = cause.source();
    }
    let mut examination = Examination { checks: Vec::new(), at: CheckName::Kubeconfig };
    examination.push(Check::failed(CheckName::Kubeconfig, FaultKind::Configuration, message));
    examination.skip_rest();
    examination.checks
}

/// Looks at everything between us and what `grants` allow, and says how it is, in the order of [`CheckName`].
///
/// It sends reads and reviews, of which nothing is stored. It ends within `limit`; what was not looked at by then is
/// skipped. A server that is down or silent costs about ten seconds.
pub async fn examine(connection: &Connection, grants: &Grants, limit: Duration) -> Vec<Check> {
    // So that which of two things takes too long is known before all of the time is over.
    let probe = Probe::new(connection, EACH.min(limit / 2));
    let mut examination = Examination { checks: Vec::new(), at: CheckName::Kubeconfig };
    let ended = tokio::time::timeout(limit, examination.run(&probe, connection, grants)).await;
    if ended.is_err() {
        let message = format!("not known within {}; give it more time", span(limit));
        examination.push(Check::failed(examination.at, FaultKind::Unavailable, message));
    }
    examination.skip_rest();
    examination.checks
}

/// Nothing that comes after can be found out.
struct Stop;

struct Examination {
    checks: Vec<Check>,
    /// What is being looked at.
    at: CheckName,
}

impl Examination {
    async fn run(&mut self, probe: &Probe<'_>, connection: &Connection, grants: &Grants) -> Result<(), Stop> {
        self.kubeconfig(probe, connection);
        self.at = CheckName::Credential;
        self.push(credential::check(&probe.credential().await, probe.origin(), jiff::Timestamp::now()));
        self.at = CheckName::Address;
        let addresses = probe.addresses().await.map_err(|why| self.unreached(probe, &why))?;
        self.push(advice::address(probe, &addresses));
        // One request tells of the connection, of TLS and of the server.
        self.at = CheckName::Connection;
        let version =
            probe.get("/version").await.map_err(|trouble| self.trouble(probe, CheckName::Server, &trouble))?;
        self.connected(probe);
        self.at = CheckName::Server;
        self.continue_with(engine::server(probe, &version))?;
        self.push(engine::clock(version.date_ms, std::time::SystemTime::now()));
        self.at = CheckName::Identity;
        let identity = engine::identity(probe).await.map_err(|trouble| self.trouble(probe, self.at, &trouble))?;
        self.continue_with(identity)?;
        self.at = CheckName::Namespace;
        if let Places::Only(places) = grants.places() {
            for place in places {
                let found = engine::namespace(probe, place).await;
                let found = found.map_err(|trouble| self.trouble(probe, CheckName::Namespace, &trouble))?;
                self.push(found);
            }
        }
        self.at = CheckName::Permission;
        let found = access::permissions(probe, grants).await;
        let found = found.map_err(|trouble| self.trouble(probe, CheckName::Permission, &trouble))?;
        self.checks.extend(found);
        Ok(())
    }

    fn push(&mut self, check: Check) {
        self.checks.push(check);
    }

    /// Unless it failed.
    fn continue_with(&mut self, check: Check) -> Result<(), Stop> {
        let failed = check.result == CheckResult::Failed;
        self.push(check);
        if failed { Err(Stop) } else { Ok(()) }
    }

    /// Of each kind that comes after the last one, that it was not looked at.
    fn skip_rest(&mut self) {
        let last = self.checks.last().map(|check| check.name);
        let rest = CheckName::ALL.into_iter().filter(|name| Some(*name) > last && *name != CheckName::Definitions);
        // All namespaces are no namespace to look at.
        let failed = self.checks.iter().any(|check| check.result == CheckResult::Failed);
        for name in rest.collect::<Vec<_>>() {
            let why =
                if failed { "not looked at, because of the failure above" } else { "there is nothing to look at" };
            self.push(Check::skipped(name, why));
        }
    }

    fn kubeconfig(&mut self, probe: &Probe<'_>, connection: &Connection) {
        let origin = probe.origin();
        let namespace = connection.namespace();
        let files: Vec<String> = origin.files.iter().map(|file| file.display().to_string()).collect();
        let message = match (connection.context(), &origin.cluster) {
            (Some(context), Some(cluster)) => {
                let user = origin.user.as_ref().map_or_else(|| "no user".to_owned(), |user| format!("user {user:?}"));
                let files = files.join(", ");
                format!("context {context:?} of {files}: cluster {cluster:?}, {user}, namespace {namespace:?}")
            }
            _ => format!("none; the service account of this Pod, namespace {namespace:?}"),
        };
        let mut check = Check::ok(CheckName::Kubeconfig, message).with("namespace", namespace);
        let names = [("context", connection.context()), ("cluster", origin.cluster.as_deref())];
        for (name, value) in names.into_iter().chain([("user", origin.user.as_deref())]) {
            if let Some(value) = value {
                check = check.with(name, value);
            }
        }
        if !files.is_empty() {
            check = check.with("files", files.join(", "));
        }
        self.push(check);
        for twice in &origin.twice {
            let (kind, name) = (twice.kind.word(), &twice.name);
            let files: Vec<String> = twice.files.iter().map(|file| file.display().to_string()).collect();
            let times = if files.len() == 2 { "twice".to_owned() } else { format!("{} times", files.len()) };
            let message = format!("{kind} {name} is defined {times}, in {}: the first counts", files.join(" and "));
            self.push(Check::note(CheckName::Definitions, message).with(kind, name).with("files", files.join(", ")));
        }
    }

    /// There was an answer, so there is a connection.
    fn connected(&mut self, probe: &Probe<'_>) {
        self.push(Check::ok(CheckName::Connection, format!("{} takes connections", probe.authority())));
        self.push(advice::verified(probe));
    }

    fn unreached(&mut self, probe: &Probe<'_>, why: &Unreached) -> Stop {
        // What came before it is good, or it would not have come to this.
        let name = advice::check_of(why);
        if name > CheckName::Connection {
            self.push(Check::ok(CheckName::Connection, format!("{} takes connections", probe.authority())));
        }
        if name > CheckName::Tls {
            self.push(advice::verified(probe));
        }
        let message = advice::message(probe, why);
        self.push(Check::failed(name, FaultKind::Unavailable, message).with("class", why.words()));
        Stop
    }

    /// `name` is what was asked for.
    fn trouble(&mut self, probe: &Probe<'_>, name: CheckName, trouble: &Trouble) -> Stop {
        match &trouble.why {
            // What was there before and is not any more is no failure of the check that it belongs to.
            Why::Unreached(why) if name == CheckName::Server => return self.unreached(probe, why),
            Why::Unreached(why) => {
                let message = format!("{}; it was in reach a moment ago", why.words());
                self.push(Check::failed(name, FaultKind::Unavailable, message).with("class", why.words()));
            }
            Why::Answer(cause) => {
                if name == CheckName::Server {
                    self.connected(probe);
                }
                let (fault, message) = advice::no_answer(trouble.failure, cause);
                self.push(Check::failed(name, fault, message).with("class", *cause));
            }
        }
        Stop
    }
}
