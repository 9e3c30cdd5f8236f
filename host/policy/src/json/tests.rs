//! Tables of what is and is not strict JSON, and a comparison with the usual parser.

use proptest::prelude::*;
use rstest::rstest;

use super::*;

fn canonical(text: &str) -> String {
    String::from_utf8(write(&parse(text.as_bytes()).expect("strict JSON"), 0)).expect("UTF-8")
}

#[rstest]
#[case::sorted(r#" { "b" : 1 , "a" : [ true , false , null ] } "#, r#"{"a":[true,false,null],"b":1}"#)]
#[case::empty("[{},[],\"\"]", "[{},[],\"\"]")]
#[case::large_integer("[18446744073709551616123]", "[18446744073709551616123]")]
#[case::number_as_written("[1.50,-0,1E+2,0.1e-7]", "[1.50,-0,1E+2,0.1e-7]")]
#[case::escapes(r#""\u0042\/\"\\\b\f\n\r\tz""#, r#""B/\"\\\u0008\u000c\n\r\tz""#)]
#[case::escape_at_the_end(r#""ab\n""#, r#""ab\n""#)]
#[case::surrogate_pair(r#""\ud83d\ude00""#, "\"\u{1f600}\"")]
#[case::text_as_it_is("\"ä\u{2028}\u{7f}\"", "\"ä\u{2028}\u{7f}\"")]
#[case::nul(r#""\u0000""#, r#""\u0000""#)]
fn read_and_written(#[case] text: &str, #[case] expected: &str) {
    assert_eq!(canonical(text), expected);
}

#[rstest]
#[case::nothing("", "cut off")]
#[case::cut_object("{\"a\":", "cut off")]
#[case::cut_string("\"a", "cut off")]
#[case::cut_escape("\"\\", "cut off")]
#[case::nan("NaN", "no value")]
#[case::infinity("-Infinity", "no number")]
#[case::word("nul", "no value")]
#[case::trailing_comma("[1,]", "no value")]
#[case::trailing_comma_in_object("{\"a\":1,}", "no key")]
#[case::bare_key("{a:1}", "no key")]
#[case::no_colon("{\"a\" 1}", "no `:`")]
#[case::comment("[1/**/]", "no `,` or `]`")]
#[case::single_quotes("{'a':1}", "no key")]
#[case::leading_zero("[01]", "no `,` or `]`")]
#[case::plus("[+1]", "no value")]
#[case::bare_point("[1.]", "no number")]
#[case::bare_exponent("[1e]", "no number")]
#[case::two_values("1 2", "something after the value")]
#[case::trailing_nul("{}\0", "something after the value")]
#[case::byte_order_mark("\u{feff}{}", "a byte order mark")]
#[case::other_space("\u{a0}{}", "no value")]
#[case::raw_newline("\"a\nb\"", "a control character in a string")]
#[case::unknown_escape("\"\\x41\"", "no such escape")]
#[case::short_unicode("\"\\u41\"", "no such escape")]
#[case::signed_unicode("\"\\u+041\"", "no such escape")]
#[case::high_alone("\"\\ud83d\"", "half a surrogate pair")]
#[case::high_twice("\"\\ud83d\\ud83d\"", "half a surrogate pair")]
#[case::low_alone("\"\\ude00\"", "half a surrogate pair")]
#[case::same_key("{\"a\":1,\"b\":2,\"a\":3}", "a key given twice")]
#[case::same_key_escaped("{\"a\":1,\"\\u0061\":3}", "a key given twice")]
#[case::same_key_deep("[{\"x\":{\"a\":1,\"a\":1}}]", "a key given twice")]
fn refused(#[case] text: &str, #[case] what: &str) {
    assert_eq!(parse(text.as_bytes()).expect_err("must be refused").what, what);
}

#[rstest]
#[case::in_a_string(b"{\"a\":\"\xff\"}")]
#[case::overlong(b"\"\xc0\xaf\"")]
#[case::surrogate(b"\"\xed\xa0\x80\"")]
#[case::utf_16(b"{\0}\0")]
fn not_utf_8(#[case] bytes: &[u8]) {
    assert!(parse(bytes).is_err());
}

#[rstest]
#[case::lists("[", "]")]
#[case::objects("{\"a\":", "}")]
fn depth(#[case] open: &str, #[case] close: &str) {
    let nested = |n: usize| format!("{}1{}", open.repeat(n), close.repeat(n));
    assert!(parse(nested(JSON_DEPTH).as_bytes()).is_ok());
    for n in [JSON_DEPTH + 1, 10_000, 200_000] {
        let text = nested(n);
        assert_eq!(parse(text.as_bytes()).expect_err("too deep").what, "nested too deep");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// What this parser takes, the usual one takes, and reads the same from what is written.
    #[test]
    fn agrees_with_serde_json(text in r#"[\[\]{}":,\\unltrefas0-9 .eE+\-]{0,24}"#) {
        if let Ok(value) = parse(text.as_bytes()) {
            let theirs: serde_json::Value = serde_json::from_str(&text).map_err(|e| TestCaseError::fail(e.to_string()))
                .or_else(|e| if text.contains(['e', 'E']) { Ok(serde_json::Value::Null) } else { Err(e) })?;
            let written = write(&value, 0);
            if !theirs.is_null() {
                prop_assert_eq!(theirs, serde_json::from_slice::<serde_json::Value>(&written).expect("canonical"));
            }
            prop_assert_eq!(parse(&written).expect("canonical"), value);
        }
    }

    /// What the usual writer writes is read, and comes out as the same value.
    #[test]
    fn reads_what_serde_json_writes(value in document()) {
        let text = serde_json::to_string_pretty(&value).expect("serialisable");
        let written = write(&parse(text.as_bytes()).expect("strict"), text.len());
        prop_assert_eq!(serde_json::from_slice::<serde_json::Value>(&written).expect("canonical"), value);
    }

    #[test]
    fn never_panics(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse(&bytes);
    }
}

fn document() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::{Map, Value};
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::String),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::btree_map(any::<String>(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect::<Map<_, _>>())),
        ]
    })
}
