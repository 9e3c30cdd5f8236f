//! The fields that a Pod template may have, and the grants that some of them need.
//!
//! The line is drawn at what reaches out of the Pod: the node, other objects' contents, the API. What only describes the
//! Pod's own processes is free, and so is what only tightens.
//!
//! Choices that may surprise:
//! - `automountServiceAccountToken` is put in as `false` where it is missing and `pod:service-account` is not granted:
//!   Kubernetes' default is to hand the token of the namespace's default account to every container.
//! - `imagePullSecrets` are free though they name Secrets: only the kubelet reads them, and only to pull.
//! - `nodeSelector` is free: it can only narrow where the Pod runs. Tolerations, a priority class (which evicts others)
//!   and a runtime class need `pod:scheduling`. `nodeName` passes by the scheduler, so it is denied always; so are, for
//!   now, `affinity` and `topologySpreadConstraints`, which no workload of one Pod needs.
//! - A host in a probe or hook is denied always: it makes the kubelet call addresses of the provider's choice.
//! - `csi`, `nfs`, `ephemeral` and every other source of a volume that is not listed is denied always.

use crate::fields::Rule::{
    Amount, Flag, FlagNeeds, List, Map, Name, Needs, NotRoot, Object, OneOf, OneOfOr, Text, Whole, WholeOrText,
};
use crate::fields::{Absent, Field, Keys, Rule, may, must};

pub(super) const PRIVILEGED: &str = "pod:privileged";
pub(super) const HOST_NAMESPACES: &str = "pod:host-namespaces";
pub(super) const HOST_PATH: &str = "pod:host-path";
pub(super) const SECRET: &str = "pod:secret";
pub(super) const CONFIG_MAP: &str = "pod:config-map";
pub(super) const PROJECTED: &str = "pod:projected";
pub(super) const VOLUME_CLAIM: &str = "pod:volume-claim";
pub(super) const SERVICE_ACCOUNT: &str = "pod:service-account";
pub(super) const SCHEDULING: &str = "pod:scheduling";
pub(super) const ANNOTATIONS: &str = "pod:annotations";

/// The specification of a Pod.
pub(super) const SPEC: &[Field] = &[
    must("containers", List(&CONTAINER)),
    may("initContainers", List(&CONTAINER)),
    may("imagePullSecrets", List(&Object(&[may("name", Name)]))),
    may("restartPolicy", OneOf(&["Always"])),
    may("terminationGracePeriodSeconds", SECONDS),
    may("dnsPolicy", OneOf(&["ClusterFirst", "Default"])),
    may("enableServiceLinks", Flag),
    may("nodeSelector", Map(Keys::Any, &Rule::Label)),
    may("tolerations", Needs(SCHEDULING, &List(&TOLERATION))),
    may("priorityClassName", Needs(SCHEDULING, &Name)),
    may("runtimeClassName", Needs(SCHEDULING, &Name)),
    may("hostNetwork", FlagNeeds(true, HOST_NAMESPACES)),
    may("hostPID", FlagNeeds(true, HOST_NAMESPACES)),
    may("hostIPC", FlagNeeds(true, HOST_NAMESPACES)),
    may("hostUsers", FlagNeeds(true, HOST_NAMESPACES)),
    may("serviceAccountName", Needs(SERVICE_ACCOUNT, &Name)),
    may("serviceAccount", Needs(SERVICE_ACCOUNT, &Name)),
    Field {
        name: "automountServiceAccountToken",
        rule: FlagNeeds(true, SERVICE_ACCOUNT),
        absent: Absent::Put(false, SERVICE_ACCOUNT),
    },
    may("securityContext", Object(POD_SECURITY)),
    may("volumes", List(&Object(VOLUME))),
];

const SECONDS: Rule = Whole(0, i32::MAX as i64);
const TEXTS: Rule = List(&Text);

const TOLERATION: Rule = Object(&[
    may("key", Text),
    may("operator", OneOf(&["Exists", "Equal"])),
    may("value", Text),
    may("effect", OneOf(&["NoSchedule", "PreferNoSchedule", "NoExecute"])),
    may("tolerationSeconds", Whole(i64::MIN, i64::MAX)),
]);

const CONTAINER: Rule = Object(&[
    must("name", Text),
    may("image", Text),
    may("imagePullPolicy", OneOf(&["Always", "IfNotPresent", "Never"])),
    may("command", TEXTS),
    may("args", TEXTS),
    may("workingDir", Text),
    may("env", List(&Object(ENV))),
    may("envFrom", List(&Object(ENV_FROM))),
    may("ports", List(&Object(PORT))),
    may("resources", Object(&[may("limits", AMOUNTS), may("requests", AMOUNTS)])),
    may("livenessProbe", Object(PROBE)),
    may("readinessProbe", Object(PROBE)),
    may("startupProbe", Object(PROBE)),
    may("lifecycle", Object(&[may("postStart", HOOK), may("preStop", HOOK)])),
    may("terminationMessagePath", Text),
    may("terminationMessagePolicy", OneOf(&["File", "FallbackToLogsOnError"])),
    may("stdin", Flag),
    may("stdinOnce", Flag),
    may("tty", Flag),
    // Of an init container: it makes a sidecar of it.
    may("restartPolicy", OneOf(&["Always"])),
    may("volumeMounts", List(&Object(MOUNT))),
    may("volumeDevices", Needs(VOLUME_CLAIM, &List(&Object(&[must("name", Text), must("devicePath", Text)])))),
    may("securityContext", Object(CONTAINER_SECURITY)),
]);

const AMOUNTS: Rule = Map(Keys::Any, &Amount);

const ENV: &[Field] = &[
    must("name", Text),
    may("value", Text),
    may(
        "valueFrom",
        Object(&[
            may("fieldRef", FIELD_REF),
            may("resourceFieldRef", RESOURCE_REF),
            may("secretKeyRef", Needs(SECRET, &KEY_REF)),
            may("configMapKeyRef", Needs(CONFIG_MAP, &KEY_REF)),
        ]),
    ),
];

const FIELD_REF: Rule = Object(&[may("apiVersion", OneOf(&["v1"])), must("fieldPath", Text)]);
const RESOURCE_REF: Rule = Object(&[may("containerName", Text), must("resource", Text), may("divisor", Amount)]);
const KEY_REF: Rule = Object(&[may("name", Name), must("key", Text), may("optional", Flag)]);

const ENV_FROM: &[Field] =
    &[may("prefix", Text), may("secretRef", Needs(SECRET, &REF)), may("configMapRef", Needs(CONFIG_MAP, &REF))];

const REF: Rule = Object(&[may("name", Name), may("optional", Flag)]);

const PORT: &[Field] = &[
    may("name", Text),
    must("containerPort", Whole(1, 65_535)),
    may("protocol", OneOf(&["TCP", "UDP", "SCTP"])),
    may("hostPort", Needs(HOST_NAMESPACES, &Whole(0, 65_535))),
    may("hostIP", Needs(HOST_NAMESPACES, &Text)),
];

const HTTP_GET: Rule = Object(&[
    may("path", Text),
    must("port", WholeOrText),
    may("scheme", OneOf(&["HTTP", "HTTPS"])),
    may("httpHeaders", List(&Object(&[must("name", Text), must("value", Text)]))),
]);
const EXEC: Rule = Object(&[may("command", TEXTS)]);

const PROBE: &[Field] = &[
    may("exec", EXEC),
    may("httpGet", HTTP_GET),
    may("tcpSocket", Object(&[must("port", WholeOrText)])),
    may("grpc", Object(&[must("port", Whole(1, 65_535)), may("service", Text)])),
    may("initialDelaySeconds", SECONDS),
    may("periodSeconds", SECONDS),
    may("timeoutSeconds", SECONDS),
    may("successThreshold", SECONDS),
    may("failureThreshold", SECONDS),
    may("terminationGracePeriodSeconds", SECONDS),
];

const HOOK: Rule =
    Object(&[may("exec", EXEC), may("httpGet", HTTP_GET), may("sleep", Object(&[must("seconds", SECONDS)]))]);

const MOUNT: &[Field] = &[
    must("name", Text),
    must("mountPath", Text),
    may("readOnly", Flag),
    may("recursiveReadOnly", OneOf(&["Disabled", "IfPossible", "Enabled"])),
    may("subPath", Text),
    may("subPathExpr", Text),
    // What the node mounts later would appear in the container, or the other way round.
    may("mountPropagation", OneOfOr(&["None"], &["HostToContainer", "Bidirectional"], PRIVILEGED)),
];

/// `type` of a profile: what the runtime comes with is free; no profile, or a file of the node, is not.
const PROFILE: Rule = Object(&[
    must("type", OneOfOr(&["RuntimeDefault"], &["Unconfined", "Localhost"], PRIVILEGED)),
    may("localhostProfile", Needs(PRIVILEGED, &Text)),
]);

const SE_LINUX: Rule =
    Needs(PRIVILEGED, &Object(&[may("level", Text), may("role", Text), may("type", Text), may("user", Text)]));

/// Root may be what the image runs as; choosing it over what the image says loosens.
const ID: Rule = NotRoot(PRIVILEGED);

const CONTAINER_SECURITY: &[Field] = &[
    may("runAsNonRoot", Flag),
    may("runAsUser", ID),
    may("runAsGroup", ID),
    may("readOnlyRootFilesystem", Flag),
    may("allowPrivilegeEscalation", FlagNeeds(true, PRIVILEGED)),
    may("privileged", FlagNeeds(true, PRIVILEGED)),
    may("procMount", OneOfOr(&["Default"], &["Unmasked"], PRIVILEGED)),
    may("capabilities", Object(&[may("drop", TEXTS), may("add", Needs(PRIVILEGED, &TEXTS))])),
    may("seccompProfile", PROFILE),
    may("appArmorProfile", PROFILE),
    may("seLinuxOptions", SE_LINUX),
];

const POD_SECURITY: &[Field] = &[
    may("runAsNonRoot", Flag),
    may("runAsUser", ID),
    may("runAsGroup", ID),
    may("fsGroup", ID),
    may("fsGroupChangePolicy", OneOf(&["Always", "OnRootMismatch"])),
    may("supplementalGroups", List(&ID)),
    may("supplementalGroupsPolicy", OneOf(&["Merge", "Strict"])),
    may("seccompProfile", PROFILE),
    may("appArmorProfile", PROFILE),
    may("seLinuxOptions", SE_LINUX),
    may("sysctls", Needs(PRIVILEGED, &List(&Object(&[must("name", Text), must("value", Text)])))),
];

const MODE: Rule = Whole(0, 0o777);
const ITEMS: Rule = List(&Object(&[must("key", Text), must("path", Text), may("mode", MODE)]));
const DOWNWARD: Rule = List(&Object(&[
    must("path", Text),
    may("fieldRef", FIELD_REF),
    may("resourceFieldRef", RESOURCE_REF),
    may("mode", MODE),
]));

const VOLUME: &[Field] = &[
    must("name", Text),
    may("emptyDir", Object(&[may("medium", OneOf(&["", "Memory"])), may("sizeLimit", Amount)])),
    may("downwardAPI", Object(&[may("items", DOWNWARD), may("defaultMode", MODE)])),
    may("persistentVolumeClaim", Needs(VOLUME_CLAIM, &Object(&[must("claimName", Name), may("readOnly", Flag)]))),
    may("hostPath", Needs(HOST_PATH, &Object(&[must("path", Text), may("type", Text)]))),
    may("secret", Needs(SECRET, &SECRET_VOLUME)),
    may("configMap", Needs(CONFIG_MAP, &CONFIG_MAP_VOLUME)),
    may("projected", Needs(PROJECTED, &Object(&[may("sources", List(&Object(PROJECTION))), may("defaultMode", MODE)]))),
];

const SECRET_VOLUME: Rule =
    Object(&[must("secretName", Name), may("items", ITEMS), may("defaultMode", MODE), may("optional", Flag)]);
const CONFIG_MAP_VOLUME: Rule =
    Object(&[must("name", Name), may("items", ITEMS), may("defaultMode", MODE), may("optional", Flag)]);

/// A projected volume gathers what would need a grant as a volume of its own, so it needs that grant here too.
const PROJECTION: &[Field] = &[
    may("secret", Needs(SECRET, &PROJECTED_OBJECT)),
    may("configMap", Needs(CONFIG_MAP, &PROJECTED_OBJECT)),
    may("downwardAPI", Object(&[may("items", DOWNWARD)])),
    may(
        "serviceAccountToken",
        Needs(
            SERVICE_ACCOUNT,
            &Object(&[may("audience", Text), may("expirationSeconds", SECONDS), must("path", Text)]),
        ),
    ),
];

const PROJECTED_OBJECT: Rule = Object(&[must("name", Name), may("items", ITEMS), may("optional", Flag)]);
