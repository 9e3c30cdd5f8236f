//! The nudge: a controller that could not make a ReplicaSet gives up after some minutes, and then looks at the Deployment
//! again only when somebody edits it. A start that finds such a one edits an annotation of our own, and nothing else.

use workload_guest::Fault;

use super::case::{Case, Written};
use crate::answer::Action;
use crate::ownership::nudged_key;
use crate::read::Look;
use crate::request;
use crate::time::rfc3339;

/// Edits it. The look is given back if it turns out that it was not given up, or is not wanted any more.
pub(super) async fn nudge(case: &mut Case, mut look: Look) -> Result<Result<(), Look>, Fault> {
    let action = Action::patch(&case.target);
    let key = nudged_key(case.cx.ownership());
    // Of those that may have taken effect. The same time alone proves nothing: another one may have come first.
    let mut uncertain = Vec::new();
    while look.gave_up && look.desired >= 1 {
        // Without the server's time nobody could have said that it was given up.
        let at = rfc3339(look.sight.server_ms.unwrap_or_default());
        let request = request::annotate(&case.target, &look.about.uid, &look.resource_version, &key, &at);
        match case.send(&action, request, &look).await? {
            Ok(Written::Done(_)) => {
                case.nudged();
                return Ok(Ok(()));
            }
            Ok(Written::Missing) => return Err(super::start::gone(case)),
            Ok(Written::Again { uncertain: maybe }) => {
                uncertain.extend(maybe.then_some(at));
                look = case.ours_again(super::start::gone).await?;
                if look.sight.annotation(&key).is_some_and(|at| uncertain.contains(&at)) {
                    // It took effect after all.
                    case.nudged();
                    return Ok(Ok(()));
                }
            }
            Err(trouble) if trouble.is_not_allowed() => {
                let mut fault = look.verdict.rollout_failed(&case.target);
                fault.message = format!(
                    "{} does not start: its controller has given up; any edit of the Deployment would revive it, but {}",
                    case.target.id(),
                    trouble.words()
                );
                return Err(fault.with("not-allowed", trouble.permission()));
            }
            Err(trouble) => return Err(case.ended(&trouble)),
        }
    }
    Ok(Err(look))
}
