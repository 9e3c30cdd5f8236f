//! The test driver itself: its clock, its stops, and how it says that a run went wrong.

use rstest::rstest;
use workload_guest::testing::{CLEANING_GRACE_MS, End, GRACE_MS, Options, Reply, When, json, response};
use workload_guest::*;

use crate::provider::*;

provider!(Sleeps, async |cx, id| {
    cx.sleep(1_000).await?;
    let answer = cx.http(get("x")).await?;
    said(format!("{} at {}", text(&answer), cx.now()))
});

#[test]
fn time_passes_only_while_nothing_can_go_on() {
    let run = run_a::<Sleeps>(Options::default(), |asked| {
        assert_eq!((asked.now, asked.path().as_str(), asked.method()), (1_000, "x", Some(Method::Get)));
        Reply::After(500, Box::new(json(200, "{}")))
    });
    assert_eq!(words(&run.settled, "a"), "{} at 1500");
    assert_eq!((run.now, run.turns.len(), run.end), (1_500, 3, End::Finished));
}

provider!(Follows, async |cx, id| {
    let mut watch = cx.stream(get("watch"));
    let mut seen = Vec::new();
    while let Some(Ok(part)) = watch.next().await {
        seen.push(format!("{}@{}", text(&part), cx.now()));
    }
    said(seen.join(" "))
});

fn at(ms: u64, text: &str, last: bool) -> (u64, Answer) {
    (ms, Answer::Response(Response { last, ..response(200, text) }))
}

#[rstest]
#[case::parts(Reply::Parts(vec![response(200, "a"), response(200, "b")]), "a@0 b@0", 0)]
#[case::open(Reply::Open(vec![response(200, "a"), response(200, "b")]), "a@0 b@0", 300_000)]
#[case::script(Reply::Script(vec![at(10, "a", false), at(30, "b", true)]), "a@10 b@30", 30)]
#[case::script_open(Reply::Script(vec![at(10, "a", false)]), "a@10", 300_000)]
fn parts_come_one_by_one(#[case] reply: Reply, #[case] expected: &str, #[case] end: u64) {
    let run = run_a::<Follows>(Options::default(), |_| reply.clone());
    assert_eq!((words(&run.settled, "a"), run.now), (expected, end));
}

provider!(Deaf, async |cx, id| {
    cx.http(put("never answered")).await?;
    said("")
});
provider!(CleansForEver, async |cx, id| {
    cx.cleanup(async { while cx.sleep(1_000).await.is_ok() {} }).await;
    said("")
});
provider!(Stalls, async |cx, id| {
    cx.stopped().await;
    said("")
});
provider!(Circles, async |cx, id| {
    loop {
        cx.http(get("x")).await?;
    }
});
provider!(Reads, async |cx, id| {
    cx.http(get("x")).await?;
    said("")
});

#[test]
fn an_operation_that_waits_for_nothing_is_stalled() {
    let run = run_a::<Stalls>(Options::default(), |_| Reply::Never);
    assert_eq!((run.end, run.turns.len()), (End::Stalled, 1));
}

#[test]
fn an_operation_that_goes_round_in_circles_is_endless() {
    let run = run_a::<Circles>(Options::default(), |_| json(200, "{}"));
    assert_eq!((run.end, run.turns.len()), (End::Endless, testing::MOST_STEPS));
}

#[test]
fn without_a_deadline_what_is_never_answered_is_waited_for() {
    let options = Options { deadline: None, ..Options::default() };
    assert_eq!(run_a::<Reads>(options, |_| Reply::Never).end, End::Waiting);
}

#[test]
fn an_operation_that_does_not_heed_its_stop_is_dropped() {
    let run = run_a::<Deaf>(Options { deadline: Some(10), ..Options::default() }, |_| Reply::Never);
    assert_eq!((run.end, run.now), (End::Dropped, 10 + GRACE_MS));
    let run = run_a::<CleansForEver>(Options { deadline: Some(10), ..Options::default() }, |_| Reply::Never);
    assert_eq!((run.end, run.now), (End::Dropped, 10 + CLEANING_GRACE_MS));
}

#[rstest]
#[case::at_a_step(When::Step(1), 0)]
#[case::at_a_time(When::At(700), 700)]
#[case::when_asked(When::asked(|asked| asked.path() == "x"), 0)]
fn a_stop_comes_when_it_was_ordered(#[case] when: When, #[case] expected: u64) {
    let run = run_a::<Reads>(Options::default().stop(when, Some("a"), StopReason::Superseded), |_| Reply::Never);
    assert_eq!((run.end, run.now), (End::Finished, expected));
    assert_eq!(run.fault("a").map(|fault| fault.kind), Some(FaultKind::Cancelled));
    assert_eq!(run.dropped, [1]);
}

#[test]
fn a_stop_is_not_outrun_by_the_answer_to_what_was_asked() {
    let when = When::asked(|asked| asked.path() == "x");
    let run = run_a::<Reads>(Options::default().stop(when, None, StopReason::Cancelled), |_| json(200, "{}"));
    assert!(run.fault("a").is_some());
}

#[test]
fn an_effect_can_be_looked_into() {
    provider!(Asks, async |cx, id| {
        let request = Request::new(Method::Post, ["a", "b"])
            .with_query("limit", "5")
            .with_accept(Media::JsonTable)
            .with_body(Media::Json, "{}");
        cx.http(request).await?;
        said("")
    });
    let run = run_a::<Asks>(Options::default(), |asked| {
        assert_eq!((asked.path().as_str(), asked.query("limit"), asked.query("none")), ("a/b", Some("5"), None));
        assert_eq!((asked.body(), asked.for_id.as_deref()), (Some(&b"{}"[..]), Some("a")));
        Reply::Fail(Failure::TooLarge)
    });
    assert_eq!(run.fault("a").map(|fault| fault.kind), Some(FaultKind::Malformed));
    assert_eq!(run.requests().next().map(|request| request.accept), Some(Media::JsonTable));
}
