//! `workload`: starts, stops and inspects workloads on an engine behind a provider.

mod answer;
mod args;
mod commands;
mod connect;
mod duration;
mod exit;
mod ids;
mod interrupt;
mod output;
mod ownership;
mod requests;
mod run;
mod spec;
#[cfg(test)]
mod testing;
mod text;
mod trace;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::error::ErrorKind;
use workload_host::model::{Fault, FaultKind};

use args::{Cli, Format};
use exit::Exit;
use output::{Console, json};

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let exit = match args::parse(arguments.iter().cloned()) {
        Ok(cli) => execute(cli),
        Err(error) => refuse(&error, &arguments),
    };
    exit.into()
}

/// Runs a command whose arguments are sound.
fn execute(cli: Cli) -> Exit {
    trace::start(cli.global.verbose);
    let mut console = Console::new(&cli.global);
    // One worker for connections and signals. The command itself is driven on this thread, and steps of providers run
    // on the host's own.
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build();
    let exit = match runtime {
        Ok(runtime) => {
            let exit = runtime.block_on(commands::run(cli, &mut console));
            // What still runs was given up, or is of no use to anybody.
            runtime.shutdown_background();
            exit
        }
        Err(error) => {
            let fault = Fault::new(FaultKind::Internal, format!("cannot start: {}", text::io_error(&error)));
            console.fault(&fault);
            Exit::from(&fault)
        }
    };
    console.finish(exit)
}

/// Says what is wrong with the arguments, or gives the help that was asked for.
fn refuse(error: &clap::Error, arguments: &[OsString]) -> Exit {
    let wants_json = args::wants_json(arguments);
    let mut console = Console::plain(if wants_json { Format::Json } else { Format::Table }, args::color(arguments));
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        console.help(&error.render());
        return console.finish(Exit::Ok);
    }
    // It repeats what was typed. Typed without what a terminal would obey, it is refused in the same words.
    let harmless = arguments.iter().map(|word| OsString::from(output::table::plain(&word.to_string_lossy())));
    let text = match args::parse(harmless) {
        Err(error) => error.render(),
        // As with what is no text at all.
        Ok(_) => {
            let text = error.render().to_string();
            text.lines().map(|line| output::table::plain(line) + "\n").collect::<String>().into()
        }
    };
    console.usage(&text);
    if wants_json {
        console.document(&json::usage(&reason(&text.to_string())));
    }
    console.finish(Exit::Usage)
}

/// The first paragraph of clap's text, as one line without its prefix: the rest is usage and hints for a person.
fn reason(text: &str) -> String {
    let paragraph = text.split("\n\n").next().unwrap_or_default();
    let words: Vec<&str> = paragraph.split_whitespace().collect();
    let line = words.join(" ");
    line.strip_prefix("error: ").map(str::to_owned).unwrap_or(line)
}

#[cfg(test)]
mod tests {
    use super::reason;
    use rstest::rstest;

    #[rstest]
    #[case::short("error: unrecognized subcommand 'x'\n\nUsage: workload\n", "unrecognized subcommand 'x'")]
    #[case::several_lines("error: these are missing:\n  <ID>...\n\nUsage: x\n", "these are missing: <ID>...")]
    #[case::help("Starts things\n\nUsage: workload COMMAND\n", "Starts things")]
    fn one_line(#[case] text: &str, #[case] line: &str) {
        assert_eq!(reason(text), line);
    }
}
