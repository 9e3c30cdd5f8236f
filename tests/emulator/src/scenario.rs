//! What the cluster holds at the start, and how images behave: a JSON file, or the default.
//!
//! ```json
//! {
//!   "nodes": [{"name": "node-1", "cpu": "8", "memory": "16Gi", "pods": 110, "labels": {}, "taints": []}],
//!   "namespaces": ["shop"],
//!   "objects": [{"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}}],
//!   "images": [{"image": "registry/broken:*", "script": {"exit-code": "1", "exit-after": "2s"}}],
//!   "script": {"start-after": "300"},
//!   "faults": [{"on": {"request": {"verb": "patch", "name": "web"}}, "times": 1, "fault": {"reset": "after"}}]
//! }
//! ```
//!
//! Every part can be left out. In `image`, `*` stands for any letters; the first entry that matches counts. Keys of a
//! script are those of [`crate::script`]; faults are those of [`crate::fault`].

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::{Value, json};

use crate::error::ApiError;
use crate::fault::Rule;
use crate::pattern::glob;
use crate::resource::{NAMESPACES, NODES, Resource, of_kind};
use crate::script::{self, Pairs, ScriptError};
use crate::state::State;
use crate::validate::names;
use crate::write;

mod fill;
pub use fill::{Fill, fill};

/// Namespaces that are there without being asked for.
const NAMESPACES_OF_ALL: [&str; 4] = ["default", "kube-node-lease", "kube-public", "kube-system"];

/// Why a scenario can't be played.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file can't be read.
    #[error("scenario {}: cannot read it", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is no scenario.
    #[error("scenario {place}: it cannot be understood")]
    Form {
        /// The file, or where else it is from.
        place: String,
        /// Why, with line and column.
        source: serde_json::Error,
    },
    /// A part of it makes no sense.
    #[error("scenario {place}: {part}: {why}")]
    Part {
        /// The file, or where else it is from.
        place: String,
        /// The part, such as `images[2].script`.
        part: String,
        /// Why.
        why: String,
    },
}

/// What the cluster holds at the start, and how images behave.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The nodes; one if not said.
    #[serde(default = "one_node")]
    pub nodes: Vec<Node>,
    /// Namespaces besides those that every cluster has.
    #[serde(default)]
    pub namespaces: Vec<String>,
    /// Objects, as they would be sent.
    #[serde(default)]
    pub objects: Vec<Value>,
    /// Scripts by image.
    #[serde(default)]
    pub images: Vec<ImageScript>,
    /// The script of all images that none of the others is for.
    #[serde(default)]
    pub script: Pairs,
    /// What goes wrong from the start.
    #[serde(default)]
    pub faults: Vec<Rule>,
    /// Where it is from.
    #[serde(skip, default = "built_in")]
    place: String,
}

/// The script of images.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ImageScript {
    /// The name of the image; `*` stands for any letters.
    pub image: String,
    /// The script.
    pub script: Pairs,
}

/// A node.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// Its name.
    pub name: String,
    /// Its processors, as in `2` or `500m`.
    #[serde(default = "some_cpu")]
    pub cpu: String,
    /// Its memory, as in `16Gi`.
    #[serde(default = "some_memory")]
    pub memory: String,
    /// How many Pods it takes.
    #[serde(default = "some_pods")]
    pub pods: u32,
    /// Labels besides those that every node has.
    #[serde(default)]
    pub labels: Pairs,
    /// Its taints.
    #[serde(default)]
    pub taints: Vec<Value>,
}

/// What a taint does to a Pod that does not tolerate it.
const EFFECTS: [&str; 3] = ["NoSchedule", "PreferNoSchedule", "NoExecute"];

fn one_node() -> Vec<Node> {
    vec![Node::named("node-1")]
}

/// What the kubelet of a node that nothing was said of tells about it.
pub(crate) fn status_of_node(state: &State, name: &str) -> Value {
    let node = Node::named(name).value(state, state.store.all(&NODES, None).len());
    node.get("status").cloned().unwrap_or_default()
}

fn some_cpu() -> String {
    "8".to_owned()
}

fn some_memory() -> String {
    "32Gi".to_owned()
}

/// As many as a kubelet takes if nothing is said.
fn some_pods() -> u32 {
    110
}

fn built_in() -> String {
    "of the emulator".to_owned()
}

impl Default for Scenario {
    fn default() -> Scenario {
        Scenario {
            nodes: one_node(),
            namespaces: Vec::new(),
            objects: Vec::new(),
            images: Vec::new(),
            script: Pairs::new(),
            faults: Vec::new(),
            place: built_in(),
        }
    }
}

impl Scenario {
    /// Reads one from a file.
    ///
    /// # Errors
    /// When it can't be read or makes no sense; the error names the file and the place.
    pub fn read(path: &Path) -> Result<Scenario, ScenarioError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| ScenarioError::Read { path: path.to_owned(), source })?;
        Scenario::parse(&text, &path.display().to_string())
    }

    /// Reads one from a text that is from a place.
    ///
    /// # Errors
    /// When it makes no sense; the error names the place.
    pub fn parse(text: &str, place: &str) -> Result<Scenario, ScenarioError> {
        let mut scenario: Scenario =
            serde_json::from_str(text).map_err(|source| ScenarioError::Form { place: place.to_owned(), source })?;
        place.clone_into(&mut scenario.place);
        scenario.check()?;
        Ok(scenario)
    }

    fn check(&self) -> Result<(), ScenarioError> {
        let script = |part: String, pairs: &Pairs| {
            script::check(pairs).map_err(|error: ScriptError| self.wrong(part, error.to_string()))
        };
        script("script".to_owned(), &self.script)?;
        for (place, image) in self.images.iter().enumerate() {
            script(format!("images[{place}].script"), &image.script)?;
        }
        let mut names = BTreeSet::new();
        for (place, name) in self.namespaces.iter().enumerate() {
            let part = || format!("namespaces[{place}]");
            if let Some(why) = names::label(name, false).into_iter().next() {
                return Err(self.wrong(part(), format!("{name:?} is no name of a namespace: {why}")));
            }
            if !names.insert(name) || NAMESPACES_OF_ALL.contains(&name.as_str()) {
                return Err(self.wrong(part(), format!("{name:?} is there already")));
            }
        }
        names.clear();
        for (place, node) in self.nodes.iter().enumerate() {
            let part = || format!("nodes[{place}].name");
            if let Some(why) = names::subdomain(&node.name, false).into_iter().next() {
                return Err(self.wrong(part(), format!("{:?} is no name of a node: {why}", node.name)));
            }
            if !names.insert(&node.name) {
                return Err(self.wrong(part(), format!("{:?} is there already", node.name)));
            }
            for (number, taint) in node.taints.iter().enumerate() {
                let said = |field: &str| taint.get(field).and_then(Value::as_str).unwrap_or_default();
                if said("key").is_empty() || !EFFECTS.contains(&said("effect")) {
                    let why = format!("a taint has a key, and one of the effects {}", EFFECTS.join(", "));
                    return Err(self.wrong(format!("nodes[{place}].taints[{number}]"), why));
                }
            }
            for (name, amount) in [("cpu", &node.cpu), ("memory", &node.memory)] {
                if crate::quantity::Quantity::of(amount).is_none() {
                    return Err(self.wrong(format!("nodes[{place}].{name}"), format!("{amount:?} is no amount")));
                }
            }
        }
        for (place, rule) in self.faults.iter().enumerate() {
            rule.check().map_err(|why| self.wrong(format!("faults[{place}]"), why))?;
        }
        for (place, object) in self.objects.iter().enumerate() {
            resource_of(object).ok_or_else(|| {
                let kind = object.get("kind").and_then(Value::as_str).unwrap_or_default();
                self.wrong(format!("objects[{place}]"), format!("there is no kind {kind:?} of this apiVersion"))
            })?;
        }
        Ok(())
    }

    fn wrong(&self, part: String, why: String) -> ScenarioError {
        ScenarioError::Part { place: self.place.clone(), part, why }
    }

    /// The script of an image.
    pub(crate) fn script_of(&self, image: &str) -> Option<&Pairs> {
        let found = self.images.iter().find(|entry| glob(&entry.image, image)).map(|entry| &entry.script);
        found.or((!self.script.is_empty()).then_some(&self.script))
    }

    /// Makes the objects, after everything else is there.
    ///
    /// # Errors
    /// When one of them is refused; the error says which.
    pub fn make_objects(&self, state: &State) -> Result<(), ScenarioError> {
        for (place, object) in self.objects.iter().enumerate() {
            let part = || format!("objects[{place}]");
            let Some(resource) = resource_of(object) else {
                return Err(self.wrong(part(), "there is no such kind".to_owned()));
            };
            let namespace = object.pointer("/metadata/namespace").and_then(Value::as_str);
            let namespace = if resource.namespaced { namespace.unwrap_or("default") } else { "" };
            write::make(state, resource, namespace, object.clone())
                .map_err(|error: ApiError| self.wrong(part(), error.message))?;
        }
        Ok(())
    }

    /// Makes the nodes and namespaces.
    pub(crate) fn prepare(&self, state: &State) {
        let namespaces = NAMESPACES_OF_ALL.into_iter().chain(self.namespaces.iter().map(String::as_str));
        for name in namespaces {
            // Their names were checked: each is there once.
            let _ = state.create(&NAMESPACES, "", namespace(name), false);
        }
        for (place, node) in self.nodes.iter().enumerate() {
            let _ = state.create(&NODES, "", node.value(state, place), false);
        }
    }
}

/// A namespace as the server would have made it.
fn namespace(name: &str) -> Value {
    json!({
        "kind": "Namespace", "apiVersion": "v1",
        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
        "spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"},
    })
}

impl Node {
    fn named(name: &str) -> Node {
        Node {
            name: name.to_owned(),
            cpu: some_cpu(),
            memory: some_memory(),
            pods: some_pods(),
            labels: Pairs::new(),
            taints: Vec::new(),
        }
    }

    fn value(&self, state: &State, place: usize) -> Value {
        let now = state.clock.seconds();
        let mut labels = json!({
            "beta.kubernetes.io/arch": "amd64", "beta.kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64",
            "kubernetes.io/hostname": self.name, "kubernetes.io/os": "linux",
        });
        if let Some(map) = labels.as_object_mut() {
            map.extend(self.labels.iter().map(|(key, value)| (key.clone(), Value::from(value.as_str()))));
        }
        let amounts = json!({
            "cpu": self.cpu, "memory": self.memory, "pods": self.pods.to_string(), "ephemeral-storage": "100Gi",
            "hugepages-1Gi": "0", "hugepages-2Mi": "0",
        });
        let address = format!("192.168.{}.{}", place / 250, place % 250 + 1);
        let mut spec = json!({});
        if let (Some(spec), false) = (spec.as_object_mut(), self.taints.is_empty()) {
            spec.insert("taints".to_owned(), self.taints.clone().into());
        }
        let id = state.uid();
        json!({
            "kind": "Node", "apiVersion": "v1",
            "metadata": {
                "name": self.name, "labels": labels,
                "annotations": {
                    "node.alpha.kubernetes.io/ttl": "0",
                    "volumes.kubernetes.io/controller-managed-attach-detach": "true",
                },
            },
            "spec": spec,
            "status": {
                "capacity": amounts, "allocatable": amounts,
                "conditions": crate::controllers::well(&now),
                "addresses": [
                    {"type": "InternalIP", "address": address}, {"type": "Hostname", "address": self.name},
                ],
                "daemonEndpoints": {"kubeletEndpoint": {"Port": 10250}},
                "nodeInfo": {
                    "machineID": id.replace('-', ""), "systemUUID": id, "bootID": state.uid(),
                    "kernelVersion": "6.1.0", "osImage": "Debian GNU/Linux 12 (bookworm)",
                    "containerRuntimeVersion": "containerd://1.6.20", "kubeletVersion": "v1.35.4",
                    "kubeProxyVersion": "", "operatingSystem": "linux", "architecture": "amd64",
                },
            },
        })
    }
}

fn resource_of(object: &Value) -> Option<&'static Resource> {
    let said = |field: &str| object.get(field).and_then(Value::as_str).unwrap_or_default();
    let version = said("apiVersion");
    let group = version.split_once('/').map_or("", |(group, _)| group);
    of_kind(group, said("kind")).filter(|resource| resource.api_version() == version)
}

#[cfg(test)]
mod tests {
    use std::error::Error as _;

    use rstest::rstest;

    use super::*;

    #[test]
    fn the_first_image_that_matches_counts() {
        let text = r#"{"images": [{"image": "a/*", "script": {"exit-code": "1"}}, {"image": "*", "script": {}}],
                       "script": {"exit-code": "2"}}"#;
        let scenario = Scenario::parse(text, "test").unwrap();
        assert_eq!(scenario.script_of("a/b").and_then(|script| script.get("exit-code")).unwrap(), "1");
        assert!(scenario.script_of("b").unwrap().is_empty());
    }

    #[rstest]
    #[case::json("{", "scenario test: it cannot be understood: EOF while parsing an object at line 1 column 1")]
    #[case::field(r#"{"node": []}"#, "scenario test: it cannot be understood: unknown field `node`, expected one of")]
    #[case::script(
        r#"{"images": [{"image": "*", "script": {"stop": "x"}}]}"#,
        "scenario test: images[0].script: stop: \"x\" is no time"
    )]
    #[case::amount(r#"{"nodes": [{"name": "a", "cpu": "two"}]}"#, "scenario test: nodes[0].cpu: \"two\" is no amount")]
    #[case::namespace(
        r#"{"namespaces": ["Bad Name"]}"#,
        "scenario test: namespaces[0]: \"Bad Name\" is no name of a namespace"
    )]
    #[case::twice(r#"{"namespaces": ["a", "a"]}"#, "scenario test: namespaces[1]: \"a\" is there already")]
    #[case::of_every_cluster(
        r#"{"namespaces": ["default"]}"#,
        "scenario test: namespaces[0]: \"default\" is there already"
    )]
    #[case::node(r#"{"nodes": [{"name": "A B"}]}"#, "scenario test: nodes[0].name: \"A B\" is no name of a node")]
    #[case::node_twice(
        r#"{"nodes": [{"name": "a"}, {"name": "a"}]}"#,
        "scenario test: nodes[1].name: \"a\" is there already"
    )]
    #[case::taint(
        r#"{"nodes": [{"name": "a", "taints": [{"x": 1}]}]}"#,
        "scenario test: nodes[0].taints[0]: a taint has a key"
    )]
    #[case::status(
        r#"{"faults": [{"fault": {"answer": ["before", {"status": 42}]}}]}"#,
        "scenario test: faults[0]: 42 is no status of an answer"
    )]
    #[case::header(
        r#"{"faults": [{"fault": {"answer": ["before", {"status": 200, "headers": [["a b", "c"]]}]}}]}"#,
        "scenario test: faults[0]: \"a b\": \"c\" is no header"
    )]
    #[case::connection(
        r#"{"faults": [{"on": "connection", "fault": {"body": "x"}}]}"#,
        "scenario test: faults[0]: this is about an answer"
    )]
    #[case::watch(
        r#"{"faults": [{"on": {"request": {"verb": "patch"}}, "fault": {"expire": 0}}]}"#,
        "scenario test: faults[0]: this happens to watches only"
    )]
    #[case::kind(
        r#"{"objects": [{"apiVersion": "apps/v2", "kind": "Deployment"}]}"#,
        "scenario test: objects[0]: there is no kind \"Deployment\" of this apiVersion"
    )]
    fn what_is_wrong_is_told_with_its_place(#[case] text: &str, #[case] told: &str) {
        let error = Scenario::parse(text, "test").unwrap_err();
        let whole = error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {source}"));
        assert!(whole.starts_with(told), "{whole}");
    }
}
