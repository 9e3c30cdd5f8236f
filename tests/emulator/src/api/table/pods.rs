//! Pods: one word for all that can be the matter with them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{Printed, or};
use crate::resource::is_last_phase;
use crate::value::{list, number, text};

/// What the containers of a Pod add up to.
#[derive(Default)]
struct Sum {
    reason: String,
    restarts: i64,
    /// When a container ended that was started again.
    restarted: String,
    ready: usize,
}

impl Sum {
    fn count(&mut self, container: &Value) {
        self.restarts += number(container, "/restartCount");
        let ended = text(container, "/lastState/terminated/finishedAt");
        // Times of this form are ordered as texts.
        if ended > self.restarted.as_str() {
            self.restarted = ended.to_owned();
        }
    }
}

pub(super) fn row(pod: &Printed<'_>) -> Value {
    let phase = pod.text("/status/phase");
    let gated = pod
        .list("/status/conditions")
        .iter()
        .any(|condition| text(condition, "/type") == "PodScheduled" && text(condition, "/reason") == "SchedulingGated");
    let reason = if gated { "SchedulingGated" } else { or(pod.text("/status/reason"), phase) };
    let mut sum = Sum { reason: reason.to_owned(), ..Sum::default() };

    // Init containers that run beside the others.
    let beside: BTreeSet<_> = pod
        .list("/spec/initContainers")
        .iter()
        .filter(|container| text(container, "/restartPolicy") == "Always")
        .map(|container| text(container, "/name"))
        .collect();
    let mut sidecars = Sum::default();
    let initializing = init_containers(pod, &beside, &mut sum, &mut sidecars);
    if !initializing || condition(pod, "Initialized") {
        sum.restarts = sidecars.restarts;
        sum.restarted = sidecars.restarted;
        containers(pod, &mut sum);
    }
    if pod.value.pointer("/metadata/deletionTimestamp").is_some() {
        if pod.text("/status/reason") == "NodeLost" {
            sum.reason = "Unknown".to_owned();
        } else if !is_last_phase(phase) {
            sum.reason = "Terminating".to_owned();
        }
    }
    let restarts = match sum.restarted.as_str() {
        time if sum.restarts != 0 && !time.is_empty() => format!("{} ({} ago)", sum.restarts, pod.since(time)),
        _ => sum.restarts.to_string(),
    };
    let total = pod.list("/spec/containers").len() + beside.len();
    let address = pod.list("/status/podIPs").first().map(|address| text(address, "/ip")).unwrap_or_default();
    let cells = json!([
        pod.name(),
        format!("{}/{total}", sum.ready),
        sum.reason,
        restarts,
        pod.age(),
        or(address, "<none>"),
        or(pod.text("/spec/nodeName"), "<none>"),
        or(pod.text("/status/nominatedNodeName"), "<none>"),
        gates(pod),
    ]);
    let completed = |reason: &str, message: &str| json!([{"type": "Completed", "status": "True", "reason": reason, "message": message}]);
    match phase {
        "Succeeded" => {
            let conditions = completed("Succeeded", "The pod has completed successfully.");
            json!({"cells": cells, "conditions": conditions})
        }
        "Failed" => json!({"cells": cells, "conditions": completed("Failed", "The pod failed.")}),
        _ => json!({"cells": cells}),
    }
}

/// Whether the init containers are what the Pod is about.
fn init_containers(pod: &Printed<'_>, beside: &BTreeSet<&str>, sum: &mut Sum, sidecars: &mut Sum) -> bool {
    let total = pod.list("/spec/initContainers").len();
    for (index, container) in pod.list("/status/initContainerStatuses").iter().enumerate() {
        sum.count(container);
        let sidecar = beside.contains(text(container, "/name"));
        if sidecar {
            sidecars.count(container);
        }
        let ended = container.pointer("/state/terminated");
        let flag = |field: &str| container.get(field).and_then(Value::as_bool).unwrap_or_default();
        if ended.is_some_and(|ended| number(ended, "/exitCode") == 0) {
            continue;
        }
        if sidecar && flag("started") {
            sum.ready += usize::from(flag("ready"));
            continue;
        }
        let waiting = text(container, "/state/waiting/reason");
        sum.reason = match ended {
            Some(ended) => format!("Init:{}", end(ended)),
            None if !waiting.is_empty() && waiting != "PodInitializing" => format!("Init:{waiting}"),
            None => format!("Init:{index}/{total}"),
        };
        return true;
    }
    false
}

/// Why a container ended, in one word.
fn end(ended: &Value) -> String {
    match (text(ended, "/reason"), number(ended, "/signal")) {
        ("", 0) => format!("ExitCode:{}", number(ended, "/exitCode")),
        ("", signal) => format!("Signal:{signal}"),
        (reason, _) => reason.to_owned(),
    }
}

fn containers(pod: &Printed<'_>, sum: &mut Sum) {
    let mut running = false;
    let mut error = String::new();
    for container in pod.list("/status/containerStatuses").iter().rev() {
        sum.count(container);
        let waiting = text(container, "/state/waiting/reason");
        let ready = container.get("ready").and_then(Value::as_bool).unwrap_or_default();
        if !waiting.is_empty() {
            sum.reason = waiting.to_owned();
        } else if let Some(ended) = container.pointer("/state/terminated") {
            sum.reason = end(ended);
            if number(ended, "/exitCode") != 0 {
                error.clone_from(&sum.reason);
            }
        } else if ready && container.pointer("/state/running").is_some() {
            running = true;
            sum.ready += 1;
        }
    }
    // One that ended well does not speak for one that still runs, nor for one that failed.
    if sum.reason == "Completed" {
        if running && condition(pod, "Ready") {
            sum.reason = "Running".to_owned();
        } else if !error.is_empty() {
            sum.reason = error;
        } else if running {
            sum.reason = "NotReady".to_owned();
        }
    }
}

fn condition(pod: &Printed<'_>, kind: &str) -> bool {
    let found = pod.list("/status/conditions").iter().find(|condition| text(condition, "/type") == kind);
    found.is_some_and(|condition| text(condition, "/status") == "True")
}

fn gates(pod: &Printed<'_>) -> String {
    let gates = list(pod.value, "/spec/readinessGates");
    if gates.is_empty() {
        return "<none>".to_owned();
    }
    let open = gates.iter().filter(|gate| condition(pod, text(gate, "/conditionType"))).count();
    format!("{open}/{}", gates.len())
}
