//! Objects with nothing in them, which bookmarks consist of: what the real server's types write when they are empty.

use serde_json::{Value, json};

use crate::resource::Resource;

fn fields(kind: &str) -> &'static str {
    match kind {
        "Node" => {
            r#"{"spec":{},"status":{"daemonEndpoints":{"kubeletEndpoint":{"Port":0}},"nodeInfo":{"machineID":"",
            "systemUUID":"","bootID":"","kernelVersion":"","osImage":"","containerRuntimeVersion":"","kubeletVersion":"",
            "kubeProxyVersion":"","operatingSystem":"","architecture":""}}}"#
        }
        "Pod" => r#"{"spec":{"containers":null},"status":{}}"#,
        "Event" => {
            r#"{"involvedObject":{},"source":{},"firstTimestamp":null,"lastTimestamp":null,"eventTime":null,
            "reportingComponent":"","reportingInstance":""}"#
        }
        "PersistentVolumeClaim" => r#"{"spec":{"resources":{}},"status":{}}"#,
        "Deployment" => {
            r#"{"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}},
            "strategy":{}},"status":{}}"#
        }
        "ReplicaSet" => {
            r#"{"spec":{"replicas":0,"selector":null,"template":{"metadata":{},"spec":{"containers":null}}},
            "status":{"replicas":0}}"#
        }
        "Role" | "ClusterRole" => r#"{"rules":null}"#,
        "RoleBinding" | "ClusterRoleBinding" => r#"{"roleRef":{"apiGroup":"","kind":"","name":""}}"#,
        _ => r#"{"spec":{},"status":{}}"#,
    }
}

/// An object of a resource with nothing but a version; `end` marks the end of the state that a watch begins with.
pub fn bookmark(resource: &Resource, version: u64, end: bool) -> Value {
    // The texts above are JSON: the tests read each.
    let mut value: Value = serde_json::from_str(fields(resource.kind)).unwrap_or_default();
    if let Some(map) = value.as_object_mut() {
        let mut metadata = json!({"resourceVersion": version.to_string()});
        if end && let Some(metadata) = metadata.as_object_mut() {
            metadata.insert("annotations".to_owned(), json!({"k8s.io/initial-events-end": "true"}));
        }
        map.insert("metadata".to_owned(), metadata);
        map.insert("kind".to_owned(), resource.kind.into());
        map.insert("apiVersion".to_owned(), resource.api_version().into());
    }
    value
}
