//! What can be typed: the options of every command, and how a line is read.

mod command;
mod help;
mod seen;

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::builder::NonEmptyStringValueParser;
use clap::parser::ValueSource;
use clap::{ArgAction, Args, CommandFactory, FromArgMatches, Parser, ValueEnum, ValueHint};

use crate::duration::timeout;
use crate::ownership;
pub use command::{
    Command, Create, Delete, Doctor, Explain, Fields, Intent, List, Provider, Rbac, Start, Status, Stop,
};
pub use seen::{color, wants_json};

/// Starts, stops and inspects workloads on an engine behind a provider.
#[derive(Debug, Parser)]
#[command(name = "workload", version, after_help = help::all(), max_term_width = 100)]
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
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub component: Option<PathBuf>,
    /// The kubeconfig, instead of what KUBECONFIG or the home directory says
    #[arg(long, global = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub kubeconfig: Option<PathBuf>,
    /// The context of the kubeconfig, instead of its current one
    #[arg(long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub context: Option<String>,
    /// The namespace that is listed, and of names without one, instead of the context's
    #[arg(short, long, global = true, value_name = "NS", value_parser = namespace)]
    pub namespace: Option<String>,
    /// Whose workloads these are: only those of this owner are seen and changed
    #[arg(long, global = true, value_name = "OWNER", default_value = "default", value_parser = ownership::owner)]
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
    /// Whether to print in colour; by itself on a terminal, unless NO_COLOR is set
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: Color,
    /// How long it may take, such as 90s or 1m30s, at most 1h [default: 5m; with --watch: until Ctrl-C]
    #[arg(long, global = true, value_name = "TIME", default_value = "5m", hide_default_value = true, value_parser = timeout)]
    pub timeout: Duration,
    /// The timeout was given: what is followed has an end.
    #[arg(skip)]
    pub limited: bool,
    /// Say on standard error what happens, line by line; twice: in more detail
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
    /// The snapshot that a Manager reads; not for `explain` and `rbac`, and not with --plan
    Manager,
}

/// Whether words have colours. They say nothing that the words do not say.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that has them, unless the environment says otherwise
    Auto,
    /// Also in a pipe and in a file
    Always,
    /// Nowhere
    Never,
}

/// Label names that another Manager already uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LabelPreset {
    /// `org.mieweb.opensource-server.managed`, `.node-id` and `.container-id`
    OpensourceServer,
}

/// Reads the arguments of the process.
///
/// # Errors
/// What clap says, help and version included.
pub fn parse(arguments: impl IntoIterator<Item = OsString>) -> Result<Cli, clap::Error> {
    let mut command = Cli::command();
    let matches = command.try_get_matches_from_mut(arguments)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|error| error.format(&mut command))?;
    cli.global.limited = matches.value_source("timeout") == Some(ValueSource::CommandLine);
    // Checked here because clap checks each level on its own, and a global option can stand at either.
    if cli.global.labels.is_some() && cli.global.label_prefix.is_some() {
        return Err(command.error(
            clap::error::ErrorKind::ArgumentConflict,
            "the argument '--label-prefix <P>' cannot be used with '--labels <NAME>'",
        ));
    }
    if cli.global.namespace.is_some() && cli.command.is_everywhere() {
        return Err(command.error(
            clap::error::ErrorKind::ArgumentConflict,
            "the argument '--namespace <NS>' cannot be used with '--all-namespaces': leave out -A for that namespace \
             alone, or -n for all",
        ));
    }
    if cli.global.output == Format::Manager && !cli.command.has_snapshots() {
        return Err(command.error(
            clap::error::ErrorKind::ArgumentConflict,
            "'--output manager' is for 'list', 'status' and 'doctor', and for 'create', 'start', 'stop' and 'delete' without '--plan'",
        ));
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
