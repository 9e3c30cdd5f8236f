#![allow(clippy::unwrap_used, clippy::indexing_slicing, reason = "tests")]

use rstest::rstest;
use serde_json::{Value, json};

use super::new_set::{is_same_template, set_name, template_hash};

fn template(metadata: &Value, spec: &Value) -> Value {
    json!({"metadata": metadata, "spec": spec})
}

#[rstest]
#[case::hash(json!({"labels": {"app": "a", "pod-template-hash": "x"}}), json!({"containers": []}), true)]
#[case::empty_lists_say_nothing(json!({"labels": {"app": "a"}, "annotations": {}}), json!({"containers": [], "volumes": []}), true)]
#[case::label(json!({"labels": {"app": "b"}}), json!({"containers": []}), false)]
#[case::annotation(json!({"labels": {"app": "a"}, "annotations": {"v": "2"}}), json!({"containers": []}), false)]
#[case::empty_choice(json!({"labels": {"app": "a"}}), json!({"containers": [], "volumes": [{"emptyDir": {}}]}), false)]
fn templates_are_compared_but_for_their_hash(#[case] metadata: Value, #[case] spec: Value, #[case] same: bool) {
    let first = template(&json!({"labels": {"app": "a"}}), &json!({"containers": []}));
    assert_eq!(is_same_template(&first, &template(&metadata, &spec)), same);
}

#[test]
fn a_collision_changes_the_hash() {
    let template = template(&json!({}), &json!({"containers": [{"name": "main"}]}));
    let hashes = [None, Some(0), Some(1)].map(|collisions| template_hash(&template, collisions));
    assert!(hashes[0] != hashes[1] && hashes[1] != hashes[2]);
    assert!(hashes.iter().all(|hash| (1..=10).contains(&hash.len())));
    assert!(hashes.iter().all(|hash| hash.chars().all(|letter| "bcdfghjklmnpqrstvwxz2456789".contains(letter))));
}

#[rstest]
#[case::short(3, 3)]
#[case::just_fits(243, 243)]
#[case::cut(253, 243)]
fn a_name_is_cut_to_what_a_name_may_have(#[case] length: usize, #[case] kept: usize) {
    let name = "a".repeat(length);
    assert_eq!(set_name(&name, "54485c4b6"), format!("{}-54485c4b6", "a".repeat(kept)));
}
