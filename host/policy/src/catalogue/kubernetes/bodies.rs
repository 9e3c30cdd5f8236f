//! The bodies of the operations on Deployments.

use super::pod;
use crate::fields::Rule::{Label, Map, NewName, Object, OneOf, OrNull, Place, Text, Token, Whole, WholeOrText};
use crate::fields::{Field, Keys, Rule, may, must};
use crate::limits;

/// A Deployment. Its status and what the server owns of its metadata are not for a client to write; `generateName` would
/// make names that nobody looked up before; owner references and finalizers tie its end to that of others.
pub(super) static CREATE_DEPLOYMENT: Rule = Object(&[
    must("apiVersion", OneOf(&["apps/v1"])),
    must("kind", OneOf(&["Deployment"])),
    must(
        "metadata",
        Object(&[
            must("name", NewName),
            may("namespace", Place),
            may("labels", Map(Keys::Any, &Label)),
            may("annotations", Map(Keys::NotReserved, &Text)),
        ]),
    ),
    must(
        "spec",
        Object(&[
            may("replicas", Whole(0, limits::REPLICAS)),
            may("selector", Object(&[may("matchLabels", Map(Keys::Any, &Label))])),
            may("strategy", STRATEGY),
            may("minReadySeconds", SECONDS),
            may("progressDeadlineSeconds", SECONDS),
            may("revisionHistoryLimit", Whole(0, 1_000)),
            may("paused", Rule::Flag),
            must("template", Object(TEMPLATE)),
        ]),
    ),
]);

const SECONDS: Rule = Whole(0, i32::MAX as i64);

const STRATEGY: Rule = Object(&[
    may("type", OneOf(&["RollingUpdate", "Recreate"])),
    may("rollingUpdate", Object(&[may("maxSurge", WholeOrText), may("maxUnavailable", WholeOrText)])),
]);

const TEMPLATE: &[Field] = &[
    may(
        "metadata",
        Object(&[
            may("labels", Map(Keys::Any, &Label)),
            // Add-ons act on annotations of Pods (networks, injected secrets, roles of a cloud), so they need a grant.
            may("annotations", Map(Keys::OwnOr(pod::ANNOTATIONS), &Text)),
        ]),
    ),
    must("spec", Object(pod::SPEC)),
];

/// The uid and version that the object must still have.
const PRECONDITIONS: [Field; 2] = [may("uid", Token), may("resourceVersion", Token)];

/// How many replicas. Nothing else of a Scale can be written.
pub(super) static PATCH_SCALE: Rule = Object(&[
    may("metadata", Object(&PRECONDITIONS)),
    may("spec", Object(&[may("replicas", Whole(0, limits::REPLICAS))])),
]);

/// Our own annotations. Labels are not among it, since some of them say whose the object is; the template is not, since
/// that means to run anything.
pub(super) static PATCH_DEPLOYMENT: Rule = Object(&[must(
    "metadata",
    Object(&[PRECONDITIONS[0], PRECONDITIONS[1], may("annotations", Map(Keys::Own, &OrNull(&Text)))]),
)]);

/// How to delete. The uid is needed, so that what was made anew under the same name is never hit; the propagation too,
/// because the server's default may leave the Pods behind, as `Orphan` does. No grace period: 0 would end the record of
/// containers that still run.
pub(super) static DELETE: Rule = Object(&[
    may("apiVersion", OneOf(&["v1", "meta.k8s.io/v1"])),
    may("kind", OneOf(&["DeleteOptions"])),
    must("propagationPolicy", OneOf(&["Foreground", "Background"])),
    must("preconditions", Object(&[must("uid", Token), may("resourceVersion", Token)])),
]);
