//! What is granted: asked for and given, wildcards, typos.

use rstest::rstest;
use workload_policy::{DropReason, Engine, GrantError, Grants, Places};

fn held(asks: &[&str], given: &[&str]) -> Vec<&'static str> {
    Grants::new(Engine::Kubernetes, asks, given, Places::All).expect("valid").words().collect()
}

#[rstest]
#[case::nothing_given(&["*"], &[], &[])]
#[case::nothing_asked(&[], &["*"], &[])]
#[case::both(&["pods:get", "pods:list"], &["pods:list", "pods:watch"], &["pods:list"])]
#[case::a_resource(&["*"], &["pods:*"], &["pods:get", "pods:list", "pods:watch"])]
#[case::a_resource_without_its_parts(&["deployments:*"], &["*"],
    &["deployments:get", "deployments:list", "deployments:watch", "deployments:create", "deployments:patch", "deployments:delete"])]
#[case::a_part(&["deployments/scale:*"], &["*"], &["deployments/scale:get", "deployments/scale:patch"])]
#[case::dangerous_needs_both_by_name(&["pod:secret"], &["pod:secret"], &["pod:secret"])]
#[case::dangerous_not_given_by_wildcard(&["pod:secret"], &["*"], &[])]
#[case::dangerous_not_asked_by_wildcard(&["*"], &["pod:secret"], &[])]
#[case::repeated(&["pods:get", "pods:get"], &["pods:get", "pods:*"], &["pods:get"])]
#[case::unknown_asked(&["secrets:get", "pods:get", "pod:*"], &["*"], &["pods:get"])]
fn intersection(#[case] asks: &[&str], #[case] given: &[&str], #[case] expected: &[&str]) {
    assert_eq!(held(asks, given), expected);
}

#[test]
fn wildcard_holds_everything_that_is_not_dangerous() {
    let safe: Vec<_> = Engine::Kubernetes.words().filter(|word| !word.dangerous).map(|word| word.word).collect();
    assert_eq!(held(&["*"], &["*"]), safe);
    assert!(Engine::Kubernetes.words().filter(|word| word.word.starts_with("pod:")).all(|word| word.dangerous));
}

#[rstest]
#[case::verb("pods:read", "unknown grant \"pods:read\": there is pods:get, pods:list, pods:watch")]
#[case::kind(
    "deployment/scale:patch",
    "unknown grant \"deployment/scale:patch\": there is deployments/scale:get, deployments/scale:patch"
)]
#[case::kind_of_a_wildcard(
    "replicaset:*",
    "unknown grant \"replicaset:*\": there is replicasets:get, replicasets:list, replicasets:watch"
)]
#[case::no_colon("events", "unknown grant \"events\": there is events:list")]
#[case::case("Pods:get", "unknown grant \"Pods:get\": there is pods:get, pods:list, pods:watch")]
#[case::star_within("pods:g*", "unknown grant \"pods:g*\": there is pods:get, pods:list, pods:watch")]
#[case::star_first("*:get", "unknown grant \"*:get\": there is ")]
fn a_typo_is_an_error_that_helps(#[case] given: &str, #[case] expected: &str) {
    let error = Grants::new(Engine::Kubernetes, ["*"], [given], Places::All).expect_err("unknown");
    assert!(error.to_string().starts_with(expected), "{error}");
}

#[test]
fn a_wildcard_of_dangerous_words_says_so() {
    let error = Grants::new(Engine::Kubernetes, ["*"], ["pod:*"], Places::All).expect_err("gives nothing");
    assert!(
        matches!(&error, GrantError::ByName { valid, .. } if valid.len() == Engine::Kubernetes.field_grants().len())
    );
    assert!(error.to_string().contains("pod:host-path"));
}

#[test]
fn an_error_shows_foreign_text_escaped() {
    let word = format!("\u{1b}[31m{}", "x".repeat(10_000));
    let error = Grants::new(Engine::Kubernetes, ["*"], [word], Places::All).expect_err("unknown").to_string();
    assert!(error.len() < 1_000 && !error.contains('\u{1b}'));
}

#[test]
fn what_is_asked_in_vain_is_reported() {
    let asks = ["pods:get", "secrets:get", "pods:*", "pod:secret", "\u{1b}[2J"];
    let grants = Grants::new(Engine::Kubernetes, asks, ["pods:get"], Places::All).expect("valid");
    let dropped: Vec<_> = grants.dropped().iter().map(|d| (d.word.as_str(), d.reason)).collect();
    assert_eq!(
        dropped,
        [
            ("secrets:get", DropReason::Unknown),
            ("pods:*", DropReason::NotGiven),
            ("pod:secret", DropReason::NotGiven),
            ("\\u{1b}[2J", DropReason::Unknown),
        ]
    );
    assert_eq!(grants.words().collect::<Vec<_>>(), ["pods:get"]);
}

#[test]
fn only_so_many_words_are_read() {
    let asks = std::iter::repeat_n("x", 1_000_000).chain(["pods:get"]);
    let grants = Grants::new(Engine::Kubernetes, asks, ["*"], Places::All).expect("valid");
    assert_eq!(grants.dropped().len(), 257);
    assert_eq!(grants.dropped().last().map(|d| d.reason), Some(DropReason::TooMany));
    assert_eq!(grants.words().count(), 0);
}

#[rstest]
#[case::upper("Default")]
#[case::empty("")]
#[case::parent("..")]
#[case::star("*")]
#[case::path("a/b")]
#[case::long(&"a".repeat(64))]
fn a_place_that_cannot_be_is_an_error(#[case] place: &str) {
    let error = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["default", place])).expect_err("no name");
    assert_eq!(error, GrantError::Place { place: place.into() });
}
