//! The status of a Pod, as its kubelet writes it.

use serde_json::{Map, Value, json};

use super::container::{Container, Ended, Role, Run};
use super::{Round, Step, Worker};
use crate::controllers::fields::{condition, list, text};
use crate::resource::{NODES, is_last_phase};
use crate::script::Script;
use crate::store::Key;

/// The conditions that the kubelet writes. Others stay, before them.
const OURS: [&str; 5] = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];

/// What the status says of the Pod as it is now.
pub(super) fn of(round: &Round<'_>, worker: &Worker, scripts: &[Result<Script, String>]) -> Value {
    let ready: Vec<bool> = worker
        .containers
        .iter()
        .zip(scripts)
        .map(|(container, script)| script.as_ref().is_ok_and(|script| container.is_ready(script, round.now)))
        .collect();
    let phase = phase(round, worker);
    let mut status = match round.pod.value.get("status") {
        Some(Value::Object(status)) => status.clone(),
        _ => Map::new(),
    };
    let mut put = |name: &str, value: Value| status.insert(name.to_owned(), value);
    put("observedGeneration", round.pod.generation().into());
    put("phase", phase.into());
    put("startTime", worker.started.as_str().into());
    put("conditions", conditions(round, worker, phase, &ready).into());
    if let (Some(why), "Failed") = (&worker.evicted, phase) {
        put("reason", "Evicted".into());
        put("message", why.as_str().into());
    }
    if let Some(host) = host(round, &worker.node) {
        put("hostIPs", json!([{"ip": host}]));
        put("hostIP", host.into());
    }
    if let Some(address) = &worker.address {
        put("podIPs", json!([{"ip": address}]));
        put("podIP", address.as_str().into());
    }
    let statuses = |role: fn(Role) -> bool| -> Vec<Value> {
        let all = worker.containers.iter().zip(&ready).filter(|(container, _)| role(container.role));
        all.map(|(container, ready)| container_status(round, worker, container, *ready)).collect()
    };
    let init = statuses(|role| role != Role::Main);
    if !init.is_empty() {
        put("initContainerStatuses", init.into());
    }
    put("containerStatuses", statuses(|role| role == Role::Main).into());
    status.into()
}

fn host(round: &Round<'_>, node: &str) -> Option<String> {
    let node = round.cluster.get(&Key::new(&NODES, "", node))?;
    let internal = list(&node.value, "/status/addresses").iter().find(|one| text(one, "/type") == "InternalIP")?;
    Some(text(internal, "/address").to_owned())
}

/// Whether all init containers have ended well, and all sidecars run.
fn is_initialized(worker: &Worker) -> bool {
    // That one of the others has begun says that they had, whatever became of them since.
    worker.main().any(|container| container.runs() || has_stopped(container))
        || worker.init().all(|container| match container.role {
            Role::Init => container.is_done(),
            _ => container.runs() || worker.stopping.is_some(),
        })
}

fn has_stopped(container: &Container) -> bool {
    container.ended().is_some() || (container.last.is_some() && !container.runs())
}

fn phase(round: &Round<'_>, worker: &Worker) -> &'static str {
    let policy = text(&round.pod.value, "/spec/restartPolicy");
    let over = worker.stopping.is_some_and(|stopping| stopping.step == Step::Ended);
    let codes = || worker.main().filter_map(Container::ended).map(|ended| ended.code);
    let well = || codes().count() == worker.main().count() && codes().all(|code| code == 0);
    if over {
        return if well() { "Succeeded" } else { "Failed" };
    }
    let failed = |container: &Container| container.ended().is_some_and(|ended| ended.code != 0);
    if policy == "Never" && worker.init().any(|container| container.role == Role::Init && failed(container)) {
        return "Failed";
    }
    if !is_initialized(worker) {
        return "Pending";
    }
    let all_stopped = worker.main().all(|container| container.ended().is_some());
    let ever = |container: &Container| container.runs() || has_stopped(container);
    if all_stopped && worker.stopping.is_none() && policy != "Always" {
        if well() {
            return "Succeeded";
        }
        if policy == "Never" {
            return "Failed";
        }
    }
    if worker.main().all(ever) { "Running" } else { "Pending" }
}

fn conditions(round: &Round<'_>, worker: &Worker, phase: &str, ready: &[bool]) -> Vec<Value> {
    let names = |which: &mut dyn Iterator<Item = &Container>| {
        which.map(|container| container.name.as_str()).collect::<Vec<_>>().join(" ")
    };
    let mut unready = worker
        .containers
        .iter()
        .zip(ready)
        .filter(|(container, ready)| container.role != Role::Init && !**ready)
        .map(|(container, _)| container);
    let unready = names(&mut unready);
    let mut incomplete = worker.init().filter(|container| match container.role {
        Role::Init => !container.is_done(),
        _ => !container.runs(),
    });
    let incomplete = names(&mut incomplete);
    let ended = match phase {
        "Succeeded" => Some("PodCompleted"),
        // One that was never seen to end is only not ready.
        "Failed" if worker.main().all(|one| one.ended().is_some_and(|ended| ended.times.is_some())) => {
            Some("PodFailed")
        }
        _ => None,
    };
    let is_ready = match ended {
        Some(reason) => ("False", reason.to_owned(), String::new()),
        None if unready.is_empty() => ("True", String::new(), String::new()),
        None => {
            let message = format!("containers with unready status: [{unready}]");
            ("False", "ContainersNotReady".to_owned(), message)
        }
    };
    let initialized = match () {
        () if phase == "Succeeded" => ("True", "PodCompleted".to_owned(), String::new()),
        () if is_initialized(worker) => ("True", String::new(), String::new()),
        () => {
            let message = format!("containers with incomplete status: [{incomplete}]");
            ("False", "ContainersNotInitialized".to_owned(), message)
        }
    };
    let gone = worker.stopping.is_some_and(|stopping| matches!(stopping.step, Step::NoSandbox | Step::Ended));
    let sandbox = worker.address.is_some() && !gone && !is_last_phase(phase);
    let plain = |holds: bool| (if holds { "True" } else { "False" }, String::new(), String::new());
    let ours = OURS.into_iter().zip([plain(sandbox), initialized, is_ready.clone(), is_ready, plain(true)]);
    let others = list(&round.pod.value, "/status/conditions").iter();
    let others = others.filter(|other| !OURS.contains(&text(other, "/type"))).cloned();
    others.chain(ours.map(|(kind, (status, reason, message))| one(round, kind, status, &reason, &message))).collect()
}

fn one(round: &Round<'_>, kind: &str, status: &str, reason: &str, message: &str) -> Value {
    let before = condition(&round.pod.value, kind).filter(|before| text(before, "/status") == status);
    let since = before.map_or(round.stamp.as_str(), |before| text(before, "/lastTransitionTime"));
    let mut value = json!({
        "type": kind, "observedGeneration": round.pod.generation(), "status": status, "lastProbeTime": null,
        "lastTransitionTime": since,
    });
    if let Some(map) = value.as_object_mut() {
        for (name, text) in [("reason", reason), ("message", message)] {
            if !text.is_empty() {
                map.insert(name.to_owned(), text.into());
            }
        }
    }
    value
}

fn container_status(round: &Round<'_>, worker: &Worker, container: &Container, ready: bool) -> Value {
    let uid = round.pod.uid();
    let shown = |ended: &Ended| {
        let id = ended.times.is_some().then(|| container.id(uid, ended.run));
        json!({"terminated": ended.value(id.as_deref())})
    };
    let mut last = container.last.as_ref();
    let mut id = container.last.as_ref().map(|last| last.run);
    let state = match &container.run {
        Run::Running(_, since) => {
            id = Some(container.restarts);
            json!({"running": {"startedAt": since}})
        }
        Run::Ended(ended) => {
            id = ended.times.is_some().then_some(ended.run);
            match &container.waiting {
                // It is to run again, and this is why it doesn't.
                Some(waiting) => {
                    last = Some(ended);
                    json!({"waiting": {"reason": waiting.0, "message": waiting.1}})
                }
                None => shown(ended),
            }
        }
        Run::Nothing | Run::Starting(_) => match &container.waiting {
            Some(waiting) => json!({"waiting": {"reason": waiting.0, "message": waiting.1}}),
            None => {
                let pending = worker.init().next().is_some();
                json!({"waiting": {"reason": if pending { "PodInitializing" } else { "ContainerCreating" }}})
            }
        },
    };
    let mut status = json!({
        "name": container.name, "state": state, "lastState": last.map_or_else(|| json!({}), shown),
        "ready": if container.role == Role::Init { container.is_done() } else { ready }, "restartCount": container.restarts, "image": container.image,
        "imageID": if id.is_some() { container.image_id() } else { String::new() }, "started": container.runs(),
    });
    if let (Some(map), Some(run)) = (status.as_object_mut(), id) {
        map.insert("containerID".to_owned(), container.id(uid, run).into());
        map.insert("resources".to_owned(), json!({}));
    }
    status
}
