//! The engine's times, to compare them with each other: never with our own clock.

/// Milliseconds of the Unix epoch of an RFC 3339 time in UTC, as Kubernetes writes it. Fractions are left out.
#[must_use]
pub fn milliseconds(text: &str) -> Option<u64> {
    let (date, rest) = text.split_once('T')?;
    let clock = rest.strip_suffix('Z')?;
    let clock = clock.split_once('.').map_or(clock, |(whole, _)| whole);
    let [year, month, day] = numbers(date, '-')?;
    let [hour, minute, second] = numbers(clock, ':')?;
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let seconds = days(year, month, day)? * 86_400 + hour * 3_600 + minute * 60 + second;
    u64::try_from(seconds * 1_000).ok()
}

fn numbers(text: &str, separator: char) -> Option<[i64; 3]> {
    let mut parts = text.split(separator).map(|part| part.parse::<u32>().ok().map(i64::from));
    let numbers = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(numbers)
}

/// Days since 1970-01-01 in the Gregorian calendar, with years that begin in March so that a leap day is the last.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    if !(1970..=9999).contains(&year) {
        return None;
    }
    let (year, month) = if month <= 2 { (year - 1, month + 9) } else { (year, month - 3) };
    let era = year / 400;
    let of_era = year % 400;
    let of_year = (153 * month + 2) / 5 + day - 1;
    Some(era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468)
}

/// The time as Kubernetes writes it, of milliseconds of the Unix epoch.
#[must_use]
pub fn rfc3339(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (day, clock) = (seconds / 86_400, seconds % 86_400);
    // As above, backwards: eras of 400 years that begin in March.
    let days = day + 719_468;
    let era = days / 146_097;
    let of_era = days % 146_097;
    let of_era_year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * of_era_year + of_era_year / 4 - of_era_year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let (month, next) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = era * 400 + of_era_year + next;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", clock / 3_600, clock / 60 % 60, clock % 60)
}

/// A span for a person: `5m0s`.
#[must_use]
pub fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    match (seconds / 3_600, seconds / 60 % 60, seconds % 60) {
        (0, 0, 0) => format!("{ms}ms"),
        (0, 0, second) => format!("{second}s"),
        (0, minute, second) => format!("{minute}m{second}s"),
        (hour, minute, second) => format!("{hour}h{minute}m{second}s"),
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::epoch("1970-01-01T00:00:00Z", Some(0))]
    #[case::leap_day("2024-02-29T12:00:00Z", Some(1_709_208_000_000))]
    #[case::recorded("2026-11-30T15:03:02Z", Some(1_796_050_982_000))]
    #[case::fraction("1970-01-01T00:00:01.999999Z", Some(1_000))]
    #[case::before("1969-12-31T23:59:59Z", None)]
    #[case::zone("2026-11-30T15:03:02+01:00", None)]
    #[case::month("2026-13-01T00:00:00Z", None)]
    #[case::words("yesterday", None)]
    #[case::empty("", None)]
    fn times(#[case] text: &str, #[case] want: Option<u64>) {
        assert_eq!(milliseconds(text), want);
    }

    #[rstest]
    #[case::epoch("1970-01-01T00:00:00Z")]
    #[case::leap_day("2024-02-29T12:00:00Z")]
    #[case::before_it("2024-02-28T23:59:59Z")]
    #[case::first_of_march("2100-03-01T00:00:00Z")]
    #[case::new_year("2025-12-31T23:59:59Z")]
    #[case::recorded("2026-11-30T15:03:02Z")]
    fn written_as_read(#[case] text: &str) {
        assert_eq!(rfc3339(milliseconds(text).unwrap()), text);
    }

    #[rstest]
    #[case::below_a_second(120, "120ms")]
    #[case::seconds(59_999, "59s")]
    #[case::minutes(300_000, "5m0s")]
    #[case::hours(3_661_000, "1h1m1s")]
    fn spans(#[case] ms: u64, #[case] want: &str) {
        assert_eq!(span(ms), want);
    }
}
