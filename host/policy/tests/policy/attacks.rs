//! The attack list, parts A to C: targets, what could become a header, methods and bodies. Everything is granted here, so
//! that only the grammar and the catalogue stand in the way.

use rstest::rstest;
use serde_json::json;
use workload_policy::{DenialRule, Media, Method};

use crate::ask::{Ask, DEPLOYMENTS, PODS, SCALE, WEB, deployment, everything};

/// A hostile segment is denied at every place of a path.
#[rstest]
#[case::a01_parent("..")]
#[case::a01_self(".")]
#[case::a02_encoded_parent("%2e%2e")]
#[case::a02_encoded_twice("%252e")]
#[case::a02_encoded_letter("%73ecrets")]
#[case::a02_encoded_slash("pods%2Fexec")]
#[case::a03_slash("a/b")]
#[case::a03_backslash("a\\b")]
#[case::a03_semicolon("a;b")]
#[case::a03_question("a?b")]
#[case::a03_hash("a#b")]
#[case::a03_nul("a\0b")]
#[case::a03_control("a\u{7f}b")]
#[case::a03_not_ascii("ä")]
#[case::a03_space("a b")]
#[case::a03_full_width_dot("\u{ff0e}\u{ff0e}")]
#[case::a03_full_width_slash("a\u{ff0f}b")]
#[case::a04_empty("")]
#[case::a05_absolute("http://evil")]
#[case::a05_authority("//evil")]
#[case::a05_scheme("http:")]
#[case::a05_user("@evil")]
#[case::a05_port(":443")]
#[case::a06_too_long(&"a".repeat(254))]
#[case::a10_soft_hyphen("dep\u{ad}loyments")]
#[case::b15_line_feed("a\nImpersonate-User: admin")]
#[case::b15_carriage_return("a\rb")]
fn hostile_segment(#[case] segment: &str) {
    for path in [SCALE, PODS, "apis/apps/v1/deployments"] {
        for place in 0..path.split('/').count() {
            let mut ask = Ask::get(path);
            ask.segments[place] = segment.into();
            let denied = ask.decide(&everything()).expect_err("must be denied");
            assert_eq!(denied.rule(), DenialRule::Segment, "at {place} of {path}");
            assert!(denied.detail().contains(&format!("segment {place}")));
        }
    }
}

#[rstest]
#[case::a04_trailing_empty_segment("apis/apps/v1/namespaces/default/deployments/", DenialRule::Segment)]
#[case::a04_leading_empty_segment("/apis/apps/v1/namespaces/default/deployments", DenialRule::Segment)]
#[case::a06_seventeen_segments("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", DenialRule::SegmentCount)]
#[case::a06_sixteen_are_read("a/a/a/a/a/a/a/a/a/a/a/a/a/a/a/a", DenialRule::UnknownOperation)]
#[case::a10_upper_first("apis/apps/v1/namespaces/default/Deployments", DenialRule::UnknownOperation)]
#[case::a10_upper("apis/apps/v1/namespaces/default/DEPLOYMENTS", DenialRule::UnknownOperation)]
#[case::a10_upper_group("APIS/apps/v1/namespaces/default/deployments", DenialRule::UnknownOperation)]
#[case::a10_trailing_dot("apis/apps/v1/namespaces/default/deployments.", DenialRule::UnknownOperation)]
#[case::a10_upper_secrets("api/v1/namespaces/default/Secrets", DenialRule::UnknownOperation)]
#[case::a10_upper_namespace("apis/apps/v1/namespaces/Default/deployments", DenialRule::Segment)]
#[case::a10_namespace_with_dot("apis/apps/v1/namespaces/a.b/deployments", DenialRule::Segment)]
#[case::a10_upper_name("apis/apps/v1/namespaces/default/deployments/Web", DenialRule::Segment)]
#[case::a10_name_with_trailing_dot("apis/apps/v1/namespaces/default/deployments/web.", DenialRule::Segment)]
#[case::a10_name_of_dots("apis/apps/v1/namespaces/default/deployments/...", DenialRule::Segment)]
fn hostile_path(#[case] path: &str, #[case] rule: DenialRule) {
    assert_eq!(Ask::get(path).denied(&everything()), rule);
}

#[test]
fn a06_no_segments() {
    let ask = Ask { segments: vec![], ..Ask::get(WEB) };
    assert_eq!(ask.denied(&everything()), DenialRule::SegmentCount);
}

#[test]
fn a06_long_target() {
    let most = Ask::get(DEPLOYMENTS).query("labelSelector", &"%".repeat(1_000));
    assert!(most.decide(&everything()).expect("3 KiB encoded").target.len() <= 4096);

    let terms = ["metadata.name=a"; 60].join(",");
    let more = Ask::get(DEPLOYMENTS).query("labelSelector", &"\0".repeat(1_011)).query("fieldSelector", &terms);
    assert_eq!(more.denied(&everything()), DenialRule::Target);
}

/// Neither an authority nor a header can be said at all: the record has no field for one.
#[test]
fn a07_a_request_has_no_other_fields() {
    let world = include_str!("../../../../wit/effects.wit");
    let record = world.split_once("record request {").and_then(|(_, rest)| rest.split_once('}')).expect("is there").0;
    let fields = record.lines().map(str::trim).filter(|line| !line.starts_with("///"));
    let names: Vec<_> = fields.filter_map(|field| Some(field.split_once(':')?.0)).collect();
    assert_eq!(names, ["method", "segments", "query", "accept", "body", "streaming"]);
}

/// Whatever is in a selector is sent as one value of one pair.
#[rstest]
#[case::a08_line_end("a\r\nb", "a%0D%0Ab")]
#[case::a08_ampersand("a=b&limit=9", "a%3Db%26limit%3D9")]
#[case::a08_hash("a#b", "a%23b")]
#[case::a08_encoded_nul("a%00b", "a%2500b")]
#[case::a08_plus_and_space("a+b c", "a%2Bb%20c")]
#[case::a08_in_set("id in (a,b)", "id%20in%20%28a%2Cb%29")]
fn encoded_once(#[case] value: &str, #[case] sent: &str) {
    let allowed = Ask::get(DEPLOYMENTS).query("labelSelector", value).decide(&everything()).expect("allowed");
    assert_eq!(allowed.target, format!("/{DEPLOYMENTS}?labelSelector={sent}&limit=500"));
}

#[rstest]
#[case::a08_duplicate(&[("limit", "1"), ("limit", "2")], DenialRule::QueryDuplicate)]
#[case::a08_duplicate_apart(&[("limit", "1"), ("continue", "a"), ("limit", "1")], DenialRule::QueryDuplicate)]
#[case::a08_key_with_separator(&[("limit&watch", "1")], DenialRule::QueryKey)]
#[case::a08_key_with_value(&[("limit=1&watch", "true")], DenialRule::QueryKey)]
#[case::a08_key_with_line_end(&[("limit\r\n", "1")], DenialRule::QueryKey)]
#[case::a08_key_encoded(&[("%6cimit", "1")], DenialRule::QueryKey)]
#[case::a08_key_upper(&[("Limit", "1")], DenialRule::QueryKey)]
#[case::a08_key_empty(&[("", "")], DenialRule::QueryKey)]
#[case::a06_33_pairs(&[("limit", "1"); 33], DenialRule::QueryCount)]
#[case::b15_line_end_in_a_version(&[("resourceVersion", "1\r\nX: y")], DenialRule::QueryValue)]
#[case::b15_line_end_in_a_token(&[("continue", "a\nb")], DenialRule::QueryValue)]
#[case::b15_line_end_in_a_field(&[("fieldSelector", "metadata.name=a\r\nb")], DenialRule::QueryValue)]
fn hostile_query(#[case] pairs: &[(&str, &str)], #[case] rule: DenialRule) {
    let ask = pairs.iter().fold(Ask::get(DEPLOYMENTS), |ask, (key, value)| ask.query(key, value));
    assert_eq!(ask.denied(&everything()), rule);
}

#[test]
fn a08_long_pair() {
    let most = "a".repeat(1_024 - "labelSelector".len());
    assert!(Ask::get(DEPLOYMENTS).query("labelSelector", &most).decide(&everything()).is_ok());
    assert_eq!(
        Ask::get(DEPLOYMENTS).query("labelSelector", &(most + "a")).denied(&everything()),
        DenialRule::QuerySize
    );
}

/// A method that the path does not have.
#[rstest]
#[case::c17_post_on_an_object(Method::Post, WEB)]
#[case::c17_post_on_all_namespaces(Method::Post, "apis/apps/v1/deployments")]
#[case::c17_put_on_an_object(Method::Put, WEB)]
#[case::c17_put_on_scale(Method::Put, SCALE)]
#[case::c17_delete_of_a_collection(Method::Delete, DEPLOYMENTS)]
#[case::c17_delete_of_all(Method::Delete, "apis/apps/v1/deployments")]
#[case::c17_delete_of_a_scale(Method::Delete, SCALE)]
#[case::c17_patch_of_a_collection(Method::Patch, DEPLOYMENTS)]
#[case::c17_create_of_a_pod(Method::Post, PODS)]
#[case::c17_patch_of_a_pod(Method::Patch, "api/v1/namespaces/default/pods/web-1")]
#[case::c17_delete_of_a_pod(Method::Delete, "api/v1/namespaces/default/pods/web-1")]
#[case::c17_patch_of_a_replica_set(Method::Patch, "apis/apps/v1/namespaces/default/replicasets/web-1")]
fn hostile_method(#[case] method: Method, #[case] path: &str) {
    let ask = Ask::new(method, path).body(Media::Json, "{}");
    assert_eq!(ask.denied(&everything()), DenialRule::Method);
}

#[rstest]
#[case::b16_get_with_a_body(Ask::get(WEB).body(Media::Json, "{}"), DenialRule::BodyUnexpected)]
#[case::b16_get_with_an_empty_body(Ask::get(WEB).body(Media::Json, ""), DenialRule::BodyUnexpected)]
#[case::b16_watch_with_a_body(Ask::watch(PODS).body(Media::Json, "{}"), DenialRule::BodyUnexpected)]
#[case::c18_over_the_limit(Ask::new(Method::Post, DEPLOYMENTS).body(Media::Json, vec![b' '; (1 << 20) + 1]), DenialRule::BodySize)]
#[case::c18_at_the_limit(Ask::new(Method::Post, DEPLOYMENTS).body(Media::Json, vec![b' '; 1 << 20]), DenialRule::Json)]
#[case::c18_over_the_limit_of_a_read(Ask::get(WEB).body(Media::Octets, vec![0; (1 << 20) + 1]), DenialRule::BodySize)]
#[case::c17_write_without_a_body(Ask::new(Method::Patch, SCALE), DenialRule::BodyMissing)]
#[case::c17_delete_without_options(Ask::new(Method::Delete, WEB), DenialRule::BodyMissing)]
#[case::c20_json_as_a_patch(Ask::new(Method::Patch, SCALE).body(Media::Json, "{}"), DenialRule::BodyMedia)]
#[case::c20_json_patch(Ask::new(Method::Patch, SCALE).body(Media::JsonPatch, "[]"), DenialRule::BodyMedia)]
#[case::c20_apply(Ask::new(Method::Patch, WEB).body(Media::ApplyPatch, "{}"), DenialRule::BodyMedia)]
#[case::c20_merge_patch_as_create(Ask::new(Method::Post, DEPLOYMENTS).body(Media::MergePatch, "{}"), DenialRule::BodyMedia)]
#[case::c20_octets(Ask::new(Method::Post, DEPLOYMENTS).body(Media::Octets, "{}"), DenialRule::BodyMedia)]
#[case::c20_text(Ask::new(Method::Delete, WEB).body(Media::Text, "{}"), DenialRule::BodyMedia)]
#[case::c20_json_patch_in_disguise(Ask::scale(&json!([{"op": "replace", "path": "/spec", "value": {}}])), DenialRule::FieldValue)]
#[case::c20_table_of_a_write(Ask::scale(&json!({})).accept(Media::JsonTable), DenialRule::Accept)]
#[case::c20_table_of_a_scale(Ask::get(SCALE).accept(Media::JsonTable), DenialRule::Accept)]
#[case::c20_read_as_text(Ask::get(WEB).accept(Media::Text), DenialRule::Accept)]
#[case::c20_read_as_octets(Ask::get(WEB).accept(Media::Octets), DenialRule::Accept)]
fn hostile_body(#[case] ask: Ask, #[case] rule: DenialRule) {
    assert_eq!(ask.denied(&everything()), rule);
}

/// A create whose text is not what a strict reader and the engine's reader agree on.
#[rstest]
#[case::c19_duplicate_key(|text: String| text.replacen("\"kind\"", "\"kind\":\"Deployment\",\"kind\"", 1))]
#[case::c19_duplicate_key_escaped(|text: String| text.replacen("\"kind\"", "\"\\u006bind\":\"Deployment\",\"kind\"", 1))]
#[case::c19_byte_order_mark(|text: String| format!("\u{feff}{text}"))]
#[case::c19_nesting(|text: String| text.replacen("\"web\"", &format!("{}{}", "[".repeat(10_000), "]".repeat(10_000)), 1))]
#[case::c19_nan(|text: String| text.replacen("\"replicas\":1", "\"replicas\":NaN", 1))]
#[case::c19_trailing_bytes(|text: String| text + "{}")]
#[case::c19_trailing_comma(|text: String| text.replacen("\"kind\":\"Deployment\"", "\"kind\":\"Deployment\",,", 1))]
#[case::c19_half_a_surrogate(|text: String| text.replacen("\"web\"", "\"\\ud800\"", 1))]
#[case::c19_cut(|text: String| text[..text.len() - 1].to_owned())]
fn hostile_json(#[case] change: fn(String) -> String) {
    let text = deployment().to_string();
    let changed = change(text.clone());
    assert_ne!(text, changed);
    let ask = Ask::create(&deployment()).body(Media::Json, changed);
    assert_eq!(ask.denied(&everything()), DenialRule::Json);
}

#[test]
fn c19_not_utf_8() {
    let ask = Ask::create(&deployment()).body(Media::Json, b"{\"kind\":\"\xff\"}".to_vec());
    assert_eq!(ask.denied(&everything()), DenialRule::Json);
}

/// An escaped key is the key that it stands for: it neither hides a field nor makes it another one.
#[test]
fn c19_escaped_keys_are_read() {
    let text = deployment().to_string().replacen("\"containers\"", "\"\\u0068ostNetwork\":true,\"containers\"", 1);
    let denied = Ask::create(&deployment()).body(Media::Json, text).decide(&crate::ask::usual()).expect_err("denied");
    assert_eq!(denied.detail(), "spec.template.spec.hostNetwork needs `pod:host-namespaces`");

    let text = deployment().to_string().replacen("\"kind\"", "\"\\u006bind\"", 1);
    let ask = Ask::create(&deployment()).body(Media::Json, text);
    assert_eq!(ask.sent(&crate::ask::usual()), deployment());
}

#[test]
fn c19_what_is_sent_is_written_anew() {
    let ask =
        Ask::scale(&json!({})).body(Media::MergePatch, " {\"spec\" :\n{ \"replicas\":\t3 } ,\"metadata\":{}} \r\n");
    let body = ask.decide(&everything()).expect("allowed").body.expect("a body");
    assert_eq!(body, br#"{"metadata":{},"spec":{"replicas":3}}"#);
}
