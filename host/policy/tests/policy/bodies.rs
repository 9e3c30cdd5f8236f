//! The bodies of creates, patches and deletes, but for the fields of Pods.

use rstest::rstest;
use serde_json::{Value, json};
use workload_policy::{DenialRule, Engine, Grants, Media, Method, Places};

use crate::ask::{Ask, WEB, deployment, everything, usual, usual_and, with};

#[test]
fn a_create_is_sent_as_it_was_asked() {
    assert_eq!(Ask::create(&deployment()).sent(&usual()), deployment());
}

/// Fields that a create may have, with a value that is allowed.
#[rstest]
#[case::stopped("spec.replicas", json!(0))]
#[case::many("spec.replicas", json!(1_000))]
#[case::strategy("spec.strategy", json!({"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%", "maxUnavailable": 0}}))]
#[case::recreate("spec.strategy.type", json!("Recreate"))]
#[case::min_ready("spec.minReadySeconds", json!(5))]
#[case::deadline("spec.progressDeadlineSeconds", json!(600))]
#[case::history("spec.revisionHistoryLimit", json!(2))]
#[case::paused("spec.paused", json!(true))]
#[case::label("metadata.labels.tier", json!("front_1"))]
#[case::annotation("metadata.annotations", json!({"example.com/note": "anything at all: \u{1f600}"}))]
#[case::own_annotation_of_the_pods("spec.template.metadata.annotations", json!({"workload-provider/attempt": "1"}))]
fn create_allows(#[case] field: &str, #[case] value: Value) {
    let document = with(deployment(), field, value);
    assert_eq!(Ask::create(&document).sent(&usual()), document);
}

/// Fields of a create that nothing allows, with the path that the denial names.
#[rstest]
#[case::other_kind("kind", json!("Pod"), "kind is not one of Deployment")]
#[case::other_version("apiVersion", json!("apps/v1beta1"), "apiVersion is not one of apps/v1")]
#[case::status("status", json!({}), "status is not allowed")]
#[case::name_of_a_path("metadata.name", json!("../x"), "metadata.name is not a DNS label of at most 52 characters")]
#[case::name_too_long("metadata.name", json!("a".repeat(53)), "metadata.name is not a DNS label of at most 52 characters")]
#[case::name_with_dot("metadata.name", json!("a.b"), "metadata.name is not a DNS label of at most 52 characters")]
#[case::generated_name("metadata.generateName", json!("web-"), "metadata.generateName is not allowed")]
#[case::owner("metadata.ownerReferences", json!([]), "metadata.ownerReferences is not allowed")]
#[case::finalizers("metadata.finalizers", json!(["x/y"]), "metadata.finalizers is not allowed")]
#[case::uid("metadata.uid", json!("d1"), "metadata.uid is not allowed")]
#[case::version("metadata.resourceVersion", json!("1"), "metadata.resourceVersion is not allowed")]
#[case::managed_fields("metadata.managedFields", json!([]), "metadata.managedFields is not allowed")]
#[case::label_value("metadata.labels.tier", json!("a b"), "metadata.labels.tier is not the value of a label")]
#[case::label_key("metadata.labels", json!({"a b": "c"}), "metadata.labels.? is not a qualified name")]
#[case::label_number("metadata.labels.tier", json!(1), "metadata.labels.tier is not the value of a label")]
#[case::revision("metadata.annotations", json!({"deployment.kubernetes.io/revision": "1"}), "metadata.annotations[deployment.kubernetes.io/revision] is Kubernetes' own")]
#[case::applied("metadata.annotations", json!({"kubectl.kubernetes.io/last-applied-configuration": "{}"}), "metadata.annotations[kubectl.kubernetes.io/last-applied-configuration] is Kubernetes' own")]
#[case::apparmor("spec.template.metadata.annotations", json!({"container.apparmor.security.beta.kubernetes.io/main": "unconfined"}),
    "spec.template.metadata.annotations[container.apparmor.security.beta.kubernetes.io/main] is Kubernetes' own")]
#[case::negative("spec.replicas", json!(-1), "spec.replicas is not a whole number from 0 to 1000")]
#[case::too_many("spec.replicas", json!(1_001), "spec.replicas is not a whole number from 0 to 1000")]
#[case::fraction("spec.replicas", json!(1.5), "spec.replicas is not a whole number from 0 to 1000")]
#[case::text("spec.replicas", json!("1"), "spec.replicas is not a whole number from 0 to 1000")]
#[case::null("spec.replicas", json!(null), "spec.replicas is null: leave it out")]
#[case::null_of_the_unknown("spec.template.spec.hostNetwork", json!(null), "spec.template.spec.hostNetwork is null: leave it out")]
#[case::selector("spec.selector.matchExpressions", json!([]), "spec.selector.matchExpressions is not allowed")]
#[case::rollback("spec.rollbackTo", json!({"revision": 0}), "spec.rollbackTo is not allowed")]
#[case::template_name("spec.template.metadata.name", json!("x"), "spec.template.metadata.name is not allowed")]
#[case::template_namespace("spec.template.metadata.namespace", json!("x"), "spec.template.metadata.namespace is not allowed")]
#[case::template_finalizers("spec.template.metadata.finalizers", json!([]), "spec.template.metadata.finalizers is not allowed")]
#[case::spec_of_another_kind("spec", json!([]), "spec is not an object")]
#[case::case_of_a_field("Spec", json!({}), "Spec is not allowed")]
#[case::key_of_controls("metadata.\u{1b}[31m", json!(1), "metadata.? is not allowed")]
fn create_denies(#[case] field: &str, #[case] value: Value, #[case] detail: &str) {
    let denied = Ask::create(&with(deployment(), field, value)).decide(&everything()).expect_err("must be denied");
    assert_eq!(denied.detail(), detail);
    assert_eq!(denied.operation(), Some("deployments:create"));
}

#[rstest]
#[case::api_version("apiVersion")]
#[case::kind("kind")]
#[case::metadata("metadata")]
#[case::name("metadata.name")]
#[case::spec("spec")]
#[case::template("spec.template")]
#[case::template_spec("spec.template.spec")]
#[case::containers("spec.template.spec.containers")]
fn create_needs(#[case] field: &str) {
    let mut document = deployment();
    let pointer = format!("/{}", field.replace('.', "/"));
    let (parent, key) = pointer.rsplit_once('/').expect("a pointer");
    document.pointer_mut(parent).and_then(Value::as_object_mut).expect("an object").remove(key).expect("was there");
    let denied = Ask::create(&document).decide(&everything()).expect_err("must be denied");
    assert_eq!((denied.rule(), denied.detail()), (DenialRule::FieldMissing, format!("{field} is missing").as_str()));
}

#[rstest]
#[case::list(json!([]))]
#[case::text(json!("x"))]
#[case::number(json!(1))]
fn a_body_is_an_object(#[case] body: Value) {
    for ask in [Ask::create(&body), Ask::scale(&body), Ask::delete(&body)] {
        let denied = ask.decide(&everything()).expect_err("must be denied");
        assert_eq!(denied.detail(), "the body is not an object");
    }
}

#[test]
fn other_annotations_of_pods_need_a_grant() {
    let field = "spec.template.metadata.annotations";
    let document = with(deployment(), field, json!({"iam.amazonaws.com/role": "admin"}));
    let denied = Ask::create(&document).decide(&usual()).expect_err("must be denied");
    assert_eq!(denied.detail(), format!("{field}[iam.amazonaws.com/role] needs `pod:annotations`"));
    assert_eq!(Ask::create(&document).sent(&usual_and(&["pod:annotations"])), document);
}

#[rstest]
#[case::start(json!({"metadata": {"uid": "cc30ccc1-bc79-4a92-ab5a-6fe300d23034"}, "spec": {"replicas": 1}}))]
#[case::stop(json!({"metadata": {"uid": "u", "resourceVersion": "5935"}, "spec": {"replicas": 0}}))]
#[case::without_a_uid(json!({"spec": {"replicas": 1_000}}))]
fn scale_allows(#[case] patch: Value) {
    assert_eq!(Ask::scale(&patch).sent(&usual()), patch);
}

#[rstest]
#[case::negative(json!({"spec": {"replicas": -1}}), "spec.replicas is not a whole number from 0 to 1000")]
#[case::huge(json!({"spec": {"replicas": 5_000_000_000_u64}}), "spec.replicas is not a whole number from 0 to 1000")]
#[case::taken_away(json!({"spec": {"replicas": null}}), "spec.replicas is null: leave it out")]
#[case::spec_taken_away(json!({"spec": null}), "spec is null: leave it out")]
#[case::template(json!({"spec": {"template": {}}}), "spec.template is not allowed")]
#[case::name(json!({"metadata": {"name": "other"}}), "metadata.name is not allowed")]
#[case::labels(json!({"metadata": {"labels": {}}}), "metadata.labels is not allowed")]
#[case::annotations(json!({"metadata": {"annotations": {}}}), "metadata.annotations is not allowed")]
#[case::kind(json!({"kind": "Scale"}), "kind is not allowed")]
#[case::status(json!({"status": {}}), "status is not allowed")]
#[case::empty_uid(json!({"metadata": {"uid": ""}}), "metadata.uid is not a uid or version")]
fn scale_denies(#[case] patch: Value, #[case] detail: &str) {
    assert_eq!(Ask::scale(&patch).decide(&everything()).expect_err("must be denied").detail(), detail);
}

#[rstest]
#[case::as_written("1.0")]
#[case::exponent("1e0")]
#[case::too_large_for_a_number("99999999999999999999999999")]
fn a_count_is_whole_as_it_is_written(#[case] number: &str) {
    let ask = Ask::scale(&json!({})).body(Media::MergePatch, format!("{{\"spec\":{{\"replicas\":{number}}}}}"));
    assert_eq!(ask.denied(&everything()), DenialRule::FieldValue);
}

fn patch(patch: &Value) -> Ask {
    Ask::new(Method::Patch, WEB).body(Media::MergePatch, patch.to_string())
}

#[rstest]
#[case::ours(json!({"metadata": {"uid": "d1", "annotations": {"workload-provider/nudged": "2026"}}}))]
#[case::ours_taken_away(json!({"metadata": {"resourceVersion": "7", "annotations": {"workload-provider/nudged": null}}}))]
fn patch_allows(#[case] body: Value) {
    assert_eq!(patch(&body).sent(&usual()), body);
}

#[rstest]
#[case::foreign(json!({"metadata": {"annotations": {"example.com/x": "1"}}}), "metadata.annotations[example.com/x] is not one of our own")]
#[case::foreign_taken_away(json!({"metadata": {"annotations": {"a": null}}}), "metadata.annotations.a is not one of our own")]
#[case::all_taken_away(json!({"metadata": {"annotations": null}}), "metadata.annotations is null: leave it out")]
#[case::labels(json!({"metadata": {"labels": {"workload-provider/owner": "me"}}}), "metadata.labels is not allowed")]
#[case::owner(json!({"metadata": {"ownerReferences": []}}), "metadata.ownerReferences is not allowed")]
#[case::finalizers(json!({"metadata": {"finalizers": null}}), "metadata.finalizers is not allowed")]
#[case::count(json!({"metadata": {}, "spec": {"replicas": 1}}), "spec is not allowed")]
#[case::template(json!({"metadata": {}, "spec": {"template": {}}}), "spec is not allowed")]
#[case::number(json!({"metadata": {"annotations": {"workload-provider/x": 1}}}), "metadata.annotations[workload-provider/x] is not a text")]
#[case::nothing(json!({}), "metadata is missing")]
fn patch_denies(#[case] body: Value, #[case] detail: &str) {
    assert_eq!(patch(&body).decide(&everything()).expect_err("must be denied").detail(), detail);
}

#[test]
fn our_own_annotations_have_the_configured_prefix() {
    let grants = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::All).expect("valid");
    let grants = grants.with_prefix("org.example.manager").expect("a prefix");
    let body = |key: &str| json!({"metadata": {"annotations": {key: "1"}}});
    assert!(patch(&body("org.example.manager.nudged")).decide(&grants).is_ok());
    assert!(patch(&body("org.example.manager/nudged")).decide(&grants).is_ok());
    assert_eq!(patch(&body("workload-provider/nudged")).denied(&grants), DenialRule::Field);
    assert_eq!(patch(&body("org.example.managers/nudged")).denied(&grants), DenialRule::Field);
}

#[rstest]
#[case::foreground(json!({"propagationPolicy": "Foreground", "preconditions": {"uid": "d1"}}))]
#[case::background(json!({"propagationPolicy": "Background", "preconditions": {"uid": "d1", "resourceVersion": "7"}}))]
#[case::with_its_kind(json!({"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Foreground", "preconditions": {"uid": "d1"}}))]
fn delete_allows(#[case] options: Value) {
    assert_eq!(Ask::delete(&options).sent(&usual()), options);
}

#[rstest]
#[case::orphan("propagationPolicy", json!("Orphan"), "propagationPolicy is not one of Foreground, Background")]
#[case::orphan_the_old_way("orphanDependents", json!(true), "orphanDependents is not allowed")]
#[case::grace("gracePeriodSeconds", json!(0), "gracePeriodSeconds is not allowed")]
#[case::dry("dryRun", json!(["All"]), "dryRun is not allowed")]
#[case::unsafe_store_error("ignoreStoreReadErrorWithClusterBreakingPotential", json!(true), "ignoreStoreReadErrorWithClusterBreakingPotential is not allowed")]
#[case::no_uid("preconditions", json!({"resourceVersion": "7"}), "preconditions.uid is missing")]
#[case::empty_uid("preconditions.uid", json!(""), "preconditions.uid is not a uid or version")]
#[case::null_uid("preconditions.uid", json!(null), "preconditions.uid is null: leave it out")]
#[case::other_kind("kind", json!("Pod"), "kind is not one of DeleteOptions")]
fn delete_denies(#[case] field: &str, #[case] value: Value, #[case] detail: &str) {
    let options = json!({"propagationPolicy": "Foreground", "preconditions": {"uid": "d1"}});
    let denied = Ask::delete(&with(options, field, value)).decide(&everything()).expect_err("must be denied");
    assert_eq!(denied.detail(), detail);
}

#[test]
fn delete_says_what_becomes_of_the_pods() {
    let denied = Ask::delete(&json!({"preconditions": {"uid": "d1"}})).decide(&everything()).expect_err("denied");
    assert_eq!(denied.detail(), "propagationPolicy is missing");
}
