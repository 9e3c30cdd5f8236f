//! Stops that are not heeded.

use workload_guest::Effect;

use super::Step;
use crate::given::{Given, answers, asking, is_stop, turn, word};

/// Short, so that a host which only steps on an answer has one to step on.
const NAP_MS: u64 = 100;

pub(super) fn ignore_stop(given: Given, cleaning: bool) -> Step {
    let mut last = 0;
    let mut stopped = false;
    Box::new(move |_, events| {
        stopped |= is_stop(&events);
        let mut turn = turn();
        if last == 0 || !answers(events).is_empty() {
            last += 1;
            turn.need = vec![given.ask(last, Effect::Sleep(NAP_MS))];
        }
        turn.cleaning = cleaning && stopped;
        turn
    })
}

pub(super) fn ask_after_stop(given: Given) -> Step {
    const SLEEP: u32 = 1;
    const WRITE: u32 = 2;
    let mut began = false;
    Box::new(move |_, events| {
        if !began {
            began = true;
            return asking(vec![given.ask(SLEEP, Effect::Sleep(3_600_000))]);
        }
        if is_stop(&events) {
            let mut turn = asking(vec![given.ask(WRITE, given.patch_scale())]);
            turn.dropped = vec![SLEEP];
            return turn;
        }
        match answers(events).iter().find(|(id, _)| *id == WRITE) {
            Some((_, answer)) => given.report([("write".to_owned(), word(answer))]),
            None => turn(),
        }
    })
}
