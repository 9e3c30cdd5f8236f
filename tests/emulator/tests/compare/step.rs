//! The words that the script is written in.
//!
//! Paths and bodies may name values in braces: `{ns}` is the chapter's namespace, `{apps}`, `{core}` and `{rbac}` are the
//! namespaced paths of the three API groups, and [`Step::keep`] names a value of an answer for the steps that follow.

use http::Method;
use serde_json::Value;

use crate::server::Who;

pub const MERGE: &str = "application/merge-patch+json";
pub const STRATEGIC: &str = "application/strategic-merge-patch+json";
pub const JSON_PATCH: &str = "application/json-patch+json";
pub const APPLY: &str = "application/apply-patch+yaml";
pub const TABLE: &str = "application/json;as=Table;v=v1;g=meta.k8s.io";
pub const METADATA: &str = "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io";
pub const METADATA_LIST: &str = "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io";
/// A uid that no object has.
pub const OTHER_UID: &str = "00000000-0000-0000-0000-000000000000";

/// A part of the script, in a namespace of its own.
pub struct Chapter {
    pub name: &'static str,
    pub steps: Vec<Step>,
}

/// One step of the script: its title is unique in its chapter.
#[derive(Clone)]
pub struct Step {
    pub title: String,
    pub does: Does,
    pub who: Who,
    pub path: String,
    pub headers: Vec<(&'static str, String)>,
    pub body: Body,
    pub shown: Shown,
    /// Values of the answer to remember: a name and a JSON pointer.
    pub kept: Vec<(&'static str, &'static str)>,
}

/// What a step does.
#[derive(Clone)]
pub enum Does {
    /// Sends a request and records the answer.
    Request(Method),
    /// Asks again and again until the answer is as wanted; records nothing.
    Until(Wanted),
    /// Opens a watch under the name of the title.
    Open,
    /// Reads that many events of a watch and records them; `None` reads to its end.
    Events { of: &'static str, count: Option<usize> },
}

/// What is waited for.
#[derive(Clone)]
pub enum Wanted {
    /// 404.
    Gone,
    /// This status code.
    Code(u16),
    /// These values at these JSON pointers, with a 200; null also stands for an absent one.
    Fields(Vec<(&'static str, Value)>),
    /// A condition of this type with this reason or status, and these values at these JSON pointers.
    Condition(&'static str, &'static str, Vec<(&'static str, Value)>),
    /// A list of so many items.
    Items(usize),
    /// A Deployment of so many replicas whose controller has nothing left to do.
    Settled(i64),
}

/// The body of a request.
#[derive(Clone)]
pub enum Body {
    None,
    Json(Value),
    Text(String),
}

/// What is recorded of an answer beyond what always is.
#[derive(Clone, Default)]
pub struct Shown {
    /// The items of a list and the objects of a watch whole, not their names alone.
    pub whole: bool,
    /// Metadata about who owns which field.
    pub managed: bool,
    /// Resource versions, numbered in the order in which the chapter sees them.
    pub versions: bool,
    /// Consecutive events of the same type and name count as one.
    pub merged: bool,
    /// Why the message is not compared.
    pub no_message: Option<&'static str>,
    /// These JSON pointers only, for documents of which the project reads little.
    pub only: Vec<&'static str>,
}

impl Step {
    fn new(title: &str, does: Does, path: &str, body: Body) -> Step {
        Step {
            title: title.to_owned(),
            does,
            who: Who::Admin,
            path: path.to_owned(),
            headers: Vec::new(),
            body,
            shown: Shown::default(),
            kept: Vec::new(),
        }
    }

    pub fn by(mut self, who: Who) -> Step {
        self.who = who;
        self
    }

    pub fn header(mut self, name: &'static str, value: &str) -> Step {
        self.headers.retain(|(known, _)| *known != name);
        self.headers.push((name, value.to_owned()));
        self
    }

    pub fn accept(self, media: &str) -> Step {
        self.header("accept", media)
    }

    /// Instead of `application/json`.
    pub fn content_type(self, media: &str) -> Step {
        self.header("content-type", media)
    }

    pub fn whole(mut self) -> Step {
        self.shown.whole = true;
        self
    }

    pub fn managed(mut self) -> Step {
        self.shown.managed = true;
        self
    }

    pub fn versions(mut self) -> Step {
        self.shown.versions = true;
        self
    }

    pub fn merged(mut self) -> Step {
        self.shown.merged = true;
        self
    }

    pub fn no_message(mut self, reason: &'static str) -> Step {
        self.shown.no_message = Some(reason);
        self
    }

    pub fn only(mut self, pointers: &[&'static str]) -> Step {
        self.shown.only = pointers.to_vec();
        self
    }

    /// Under another title.
    pub fn titled(mut self, title: &str) -> Step {
        title.clone_into(&mut self.title);
        self
    }

    /// Remembers a value of the answer.
    pub fn keep(mut self, name: &'static str, pointer: &'static str) -> Step {
        self.kept.push((name, pointer));
        self
    }
}

/// A request with any method.
pub fn request(method: &str, title: &str, path: &str) -> Step {
    let method = Method::from_bytes(method.as_bytes()).expect("a method");
    Step::new(title, Does::Request(method), path, Body::None)
}

pub fn get(title: &str, path: &str) -> Step {
    request("GET", title, path)
}

fn with_body(method: &str, title: &str, path: &str, body: Body) -> Step {
    let mut step = request(method, title, path).content_type("application/json");
    step.body = body;
    step
}

pub fn post(title: &str, path: &str, body: Value) -> Step {
    with_body("POST", title, path, Body::Json(body))
}

pub fn put(title: &str, path: &str, body: Value) -> Step {
    with_body("PUT", title, path, Body::Json(body))
}

pub fn patch(title: &str, path: &str, media: &str, body: Value) -> Step {
    with_body("PATCH", title, path, Body::Json(body)).content_type(media)
}

pub fn merge(title: &str, path: &str, body: Value) -> Step {
    patch(title, path, MERGE, body)
}

/// A delete with options, or without any body for null.
pub fn delete(title: &str, path: &str, options: Value) -> Step {
    if options.is_null() {
        return request("DELETE", title, path);
    }
    with_body("DELETE", title, path, Body::Json(options))
}

/// A request whose body is this text.
pub fn text(method: &str, title: &str, path: &str, body: &str) -> Step {
    with_body(method, title, path, Body::Text(body.to_owned()))
}

pub fn until(title: &str, path: &str, wanted: Wanted) -> Step {
    Step::new(title, Does::Until(wanted), path, Body::None)
}

/// Waits until the controllers have nothing left to do for a Deployment, its ReplicaSets and its Pods.
pub fn settled(name: &str, replicas: i64) -> Step {
    until(
        &format!("until {name} is settled at {replicas}"),
        &format!("{{apps}}/deployments/{name}"),
        Wanted::Settled(replicas),
    )
}

pub fn gone(title: &str, path: &str) -> Step {
    until(title, path, Wanted::Gone)
}

/// Waits until so many Events about something are written: they come after what they tell of.
pub fn told(about: &str, count: usize) -> Step {
    let path = format!("{{core}}/events?fieldSelector=involvedObject.name={about}");
    until(&format!("until {count} Events tell of {about}"), &path, Wanted::Items(count))
}

/// Opens a watch, named by its title.
pub fn watch(name: &str, path: &str) -> Step {
    Step::new(name, Does::Open, path, Body::None)
}

/// Reads so many events of an open watch.
pub fn events(title: &str, of: &'static str, count: usize) -> Step {
    Step::new(title, Does::Events { of, count: Some(count) }, "", Body::None)
}

/// Reads an open watch to its end.
pub fn to_the_end(title: &str, of: &'static str) -> Step {
    Step::new(title, Does::Events { of, count: None }, "", Body::None)
}
