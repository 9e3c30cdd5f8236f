use rstest::rstest;
use serde_json::{Value, json};
use workload_guest::Label;

use super::*;

fn ours() -> Ownership {
    let label = |key: &str, value: &str| Label { key: key.to_owned(), value: value.to_owned() };
    Ownership {
        owner: "me".to_owned(),
        labels: vec![label("w/managed", "true"), label("w/owner", "me")],
        id_key: "w/id".to_owned(),
    }
}

fn made(document: &Value) -> Result<Value, Fault> {
    let spec = Spec { id: "default/web".to_owned(), document: document.to_string(), id_label: None };
    plan(&spec, &ours(), &[1, 2, 3]).map(|new| serde_json::from_slice(&new.body).unwrap())
}

#[test]
fn the_least_document() {
    let labels = json!({"w/managed": "true", "w/owner": "me", "w/id": "default.web"});
    let mut body = made(&json!({"image": "nginx:1"})).unwrap();
    let attempt = body["metadata"]["annotations"]["w/attempt"].take();
    assert_eq!(attempt.as_str().unwrap().len(), 32);
    assert_eq!(
        body,
        json!({
            "apiVersion": "apps/v1", "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default", "labels": labels, "annotations": {"w/attempt": null}},
            "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": {
                "metadata": {"labels": labels}, "spec": {"containers": [{"name": "main", "image": "nginx:1"}]}}},
        })
    );
}

#[test]
fn the_whole_document() {
    let body = made(&json!({
        "image": "nginx:1", "command": ["sh", "-c"], "args": ["sleep 1"], "env": {"B": "2", "A": "x=y"}, "cpu": "500m",
        "memory": "64Mi", "replicas": 0, "pull_policy": "Never", "pull_secrets": ["registry"],
    }))
    .unwrap();
    assert_eq!(body["spec"]["replicas"], json!(0));
    assert_eq!(
        body["spec"]["template"]["spec"],
        json!({
            "imagePullSecrets": [{"name": "registry"}],
            "containers": [{
                "name": "main", "image": "nginx:1", "command": ["sh", "-c"], "args": ["sleep 1"],
                "env": [{"name": "A", "value": "x=y"}, {"name": "B", "value": "2"}],
                "resources": {"requests": {"cpu": "500m", "memory": "64Mi"}, "limits": {"cpu": "500m", "memory": "64Mi"}},
                "imagePullPolicy": "Never",
            }],
        })
    );
}

#[rstest]
#[case::no_object(json!([]), "$")]
#[case::no_image(json!({}), "$.image")]
#[case::null_image(json!({"image": null}), "$.image")]
#[case::empty_image(json!({"image": ""}), "$.image")]
#[case::image_with_space(json!({"image": "a b"}), "$.image")]
#[case::image_of_another_type(json!({"image": 1}), "$.image")]
#[case::command(json!({"image": "a", "command": "sh"}), "$.command")]
#[case::command_entry(json!({"image": "a", "command": ["sh", 1]}), "$.command[1]")]
#[case::args_entry(json!({"image": "a", "args": [null]}), "$.args[0]")]
#[case::env(json!({"image": "a", "env": [{"name": "A", "value": "hunter2"}]}), "$.env")]
#[case::env_value(json!({"image": "a", "env": {"A": {"secret": "hunter2"}}}), "$.env.A")]
#[case::env_name(json!({"image": "a", "env": {"A=B": "hunter2"}}), "$.env[\"A=B\"]")]
#[case::env_no_name(json!({"image": "a", "env": {"": "hunter2"}}), "$.env[\"\"]")]
#[case::cpu_number(json!({"image": "a", "cpu": 1}), "$.cpu")]
#[case::cpu(json!({"image": "a", "cpu": "1.5m"}), "$.cpu")]
#[case::cpu_negative(json!({"image": "a", "cpu": "-1"}), "$.cpu")]
#[case::memory(json!({"image": "a", "memory": "64MB"}), "$.memory")]
#[case::memory_empty(json!({"image": "a", "memory": ""}), "$.memory")]
#[case::replicas_negative(json!({"image": "a", "replicas": -1}), "$.replicas")]
#[case::replicas_fraction(json!({"image": "a", "replicas": 1.5}), "$.replicas")]
#[case::replicas_text(json!({"image": "a", "replicas": "1"}), "$.replicas")]
#[case::replicas_too_many(json!({"image": "a", "replicas": 2_147_483_648_u64}), "$.replicas")]
#[case::pull_policy(json!({"image": "a", "pull_policy": "always"}), "$.pull_policy")]
#[case::pull_secret(json!({"image": "a", "pull_secrets": ["ok", "No"]}), "$.pull_secrets[1]")]
#[case::unknown(json!({"image": "a", "imagee": "hunter2"}), "$.imagee")]
#[case::privileged(json!({"image": "a", "securityContext": {"privileged": true}}), "$.securityContext")]
fn a_wrong_field_is_named_and_no_value_repeated(#[case] document: Value, #[case] path: &str) {
    let fault = made(&document).unwrap_err();
    assert_eq!(fault.kind, FaultKind::InvalidSpec);
    assert_eq!(fault.detail, [("path".to_owned(), path.to_owned())]);
    assert!(fault.message.starts_with(path), "{}", fault.message);
    assert!(!fault.message.contains("hunter2"));
}

#[rstest]
#[case::cores("cpu", &["1", "0.5", "1.125", "100m"])]
#[case::bytes("memory", &["1", "128Mi", "1Gi", "1.5G", "500k", "1000000"])]
fn quantities(#[case] key: &str, #[case] values: &[&str]) {
    for value in values {
        assert!(made(&json!({"image": "a", key: value})).is_ok(), "{value}");
    }
}

#[rstest]
#[case::the_managers_own(Some("42"), Ok("42"))]
#[case::from_the_id(None, Ok("default.web"))]
#[case::no_label_value(Some("a/b"), Err(FaultKind::InvalidSpec))]
#[case::empty(Some(""), Err(FaultKind::InvalidSpec))]
fn id_labels(#[case] id_label: Option<&str>, #[case] want: Result<&str, FaultKind>) {
    let spec = Spec {
        id: "default/web".to_owned(),
        document: r#"{"image":"a"}"#.to_owned(),
        id_label: id_label.map(str::to_owned),
    };
    let label = plan(&spec, &ours(), &[]).map(|new| {
        let body: Value = serde_json::from_slice(&new.body).unwrap();
        body["metadata"]["labels"]["w/id"].as_str().unwrap().to_owned()
    });
    assert_eq!(label.as_deref().map_err(|fault| fault.kind), want);
}

#[test]
fn an_attempt_is_told_from_every_other() {
    let attempt = |id: &str, seed: &[u8]| {
        let spec = Spec { id: id.to_owned(), document: r#"{"image":"a"}"#.to_owned(), id_label: None };
        plan(&spec, &ours(), seed).unwrap().attempt.1
    };
    assert_eq!(attempt("n/a", &[1]), attempt("n/a", &[1]));
    assert_ne!(attempt("n/a", &[1]), attempt("n/a", &[2]));
    assert_ne!(attempt("n/a", &[1]), attempt("n/b", &[1]));
}

#[test]
fn a_template_that_is_printed_shows_no_value() {
    let template = document::parse(r#"{"image":"a","env":{"PASSWORD":"hunter2"}}"#).unwrap();
    let printed = format!("{template:?}");
    assert!(printed.contains("PASSWORD") && !printed.contains("hunter2"));
}

#[test]
fn the_schema_is_json_and_knows_the_same_fields() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let fields: Vec<&String> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(fields, ["args", "command", "cpu", "env", "image", "memory", "pull_policy", "pull_secrets", "replicas"]);
}
