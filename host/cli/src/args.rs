//! What can be typed: the commands, their options and their help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::{ArgAction, Args, ColorChoice, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

use crate::duration::{settle_time, timeout};
use crate::ownership;

// Lines of at most 78 characters: clap wraps longer ones on a terminal of 80 columns.
const EXAMPLES: &str = "\
Examples:
  workload create web --image nginx:1.29 --cpu 100m --memory 64Mi
  workload start web                    wait until it runs
  workload stop web api batch/nightly   several at once, in two namespaces
  workload list -A -o json
  workload delete web --plan            print what would be sent, write nothing

Exit codes: 0 ok, 1 other, 2 usage or configuration, 3 not found,
4 unauthorized, 5 forbidden, 6 unavailable, 7 timeout, 8 rollout failed,
9 invalid id, 10 conflict, 11 superseded, 12 not owned, 13 denied by policy,
14 provider fault, 15 unsupported, 130 interrupted. Of several, the highest.";

const CREATE_USAGE: &str = "\
workload create [OPTIONS] <NAME> --image <IMAGE> [-- <COMMAND>...]
       workload create [OPTIONS] --file <FILE>";

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

const CREATE_EXAMPLES: &str = "\
Examples:
  workload create web --image nginx:1.29 --env MODE=fast --env LEVEL=2
  workload create job --image busybox:1.37 -- sh -c 'sleep 3600'
  workload create -f web.json
  echo '[{\"name\":\"a\",\"image\":\"nginx\"}]' | workload create -f -

A file holds one JSON object, or a list of them, each with `name` (or `id`),
perhaps `container_id`, and the provider's own fields, whose schema
`workload provider inspect FILE` shows.";

/// Starts, stops and inspects workloads on an engine behind a provider.
#[derive(Debug, Parser)]
#[command(name = "workload", version, after_help = EXAMPLES, max_term_width = 100)]
pub struct Cli {
    /// Options of every command.
    #[command(flatten)]
    pub global: Global,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Options that every command takes, before or after its name.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Use this provider component instead of the built-in one
    #[arg(long, global = true, value_name = "FILE")]
    pub component: Option<PathBuf>,
    /// The kubeconfig, instead of what KUBECONFIG or the home directory says
    #[arg(long, global = true, value_name = "FILE")]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig, instead of its current one
    #[arg(long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub context: Option<String>,
    /// The namespace of names without one, instead of the context's
    #[arg(short, long, global = true, value_name = "NS", value_parser = namespace)]
    pub namespace: Option<String>,
    /// Whose workloads these are: only those of this owner are seen and changed
    #[arg(long, global = true, value_name = "ID", default_value = "default", value_parser = ownership::owner)]
    pub owner: String,
    /// The prefix of the labels that mark what is ours [default: workload-provider]
    #[arg(long, global = true, value_name = "P", value_parser = ownership::prefix)]
    pub label_prefix: Option<String>,
    /// Use the label names of this Manager
    #[arg(long, global = true, value_name = "NAME")]
    pub labels: Option<LabelPreset>,
    /// How to print the answer
    #[arg(short, long, global = true, value_name = "FORMAT", default_value = "table")]
    pub output: Format,
    /// How long the operation may take, such as 90s, 5m or 1m30s; at most 1h
    #[arg(long, global = true, value_name = "TIME", default_value = "5m", value_parser = timeout)]
    pub timeout: Duration,
    /// Say on standard error what happens; twice: in more detail
    #[arg(short, long, global = true, action = ArgAction::Count)]
    pub verbose: u8,
}

/// The form of the answer on standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Aligned columns, for a person
    Table,
    /// One JSON document, also on a fault
    Json,
    /// The Manager's own snapshot (of `list` only)
    Manager,
}

/// Label names that another Manager already uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelPreset {
    /// `org.mieweb.opensource-server.managed`, `.node-id` and `.container-id`
    OpensourceServer,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Every workload of this owner
    List(List),
    /// The state of workloads, read now
    Status(Ids),
    /// Make a workload; it is not waited for
    Create(Box<Create>),
    /// Make workloads run, and wait until they do
    Start(Start),
    /// Stop workloads, and wait until nothing of them runs
    Stop(Stop),
    /// Delete workloads, and wait until they are gone
    Delete(Delete),
    /// The provider components themselves
    #[command(subcommand)]
    Provider(Provider),
}

/// `list`
#[derive(Debug, Args)]
pub struct List {
    /// In all namespaces, not only one
    #[arg(short = 'A', long)]
    pub all_namespaces: bool,
}

/// The workloads meant.
#[derive(Debug, Args)]
pub struct Ids {
    /// NAMESPACE/NAME, or a NAME in the namespace of the command
    #[arg(required = true, value_name = "ID")]
    pub ids: Vec<String>,
}

/// `create`
#[derive(Debug, Args)]
#[command(after_help = CREATE_EXAMPLES, override_usage = CREATE_USAGE)]
pub struct Create {
    /// NAMESPACE/NAME, or a NAME in the namespace of the command
    #[arg(required_unless_present = "file", requires = "image")]
    pub name: Option<String>,
    /// Read what to make from a JSON file, `-` for standard input
    #[arg(short, long, value_name = "FILE", conflicts_with_all = FIELDS)]
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
    /// The command to run instead of the image's; from the first word that begins with a hyphen on after `--`
    #[arg(long, value_name = "WORD", num_args = 1..)]
    pub command: Vec<String>,
    /// The arguments of the command; a word that begins with a hyphen as --args=-x
    #[arg(long, value_name = "WORD", num_args = 1..)]
    pub args: Vec<String>,
    /// How many are to run [default: 1]
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
    /// The command to run, word by word; after those of --command
    #[arg(last = true, value_name = "COMMAND")]
    pub command_line: Vec<String>,
}

/// `start`
#[derive(Debug, Args)]
pub struct Start {
    /// The workloads.
    #[command(flatten)]
    pub ids: Ids,
    /// How long a workload must have been available, such as 1s [default: the provider's]
    #[arg(long, value_name = "TIME", value_parser = settle_time)]
    pub settle: Option<Duration>,
    /// Print what would be sent, and write nothing
    #[arg(long)]
    pub plan: bool,
}

/// `stop`
#[derive(Debug, Args)]
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

/// `provider`
#[derive(Debug, Subcommand)]
pub enum Provider {
    /// The providers that this command would use
    List,
    /// What a component says of itself: name, version, what it asks for, the schema of its specs
    Inspect {
        /// The component
        file: PathBuf,
    },
}

/// Reads the arguments of the process.
///
/// # Errors
/// What clap says, help and version included.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    // No colour: what is printed is the same on a terminal and in a pipe.
    let mut command = Cli::command().color(ColorChoice::Never);
    let matches = command.try_get_matches_from_mut(arguments)?;
    let cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    // Checked here because clap checks each level on its own, and a global option can stand at either.
    if cli.global.labels.is_some() && cli.global.label_prefix.is_some() {
        return Err(command.error(
            clap::error::ErrorKind::ArgumentConflict,
            "the argument '--label-prefix <P>' cannot be used with '--labels <NAME>'",
        ));
    }
    if cli.global.output == Format::Manager && !matches!(cli.command, Command::List(_)) {
        return Err(command
            .error(clap::error::ErrorKind::ArgumentConflict, "'--output manager' is for the command 'list' only"));
    }
    // Checked here because clap repeats what it refuses, and a variable's value may be a secret.
    if let Command::Create(create) = &cli.command
        && let Some(at) = create.fields.env.iter().position(|text| variable(text).is_none())
    {
        let message = format!("the value of '--env' number {} is not of the form NAME=VALUE", at + 1);
        return Err(command.error(clap::error::ErrorKind::ValueValidation, message));
    }
    Ok(cli)
}

/// Whether these arguments ask for JSON, for the case that they cannot be parsed.
pub fn wants_json(arguments: &[OsString]) -> bool {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    let mut last = false;
    while let Some(word) = words.next() {
        let value = match word {
            "--output" => words.next(),
            _ => word
                .strip_prefix("--output=")
                .or_else(|| short_output(word).map(|value| value.strip_prefix('=').unwrap_or(value))),
        };
        let value = if value == Some("") { words.next() } else { value };
        if let Some(value) = value {
            last = value == "json";
        }
    }
    last
}

/// What follows the `o` of `-ojson`, also behind flags, as in `-Aojson`.
fn short_output(word: &str) -> Option<&str> {
    word.strip_prefix('-')?.trim_start_matches(['A', 'v']).strip_prefix('o')
}

/// A namespace as it may stand in a path. Checked here because it becomes part of what is granted.
fn namespace(text: &str) -> Result<String, String> {
    if crate::ids::is_place(text) {
        Ok(text.to_owned())
    } else {
        Err("a namespace has 1 to 63 lower-case letters, digits and hyphens, none at its ends".to_owned())
    }
}

/// The name and the value of an `--env`.
pub fn variable(text: &str) -> Option<(&str, &str)> {
    text.split_once('=').filter(|(name, _)| !name.is_empty())
}

#[cfg(test)]
#[path = "args/tests.rs"]
mod tests;
