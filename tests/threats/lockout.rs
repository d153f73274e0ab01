//! Attackers that fail to log in under a victim's name, to lock the victim out.

use axum::{
    Router,
    extract::{Query, Request},
    http::StatusCode,
    response::Response,
    routing::post,
};
use serde::Deserialize;
use tollgate::{ClientIp, QueryParam, Quota, RateLimitLayer, Tier};

use support::{
    each_store::{TestStore, on_both_stores},
    http::{Reply, Server},
};

on_both_stores![
    an_attacker_cannot_lock_a_victim_out_by_name,
    an_attacker_that_tries_many_names_is_denied_by_address,
];

const ATTACKER: &str = "203.0.113.9";
const VICTIM: &str = "192.0.2.1";

#[derive(Deserialize)]
struct Login {
    password: String,
}

/// Three wrong passwords per name and address, and ten per address. Right passwords are refunded.
async fn start<St: TestStore>() -> Server {
    let (store, _) = St::fresh();
    let client = ClientIp::trusted_proxies(["127.0.0.1"]);
    let is_right = |response: &Response| response.status().is_success();
    let layer = RateLimitLayer::new(
        Tier::sliding_log("login", Quota::per_hour(3), (QueryParam::new("name"), client.clone())).refund_if(is_right),
        store,
    )
    .tier(Tier::sliding_log("address", Quota::per_hour(10), client).refund_if(is_right));
    let log_in = async |Query(login): Query<Login>, _: Request| match &*login.password {
        "right" => StatusCode::OK,
        _ => StatusCode::UNAUTHORIZED,
    };
    Server::start(Router::new().route("/login", post(log_in)).layer(layer)).await
}

async fn log_in(server: &Server, from: &str, name: &str, password: &str) -> u16 {
    let request = server.post(&format!("/login?name={name}&password={password}"));
    Reply::to(request.header("x-forwarded-for", from)).await.status
}

async fn an_attacker_cannot_lock_a_victim_out_by_name<St: TestStore>() {
    let server = start::<St>().await;
    for expected in [401, 401, 401, 429, 429] {
        assert_eq!(log_in(&server, ATTACKER, "alice", "guess").await, expected);
    }
    // After too many guesses, even the right password is denied.
    assert_eq!(log_in(&server, ATTACKER, "alice", "right").await, 429);
    for _ in 0..20 {
        assert_eq!(log_in(&server, VICTIM, "alice", "right").await, 200);
    }
    for expected in [401, 401, 401, 429] {
        assert_eq!(log_in(&server, VICTIM, "alice", "typo").await, expected);
    }
}

async fn an_attacker_that_tries_many_names_is_denied_by_address<St: TestStore>() {
    let server = start::<St>().await;
    for name in 0..15 {
        let expected = if name < 10 { 401 } else { 429 };
        assert_eq!(
            log_in(&server, ATTACKER, &format!("user{name}"), "guess").await,
            expected
        );
    }
    // Logging in to the attacker's own account in between does not help.
    assert_eq!(log_in(&server, ATTACKER, "mallory", "right").await, 429);
    assert_eq!(log_in(&server, VICTIM, "user14", "right").await, 200);
}
