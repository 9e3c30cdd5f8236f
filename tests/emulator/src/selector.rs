//! Label selectors.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::value::{list, map, text};

mod parse;

/// Requirements that must all hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector(Vec<Requirement>);

/// One requirement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Requirement {
    key: String,
    operator: Operator,
    values: BTreeSet<String>,
}

/// How a label and the values are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// One of the values; also of an equation.
    In,
    /// None of the values, or no such label.
    NotIn,
    /// The label is there.
    Exists,
    /// The label is not there.
    Missing,
    /// A number above the value.
    Above,
    /// A number below the value.
    Below,
}

impl Selector {
    /// Reads a selector as the query of a request has it.
    ///
    /// # Errors
    /// With the message of the real server.
    pub fn parse(text: &str) -> Result<Selector, String> {
        parse::parse(text).map(Selector)
    }

    /// Reads the selector that stands in the spec of a workload. An operator that does not exist was refused when the
    /// object was written.
    pub fn of(value: &Value) -> Selector {
        let labels = map(value, "/matchLabels").iter().map(|(key, value)| Requirement {
            key: key.clone(),
            operator: Operator::In,
            values: value.as_str().map(str::to_owned).into_iter().collect(),
        });
        let expressions = list(value, "/matchExpressions").iter().map(|expression| Requirement {
            key: text(expression, "/key").to_owned(),
            operator: match text(expression, "/operator") {
                "NotIn" => Operator::NotIn,
                "Exists" => Operator::Exists,
                "DoesNotExist" => Operator::Missing,
                _ => Operator::In,
            },
            values: list(expression, "/values").iter().filter_map(Value::as_str).map(str::to_owned).collect(),
        });
        Selector(labels.chain(expressions).collect())
    }

    /// No requirement.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a workload with this selector takes an object with these labels. An empty one takes nothing: a workload
    /// that selects everything is refused.
    pub fn takes(&self, labels: &BTreeMap<String, String>) -> bool {
        !self.is_empty() && self.matches(labels)
    }

    /// Whether labels are selected.
    pub fn matches(&self, labels: &BTreeMap<String, String>) -> bool {
        self.0.iter().all(|requirement| requirement.matches(labels.get(&requirement.key).map(String::as_str)))
    }
}

impl Requirement {
    fn matches(&self, label: Option<&str>) -> bool {
        let number = |text: &str| text.parse::<i64>().ok();
        let compare = |holds: fn(&i64, &i64) -> bool| {
            let wanted = self.values.first().and_then(|value| number(value));
            label.and_then(number).zip(wanted).is_some_and(|(label, wanted)| holds(&label, &wanted))
        };
        match self.operator {
            Operator::In => label.is_some_and(|label| self.values.contains(label)),
            Operator::NotIn => label.is_none_or(|label| !self.values.contains(label)),
            Operator::Exists => label.is_some(),
            Operator::Missing => label.is_none(),
            Operator::Above => compare(i64::gt),
            Operator::Below => compare(i64::lt),
        }
    }
}

#[cfg(test)]
mod tests;
