use rstest::rstest;
use serde_json::json;

use super::*;
use crate::schema::of;

fn writer(manager: &str) -> Writer<'_> {
    Writer { manager, version: "apps/v1", subresource: "", now: "2026-11-30T15:00:00Z", reset: &["status"] }
}

fn owner(value: &Value, index: usize) -> Value {
    value.pointer(&format!("/metadata/managedFields/{index}/fieldsV1")).cloned().unwrap_or_default()
}

#[test]
fn a_new_object_belongs_to_its_maker() {
    let kind = of("Deployment");
    let empty = crate::schema::decode::tidy(&json!({}), kind).unwrap();
    let text = json!({
        "metadata": {"name": "a", "labels": {"app": "a"}, "finalizers": ["x/y"]},
        "spec": {
            "selector": {"matchLabels": {"app": "a"}},
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": 1}},
            "template": {"spec": {"containers": [{"name": "m", "ports": [{"containerPort": 80, "protocol": "TCP"}]}]}},
        },
        "status": {"replicas": 1},
    });
    let mut after = crate::schema::decode::tidy(&text, kind).unwrap();
    update(&empty, &mut after, kind, writer("me"));
    let expected = json!({
        "f:metadata": {
            "f:labels": {".": {}, "f:app": {}},
            "f:finalizers": {".": {}, "v:\"x/y\"": {}},
        },
        "f:spec": {
            "f:selector": {},
            "f:strategy": {"f:rollingUpdate": {".": {}, "f:maxSurge": {}}, "f:type": {}},
            "f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"m\"}": {
                ".": {}, "f:name": {}, "f:resources": {},
                "f:ports": {".": {}, "k:{\"containerPort\":80,\"protocol\":\"TCP\"}": {".": {}, "f:containerPort": {}, "f:protocol": {}}},
            }}}},
        },
    });
    assert_eq!(owner(&after, 0), expected);
}

#[test]
fn fields_are_written_as_they_were_read() {
    let text = json!({"f:a": {".": {}, "f:b": {}}, "k:{\"n\":1}": {}, "v:\"x\"": {}, "i:3": {}, "f:c": {"f:d": {}}});
    assert_eq!(Fields::read(&text).map(|fields| fields.write()), Some(text));
}

#[rstest]
#[case::no_kind(json!({"x": {}}))]
#[case::unknown_kind(json!({"z:x": {}}))]
#[case::no_object(json!([]))]
fn fields_that_make_no_sense(#[case] text: Value) {
    assert_eq!(Fields::read(&text), None);
}

#[test]
fn more_than_ten_managers_become_one() {
    let kind = of("Deployment");
    let mut live = crate::schema::decode::tidy(&json!({"metadata": {"uid": "u"}}), kind).unwrap();
    let empty = crate::schema::decode::tidy(&json!({}), kind).unwrap();
    let names: Vec<String> = (0..14).map(|number| format!("m{number:02}")).collect();
    for (number, name) in names.iter().enumerate() {
        let mut after = live.clone();
        let metadata = after.get_mut("metadata").unwrap();
        let label = format!("l{number:02}");
        metadata.as_object_mut().unwrap().entry("labels").or_insert(json!({}))[&label] = json!("x");
        let now = format!("2026-11-30T15:00:{number:02}Z");
        let before = if number == 0 { empty.clone() } else { live };
        update(&before, &mut after, kind, Writer { now: &now, ..writer(name) });
        live = after;
    }
    let managers = read(&live).unwrap();
    assert_eq!(managers.len(), 10);
    let ancient = managers.iter().find(|(id, _)| id.manager == "ancient-changes").unwrap();
    assert_eq!(ancient.1.fields.paths().len(), 6, "the labels of five managers, and that there are labels");
}

#[test]
fn an_item_that_only_one_applier_knows_goes_with_it() {
    let kind = of("Deployment");
    let config = |names: &[&str]| {
        let containers: Vec<_> = names.iter().map(|name| json!({"name": name, "image": "a"})).collect();
        json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "a"},
            "spec": {"template": {"spec": {"containers": containers}}}})
    };
    let empty = json!({"apiVersion": "apps/v1", "kind": "Deployment"});
    let apply_it = |live: &Value, manager: &str, names: &[&str]| {
        let config = config(names);
        let how = Application { config: &config, force: false, writer: writer(manager) };
        let mut after = apply(live, how, kind).unwrap();
        after["metadata"]["uid"] = json!("u");
        after
    };
    let names = |value: &Value| -> Vec<String> {
        let containers = list(value, "/spec/template/spec/containers").iter();
        containers.map(|container| text(container, "/name").to_owned()).collect()
    };
    let both = apply_it(&apply_it(&empty, "one", &["a", "b"]), "two", &["b", "c"]);
    assert_eq!(names(&both), ["a", "b", "c"]);
    let after = apply_it(&both, "one", &["a"]);
    assert_eq!(names(&after), ["a", "b", "c"], "the other still wants it");
    assert_eq!(names(&apply_it(&after, "two", &["c"])), ["a", "c"]);
}
