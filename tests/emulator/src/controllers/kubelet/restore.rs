//! Pods that ran before this task began: what is known of them is what their status says.

use std::time::Duration;

use serde_json::Value;
use tokio::time::Instant;

use super::Worker;
use super::container::{self, Container, Ended, Role, Run};
use crate::controllers::Cluster;
use crate::controllers::fields::{View, list, number, text};

/// What is known of a Pod by its status.
pub(super) fn worker(cluster: &Cluster, pod: &View, node: &str) -> Worker {
    let now = cluster.now();
    let started = text(&pod.value, "/status/startTime").to_owned();
    let ago = |time: &str| now.checked_sub(cluster.state.clock.since(time)).unwrap_or(now);
    let address = text(&pod.value, "/status/podIP");
    let mut containers = container::all_of(&pod.value);
    for container in &mut containers {
        let statuses = if container.role == Role::Main { "containerStatuses" } else { "initContainerStatuses" };
        let statuses = list(&pod.value, &format!("/status/{statuses}"));
        if let Some(status) = statuses.iter().find(|status| text(status, "/name") == container.name) {
            restore(container, status, &ago);
        }
    }
    Worker {
        uid: pod.uid().to_owned(),
        node: node.to_owned(),
        since: ago(&started),
        address: (!address.is_empty()).then(|| address.to_owned()),
        started,
        containers,
        stopping: None,
        evicted: None,
    }
}

fn restore(container: &mut Container, status: &Value, ago: &dyn Fn(&str) -> Instant) {
    container.restarts = number(status, "/restartCount");
    container.pulled = !text(status, "/imageID").is_empty();
    let ended = |state: &Value, run: i64| {
        state.get("terminated").map(|ended| Ended {
            code: number(ended, "/exitCode"),
            reason: match text(ended, "/reason") {
                "Completed" => "Completed",
                "OOMKilled" => "OOMKilled",
                "StartError" => "StartError",
                _ => "Error",
            },
            message: ended.get("message").and_then(Value::as_str).map(str::to_owned),
            times: Some((text(ended, "/startedAt").to_owned(), text(ended, "/finishedAt").to_owned())),
            run,
            at: ago(text(ended, "/finishedAt")),
        })
    };
    let (state, last) = (status.get("state").unwrap_or(&Value::Null), status.get("lastState").unwrap_or(&Value::Null));
    container.last = ended(last, container.restarts - 1);
    if let Some(running) = state.get("running") {
        let since = text(running, "/startedAt");
        container.run = Run::Running(ago(since), since.to_owned());
    } else if let Some(ended) = ended(state, container.restarts) {
        container.run = Run::Ended(ended);
    } else if let Some(last) = container.last.take().filter(|_| state.get("waiting").is_some()) {
        // It waits to be started again: what it last did is what is left of it.
        container.run = Run::Ended(Ended { run: container.restarts, ..last });
    }
    // How long it is to wait is not in the status; it begins with the first pause again.
    if container.restarts > 0 && container.back_off.pause() == Duration::ZERO {
        container.back_off.grow();
    }
}
