//! Gets and lists.

use std::sync::Arc;

use http::{HeaderMap, Response};

use crate::call::{Body, Query, Target};
use crate::error::{ApiError, Cause, Details};
use crate::quote::quoted;
use crate::resource::Resource;
use crate::state::State;
use crate::store::{Object, Range};
use crate::write;

use super::accept::{Form, Offer, Text, negotiate};
use super::answer;
use super::continue_token::Token;
use super::query::{self, ListOptions, Match};
use super::render::{ListMeta, Renderer};

/// One object, or a subresource of it.
///
/// # Errors
/// 404, and what the query and the headers can do wrong.
pub fn get(state: &State, target: &Target, query: &Query, headers: &HeaderMap) -> Result<Response<Body>, ApiError> {
    let Form { shape, text } = negotiate(headers, query, Offer::Object)?;
    if query.get("export").is_some() && query::flag(query, "export") {
        return Err(ApiError::bad_request("the export parameter, deprecated since v1.14, is no longer supported"));
    }
    let (now, found) = state.store.look(&target.key());
    let version = query.get("resourceVersion").unwrap_or_default();
    if !version.is_empty() {
        let version = query::version(version).map_err(|message| ApiError::new(500, "", message))?;
        not_in_future(version, now)?;
    }
    let found = found.ok_or_else(|| ApiError::not_found(target.resource, &target.name))?;
    let renderer = Renderer { resource: target.resource, shape, clock: state.clock.clone() };
    renderer.check_object()?;
    if target.subresource != "scale" && text == Text::Json {
        let mut out = Vec::with_capacity(found.text.len() + 128);
        renderer.object(&found, true, &mut out);
        out.push(b'\n');
        return Ok(answer::respond(&state.clock, 200, answer::media(text), answer::full(out)));
    }
    let mut value = found.value();
    if target.subresource == "scale" {
        value = write::scale_of(target.resource, &value);
    }
    Ok(answer::value(&state.clock, 200, &renderer.value(value, true), text))
}

/// 504 for a version that has not come yet.
///
/// # Errors
/// When it has not.
pub fn not_in_future(version: u64, now: u64) -> Result<(), ApiError> {
    if version <= now {
        return Ok(());
    }
    let message = format!("Timeout: Too large resource version: {version}, current: {now}");
    let cause = Cause {
        reason: "ResourceVersionTooLarge",
        message: "Too large resource version".to_owned(),
        field: String::new(),
    };
    let details = Details { causes: vec![cause], retry_after_seconds: 1, ..Details::default() };
    Err(ApiError::new(504, "Timeout", message).with(details))
}

/// Objects as a list.
///
/// # Errors
/// 410 for what is not known any more, 504 for what has not come yet, and what the options can do wrong.
pub fn list(
    state: &Arc<State>,
    resource: &'static Resource,
    namespace: &str,
    options: &ListOptions,
    form: &Form,
) -> Result<Response<Body>, ApiError> {
    if namespace == "." || namespace == ".." {
        let key = quoted(&format!("/{}/{namespace}", resource.plural));
        return Err(ApiError::new(500, "", format!("invalid key: {key}")));
    }
    let renderer = Renderer { resource, shape: form.shape.clone(), clock: state.clock.clone() };
    let (meta, objects) = page(state, resource, namespace, options)?;
    renderer.check_list()?;
    let body = renderer.list(&meta, objects, form.text);
    Ok(answer::respond(&state.clock, 200, answer::media(form.text), body))
}

fn page(
    state: &State,
    resource: &'static Resource,
    namespace: &str,
    options: &ListOptions,
) -> Result<(ListMeta, Vec<Arc<Object>>), ApiError> {
    let selects = !options.labels.is_empty() || !options.fields.is_empty();
    let token = match options.token.as_str() {
        "" => None,
        text => Some(Token::decode(text).map_err(|why| bad_request("invalid continue token: ", &why))?),
    };
    if token.is_some() && !matches!(options.version.as_str(), "" | "0") {
        return Err(ApiError::bad_request("specifying resource version is not allowed when using continue"));
    }
    let now = state.store.version();
    let asked = match options.version.as_str() {
        "" => 0,
        text => query::version(text).map_err(|why| bad_request("invalid resource version: ", &why))?,
    };
    not_in_future(asked, now)?;
    let old = options.matching.is_none() && options.limit > 0;
    let exact = asked > 0 && (options.matching == Some(Match::Exact) || old);
    let version = match &token {
        Some(token) => token.version.unwrap_or_default(),
        None if exact => asked,
        None => 0,
    };
    not_in_future(version, now)?;
    let after = token.as_ref().map(|token| match namespace {
        "" => token.after.clone(),
        namespace => format!("{namespace}/{}", token.after),
    });
    // Any state will do, so the real server takes its cache, which has no pages.
    let limit = if options.version == "0" { 0 } else { options.limit };
    if let Some(object) = one(state, resource, namespace, options).filter(|_| token.is_none() && !exact) {
        let (version, object) = object;
        return Ok((ListMeta { version, ..ListMeta::default() }, object.into_iter().collect()));
    }
    let range = Range {
        namespace: Some(namespace).filter(|namespace| !namespace.is_empty()),
        after: after.as_deref(),
        limit,
        count: !selects,
        version,
    };
    let wanted = |object: &Object| options.labels.matches(&object.labels) && options.fields.matches(object);
    let page = state.store.page(resource, range, wanted).map_err(|_| expired(token))?;
    let next = page.objects.last().filter(|_| page.more).map(|last| {
        let path = last.key.path();
        let after = match namespace {
            "" => path,
            _ => path.split_once('/').map_or(path, |(_, name)| name),
        };
        Token { version: Some(page.version), after: after.to_owned() }.encode(true)
    });
    let remaining = Some(page.remaining).filter(|_| page.more && !selects);
    Ok((ListMeta { version: page.version, next, remaining }, page.objects))
}

/// The one object that a list can only be about, without looking at all others.
fn one(
    state: &State,
    resource: &'static Resource,
    namespace: &str,
    options: &ListOptions,
) -> Option<(u64, Option<Arc<Object>>)> {
    let name = options.fields.exact("metadata.name")?;
    let namespace = match namespace {
        "" if resource.namespaced => options.fields.exact("metadata.namespace")?,
        namespace => namespace,
    };
    let target =
        Target { resource, namespace: namespace.to_owned(), name: name.to_owned(), subresource: String::new() };
    let (version, object) = state.store.look(&target.key());
    let wanted = |object: &Arc<Object>| options.labels.matches(&object.labels) && options.fields.matches(object);
    Some((version, object.filter(wanted)))
}

fn bad_request(prefix: &str, why: &str) -> ApiError {
    ApiError::bad_request(format!("{prefix}{why}"))
}

fn expired(token: Option<Token>) -> ApiError {
    let Some(token) = token else {
        return ApiError::expired("The resourceVersion for the provided list is too old.");
    };
    let mut error = ApiError::expired(
        "The provided continue parameter is too old to display a consistent list result. You can start a new list \
         without the continue parameter, or use the continue token in this response to retrieve the remainder of the \
         results. Continuing with the provided token results in an inconsistent list - objects that were created, \
         modified, or deleted between the time the first chunk was returned and now may show up in the list.",
    );
    error.next = Some(Token { version: None, ..token }.encode(false));
    error
}
