use super::*;

fn record(limit: usize) -> Record {
    Record::new(limit)
}

fn arrive(record: &Record, method: &str, target: &str, body: &str) -> u64 {
    let request = Request::builder().method(method).uri(target).header("x-a", "1");
    let request = request.body(Bytes::copy_from_slice(body.as_bytes())).unwrap();
    let (asked, raw) = (Asked::of(&request, "admin"), put_together(&request));
    record.arrived(Timestamp::UNIX_EPOCH, None, asked, raw, request.into_body(), Outcome::Open)
}

#[test]
fn requests_are_found_again_with_their_bytes_and_their_outcome() {
    let record = record(LIMIT);
    let first = arrive(&record, "GET", "/api/v1/pods?limit=1", "");
    let second = arrive(&record, "PATCH", "/apis/apps/v1/namespaces/a/deployments/web/scale", "{}");
    record.ended(second, Outcome::Answered(200));
    assert_eq!((first, second, record.total()), (0, 1, 2));
    assert_eq!(record.count("GET", "/api/v1/*"), 1);
    assert_eq!(record.count("GET", "/apis/*"), 0);
    let found = record.matching(&Pattern::resource("patch", "deployments/scale"));
    let [scale] = found.as_slice() else { panic!("{found:?}") };
    assert_eq!(scale.outcome, Outcome::Answered(200));
    assert_eq!(scale.raw, "PATCH /apis/apps/v1/namespaces/a/deployments/web/scale HTTP/1.1\r\nx-a: 1\r\n\r\n{}");
    assert_eq!(scale.body, "{}");
    assert_eq!(record.all()[0].outcome, Outcome::Open);
}

#[test]
fn the_oldest_go_when_it_is_full() {
    let record = record(3 * (OVERHEAD + 200));
    let large = "x".repeat(150);
    let numbers: Vec<_> = (0..10).map(|_| arrive(&record, "PUT", "/", &large)).collect();
    let held: Vec<_> = record.all().iter().map(|exchange| exchange.number).collect();
    assert_eq!(held, numbers[7..]);
    assert_eq!(record.total(), 10);
    record.ended(0, Outcome::Answered(200));
    record.ended(9, Outcome::Answered(201));
    let outcomes: Vec<_> = record.all().iter().map(|exchange| exchange.outcome.clone()).collect();
    assert_eq!(outcomes, [Outcome::Open, Outcome::Open, Outcome::Answered(201)]);
    record.clear();
    assert!(record.all().is_empty());
    assert_eq!(arrive(&record, "GET", "/", ""), 10);
}

#[tokio::test]
async fn one_can_wait_for_a_request_and_for_its_outcome() {
    let record = record(LIMIT);
    let gets = Pattern { method: Some("GET".to_owned()), ..Pattern::any() };
    let late = record.clone();
    let (found, ()) = tokio::join!(record.until_arrived(&gets, 2), async {
        arrive(&late, "GET", "/1", "");
        tokio::task::yield_now().await;
        arrive(&late, "PUT", "/2", "");
        tokio::task::yield_now().await;
        arrive(&late, "GET", "/3", "");
    });
    assert_eq!(found.iter().map(|exchange| exchange.asked.path.as_str()).collect::<Vec<_>>(), ["/1", "/3"]);
    tokio::join!(record.until(|all| all.iter().any(|e| e.outcome == Outcome::Answered(503))), async {
        late.ended(1, Outcome::Answered(503));
    });
}

#[test]
fn no_token_is_printed() {
    let record = record(LIMIT);
    let request = Request::builder().uri("/").header("authorization", "Bearer secret").body(Bytes::new()).unwrap();
    let (asked, raw) = (Asked::of(&request, "admin"), put_together(&request));
    record.arrived(Timestamp::UNIX_EPOCH, None, asked, raw, Bytes::new(), Outcome::Open);
    assert!(!format!("{record:?}").contains("secret"));
}
