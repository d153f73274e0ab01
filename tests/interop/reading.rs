//! What parsers that others wrote read in our headers, by `==`.

use axum::{Router, routing::get};
use serde_json::{Value, json};
use tollgate::{Global, HttpAnswers, ManualClock, MemoryStore, Micros, Quota, RateLimitLayer, ResetUnit, SlidingLog};

use support::http::Server;

use crate::interop::client;

/// A quarter of a second after a whole one, for server and client alike.
const NOW: Micros = 1_800_000_000_250_000;

/// Three in any minute, and a hundred in any hour.
async fn server(answers: HttpAnswers) -> Server {
    let store = MemoryStore::builder().clock(ManualClock::at(NOW)).build();
    let limit = RateLimitLayer::sliding_log("burst", Quota::per_minute(3), Global, store)
        .tier("user", SlidingLog::new(Quota::per_hour(100)), Global)
        .respond_with(answers);
    Server::start(Router::new().route("/", get(async || "hello")).layer(limit)).await
}

/// What ratelimit-header-parser reads in four answers in a row, of which the last is a refusal.
async fn parsed(answers: HttpAnswers) -> Vec<Value> {
    let server = server(answers).await;
    let arguments = [(NOW / 1000).to_string(), server.url()];
    let mut parsed = Vec::new();
    for _ in 0..4 {
        let said = client::run("parsed.mjs", &arguments).await;
        parsed.push(serde_json::from_str(&said[0]).unwrap());
    }
    parsed
}

/// Of the tighter tier, and when it resets.
fn each(reset: &str) -> Vec<Value> {
    let left = [(1, 2), (2, 1), (3, 0), (3, 0)];
    let told = left.map(|(used, remaining)| json!({"limit": 3, "used": used, "remaining": remaining, "reset": reset}));
    told.into()
}

#[tokio::test]
async fn the_x_headers() {
    let answers = HttpAnswers::new().without_ietf_headers();
    assert_eq!(parsed(answers.clone()).await, each("2027-01-15T08:01:01.000Z"));
    let delta = answers.clone().reset_unit(ResetUnit::Delta);
    assert_eq!(parsed(delta).await, each("2027-01-15T08:01:00.250Z"));
    let others = answers.header_names(["x-rate-limit-limit", "x-rate-limit-remaining", "x-rate-limit-reset"]);
    assert_eq!(parsed(others).await, each("2027-01-15T08:01:01.000Z"));
}

#[tokio::test]
async fn the_headers_of_the_drafts_up_to_the_sixth() {
    let answers = HttpAnswers::new()
        .without_ietf_headers()
        .header_names(["ratelimit-limit", "ratelimit-remaining", "ratelimit-reset"])
        .reset_unit(ResetUnit::Delta);
    assert_eq!(parsed(answers).await, each("2027-01-15T08:01:00.250Z"));
}

/// Version 0.1.0 knows `RateLimit` as the seventh draft has it, and wherever there is one it looks at nothing else. It finds no
/// number in that of later drafts. So whoever has such clients leaves the header out, as above.
#[tokio::test]
async fn the_lists_of_later_drafts_are_beyond_that_parser() {
    let nothing = json!({"limit": null, "used": null, "remaining": null, "reset": null});
    for answers in [HttpAnswers::new(), HttpAnswers::new().without_x_headers()] {
        assert_eq!(parsed(answers).await, vec![nothing.clone(); 4]);
    }
}

/// They are structured fields, and say the same of every tier.
#[tokio::test]
async fn the_lists_of_later_drafts_by_the_grammar_they_are_written_in() {
    let server = server(HttpAnswers::new()).await;
    for (burst, user) in [(2, 99), (1, 98), (0, 97), (0, 97)] {
        let said = client::run("structured.mjs", &[server.url()]).await;
        let said: Vec<Value> = said.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let policy = json!([["burst", {"q": 3, "w": 60}], ["user", {"q": 100, "w": 3600}]]);
        let state = json!([["burst", {"r": burst, "t": 60}], ["user", {"r": user, "t": 3600}]]);
        assert_eq!(said, [policy, state]);
    }
}
