//! One turn after another.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::pin::pin;

use rstest::rstest;
use workload_guest::testing::{Call, Options, Stepper, json, response, run};
use workload_guest::*;

use crate::provider::*;

provider!(ReadsOnce, async |cx, id| {
    let answer = cx.http(get(&id)).await?;
    if answer.status == 404 {
        return Err(fault(FaultKind::NotFound, "no such thing"));
    }
    said(text(&answer))
});

#[test]
fn ids_run_side_by_side_and_each_settles_as_it_ends() {
    let operation = start::<ReadsOnce>(&["a", "b", "c"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn), [(1, Some("a"), "a".into()), (2, Some("b"), "b".into()), (3, Some("c"), "c".into())]);
    assert!(turn.settled.is_empty() && !turn.finished);

    let missing = Event::Answer((3, Answer::Response(response(404, ""))));
    let turn = operation.step(1, vec![missing, answered(1, "one")]);
    assert_eq!(words(&turn.settled, "c"), "no such thing");
    assert_eq!(words(&turn.settled, "a"), "one");
    assert_eq!(turn.settled.len(), 2);
    assert!(!turn.finished, "b is still waiting");

    let turn = operation.step(2, vec![answered(2, "two")]);
    assert_eq!(words(&turn.settled, "b"), "two");
    assert_eq!(turn.settled.len(), 1);
    assert!(turn.finished);
}

#[rstest]
#[case::discover(Call::Discover(Scope { places: vec![] }, false))]
#[case::status(Call::Status(vec![], false))]
#[case::create(Call::Create(vec![]))]
#[case::start(Call::Start(vec![]))]
#[case::stop(Call::Stop(vec![], StopIntent::Preserve))]
#[case::delete(Call::Delete(vec![], StopIntent::Terminal))]
fn nothing_to_do_finishes_at_once(#[case] call: Call) {
    let turn = Stepper::new::<ReadsOnce>(call, &Options::default()).step(0, vec![]);
    assert!(turn.finished);
    assert_eq!((turn.need.len(), turn.settled.len()), (0, 0));
}

#[rstest]
#[case::stop(Call::Stop(vec!["a".into()], StopIntent::Preserve))]
#[case::delete(Call::Delete(vec!["a".into()], StopIntent::Terminal))]
fn what_a_provider_leaves_out_is_unsupported(#[case] call: Call) {
    let turn = Stepper::new::<ReadsOnce>(call, &Options::default()).step(0, vec![]);
    assert!(matches!(&turn.settled[..], [(_, Err(fault))] if fault.kind == FaultKind::Unsupported));
}

#[test]
fn an_id_given_twice_runs_once() {
    let operation = start::<ReadsOnce>(&["b", "a", "b", "a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn), [(1, Some("b"), "b".into()), (2, Some("a"), "a".into())]);
    let turn = operation.step(1, vec![answered(1, ""), answered(2, "")]);
    assert_eq!(turn.settled.len(), 2);
    assert!(turn.finished);
}

#[rstest]
#[case::alike("x", "x", "answer")]
#[case::different("x", "y", "given twice with different specs")]
fn a_spec_given_twice_settles_once(#[case] first: &str, #[case] second: &str, #[case] expected: &str) {
    let spec = |document: &str| Spec { id: "a".into(), document: document.into(), id_label: None };
    let call = Call::Create(vec![spec(first), spec(second)]);
    let run = run::<ReadsOnce>(call, Options::default(), |_| testing::text(200, "answer"));
    assert_eq!(run.settled.len(), 1);
    assert_eq!(words(&run.settled, "a"), expected);
}

provider!(Chain, async |cx, id| {
    for name in ["one", "two", "three"] {
        cx.progress(format!("reading {name}"));
        cx.http(get(name)).await?;
    }
    said("read")
});

#[test]
fn what_an_answer_leads_to_is_in_the_same_turn() {
    let operation = start::<Chain>(&["a"]);
    let mut seen = Vec::new();
    let mut turn = operation.step(0, vec![]);
    while !turn.finished {
        assert_eq!(turn.need.len(), 1);
        seen.extend(turn.progress.clone());
        turn = operation.step(0, vec![answered(turn.need[0].id, "")]);
    }
    let expected = ["one", "two", "three"].map(|name| ("a".to_owned(), format!("reading {name}")));
    assert_eq!(seen, expected);
    assert_eq!(words(&turn.settled, "a"), "read");
}

thread_local! {
    static POLLS: Cell<(u32, u32)> = const { Cell::new((0, 0)) };
}

provider!(Counted, async |cx, id| {
    let mut work = pin!(join_all([cx.http(get(&id)), cx.http(get(&id)), cx.http(get(&id))]));
    let count = |(a, b)| if id == "a" { (a + 1, b) } else { (a, b + 1) };
    let answers = poll_fn(|context| {
        POLLS.set(count(POLLS.get()));
        work.as_mut().poll(context)
    });
    said(answers.await.len().to_string())
});

#[test]
fn a_task_is_polled_once_for_all_that_woke_it_and_otherwise_not() {
    POLLS.set((0, 0));
    let operation = start::<Counted>(&["a", "b"]);
    operation.step(0, vec![]);
    assert_eq!(POLLS.get(), (1, 1));
    operation.step(1, vec![]);
    operation.step(2, vec![answered(9, "to nobody")]);
    assert_eq!(POLLS.get(), (1, 1));
    operation.step(3, vec![answered(4, "")]);
    assert_eq!(POLLS.get(), (1, 2));
    operation.step(4, vec![answered(1, ""), answered(2, "")]);
    assert_eq!(POLLS.get(), (2, 2));
    assert_eq!(words(&operation.step(5, vec![answered(3, "")]).settled, "a"), "3");
    assert_eq!(POLLS.get(), (3, 2));
}

provider!(WakesItself, async |cx, id| {
    let mut left = 3;
    poll_fn(|context| {
        left -= 1;
        context.waker().wake_by_ref();
        if left == 0 { std::task::Poll::Ready(()) } else { std::task::Poll::Pending }
    })
    .await;
    said("went on")
});

#[test]
fn a_task_that_wakes_itself_goes_on_in_the_same_step() {
    let turn = start::<WakesItself>(&["a"]).step(0, vec![]);
    assert_eq!(words(&turn.settled, "a"), "went on");
    assert!(turn.finished);
}

provider!(WaitsForAnything, async |cx, id| {
    let answers = join_all([
        Box::pin(async { cx.http(get("x")).await.map(|answer| text(&answer)) })
            as std::pin::Pin<Box<dyn Future<Output = Result<String, Failure>>>>,
        Box::pin(async { cx.sleep(5).await.map(|()| "slept".into()) }),
        Box::pin(async { cx.forget_record().await.map(|()| "forgot".into()) }),
        Box::pin(async { cx.forward(Forward { segments: vec![], port: 1 }).await.map(|handle| handle.to_string()) }),
    ])
    .await;
    said(format!("{answers:?}"))
});

#[rstest]
#[case::wrong_kinds(
    vec![
        Event::Answer((1, Answer::Elapsed)),
        Event::Answer((2, Answer::Done)),
        answered(3, "surprise"),
        Event::Answer((4, Answer::Elapsed)),
    ],
    "[Err(Failure::BadResponse), Err(Failure::BadResponse), Err(Failure::BadResponse), Err(Failure::BadResponse)]"
)]
#[case::failures(
    vec![
        failed(1, Failure::Lost),
        failed(2, Failure::Denied),
        failed(3, Failure::StoreFailed),
        failed(4, Failure::Unsupported),
    ],
    "[Err(Failure::Lost), Err(Failure::Denied), Err(Failure::StoreFailed), Err(Failure::Unsupported)]"
)]
#[case::unknown_twice_and_late(
    vec![
        answered(0, "never asked"),
        answered(u32::MAX, "never asked"),
        stop(Some("nobody"), StopReason::Deadline),
        answered(1, "first"),
        answered(1, "second"),
        Event::Answer((2, Answer::Elapsed)),
        failed(2, Failure::Lost),
        Event::Answer((3, Answer::Done)),
        Event::Answer((4, Answer::Forward(7))),
        answered(4, "again"),
    ],
    r#"[Ok("first"), Ok("slept"), Ok("forgot"), Ok("7")]"#
)]
fn odd_answers_end_nothing_but_their_effect(#[case] events: Vec<Event>, #[case] expected: &str) {
    let operation = start::<WaitsForAnything>(&["a"]);
    let before_anything = operation.step(0, vec![answered(1, "too early")]);
    assert_eq!(before_anything.need.len(), 4);
    let turn = operation.step(1, events);
    assert_eq!(words(&turn.settled, "a"), expected);
    assert!(turn.finished);

    let after = operation.step(2, vec![answered(1, "too late"), stop(None, StopReason::Cancelled)]);
    let nothing = Turn {
        need: vec![],
        dropped: vec![],
        emitted: vec![],
        settled: vec![],
        incomplete: vec![],
        progress: vec![],
        cleaning: false,
        finished: true,
    };
    assert_eq!(after, nothing);
}

provider!(TellsWhere, async |cx, id| {
    let answer = cx.http(get("x")).await?;
    said(format!("{:p} {} {:?}", answer.bytes.as_ptr(), answer.bytes.len(), answer.headers))
});

#[test]
fn a_response_of_one_part_is_not_copied() {
    let operation = start::<TellsWhere>(&["a"]);
    operation.step(0, vec![]);
    let mut answer = response(200, vec![b'x'; 1 << 20]);
    answer.headers.push(("link".into(), "next".into()));
    let expected = format!("{:p} {} {:?}", answer.bytes.as_ptr(), answer.bytes.len(), answer.headers);
    let turn = operation.step(1, vec![Event::Answer((1, Answer::Response(answer)))]);
    assert_eq!(words(&turn.settled, "a"), expected);
}

provider!(ReadsPage, async |cx, id| {
    let answer = cx.http(Request { streaming: true, ..get("page") }).await?;
    said(format!("{} {:?} {} {}", answer.status, answer.headers, text(&answer), answer.last))
});

#[rstest]
#[case::one(vec![answered(1, "all")], "200 [] all true")]
#[case::parts(vec![part(1, "one "), part(1, ""), part(1, "two "), answered(1, "three")], "200 [] one two three true")]
#[case::cut(vec![part(1, "one "), failed(1, Failure::BadResponse)], "the engine's answer cannot be used")]
#[case::odd(vec![part(1, "one "), Event::Answer((1, Answer::Done))], "the engine's answer cannot be used")]
fn parts_are_put_together(#[case] events: Vec<Event>, #[case] expected: &str, #[values(false, true)] at_once: bool) {
    let operation = start::<ReadsPage>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert!(matches!(&turn.need[0].effect, Effect::Http(request) if !request.streaming), "a whole answer is wanted");
    let mut turns = Vec::new();
    if at_once {
        turns.push(operation.step(1, events));
    } else {
        turns.extend(events.into_iter().map(|event| operation.step(1, vec![event])));
    }
    let last = turns.pop().expect("there was an event");
    assert!(turns.iter().all(|turn| turn.settled.is_empty() && turn.need.is_empty()));
    assert_eq!(words(&last.settled, "a"), expected);
}

provider!(
    Finds,
    discover | cx | {
        cx.progress("of no workload, so it is not heard");
        for page in ["first", "second"] {
            match cx.http(get(page)).await {
                Ok(answer) => cx.emit(Workload::named(text(&answer), Status::Running, "available")),
                Err(failure) => cx.incomplete(page, failure.into()),
            }
        }
    },
    async |cx, id| { said("") }
);

#[test]
fn discover_emits_and_ends_without_settling() {
    let call = Call::Discover(Scope { places: vec!["here".into()] }, false);
    let run = run::<Finds>(call, Options::default(), |asked| {
        assert_eq!(asked.for_id, None);
        if asked.path() == "first" { json(200, "found") } else { testing::Reply::Fail(Failure::Denied) }
    });
    assert_eq!(run.end, testing::End::Finished);
    assert_eq!(run.emitted.iter().map(|workload| workload.id.as_str()).collect::<Vec<_>>(), ["found"]);
    assert_eq!(run.incomplete.len(), 1);
    assert_eq!(run.incomplete[0].1.kind, FaultKind::Denied);
    assert!(run.settled.is_empty() && run.progress.is_empty());
}

provider!(Busy, async |cx, id| {
    let reads = (0..5).map(|n| cx.http(get(&format!("{id}-{n}"))));
    let (all, first) = join(join_all(reads), select(cx.sleep(3), cx.http(get("slow")))).await;
    cx.emit(Workload::named(id, Status::Running, "available"));
    said(format!("{} {:?} {:?}", all.len(), matches!(first, Either::Left(_)), cx.seed()))
});

#[test]
fn the_same_inputs_give_the_same_turns() {
    let once = || {
        run::<Busy>(starting(&["c", "a", "b"]), Options::default(), |asked| {
            if asked.path() == "slow" { testing::Reply::Never } else { json(200, asked.id) }
        })
    };
    let (first, second) = (once(), once());
    assert_eq!(first.asked.len(), 21);
    assert_eq!(format!("{:?}", first.turns).into_bytes(), format!("{:?}", second.turns).into_bytes());
    assert_eq!(first, second);
}

#[test]
fn many_effects_are_outstanding_at_once_and_answered_in_any_order() {
    let operation = start::<Busy>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(turn.need.len(), 7);
    let backwards = [5, 3, 1, 2, 4].map(|id| answered(id, ""));
    for event in backwards {
        assert_eq!(operation.step(1, vec![event]).settled, []);
    }
    let turn = operation.step(3, vec![Event::Answer((6, Answer::Elapsed))]);
    assert!(words(&turn.settled, "a").starts_with("5 true"));
    assert_eq!(turn.dropped, [7]);
}
