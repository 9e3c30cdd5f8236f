//! Ids: `namespace/name`. Checked before any request, because a name is part of a path.

use sha2::{Digest, Sha256};
use workload_guest::{Fault, FaultKind, fault};

/// A namespace, and the name of what we create: a DNS label.
const LABEL_LENGTH: usize = 63;

/// A name of something that exists: a DNS subdomain.
const SUBDOMAIN_LENGTH: usize = 253;

/// A name of what we create. A ReplicaSet adds `-` and ten characters, and beyond 63 a Pod's name is cut, so that the
/// Pods of two long names could not be told apart.
const CREATED_LENGTH: usize = 52;

/// How much of a long id is kept in the label, for people.
const LABEL_HEAD: usize = 40;

/// How many bytes of the digest follow: 16 hexadecimal digits.
const LABEL_DIGEST: usize = 8;

/// A workload's id, taken apart.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Target {
    /// Its namespace.
    pub namespace: String,
    /// Its name within it.
    pub name: String,
}

impl Target {
    /// The id of something that may exist.
    ///
    /// # Errors
    /// `invalid-id`: it is not `namespace/name`, or one of the two is no proper name.
    pub fn parse(id: &str) -> Result<Self, Fault> {
        let (namespace, name) = split(id)?;
        if !is_label(namespace, LABEL_LENGTH) {
            return Err(invalid(id, "its namespace is no DNS label"));
        }
        if !is_subdomain(name) {
            return Err(invalid(id, "its name is no DNS subdomain"));
        }
        Ok(Self { namespace: namespace.to_owned(), name: name.to_owned() })
    }

    /// The id of something to be made.
    ///
    /// # Errors
    /// `invalid-id`: as above, or the name is no DNS label or too long for the names made from it.
    pub fn parse_new(id: &str) -> Result<Self, Fault> {
        let target = Self::parse(id)?;
        if !is_label(&target.name, CREATED_LENGTH) {
            return Err(invalid(id, "the name of a new workload is a DNS label of at most 52 characters"));
        }
        Ok(target)
    }

    /// `namespace/name`.
    #[must_use]
    pub fn id(&self) -> String {
        format!("{}/{}", self.namespace, self.name)
    }

    /// The value of the id label: `namespace.name`, and beyond the length of a label its head and a digest.
    #[must_use]
    pub fn label_value(&self) -> String {
        let full = format!("{}.{}", self.namespace, self.name);
        if full.len() <= LABEL_LENGTH {
            return full;
        }
        let digest = Sha256::digest(full.as_bytes());
        let head: String = full.chars().take(LABEL_HEAD).collect();
        format!("{head}-{}", hexadecimal(&digest, LABEL_DIGEST))
    }
}

/// The id whose label has this value. None: it is no id's, or is shortened.
#[must_use]
pub fn claimed_id(value: &str) -> Option<Target> {
    let (namespace, name) = value.split_once('.')?;
    let target = Target { namespace: namespace.to_owned(), name: name.to_owned() };
    (is_namespace(namespace) && is_subdomain(name)).then_some(target)
}

/// It is the label of some id: of another one, where it is not the own.
#[must_use]
pub fn is_id_of_another(value: &str) -> bool {
    claimed_id(value).is_some() || is_shortened(value)
}

/// It looks like the label of a long id: its head, a hyphen and a digest.
fn is_shortened(value: &str) -> bool {
    match value.split_at_checked(LABEL_HEAD) {
        Some((_, tail)) => tail.strip_prefix('-').is_some_and(|digits| {
            digits.len() == LABEL_DIGEST * 2 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
        }),
        None => false,
    }
}

/// The first bytes in hexadecimal digits.
#[must_use]
pub fn hexadecimal(bytes: &[u8], count: usize) -> String {
    bytes.iter().take(count).map(|byte| format!("{byte:02x}")).collect()
}

/// Could be the value of a label.
#[must_use]
pub fn is_label_value(value: &str) -> bool {
    value.len() <= LABEL_LENGTH
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'))
        && value.bytes().next().is_none_or(|byte| byte.is_ascii_alphanumeric())
        && value.bytes().next_back().is_none_or(|byte| byte.is_ascii_alphanumeric())
}

/// Could be the name of a namespace.
#[must_use]
pub fn is_namespace(name: &str) -> bool {
    is_label(name, LABEL_LENGTH)
}

/// Could be the name of an object.
#[must_use]
pub fn is_subdomain(name: &str) -> bool {
    name.len() <= SUBDOMAIN_LENGTH && name.split('.').all(|part| is_label(part, SUBDOMAIN_LENGTH))
}

fn is_label(name: &str, length: usize) -> bool {
    let edge = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
    name.len() <= length
        && name.bytes().all(|byte| edge(byte) || byte == b'-')
        && name.bytes().next().is_some_and(edge)
        && name.bytes().next_back().is_some_and(edge)
}

fn split(id: &str) -> Result<(&str, &str), Fault> {
    match id.split_once('/') {
        Some((_, name)) if name.contains('/') => Err(invalid(id, "it has more than one slash")),
        Some(parts) => Ok(parts),
        None => Err(invalid(id, "it is not namespace/name")),
    }
}

/// How much of a wrong id is repeated: a longest proper one fits.
const QUOTED_LENGTH: usize = 320;

fn invalid(id: &str, why: &str) -> Fault {
    let shown: String = id.chars().take(QUOTED_LENGTH).collect();
    fault(FaultKind::InvalidId, format!("{shown:?} is no id of a workload: {why}"))
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::plain("default/web", "default", "web")]
    #[case::digits("1a/2b", "1a", "2b")]
    #[case::dotted("prod/web.v2", "prod", "web.v2")]
    fn an_id_is_taken_apart(#[case] id: &str, #[case] namespace: &str, #[case] name: &str) {
        let target = Target::parse(id).unwrap();
        assert_eq!((&*target.namespace, &*target.name), (namespace, name));
        assert_eq!(target.id(), id);
    }

    #[rstest]
    #[case::empty("")]
    #[case::bare("web")]
    #[case::no_name("default/")]
    #[case::no_namespace("/web")]
    #[case::two_slashes("default/web/scale")]
    #[case::dot("default/.")]
    #[case::dots("default/..")]
    #[case::climbing("../kube-system/web")]
    #[case::percent("default/a%2Fscale")]
    #[case::query("default/a?x=y")]
    #[case::fragment("default/a#b")]
    #[case::space("default/a b")]
    #[case::capitals("default/Web")]
    #[case::underscore("default/a_b")]
    #[case::nul("default/a\0")]
    #[case::unicode("default/ä")]
    #[case::hyphen_first("default/-a")]
    #[case::hyphen_last("default/a-")]
    #[case::empty_part("default/a..b")]
    #[case::dotted_namespace("a.b/web")]
    fn what_is_no_id_is_refused(#[case] id: &str) {
        assert_eq!(Target::parse(id).unwrap_err().kind, FaultKind::InvalidId);
        assert_eq!(Target::parse_new(id).unwrap_err().kind, FaultKind::InvalidId);
    }

    #[rstest]
    #[case::longest_namespace(63, 3, true, true)]
    #[case::namespace_too_long(64, 3, false, false)]
    #[case::longest_new(7, 52, true, true)]
    #[case::too_long_to_make(7, 53, true, false)]
    #[case::longest(7, 253, true, false)]
    #[case::too_long(7, 254, false, false)]
    fn lengths(#[case] namespace: usize, #[case] name: usize, #[case] exists: bool, #[case] new: bool) {
        let id = format!("{}/{}", "n".repeat(namespace), "w".repeat(name));
        assert_eq!(Target::parse(&id).is_ok(), exists);
        assert_eq!(Target::parse_new(&id).is_ok(), new);
    }

    #[test]
    fn a_new_name_has_no_dots() {
        assert!(Target::parse("default/a.b").is_ok());
        assert!(Target::parse_new("default/a.b").is_err());
    }

    #[test]
    fn a_label_repeats_a_short_id() {
        let target = Target::parse("default/web").unwrap();
        assert_eq!(target.label_value(), "default.web");
        let exact = Target { namespace: "n".repeat(30), name: "w".repeat(32) };
        assert_eq!(exact.label_value().len(), 63);
        assert!(exact.label_value().ends_with('w'));
    }

    #[test]
    fn a_label_shortens_a_long_id() {
        let target = Target { namespace: "n".repeat(30), name: "w".repeat(33) };
        let value = target.label_value();
        // printf 'n…n.w…w' | sha256sum
        assert_eq!(value, format!("{}.{}-{}", "n".repeat(30), "w".repeat(9), &LONG_DIGEST[..16]));
        assert!(is_label_value(&value));
        assert!(is_shortened(&value) && claimed_id(&value).is_some());
        let other = Target { name: "w".repeat(34), ..target };
        assert_ne!(other.label_value(), value);
    }

    #[rstest]
    #[case::id("default.web", Some("default/web"))]
    #[case::dotted("prod.web.v2", Some("prod/web.v2"))]
    #[case::number("4711", None)]
    #[case::capitals("Node.web", None)]
    #[case::underscore("ct_1.web", None)]
    #[case::empty("", None)]
    fn the_id_of_a_label(#[case] value: &str, #[case] want: Option<&str>) {
        assert_eq!(claimed_id(value).map(|target| target.id()).as_deref(), want);
    }

    const LONG_DIGEST: &str = "0035d83250d5540c9b11a42dc02f7f71d0388afe22ac080c2c1443b46ef0af0f";

    #[rstest]
    #[case::plain("default.web", true)]
    #[case::empty("", true)]
    #[case::capitals("A_b", true)]
    #[case::comma("a,b", false)]
    #[case::equals("a=b", false)]
    #[case::bang("!a", false)]
    #[case::paren("in(a)", false)]
    #[case::space("a b", false)]
    #[case::edge("a.", false)]
    fn label_values(#[case] value: &str, #[case] proper: bool) {
        assert_eq!(is_label_value(value), proper);
    }
}
