//! Create: one object that is ours from the start. It never adopts one that is there already.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, Spec, StopReason, fault};

use super::case::{is_hopeless, not_ours};
use crate::answer::{Action, Class, Trouble, classify};
use crate::create::{New, plan};
use crate::ownership::Owned;
use crate::read::{Look, Sight, get, retry};
use crate::request;
use crate::status::Own;

/// How often the request is sent when it is certain that it had no effect.
const TRIES: u32 = 3;

/// Between these tries, unless the server says otherwise.
const RETRY_MS: u64 = 500;

pub(super) async fn create(cx: Cx, spec: Spec) -> Result<Outcome, Fault> {
    let new = plan(&spec, cx.ownership(), cx.seed())?;
    let action = Action::create(&new.target.namespace);
    // Who asks what would be done is told that nothing would, where that can be known.
    if cx.plan()
        && let Ok(look) = there(&cx, &new).await
    {
        return Err(exists(&new, Some(&look.owned)));
    }
    let mut uncertain = false;
    let mut tries = 0;
    loop {
        tries += 1;
        let answer = cx.http(request::create(&new.target.namespace, new.body.clone())).await;
        let trouble = match classify(&action, answer) {
            Ok(response) => {
                let status = response.status;
                let look =
                    Sight::of_answer(&new.target, response).and_then(|sight| sight.look(cx.ownership(), Own::LOOK));
                match look.ok().and_then(|look| made(&cx, &new, &look)) {
                    Some(outcome) => return Ok(outcome),
                    None => Trouble::malformed(&action, status),
                }
            }
            Err(mut trouble) => {
                trouble.withhold(|| Some(new.variables.clone()));
                trouble
            }
        };
        uncertain |= trouble.is_uncertain();
        // Also when there is one already: it may be what an earlier try of ours made.
        if uncertain && (trouble.is_uncertain() || trouble.class == Class::Exists) {
            match found(&cx, &new).await? {
                Found::Ours(outcome) => return Ok(*outcome),
                Found::Another(owned) => return Err(exists(&new, Some(&owned))),
                Found::Nothing => {}
            }
        }
        if trouble.class == Class::Exists {
            // For a person who wonders what to do. Nothing else depends on it.
            let look = there(&cx, &new).await;
            return Err(exists(&new, look.ok().map(|look| look.owned).as_ref()));
        }
        // A conflict without an object to conflict with: another create changed the same quota at the same time.
        let passing = trouble.is_passing() || trouble.class == Class::Conflict;
        if !passing || tries >= TRIES {
            return Err(ended(&cx, &trouble));
        }
        if is_hopeless(&cx, &trouble) {
            return Err(trouble.fault());
        }
        let pause = trouble.retry_after_ms.unwrap_or(0).max(RETRY_MS);
        cx.sleep(pause).await.map_err(|_| ended(&cx, &trouble))?;
    }
}

/// What an uncertain answer left behind.
enum Found {
    Ours(Box<Outcome>),
    Another(Owned),
    Nothing,
}

/// What there is under the name.
async fn there(cx: &Cx, new: &New) -> Result<Look, Trouble> {
    let sight = get(cx, &new.target).await?;
    sight.look(cx.ownership(), Own::LOOK).map_err(|_| Trouble::malformed(&Action::on("get", &new.target), 200))
}

/// The same, tried a few times. It goes on in spite of a stop: something may have been made.
async fn found(cx: &Cx, new: &New) -> Result<Found, Fault> {
    let (key, attempt) = &new.attempt;
    match cx.cleanup(retry(cx, || there(cx, new))).await {
        Ok(look) if look.sight.annotation(key).as_ref() == Some(attempt) => match made(cx, new, &look) {
            Some(outcome) => Ok(Found::Ours(Box::new(outcome))),
            None => Err(Trouble::malformed(&Action::on("get", &new.target), 200).fault()),
        },
        Ok(look) => Ok(Found::Another(look.owned)),
        Err(trouble) if trouble.class == Class::Missing => Ok(Found::Nothing),
        Err(trouble) => {
            let message = format!("{} may or may not have been created: {}", new.target.id(), trouble.words());
            Err(Fault { message, ..trouble.fault() })
        }
    }
}

/// The outcome, if what there is is ours.
fn made(cx: &Cx, new: &New, look: &Look) -> Option<Outcome> {
    let workload = look.workload(&new.target, cx.ownership());
    (look.owned == Owned::Yes).then_some(Outcome {
        word: OutcomeWord::Created,
        changed: true,
        workload: Some(workload),
    })
}

fn exists(new: &New, whose: Option<&Owned>) -> Fault {
    let words = match whose.map(not_ours) {
        None => String::new(),
        Some(Some(words)) => format!(", which is not ours: {words}"),
        Some(None) => ", which is ours: start that, or delete it first".to_owned(),
    };
    let words = format!("there is a Deployment {} already{words}; it was left as it is", new.target.id());
    fault(FaultKind::Conflict, words).with("reason", "already-exists")
}

fn ended(cx: &Cx, trouble: &Trouble) -> Fault {
    match cx.stopping() {
        Some(reason) => {
            let how = match reason {
                StopReason::Deadline => "timed out",
                StopReason::Cancelled => "cancelled",
                StopReason::Superseded => "superseded",
            };
            fault(reason.into(), format!("{how} before it was created: {}", trouble.words()))
        }
        None => trouble.fault(),
    }
}
