//! What the server fills in where a request says nothing.

use serde_json::{Value, json};

use crate::quantity::Quantity;
use crate::value::{default, flag, has, int, list_mut, map, put, text};

/// Fills in an object of a kind.
pub fn complete(kind: &str, value: &mut Value) {
    match kind {
        "Deployment" => deployment(value),
        "ReplicaSet" => {
            at(value, "/spec", |spec| default(spec, "replicas", 1));
            at(value, "/spec/template/spec", pod_spec);
        }
        "Pod" => pod(value),
        "Namespace" => namespace(value),
        "Node" => at(value, "/status", |status| {
            let capacity = status.get("capacity").filter(|capacity| !capacity.is_null()).cloned();
            if let Some(capacity) = capacity {
                default(status, "allocatable", capacity);
            }
        }),
        "PersistentVolumeClaim" => {
            at(value, "/spec", |spec| default(spec, "volumeMode", "Filesystem"));
            at(value, "/status", |status| default(status, "phase", "Pending"));
        }
        "RoleBinding" | "ClusterRoleBinding" => {
            at(value, "/roleRef", |role| default(role, "apiGroup", RBAC));
            for subject in list_mut(value, "/subjects") {
                if matches!(text(subject, "/kind"), "User" | "Group") {
                    default(subject, "apiGroup", RBAC);
                }
            }
        }
        _ => {}
    }
}

const RBAC: &str = "rbac.authorization.k8s.io";

fn at(value: &mut Value, pointer: &str, fill: impl FnOnce(&mut Value)) {
    if let Some(part) = value.pointer_mut(pointer) {
        fill(part);
    }
}

fn deployment(value: &mut Value) {
    at(value, "/spec", |spec| {
        default(spec, "replicas", 1);
        default(spec, "revisionHistoryLimit", 10);
        default(spec, "progressDeadlineSeconds", 600);
        default(spec, "strategy", json!({}));
        at(spec, "/strategy", |strategy| {
            default(strategy, "type", "RollingUpdate");
            if text(strategy, "/type") == "RollingUpdate" {
                default(strategy, "rollingUpdate", json!({}));
                at(strategy, "/rollingUpdate", |update| {
                    default(update, "maxUnavailable", "25%");
                    default(update, "maxSurge", "25%");
                });
            }
        });
    });
    at(value, "/spec/template/spec", pod_spec);
}

fn namespace(value: &mut Value) {
    let name = text(value, "/metadata/name").to_owned();
    if !name.is_empty() {
        at(value, "/metadata", |metadata| default(metadata, "labels", json!({})));
        at(value, "/metadata/labels", |labels| put(labels, "kubernetes.io/metadata.name", Some(&name.into())));
    }
    at(value, "/status", |status| default(status, "phase", "Active"));
}

fn pod(value: &mut Value) {
    at(value, "/spec", |spec| {
        for lists in ["/containers", "/initContainers"] {
            for container in list_mut(spec, lists) {
                let limits = map(container, "/resources/limits").clone();
                if !limits.is_empty() {
                    at(container, "/resources", |resources| default(resources, "requests", json!({})));
                    at(container, "/resources/requests", |requests| {
                        limits.iter().for_each(|(name, amount)| default(requests, name, amount.clone()));
                    });
                }
            }
        }
        default(spec, "enableServiceLinks", true);
        if flag(spec, "/hostNetwork") {
            for lists in ["/containers", "/initContainers"] {
                for port in list_mut(spec, lists).flat_map(|container| list_mut(container, "/ports")) {
                    let number = int(port, "/containerPort").unwrap_or_default();
                    default(port, "hostPort", number);
                }
            }
        }
        pod_spec(spec);
        // Of a Pod, but not of a template.
        if int(spec, "/terminationGracePeriodSeconds").is_some_and(|grace| grace < 0) {
            put(spec, "terminationGracePeriodSeconds", Some(&1.into()));
        }
    });
}

fn pod_spec(spec: &mut Value) {
    default(spec, "dnsPolicy", "ClusterFirst");
    default(spec, "restartPolicy", "Always");
    default(spec, "securityContext", json!({}));
    default(spec, "terminationGracePeriodSeconds", 30);
    default(spec, "schedulerName", "default-scheduler");
    // The old name of the field follows the new one.
    match (text(spec, "/serviceAccountName").to_owned(), text(spec, "/serviceAccount").to_owned()) {
        (new, old) if new.is_empty() && !old.is_empty() => default(spec, "serviceAccountName", old),
        (new, _) if !new.is_empty() => put(spec, "serviceAccount", Some(&new.into())),
        _ => {}
    }
    list_mut(spec, "/volumes").for_each(volume);
    for lists in ["/containers", "/initContainers", "/ephemeralContainers"] {
        list_mut(spec, lists).for_each(container);
    }
}

fn volume(volume: &mut Value) {
    let sources = volume.as_object().map(|map| map.iter().filter(|(name, v)| *name != "name" && !v.is_null()).count());
    if sources == Some(0) {
        default(volume, "emptyDir", json!({}));
    }
    at(volume, "/hostPath", |path| {
        if path.get("type").is_none_or(Value::is_null) {
            put(path, "type", Some(&"".into()));
        }
    });
    for source in ["/secret", "/configMap", "/downwardAPI", "/projected"] {
        // Octal 0644.
        at(volume, source, |source| default(source, "defaultMode", 420));
    }
    list_mut(volume, "/downwardAPI/items").for_each(field_ref);
    for source in list_mut(volume, "/projected/sources") {
        list_mut(source, "/downwardAPI/items").for_each(field_ref);
        at(source, "/serviceAccountToken", |token| default(token, "expirationSeconds", 3600));
    }
}

fn field_ref(holder: &mut Value) {
    at(holder, "/fieldRef", |field| default(field, "apiVersion", "v1"));
}

fn container(container: &mut Value) {
    let policy = if is_latest(text(container, "/image")) { "Always" } else { "IfNotPresent" };
    default(container, "imagePullPolicy", policy);
    default(container, "terminationMessagePath", "/dev/termination-log");
    default(container, "terminationMessagePolicy", "File");
    list_mut(container, "/ports").for_each(|port| default(port, "protocol", "TCP"));
    for variable in list_mut(container, "/env") {
        at(variable, "/valueFrom", field_ref);
    }
    for amounts in ["/resources/limits", "/resources/requests"] {
        if let Some(map) = container.pointer_mut(amounts).and_then(Value::as_object_mut) {
            map.values_mut().for_each(round_up);
        }
    }
    for probe in ["/livenessProbe", "/readinessProbe", "/startupProbe"] {
        at(container, probe, |probe| {
            for (name, number) in
                [("timeoutSeconds", 1), ("periodSeconds", 10), ("successThreshold", 1), ("failureThreshold", 3)]
            {
                default(probe, name, number);
            }
            at(probe, "/httpGet", http_get);
            at(probe, "/grpc", |grpc| {
                if !has(grpc, "/service") {
                    put(grpc, "service", Some(&"".into()));
                }
            });
        });
    }
    for hook in ["/lifecycle/postStart/httpGet", "/lifecycle/preStop/httpGet"] {
        at(container, hook, http_get);
    }
}

fn http_get(action: &mut Value) {
    default(action, "path", "/");
    default(action, "scheme", "HTTP");
}

/// Amounts of resources are counted in thousandths.
fn round_up(amount: &mut Value) {
    if let Some(rounded) = amount.as_str().and_then(|text| Quantity::parse(text).ok()).and_then(|q| q.in_thousandths())
    {
        *amount = rounded.to_string().into();
    }
}

/// Whether the tag of an image is `latest`, said or not. An image with a digest has no tag, and one that cannot be read
/// none either.
fn is_latest(image: &str) -> bool {
    let (name, digest) = image.split_once('@').map_or((image, None), |(name, digest)| (name, Some(digest)));
    let last = name.rsplit('/').next().unwrap_or_default();
    let (repository, tag) = last.split_once(':').map_or((last, None), |(repository, tag)| (repository, Some(tag)));
    let readable = !repository.is_empty()
        && repository.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"._-".contains(&b));
    readable && tag.map_or(digest.is_none(), |tag| tag == "latest")
}

#[cfg(test)]
mod tests {
    use rstest::rstest;

    use super::*;

    #[rstest]
    #[case::no_tag("busybox", true)]
    #[case::latest("registry.example:5000/a/busybox:latest", true)]
    #[case::port_is_no_tag("registry.example:5000/busybox", true)]
    #[case::tag("busybox:1.36", false)]
    #[case::digest("busybox@sha256:0000", false)]
    #[case::unreadable("Busy Box", false)]
    #[case::empty("", false)]
    fn an_image_is_latest(#[case] image: &str, #[case] latest: bool) {
        assert_eq!(is_latest(image), latest);
    }

    #[test]
    fn a_second_time_changes_nothing() {
        let mut once = json!({"spec": {"template": {"spec": {
            "volumes": [{"name": "a"}, {"name": "b", "hostPath": {"path": "/"}}],
            "containers": [{"name": "m", "image": "a", "ports": [{"containerPort": 1}], "livenessProbe": {"httpGet": {"port": 1}}}],
        }}}});
        complete("Deployment", &mut once);
        let mut twice = once.clone();
        complete("Deployment", &mut twice);
        assert_eq!(once, twice);
        assert_eq!(once.pointer("/spec/template/spec/volumes/0/emptyDir"), Some(&json!({})));
        assert_eq!(once.pointer("/spec/template/spec/containers/0/livenessProbe/httpGet/path"), Some(&json!("/")));
        assert_eq!(once.pointer("/spec/template/spec/enableServiceLinks"), None);
    }
}
