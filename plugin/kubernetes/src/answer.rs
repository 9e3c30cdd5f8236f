//! What an HTTP answer means. The code is the one of the answer, never one within a body, and only a proper `Status`
//! for exactly the object asked for says that it is missing.

mod quote;

use workload_guest::{Failure, Fault, FaultKind, Response, fault};

use crate::api::{Malformed, ServerStatus};
use crate::id::Target;
use crate::request::Resource;
use crate::time::span;

pub use quote::{Refusal, printed, quoted};

/// A request in words: what its answer is held against, and what a fault names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Action {
    verb: &'static str,
    resource: &'static str,
    namespace: Option<String>,
    name: Option<String>,
}

impl Action {
    /// Something done to one Deployment.
    #[must_use]
    pub fn on(verb: &'static str, target: &Target) -> Self {
        Self {
            verb,
            resource: Resource::Deployments.word(),
            namespace: Some(target.namespace.clone()),
            name: Some(target.name.clone()),
        }
    }

    /// A write to a Deployment's count.
    #[must_use]
    pub fn scale(target: &Target) -> Self {
        Self { resource: "deployments/scale", ..Self::on("patch", target) }
    }

    /// A new Deployment.
    #[must_use]
    pub fn create(namespace: &str) -> Self {
        Self {
            verb: "create",
            resource: Resource::Deployments.word(),
            namespace: Some(namespace.to_owned()),
            name: None,
        }
    }

    /// An edit of a Deployment itself.
    #[must_use]
    pub fn patch(target: &Target) -> Self {
        Self::on("patch", target)
    }

    /// A list. No namespace: of all.
    #[must_use]
    pub fn list(resource: Resource, namespace: Option<&str>) -> Self {
        Self { verb: "list", resource: resource.word(), namespace: namespace.map(str::to_owned), name: None }
    }

    fn place(&self) -> String {
        match &self.namespace {
            Some(namespace) => format!("in namespace {namespace}"),
            None => "in all namespaces".to_owned(),
        }
    }

    /// As a permission: what is done, to what, and where.
    #[must_use]
    pub fn permission(&self) -> String {
        format!("{} {} {}", self.verb, self.resource, self.place())
    }

    fn what(&self) -> String {
        match (&self.namespace, &self.name) {
            (Some(namespace), Some(name)) => format!("{} {} {namespace}/{name}", self.verb, self.resource),
            _ => self.permission(),
        }
    }
}

/// Why there is no usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// A proper 404 for exactly this object.
    Missing,
    /// A proper 404 for the namespace in which something was to be made.
    NoNamespace,
    /// 401.
    Unauthorized,
    /// 403, by permission, quota or policy; the words of the server if they say more.
    Forbidden(Option<Refusal>),
    /// 403, because the namespace is being deleted.
    Terminating,
    /// 409: it changed, or is another object than the one named.
    Conflict,
    /// 409: there is one already.
    Exists,
    /// 410, or a watch or a page whose version is too old.
    Expired,
    /// 422, and some 400: the fields that are wrong, or the policy they offend.
    Invalid(Refusal),
    /// 429.
    Throttled,
    /// No connection, no answer in time, or 5xx.
    Unreachable,
    /// 3xx, a 404 that is no Status for this object, a wrong or cut body.
    Malformed,
    /// The host does not allow it.
    Denied,
    /// The host cannot do it.
    Unsupported,
    /// A stop came first.
    Cancelled,
}

/// A request that had no usable answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trouble {
    /// What kind of no.
    pub class: Class,
    /// The answer's code, if there was an answer.
    pub code: Option<u16>,
    /// When to come back, if the server said so.
    pub retry_after_ms: Option<u64>,
    /// Nothing was sent, or the server refused before it did anything.
    pub nothing_done: bool,
    /// Boxed: a trouble is handed up through many results.
    action: Box<Action>,
}

/// Takes an answer apart: what was wanted, or why not.
///
/// # Errors
/// Whatever is no 2xx.
pub fn classify(action: &Action, answer: Result<Response, Failure>) -> Result<Response, Trouble> {
    let response = match answer {
        Ok(response) if (200..300).contains(&response.status) => return Ok(response),
        Ok(response) => response,
        Err(failure) => return Err(failed(action, failure)),
    };
    let status = ServerStatus::decode(&response.bytes);
    let class = match (response.status, &status) {
        (401, _) => Class::Unauthorized,
        (403, Some(status)) if status.details.causes.iter().any(|cause| cause.reason == "NamespaceTerminating") => {
            Class::Terminating
        }
        (403, Some(status)) => Class::Forbidden(Refusal::of(&status.message)),
        (403, None) => Class::Forbidden(None),
        (404, Some(status)) => not_found(action, status),
        (409, Some(status)) if status.reason == "AlreadyExists" => Class::Exists,
        (409, Some(_)) => Class::Conflict,
        (410, _) => Class::Expired,
        // Another object of the same name: https://kubernetes.io/docs/reference/using-api/api-concepts/ has it as
        // 409 or 422, by resource.
        (422, Some(status)) if status.details.causes.iter().any(|cause| cause.field == "metadata.uid") => {
            Class::Conflict
        }
        (400 | 422, Some(status)) => {
            Class::Invalid(Refusal::of(&status.message).unwrap_or_else(|| Refusal::of_fields(status)))
        }
        (429, _) => Class::Throttled,
        (408 | 500..=599, _) => Class::Unreachable,
        _ => Class::Malformed,
    };
    let told = status.as_ref().map(|status| u64::from(status.details.retry_after_seconds) * 1000);
    Err(Trouble {
        nothing_done: matches!(response.status, 400 | 401 | 403 | 405 | 406 | 409 | 413 | 415 | 422 | 429),
        class,
        code: Some(response.status),
        retry_after_ms: response.retry_after_ms.or(told.filter(|&ms| ms > 0)),
        action: Box::new(action.clone()),
    })
}

fn failed(action: &Action, failure: Failure) -> Trouble {
    let class = match failure {
        Failure::Timeout | Failure::Unreachable | Failure::Lost | Failure::StoreFailed => Class::Unreachable,
        Failure::TooLarge | Failure::RedirectRefused | Failure::BadResponse => Class::Malformed,
        Failure::Denied => Class::Denied,
        Failure::Unsupported => Class::Unsupported,
        Failure::Cancelled => Class::Cancelled,
    };
    let nothing_done =
        matches!(failure, Failure::Denied | Failure::Unreachable | Failure::Unsupported | Failure::Cancelled);
    Trouble { class, code: None, retry_after_ms: None, nothing_done, action: Box::new(action.clone()) }
}

fn not_found(action: &Action, status: &ServerStatus<'_>) -> Class {
    let details = &status.details;
    if status.reason != "NotFound" {
        return Class::Malformed;
    }
    match (&action.name, &action.namespace) {
        (Some(name), _) if details.kind == Resource::Deployments.word() && details.name == name.as_str() => {
            Class::Missing
        }
        (None, Some(namespace))
            if action.verb == "create" && details.kind == "namespaces" && details.name == namespace.as_str() =>
        {
            Class::NoNamespace
        }
        _ => Class::Malformed,
    }
}

impl Trouble {
    /// An answer whose body is not what it must be.
    #[must_use]
    pub fn malformed(action: &Action, code: u16) -> Self {
        Self {
            class: Class::Malformed,
            code: Some(code),
            retry_after_ms: None,
            nothing_done: false,
            action: Box::new(action.clone()),
        }
    }

    /// A proper 404 for exactly this object.
    #[must_use]
    pub fn missing(action: &Action) -> Self {
        Self { class: Class::Missing, code: Some(404), ..Self::malformed(action, 404) }
    }

    /// More than can be kept.
    #[must_use]
    pub fn too_large(action: &Action) -> Self {
        failed(action, Failure::TooLarge)
    }

    /// A read that a stop ended before it was answered.
    #[must_use]
    pub fn cancelled(action: &Action) -> Self {
        failed(action, Failure::Cancelled)
    }

    /// The reason of a workload's status when this is why it is not known. None: the operation failed for a reason
    /// that says nothing about the workload.
    #[must_use]
    pub fn reason(&self) -> Option<&'static str> {
        Some(match self.class {
            Class::Unauthorized => "unauthorized",
            Class::Forbidden(_) | Class::Terminating => "forbidden",
            Class::Throttled => "throttled",
            Class::Unreachable => "unreachable",
            Class::Malformed | Class::Expired | Class::Conflict | Class::Exists | Class::Invalid(_) => "malformed",
            Class::NoNamespace | Class::Missing | Class::Denied | Class::Unsupported | Class::Cancelled => return None,
        })
    }

    /// Asking again may help.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(self.class, Class::Throttled | Class::Unreachable | Class::Malformed | Class::Expired)
    }

    /// By the server's permissions or the host's: whatever happens, this will not be read.
    #[must_use]
    pub fn is_not_allowed(&self) -> bool {
        matches!(self.class, Class::Forbidden(_) | Class::Denied)
    }

    /// A write that may have taken effect.
    #[must_use]
    pub fn is_uncertain(&self) -> bool {
        !self.nothing_done && matches!(self.class, Class::Unreachable | Class::Malformed | Class::Expired)
    }

    /// Takes what may repeat one of these values out of the words. They are only asked for if there is a need.
    pub fn withhold(&mut self, values: impl FnOnce() -> Option<Vec<String>>) {
        match &mut self.class {
            Class::Forbidden(Some(refusal)) | Class::Invalid(refusal) if refusal.is_foreign() => {
                refusal.withhold(values().as_deref());
            }
            _ => {}
        }
    }

    /// What a fault that ends with this trouble tells besides its message, as name and value.
    #[must_use]
    pub fn known(&self) -> Vec<(&'static str, String)> {
        let mut known: Vec<(&'static str, String)> = Vec::new();
        known.extend(self.reason().map(|reason| ("reason", reason.to_owned())));
        known.extend(self.code.map(|code| ("code", code.to_string())));
        known.extend(self.retry_after_ms.map(|ms| ("retry-after", span(ms))));
        known
    }

    /// The permission that is missing, in words.
    #[must_use]
    pub fn permission(&self) -> String {
        self.action.permission()
    }

    /// In words, for a message that goes on to say more.
    #[must_use]
    pub fn words(&self) -> String {
        let what = self.action.what();
        let place = self.action.place();
        match &self.class {
            Class::Missing => format!("there is no Deployment {}", self.action.name.as_deref().unwrap_or_default()),
            Class::NoNamespace => {
                format!("there is no namespace {}", self.action.namespace.as_deref().unwrap_or_default())
            }
            Class::Unauthorized => format!("cannot {what}: the credentials were not accepted"),
            Class::Forbidden(Some(words)) => format!("cannot {what}: {words}"),
            Class::Forbidden(None) => {
                format!("not allowed to {} {} {place}", self.action.verb, self.action.resource)
            }
            Class::Terminating => {
                format!(
                    "cannot {what}: namespace {} is being deleted",
                    self.action.namespace.as_deref().unwrap_or_default()
                )
            }
            Class::Conflict => format!("cannot {what}: it was changed at the same time"),
            Class::Exists => format!("cannot {what}: there is one already"),
            Class::Expired => format!("cannot {what}: the version asked for is too old"),
            Class::Invalid(fields) => format!("cannot {what}: the server finds it invalid: {fields}"),
            Class::Throttled => match self.retry_after_ms {
                Some(ms) => {
                    format!("cannot {what}: the server has too much to do and asks to come back in {}", span(ms))
                }
                None => format!("cannot {what}: the server has too much to do"),
            },
            Class::Unreachable => match self.code {
                Some(code) => format!("cannot {what}: the server answered with {code}"),
                None => format!("cannot {what}: no answer from the server"),
            },
            Class::Malformed => match self.code {
                Some(code) => format!("cannot {what}: the answer ({code}) is not what a Kubernetes API server says"),
                None => format!("cannot {what}: the answer cannot be used"),
            },
            Class::Denied => format!("cannot {what}: the host's policy does not allow it"),
            Class::Unsupported => format!("cannot {what}: the host cannot do that"),
            Class::Cancelled => format!("cannot {what}: cancelled"),
        }
    }

    /// As the end of an operation.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let kind = match self.class {
            Class::Missing | Class::NoNamespace => FaultKind::NotFound,
            Class::Unauthorized => FaultKind::Unauthorized,
            Class::Forbidden(_) | Class::Terminating => FaultKind::Forbidden,
            Class::Conflict | Class::Exists => FaultKind::Conflict,
            Class::Invalid(_) if self.action.verb == "create" => FaultKind::InvalidSpec,
            Class::Invalid(_) => FaultKind::Malformed,
            Class::Throttled | Class::Unreachable => FaultKind::Unavailable,
            Class::Expired | Class::Malformed => FaultKind::Malformed,
            Class::Denied => FaultKind::Denied,
            Class::Unsupported => FaultKind::Unsupported,
            Class::Cancelled => FaultKind::Cancelled,
        };
        let mut fault = self.known().into_iter().fold(fault(kind, self.words()), |fault, (name, value)| {
            // A code is the last detail, behind what it is about.
            if name == "code" { fault } else { fault.with(name, value) }
        });
        if matches!(self.class, Class::Forbidden(_)) {
            fault = fault.with("verb", self.action.verb).with("resource", self.action.resource);
            if let Some(namespace) = &self.action.namespace {
                fault = fault.with("namespace", namespace);
            }
        }
        match self.code {
            Some(code) => fault.with("code", code),
            None => fault,
        }
    }
}

/// Reads a body of a successful answer.
///
/// # Errors
/// It is not what it must be.
pub fn body<T>(action: &Action, code: u16, decoded: Result<T, Malformed>) -> Result<T, Trouble> {
    decoded.map_err(|Malformed| Trouble::malformed(action, code))
}

#[cfg(test)]
mod tests;
