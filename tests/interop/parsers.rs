//! Third-party parsers read the headers.

use axum::{Router, routing::get};
use serde_json::{Value, json};
use tollgate::{Global, HttpResponder, ManualClock, MemoryStore, Micros, Quota, RateLimitLayer, ResetUnit, Tier};

use support::http::Server;

use crate::interop::client;

/// The time of server and client, a quarter of a second after a whole second.
const NOW: Micros = 1_800_000_000_250_000;

/// Three requests per minute and a hundred per hour.
async fn server(answers: HttpResponder) -> Server {
    let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    let limit = RateLimitLayer::sliding_log("burst", Quota::per_minute(3), Global, store)
        .tier(Tier::sliding_log("user", Quota::per_hour(100), Global))
        .respond_with(answers);
    Server::start(Router::new().route("/", get(async || "hello")).layer(limit)).await
}

/// What ratelimit-header-parser reads in four sequential responses, the last of which is a denial.
async fn parsed(answers: HttpResponder) -> Vec<Value> {
    let server = server(answers).await;
    let arguments = [(NOW / 1000).to_string(), server.url()];
    let mut parsed = Vec::new();
    for _ in 0..4 {
        let lines = client::run("parsed.mjs", &arguments).await;
        parsed.push(serde_json::from_str(&lines[0]).unwrap());
    }
    parsed
}

/// The expected values, of the most restrictive tier, with its reset time.
fn expected(reset: &str) -> Vec<Value> {
    let left = [(1, 2), (2, 1), (3, 0), (3, 0)];
    let values =
        left.map(|(used, remaining)| json!({"limit": 3, "used": used, "remaining": remaining, "reset": reset}));
    values.into()
}

#[tokio::test]
async fn x_headers_are_parsed() {
    let answers = HttpResponder::new().without_ietf_headers();
    assert_eq!(parsed(answers.clone()).await, expected("2027-01-15T08:01:01.000Z"));
    let delta = answers.clone().reset_unit(ResetUnit::Delta);
    assert_eq!(parsed(delta).await, expected("2027-01-15T08:01:00.250Z"));
    let others = answers.header_names(["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"]);
    assert_eq!(parsed(others).await, expected("2027-01-15T08:01:01.000Z"));
}

#[tokio::test]
async fn headers_of_drafts_up_to_06_are_parsed() {
    let answers = HttpResponder::new()
        .without_ietf_headers()
        .header_names(["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
        .reset_unit(ResetUnit::Delta);
    assert_eq!(parsed(answers).await, expected("2027-01-15T08:01:00.250Z"));
}

/// Version 0.1.0 reads `RateLimit` as of draft 07, in preference to all other headers, and finds no number in the lists of later
/// drafts. A service with such clients disables the IETF headers, as above.
#[tokio::test]
async fn ratelimit_header_parser_does_not_read_lists_of_later_drafts() {
    let nothing = json!({"limit": null, "used": null, "remaining": null, "reset": null});
    for answers in [HttpResponder::new(), HttpResponder::new().without_x_headers()] {
        assert_eq!(parsed(answers).await, vec![nothing.clone(); 4]);
    }
}

/// They are structured fields, with a member for every tier. The state of a denial has only the tier that denied.
#[tokio::test]
async fn lists_of_later_drafts_are_structured_fields() {
    let server = server(HttpResponder::new()).await;
    for state in [
        json!([["burst", {"r": 2, "t": 40}], ["user", {"r": 99, "t": 3564}]]),
        json!([["burst", {"r": 1, "t": 20}], ["user", {"r": 98, "t": 3528}]]),
        json!([["burst", {"r": 0, "t": 60}], ["user", {"r": 97, "t": 3492}]]),
        json!([["burst", {"r": 0, "t": 60}]]),
    ] {
        let lines = client::run("structured.mjs", &[server.url()]).await;
        let lines: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let policy = json!([["burst", {"q": 3, "w": 60}], ["user", {"q": 100, "w": 3600}]]);
        assert_eq!(lines, [policy, state]);
    }
}
