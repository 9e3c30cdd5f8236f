//! The messages that are known, with the numbers of their fields as the published `generated.proto` files give them.

/// A field of a message.
pub(super) struct Field {
    pub(super) number: u64,
    pub(super) name: &'static str,
    pub(super) kind: Kind,
}

/// What a field holds.
#[derive(Clone, Copy)]
pub(super) enum Kind {
    Text,
    /// Zero is as good as nothing.
    Number,
    /// Zero is something, too.
    SaidNumber,
    Flag,
    Texts,
    TextMap,
    Quantity,
    QuantityMap,
    NumberOrText,
    Message(&'static [Field]),
    Messages(&'static [Field]),
    /// What the server sets itself.
    Ignored,
}

const fn f(number: u64, name: &'static str, kind: Kind) -> Field {
    Field { number, name, kind }
}

const fn text(number: u64, name: &'static str) -> Field {
    f(number, name, Kind::Text)
}

pub(super) const ENVELOPE: &[Field] = &[
    f(1, "typeMeta", Kind::Message(&[text(1, "apiVersion"), text(2, "kind")])),
    f(2, "raw", Kind::Ignored),
    text(3, "contentEncoding"),
    text(4, "contentType"),
];
pub(super) const QUANTITY: &[Field] = &[text(1, "string")];
pub(super) const NUMBER_OR_TEXT: &[Field] =
    &[f(1, "type", Kind::Number), f(2, "number", Kind::SaidNumber), text(3, "text")];
pub(super) const TEXT_ENTRY: &[Field] = &[text(1, "key"), text(2, "value")];
pub(super) const QUANTITY_ENTRY: &[Field] = &[text(1, "key"), f(2, "value", Kind::Quantity)];

const METADATA: &[Field] = &[
    text(1, "name"),
    text(2, "generateName"),
    text(3, "namespace"),
    text(4, "selfLink"),
    text(5, "uid"),
    text(6, "resourceVersion"),
    f(7, "generation", Kind::Number),
    f(8, "creationTimestamp", Kind::Ignored),
    f(11, "labels", Kind::TextMap),
    f(12, "annotations", Kind::TextMap),
    f(14, "finalizers", Kind::Texts),
];

const SELECTOR: &[Field] = &[
    f(1, "matchLabels", Kind::TextMap),
    f(2, "matchExpressions", Kind::Messages(&[text(1, "key"), text(2, "operator"), f(3, "values", Kind::Texts)])),
];

const CONTAINER: &[Field] = &[
    text(1, "name"),
    text(2, "image"),
    f(3, "command", Kind::Texts),
    f(4, "args", Kind::Texts),
    text(5, "workingDir"),
    f(
        6,
        "ports",
        Kind::Messages(&[
            text(1, "name"),
            f(2, "hostPort", Kind::Number),
            f(3, "containerPort", Kind::Number),
            text(4, "protocol"),
            text(5, "hostIP"),
        ]),
    ),
    f(7, "env", Kind::Messages(&[text(1, "name"), text(2, "value")])),
    f(8, "resources", Kind::Message(&[f(1, "limits", Kind::QuantityMap), f(2, "requests", Kind::QuantityMap)])),
    text(13, "terminationMessagePath"),
    text(14, "imagePullPolicy"),
    f(16, "stdin", Kind::Flag),
    f(17, "stdinOnce", Kind::Flag),
    f(18, "tty", Kind::Flag),
    text(20, "terminationMessagePolicy"),
    text(24, "restartPolicy"),
];

const POD_SPEC: &[Field] = &[
    f(2, "containers", Kind::Messages(CONTAINER)),
    text(3, "restartPolicy"),
    f(4, "terminationGracePeriodSeconds", Kind::SaidNumber),
    f(5, "activeDeadlineSeconds", Kind::SaidNumber),
    text(6, "dnsPolicy"),
    f(7, "nodeSelector", Kind::TextMap),
    text(8, "serviceAccountName"),
    text(9, "serviceAccount"),
    text(10, "nodeName"),
    f(11, "hostNetwork", Kind::Flag),
    f(12, "hostPID", Kind::Flag),
    f(13, "hostIPC", Kind::Flag),
    text(16, "hostname"),
    text(17, "subdomain"),
    text(19, "schedulerName"),
    f(20, "initContainers", Kind::Messages(CONTAINER)),
    text(24, "priorityClassName"),
    text(29, "runtimeClassName"),
];

const DEPLOYMENT_SPEC: &[Field] = &[
    f(1, "replicas", Kind::SaidNumber),
    f(2, "selector", Kind::Message(SELECTOR)),
    f(
        3,
        "template",
        Kind::Message(&[f(1, "metadata", Kind::Message(METADATA)), f(2, "spec", Kind::Message(POD_SPEC))]),
    ),
    f(
        4,
        "strategy",
        Kind::Message(&[
            text(1, "type"),
            f(
                2,
                "rollingUpdate",
                Kind::Message(&[f(1, "maxUnavailable", Kind::NumberOrText), f(2, "maxSurge", Kind::NumberOrText)]),
            ),
        ]),
    ),
    f(5, "minReadySeconds", Kind::Number),
    f(6, "revisionHistoryLimit", Kind::SaidNumber),
    f(7, "paused", Kind::Flag),
    f(9, "progressDeadlineSeconds", Kind::SaidNumber),
];

const DEPLOYMENT: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(2, "spec", Kind::Message(DEPLOYMENT_SPEC)),
    f(3, "status", Kind::Ignored),
];

const NAMESPACE: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(2, "spec", Kind::Message(&[f(1, "finalizers", Kind::Texts)])),
    f(3, "status", Kind::Ignored),
];

const QUOTA: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(2, "spec", Kind::Message(&[f(1, "hard", Kind::QuantityMap), f(2, "scopes", Kind::Texts)])),
    f(3, "status", Kind::Ignored),
];

const ROLE: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(
        2,
        "rules",
        Kind::Messages(&[
            f(1, "verbs", Kind::Texts),
            f(2, "apiGroups", Kind::Texts),
            f(3, "resources", Kind::Texts),
            f(4, "resourceNames", Kind::Texts),
            f(5, "nonResourceURLs", Kind::Texts),
        ]),
    ),
];

const ROLE_BINDING: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(2, "subjects", Kind::Messages(&[text(1, "kind"), text(2, "apiGroup"), text(3, "name"), text(4, "namespace")])),
    f(3, "roleRef", Kind::Message(&[text(1, "apiGroup"), text(2, "kind"), text(3, "name")])),
];

const RESOURCE_ATTRIBUTES: Kind = Kind::Message(&[
    text(1, "namespace"),
    text(2, "verb"),
    text(3, "group"),
    text(4, "version"),
    text(5, "resource"),
    text(6, "subresource"),
    text(7, "name"),
]);

const PATH_ATTRIBUTES: Kind = Kind::Message(&[text(1, "path"), text(2, "verb")]);

const ACCESS_REVIEW: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(
        2,
        "spec",
        Kind::Message(&[
            f(1, "resourceAttributes", RESOURCE_ATTRIBUTES),
            f(2, "nonResourceAttributes", PATH_ATTRIBUTES),
            text(3, "user"),
            f(4, "groups", Kind::Texts),
            text(6, "uid"),
        ]),
    ),
    f(3, "status", Kind::Ignored),
];

const RULES_REVIEW: &[Field] = &[
    f(1, "metadata", Kind::Message(METADATA)),
    f(2, "spec", Kind::Message(&[text(1, "namespace")])),
    f(3, "status", Kind::Ignored),
];

const SELF_REVIEW: &[Field] = &[f(1, "metadata", Kind::Message(METADATA)), f(2, "status", Kind::Ignored)];

const DELETE_OPTIONS: &[Field] = &[
    f(1, "gracePeriodSeconds", Kind::SaidNumber),
    f(2, "preconditions", Kind::Message(&[text(1, "uid"), text(2, "resourceVersion")])),
    f(3, "orphanDependents", Kind::Flag),
    text(4, "propagationPolicy"),
    f(5, "dryRun", Kind::Texts),
];

/// The fields of a kind.
pub(super) fn of(version: &str, kind: &str) -> Option<&'static [Field]> {
    Some(match (version, kind) {
        ("v1", "Namespace") => NAMESPACE,
        ("v1", "ResourceQuota") => QUOTA,
        ("apps/v1", "Deployment") => DEPLOYMENT,
        ("rbac.authorization.k8s.io/v1", "Role" | "ClusterRole") => ROLE,
        ("rbac.authorization.k8s.io/v1", "RoleBinding" | "ClusterRoleBinding") => ROLE_BINDING,
        ("authorization.k8s.io/v1", "SelfSubjectAccessReview" | "SubjectAccessReview" | "LocalSubjectAccessReview") => {
            ACCESS_REVIEW
        }
        ("authorization.k8s.io/v1", "SelfSubjectRulesReview") => RULES_REVIEW,
        ("authentication.k8s.io/v1", "SelfSubjectReview") => SELF_REVIEW,
        (_, "DeleteOptions") => DELETE_OPTIONS,
        _ => return None,
    })
}
