//! The options of a write: from the query, or for a deletion from the body.

use serde_json::{Map, Value};

use crate::call::{Call, Query};
use crate::error::{ApiError, Cause, Details};
use crate::quote::quoted;
use crate::registry::{Deletion, Propagation};
use crate::schema::node::Node;
use crate::schema::{decode, of};
use crate::validate::Problems;
use crate::value::{flag, has, int, text, texts};

use super::body;

/// What to do about fields that the server does not know.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Validation {
    Ignore,
    Warn,
    Strict,
}

/// Which verb the options are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verb {
    Create,
    Update,
    Patch { apply: bool },
}

/// The options of a write that is no deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Options {
    pub(super) dry_run: bool,
    pub(super) manager: String,
    pub(super) validation: Validation,
    pub(super) force: bool,
}

/// How long the name of a manager may be.
const MANAGER: usize = 128;

impl Options {
    pub(super) fn read(call: &Call<'_>, verb: Verb) -> Result<Options, ApiError> {
        let query = call.query;
        let mut problems = Problems::default();
        let force = query.get("force").map(go_flag);
        let manager = query.get("fieldManager").unwrap_or_default();
        match verb {
            Verb::Patch { apply: true } if manager.is_empty() => {
                problems.required("fieldManager", "is required for apply patch");
            }
            Verb::Patch { apply: false } if force.is_some() => {
                problems.forbidden("force", "may not be specified for non-apply patch");
            }
            _ => {}
        }
        if manager.len() > MANAGER {
            problems.too_long("fieldManager", MANAGER);
        }
        for (at, letter) in manager.char_indices().filter(|(_, letter)| letter.is_control()) {
            let why = format!("invalid character U+{:04X} (at position {at})", u32::from(letter));
            problems.invalid_text("fieldManager", manager, &why);
        }
        let dry: Vec<String> = query.all("dryRun").map(str::to_owned).collect();
        dry_run(&mut problems, &dry);
        let validation = match query.get("fieldValidation").unwrap_or_default() {
            "Ignore" => Validation::Ignore,
            "" | "Warn" => Validation::Warn,
            "Strict" => Validation::Strict,
            other => {
                problems.not_supported("fieldValidation", other, &["", "Ignore", "Strict", "Warn"]);
                Validation::Warn
            }
        };
        let kind = match verb {
            Verb::Create => "CreateOptions",
            Verb::Update => "UpdateOptions",
            Verb::Patch { .. } => "PatchOptions",
        };
        problems.answer("meta.k8s.io", kind, "")?;
        let manager = if manager.is_empty() { of_agent(call.agent) } else { manager.to_owned() };
        Ok(Options { dry_run: !dry.is_empty(), manager, validation, force: force.unwrap_or_default() })
    }
}

/// The manager of somebody who names none: the program that asks.
fn of_agent(agent: &str) -> String {
    let program = agent.split('/').next().unwrap_or_default();
    let mut manager = String::new();
    for letter in program.chars().filter(|letter| !letter.is_control()) {
        if manager.len() + letter.len_utf8() > MANAGER {
            break;
        }
        manager.push(letter);
    }
    manager
}

/// A flag in a query as Go reads it: anything but these two is true.
fn go_flag(text: &str) -> bool {
    !matches!(text, "false" | "0")
}

fn dry_run(problems: &mut Problems, asked: &[String]) {
    if asked.iter().any(|word| word != "All") {
        let shown: Vec<_> = asked.iter().map(|word| quoted(word)).collect();
        problems.not_supported_shown("dryRun", &format!("[{}]", shown.join(",")), &["All"]);
    }
}

/// The options of a deletion.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct DeleteOptions {
    pub(super) how: Deletion,
    /// The old flag said that dependents are not to be orphaned: the answer differs then.
    pub(super) cascade: bool,
}

impl DeleteOptions {
    /// From the body if there is one, else from the query.
    pub(super) fn read(call: &Call<'_>) -> Result<DeleteOptions, ApiError> {
        let options = if call.body.is_empty() { of_query(call.query)? } else { of_body(call)? };
        let mut problems = Problems::default();
        let policy = text(&options, "/propagationPolicy");
        let said = options.get("propagationPolicy").is_some_and(|policy| !policy.is_null());
        let orphan = has(&options, "/orphanDependents").then(|| flag(&options, "/orphanDependents"));
        if orphan.is_some() && said {
            let why = "orphanDependents and deletionPropagation cannot be both set";
            problems.invalid_text("propagationPolicy", policy, why);
        }
        let propagation = match policy {
            "Foreground" => Some(Propagation::Foreground),
            "Background" => Some(Propagation::Background),
            "Orphan" => Some(Propagation::Orphan),
            other => {
                if said {
                    let known = ["Foreground", "Background", "Orphan", "nil"];
                    problems.not_supported("propagationPolicy", other, &known);
                }
                None
            }
        };
        let dry = texts(&options, "/dryRun");
        dry_run(&mut problems, &dry);
        problems.answer("meta.k8s.io", "DeleteOptions", "")?;
        let old = orphan.map(|orphan| if orphan { Propagation::Orphan } else { Propagation::Background });
        let precondition = |field: &str| {
            let value = options.pointer(&format!("/preconditions/{field}")).and_then(Value::as_str);
            value.map(str::to_owned)
        };
        let how = Deletion {
            uid: precondition("uid"),
            version: precondition("resourceVersion"),
            propagation: propagation.or(old),
            grace: int(&options, "/gracePeriodSeconds"),
            dry_run: !dry.is_empty(),
        };
        Ok(DeleteOptions { how, cascade: orphan == Some(false) })
    }
}

fn of_query(query: &Query) -> Result<Value, ApiError> {
    let mut options = Map::new();
    if let Some(policy) = query.get("propagationPolicy") {
        options.insert("propagationPolicy".to_owned(), policy.into());
    }
    if let Some(orphan) = query.get("orphanDependents") {
        options.insert("orphanDependents".to_owned(), go_flag(orphan).into());
    }
    if let Some(grace) = query.get("gracePeriodSeconds") {
        let number: i64 = grace.parse().map_err(|_| {
            ApiError::bad_request(format!("strconv.ParseInt: parsing {}: invalid syntax", quoted(grace)))
        })?;
        options.insert("gracePeriodSeconds".to_owned(), number.into());
    }
    let dry: Vec<&str> = query.all("dryRun").collect();
    if !dry.is_empty() {
        options.insert("dryRun".to_owned(), dry.into());
    }
    Ok(Value::Object(options))
}

fn of_body(call: &Call<'_>) -> Result<Value, ApiError> {
    let node = body::parse(call, body::ACCEPTED)?
        .map_err(|why| ApiError::bad_request(format!("couldn't get version/kind; json parse error: {why}")))?;
    let said = |field: &str| node.get(field).and_then(Node::text).unwrap_or_default().to_owned();
    let (version, kind) = (said("apiVersion"), said("kind"));
    if !kind.is_empty() && kind != "DeleteOptions" {
        let version = if version.is_empty() { "meta.k8s.io/v1".to_owned() } else { version };
        return Err(ApiError::bad_request(format!(
            "no kind \"{kind}\" is registered for version \"{version}\" in scheme \
             \"k8s.io/apimachinery/pkg/apis/meta/internalversion/scheme/register.go:31\""
        )));
    }
    decode::decode(&node, of("DeleteOptions")).map(|decoded| decoded.value).map_err(ApiError::bad_request)
}

/// The answer to a body in a form that is not understood.
pub(super) fn unsupported_media(accepted: &[&str]) -> ApiError {
    let message = format!(
        "the body of the request was in an unknown format - accepted media types include: {}",
        accepted.join(", ")
    );
    ApiError::new(415, "UnsupportedMediaType", message)
}

/// The answer to a patch in a form that no route takes.
pub(super) fn unsupported_patch() -> ApiError {
    ApiError::new(415, "UnsupportedMediaType", "415: Unsupported Media Type").with(Details::default())
}

/// A patch that cannot be read as an object.
pub(super) fn unreadable_patch(shown: &str, why: &str) -> ApiError {
    let message = format!("Invalid value: {}: {why}", quoted(shown));
    let cause = Cause { reason: "FieldValueInvalid", message, field: "patch".to_owned() };
    ApiError::invalid("", "", "", vec![cause])
}
