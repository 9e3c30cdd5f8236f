//! `doctor` and `rbac` as a user meets them.

use std::sync::{Arc, Mutex};

use rstest::rstest;
use serde_json::{Value, json};

use crate::home::{Answer, Home};
use crate::server::{refusal, serve};

/// A Kubernetes that takes us for Ann, who may do everything but this verb with this resource.
fn without(home: Home, verb: &'static str, resource: &'static str) -> (Home, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let record = Arc::clone(&asked);
    let home = home.with_server(serve(move |method, path, body| {
        record.lock().unwrap().push(format!("{method} {path}"));
        Some(match path.rsplit('/').next()? {
            "version" => (200, json!({"gitVersion": "v1.35.4", "platform": "linux/amd64"})),
            "selfsubjectreviews" => {
                let user = json!({"username": "ann", "groups": ["system:authenticated"]});
                (201, json!({"kind": "SelfSubjectReview", "status": {"userInfo": user}}))
            }
            "selfsubjectaccessreviews" => {
                let asked = &body["spec"]["resourceAttributes"];
                let allowed = (&asked["verb"], &asked["resource"]) != (&json!(verb), &json!(resource));
                (201, json!({"kind": "SelfSubjectAccessReview", "status": {"allowed": allowed}}))
            }
            name => refusal(403, "Forbidden", "namespaces", name),
        })
    }));
    (home, asked)
}

/// The results by the name of the check, each once.
fn results(answer: &Answer) -> Vec<(String, String)> {
    let document = answer.json();
    let checks = document["checks"].as_array().unwrap_or_else(|| panic!("{answer:?}"));
    let text = |check: &Value, name: &str| check[name].as_str().unwrap().to_owned();
    let mut results: Vec<_> = checks.iter().map(|check| (text(check, "check"), text(check, "result"))).collect();
    results.dedup();
    results
}

fn pairs(expected: &[(&str, &str)]) -> Vec<(String, String)> {
    expected.iter().map(|(name, result)| ((*name).to_owned(), (*result).to_owned())).collect()
}

#[test]
fn all_is_well() {
    let (home, asked) = without(Home::new(), "", "");
    let answer = home.run("doctor");
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(answer.stdout.starts_with("RESULT   CHECK       MESSAGE\n"), "{answer:?}");
    for said in
        ["ok       server      Kubernetes v1.35.4 on linux/amd64\n", "patch deployments/scale in namespace shop\n"]
    {
        assert!(answer.stdout.contains(said), "{answer:?}");
    }
    let writes: Vec<_> = asked.lock().unwrap().iter().filter(|line| !line.starts_with("GET ")).cloned().collect();
    assert!(writes.iter().all(|line| line.ends_with("reviews")), "{writes:?}");
}

#[rstest]
#[case::json("json")]
#[case::the_only_form_for_programs("manager")]
fn a_missing_permission(#[case] format: &str) {
    let (home, _) = without(Home::new(), "create", "deployments");
    let answer = home.run(&format!("doctor -o {format}"));
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(5), ""), "{answer:?}");
    let document = answer.json();
    let failed: Vec<_> = document["checks"].as_array().unwrap().iter().filter(|c| c["result"] == "failed").collect();
    let [failed] = failed[..] else { panic!("{answer:?}") };
    assert_eq!((&failed["check"], &failed["fault"]), (&json!("permission"), &json!("forbidden")));
    let detail = &failed["detail"];
    assert_eq!((&detail["verb"], &detail["resource"]), (&json!("create"), &json!("deployments")), "{detail}");
    assert_eq!((&detail["group"], &detail["namespace"]), (&json!("apps"), &json!("shop")), "{detail}");
}

#[test]
fn a_person_is_told_of_the_role() {
    let (home, _) = without(Home::new(), "list", "pods");
    let answer = home.run("doctor");
    assert_eq!(answer.code, Some(5), "{answer:?}");
    let line = answer.stdout.lines().find(|line| line.starts_with("failed")).unwrap();
    assert!(line.ends_with("not allowed to list pods in namespace shop; needed to list Pods"), "{line}");
    assert_eq!(answer.stderr, "`workload rbac -n shop` prints a role with all that is needed\n");
}

#[test]
fn a_server_that_is_not_there() {
    let answer = Home::new().with_unreachable_server().run("doctor -o json");
    assert_eq!(answer.code, Some(6), "{answer:?}");
    let expected = pairs(&[
        ("kubeconfig", "ok"),
        ("credential", "ok"),
        ("address", "ok"),
        ("connection", "failed"),
        ("tls", "skipped"),
        ("server", "skipped"),
        ("clock", "skipped"),
        ("identity", "skipped"),
        ("namespace", "skipped"),
        ("permission", "skipped"),
    ]);
    assert_eq!(results(&answer), expected, "{answer:?}");
}

#[test]
fn a_server_that_says_nothing() {
    let (home, listener) = Home::new().with_silent_server();
    let answer = home.run("doctor -o json --timeout 1s");
    drop(listener);
    assert_eq!(answer.code, Some(6), "{answer:?}");
    assert!(results(&answer).contains(&("server".to_owned(), "failed".to_owned())), "{answer:?}");
}

#[test]
fn a_credential_that_is_not_accepted() {
    let home = Home::new().with_server(serve(|_, _, _| Some(refusal(401, "Unauthorized", "", ""))));
    let answer = home.run("doctor -o json");
    assert_eq!(answer.code, Some(4), "{answer:?}");
    let results = results(&answer);
    assert!(results.contains(&("server".to_owned(), "ok".to_owned())), "{answer:?}");
    assert!(results.contains(&("identity".to_owned(), "failed".to_owned())), "{answer:?}");
}

#[rstest]
#[case::none("doctor", "no kubeconfig")]
#[case::named("doctor --kubeconfig nowhere", "nowhere")]
fn no_kubeconfig(#[case] line: &str, #[case] said: &str) {
    let answer = Home::new().run(&format!("{line} -o json"));
    assert_eq!(answer.code, Some(2), "{answer:?}");
    let first = &answer.json()["checks"][0];
    assert_eq!((&first["check"], &first["fault"]), (&json!("kubeconfig"), &json!("configuration")));
    assert!(first["message"].as_str().is_some_and(|message| message.contains(said)), "{answer:?}");
    let table = Home::new().run(line);
    assert_eq!((table.code, table.stderr.as_str()), (Some(2), ""), "{table:?}");
}

#[rstest]
#[case::nowhere("rbac", "default", "namespace: default\n", "namespace default")]
#[case::asked("rbac -n apps", "apps", "namespace: apps\n", "namespace apps")]
#[case::everywhere("rbac -A", "default", "kind: ClusterRole\n", "all namespaces")]
fn a_role_needs_neither_server_nor_kubeconfig(
    #[case] line: &str,
    #[case] account_in: &str,
    #[case] said: &str,
    #[case] comment: &str,
) {
    let home = Home::new();
    let answer = home.run(line);
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    assert!(
        answer.stdout.starts_with(&format!("# All that is needed in {comment}, and nothing else.\n")),
        "{answer:?}"
    );
    assert!(answer.stdout.contains(said), "{answer:?}");
    let list = home.run(&format!("{line} -o json")).json();
    assert_eq!((&list["kind"], list["items"].as_array().map(Vec::len)), (&json!("List"), Some(2)));
    let subject = &list["items"][1]["subjects"][0];
    let expected = json!({"kind": "ServiceAccount", "name": "workload", "namespace": account_in});
    assert_eq!(*subject, expected, "{list}");
}

#[rstest]
#[case::nowhere(
    "nowhere",
    "rbac",
    "warning: no file that KUBECONFIG names is there (nowhere); the namespace is default\n"
)]
#[case::several("nowhere:neither", "rbac -A", "warning: no file that KUBECONFIG names is there (nowhere:neither)")]
#[case::one_of_several("nowhere:.kube/config", "rbac", "")]
#[case::not_needed("nowhere", "rbac -n apps", "")]
#[case::empty("", "rbac", "")]
fn a_variable_that_leads_nowhere_is_said(#[case] list: &str, #[case] line: &str, #[case] said: &str) {
    let home = Home::new().with_unreachable_server();
    let output = home.command(line.split_whitespace()).env("KUBECONFIG", list).output().unwrap();
    let answer = Answer::of(output);
    assert_eq!(answer.code, Some(0), "{answer:?}");
    assert!(answer.stderr.starts_with(said) && answer.stderr.is_empty() == said.is_empty(), "{answer:?}");
    assert!(answer.stdout.starts_with("# All that is needed in "), "{answer:?}");
}

#[test]
fn a_role_is_for_the_namespace_of_the_kubeconfig_and_nobody_is_asked() {
    let (home, asked) = without(Home::new(), "", "");
    let list = home.run("rbac --user ann -o json").json();
    assert_eq!(list["items"][0]["metadata"], json!({"name": "workload", "namespace": "shop"}));
    assert_eq!(list["items"][1]["subjects"][0]["name"], "ann");
    assert!(asked.lock().unwrap().is_empty());

    home.file("broken", "{");
    let answer = home.run("rbac --kubeconfig broken");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.contains("broken"), "{answer:?}");
}
