//! Which labels mark what is ours. The provider puts them on what it creates and into its selectors, so what is typed is
//! checked to be what a label may hold.

use workload_host::model::Ownership;
use workload_policy::names;

use crate::args::{Global, LabelPreset};

/// The prefix unless another is named.
const PREFIX: &str = "workload-provider";

/// A DNS subdomain has this many characters at most.
const MAX_PREFIX: usize = 253;

/// The labels of this owner.
pub fn ownership(global: &Global) -> Ownership {
    let owner = &global.owner;
    match (global.labels, &global.label_prefix) {
        (Some(LabelPreset::OpensourceServer), _) => {
            let key = |name: &str| format!("org.mieweb.opensource-server.{name}");
            let labels = vec![(key("managed"), "true".to_owned()), (key("node-id"), owner.clone())];
            Ownership { owner: owner.clone(), labels, id_key: key("container-id") }
        }
        (None, prefix) => Ownership::new(prefix.as_deref().unwrap_or(PREFIX), owner),
    }
}

/// The value of `--owner`: it becomes the value of a label.
///
/// # Errors
/// A sentence for the user.
pub fn owner(text: &str) -> Result<String, String> {
    if !text.is_empty() && names::is_label_value(text) {
        Ok(text.to_owned())
    } else {
        Err("an owner has 1 to 63 letters, digits, dots, hyphens and underscores, with a letter or digit at its ends"
            .to_owned())
    }
}

/// The value of `--label-prefix`: it becomes the prefix of a label's key.
///
/// # Errors
/// A sentence for the user.
pub fn prefix(text: &str) -> Result<String, String> {
    if text.len() > MAX_PREFIX || !text.split('.').all(names::is_label) {
        return Err("a label prefix is a DNS name in lower case, such as workloads.example.com".to_owned());
    }
    // Policy refuses them too, but only knows that its grants are wrong.
    match names::reserved_domain(text) {
        Some(domain) => Err(format!("labels of {domain} are Kubernetes' own")),
        None => Ok(text.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::usual("list", "workload-provider/managed", "workload-provider/owner", "default", "workload-provider/id")]
    #[case::prefix(
        "list --owner me --label-prefix a.example",
        "a.example/managed",
        "a.example/owner",
        "me",
        "a.example/id"
    )]
    #[case::preset(
        "list --owner 7 --labels opensource-server",
        "org.mieweb.opensource-server.managed",
        "org.mieweb.opensource-server.node-id",
        "7",
        "org.mieweb.opensource-server.container-id"
    )]
    fn labels(
        #[case] line: &str,
        #[case] managed: &str,
        #[case] owner: &str,
        #[case] value: &str,
        #[case] id_key: &str,
    ) {
        let words = std::iter::once("workload").chain(line.split(' ')).map(Into::into);
        let global = crate::args::parse(words).unwrap().global;
        let expected = Ownership {
            owner: value.to_owned(),
            labels: vec![(managed.to_owned(), "true".to_owned()), (owner.to_owned(), value.to_owned())],
            id_key: id_key.to_owned(),
        };
        assert_eq!(ownership(&global), expected);
    }

    #[rstest]
    #[case::plain("default", true)]
    #[case::mixed("Team_1.a-b", true)]
    #[case::empty("", false)]
    #[case::selector("a,b=c", false)]
    #[case::space("a b", false)]
    #[case::hyphen_first("-a", false)]
    #[case::dot_last("a.", false)]
    fn owners(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(owner(text).is_ok(), fits);
    }

    #[test]
    fn an_owner_fits_a_label() {
        assert!(owner(&"a".repeat(63)).is_ok());
        assert!(owner(&"a".repeat(64)).is_err());
    }

    #[rstest]
    #[case::plain("workloads", true)]
    #[case::domain("a.b-c.example", true)]
    #[case::empty("", false)]
    #[case::empty_part("a..b", false)]
    #[case::upper("A.b", false)]
    #[case::path("a/b", false)]
    #[case::reserved("kubernetes.io", false)]
    #[case::within_reserved("apps.k8s.io", false)]
    #[case::like_reserved("mykubernetes.io", true)]
    fn prefixes(#[case] text: &str, #[case] fits: bool) {
        assert_eq!(prefix(text).is_ok(), fits);
    }
}
