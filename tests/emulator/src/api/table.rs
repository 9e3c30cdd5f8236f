//! Tables for people: the columns and cells of each kind, as the real server prints them.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::clock::Clock;
use crate::value::{list, number, text};

mod cluster;
mod pods;
mod workloads;

static COLUMNS: LazyLock<BTreeMap<String, Value>> = LazyLock::new(|| {
    // The file is JSON: a test looks for the columns of every kind.
    serde_json::from_str(include_str!("table/columns.json")).unwrap_or_default()
});

/// The definitions of a kind's columns.
pub fn columns(kind: &str) -> Value {
    COLUMNS.get(kind).cloned().unwrap_or_default()
}

/// The row of an object, without what comes with it.
pub fn row(value: &Value, clock: &Clock) -> Value {
    let object = Printed { value, clock };
    let cells = match object.text("/kind") {
        "Pod" => return pods::row(&object),
        "Deployment" => workloads::deployment(&object),
        "ReplicaSet" => workloads::replica_set(&object),
        "Scale" => workloads::scale(&object),
        "Namespace" => cluster::namespace(&object),
        "Node" => cluster::node(&object),
        "Event" => cluster::event(&object),
        "ResourceQuota" => cluster::quota(&object),
        "PersistentVolumeClaim" => cluster::claim(&object),
        "RoleBinding" | "ClusterRoleBinding" => cluster::binding(&object),
        _ => cluster::role(&object),
    };
    json!({"cells": cells})
}

/// An object while its cells are filled.
struct Printed<'a> {
    value: &'a Value,
    clock: &'a Clock,
}

impl<'a> Printed<'a> {
    fn text(&self, pointer: &str) -> &'a str {
        text(self.value, pointer)
    }

    fn number(&self, pointer: &str) -> i64 {
        number(self.value, pointer)
    }

    fn list(&self, pointer: &str) -> &'a [Value] {
        list(self.value, pointer)
    }

    fn name(&self) -> &'a str {
        self.text("/metadata/name")
    }

    fn age(&self) -> String {
        self.since(self.text("/metadata/creationTimestamp"))
    }

    fn since(&self, time: &str) -> String {
        match time {
            "" => "<unknown>".to_owned(),
            time => human(time.parse::<jiff::Timestamp>().map_or(-2, |then| {
                let passed = self.clock.wall().duration_since(then);
                // A part of a second before now is now.
                if passed.is_negative() { (passed.as_millis() / 1000) as i64 } else { passed.as_secs() }
            })),
        }
    }
}

fn or<'a>(text: &'a str, otherwise: &'a str) -> &'a str {
    if text.is_empty() { otherwise } else { text }
}

/// A time that passed, in two or three digits.
fn human(seconds: i64) -> String {
    let (minutes, hours, days) = (seconds / 60, seconds / 3600, seconds / 86_400);
    let two = |big: i64, unit: char, small: i64, other: char| match small {
        0 => format!("{big}{unit}"),
        small => format!("{big}{unit}{small}{other}"),
    };
    match () {
        () if seconds < -1 => "<invalid>".to_owned(),
        () if seconds < 0 => "0s".to_owned(),
        () if seconds < 120 => format!("{seconds}s"),
        () if minutes < 10 => two(minutes, 'm', seconds % 60, 's'),
        () if minutes < 180 => format!("{minutes}m"),
        () if hours < 8 => two(hours, 'h', minutes % 60, 'm'),
        () if hours < 48 => format!("{hours}h"),
        () if hours < 192 => two(days, 'd', hours % 24, 'h'),
        () if days < 730 => format!("{days}d"),
        () if days < 2920 => two(days / 365, 'y', days % 365, 'd'),
        () => format!("{}y", days / 365),
    }
}
