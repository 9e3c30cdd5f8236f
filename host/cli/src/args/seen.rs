//! What is seen of arguments without reading them whole, for the case that they cannot be.

use std::ffi::OsString;

use clap::ValueEnum as _;

use super::Color;

/// Whether these arguments ask for JSON, of whatever form.
pub fn wants_json(arguments: &[OsString]) -> bool {
    matches!(last(arguments, "--output", short_output), Some("json" | "manager"))
}

/// Whether these arguments ask for colour.
pub fn color(arguments: &[OsString]) -> Color {
    let value = last(arguments, "--color", |_| None);
    value.and_then(|value| Color::from_str(value, false).ok()).unwrap_or(Color::Auto)
}

/// The last value of an option, by its long name or as `short` finds it.
fn last<'a>(arguments: &'a [OsString], long: &str, short: impl Fn(&'a str) -> Option<&'a str>) -> Option<&'a str> {
    let mut words = arguments.iter().skip(1).filter_map(|word| word.to_str()).take_while(|word| *word != "--");
    let mut last = None;
    while let Some(word) = words.next() {
        let value = match word.strip_prefix(long) {
            Some("") => words.next(),
            Some(rest) => rest.strip_prefix('='),
            None => short(word).map(|value| value.strip_prefix('=').unwrap_or(value)),
        };
        last = if value == Some("") { words.next() } else { value }.or(last);
    }
    last
}

/// What follows the `o` of `-ojson`, also behind flags, as in `-Aojson`.
fn short_output(word: &str) -> Option<&str> {
    word.strip_prefix('-')?.trim_start_matches(['A', 'v']).strip_prefix('o')
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn words(line: &str) -> Vec<OsString> {
        std::iter::once("workload").chain(line.split_whitespace()).map(OsString::from).collect()
    }

    #[rstest]
    #[case::apart("list -o json", true)]
    #[case::together("list -ojson", true)]
    #[case::equals("list -o=json", true)]
    #[case::behind_flags("list -Aojson", true)]
    #[case::behind_flags_apart("list -Avo json", true)]
    #[case::long("--output json list", true)]
    #[case::long_equals("--output=json list", true)]
    #[case::of_the_manager("list -o manager", true)]
    #[case::table("list -o table", false)]
    #[case::the_last("list -o json -o table", false)]
    #[case::nothing("list", false)]
    #[case::value_missing("list -o", false)]
    #[case::not_ours("create web --image a -- tool -o json", false)]
    #[case::owner_is_no_output("list --owner json", false)]
    #[case::longer_name("list --outputs json", false)]
    fn json(#[case] line: &str, #[case] expected: bool) {
        assert_eq!(wants_json(&words(line)), expected);
    }

    #[rstest]
    #[case::nothing("list", Color::Auto)]
    #[case::apart("list --color always", Color::Always)]
    #[case::equals("--color=never list", Color::Never)]
    #[case::the_last("--color=never list --color always", Color::Always)]
    #[case::unknown("list --color mauve", Color::Auto)]
    #[case::value_missing("list --color", Color::Auto)]
    #[case::not_ours("create web --image a -- tool --color always", Color::Auto)]
    fn colors(#[case] line: &str, #[case] expected: Color) {
        assert_eq!(color(&words(line)), expected);
    }
}
