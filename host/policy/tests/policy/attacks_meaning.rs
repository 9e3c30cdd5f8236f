//! The attack list, part D: what requests mean to Kubernetes. With everything granted that can be, unless a case says so.

use rstest::rstest;
use serde_json::json;
use workload_policy::{DenialRule, Engine, Grants, Media, Method, Places};

use crate::ask::{Ask, DEPLOYMENTS, PODS, SCALE, WEB, deployment, everything, usual, with};

/// Paths that no grant opens, read and written.
#[rstest]
#[case::d21_secret("api/v1/namespaces/default/secrets/s")]
#[case::d21_secrets("api/v1/namespaces/default/secrets")]
#[case::d21_all_secrets("api/v1/secrets")]
#[case::d21_watched_secrets("api/v1/watch/secrets")]
#[case::d21_watched_secrets_of_one("api/v1/watch/namespaces/default/secrets")]
#[case::d21_watched_secret("api/v1/watch/namespaces/default/secrets/s")]
#[case::d21_legacy_watch_of_pods("api/v1/watch/namespaces/default/pods")]
#[case::d21_legacy_watch_of_deployments("apis/apps/v1/watch/namespaces/default/deployments")]
#[case::d21_config_maps("api/v1/namespaces/default/configmaps")]
#[case::d22_token("api/v1/namespaces/default/serviceaccounts/default/token")]
#[case::d22_account("api/v1/namespaces/default/serviceaccounts/default")]
#[case::d22_signing("apis/certificates.k8s.io/v1/certificatesigningrequests")]
#[case::d22_token_review("apis/authentication.k8s.io/v1/tokenreviews")]
#[case::d22_access_review("apis/authorization.k8s.io/v1/subjectaccessreviews")]
#[case::d22_own_review("apis/authentication.k8s.io/v1/selfsubjectreviews")]
#[case::d23_exec("api/v1/namespaces/default/pods/p/exec")]
#[case::d23_attach("api/v1/namespaces/default/pods/p/attach")]
#[case::d23_forward("api/v1/namespaces/default/pods/p/portforward")]
#[case::d23_pod_proxy("api/v1/namespaces/default/pods/p/proxy")]
#[case::d23_pod_proxy_path("api/v1/namespaces/default/pods/p/proxy/metrics")]
#[case::d23_ephemeral("api/v1/namespaces/default/pods/p/ephemeralcontainers")]
#[case::d23_eviction("api/v1/namespaces/default/pods/p/eviction")]
#[case::d23_pod_binding("api/v1/namespaces/default/pods/p/binding")]
#[case::d23_binding("api/v1/namespaces/default/bindings")]
#[case::d23_pod_log("api/v1/namespaces/default/pods/p/log")]
#[case::d23_pod_status("api/v1/namespaces/default/pods/p/status")]
#[case::d23_service_proxy("api/v1/namespaces/default/services/s/proxy")]
#[case::d23_node_proxy("api/v1/nodes/n/proxy")]
#[case::d23_node_proxy_run("api/v1/nodes/n/proxy/run/default/p/c")]
#[case::d24_metrics("metrics")]
#[case::d24_logs("logs")]
#[case::d24_profile("debug/pprof/heap")]
#[case::d24_keys("openid/v1/jwks")]
#[case::d24_well_known(".well-known/openid-configuration")]
#[case::d24_health("healthz")]
#[case::d24_ready("readyz")]
#[case::d24_version("version")]
#[case::d24_openapi("openapi/v2")]
#[case::d24_aggregated("apis/metrics.k8s.io/v1beta1/namespaces/default/pods")]
#[case::d24_custom("apis/example.com/v1/namespaces/default/deployments")]
#[case::d24_old_group("apis/extensions/v1beta1/namespaces/default/deployments")]
#[case::d24_old_version("apis/apps/v1beta1/namespaces/default/deployments")]
#[case::d24_core_deployments("api/v1/namespaces/default/deployments")]
#[case::d24_status_of_a_deployment("apis/apps/v1/namespaces/default/deployments/web/status")]
#[case::d24_below_a_scale("apis/apps/v1/namespaces/default/deployments/web/scale/x")]
#[case::d24_stateful_sets("apis/apps/v1/namespaces/default/statefulsets")]
#[case::d26_cluster_role("apis/rbac.authorization.k8s.io/v1/clusterroles")]
#[case::d26_role("apis/rbac.authorization.k8s.io/v1/namespaces/default/roles")]
#[case::d26_webhook("apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations")]
#[case::d26_namespace("api/v1/namespaces/default")]
#[case::d26_namespaces("api/v1/namespaces")]
#[case::d26_nodes("api/v1/nodes")]
#[case::d26_volumes("api/v1/persistentvolumes")]
#[case::d26_definitions("apis/apiextensions.k8s.io/v1/customresourcedefinitions")]
#[case::d30_discovery_of_groups("apis")]
#[case::d30_discovery_of_a_group("apis/apps/v1")]
#[case::d30_discovery_of_the_core("api/v1")]
fn not_in_the_catalogue(#[case] path: &str) {
    for method in [Method::Get, Method::Post, Method::Put, Method::Patch, Method::Delete] {
        for streaming in [false, true] {
            let plain = Ask { streaming, ..Ask::new(method, path) };
            let asks = [
                plain.clone(),
                plain.clone().query("watch", "true"),
                plain.clone().query("command", "sh").query("stdin", "true"),
                plain.body(Media::Json, "{}"),
            ];
            for ask in asks {
                assert_eq!(ask.denied(&everything()), DenialRule::UnknownOperation);
            }
        }
    }
}

/// Another namespace than the configured one (`default`), by every way to name it.
#[rstest]
#[case::d25_segment(Ask::get("apis/apps/v1/namespaces/kube-system/deployments"), DenialRule::Place)]
#[case::d25_segment_of_a_write(Ask::scale(&json!({})).clone_to("apis/apps/v1/namespaces/other/deployments/web/scale"), DenialRule::Place)]
#[case::d25_longer_name(Ask::get("apis/apps/v1/namespaces/default2/deployments"), DenialRule::Place)]
#[case::d25_all_deployments(Ask::get("apis/apps/v1/deployments"), DenialRule::AllPlaces)]
#[case::d25_all_pods(Ask::get("api/v1/pods"), DenialRule::AllPlaces)]
#[case::d25_all_pods_watched(Ask::watch("api/v1/pods"), DenialRule::AllPlaces)]
#[case::d25_all_by_field(Ask::get("api/v1/pods").query("fieldSelector", "metadata.namespace=default"), DenialRule::AllPlaces)]
#[case::d25_field(Ask::get(PODS).query("fieldSelector", "metadata.namespace=kube-system"), DenialRule::QueryValue)]
#[case::d25_field_behind_a_name(Ask::get(PODS).query("fieldSelector", "metadata.name=a,metadata.namespace=b"), DenialRule::QueryValue)]
#[case::d25_field_not(Ask::get(PODS).query("fieldSelector", "metadata.namespace!=b"), DenialRule::QueryValue)]
#[case::d25_field_of_events(Ask::get("api/v1/namespaces/default/events").query("fieldSelector", "involvedObject.namespace=b"), DenialRule::QueryValue)]
// {"v":"meta.k8s.io/v1","rv":5,"start":"../kube-system/a\u0000"}
#[case::d25_continue_upwards(Ask::get(PODS).query("continue", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiIuLi9rdWJlLXN5c3RlbS9hXHUwMDAwIn0"), DenialRule::QueryValue)]
// {"v":"meta.k8s.io/v1","rv":5,"start":"kube-system/a\u0000"}
#[case::d25_continue_elsewhere(Ask::get(PODS).query("continue", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NSwic3RhcnQiOiJrdWJlLXN5c3RlbS9hXHUwMDAwIn0"), DenialRule::QueryValue)]
// {"start":"a","start":"../b"}
#[case::d25_continue_of_two_minds(Ask::get(PODS).query("continue", "eyJzdGFydCI6ImEiLCJzdGFydCI6Ii4uL2IifQ"), DenialRule::QueryValue)]
#[case::d25_body(Ask::create(&with(deployment(), "metadata.namespace", json!("kube-system"))), DenialRule::FieldValue)]
#[case::d25_body_empty(Ask::create(&with(deployment(), "metadata.namespace", json!(""))), DenialRule::FieldValue)]
fn another_namespace(#[case] ask: Ask, #[case] rule: DenialRule) {
    assert_eq!(ask.denied(&usual()), rule);
}

#[test]
fn d25_no_namespace_configured_is_none_allowed() {
    let none = Grants::new(Engine::Kubernetes, ["*"], ["*"], Places::only::<[&str; 0]>([])).expect("valid");
    assert_eq!(Ask::get(WEB).denied(&none), DenialRule::Place);
    assert_eq!(Ask::get("api/v1/pods").denied(&none), DenialRule::AllPlaces);
}

#[rstest]
// {"v":"meta.k8s.io/v1","rv":6024,"start":"/l0\u0000"}, as a real server gives it
#[case::of_one_namespace(PODS, "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6NjAyNCwic3RhcnQiOiIvbDBcdTAwMDAifQ")]
// {"v":"meta.k8s.io/v1","rv":6,"start":"default/web-1\u0000"}
#[case::of_all("api/v1/pods", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6Niwic3RhcnQiOiJkZWZhdWx0L3dlYi0xXHUwMDAwIn0")]
#[case::of_another_form(PODS, "page-2")]
fn d25_a_servers_own_continue_token(#[case] path: &str, #[case] token: &str) {
    let allowed = Ask::get(path).query("limit", "10").query("continue", token).decide(&everything()).expect("allowed");
    assert_eq!(allowed.target, format!("/{path}?limit=10&continue={token}"));
}

/// Query keys: those of the operation, and a stream only as one.
#[rstest]
#[case::d27_watch_without_streaming(Ask::get(PODS).query("watch", "true"), DenialRule::QueryKey)]
#[case::d27_watch_1_without_streaming(Ask::get(PODS).query("watch", "1"), DenialRule::QueryKey)]
#[case::d27_streaming_without_watch(Ask { streaming: true, ..Ask::get(PODS) }, DenialRule::QueryMissing)]
#[case::d27_watch_false(Ask { streaming: true, ..Ask::get(PODS).query("watch", "false") }, DenialRule::QueryValue)]
#[case::d27_watch_of_an_object(Ask::watch(WEB), DenialRule::Streaming)]
#[case::d27_watch_of_events(Ask::watch("api/v1/namespaces/default/events"), DenialRule::Streaming)]
#[case::d27_streaming_write(Ask { streaming: true, ..Ask::scale(&json!({})) }, DenialRule::Streaming)]
#[case::d27_follow(Ask::get(PODS).query("follow", "true"), DenialRule::QueryKey)]
#[case::d27_since(Ask::get(PODS).query("sinceTime", "2026-01-01T00:00:00Z"), DenialRule::QueryKey)]
#[case::d27_insecure(Ask::get(PODS).query("insecureSkipTLSVerifyBackend", "true"), DenialRule::QueryKey)]
#[case::d27_seconds_of_a_list(Ask::get(PODS).query("timeoutSeconds", "5"), DenialRule::QueryKey)]
#[case::d27_no_seconds(Ask::watch(PODS).query("timeoutSeconds", "0"), DenialRule::QueryValue)]
#[case::d27_many_seconds(Ask::watch(PODS).query("timeoutSeconds", "3601"), DenialRule::QueryValue)]
#[case::d27_huge_seconds(Ask::watch(PODS).query("timeoutSeconds", "99999999999999999999"), DenialRule::QueryValue)]
#[case::d27_signed_seconds(Ask::watch(PODS).query("timeoutSeconds", "+5"), DenialRule::QueryValue)]
#[case::d27_limit_of_a_watch(Ask::watch(PODS).query("limit", "5"), DenialRule::QueryKey)]
#[case::d27_initial_events(Ask::watch(PODS).query("sendInitialEvents", "true"), DenialRule::QueryKey)]
#[case::d27_pretty(Ask::get(WEB).query("pretty", "true"), DenialRule::QueryKey)]
#[case::d27_selector_of_a_get(Ask::get(WEB).query("labelSelector", "a"), DenialRule::QueryKey)]
#[case::d27_options_of_a_delete(Ask::delete(&json!({})).query("propagationPolicy", "Orphan"), DenialRule::QueryKey)]
#[case::d27_grace_of_a_delete(Ask::delete(&json!({})).query("gracePeriodSeconds", "0"), DenialRule::QueryKey)]
#[case::d27_unknown_field(Ask::get(DEPLOYMENTS).query("fieldSelector", "spec.replicas=1"), DenialRule::QueryValue)]
#[case::d27_field_without_value(Ask::get(DEPLOYMENTS).query("fieldSelector", "metadata.name"), DenialRule::QueryValue)]
#[case::d27_empty_term(Ask::get(DEPLOYMENTS).query("fieldSelector", "metadata.name=a,"), DenialRule::QueryValue)]
#[case::d27_escaped_term(Ask::get(DEPLOYMENTS).query("fieldSelector", "metadata.name=a\\,b"), DenialRule::QueryValue)]
#[case::d28_signed_limit(Ask::get(PODS).query("limit", "-1"), DenialRule::QueryValue)]
#[case::d28_limit_of_letters(Ask::get(PODS).query("limit", "1e3"), DenialRule::QueryValue)]
#[case::d28_empty_limit(Ask::get(PODS).query("limit", ""), DenialRule::QueryValue)]
#[case::d29_force(Ask::scale(&json!({})).query("force", "true"), DenialRule::QueryKey)]
#[case::d29_another_manager(Ask::scale(&json!({})).query("fieldManager", "kubectl"), DenialRule::QueryValue)]
#[case::d29_the_controller(Ask::scale(&json!({})).query("fieldManager", "kube-controller-manager"), DenialRule::QueryValue)]
#[case::d29_manager_with_text(Ask::scale(&json!({})).query("fieldManager", "workload x"), DenialRule::QueryValue)]
#[case::d29_dry_run_of_another_kind(Ask::scale(&json!({})).query("dryRun", "None"), DenialRule::QueryValue)]
#[case::d29_apply(Ask::new(Method::Patch, SCALE).body(Media::ApplyPatch, "{}"), DenialRule::BodyMedia)]
fn hostile_query(#[case] ask: Ask, #[case] rule: DenialRule) {
    assert_eq!(ask.denied(&everything()), rule);
}

#[rstest]
#[case::d28_none(&[], "limit=500")]
#[case::d28_behind_others(&[("labelSelector", "a")], "labelSelector=a&limit=500")]
#[case::d28_small(&[("limit", "1")], "limit=1")]
#[case::d28_most(&[("limit", "500")], "limit=500")]
#[case::d28_one_more(&[("limit", "501")], "limit=500")]
#[case::d28_huge(&[("limit", "999999")], "limit=500")]
#[case::d28_beyond_numbers(&[("limit", "99999999999999999999999")], "limit=500")]
#[case::d28_zero_means_all(&[("limit", "0")], "limit=500")]
#[case::d28_zeros(&[("limit", "0001")], "limit=500")]
fn page_of_a_list(#[case] pairs: &[(&str, &str)], #[case] query: &str) {
    let ask = pairs.iter().fold(Ask::get(PODS), |ask, (key, value)| ask.query(key, value));
    assert_eq!(ask.decide(&everything()).expect("allowed").target, format!("/{PODS}?{query}"));
}

/// A watch has no limit, and one object needs none.
#[test]
fn d28_no_limit_where_none_belongs() {
    assert_eq!(Ask::watch(PODS).decide(&everything()).expect("allowed").target, format!("/{PODS}?watch=true"));
    assert_eq!(Ask::get(WEB).decide(&everything()).expect("allowed").target, format!("/{WEB}"));
}

impl Ask {
    fn clone_to(&self, path: &str) -> Self {
        Self { segments: Self::get(path).segments, ..self.clone() }
    }
}
