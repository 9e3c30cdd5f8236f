//! Roles as YAML, with what each verb is for, and as JSON.
//!
//! Written by hand: it is one form, and what it is worth to a reader is the comments.

use serde_json::{Value, json};
use workload_host::rbac::{NAME, Role, Rule};

/// Words that YAML takes for something else than a text, in any case.
const RESERVED: [&str; 9] = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"];

/// The documents of YAML, to be given to `kubectl apply`. `by_default` says that nobody named who gets the role.
pub fn yaml(roles: &[Role], by_default: bool) -> String {
    let documents: Vec<String> = roles.iter().flat_map(|role| documents(role, by_default)).collect();
    documents.join("---\n")
}

/// The same as one JSON document.
pub fn list(roles: &[Role]) -> Value {
    let items: Vec<Value> = roles.iter().flat_map(Role::manifests).collect();
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn documents(role: &Role, by_default: bool) -> [String; 2] {
    let [object, binding] = role.manifests();
    let place = match &role.namespace {
        Some(namespace) => format!("namespace {namespace}"),
        None => "all namespaces".to_owned(),
    };
    let rules: String = role.rules.iter().map(rule).collect();
    let rules = if rules.is_empty() { "rules: []\n".to_owned() } else { format!("rules:\n{rules}") };
    let role = format!("# All that is needed in {place}, and nothing else.\n{}{rules}", head(&object));

    let account = binding.pointer("/subjects/0/namespace").and_then(Value::as_str).filter(|_| by_default);
    let comment = account.map_or_else(String::new, |namespace| {
        format!("# If it is not there yet: kubectl create serviceaccount {NAME} --namespace {namespace}\n")
    });
    let subjects = binding.pointer("/subjects").and_then(Value::as_array).into_iter().flatten();
    let subjects: String = subjects.map(|subject| item(&flat(subject, "  "))).collect();
    let role_ref = binding.pointer("/roleRef").map(|reference| flat(reference, "  ")).unwrap_or_default();
    [role, format!("{comment}{}roleRef:\n{role_ref}subjects:\n{subjects}", head(&binding))]
}

/// What every object begins with.
fn head(object: &Value) -> String {
    let metadata = object.get("metadata").map(|metadata| flat(metadata, "  ")).unwrap_or_default();
    format!("{}metadata:\n{metadata}", flat(object, ""))
}

/// The fields of an object that are texts.
fn flat(object: &Value, indent: &str) -> String {
    let fields = object.as_object().into_iter().flatten();
    let texts = fields.filter_map(|(name, value)| Some((name, value.as_str()?)));
    texts.map(|(name, value)| format!("{indent}{name}: {}\n", scalar(value))).collect()
}

/// Fields, indented by two, as an item of a list.
fn item(fields: &str) -> String {
    fields.replacen("  ", "- ", 1)
}

fn rule(rule: &Rule) -> String {
    let widest = rule.verbs.iter().map(|verb| verb.verb.len()).max().unwrap_or(0);
    let verb = |verb: &_| {
        let workload_host::rbac::Verb { verb, sentences } = verb;
        format!("  - {verb:widest$}  # {}\n", sentences.join("; "))
    };
    let verbs: String = rule.verbs.iter().map(verb).collect();
    let (group, resource) = (scalar(rule.api_group), scalar(&rule.resource));
    format!("- apiGroups: [{group}]\n  resources: [{resource}]\n  verbs:\n{verbs}")
}

/// A text, quoted as in JSON unless it cannot be mistaken.
fn scalar(text: &str) -> String {
    let plain = text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-./".contains(&byte))
        && text.starts_with(|first: char| first.is_ascii_alphabetic())
        && !RESERVED.contains(&text.to_ascii_lowercase().as_str());
    if plain { text.to_owned() } else { Value::from(text).to_string() }
}

#[cfg(test)]
#[path = "roles/tests.rs"]
mod tests;
