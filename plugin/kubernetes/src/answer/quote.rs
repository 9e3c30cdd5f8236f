//! What of others' words is repeated. The server's own sentences hold names and counts; what a webhook, an admission policy or
//! a container says may hold anything, also the value of an environment variable.

use std::fmt;

use crate::api::ServerStatus;

/// How much of a server's sentence is repeated.
const QUOTED_LENGTH: usize = 300;

/// A piece of a value as long as this is recognised wherever it stands. Shorter ones are in every sentence.
const TELLING_LENGTH: usize = 4;

/// What a person is told instead of words that may repeat a value.
const WITHHELD: &str = "what it says is not shown, because it may repeat the value of an environment variable";

/// How an admission webhook's refusal goes on, and that of a policy in the server.
const DENIALS: [&str; 2] = ["denied the request", "denied request"];

/// How a report goes on with what a program in the container said.
const PRINTED: [&str; 3] = ["probe failed", "probe errored", "lifecycle hook"];

/// How the server refuses by itself what is no matter of permissions.
const QUOTA: &str = "exceeded quota";

/// Why something was refused, in the words of the server and of whom it asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The server's own words.
    by: String,
    /// Those of a webhook or a policy.
    text: Option<String>,
}

impl Refusal {
    /// What a refusal says beyond that it is one. None: it says nothing else.
    pub(super) fn of(message: &str) -> Option<Self> {
        if let Some((by, text)) = behind(DENIALS, message) {
            return Some(Self { by: sentence(by), text: (!text.is_empty()).then(|| text.to_owned()) });
        }
        message.contains(QUOTA).then(|| Self { by: sentence(message), text: None })
    }

    /// The fields that are wrong, and never their values: a message of the server may quote what was sent.
    pub(super) fn of_fields(status: &ServerStatus<'_>) -> Self {
        let causes = status.details.causes.iter().filter(|cause| !cause.field.is_empty());
        let mut fields: Vec<String> = causes.map(|cause| format!("{} ({})", cause.field, cause.reason)).collect();
        fields.dedup();
        let by = if fields.is_empty() { status.reason.to_string() } else { sentence(&fields.join(", ")) };
        Self { by, text: None }
    }

    /// Drops what may repeat one of these values.
    pub(super) fn withhold(&mut self, values: Option<&[String]>) {
        if let Some(text) = &mut self.text
            && may_repeat(text, values)
        {
            WITHHELD.clone_into(text);
        }
    }

    /// Somebody else was asked, and its words may be anything.
    pub(super) fn is_foreign(&self) -> bool {
        self.text.is_some()
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.text {
            Some(text) => write!(formatter, "{}: {}", self.by, sentence(text.trim_end_matches('.'))),
            None => formatter.write_str(&self.by),
        }
    }
}

/// What the server and its parts wrote about an object, as one line: what is not their own words is dropped if it may repeat
/// one of these values. They are only asked for if there is a need.
#[must_use]
pub fn quoted(text: &str, values: impl FnOnce() -> Option<Vec<String>>) -> String {
    let text = text.trim_end().trim_end_matches('.');
    match behind(DENIALS.into_iter().chain(PRINTED), text) {
        Some((by, foreign)) if !foreign.is_empty() && may_repeat(foreign, values().as_deref()) => {
            format!("{}: {WITHHELD}", sentence(by))
        }
        _ => sentence(text),
    }
}

/// The same of what nobody vouches for.
#[must_use]
pub fn printed(text: &str, values: impl FnOnce() -> Option<Vec<String>>) -> String {
    let text = text.trim_end().trim_end_matches('.');
    if !text.is_empty() && may_repeat(text, values().as_deref()) { WITHHELD.to_owned() } else { sentence(text) }
}

/// A text up to the first of these marks, and what is behind it.
fn behind(marks: impl IntoIterator<Item = &'static str>, text: &str) -> Option<(&str, &str)> {
    let lower = text.to_ascii_lowercase();
    let (at, length) = marks.into_iter().filter_map(|mark| Some((lower.find(mark)?, mark.len()))).min()?;
    let (by, behind) = text.split_at_checked(at + length)?;
    Some((by, behind.trim_start_matches([':', ' ']).trim_end()))
}

/// The same where nobody may know the values: then it may repeat one.
fn may_repeat(text: &str, values: Option<&[String]>) -> bool {
    values.is_none_or(|values| repeats(text, values))
}

/// The text may repeat one of these values, or a telling piece of one. It may be quoted, cut or folded, so pieces are
/// looked for and not only the whole.
fn repeats(text: &str, values: &[String]) -> bool {
    let text = text.to_lowercase();
    values.iter().any(|value| {
        let value = value.trim().to_lowercase();
        let mut telling = value.split(|letter: char| !letter.is_alphanumeric()).filter(|piece| is_telling(piece));
        !value.is_empty() && (telling.any(|piece| text.contains(piece)) || stands_alone(&text, &value))
    })
}

fn is_telling(piece: &str) -> bool {
    piece.chars().count() >= TELLING_LENGTH
}

/// The value occurs, and not as a part of a longer word.
fn stands_alone(text: &str, value: &str) -> bool {
    text.match_indices(value).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text.get(at + value.len()..).and_then(|tail| tail.chars().next());
        let apart = |letter: Option<char>| !letter.is_some_and(char::is_alphanumeric);
        apart(before) && apart(after)
    })
}

/// One line of bounded length out of what a server wrote.
#[must_use]
pub fn sentence(text: &str) -> String {
    let line: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= QUOTED_LENGTH {
        return line;
    }
    let head: String = line.chars().take(QUOTED_LENGTH).collect();
    format!("{head}…")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::lines("a\n  b\tc", "a b c")]
    #[case::long(&"x".repeat(400), &format!("{}…", "x".repeat(300)))]
    fn sentences(#[case] text: &str, #[case] want: &str) {
        assert_eq!(sentence(text), want);
    }

    #[rstest]
    #[case::whole("no: hunter2 is weak", "hunter2", true)]
    #[case::quoted(r#"env {"PASS":"hunter2"}"#, "hunter2", true)]
    #[case::other_case("HUNTER2 is weak", "hunter2", true)]
    #[case::a_piece("found tops3cret in it", "postgres://me:tops3cret@db", true)]
    #[case::folded("-----BEGIN KEY----- MIIabc", "-----BEGIN KEY-----\nMIIabcdef", true)]
    #[case::escaped(r#"said \"open\" to it"#, "\"open\"", true)]
    #[case::short_alone("level 1 is not allowed", "1", true)]
    #[case::short_within("image nginx:21 is not allowed", "1", false)]
    #[case::signs("it has !? in it", "!?", true)]
    #[case::none("privileged is not allowed", "hunter2", false)]
    #[case::empty("no", "", false)]
    #[case::blank("not now", "  ", false)]
    fn values_are_recognised(#[case] text: &str, #[case] value: &str, #[case] found: bool) {
        assert_eq!(repeats(text, &[value.to_owned()]), found);
    }

    #[test]
    fn the_servers_own_words_are_kept() {
        let message = r#"admission webhook "w" denied the request: PASS is hunter2"#;
        let mut refusal = Refusal::of(message).unwrap();
        assert_eq!(refusal.to_string(), message);
        refusal.withhold(Some(&["hunter2".to_owned()]));
        let words = refusal.to_string();
        assert!(words.starts_with(r#"admission webhook "w" denied the request: what it says is not shown"#), "{words}");
        assert!(!words.contains("hunter2"));
    }

    #[test]
    fn a_value_behind_the_end_of_what_is_shown_is_recognised_as_well() {
        let mut refusal = Refusal::of(&format!("denied the request: {} hunter2", "x ".repeat(400))).unwrap();
        refusal.withhold(Some(&["hunter2".to_owned()]));
        assert!(!refusal.to_string().contains('x'));
    }

    #[rstest]
    #[case::own_words(
        "pods \"web-1\" is forbidden: exceeded quota: web",
        "pods \"web-1\" is forbidden: exceeded quota: web"
    )]
    #[case::harmless("webhook \"w\" denied the request: no root.", "webhook \"w\" denied the request: no root")]
    #[case::denied(
        "pods is forbidden: ValidatingAdmissionPolicy 'p' denied request: W is web-1",
        "pods is forbidden: ValidatingAdmissionPolicy 'p' denied request: what it says is not shown, because it may repeat the value of an environment variable"
    )]
    #[case::probe(
        "Readiness probe failed: cannot reach web-1\n",
        "Readiness probe failed: what it says is not shown, because it may repeat the value of an environment variable"
    )]
    #[case::a_denial_in_what_a_probe_said(
        "Readiness probe failed: token web-1: upstream denied the request",
        "Readiness probe failed: what it says is not shown, because it may repeat the value of an environment variable"
    )]
    #[case::probe_by_http(
        "Liveness probe failed: HTTP probe failed with statuscode: 500",
        "Liveness probe failed: HTTP probe failed with statuscode: 500"
    )]
    fn what_is_written_about_an_object(#[case] text: &str, #[case] want: &str) {
        assert_eq!(quoted(text, || Some(vec!["web-1".to_owned()])), want);
    }

    #[test]
    fn what_nobody_can_compare_is_not_shown() {
        assert_eq!(printed("panic", || None), WITHHELD);
        assert_eq!(quoted("probe failed: panic", || None), format!("probe failed: {WITHHELD}"));
        assert_eq!(quoted("exceeded quota: q", || None), "exceeded quota: q");
    }

    #[rstest]
    #[case::harmless("panic: out of range\n", "panic: out of range")]
    #[case::value("no password hunter2", WITHHELD)]
    #[case::none("", "")]
    fn what_a_container_printed(#[case] text: &str, #[case] want: &str) {
        assert_eq!(printed(text, || Some(vec!["hunter2".to_owned()])), want);
    }

    #[rstest]
    #[case::permission(r#"deployments.apps is forbidden: User "u" cannot create resource"#, None)]
    #[case::quota(
        "is forbidden: exceeded quota: q, requested: pods=1",
        Some("is forbidden: exceeded quota: q, requested: pods=1")
    )]
    #[case::without_a_text(
        "admission webhook \"w\" denied the request without explanation",
        Some("admission webhook \"w\" denied the request: without explanation")
    )]
    #[case::policy(
        "ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no.",
        Some("ValidatingAdmissionPolicy 'p' with binding 'b' denied request: no")
    )]
    fn refusals(#[case] message: &str, #[case] want: Option<&str>) {
        assert_eq!(Refusal::of(message).map(|refusal| refusal.to_string()).as_deref(), want);
    }
}
