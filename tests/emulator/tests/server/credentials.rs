//! Who asks.

use kube_emulator::call::User;
use serde_json::json;

use crate::client::{Client, NAMESPACES, server};

/// The status of a list, and the user that the record has for it.
async fn as_whom(server: &kube_emulator::Server, client: &Client) -> (u16, String) {
    let status = client.get(NAMESPACES).await.status();
    (status, server.emulator().record().all().last().unwrap().asked.user.clone())
}

fn is(status: u16, user: &str) -> (u16, String) {
    (status, user.to_owned())
}

#[tokio::test]
async fn the_credentials_of_the_server_are_good() {
    let server = server().await;
    let (certificate, key) = server.admin_certificate();
    assert!(key.starts_with("-----BEGIN PRIVATE KEY-----"), "PKCS#8");
    let by_certificate = Client::with_certificate(&server, certificate, key);
    assert_eq!(as_whom(&server, &by_certificate).await, is(200, "admin"));
    assert_eq!(as_whom(&server, &Client::new(&server)).await, is(200, "admin-by-token"));
    let nobody = Client::anonymous(&server).with_token(server.nobody_token());
    assert_eq!(as_whom(&server, &nobody).await, is(403, "nobody"));
}

#[tokio::test]
async fn without_a_credential_one_is_anonymous() {
    let server = server().await;
    let answer = Client::anonymous(&server).get(NAMESPACES).await;
    assert_eq!(answer.status(), 403);
    assert!(answer.json()["message"].as_str().unwrap().contains("\"system:anonymous\""), "{answer:?}");
}

#[tokio::test]
async fn an_unknown_token_is_unauthorized() {
    let server = server().await;
    let answer = Client::anonymous(&server).with_token("unknown").get(NAMESPACES).await;
    assert_eq!(answer.status(), 401);
    assert_eq!(
        (answer.header("content-type"), answer.header("cache-control")),
        ("application/json", "no-cache, private")
    );
    let wanted = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
    });
    assert_eq!(answer.json(), wanted);
}

#[tokio::test]
async fn further_credentials_can_be_had_and_taken_back() {
    let server = server().await;
    let identities = server.emulator().identities();
    identities.add_token("operator", User::authenticated("operator", &["system:masters"]));
    let by_token = Client::anonymous(&server).with_token("operator");
    assert_eq!(as_whom(&server, &by_token).await, is(200, "operator"));
    identities.remove_token("operator");
    assert_eq!(as_whom(&server, &by_token).await, is(401, ""));

    for (groups, status) in [(&["system:masters"][..], 200), (&["a", "b"], 403), (&["a", "system:masters"], 200)] {
        let issued = server.issue(&User::authenticated("somebody", groups)).unwrap();
        let client = Client::with_issued(&server, &issued);
        assert_eq!(as_whom(&server, &client).await, is(status, "somebody"), "{groups:?}");
    }
    let error = server.issue(&User::authenticated("somebody", &["a", "b", "c"])).unwrap_err();
    assert_eq!(error.to_string(), "a certificate for somebody has room for 2 groups");
}

#[tokio::test]
async fn a_certificate_that_is_not_to_be_trusted_is_unauthorized() {
    let (server, other) = (server().await, server().await);
    let masters = User::authenticated("somebody", &["system:masters"]);
    let foreign = Client::with_issued(&server, &other.issue(&masters).unwrap());
    assert_eq!(as_whom(&server, &foreign).await, is(401, ""));
    let expired = Client::with_issued(&server, &server.issue_expired(&masters).unwrap());
    assert_eq!(as_whom(&server, &expired).await, is(401, ""));
    // The real server then looks at the token.
    assert_eq!(as_whom(&server, &expired.with_token(server.admin_token())).await, is(200, "admin-by-token"));
}

#[tokio::test]
async fn a_certificate_of_a_second_server_of_the_same_emulator_is_foreign() {
    let one = server().await;
    let two = one.emulator().listen(([127, 0, 0, 1], 0).into()).await.unwrap();
    let (certificate, key) = one.admin_certificate();
    assert_eq!(as_whom(&one, &Client::with_certificate(&one, certificate, key)).await, is(200, "admin"));
    assert_eq!(as_whom(&two, &Client::with_certificate(&two, certificate, key)).await, is(401, ""));
    let by_token = Client::anonymous(&two).with_token(one.admin_token());
    assert_eq!(as_whom(&two, &by_token).await, is(200, "admin-by-token"));
}

#[tokio::test]
async fn a_certificate_without_its_key_is_refused() {
    let server = server().await;
    let masters = server.issue(&User::authenticated("somebody", &["system:masters"])).unwrap();
    let other = server.issue(&User::authenticated("somebody", &[])).unwrap();
    let mut connection = match Client::with_stolen_certificate(&server, &masters, &other).connect().await {
        Ok(connection) => connection,
        // In TLS 1.2 it ends here.
        Err(_) => return assert_eq!(server.emulator().record().total(), 0),
    };
    assert_eq!(connection.ask("GET", NAMESPACES, "").await.status(), 0);
    assert_eq!(server.emulator().record().total(), 0);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_refused() {
    let server = server().await;
    let large = "x".repeat((3 << 20) + 1);
    let answer = Client::new(&server).ask("POST", NAMESPACES, &large).await;
    assert_eq!((answer.status(), answer.json()["reason"].as_str()), (413, Some("RequestEntityTooLarge")));
    let anonymous = Client::anonymous(&server).with_token("unknown").ask("POST", NAMESPACES, &large).await;
    assert_eq!(anonymous.status(), 401);
}
