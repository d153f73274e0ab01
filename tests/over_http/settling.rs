//! Charges that are corrected to what their request has cost in truth: less, the same, or more.

use axum::{Router, extract::Request, response::Response, routing::get};
use tollgate::{
    Algorithm, FixedWindow, Global, Header, Key, Limit, Quota, RateLimitLayer, Rule, SlidingCounter, SlidingLog,
    TokenBucket,
};

use support::{held::SECOND, rules::each_algorithm};

use crate::over_http::{
    fixture::{Reply, Server, TestStore, on_both_stores},
    handlers::{Keeper, number, obliging, told},
};

on_both_stores![
    a_charge_becomes_what_it_should_have_been,
    a_debt_has_a_bound_whatever_was_used_before,
    whoever_comes_next_pays_for_it,
    the_headers_tell_what_is_left_when_it_is_settled,
    a_settlement_is_about_the_tier_before_it,
    what_is_not_settled_tells_the_time_as_it_is_then,
    the_last_that_says_something_counts,
    what_has_lapsed_is_not_given_back_and_more_is_charged_now,
    what_cost_nothing_is_not_corrected,
    an_exempt_request_is_not_charged_afterwards,
    a_refused_request_is_not_settled,
];

const TEN: Quota = Quota::per_minute(10);

/// What requests are charged until it is known what they cost.
fn four(_: &Request) -> u64 {
    4
}

/// How much a user has used, beyond the limit too: by the word of a limit of a hundred, which counts the same.
async fn used<St: TestStore>(store: &St, rule: Rule, user: &str) -> u64 {
    let hundred = Limit::new("api", rule.try_quota(Quota::per_minute(100)).unwrap());
    100 - store.left(&hundred, &Key::new(format!("x-user-id:{user}"))).await
}

async fn serve<St: TestStore>(rule: Rule) -> (Server, St) {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new("api", rule, Header::new("x-user-id"), store.clone())
        .cost(four)
        .settle(told);
    (Server::start(obliging().layer(layer)).await, store)
}

/// A request that turns out to have cost this.
async fn ask(server: &Server, user: &str, cost: impl Into<Option<u64>>) -> Reply {
    let request = server.request("/").header("x-user-id", user);
    Reply::to(match cost.into() {
        Some(cost) => request.header("x-true-cost", cost),
        None => request,
    })
    .await
}

async fn a_charge_becomes_what_it_should_have_been<St: TestStore>() {
    for rule in each_algorithm(TEN) {
        let (server, store) = serve::<St>(rule).await;
        for (cost, charged) in [
            (Some(0), 0),
            (Some(1), 1),
            (Some(4), 4),
            (None, 4),
            (Some(7), 7),
            (Some(10), 10),
            (Some(19), 19),
            (Some(20), 20),
            // Up to twice the limit, and no further.
            (Some(21), 20),
            (Some(u64::from(u32::MAX)), 20),
            (Some(1 << 32), 20),
            (Some(u64::MAX), 20),
        ] {
            let user = cost.map_or("nobody-knows".into(), |cost| cost.to_string());
            let reply = ask(&server, &user, cost).await;
            let left = 10_u64.saturating_sub(charged);
            assert_eq!(
                (reply.status, reply.remaining()),
                (200, left.to_string()),
                "{cost:?} of {rule:?}"
            );
            assert_eq!(used(&store, rule, &user).await, charged, "{cost:?} of {rule:?}");
        }
    }
}

async fn a_debt_has_a_bound_whatever_was_used_before<St: TestStore>() {
    for rule in each_algorithm(TEN).into_iter().filter(|rule| !rule.queues()) {
        let (server, store) = serve::<St>(rule).await;
        for (cost, status, charged) in [
            (Some(1), 200, 1),
            (Some(5), 200, 6),
            (Some(u64::MAX), 200, 20),
            (Some(0), 429, 20),
            (None, 429, 20),
        ] {
            assert_eq!(ask(&server, "a", cost).await.status, status, "{cost:?} of {rule:?}");
            assert_eq!(used(&store, rule, "a").await, charged, "{cost:?} of {rule:?}");
        }
    }
}

async fn whoever_comes_next_pays_for_it<St: TestStore>() {
    // How long it takes until there is room for four again after ten, twelve and twenty.
    for (rule, waits) in [
        (TokenBucket::new(TEN).rule(), ["24", "36", "84"]),
        (FixedWindow::new(TEN).rule(), ["45", "45", "45"]),
        (FixedWindow::new(TEN).anchored().rule(), ["60", "60", "60"]),
        (SlidingLog::new(TEN).rule(), ["60", "60", "60"]),
        // They leave one by one, in the ten seconds that are the seventh from those they came in.
        (SlidingCounter::new(TEN).buckets(6).rule(), ["58", "59", "62"]),
    ] {
        let (server, _) = serve::<St>(rule).await;
        for (cost, wait) in [10, 12, 20].into_iter().zip(waits) {
            let user = cost.to_string();
            assert_eq!(ask(&server, &user, cost).await.status, 200);
            let reply = ask(&server, &user, cost).await;
            let told = (reply.status, reply.header("retry-after"), reply.remaining());
            assert_eq!(told, (429, wait.into(), "0".into()), "{cost} of {rule:?}");
        }
    }
}

async fn the_headers_tell_what_is_left_when_it_is_settled<St: TestStore>() {
    let (server, _) = serve::<St>(TokenBucket::new(TEN).rule()).await;
    let limits = |left, reset, more_in| format!(r#"10 {left} {reset} | "api";q=10;w=60 | "api";r={left};t={more_in}"#);
    for (cost, left, reset, more_in) in [(0, 10, 616, 0), (1, 9, 622, 6), (4, 5, 646, 30), (7, 0, 688, 72)] {
        let reply = ask(&server, "a", cost).await;
        assert_eq!(reply.all(), (200, "-".into(), limits(left, reset, more_in)), "{cost}");
    }
    assert_eq!(ask(&server, "a", 0).await.all(), (429, "36".into(), limits(0, 652, 36)));
}

async fn a_settlement_is_about_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("requests", TEN, Global, store)
        .tier("tokens", FixedWindow::new(Quota::per_minute(100)), Global)
        .cost(four)
        .settle(told)
        .tier("rows", FixedWindow::new(Quota::per_minute(1000)), Global)
        .cost(four)
        .settle(|response: &Response| number(response.headers(), "x-rows"));
    let server = Server::start(obliging().layer(layer)).await;
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

async fn the_last_that_says_something_counts<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(100), Global, store)
        .cost(four)
        .settle(told)
        .settle(|response: &Response| number(response.headers(), "x-truer-cost"))
        .refund_if(|response: &Response| response.status().is_server_error());
    let server = Server::start(obliging().layer(layer)).await;
    for (headers, left) in [
        (&[][..], "96"),
        (&[("x-true-cost", "10")], "86"),
        (&[("x-truer-cost", "1")], "85"),
        (&[("x-true-cost", "10"), ("x-truer-cost", "1")], "84"),
        // Back to what was charged.
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

async fn what_has_lapsed_is_not_given_back_and_more_is_charged_now<St: TestStore>() {
    for rule in each_algorithm(TEN) {
        for (cost, charged) in [(0, 0), (1, 0), (4, 0), (5, 1), (10, 6), (u64::MAX, 20)] {
            let ((store, clock), keeper) = (St::fresh(), Keeper::new());
            let layer = RateLimitLayer::new("api", rule, Header::new("x-user-id"), store.clone())
                .cost(four)
                .settle(told);
            let server = Server::start(keeper.obliging().layer(layer)).await;
            let request = server.request("/").header("x-user-id", "a");
            let slow = tokio::spawn(Reply::to(request.header("x-true-cost", cost)));
            keeper.keeps(1).await;
            assert_eq!(used(&store, rule, "a").await, 4, "{cost} of {rule:?}");
            clock.advance(120 * SECOND);
            keeper.let_go(1);
            let left = 10_u64.saturating_sub(charged);
            // A charge that is as it should be is not looked at again.
            let left = if cost == 4 { 6 } else { left };
            assert_eq!(slow.await.unwrap().remaining(), left.to_string(), "{cost} of {rule:?}");
            assert_eq!(used(&store, rule, "a").await, charged, "{cost} of {rule:?}");
        }
    }
}

async fn what_cost_nothing_is_not_corrected<St: TestStore>() {
    for rule in each_algorithm(TEN) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::new("api", rule, Header::new("x-user-id"), store.clone())
            .cost(|_: &Request| 0)
            .settle(told);
        let server = Server::start(obliging().layer(layer)).await;
        for cost in [None, Some(0), Some(1), Some(5), Some(u64::MAX)] {
            assert_eq!(ask(&server, "a", cost).await.remaining(), "10", "{cost:?} of {rule:?}");
            assert_eq!(used(&store, rule, "a").await, 0, "{cost:?} of {rule:?}");
        }
    }
}

async fn an_exempt_request_is_not_charged_afterwards<St: TestStore>() {
    let (store, _) = St::fresh();
    let rule = FixedWindow::new(TEN).rule();
    let layer = RateLimitLayer::new("api", rule, Header::new("x-user-id"), store.clone())
        .cost(four)
        .exempt(|request: &Request| number(request.headers(), "x-staff").is_some())
        .settle(told);
    let server = Server::start(obliging().layer(layer)).await;
    for (staff, charged) in [(true, 0), (false, 5), (true, 5)] {
        let mut request = server.request("/").header("x-user-id", "a").header("x-true-cost", 5);
        if staff {
            request = request.header("x-staff", 1);
        }
        assert_eq!(Reply::to(request).await.status, 200);
        assert_eq!(used(&store, rule, "a").await, charged);
    }
}

async fn what_is_not_settled_tells_the_time_as_it_is_then<St: TestStore>() {
    let ((store, clock), keeper) = (St::fresh(), Keeper::new());
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(3), Global, store)
        .tier("api", TokenBucket::new(TEN), Global)
        .settle(told);
    let server = Server::start(keeper.obliging().layer(layer)).await;
    let reply = tokio::spawn(Reply::to(server.request("/").header("x-true-cost", 5)));
    keeper.keeps(1).await;
    clock.advance(10 * SECOND);
    keeper.let_go(1);
    // The minute ends when it ends, however long the answer took.
    let limits = r#"3 2 660 | "all";q=3;w=60, "api";q=10;w=60 | "all";r=2;t=35, "api";r=6;t=24"#;
    assert_eq!(reply.await.unwrap().all(), (200, "-".into(), limits.into()));
}

async fn a_refused_request_is_not_settled<St: TestStore>() {
    let (store, _) = St::fresh();
    let rule = FixedWindow::new(TEN).rule();
    let layer = RateLimitLayer::new("api", rule, Header::new("x-user-id"), store.clone())
        .cost(four)
        // A refusal is no answer of the service, so it is not asked about either.
        .settle(|response: &Response| match response.status().as_u16() {
            200 => None,
            status => panic!("{status}"),
        });
    let app = Router::new().route("/", get(async || "done"));
    let server = Server::start(app.layer(layer)).await;
    for (status, charged) in [(200, 4), (200, 8), (429, 8), (429, 8)] {
        assert_eq!(ask(&server, "a", None).await.status, status);
        assert_eq!(used(&store, rule, "a").await, charged);
    }
}
