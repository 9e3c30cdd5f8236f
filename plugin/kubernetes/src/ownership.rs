//! What is ours: marked with all of our labels, and managed by nobody else.

use workload_guest::Ownership;

use crate::api::{Labels, Meta, Selector};
use crate::id::{Target, is_id_of_another};

/// What an object says about whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owned {
    /// Ours to act on.
    Yes,
    /// Not marked as ours.
    Labels,
    /// Marked, but another controller manages it.
    Controlled(String),
}

/// Whose is it? A label is a claim that anybody may make who can edit the object; what protects is that every write
/// also names the uid that was read.
#[must_use]
pub fn owned(ownership: &Ownership, meta: &Meta<'_>) -> Owned {
    if !is_marked(ownership, &meta.labels) {
        return Owned::Labels;
    }
    match meta.controller() {
        Some(controller) => Owned::Controlled(format!("{} {}", controller.kind, controller.name)),
        None => Owned::Yes,
    }
}

/// The labels include all that mark what is ours. Without any label to tell by, nothing is.
fn is_marked(ownership: &Ownership, labels: &Labels<'_>) -> bool {
    !ownership.labels.is_empty()
        && ownership.labels.iter().all(|label| labels.get(&label.key) == Some(label.value.as_str()))
}

/// Whatever a workload of this selector owns carries our labels too, because it must match the selector: one list by
/// our labels finds the ReplicaSets and Pods of all such workloads.
#[must_use]
pub fn covers(ownership: &Ownership, selector: &Selector<'_>) -> bool {
    is_marked(ownership, &selector.match_labels)
}

/// Our labels in the words of a query.
#[must_use]
pub fn selector(ownership: &Ownership) -> String {
    let mut parts: Vec<String> =
        ownership.labels.iter().map(|label| format!("{}={}", label.key, label.value)).collect();
    parts.sort_unstable();
    parts.join(",")
}

/// Which workload an object says that it is, by its id label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claim {
    /// The one of its own name, or it says nothing.
    Own,
    /// One of another name: most likely it was copied.
    Another(String),
    /// An id that a Manager gave, which is nobody's name.
    Manager(String),
}

/// Which workload does it say that it is?
#[must_use]
pub fn claim(ownership: &Ownership, meta: &Meta<'_>) -> Claim {
    let own = Target { namespace: meta.namespace.to_string(), name: meta.name.to_string() };
    match meta.labels.get(&ownership.id_key) {
        None | Some("") => Claim::Own,
        Some(value) if value == own.label_value() => Claim::Own,
        Some(value) if is_id_of_another(value) => Claim::Another(value.to_owned()),
        Some(value) => Claim::Manager(value.to_owned()),
    }
}

/// The key of the annotation that marks an attempt to create.
#[must_use]
pub fn attempt_key(ownership: &Ownership) -> String {
    key_beside(ownership, "attempt")
}

/// The key of the annotation whose change wakes a controller that has given up.
#[must_use]
pub fn nudged_key(ownership: &Ownership) -> String {
    key_beside(ownership, "nudged")
}

/// A key of our own, beside the labels of this owner.
fn key_beside(ownership: &Ownership, word: &str) -> String {
    let end = ownership.id_key.rfind(['/', '.']).map_or(0, |at| at + 1);
    format!("{}{word}", ownership.id_key.get(..end).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use workload_guest::Label;

    use super::*;

    fn ours() -> Ownership {
        let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
        Ownership {
            owner: "me".to_owned(),
            labels: vec![label("w/owner", "me"), label("w/managed", "true")],
            id_key: "w/id".to_owned(),
        }
    }

    #[rstest]
    #[case::ours(r#"{"labels":{"w/managed":"true","w/owner":"me","app":"x"}}"#, Owned::Yes)]
    #[case::another_owner(r#"{"labels":{"w/managed":"true","w/owner":"you"}}"#, Owned::Labels)]
    #[case::not_managed(r#"{"labels":{"w/managed":"false","w/owner":"me"}}"#, Owned::Labels)]
    #[case::one_label(r#"{"labels":{"w/managed":"true"}}"#, Owned::Labels)]
    #[case::no_labels("{}", Owned::Labels)]
    #[case::labels_null(r#"{"labels":null}"#, Owned::Labels)]
    #[case::id_proves_nothing(r#"{"labels":{"w/id":"default.web"}}"#, Owned::Labels)]
    #[case::controlled(
        r#"{"labels":{"w/managed":"true","w/owner":"me"},
            "ownerReferences":[{"kind":"App","name":"shop","uid":"1","controller":true}]}"#,
        Owned::Controlled("App shop".to_owned())
    )]
    #[case::owned_but_not_controlled(
        r#"{"labels":{"w/managed":"true","w/owner":"me"},"ownerReferences":[{"kind":"App","name":"shop","uid":"1"}]}"#,
        Owned::Yes
    )]
    fn whose(#[case] json: &str, #[case] want: Owned) {
        let meta: Meta<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(owned(&ours(), &meta), want);
    }

    #[rstest]
    #[case::own("default.web", Claim::Own)]
    #[case::empty("", Claim::Own)]
    #[case::a_number("4711", Claim::Manager("4711".to_owned()))]
    #[case::a_word("Ct_4711", Claim::Manager("Ct_4711".to_owned()))]
    #[case::another_name("default.api", Claim::Another("default.api".to_owned()))]
    #[case::another_namespace("prod.web", Claim::Another("prod.web".to_owned()))]
    #[case::shortened(
        "default.a-name-that-is-far-too-long-to-b-0123456789abcdef",
        Claim::Another("default.a-name-that-is-far-too-long-to-b-0123456789abcdef".to_owned())
    )]
    fn which_it_says_that_it_is(#[case] value: &str, #[case] want: Claim) {
        let json = format!(r#"{{"namespace":"default","name":"web","labels":{{"w/id":"{value}"}}}}"#);
        let meta: Meta<'_> = serde_json::from_str(&json).unwrap();
        assert_eq!(claim(&ours(), &meta), want);
    }

    #[test]
    fn who_says_nothing_is_what_its_name_says() {
        let meta: Meta<'_> = serde_json::from_str(r#"{"namespace":"default","name":"web"}"#).unwrap();
        assert_eq!(claim(&ours(), &meta), Claim::Own);
    }

    #[test]
    fn without_labels_nothing_is_ours() {
        let nobody = Ownership { labels: Vec::new(), ..ours() };
        let meta: Meta<'_> = serde_json::from_str(r#"{"labels":{"w/managed":"true"}}"#).unwrap();
        assert_eq!(owned(&nobody, &meta), Owned::Labels);
    }

    #[test]
    fn the_selector_is_in_order() {
        assert_eq!(selector(&ours()), "w/managed=true,w/owner=me");
    }

    #[rstest]
    #[case::prefix("workload-provider/id", "workload-provider/attempt")]
    #[case::dotted("org.mieweb.opensource-server.container-id", "org.mieweb.opensource-server.attempt")]
    #[case::bare("id", "attempt")]
    fn the_attempt_stands_beside_the_labels(#[case] id_key: &str, #[case] want: &str) {
        let ownership = Ownership { id_key: id_key.to_owned(), ..ours() };
        assert_eq!(attempt_key(&ownership), want);
        assert_eq!(nudged_key(&ownership), want.replace("attempt", "nudged"));
    }
}
