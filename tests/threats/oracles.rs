//! Attackers that infer the traffic of others from their own responses.

use axum::{Router, routing::get};
use tollgate::{Global, Header, Quota, RateLimitLayer, Tier};

use support::{
    each_store::{TestStore, on_both_stores},
    http::Server,
};

on_both_stores![responses_do_not_reveal_other_traffic_while_a_hidden_tier_admits];

/// Three responses to Bob, without the date, after this many requests by others.
async fn bob_after<St: TestStore>(others: usize) -> Vec<String> {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("all", Quota::per_minute(100), Global).hidden(),
        store,
    )
    .tier(Tier::fixed_window(
        "user",
        Quota::per_minute(2),
        Header::new("x-user-id"),
    ));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for other in 0..others {
        assert_eq!(server.get_as(&format!("user{other}")).await.status, 200);
    }
    let mut responses = Vec::new();
    for _ in 0..3 {
        let reply = server.get_as("bob").await;
        responses.push(format!("{reply:?}").replace(&reply.header("date"), "today"));
    }
    responses
}

async fn responses_do_not_reveal_other_traffic_while_a_hidden_tier_admits<St: TestStore>() {
    let alone = bob_after::<St>(0).await;
    assert!(alone[1].contains("200") && alone[2].contains("429"), "{alone:?}");
    for others in [1, 50, 98] {
        assert_eq!(bob_after::<St>(others).await, alone);
    }
}
