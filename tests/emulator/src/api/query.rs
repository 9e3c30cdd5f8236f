//! The query of a request: its pairs, and the options of a list or watch among them.

use crate::call::Query;
use crate::error::{ApiError, Cause};
use crate::selector::Selector;

use super::fields::FieldSelector;
use crate::quote::quoted;

/// Takes a query apart. Pairs that cannot be decoded, or that hold a `;`, are left out.
pub fn parse(text: &str) -> Query {
    let string = |part: &str| decode(part, true).map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    let pairs = text.split('&').filter(|pair| !pair.is_empty() && !pair.contains(';')).filter_map(|pair| {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        Some((string(key)?, string(value)?))
    });
    Query(pairs.collect())
}

/// Decodes `%`, and `+` as a space where that is said; nothing for a malformed text.
pub fn decode(text: &str, plus: bool) -> Option<Vec<u8>> {
    let mut bytes = text.bytes();
    let mut decoded = Vec::with_capacity(text.len());
    while let Some(byte) = bytes.next() {
        decoded.push(match byte {
            b'%' => (hex(bytes.next()?)? << 4) | hex(bytes.next()?)?,
            b'+' if plus => b' ',
            other => other,
        });
    }
    Some(decoded)
}

fn hex(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).and_then(|value| u8::try_from(value).ok())
}

/// A boolean: anything but `false` and `0` is true.
pub fn flag(query: &Query, name: &str) -> bool {
    optional_flag(query, name).unwrap_or_default()
}

fn optional_flag(query: &Query, name: &str) -> Option<bool> {
    query.get(name).map(|value| value != "0" && !value.eq_ignore_ascii_case("false"))
}

fn number(query: &Query, name: &str) -> Result<Option<i64>, ApiError> {
    let Some(text) = query.get(name) else { return Ok(None) };
    text.parse().map(Some).map_err(|error: std::num::ParseIntError| {
        let what = match error.kind() {
            std::num::IntErrorKind::PosOverflow | std::num::IntErrorKind::NegOverflow => "value out of range",
            _ => "invalid syntax",
        };
        ApiError::bad_request(format!("strconv.ParseInt: parsing {}: {what}", quoted(text)))
    })
}

/// Which version a list may be of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Match {
    /// This very one.
    Exact,
    /// This one or a later one.
    NotOlderThan,
}

/// The options of a list or watch.
#[derive(Debug, Clone)]
pub struct ListOptions {
    /// By labels.
    pub labels: Selector,
    /// By fields.
    pub fields: FieldSelector,
    /// A watch and not a list.
    pub watch: bool,
    /// With bookmarks.
    pub bookmarks: bool,
    /// The text of the version; empty for none.
    pub version: String,
    /// How it is meant.
    pub matching: Option<Match>,
    /// How long a watch lasts.
    pub timeout: Option<i64>,
    /// At most so many objects.
    pub limit: usize,
    /// Where to go on.
    pub token: String,
    /// A watch begins with the state.
    pub initial: Option<bool>,
}

impl ListOptions {
    /// Reads and checks them, in the order of the real server.
    ///
    /// # Errors
    /// 400 for what cannot be read, 422 for what does not go together.
    pub fn read(query: &Query, watch_by_path: bool) -> Result<ListOptions, ApiError> {
        let text = |name: &str| query.get(name).unwrap_or_default().to_owned();
        let timeout = number(query, "timeoutSeconds")?;
        let limit = number(query, "limit")?.unwrap_or_default();
        let labels = Selector::parse(&text("labelSelector")).map_err(ApiError::bad_request)?;
        let fields = FieldSelector::parse(&text("fieldSelector")).map_err(ApiError::bad_request)?;
        let match_text = text("resourceVersionMatch");
        let mut options = ListOptions {
            labels,
            fields,
            watch: watch_by_path || flag(query, "watch"),
            bookmarks: flag(query, "allowWatchBookmarks"),
            version: text("resourceVersion"),
            matching: match match_text.as_str() {
                "Exact" => Some(Match::Exact),
                "NotOlderThan" => Some(Match::NotOlderThan),
                _ => None,
            },
            timeout,
            limit: usize::try_from(limit).unwrap_or_default(),
            token: text("continue"),
            initial: optional_flag(query, "sendInitialEvents"),
        };
        let mut match_text = match_text.as_str();
        let legacy = options.version.is_empty() || options.version == "0";
        if flag(query, "watch") && legacy && options.initial.is_none() && match_text.is_empty() {
            options.initial = Some(true);
            options.matching = Some(Match::NotOlderThan);
            match_text = "NotOlderThan";
        }
        let causes = if flag(query, "watch") { options.watch_faults(match_text) } else { options.faults(match_text) };
        if watch_by_path && legacy && options.initial.is_none() {
            options.initial = Some(true);
        }
        match causes.is_empty() {
            true => Ok(options),
            false => Err(ApiError::invalid("meta.k8s.io", "ListOptions", "", causes)),
        }
    }

    fn faults(&self, match_text: &str) -> Vec<Cause> {
        let mut causes = Vec::new();
        if !match_text.is_empty() {
            if self.version.is_empty() {
                causes.push(forbidden(MATCH, "resourceVersionMatch is forbidden unless resourceVersion is provided"));
            }
            if !self.token.is_empty() {
                causes.push(forbidden(MATCH, WITH_CONTINUE));
            }
            if self.matching.is_none() {
                causes.push(unsupported(match_text, r#""Exact", "NotOlderThan", """#));
            }
            if self.matching == Some(Match::Exact) && self.version == "0" {
                let why = r#"resourceVersionMatch "exact" is forbidden for resourceVersion "0""#;
                causes.push(forbidden(MATCH, why));
            }
        }
        if self.initial.is_some() {
            causes.push(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"));
        }
        causes
    }

    fn watch_faults(&self, match_text: &str) -> Vec<Cause> {
        let mut causes = Vec::new();
        if self.initial.is_some() && self.matching != Some(Match::NotOlderThan) {
            let why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan";
            causes.push(forbidden(MATCH, why));
        }
        if match_text.is_empty() {
            return causes;
        }
        if self.initial.is_none() {
            let why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided";
            causes.push(forbidden(MATCH, why));
        }
        if self.matching != Some(Match::NotOlderThan) {
            causes.push(unsupported(match_text, r#""NotOlderThan""#));
        }
        if !self.token.is_empty() {
            causes.push(forbidden(MATCH, WITH_CONTINUE));
        }
        causes
    }
}

const MATCH: &str = "resourceVersionMatch";
const WITH_CONTINUE: &str = "resourceVersionMatch is forbidden when continue is provided";

fn forbidden(field: &str, why: &str) -> Cause {
    Cause { reason: "FieldValueForbidden", message: format!("Forbidden: {why}"), field: field.to_owned() }
}

fn unsupported(value: &str, supported: &str) -> Cause {
    let message = format!("Unsupported value: {}: supported values: {supported}", quoted(value));
    Cause { reason: "FieldValueNotSupported", message, field: MATCH.to_owned() }
}

/// A version as a number. The message is the one inside those of lists, gets and watches.
///
/// # Errors
/// With the text of what is wrong.
pub fn version(text: &str) -> Result<u64, String> {
    // Go takes no sign here, where Rust takes a plus.
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let what = match text.parse() {
        Ok(version) if digits => return Ok(version),
        Err(_) if digits => "value out of range",
        _ => "invalid syntax",
    };
    let text = quoted(text);
    Err(format!("resourceVersion: Invalid value: {text}: strconv.ParseUint: parsing {text}: {what}"))
}

/// Whether a text is a duration as Go writes them: `1m30s`, `0.5h`, `0`.
///
/// # Errors
/// With what is wrong.
pub fn check_duration(text: &str) -> Result<(), String> {
    let mut rest = text.strip_prefix(['+', '-']).unwrap_or(text);
    if rest == "0" {
        return Ok(());
    }
    let invalid = || format!("invalid duration {}", quoted(text));
    if rest.is_empty() {
        return Err(invalid());
    }
    let of_number = |letter: char| letter.is_ascii_digit() || letter == '.';
    while !rest.is_empty() {
        let (digits, after) = rest.split_at(rest.find(|letter| !of_number(letter)).unwrap_or(rest.len()));
        let (unit, next) = after.split_at(after.find(of_number).unwrap_or(after.len()));
        match unit {
            _ if digits.parse::<f64>().is_err() => return Err(invalid()),
            "ns" | "us" | "µs" | "μs" | "ms" | "s" | "m" | "h" => rest = next,
            "" => return Err(format!("missing unit in duration {}", quoted(text))),
            unit => return Err(format!("unknown unit {} in duration {}", quoted(unit), quoted(text))),
        }
    }
    Ok(())
}
