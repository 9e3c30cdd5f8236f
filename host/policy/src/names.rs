//! The grammars of names: what a path segment may be made of, and what Kubernetes takes for a name.

use crate::limits;

/// Why `segment` cannot be part of a path, if so. Deliberately narrow: what is not a letter, a digit, `.`, `_` or `-` is
/// refused rather than encoded, because what decodes it further on (a proxy, a router) may decode it twice.
pub(crate) fn refuse_segment(segment: &str) -> Option<&'static str> {
    if segment.is_empty() {
        return Some("is empty");
    }
    if segment.len() > limits::SEGMENT_BYTES {
        return Some("is too long");
    }
    if segment == "." || segment == ".." {
        return Some("is a relative step");
    }
    if !segment.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-')) {
        return Some("has a character other than letters, digits, `.`, `_` and `-`");
    }
    None
}

/// A DNS label (RFC 1123): the names of namespaces and of what we create.
///
/// ```
/// # use workload_policy::names::is_label;
/// assert!(is_label("shop-1") && !is_label("Shop") && !is_label("a.b"));
/// ```
#[must_use]
pub fn is_label(name: &str) -> bool {
    name.len() <= 63 && is_dashed(name)
}

/// A DNS subdomain: labels joined by `.`. As in Kubernetes, only the whole is bounded in length.
pub(crate) fn is_subdomain(name: &str) -> bool {
    name.len() <= limits::SEGMENT_BYTES && name.split('.').all(is_dashed)
}

fn is_dashed(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_lowercase() || b.is_ascii_digit());
    ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || *b == b'-')
}

/// The value of a label, and the part of its key after the prefix: at most 63 of letters, digits, `-`, `_`, `.`, with a
/// letter or digit at both ends. A value may also be empty.
///
/// ```
/// # use workload_policy::names::is_label_value;
/// assert!(is_label_value("Team_1.x") && is_label_value("") && !is_label_value("-x"));
/// ```
#[must_use]
pub fn is_label_value(value: &str) -> bool {
    value.is_empty() || is_key_name(value)
}

fn is_key_name(name: &str) -> bool {
    let bytes = name.as_bytes();
    let ends = |b: Option<&u8>| b.is_some_and(u8::is_ascii_alphanumeric);
    name.len() <= 63
        && ends(bytes.first())
        && ends(bytes.last())
        && bytes.iter().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

/// A qualified key of a label, annotation or resource: a name, or a subdomain, `/` and a name.
pub(crate) fn is_key(key: &str) -> bool {
    match key.split_once('/') {
        Some((prefix, name)) => is_subdomain(prefix) && is_key_name(name),
        None => is_key_name(key),
    }
}

/// The domain of Kubernetes itself in which this prefix of a key lies, if so: its components act on such keys.
///
/// ```
/// # use workload_policy::names::reserved_domain;
/// assert_eq!(reserved_domain("deployment.kubernetes.io"), Some("kubernetes.io"));
/// assert_eq!(reserved_domain("workload-provider"), None);
/// ```
#[must_use]
pub fn reserved_domain(prefix: &str) -> Option<&'static str> {
    ["kubernetes.io", "k8s.io"]
        .into_iter()
        .find(|domain| prefix.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.')))
}

/// Whether the key belongs to Kubernetes itself.
pub(crate) fn is_reserved_key(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| reserved_domain(prefix).is_some())
}

/// Whether the key is the host's own: `prefix/name`, or `prefix.name` as one Manager writes it.
pub(crate) fn is_own_key(prefix: &str, key: &str) -> bool {
    key.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(['/', '.'])) && is_key(key)
}

/// A uid or a resource version: opaque to us, so only bounded and free of anything that means something elsewhere.
pub(crate) fn is_token(value: &str) -> bool {
    (1..=128).contains(&value.len())
        && value.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::one_letter("a", true)]
    #[case::dash_within("a-1", true)]
    #[case::longest(&"a".repeat(63), true)]
    #[case::too_long(&"a".repeat(64), false)]
    #[case::empty("", false)]
    #[case::upper("A", false)]
    #[case::dash_first("-a", false)]
    #[case::dash_last("a-", false)]
    #[case::dot("a.b", false)]
    #[case::under("a_b", false)]
    fn labels(#[case] name: &str, #[case] good: bool) {
        assert_eq!(is_label(name), good);
    }

    #[rstest]
    #[case::label("web", true)]
    #[case::dotted("a.b-c.d0", true)]
    #[case::one_part_of_253(&"a".repeat(253), true)]
    #[case::too_long(&"a".repeat(254), false)]
    #[case::empty("", false)]
    #[case::dot_first(".a", false)]
    #[case::dot_last("a.", false)]
    #[case::two_dots("a..b", false)]
    #[case::dash_before_dot("a-.b", false)]
    #[case::upper("a.B", false)]
    fn subdomains(#[case] name: &str, #[case] good: bool) {
        assert_eq!(is_subdomain(name), good);
    }

    #[rstest]
    #[case::plain("app", true)]
    #[case::qualified("app.kubernetes.io/name", true)]
    #[case::ours("workload-provider/id", true)]
    #[case::mixed_case("Tier_1.x", true)]
    #[case::no_name("a/", false)]
    #[case::no_prefix("/a", false)]
    #[case::two_slashes("a/b/c", false)]
    #[case::space("a b", false)]
    #[case::not_ascii("ä", false)]
    fn keys(#[case] key: &str, #[case] good: bool) {
        assert_eq!(is_key(key), good);
    }

    #[rstest]
    #[case::whole("kubernetes.io/x", true)]
    #[case::below("deployment.kubernetes.io/revision", true)]
    #[case::other_domain("pod.security.k8s.io/x", true)]
    #[case::suffix_of_a_word("mykubernetes.io/x", false)]
    #[case::ours("workload-provider/x", false)]
    #[case::no_prefix("kubernetes.io", false)]
    fn reserved_keys(#[case] key: &str, #[case] reserved: bool) {
        assert_eq!(is_reserved_key(key), reserved);
    }

    #[rstest]
    #[case::slash("p", "p/nudged", true)]
    #[case::dot("org.example.m", "org.example.m.attempt", true)]
    #[case::other("p", "q/nudged", false)]
    #[case::longer_word("p", "pp/nudged", false)]
    #[case::nothing_after("p", "p/", false)]
    #[case::prefix_only("p", "p", false)]
    fn own_keys(#[case] prefix: &str, #[case] key: &str, #[case] own: bool) {
        assert_eq!(is_own_key(prefix, key), own);
    }
}
