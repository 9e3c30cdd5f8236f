//! What the tables themselves must hold to.

use std::collections::BTreeSet;

use super::*;
use crate::catalogue::Engine;
use crate::fields::{Absent, Keys};

/// The words that a rule's fields need.
fn needs(rule: &Rule, found: &mut BTreeSet<&'static str>) {
    match rule {
        Rule::Object(fields) => {
            let names: BTreeSet<_> = fields.iter().map(|field| field.name).collect();
            assert_eq!(names.len(), fields.len(), "a field is there twice: {names:?}");
            for field in *fields {
                needs(&field.rule, found);
                if let Absent::Put(_, word) = field.absent {
                    found.insert(word);
                }
            }
        }
        Rule::List(rule) | Rule::OrNull(rule) => needs(rule, found),
        Rule::Map(keys, rule) => {
            if let Keys::OwnOr(word) = keys {
                found.insert(word);
            }
            needs(rule, found);
        }
        Rule::Needs(word, rule) => {
            found.insert(word);
            needs(rule, found);
        }
        Rule::OneOfOr(_, _, word) | Rule::FlagNeeds(_, word) | Rule::NotRoot(word) => {
            found.insert(word);
        }
        _ => {}
    }
}

#[test]
fn every_field_grant_is_needed_and_every_needed_one_exists() {
    let mut found = BTreeSet::new();
    for (_, rule) in OPERATIONS.iter().filter_map(Operation::body) {
        needs(rule, &mut found);
    }
    let listed: BTreeSet<_> = FIELD_GRANTS.iter().map(FieldGrant::word).collect();
    assert_eq!(found, listed);
}

#[test]
fn words_are_unique_and_fit_the_set() {
    let words: Vec<_> = Engine::Kubernetes.words().map(|word| word.word).collect();
    assert_eq!(words.iter().collect::<BTreeSet<_>>().len(), words.len());
    assert!(words.len() <= 128, "the set of words has 128 bits");
    assert!(words.len() <= limits::ASKED_WORDS);
}

#[test]
fn words_say_what_the_permission_is() {
    for operation in OPERATIONS {
        let rbac = operation.rbac();
        let kind = rbac.subresource.map_or(rbac.resource.to_owned(), |sub| format!("{}/{sub}", rbac.resource));
        assert_eq!(operation.word(), format!("{kind}:{}", rbac.verb));
        assert_eq!(operation.streaming(), rbac.verb == "watch");
    }
}

#[test]
fn query_keys_are_unique_and_fit_the_set() {
    for operation in OPERATIONS {
        let keys: BTreeSet<_> = operation.query().iter().map(|key| key.name).collect();
        assert_eq!(keys.len(), operation.query().len(), "{}", operation.word());
        assert!(keys.len() < 32, "the set of keys has 32 bits");
    }
}

#[test]
fn no_two_operations_have_the_same_request() {
    for (index, one) in OPERATIONS.iter().enumerate() {
        for other in OPERATIONS.iter().skip(index + 1) {
            let alike = one.method == other.method && one.streaming == other.streaming;
            let shape = |path: &Path| path.iter().map(|part| format!("{part:?}")).collect::<Vec<_>>();
            let shared = one.paths.iter().any(|a| other.paths.iter().any(|b| shape(a) == shape(b)));
            assert!(!(alike && shared), "{} and {}", one.word(), other.word());
        }
    }
}

/// What must never become a row without a thought: a resource that holds, returns or probes credentials, or reaches into
/// processes, nodes or the cluster.
#[test]
fn nothing_dangerous_is_in_the_table() {
    const NEVER: &[&str] = &[
        "secrets",
        "configmaps",
        "token",
        "tokenreviews",
        "subjectaccessreviews",
        "exec",
        "attach",
        "portforward",
        "proxy",
        "eviction",
        "binding",
        "ephemeralcontainers",
        "nodes",
        "namespaces",
        "serviceaccounts",
    ];
    for operation in OPERATIONS.iter().filter(|operation| !operation.dangerous()) {
        let rbac = operation.rbac();
        assert!(!NEVER.contains(&rbac.resource) && rbac.subresource.is_none_or(|sub| !NEVER.contains(&sub)));
        assert!(rbac.namespaced && rbac.verb != "deletecollection");
    }
}
