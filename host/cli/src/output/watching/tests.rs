use rstest::rstest;

use super::*;
use crate::testing::workload;

const NOW: SystemTime = UNIX_EPOCH;

fn ids(watching: &Watching) -> Vec<&str> {
    watching.waiting.iter().filter_map(|row| row.cells.get(1)).map(|cell| cell.text.as_str()).collect()
}

#[rstest]
#[case::midnight(0, "00:00:00Z")]
#[case::at_night(3 * 3_600 + 4 * 60 + 5, "03:04:05Z")]
#[case::the_next_day(24 * 3_600 + 59, "00:00:59Z")]
#[case::the_last_second(86_399, "23:59:59Z")]
fn a_clock(#[case] seconds: u64, #[case] shown: &str) {
    assert_eq!(clock(UNIX_EPOCH + Duration::from_secs(seconds)), shown);
}

#[tokio::test(start_paused = true)]
async fn what_does_not_show_is_no_row() {
    let mut watching = Watching::new(true);
    let first = workload("d/a");
    watching.row(&first, NOW);
    watching.row(&Workload { facts: Vec::new(), ..first.clone() }, NOW + Duration::from_secs(60));
    assert_eq!(ids(&watching), ["d/a"]);
    let said = Workload { message: Some("0 of 1 replica available".to_owned()), ..first.clone() };
    watching.row(&said, NOW);
    watching.row(&first, NOW);
    assert_eq!(ids(&watching), ["d/a"; 3], "what comes back is a change again");
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_not_shown_is_no_change() {
    let mut watching = Watching::new(false);
    watching.row(&workload("d/a"), NOW);
    watching.row(&Workload { message: Some("else".to_owned()), ..workload("d/a") }, NOW);
    assert_eq!(ids(&watching), ["d/a"]);
}

/// Each row moves the moment, but not for ever.
#[tokio::test(start_paused = true)]
async fn rows_that_come_together_are_shown_together() {
    let mut watching = Watching::new(false);
    let began = Instant::now();
    for number in 0..3 {
        watching.row(&workload(&format!("d/{number}")), NOW);
        tokio::time::advance(Duration::from_millis(60)).await;
    }
    watching.due().await;
    assert_eq!(began.elapsed(), Duration::from_millis(2 * 60) + QUIET);

    watching.since = None;
    let began = Instant::now();
    for number in 0..20 {
        watching.row(&workload(&format!("e/{number}")), NOW);
        tokio::time::advance(Duration::from_millis(60)).await;
    }
    watching.due().await;
    // It was due long before the last came.
    assert_eq!(began.elapsed(), Duration::from_millis(20 * 60));
}

#[test]
fn a_pipe_whose_reader_goes_away_is_unread() {
    let (reader, writer) = io::pipe().unwrap();
    let waiting = std::thread::spawn(move || is_unread(&writer));
    drop(reader);
    assert!(waiting.join().unwrap());
}
