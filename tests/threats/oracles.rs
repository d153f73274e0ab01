//! Whoever reads from their own answers what others do.

use axum::{Router, routing::get};
use tollgate::{FixedWindow, Global, Header, Quota, RateLimitLayer};

use support::{
    each_store::{TestStore, on_both_stores},
    http::Server,
};

on_both_stores![what_others_do_is_in_no_answer_while_an_unlisted_tier_admits];

/// What bob is answered three times, but for the date, after so many others have come.
async fn bob_after<St: TestStore>(others: usize) -> Vec<String> {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(100), Global, store)
        .unlisted()
        .tier("user", FixedWindow::new(Quota::per_minute(2)), Header::new("x-user-id"));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for other in 0..others {
        assert_eq!(server.get_as(&format!("user{other}")).await.status, 200);
    }
    let mut answers = Vec::new();
    for _ in 0..3 {
        let reply = server.get_as("bob").await;
        answers.push(format!("{reply:?}").replace(&reply.header("date"), "today"));
    }
    answers
}

async fn what_others_do_is_in_no_answer_while_an_unlisted_tier_admits<St: TestStore>() {
    let alone = bob_after::<St>(0).await;
    assert!(alone[1].contains("200") && alone[2].contains("429"), "{alone:?}");
    for others in [1, 50, 98] {
        assert_eq!(bob_after::<St>(others).await, alone);
    }
}
