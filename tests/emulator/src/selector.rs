//! Label selectors.

use std::collections::{BTreeMap, BTreeSet};

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

    /// No requirement.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
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
