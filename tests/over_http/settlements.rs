//! Settlements: charges corrected to the true cost, which is lower, equal or higher.

use axum::{Router, extract::Request, response::Response, routing::get};
use tollgate::{
    Algorithm, AnyAlgorithm, FixedWindow, Global, Header, Key, Limit, Quota, RateLimitLayer, SlidingCounter,
    SlidingLog, Tier, TokenBucket,
};

use support::{algorithms::each_algorithm, queued_server::SECOND};

use crate::over_http::fixture::{
    HandlerGate, Reply, Server, TestStore, number, on_both_stores, reported_cost, scripted_app,
};

on_both_stores![
    a_charge_becomes_the_true_cost,
    a_debt_is_bounded_whatever_was_used_before,
    later_requests_pay_the_debt,
    the_headers_include_the_settlement,
    a_settlement_applies_to_the_tier_before_it,
    headers_of_unsettled_tiers_use_the_current_time,
    the_last_settlement_that_is_some_counts,
    an_expired_charge_is_not_refunded_and_an_excess_is_charged_now,
    a_charge_of_zero_is_not_settled,
    an_exempt_request_is_not_settled,
    a_denied_request_is_not_settled,
];

const TEN: Quota = Quota::per_minute(10);

/// The charge until the true cost is known.
fn four(_: &Request) -> u64 {
    4
}

/// What a user has used, including beyond the limit, as measured by a limit of a hundred that shares the state.
async fn used<St: TestStore>(store: &St, algorithm: AnyAlgorithm, user: &str) -> u64 {
    let hundred = Limit::new("api", algorithm.try_quota(Quota::per_minute(100)).unwrap());
    100 - store.left(&hundred, &Key::new(format!("x-user-id:{user}"))).await
}

async fn serve<St: TestStore>(algorithm: AnyAlgorithm) -> (Server, St) {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::new("api", algorithm, Header::new("x-user-id"))
            .cost(four)
            .settle(reported_cost),
        store.clone(),
    );
    (Server::start(scripted_app().layer(layer)).await, store)
}

/// Sends a request with this true cost.
async fn send(server: &Server, user: &str, cost: impl Into<Option<u64>>) -> Reply {
    let request = server.request("/").header("x-user-id", user);
    Reply::to(match cost.into() {
        Some(cost) => request.header("x-true-cost", cost),
        None => request,
    })
    .await
}

async fn a_charge_becomes_the_true_cost<St: TestStore>() {
    for algorithm in each_algorithm(TEN) {
        let (server, store) = serve::<St>(algorithm).await;
        for (cost, charged) in [
            (Some(0), 0),
            (Some(1), 1),
            (Some(4), 4),
            (None, 4),
            (Some(7), 7),
            (Some(10), 10),
            (Some(19), 19),
            (Some(20), 20),
            // A debt is bounded by twice the limit.
            (Some(21), 20),
            (Some(u64::from(u32::MAX)), 20),
            (Some(1 << 32), 20),
            (Some(u64::MAX), 20),
        ] {
            let user = cost.map_or("unknown".into(), |cost| cost.to_string());
            let reply = send(&server, &user, cost).await;
            let left = 10_u64.saturating_sub(charged);
            assert_eq!(
                (reply.status, reply.remaining()),
                (200, left.to_string()),
                "{cost:?} of {algorithm:?}"
            );
            assert_eq!(
                used(&store, algorithm, &user).await,
                charged,
                "{cost:?} of {algorithm:?}"
            );
        }
    }
}

async fn a_debt_is_bounded_whatever_was_used_before<St: TestStore>() {
    for algorithm in each_algorithm(TEN)
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let (server, store) = serve::<St>(algorithm).await;
        for (cost, status, charged) in [
            (Some(1), 200, 1),
            (Some(5), 200, 6),
            (Some(u64::MAX), 200, 20),
            (Some(0), 429, 20),
            (None, 429, 20),
        ] {
            assert_eq!(
                send(&server, "a", cost).await.status,
                status,
                "{cost:?} of {algorithm:?}"
            );
            assert_eq!(used(&store, algorithm, "a").await, charged, "{cost:?} of {algorithm:?}");
        }
    }
}

async fn later_requests_pay_the_debt<St: TestStore>() {
    // How long it takes until four units are available again after ten, twelve and twenty are used.
    for (algorithm, waits) in [
        (TokenBucket::new(TEN).to_any(), ["24", "36", "84"]),
        (FixedWindow::new(TEN).to_any(), ["45", "45", "45"]),
        (FixedWindow::new(TEN).anchored().to_any(), ["60", "60", "60"]),
        (SlidingLog::new(TEN).to_any(), ["60", "60", "60"]),
        // The units expire one by one, in the sub-window of ten seconds that begins one window after theirs.
        (SlidingCounter::new(TEN).sub_windows(6).to_any(), ["58", "59", "62"]),
    ] {
        let (server, _) = serve::<St>(algorithm).await;
        for (cost, wait) in [10, 12, 20].into_iter().zip(waits) {
            let user = cost.to_string();
            assert_eq!(send(&server, &user, cost).await.status, 200);
            let reply = send(&server, &user, cost).await;
            let observed = (reply.status, reply.header("retry-after"), reply.remaining());
            assert_eq!(observed, (429, wait.into(), "0".into()), "{cost} of {algorithm:?}");
        }
    }
}

async fn the_headers_include_the_settlement<St: TestStore>() {
    let (server, _) = serve::<St>(TokenBucket::new(TEN).to_any()).await;
    let limits = |left, reset, more_in| format!(r#"10 {left} {reset} | "api";q=10;w=60 | "api";r={left};t={more_in}"#);
    for (cost, left, reset, more_in) in [(0, 10, 616, 60), (1, 9, 622, 54), (4, 5, 646, 30), (7, 0, 688, 18)] {
        let reply = send(&server, "a", cost).await;
        assert_eq!(reply.all(), (200, "-".into(), limits(left, reset, more_in)), "{cost}");
    }
    assert_eq!(
        send(&server, "a", 0).await.all(),
        (429, "36".into(), limits(0, 652, 36))
    );
}

async fn a_settlement_applies_to_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("requests", TEN, Global, store)
        .tier(
            Tier::fixed_window("tokens", Quota::per_minute(100), Global)
                .cost(four)
                .settle(reported_cost),
        )
        .tier(
            Tier::fixed_window("rows", Quota::per_minute(1000), Global)
                .cost(four)
                .settle(|response: &Response| number(response.headers(), "x-rows")),
        );
    let server = Server::start(scripted_app().layer(layer)).await;
    for (tokens, rows, left) in [
        ("1", "100", ["9", "99", "900"]),
        ("50", "0", ["8", "49", "900"]),
        ("4", "4", ["7", "45", "896"]),
    ] {
        let request = server.request("/").header("x-true-cost", tokens);
        let reply = Reply::to(request.header("x-rows", rows)).await;
        let [requests, tokens, rows] = left;
        let states = format!(r#""requests";r={requests};t=45, "tokens";r={tokens};t=45, "rows";r={rows};t=45"#);
        assert_eq!(reply.header("ratelimit"), states);
    }
}

async fn the_last_settlement_that_is_some_counts<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", Quota::per_minute(100), Global)
            .cost(four)
            .settle(reported_cost)
            .settle(|response: &Response| number(response.headers(), "x-truer-cost"))
            .refund_if(|response: &Response| response.status().is_server_error()),
        store,
    );
    let server = Server::start(scripted_app().layer(layer)).await;
    for (headers, left) in [
        (&[][..], "96"),
        (&[("x-true-cost", "10")], "86"),
        (&[("x-truer-cost", "1")], "85"),
        (&[("x-true-cost", "10"), ("x-truer-cost", "1")], "84"),
        // The settlement equals the charge.
        (&[("x-true-cost", "10"), ("x-truer-cost", "4")], "80"),
        (
            &[("x-true-cost", "10"), ("x-truer-cost", "1"), ("x-status", "500")],
            "80",
        ),
        (&[("x-true-cost", "80"), ("x-status", "500")], "80"),
    ] {
        let request = headers.iter().fold(server.request("/"), |request, (name, value)| {
            request.header(*name, *value)
        });
        assert_eq!(Reply::to(request).await.remaining(), left, "{headers:?}");
    }
}

async fn an_expired_charge_is_not_refunded_and_an_excess_is_charged_now<St: TestStore>() {
    for algorithm in each_algorithm(TEN) {
        for (cost, charged) in [(0, 0), (1, 0), (4, 0), (5, 1), (10, 6), (u64::MAX, 20)] {
            let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
            let layer = RateLimitLayer::new(
                Tier::new("api", algorithm, Header::new("x-user-id"))
                    .cost(four)
                    .settle(reported_cost),
                store.clone(),
            );
            let server = Server::start(gate.scripted_app().layer(layer)).await;
            let request = server.request("/").header("x-user-id", "a");
            let slow = tokio::spawn(Reply::to(request.header("x-true-cost", cost)));
            gate.wait_until_inside(1).await;
            assert_eq!(used(&store, algorithm, "a").await, 4, "{cost} of {algorithm:?}");
            clock.advance(120 * SECOND);
            gate.release(1);
            let left = 10_u64.saturating_sub(charged);
            // A settlement that equals the charge does not call the store.
            let left = if cost == 4 { 6 } else { left };
            assert_eq!(
                slow.await.unwrap().remaining(),
                left.to_string(),
                "{cost} of {algorithm:?}"
            );
            assert_eq!(used(&store, algorithm, "a").await, charged, "{cost} of {algorithm:?}");
        }
    }
}

async fn a_charge_of_zero_is_not_settled<St: TestStore>() {
    for algorithm in each_algorithm(TEN) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new(
            Tier::new("api", algorithm, Header::new("x-user-id"))
                .cost(|_: &Request| 0)
                .settle(reported_cost),
            store.clone(),
        );
        let server = Server::start(scripted_app().layer(layer)).await;
        for cost in [None, Some(0), Some(1), Some(5), Some(u64::MAX)] {
            assert_eq!(
                send(&server, "a", cost).await.remaining(),
                "10",
                "{cost:?} of {algorithm:?}"
            );
            assert_eq!(used(&store, algorithm, "a").await, 0, "{cost:?} of {algorithm:?}");
        }
    }
}

async fn an_exempt_request_is_not_settled<St: TestStore>() {
    let (store, _) = St::fresh();
    let algorithm = FixedWindow::new(TEN).to_any();
    let layer = RateLimitLayer::new(
        Tier::new("api", algorithm, Header::new("x-user-id"))
            .cost(four)
            .settle(reported_cost),
        store.clone(),
    )
    .exempt(|request: &Request| number(request.headers(), "x-staff").is_some());
    let server = Server::start(scripted_app().layer(layer)).await;
    for (staff, charged) in [(true, 0), (false, 5), (true, 5)] {
        let mut request = server.request("/").header("x-user-id", "a").header("x-true-cost", 5);
        if staff {
            request = request.header("x-staff", 1);
        }
        assert_eq!(Reply::to(request).await.status, 200);
        assert_eq!(used(&store, algorithm, "a").await, charged);
    }
}

async fn headers_of_unsettled_tiers_use_the_current_time<St: TestStore>() {
    let ((store, clock), gate) = (St::fresh(), HandlerGate::new());
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(3), Global, store)
        .tier(Tier::token_bucket("api", TEN, Global).settle(reported_cost));
    let server = Server::start(gate.scripted_app().layer(layer)).await;
    let reply = tokio::spawn(Reply::to(server.request("/").header("x-true-cost", 5)));
    gate.wait_until_inside(1).await;
    clock.advance(10 * SECOND);
    gate.release(1);
    // The reset time does not depend on how long the response took.
    let limits = r#"3 2 660 | "all";q=3;w=60, "api";q=10;w=60 | "all";r=2;t=35, "api";r=6;t=36"#;
    assert_eq!(reply.await.unwrap().all(), (200, "-".into(), limits.into()));
}

async fn a_denied_request_is_not_settled<St: TestStore>() {
    let (store, _) = St::fresh();
    let algorithm = FixedWindow::new(TEN).to_any();
    let layer = RateLimitLayer::new(
        Tier::new("api", algorithm, Header::new("x-user-id"))
            .cost(four)
            // A denial is not a response of the inner service, so the closure is not called.
            .settle(|response: &Response| match response.status().as_u16() {
                200 => None,
                status => panic!("{status}"),
            }),
        store.clone(),
    );
    let app = Router::new().route("/", get(async || "done"));
    let server = Server::start(app.layer(layer)).await;
    for (status, charged) in [(200, 4), (200, 8), (429, 8), (429, 8)] {
        assert_eq!(send(&server, "a", None).await.status, status);
        assert_eq!(used(&store, algorithm, "a").await, charged);
    }
}
