//! Which permissions are missing: each is asked for by itself, as the engine's own access control calls it.

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use serde_json::{Value, json};

use super::engine::{unauthorized, unexpected};
use super::{Check, CheckName};
use crate::model::FaultKind;
use crate::rbac::{Need, needs};
use crate::transport::{Answered, Probe, Trouble};
use workload_policy::{Grants, Places};

/// Questions that are on their way at once: a server is asked about twenty.
const AT_ONCE: usize = 8;

/// One check for each permission and place, in the order of the catalogue.
pub(super) async fn permissions(probe: &Probe<'_>, grants: &Grants) -> Result<Vec<Check>, Trouble> {
    let places: Vec<Option<&str>> = match grants.places() {
        Places::All => vec![None],
        Places::Only(places) => places.iter().map(|place| Some(place.as_str())).collect(),
    };
    let needs = needs(grants);
    let questions = places.into_iter().flat_map(|place| needs.iter().map(move |need| (place, need)));
    let asked = questions.map(|(place, need)| async move {
        let answered =
            probe.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", &review(need, place)).await?;
        Ok(check(need, place, &answered))
    });
    // Collected first: a stream of a lazy one borrows too much for a task.
    stream::iter(asked.collect::<Vec<_>>()).buffered(AT_ONCE).try_collect().await
}

fn review(need: &Need, place: Option<&str>) -> Value {
    let rbac = &need.rbac;
    let mut attributes = json!({"verb": rbac.verb, "group": rbac.api_group, "resource": rbac.resource});
    let more = [("subresource", rbac.subresource), ("namespace", place)];
    for (name, value) in more.into_iter().filter_map(|(name, value)| Some((name, value?))) {
        if let Some(map) = attributes.as_object_mut() {
            map.insert(name.to_owned(), value.into());
        }
    }
    json!({
        "apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": attributes},
    })
}

fn check(need: &Need, place: Option<&str>, answered: &Answered) -> Check {
    let (name, verb, resource) = (CheckName::Permission, need.rbac.verb, need.resource());
    let at = place.map_or_else(|| "in all namespaces".to_owned(), |place| format!("in namespace {place}"));
    let what = format!("{verb} {resource} {at}");
    let review = serde_json::from_slice::<Value>(&answered.body).ok();
    let allowed = review.as_ref().and_then(|review| review.pointer("/status/allowed")).and_then(Value::as_bool);
    let check = match (answered.status, allowed) {
        (200 | 201, Some(true)) => Check::ok(name, what),
        (200 | 201, Some(false)) => {
            let message = format!("not allowed to {what}; needed to {}", need.sentences.join(", and to "));
            Check::failed(name, FaultKind::Forbidden, message)
        }
        (401, _) => unauthorized(name),
        (403..=405, _) => Check::skipped(name, format!("{what}: the server does not tell")),
        (status, _) => unexpected(name, status),
    };
    let check = check.with("verb", verb).with("group", need.rbac.api_group).with("resource", resource);
    let check = check.with("operations", need.words.join(", "));
    place.into_iter().fold(check, |check, place| check.with("namespace", place))
}
