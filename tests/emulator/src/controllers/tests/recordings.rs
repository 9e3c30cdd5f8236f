//! What a real cluster did, done again: the same requests at the same times have to lead to the same states of each
//! object, in the same order.
//!
//! A recording says what was asked for (`steps`, times in milliseconds), the states that each object went through
//! (`states`, by kind and order of creation) and in which order the steps of different objects came (`order`). Where the
//! emulator differs, `differs` has the lines, with `-` for a state that only the real cluster had and `+` for one that
//! only the emulator has, and `why`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use rstest::rstest;
use serde::Deserialize;

use super::*;
use crate::controllers::fields::has_ended;
use crate::write;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Recording {
    about: String,
    #[serde(default)]
    images: Vec<Value>,
    steps: Vec<Step>,
    until: u64,
    states: BTreeMap<String, Vec<String>>,
    order: Vec<String>,
    #[serde(default)]
    differs: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    why: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    at: u64,
    #[serde(rename = "do")]
    what: String,
    #[serde(default)]
    kind: String,
    #[serde(default)]
    name: String,
    #[serde(default)]
    object: Value,
    #[serde(default)]
    body: Value,
    #[serde(default)]
    status: bool,
    #[serde(default)]
    on: bool,
}

fn resource(kind: &str) -> &'static Resource {
    ALL.into_iter().find(|resource| resource.kind == kind).unwrap()
}

/// The states and the order of the objects of a namespace.
#[derive(Debug, Default)]
struct Seen {
    names: BTreeMap<String, String>,
    counts: BTreeMap<&'static str, usize>,
    keys: BTreeMap<String, Key>,
    states: BTreeMap<String, Vec<String>>,
    marks: BTreeMap<String, BTreeMap<&'static str, String>>,
    order: Vec<String>,
}

impl Seen {
    fn take(&mut self, change: &Change) {
        let (kind, value) = (change.object.key.resource.kind, change.object.value());
        if !matches!(kind, "Deployment" | "ReplicaSet" | "Pod") {
            return;
        }
        let counts = &mut self.counts;
        let name = self.names.entry(change.object.uid.clone()).or_insert_with(|| {
            let count = counts.entry(kind).or_default();
            *count += 1;
            format!("{kind} {count}")
        });
        let name = name.clone();
        self.keys.insert(name.clone(), change.object.key.clone());
        let state = if change.removed { "gone".to_owned() } else { distil(&value) };
        let states = self.states.entry(name.clone()).or_default();
        if states.last() != Some(&state) {
            states.push(state);
        }
        self.mark(kind, &name, &value, change);
    }

    fn mark(&mut self, kind: &str, name: &str, value: &Value, change: &Change) {
        let who = if kind == "Pod" { kind } else { name };
        if change.removed {
            return self.order.push(format!("{who} gone"));
        }
        let ended = has_ended(value);
        let generation = value["metadata"]["generation"].to_string();
        let want = value["spec"]["replicas"].to_string();
        let facts = [
            ("made", true, "yes".to_owned(), format!("{who} made")),
            ("want", kind == "ReplicaSet", want.clone(), format!("{who} wants {want}")),
            ("gen", kind == "Deployment", generation.clone(), format!("{who} generation {generation}")),
            ("del", change.object.deleting, "yes".to_owned(), format!("{who} deleting")),
            ("end", kind == "Pod" && ended, "yes".to_owned(), "Pod ended".to_owned()),
            ("ready", kind == "Pod" && fields::holds(value, "Ready"), "yes".to_owned(), "Pod ready".to_owned()),
        ];
        let marks = self.marks.entry(name.to_owned()).or_default();
        for (key, holds, value, said) in facts {
            if holds && marks.get(key) != Some(&value) {
                marks.insert(key, value);
                self.order.push(said);
            }
        }
    }
}

fn number(status: &Value, name: &str) -> String {
    status.get(name).map_or("-".to_owned(), Value::to_string)
}

fn numbers(status: &Value, names: &[&str]) -> String {
    names.iter().map(|name| number(status, name)).collect::<Vec<_>>().join(" ")
}

fn distil(object: &Value) -> String {
    let (meta, status) = (&object["metadata"], &object["status"]);
    let conditions = fields::list(status, "/conditions").iter().map(|condition| {
        let reason = text(condition, "/reason");
        let reason = if reason.is_empty() { String::new() } else { format!("/{reason}") };
        format!("{}={}{reason}", text(condition, "/type"), text(condition, "/status"))
    });
    let conditions = conditions.collect::<Vec<_>>().join(" ");
    let mut tail = String::new();
    if meta.get("deletionTimestamp").is_some() {
        tail += &format!(" deleting {}", meta.get("deletionGracePeriodSeconds").and_then(Value::as_i64).unwrap_or(0));
    }
    let finalizers: Vec<_> = fields::list(meta, "/finalizers").iter().filter_map(Value::as_str).collect();
    if !finalizers.is_empty() {
        tail += &format!(" held by {}", finalizers.join(","));
    }
    let annotation = |name: &str| {
        let value = meta["annotations"].get(format!("deployment.kubernetes.io/{name}"));
        value.and_then(Value::as_str).unwrap_or("-").to_owned()
    };
    let generations = format!("{}/{}", meta["generation"], status.get("observedGeneration").unwrap_or(&json!(0)));
    match text(object, "/kind") {
        "Deployment" => {
            let names = ["replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "unavailableReplicas"];
            let names = [names.as_slice(), &["terminatingReplicas", "collisionCount"]].concat();
            let paused = if object["spec"]["paused"] == true { " paused" } else { "" };
            format!(
                "{generations} want {}{paused} | {} | {conditions} | revision {}{tail}",
                object["spec"]["replicas"],
                numbers(status, &names),
                annotation("revision")
            )
        }
        "ReplicaSet" => {
            let names =
                ["replicas", "fullyLabeledReplicas", "readyReplicas", "availableReplicas", "terminatingReplicas"];
            format!(
                "{generations} want {} | {} | {conditions} | revision {} of {}/{} {}{tail}",
                object["spec"]["replicas"],
                numbers(status, &names),
                annotation("revision"),
                annotation("desired-replicas"),
                annotation("max-replicas"),
                if meta.get("ownerReferences").is_some() { "owned" } else { "free" }
            )
        }
        _ => {
            let said = |pointer: &str, word: &str| {
                if object.pointer(pointer).is_some() { format!(" {word}") } else { String::new() }
            };
            let reason = text(status, "/reason");
            let reason = if reason.is_empty() { String::new() } else { format!(" {reason}") };
            let containers = ["initContainerStatuses", "containerStatuses"].into_iter();
            let containers = containers.flat_map(|list| fields::list(status, &format!("/{list}"))).map(container);
            format!(
                "{generations} {}{reason}{}{}{} | {conditions} | {}{tail}",
                text(status, "/phase"),
                said("/spec/nodeName", "placed"),
                said("/status/podIP", "address"),
                said("/status/startTime", "begun"),
                containers.collect::<Vec<_>>().join("; ")
            )
        }
    }
}

fn container(status: &Value) -> String {
    let state = |state: &Value| {
        let (name, inner) = state.as_object().unwrap().iter().next().unwrap();
        let reason = inner.get("reason").and_then(Value::as_str).map_or(String::new(), |reason| format!(" {reason}"));
        let code = inner.get("exitCode").map_or(String::new(), |code| format!(" {code}"));
        format!("{name}{reason}{code}")
    };
    let mut said = format!("{}: {}", text(status, "/name"), state(&status["state"]));
    if status["lastState"].as_object().is_some_and(|last| !last.is_empty()) {
        said += &format!(", before {}", state(&status["lastState"]));
    }
    said += &format!(", restarts {}", status["restartCount"]);
    for (name, word) in [("ready", ", ready"), ("started", ", started")] {
        if status[name] == true {
            said += word;
        }
    }
    said
}

/// The lines that one list has and the other hasn't, in order.
fn difference(expected: &[String], actual: &[String]) -> Vec<String> {
    let (rows, columns) = (expected.len() + 1, actual.len() + 1);
    let mut longest = vec![vec![0; columns]; rows];
    for row in (0..expected.len()).rev() {
        for column in (0..actual.len()).rev() {
            longest[row][column] = if expected[row] == actual[column] {
                longest[row + 1][column + 1] + 1
            } else {
                longest[row + 1][column].max(longest[row][column + 1])
            };
        }
    }
    let (mut row, mut column, mut lines) = (0, 0, Vec::new());
    while row < expected.len() || column < actual.len() {
        if row < expected.len() && column < actual.len() && expected[row] == actual[column] {
            (row, column) = (row + 1, column + 1);
        } else if column == actual.len()
            || (row < expected.len() && longest[row + 1][column] >= longest[row][column + 1])
        {
            lines.push(format!("- {}", expected[row]));
            row += 1;
        } else {
            lines.push(format!("+ {}", actual[column]));
            column += 1;
        }
    }
    lines
}

impl Test {
    fn step(&mut self, step: &Step, seen: &Seen) {
        match step.what.as_str() {
            "manager" => {
                self.running = None;
                let parts = Parts { manager: step.on, ..Parts::ALL };
                self.running = Some(start_parts(Arc::clone(&self.state), parts));
            }
            "create" => {
                write::make(&self.state, resource(&step.kind), "test", step.object.clone()).unwrap();
            }
            "patch" => {
                let resource = resource(&step.kind);
                let part = if step.status { Part::Status } else { Part::Main };
                let name = seen.keys.get(&step.name).map_or(step.name.as_str(), Key::name).to_owned();
                self.patch(resource, &name, part, &step.body);
            }
            "delete" => {
                let resource = resource(&step.kind);
                let name = seen.keys.get(&step.name).map_or(step.name.as_str(), Key::name);
                let namespace = if resource.namespaced { "test" } else { "" };
                let propagation = match text(&step.body, "/propagationPolicy") {
                    "Foreground" => Some(Propagation::Foreground),
                    "Background" => Some(Propagation::Background),
                    "Orphan" => Some(Propagation::Orphan),
                    _ => None,
                };
                let how = Deletion { propagation, ..Deletion::default() };
                self.state.delete(&Key::new(resource, namespace, name), &how).unwrap();
            }
            other => panic!("no such step: {other}"),
        }
    }
}

async fn replay(recording: &Recording) -> Seen {
    let node = json!({"name": "127.0.0.1", "cpu": "2", "memory": "24684092Ki"});
    let mut test = Test::new(&json!({"nodes": [node], "namespaces": ["test"], "images": recording.images}));
    tokio::time::sleep(Duration::from_secs(1)).await;
    let (mut seen, begin) = (Seen::default(), Instant::now());
    let mut version = test.state.store.version();
    let mut look = |test: &Test, seen: &mut Seen| {
        for change in test.state.store.all_changes(version, usize::MAX).unwrap() {
            version = change.version;
            seen.take(&change);
        }
    };
    for step in &recording.steps {
        tokio::time::sleep_until(begin + Duration::from_millis(step.at)).await;
        look(&test, &mut seen);
        test.step(step, &seen);
    }
    tokio::time::sleep_until(begin + Duration::from_millis(recording.until)).await;
    look(&test, &mut seen);
    seen
}

/// Several Pods of one ReplicaSet are told apart by what happened to them, not by who was first.
fn sorted(mut states: BTreeMap<String, Vec<String>>) -> BTreeMap<String, Vec<String>> {
    let names: Vec<_> = states.keys().filter(|name| name.starts_with("Pod")).cloned().collect();
    let mut pods: Vec<_> = names.iter().filter_map(|name| states.remove(name)).collect();
    pods.sort();
    states.extend(names.into_iter().zip(pods));
    states
}

#[rstest]
#[tokio::test(start_paused = true)]
async fn it_is_as_in_a_cluster(#[files("testdata/recordings/*.json")] path: PathBuf) {
    let recording: Recording = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    let seen = replay(&recording).await;
    let (expected, actual) = (sorted(recording.states.clone()), sorted(seen.states));
    let mut differs: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in expected.keys().chain(actual.keys()) {
        let none = Vec::new();
        let lines = difference(expected.get(name).unwrap_or(&none), actual.get(name).unwrap_or(&none));
        if !lines.is_empty() {
            differs.insert(name.clone(), lines);
        }
    }
    let lines = difference(&recording.order, &seen.order);
    if !lines.is_empty() {
        differs.insert("order".to_owned(), lines);
    }
    let told = serde_json::to_string_pretty(&differs).unwrap();
    assert!(differs == recording.differs, "{}: it differs otherwise than was noted:\n{told}", recording.about);
    assert!(differs.is_empty() == recording.why.is_empty(), "what differs has a reason");
}
