//! What is ours: marked with all of our labels, and managed by nobody else.

use workload_guest::Ownership;

use crate::api::{Labels, Meta, Selector};

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

/// The key of the annotation that marks an attempt to create, beside the labels of this owner.
#[must_use]
pub fn attempt_key(ownership: &Ownership) -> String {
    let end = ownership.id_key.rfind(['/', '.']).map_or(0, |at| at + 1);
    format!("{}attempt", ownership.id_key.get(..end).unwrap_or_default())
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
    }
}
