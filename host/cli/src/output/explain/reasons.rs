//! The fixed reasons in words, and what can be done about each.

use workload_host::model::{Ownership, Status, Workload};

/// What a reason means, whatever the engine; none for a word that is not of the fixed list.
pub fn meaning(status: Status, reason: &str) -> Option<&'static str> {
    let words = match (status, reason) {
        (Status::Running, "available") => "every replica that is wanted serves",
        (Status::Running, "partial") => "it serves with fewer replicas than are wanted",
        (Status::Running, "paused") => "every replica that is wanted serves; changes wait until its rollout is resumed",
        (Status::Offline, "stopped") => "no replica is wanted, and none is left",
        (Status::Offline, "stopped-unverified") => {
            "no replica is wanted, and none is left as far as we are allowed to look"
        }
        (Status::Offline, "completed") => "it ran to its end, and ended well",
        (Status::Offline, "stopping") => "no replica is wanted, but some are left",
        (Status::Offline, "deleting") => "it is being deleted",
        (Status::Creating, "unobserved") => "the engine has not taken notice of the last change yet",
        (Status::Creating, "rollout") => "a new revision is taking the place of the old one",
        (Status::Creating, "starting") => "its replicas are coming up",
        (Status::Creating, "unschedulable") => "no node has room for it, or none that it may run on",
        (Status::Creating, "image-pull") => "its image could not be pulled, which is tried again",
        (Status::Creating, "pod-error") => "the engine could not set up what it runs in, which is tried again",
        (Status::Creating, "bootstrapping") => "it runs, and is being prepared",
        (Status::Creating, "unhealthy") => "it runs, but does not answer as it should",
        (Status::Failed, "deadline-exceeded") => "its rollout did not come further in the time that it was given",
        (Status::Failed, "rollout-error") => "its rollout could not be begun",
        (Status::Failed, "replica-failure") => "the engine refuses to make its replicas",
        (Status::Failed, "crash-loop") => "it ends soon after each start",
        (Status::Failed, "image-error") => "its image cannot be used, and trying again does not help",
        (Status::Failed, "config-error") => "something that it is configured with is not there or not right",
        (Status::Failed, "init-error") => "what has to run before it fails",
        (Status::Failed, "paused") => "its rollout is paused, and nothing starts until it is resumed",
        (Status::Failed, "exited") => "it ended with an error",
        (Status::Missing, "not-found") => "there is no such workload",
        (Status::Missing, "not-owned") => "what has this name is not ours",
        (Status::Unknown, "unreachable") => "the engine gave no answer, so nothing is known",
        (Status::Unknown, "unauthorized") => "the engine does not accept our credentials, so nothing is known",
        (Status::Unknown, "forbidden") => "we are not allowed to look, so nothing is known",
        (Status::Unknown, "throttled") => "the engine had too much to do to answer, so nothing is known",
        (Status::Unknown, "malformed") => "the engine's answer makes no sense, so nothing is known",
        _ => return None,
    };
    Some(words)
}

/// What can be done by somebody who has this command line, whatever the engine; none where all is well, and for a word
/// that is not of the fixed list. What the provider advises is better: it saw what is wrong.
pub fn advice(workload: &Workload, as_owner: &Ownership) -> Option<String> {
    let id = &workload.id;
    let (place, name) = id.split_once('/').unwrap_or(("", id));
    let waits = format!("`workload start {id}` waits until it runs, and says what it waits for");
    let words = match (workload.status, workload.reason.as_str()) {
        (Status::Running, "partial") => {
            format!("look below at what is not ready; `workload start {id}` waits until all are available")
        }
        (Status::Running, "paused") => "resume its rollout when its changes are to take effect".to_owned(),
        (Status::Offline, "stopped") => format!("nothing, or `workload start {id}` to make it run"),
        (Status::Offline, "stopped-unverified") => permissions(place),
        (Status::Offline, "stopping") => format!("wait: `workload stop {id}` ends when nothing of it is left"),
        (Status::Offline, "deleting") => format!("wait: `workload delete {id}` ends when it is gone"),
        (Status::Creating, "unobserved" | "rollout") => format!("wait: {waits}"),
        (Status::Creating, "starting" | "bootstrapping" | "unhealthy") => {
            format!("wait: {waits}; if that does not end, look below at what is not ready, and at what it writes")
        }
        (Status::Creating, "unschedulable") => {
            "make room for it, or ask for less: the message says what does not fit".to_owned()
        }
        (Status::Creating, "image-pull") => {
            "look whether its registry can be reached: the pull is tried again by itself".to_owned()
        }
        (Status::Creating, "pod-error") => format!("read what it last wrote; it is tried again by itself, and {waits}"),
        (Status::Failed, "deadline-exceeded") => {
            "look below at what is not ready and correct that: the rollout then goes on".to_owned()
        }
        (Status::Failed, "rollout-error" | "replica-failure" | "config-error" | "init-error") => {
            "correct what the message names".to_owned()
        }
        (Status::Failed, "image-error") => "correct its image, or let its registry have it".to_owned(),
        (Status::Failed, "crash-loop" | "exited") => {
            "read what it last wrote, and correct its command or what it needs".to_owned()
        }
        (Status::Failed, "paused") => "resume its rollout".to_owned(),
        (Status::Missing, "not-found") => format!(
            "look whether it has another name than {name} or is not in namespace {place}: `workload list -A` shows all of \
             them; or make it with `workload create`"
        ),
        (Status::Missing, "not-owned") => not_owned(as_owner),
        (Status::Unknown, "unreachable") => "`workload doctor` says what stands in the way".to_owned(),
        (Status::Unknown, "unauthorized") => {
            "renew the credential of the kubeconfig: `workload doctor` says which is used, and until when it is good"
                .to_owned()
        }
        (Status::Unknown, "forbidden") => permissions(place),
        (Status::Unknown, "throttled") => "ask again in a while: the engine has too much to do".to_owned(),
        (Status::Unknown, "malformed") => "`workload doctor` says whether what answers is the engine at all".to_owned(),
        _ => return None,
    };
    Some(words)
}

/// Which are missing, and how to get them.
fn permissions(place: &str) -> String {
    format!(
        "`workload doctor -n {place}` names each permission that is missing; `workload rbac -n {place}` prints a role with \
         all of them, for an administrator to apply"
    )
}

/// Whose it is can be read where we look for ourselves.
fn not_owned(as_owner: &Ownership) -> String {
    let Ownership { owner, labels, .. } = as_owner;
    let label = labels.iter().rev().find(|(_, value)| value == owner).map_or("owner", |(key, _)| key.as_str());
    format!(
        "look at its label {label}: if it names an owner, `--owner` with that value acts as that one, and this was asked as \
         {owner}; what has no such label, or another controller, is not ours to change"
    )
}

#[cfg(test)]
pub(in crate::output) mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::testing::workload;

    /// The fixed words, as they are promised.
    pub(in crate::output) const ALL: [(Status, &[&str]); 6] = [
        (Status::Running, &["available", "partial", "paused"]),
        (Status::Offline, &["stopped", "stopped-unverified", "completed", "stopping", "deleting"]),
        (
            Status::Creating,
            &[
                "unobserved",
                "rollout",
                "starting",
                "unschedulable",
                "image-pull",
                "pod-error",
                "bootstrapping",
                "unhealthy",
            ],
        ),
        (
            Status::Failed,
            &[
                "deadline-exceeded",
                "rollout-error",
                "replica-failure",
                "crash-loop",
                "image-error",
                "config-error",
                "init-error",
                "paused",
                "exited",
            ],
        ),
        (Status::Missing, &["not-found", "not-owned"]),
        (Status::Unknown, &["unreachable", "unauthorized", "forbidden", "throttled", "malformed"]),
    ];

    /// Where there is nothing to be done.
    const WELL: [(Status, &str); 2] = [(Status::Running, "available"), (Status::Offline, "completed")];

    fn advised(status: Status, reason: &str) -> Option<String> {
        let found = Workload { status, reason: reason.to_owned(), ..workload("shop/web") };
        advice(&found, &Ownership::new("example.org", "team-a"))
    }

    /// Status and reason of each row of the page.
    fn on_the_page() -> BTreeSet<(String, String)> {
        let page = include_str!("../../../../../docs/status.md");
        let (_, table) = page.split_once("## The table").unwrap();
        let (table, _) = table.split_once("\n## ").unwrap();
        let rows = table.lines().filter_map(|line| {
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [.., status, reason] = cells[..] else { return None };
            let told = line.starts_with("| `") && !reason.is_empty();
            told.then(|| (status.to_owned(), reason.to_owned()))
        });
        rows.collect()
    }

    #[test]
    fn every_reason_on_the_page_has_advice() {
        let page = on_the_page();
        assert!(page.len() > 25, "the page has {} states: {page:?}", page.len());
        let all: Vec<(Status, &str)> =
            ALL.iter().flat_map(|(status, reasons)| reasons.iter().map(|reason| (*status, *reason))).collect();
        for (status, reason) in &page {
            let known = all.iter().find(|(known, of)| known.word() == status && of == reason);
            assert!(known.is_some(), "{status} {reason} is not of the fixed list");
        }
        for (status, reason) in all {
            assert_eq!(advised(status, reason).is_none(), WELL.contains(&(status, reason)), "{status} {reason}");
        }
        assert_eq!(advised(Status::Running, "crash-loop"), None);
    }

    #[test]
    fn advice_names_what_is_to_be_typed() {
        let said = |status, reason, part: &str| {
            let words = advised(status, reason).unwrap();
            assert!(words.contains(part), "{words}");
            assert!(!words.ends_with('.'), "{words}");
        };
        said(Status::Unknown, "unreachable", "`workload doctor`");
        said(Status::Unknown, "forbidden", "`workload rbac -n shop`");
        said(Status::Missing, "not-found", "another name than web or is not in namespace shop: `workload list -A`");
        said(Status::Missing, "not-owned", "label example.org/owner");
        said(Status::Missing, "not-owned", "asked as team-a");
        said(Status::Offline, "stopping", "`workload stop shop/web`");
    }

    #[test]
    fn every_fixed_reason_has_words_of_its_own() {
        let mut seen = BTreeSet::new();
        for (status, reasons) in ALL {
            for reason in reasons {
                let words = meaning(status, reason).unwrap_or_else(|| panic!("{status} {reason} has no words"));
                assert!(seen.insert(words), "{status} {reason}: {words}");
                assert!(!words.ends_with('.') && words.starts_with(char::is_lowercase), "{words}");
            }
        }
    }

    #[test]
    fn a_reason_belongs_to_its_status() {
        assert_eq!(meaning(Status::Running, "crash-loop"), None);
        assert_eq!(meaning(Status::Creating, "something-else"), None);
    }
}
