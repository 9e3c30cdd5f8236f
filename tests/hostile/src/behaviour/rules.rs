//! What a turn must not say.

use workload_guest::{Effect, Fault, FaultKind, OutcomeWord, Status, Workload};

use super::{Step, honest};
use crate::given::{Given, answers, asking, turn};

const HOUR_MS: u64 = 3_600_000;

pub(super) fn stall() -> Step {
    Box::new(|_, _| turn())
}

pub(super) fn idle(given: Given) -> Step {
    let mut need = vec![given.ask(1, Effect::Sleep(HOUR_MS))];
    Box::new(move |_, _| asking(std::mem::take(&mut need)))
}

pub(super) fn sleep_forever(given: Given, ms: u64, emit: bool) -> Step {
    let mut last = 0;
    let mut first = true;
    Box::new(move |_, events| {
        if answers(events).is_empty() && !first {
            return turn();
        }
        first = false;
        last += 1;
        let mut turn = asking(vec![given.ask(last, Effect::Sleep(ms))]);
        if emit {
            turn.emitted.push(Workload::named("default/probe", Status::Running, "available"));
        }
        turn
    })
}

pub(super) fn duplicate_effect(given: Given) -> Step {
    Box::new(move |_, _| asking(vec![given.ask(7, given.get()), given.ask(7, given.get())]))
}

pub(super) fn reuse_effect(given: Given) -> Step {
    Box::new(move |_, _| asking(vec![given.ask(7, given.get())]))
}

pub(super) fn settle_twice(given: Given) -> Step {
    Box::new(move |_, _| {
        let mut turn = given.well(OutcomeWord::Started, Vec::new());
        turn.settled.extend(turn.settled.clone());
        turn
    })
}

pub(super) fn settle_again(given: Given) -> Step {
    let mut last = 0;
    Box::new(move |_, _| {
        last += 1;
        let mut turn = given.well(OutcomeWord::Started, Vec::new());
        turn.need = vec![given.ask(last, Effect::Sleep(1))];
        turn.finished = false;
        turn
    })
}

pub(super) fn settle_unknown(given: Given) -> Step {
    Box::new(move |_, _| {
        let mut turn = given.well(OutcomeWord::Started, Vec::new());
        for (id, _) in &mut turn.settled {
            *id = "default/never-heard-of".to_owned();
        }
        turn
    })
}

pub(super) fn finish_unsettled() -> Step {
    Box::new(|_, _| {
        let mut turn = turn();
        turn.finished = true;
        turn
    })
}

pub(super) fn finish_asking(given: Given) -> Step {
    let mut last = 0;
    Box::new(move |_, _| {
        last += 1;
        let mut turn = given.well(OutcomeWord::Started, Vec::new());
        turn.need = vec![given.ask(last, given.get())];
        turn
    })
}

pub(super) fn drop_unknown(given: Given) -> Step {
    let mut good = honest::good(given);
    Box::new(move |now, events| {
        let mut turn = good(now, events);
        turn.dropped = vec![0, 99, u32::MAX];
        turn
    })
}

/// What a terminal must not be shown: clear the screen, set the title, start a new line, write backwards.
const ESCAPE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\r\nERROR all is lost\u{202e}\u{9b}31m";

pub(super) fn escape(given: Given) -> Step {
    let text = ESCAPE.to_owned();
    Box::new(move |_, _| {
        let mut workload = Workload::named(text.clone(), Status::Failed, ESCAPE);
        workload.kind = text.clone();
        workload.message = Some(text.clone());
        workload.node = Some(text.clone());
        let fault = Fault::new(FaultKind::RolloutFailed, ESCAPE).with(ESCAPE, ESCAPE);
        let mut turn = given.settle(&Err(fault.clone()));
        turn.progress = given.ids.iter().map(|id| (id.clone(), text.clone())).collect();
        turn.emitted = vec![workload];
        turn.incomplete = vec![(text.clone(), fault)];
        turn
    })
}
