//! Why a workload is in its state: the rule, what was seen, and what happened last.

use kube_emulator::fault::{Fault, Rule, When};
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use serde_json::Value;
use workload_suite::{Cli, Namespace, Server, until};

/// An image that no registry has.
const MISSING: &str = "localhost/does-not-exist:1";

/// The kubelet's words for it, of which it takes turns.
const REASONS: [&str; 2] = ["ErrImagePull", "ImagePullBackOff"];

/// The emulator's registry says that there is no such image, and it is the same the next time.
const NOT_THERE: [&str; 2] = ["failed", "image-error"];

/// The real cluster finds no registry at that place, which may be another time.
const NO_ANSWER: [&str; 2] = ["creating", "image-pull"];

/// A namespace with a workload whose image does not exist, as soon as that was found out.
fn broken(server: &Server) -> (Namespace<'_>, Cli) {
    let ns = server.namespace("explain");
    let cli = ns.cli();
    cli.run(&["create", "web", "--image", MISSING]).exits(0);
    let waits = |pod: &Value| pod["status"]["containerStatuses"][0]["state"]["waiting"]["reason"].clone();
    until("the kubelet has tried to pull it", || {
        ns.objects("pods").iter().any(|pod| REASONS.iter().any(|reason| waits(pod) == *reason))
    });
    (ns, cli)
}

/// The values of the evidence whose name begins with this word.
fn values<'a>(explained: &'a Value, word: &str) -> Vec<&'a str> {
    let evidence = explained["evidence"].as_array().unwrap();
    let named = evidence.iter().filter(|fact| fact["name"].as_str().unwrap().split(' ').next() == Some(word));
    named.map(|fact| fact["value"].as_str().unwrap()).collect()
}

#[rstest]
#[case::emulator(Server::emulator(), NOT_THERE)]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real(), NO_ANSWER)]
fn an_image_that_does_not_exist(#[case] server: Server, #[case] state: [&str; 2]) {
    let (ns, cli) = broken(&server);
    let pod = ns.live_pods().remove(0);
    let explained = cli.json(&["explain", "web"]).exits(0).json();
    let status = cli.json(&["status", "web"]).exits(0).json();
    for field in ["id", "status", "reason", "rule", "desired", "available", "image", "uid"] {
        assert_eq!(explained[field], status[field], "{field}: the state is that of status");
    }
    assert_eq!([&explained["status"], &explained["reason"]], state, "{explained}");
    assert!(!explained["rule"].as_str().unwrap().is_empty(), "{explained}");
    assert!(explained["meaning"].is_string(), "{explained}");
    let message = explained["message"].as_str().unwrap();
    assert!(message.contains(&pod) && REASONS.iter().any(|reason| message.contains(reason)), "{explained}");
    let names: Vec<_> = explained["evidence"].as_array().unwrap().iter().map(|fact| fact["name"].clone()).collect();
    assert!(names.contains(&format!("pod {pod}").into()), "{explained}");
    assert_eq!(values(&explained, "replica-set"), ["0 of 1 available"], "{explained}");

    let text = cli.run(&["explain", "web"]).exits(0).stdout;
    assert!(text.starts_with(&format!("{}  {}  {}\n", ns.id("web"), state[0], state[1])), "{text}");
    for part in ["\nmeaning ", "\nrule ", "\nConditions\n", "\nReplica sets\n", "\nPods\n", &pod, MISSING] {
        assert!(text.contains(part), "{part:?} is not in:\n{text}");
    }
}

#[rstest]
#[case::emulator(Server::emulator(), "correct the image")]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real(), "whether the registry can be reached")]
fn it_says_what_happened_and_what_would_have_to_change(#[case] server: Server, #[case] advised: &str) {
    let (_ns, cli) = broken(&server);
    let failed = |text: &str| text.starts_with("Warning Failed pod/") && text.contains("pull");
    until("an event of it", || {
        let explained = cli.json(&["explain", "web"]).exits(0).json();
        values(&explained, "event").into_iter().any(failed)
    });
    let explained = cli.json(&["explain", "web"]).exits(0).json();
    let advice = values(&explained, "advice");
    assert!(advice.len() == 1 && advice[0].contains(advised), "{explained}");
    assert!(values(&explained, "container")[0].contains("Image"), "{explained}");
    assert_eq!(values(&explained, "not-allowed"), [""; 0], "nothing was refused");

    let text = cli.run(&["explain", "web"]).exits(0).stdout;
    assert!(text.contains("\nadvice ") && text.contains(advice[0]), "{text}");
    let (_, events) = text.split_once("\nLast events\n").unwrap();
    assert!(events.lines().any(|line| failed(line.trim_start())), "{text}");
}

#[rstest]
#[case::events("events", "list events")]
#[case::pods("pods", "list pods")]
fn what_must_not_be_looked_at_is_named(#[case] resource: &str, #[case] permission: &str) {
    let server = Server::emulator();
    let (ns, cli) = broken(&server);
    let rule = Rule::on(Pattern::resource("list", resource), Fault::status(When::Before, 403, "{}"));
    let rule = server.emulated().faults().add(rule);
    let explained = cli.json(&["explain", "web"]).exits(0).json();
    assert_eq!(values(&explained, "not-allowed"), [format!("{permission} in namespace {}", ns.name)], "{explained}");
    assert!(rule.applied() > 0, "it was asked for");
    let text = cli.run(&["explain", "web"]).exits(0).stdout;
    assert!(text.contains(&format!("not allowed to {permission} in namespace ")), "{text}");
}

#[rstest]
#[case::emulator(Server::emulator())]
#[ignore = "needs the real cluster: make test"]
#[case::real(Server::real())]
fn what_there_is_no_evidence_of(#[case] server: Server) {
    let ns = server.namespace("explain");
    let explained = ns.cli().json(&["explain", "nothing"]).exits(0).json();
    assert_eq!((&explained["status"], &explained["reason"]), (&"missing".into(), &"not-found".into()), "{explained}");
    assert_eq!(explained["meaning"], "there is no such workload");
    let nobody = Cli::new(&server.file("kubeconfig-nobody"));
    assert_eq!(nobody.json(&["explain", "default/web"]).exits(5).json()["reason"], "forbidden");
    assert_eq!(nobody.json(&["explain", "a/b/c"]).exits(9).json()["error"]["kind"], "invalid-id");
}

/// A provider that knows nothing of explaining.
#[test]
fn a_provider_without_evidence_says_so() {
    let server = Server::emulator();
    let ns = server.namespace("explain");
    ns.cli().create_sleeper("web", &[]);
    let glance = workload_suite::component("glance");
    let cli = ns.cli().with(&["--component", glance.to_str().unwrap()]);
    let text = cli.run(&["explain", "web"]).exits(0).stdout;
    assert!(text.contains("at a glance: ") && text.ends_with("\nthe provider gives no evidence\n"), "{text}");
    assert_eq!(cli.json(&["explain", "web"]).exits(0).json()["evidence"], serde_json::json!([]));
}
