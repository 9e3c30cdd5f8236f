//! The ones that keep the rules.

use workload_guest::{Answer, OutcomeWord, Response};

use super::Step;
use crate::given::{Given, answers, asking, failure_word, is_stop, turn};

/// One GET, then all is well.
pub(super) fn good(given: Given) -> Step {
    let mut asked = false;
    Box::new(move |_, events| {
        if !asked {
            asked = true;
            let mut first = asking(vec![given.ask(1, given.get())]);
            first.progress = given.ids.iter().map(|id| (id.clone(), "waiting for the engine".to_owned())).collect();
            return first;
        }
        if is_stop(&events) || answers(events).iter().any(|(_, answer)| is_last(answer)) {
            return given.well(OutcomeWord::Started, Vec::new());
        }
        turn()
    })
}

/// One GET, then everything that was given is told.
pub(super) fn echo(given: Given) -> Step {
    let mut facts = context(&given);
    let mut asked = false;
    Box::new(move |now, events| {
        if !asked {
            asked = true;
            return asking(vec![given.ask(1, given.get())]);
        }
        facts.push(("now".to_owned(), now.to_string()));
        let stopped = is_stop(&events);
        let answers = answers(events);
        answers.iter().for_each(|(_, answer)| tell(&mut facts, answer));
        if stopped || answers.iter().any(|(_, answer)| is_last(answer)) {
            return given.well(OutcomeWord::Read, std::mem::take(&mut facts));
        }
        turn()
    })
}

fn is_last(answer: &Answer) -> bool {
    !matches!(answer, Answer::Response(Response { last: false, .. }))
}

fn context(given: &Given) -> Vec<(String, String)> {
    let context = &given.context;
    let mut facts = vec![
        ("call".to_owned(), given.call.to_owned()),
        ("ids".to_owned(), given.ids.join(" ")),
        ("argument".to_owned(), given.argument.clone()),
        ("deadline".to_owned(), format!("{:?}", context.deadline)),
        ("plan".to_owned(), context.plan.to_string()),
        ("owner".to_owned(), context.ownership.owner.clone()),
        ("id-key".to_owned(), context.ownership.id_key.clone()),
        ("seed-length".to_owned(), context.seed.len().to_string()),
    ];
    let labels = context.ownership.labels.iter();
    facts.extend(labels.map(|label| (format!("label {}", label.key), label.value.clone())));
    facts.extend(context.settings.iter().map(|(name, value)| (format!("setting {name}"), value.clone())));
    let records = context.records.iter();
    facts.extend(records.map(|(id, record)| (format!("record {id}"), String::from_utf8_lossy(record).into_owned())));
    facts
}

fn tell(facts: &mut Vec<(String, String)>, answer: &Answer) {
    match answer {
        Answer::Response(response) => {
            facts.push(("status".to_owned(), response.status.to_string()));
            facts.push(("retry-after-ms".to_owned(), format!("{:?}", response.retry_after_ms)));
            facts.push(("date-ms".to_owned(), format!("{:?}", response.date_ms)));
            facts.push(("media".to_owned(), format!("{:?}", response.media)));
            facts.extend(response.headers.iter().map(|(name, value)| (format!("header {name}"), value.clone())));
            facts.push(("bytes".to_owned(), String::from_utf8_lossy(&response.bytes).into_owned()));
        }
        Answer::Failed(failure) => facts.push(("failed".to_owned(), failure_word(*failure).to_owned())),
        other => facts.push(("odd".to_owned(), format!("{other:?}"))),
    }
}
