//! The emulator without any connection.

use bytes::Bytes;
use futures_util::FutureExt;
use http::Request;
use http_body_util::BodyExt;
use kube_emulator::call::User;
use kube_emulator::fault::{Broken, Ending, Fault, Point, Rule, When};
use kube_emulator::pattern::Pattern;
use kube_emulator::record::Outcome;
use kube_emulator::{Emulator, Options};
use rstest::rstest;

use crate::client::{NAMESPACES, namespace};

fn admin() -> Option<User> {
    Some(User::authenticated("admin", &["system:masters"]))
}

fn get(target: &str) -> Request<Bytes> {
    Request::builder().uri(target).body(Bytes::new()).unwrap()
}

fn create(name: &str) -> Request<Bytes> {
    let request = Request::builder().method("POST").uri(NAMESPACES).header("content-type", "application/json");
    request.body(namespace(name).into()).unwrap()
}

#[rstest]
#[case::reset(Fault::Reset(When::Before), 404, Broken::Reset)]
#[case::reset_after(Fault::Reset(When::After), 200, Broken::Reset)]
#[case::refuse(Fault::Refuse(None), 404, Broken::Refused)]
#[case::garbage(Fault::Garbage(When::After, "x".into()), 200, Broken::Garbage("x".into()))]
#[tokio::test(start_paused = true)]
async fn a_broken_connection_is_an_error(#[case] fault: Fault, #[case] then: u16, #[case] wanted: Broken) {
    let emulator = Emulator::default();
    emulator.faults().add(Rule::on(Pattern::any(), fault).once());
    assert_eq!(emulator.answer(create("one"), admin()).await.unwrap_err(), wanted);
    assert_eq!(emulator.record().all()[0].outcome, Outcome::Broken(wanted));
    emulator.faults().accept();
    let answer = emulator.answer(get(&format!("{NAMESPACES}/one")), admin()).await.unwrap();
    assert_eq!(answer.status(), then);
}

#[tokio::test(start_paused = true)]
async fn what_hangs_breaks_when_the_server_goes() {
    for fault in [Fault::Stall(When::Before), Fault::HalfOpen(When::Before)] {
        let emulator = Emulator::default();
        let rule = emulator.faults().add(Rule::on(Pattern::any(), fault));
        let answer = emulator.answer(get(NAMESPACES), admin());
        tokio::pin!(answer);
        assert!(answer.as_mut().now_or_never().is_none());
        assert_eq!(rule.applied(), 1);
        emulator.faults().refuse(None);
        assert_eq!(answer.await.unwrap_err(), Broken::Reset);
        assert_eq!(emulator.answer(get(NAMESPACES), admin()).await.unwrap_err(), Broken::Refused);
    }
}

#[tokio::test(start_paused = true)]
async fn a_body_breaks_or_hangs() {
    let cases = [
        (Ending::Close, Some(Broken::Closed)),
        (Ending::Reset, Some(Broken::Reset)),
        (Ending::Silence, None),
        (Ending::HalfOpen, None),
    ];
    for (ending, broken) in cases {
        let emulator = Emulator::default();
        emulator.faults().add(Rule::on(Pattern::any(), Fault::Break(Point::Bytes(3), ending)));
        let mut body = emulator.answer(get(NAMESPACES), admin()).await.unwrap().into_body();
        assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap().len(), 3);
        match broken {
            Some(broken) => assert_eq!(body.frame().await.unwrap().unwrap_err(), broken),
            None => {
                assert!(body.frame().now_or_never().is_none(), "{ending:?}");
                emulator.faults().refuse(None);
                assert_eq!(body.frame().await.unwrap().unwrap_err(), Broken::Reset);
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_watch_breaks_when_the_server_goes() {
    let emulator = Emulator::default();
    let version = emulator.state().store.version();
    let watch = get(&format!("{NAMESPACES}?watch=1&resourceVersion={version}"));
    let mut body = emulator.answer(watch, admin()).await.unwrap().into_body();
    emulator.answer(create("one"), admin()).await.unwrap();
    let line = body.frame().await.unwrap().unwrap().into_data().unwrap();
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&line).unwrap()["type"], "ADDED");
    emulator.faults().refuse(None);
    assert_eq!(body.frame().await.unwrap().unwrap_err(), Broken::Reset);
}

#[tokio::test(start_paused = true)]
async fn credentials_and_the_record_work_as_over_tls() {
    let emulator = Emulator::default();
    emulator.identities().add_token("known", User::authenticated("operator", &["system:masters"]));
    for (certificate, token, status, user) in [
        (admin(), "", 200, "admin"),
        (None, "known", 200, "operator"),
        (None, "unknown", 401, ""),
        (None, "", 403, "system:anonymous"),
    ] {
        let mut request = get(&format!("{NAMESPACES}?limit=1"));
        if !token.is_empty() {
            request.headers_mut().insert("authorization", format!("Bearer {token}").parse().unwrap());
        }
        let answer = emulator.answer(request, certificate).await.unwrap();
        assert_eq!(answer.status(), status);
        let all = emulator.record().all();
        let last = all.last().unwrap();
        assert_eq!((last.asked.user.as_str(), last.connection), (user, None));
        assert_eq!(last.outcome, Outcome::Answered(status));
        assert!(last.raw.starts_with(format!("GET {NAMESPACES}?limit=1 HTTP/1.1\r\n").as_bytes()));
    }
}

#[tokio::test(start_paused = true)]
async fn answers_have_the_date_of_the_emulators_clock() {
    let wall = Some("2026-11-30T15:11:45Z".parse().unwrap());
    let emulator = Emulator::new(Options { wall, ..Options::default() }).unwrap();
    tokio::time::advance(std::time::Duration::from_secs(60)).await;
    let answer = emulator.answer(get(NAMESPACES), admin()).await.unwrap();
    assert_eq!(answer.headers()["date"], "Mon, 30 Nov 2026 15:12:45 GMT");
}

#[tokio::test(start_paused = true)]
async fn controllers_run_as_long_as_somebody_wants_them() {
    let emulator = Emulator::default();
    let active = |name: &'static str| {
        let emulator = emulator.clone();
        async move {
            let key = kube_emulator::store::Key::new(&kube_emulator::resource::PODS, "default", name);
            let placed = |value: serde_json::Value| value.pointer("/spec/nodeName").is_some();
            emulator.until(|state| state.store.get(&key).is_some_and(|pod| placed(pod.value()))).await;
        }
    };
    let hour = std::time::Duration::from_secs(3600);
    let (first, second) = (emulator.run_controllers(), emulator.run_controllers());
    emulator.answer(pod("one"), admin()).await.unwrap();
    active("one").await;
    drop(first);
    emulator.answer(pod("two"), admin()).await.unwrap();
    active("two").await;
    emulator.pause_controllers();
    emulator.answer(pod("three"), admin()).await.unwrap();
    assert!(tokio::time::timeout(hour, active("three")).await.is_err());
    emulator.resume_controllers();
    active("three").await;
    drop(second);
    emulator.answer(pod("four"), admin()).await.unwrap();
    assert!(tokio::time::timeout(hour, active("four")).await.is_err());
}

fn pod(name: &str) -> Request<Bytes> {
    let pod = serde_json::json!({
        "apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
        "spec": {"containers": [{"name": "main", "image": "localhost/busybox:1"}]},
    });
    let request = Request::builder().method("POST").uri("/api/v1/namespaces/default/pods");
    request.header("content-type", "application/json").body(pod.to_string().into()).unwrap()
}
