//! The real `kubectl` as a client: what it prints and how it ends is the same with the emulator as with the real cluster.
//!
//! `script/` has the commands, `testdata/kubectl.json` what they printed with the real cluster.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

#[path = "../compare/accepted.rs"]
#[allow(dead_code, reason = "the comparison of requests also looks after the README")]
mod accepted;
mod emulator;
#[path = "../compare/layout.rs"]
mod layout;
#[path = "../compare/names.rs"]
#[allow(dead_code, reason = "resource versions are numbered in the comparison of requests only")]
mod names;
mod output;
mod record;
mod run;
mod script;
#[path = "../compare/served.rs"]
mod served;

use std::path::{Path, PathBuf};

use crate::accepted::Accepted;
use crate::record::{Difference, Printed};

/// Runs the whole script, or the chapters that `COMPARE_CHAPTERS` names (separated by commas), side by side.
fn printed(kubeconfigs: &Path) -> Printed {
    let only = std::env::var("COMPARE_CHAPTERS").ok();
    for name in only.iter().flat_map(|only| only.split(',')) {
        assert!(script::chapters().iter().any(|(chapter, _)| *chapter == name), "there is no chapter {name:?}");
    }
    let chapters = script::chapters()
        .into_iter()
        .filter(|(name, _)| only.as_ref().is_none_or(|only| only.split(',').any(|wanted| wanted == *name)));
    let runs: Vec<_> = chapters
        .map(|(name, steps)| {
            let kubeconfigs = kubeconfigs.to_owned();
            (name, std::thread::spawn(move || run::chapter(&kubeconfigs, name, &steps)))
        })
        .collect();
    runs.into_iter().map(|(name, run)| (name.to_owned(), run.join().expect("a chapter ran to its end"))).collect()
}

/// The folder where `tests/cluster` keeps its program and the credentials of the real cluster.
fn cluster() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/cluster")
}

fn recorded() -> Printed {
    let mut recorded = record::read();
    if let Ok(only) = std::env::var("COMPARE_CHAPTERS") {
        recorded.retain(|chapter, _| only.split(',').any(|name| name == chapter));
    }
    recorded
}

fn compare(found: &Printed, accepted: &[Accepted]) {
    let mut all = record::differences(&recorded(), found);
    let covers = |one: &Accepted, difference: &Difference| one.covers(&difference.chapter, &difference.command, "");
    let stale: Vec<_> = accepted
        .iter()
        .filter(|one| found.contains_key(&one.chapter) && !all.iter().any(|difference| covers(one, difference)))
        .collect();
    assert!(stale.is_empty(), "accepted, but there is no such difference: {stale:#?}");
    all.retain(|difference| !accepted.iter().any(|one| covers(one, difference)));
    let text: Vec<_> = all.iter().map(|one| format!("{}: kubectl {}{}", one.chapter, one.command, one.text)).collect();
    assert!(all.is_empty(), "{}\n{} differences", text.join("\n"), all.len());
}

/// Run with `COMPARE_RECORD=1` it writes anew what the commands print; read the difference before you commit it.
#[test]
#[ignore = "needs the real cluster: make test"]
fn kubectl_with_the_real_cluster_prints_as_recorded() {
    let found = printed(&cluster());
    if std::env::var_os("COMPARE_RECORD").is_none() {
        return compare(&found, &[]);
    }
    let named: Vec<_> = script::chapters().iter().map(|(name, _)| *name).collect();
    let mut all = record::read();
    all.retain(|name, _| named.contains(&name.as_str()));
    all.extend(found);
    record::write(&all);
}

#[test]
fn the_script_is_long_enough() {
    let commands: usize =
        script::chapters().iter().flat_map(|(_, steps)| steps).filter(|step| step.is_recorded()).count();
    assert!(commands >= 300, "{commands} commands");
}
