//! `docs/security.md` says what the code does: each limit, with its value, and none missing.
#![allow(clippy::unwrap_used, reason = "a helper of tests")]

use std::time::Duration;

use workload_host::{limits, transport};

const PAGE: &str = include_str!("../../docs/security.md");
const SOURCES: [&str; 3] =
    [include_str!("../src/limits.rs"), include_str!("../src/transport.rs"), include_str!("../policy/src/limits.rs")];

fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn count(number: impl TryInto<u64>) -> String {
    grouped(number.try_into().ok().unwrap())
}

fn bytes(number: usize) -> String {
    match number {
        n if n.is_multiple_of(1 << 20) => format!("{} MiB", n >> 20),
        n if n.is_multiple_of(1 << 10) => format!("{} KiB", n >> 10),
        n => format!("{} bytes", grouped(n as u64)),
    }
}

fn time(duration: Duration) -> String {
    match duration.as_millis() {
        ms if ms.is_multiple_of(3_600_000) => format!("{} h", ms / 3_600_000),
        ms if ms.is_multiple_of(60_000) => format!("{} min", ms / 60_000),
        ms if ms.is_multiple_of(1_000) => format!("{} s", ms / 1_000),
        ms => format!("{ms} ms"),
    }
}

fn seconds(number: u64) -> String {
    time(Duration::from_secs(number))
}

#[test]
fn the_page_has_every_limit_with_its_value() {
    let code = [
        ("MEMORY", bytes(limits::MEMORY)),
        ("TABLE_ELEMENTS", count(limits::TABLE_ELEMENTS)),
        ("TABLES", count(limits::TABLES)),
        ("MEMORIES", count(limits::MEMORIES)),
        ("CORE_INSTANCES", count(limits::CORE_INSTANCES)),
        ("NESTING", count(limits::NESTING)),
        ("INSTANCES", count(limits::INSTANCES)),
        ("KEEP_RESIDENT", bytes(limits::KEEP_RESIDENT)),
        ("WARM_SLOTS", count(limits::WARM_SLOTS)),
        ("GUEST_STACK", bytes(limits::GUEST_STACK)),
        ("THREAD_STACK", bytes(limits::THREAD_STACK)),
        ("STEP", time(limits::STEP)),
        ("TICK", time(limits::TICK)),
        ("OPERATION", time(limits::OPERATION)),
        ("OPERATION_MAX", time(limits::OPERATION_MAX)),
        ("WIND_DOWN", time(limits::WIND_DOWN)),
        ("WIND_DOWN_CLEANING", time(limits::WIND_DOWN_CLEANING)),
        ("HOSTCALL", bytes(limits::HOSTCALL)),
        ("ANSWERS", bytes(limits::ANSWERS)),
        ("EVENTS", count(limits::EVENTS)),
        ("EFFECT_BURST", count(limits::EFFECT_BURST)),
        ("EFFECT_RATE", count(limits::EFFECT_RATE)),
        ("IN_FLIGHT", count(limits::IN_FLIGHT)),
        ("STREAMS", count(limits::STREAMS)),
        ("OUTSTANDING", count(limits::OUTSTANDING)),
        ("IDLE_STEPS", count(limits::IDLE_STEPS)),
        ("QUEUED", bytes(limits::QUEUED)),
        ("RESPONSE_BODY", bytes(limits::RESPONSE_BODY)),
        ("RESPONSE_IDLE", time(limits::RESPONSE_IDLE)),
        ("STREAM_IDLE", time(limits::STREAM_IDLE)),
        ("LINE", bytes(limits::LINE)),
        ("STREAM_BUFFER", bytes(limits::STREAM_BUFFER)),
        ("TOLD", bytes(limits::TOLD)),
        ("COMPONENT", bytes(limits::COMPONENT)),
        ("IDS", count(limits::IDS)),
        ("PAIRS", count(limits::PAIRS)),
        ("TEXT", bytes(limits::TEXT)),
        ("WORD", bytes(limits::WORD)),
        ("CONNECT", time(transport::CONNECT)),
        ("HEADERS", time(transport::HEADERS)),
        ("SEGMENTS", count(workload_policy::limits::SEGMENTS)),
        ("SEGMENT_BYTES", bytes(workload_policy::limits::SEGMENT_BYTES)),
        ("QUERY_PAIRS", count(workload_policy::limits::QUERY_PAIRS)),
        ("QUERY_PAIR_BYTES", bytes(workload_policy::limits::QUERY_PAIR_BYTES)),
        ("TARGET_BYTES", bytes(workload_policy::limits::TARGET_BYTES)),
        ("BODY_BYTES", bytes(workload_policy::limits::BODY_BYTES)),
        ("JSON_DEPTH", count(workload_policy::limits::JSON_DEPTH)),
        ("PAGE", count(workload_policy::limits::PAGE)),
        ("WATCH_SECONDS", seconds(workload_policy::limits::WATCH_SECONDS)),
        ("REPLICAS", count(workload_policy::limits::REPLICAS)),
        ("CREATED_NAME_BYTES", bytes(workload_policy::limits::CREATED_NAME_BYTES)),
        ("ASKED_WORDS", count(workload_policy::limits::ASKED_WORDS)),
    ];
    for (name, value) in &code {
        let row = format!("| `{name}` | {value} | ");
        assert!(PAGE.contains(&row), "docs/security.md lacks the row: {row}");
    }
    let declared = SOURCES.iter().flat_map(|source| source.lines()).filter_map(|line| line.strip_prefix("pub const "));
    let names: Vec<_> = declared.filter_map(|rest| rest.split(':').next()).collect();
    assert_eq!(
        names,
        code.iter().map(|(name, _)| *name).collect::<Vec<_>>(),
        "this table has every constant, in order"
    );
    assert_eq!(PAGE.lines().filter(|line| line.starts_with("| `")).count(), code.len(), "and the page no other");
}
