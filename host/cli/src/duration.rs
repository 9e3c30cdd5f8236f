//! Durations as people type them.

use std::time::Duration;

use workload_host::limits::OPERATION_MAX;

/// Units from large to small, each at most once and in this order, as `kubectl` and Go print them.
const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

/// The value of `--timeout`.
///
/// # Errors
/// A sentence for the user.
pub fn timeout(text: &str) -> Result<Duration, String> {
    let value = parse(text)?;
    if value.is_zero() {
        return Err("a timeout must be longer than nothing".to_owned());
    }
    // The host ends every operation after this long, so more cannot be asked for.
    if value > OPERATION_MAX {
        return Err("a timeout is at most 1h".to_owned());
    }
    Ok(value)
}

/// The value of `--settle`: zero is allowed, and means that the first good answer counts.
///
/// # Errors
/// A sentence for the user.
pub fn settle_time(text: &str) -> Result<Duration, String> {
    let value = parse(text)?;
    // The host ends every operation after this long, so more cannot be asked for.
    if value > OPERATION_MAX {
        return Err("a settling time is at most 1h".to_owned());
    }
    Ok(value)
}

fn parse(text: &str) -> Result<Duration, String> {
    let wrong = || "expected a duration such as 90s, 5m, 1h or 1m30s".to_owned();
    let mut rest = text;
    let mut units = UNITS.iter();
    let mut total = 0_u64;
    if rest.is_empty() {
        return Err(wrong());
    }
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit()).ok_or_else(wrong)?;
        let (number, tail) = rest.split_at(digits);
        let end = tail.find(|c: char| c.is_ascii_digit()).unwrap_or(tail.len());
        let (unit, tail) = tail.split_at(end);
        let (_, factor) = units.find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        total = number.checked_mul(*factor).and_then(|ms| total.checked_add(ms)).ok_or_else(wrong)?;
        rest = tail;
    }
    Ok(Duration::from_millis(total))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::seconds("90s", 90_000)]
    #[case::minutes("5m", 300_000)]
    #[case::the_most("1h", 3_600_000)]
    #[case::mixed("1m30s", 90_000)]
    #[case::all_units("0h1m2s3ms", 62_003)]
    #[case::milliseconds("250ms", 250)]
    fn read(#[case] text: &str, #[case] ms: u64) {
        assert_eq!(timeout(text), Ok(Duration::from_millis(ms)));
    }

    #[rstest]
    #[case::nothing("")]
    #[case::no_unit("90")]
    #[case::no_number("s")]
    #[case::unknown_unit("3d")]
    #[case::fraction("1.5s")]
    #[case::negative("-1s")]
    #[case::wrong_order("30s1m")]
    #[case::unit_twice("1s1s")]
    #[case::space("1 s")]
    #[case::huge("99999999999999999999s")]
    #[case::overflow("9999999999999999h")]
    fn refused(#[case] text: &str) {
        assert_eq!(timeout(text), Err("expected a duration such as 90s, 5m, 1h or 1m30s".to_owned()));
    }

    #[rstest]
    #[case::too_long("61m", "a timeout is at most 1h")]
    #[case::just_too_long("1h1ms", "a timeout is at most 1h")]
    #[case::zero("0s", "a timeout must be longer than nothing")]
    fn out_of_range(#[case] text: &str, #[case] message: &str) {
        assert_eq!(timeout(text), Err(message.to_owned()));
    }

    #[test]
    fn settling_may_take_no_time() {
        assert_eq!(settle_time("0s"), Ok(Duration::ZERO));
        assert!(settle_time("2h").is_err());
    }
}
