//! Label selectors as they stand in the spec of a workload.

use std::collections::BTreeMap;

use serde_json::Value;

use super::fields::{list, text, texts};

/// A `LabelSelector`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Selector(Vec<Requirement>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Requirement {
    key: String,
    operator: Operator,
    values: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Operator {
    In,
    NotIn,
    Exists,
    DoesNotExist,
}

impl Selector {
    /// Reads one. An operator that does not exist was refused when the object was written; here it takes nothing.
    pub fn of(value: &Value) -> Selector {
        let labels = texts(value, "/matchLabels").into_iter().map(|(key, value)| Requirement {
            key,
            operator: Operator::In,
            values: vec![value],
        });
        let expressions = list(value, "/matchExpressions").iter().map(|expression| Requirement {
            key: text(expression, "/key").to_owned(),
            operator: match text(expression, "/operator") {
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::DoesNotExist,
                _ => Operator::In,
            },
            values: list(expression, "/values").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        });
        Selector(labels.chain(expressions).collect())
    }

    /// Whether it takes these labels. An empty one takes nothing: a workload that selects everything is refused.
    pub fn takes(&self, labels: &BTreeMap<String, String>) -> bool {
        !self.0.is_empty() && self.0.iter().all(|requirement| requirement.takes(labels))
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Requirement {
    fn takes(&self, labels: &BTreeMap<String, String>) -> bool {
        let value = labels.get(&self.key);
        match self.operator {
            Operator::In => value.is_some_and(|value| self.values.contains(value)),
            Operator::NotIn => value.is_none_or(|value| !self.values.contains(value)),
            Operator::Exists => value.is_some(),
            Operator::DoesNotExist => value.is_none(),
        }
    }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;
    use serde_json::json;

    use super::*;

    #[rstest]
    #[case::equal(json!({"matchLabels": {"app": "a"}}), true)]
    #[case::other(json!({"matchLabels": {"app": "b"}}), false)]
    #[case::in_a_list(json!({"matchExpressions": [{"key": "app", "operator": "In", "values": ["b", "a"]}]}), true)]
    #[case::not_in(json!({"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]}), false)]
    #[case::absent_is_not_in(json!({"matchExpressions": [{"key": "x", "operator": "NotIn", "values": ["a"]}]}), true)]
    #[case::exists(json!({"matchExpressions": [{"key": "app", "operator": "Exists"}]}), true)]
    #[case::does_not_exist(json!({"matchExpressions": [{"key": "app", "operator": "DoesNotExist"}]}), false)]
    #[case::both(json!({"matchLabels": {"app": "a"}, "matchExpressions": [{"key": "x", "operator": "Exists"}]}), false)]
    #[case::empty(json!({}), false)]
    fn a_selector_takes_labels(#[case] selector: Value, #[case] taken: bool) {
        let labels = [("app".to_owned(), "a".to_owned())].into();
        assert_eq!(Selector::of(&selector).takes(&labels), taken);
    }
}
