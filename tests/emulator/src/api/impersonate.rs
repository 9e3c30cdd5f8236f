//! Acting as somebody else: `kubectl --as`.

use http::HeaderMap;

use crate::authorize::{self, Attributes};
use crate::call::User;
use crate::error::ApiError;
use crate::state::State;

/// Who is to be taken for the one who asks, if the headers name somebody.
///
/// # Errors
/// 403 for who may not be somebody else.
pub fn read(state: &State, user: &User, headers: &HeaderMap) -> Result<Option<User>, ApiError> {
    let all = |name: &str| {
        let values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
        values.map(str::to_owned).collect::<Vec<_>>()
    };
    let (names, mut groups) = (all("impersonate-user"), all("impersonate-group"));
    let Some(name) = names.into_iter().next().filter(|name| !name.is_empty()) else {
        if groups.is_empty() {
            return Ok(None);
        }
        let message = format!("Internal Server Error: requested {} without impersonating a user", groups.join(", "));
        return Err(ApiError::new(500, "InternalError", message));
    };
    let account = name.strip_prefix("system:serviceaccount:").and_then(|rest| rest.split_once(':'));
    let (resource, namespace, object) = match account {
        Some((namespace, name)) => ("serviceaccounts", namespace, name),
        None => ("users", "", name.as_str()),
    };
    let wanted = |resource: &str, namespace: &str, name: &str| Attributes {
        verb: "impersonate".to_owned(),
        of_resource: true,
        resource: resource.to_owned(),
        namespace: namespace.to_owned(),
        name: name.to_owned(),
        ..Attributes::default()
    };
    let all = std::iter::once(wanted(resource, namespace, object));
    for attributes in all.chain(groups.iter().map(|group| wanted("groups", "", group))) {
        let decision = authorize::decide(state, user, &attributes);
        if !decision.allowed {
            return Err(authorize::forbidden(user, &attributes, &decision.reason));
        }
    }
    if let (true, Some((namespace, _))) = (groups.is_empty(), account) {
        groups.extend(["system:serviceaccounts".to_owned(), format!("system:serviceaccounts:{namespace}")]);
    }
    let known = ["system:authenticated", "system:unauthenticated"];
    let says = groups.iter().any(|group| known.contains(&group.as_str()));
    if !says {
        let group = if name == "system:anonymous" { "system:unauthenticated" } else { "system:authenticated" };
        groups.push(group.to_owned());
    }
    Ok(Some(User { name, groups, ..User::default() }))
}
