use rstest::rstest;
use serde_json::{Value, json};

use super::*;
use crate::call::{Call, Query, Target, User, WriteResult};
use crate::patch::merge;
use crate::registry::Part;
use crate::registry::tests::state;
use crate::resource::{self, DEPLOYMENTS, NAMESPACES, PODS, RESOURCE_QUOTAS};
use crate::store::Key;
use crate::value::text;

/// One request, as a client words it.
struct Request<'a> {
    verb: &'a str,
    resource: &'static Resource,
    /// `namespace/name/subresource`, as much of it as there is.
    place: &'a str,
    query: &'a str,
    media: &'a str,
    body: &'a [u8],
}

fn send(state: &State, request: &Request<'_>) -> WriteResult {
    let mut parts = request.place.split('/').map(str::to_owned);
    let namespace = if request.resource.namespaced { parts.next().unwrap_or_default() } else { String::new() };
    let target = Target {
        resource: request.resource,
        namespace,
        name: parts.next().unwrap_or_default(),
        subresource: parts.next().unwrap_or_default(),
    };
    let pairs = request.query.split('&').filter(|pair| !pair.is_empty());
    let pairs = pairs.map(|pair| pair.split_once('=').unwrap_or((pair, "")));
    let query = Query(pairs.map(|(key, value)| (key.to_owned(), value.to_owned())).collect());
    let user = User::authenticated("admin", &["system:masters"]);
    let call = Call {
        state,
        user: &user,
        target: &target,
        query: &query,
        media: request.media,
        agent: "writer/v1",
        body: request.body,
    };
    match request.verb {
        "POST" => create(&call),
        "PUT" => update(&call),
        "PATCH" => patch(&call),
        _ => delete(&call),
    }
}

fn with_namespace(name: &str) -> State {
    let state = state();
    make(&state, &NAMESPACES, "", json!({"metadata": {"name": name}})).unwrap();
    state
}

fn replaced(value: &Value, words: &[(&str, String)]) -> Value {
    let text = words.iter().fold(value.to_string(), |text, (word, by)| text.replace(word, by));
    serde_json::from_str(&text).unwrap()
}

/// The answers of the real server, in the order in which they were asked for.
#[tokio::test(start_paused = true)]
async fn answers_as_the_real_server_does() {
    let table: Value = serde_json::from_str(include_str!("../../testdata/writes.json")).unwrap();
    let state = with_namespace("n");
    let (mut stale, mut uid) = (String::new(), String::new());
    let mut wrong = Vec::new();
    for step in table["steps"].as_array().unwrap() {
        let title = step["title"].as_str().unwrap();
        let (verb, place) = step["request"].as_str().unwrap().split_once(' ').unwrap();
        let (place, query) = place.split_once('?').unwrap_or((place, ""));
        let place = place.replace("/deployments", "");
        let found = state.store.get(&Key::new(&DEPLOYMENTS, "n", "app")).map(|object| object.value());
        let of = |pointer: &str| found.as_ref().map(|found| text(found, pointer).to_owned()).unwrap_or_default();
        let name = place.split('/').nth(1).unwrap_or_default();
        let it = state.store.get(&Key::new(&DEPLOYMENTS, "n", name)).map(|it| it.uid.clone()).unwrap_or_default();
        if uid.is_empty() && found.is_some() {
            (uid, stale) = (of("/metadata/uid"), of("/metadata/resourceVersion"));
        }
        let words = [
            ("{uid}", uid.clone()),
            ("{stale}", stale.clone()),
            ("{version}", of("/metadata/resourceVersion")),
            ("{created}", of("/metadata/creationTimestamp")),
            ("{uid of it}", it),
        ];
        let step = replaced(step, &words);
        let body = match (&step["like"], &step["text"], &step["body"]) {
            (Value::Object(_), ..) => {
                let mut body = table["base"].clone();
                merge::apply(&mut body, &step["like"]);
                body.to_string()
            }
            (_, Value::String(text), _) => text.clone(),
            (_, _, Value::Null) => String::new(),
            (_, _, body) => body.to_string(),
        };
        let media = step["media"].as_str().unwrap_or_default();
        let request = Request { verb, resource: &DEPLOYMENTS, place: &place, query, media, body: body.as_bytes() };
        let (code, answer) = match send(&state, &request) {
            Ok(written) => (written.code, written.value),
            Err(error) => (error.code, error.status()),
        };
        let mut differs = step["code"] != json!(code);
        match (&step["status"], &step["scale"]) {
            (Value::Object(_), _) => differs |= step["status"] != answer,
            (_, Value::Object(_)) => differs |= answer["spec"] != step["scale"]["spec"] || answer["kind"] != "Scale",
            _ => {}
        }
        for (pointer, value) in step["has"].as_object().into_iter().flatten() {
            differs |= answer.pointer(pointer) != Some(value);
        }
        if differs {
            wrong.push(format!("{title}\n  expected {} {}\n  found    {code} {answer}", step["code"], step["status"]));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn app() -> Value {
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "app", "labels": {"app": "app"}},
        "spec": {
            "replicas": 1, "selector": {"matchLabels": {"app": "app"}},
            "template": {
                "metadata": {"labels": {"app": "app"}},
                "spec": {"containers": [{"name": "main", "image": "busybox:1"}]},
            },
        },
    })
}

const MERGE: &str = "application/merge-patch+json";
const APPLY: &str = "application/apply-patch+yaml";
const STRATEGIC: &str = "application/strategic-merge-patch+json";

fn ask(state: &State, verb: &str, place: &str, query: &str, media: &str, body: &Value) -> WriteResult {
    let body = body.to_string();
    send(state, &Request { verb, resource: &DEPLOYMENTS, place, query, media, body: body.as_bytes() })
}

fn managers(value: &Value) -> Vec<(String, String, Value)> {
    let entries = value["metadata"]["managedFields"].as_array().cloned().unwrap_or_default();
    let entry = |entry: &Value| {
        let name = [text(entry, "/manager"), text(entry, "/subresource")].join("/");
        (name, text(entry, "/operation").to_owned(), entry["fieldsV1"].clone())
    };
    entries.iter().map(entry).collect()
}

#[tokio::test(start_paused = true)]
async fn owners_follow_the_count_through_scale_and_apply() {
    let state = with_namespace("n");
    let apply = |query: &str, replicas: Value| {
        let mut config = app();
        config["spec"]["replicas"] = replicas;
        if config["spec"]["replicas"].is_null() {
            config["spec"].as_object_mut().unwrap().remove("replicas");
        }
        ask(&state, "PATCH", "n/app", query, APPLY, &config)
    };
    let count = json!({"f:spec": {"f:replicas": {}}});
    assert_eq!(apply("fieldManager=gitops", json!(1)).unwrap().code, 201);

    let scale = |number: i32| {
        ask(&state, "PATCH", "n/app/scale", "fieldManager=scaler", MERGE, &json!({"spec": {"replicas": number}}))
    };
    let scaled = scale(2).unwrap().value;
    assert_eq!(scaled["spec"], json!({"replicas": 2}));
    let stored = || state.store.get(&Key::new(&DEPLOYMENTS, "n", "app")).unwrap().value();
    let scaler = ("scaler/scale".to_owned(), "Update".to_owned(), count.clone());
    assert_eq!(managers(&stored()).get(1), Some(&scaler));

    let refused = apply("fieldManager=gitops", json!(1)).unwrap_err();
    let expected = "Apply failed with 1 conflict: conflict with \"scaler\" with subresource \"scale\" using apps/v1: .spec.replicas";
    assert_eq!((refused.code, refused.message.as_str()), (409, expected));
    assert_eq!(apply("fieldManager=gitops&force=true", json!(1)).unwrap().value["spec"]["replicas"], json!(1));
    assert_eq!(managers(&stored()).len(), 1);

    // A scale to 0 leaves nobody with the count.
    assert_eq!(scale(0).unwrap().value["spec"], json!({}));
    let names: Vec<_> = managers(&stored()).into_iter().map(|(name, ..)| name).collect();
    assert_eq!(names, ["gitops/"]);
    assert_eq!(apply("fieldManager=gitops", json!(1)).unwrap().value["spec"]["replicas"], json!(1));

    // Given up, and somebody else has it: it stays.
    let zero = json!({"spec": {"replicas": 0}});
    ask(&state, "PATCH", "n/app", "fieldManager=scaler", MERGE, &zero).unwrap();
    assert_eq!(apply("fieldManager=gitops", json!(1)).unwrap_err().code, 409);
    assert_eq!(apply("fieldManager=gitops", Value::Null).unwrap().value["spec"]["replicas"], json!(0));
}

#[tokio::test(start_paused = true)]
async fn what_the_last_applier_gives_up_goes() {
    let state = with_namespace("n");
    let label = |manager: &str, label: Option<&str>| {
        let mut config = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "app"}});
        if let Some(label) = label {
            config["metadata"]["labels"] = json!({label: "yes"});
        }
        let query = format!("fieldManager={manager}");
        ask(&state, "PATCH", "n/app", &query, APPLY, &config).unwrap().value["metadata"]["labels"].clone()
    };
    ask(&state, "POST", "n", "", "", &app()).unwrap();
    assert_eq!(label("second", Some("more")), json!({"app": "app", "more": "yes"}));
    assert_eq!(label("third", Some("more")), json!({"app": "app", "more": "yes"}));
    assert_eq!(label("second", None), json!({"app": "app", "more": "yes"}));
    assert_eq!(label("third", None), json!({"app": "app"}));
}

#[tokio::test(start_paused = true)]
async fn a_write_that_changes_nothing_writes_nothing() {
    let state = with_namespace("n");
    let made = ask(&state, "POST", "n", "", "", &app()).unwrap().value;
    let version = state.store.version();
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let same = ask(&state, "PATCH", "n/app", "", MERGE, &json!({"spec": {"replicas": 1}})).unwrap().value;
    assert_eq!(same, made);
    assert_eq!(ask(&state, "PUT", "n/app", "", "", &made).unwrap().value, made);
    assert_eq!(ask(&state, "PUT", "n/app", "", "", &app()).unwrap().value, made);
    assert_eq!(state.store.version(), version);
    // The real one writes twice here: the count gets an owner of the same name as the maker, and the next write of any
    // kind finds two of one name and drops the first.
    let scale = |number: u64| {
        let again = ask(&state, "PATCH", "n/app/scale", "", MERGE, &json!({"spec": {"replicas": 1}})).unwrap().value;
        assert_eq!(again["metadata"]["resourceVersion"], json!((version + number).to_string()));
    };
    scale(1);
    ask(&state, "PATCH", "n/app", "", MERGE, &json!({})).unwrap();
    assert_eq!(state.store.version(), version + 2);
    scale(2);
    let stored = state.store.get(&Key::new(&DEPLOYMENTS, "n", "app")).unwrap().value();
    assert_eq!(stored["metadata"]["generation"], json!(1));
}

#[rstest]
#[case::spec(json!({"spec": {"replicas": 2}}), 2)]
#[case::annotation(json!({"metadata": {"annotations": {"a": "b"}}}), 2)]
#[case::label(json!({"metadata": {"labels": {"a": "b"}}}), 1)]
#[case::status(json!({"status": {"replicas": 5}}), 1)]
#[case::generation(json!({"metadata": {"generation": 7}}), 1)]
#[tokio::test(start_paused = true)]
async fn what_raises_the_generation(#[case] change: Value, #[case] generation: i64) {
    let state = with_namespace("n");
    ask(&state, "POST", "n", "", "", &app()).unwrap();
    let after = ask(&state, "PATCH", "n/app", "", MERGE, &change).unwrap().value;
    assert_eq!(after["metadata"]["generation"], json!(generation));
    assert_eq!(after["status"], json!({}));
}

#[tokio::test(start_paused = true)]
async fn rollout_restart_and_set_image_change_one_field_each() {
    let state = with_namespace("n");
    ask(&state, "POST", "n", "", "", &app()).unwrap();
    let restart =
        json!({"spec": {"template": {"metadata": {"annotations": {"kubectl.kubernetes.io/restartedAt": "now"}}}}});
    let after = ask(&state, "PATCH", "n/app", "fieldManager=kubectl-rollout", STRATEGIC, &restart).unwrap().value;
    assert_eq!(after["spec"]["template"]["metadata"]["labels"], json!({"app": "app"}));
    let image = json!({"spec": {"template": {"spec": {
        "$setElementOrder/containers": [{"name": "main"}], "containers": [{"image": "busybox:2", "name": "main"}],
    }}}});
    let after = ask(&state, "PATCH", "n/app", "fieldManager=kubectl-set", STRATEGIC, &image).unwrap().value;
    assert_eq!(after["spec"]["template"]["spec"]["containers"][0]["image"], json!("busybox:2"));
    assert_eq!(after["metadata"]["generation"], json!(3));
    let set = managers(&after).into_iter().find(|(name, ..)| name == "kubectl-set/").unwrap();
    let owned =
        json!({"f:spec": {"f:template": {"f:spec": {"f:containers": {"k:{\"name\":\"main\"}": {"f:image": {}}}}}}});
    assert_eq!(set.2, owned);
}

#[tokio::test(start_paused = true)]
async fn a_namespace_refuses_content_once_it_goes() {
    let state = with_namespace("n");
    let request = |verb: &'static str, place: &'static str| Request {
        verb,
        resource: &NAMESPACES,
        place,
        query: "",
        media: "",
        body: b"",
    };
    let going = send(&state, &request("DELETE", "n")).unwrap().value;
    assert_eq!(going["status"]["phase"], json!("Terminating"));
    let refused = ask(&state, "POST", "n", "", "", &app()).unwrap_err();
    assert_eq!(refused.code, 403);
    let status = refused.status();
    assert_eq!(status["details"]["causes"][0]["reason"], json!("NamespaceTerminating"));
    let finalize = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "n"}, "spec": {}}).to_string();
    let finalize = Request { body: finalize.as_bytes(), ..request("PUT", "n/finalize") };
    assert_eq!(send(&state, &finalize).unwrap().code, 200);
    assert!(state.store.get(&Key::new(&NAMESPACES, "", "n")).is_none());
}

#[rstest]
#[case::pods("v1", "Pod", json!({"containers": [{"name": "m", "image": "a:1"}]}))]
#[tokio::test(start_paused = true)]
async fn a_pod_gets_what_the_server_gives(#[case] version: &str, #[case] kind: &str, #[case] spec: Value) {
    let state = with_namespace("n");
    let body =
        json!({"apiVersion": version, "kind": kind, "metadata": {"generateName": "p-"}, "spec": spec}).to_string();
    let request = Request { verb: "POST", resource: &PODS, place: "n", query: "", media: "", body: body.as_bytes() };
    let pod = send(&state, &request).unwrap().value;
    assert_eq!(pod["status"], json!({"phase": "Pending", "qosClass": "BestEffort"}));
    assert_eq!(pod["spec"]["serviceAccountName"], json!("default"));
    assert_eq!(pod["spec"]["tolerations"].as_array().map(Vec::len), Some(2));
    assert_eq!(pod["spec"]["enableServiceLinks"], json!(true));
    assert_eq!(pod["spec"]["containers"][0]["imagePullPolicy"], json!("IfNotPresent"));
    let mount = &pod["spec"]["containers"][0]["volumeMounts"][0];
    assert_eq!(mount["mountPath"], json!("/var/run/secrets/kubernetes.io/serviceaccount"));
    assert_eq!(mount["name"], pod["spec"]["volumes"][0]["name"]);
    let owner = &managers(&pod)[0].2;
    assert_eq!(owner["f:spec"]["f:tolerations"], Value::Null, "what the server adds has no owner");
}

#[tokio::test(start_paused = true)]
async fn a_quota_refuses_over_http_as_for_controllers() {
    let state = with_namespace("n");
    let hard = json!({"hard": {"count/deployments.apps": "1"}});
    let quota = json!({"metadata": {"name": "q"}, "spec": hard});
    make(&state, &RESOURCE_QUOTAS, "n", quota).unwrap();
    let key = Key::new(&RESOURCE_QUOTAS, "n", "q");
    let counted = |value: &mut Value| {
        value["status"] = json!({"hard": {"count/deployments.apps": "1"}, "used": {"count/deployments.apps": "0"}});
        Ok(())
    };
    state.update(&key, Part::Status, false, counted).unwrap();
    assert_eq!(ask(&state, "POST", "n", "", "", &app()).unwrap().code, 201);
    let mut second = app();
    second["metadata"]["name"] = json!("second");
    let refused = ask(&state, "POST", "n", "", "", &second).unwrap_err();
    let by_make = make(&state, &DEPLOYMENTS, "n", second).unwrap_err();
    assert_eq!(refused, by_make);
    assert_eq!(refused.code, 403);
}

#[rstest]
#[case::dry_run(
    "dryRun=Some",
    "CreateOptions.meta.k8s.io \"\" is invalid: dryRun: Unsupported value: [\"Some\"]: supported values: \"All\""
)]
#[case::validation(
    "fieldValidation=Maybe",
    "CreateOptions.meta.k8s.io \"\" is invalid: fieldValidation: Unsupported value: \"Maybe\": supported values: \"\", \"Ignore\", \"Strict\", \"Warn\""
)]
#[tokio::test(start_paused = true)]
async fn options_are_checked(#[case] query: &str, #[case] message: &str) {
    let state = with_namespace("n");
    let error = ask(&state, "POST", "n", query, "", &app()).unwrap_err();
    assert_eq!((error.code, error.message.as_str()), (422, message));
}

#[test]
fn every_resource_has_a_type() {
    for resource in resource::ALL {
        assert!(!schema::of(resource.kind).fields.is_empty(), "{}", resource.kind);
    }
}

mod properties;
