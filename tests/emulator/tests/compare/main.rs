//! One script of requests, run against the emulator and the real cluster: both must answer as recorded.
//!
//! `script/` has the requests, `testdata/answers.json` the recorded answers of the real cluster, and
//! `testdata/accepted.json` where the emulator differs and why.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

mod accepted;
mod client;
mod emulator;
mod golden;
mod layout;
mod names;
mod normal;
mod run;
mod script;
mod served;
mod server;
mod step;
mod wanted;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use futures_util::StreamExt as _;

use crate::golden::{Answers, Difference};
use crate::server::Server;

/// How many chapters run at a time: the kubelet starts Pods one after the other.
const AT_A_TIME: usize = 3;

/// Runs the whole script, or the chapters that `COMPARE_CHAPTERS` names (separated by commas).
async fn answers(server: Server) -> Answers {
    let server = Arc::new(server);
    let unique = format!("e{}", std::process::id());
    let only = std::env::var("COMPARE_CHAPTERS").ok();
    for name in only.iter().flat_map(|only| only.split(',')) {
        assert!(script::chapters().iter().any(|chapter| chapter.name == name), "there is no chapter {name:?}");
    }
    let chapters = script::chapters()
        .into_iter()
        .filter(|chapter| only.as_ref().is_none_or(|only| only.split(',').any(|name| name == chapter.name)));
    let runs = chapters.map(|chapter| {
        let (server, unique) = (server.clone(), unique.clone());
        tokio::spawn(async move {
            let mut recorded =
                run::chapter(&server, &chapter, &unique).await.unwrap_or_else(|error| panic!("{error:#}"));
            golden::shorten(&mut recorded);
            (chapter.name.to_owned(), recorded)
        })
    });
    let runs: Vec<_> = futures_util::stream::iter(runs).buffer_unordered(AT_A_TIME).collect().await;
    runs.into_iter().map(|run| run.expect("a chapter ran to its end")).collect::<BTreeMap<_, _>>()
}

fn report(differences: &[Difference]) -> String {
    let mut out = String::new();
    for one in differences {
        out.push_str(&format!("{}: {:?}\n  {}\n", one.chapter, one.title, one.field));
        let (expected, found) = (one.expected.to_string(), one.found.to_string());
        // Of long texts, from a little before the first difference.
        let same = expected.chars().zip(found.chars()).take_while(|(one, other)| one == other).count();
        let part = |text: &str| text.chars().skip(same.saturating_sub(60)).take(400).collect::<String>();
        out.push_str(&format!("    recorded {}\n    found    {}\n", part(&expected), part(&found)));
    }
    out + &format!("{} differences", differences.len())
}

/// Differences that nobody has accepted, and accepted ones that are no more.
fn unexplained(found: &Answers) -> String {
    let all = golden::differences(&recorded(), found);
    let mut accepted = accepted::read("requests");
    accepted.retain(|one| found.contains_key(&one.chapter));
    let covers = |one: &accepted::Accepted, difference: &Difference| {
        one.covers(&difference.chapter, &difference.title, &difference.field)
    };
    let stale: Vec<_> = accepted.iter().filter(|one| !all.iter().any(|difference| covers(one, difference))).collect();
    let all: Vec<_> =
        all.into_iter().filter(|difference| !accepted.iter().any(|one| covers(one, difference))).collect();
    match (all.is_empty(), stale.is_empty()) {
        (true, true) => String::new(),
        (_, true) => report(&all),
        _ => format!("{}\naccepted, but there is no such difference: {stale:#?}", report(&all)),
    }
}

fn recorded() -> Answers {
    let mut recorded = golden::read(&golden::path());
    if let Ok(only) = std::env::var("COMPARE_CHAPTERS") {
        recorded.retain(|chapter, _| only.split(',').any(|name| name == chapter));
    }
    recorded
}

/// Run with `COMPARE_RECORD=1` it writes the recorded answers anew; read the difference before you commit it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs the real cluster: make test"]
async fn the_real_cluster_answers_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cluster");
    let found = answers(Server::from_folder(&folder).expect("the real cluster is up")).await;
    if std::env::var_os("COMPARE_RECORD").is_some() {
        let broken: Vec<_> = found.values().flatten().filter(|one| one.answer.contains_key(run::BROKEN_OFF)).collect();
        assert!(broken.is_empty(), "broken off: {broken:#?}");
        let mut all = if golden::path().exists() { golden::read(&golden::path()) } else { Answers::new() };
        let named: Vec<_> = script::chapters().iter().map(|chapter| chapter.name).collect();
        all.retain(|name, _| named.contains(&name.as_str()));
        all.extend(found);
        golden::write(&golden::path(), &all);
        return;
    }
    let differences = golden::differences(&recorded(), &found);
    assert!(differences.is_empty(), "{}", report(&differences));
}

#[test]
fn the_readme_shows_the_accepted_differences() {
    assert_eq!(accepted::shown(), accepted::section());
}

#[test]
fn the_script_is_long_enough_and_its_titles_are_unique() {
    let chapters = script::chapters();
    let (mut requests, mut twice) = (0, Vec::new());
    for chapter in &chapters {
        let mut titles = std::collections::BTreeSet::new();
        for step in &chapter.steps {
            if !titles.insert(&step.title) {
                twice.push((chapter.name, &step.title));
            }
            requests += usize::from(matches!(step.does, step::Does::Request(_) | step::Does::Events { .. }));
        }
    }
    assert!(twice.is_empty(), "titles that are there twice: {twice:?}");
    assert!(requests >= 700, "{requests} requests");
}
