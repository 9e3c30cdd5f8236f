//! Winding down.

use rstest::rstest;
use workload_guest::testing::{End, Options, Reply, When};
use workload_guest::*;

use crate::provider::*;

provider!(ReadsThenWrites, async |cx, id| {
    let answer = cx.http(get(&id)).await?;
    cx.http(put(&id)).await?;
    said(text(&answer))
});

#[rstest]
#[case::one(Some("b"), vec![2], &["b"])]
#[case::all(None, vec![1, 2, 3], &["a", "b", "c"])]
#[case::nobody(Some("x"), vec![], &[])]
fn a_stop_ends_what_is_read(#[case] id: Option<&str>, #[case] dropped: Vec<u32>, #[case] ended: &[&str]) {
    let operation = start::<ReadsThenWrites>(&["a", "b", "c"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(id, StopReason::Superseded)]);
    assert_eq!(turn.dropped, dropped);
    assert_eq!(turn.need, []);
    assert_eq!(turn.settled.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(), ended);
    assert!(turn.settled.iter().all(|(_, result)| matches!(result, Err(fault) if fault.kind == FaultKind::Cancelled)));
    assert_eq!(turn.finished, ended.len() == 3);
}

#[test]
fn a_write_in_flight_goes_on_while_the_read_beside_it_ends() {
    provider!(Both, async |cx, id| {
        let (read, write) = join(cx.http(get("read")), cx.http(put("write"))).await;
        let again = cx.http(get("again")).await;
        said(format!("{:?} {} {:?}", read.map(|_| ()), text(&write?), again.map(|_| ())))
    });
    let operation = start::<Both>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(None, StopReason::Cancelled)]);
    assert_eq!((turn.dropped, turn.settled, turn.finished), (vec![1], vec![], false));
    let turn = operation.step(2, vec![answered(1, "ignored"), answered(2, "written")]);
    assert_eq!(turn.need, [], "nothing new is read");
    assert_eq!(words(&turn.settled, "a"), "Err(Failure::Cancelled) written Err(Failure::Cancelled)");
}

#[test]
fn an_answer_that_was_there_before_the_stop_counts_but_no_write_is_begun() {
    let operation = start::<ReadsThenWrites>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![answered(1, "read"), stop(None, StopReason::Deadline)]);
    assert_eq!((turn.need, turn.dropped), (vec![], vec![]));
    assert_eq!(words(&turn.settled, "a"), "cancelled before it was done");
}

provider!(AfterStop, async |cx, id| {
    let reason = cx.stopped().await;
    let pod = || Forward { segments: vec![], port: 1 };
    let exec = || Exec { segments: vec![], container: None, command: vec![], stdin: vec![], output_limit: 1 };
    let refused = [
        cx.http(get("x")).await.is_err(),
        cx.http(put("x")).await.is_err(),
        cx.stream(get("x")).next().await.is_some_and(|part| part.is_err()),
        cx.sleep(1).await.is_err(),
        cx.exec(exec()).await.is_err(),
        cx.forward(pod()).await.is_err(),
        cx.make_secret("x", 1).await.is_err(),
    ];
    assert_eq!(refused, [true; 7]);
    let done = join_all([cx.checkpoint("x"), cx.checkpoint("y")]).await;
    let tidied = join(cx.close(1), join(cx.forget_secret("x"), cx.forget_record())).await;
    said(format!("{reason:?} {done:?} {tidied:?}"))
});

#[test]
fn after_a_stop_only_what_records_and_tidies_is_begun() {
    // Nothing is outstanding while it waits for the stop, so it is stepped by hand.
    let operation = start::<AfterStop>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(Some("a"), StopReason::Superseded)]);
    assert_eq!(turn.need.len(), 2);
    let turn = operation.step(2, [1, 2].map(|id| Event::Answer((id, Answer::Done))).into());
    assert_eq!(turn.need.len(), 3);
    let turn = operation.step(3, [3, 4, 5].map(|id| Event::Answer((id, Answer::Done))).into());
    assert_eq!(words(&turn.settled, "a"), "StopReason::Superseded [Ok(()), Ok(())] (Ok(()), (Ok(()), Ok(())))");
}

provider!(Cleans, async |cx, id| {
    let write = cx.http(put("make")).await?;
    let read = cx.sleep(1000).await;
    let undone = cx
        .cleanup(async {
            cx.http(Request::new(Method::Delete, ["made"])).await?;
            cx.sleep(10).await?;
            let answer = cx.timeout(500, cx.http(get("made"))).await;
            answer.transpose().map(|answer| answer.map(|answer| answer.status))
        })
        .await;
    let after = cx.http(get("after")).await.map(|answer| answer.status);
    said(format!("{} {read:?} {undone:?} {after:?} {:?}", write.status, cx.stopping()))
});

#[rstest]
#[case::stopped_before(
    Some(When::At(500)),
    "200 Err(Failure::Cancelled) Ok(Some(200)) Err(Failure::Cancelled) Some(StopReason::Cancelled)"
)]
#[case::stopped_within(
    Some(When::At(1005)),
    "200 Ok(()) Ok(Some(200)) Err(Failure::Cancelled) Some(StopReason::Cancelled)"
)]
#[case::not_stopped(None, "200 Ok(()) Ok(Some(200)) Ok(200) None")]
fn a_cleanup_goes_on_in_spite_of_a_stop(#[case] when: Option<When>, #[case] expected: &str) {
    let mut options = Options::default();
    if let Some(when) = when {
        options = options.stop(when, None, StopReason::Cancelled);
    }
    let run = run_a::<Cleans>(options, |_| testing::text(200, ""));
    assert_eq!(words(&run.settled, "a"), expected);
    assert_eq!(run.end, End::Finished);
    // It says so from the turn that begins the cleanup to the one before its end.
    let path = |turn: &Turn| asked(turn).first().map(|(_, _, name)| name.clone()).unwrap_or_default();
    let cleaning: Vec<String> = run.turns.iter().filter(|turn| turn.cleaning).map(path).collect();
    let cleaning: Vec<&str> = cleaning.iter().map(String::as_str).filter(|path| !path.is_empty()).collect();
    assert_eq!(cleaning, ["made", "sleep 10", "made"]);
    assert!(run.turns.last().is_some_and(|turn| !turn.cleaning));
}

#[test]
fn a_cleanup_of_one_is_a_cleanup_of_all_until_it_ends_or_is_dropped() {
    provider!(Gives, async |cx, id| {
        let cleanup = cx.cleanup(async { cx.http(get(&id)).await });
        match select(cleanup, cx.http(get("enough"))).await {
            Either::Left(_) => said("cleaned"),
            Either::Right(_) => said("left it"),
        }
    });
    let operation = start::<Gives>(&["a", "b"]);
    assert!(operation.step(0, vec![]).cleaning);
    assert!(operation.step(1, vec![answered(1, "")]).cleaning, "b still cleans");
    let turn = operation.step(2, vec![answered(4, "")]);
    assert_eq!((turn.cleaning, turn.dropped, turn.finished), (false, vec![3], true));
    assert_eq!(words(&turn.settled, "b"), "left it");
}

#[rstest]
#[case::for_one_then_all(vec![stop(Some("a"), StopReason::Superseded), stop(None, StopReason::Deadline)])]
#[case::for_one_twice(vec![stop(Some("a"), StopReason::Superseded), stop(Some("a"), StopReason::Cancelled)])]
#[case::for_all_then_one(vec![stop(None, StopReason::Superseded), stop(Some("a"), StopReason::Cancelled)])]
#[case::for_all_twice(vec![stop(None, StopReason::Superseded), stop(None, StopReason::Cancelled)])]
fn the_first_reason_stays(#[case] events: Vec<Event>, #[values(false, true)] at_once: bool) {
    provider!(Tells, async |cx, id| {
        let reason = cx.stopped().await;
        cx.cleanup(cx.sleep(1)).await?;
        Err(Fault::new(cx.stopping().unwrap_or(StopReason::Cancelled).into(), format!("{reason:?}")))
    });
    let operation = start::<Tells>(&["a"]);
    operation.step(0, vec![]);
    if at_once {
        operation.step(1, events);
    } else {
        events.into_iter().for_each(|event| drop(operation.step(1, vec![event])));
    }
    let turn = operation.step(2, vec![Event::Answer((1, Answer::Elapsed))]);
    assert_eq!(words(&turn.settled, "a"), "StopReason::Superseded");
    assert!(matches!(&turn.settled[0].1, Err(fault) if fault.kind == FaultKind::Superseded));
}

#[test]
fn a_stop_for_another_wakes_nobody_for_good() {
    provider!(WaitsForStop, async |cx, id| {
        let reason = cx.stopped().await;
        said(format!("{reason:?}"))
    });
    let operation = start::<WaitsForStop>(&["a", "b"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![stop(Some("a"), StopReason::Superseded)]);
    assert_eq!((turn.settled.len(), words(&turn.settled, "a")), (1, "StopReason::Superseded"));
    let turn = operation.step(2, vec![stop(None, StopReason::Deadline)]);
    assert_eq!((turn.finished, words(&turn.settled, "b")), (true, "StopReason::Deadline"));
}

#[test]
fn a_stream_gives_what_it_has_and_then_the_stop() {
    provider!(Follows, async |cx, id| {
        let mut watch = cx.stream(get("watch"));
        let mut seen = Vec::new();
        while let Some(part) = watch.next().await {
            seen.push(part.map(|part| text(&part)));
        }
        said(format!("{seen:?}"))
    });
    let operation = start::<Follows>(&["a"]);
    operation.step(0, vec![]);
    let turn = operation.step(1, vec![part(1, "one"), stop(None, StopReason::Cancelled), part(1, "late")]);
    assert_eq!(words(&turn.settled, "a"), r#"[Ok("one"), Err(Failure::Cancelled)]"#);
    assert_eq!((turn.dropped, turn.finished), (vec![1], true));
}

#[test]
fn a_timeout_does_not_outlast_a_stop() {
    provider!(Hurries, async |cx, id| {
        let answer = cx.timeout(60_000, cx.http(get("slow"))).await;
        said(format!("{:?} at {}", answer.map(|answer| answer.is_ok()), cx.now()))
    });
    let options = Options::default().stop(When::At(70), Some("a"), StopReason::Superseded);
    let run = run_a::<Hurries>(options, |_| Reply::Never);
    assert_eq!(words(&run.settled, "a"), "Some(false) at 70");
}
