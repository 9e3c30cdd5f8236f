//! The script that lets a shell complete the command line.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::Cli;

/// The script for this shell. It holds the commands, the options and their values, and asks nobody when it runs.
pub fn script(shell: Shell) -> String {
    let mut command = Cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    generate(shell, &mut command, name, &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::bash(Shell::Bash)]
    #[case::zsh(Shell::Zsh)]
    #[case::fish(Shell::Fish)]
    #[case::elvish(Shell::Elvish)]
    #[case::powershell(Shell::PowerShell)]
    fn scripts_know_commands_and_values(#[case] shell: Shell) {
        let script = script(shell);
        for word in ["workload", "start", "explain", "inspect", "all-namespaces", "watch"] {
            assert!(script.contains(word), "{word} is not in the script for {shell}");
        }
    }
}
