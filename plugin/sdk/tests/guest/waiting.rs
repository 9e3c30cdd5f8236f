//! Several things at once, and what becomes of those nobody waits for.

use std::pin::pin;

use rstest::rstest;
use workload_guest::testing::{End, Options, Reply, response};
use workload_guest::*;

use crate::provider::*;

provider!(Joins, async |cx, id| {
    let (a, b) = join(cx.http(get("a")), cx.http(get("b"))).await;
    let all = join_all(["c", "d", "e"].map(|name| cx.http(get(name)))).await;
    let all: Vec<String> = all.iter().flatten().map(text).collect();
    said(format!("{} {} {}", text(&a?), text(&b?), all.join(" ")))
});

#[test]
fn joined_results_are_in_the_order_of_the_futures() {
    let run = run_a::<Joins>(Options::default(), |asked| {
        Reply::After(100 - u64::from(asked.id), Box::new(testing::text(200, asked.path())))
    });
    assert_eq!(words(&run.settled, "a"), "a b c d e");
    assert_eq!(run.turns[0].need.len(), 2);
}

#[test]
fn nothing_to_join_is_done() {
    provider!(Empty, async |cx, id| {
        let none = join_all(Vec::<std::future::Ready<()>>::new()).await;
        said(none.len().to_string())
    });
    assert_eq!(words(&run_a::<Empty>(Options::default(), |_| Reply::Never).settled, "a"), "0");
}

provider!(Races, async |cx, id| {
    let won = match select(cx.http(get("left")), cx.http(get("right"))).await {
        Either::Left(answer) => text(&answer?),
        Either::Right(answer) => text(&answer?),
    };
    cx.http(get("after")).await?;
    said(won)
});

#[rstest]
#[case::left(vec![answered(1, "left")], "left", vec![2])]
#[case::right(vec![answered(2, "right")], "right", vec![1])]
#[case::both_the_first_of_them(vec![answered(2, "right"), answered(1, "left")], "left", vec![])]
#[case::a_part_is_not_enough(vec![part(1, "le"), answered(2, "right")], "right", vec![1])]
fn the_loser_of_a_race_is_dropped(#[case] events: Vec<Event>, #[case] winner: &str, #[case] dropped: Vec<u32>) {
    let operation = start::<Races>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, events);
    assert_eq!(turn.dropped, dropped);
    assert_eq!(asked(&turn), [(3, Some("a"), "after".into())]);

    let late: Vec<Event> = dropped.into_iter().map(|id| answered(id, "late")).collect();
    assert_eq!(operation.step(2, late).settled, []);
    assert_eq!(words(&operation.step(3, vec![answered(3, "")]).settled, "a"), winner);
}

#[test]
fn what_is_dropped_before_the_host_saw_it_is_never_seen() {
    provider!(ChangesItsMind, async |cx, id| {
        let never = cx.http(put("never"));
        drop(never);
        let unread = cx.stream(get("unread"));
        drop(unread);
        let first = select(std::future::ready(()), cx.http(get("second"))).await;
        let first = select(cx.http(get("first")), std::future::ready(first)).await;
        cx.http(get("kept")).await?;
        said(format!("{}", matches!(first, Either::Right(_))))
    });
    let operation = start::<ChangesItsMind>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn).into_iter().map(|(_, _, name)| name).collect::<Vec<_>>(), ["kept"]);
    assert!(turn.dropped.is_empty());
    assert_eq!(words(&operation.step(1, vec![answered(turn.need[0].id, "")]).settled, "a"), "true");
}

#[test]
fn the_loser_of_a_race_is_kept_when_it_was_lent() {
    provider!(Lends, async |cx, id| {
        let mut slow = pin!(cx.http(get("slow")));
        let Either::Right(_) = select(slow.as_mut(), cx.sleep(10)).await else { return said("too soon") };
        cx.progress("still waiting");
        said(text(&slow.await?))
    });
    let run = run_a::<Lends>(Options::default(), |_| Reply::After(50, Box::new(testing::text(200, "at last"))));
    assert_eq!(words(&run.settled, "a"), "at last");
    assert_eq!(run.dropped, []);
    assert_eq!((run.now, run.last_progress("a")), (50, Some("still waiting")));
}

provider!(Patient, async |cx, id| {
    match cx.timeout(100, cx.http(get("slow"))).await {
        Some(answer) => said(text(&answer?)),
        None => said(format!("gave up at {}", cx.now())),
    }
});

#[rstest]
#[case::in_time(Reply::After(99, Box::new(testing::text(200, "here"))), "here", vec![2])]
#[case::too_late(Reply::After(101, Box::new(testing::text(200, "here"))), "gave up at 100", vec![1])]
#[case::never(Reply::Never, "gave up at 100", vec![1])]
#[case::failed(Reply::Fail(Failure::Unreachable), "the engine cannot be reached", vec![2])]
fn a_timeout_drops_what_took_too_long(#[case] reply: Reply, #[case] expected: &str, #[case] dropped: Vec<u32>) {
    let run = run_a::<Patient>(Options::default(), |_| reply.clone());
    assert_eq!(words(&run.settled, "a"), expected);
    assert_eq!(run.dropped, dropped);
}

#[test]
fn without_a_clock_a_timeout_goes_on_waiting() {
    let operation = start::<Patient>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn), [(1, Some("a"), "slow".into()), (2, Some("a"), "sleep 100".into())]);
    assert_eq!(operation.step(1, vec![failed(2, Failure::Denied)]).settled, []);
    assert_eq!(words(&operation.step(2, vec![answered(1, "here")]).settled, "a"), "here");
}

provider!(Watches, async |cx, id| {
    let mut watch = cx.stream(get("watch"));
    let list = cx.http(get("list")).await?;
    let mut seen = vec![text(&list)];
    while let Some(part) = watch.next().await {
        match part {
            Ok(part) => seen.push(text(&part)),
            Err(failure) => seen.push(format!("{failure:?}")),
        }
        if seen.last().is_some_and(|last| last == "enough") {
            drop(watch);
            cx.http(get("after")).await?;
            return said(seen.join(" "));
        }
    }
    assert!(watch.next().await.is_none(), "a stream that has ended stays so");
    said(seen.join(" "))
});

#[rstest]
#[case::to_its_end(vec![answered(2, "0"), part(1, "1"), part(1, "2"), answered(1, "3")], "0 1 2 3")]
#[case::parts_wait_to_be_read(vec![part(1, "1"), part(1, "2"), answered(1, "3"), answered(2, "0")], "0 1 2 3")]
#[case::broken(vec![answered(2, "0"), part(1, "1"), failed(1, Failure::Lost)], "0 1 Failure::Lost")]
#[case::odd(vec![answered(2, "0"), Event::Answer((1, Answer::Done))], "0 Failure::BadResponse")]
fn a_stream_is_read_part_by_part(
    #[case] events: Vec<Event>,
    #[case] expected: &str,
    #[values(false, true)] at_once: bool,
) {
    let operation = start::<Watches>(&["a"]);
    let turn = operation.step(0, vec![]);
    assert_eq!(asked(&turn), [(1, Some("a"), "watch".into()), (2, Some("a"), "list".into())]);
    assert!(matches!(&turn.need[0].effect, Effect::Http(request) if request.streaming));
    let mut last = turn;
    if at_once {
        last = operation.step(1, events);
    } else {
        for event in events {
            last = operation.step(1, vec![event]);
        }
    }
    assert_eq!(words(&last.settled, "a"), expected);
    assert_eq!(last.dropped, []);
}

#[test]
fn a_stream_that_is_dropped_is_closed() {
    let operation = start::<Watches>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![answered(2, "0"), part(1, "enough")]);
    assert_eq!(turn.dropped, [1]);
    assert_eq!(asked(&turn), [(3, Some("a"), "after".into())]);
    assert_eq!(operation.step(2, vec![part(1, "late")]).settled, []);
    assert_eq!(words(&operation.step(3, vec![answered(3, "")]).settled, "a"), "0 enough");
}

#[test]
fn the_other_effects_are_asked_and_answered() {
    provider!(Everything, async |cx, id| {
        let exec = Exec { segments: vec![], container: None, command: vec![], stdin: vec![], output_limit: 9 };
        let result = cx.exec(exec).await?;
        let handle = cx.forward(Forward { segments: vec![], port: 80 }).await?;
        let call = Call { forward: handle, request: get("health"), authorization: None, keep: vec![] };
        let health = cx.call(call).await?;
        cx.close(handle).await?;
        cx.make_secret("token", 32).await?;
        cx.forget_secret("token").await?;
        cx.checkpoint("state").await?;
        cx.forget_record().await?;
        said(format!("{:?} {handle} {}", result.exit, text(&health)))
    });
    let run = run_a::<Everything>(Options::default(), |asked| match &asked.effect {
        Effect::Exec(_) => Reply::Exec(ExecResult { exit: Exit::Code(3), stdout: b"out".to_vec(), stderr: Vec::new() }),
        Effect::Forward(_) => Reply::Forward(5),
        Effect::Call(_) => Reply::Parts(vec![response(200, "he"), response(200, "althy")]),
        _ => Reply::Done,
    });
    assert_eq!((run.end, run.asked.len()), (End::Finished, 8));
    assert!(run.asked.iter().all(|asked| asked.for_id.as_deref() == Some("a")));
    assert_eq!(words(&run.settled, "a"), "Exit::Code(3) 5 healthy");
}

thread_local! {
    static BEGUN: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

#[test]
fn who_yields_goes_on_when_all_have_begun_in_the_same_turn() {
    provider!(Polite, async |_cx, _id| {
        BEGUN.set(BEGUN.get() + 1);
        yield_now().await;
        said(format!("{} have begun", BEGUN.get()))
    });
    let operation = start::<Polite>(&["a", "b", "c"]);
    let turn = operation.step(0, vec![]);
    for id in ["a", "b", "c"] {
        assert_eq!(words(&turn.settled, id), "3 have begun");
    }
}
