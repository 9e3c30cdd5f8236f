//! Containers.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Problems, names};
use crate::quantity::Quantity;
use crate::value::{has, int, list, map, text};

/// The containers of a Pod.
pub(super) fn regular(problems: &mut Problems, spec: &Value, path: &str, volumes: &BTreeSet<&str>) {
    let path = format!("{path}.containers");
    let containers = list(spec, "/containers");
    if containers.is_empty() {
        problems.required(path, "");
        return;
    }
    let mut known = BTreeSet::new();
    for (index, container) in containers.iter().enumerate() {
        let path = format!("{path}[{index}]");
        common(problems, container, &path, volumes);
        let name = text(container, "/name");
        if !known.insert(name) {
            problems.duplicate(format!("{path}.name"), name);
        }
        handlers(problems, container, &path);
        restart_policy(problems, container, &path);
    }
    host_ports(problems, containers, &path);
}

/// The containers that run before them.
pub(super) fn init(problems: &mut Problems, spec: &Value, path: &str, volumes: &BTreeSet<&str>) {
    let path = format!("{path}.initContainers");
    let mut known: BTreeSet<_> = list(spec, "/containers").iter().map(|container| text(container, "/name")).collect();
    for (index, container) in list(spec, "/initContainers").iter().enumerate() {
        let at = format!("{path}[{index}]");
        common(problems, container, &at, volumes);
        restart_policy(problems, container, &at);
        let name = text(container, "/name");
        if !name.is_empty() && !known.insert(name) {
            problems.duplicate(format!("{at}.name"), name);
        }
        host_ports(problems, std::slice::from_ref(container), &path);
        if text(container, "/restartPolicy") == "Always" {
            handlers(problems, container, &at);
            continue;
        }
        for field in ["lifecycle", "livenessProbe", "readinessProbe", "startupProbe"] {
            if has(container, &format!("/{field}")) {
                let why = "may not be set for init containers without restartPolicy=Always";
                problems.forbidden(format!("{at}.{field}"), why);
            }
        }
    }
}

fn restart_policy(problems: &mut Problems, container: &Value, path: &str) {
    let policy = text(container, "/restartPolicy");
    let known = ["Always", "Never", "OnFailure"];
    if !policy.is_empty() && !known.contains(&policy) {
        problems.not_supported(format!("{path}.restartPolicy"), policy, &known);
    }
}

fn common(problems: &mut Problems, container: &Value, path: &str, volumes: &BTreeSet<&str>) {
    let name = text(container, "/name");
    if name.is_empty() {
        problems.required(format!("{path}.name"), "");
    } else {
        problems.each(&format!("{path}.name"), name, names::label(name, false));
    }
    if text(container, "/image").is_empty() {
        problems.required(format!("{path}.image"), "");
    }
    word(problems, container, path, "terminationMessagePolicy", &["File", "FallbackToLogsOnError"]);
    ports(problems, container, path);
    environment(problems, container, path);
    mounts(problems, container, path, volumes);
    word(problems, container, path, "imagePullPolicy", &["Always", "IfNotPresent", "Never"]);
    resources(problems, container, &format!("{path}.resources"), true);
}

fn word(problems: &mut Problems, container: &Value, path: &str, field: &str, known: &[&str]) {
    match text(container, &format!("/{field}")) {
        "" => problems.required(format!("{path}.{field}"), ""),
        word if known.contains(&word) => {}
        word => problems.not_supported(format!("{path}.{field}"), word, known),
    }
}

fn ports(problems: &mut Problems, container: &Value, path: &str) {
    let mut known = BTreeSet::new();
    for (index, port) in list(container, "/ports").iter().enumerate() {
        let field = |name: &str| format!("{path}.ports[{index}].{name}");
        let name = text(port, "/name");
        if !name.is_empty() {
            let wrong = names::port_name(name);
            if !wrong.is_empty() {
                problems.each(&field("name"), name, wrong);
            } else if !known.insert(name) {
                problems.duplicate(field("name"), name);
            }
        }
        let number = int(port, "/containerPort").unwrap_or_default();
        if number == 0 {
            problems.required(field("containerPort"), "");
        }
        for (name, number) in [("containerPort", number), ("hostPort", int(port, "/hostPort").unwrap_or_default())] {
            for why in names::port_number(number).into_iter().filter(|_| number != 0) {
                problems.invalid(field(name), &number.into(), &why);
            }
        }
        match text(port, "/protocol") {
            "" => problems.required(field("protocol"), ""),
            "TCP" | "UDP" | "SCTP" => {}
            other => problems.not_supported(field("protocol"), other, &["SCTP", "TCP", "UDP"]),
        }
    }
}

fn host_ports(problems: &mut Problems, containers: &[Value], path: &str) {
    let mut known = BTreeSet::new();
    for (at, container) in containers.iter().enumerate() {
        for (index, port) in list(container, "/ports").iter().enumerate() {
            let number = int(port, "/hostPort").unwrap_or_default();
            let used = format!("{}/{}/{number}", text(port, "/protocol"), text(port, "/hostIP"));
            if number != 0 && !known.insert(used.clone()) {
                problems.duplicate(format!("{path}[{at}].ports[{index}].hostPort"), &used);
            }
        }
    }
}

fn environment(problems: &mut Problems, container: &Value, path: &str) {
    for (index, variable) in list(container, "/env").iter().enumerate() {
        let path = format!("{path}.env[{index}]");
        let name = text(variable, "/name");
        if name.is_empty() {
            problems.required(format!("{path}.name"), "");
        } else {
            problems.each(&format!("{path}.name"), name, names::variable(name));
        }
        if has(variable, "/valueFrom") {
            value_from(problems, variable, &format!("{path}.valueFrom"));
        }
    }
    for (index, from) in list(container, "/envFrom").iter().enumerate() {
        let path = format!("{path}.envFrom[{index}]");
        let sources = ["configMapRef", "secretRef"].into_iter().filter(|source| has(from, &format!("/{source}")));
        let sources: Vec<_> = sources.collect();
        for source in &sources {
            if text(from, &format!("/{source}/name")).is_empty() {
                problems.required(format!("{path}.{source}.name"), "");
            }
        }
        if sources.is_empty() {
            problems.invalid_text(path, "", "must specify one of: `configMapRef` or `secretRef`");
        } else if sources.len() > 1 {
            problems.invalid_text(path, "", "may not have more than one field specified at a time");
        }
    }
}

fn value_from(problems: &mut Problems, variable: &Value, path: &str) {
    let known = ["fieldRef", "resourceFieldRef", "configMapKeyRef", "secretKeyRef", "fileKeyRef"];
    let sources: Vec<_> = known.into_iter().filter(|source| has(variable, &format!("/valueFrom/{source}"))).collect();
    for source in &sources {
        let of = |field: &str| text(variable, &format!("/valueFrom/{source}/{field}"));
        let required: &[&str] = match *source {
            "fieldRef" => &["apiVersion", "fieldPath"],
            "resourceFieldRef" => &["resource"],
            "fileKeyRef" => &["volumeName", "path", "key"],
            _ => &["name", "key"],
        };
        for field in required.iter().filter(|field| of(field).is_empty()) {
            problems.required(format!("{path}.{source}.{field}"), "");
        }
    }
    if sources.is_empty() {
        // The last of them is behind a gate that is shut.
        let why = "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or `secretKeyRef`";
        problems.invalid_text(path, "", why);
    } else if !text(variable, "/value").is_empty() {
        problems.invalid_text(path, "", "may not be specified when `value` is not empty");
    } else if sources.len() > 1 {
        problems.invalid_text(path, "", "may not have more than one field specified at a time");
    }
}

fn mounts(problems: &mut Problems, container: &Value, path: &str, volumes: &BTreeSet<&str>) {
    let mut known = BTreeSet::new();
    for (index, mount) in list(container, "/volumeMounts").iter().enumerate() {
        let field = |name: &str| format!("{path}.volumeMounts[{index}].{name}");
        let (name, place) = (text(mount, "/name"), text(mount, "/mountPath"));
        if name.is_empty() {
            problems.required(field("name"), "");
        }
        if !volumes.contains(name) {
            problems.not_found(field("name"), name);
        }
        if place.is_empty() {
            problems.required(field("mountPath"), "");
        }
        if !known.insert(place) {
            problems.invalid_text(field("mountPath"), place, "must be unique");
        }
    }
}

/// What a container asks for and may have at most.
pub(super) fn resources(problems: &mut Problems, holder: &Value, path: &str, of_container: bool) {
    let limits = map(holder, "/resources/limits");
    for (name, amount) in limits {
        resource(problems, name, amount, &format!("{path}.limits[{name}]"), of_container);
    }
    for (name, amount) in map(holder, "/resources/requests") {
        resource(problems, name, amount, &format!("{path}.requests[{name}]"), of_container);
        let read = |value: &Value| value.as_str().and_then(|text| Quantity::parse(text).ok());
        let (asked, most) = (read(amount), limits.get(name).and_then(read));
        let spare = !name.contains('/') && !name.starts_with("hugepages-");
        match (asked, most) {
            (Some(asked), Some(most)) if !spare && asked != most => {
                let why = format!("must be equal to {name} limit of {most}");
                problems.invalid_text(format!("{path}.requests"), &asked.to_string(), &why);
            }
            (Some(asked), Some(most)) if asked > most => {
                let why = format!("must be less than or equal to {name} limit of {most}");
                problems.invalid_text(format!("{path}.requests"), &asked.to_string(), &why);
            }
            (_, None) if !spare => {
                problems.required(format!("{path}.limits"), "Limit must be set for non overcommitable resources");
            }
            _ => {}
        }
    }
}

fn resource(problems: &mut Problems, name: &str, amount: &Value, path: &str, of_container: bool) {
    let wrong = names::qualified(name);
    let named_well = wrong.is_empty();
    problems.each(path, name, wrong);
    if of_container && named_well && !name.contains('/') {
        let known = matches!(name, "cpu" | "memory" | "ephemeral-storage") || name.starts_with("hugepages-");
        if !known {
            if !is_standard(name) {
                problems.invalid_text(path, name, "must be a standard resource type or fully qualified");
            }
            problems.invalid_text(path, name, "must be a standard resource for containers");
        }
    }
    quantity(problems, name, amount, path);
}

/// What is counted, of which there are whole numbers only.
const COUNTED: [&str; 9] = [
    "pods",
    "persistentvolumeclaims",
    "resourcequotas",
    "services",
    "services.nodeports",
    "services.loadbalancers",
    "replicationcontrollers",
    "secrets",
    "configmaps",
];

/// Whether Kubernetes itself gives this name of a resource a meaning.
pub(super) fn is_standard(name: &str) -> bool {
    let bare = name.strip_prefix("requests.").or_else(|| name.strip_prefix("limits.")).unwrap_or(name);
    COUNTED.contains(&bare)
        || matches!(bare, "cpu" | "memory" | "ephemeral-storage" | "storage")
        || bare.starts_with("hugepages-")
}

/// An amount of something: not below nothing, and of things that are counted a whole number.
pub(super) fn quantity(problems: &mut Problems, name: &str, amount: &Value, path: &str) {
    let Some(read) = amount.as_str().and_then(|text| Quantity::parse(text).ok()) else { return };
    if read.is_negative() {
        problems.invalid_text(path, &read.to_string(), "must be greater than or equal to 0");
    }
    let counted = name.contains('/') && !name.contains("requests.storage") || COUNTED.contains(&name);
    if counted && !read.is_whole() {
        problems.invalid(path, amount, "must be an integer");
    }
}

fn handlers(problems: &mut Problems, container: &Value, path: &str) {
    for hook in ["postStart", "preStop"] {
        if let Some(handler) = container.pointer(&format!("/lifecycle/{hook}")).filter(|hook| !hook.is_null()) {
            action(problems, handler, &format!("{path}.lifecycle.{hook}"));
        }
    }
    for probe in ["livenessProbe", "readinessProbe", "startupProbe"] {
        let Some(value) = container.get(probe).filter(|probe| !probe.is_null()) else { continue };
        let path = format!("{path}.{probe}");
        action(problems, value, &path);
        let numbers =
            ["initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold"];
        for field in numbers {
            let number = int(value, &format!("/{field}")).unwrap_or_default();
            problems.not_negative(format!("{path}.{field}"), number);
        }
        if let Some(grace) = int(value, "/terminationGracePeriodSeconds") {
            let field = format!("{path}.terminationGracePeriodSeconds");
            if grace <= 0 {
                problems.invalid(&field, &grace.into(), "must be greater than 0");
            }
            if probe == "readinessProbe" {
                problems.invalid(&field, &grace.into(), "must not be set for readinessProbes");
            }
        }
        let successes = int(value, "/successThreshold").unwrap_or_default();
        if probe != "readinessProbe" && successes != 1 {
            problems.invalid(format!("{path}.successThreshold"), &successes.into(), "must be 1");
        }
    }
}

fn action(problems: &mut Problems, handler: &Value, path: &str) {
    let mut kinds =
        ["exec", "httpGet", "tcpSocket", "grpc", "sleep"].into_iter().filter(|kind| has(handler, &format!("/{kind}")));
    let Some(first) = kinds.next() else {
        problems.required(path, "must specify a handler type");
        return;
    };
    let inner = format!("{path}.{first}");
    match first {
        "exec" if list(handler, "/exec/command").is_empty() => problems.required(format!("{inner}.command"), ""),
        "httpGet" | "tcpSocket" => {
            let none = Value::Null;
            port(problems, handler.pointer(&format!("/{first}/port")).unwrap_or(&none), &format!("{inner}.port"));
            let scheme = text(handler, "/httpGet/scheme");
            if first == "httpGet" && !matches!(scheme, "HTTP" | "HTTPS") {
                problems.not_supported(format!("{inner}.scheme"), scheme, &["HTTP", "HTTPS"]);
            }
        }
        _ => {}
    }
    for kind in kinds {
        problems.forbidden(format!("{path}.{kind}"), "may not specify more than 1 handler type");
    }
}

fn port(problems: &mut Problems, port: &Value, path: &str) {
    match port {
        Value::String(name) => problems.each(path, name, names::port_name(name)),
        number => {
            let number = number.as_i64().unwrap_or_default();
            for why in names::port_number(number) {
                problems.invalid(path, &number.into(), &why);
            }
        }
    }
}
