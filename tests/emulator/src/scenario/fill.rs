//! Many Deployments that are up, for tests of size: made at once in the state that the controllers would bring them to.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};

use self::mold::{Mold, Slot};
use super::namespace;
use crate::controllers::{image_id, pod_address, template_hash};
use crate::error::ApiError;
use crate::resource::{DEPLOYMENTS, NAMESPACES, NODES, PODS, REPLICA_SETS};
use crate::state::State;

mod mold;

/// How many Pods one of the nodes has that are made for them. All are full: what comes later goes elsewhere.
const PODS_OF_A_NODE: usize = 250;

/// What to make.
#[derive(Debug, Clone)]
pub struct Fill {
    /// The namespace, which is made if it isn't there.
    pub namespace: String,
    /// How many Deployments, each with one ReplicaSet and one Pod.
    pub count: usize,
    /// What their names begin with; a number follows.
    pub prefix: String,
    /// Labels of everything, besides `app` with the name.
    pub labels: BTreeMap<String, String>,
    /// Annotations of the Deployments.
    pub annotations: BTreeMap<String, String>,
    /// The image of their container.
    pub image: String,
}

impl Default for Fill {
    fn default() -> Fill {
        Fill {
            namespace: "default".to_owned(),
            count: 1,
            prefix: "app".to_owned(),
            labels: BTreeMap::new(),
            annotations: BTreeMap::new(),
            image: "localhost/image:1".to_owned(),
        }
    }
}

/// Makes Deployments that are up, with their ReplicaSets and Pods, on nodes of their own. No controller has anything to
/// do for them until they are changed. Each kind of object is cast from a mold, so that 100,000 take seconds.
///
/// # Errors
/// When a name is taken.
pub fn fill(state: &State, what: &Fill) -> Result<(), ApiError> {
    match state.create(&NAMESPACES, "", namespace(&what.namespace), false) {
        Err(error) if error.reason != "AlreadyExists" => return Err(error),
        _ => {}
    }
    let now = state.clock.seconds();
    let pattern = Pattern { what, now: &now };
    let deployments = Mold::of(&DEPLOYMENTS, &what.namespace, pattern.deployment());
    let sets = Mold::of(&REPLICA_SETS, &what.namespace, pattern.replica_set());
    let pods = Mold::of(&PODS, &what.namespace, pattern.pod());
    let existing = state.store.all(&NODES, None).len();
    for number in 0..what.count {
        let place = number / PODS_OF_A_NODE;
        let node = format!("{}-node-{}", what.prefix, place + 1);
        if number.is_multiple_of(PODS_OF_A_NODE) {
            state.create(&NODES, "", full_node(&node).value(state, existing + place), false)?;
        }
        let app = format!("{}-{}", what.prefix, number + 1);
        // What the hash is of differs in nothing but the name.
        let hash = template_hash(&Value::from(app.as_str()));
        let set = format!("{app}-{hash}");
        let pod = format!("{set}-{}", state.suffix());
        let uids = [state.uid(), state.uid(), state.uid()];
        let [of_deployment, of_set, of_pod] = &uids;
        // Numbers of their own, far from those that the nodes give.
        let address = pod_address(u32::try_from(number).unwrap_or_default().saturating_add(1 << 18));
        let same = [(Slot::App, app.as_str()), (Slot::Hash, &hash), (Slot::Set, &set), (Slot::Node, &node)];
        let casts = [
            (&deployments, &app, of_deployment, ""),
            (&sets, &set, of_set, of_deployment),
            (&pods, &pod, of_pod, of_set),
        ];
        for (mold, name, uid, owner) in casts {
            let own = [(Slot::Name, name.as_str()), (Slot::Uid, uid), (Slot::OwnerUid, owner)];
            let address = [(Slot::Address, address.as_str())];
            mold.cast(state, own.into_iter().chain(same).chain(address))?;
        }
    }
    Ok(())
}

/// A node that has as many Pods as it takes.
fn full_node(name: &str) -> super::Node {
    super::Node {
        name: name.to_owned(),
        cpu: "64".to_owned(),
        memory: "256Gi".to_owned(),
        pods: u32::try_from(PODS_OF_A_NODE).unwrap_or(u32::MAX),
        labels: BTreeMap::new(),
        taints: Vec::new(),
    }
}

/// What the molds are made of: objects with slots for what differs.
struct Pattern<'a> {
    what: &'a Fill,
    now: &'a str,
}

impl Pattern<'_> {
    fn metadata(
        &self,
        labels: Map<String, Value>,
        annotations: Map<String, Value>,
        owner: Option<(&str, Slot)>,
    ) -> Value {
        let mut metadata = json!({
            "name": Slot::Name.text(), "namespace": self.what.namespace, "uid": Slot::Uid.text(),
            "resourceVersion": Slot::Version.text(), "generation": 1, "creationTimestamp": self.now, "labels": labels,
        });
        if let Some(map) = metadata.as_object_mut() {
            if !annotations.is_empty() {
                map.insert("annotations".to_owned(), annotations.into());
            }
            if let Some((kind, name)) = owner {
                let reference = json!({
                    "apiVersion": "apps/v1", "kind": kind, "name": name.text(), "uid": Slot::OwnerUid.text(),
                    "controller": true, "blockOwnerDeletion": true,
                });
                map.insert("ownerReferences".to_owned(), json!([reference]));
            }
        }
        metadata
    }

    fn labels(&self, hashed: bool) -> Map<String, Value> {
        let mut labels: Map<_, _> =
            self.what.labels.iter().map(|(key, value)| (key.clone(), value.as_str().into())).collect();
        labels.insert("app".to_owned(), Slot::App.text().into());
        labels.extend(hashed.then(|| ("pod-template-hash".to_owned(), Slot::Hash.text().into())));
        labels
    }

    fn pod_spec(&self) -> Value {
        json!({
            "containers": [{
                "name": "main", "image": self.what.image, "imagePullPolicy": "IfNotPresent", "resources": {},
                "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File",
            }],
            "restartPolicy": "Always", "terminationGracePeriodSeconds": 30, "dnsPolicy": "ClusterFirst",
            "securityContext": {}, "schedulerName": "default-scheduler",
        })
    }

    fn template(&self, hashed: bool) -> Value {
        json!({"metadata": {"labels": self.labels(hashed)}, "spec": self.pod_spec()})
    }

    fn annotations(&self, more: &[(&str, &str)]) -> Map<String, Value> {
        let own = self.what.annotations.iter().map(|(key, value)| (key.clone(), value.as_str().into()));
        let more = more.iter().map(|(key, value)| (format!("deployment.kubernetes.io/{key}"), Value::from(*value)));
        own.chain(more).collect()
    }

    fn deployment(&self) -> Value {
        let condition = |kind: &str, reason: &str, message: &str| {
            json!({
                "type": kind, "status": "True", "lastUpdateTime": self.now, "lastTransitionTime": self.now,
                "reason": reason, "message": message,
            })
        };
        json!({
            "kind": "Deployment", "apiVersion": "apps/v1",
            "metadata": self.metadata(self.labels(false), self.annotations(&[("revision", "1")]), None),
            "spec": {
                "replicas": 1, "selector": {"matchLabels": {"app": Slot::App.text()}}, "template": self.template(false),
                "strategy": {
                    "type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": "25%"},
                },
                "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
            },
            "status": {
                "observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1,
                "availableReplicas": 1, "terminatingReplicas": 0,
                "conditions": [
                    condition("Available", "MinimumReplicasAvailable", "Deployment has minimum availability."),
                    condition(
                        "Progressing",
                        "NewReplicaSetAvailable",
                        &format!("ReplicaSet \"{}\" has successfully progressed.", Slot::Set.text()),
                    ),
                ],
            },
        })
    }

    fn replica_set(&self) -> Value {
        let selector = json!({"matchLabels": {"app": Slot::App.text(), "pod-template-hash": Slot::Hash.text()}});
        let annotations = self.annotations(&[("revision", "1"), ("desired-replicas", "1"), ("max-replicas", "2")]);
        json!({
            "kind": "ReplicaSet", "apiVersion": "apps/v1",
            "metadata": self.metadata(self.labels(true), annotations, Some(("Deployment", Slot::App))),
            "spec": {"replicas": 1, "selector": selector, "template": self.template(true)},
            "status": {
                "replicas": 1, "fullyLabeledReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
                "terminatingReplicas": 0, "observedGeneration": 1,
            },
        })
    }

    fn pod(&self) -> Value {
        let mut spec = self.pod_spec();
        if let Some(spec) = spec.as_object_mut() {
            spec.insert("nodeName".to_owned(), Slot::Node.text().into());
            let toleration =
                |key: &str| json!({"key": key, "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 300});
            let tolerations =
                json!([toleration("node.kubernetes.io/not-ready"), toleration("node.kubernetes.io/unreachable")]);
            spec.insert("tolerations".to_owned(), tolerations);
        }
        let condition = |kind: &str| {
            json!({
                "type": kind, "observedGeneration": 1, "status": "True", "lastProbeTime": null,
                "lastTransitionTime": self.now,
            })
        };
        let kinds = ["PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady", "PodScheduled"];
        let address = Slot::Address.text();
        json!({
            "kind": "Pod", "apiVersion": "v1",
            "metadata": self.metadata(self.labels(true), Map::new(), Some(("ReplicaSet", Slot::Set))), "spec": spec,
            "status": {
                "observedGeneration": 1, "phase": "Running", "conditions": kinds.map(condition),
                "podIP": address, "podIPs": [{"ip": address}], "startTime": self.now,
                "containerStatuses": [{
                    "name": "main", "state": {"running": {"startedAt": self.now}}, "lastState": {}, "ready": true,
                    "restartCount": 0, "image": self.what.image, "imageID": image_id(&self.what.image),
                    "started": true, "resources": {},
                }],
                "qosClass": "BestEffort",
            },
        })
    }
}
