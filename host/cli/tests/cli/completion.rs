//! The scripts for shells.

use std::process::Command;

use rstest::rstest;

use crate::home::Home;

#[rstest]
#[case::bash("bash", "complete -F")]
#[case::zsh("zsh", "#compdef workload")]
#[case::fish("fish", "complete -c workload")]
#[case::elvish("elvish", "edit:completion:arg-completer[workload]")]
#[case::powershell("powershell", "Register-ArgumentCompleter")]
fn every_shell_gets_its_own(#[case] shell: &str, #[case] said: &str) {
    let answer = Home::new().run(&format!("completion {shell}"));
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(answer.stdout.contains(said), "{answer:?}");
}

#[test]
fn an_unknown_shell() {
    let answer = Home::new().run("completion csh");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.contains("bash, elvish, fish, powershell, zsh"), "{answer:?}");
}

/// What bash offers when Tab is pressed after these words.
fn offered(home: &Home, words: &[&str]) -> String {
    let script = home.file("workload.bash", home.run("completion bash").stdout);
    let typed = words.join(" ");
    let last = words.len() - 1;
    let ask = format!(
        "set -e; source '{}'; COMP_WORDS=({typed}); COMP_CWORD={last}; COMP_LINE='{typed}'; \
         _workload workload '{}' '{}'; printf '%s\\n' \"${{COMPREPLY[@]}}\"",
        script.display(),
        words[last],
        words[last - 1],
    );
    let output = Command::new("bash").args(["--norc", "-c", &ask]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[rstest]
#[case::commands(&["workload", "st"], &["status", "start", "stop"])]
#[case::the_reason(&["workload", "ex"], &["explain"])]
#[case::watching(&["workload", "status", "--wa"], &["--watch"])]
#[case::watching_a_list(&["workload", "list", "--wa"], &["--watch"])]
#[case::of_the_manager(&["workload", "status", "--output", "m"], &["manager"])]
#[case::options(&["workload", "start", "--se"], &["--settle"])]
#[case::formats(&["workload", "list", "--output", "j"], &["json"])]
#[case::colours(&["workload", "--color", "a"], &["auto", "always"])]
#[case::intents(&["workload", "stop", "--intent", "f"], &["forced"])]
#[case::below(&["workload", "provider", "in"], &["inspect"])]
fn bash_completes(#[case] words: &[&str], #[case] expected: &[&str]) {
    let offered = offered(&Home::new(), words);
    assert_eq!(offered.lines().collect::<Vec<_>>(), expected);
}

#[test]
fn bash_takes_the_script() {
    let home = Home::new();
    let script = home.file("workload.bash", home.run("completion bash").stdout);
    let output = Command::new("bash").arg("-n").arg(script).output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
}
