use http::Request;
use rstest::rstest;

use super::*;

fn asked(method: &str, target: &str) -> Asked {
    let request = Request::builder().method(method).uri(target).header("user-agent", "kubectl/v1.35.4 (linux)");
    Asked::of(&request.body(()).unwrap(), "admin")
}

const SHOP: &str = "/apis/apps/v1/namespaces/shop/deployments";

#[rstest]
#[case::get("GET", "/apis/apps/v1/namespaces/shop/deployments/web", ["get", "deployments", "shop", "web"])]
#[case::list("GET", "/apis/apps/v1/namespaces/shop/deployments?limit=5", ["list", "deployments", "shop", ""])]
#[case::list_everywhere("GET", "/apis/apps/v1/deployments", ["list", "deployments", "", ""])]
#[case::watch("GET", "/api/v1/pods?watch=true", ["watch", "pods", "", ""])]
#[case::watch_by_one("GET", "/api/v1/pods?watch=1&allowWatchBookmarks=true", ["watch", "pods", "", ""])]
#[case::watch_of_one(
    "GET", "/api/v1/namespaces/shop/pods?fieldSelector=metadata.name%3Dweb&watch=true", ["watch", "pods", "shop", "web"])]
#[case::list_of_one("GET", "/api/v1/pods?fieldSelector=spec.nodeName%3Dn,metadata.name%3Dweb", ["list", "pods", "", "web"])]
#[case::create("POST", "/api/v1/namespaces/shop/pods", ["create", "pods", "shop", ""])]
#[case::scale(
    "PATCH", "/apis/apps/v1/namespaces/shop/deployments/web/scale", ["patch", "deployments/scale", "shop", "web"])]
#[case::update("PUT", "/apis/apps/v1/namespaces/shop/deployments/web", ["update", "deployments", "shop", "web"])]
#[case::delete("DELETE", "/apis/apps/v1/namespaces/shop/deployments/web", ["delete", "deployments", "shop", "web"])]
#[case::delete_all("DELETE", "/api/v1/namespaces/shop/pods", ["deletecollection", "pods", "shop", ""])]
#[case::a_namespace("GET", "/api/v1/namespaces/shop", ["get", "namespaces", "shop", "shop"])]
#[case::namespaces("GET", "/api/v1/namespaces", ["list", "namespaces", "", ""])]
#[case::finalize("PUT", "/api/v1/namespaces/shop/finalize", ["update", "namespaces/finalize", "shop", "shop"])]
#[case::discovery("GET", "/apis/apps/v1", ["get", "", "", ""])]
#[case::health("GET", "/readyz", ["get", "", "", ""])]
#[case::nothing("POST", "/", ["post", "", "", ""])]
fn a_request_is_read_as_the_server_reads_it(#[case] method: &str, #[case] target: &str, #[case] wanted: [&str; 4]) {
    let asked = asked(method, target);
    assert_eq!([&asked.verb, &asked.resource, &asked.namespace, &asked.name], wanted);
}

#[rstest]
#[case::everything(Pattern::any(), true)]
#[case::path(Pattern::path("PATCH", "/apis/*/web/scale"), true)]
#[case::another_method(Pattern::path("GET", "/apis/*/web/scale"), false)]
#[case::path_to_its_end(Pattern::path("PATCH", "/apis/*/web"), false)]
#[case::resource(Pattern::resource("patch", "deployments/scale"), true)]
#[case::resource_without_its_part(Pattern::resource("patch", "deployments"), false)]
#[case::any_part(Pattern::resource("*", "deployments*"), true)]
#[case::name(Pattern::any().named("w*"), true)]
#[case::another_name(Pattern::any().named("x*"), false)]
#[case::namespace(Pattern::any().in_namespace("shop"), true)]
#[case::another_namespace(Pattern::any().in_namespace("sho"), false)]
#[case::query(Pattern::any().with_query("fieldManager=a b"), true)]
#[case::another_query(Pattern::any().with_query("dryRun"), false)]
#[case::agent(Pattern::any().from_agent("kubectl/*"), true)]
#[case::another_agent(Pattern::any().from_agent("kubectl"), false)]
#[case::user(Pattern::any().from_user("admin"), true)]
#[case::another_user(Pattern::any().from_user("nobody"), false)]
fn a_pattern_takes_what_it_says(#[case] pattern: Pattern, #[case] wanted: bool) {
    assert_eq!(pattern.matches(&asked("PATCH", &format!("{SHOP}/web/scale?fieldManager=a%20b"))), wanted);
}

#[rstest]
#[case::same("abc", "abc", true)]
#[case::longer("abc", "abcd", false)]
#[case::anything("*", "", true)]
#[case::beginning("a*", "abc", true)]
#[case::end("*c", "abc", true)]
#[case::middle("a*c", "abbc", true)]
#[case::two("a*b*c", "a-b-c", true)]
#[case::no_letter_twice("ab*ba", "aba", false)]
#[case::later_end("*a", "aba", true)]
#[case::empty("", "", true)]
#[case::empty_of_something("", "a", false)]
#[case::order("a*c*b", "abc", false)]
#[case::image("a/b:1", "a/b:1", true)]
#[case::other_image("a/b:1", "a/b:2", false)]
#[case::of_a_registry("a/*", "a/b:1", true)]
#[case::with_a_tag("*:1", "a/b:1", true)]
#[case::between("a/*:1", "a/b/c:1", true)]
#[case::several("*b*c*", "abcd", true)]
#[case::several_in_order("*c*b*", "abcd", false)]
fn stars_stand_for_anything(#[case] pattern: &str, #[case] text: &str, #[case] wanted: bool) {
    assert_eq!(glob(pattern, text), wanted);
}

#[rstest]
#[case::plain("a=b", "a=b")]
#[case::hex("a%3Db%2c", "a=b,")]
#[case::plus("a+b", "a b")]
#[case::cut_short("a%3", "a%3")]
#[case::no_hex("a%zz", "a%zz")]
fn a_query_is_put_back(#[case] query: &str, #[case] wanted: &str) {
    assert_eq!(decoded(query), wanted);
}
