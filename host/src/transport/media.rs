//! The kinds of bodies as HTTP writes them.

use crate::model::{Media, Method};

/// The value of `accept`.
///
/// Tables and metadata come with plain JSON as the second choice: a server that cannot make them (an aggregated one,
/// say) then answers with the objects, and the answer's own media says so.
pub(super) fn accept(media: Media, method: Method, target: &str, streaming: bool) -> &'static str {
    match media {
        Media::Json | Media::MergePatch | Media::JsonPatch | Media::ApplyPatch => "application/json",
        Media::JsonTable => "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
        Media::JsonMetadata if method == Method::Get && !streaming && is_collection(target) => {
            "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io,application/json"
        }
        // One object; and of a watch, each object by itself.
        Media::JsonMetadata => "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json",
        Media::Octets => "application/octet-stream",
        Media::Text => "text/plain",
    }
}

/// The value of `content-type` of what is sent.
pub(super) fn content_type(media: Media) -> &'static str {
    match media {
        Media::Json | Media::JsonTable | Media::JsonMetadata => "application/json",
        Media::MergePatch => "application/merge-patch+json",
        Media::JsonPatch => "application/json-patch+json",
        // There is no JSON form of it; JSON is YAML.
        Media::ApplyPatch => "application/apply-patch+yaml",
        Media::Octets => "application/octet-stream",
        Media::Text => "text/plain",
    }
}

/// What an answer's `content-type` says it is; none if it is nothing of ours.
pub(super) fn parse(content_type: &str) -> Option<Media> {
    let mut parts = content_type.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default().to_ascii_lowercase();
    match essence.as_str() {
        "application/json" => Some(
            parts.filter_map(|part| part.split_once('=')).find(|(name, _)| name.eq_ignore_ascii_case("as")).map_or(
                Media::Json,
                |(_, kind)| match kind.trim_matches('"') {
                    "Table" => Media::JsonTable,
                    "PartialObjectMetadata" | "PartialObjectMetadataList" => Media::JsonMetadata,
                    _ => Media::Json,
                },
            ),
        ),
        "application/merge-patch+json" => Some(Media::MergePatch),
        "application/json-patch+json" => Some(Media::JsonPatch),
        "application/apply-patch+yaml" => Some(Media::ApplyPatch),
        "application/octet-stream" => Some(Media::Octets),
        "text/plain" => Some(Media::Text),
        _ => None,
    }
}

/// Whether a path names a collection, by the shape that all Kubernetes resources share:
/// `/api/VERSION` or `/apis/GROUP/VERSION`, then `/namespaces/NAME` or not, then `/RESOURCE` and nothing more.
fn is_collection(target: &str) -> bool {
    let path = target.split('?').next().unwrap_or_default();
    let segments: Vec<&str> = path.split('/').filter(|segment| !segment.is_empty()).collect();
    let rest = match segments.as_slice() {
        ["api", _, rest @ ..] | ["apis", _, _, rest @ ..] => rest,
        _ => return false,
    };
    matches!(rest, ["namespaces", _, _] | [_])
}

#[cfg(test)]
mod tests {
    use super::*;
    use rstest::rstest;

    #[rstest]
    #[case::namespaced("/apis/apps/v1/namespaces/a/deployments?limit=500", true)]
    #[case::all("/apis/apps/v1/deployments", true)]
    #[case::core("/api/v1/namespaces/a/pods", true)]
    #[case::namespaces("/api/v1/namespaces", true)]
    #[case::namespace("/api/v1/namespaces/a", false)]
    #[case::object("/apis/apps/v1/namespaces/a/deployments/web", false)]
    #[case::scale("/apis/apps/v1/namespaces/a/deployments/web/scale", false)]
    #[case::node("/api/v1/nodes/n", false)]
    #[case::version("/version", false)]
    fn collections(#[case] target: &str, #[case] expected: bool) {
        assert_eq!(is_collection(target), expected);
    }

    #[rstest]
    #[case::list(Method::Get, "/api/v1/pods", false, "PartialObjectMetadataList")]
    #[case::watch(Method::Get, "/api/v1/pods?watch=true", true, "PartialObjectMetadata")]
    #[case::object(Method::Get, "/api/v1/namespaces/a/pods/p", false, "PartialObjectMetadata")]
    #[case::delete(Method::Delete, "/api/v1/namespaces/a/pods/p", false, "PartialObjectMetadata")]
    fn metadata(#[case] method: Method, #[case] target: &str, #[case] streaming: bool, #[case] kind: &str) {
        let text = accept(Media::JsonMetadata, method, target, streaming);
        assert_eq!(text, format!("application/json;as={kind};v=v1;g=meta.k8s.io,application/json"));
    }

    #[rstest]
    #[case::json("application/json", Some(Media::Json))]
    #[case::charset("Application/JSON; charset=utf-8", Some(Media::Json))]
    #[case::watch("application/json;stream=watch", Some(Media::Json))]
    #[case::table("application/json;as=Table;g=meta.k8s.io;v=v1", Some(Media::JsonTable))]
    #[case::metadata("application/json; as=PartialObjectMetadataList; v=v1", Some(Media::JsonMetadata))]
    #[case::text("text/plain; charset=utf-8", Some(Media::Text))]
    #[case::octets("application/octet-stream", Some(Media::Octets))]
    #[case::html("text/html", None)]
    #[case::protobuf("application/vnd.kubernetes.protobuf", None)]
    #[case::empty("", None)]
    fn parsed(#[case] text: &str, #[case] expected: Option<Media>) {
        assert_eq!(parse(text), expected);
    }
}
