//! Create: one object that is ours from the start. It never adopts one that is there already.

use workload_guest::{Cx, Fault, FaultKind, Outcome, OutcomeWord, Spec, StopReason, fault};

use super::case::{is_hopeless, not_ours};
use crate::answer::{Action, Class, Trouble, body, classify};
use crate::api::{Deployment, Object, annotation};
use crate::create::{New, plan};
use crate::ownership::{Owned, owned};
use crate::read::retry;
use crate::request;
use crate::status::{About, Beside, Observed, Own, decide};

/// How often the request is sent when it is certain that it had no effect.
const TRIES: u32 = 3;

/// Between these tries, unless the server says otherwise.
const RETRY_MS: u64 = 500;

pub(super) async fn create(cx: Cx, spec: Spec) -> Result<Outcome, Fault> {
    let new = plan(&spec, cx.ownership(), cx.seed())?;
    let action = Action::create(&new.target.namespace);
    // Who asks what would be done is told that nothing would, where that can be known.
    if cx.plan()
        && let Some(owned) = whose(&cx, &new).await
    {
        return Err(exists(&new, Some(&owned)));
    }
    let mut uncertain = false;
    let mut tries = 0;
    loop {
        tries += 1;
        let answer = cx.http(request::create(&new.target.namespace, new.body.clone())).await;
        let trouble = match classify(&action, answer) {
            Ok(response) => match made(&cx, &new, &response.bytes, response.date_ms) {
                Some(outcome) => return Ok(outcome),
                None => Trouble::malformed(&action, response.status),
            },
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
            let owned = whose(&cx, &new).await;
            return Err(exists(&new, owned.as_ref()));
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

/// Reads what there is under the name. It goes on in spite of a stop: something may have been made.
async fn found(cx: &Cx, new: &New) -> Result<Found, Fault> {
    let action = Action::on("get", &new.target);
    let read = retry(cx, || async {
        let response = classify(&action, cx.http(request::get(&new.target)).await)?;
        // Only an object of this name says that another one is there.
        let decoded = Deployment::decode(&response.bytes, &new.target.namespace, &new.target.name);
        let owned = decoded.map(|deployment| owned(cx.ownership(), &deployment.metadata));
        body(&action, response.status, owned).map(|owned| (response, owned))
    });
    match cx.cleanup(read).await {
        Ok((response, _)) if annotation(&response.bytes, &new.attempt.0).as_deref() == Some(&new.attempt.1) => {
            match made(cx, new, &response.bytes, response.date_ms) {
                Some(outcome) => Ok(Found::Ours(Box::new(outcome))),
                None => Err(Trouble::malformed(&action, response.status).fault()),
            }
        }
        Ok((_, owned)) => Ok(Found::Another(owned)),
        Err(trouble) if trouble.class == Class::Missing => Ok(Found::Nothing),
        Err(trouble) => {
            let message = format!("{} may or may not have been created: {}", new.target.id(), trouble.words());
            Err(Fault { message, ..trouble.fault() })
        }
    }
}

/// The outcome, if this is the object that was asked for and it is ours.
fn made(cx: &Cx, new: &New, bytes: &[u8], server_ms: Option<u64>) -> Option<Outcome> {
    let deployment = Deployment::decode(bytes, &new.target.namespace, &new.target.name).ok()?;
    if owned(cx.ownership(), &deployment.metadata) != Owned::Yes {
        return None;
    }
    let own = Own::LOOK;
    let observed =
        Observed { deployment: &deployment, replica_sets: Beside::NotRead, pods: Beside::NotRead, own, server_ms };
    let about = About::of(&deployment, deployment.pod_spec().as_ref());
    let workload = decide(&observed).workload(&new.target, cx.ownership(), &about);
    Some(Outcome { word: OutcomeWord::Created, changed: true, workload: Some(workload) })
}

/// Whose the one is that is there already, for a person who wonders what to do. Nothing else depends on it.
async fn whose(cx: &Cx, new: &New) -> Option<Owned> {
    let response = classify(&Action::on("get", &new.target), cx.http(request::get(&new.target)).await).ok()?;
    let deployment = Deployment::decode(&response.bytes, &new.target.namespace, &new.target.name).ok()?;
    Some(owned(cx.ownership(), &deployment.metadata))
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
