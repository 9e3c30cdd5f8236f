#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use rstest::rstest;

use super::container::BackOff;
use super::*;

#[tokio::test(start_paused = true)]
async fn a_pause_doubles_up_to_five_minutes() {
    let (mut pause, now) = (BackOff::default(), Instant::now());
    assert!(!pause.holds(now, now), "the first restart is at once");
    let pauses: Vec<_> = (0..7)
        .map(|_| {
            pause.grow();
            assert!(pause.holds(now, now + pause.pause() - Duration::from_millis(1)));
            assert!(!pause.holds(now, now + pause.pause()));
            pause.pause().as_secs()
        })
        .collect();
    assert_eq!(pauses, [10, 20, 40, 80, 160, 300, 300]);
}

#[rstest]
#[case::first(1, "10.244.0.2")]
#[case::next_net(254, "10.244.1.1")]
#[case::last_of_a_net(253, "10.244.0.254")]
#[case::many(100_000, "10.245.137.179")]
fn addresses_differ(#[case] number: u32, #[case] expected: &str) {
    assert_eq!(address(number), expected);
}
