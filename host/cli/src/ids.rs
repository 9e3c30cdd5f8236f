//! From what was typed to the ids that a provider gets, and the places they lie in.

use std::collections::BTreeSet;

use workload_host::model::{Fault, FaultKind};

/// Names without a namespace get this one; the rest goes on as it is, since only the provider knows what an id may
/// be. An id given twice is one id.
pub fn qualify(names: &[String], namespace: &str) -> Vec<String> {
    let mut seen = BTreeSet::new();
    names.iter().map(|name| qualified(name, namespace)).filter(|id| seen.insert(id.clone())).collect()
}

/// One name, as [`qualify`] does it.
pub fn qualified(name: &str, namespace: &str) -> String {
    if name.contains('/') { name.to_owned() } else { format!("{namespace}/{name}") }
}

/// What can be no name at all is refused before anything is done with the others: it is what a shell makes of a variable
/// that is not set. Everything else only the provider knows.
///
/// # Errors
/// A fault that says what an id looks like.
pub fn check<'a>(names: impl IntoIterator<Item = &'a str>) -> Result<(), Fault> {
    match names.into_iter().find(|name| name.trim().is_empty()) {
        None => Ok(()),
        Some(name) => {
            let message =
                format!("{name:?} is no id of a workload: it is NAME or NAMESPACE/NAME, such as web or shop/web");
            Err(Fault::new(FaultKind::InvalidId, message))
        }
    }
}

/// The namespaces that a command names: its own and those of its ids. Without a configuration they are all that is
/// granted. What cannot be a namespace is left out; the provider refuses such an id, and policy would too.
pub fn places(ids: &[String], namespace: &str) -> BTreeSet<String> {
    ids.iter()
        .filter_map(|id| id.split_once('/').map(|(place, _)| place))
        .chain([namespace])
        .filter(|place| is_place(place))
        .map(str::to_owned)
        .collect()
}

/// Whether this can be a namespace: a DNS label.
pub fn is_place(text: &str) -> bool {
    workload_policy::names::is_label(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[rstest]
    #[case::bare(&["web"], &["shop/web"])]
    #[case::full(&["prod/web"], &["prod/web"])]
    #[case::order_kept(&["b", "a"], &["shop/b", "shop/a"])]
    #[case::twice(&["web", "shop/web", "web"], &["shop/web"])]
    #[case::same_name_elsewhere(&["web", "prod/web"], &["shop/web", "prod/web"])]
    #[case::bad_ids_go_on(&["a/b/c", "/x", "../y", ""], &["a/b/c", "/x", "../y", "shop/"])]
    fn qualifies(#[case] typed: &[&str], #[case] ids: &[&str]) {
        assert_eq!(qualify(&owned(typed), "shop"), owned(ids));
    }

    #[rstest]
    #[case::names(&["web", "shop/web", "a/b/c", "/"], true)]
    #[case::none(&[], true)]
    #[case::nothing(&["web", ""], false)]
    #[case::blanks(&[" "], false)]
    fn names_that_are_none(#[case] names: &[&str], #[case] good: bool) {
        assert_eq!(check(names.iter().copied()).is_ok(), good);
    }

    #[rstest]
    #[case::only_its_own(&[], &["shop"])]
    #[case::of_ids(&["prod/web", "shop/web", "prod/api"], &["prod", "shop"])]
    #[case::no_place(&["/x", "../y", "UPPER/z", "a b/c", "-a/b", "a-/b"], &["shop"])]
    fn finds_places(#[case] ids: &[&str], #[case] expected: &[&str]) {
        assert_eq!(places(&owned(ids), "shop").into_iter().collect::<Vec<_>>(), owned(expected));
    }

    #[test]
    fn a_place_is_a_dns_label() {
        assert!(is_place(&"a".repeat(63)));
        assert!(!is_place(&"a".repeat(64)));
        assert!(!is_place(""));
    }
}
