//! From version 0.1 to the internal form. Every text is cleaned and bounded here, once.

use super::{effects, lifecycle, types};
use crate::limits::{PAIRS, TEXT, WORD};
use crate::model::{Descriptor, Fault, FaultKind, Media, Method, Outcome, OutcomeWord, Retention, Status, Workload};
use crate::text::clean;
use crate::world::{Effect, Pending, Request, Turn};

pub(super) fn descriptor(descriptor: lifecycle::Descriptor, world: &'static str) -> Descriptor {
    Descriptor {
        name: clean(descriptor.name, WORD),
        version: clean(descriptor.version, WORD),
        engine: clean(descriptor.engine, WORD),
        asks: descriptor.asks.into_iter().map(|ask| clean(ask, WORD)).collect(),
        // A document, not for a terminal as it is; bounded by what one call may copy.
        spec_schema: descriptor.spec_schema,
        world,
    }
}

pub(super) fn turn(turn: lifecycle::Turn) -> Turn {
    Turn {
        need: turn.need.into_iter().map(pending).collect(),
        dropped: turn.dropped,
        emitted: turn.emitted.into_iter().map(workload).collect(),
        settled: turn.settled.into_iter().map(|(id, result)| (id, result.map(outcome).map_err(fault))).collect(),
        incomplete: turn.incomplete.into_iter().map(|(place, why)| (clean(place, WORD), fault(why))).collect(),
        progress: latest(turn.progress),
        cleaning: turn.cleaning,
        finished: turn.finished,
    }
}

/// The last one of each id, which is the one that counts: a turn of short texts must not become as many events.
fn latest(progress: Vec<(String, String)>) -> Vec<(String, String)> {
    let mut seen = std::collections::HashSet::new();
    let mut last: Vec<_> = progress.into_iter().rev().filter(|(id, _)| seen.insert(id.clone())).collect();
    last.reverse();
    last.into_iter().map(|(id, text)| (id, clean(text, WORD))).collect()
}

fn pending(pending: effects::Pending) -> Pending {
    let effect = match pending.effect {
        effects::Effect::Http(http) => Effect::Http(request(http)),
        effects::Effect::Sleep(milliseconds) => Effect::Sleep(milliseconds),
        effects::Effect::Close(_) => Effect::Unsupported { writes: false },
        effects::Effect::Exec(_)
        | effects::Effect::Forward(_)
        | effects::Effect::Call(_)
        | effects::Effect::Secret(_)
        | effects::Effect::Checkpoint(_)
        | effects::Effect::ForgetRecord => Effect::Unsupported { writes: true },
    };
    Pending { id: pending.id, workload: pending.for_, effect }
}

fn request(request: effects::Request) -> Request {
    Request {
        method: match request.method {
            effects::Method::Get => Method::Get,
            effects::Method::Post => Method::Post,
            effects::Method::Put => Method::Put,
            effects::Method::Patch => Method::Patch,
            effects::Method::Delete => Method::Delete,
        },
        segments: request.segments,
        query: request.query,
        accept: media(request.accept),
        body: request.body.map(|body| (media(body.media), body.bytes)),
        streaming: request.streaming,
    }
}

fn media(media: effects::Media) -> Media {
    match media {
        effects::Media::Json => Media::Json,
        effects::Media::JsonTable => Media::JsonTable,
        effects::Media::JsonMetadata => Media::JsonMetadata,
        effects::Media::MergePatch => Media::MergePatch,
        effects::Media::JsonPatch => Media::JsonPatch,
        effects::Media::ApplyPatch => Media::ApplyPatch,
        effects::Media::Octets => Media::Octets,
        effects::Media::Text => Media::Text,
    }
}

fn outcome(outcome: types::Outcome) -> Outcome {
    Outcome {
        word: match outcome.word {
            types::OutcomeWord::Created => OutcomeWord::Created,
            types::OutcomeWord::Started => OutcomeWord::Started,
            types::OutcomeWord::AlreadyRunning => OutcomeWord::AlreadyRunning,
            types::OutcomeWord::Stopped => OutcomeWord::Stopped,
            types::OutcomeWord::AlreadyStopped => OutcomeWord::AlreadyStopped,
            types::OutcomeWord::Deleted => OutcomeWord::Deleted,
            types::OutcomeWord::AlreadyGone => OutcomeWord::AlreadyGone,
            types::OutcomeWord::Read => OutcomeWord::Read,
        },
        changed: outcome.changed,
        workload: outcome.workload.map(workload),
    }
}

fn fault(fault: types::Fault) -> Fault {
    Fault {
        kind: match fault.kind {
            types::FaultKind::NotFound => FaultKind::NotFound,
            types::FaultKind::Unauthorized => FaultKind::Unauthorized,
            types::FaultKind::Forbidden => FaultKind::Forbidden,
            types::FaultKind::Unavailable => FaultKind::Unavailable,
            types::FaultKind::Timeout => FaultKind::Timeout,
            types::FaultKind::RolloutFailed => FaultKind::RolloutFailed,
            types::FaultKind::InvalidId => FaultKind::InvalidId,
            types::FaultKind::InvalidSpec => FaultKind::InvalidSpec,
            types::FaultKind::Conflict => FaultKind::Conflict,
            types::FaultKind::Superseded => FaultKind::Superseded,
            types::FaultKind::NotOwned => FaultKind::NotOwned,
            types::FaultKind::Denied => FaultKind::Denied,
            types::FaultKind::Malformed => FaultKind::Malformed,
            types::FaultKind::Unsupported => FaultKind::Unsupported,
            types::FaultKind::Cancelled => FaultKind::Cancelled,
        },
        message: clean(fault.message, TEXT),
        detail: pairs(fault.detail),
    }
}

fn workload(workload: types::Workload) -> Workload {
    Workload {
        id: clean(workload.id, WORD),
        name: clean(workload.name, WORD),
        kind: clean(workload.kind, WORD),
        status: match workload.status {
            types::Status::Running => Status::Running,
            types::Status::Offline => Status::Offline,
            types::Status::Creating => Status::Creating,
            types::Status::Failed => Status::Failed,
            types::Status::Missing => Status::Missing,
            types::Status::Unknown => Status::Unknown,
        },
        reason: clean(workload.reason, WORD),
        message: workload.message.map(|text| clean(text, TEXT)),
        settled: workload.settled,
        serving_old: workload.serving_old,
        desired: workload.desired,
        available: workload.available,
        image: word(workload.image),
        node: word(workload.node),
        address: word(workload.address),
        created: word(workload.created),
        owner: word(workload.owner),
        uid: word(workload.uid),
        retention: workload.retention.map(|retention| match retention {
            types::Retention::Active => Retention::Active,
            types::Retention::Retained => Retention::Retained,
            types::Retention::Terminating => Retention::Terminating,
            types::Retention::Gone => Retention::Gone,
        }),
        rule: clean(workload.rule, WORD),
        facts: pairs(workload.facts),
    }
}

fn word(text: Option<String>) -> Option<String> {
    text.map(|text| clean(text, WORD))
}

/// More than the limit is left out: it is evidence for a person, not data.
fn pairs(pairs: Vec<(String, String)>) -> Vec<(String, String)> {
    pairs.into_iter().take(PAIRS).map(|(name, value)| (clean(name, WORD), clean(value, TEXT))).collect()
}

#[cfg(test)]
mod tests {
    use super::latest;

    #[test]
    fn only_the_last_progress_of_an_id_counts() {
        let pair = |id: &str, text: &str| (id.to_owned(), text.to_owned());
        let told = vec![pair("a", "1"), pair("b", "1"), pair("a", "2"), pair("a", "3"), pair("c", "1\n")];
        assert_eq!(latest(told), [pair("b", "1"), pair("a", "3"), pair("c", "1\\u{a}")]);
    }
}
