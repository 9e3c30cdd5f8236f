//! Why the engine gave no answer, in the transport's words: a provider only knows that it gave none. They are added when
//! what it says has left it, so no provider is ever told.

use crate::model::{Fault, FaultKind, Outcome, Status, Workload};

/// The name of the detail, or of the fact.
const TRANSPORT: &str = "transport";

/// Reasons of a status that is not known because no answer came, or none that could be read.
const UNANSWERED: [&str; 2] = ["unreachable", "malformed"];

/// Adds it to a result that is about an engine without an answer. `trouble` knows it by the workload's id.
pub(super) fn of_result(result: &mut Result<Outcome, Fault>, id: &str, trouble: impl Fn(&str) -> Option<String>) {
    match result {
        Ok(outcome) => outcome.workload.iter_mut().for_each(|workload| of_workload(workload, &trouble)),
        Err(fault) => of_fault(fault, || trouble(id)),
    }
}

/// Adds it to a workload of which nothing is known for that reason.
pub(super) fn of_workload(workload: &mut Workload, trouble: impl Fn(&str) -> Option<String>) {
    if workload.status != Status::Unknown || !UNANSWERED.contains(&workload.reason.as_str()) {
        return;
    }
    let Some(words) = trouble(&workload.id) else { return };
    let message = workload.message.take().filter(|message| !message.is_empty());
    workload.message = Some(message.map_or_else(|| words.clone(), |message| format!("{message}: {words}")));
    workload.facts.push((TRANSPORT.to_owned(), words));
}

/// Adds it to a fault for that reason. Where there is a code there was an answer.
pub(super) fn of_fault(fault: &mut Fault, trouble: impl FnOnce() -> Option<String>) {
    let detail = |name: &str| fault.detail.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str());
    let unanswered = match (detail("code"), detail("reason")) {
        (Some(_), _) => false,
        (None, Some(reason)) => UNANSWERED.contains(&reason),
        (None, None) => fault.kind == FaultKind::Unavailable,
    };
    if !unanswered {
        return;
    }
    let Some(words) = trouble() else { return };
    fault.message = format!("{}: {words}", fault.message);
    fault.detail.push((TRANSPORT.to_owned(), words));
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    const REFUSED: &str = "the connection was refused";

    #[rstest]
    #[case::reason(Fault::new(FaultKind::Timeout, "no answer").with("reason", "unreachable"), true)]
    #[case::no_answer_that_can_be_read(Fault::new(FaultKind::Malformed, "x").with("reason", "malformed"), true)]
    #[case::kind_alone(Fault::new(FaultKind::Unavailable, "no answer"), true)]
    #[case::there_was_an_answer(Fault::new(FaultKind::Unavailable, "503").with("reason", "unreachable").with("code", "503"), false)]
    #[case::another_reason(Fault::new(FaultKind::Timeout, "0 of 1").with("reason", "starting"), false)]
    #[case::another_kind(Fault::new(FaultKind::Forbidden, "no"), false)]
    fn faults(#[case] fault: Fault, #[case] told: bool) {
        let (mut with, mut without) = (fault.clone(), fault.clone());
        of_fault(&mut with, || Some(REFUSED.to_owned()));
        of_fault(&mut without, || None);
        assert_eq!(without, fault);
        let message = format!("{}: {REFUSED}", fault.message);
        let expected = if told { Fault { message, ..fault.with(TRANSPORT, REFUSED) } } else { fault };
        assert_eq!(with, expected);
    }

    fn workload(status: Status, reason: &str, message: Option<&str>) -> Workload {
        Workload {
            id: "a/b".to_owned(),
            name: "b".to_owned(),
            kind: String::new(),
            status,
            reason: reason.to_owned(),
            message: message.map(str::to_owned),
            settled: false,
            serving_old: false,
            desired: 0,
            available: 0,
            image: None,
            node: None,
            address: None,
            created: None,
            owner: None,
            uid: None,
            retention: None,
            rule: String::new(),
            facts: Vec::new(),
        }
    }

    #[rstest]
    #[case::unreachable(
        Status::Unknown,
        "unreachable",
        Some("no answer"),
        Some("no answer: the connection was refused"),
        true
    )]
    #[case::without_a_message(Status::Unknown, "unreachable", None, Some(REFUSED), true)]
    #[case::not_allowed(Status::Unknown, "forbidden", Some("no"), Some("no"), false)]
    #[case::known(Status::Running, "available", None, None, false)]
    fn workloads(
        #[case] status: Status,
        #[case] reason: &str,
        #[case] said: Option<&str>,
        #[case] expected: Option<&str>,
        #[case] told: bool,
    ) {
        let mut found = workload(status, reason, said);
        of_workload(&mut found, |id| (id == "a/b").then(|| REFUSED.to_owned()));
        assert_eq!(found.message.as_deref(), expected);
        assert_eq!(!found.facts.is_empty(), told, "{:?}", found.facts);
    }
}
