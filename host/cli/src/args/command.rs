//! The commands and the options of each.

use std::path::PathBuf;
use std::time::Duration;

use clap::{ArgAction, Args, Subcommand, ValueEnum, ValueHint};
use clap_complete::Shell;

use super::help;
use crate::duration::settle_time;

// By name: of a group clap would list every member, not only those that were given.
const FIELDS: [&str; 12] = [
    "name",
    "image",
    "cpu",
    "memory",
    "env",
    "command",
    "args",
    "replicas",
    "pull_policy",
    "pull_secret",
    "container_id",
    "command_line",
];

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// List every workload of this owner, in one namespace or in all
    List(List),
    /// The state of workloads, read now
    Status(Status),
    /// Why a workload is in its state: the rule, the evidence, the last events, and what would have to change
    Explain(Explain),
    /// Make a workload, which begins to run (not with --replicas 0); it is not waited for
    Create(Box<Create>),
    /// Make workloads run, and wait until they do
    Start(Start),
    /// Stop workloads, and wait until nothing of them runs
    Stop(Stop),
    /// Delete workloads, and wait until they are gone
    Delete(Delete),
    /// Can the engine be reached, who are we there, which permissions are missing
    Doctor(Doctor),
    /// The smallest role that the commands need, as YAML
    Rbac(Rbac),
    /// The provider components themselves
    #[command(subcommand)]
    Provider(Provider),
    /// A script that lets a shell complete commands, options and their values
    Completion(Completion),
}

impl Command {
    /// Its answer can have the Manager's form: it is about workloads and nothing that a snapshot cannot say. That of
    /// `doctor` has but one form for programs.
    pub fn has_snapshots(&self) -> bool {
        match self {
            Command::List(_) | Command::Status(_) | Command::Doctor(_) => true,
            Command::Create(create) => !create.plan,
            Command::Start(start) => !start.plan,
            Command::Stop(stop) => !stop.plan,
            Command::Delete(delete) => !delete.plan,
            _ => false,
        }
    }

    /// It looks into all namespaces, so that none can be named. That of `rbac` is where the service account is to be.
    pub fn is_everywhere(&self) -> bool {
        match self {
            Command::List(list) => list.all_namespaces,
            Command::Doctor(doctor) => doctor.all_namespaces,
            _ => false,
        }
    }
}

/// `list`
#[derive(Debug, Args)]
#[command(after_help = help::list())]
pub struct List {
    /// In all namespaces, not only one
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// Go on, and print each change until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// `status`
#[derive(Debug, Args)]
#[command(after_help = help::status())]
pub struct Status {
    /// The workloads.
    #[command(flatten)]
    pub ids: Ids,
    /// Go on, and print each change until Ctrl-C
    #[arg(long)]
    pub watch: bool,
}

/// `explain`
#[derive(Debug, Args)]
#[command(after_help = help::explain())]
pub struct Explain {
    /// NAMESPACE/NAME, or a NAME in the namespace of -n, else of the context
    #[arg(value_name = "ID")]
    pub id: String,
}

/// The workloads meant.
#[derive(Debug, Args)]
pub struct Ids {
    /// NAMESPACE/NAME, or a NAME in the namespace of -n, else of the context
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

/// `create`
#[derive(Debug, Args)]
#[command(after_help = help::create(), override_usage = help::CREATE_USAGE)]
pub struct Create {
    /// NAMESPACE/NAME, or a NAME in the namespace of -n, else of the context
    #[arg(required_unless_present = "file", requires = "image")]
    pub name: Option<String>,
    /// Read what to make from a JSON file, `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with_all = FIELDS, value_hint = ValueHint::FilePath)]
    pub file: Option<PathBuf>,
    /// What to make, field by field.
    #[command(flatten)]
    pub fields: Fields,
    /// Print what would be sent, and write nothing
    #[arg(long)]
    pub plan: bool,
}

/// A workload described by options.
#[derive(Debug, Clone, Default, Args)]
pub struct Fields {
    /// The image to run
    #[arg(long)]
    pub image: Option<String>,
    /// CPU it gets, such as 500m or 2
    #[arg(long, value_name = "QUANTITY")]
    pub cpu: Option<String>,
    /// Memory it gets, such as 256Mi
    #[arg(long, value_name = "QUANTITY")]
    pub memory: Option<String>,
    /// An environment variable; may be repeated
    #[arg(long, value_name = "NAME=VALUE", action = ArgAction::Append)]
    pub env: Vec<String>,
    // Words with a hyphen are not taken without `--`: `--plan` or `-n` after a command would become a part of it.
    /// The command to run instead of the image's; from the first word with a hyphen in front on, words go after `--`
    #[arg(long, value_name = "WORD", num_args = 1..)]
    pub command: Vec<String>,
    /// The arguments of the command; a word that begins with a hyphen as --args=-x
    #[arg(long, value_name = "WORD", num_args = 1..)]
    pub args: Vec<String>,
    /// How many replicas are made to run; with 0 none runs before `workload start` [default: 1]
    #[arg(long, value_name = "N", allow_negative_numbers = true)]
    pub replicas: Option<u32>,
    /// When to pull the image: Always, IfNotPresent or Never
    #[arg(long, value_name = "POLICY")]
    pub pull_policy: Option<String>,
    /// The name of a secret to pull the image with; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append)]
    pub pull_secret: Vec<String>,
    /// The Manager's own id of this workload, for the id label
    #[arg(long, value_name = "ID")]
    pub container_id: Option<String>,
    /// The command to run instead of the image's, word by word, after `--`; it goes on that of --command
    #[arg(last = true, value_name = "COMMAND")]
    pub command_line: Vec<String>,
}

/// `start`
#[derive(Debug, Args)]
#[command(after_help = help::start())]
pub struct Start {
    /// The workloads.
    #[command(flatten)]
    pub ids: Ids,
    /// How long a workload must have been available, such as 1s [default: the provider's, 1s for Kubernetes]
    #[arg(long, value_name = "TIME", value_parser = settle_time)]
    pub settle: Option<Duration>,
    /// Print what would be sent, and write nothing
    #[arg(long)]
    pub plan: bool,
}

/// `stop`
#[derive(Debug, Args)]
#[command(after_help = help::stop())]
pub struct Stop {
    /// The workloads.
    #[command(flatten)]
    pub ids: Ids,
    /// Why it is stopped; makes a difference for some providers only
    #[arg(long, default_value = "preserve")]
    pub intent: Intent,
    /// Print what would be sent, and write nothing
    #[arg(long)]
    pub plan: bool,
}

/// `delete`
#[derive(Debug, Args)]
#[command(after_help = help::delete())]
pub struct Delete {
    /// The workloads.
    #[command(flatten)]
    pub ids: Ids,
    /// Why it is deleted; makes a difference for some providers only
    #[arg(long, default_value = "terminal")]
    pub intent: Intent,
    /// Print what would be sent, and write nothing
    #[arg(long)]
    pub plan: bool,
}

/// Why something is stopped or deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Intent {
    /// It is to be started again
    Preserve,
    /// It failed and may be recovered
    RecoverableFailure,
    /// It was just made and is taken back
    RollbackFresh,
    /// It is not needed any more
    Terminal,
    /// Whatever holds it back
    Forced,
}

/// `doctor`
#[derive(Debug, Args)]
#[command(after_help = help::doctor())]
pub struct Doctor {
    /// Permissions in all namespaces, not only in one
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
}

/// `rbac`
#[derive(Debug, Args)]
#[command(after_help = help::rbac())]
pub struct Rbac {
    /// For all namespaces: a ClusterRole; -n is then where the service account of the default is
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
    /// A user who gets it; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append, value_parser = name_of_subject)]
    pub user: Vec<String>,
    /// A group whose members get it; may be repeated
    #[arg(long, value_name = "NAME", action = ArgAction::Append, value_parser = name_of_subject)]
    pub group: Vec<String>,
    /// A service account that gets it; may be repeated [default: workload, in the namespace of -n]
    #[arg(long, value_name = "NS:NAME", action = ArgAction::Append, value_parser = service_account)]
    pub service_account: Vec<ServiceAccount>,
}

/// A service account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServiceAccount {
    /// Where it is.
    pub namespace: String,
    /// What it is called.
    pub name: String,
}

/// A user or a group is called what the authentication of a cluster makes of it. It is printed as it is, so it is to be
/// what it looks like.
fn name_of_subject(text: &str) -> Result<String, String> {
    if text.is_empty() || crate::output::table::plain(text) != text {
        return Err("a name has at least one character, and none that cannot be seen".to_owned());
    }
    Ok(text.to_owned())
}

fn service_account(text: &str) -> Result<ServiceAccount, String> {
    let is_name = |name: &str| name.len() <= 253 && name.split('.').all(crate::ids::is_place);
    let parts = text.split_once(':').filter(|(namespace, name)| crate::ids::is_place(namespace) && is_name(name));
    let found =
        parts.map(|(namespace, name)| ServiceAccount { namespace: namespace.to_owned(), name: name.to_owned() });
    found
        .ok_or_else(|| "a service account is NAMESPACE:NAME, both of lower-case letters, digits and hyphens".to_owned())
}

/// `provider`
#[derive(Debug, Subcommand)]
pub enum Provider {
    /// The providers that this command would use
    #[command(after_help = help::provider_list())]
    List,
    /// What a component says of itself: name, version, what it asks for, the schema of its specs
    #[command(after_help = help::provider_inspect())]
    Inspect {
        /// The component
        #[arg(value_hint = ValueHint::FilePath)]
        file: PathBuf,
    },
}

/// `completion`
#[derive(Debug, Args)]
#[command(after_help = help::completion())]
pub struct Completion {
    /// The shell that is to read it
    pub shell: Shell,
}
