//! Requests and grants, written short.

use serde_json::{Value, json};
use workload_policy::{Allowed, Body, DenialRule, Denied, Engine, Grants, Media, Method, Places, Request, authorize};

pub const DEPLOYMENTS: &str = "apis/apps/v1/namespaces/default/deployments";
pub const WEB: &str = "apis/apps/v1/namespaces/default/deployments/web";
pub const SCALE: &str = "apis/apps/v1/namespaces/default/deployments/web/scale";
pub const PODS: &str = "api/v1/namespaces/default/pods";

/// An owned request.
#[derive(Debug, Clone)]
pub struct Ask {
    pub method: Method,
    pub segments: Vec<String>,
    pub query: Vec<(String, String)>,
    pub accept: Media,
    pub body: Option<(Media, Vec<u8>)>,
    pub streaming: bool,
}

impl Ask {
    /// The path is cut at every `/`, so a segment that holds one has to be put in by hand.
    pub fn new(method: Method, path: &str) -> Self {
        let segments = path.split('/').map(String::from).collect();
        Self { method, segments, query: vec![], accept: Media::Json, body: None, streaming: false }
    }

    pub fn get(path: &str) -> Self {
        Self::new(Method::Get, path)
    }

    pub fn watch(path: &str) -> Self {
        Self { streaming: true, ..Self::get(path).query("watch", "true") }
    }

    pub fn create(document: &Value) -> Self {
        Self::new(Method::Post, DEPLOYMENTS).body(Media::Json, document.to_string())
    }

    pub fn scale(patch: &Value) -> Self {
        Self::new(Method::Patch, SCALE).body(Media::MergePatch, patch.to_string())
    }

    pub fn delete(options: &Value) -> Self {
        Self::new(Method::Delete, WEB).body(Media::Json, options.to_string())
    }

    pub fn query(mut self, key: &str, value: &str) -> Self {
        self.query.push((key.into(), value.into()));
        self
    }

    pub fn body(mut self, media: Media, bytes: impl Into<Vec<u8>>) -> Self {
        self.body = Some((media, bytes.into()));
        self
    }

    pub fn accept(mut self, media: Media) -> Self {
        self.accept = media;
        self
    }

    pub fn decide(&self, grants: &Grants) -> Result<Allowed, Denied> {
        let body = self.body.as_ref().map(|(media, bytes)| Body { media: *media, bytes });
        let Self { method, segments, query, accept, streaming, .. } = self;
        let request = Request { method: *method, segments, query, accept: *accept, body, streaming: *streaming };
        authorize(grants, &request)
    }

    /// The rule by which it is denied.
    pub fn denied(&self, grants: &Grants) -> DenialRule {
        self.decide(grants).expect_err("must be denied").rule()
    }

    /// The body that would be sent.
    pub fn sent(&self, grants: &Grants) -> Value {
        let body = self.decide(grants).expect("must be allowed").body.expect("a body");
        serde_json::from_slice(&body).expect("canonical JSON")
    }
}

/// What an operator gives who thinks of nothing in particular, in one namespace.
pub fn usual() -> Grants {
    Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only(["default"])).expect("valid")
}

/// The usual ones and these words.
pub fn usual_and(words: &[&str]) -> Grants {
    let all: Vec<&str> = ["*"].into_iter().chain(words.iter().copied()).collect();
    Grants::new(Engine::Kubernetes, &all, &all, Places::only(["default"])).expect("valid")
}

/// Every word there is, by name, in all namespaces: what is denied now is denied always.
pub fn everything() -> Grants {
    only(&Engine::Kubernetes.words().map(|word| word.word).collect::<Vec<_>>())
}

/// Exactly these words, in all namespaces.
pub fn only(words: &[&str]) -> Grants {
    Grants::new(Engine::Kubernetes, words, words, Places::All).expect("valid")
}

/// The least that can be created.
pub fn deployment() -> Value {
    json!({
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "namespace": "default",
            "labels": {"workload-provider/managed": "true", "workload-provider/id": "default.web"},
            "annotations": {"workload-provider/attempt": "a1"},
        },
        "spec": {
            "replicas": 1,
            "selector": {"matchLabels": {"workload-provider/id": "default.web"}},
            "template": {
                "metadata": {"labels": {"workload-provider/id": "default.web"}},
                "spec": {
                    "automountServiceAccountToken": false,
                    "containers": [{"name": "main", "image": "registry.example/web:1"}],
                },
            },
        },
    })
}

/// The document with `value` at a place, written as in a denial (`spec.template.spec.volumes[0].name`); what is missing
/// on the way is made.
pub fn with(mut document: Value, place: &str, value: Value) -> Value {
    let mut at = &mut document;
    for step in place.split('.') {
        let (key, index) = match step.strip_suffix(']').and_then(|s| s.split_once('[')) {
            Some((key, index)) => (key, Some(index.parse::<usize>().expect("an index"))),
            None => (step, None),
        };
        at = at.as_object_mut().expect("an object").entry(key).or_insert_with(|| match index {
            Some(_) => json!([]),
            None => json!({}),
        });
        if let Some(index) = index {
            let items = at.as_array_mut().expect("a list");
            while items.len() <= index {
                items.push(json!({}));
            }
            at = &mut items[index];
        }
    }
    *at = value;
    document
}
