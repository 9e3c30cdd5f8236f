//! Pods and their templates.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Problems, container, metadata, names};
use crate::value::{flag, has, int, list, map, text};

/// A new Pod.
pub(super) fn pod(problems: &mut Problems, value: &Value) {
    metadata_and_spec(problems, value);
    if !list(value, "/spec/ephemeralContainers").is_empty() {
        problems.forbidden("spec.ephemeralContainers", "cannot be set on create");
    }
    let gated = !list(value, "/spec/schedulingGates").is_empty();
    if gated && !text(value, "/spec/nodeName").is_empty() {
        problems.forbidden("spec.nodeName", "cannot be set until all schedulingGates have been cleared");
    }
}

/// The metadata and the spec of a Pod, new or changed.
pub(super) fn metadata_and_spec(problems: &mut Problems, value: &Value) {
    metadata::of_kind(problems, value, true, names::subdomain);
    let none = Value::Null;
    spec(problems, value.get("spec").unwrap_or(&none), "spec");
}

/// A template of Pods.
pub(super) fn template(problems: &mut Problems, value: &Value, path: &str) {
    metadata::labels(problems, value, "/metadata/labels", &format!("{path}.labels"));
    metadata::annotations(problems, value, "/metadata/annotations", &format!("{path}.annotations"));
    let none = Value::Null;
    spec(problems, value.get("spec").unwrap_or(&none), &format!("{path}.spec"));
    if !list(value, "/spec/ephemeralContainers").is_empty() {
        let why = "ephemeral containers not allowed in pod template";
        problems.forbidden(format!("{path}.spec.ephemeralContainers"), why);
    }
}

fn spec(problems: &mut Problems, spec: &Value, path: &str) {
    if !has(spec, "/terminationGracePeriodSeconds") {
        problems.required(format!("{path}.terminationGracePeriodSeconds"), "");
    }
    let volumes = volumes(problems, spec, path);
    container::regular(problems, spec, path, &volumes);
    container::init(problems, spec, path, &volumes);
    host_network(problems, spec, path);
    one_of(problems, spec, path, "restartPolicy", &["Always", "OnFailure", "Never"]);
    one_of(problems, spec, path, "dnsPolicy", &["ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"]);
    metadata::labels(problems, spec, "/nodeSelector", &format!("{path}.nodeSelector"));
    security(problems, spec, path);
    for (index, secret) in list(spec, "/imagePullSecrets").iter().enumerate() {
        if text(secret, "/name").is_empty() {
            problems.required(format!("{path}.imagePullSecrets[{index}].name"), "");
        }
    }
    if text(spec, "/dnsPolicy") == "None" && list(spec, "/dnsConfig/nameservers").is_empty() {
        let why = "must provide at least one DNS nameserver when `dnsPolicy` is None";
        let field = if has(spec, "/dnsConfig") { "dnsConfig.nameservers" } else { "dnsConfig" };
        let why = if has(spec, "/dnsConfig") {
            why.to_owned()
        } else {
            "must provide `dnsConfig` when `dnsPolicy` is None".to_owned()
        };
        problems.required(format!("{path}.{field}"), &why);
    }
    name(problems, spec, path, "serviceAccountName", names::subdomain);
    name(problems, spec, path, "nodeName", names::subdomain);
    if let Some(deadline) = int(spec, "/activeDeadlineSeconds") {
        for why in names::range(deadline, 1, i64::from(i32::MAX)) {
            problems.invalid(format!("{path}.activeDeadlineSeconds"), &deadline.into(), &why);
        }
    }
    name(problems, spec, path, "hostname", names::label);
    name(problems, spec, path, "subdomain", names::label);
    tolerations(problems, spec, path);
    name(problems, spec, path, "priorityClassName", names::subdomain);
    name(problems, spec, path, "runtimeClassName", names::subdomain);
    if has(spec, "/preemptionPolicy") {
        one_of(problems, spec, path, "preemptionPolicy", &["PreemptLowerPriority", "Never"]);
    }
}

fn name(problems: &mut Problems, spec: &Value, path: &str, field: &str, rule: metadata::Rule) {
    let name = text(spec, &format!("/{field}"));
    if !name.is_empty() {
        problems.each(&format!("{path}.{field}"), name, rule(name, false));
    }
}

fn one_of(problems: &mut Problems, spec: &Value, path: &str, field: &str, known: &[&str]) {
    let field_path = format!("{path}.{field}");
    match text(spec, &format!("/{field}")) {
        "" => problems.required(field_path, ""),
        word if known.contains(&word) => {}
        word => problems.not_supported(field_path, word, known),
    }
}

/// Looks at the volumes; their names are what containers can mount.
fn volumes<'a>(problems: &mut Problems, spec: &'a Value, path: &str) -> BTreeSet<&'a str> {
    let mut known = BTreeSet::new();
    for (index, volume) in list(spec, "/volumes").iter().enumerate() {
        let before = problems.0.len();
        let path = format!("{path}.volumes[{index}]");
        source(problems, volume, &path);
        let name = text(volume, "/name");
        let field = format!("{path}.name");
        if name.is_empty() {
            problems.required(&field, "");
        } else {
            problems.each(&field, name, names::label(name, false));
        }
        if known.contains(name) {
            problems.duplicate(&field, name);
        }
        if problems.0.len() == before {
            known.insert(name);
        }
    }
    known
}

fn source(problems: &mut Problems, volume: &Value, path: &str) {
    let sources = map(volume, "").iter().filter(|(name, value)| *name != "name" && !value.is_null());
    let mut sources = sources.map(|(name, _)| name.as_str());
    let Some(_first) = sources.next() else {
        problems.required(path, "must specify a volume type");
        return;
    };
    for second in sources {
        problems.forbidden(format!("{path}.{second}"), "may not specify more than 1 volume type");
    }
    for (source, field) in
        [("secret", "secretName"), ("configMap", "name"), ("persistentVolumeClaim", "claimName"), ("hostPath", "path")]
    {
        if has(volume, &format!("/{source}")) && text(volume, &format!("/{source}/{field}")).is_empty() {
            problems.required(format!("{path}.{source}.{field}"), "");
        }
    }
    if let Some(limit) = volume.pointer("/emptyDir/sizeLimit").and_then(Value::as_str)
        && limit.starts_with('-')
    {
        problems.forbidden(format!("{path}.emptyDir.sizeLimit"), "SizeLimit field must be a valid resource quantity");
    }
}

/// A Pod in the network of its node has the ports of the node.
fn host_network(problems: &mut Problems, spec: &Value, path: &str) {
    if !flag(spec, "/hostNetwork") {
        return;
    }
    for (at, container) in list(spec, "/containers").iter().enumerate() {
        for (index, port) in list(container, "/ports").iter().enumerate() {
            let (inside, outside) = (int(port, "/containerPort"), int(port, "/hostPort"));
            if outside.is_some_and(|outside| Some(outside) != inside) {
                let field = format!("{path}.containers[{at}].ports[{index}].hostPort");
                let shown = outside.unwrap_or_default().into();
                problems.invalid(field, &shown, "must match `containerPort` when `hostNetwork` is true");
            }
        }
    }
}

fn security(problems: &mut Problems, spec: &Value, path: &str) {
    for field in ["runAsUser", "runAsGroup", "fsGroup"] {
        if let Some(id) = int(spec, &format!("/securityContext/{field}")) {
            for why in names::range(id, 0, i64::from(i32::MAX)) {
                problems.invalid(format!("{path}.securityContext.{field}"), &id.into(), &why);
            }
        }
    }
}

/// Tolerations of taints.
pub(super) fn tolerations(problems: &mut Problems, spec: &Value, path: &str) {
    for (index, toleration) in list(spec, "/tolerations").iter().enumerate() {
        let field = |name: &str| format!("{path}.tolerations[{index}].{name}");
        let of = |name: &str| text(toleration, &format!("/{name}"));
        let (key, operator, effect) = (of("key"), of("operator"), of("effect"));
        if key.is_empty() && operator != "Exists" {
            let why = "operator must be Exists when `key` is empty, which means \"match all values and all keys\"";
            problems.invalid_text(field("operator"), operator, why);
        } else if !key.is_empty() {
            problems.each(&field("key"), key, names::qualified(key));
        }
        if has(toleration, "/tolerationSeconds") && effect != "NoExecute" {
            let why = "effect must be 'NoExecute' when `tolerationSeconds` is set";
            problems.invalid_text(field("effect"), effect, why);
        }
        match operator {
            "Equal" | "" => {
                let wrong = names::label_value(of("value"));
                if !wrong.is_empty() {
                    problems.invalid_text(field("operator"), of("value"), &wrong.join(";"));
                }
            }
            "Exists" if !of("value").is_empty() => {
                problems.invalid_text(
                    field("operator"),
                    of("value"),
                    "value must be empty when `operator` is 'Exists'",
                );
            }
            "Exists" => {}
            "Lt" | "Gt" => problems.not_supported(field("operator"), operator, &["Equal", "Exists", "Lt", "Gt"]),
            other => problems.not_supported(field("operator"), other, &["Equal", "Exists"]),
        }
        let effects = ["NoSchedule", "PreferNoSchedule", "NoExecute"];
        if !effect.is_empty() && !effects.contains(&effect) {
            problems.not_supported(field("effect"), effect, &effects);
        }
    }
}
