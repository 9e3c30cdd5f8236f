//! The fields of a Pod template: free, with a grant by name, and never.

use rstest::rstest;
use serde_json::{Value, json};
use workload_policy::DenialRule;

use crate::ask::{Ask, deployment, everything, usual, usual_and, with};

/// A create with a field of the Pod's specification.
fn pod(field: &str, value: &Value) -> Value {
    with(deployment(), &format!("spec.template.spec.{field}"), value.clone())
}

#[rstest]
#[case::command("containers[0].command", json!(["sh", "-c", "sleep 1"]))]
#[case::arguments("containers[0].args", json!(["a"]))]
#[case::directory("containers[0].workingDir", json!("/srv"))]
#[case::environment("containers[0].env", json!([{"name": "A", "value": "b"}, {"name": "EMPTY"}]))]
#[case::environment_of_a_field("containers[0].env[0]", json!({"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}))]
#[case::environment_of_a_resource("containers[0].env[0]", json!({"name": "A", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu", "divisor": "1m"}}}))]
#[case::ports("containers[0].ports", json!([{"name": "http", "containerPort": 80, "protocol": "TCP"}]))]
#[case::resources("containers[0].resources", json!({"limits": {"cpu": "500m", "memory": "1Gi", "example.com/gpu": 1}, "requests": {"cpu": 0.5}}))]
#[case::probe_by_http("containers[0].readinessProbe", json!({"httpGet": {"path": "/", "port": "http", "scheme": "HTTP", "httpHeaders": [{"name": "A", "value": "b"}]}, "periodSeconds": 5}))]
#[case::probe_by_command("containers[0].livenessProbe", json!({"exec": {"command": ["true"]}, "initialDelaySeconds": 1, "timeoutSeconds": 1, "failureThreshold": 3}))]
#[case::probe_by_socket("containers[0].startupProbe", json!({"tcpSocket": {"port": 80}, "successThreshold": 1, "terminationGracePeriodSeconds": 1}))]
#[case::probe_by_grpc("containers[0].livenessProbe", json!({"grpc": {"port": 80, "service": "s"}}))]
#[case::hook_by_command("containers[0].lifecycle", json!({"preStop": {"exec": {"command": ["true"]}}, "postStart": {"httpGet": {"port": 80}}}))]
#[case::hook_by_sleep("containers[0].lifecycle.preStop.sleep", json!({"seconds": 5}))]
#[case::pull_policy("containers[0].imagePullPolicy", json!("IfNotPresent"))]
#[case::message("containers[0].terminationMessagePolicy", json!("FallbackToLogsOnError"))]
#[case::message_path("containers[0].terminationMessagePath", json!("/dev/termination-log"))]
#[case::terminal("containers[0].tty", json!(true))]
#[case::standard_input("containers[0].stdin", json!(true))]
#[case::mounts("containers[0].volumeMounts", json!([{"name": "v", "mountPath": "/v", "readOnly": true, "subPath": "a", "mountPropagation": "None"}]))]
#[case::tightened("containers[0].securityContext", json!({"runAsNonRoot": true, "runAsUser": 1000, "runAsGroup": 1000,
    "readOnlyRootFilesystem": true, "allowPrivilegeEscalation": false, "privileged": false, "procMount": "Default",
    "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"}, "appArmorProfile": {"type": "RuntimeDefault"}}))]
#[case::tightened_pod("securityContext", json!({"runAsNonRoot": true, "runAsUser": 1000, "fsGroup": 2000, "supplementalGroups": [3000],
    "fsGroupChangePolicy": "OnRootMismatch", "seccompProfile": {"type": "RuntimeDefault"}}))]
#[case::init("initContainers", json!([{"name": "init", "image": "i"}]))]
#[case::sidecar("initContainers", json!([{"name": "side", "image": "i", "restartPolicy": "Always"}]))]
#[case::pull_secrets("imagePullSecrets", json!([{"name": "registry"}]))]
#[case::grace("terminationGracePeriodSeconds", json!(0))]
#[case::dns("dnsPolicy", json!("Default"))]
#[case::restart("restartPolicy", json!("Always"))]
#[case::links("enableServiceLinks", json!(false))]
#[case::node_selector("nodeSelector", json!({"kubernetes.io/arch": "amd64"}))]
#[case::no_host("hostNetwork", json!(false))]
#[case::users("hostUsers", json!(false))]
#[case::no_token("automountServiceAccountToken", json!(false))]
#[case::scratch("volumes", json!([{"name": "v", "emptyDir": {}}, {"name": "m", "emptyDir": {"medium": "Memory", "sizeLimit": "64Mi"}}]))]
#[case::downward("volumes", json!([{"name": "v", "downwardAPI": {"items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}, "mode": 256}], "defaultMode": 420}}]))]
fn free(#[case] field: &str, #[case] value: Value) {
    let document = pod(field, &value);
    assert_eq!(Ask::create(&document).sent(&usual()), document);
}

/// Denied by the usual grants, with the path and the word named; allowed with the word, and unchanged then.
#[rstest]
#[case::privileged("containers[0].securityContext.privileged", json!(true), "pod:privileged")]
#[case::privileged_init("initContainers[0]", json!({"name": "i", "securityContext": {"privileged": true}}), "pod:privileged")]
#[case::escalation("containers[0].securityContext.allowPrivilegeEscalation", json!(true), "pod:privileged")]
#[case::capability("containers[0].securityContext.capabilities.add", json!(["SYS_ADMIN"]), "pod:privileged")]
#[case::proc_mount("containers[0].securityContext.procMount", json!("Unmasked"), "pod:privileged")]
#[case::seccomp("containers[0].securityContext.seccompProfile.type", json!("Unconfined"), "pod:privileged")]
#[case::seccomp_of_the_pod("securityContext.seccompProfile.type", json!("Localhost"), "pod:privileged")]
#[case::apparmor("containers[0].securityContext.appArmorProfile.type", json!("Unconfined"), "pod:privileged")]
#[case::selinux("securityContext.seLinuxOptions", json!({"type": "spc_t"}), "pod:privileged")]
#[case::root("containers[0].securityContext.runAsUser", json!(0), "pod:privileged")]
#[case::root_of_the_pod("securityContext.runAsUser", json!(0), "pod:privileged")]
#[case::root_group("securityContext.supplementalGroups[0]", json!(0), "pod:privileged")]
#[case::sysctls("securityContext.sysctls", json!([{"name": "kernel.shm_rmid_forced", "value": "1"}]), "pod:privileged")]
#[case::propagation("containers[0].volumeMounts[0]", json!({"name": "v", "mountPath": "/v", "mountPropagation": "Bidirectional"}), "pod:privileged")]
#[case::host_network("hostNetwork", json!(true), "pod:host-namespaces")]
#[case::host_processes("hostPID", json!(true), "pod:host-namespaces")]
#[case::host_ipc("hostIPC", json!(true), "pod:host-namespaces")]
#[case::host_users("hostUsers", json!(true), "pod:host-namespaces")]
#[case::host_port("containers[0].ports[0]", json!({"containerPort": 80, "hostPort": 80}), "pod:host-namespaces")]
#[case::host_address("containers[0].ports[0]", json!({"containerPort": 80, "hostIP": "0.0.0.0"}), "pod:host-namespaces")]
#[case::host_path("volumes[0]", json!({"name": "v", "hostPath": {"path": "/", "type": "Directory"}}), "pod:host-path")]
#[case::secret_volume("volumes[0]", json!({"name": "v", "secret": {"secretName": "s", "items": [{"key": "k", "path": "p"}]}}), "pod:secret")]
#[case::secret_key("containers[0].env[0]", json!({"name": "A", "valueFrom": {"secretKeyRef": {"name": "s", "key": "k"}}}), "pod:secret")]
#[case::secret_environment("containers[0].envFrom[0]", json!({"secretRef": {"name": "s"}}), "pod:secret")]
#[case::secret_of_an_init("initContainers[0]", json!({"name": "i", "envFrom": [{"prefix": "A_", "secretRef": {"name": "s"}}]}), "pod:secret")]
#[case::map_volume("volumes[0]", json!({"name": "v", "configMap": {"name": "c", "defaultMode": 420}}), "pod:config-map")]
#[case::map_key("containers[0].env[0]", json!({"name": "A", "valueFrom": {"configMapKeyRef": {"name": "c", "key": "k"}}}), "pod:config-map")]
#[case::map_environment("containers[0].envFrom[0]", json!({"configMapRef": {"name": "c", "optional": true}}), "pod:config-map")]
#[case::projected("volumes[0]", json!({"name": "v", "projected": {"sources": [{"downwardAPI": {"items": []}}]}}), "pod:projected")]
#[case::claim("volumes[0]", json!({"name": "v", "persistentVolumeClaim": {"claimName": "data", "readOnly": true}}), "pod:volume-claim")]
#[case::device("containers[0].volumeDevices", json!([{"name": "v", "devicePath": "/dev/x"}]), "pod:volume-claim")]
#[case::account("serviceAccountName", json!("admin"), "pod:service-account")]
#[case::account_the_old_way("serviceAccount", json!("admin"), "pod:service-account")]
#[case::token("automountServiceAccountToken", json!(true), "pod:service-account")]
#[case::tolerations("tolerations", json!([{"key": "node-role.kubernetes.io/control-plane", "operator": "Exists", "effect": "NoSchedule"}]), "pod:scheduling")]
#[case::priority("priorityClassName", json!("system-node-critical"), "pod:scheduling")]
#[case::runtime("runtimeClassName", json!("kata"), "pod:scheduling")]
fn needs(#[case] field: &str, #[case] value: Value, #[case] word: &str) {
    let document = pod(field, &value);
    let denied = Ask::create(&document).decide(&usual()).expect_err("must be denied");
    assert_eq!(denied.rule(), DenialRule::FieldGrant);
    let (path, needed) = denied.detail().rsplit_once(" needs ").expect("says what it needs");
    assert_eq!(needed, format!("`{word}`"));
    assert!(path.starts_with(&format!("spec.template.spec.{field}")), "{path}");
    assert_eq!(Ask::create(&document).sent(&usual_and(&[word])), document);
}

/// What a projected volume gathers needs the grant that it would need by itself.
#[rstest]
#[case::secret(json!({"secret": {"name": "s"}}), "pod:secret")]
#[case::map(json!({"configMap": {"name": "c"}}), "pod:config-map")]
#[case::token(json!({"serviceAccountToken": {"path": "t", "audience": "a", "expirationSeconds": 600}}), "pod:service-account")]
fn projected_needs_both(#[case] source: Value, #[case] word: &str) {
    let document = pod("volumes[0]", &json!({"name": "v", "projected": {"sources": [source]}}));
    for lacking in [vec![], vec![word], vec!["pod:projected"]] {
        assert_eq!(Ask::create(&document).denied(&usual_and(&lacking)), DenialRule::FieldGrant);
    }
    assert_eq!(Ask::create(&document).sent(&usual_and(&["pod:projected", word])), document);
}

/// Denied whatever is granted.
#[rstest]
#[case::node("nodeName", json!("control-plane"), "nodeName is not allowed")]
#[case::scheduler("schedulerName", json!("mine"), "schedulerName is not allowed")]
#[case::affinity("affinity", json!({}), "affinity is not allowed")]
#[case::spread("topologySpreadConstraints", json!([]), "topologySpreadConstraints is not allowed")]
#[case::priority_by_number("priority", json!(2_000_000_000), "priority is not allowed")]
#[case::deadline("activeDeadlineSeconds", json!(1), "activeDeadlineSeconds is not allowed")]
#[case::once("restartPolicy", json!("Never"), "restartPolicy is not one of Always")]
#[case::dns_of_the_host("dnsPolicy", json!("ClusterFirstWithHostNet"), "dnsPolicy is not one of ClusterFirst, Default")]
#[case::dns_servers("dnsConfig", json!({}), "dnsConfig is not allowed")]
#[case::host_names("hostAliases", json!([]), "hostAliases is not allowed")]
#[case::ephemeral_containers("ephemeralContainers", json!([]), "ephemeralContainers is not allowed")]
#[case::claims("resourceClaims", json!([]), "resourceClaims is not allowed")]
#[case::container_claims("containers[0].resources.claims", json!([]), "containers[0].resources.claims is not allowed")]
#[case::windows("containers[0].securityContext.windowsOptions", json!({"hostProcess": true}), "containers[0].securityContext.windowsOptions is not allowed")]
#[case::upper_case("containers[0].securityContext.Privileged", json!(true), "containers[0].securityContext.Privileged is not allowed")]
#[case::probed_host("containers[0].livenessProbe.httpGet", json!({"port": 80, "host": "169.254.169.254"}), "containers[0].livenessProbe.httpGet.host is not allowed")]
#[case::probed_socket("containers[0].livenessProbe.tcpSocket", json!({"port": 80, "host": "10.0.0.1"}), "containers[0].livenessProbe.tcpSocket.host is not allowed")]
#[case::hooked_host("containers[0].lifecycle.preStop.httpGet", json!({"port": 80, "host": "10.0.0.1"}), "containers[0].lifecycle.preStop.httpGet.host is not allowed")]
#[case::hooked_socket("containers[0].lifecycle.postStart", json!({"tcpSocket": {"port": 80}}), "containers[0].lifecycle.postStart.tcpSocket is not allowed")]
#[case::seccomp("containers[0].securityContext.seccompProfile.type", json!("Other"), "containers[0].securityContext.seccompProfile.type is not one of RuntimeDefault, Unconfined, Localhost")]
#[case::negative_user("securityContext.runAsUser", json!(-1), "securityContext.runAsUser is not a whole number")]
#[case::user_by_text("securityContext.runAsUser", json!("0"), "securityContext.runAsUser is not a whole number")]
#[case::flag_by_text("hostNetwork", json!("true"), "hostNetwork is not true or false")]
#[case::number_as_text("containers[0].env[0]", json!({"name": "A", "value": 1}), "containers[0].env[0].value is not a text")]
#[case::file_key("containers[0].env[0]", json!({"name": "A", "valueFrom": {"fileKeyRef": {}}}), "containers[0].env[0].valueFrom.fileKeyRef is not allowed")]
#[case::amount("containers[0].resources.limits.cpu", json!("1 && 2"), "containers[0].resources.limits.cpu is not an amount")]
#[case::port("containers[0].ports[0]", json!({"containerPort": 65_536}), "containers[0].ports[0].containerPort is not a whole number from 1 to 65535")]
#[case::container_by_text("containers[0]", json!("main"), "containers[0] is not an object")]
#[case::containers_by_object("containers", json!({}), "containers is not a list")]
#[case::null_within("containers[0].command", json!(["a", null]), "containers[0].command[1] is null: leave it out")]
#[case::huge_pages("volumes[0]", json!({"name": "v", "emptyDir": {"medium": "HugePages"}}), "volumes[0].emptyDir.medium is not one of , Memory")]
#[case::bundle("volumes[0]", json!({"name": "v", "projected": {"sources": [{"clusterTrustBundle": {}}]}}), "volumes[0].projected.sources[0].clusterTrustBundle is not allowed")]
fn never(#[case] field: &str, #[case] value: Value, #[case] detail: &str) {
    let denied = Ask::create(&pod(field, &value)).decide(&everything()).expect_err("must be denied");
    assert_eq!(denied.detail(), format!("spec.template.spec.{detail}"));
}

/// Every other source of a volume.
#[rstest]
fn never_a_volume(
    #[values(
        "csi",
        "nfs",
        "ephemeral",
        "iscsi",
        "fc",
        "flexVolume",
        "gitRepo",
        "glusterfs",
        "rbd",
        "cephfs",
        "cinder",
        "azureDisk",
        "azureFile",
        "awsElasticBlockStore",
        "gcePersistentDisk",
        "vsphereVolume",
        "image",
        "storageos",
        "quobyte",
        "portworxVolume",
        "scaleIO",
        "flocker",
        "photonPersistentDisk"
    )]
    source: &str,
) {
    let denied = Ask::create(&pod("volumes[0]", &json!({"name": "v", source: {}}))).decide(&everything());
    let denied = denied.expect_err("must be denied");
    assert_eq!(denied.detail(), format!("spec.template.spec.volumes[0].{source} is not allowed"));
}

/// Kubernetes hands every container the token of the default account unless it is told not to.
#[test]
fn no_token_unless_it_is_granted() {
    let mut document = deployment();
    let spec = document.pointer_mut("/spec/template/spec").and_then(Value::as_object_mut).expect("an object");
    spec.remove("automountServiceAccountToken").expect("was there");

    assert_eq!(Ask::create(&document).sent(&usual()), deployment());
    assert_eq!(Ask::create(&document).sent(&usual_and(&["pod:service-account"])), document);
}
