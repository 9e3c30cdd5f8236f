//! The API server's face: from a request to an answer.

use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, header};

use crate::authorize::{self, Attributes};
use crate::call::{Body, Call, Query, Target, User, Written};
use crate::error::{ApiError, Details};
use crate::quote::quoted;
use crate::resource::Resource;
use crate::state::State;
use crate::store::Object;
use crate::write;

mod accept;
mod answer;
mod continue_token;
mod discovery;
mod empty;
mod fields;
mod impersonate;
mod openapi;
mod paths;
mod protobuf;
pub(crate) mod query;
mod read;
mod render;
mod reviews;
mod route;
mod table;
mod watch;
mod yaml;

use accept::{Form, Offer};
use query::ListOptions;
use render::Renderer;
use route::{Asked, Route, Scope};

/// Answers a request. The body of a watch is a stream, which is read from the store while it is sent.
pub fn answer(state: &Arc<State>, user: Result<&User, ApiError>, request: &Request<Bytes>) -> Response<Body> {
    let query = query::parse(request.uri().query().unwrap_or_default());
    let Some(path) = route::decode_path(request.uri().path()) else {
        return answer::plain(&state.clock, 400, "400 Bad Request");
    };
    let asked = Asked::read(request.method(), &path, &query);
    let exchange = Exchange { state, request, query: &query, asked: &asked };
    let answered = user.and_then(|user| exchange.answer(user));
    answered.unwrap_or_else(|error| answer::error(&state.clock, &error, accept::text(request.headers(), &query)))
}

/// Answers a request that changes nothing, as to an administrator: for tests that look at what is stored.
pub fn answer_read(state: &Arc<State>, request: &Request<Bytes>) -> Response<Body> {
    let user = User::authenticated("reader", &["system:masters"]);
    let user = if request.method() == Method::GET { Ok(&user) } else { Err(no_method()) };
    answer(state, user, request)
}

/// One request while it is answered.
struct Exchange<'a> {
    state: &'a Arc<State>,
    request: &'a Request<Bytes>,
    query: &'a Query,
    asked: &'a Asked,
}

type Answered = Result<Response<Body>, ApiError>;

impl Exchange<'_> {
    fn headers(&self) -> &HeaderMap {
        self.request.headers()
    }

    fn header(&self, name: header::HeaderName) -> &str {
        self.headers().get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    fn answer(&self, user: &User) -> Answered {
        if self.asked.verb != "watch" {
            accept::check_timeout(self.query)?;
        }
        let other = impersonate::read(self.state, user, self.headers())?;
        let user = other.as_ref().unwrap_or(user);
        let wanted = self.attributes();
        let decision = authorize::decide(self.state, user, &wanted);
        if !decision.allowed {
            return Err(authorize::forbidden(user, &wanted, &decision.reason));
        }
        match self.asked.route(self.request.method()) {
            Route::NoPath => paths::other(self),
            Route::NoResource => Err(no_resource()),
            Route::NoMethod => Err(no_method()),
            Route::Review(plural) => self.review(user, plural),
            Route::Collection(resource, scope) => self.collection(user, resource, scope),
            Route::Object(resource) => self.object(user, resource),
        }
    }

    fn attributes(&self) -> Attributes {
        let asked = self.asked;
        Attributes {
            verb: asked.verb.clone(),
            of_resource: asked.of_resource,
            path: asked.path.clone(),
            group: asked.group.clone(),
            resource: asked.resource.clone(),
            subresource: asked.subresource.clone(),
            namespace: asked.namespace.clone(),
            name: asked.name.clone(),
        }
    }

    fn review(&self, user: &User, plural: &str) -> Answered {
        let form = accept::negotiate(self.headers(), self.query, Offer::Object)?;
        let body = self.request.body();
        let value = reviews::answer(self.state, user, plural, &self.asked.namespace, &self.media(), body)?;
        Ok(answer::value(&self.state.clock, 201, &value, form.text))
    }

    fn collection(&self, user: &User, resource: &'static Resource, scope: Scope) -> Answered {
        let namespace = if resource.namespaced && scope == Scope::Own { self.asked.namespace.as_str() } else { "" };
        let target =
            Target { resource, namespace: namespace.to_owned(), name: String::new(), subresource: String::new() };
        match *self.request.method() {
            Method::GET => self.list(&target),
            Method::POST => self.write(user, &target, write::create),
            _ => {
                let options = ListOptions::read(self.query, false)?;
                options.fields.check(resource).map_err(ApiError::bad_request)?;
                let all = self.state.store.all(resource, Some(namespace).filter(|namespace| !namespace.is_empty()));
                let wanted =
                    |object: &Arc<Object>| options.labels.matches(&object.labels) && options.fields.matches(object);
                let matching: Vec<_> = all.into_iter().filter(wanted).collect();
                self.write(user, &target, |call| write::delete_collection(call, &matching))
            }
        }
    }

    fn list(&self, target: &Target) -> Answered {
        let asked = self.asked;
        let mut options = ListOptions::read(self.query, asked.watches_by_path)?;
        let form = accept::negotiate(self.headers(), self.query, Offer::Collection)?;
        options.fields.check(target.resource).map_err(ApiError::bad_request)?;
        if !asked.name.is_empty() {
            if options.fields.is_empty() {
                options.fields = fields::FieldSelector::equal("metadata.name", &asked.name);
            } else if options.fields.exact("metadata.name") != Some(&asked.name) {
                return Err(ApiError::bad_request("fieldSelector metadata.name doesn't match requested name"));
            }
        }
        match options.watch {
            true => watch::begin(self.state, target.resource, &target.namespace, options, &form),
            false => read::list(self.state, target.resource, &target.namespace, &options, &form),
        }
    }

    fn object(&self, user: &User, resource: &'static Resource) -> Answered {
        let asked = self.asked;
        let target = Target {
            resource,
            namespace: if resource.namespaced { asked.namespace.clone() } else { String::new() },
            name: asked.name.clone(),
            subresource: asked.subresource.clone(),
        };
        if let Some(problem) = route::name_problem(&asked.name) {
            let name = quoted(&asked.name);
            return Err(ApiError::bad_request(format!("Name parameter invalid: {name}: {problem}")));
        }
        match *self.request.method() {
            Method::GET => read::get(self.state, &target, self.query, self.headers()),
            Method::PUT => self.write(user, &target, write::update),
            Method::PATCH => self.write(user, &target, write::patch),
            _ => self.write(user, &target, write::delete),
        }
    }

    fn media(&self) -> String {
        let media = self.header(header::CONTENT_TYPE);
        media.split(';').next().unwrap_or_default().trim().to_ascii_lowercase()
    }

    fn write(
        &self,
        user: &User,
        target: &Target,
        write: impl FnOnce(&Call<'_>) -> Result<Written, ApiError>,
    ) -> Answered {
        let Form { shape, text } = accept::negotiate(self.headers(), self.query, Offer::Object)?;
        let renderer = Renderer { resource: target.resource, shape, clock: self.state.clock.clone() };
        renderer.check_object()?;
        let mut media = self.media();
        let mut body = self.request.body().clone();
        if media == protobuf::MEDIA && !body.is_empty() {
            let value = protobuf::decode(&body, &target.resource.api_version(), target.resource.kind)?;
            "application/json".clone_into(&mut media);
            body = value.to_string().into();
        }
        let written = write(&Call {
            state: self.state,
            user,
            target,
            query: self.query,
            media: &media,
            agent: self.header(header::USER_AGENT),
            body: &body,
        })?;
        let value = renderer.value(written.value, true);
        let mut response = answer::value(&self.state.clock, written.code, &value, text);
        for warning in &written.warnings {
            // What no header can hold is left out: a warning is a courtesy.
            if let Ok(value) = HeaderValue::from_str(&format!("299 - {}", quoted(warning))) {
                response.headers_mut().append(header::WARNING, value);
            }
        }
        Ok(response)
    }
}

fn no_resource() -> ApiError {
    let message = "the server could not find the requested resource";
    ApiError::new(404, "NotFound", message).with(Details::default())
}

fn no_method() -> ApiError {
    let message = "the server does not allow this method on the requested resource";
    ApiError::new(405, "MethodNotAllowed", message).with(Details::default())
}

#[cfg(test)]
mod tests;
