//! Deployments and ReplicaSets.

use serde_json::Value;

use super::{Problems, metadata, names, pod};
use crate::quote::quoted;
use crate::schema::{of, ordered};
use crate::value::{has, int, list, map, text};

/// A new Deployment.
pub(super) fn deployment(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, true, names::subdomain);
    deployment_spec(problems, value);
}

/// A changed Deployment.
pub(super) fn deployment_update(problems: &mut Problems, before: &Value, after: &Value) {
    deployment_spec(problems, after);
    selector_is_the_same(problems, before, after);
}

/// A new ReplicaSet.
pub(super) fn replica_set(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, true, names::subdomain);
    replica_set_spec(problems, value);
}

/// A changed ReplicaSet.
pub(super) fn replica_set_update(problems: &mut Problems, before: &Value, after: &Value) {
    replica_set_spec(problems, after);
    selector_is_the_same(problems, before, after);
}

fn selector_is_the_same(problems: &mut Problems, before: &Value, after: &Value) {
    let selector = after.pointer("/spec/selector").unwrap_or(&Value::Null);
    if before.pointer("/spec/selector") != Some(selector) {
        problems.invalid_shown("spec.selector", &shown(selector), "field is immutable");
    }
}

fn shown(selector: &Value) -> String {
    if selector.is_null() { "null".to_owned() } else { ordered::of_type(selector, of("LabelSelector")) }
}

fn replica_set_spec(problems: &mut Problems, value: &Value) {
    problems.not_negative("spec.replicas", int(value, "/spec/replicas").unwrap_or_default());
    problems.not_negative("spec.minReadySeconds", int(value, "/spec/minReadySeconds").unwrap_or_default());
    selector_and_template(problems, value);
}

fn deployment_spec(problems: &mut Problems, value: &Value) {
    problems.not_negative("spec.replicas", int(value, "/spec/replicas").unwrap_or_default());
    selector_and_template(problems, value);
    strategy(problems, value);
    let ready = int(value, "/spec/minReadySeconds").unwrap_or_default();
    problems.not_negative("spec.minReadySeconds", ready);
    if let Some(limit) = int(value, "/spec/revisionHistoryLimit") {
        problems.not_negative("spec.revisionHistoryLimit", limit);
    }
    if let Some(deadline) = int(value, "/spec/progressDeadlineSeconds") {
        problems.not_negative("spec.progressDeadlineSeconds", deadline);
        if deadline <= ready {
            let why = "must be greater than minReadySeconds";
            problems.invalid("spec.progressDeadlineSeconds", &deadline.into(), why);
        }
    }
}

fn selector_and_template(problems: &mut Problems, value: &Value) {
    let selector = value.pointer("/spec/selector").filter(|selector| !selector.is_null());
    let mut usable = true;
    match selector {
        None => problems.required("spec.selector", ""),
        Some(selector) => {
            usable = label_selector(problems, selector, "spec.selector");
            if map(selector, "/matchLabels").is_empty() && list(selector, "/matchExpressions").is_empty() {
                let why = "empty selector is invalid for deployment";
                problems.invalid_shown("spec.selector", &shown(selector), why);
            }
        }
    }
    if !usable {
        problems.invalid_shown("spec.selector", &shown(selector.unwrap_or(&Value::Null)), "invalid label selector");
        return;
    }
    let empty = Value::Null;
    let template = value.pointer("/spec/template").unwrap_or(&empty);
    let labels = template.pointer("/metadata/labels").unwrap_or(&empty);
    // No selector selects nothing, an empty one everything.
    if selector.is_none_or(|selector| !is_empty(selector) && !selects(selector, labels)) {
        let why = "`selector` does not match template `labels`";
        problems.invalid("spec.template.metadata.labels", labels, why);
    }
    pod::template(problems, template, "spec.template");
    let restart = text(template, "/spec/restartPolicy");
    if restart != "Always" {
        problems.not_supported("spec.template.spec.restartPolicy", restart, &["Always"]);
    }
    if has(template, "/spec/activeDeadlineSeconds") {
        let why = "activeDeadlineSeconds in ReplicaSet is not Supported";
        problems.forbidden("spec.template.spec.activeDeadlineSeconds", why);
    }
}

fn is_empty(selector: &Value) -> bool {
    map(selector, "/matchLabels").is_empty() && list(selector, "/matchExpressions").is_empty()
}

/// Whether labels are what a selector asks for.
fn selects(selector: &Value, labels: &Value) -> bool {
    let label = |key: &str| labels.get(key).and_then(Value::as_str);
    map(selector, "/matchLabels").iter().all(|(key, wanted)| label(key) == wanted.as_str())
        && list(selector, "/matchExpressions").iter().all(|expression| {
            let has = label(text(expression, "/key"));
            let listed = has.is_some_and(|has| list(expression, "/values").iter().any(|value| value == has));
            match text(expression, "/operator") {
                "In" => listed,
                "NotIn" => !listed,
                "Exists" => has.is_some(),
                "DoesNotExist" => has.is_none(),
                _ => false,
            }
        })
}

/// Looks at a selector, and says whether one can select with it.
pub(super) fn label_selector(problems: &mut Problems, selector: &Value, field: &str) -> bool {
    let before = problems.0.len();
    metadata::labels(problems, selector, "/matchLabels", &format!("{field}.matchLabels"));
    for (index, expression) in list(selector, "/matchExpressions").iter().enumerate() {
        let field = format!("{field}.matchExpressions[{index}]");
        let values = list(expression, "/values");
        match text(expression, "/operator") {
            "In" | "NotIn" if values.is_empty() => {
                problems.required(format!("{field}.values"), "must be specified when `operator` is 'In' or 'NotIn'")
            }
            "In" | "NotIn" => {}
            "Exists" | "DoesNotExist" if !values.is_empty() => problems.forbidden(
                format!("{field}.values"),
                "may not be specified when `operator` is 'Exists' or 'DoesNotExist'",
            ),
            "Exists" | "DoesNotExist" => {}
            other => problems.invalid_text(format!("{field}.operator"), other, "not a valid selector operator"),
        }
        let key = text(expression, "/key");
        problems.each(&format!("{field}.key"), key, names::qualified(key));
        for (at, value) in values.iter().filter_map(Value::as_str).enumerate() {
            problems.each(&format!("{field}.values[{at}]"), value, names::label_value(value));
        }
    }
    problems.0.len() == before
}

fn strategy(problems: &mut Problems, value: &Value) {
    let none = Value::Null;
    let strategy = value.pointer("/spec/strategy").unwrap_or(&none);
    match text(strategy, "/type") {
        "Recreate" => {
            if has(strategy, "/rollingUpdate") {
                let why = "may not be specified when strategy `type` is 'Recreate'";
                problems.forbidden("spec.strategy.rollingUpdate", why);
            }
        }
        "RollingUpdate" => rolling_update(problems, strategy),
        kind => {
            let update = strategy.get("rollingUpdate").filter(|update| !update.is_null());
            let part = |name: &str| update.and_then(|update| update.get(name)).map_or("0".to_owned(), ordered::plain);
            let update = update.map_or("null".to_owned(), |_| {
                format!("{{\"MaxUnavailable\":{},\"MaxSurge\":{}}}", part("maxUnavailable"), part("maxSurge"))
            });
            // The server shows its own struct here, whose fields have no names for JSON.
            let shown = format!("{{\"Type\":{},\"RollingUpdate\":{update}}}", quoted(kind));
            problems.not_supported_shown("spec.strategy", &shown, &["Recreate", "RollingUpdate"]);
        }
    }
}

fn rolling_update(problems: &mut Problems, strategy: &Value) {
    let field = |name: &str| format!("spec.strategy.rollingUpdate.{name}");
    let of = |name: &str| strategy.pointer(&format!("/rollingUpdate/{name}")).unwrap_or(&Value::Null);
    for name in ["maxUnavailable", "maxSurge"] {
        match of(name) {
            Value::String(share) => problems.each(&field(name), share, names::percent(share)),
            number => problems.not_negative(field(name), number.as_i64().unwrap_or_default()),
        }
    }
    let (unavailable, surge) = (of("maxUnavailable"), of("maxSurge"));
    if amount(unavailable) == 0 && amount(surge) == 0 {
        problems.invalid(field("maxUnavailable"), unavailable, "may not be 0 when `maxSurge` is 0");
    }
    if unavailable.is_string() && amount(unavailable) > 100 {
        problems.invalid(field("maxUnavailable"), unavailable, "must not be greater than 100%");
    }
}

fn amount(value: &Value) -> i64 {
    let share = value.as_str().and_then(|text| text.strip_suffix('%')).and_then(|digits| digits.parse().ok());
    share.or_else(|| value.as_i64()).unwrap_or_default()
}

/// The status of a Deployment.
pub(super) fn deployment_status(problems: &mut Problems, before: &Value, after: &Value) {
    let of = |name: &str| int(after, &format!("/status/{name}")).unwrap_or_default();
    let names = [
        "observedGeneration",
        "replicas",
        "updatedReplicas",
        "readyReplicas",
        "availableReplicas",
        "unavailableReplicas",
        "terminatingReplicas",
        "collisionCount",
    ];
    for name in names {
        problems.not_negative(format!("status.{name}"), of(name));
    }
    no_more_than_replicas(problems, after, &["updatedReplicas", "readyReplicas", "availableReplicas"]);
    let (old, new) = (int(before, "/status/collisionCount"), int(after, "/status/collisionCount"));
    if old.is_some_and(|old| new.is_none_or(|new| new < old)) {
        problems.invalid("status.collisionCount", &new.unwrap_or_default().into(), "cannot be decremented");
    }
}

/// The status of a ReplicaSet.
pub(super) fn replica_set_status(problems: &mut Problems, after: &Value) {
    let names = [
        "replicas",
        "fullyLabeledReplicas",
        "readyReplicas",
        "availableReplicas",
        "observedGeneration",
        "terminatingReplicas",
    ];
    for name in names {
        let number = int(after, &format!("/status/{name}")).unwrap_or_default();
        problems.not_negative(format!("status.{name}"), number);
    }
    no_more_than_replicas(problems, after, &["fullyLabeledReplicas", "readyReplicas", "availableReplicas"]);
}

fn no_more_than_replicas(problems: &mut Problems, value: &Value, counters: &[&str]) {
    let of = |name: &str| int(value, &format!("/status/{name}")).unwrap_or_default();
    for name in counters.iter().filter(|name| of(name) > of("replicas")) {
        problems.invalid(format!("status.{name}"), &of(name).into(), "cannot be greater than status.replicas");
    }
    let available = of("availableReplicas");
    if available > of("readyReplicas") {
        problems.invalid("status.availableReplicas", &available.into(), "cannot be greater than readyReplicas");
    }
}
