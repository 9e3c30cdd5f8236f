//! Deployments and ReplicaSets as their controllers see them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fields::{View, number, text, texts};
use crate::selector::Selector;

/// The annotation with the number of a rollout.
pub(super) const REVISION: &str = "deployment.kubernetes.io/revision";
/// The annotation with the numbers that a ReplicaSet had before it was rolled back to.
pub(super) const REVISION_HISTORY: &str = "deployment.kubernetes.io/revision-history";
/// The annotation with the Deployment's replicas when its ReplicaSets were last scaled.
pub(super) const DESIRED_REPLICAS: &str = "deployment.kubernetes.io/desired-replicas";
/// The annotation with the most Pods that the Deployment could have then.
pub(super) const MAX_REPLICAS: &str = "deployment.kubernetes.io/max-replicas";
/// The label that tells the Pods of one template from those of another.
pub(super) const TEMPLATE_HASH: &str = "pod-template-hash";
/// Means "none" in the fields of a Deployment that are limits.
const NO_LIMIT: i64 = i32::MAX as i64;

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &i64) -> bool {
    *number == 0
}

/// A condition of a Deployment or a ReplicaSet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct Condition {
    /// Such as `Progressing`.
    #[serde(rename = "type")]
    pub kind: String,
    /// `True`, `False` or `Unknown`.
    pub status: String,
    /// When anything of it changed. ReplicaSets don't have it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_update_time: String,
    /// When the status changed.
    pub last_transition_time: String,
    /// The word for it.
    pub reason: String,
    /// The sentence for it.
    pub message: String,
}

/// The conditions of a status.
pub(super) type Conditions = Vec<Condition>;

/// The condition of a type.
pub(super) fn find<'a>(conditions: &'a Conditions, kind: &str) -> Option<&'a Condition> {
    conditions.iter().find(|condition| condition.kind == kind)
}

/// Sets a condition, unless it is there already with the same status and reason: then nothing is touched, not even the
/// message.
pub(super) fn set(conditions: &mut Conditions, mut condition: Condition) {
    if let Some(current) = find(conditions, &condition.kind) {
        if current.status == condition.status && current.reason == condition.reason {
            return;
        }
        if current.status == condition.status {
            condition.last_transition_time.clone_from(&current.last_transition_time);
        }
    }
    remove(conditions, &condition.kind);
    conditions.push(condition);
}

/// Removes a condition.
pub(super) fn remove(conditions: &mut Conditions, kind: &str) {
    conditions.retain(|condition| condition.kind != kind);
}

/// The status of a Deployment.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct DeploymentStatus {
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub updated_replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub ready_replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub available_replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub unavailable_replicas: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Conditions,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub collision_count: Option<i64>,
}

/// The status of a ReplicaSet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub(super) struct ReplicaSetStatus {
    pub replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub fully_labeled_replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub ready_replicas: i64,
    #[serde(skip_serializing_if = "is_zero")]
    pub available_replicas: i64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub terminating_replicas: Option<i64>,
    #[serde(skip_serializing_if = "is_zero")]
    pub observed_generation: i64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub conditions: Conditions,
}

fn status<T: Default + for<'a> Deserialize<'a>>(value: &Value) -> T {
    // Nobody but the controllers writes it, so it can be read; if somebody else did, it is made anew.
    value.get("status").and_then(|status| T::deserialize(status).ok()).unwrap_or_default()
}

/// A number of Pods, or a share of the Deployment's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Share {
    /// So many.
    Count(i64),
    /// So many of a hundred.
    Percent(i64),
}

impl Share {
    fn of(value: Option<&Value>) -> Share {
        match value {
            Some(Value::String(text)) => {
                Share::Percent(text.strip_suffix('%').and_then(|number| number.parse().ok()).unwrap_or_default())
            }
            Some(value) => Share::Count(value.as_i64().unwrap_or_default()),
            None => Share::Count(0),
        }
    }

    /// The number, rounded up.
    pub fn up(self, of: i64) -> i64 {
        match self {
            Share::Count(count) => count,
            Share::Percent(percent) => (percent * of + 99) / 100,
        }
    }

    /// The number, rounded down.
    pub fn down(self, of: i64) -> i64 {
        match self {
            Share::Count(count) => count,
            Share::Percent(percent) => percent * of / 100,
        }
    }
}

/// How a Deployment replaces its Pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Strategy {
    /// All old ones first.
    Recreate,
    /// Step by step.
    Rolling {
        /// How many more than wanted there may be.
        surge: Share,
        /// How many fewer than wanted may be available.
        unavailable: Share,
    },
}

/// A Deployment.
#[derive(Debug, Clone)]
pub(super) struct Deployment {
    /// As it was read.
    pub view: View,
    /// How many Pods it is to have.
    pub replicas: i64,
    /// Whether it leaves its ReplicaSets' templates as they are.
    pub paused: bool,
    /// How it replaces Pods.
    pub strategy: Strategy,
    /// How long a Pod must be ready to count as available, in seconds.
    pub min_ready: i64,
    /// After how many seconds without progress it has failed; none for never.
    pub deadline: Option<i64>,
    /// How many old ReplicaSets are kept; none for all.
    pub history: Option<i64>,
    /// Which Pods are its own.
    pub selector: Selector,
    /// Its annotations; the revision among them is written with the status.
    pub annotations: BTreeMap<String, String>,
    /// Its status, which a sync changes before it writes it.
    pub status: DeploymentStatus,
}

impl Deployment {
    /// Reads one.
    pub fn of(view: View) -> Deployment {
        let value = &view.value;
        let limit = |name: &str| value.pointer(name).and_then(Value::as_i64).filter(|&number| number != NO_LIMIT);
        let rolling = |name: &str| Share::of(value.pointer(&format!("/spec/strategy/rollingUpdate/{name}")));
        Deployment {
            replicas: value.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1),
            paused: value.pointer("/spec/paused").and_then(Value::as_bool).unwrap_or_default(),
            strategy: match text(value, "/spec/strategy/type") {
                "Recreate" => Strategy::Recreate,
                _ => Strategy::Rolling { surge: rolling("maxSurge"), unavailable: rolling("maxUnavailable") },
            },
            min_ready: number(value, "/spec/minReadySeconds"),
            deadline: limit("/spec/progressDeadlineSeconds"),
            history: limit("/spec/revisionHistoryLimit"),
            selector: Selector::of(value.pointer("/spec/selector").unwrap_or(&Value::Null)),
            annotations: texts(value, "/metadata/annotations"),
            status: status(value),
            view,
        }
    }

    /// The template of its Pods.
    pub fn template(&self) -> &Value {
        self.view.value.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    /// How many Pods more than wanted, and how many fewer available. Both can't be 0, or nothing would ever happen.
    fn fenceposts(&self) -> (i64, i64) {
        match self.strategy {
            Strategy::Recreate => (0, 0),
            Strategy::Rolling { surge, unavailable } => {
                let (surge, unavailable) = (surge.up(self.replicas), unavailable.down(self.replicas));
                if surge == 0 && unavailable == 0 { (0, 1) } else { (surge, unavailable) }
            }
        }
    }

    /// How many Pods more than wanted there may be.
    pub fn max_surge(&self) -> i64 {
        self.fenceposts().0
    }

    /// How many Pods fewer than wanted may be available.
    pub fn max_unavailable(&self) -> i64 {
        if self.replicas == 0 { 0 } else { self.fenceposts().1.min(self.replicas) }
    }

    /// Whether everything wanted is there, by a status of it.
    pub fn is_complete(&self, status: &DeploymentStatus) -> bool {
        status.updated_replicas == self.replicas
            && status.replicas == self.replicas
            && status.available_replicas == self.replicas
            && status.observed_generation >= self.view.generation()
    }
}

/// A ReplicaSet.
#[derive(Debug, Clone)]
pub(super) struct ReplicaSet {
    /// As it was read.
    pub view: View,
    /// How many Pods it is to have.
    pub replicas: i64,
    /// How long a Pod must be ready to count as available, in seconds.
    pub min_ready: i64,
    /// Which Pods are its own.
    pub selector: Selector,
    /// Its annotations.
    pub annotations: BTreeMap<String, String>,
    /// Its status.
    pub status: ReplicaSetStatus,
}

impl ReplicaSet {
    /// Reads one.
    pub fn of(view: View) -> ReplicaSet {
        let value = &view.value;
        ReplicaSet {
            replicas: value.pointer("/spec/replicas").and_then(Value::as_i64).unwrap_or(1),
            min_ready: number(value, "/spec/minReadySeconds"),
            selector: Selector::of(value.pointer("/spec/selector").unwrap_or(&Value::Null)),
            annotations: texts(value, "/metadata/annotations"),
            status: status(value),
            view,
        }
    }

    /// The template of its Pods.
    pub fn template(&self) -> &Value {
        self.view.value.pointer("/spec/template").unwrap_or(&Value::Null)
    }

    /// The number of its rollout; 0 if it has none that can be read.
    pub fn revision(&self) -> i64 {
        self.annotations.get(REVISION).and_then(|text| text.parse().ok()).unwrap_or_default()
    }

    /// By age, the oldest first.
    pub fn by_age(a: &ReplicaSet, b: &ReplicaSet) -> std::cmp::Ordering {
        (a.view.created(), a.view.name()).cmp(&(b.view.created(), b.view.name()))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rstest::rstest;
    use serde_json::json;

    use super::*;
    use crate::resource::DEPLOYMENTS;
    use crate::store::{Key, Object};

    fn deployment(spec: Value) -> Deployment {
        let key = Key::new(&DEPLOYMENTS, "ns", "app");
        let value = json!({"metadata": {"name": "app", "generation": 2}, "spec": spec});
        Deployment::of(View::of(Arc::new(Object::new(key, 1, value))))
    }

    #[rstest]
    #[case::quarter_of_one(1, json!("25%"), json!("25%"), (1, 0))]
    #[case::quarter_of_ten(10, json!("25%"), json!("25%"), (3, 2))]
    #[case::numbers(10, json!(2), json!(0), (2, 0))]
    #[case::never_both_zero(3, json!(0), json!("1%"), (0, 1))]
    #[case::no_more_than_all(2, json!(0), json!(5), (0, 2))]
    #[case::none_wanted(0, json!(1), json!(1), (1, 0))]
    fn surge_rounds_up_and_unavailable_down(
        #[case] replicas: i64,
        #[case] surge: Value,
        #[case] unavailable: Value,
        #[case] expected: (i64, i64),
    ) {
        let rolling = json!({"maxSurge": surge, "maxUnavailable": unavailable});
        let strategy = json!({"type": "RollingUpdate", "rollingUpdate": rolling});
        let deployment = deployment(json!({"replicas": replicas, "strategy": strategy}));
        assert_eq!((deployment.max_surge(), deployment.max_unavailable()), expected);
    }

    #[test]
    fn a_limit_of_all_that_fits_is_none() {
        let read = deployment(json!({"progressDeadlineSeconds": i32::MAX, "revisionHistoryLimit": 2}));
        assert_eq!((read.deadline, read.history), (None, Some(2)));
    }

    #[test]
    fn a_condition_is_only_touched_when_its_status_or_reason_changes() {
        let condition = |status: &str, reason: &str, time: &str| Condition {
            kind: "Progressing".to_owned(),
            status: status.to_owned(),
            last_update_time: time.to_owned(),
            last_transition_time: time.to_owned(),
            reason: reason.to_owned(),
            message: String::new(),
        };
        let mut conditions = vec![condition("True", "A", "1")];
        set(&mut conditions, condition("True", "A", "2"));
        assert_eq!(conditions, [condition("True", "A", "1")]);
        set(&mut conditions, condition("True", "B", "3"));
        assert_eq!(conditions[0].last_transition_time, "1", "the status is the same");
        assert_eq!(conditions[0].last_update_time, "3");
        set(&mut conditions, condition("False", "B", "4"));
        assert_eq!(conditions, [condition("False", "B", "4")]);
    }
}
