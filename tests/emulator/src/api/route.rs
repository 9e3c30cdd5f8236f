//! What a path and a method ask for, as the API server reads them: first for authorisation, then to find who answers.

use http::Method;

use crate::call::Query;
use crate::resource::{self, ALL, Resource};

use super::fields::FieldSelector;
use super::query;

/// What a request asks for, whether or not there is such a thing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Asked {
    /// The decoded path.
    pub path: String,
    /// It is about a resource; the fields below are empty otherwise, but for the verb.
    pub of_resource: bool,
    /// `get`, `list`, `watch`, `create` and so on; the method in small letters for what is no resource.
    pub verb: String,
    /// The API group.
    pub group: String,
    /// Its version.
    pub version: String,
    /// The namespace; of a Namespace its own name.
    pub namespace: String,
    /// The resource.
    pub resource: String,
    /// The name; for a list, that of a selector by name.
    pub name: String,
    /// The subresource.
    pub subresource: String,
    /// What comes after the version, as it stands in the path.
    rest: Vec<String>,
    /// The old form of a watch, `/watch/` in the path.
    pub watches_by_path: bool,
}

/// Who answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Route {
    /// The objects of a resource; in a namespace, or everywhere.
    Collection(&'static Resource, Scope),
    /// One object, or a subresource of it.
    Object(&'static Resource),
    /// One of the reviews, by its plural.
    Review(&'static str),
    /// A method that is not allowed here.
    NoMethod,
    /// Nobody, in a group that is there.
    NoResource,
    /// Nobody, and no group either.
    NoPath,
}

/// Where a collection is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// In a namespace, or of a resource that has none.
    Own,
    /// In all namespaces.
    Everywhere,
}

/// A group of which nothing is stored: what is asked there is answered at once.
#[derive(Debug)]
pub struct ReviewGroup {
    /// Its name.
    pub name: &'static str,
    /// Its only version.
    pub version: &'static str,
    /// What can be asked.
    pub reviews: &'static [Review],
}

/// A question that is asked by creating it.
#[derive(Debug)]
pub struct Review {
    /// The word in paths.
    pub plural: &'static str,
    /// The kind.
    pub kind: &'static str,
    /// Whether it is asked in a namespace.
    pub namespaced: bool,
}

const fn review(plural: &'static str, kind: &'static str) -> Review {
    Review { plural, kind, namespaced: false }
}

/// All of them.
pub const REVIEW_GROUPS: [ReviewGroup; 2] = [
    ReviewGroup {
        name: "authentication.k8s.io",
        version: "v1",
        reviews: &[review("selfsubjectreviews", "SelfSubjectReview")],
    },
    ReviewGroup {
        name: "authorization.k8s.io",
        version: "v1",
        reviews: &[
            Review { plural: "localsubjectaccessreviews", kind: "LocalSubjectAccessReview", namespaced: true },
            review("selfsubjectaccessreviews", "SelfSubjectAccessReview"),
            review("selfsubjectrulesreviews", "SelfSubjectRulesReview"),
            review("subjectaccessreviews", "SubjectAccessReview"),
        ],
    },
];

/// Whether there is such a group at all. The core group is the empty one.
pub fn group_exists(group: &str) -> bool {
    ALL.iter().any(|r| r.group == group) || REVIEW_GROUPS.iter().any(|g| g.name == group)
}

/// Whether there is such a version of a group.
pub fn version_exists(group: &str, version: &str) -> bool {
    ALL.iter().any(|r| r.group == group && r.version == version)
        || REVIEW_GROUPS.iter().any(|g| g.name == group && g.version == version)
}

/// Decodes `%` in a path; nothing when it is malformed, which the server refuses before it looks at anything.
pub fn decode_path(path: &str) -> Option<String> {
    query::decode(path, false).map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
}

fn segments(path: &str) -> Vec<&str> {
    let path = path.trim_matches('/');
    if path.is_empty() { Vec::new() } else { path.split('/').collect() }
}

impl Asked {
    /// Reads a decoded path.
    pub fn read(method: &Method, path: &str, query: &Query) -> Asked {
        let mut asked = Asked { path: path.to_owned(), verb: method.as_str().to_ascii_lowercase(), ..Asked::default() };
        let parts = segments(path);
        let (group, version, mut rest) = match parts.as_slice() {
            ["api", version, rest @ ..] if !rest.is_empty() => ("", *version, rest),
            ["apis", group, version, rest @ ..] if !rest.is_empty() => (*group, *version, rest),
            _ => return asked,
        };
        asked.of_resource = true;
        asked.group = group.to_owned();
        asked.version = version.to_owned();
        asked.verb = match *method {
            Method::POST => "create",
            Method::GET | Method::HEAD => "get",
            Method::PUT => "update",
            Method::PATCH => "patch",
            Method::DELETE => "delete",
            _ => "",
        }
        .to_owned();
        if let ["watch", after @ ..] = rest
            && !after.is_empty()
        {
            asked.verb = "watch".to_owned();
            asked.watches_by_path = true;
            rest = after;
        }
        asked.rest = rest.iter().map(|part| (*part).to_owned()).collect();
        if let ["namespaces", namespace, after @ ..] = rest {
            asked.namespace = (*namespace).to_owned();
            // `status` and `finalize` are the namespace's own; anything else is a resource inside it.
            if after.first().is_some_and(|first| !["status", "finalize"].contains(first)) {
                rest = after;
            }
        }
        let part = |index: usize| rest.get(index).copied().unwrap_or_default().to_owned();
        (asked.resource, asked.name, asked.subresource) = (part(0), part(1), part(2));
        asked.settle_verb(query);
        asked
    }

    fn settle_verb(&mut self, query: &Query) {
        if !self.name.is_empty() {
            return;
        }
        if self.verb == "delete" {
            self.verb = "deletecollection".to_owned();
        }
        if self.verb != "get" {
            return;
        }
        self.verb = if query::flag(query, "watch") { "watch" } else { "list" }.to_owned();
        let selector = query.get("fieldSelector").and_then(|text| FieldSelector::parse(text).ok());
        if let Some(name) = selector.as_ref().and_then(|s| s.exact("metadata.name"))
            && name_problem(name).is_none()
        {
            self.name = name.to_owned();
        }
    }

    /// Who answers this method on this path.
    pub fn route(&self, method: &Method) -> Route {
        // An empty group is not the core group: `/apis//v1`. Nor is anything found behind two slashes.
        let start = if self.group.is_empty() { "/api/" } else { "/apis/" };
        if !self.of_resource || !self.path.starts_with(start) || !group_exists(&self.group) {
            return Route::NoPath;
        }
        // A path of the API has no empty parts but the last one.
        let parts: Vec<&str> = self.rest.iter().map(String::as_str).collect();
        let (namespace, rest) = match parts.as_slice() {
            ["namespaces", namespace, rest @ ..]
                if rest.first().is_some_and(|first| !["status", "finalize"].contains(first)) =>
            {
                (Some(*namespace), rest)
            }
            all => (None, all),
        };
        let Some((plural, rest)) = rest.split_first() else { return Route::NoResource };
        if let Some(route) = self.review(plural, namespace, rest, method) {
            return route;
        }
        let Some(resource) = resource::find(&self.group, &self.version, plural) else { return Route::NoResource };
        if !resource.namespaced && namespace.is_some() {
            return Route::NoResource;
        }
        match (rest, namespace) {
            ([], None) if resource.namespaced => self.collection(resource, Scope::Everywhere, method),
            // The real server takes an empty namespace as all of them.
            ([], Some("")) => self.collection(resource, Scope::Everywhere, method),
            ([], _) => self.collection(resource, Scope::Own, method),
            ([_, ..], None) if resource.namespaced => Route::NoResource,
            ([name], _) if self.watches_by_path && !name.is_empty() => match *method {
                Method::GET => Route::Collection(resource, Scope::Own),
                _ => Route::NoMethod,
            },
            ([_], _) => match *method {
                Method::GET | Method::PUT | Method::PATCH | Method::DELETE => Route::Object(resource),
                _ => Route::NoMethod,
            },
            ([_, subresource], _) if resource.subresources.contains(subresource) => match *method {
                Method::PUT => Route::Object(resource),
                Method::GET | Method::PATCH if *subresource != "finalize" => Route::Object(resource),
                _ => Route::NoMethod,
            },
            _ => Route::NoResource,
        }
    }

    fn review(&self, plural: &str, namespace: Option<&str>, rest: &[&str], method: &Method) -> Option<Route> {
        let group = REVIEW_GROUPS.iter().find(|g| g.name == self.group && g.version == self.version)?;
        let review = group.reviews.iter().find(|review| review.plural == plural)?;
        Some(match () {
            () if review.namespaced != namespace.is_some() || !rest.is_empty() => Route::NoResource,
            () if *method == Method::POST => Route::Review(review.plural),
            () => Route::NoMethod,
        })
    }

    fn collection(&self, resource: &'static Resource, scope: Scope, method: &Method) -> Route {
        let route = Route::Collection(resource, scope);
        match *method {
            Method::GET => route,
            Method::POST if scope == Scope::Own && !self.watches_by_path => route,
            // Namespaces are deleted one by one.
            Method::DELETE if scope == Scope::Own && !self.watches_by_path && resource.plural != "namespaces" => route,
            _ => Route::NoMethod,
        }
    }
}

/// Why a name cannot be a part of a path.
pub fn name_problem(name: &str) -> Option<&'static str> {
    match name {
        "." => Some("may not be '.'"),
        ".." => Some("may not be '..'"),
        _ if name.contains('/') => Some("may not contain '/'"),
        _ if name.contains('%') => Some("may not contain '%'"),
        _ => None,
    }
}
