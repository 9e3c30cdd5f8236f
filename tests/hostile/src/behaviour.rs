//! Which behaviour is which. The table in the crate's documentation says what they do.

mod honest;
mod quota;
mod resources;
mod rules;
mod winding;

use workload_guest::{Event, Fault, FaultKind, Turn};

use crate::given::Given;

/// What the operation does at each step.
pub(crate) type Step = Box<dyn FnMut(u64, Vec<Event>) -> Turn>;

/// The behaviour that the settings name.
pub(crate) fn of(given: Given) -> Step {
    let name = given.setting("behaviour").unwrap_or("good").to_owned();
    match name.as_str() {
        "good" => honest::good(given),
        "echo" => honest::echo(given),

        "loop-call" => resources::endless(),
        "loop-step" => Box::new(|_, _| resources::endless()),
        "recurse" => Box::new(|now, _| resources::recurse(now)),
        "grow" => Box::new(|_, _| resources::grow()),
        "huge-return" => Box::new(|_, _| resources::huge_return()),
        "huge-return-100" => Box::new(|_, _| resources::huge_return_shared()),
        "trap-call" => std::process::abort(),
        "trap-step" => Box::new(|_, _| std::process::abort()),
        "trap-later" => resources::trap_later(given),

        "stall" => rules::stall(),
        "idle" => rules::idle(given),
        "sleep-forever" => rules::sleep_forever(given, 1, false),
        "sleep-zero" => rules::sleep_forever(given, 0, false),
        "emit-forever" => rules::sleep_forever(given, 1, true),
        "duplicate-effect" => rules::duplicate_effect(given),
        "reuse-effect" => rules::reuse_effect(given),
        "settle-twice" => rules::settle_twice(given),
        "settle-again" => rules::settle_again(given),
        "settle-unknown" => rules::settle_unknown(given),
        "finish-unsettled" => rules::finish_unsettled(),
        "finish-asking" => rules::finish_asking(given),
        "drop-unknown" => rules::drop_unknown(given),
        "escape" => rules::escape(given),

        "burst" => quota::burst(given),
        "flood" => quota::flood(given),
        "big-body" => quota::big_body(given),
        "write" => quota::write(given),
        "write-unnamed" => quota::write_unnamed(given),
        "write-foreign" => quota::write_foreign(given),
        "out-of-grants" => quota::out_of_grants(given),
        "exotic" => quota::exotic(given),

        "ignore-stop" => winding::ignore_stop(given, false),
        "clean-forever" => winding::ignore_stop(given, true),
        "ask-after-stop" => winding::ask_after_stop(given),

        _ => Box::new(move |_, _| {
            given.settle(&Err(Fault::new(FaultKind::Unsupported, format!("no behaviour is called {name}"))))
        }),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use workload_guest::testing::Options;
    use workload_guest::{Answer, Failure, OutcomeWord};

    use super::*;

    /// Runs one that ends, with every effect denied, and gives its last turn and how many effects it asked for.
    fn denied(behaviour: &str) -> (Turn, usize) {
        let context = Options::default().setting("behaviour", behaviour).context();
        let ids = vec!["default/web".to_owned(), "default/api".to_owned()];
        let mut step = of(Given { call: "start", context, ids, argument: String::new() });
        let (mut events, mut asked) = (Vec::new(), 0);
        loop {
            let turn = step(0, std::mem::take(&mut events));
            asked += turn.need.len();
            if turn.finished {
                return (turn, asked);
            }
            let answer = |id| Event::Answer((id, Answer::Failed(Failure::Denied)));
            events.extend(turn.need.iter().map(|pending| answer(pending.id)));
            assert!(!events.is_empty(), "it waits for nothing");
        }
    }

    #[rstest]
    #[case::burst("burst", 100, &["denied=100"])]
    #[case::flood("flood", 10_000, &["denied=10000"])]
    #[case::big_body("big-body", 1, &["big-body=denied"])]
    #[case::write("write", 1, &["write=denied"])]
    #[case::write_unnamed("write-unnamed", 1, &["write-unnamed=denied"])]
    #[case::write_foreign("write-foreign", 1, &["write-foreign=denied"])]
    #[case::out_of_grants("out-of-grants", 6, &[
        "secret=denied", "exec=denied", "other-namespace=denied", "all-namespaces=denied", "metrics=denied",
        "dots=denied",
    ])]
    #[case::exotic("exotic", 8, &[
        "exec=denied", "forward=denied", "close=denied", "call=denied", "make-secret=denied", "forget-secret=denied",
        "checkpoint=denied", "forget-record=denied",
    ])]
    #[case::unknown("no-such-behaviour", 0, &[])]
    fn what_came_of_it_is_reported(#[case] behaviour: &str, #[case] effects: usize, #[case] expected: &[&str]) {
        let (turn, asked) = denied(behaviour);
        assert_eq!((asked, turn.settled.len()), (effects, 2));
        for (_, result) in turn.settled {
            let fault = result.expect_err("it should report a fault");
            let detail: Vec<String> = fault.detail.iter().map(|(name, value)| format!("{name}={value}")).collect();
            assert_eq!(detail, expected);
        }
    }

    #[rstest]
    #[case::good("good", OutcomeWord::Started, &[])]
    #[case::echo("echo", OutcomeWord::Read, &[
        ("call", "start"), ("owner", "default"), ("seed-length", "32"), ("setting behaviour", "echo"),
        ("label workload-provider/managed", "true"), ("failed", "denied"),
    ])]
    fn the_honest_ones_settle_well(
        #[case] behaviour: &str,
        #[case] word: OutcomeWord,
        #[case] expected: &[(&str, &str)],
    ) {
        let (turn, asked) = denied(behaviour);
        assert_eq!((asked, turn.settled.len()), (1, 2));
        for (_, result) in turn.settled {
            let outcome = result.expect("it should settle well");
            let facts = outcome.workload.map(|workload| workload.facts).unwrap_or_default();
            assert_eq!(outcome.word, word);
            for (name, value) in expected {
                assert!(facts.contains(&((*name).to_owned(), (*value).to_owned())), "no {name} in {facts:?}");
            }
        }
    }
}
