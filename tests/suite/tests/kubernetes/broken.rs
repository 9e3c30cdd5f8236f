//! What is made of a server, or of something between, that fails: the emulator fails at will.

use std::time::Duration;

use kube_emulator::fault::{Ending, Fault, Point, Rule, When};
use kube_emulator::pattern::Pattern;
use rstest::rstest;
use serde_json::json;
use workload_suite::{Cli, Namespace, Server, until, wait};

/// A namespace with a workload that runs.
fn running(server: &Server) -> (Namespace<'_>, Cli) {
    let ns = server.namespace("broken");
    let cli = ns.cli();
    cli.create_sleeper("web", &[]);
    cli.json(&["start", "web"]).exits(0);
    (ns, cli)
}

/// Reading the Deployment.
fn reading() -> Pattern {
    Pattern::resource("get", "deployments")
}

const SECOND: Duration = Duration::from_secs(1);

#[rstest]
#[case::reset(Fault::Reset(When::Before), 6, "unreachable")]
#[case::reset_after(Fault::Reset(When::After), 6, "unreachable")]
#[case::garbage(Fault::Garbage(When::Before, "SSH-2.0-x\r\n".into()), 1, "malformed")]
#[case::cut(Fault::cut(100), 1, "malformed")]
#[case::reset_in_the_body(Fault::Break(Point::Bytes(100), Ending::Reset), 1, "malformed")]
#[case::wrong_body(Fault::Body("{\"kind\":\"Pod\"}".into()), 1, "malformed")]
#[case::no_json(Fault::Body("{".into()), 1, "malformed")]
#[case::page(Fault::html(When::Before, 200), 1, "malformed")]
#[case::page_not_found(Fault::html(When::Before, 404), 1, "malformed")]
#[case::page_of_a_proxy(Fault::html(When::Before, 502), 6, "unreachable")]
#[case::redirect(Fault::redirect(302, "https://127.0.0.1:1/"), 1, "malformed")]
#[case::gone(Fault::gone(), 1, "malformed")]
#[case::unauthorized(Fault::status(When::Before, 401, "{}"), 4, "unauthorized")]
#[case::forbidden(Fault::status(When::Before, 403, "{}"), 5, "forbidden")]
#[case::throttled(Fault::canned(When::Before, 429, &[("retry-after", "1")], "{}"), 6, "throttled")]
#[case::internal(Fault::status(When::Before, 500, "{}"), 6, "unreachable")]
#[case::gateway_timeout(Fault::status(When::Before, 504, "{}"), 6, "unreachable")]
fn a_read_that_fails_is_unknown(#[case] fault: Fault, #[case] code: i32, #[case] reason: &str) {
    let server = Server::emulator();
    let (_ns, cli) = running(&server);
    let rule = server.emulated().faults().add(Rule::on(reading(), fault));
    let status = cli.json(&["status", "web", "--timeout", "5s"]).exits(code).json();
    assert_eq!((&status["status"], &status["reason"]), (&json!("unknown"), &json!(reason)), "{status}");
    assert_eq!(status["settled"], json!(false), "{status}");
    assert!(rule.applied() > 0, "it was asked for");
    rule.remove();
    let status = cli.json(&["status", "web"]).exits(0).json();
    assert_eq!(status["status"], "running", "{status}");
}

#[rstest]
#[case::stall(Fault::Stall(When::Before))]
#[case::half_open(Fault::HalfOpen(When::Before))]
#[case::silence_after_headers(Fault::silence(0))]
#[case::silence_in_the_body(Fault::silence(100))]
fn silence_ends_with_the_time_that_was_given(#[case] fault: Fault) {
    let server = Server::emulator();
    let (_ns, cli) = running(&server);
    let rule = server.emulated().faults().add(Rule::on(reading(), fault));
    let status = cli.json(&["status", "web", "--timeout", "2s"]).exits(6).json();
    assert_eq!((&status["status"], &status["reason"]), (&json!("unknown"), &json!("unreachable")), "{status}");
    assert_eq!(rule.applied(), 1, "it waited for its only answer");
    rule.remove();
    assert_eq!(cli.json(&["status", "web"]).exits(0).json()["status"], "running");
}

#[rstest]
#[case::delay(Fault::Delay(When::Before, SECOND))]
#[case::delay_after(Fault::Delay(When::After, SECOND))]
#[case::drip(Fault::Drip(1000, Duration::from_millis(20)))]
fn a_slow_answer_is_an_answer(#[case] fault: Fault) {
    let server = Server::emulator();
    let (_ns, cli) = running(&server);
    let rule = server.emulated().faults().add(Rule::on(reading(), fault));
    assert_eq!(cli.json(&["status", "web"]).exits(0).json()["status"], "running");
    assert!(rule.applied() > 0, "it was slow");
}

#[test]
fn a_server_that_is_gone_is_unreachable_until_it_is_back() {
    let server = Server::emulator();
    let (_ns, cli) = running(&server);
    let faults = server.emulated().faults();
    let listens = || std::net::TcpStream::connect(server.address()).is_ok();
    faults.refuse(None);
    until("nobody listens", || !listens());
    let status = cli.json(&["status", "web", "--timeout", "5s"]).exits(6).json();
    assert_eq!((&status["status"], &status["reason"]), (&json!("unknown"), &json!("unreachable")), "{status}");
    faults.accept();
    until("it listens again", listens);
    assert_eq!(cli.json(&["status", "web"]).exits(0).json()["status"], "running");
}

#[rstest]
#[case::not_told(Fault::Reset(When::After))]
#[case::not_done(Fault::Reset(When::Before))]
#[case::page(Fault::html(When::After, 502))]
fn a_write_whose_answer_is_lost_is_read_before_it_is_sent_again(#[case] fault: Fault) {
    let server = Server::emulator();
    let (ns, cli) = running(&server);
    let scaling = Pattern::resource("patch", "deployments/scale");
    let took_effect = matches!(fault, Fault::Reset(When::After) | Fault::Answer(When::After, _));
    let rule = server.emulated().faults().add(Rule::on(scaling.clone(), fault).once());
    let stopped = cli.json(&["stop", "web"]).exits(0).json();
    assert_eq!((&stopped["outcome"], rule.applied()), (&json!("stopped"), 1), "{stopped}");
    assert_eq!(ns.live_pods(), Vec::<String>::new());
    let writes = server.emulated().record().matching(&scaling).len();
    assert_eq!(writes, if took_effect { 1 } else { 2 }, "what took effect is not sent again");
}

#[rstest]
#[case::lost_event(Fault::drop_event("*", "*"))]
#[case::expired(Fault::expired())]
#[case::expired_at_once(Fault::gone())]
#[case::ended(Fault::end_watch(0))]
#[case::cut(Fault::cut(10))]
#[case::silent(Fault::silence(0))]
fn a_watch_that_fails_costs_time_and_no_answer(#[case] fault: Fault) {
    let server = Server::emulator();
    let ns = server.namespace("watch");
    let cli = ns.cli();
    ns.create_held("web");
    cli.json(&["start", "web"]).exits(0);
    let watching = Pattern { verb: Some("watch".to_owned()), ..Pattern::any() };
    let rule = server.emulated().faults().add(Rule::on(watching, fault));
    let stopping = cli.with(&["--output", "json"]).spawn(&["stop", "web"]);
    until("the count is 0", || ns.deployment("web")["spec"]["replicas"] == 0);
    until("it is watched", || rule.applied() > 0);
    ns.release();
    let stopped = wait(stopping).exits(0).json();
    assert_eq!(stopped["outcome"], "stopped", "{stopped}");
    assert_eq!(ns.live_pods(), Vec::<String>::new());
}
