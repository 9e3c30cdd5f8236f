//! The document of a workload, checked field by field.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Map, Value};

use crate::id::is_subdomain;

/// Unless the document says otherwise.
const REPLICAS: u32 = 1;

/// The engine counts replicas in 32 bits with a sign.
const MOST_REPLICAS: u64 = i32::MAX as u64;

/// An image's name; registries allow less.
const IMAGE_LENGTH: usize = 512;

/// What is to be run.
///
/// It has no `Debug` of its own values: an environment variable may be a secret, and must not end in a message or log.
#[derive(Clone, PartialEq, Default)]
pub struct Template {
    /// The image.
    pub image: String,
    /// Instead of the image's entry point.
    pub command: Vec<String>,
    /// Arguments.
    pub args: Vec<String>,
    /// Environment variables by name.
    pub env: BTreeMap<String, String>,
    /// Cores.
    pub cpu: Option<String>,
    /// Bytes.
    pub memory: Option<String>,
    /// How many.
    pub replicas: u32,
    /// When to pull the image.
    pub pull_policy: Option<PullPolicy>,
    /// Names of secrets to pull it with.
    pub pull_secrets: Vec<String>,
}

impl fmt::Debug for Template {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Template")
            .field("image", &self.image)
            .field("env", &self.env.keys())
            .field("replicas", &self.replicas)
            .finish_non_exhaustive()
    }
}

/// When to pull an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PullPolicy {
    /// Each time.
    Always,
    /// When the node has none.
    IfNotPresent,
    /// The node must have it.
    Never,
}

impl PullPolicy {
    /// As the engine writes it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Always => "Always",
            Self::IfNotPresent => "IfNotPresent",
            Self::Never => "Never",
        }
    }
}

/// A field that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    /// Where: `$.env.NAME`.
    pub path: String,
    /// What it must be.
    pub must: &'static str,
}

impl fmt::Display for Wrong {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} {}", self.path, self.must)
    }
}

fn wrong(path: impl Into<String>, must: &'static str) -> Wrong {
    Wrong { path: path.into(), must }
}

/// Reads a document.
///
/// # Errors
/// The first field that is wrong, in the order in which they are documented.
pub fn parse(document: &str) -> Result<Template, Wrong> {
    let value: Value = serde_json::from_str(document).map_err(|_| wrong("$", "is no JSON document"))?;
    let Value::Object(mut fields) = value else { return Err(wrong("$", "must be an object")) };
    let image = text(&mut fields, "image")?.ok_or_else(|| wrong("$.image", "is missing"))?;
    if image.is_empty() || image.len() > IMAGE_LENGTH || !image.bytes().all(|byte| byte.is_ascii_graphic()) {
        return Err(wrong("$.image", "must be the name of an image"));
    }
    let template = Template {
        image,
        command: texts(&mut fields, "command")?,
        args: texts(&mut fields, "args")?,
        env: variables(&mut fields)?,
        cpu: quantity(&mut fields, "cpu", is_cores, "must be a number of cores, e.g. \"2\", \"0.5\" or \"500m\"")?,
        memory: quantity(&mut fields, "memory", is_bytes, "must be a number of bytes, e.g. \"128Mi\" or \"1Gi\"")?,
        replicas: replicas(&mut fields)?,
        pull_policy: pull_policy(&mut fields)?,
        pull_secrets: pull_secrets(&mut fields)?,
    };
    match fields.keys().next() {
        Some(key) => Err(wrong(path(key), "is no field of a workload")),
        None => Ok(template),
    }
}

/// The path of a field, by index where the name itself would be hard to read.
fn path(key: &str) -> String {
    let plain = key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
    if plain && !key.is_empty() { format!("$.{key}") } else { format!("$[{key:?}]") }
}

/// Null is like absent.
fn take(fields: &mut Map<String, Value>, key: &str) -> Option<Value> {
    fields.remove(key).filter(|value| !value.is_null())
}

fn text(fields: &mut Map<String, Value>, key: &str) -> Result<Option<String>, Wrong> {
    match take(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(wrong(path(key), "must be a string")),
    }
}

fn texts(fields: &mut Map<String, Value>, key: &str) -> Result<Vec<String>, Wrong> {
    let list = match take(fields, key) {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(wrong(path(key), "must be a list of strings")),
    };
    let entry = |(index, value)| match value {
        Value::String(text) => Ok(text),
        _ => Err(wrong(format!("$.{key}[{index}]"), "must be a string")),
    };
    list.into_iter().enumerate().map(entry).collect()
}

fn variables(fields: &mut Map<String, Value>) -> Result<BTreeMap<String, String>, Wrong> {
    let map = match take(fields, "env") {
        None => return Ok(BTreeMap::new()),
        Some(Value::Object(map)) => map,
        Some(_) => return Err(wrong("$.env", "must be an object of strings")),
    };
    let entry = |(name, value): (String, Value)| {
        let place = || format!("$.env{}", path(&name).trim_start_matches('$'));
        let proper = name.bytes().all(|byte| matches!(byte, b' '..=b'~') && byte != b'=');
        match value {
            _ if name.is_empty() || !proper => Err(wrong(place(), "has a name that no environment variable can have")),
            Value::String(value) => Ok((name, value)),
            _ => Err(wrong(place(), "must be a string")),
        }
    };
    map.into_iter().map(entry).collect()
}

fn quantity(
    fields: &mut Map<String, Value>,
    key: &str,
    proper: fn(&str) -> bool,
    must: &'static str,
) -> Result<Option<String>, Wrong> {
    match take(fields, key) {
        None => Ok(None),
        Some(Value::String(text)) if proper(&text) => Ok(Some(text)),
        Some(_) => Err(wrong(path(key), must)),
    }
}

/// Whole or decimal, up to this many digits behind the point.
fn is_number(text: &str, decimals: usize) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.split_once('.') {
        Some((whole, rest)) => digits(whole) && digits(rest) && rest.len() <= decimals,
        None => digits(text),
    }
}

fn is_cores(text: &str) -> bool {
    match text.strip_suffix('m') {
        Some(thousandths) => is_number(thousandths, 0),
        None => is_number(text, 3),
    }
}

fn is_bytes(text: &str) -> bool {
    const UNITS: [&str; 12] = ["Ki", "Mi", "Gi", "Ti", "Pi", "Ei", "k", "M", "G", "T", "P", "E"];
    let number = UNITS.iter().find_map(|unit| text.strip_suffix(unit)).unwrap_or(text);
    is_number(number, usize::MAX)
}

fn replicas(fields: &mut Map<String, Value>) -> Result<u32, Wrong> {
    let Some(value) = take(fields, "replicas") else { return Ok(REPLICAS) };
    value
        .as_u64()
        .filter(|&count| count <= MOST_REPLICAS)
        .and_then(|count| u32::try_from(count).ok())
        .ok_or_else(|| wrong("$.replicas", "must be a whole number from 0 to 2147483647"))
}

fn pull_policy(fields: &mut Map<String, Value>) -> Result<Option<PullPolicy>, Wrong> {
    let must = "must be Always, IfNotPresent or Never";
    let Some(value) = take(fields, "pull_policy") else { return Ok(None) };
    let all = [PullPolicy::Always, PullPolicy::IfNotPresent, PullPolicy::Never];
    let policy = all.into_iter().find(|policy| value.as_str() == Some(policy.word()));
    policy.map(Some).ok_or_else(|| wrong("$.pull_policy", must))
}

fn pull_secrets(fields: &mut Map<String, Value>) -> Result<Vec<String>, Wrong> {
    let names = texts(fields, "pull_secrets")?;
    match names.iter().position(|name| !is_subdomain(name)) {
        Some(index) => Err(wrong(format!("$.pull_secrets[{index}]"), "must be the name of a secret")),
        None => Ok(names),
    }
}
