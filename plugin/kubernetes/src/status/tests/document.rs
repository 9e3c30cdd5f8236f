//! `docs/status.md` and the table say the same, and every answer of the table can be had.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::super::pods::Signal;
use super::super::table::{ROWS, UNSEEN};
use super::super::*;
use super::given::{Given, Look, create_error, deadline, deployment, empty_set, none, pod, unavailable, word};
use crate::answer::{Action, Class, Trouble};
use crate::id::Target;
use crate::request::Resource;

type Line = (String, String, String);

fn line(rule: &str, status: &str, reason: &str) -> Line {
    (rule.to_owned(), status.to_owned(), reason.to_owned())
}

/// All that the code can answer, in its order.
fn coded() -> Vec<Line> {
    let seen = ROWS.iter().map(|row| (row.name, row.answers));
    let all = UNSEEN.into_iter().chain(seen);
    all.flat_map(|(name, answers)| answers.iter().map(move |(status, reason)| line(name, word(*status), reason)))
        .collect()
}

fn page() -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/status.md")).unwrap()
}

/// The cells of the lines of a table that begin with a name in code.
fn cells(page: &str, columns: usize) -> Vec<Vec<String>> {
    let lines = page.lines().filter(|line| line.starts_with("| `"));
    let cells = lines.map(|line| {
        let cells = line.trim_matches('|').split(" | ");
        cells.map(|cell| cell.trim().trim_matches('`').to_owned()).collect::<Vec<_>>()
    });
    cells.filter(|cells| cells.len() == columns).collect()
}

#[test]
fn the_page_shows_the_table() {
    let shown: Vec<Line> = cells(&page(), 4).iter().map(|cells| line(&cells[0], &cells[2], &cells[3])).collect();
    assert_eq!(shown, coded());
}

#[test]
fn the_page_shows_the_signals_in_their_order() {
    let signals = [
        Signal::ImageError,
        Signal::ConfigError,
        Signal::InitError,
        Signal::CrashLoop,
        Signal::ImagePull,
        Signal::PodError,
        Signal::Unschedulable,
        Signal::Starting,
    ];
    assert!(signals.is_sorted());
    let shown: Vec<String> = cells(&page(), 2).iter().map(|cells| cells[0].clone()).collect();
    assert_eq!(shown, signals.map(|signal| signal.reason().to_owned()));
}

/// What rows about the Deployment itself answer, where no recording has it.
fn examples() -> Vec<Verdict> {
    let look = |deployment: Value| Look { own: Own::default(), ..Look::at(deployment) };
    let hidden = |look: Look| Look { sets: Given::NotReadable, ..look };
    let own = Own { since_write_ms: Some(0), ..Own::default() };
    [
        look(deployment(json!({"spec": null}))),
        hidden(look(none(create_error()))),
        look(none(json!({}))).with(&[empty_set()], &[pod(json!({}))]),
        hidden(look(none(json!({"status": {"terminatingReplicas": null}})))),
        Look { own, ..look(unavailable(deadline())) },
    ]
    .iter()
    .map(Look::decide)
    .collect()
}

/// What rows 1 to 3 answer, by how a read can end.
fn unseen() -> Vec<Workload> {
    let target = Target { namespace: "default".to_owned(), name: "web".to_owned() };
    let mut trouble = Trouble::malformed(&Action::list(Resource::Pods, None), 200);
    let classes = [
        Class::Missing,
        Class::NoNamespace,
        Class::Unauthorized,
        Class::Forbidden(None),
        Class::Terminating,
        Class::Conflict,
        Class::Exists,
        Class::Expired,
        Class::Throttled,
        Class::Unreachable,
        Class::Malformed,
        Class::Denied,
        Class::Unsupported,
        Class::Cancelled,
    ];
    let reasons = classes.into_iter().filter_map(|class| {
        trouble.class = class;
        trouble.reason()
    });
    let unknown = reasons.map(|reason| unknown(&target, reason, String::new()));
    let missing = ["not-found", "not-owned"].map(|reason| missing(&target, reason, String::new()));
    unknown.chain(missing).collect()
}

/// What the recordings answer, as their replay checks.
fn recorded() -> BTreeSet<Line> {
    let recordings = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata/recordings")).unwrap();
    let mut seen = BTreeSet::new();
    for path in recordings {
        let recording: Value = serde_json::from_slice(&fs::read(path.unwrap().path()).unwrap()).unwrap();
        for answer in recording["answers"].as_array().unwrap() {
            let number = answer[1].as_str().unwrap();
            let rule = coded().into_iter().map(|(rule, ..)| rule).find(|rule| super::given::number(rule) == number);
            seen.insert(line(&rule.unwrap(), answer[2].as_str().unwrap(), answer[3].as_str().unwrap()));
        }
    }
    seen
}

#[test]
fn every_answer_can_be_had() {
    let mut seen = recorded();
    seen.extend(examples().iter().map(|verdict| line(verdict.rule, word(verdict.status), verdict.reason)));
    seen.extend(unseen().iter().map(|workload| line(&workload.rule, word(workload.status), &workload.reason)));
    assert_eq!(seen, coded().into_iter().collect());
}
