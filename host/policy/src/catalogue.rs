//! The catalogue of an engine's operations: what can be granted at all. Each engine is a table of its own.

mod kubernetes;

use crate::denied::{DenialRule, Denied};
use crate::fields::Rule;
use crate::names;
use crate::query::Key;
use crate::request::{Media, Method, Request};

/// An engine that has a catalogue.
///
/// ```
/// use workload_policy::Engine;
///
/// let engine = Engine::from_name("kubernetes").unwrap();
/// assert_eq!(engine, Engine::Kubernetes);
/// assert_eq!(Engine::from_name("podman"), None);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Engine {
    /// The API server of a Kubernetes cluster.
    Kubernetes,
}

impl Engine {
    /// The engine that a provider's descriptor or a configuration names so.
    ///
    /// ```
    /// assert!(workload_policy::Engine::from_name("Kubernetes").is_none()); // exactly, in lower case
    /// ```
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        [Self::Kubernetes].into_iter().find(|engine| engine.name() == name)
    }

    /// Its name.
    ///
    /// ```
    /// assert_eq!(workload_policy::Engine::Kubernetes.name(), "kubernetes");
    /// ```
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Kubernetes => "kubernetes",
        }
    }

    /// Every operation that it has here, from which permissions are derived.
    ///
    /// ```
    /// use workload_policy::Engine;
    ///
    /// let scale = Engine::Kubernetes.operations().iter().find(|o| o.word() == "deployments/scale:patch").unwrap();
    /// assert!(scale.write() && !scale.safe_to_repeat());
    /// ```
    #[must_use]
    pub const fn operations(self) -> &'static [Operation] {
        match self {
            Self::Kubernetes => kubernetes::OPERATIONS,
        }
    }

    /// Every grant for a dangerous field of a body.
    ///
    /// ```
    /// use workload_policy::Engine;
    ///
    /// assert!(Engine::Kubernetes.field_grants().iter().any(|g| g.word() == "pod:host-path"));
    /// ```
    #[must_use]
    pub const fn field_grants(self) -> &'static [FieldGrant] {
        match self {
            Self::Kubernetes => kubernetes::FIELD_GRANTS,
        }
    }

    /// Every word that can be granted, operations first.
    ///
    /// ```
    /// use workload_policy::Engine;
    ///
    /// for word in Engine::Kubernetes.words() {
    ///     println!("{:<28} {}", word.word, word.sentence);
    ///     assert!(!word.sentence.is_empty());
    /// }
    /// ```
    pub fn words(self) -> impl Iterator<Item = Word> {
        let operations =
            self.operations().iter().map(|o| Word { word: o.word, sentence: o.sentence, dangerous: o.dangerous });
        let fields = self.field_grants().iter().map(|g| Word { word: g.word, sentence: g.sentence, dangerous: true });
        operations.chain(fields)
    }

    /// The operation that a request is, with its place in the table.
    pub(crate) fn find(self, request: &Request<'_>) -> Result<(usize, &'static Operation), Denied> {
        // Of several near misses the nearest is told: the method is wrong only if no other method would do.
        let mut near = DenialRule::UnknownOperation;
        for (index, operation) in self.operations().iter().enumerate() {
            if !operation.has_path(request.segments) {
                continue;
            }
            if operation.method != request.method {
                if near == DenialRule::UnknownOperation {
                    near = DenialRule::Method;
                }
            } else if operation.streaming != request.streaming {
                near = DenialRule::Streaming;
            } else {
                return Ok((index, operation));
            }
        }
        Err(Denied::new(near, format!("{} with {} segments", request.method.as_str(), request.segments.len())))
    }
}

/// A word that can be granted.
///
/// ```
/// use workload_policy::Engine;
///
/// let word = Engine::Kubernetes.words().find(|w| w.word == "pods:list").unwrap();
/// assert!(!word.dangerous);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// As it is written in a configuration.
    pub word: &'static str,
    /// What it allows, in a sentence.
    pub sentence: &'static str,
    /// Never part of a wildcard.
    pub dangerous: bool,
}

/// A grant for a field of a body that is not simply allowed. All are dangerous: none is ever part of a wildcard.
///
/// ```
/// use workload_policy::Engine;
///
/// let grant = &Engine::Kubernetes.field_grants()[0];
/// assert!(grant.word().starts_with("pod:"));
/// assert!(!grant.sentence().is_empty());
/// ```
#[derive(Debug)]
pub struct FieldGrant {
    word: &'static str,
    sentence: &'static str,
}

impl FieldGrant {
    /// As it is written in a configuration.
    ///
    /// ```
    /// # let grant = &workload_policy::Engine::Kubernetes.field_grants()[0];
    /// assert_eq!(grant.word(), "pod:privileged");
    /// ```
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.word
    }

    /// What it allows, in a sentence.
    ///
    /// ```
    /// # let grant = &workload_policy::Engine::Kubernetes.field_grants()[0];
    /// assert!(grant.sentence().contains("privileged"));
    /// ```
    #[must_use]
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }
}

/// One part of a path.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Part {
    /// Exactly this word.
    Fixed(&'static str),
    /// A namespace, which must be configured.
    Place,
    /// The name of an object: a DNS subdomain. Another engine's names get a part of their own.
    Name,
}

pub(crate) type Path = &'static [Part];

/// An operation of the catalogue: how its requests look, and what they mean to the engine's own permissions.
///
/// ```
/// use workload_policy::{Engine, Method};
///
/// let create = Engine::Kubernetes.operations().iter().find(|o| o.word() == "deployments:create").unwrap();
/// assert_eq!(create.method(), Method::Post);
/// let rbac = create.rbac();
/// assert_eq!((rbac.api_group, rbac.resource, rbac.verb), ("apps", "deployments", "create"));
/// ```
#[derive(Debug)]
pub struct Operation {
    word: &'static str,
    sentence: &'static str,
    method: Method,
    streaming: bool,
    dangerous: bool,
    rbac: Rbac,
    paths: &'static [Path],
    query: &'static [Key],
    accept: &'static [Media],
    body: Option<(Media, &'static Rule)>,
}

/// What the engine's own access control calls an operation.
///
/// ```
/// use workload_policy::Engine;
///
/// let scale = Engine::Kubernetes.operations().iter().find(|o| o.word() == "deployments/scale:get").unwrap();
/// assert_eq!(scale.rbac().subresource, Some("scale"));
/// assert!(scale.rbac().namespaced);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rbac {
    /// The API group; empty for the core group.
    pub api_group: &'static str,
    /// The resource, in the plural.
    pub resource: &'static str,
    /// The part of it.
    pub subresource: Option<&'static str>,
    /// The verb.
    pub verb: &'static str,
    /// Whether its objects live in a namespace.
    pub namespaced: bool,
}

impl Operation {
    /// As it is written in a configuration and in records.
    ///
    /// ```
    /// # let operation = &workload_policy::Engine::Kubernetes.operations()[0];
    /// assert_eq!(operation.word(), "deployments:get");
    /// ```
    #[must_use]
    pub const fn word(&self) -> &'static str {
        self.word
    }

    /// What it allows, in a sentence.
    ///
    /// ```
    /// # let operation = &workload_policy::Engine::Kubernetes.operations()[0];
    /// assert_eq!(operation.sentence(), "read one Deployment");
    /// ```
    #[must_use]
    pub const fn sentence(&self) -> &'static str {
        self.sentence
    }

    /// The method of its requests.
    ///
    /// ```
    /// # use workload_policy::{Engine, Method};
    /// assert_eq!(Engine::Kubernetes.operations()[0].method(), Method::Get);
    /// ```
    #[must_use]
    pub const fn method(&self) -> Method {
        self.method
    }

    /// Whether its answer comes in parts.
    ///
    /// ```
    /// # use workload_policy::Engine;
    /// assert!(Engine::Kubernetes.operations().iter().filter(|o| o.streaming()).all(|o| o.rbac().verb == "watch"));
    /// ```
    #[must_use]
    pub const fn streaming(&self) -> bool {
        self.streaming
    }

    /// Whether it must be granted by name: no wildcard includes it.
    ///
    /// ```
    /// # use workload_policy::Engine;
    /// assert!(!Engine::Kubernetes.operations()[0].dangerous());
    /// ```
    #[must_use]
    pub const fn dangerous(&self) -> bool {
        self.dangerous
    }

    /// Whether it changes something.
    ///
    /// ```
    /// # use workload_policy::{Engine, Method};
    /// assert!(Engine::Kubernetes.operations().iter().all(|o| o.write() == (o.method() != Method::Get)));
    /// ```
    #[must_use]
    pub const fn write(&self) -> bool {
        // No operation of Kubernetes changes anything by GET, except those that are not in the catalogue (exec, proxy).
        !matches!(self.method, Method::Get)
    }

    /// Whether it may be sent again when it is not known how it ended. Reads only: a write that was applied may meet
    /// another object the second time, so that its provider has to look first.
    ///
    /// ```
    /// # use workload_policy::Engine;
    /// let delete = Engine::Kubernetes.operations().iter().find(|o| o.word() == "deployments:delete").unwrap();
    /// assert!(!delete.safe_to_repeat());
    /// ```
    #[must_use]
    pub const fn safe_to_repeat(&self) -> bool {
        !self.write()
    }

    /// What the engine's own access control calls it.
    ///
    /// ```
    /// # use workload_policy::Engine;
    /// assert_eq!(Engine::Kubernetes.operations()[0].rbac().api_group, "apps");
    /// ```
    #[must_use]
    pub const fn rbac(&self) -> &Rbac {
        &self.rbac
    }

    pub(crate) fn query(&self) -> &'static [Key] {
        self.query
    }

    pub(crate) fn accepts(&self, media: Media) -> bool {
        self.accept.contains(&media)
    }

    pub(crate) fn body(&self) -> Option<(Media, &'static Rule)> {
        self.body
    }

    fn has_path(&self, segments: &[String]) -> bool {
        self.paths.iter().any(|path| fits(path, segments))
    }

    /// The namespace of a request that has this operation's path. Names are checked here, after the shape, so that a denial
    /// can say which segment is not the name that it should be.
    pub(crate) fn place<'r>(&self, segments: &'r [String]) -> Result<Option<&'r str>, Denied> {
        let mut place = None;
        let path = self.paths.iter().find(|path| fits(path, segments)).copied().unwrap_or_default();
        for (index, (part, segment)) in path.iter().zip(segments).enumerate() {
            let good = match part {
                Part::Fixed(_) => true,
                Part::Place => {
                    place = Some(segment.as_str());
                    names::is_label(segment)
                }
                Part::Name => names::is_subdomain(segment),
            };
            if !good {
                return Err(Denied::new(DenialRule::Segment, format!("segment {index} is not a Kubernetes name")));
            }
        }
        Ok(place)
    }
}

/// Whether the segments have the path's shape: as many, and its fixed words exactly.
fn fits(path: Path, segments: &[String]) -> bool {
    path.len() == segments.len()
        && path.iter().zip(segments).all(|(part, segment)| match part {
            Part::Fixed(word) => word == segment,
            Part::Place | Part::Name => true,
        })
}
