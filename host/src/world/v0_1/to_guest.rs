//! From the internal form to version 0.1.

use super::{effects, lifecycle, types};
use crate::model::{Failure, Media, Spec, StopIntent};
use crate::world::{Answer, Context, Input, Response, StopReason};

pub(super) fn context(context: Context) -> lifecycle::Context {
    let labels = context.ownership.labels.into_iter().map(|(key, value)| lifecycle::Label { key, value }).collect();
    lifecycle::Context {
        deadline: context.deadline,
        plan: context.plan,
        ownership: lifecycle::Ownership { owner: context.ownership.owner, labels, id_key: context.ownership.id_key },
        settings: context.settings,
        seed: context.seed.to_vec(),
        records: context.records,
    }
}

pub(super) fn spec(spec: Spec) -> types::Spec {
    types::Spec { id: spec.id, document: spec.document, id_label: spec.id_label }
}

pub(super) fn stop_intent(intent: StopIntent) -> types::StopIntent {
    match intent {
        StopIntent::Preserve => types::StopIntent::Preserve,
        StopIntent::RecoverableFailure => types::StopIntent::RecoverableFailure,
        StopIntent::RollbackFresh => types::StopIntent::RollbackFresh,
        StopIntent::Terminal => types::StopIntent::Terminal,
        StopIntent::Forced => types::StopIntent::Forced,
    }
}

pub(super) fn event(input: Input) -> lifecycle::Event {
    match input {
        Input::Answer { id, answer } => lifecycle::Event::Answer((id, self::answer(answer))),
        Input::Stop { id, reason } => lifecycle::Event::Stop(lifecycle::StopNotice {
            id,
            reason: match reason {
                StopReason::Cancelled => lifecycle::StopReason::Cancelled,
                StopReason::Deadline => lifecycle::StopReason::Deadline,
                StopReason::Superseded => lifecycle::StopReason::Superseded,
            },
        }),
    }
}

fn answer(answer: Answer) -> effects::Answer {
    match answer {
        Answer::Response(response) => effects::Answer::Response(self::response(response)),
        Answer::Elapsed => effects::Answer::Elapsed,
        Answer::Failed(failure) => effects::Answer::Failed(self::failure(failure)),
    }
}

fn response(response: Response) -> effects::Response {
    effects::Response {
        status: response.status,
        retry_after_ms: response.retry_after_ms,
        date_ms: response.date_ms,
        headers: response.headers,
        media: response.media.map(media),

        bytes: response.bytes,
        last: response.last,
    }
}

fn media(media: Media) -> effects::Media {
    match media {
        Media::Json => effects::Media::Json,
        Media::JsonTable => effects::Media::JsonTable,
        Media::JsonMetadata => effects::Media::JsonMetadata,
        Media::MergePatch => effects::Media::MergePatch,
        Media::JsonPatch => effects::Media::JsonPatch,
        Media::ApplyPatch => effects::Media::ApplyPatch,
        Media::Octets => effects::Media::Octets,
        Media::Text => effects::Media::Text,
    }
}

fn failure(failure: Failure) -> effects::Failure {
    match failure {
        Failure::Denied => effects::Failure::Denied,
        Failure::Timeout => effects::Failure::Timeout,
        Failure::TooLarge => effects::Failure::TooLarge,
        Failure::Unreachable => effects::Failure::Unreachable,
        Failure::RedirectRefused => effects::Failure::RedirectRefused,
        Failure::Cancelled => effects::Failure::Cancelled,
        Failure::BadResponse => effects::Failure::BadResponse,
        Failure::Lost => effects::Failure::Lost,
        Failure::Unsupported => effects::Failure::Unsupported,
        Failure::StoreFailed => effects::Failure::StoreFailed,
    }
}
