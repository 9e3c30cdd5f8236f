//! Tables, colours and help on a terminal.

use rstest::rstest;
use serde_json::Value;
use vt100::Color;

use crate::home::{Home, built_in};
use crate::screen::{Left, Terminal, lines, look_of, program, workload};
use crate::server::{deployment, list, refusal, replica_set, serve, stuck};

const PLACE: &str = "/apis/apps/v1/namespaces/shop";
const IMAGE: &str = "registry.example.com/a-team/a-project/shop-frontend:2026.01.02-rc3";
const LONG_NAME: &str = "a-workload-with-a-name-of-as-many-as-52-characters-a";
const WHY: &str = "ReplicaSet \"web-7d448775cb\" has timed out progressing: 3 of its pods wait for an image that the \
                   registry does not have, and one for a node with more memory.";

fn all() -> [Value; 4] {
    [
        deployment("api", "nginx:1.29", 3, 3),
        stuck("web", IMAGE, WHY),
        deployment("job", "busybox:1", 2, 1),
        deployment(LONG_NAME, "nginx:1.29", 1, 1),
    ]
}

fn shop() -> Home {
    Home::new().with_server(serve(|_, path, _| {
        if path == "/api/v1/namespaces/shop/pods" {
            return Some((200, list("Pod", &[])));
        }
        let found = match path.strip_prefix(PLACE)?.strip_prefix("/deployments") {
            Some("") => list("Deployment", &all()),
            Some(path) => {
                let name = path.trim_start_matches('/');
                match all().into_iter().find(|found| found["metadata"]["name"] == name) {
                    Some(found) => found,
                    None => return Some(refusal(404, "NotFound", "deployments", name)),
                }
            }
            None => list("ReplicaSet", &all().each_ref().map(replica_set)),
        };
        Some((200, found))
    }))
}

fn shown(line: &str, columns: u16) -> Left {
    Terminal::run(workload(shop(), line), columns, 60).end()
}

/// Whether a line goes on in the next, other than that of a long id, which is never cut.
fn wrapped(left: &Left) -> Vec<String> {
    let shown = lines(&left.screen).into_iter().enumerate();
    let wrapped = shown.filter(|(row, _)| left.screen.row_wrapped((*row).try_into().unwrap()));
    wrapped.map(|(_, line)| line).filter(|line| !format!("shop/{LONG_NAME}").contains(line)).collect()
}

#[test]
fn a_list_in_80_columns() {
    let expected = "\
ID        STATUS   REASON             READY  IMAGE
shop/a-workload-with-a-name-of-as-many-as-52-characters-a
          running  available          1/1    nginx:1.29
shop/api  running  available          3/3    nginx:1.29
shop/job  running  partial            1/2    busybox:1
shop/web  failed   deadline-exceeded  0/1    …oject/shop-frontend:2026.01.02-rc3";
    assert_eq!(lines(&shown("list", 80).screen).join("\n"), expected);
}

#[test]
fn a_list_in_200_columns() {
    let expected = "\
ID                                                         STATUS   REASON             READY  IMAGE
shop/a-workload-with-a-name-of-as-many-as-52-characters-a  running  available          1/1    nginx:1.29
shop/api                                                   running  available          3/3    nginx:1.29
shop/job                                                   running  partial            1/2    busybox:1
shop/web                                                   failed   deadline-exceeded  0/1    IMAGE";
    assert_eq!(
        lines(&shown("list", 200).screen).join("\n"),
        expected.replace("0/1    IMAGE", &format!("0/1    {IMAGE}"))
    );
}

#[test]
fn messages_in_80_columns() {
    let expected = "\
ID         STATUS   REASON             READY  IMAGE
shop/api   running  available          3/3    nginx:1.29
  3 of 3 replicas available
shop/web   failed   deadline-exceeded  0/1    …ject/shop-frontend:2026.01.02-rc3
  0 of 1 replica available; ReplicaSet \"web-7d448775cb\" has timed out
  progressing: 3 of its pods wait for an image that the registry does not have,
  and one for a node with more memory
shop/gone  missing  not-found          -      -
  there is no such Deployment";
    let left = shown("status api web gone", 80);
    assert_eq!((left.code, lines(&left.screen).join("\n").as_str()), (Some(0), expected));
}

#[test]
fn messages_in_200_columns() {
    let expected = "\
ID         STATUS   REASON     READY  IMAGE       MESSAGE
shop/api   running  available  3/3    nginx:1.29  3 of 3 replicas available
shop/job   running  partial    1/2    busybox:1   1 of 2 replicas available
shop/gone  missing  not-found  -      -           there is no such Deployment";
    assert_eq!(lines(&shown("status api job gone", 200).screen).join("\n"), expected);
}

#[rstest]
#[case::status(&format!("status api web job gone {LONG_NAME}"))]
#[case::providers(&format!("provider list --component {}", built_in().display()))]
#[case::a_component(&format!("provider inspect {}", built_in().display()))]
#[case::help("--help")]
#[case::help_of_a_command("create --help")]
fn nothing_wraps(#[case] line: &str, #[values(20, 80, 200)] columns: u16) {
    // Usage lines are clap's, and it takes a narrow terminal for one of 80.
    if line.ends_with("--help") && columns < 80 {
        return;
    }
    let left = shown(line, columns);
    assert_eq!(left.code, Some(0));
    assert_eq!(wrapped(&left), [""; 0], "{}", left.screen.contents());
}

#[test]
fn nothing_is_cut_in_a_pipe() {
    let answer = shop().run("list");
    assert!(answer.stdout.contains(IMAGE) && !answer.stdout.contains('…'), "{answer:?}");
    let answer = shop().run("status web api");
    assert!(answer.stdout.contains(IMAGE) && answer.stdout.contains(WHY.trim_end_matches('.')), "{answer:?}");
    assert_eq!(answer.stdout.lines().count(), 3, "{answer:?}");
}

#[rstest]
#[case::as_the_environment_says(Some("60"), "…2026.01.02-rc3")]
#[case::as_usual(None, "…oject/shop-frontend:2026.01.02-rc3")]
fn a_terminal_that_does_not_know_its_size(#[case] columns: Option<&str>, #[case] image: &str) {
    let run = workload(shop(), "list");
    let run = if let Some(columns) = columns { run.env("COLUMNS", columns) } else { run };
    let left = Terminal::without_size(run).end();
    assert!(lines(&left.screen).iter().any(|line| line.ends_with(&format!("  {image}"))), "{}", left.screen.contents());
}

#[test]
fn what_was_typed_is_harmless_also_in_colour() {
    let run = program(shop(), env!("CARGO_BIN_EXE_workload"), ["list", "--timeout", "\u{1b}[5m\u{202e}x"]);
    let left = Terminal::run(run, 80, 24).end();
    assert_eq!(left.code, Some(2));
    assert!(left.raw.contains(r"\u{1b}[5m\u{202e}x") && !left.raw.contains("\u{1b}[5m"), "{:?}", left.raw);
    assert_eq!(look_of(&left.screen, "error:"), (Color::Idx(1), true));
}

#[test]
fn colours_of_statuses() {
    let left = shown("status api web gone", 80);
    let expected = [
        ("ID", Color::Default, true),
        ("running", Color::Idx(2), false),
        ("failed", Color::Idx(1), false),
        ("missing", Color::Idx(5), false),
        ("shop/api", Color::Default, false),
    ];
    for (word, color, bold) in expected {
        assert_eq!(look_of(&left.screen, word), (color, bold), "{word}");
    }
}

// The help and an error need no provider, whose loading would be most of the time.
#[rstest]
#[case::by_itself(&[], true)]
#[case::no_color(&[("NO_COLOR", "1")], false)]
#[case::no_color_but_empty(&[("NO_COLOR", "")], true)]
#[case::not_wanted(&[("CLICOLOR", "0")], false)]
#[case::dumb(&[("TERM", "dumb")], false)]
fn colour_on_a_terminal(
    #[case] environment: &[(&str, &str)],
    #[case] colored: bool,
    #[values("--help", "list --frobnicate", "list --context nowhere")] line: &str,
) {
    for (option, colored) in [("", colored), ("--color never", false), ("--color=always", true)] {
        let run = workload(shop(), &format!("{line} {option}"));
        let run = environment.iter().fold(run, |run, (name, value)| run.env(name, value));
        let raw = Terminal::run(run, 80, 60).end().raw;
        assert_eq!(raw.contains("\u{1b}["), colored, "{option} {raw:?}");
    }
}

#[rstest]
#[case::by_itself("--help", None, false)]
#[case::forced("--help", Some("CLICOLOR_FORCE"), true)]
#[case::always("--help --color always", None, true)]
#[case::a_table("list", None, false)]
#[case::a_table_always("list --color always", None, true)]
fn colour_in_a_pipe(#[case] line: &str, #[case] variable: Option<&str>, #[case] colored: bool) {
    let home = shop();
    let mut command = home.command(line.split_whitespace());
    command.envs(variable.map(|name| (name, "1")));
    let output = command.output().unwrap();
    assert_eq!(output.stdout.contains(&0x1b), colored, "{}", String::from_utf8_lossy(&output.stdout));
}
