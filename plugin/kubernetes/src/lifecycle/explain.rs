//! Explain: the status with all that speaks for it. What belongs to the workload is read whatever the table wants, and so
//! is what the cluster reported about it.

use std::rc::Rc;

use workload_guest::{Cx, Workload, join, join_all};

use super::case::Case;
use super::claims::remark;
use super::status::remarked;
use crate::answer::{Action, Trouble, sentence};
use crate::api::{Object, Report};
use crate::read::{Listing, Look, list, retry};
use crate::request::{Resource, Which};
use crate::status::{Beside, advice};
use crate::time::milliseconds;

/// The setting that asks for it.
const EXPLAIN: &str = "explain";

/// How many Pods and ReplicaSets are looked up in the cluster's reports: the first few tell what is wrong with all.
const PODS: usize = 3;
const SETS: usize = 2;

/// How many reports are told, the last ones.
const REPORTS: usize = 10;

/// As many facts as the host keeps of a workload.
const FACTS: usize = 64;

/// Somebody asks why.
pub(super) fn is_wanted(cx: &Cx) -> bool {
    cx.setting(EXPLAIN) == Some("true")
}

/// The workload with its evidence, advice, what was reported, and what we must not see.
pub(super) async fn explain(case: &mut Case, look: Look) -> Result<Workload, Trouble> {
    let uid = look.about.uid.clone();
    let look = case.beside(look, Resource::ReplicaSets).await?;
    let sets = own_sets(&look);
    let cx = case.cx.clone();
    let namespace = case.target.namespace.clone();
    let above = reports(&cx, &namespace, std::iter::once(uid).chain(sets));
    // Who belongs to it is known by its ReplicaSets: without these nobody knows which Pods are its own.
    let pods = async {
        match look.sight.replica_sets {
            Beside::Read(_) => case.beside(look, Resource::Pods).await,
            _ => Ok(look),
        }
    };
    let (look, mut told) = join(pods, above).await;
    let look = look?;
    told.extend(reports(&cx, &namespace, own_pods(&look).into_iter()).await);

    let mut workload = remarked(case.workload(&look), remark(&look.claim, &[]));
    let advice = look.sight.with(case.own(), |observed| advice(observed, &look.verdict)).ok().flatten();
    let mut more: Vec<(String, String)> = advice.map(|advice| ("advice".to_owned(), advice)).into_iter().collect();
    more.extend(not_allowed(case, &look, &told).into_iter().map(|what| ("not-allowed".to_owned(), what)));
    more.extend(told_facts(&told));
    // Of many Pods and containers some are enough.
    workload.facts.truncate(FACTS.saturating_sub(more.len()));
    workload.facts.extend(more);
    Ok(workload)
}

/// What was reported about one object.
type Told = Result<Rc<Listing>, Trouble>;

async fn reports(cx: &Cx, namespace: &str, about: impl Iterator<Item = String>) -> Vec<Told> {
    let read = |uid: String| async move {
        let events = || list(cx, Resource::Events, Some(namespace), Which::About(&uid));
        retry(cx, events).await.map(Rc::new)
    };
    join_all(about.map(read)).await
}

/// Its ReplicaSets, the newest first.
fn own_sets(look: &Look) -> Vec<String> {
    let rows = look.sight.replica_sets.get().map(|sets| sets.table.controlled_by(&look.about.uid)).unwrap_or_default();
    let made = rows.iter().filter_map(|raw| {
        let set = crate::api::ReplicaSet::decode_item(raw.bytes()).ok()?;
        let made = set.metadata.creation_timestamp.as_deref().and_then(milliseconds);
        Some((made, set.metadata.uid.to_string()))
    });
    let mut made: Vec<(Option<u64>, String)> = made.collect();
    made.sort_by(|left, right| right.cmp(left));
    made.into_iter().take(SETS).map(|(_, uid)| uid).collect()
}

/// Its Pods, those that are not ready first.
fn own_pods(look: &Look) -> Vec<String> {
    let (Some(sets), Some(pods)) = (look.sight.replica_sets.get(), look.sight.pods.get()) else { return Vec::new() };
    let mut found: Vec<(bool, String, String)> = Vec::new();
    for raw in sets.table.controlled_by(&look.about.uid) {
        let Ok(set) = crate::api::ReplicaSet::decode_item(raw.bytes()) else { continue };
        for raw in pods.table.controlled_by(&set.metadata.uid) {
            let Ok(pod) = crate::api::Pod::decode_item(raw.bytes()) else { continue };
            found.push((pod.is_ready(), pod.metadata.name.to_string(), pod.metadata.uid.to_string()));
        }
    }
    found.sort();
    found.into_iter().take(PODS).map(|(_, _, uid)| uid).collect()
}

/// Each permission that was missing, once.
fn not_allowed(case: &Case, look: &Look, told: &[Told]) -> Vec<String> {
    let here = Some(case.target.namespace.as_str());
    let mut missing = Vec::new();
    let hidden = |beside: &Beside<Rc<Listing>>| matches!(beside, Beside::NotReadable);
    for (beside, resource) in [(&look.sight.replica_sets, Resource::ReplicaSets), (&look.sight.pods, Resource::Pods)] {
        if hidden(beside) {
            missing.push(Action::list(resource, here).permission());
        }
    }
    let refused = told.iter().filter_map(|told| told.as_ref().err()).find(|trouble| trouble.is_not_allowed());
    missing.extend(refused.map(Trouble::permission));
    missing
}

/// What was reported, the oldest first; or why it is not known.
fn told_facts(told: &[Told]) -> Vec<(String, String)> {
    let mut reports: Vec<(Option<u64>, String, String)> = Vec::new();
    for listing in told.iter().flatten() {
        for (_, name, raw) in listing.table.all() {
            let Ok(report) = Report::decode_item(raw.bytes()) else { continue };
            reports.push((milliseconds(report.last()), name.to_owned(), words(&report)));
        }
    }
    reports.sort();
    reports.dedup_by(|left, right| left.1 == right.1);
    let first = reports.len().saturating_sub(REPORTS);
    let told_of = reports.into_iter().skip(first).enumerate();
    let mut facts: Vec<(String, String)> =
        told_of.map(|(index, (_, _, words))| (format!("event {}", index + 1), words)).collect();
    let failed = told.iter().filter_map(|told| told.as_ref().err()).find(|trouble| !trouble.is_not_allowed());
    facts.extend(failed.map(|trouble| ("events".to_owned(), trouble.words())));
    facts
}

/// One report, e.g. `Warning FailedScheduling pod/web-1-a (12x): message`.
fn words(report: &Report<'_>) -> String {
    let about = &report.involved_object;
    let times = match report.times() {
        1 => String::new(),
        times => format!(" ({times}x)"),
    };
    let message = sentence(report.message.trim_end_matches('.'));
    let kind = about.kind.to_ascii_lowercase();
    format!("{} {} {kind}/{}{times}: {message}", report.severity, report.reason, about.name)
}
