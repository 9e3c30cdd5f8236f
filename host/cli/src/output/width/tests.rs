use rstest::rstest;

use super::*;

#[rstest]
#[case::ascii("shop/web", 8)]
#[case::accents("e\u{301}é", 2)]
#[case::wide("日本", 4)]
#[case::nothing("", 0)]
fn measured(#[case] text: &str, #[case] expected: usize) {
    assert_eq!(columns(text), expected);
}

#[rstest]
#[case::fits("abc", 3, "abc")]
#[case::too_long("abcd", 3, "ab…")]
#[case::no_blank_before("ab cd", 4, "ab…")]
#[case::wide("日本語", 4, "日…")]
#[case::one("abc", 1, "…")]
#[case::none("abc", 0, "")]
#[case::accent_kept("ae\u{301}bc", 3, "ae\u{301}…")]
fn without_its_end(#[case] text: &str, #[case] width: usize, #[case] expected: &str) {
    assert_eq!(end(text, width), expected);
}

#[rstest]
#[case::fits("abc", 3, "abc")]
#[case::odd("abcdefgh", 5, "ab…gh")]
#[case::even("abcdefgh", 4, "a…gh")]
#[case::wide("日本語日本語", 6, "日…語")]
#[case::two("abc", 2, "…c")]
#[case::one("abc", 1, "…")]
fn without_its_middle(#[case] text: &str, #[case] width: usize, #[case] expected: &str) {
    assert_eq!(middle(text, width), expected);
}

#[rstest]
#[case::fits("nginx:1.29", 10, "nginx:1.29")]
#[case::tag("registry.example.com/team/app:1.2.3", 20, "….com/team/app:1.2.3")]
#[case::port_is_no_digest("localhost:5000/app:1", 8, "…0/app:1")]
fn an_image_keeps_its_tag(#[case] text: &str, #[case] width: usize, #[case] expected: &str) {
    assert_eq!(image(text, width), expected);
}

#[rstest]
#[case::whole(200, "nginx@sha256:0123456789abcdef0123456789abcdef")]
#[case::as_many_as_fit(31, "nginx@sha256:0123456789abcdef0…")]
#[case::first_digits(26, "nginx@sha256:0123456789ab…")]
#[case::and_the_name(20, "…ha256:0123456789ab…")]
fn an_image_keeps_the_beginning_of_its_digest(#[case] width: usize, #[case] expected: &str) {
    assert_eq!(image("nginx@sha256:0123456789abcdef0123456789abcdef", width), expected);
}

#[rstest]
#[case::nothing("", 5, &[])]
#[case::fits("a b c", 5, &["a b c"])]
#[case::words("one two three", 7, &["one two", "three"])]
#[case::a_long_word("a abcdefgh b", 4, &["a", "abcd", "efgh", "b"])]
#[case::the_rest_of_a_word_goes_on("abcdef g", 4, &["abcd", "ef g"])]
#[case::wide("日本語", 4, &["日本", "語"])]
#[case::wider_than_the_line("日本", 1, &["日", "本"])]
#[case::no_width("ab", 0, &["a", "b"])]
fn in_lines(#[case] text: &str, #[case] width: usize, #[case] expected: &[&str]) {
    assert_eq!(wrap(text, width), expected);
}

#[rstest]
#[case::fits("    \"a\": 1", 12, &["    \"a\": 1"])]
#[case::goes_on("  \"a\": \"one two three\"", 20, &["  \"a\": \"one two", "      three\""])]
fn a_line_goes_on_to_the_right(#[case] text: &str, #[case] width: usize, #[case] expected: &[&str]) {
    assert_eq!(hang(text, width), expected);
}
