//! Explain: the status with all that speaks for it. What belongs to the workload is read whatever the table wants, and so
//! is what the cluster reported about it.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::rc::Rc;

use workload_guest::{Cx, Workload, join, join_all};

use super::case::Case;
use super::claims::{self, remark};
use super::status::remarked;
use crate::answer::{Action, Trouble, printed, quoted};
use crate::api::{Object, ReplicaSet, Report};
use crate::read::{Listing, Look, list, retry};
use crate::request::{Resource, Which};
use crate::status::{Beside, Observed, advice};
use crate::time::{milliseconds, span};

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
    let dispute = case.dispute(&look);
    let (look, dispute) = join(case.beside(look, Resource::ReplicaSets), dispute).await;
    let look = look?;
    let sets = look.sight.with(case.own(), own_sets).unwrap_or_default();
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
    let pods = look.sight.with(case.own(), own_pods).unwrap_or_default();
    told.extend(reports(&cx, &namespace, pods.into_iter()).await);

    let remark = remark(&look.claim).or_else(|| dispute.as_ref().map(|_| "another one claims its id too".to_owned()));
    let mut workload = remarked(case.workload(&look), remark);
    let advice = match &dispute {
        Some(dispute) => Some(claims::advice(dispute)),
        None => look.sight.with(case.own(), |observed| advice(observed, &look.verdict)).ok().flatten(),
    };
    let mut more: Vec<(String, String)> = advice.map(|advice| ("advice".to_owned(), advice)).into_iter().collect();
    more.extend(not_allowed(case, &look, &told).into_iter().map(|what| ("not-allowed".to_owned(), what)));
    more.extend(told_facts(&told, look.sight.variables().as_deref()));
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
fn own_sets(observed: &Observed<'_, '_>) -> Vec<String> {
    let mut sets: Vec<&ReplicaSet<'_>> = observed.own_sets().collect();
    sets.sort_by_key(|set| Reverse((set.metadata.created_ms(), set.metadata.uid.to_string())));
    sets.into_iter().take(SETS).map(|set| set.metadata.uid.to_string()).collect()
}

/// Its Pods, those that are not ready first.
fn own_pods(observed: &Observed<'_, '_>) -> Vec<String> {
    let mut pods = observed.own_pods();
    pods.sort_by_key(|pod| pod.is_ready());
    pods.into_iter().take(PODS).map(|pod| pod.metadata.uid.to_string()).collect()
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
fn told_facts(told: &[Told], variables: Option<&[String]>) -> Vec<(String, String)> {
    let mut reports: Vec<(Option<u64>, String)> = Vec::new();
    let mut seen = BTreeSet::new();
    for listing in told.iter().flatten() {
        for (_, name, raw) in listing.table.all() {
            let Ok(report) = Report::decode_item(raw.bytes()) else { continue };
            if seen.insert(name) {
                let at = milliseconds(report.last());
                let ago = at.zip(listing.server_ms).map(|(at, now)| now.saturating_sub(at));
                reports.push((at, words(&report, ago, variables)));
            }
        }
    }
    // Most are written by the second. Within one they stay as they were read: what makes others before what is made, and of
    // one object by name, which holds the exact time.
    reports.sort_by_key(|(at, _)| *at);
    let first = reports.len().saturating_sub(REPORTS);
    let told_of = reports.into_iter().skip(first).enumerate();
    let mut facts: Vec<(String, String)> =
        told_of.map(|(index, (_, words))| (format!("event {}", index + 1), words)).collect();
    let failed = told.iter().filter_map(|told| told.as_ref().err()).find(|trouble| !trouble.is_not_allowed());
    facts.extend(failed.map(|trouble| ("events".to_owned(), trouble.words())));
    facts
}

/// One report, e.g. `Warning FailedScheduling pod/web-1-a (12x, last 40 s ago): message`.
fn words(report: &Report<'_>, ago_ms: Option<u64>, variables: Option<&[String]>) -> String {
    let about = &report.involved_object;
    let ago = ago_ms.map(|ms| format!("{} ago", span(ms.max(1_000))));
    let when = match (report.times(), ago) {
        (1, None) => String::new(),
        (1, Some(ago)) => format!(" ({ago})"),
        (times, None) => format!(" ({times}x)"),
        (times, Some(ago)) => format!(" ({times}x, last {ago})"),
    };
    let kind = about.kind.to_ascii_lowercase();
    let variables = || variables.map(<[String]>::to_vec);
    // What the runtime says of a container that it could not start may hold its command line.
    let runtime = kind == "pod" && report.reason == "Failed";
    let message = if runtime { printed(&report.message, variables) } else { quoted(&report.message, variables) };
    format!("{} {} {kind}/{}{when}: {message}", report.severity, report.reason, about.name)
}
