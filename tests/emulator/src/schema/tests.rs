use rstest::rstest;
use serde_json::{Value, json};

use super::decode::{decode, tidy};
use super::node::Node;
use super::{List, all, of, ordered};

fn read(kind: &str, text: &str) -> Result<Value, String> {
    decode(&Node::parse(text.as_bytes())?, of(kind)).map(|decoded| decoded.value)
}

#[test]
fn every_struct_that_a_field_names_is_there() {
    fn named(kind: &super::Kind) -> Option<&'static str> {
        match kind {
            super::Kind::Struct(name) => Some(name),
            super::Kind::List(item) | super::Kind::Map(item) => named(&item.kind),
            _ => None,
        }
    }
    for kind in all().values() {
        for field in &kind.fields {
            if let Some(name) = named(&field.shape.kind) {
                assert!(
                    all().contains_key(name),
                    "{}.{} is a {name}, which is not in the tables",
                    kind.name,
                    field.name
                );
            }
        }
    }
}

#[test]
fn keys_of_lists_are_known() {
    let ports = of("Container").field("ports").unwrap();
    assert_eq!(ports.list, List::Keys(vec!["containerPort", "protocol"]));
    assert_eq!((ports.merge, ports.merge_key), (true, Some("containerPort")));
    assert_eq!(of("ContainerPort").field("protocol").unwrap().default, Some("TCP"));
}

#[rstest]
#[case::text_for_a_number(
    "Deployment",
    r#"{"spec":{"replicas":"one"}}"#,
    "json: cannot unmarshal string into Go struct field DeploymentSpec.spec.replicas of type int32"
)]
#[case::too_large(
    "Scale",
    r#"{"spec":{"replicas":5000000000}}"#,
    "json: cannot unmarshal number 5000000000 into Go struct field ScaleSpec.spec.replicas of type int32"
)]
#[case::in_a_list(
    "Pod",
    r#"{"spec":{"containers":[{"image":1}]}}"#,
    "json: cannot unmarshal number into Go struct field Container.spec.containers.image of type string"
)]
#[case::object_for_a_list(
    "Pod",
    r#"{"spec":{"containers":{}}}"#,
    "json: cannot unmarshal object into Go struct field PodSpec.spec.containers of type []v1.Container"
)]
#[case::named_type(
    "Pod",
    r#"{"spec":{"restartPolicy":true}}"#,
    "json: cannot unmarshal bool into Go struct field PodSpec.spec.restartPolicy of type v1.RestartPolicy"
)]
#[case::label(
    "Pod",
    r#"{"metadata":{"labels":{"a":1}}}"#,
    "json: cannot unmarshal number into Go struct field ObjectMeta.metadata.labels of type string"
)]
#[case::the_first_counts(
    "Pod",
    r#"{"spec":{"hostNetwork":"x"},"metadata":{"name":1}}"#,
    "json: cannot unmarshal string into Go struct field PodSpec.spec.hostNetwork of type bool"
)]
#[case::whole("Pod", "[]", "json: cannot unmarshal array into Go value of type v1.Pod")]
#[case::amount(
    "ResourceQuota",
    r#"{"spec":{"hard":{"pods":"lots"}}}"#,
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)]
#[case::ended("Pod", r#"{"kind":"#, "unexpected end of JSON input")]
#[case::no_json("Pod", "hello", "invalid character 'h' looking for beginning of value")]
#[case::no_comma("Pod", r#"{"a":1 "b":2}"#, "invalid character '\"' after object key:value pair")]
fn what_go_says(#[case] kind: &str, #[case] text: &str, #[case] error: &str) {
    assert_eq!(read(kind, text), Err(error.to_owned()));
}

#[test]
fn empty_things_go_and_what_go_always_writes_comes() {
    let read = read(
        "Pod",
        r#"{"metadata":{"name":"a","labels":{}},"spec":{"nodeSelector":{},"restartPolicy":"","containers":[{"name":"m","args":[]}],"securityContext":{},"terminationGracePeriodSeconds":0}}"#,
    );
    let expected = json!({
        "metadata": {"name": "a"},
        "spec": {"containers": [{"name": "m", "resources": {}}], "securityContext": {}, "terminationGracePeriodSeconds": 0},
        "status": {},
    });
    assert_eq!(read, Ok(expected));
}

#[test]
fn unknown_and_double_fields_are_told_with_their_places() {
    let text =
        r#"{"spec":{"replicas":1,"replicas":2,"template":{"spec":{"containers":[{"name":"a","imagee":"x"}]}}},"x":1}"#;
    let decoded = decode(&Node::parse(text.as_bytes()).unwrap(), of("Deployment")).unwrap();
    let expected = [
        "duplicate field \"spec.replicas\"",
        "unknown field \"spec.template.spec.containers[0].imagee\"",
        "unknown field \"x\"",
    ];
    assert_eq!(decoded.strict, expected);
    assert_eq!(decoded.value.pointer("/spec/replicas"), Some(&json!(2)));
}

#[test]
fn text_has_the_order_of_the_structs() {
    let value =
        json!({"matchExpressions": [{"values": ["b"], "operator": "In", "key": "a"}], "matchLabels": {"z": "<"}});
    let expected = r#"{"matchLabels":{"z":"\u003c"},"matchExpressions":[{"key":"a","operator":"In","values":["b"]}]}"#;
    assert_eq!(ordered::of_type(&value, of("LabelSelector")), expected);
}

proptest::proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(text in proptest::collection::vec(proptest::num::u8::ANY, 0..64)) {
        let ours = Node::parse(&text).map(|node| node.value());
        // Where serde reads it, so do we, and the other way round, apart from bytes that are no UTF-8.
        if std::str::from_utf8(&text).is_ok() {
            proptest::prop_assert_eq!(ours.is_ok(), serde_json::from_slice::<Value>(&text).is_ok());
        }
    }

    #[test]
    fn reading_twice_changes_nothing(replicas in 0..5, name in "[a-z]{0,5}", label in "[a-z]{0,3}") {
        let value = json!({"metadata": {"name": name, "labels": {"a": label}}, "spec": {"replicas": replicas}, "junk": 1});
        let once = tidy(&value, of("Deployment")).unwrap();
        proptest::prop_assert_eq!(tidy(&once, of("Deployment")).unwrap(), once);
    }
}
