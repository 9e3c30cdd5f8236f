#![allow(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "tests")]

use proptest::prelude::*;
use rstest::rstest;
use serde_json::json;

use super::*;
use crate::api::query;

/// What the real server says of each selector: version 1.35.4.
#[test]
fn the_words_are_those_of_the_real_server() {
    let mut wrong = Vec::new();
    for line in include_str!("../../testdata/label-selectors.txt").lines() {
        let (text, said) = line.split_once('\t').unwrap();
        let text = query::parse(&format!("s={text}")).get("s").unwrap().to_owned();
        let found = Selector::parse(&text).err().unwrap_or_else(|| "OK".to_owned());
        if found != said {
            wrong.push(format!("{text}\n  should be {said}\n  is        {found}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[rstest]
#[case::nothing("", true)]
#[case::equal("a=1", true)]
#[case::equal_twice("a==1,b=x", true)]
#[case::other_value("a=2", false)]
#[case::not("a!=2", true)]
#[case::not_of_a_label_that_is_missing("c!=2", true)]
#[case::in_a_set("a in (1,2)", true)]
#[case::not_in_a_set("a notin (1,2)", false)]
#[case::missing_in_a_set("c in (1)", false)]
#[case::missing_not_in_a_set("c notin (1)", true)]
#[case::there("a", true)]
#[case::not_there("!a", false)]
#[case::above("a>0", true)]
#[case::not_above("a>1", false)]
#[case::below("a<2", true)]
#[case::no_number("b<2", false)]
#[case::empty("e=", true)]
#[case::key_with_a_domain("example.org/d=y", true)]
fn labels_are_selected(#[case] text: &str, #[case] expected: bool) {
    let pairs = [("a", "1"), ("b", "x"), ("e", ""), ("example.org/d", "y")];
    let labels = pairs.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    assert_eq!(Selector::parse(text).unwrap().matches(&labels), expected);
}

proptest! {
    #[test]
    fn no_text_does_any_harm(text in "\\PC{0,40}", near in "[a1 ,=!()<>in\\x00]{0,24}") {
        let _ = Selector::parse(&text);
        let _ = Selector::parse(&near);
    }
}

#[rstest]
#[case::equal(json!({"matchLabels": {"app": "a"}}), true)]
#[case::other(json!({"matchLabels": {"app": "b"}}), false)]
#[case::in_a_list(json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["b", "a"]}]}), true)]
#[case::not_in(json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}), false)]
#[case::absent_is_not_in(json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}]}), true)]
#[case::exists(json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}), true)]
#[case::does_not_exist(json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false)]
#[case::both(json!({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}), false)]
#[case::empty(json!({}), false)]
fn a_selector_takes_labels(#[case] selector: Value, #[case] taken: bool) {
    let labels = [("app".to_owned(), "a".to_owned())].into();
    assert_eq!(Selector::of(&selector).takes(&labels), taken);
}
