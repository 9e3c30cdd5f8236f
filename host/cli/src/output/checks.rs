//! What `doctor` found.

use anstyle::Style;
use serde::Serialize;
use workload_host::doctor::{Check, CheckName, CheckResult};

use super::layout::{Cell, Column, Row, Table, Yields};
use super::style::{BUSY, ERROR, FAINT, GOOD};
use super::table::plain;
use super::terminal::Look;
use crate::exit::Exit;

const COLUMNS: &[Column] =
    &[Column { head: "RESULT", yields: Yields::Never }, Column { head: "CHECK", yields: Yields::Never }];

/// One line for each check; on a terminal that is too narrow, with what there is to say below it.
pub fn table(checks: &[Check], look: Look) -> String {
    let row = |check: &Check| {
        let result = Cell { text: check.result.word().to_owned(), style: style(check.result) };
        Row { cells: vec![result, Cell::plain(check.name.word())], note: Some(plain(&check.message)) }
    };
    Table { columns: COLUMNS, note: Some("MESSAGE"), rows: checks.iter().map(row).collect() }.lines(look)
}

fn style(result: CheckResult) -> Style {
    match result {
        CheckResult::Ok => GOOD,
        CheckResult::Note => BUSY,
        CheckResult::Failed => ERROR,
        CheckResult::Skipped => FAINT,
    }
}

/// The answer of `doctor`.
#[derive(Serialize)]
pub struct Document<'a> {
    checks: &'a [Check],
}

/// The same as a document.
pub fn document(checks: &[Check]) -> Document<'_> {
    Document { checks }
}

/// Whether a permission is missing.
pub fn misses_permissions(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.name == CheckName::Permission && check.result == CheckResult::Failed)
}

/// How the process ends: by the worst of what failed.
pub fn exit(checks: &[Check]) -> Exit {
    checks.iter().filter_map(|check| check.fault).map(Exit::from).max().unwrap_or(Exit::Ok)
}

#[cfg(test)]
#[path = "checks/tests.rs"]
mod tests;
