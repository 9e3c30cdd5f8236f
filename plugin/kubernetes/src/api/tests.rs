use rstest::rstest;

use super::*;

/// A Deployment as a server wrote it, with much that nobody reads.
const WHOLE: &str = r#"{
  "kind": "Deployment", "apiVersion": "apps/v1",
  "metadata": {"name": "web", "namespace": "default", "uid": "u-1", "resourceVersion": "7", "generation": 2,
    "labels": {"a": "1", "e": "\u00e4\n"}, "annotations": {"big": "{\"x\":\"y\"}", "w/attempt": "abc"},
    "managedFields": [{"manager": "kubectl", "fieldsV1": {"f:spec": {}}}],
    "ownerReferences": [{"kind": "App", "name": "shop", "uid": "o", "controller": true}], "finalizers": ["f"]},
  "spec": {"replicas": 3, "paused": true, "minReadySeconds": 5, "selector": {"matchLabels": {"a": "1"}},
    "template": {"metadata": {"creationTimestamp": null, "labels": {"a": "1"}},
      "spec": {"containers": [{"name": "main", "image": "nginx:1", "readinessProbe": {"httpGet": {}}}]}}},
  "status": {"observedGeneration": 2, "replicas": 3, "terminatingReplicas": 0,
    "conditions": [{"type": "Available", "status": "True", "reason": "R", "message": "m"}]},
  "future": {"unknown": [1, 2]}
}"#;

#[test]
fn a_deployment_is_decoded() {
    let object = Deployment::decode(WHOLE.as_bytes(), "default", "web").unwrap();
    assert_eq!((&*object.metadata.uid, object.metadata.generation, object.desired()), ("u-1", 2, 3));
    assert_eq!(object.metadata.labels.get("e"), Some("ä\n"));
    assert_eq!(object.metadata.controller().map(|owner| &*owner.name), Some("shop"));
    assert_eq!((object.status.replicas, object.status.available_replicas), (3, 0));
    assert_eq!(object.status.terminating_replicas, Some(0));
    assert!(object.condition("Available").is_some() && object.condition("Progressing").is_none());
    let spec = object.template().unwrap().pod_spec().unwrap();
    assert_eq!(&*spec.containers[0].image, "nginx:1");
    assert!(spec.containers[0].readiness_probe.is_some());
}

#[rstest]
#[case::name("default", "other")]
#[case::namespace("other", "web")]
fn another_object_is_malformed(#[case] namespace: &str, #[case] name: &str) {
    assert_eq!(Deployment::decode(WHOLE.as_bytes(), namespace, name).err(), Some(Malformed));
}

#[rstest]
#[case::empty("{}")]
#[case::null("null")]
#[case::no_json("<html>")]
#[case::status(r#"{"kind":"Status","apiVersion":"v1","metadata":{"name":"web","namespace":"default","uid":"u"}}"#)]
#[case::another_group(r#"{"kind":"Deployment","apiVersion":"extensions/v1beta1","metadata":{"name":"web","namespace":"default","uid":"u"}}"#)]
#[case::no_kind(r#"{"metadata":{"name":"web","namespace":"default","uid":"u"}}"#)]
#[case::no_uid(r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"default"}}"#)]
#[case::null_uid(
    r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"default","uid":null}}"#
)]
#[case::wrong_type(r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"name":"web","namespace":"default","uid":"u"},"spec":{"replicas":"1"}}"#)]
fn what_is_no_deployment_is_malformed(#[case] text: &str) {
    assert_eq!(Deployment::decode(text.as_bytes(), "default", "web").err(), Some(Malformed));
}

#[test]
fn every_cut_is_malformed() {
    for end in 0..WHOLE.len() {
        assert!(Deployment::decode(&WHOLE.as_bytes()[..end], "default", "web").is_err(), "cut at {end}");
    }
    assert!(Deployment::decode(b"\xff\xfe", "default", "web").is_err());
}

#[rstest]
#[case::absent("", 1)]
#[case::null(r#""replicas":null"#, 1)]
#[case::zero(r#""replicas":0"#, 0)]
fn an_absent_count_is_one(#[case] field: &str, #[case] desired: i64) {
    let meta = r#""metadata":{"name":"web","namespace":"default","uid":"u"}"#;
    let text = format!(r#"{{"kind":"Deployment","apiVersion":"apps/v1",{meta},"spec":{{{field}}}}}"#);
    assert_eq!(Deployment::decode(text.as_bytes(), "default", "web").unwrap().desired(), desired);
}

#[test]
fn null_is_like_absent() {
    let text = r#"{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p","namespace":"n","uid":"u","labels":null,
        "ownerReferences":null,"finalizers":null,"generation":null,"deletionTimestamp":null},
        "spec":null,"status":{"phase":null,"conditions":null,"containerStatuses":null}}"#;
    let pod = Pod::decode(text.as_bytes(), "n", "p").unwrap();
    assert!(
        pod.metadata.labels.iter().next().is_none() && !pod.metadata.is_deleting() && pod.is_live() && !pod.is_ready()
    );
    assert_eq!(pod.node(), None);
}

#[rstest]
#[case::items(r#"{"kind":"PodList","metadata":{"resourceVersion":"9","continue":"t"},"items":[{"a":1},{"a":2}]}"#, Some(("9", "t", 2)))]
#[case::none(r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":[]}"#, Some(("9", "", 0)))]
#[case::null_items(r#"{"kind":"PodList","metadata":{"resourceVersion":"9"},"items":null}"#, Some(("9", "", 0)))]
#[case::another_kind(r#"{"kind":"DeploymentList","metadata":{},"items":[]}"#, None)]
#[case::no_list(r#"{"kind":"Pod","metadata":{}}"#, None)]
#[case::empty("{}", None)]
fn lists(#[case] text: &str, #[case] want: Option<(&str, &str, usize)>) {
    let list = List::decode(text.as_bytes(), "Pod").ok();
    assert_eq!(list.as_ref().map(|list| (&*list.resource_version, &*list.next, list.items.len())), want);
}

#[rstest]
#[case::added("ADDED", Ok(Event::Changed))]
#[case::modified("MODIFIED", Ok(Event::Changed))]
#[case::deleted("DELETED", Ok(Event::Changed))]
#[case::bookmark("BOOKMARK", Ok(Event::Bookmark))]
#[case::error("ERROR", Ok(Event::Error))]
#[case::unknown("WHAT", Err(Malformed))]
fn events(#[case] kind: &str, #[case] want: Result<Event, Malformed>) {
    assert_eq!(event(format!(r#"{{"type":"{kind}","object":{{"kind":"X"}}}}"#).as_bytes()), want);
    assert_eq!(event(b"{}"), Err(Malformed));
}

#[rstest]
#[case::there(WHOLE, "w/attempt", Some("abc"))]
#[case::absent(WHOLE, "w/other", None)]
#[case::no_annotations(r#"{"metadata":{}}"#, "w/attempt", None)]
#[case::null(r#"{"metadata":{"annotations":null}}"#, "w/attempt", None)]
#[case::no_json("<", "w/attempt", None)]
fn annotations(#[case] text: &str, #[case] key: &str, #[case] want: Option<&str>) {
    assert_eq!(annotation(text.as_bytes(), key).as_deref(), want);
}

#[test]
fn strings_are_borrowed_where_they_can_be() {
    let object = Deployment::decode(WHOLE.as_bytes(), "default", "web").unwrap();
    let range = WHOLE.as_bytes().as_ptr_range();
    assert!(range.contains(&object.metadata.uid.as_ptr()));
    assert!(range.contains(&object.status.conditions[0].message.as_ptr()));
    assert!(range.contains(&object.metadata.labels.get("a").unwrap().as_ptr()));
}

#[rstest]
#[case::none(r#"{"spec":{"containers":[{"name":"a"}]}}"#, Some(vec![]), None)]
#[case::of_all(
    r#"{"spec":{"containers":[{"env":[{"name":"A","value":"x"},{"name":"B","valueFrom":{}}]}],"initContainers":[{"env":[{"value":"y"}]}]}}"#,
    Some(vec!["x", "y"]),
    None
)]
#[case::nulls(r#"{"spec":{"containers":null,"initContainers":[{"env":null}]}}"#, Some(vec![]), None)]
#[case::a_negative_grace(
    r#"{"spec":{"terminationGracePeriodSeconds":-1,"containers":[{"env":[{"value":"x"}]}]}}"#, Some(vec!["x"]), Some(1)
)]
#[case::a_grace(r#"{"spec":{"terminationGracePeriodSeconds":5}}"#, Some(vec![]), Some(5))]
#[case::no_template(r#"{}"#, Some(vec![]), None)]
#[case::nobody_can_tell(r#"{"spec":{"containers":[{"env":"x"}]}}"#, None, None)]
fn what_a_template_tells_besides(
    #[case] json: &str,
    #[case] variables: Option<Vec<&str>>,
    #[case] grace_seconds: Option<u64>,
) {
    let template: PodTemplate<'_> = serde_json::from_str(json).unwrap();
    let found = template.variables();
    assert_eq!(found.as_ref().map(|all| all.iter().map(String::as_str).collect::<Vec<_>>()), variables);
    assert_eq!(template.grace_seconds(), grace_seconds);
}
