use std::future::pending;

use rstest::rstest;
use workload_host::model::{Method, Outcome, OutcomeWord, Planned, PlannedRequest, Settled};

use super::*;
use crate::exit::Exit;
use crate::testing::{Script, outcome, workload};

#[derive(Default)]
struct Lines(Vec<String>);

impl Listener for Lines {
    fn progress(&mut self, id: &str, text: &str) {
        self.0.push(format!("{id}: {text}"));
    }

    fn ended(&mut self, entry: &Entry) {
        let how = match &entry.end {
            End::Done(outcome) | End::Nothing(outcome) => outcome.word.to_string(),
            End::Planned(request) => format!("would {}", request.method.as_str()),
            End::Fault(fault) => fault.to_string(),
        };
        self.0.push(format!("{} {how}", entry.id));
    }

    fn interrupted(&mut self) {
        self.0.push("interrupted".to_owned());
    }

    async fn refresh(&mut self) {
        pending().await
    }
}

fn progress(id: &str, text: &str) -> Event {
    Event::Progress { id: id.to_owned(), text: text.to_owned() }
}

fn settled(id: &str, result: Result<Outcome, Fault>) -> Event {
    Event::Settled(Settled { id: id.to_owned(), result, elapsed: Duration::from_millis(3200) })
}

fn started(id: &str) -> Event {
    settled(id, Ok(outcome(OutcomeWord::Started, id)))
}

fn ids(ids: &[&str]) -> Vec<String> {
    ids.iter().map(|id| (*id).to_owned()).collect()
}

#[tokio::test]
async fn ids_are_told_as_they_end_and_kept_in_order() {
    let not_found = Fault::new(FaultKind::NotFound, "no such deployment");
    let mut script = Script {
        before: [
            progress("d/a", "0 of 1 replicas available"),
            progress("d/a", "0 of 1 replicas available"),
            settled("d/b", Err(not_found.clone())),
            progress("d/a", "1 of 1 replicas available"),
            started("d/a"),
        ]
        .into(),
        ..Script::default()
    };
    let mut lines = Lines::default();
    let heard = listen(&mut script, &ids(&["d/a", "d/b"]), pending(), &mut lines).await;
    let expected = [
        "d/a: 0 of 1 replicas available",
        "d/b not-found: no such deployment",
        "d/a: 1 of 1 replicas available",
        "d/a started",
    ];
    assert_eq!(lines.0, expected);
    assert_eq!(heard.entries.iter().map(|entry| entry.id.as_str()).collect::<Vec<_>>(), ["d/a", "d/b"]);
    assert_eq!(heard.entries[1].end, End::Fault(not_found));
    assert_eq!(heard.entries.iter().map(Entry::exit).max(), Some(Exit::NotFound));
    assert!(!heard.interrupted);
}

#[tokio::test]
async fn a_plan_stands_for_the_end() {
    let request = PlannedRequest { method: Method::Patch, target: "/x".to_owned(), body: None };
    let planned = Planned { id: "d/a".to_owned(), request: request.clone(), elapsed: Duration::ZERO };
    let mut script = Script { before: [Event::Planned(planned)].into(), ..Script::default() };
    let heard = listen(&mut script, &ids(&["d/a"]), pending(), &mut Lines::default()).await;
    assert_eq!(heard.entries[0].end, End::Planned(request));
    assert_eq!(heard.entries[0].exit(), Exit::Ok);
}

#[tokio::test]
async fn a_list_keeps_the_last_of_each() {
    let partial = Workload { available: 0, ..workload("d/a") };
    let fault = Fault::new(FaultKind::Forbidden, "may not list deployments");
    let mut script = Script {
        before: [
            Event::Emitted(partial),
            Event::Emitted(workload("d/b")),
            Event::Emitted(workload("d/a")),
            Event::Incomplete { place: "secret".to_owned(), fault: fault.clone() },
        ]
        .into(),
        ..Script::default()
    };
    let heard = listen(&mut script, &[], pending(), &mut Lines::default()).await;
    assert_eq!(heard.emitted.into_values().collect::<Vec<_>>(), [workload("d/a"), workload("d/b")]);
    assert_eq!(heard.incomplete, [("secret".to_owned(), fault)]);
}

#[rstest]
#[case::said_nothing(&[], "; nothing is known of its state")]
#[case::waited(&[("d/a", "0 of 1 replicas available")], "; last known: 0 of 1 replicas available")]
#[tokio::test(start_paused = true)]
async fn an_interrupt_says_how_a_workload_was_left(#[case] said: &[(&str, &str)], #[case] last: &str) {
    let before = said.iter().map(|(id, text)| progress(id, text)).collect();
    let mut script = Script { before, hangs: true, ..Script::default() };
    let began = tokio::time::Instant::now();
    // Later than everything that was said, and long after the grace would be over if it had begun with the operation.
    let interrupt = tokio::time::sleep(GRACE * 5);
    let heard = listen(&mut script, &ids(&["d/a"]), interrupt, &mut Lines::default()).await;
    assert!(heard.interrupted);
    assert_eq!(script.cancelled.get(), 1);
    assert_eq!(began.elapsed(), GRACE * 6);
    let End::Fault(fault) = &heard.entries[0].end else { panic!("not a fault: {:?}", heard.entries) };
    let message = format!("interrupted before its end was known; what was already sent may still take effect{last}");
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Cancelled, message.as_str()));
    assert_eq!(heard.entries[0].exit(), Exit::Interrupted);
}

#[rstest]
#[case::nothing_known(&[], "cancelled after 3 s", "cancelled after 3 s; nothing is known of its state")]
#[case::adds_it(&[("d/b", "no Pod yet")], "cancelled after 3 s", "cancelled after 3 s; last known: no Pod yet")]
#[case::says_it(&[("d/b", "no Pod yet")], "cancelled: no Pod yet", "cancelled: no Pod yet")]
#[tokio::test(start_paused = true)]
async fn what_ends_within_the_grace_is_believed(
    #[case] said: &[(&str, &str)],
    #[case] message: &str,
    #[case] expected: &str,
) {
    let before = said.iter().map(|(id, text)| progress(id, text)).collect();
    let after = [started("d/a"), settled("d/b", Err(Fault::new(FaultKind::Cancelled, message)))].into();
    let mut script = Script { before, after, ..Script::default() };
    // Later than everything that was said before.
    let interrupt = tokio::time::sleep(GRACE);
    let heard = listen(&mut script, &ids(&["d/a", "d/b"]), interrupt, &mut Lines::default()).await;
    assert!(heard.interrupted);
    assert_eq!(heard.entries[0].exit(), Exit::Ok);
    let End::Fault(fault) = &heard.entries[1].end else { panic!("not a fault: {:?}", heard.entries) };
    assert_eq!((fault.kind, fault.message.as_str()), (FaultKind::Cancelled, expected));
}

/// A provider says in the end what it said before, without what was of use only while it waited.
#[rstest]
#[case::without_the_meanwhile("1 pod is left (its pods are given 30s to end)", "1 pod is left")]
#[case::with_the_cause("cannot get it: no answer", "cannot get it: no answer: the connection was refused")]
#[tokio::test(start_paused = true)]
async fn what_the_provider_said_last_is_said_once(#[case] while_it_waits: &str, #[case] in_the_end: &str) {
    let message = format!("cancelled after 3 s: {in_the_end}");
    let last = in_the_end.split(": the connection").next().unwrap();
    let fault = Fault::new(FaultKind::Cancelled, message).with("last", last);
    let before = [progress("d/a", while_it_waits)].into();
    let after = [settled("d/a", Err(fault.clone()))].into();
    let mut script = Script { before, after, ..Script::default() };
    let heard = listen(&mut script, &ids(&["d/a"]), tokio::time::sleep(GRACE), &mut Lines::default()).await;
    assert_eq!(heard.entries[0].end, End::Fault(fault));
}

#[rstest]
#[case::after_a_good_end(started("d/a"), true)]
#[case::after_another_fault(settled("d/a", Err(Fault::new(FaultKind::NotFound, "x"))), true)]
#[case::of_the_workload_too(settled("d/a", Err(Fault::new(FaultKind::ProviderFault, "trapped"))), false)]
#[tokio::test]
async fn a_rule_broken_after_the_end_is_not_forgotten(#[case] end: Event, #[case] unsaid: bool) {
    let fault = Fault::new(FaultKind::ProviderFault, "trapped");
    let mut script = Script { before: [end, Event::Failed(fault.clone())].into(), ..Script::default() };
    let heard = listen(&mut script, &ids(&["d/a"]), pending(), &mut Lines::default()).await;
    assert_eq!(heard.unsaid(), unsaid.then_some(&fault));
}

#[rstest]
#[case::with_a_fault(Some(Fault::new(FaultKind::ProviderFault, "trapped")), FaultKind::ProviderFault)]
#[case::silently(None, FaultKind::Internal)]
#[tokio::test]
async fn no_id_is_left_without_an_end(#[case] fault: Option<Fault>, #[case] kind: FaultKind) {
    let before = fault.into_iter().map(Event::Failed).collect();
    let mut script = Script { before, ..Script::default() };
    let mut lines = Lines::default();
    let heard = listen(&mut script, &ids(&["d/a"]), pending(), &mut lines).await;
    assert_eq!(heard.entries[0].exit(), Exit::from(kind));
    assert_eq!(lines.0.len(), 1);
}
