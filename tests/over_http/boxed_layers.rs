//! Boxed layers: they respond like the layers that they are made of, and tiers can be added to them.

use axum::{extract::Request, response::Response};
use tollgate::{BoxRateLimitLayer, FixedWindow, Global, Header, HttpResponder, Quota, RateLimitLayer, Tier};

use crate::over_http::fixture::{
    Reply, Server, TestStore, is_success, on_both_stores, reported_cost, requested_cost, scripted_app,
};

on_both_stores![a_boxed_layer_responds_like_the_layer_itself];

const TEN: Quota = Quota::per_minute(10);

/// Requests by their cost, their true cost, and the status of their response.
const REQUESTS: [(u32, u32, u16); 6] = [
    (1, 1, 500),
    (4, 2, 500),
    (3, 9, 200),
    (5, 5, 500),
    (11, 1, 200),
    (1, 1, 200),
];

/// Responses to the same requests: status and limits.
async fn responses(server: &Server) -> Vec<(u16, String)> {
    let mut responses = Vec::new();
    for (cost, true_cost, status) in REQUESTS {
        let request = server.request("/").header("x-user-id", "alice").header("x-cost", cost);
        let request = request.header("x-true-cost", true_cost).header("x-status", status);
        let reply = Reply::to(request).await;
        responses.push((reply.status, reply.limits()));
    }
    responses
}

async fn a_boxed_layer_responds_like_the_layer_itself<St: TestStore>() {
    let user = || Header::new("x-user-id");
    let all = || {
        Tier::fixed_window("all", TEN, Global)
            .cost(requested_cost)
            .settle(reported_cost)
    };
    let failures = || Tier::fixed_window("failures", TEN, user()).refund_if(is_success);
    let hidden = || Tier::new("hidden", FixedWindow::new(Quota::per_minute(6)).anchored(), user()).hidden();

    let (store, _) = St::fresh();
    let plain = RateLimitLayer::new(all(), store).tier(failures()).tier(hidden());
    let (store, _) = St::fresh();
    let boxed: BoxRateLimitLayer<Request, Response, St, HttpResponder> = RateLimitLayer::new(all(), store).boxed();
    let boxed = boxed
        .tier(failures())
        .boxed::<Request, Response>()
        .tier(hidden())
        .boxed();

    let [plain, boxed] = [
        Server::start(scripted_app().layer(plain)).await,
        Server::start(scripted_app().layer::<BoxRateLimitLayer<_, _, _>>(boxed)).await,
    ];
    let expected = responses(&plain).await;
    assert_eq!(responses(&boxed).await, expected);
    let statuses: Vec<_> = expected.iter().map(|(status, _)| *status).collect();
    assert_eq!(statuses, [500, 500, 200, 429, 429, 429]);
}
