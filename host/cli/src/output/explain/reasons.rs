//! The fixed reasons in words.

use workload_host::model::Status;

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

#[cfg(test)]
mod tests {
    use super::*;

    /// The fixed words, as they are promised.
    const ALL: [(Status, &[&str]); 6] = [
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

    #[test]
    fn every_fixed_reason_has_words_of_its_own() {
        let mut seen = std::collections::BTreeSet::new();
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
