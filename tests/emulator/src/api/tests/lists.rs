use proptest::prelude::*;

use super::super::continue_token::Token;
use super::*;

const PATH: &str = "/apis/apps/v1/namespaces/ns/deployments";

fn five() -> Server {
    let server = Server::new();
    for name in ["a", "b", "c", "d", "e"] {
        let tier = if name == "b" || name == "d" { "even" } else { "odd" };
        server.put(&DEPLOYMENTS, "ns", name, json!({"metadata": {"labels": {"tier": tier}}}));
    }
    server.put(&DEPLOYMENTS, "other", "z", json!({}));
    server
}

fn names(value: &Value) -> Vec<String> {
    let items = value["items"].as_array().unwrap().iter();
    items.map(|item| item["metadata"]["name"].as_str().unwrap().to_owned()).collect()
}

#[rstest]
#[case::all("", "abcde", Some(7), None)]
#[case::all_in_a_page("?limit=5", "abcde", Some(7), None)]
#[case::page("?limit=2", "ab", Some(7), Some(3))]
#[case::negative_limit("?limit=-1", "abcde", Some(7), None)]
#[case::any_version_has_no_pages("?limit=2&resourceVersion=0", "abcde", Some(7), None)]
#[case::as_it_was("?resourceVersion=3&resourceVersionMatch=Exact", "ab", Some(3), None)]
#[case::as_it_was_by_the_old_rule("?resourceVersion=3&limit=5", "ab", Some(3), None)]
#[case::as_it_was_in_pages("?resourceVersion=4&resourceVersionMatch=Exact&limit=1", "a", Some(4), Some(2))]
#[case::not_older("?resourceVersion=3&resourceVersionMatch=NotOlderThan", "abcde", Some(7), None)]
#[case::at_least("?resourceVersion=3", "abcde", Some(7), None)]
#[case::one_name("?fieldSelector=metadata.name%3Dc", "c", Some(7), None)]
#[case::no_such_name("?fieldSelector=metadata.name%3Dx", "", Some(7), None)]
#[case::two_names("?fieldSelector=metadata.name%3Dc,metadata.name%3Dd", "", Some(7), None)]
#[case::not_a_name("?fieldSelector=metadata.name!%3Dc", "abde", Some(7), None)]
#[case::label("?labelSelector=tier%3Deven", "bd", Some(7), None)]
#[case::set("?labelSelector=tier+in+(even,odd),tier!%3Dodd", "bd", Some(7), None)]
#[case::no_label("?labelSelector=!tier", "", Some(7), None)]
#[tokio::test]
async fn a_list_has(
    #[case] query: &str,
    #[case] expected: &str,
    #[case] version: Option<u64>,
    #[case] remaining: Option<u64>,
) {
    let answer = five().get(&format!("{PATH}{query}")).await;
    assert_eq!(answer.code, 200, "{}", answer.text);
    let value = answer.value();
    assert_eq!(names(&value).concat(), expected);
    assert_eq!((&value["kind"], &value["apiVersion"]), (&json!("DeploymentList"), &json!("apps/v1")));
    let meta = &value["metadata"];
    assert_eq!(meta["resourceVersion"].as_str().unwrap().parse().ok(), version);
    assert_eq!(meta["remainingItemCount"].as_u64(), remaining);
    assert_eq!(meta.get("continue").is_some(), remaining.is_some());
    let items = value["items"].as_array().unwrap();
    assert!(items.iter().all(|item| item.get("kind").is_none() && item.get("apiVersion").is_none()));
}

#[tokio::test]
async fn a_list_says_its_length_and_a_single_object_its_kind() {
    let server = five();
    let response = server.send("GET", PATH, &[], "");
    let said = hyper::body::Body::size_hint(response.body()).exact().unwrap();
    let sent = response.into_body().collect().await.unwrap().to_bytes();
    assert_eq!(said, sent.len() as u64);
    assert!(sent.starts_with(
        br#"{"kind":"DeploymentList","apiVersion":"apps/v1","metadata":{"resourceVersion":"7"},"items":[{"#
    ));
    let one = server.get(&format!("{PATH}/a")).await.text;
    assert!(one.starts_with(r#"{"kind":"Deployment","apiVersion":"apps/v1","metadata":{"#), "{one}");
    assert!(one.ends_with("}\n"), "{one}");
}

#[tokio::test]
async fn pages_are_of_one_version_whatever_happens_meanwhile() {
    let server = five();
    let first = server.get(&format!("{PATH}?limit=2")).await.value();
    let token = first["metadata"]["continue"].as_str().unwrap();
    // Just as the real server writes it.
    assert_eq!(token, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Nywic3RhcnQiOiIvYlx1MDAwMCJ9");
    server.put(&DEPLOYMENTS, "ns", "bb", json!({}));
    server.remove(&DEPLOYMENTS, "ns", "c");
    let second = server.get(&format!("{PATH}?limit=2&continue={token}")).await.value();
    assert_eq!((names(&second).concat().as_str(), &second["metadata"]["resourceVersion"]), ("cd", &json!("7")));
    let token = second["metadata"]["continue"].as_str().unwrap();
    let third = server.get(&format!("{PATH}?continue={token}")).await.value();
    assert_eq!((names(&third).concat().as_str(), third["metadata"].get("continue")), ("e", None));

    server.state.store.compact();
    let expired = server.get(&format!("{PATH}?limit=2&continue={token}")).await;
    let status = expired.value();
    assert_eq!((expired.code, &status["reason"]), (410, &json!("Expired")));
    assert!(status["message"].as_str().unwrap().starts_with("The provided continue parameter is too old"));
    let rest = status["metadata"]["continue"].as_str().unwrap();
    server.put(&DEPLOYMENTS, "ns", "dd", json!({}));
    let inconsistent = server.get(&format!("{PATH}?limit=1&continue={rest}")).await.value();
    assert_eq!(
        (names(&inconsistent), &inconsistent["metadata"]["resourceVersion"]),
        (vec!["dd".to_owned()], &json!("10"))
    );
    let old = server.get(&format!("{PATH}?resourceVersion=3&resourceVersionMatch=Exact")).await;
    assert_eq!(old.value()["message"], "The resourceVersion for the provided list is too old.");
    assert_eq!(old.code, 410);
}

#[tokio::test]
async fn pages_over_all_namespaces_go_on_in_the_next_one() {
    let server = five();
    let first = server.get("/apis/apps/v1/deployments?limit=5").await.value();
    assert_eq!(names(&first).concat(), "abcde");
    let token = first["metadata"]["continue"].as_str().unwrap();
    let rest = server.get(&format!("/apis/apps/v1/deployments?continue={token}")).await.value();
    assert_eq!(names(&rest), ["z"]);
}

#[tokio::test]
async fn a_page_by_selector_ends_where_the_last_match_is() {
    let server = five();
    let page = server.get(&format!("{PATH}?limit=2&labelSelector=tier%3Deven")).await.value();
    // There is something behind it, and nobody has looked whether that is wanted.
    assert_eq!((names(&page).concat().as_str(), page["metadata"].get("remainingItemCount")), ("bd", None));
    let token = page["metadata"]["continue"].as_str().unwrap();
    let rest = server.get(&format!("{PATH}?limit=2&labelSelector=tier%3Deven&continue={token}")).await.value();
    assert_eq!((rest["items"].clone(), rest["metadata"].get("continue")), (json!([]), None));
}

#[rstest]
#[case::node("spec.nodeName%3Dn1", "a")]
#[case::no_node("spec.nodeName%3D", "b")]
#[case::phase("status.phase!%3DRunning", "b")]
#[case::false_by_default("spec.hostNetwork%3Dfalse", "ab")]
#[case::address("status.podIP%3D10.0.0.1", "a")]
#[case::escaped("metadata.name%3Da%5C,b", "")]
#[tokio::test]
async fn pods_are_selected_by_their_fields(#[case] selector: &str, #[case] expected: &str) {
    let server = Server::new();
    let running = json!({"spec": {"nodeName": "n1"}, "status": {"phase": "Running", "podIPs": [{"ip": "10.0.0.1"}]}});
    server.put(&PODS, "ns", "a", running);
    server.put(&PODS, "ns", "b", json!({"status": {"phase": "Pending"}}));
    let answer = server.get(&format!("/api/v1/pods?fieldSelector={selector}")).await;
    assert_eq!(names(&answer.value()).concat(), expected);
}

proptest! {
    #[test]
    fn a_token_is_read_as_it_was_written(version in 1..u64::MAX / 2, after in "[a-z0-9.-]{1,20}(/[a-z0-9-]{1,20})?") {
        prop_assume!(!after.split('/').any(|part| part == "." || part == ".."));
        for version in [Some(version), None] {
            let token = Token { version, after: after.clone() };
            prop_assert_eq!(Token::decode(&token.encode(true)), Ok(token.clone()));
            prop_assert_eq!(Token::decode(&token.encode(false)), Ok(token));
        }
    }

    #[test]
    fn no_text_that_is_no_token_does_any_harm(text in "\\PC*", bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
        use base64::Engine;
        let _ = Token::decode(&text);
        let encoded = base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(bytes);
        if let Ok(token) = Token::decode(&encoded) {
            prop_assert!(!token.after.split('/').any(|part| part == ".."));
        }
    }

    #[test]
    fn no_query_does_any_harm(text in "\\PC{0,60}") {
        let query = query::parse(&text);
        let _ = ListOptions::read(&query, false);
        let _ = query::check_duration(&text);
        let _ = fields::FieldSelector::parse(&text);
    }
}
