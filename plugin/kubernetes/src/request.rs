//! Every request this provider makes.

use serde::Serialize;
use serde_json::json;
use workload_guest::{Body, Media, Method, Request};

use crate::api::Selector;
use crate::id::Target;

/// Objects on a page of a list.
const PAGE_SIZE: &str = "500";

/// Seconds after which the server ends a watch. Below the 300 that proxies and load balancers like to allow.
const WATCH_SECONDS: &str = "290";

/// What a kind of object is called in paths and permissions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Resource {
    /// Deployments.
    Deployments,
    /// ReplicaSets.
    ReplicaSets,
    /// Pods.
    Pods,
    /// What was done about them, and what went wrong.
    Events,
}

impl Resource {
    /// In paths, permissions and messages.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Deployments => "deployments",
            Self::ReplicaSets => "replicasets",
            Self::Pods => "pods",
            Self::Events => "events",
        }
    }

    /// In objects.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Deployments => "Deployment",
            Self::ReplicaSets => "ReplicaSet",
            Self::Pods => "Pod",
            Self::Events => "Event",
        }
    }

    fn group(self) -> &'static [&'static str] {
        match self {
            Self::Deployments | Self::ReplicaSets => &["apis", "apps", "v1"],
            Self::Pods | Self::Events => &["api", "v1"],
        }
    }
}

/// One Deployment.
#[must_use]
pub fn get(target: &Target) -> Request {
    plain(Method::Get, one(target), Vec::new())
}

/// Which objects of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Which<'a> {
    /// Those with these labels; with none given, all.
    Labels(&'a str),
    /// What is reported about the object of this uid.
    About(&'a str),
}

/// A page of a list. No namespace: of all.
#[must_use]
pub fn list(resource: Resource, namespace: Option<&str>, which: Which<'_>, next: &str) -> Request {
    let about;
    let mut query = vec![("limit", PAGE_SIZE)];
    match which {
        Which::Labels("") => {}
        Which::Labels(selector) => query.push(("labelSelector", selector)),
        Which::About(uid) => {
            about = format!("involvedObject.uid={uid}");
            query.push(("fieldSelector", &about));
        }
    }
    if !next.is_empty() {
        query.push(("continue", next));
    }
    plain(Method::Get, collection(resource, namespace), query)
}

/// What a watch is of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// One Deployment.
    One(Target),
    /// Those of a namespace, or of all, that have these labels.
    Labelled(Option<String>, String),
}

/// Changes of Deployments since a version that was read; without one, what there is now and then its changes.
#[must_use]
pub fn watch(watched: &Watched, resource_version: Option<&str>) -> Request {
    let name;
    let (namespace, selector) = match watched {
        Watched::One(target) => {
            name = format!("metadata.name={}", target.name);
            (Some(&*target.namespace), ("fieldSelector", &*name))
        }
        Watched::Labelled(namespace, labels) => (namespace.as_deref(), ("labelSelector", &**labels)),
    };
    let mut query = vec![("watch", "true"), ("allowWatchBookmarks", "true"), ("timeoutSeconds", WATCH_SECONDS)];
    query.extend(resource_version.map(|version| ("resourceVersion", version)));
    query.push(selector);
    let mut request = plain(Method::Get, collection(Resource::Deployments, namespace), query);
    request.streaming = true;
    request
}

/// A new Deployment.
#[must_use]
pub fn create(namespace: &str, body: Vec<u8>) -> Request {
    let segments = collection(Resource::Deployments, Some(namespace));
    with_body(Method::Post, segments, Media::Json, body)
}

/// Asks for another count, of exactly this object, and on request only if it is still as it was read.
#[must_use]
pub fn scale(target: &Target, uid: &str, resource_version: Option<&str>, replicas: u32) -> Request {
    #[derive(Serialize)]
    struct Patch<'a> {
        metadata: Precondition<'a>,
        spec: Spec,
    }

    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Precondition<'a> {
        uid: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        resource_version: Option<&'a str>,
    }

    #[derive(Serialize)]
    struct Spec {
        // Always sent, also when it is zero: an absent count means zero on a scale, but nobody should have to know.
        replicas: u32,
    }

    let mut segments = one(target);
    segments.push("scale".to_owned());
    let patch = Patch { metadata: Precondition { uid, resource_version }, spec: Spec { replicas } };
    with_body(Method::Patch, segments, Media::MergePatch, serialize(&patch))
}

/// Edits one annotation of exactly this object as it was read, which changes nothing of what is wanted.
#[must_use]
pub fn annotate(target: &Target, uid: &str, resource_version: &str, key: &str, value: &str) -> Request {
    let metadata = json!({ "uid": uid, "resourceVersion": resource_version, "annotations": { key: value } });
    let patch = serialize(&json!({ "metadata": metadata }));
    with_body(Method::Patch, one(target), Media::MergePatch, patch)
}

/// Deletes exactly this object, and its ReplicaSets and Pods before it.
#[must_use]
pub fn delete(target: &Target, uid: &str) -> Request {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Options<'a> {
        kind: &'a str,
        api_version: &'a str,
        // Always sent: the server's default leaves the Pods running behind.
        propagation_policy: &'a str,
        preconditions: Preconditions<'a>,
    }

    #[derive(Serialize)]
    struct Preconditions<'a> {
        uid: &'a str,
    }

    let options = Options {
        kind: "DeleteOptions",
        api_version: "v1",
        propagation_policy: "Foreground",
        preconditions: Preconditions { uid },
    };
    with_body(Method::Delete, one(target), Media::Json, serialize(&options))
}

/// A selector in the words of a query. None: it says something this provider does not know, so that nothing must be
/// concluded from what it does not find.
#[must_use]
pub fn selector(selector: &Selector<'_>) -> Option<String> {
    let mut parts: Vec<String> = selector.match_labels.iter().map(|(key, value)| format!("{key}={value}")).collect();
    for requirement in &selector.match_expressions {
        let key = &requirement.key;
        let values = || {
            let mut values: Vec<&str> = requirement.values.iter().map(|value| &**value).collect();
            values.sort_unstable();
            values.join(",")
        };
        parts.push(match &*requirement.operator {
            "In" => format!("{key} in ({})", values()),
            "NotIn" => format!("{key} notin ({})", values()),
            "Exists" => key.to_string(),
            "DoesNotExist" => format!("!{key}"),
            _ => return None,
        });
    }
    parts.sort_unstable();
    Some(parts.join(","))
}

/// A body of ours is maps of strings and numbers, which always serialise.
pub(crate) fn serialize<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

fn collection(resource: Resource, namespace: Option<&str>) -> Vec<String> {
    let mut segments: Vec<String> = resource.group().iter().map(|&part| part.to_owned()).collect();
    if let Some(namespace) = namespace {
        segments.extend(["namespaces".to_owned(), namespace.to_owned()]);
    }
    segments.push(resource.word().to_owned());
    segments
}

fn one(target: &Target) -> Vec<String> {
    let mut segments = collection(Resource::Deployments, Some(&target.namespace));
    segments.push(target.name.clone());
    segments
}

fn plain(method: Method, segments: Vec<String>, query: Vec<(&str, &str)>) -> Request {
    let query = query.into_iter().map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
    Request { method, segments, query, accept: Media::Json, body: None, streaming: false }
}

fn with_body(method: Method, segments: Vec<String>, media: Media, bytes: Vec<u8>) -> Request {
    Request { body: Some(Body { media, bytes }), ..plain(method, segments, Vec::new()) }
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    fn path(request: &Request) -> String {
        request.segments.join("/")
    }

    fn query(request: &Request) -> String {
        let pairs: Vec<String> = request.query.iter().map(|(key, value)| format!("{key}={value}")).collect();
        pairs.join("&")
    }

    fn body(request: &Request) -> &str {
        std::str::from_utf8(&request.body.as_ref().unwrap().bytes).unwrap()
    }

    fn web() -> Target {
        Target::parse("default/web").unwrap()
    }

    #[test]
    fn one_deployment_is_read_without_a_version() {
        let request = get(&web());
        assert_eq!(path(&request), "apis/apps/v1/namespaces/default/deployments/web");
        assert!(request.query.is_empty() && request.body.is_none() && !request.streaming);
    }

    #[rstest]
    #[case::all(Resource::Deployments, None, "a=b", "", "apis/apps/v1/deployments", "limit=500&labelSelector=a=b")]
    #[case::one(Resource::Pods, Some("prod"), "", "", "api/v1/namespaces/prod/pods", "limit=500")]
    #[case::next(
        Resource::ReplicaSets,
        Some("prod"),
        "a=b",
        "token",
        "apis/apps/v1/namespaces/prod/replicasets",
        "limit=500&labelSelector=a=b&continue=token"
    )]
    fn lists(
        #[case] resource: Resource,
        #[case] namespace: Option<&str>,
        #[case] labels: &str,
        #[case] next: &str,
        #[case] want_path: &str,
        #[case] want_query: &str,
    ) {
        let request = list(resource, namespace, Which::Labels(labels), next);
        assert_eq!((path(&request), query(&request)), (want_path.to_owned(), want_query.to_owned()));
    }

    #[test]
    fn events_are_those_of_one_object() {
        let request = list(Resource::Events, Some("prod"), Which::About("u"), "");
        assert_eq!(path(&request), "api/v1/namespaces/prod/events");
        assert_eq!(query(&request), "limit=500&fieldSelector=involvedObject.uid=u");
    }

    #[test]
    fn an_annotation_is_all_that_is_edited() {
        let request = annotate(&web(), "u", "7", "w/nudged", "2026-01-01T00:00:00Z");
        assert_eq!(path(&request), "apis/apps/v1/namespaces/default/deployments/web");
        assert_eq!((request.method, request.body.as_ref().unwrap().media), (Method::Patch, Media::MergePatch));
        let want =
            r#"{"metadata":{"annotations":{"w/nudged":"2026-01-01T00:00:00Z"},"resourceVersion":"7","uid":"u"}}"#;
        assert_eq!(body(&request), want);
    }

    #[rstest]
    #[case::one(Watched::One(web()), "fieldSelector=metadata.name=web")]
    #[case::several(Watched::Labelled(Some("default".into()), "a=b".into()), "labelSelector=a=b")]
    fn watches(#[case] watched: Watched, #[case] selector: &str) {
        let request = watch(&watched, Some("12"));
        assert_eq!(path(&request), "apis/apps/v1/namespaces/default/deployments");
        let fixed = "watch=true&allowWatchBookmarks=true&timeoutSeconds=290&resourceVersion=12";
        assert_eq!(query(&request), format!("{fixed}&{selector}"));
        assert!(request.streaming);
    }

    #[test]
    fn a_watch_can_begin_with_now() {
        let request = watch(&Watched::One(web()), None);
        let fixed = "watch=true&allowWatchBookmarks=true&timeoutSeconds=290";
        assert_eq!(query(&request), format!("{fixed}&fieldSelector=metadata.name=web"));
    }

    #[rstest]
    #[case::start(Some("7"), 1, r#"{"metadata":{"uid":"u","resourceVersion":"7"},"spec":{"replicas":1}}"#)]
    #[case::stop(None, 0, r#"{"metadata":{"uid":"u"},"spec":{"replicas":0}}"#)]
    fn scales(#[case] version: Option<&str>, #[case] replicas: u32, #[case] want: &str) {
        let request = scale(&web(), "u", version, replicas);
        assert_eq!(path(&request), "apis/apps/v1/namespaces/default/deployments/web/scale");
        assert_eq!((request.method, request.body.as_ref().unwrap().media), (Method::Patch, Media::MergePatch));
        assert_eq!(body(&request), want);
    }

    #[test]
    fn a_delete_is_foreground_and_of_this_uid() {
        let request = delete(&web(), "u");
        assert_eq!(request.method, Method::Delete);
        assert_eq!(
            body(&request),
            r#"{"kind":"DeleteOptions","apiVersion":"v1","propagationPolicy":"Foreground","preconditions":{"uid":"u"}}"#
        );
    }

    #[rstest]
    #[case::labels(r#"{"matchLabels":{"b":"2","a":"1"}}"#, Some("a=1,b=2"))]
    #[case::expressions(
        r#"{"matchExpressions":[{"key":"a","operator":"In","values":["y","x"]},{"key":"b","operator":"NotIn","values":["z"]},
            {"key":"c","operator":"Exists"},{"key":"d","operator":"DoesNotExist","values":null}]}"#,
        Some("!d,a in (x,y),b notin (z),c")
    )]
    #[case::unknown(r#"{"matchExpressions":[{"key":"a","operator":"Gt","values":["1"]}]}"#, None)]
    fn selectors(#[case] json: &str, #[case] want: Option<&str>) {
        let parsed: Selector<'_> = serde_json::from_str(json).unwrap();
        assert_eq!(selector(&parsed).as_deref(), want);
    }
}
