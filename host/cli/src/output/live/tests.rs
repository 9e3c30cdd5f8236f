use rstest::rstest;

use super::*;

fn live(doing: &'static str, ids: &[&str]) -> Live {
    Live::new(doing, &ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>())
}

fn shown(live: &Live, seconds: u64, columns: usize, rows: usize) -> Vec<String> {
    live.lines(Duration::from_millis(seconds * 1000 + 999), Size { columns, rows }, Paint(false))
}

fn three() -> Live {
    let mut live = live("starting", &["shop/web", "shop/api", "batch/nightly"]);
    live.waits("shop/web", "1 of 2 replicas available");
    live.waits("batch/nightly", "0 of 1 replica available; pod nightly-7d448775cb-j2gmc: ErrImagePull");
    live
}

#[rstest]
#[case::wide(100, &[
    "shop/web       starting: 1 of 2 replicas available                                             12s",
    "shop/api       starting                                                                        12s",
    "batch/nightly  starting: 0 of 1 replica available; pod nightly-7d448775cb-j2gmc: ErrImagePull  12s",
])]
#[case::usual(80, &[
    "shop/web       starting: 1 of 2 replicas available                           12s",
    "shop/api       starting                                                      12s",
    "batch/nightly  starting: 0 of 1 replica available; pod nightly-7d448775cb-…  12s",
])]
#[case::narrow(40, &[
    "shop/web       starting: 1 of 2 re…  12s",
    "shop/api       starting              12s",
    "batch/nightly  starting: 0 of 1 re…  12s",
])]
#[case::very_narrow(20, &[
    "sho…web  start…  12s",
    "sho…api  start…  12s",
    "bat…tly  start…  12s",
])]
#[case::ids_alone(16, &[
    "shop/web     12s",
    "shop/api     12s",
    "batch…ghtly  12s",
])]
#[case::no_time(5, &["sh…eb", "sh…pi", "ba…ly"])]
#[case::hardly_anything(1, &["…", "…", "…"])]
fn one_line_each(#[case] columns: usize, #[case] expected: &[&str]) {
    assert_eq!(shown(&three(), 12, columns, 24), expected);
}

#[test]
fn what_ended_is_gone() {
    let mut live = three();
    live.ended("batch/nightly");
    live.ended("nobody/knows");
    live.waits("batch/nightly", "too late");
    let expected =
        ["shop/web  starting: 1 of 2 replicas available  12s", "shop/api  starting                             12s"];
    assert_eq!(shown(&live, 12, 80, 24), expected);
    live.ended("shop/web");
    live.ended("shop/api");
    assert_eq!(shown(&live, 12, 80, 24), [""; 0]);
}

#[rstest]
#[case::fits(4, &["a", "b", "c"], None)]
#[case::one_too_many(3, &["a"], Some("… and 2 more  3s"))]
#[case::hardly_a_line(2, &[], Some("… and 3 more  3s"))]
#[case::no_room(1, &[], None)]
#[case::no_rows(0, &[], None)]
fn no_more_than_fit(#[case] rows: usize, #[case] ids: &[&str], #[case] more: Option<&str>) {
    let lines = shown(&live("stopping", &["a", "b", "c"]), 3, 80, rows);
    let expected = ids.iter().map(|id| format!("{id}  stopping  3s")).chain(more.map(str::to_owned));
    assert_eq!(lines, expected.collect::<Vec<_>>());
}

#[test]
fn wide_characters_count_twice() {
    let mut live = live("starting", &["a", "b"]);
    live.waits("a", "日本語");
    live.waits("b", "\u{1b}[31m");
    let expected = ["a  starting: 日本語      3s", "b  starting: \\u{1b}[31m  3s"];
    assert_eq!(shown(&live, 3, 80, 24), expected);
}

#[rstest]
#[case::seconds(59, "59s")]
#[case::minutes(61, "1m1s")]
#[case::hours(3600, "1h0m0s")]
fn times(#[case] seconds: u64, #[case] time: &str) {
    assert_eq!(shown(&live("starting", &["a"]), seconds, 80, 24), [format!("a  starting  {time}")]);
}

#[test]
fn colour_changes_no_width() {
    let painted = three().lines(Duration::from_secs(12), Size { columns: 80, rows: 24 }, Paint(true));
    let plain = painted.iter().map(|line| line.replace("\u{1b}[2m", "").replace("\u{1b}[0m", ""));
    assert_eq!(plain.collect::<Vec<_>>(), shown(&three(), 12, 80, 24));
}

#[test]
fn they_fit_every_terminal() {
    for columns in 1..=220 {
        for rows in 0..=5 {
            let lines = shown(&three(), 754, columns, rows);
            assert!(lines.len() <= rows.saturating_sub(1), "{columns}x{rows}: {lines:?}");
            assert!(lines.iter().all(|line| width::columns(line) <= columns), "{columns}x{rows}: {lines:?}");
        }
    }
}
