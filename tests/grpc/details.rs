//! The details of a denial, as `tonic-types` decodes them.

use std::time::Duration;

use axum::extract::Request;
use tollgate::{FixedWindow, Global, Header, ManualClock, MemoryStore, Quota, RateLimitLayer, Tier};
use tonic::Status;
use tonic_types::StatusExt;

use crate::{
    grpc::fixture::{Client, HealthService, NOW, Server, TestStore, check_request, on_both_stores},
    interop::client,
};

on_both_stores![
    a_denial_says_when_to_retry_and_names_its_limits,
    a_hidden_limit_is_not_named,
    an_impossible_call_has_no_retry_info,
];

/// The status of a rejected call, and its details: the time until a retry, and the violated quotas.
async fn rejected(client: &Client) -> (Status, Option<Duration>, Vec<(String, String)>) {
    let status = client.health().check(check_request("")).await.unwrap_err();
    let details = status.check_error_details().unwrap();
    let retry = details.retry_info().map(|info| info.retry_delay.unwrap());
    let violations = details.quota_failure().map(|failure| failure.violations.clone());
    let violations = violations.unwrap_or_default().into_iter();
    let violations = violations.map(|violation| (violation.subject, violation.description));
    (status, retry, violations.collect())
}

fn violation(subject: &str, description: &str) -> (String, String) {
    (subject.into(), description.into())
}

async fn a_denial_says_when_to_retry_and_names_its_limits<St: TestStore>() {
    for micros in [1, 999_999, 1_000_000, 59_000_001, 300_000_000_000_000] {
        let (store, _) = St::fresh();
        let window = |micros| FixedWindow::new(Quota::new(1, Duration::from_micros(micros))).anchored();
        let layer = RateLimitLayer::new(Tier::new("long", window(micros), Global), store)
            .tier(Tier::new("short", window(1), Global))
            .tier(Tier::fixed_window("roomy", Quota::per_day(1000), Global));
        let server = Server::start(HealthService::default().router().layer(layer)).await;
        let client = Client::of(&server);
        client.health().check(check_request("")).await.unwrap();
        let (status, retry, violations) = rejected(&client).await;
        assert_eq!(retry, Some(Duration::from_micros(micros)));
        let seconds = micros.div_ceil(1_000_000);
        let long = match micros < 1_000_000 {
            true => "more than 1".into(),
            false => format!("more than 1 in {seconds} s"),
        };
        assert_eq!(
            violations,
            [violation("long", &long), violation("short", "more than 1")]
        );
        // The same code and message as in the headers.
        let decoded = status.get_error_details_vec();
        assert_eq!(decoded.len(), 2);
    }
}

async fn a_hidden_limit_is_not_named<St: TestStore>() {
    let (store, _) = St::fresh();
    let window = FixedWindow::new(Quota::per_minute(1)).anchored();
    let layer = RateLimitLayer::new(Tier::new("secret", window, Global).hidden(), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let client = Client::of(&server);
    client.health().check(check_request("")).await.unwrap();
    let (_, retry, violations) = rejected(&client).await;
    assert_eq!((retry, violations), (Some(Duration::from_secs(60)), Vec::new()));
}

async fn an_impossible_call_has_no_retry_info<St: TestStore>() {
    let (store, _) = St::fresh();
    let window = FixedWindow::new(Quota::per_minute(10)).anchored();
    let layer = RateLimitLayer::new(Tier::new("api", window, Global).cost(|_: &Request| 11), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let (_, retry, violations) = rejected(&Client::of(&server)).await;
    assert_eq!(
        (retry, violations),
        (None, vec![violation("api", "more than 10 in 60 s")])
    );
}

/// Code and message suffice.
#[tokio::test]
async fn a_missing_key_has_no_details() {
    let layer = RateLimitLayer::token_bucket("api", Quota::per_minute(10), Header::new("x-user"), MemoryStore::new());
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let (status, retry, violations) = rejected(&Client::of(&server)).await;
    assert_eq!((retry, violations), (None, Vec::new()));
    assert!(status.details().is_empty());
}

/// grpcio-status compares the code and the message of the details with those in the headers.
#[tokio::test]
async fn grpcio_status_reads_the_details() {
    let clock = ManualClock::at(NOW);
    let store = MemoryStore::builder().clock(clock).build();
    let window = FixedWindow::new(Quota::new(2, Duration::from_millis(90_500))).anchored();
    let layer = RateLimitLayer::new(Tier::new("api", window, Global), store);
    let server = Server::start(HealthService::default().router().layer(layer)).await;
    let lines = client::run("grpcio_status.py", &[server.url()]).await;
    assert_eq!(lines, ["8", "api | more than 2 in 91 s", "retry 90.500s"]);
}
