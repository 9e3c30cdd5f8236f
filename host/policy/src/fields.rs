//! The allow-list of a body: rules for the fields it may have, and the walk that holds a parsed body to them.
//!
//! What no rule names is denied, and the denial names its path. `null` is denied too, but where a merge patch means "take
//! away" by it: elsewhere it says nothing that leaving the field out does not say, and some engines read it as a value.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::denied::{DenialRule, Denied};
use crate::grants::Grants;
use crate::json::Json;
use crate::limits;
use crate::names;

/// What a value may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Rule {
    /// An object with these fields only.
    Object(&'static [Field]),
    /// A list of such.
    List(&'static Rule),
    /// An object with keys of one kind.
    Map(Keys, &'static Rule),
    /// Such a value, if this word is granted.
    Needs(&'static str, &'static Rule),
    /// Such a value, or `null` to take it away: for merge patches.
    OrNull(&'static Rule),
    /// Any text.
    Text,
    /// One of these texts.
    OneOf(&'static [&'static str]),
    /// One of the first freely, one of the second if the word is granted.
    OneOfOr(&'static [&'static str], &'static [&'static str], &'static str),
    /// A truth value.
    Flag,
    /// A truth value, where this one needs the word.
    FlagNeeds(bool, &'static str),
    /// A whole number in these bounds.
    Whole(i64, i64),
    /// A whole number that is not negative; 0, which is root, needs the word.
    NotRoot(&'static str),
    /// A whole number or a text: a port, or a count or percentage.
    WholeOrText,
    /// An amount: a number or a short text such as `100m` or `1Gi`.
    Amount,
    /// The namespace of the path.
    Place,
    /// The name of what is created: a short DNS label.
    NewName,
    /// The name of another object: a DNS subdomain.
    Name,
    /// The value of a label.
    Label,
    /// A uid or a resource version.
    Token,
}

/// What the keys of a map may be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Keys {
    /// Qualified names: labels and resources.
    Any,
    /// Qualified names, but not those of Kubernetes itself, on which its components act.
    NotReserved,
    /// Those under our own prefix.
    Own,
    /// Those under our own prefix freely; others that are not reserved if the word is granted.
    OwnOr(&'static str),
}

/// A field of an object.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    pub(crate) name: &'static str,
    pub(crate) rule: Rule,
    pub(crate) absent: Absent,
}

/// What it means that a field is not there.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Absent {
    /// Nothing.
    Fine,
    /// The body is denied.
    Denied,
    /// The engine would take a dangerous default: this is put there, unless the word is granted.
    Put(bool, &'static str),
}

/// A field that may be there.
pub(crate) const fn may(name: &'static str, rule: Rule) -> Field {
    Field { name, rule, absent: Absent::Fine }
}

/// A field that must be there.
pub(crate) const fn must(name: &'static str, rule: Rule) -> Field {
    Field { name, rule, absent: Absent::Denied }
}

/// Where in a body: a chain on the stack, written out only for a denial.
#[derive(Clone, Copy)]
pub(crate) enum Path<'p> {
    Root,
    Key(&'p Path<'p>, &'p str),
    Index(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn put(&self, out: &mut String) {
        match self {
            Path::Root => {}
            Path::Key(parent, key) => {
                parent.put(out);
                // A key is the provider's text. Only what looks like the name of a field is repeated.
                let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.' | b'/' | b'$');
                let key = if key.len() <= 64 && key.bytes().all(plain) { key } else { "?" };
                // A key with a dot within would read as two.
                if key.contains(['.', '/']) {
                    let _written = write!(out, "[{key}]");
                } else {
                    let dot = if out.is_empty() { "" } else { "." };
                    let _written = write!(out, "{dot}{key}");
                }
            }
            Path::Index(parent, index) => {
                parent.put(out);
                let _written = write!(out, "[{index}]");
            }
        }
    }

    fn deny<T>(&self, rule: DenialRule, why: std::fmt::Arguments<'_>) -> Result<T, Denied> {
        let mut detail = String::new();
        self.put(&mut detail);
        if detail.is_empty() {
            detail.push_str("the body");
        }
        let _written = write!(detail, " {why}");
        Err(Denied::new(rule, detail))
    }
}

/// Holds a body to its rule. Puts in what the rule wants put in, so the value afterwards is what is to be sent.
pub(crate) fn check(rule: &Rule, body: &mut Json<'_>, grants: &Grants, place: Option<&str>) -> Result<(), Denied> {
    Checker { grants, place }.value(rule, body, &Path::Root)
}

struct Checker<'c> {
    grants: &'c Grants,
    place: Option<&'c str>,
}

impl Checker<'_> {
    fn value(&self, rule: &Rule, value: &mut Json<'_>, path: &Path<'_>) -> Result<(), Denied> {
        match (rule, value) {
            (Rule::Needs(word, rule), value) => {
                self.granted(word, path)?;
                self.value(rule, value, path)
            }
            (Rule::OrNull(_), Json::Null) => Ok(()),
            (Rule::OrNull(rule), value) => self.value(rule, value, path),
            (_, Json::Null) => path.deny(DenialRule::FieldValue, format_args!("is null: leave it out")),
            (Rule::Object(fields), Json::Object(members)) => self.object(fields, members, path),
            (Rule::Map(keys, rule), Json::Object(members)) => members.iter_mut().try_for_each(|(key, member)| {
                let path = Path::Key(path, key);
                self.key(*keys, key, &path)?;
                self.value(rule, member, &path)
            }),
            (Rule::List(rule), Json::List(items)) => items
                .iter_mut()
                .enumerate()
                .try_for_each(|(index, item)| self.value(rule, item, &Path::Index(path, index))),
            (Rule::Object(_) | Rule::Map(..), _) => path.deny(DenialRule::FieldValue, format_args!("is not an object")),
            (Rule::List(_), _) => path.deny(DenialRule::FieldValue, format_args!("is not a list")),
            (rule, value) => self.scalar(rule, value, path),
        }
    }

    fn object<'j>(
        &self,
        fields: &[Field],
        members: &mut Vec<(Cow<'j, str>, Json<'j>)>,
        path: &Path<'_>,
    ) -> Result<(), Denied> {
        for (key, member) in members.iter_mut() {
            let path = Path::Key(path, key);
            match fields.iter().find(|field| field.name == key) {
                Some(field) => self.value(&field.rule, member, &path)?,
                None => return path.deny(DenialRule::Field, format_args!("is not allowed")),
            }
        }
        for field in fields {
            if matches!(field.absent, Absent::Fine) || members.iter().any(|(key, _)| key == field.name) {
                continue;
            }
            match field.absent {
                Absent::Put(flag, word) if !self.grants.allows(word) => {
                    let index = members.partition_point(|(key, _)| key.as_ref() < field.name);
                    members.insert(index, (Cow::Borrowed(field.name), Json::Bool(flag)));
                }
                Absent::Denied => {
                    let path = Path::Key(path, field.name);
                    return path.deny(DenialRule::FieldMissing, format_args!("is missing"));
                }
                Absent::Fine | Absent::Put(..) => {}
            }
        }
        Ok(())
    }

    fn key(&self, keys: Keys, key: &str, path: &Path<'_>) -> Result<(), Denied> {
        if !names::is_key(key) {
            return path.deny(DenialRule::FieldValue, format_args!("is not a qualified name"));
        }
        let own = || names::is_own_key(self.grants.prefix(), key);
        match keys {
            Keys::Any => Ok(()),
            Keys::Own if own() => Ok(()),
            Keys::Own => path.deny(DenialRule::Field, format_args!("is not one of our own")),
            Keys::NotReserved | Keys::OwnOr(_) if names::is_reserved_key(key) => {
                path.deny(DenialRule::Field, format_args!("is Kubernetes' own"))
            }
            Keys::OwnOr(word) if !own() => self.granted(word, path),
            Keys::NotReserved | Keys::OwnOr(_) => Ok(()),
        }
    }

    fn granted(&self, word: &str, path: &Path<'_>) -> Result<(), Denied> {
        if self.grants.allows(word) {
            return Ok(());
        }
        path.deny(DenialRule::FieldGrant, format_args!("needs `{word}`"))
    }

    fn scalar(&self, rule: &Rule, value: &Json<'_>, path: &Path<'_>) -> Result<(), Denied> {
        let wrong = |what: &str| path.deny(DenialRule::FieldValue, format_args!("is not {what}"));
        match (rule, value) {
            (Rule::Text | Rule::WholeOrText, Json::Text(_)) | (Rule::Flag, Json::Bool(_)) => Ok(()),
            (Rule::Text, _) => wrong("a text"),
            (Rule::Flag, _) => wrong("true or false"),
            (Rule::FlagNeeds(dangerous, word), Json::Bool(flag)) => {
                if flag == dangerous {
                    self.granted(word, path)
                } else {
                    Ok(())
                }
            }
            (Rule::FlagNeeds(..), _) => wrong("true or false"),
            (Rule::OneOf(words), Json::Text(text)) if words.contains(&text.as_ref()) => Ok(()),
            (Rule::OneOf(words), _) => wrong(&format!("one of {}", words.join(", "))),
            (Rule::OneOfOr(free, _, _), Json::Text(text)) if free.contains(&text.as_ref()) => Ok(()),
            (Rule::OneOfOr(_, with, word), Json::Text(text)) if with.contains(&text.as_ref()) => {
                self.granted(word, path)
            }
            (Rule::OneOfOr(free, with, _), _) => {
                wrong(&format!("one of {}", free.iter().chain(*with).copied().collect::<Vec<_>>().join(", ")))
            }
            (Rule::Whole(least, most), value) => match whole(value) {
                Some(number) if (*least..=*most).contains(&number) => Ok(()),
                _ => wrong(&format!("a whole number from {least} to {most}")),
            },
            (Rule::NotRoot(word), value) => match whole(value) {
                Some(0) => self.granted(word, path),
                Some(1..) => Ok(()),
                _ => wrong("a whole number"),
            },
            (Rule::WholeOrText, value) => {
                if whole(value).is_some() {
                    Ok(())
                } else {
                    wrong("a whole number or a text")
                }
            }
            (Rule::Amount, Json::Number(number)) if number.len() <= AMOUNT_BYTES => Ok(()),
            (Rule::Amount, Json::Text(text)) if is_amount(text) => Ok(()),
            (Rule::Amount, _) => wrong("an amount"),
            (Rule::Place, Json::Text(text)) if Some(text.as_ref()) == self.place => Ok(()),
            (Rule::Place, _) => wrong("the namespace of the path"),
            (Rule::NewName, Json::Text(text)) if text.len() <= limits::CREATED_NAME_BYTES && names::is_label(text) => {
                Ok(())
            }
            (Rule::NewName, _) => wrong(&format!("a DNS label of at most {} characters", limits::CREATED_NAME_BYTES)),
            (Rule::Name, Json::Text(text)) if names::is_subdomain(text) => Ok(()),
            (Rule::Name, _) => wrong("a name"),
            (Rule::Label, Json::Text(text)) if names::is_label_value(text) => Ok(()),
            (Rule::Label, _) => wrong("the value of a label"),
            (Rule::Token, Json::Text(text)) if names::is_token(text) => Ok(()),
            (Rule::Token, _) => wrong("a uid or version"),
            // Held to their rules above, before it came to this.
            (Rule::Object(_) | Rule::List(_) | Rule::Map(..) | Rule::Needs(..) | Rule::OrNull(_), _) => {
                wrong("of the right kind")
            }
        }
    }
}

/// A number that is whole as it is written: `1.0` and `1e3` are not, since engines differ in how they read them.
fn whole(value: &Json<'_>) -> Option<i64> {
    match value {
        Json::Number(number) => number.parse().ok(),
        _ => None,
    }
}

/// Bytes of an amount: a number of 64 bits with its unit takes less than half of it.
const AMOUNT_BYTES: usize = 64;

fn is_amount(text: &str) -> bool {
    (1..=AMOUNT_BYTES).contains(&text.len())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'+' | b'-'))
}
