//! Quotas per request: usage is kept when a client changes plans.

use axum::{Router, extract::Request, routing::get};
use tollgate::{Algorithm, AnyAlgorithm, FixedWindow, Global, Header, Quota, RateLimitLayer, SlidingLog, Tier};

use support::algorithms::each_algorithm;

use crate::over_http::fixture::{Reply, Server, TestStore, on_both_stores};

on_both_stores![
    usage_is_kept_when_the_plan_changes,
    an_exhausted_plan_denies_until_the_plan_is_larger,
    an_invalid_quota_falls_back_to_the_tier_quota,
    a_quota_with_another_window_is_counted_separately,
    a_quota_applies_to_the_tier_before_it,
    more_plans_than_are_cached,
];

const FREE: Quota = Quota::per_minute(10);

/// The plan in the request's `x-plan` header: `pro`, `hourly`, or a limit per minute.
fn plan(request: &Request) -> Option<Quota> {
    match request.headers().get("x-plan")?.to_str().unwrap() {
        "pro" => Some(Quota::per_minute(1000)),
        "hourly" => Some(Quota::per_hour(10)),
        number => Some(Quota::per_minute(number.parse().unwrap())),
    }
}

async fn serve<St: TestStore>(algorithm: AnyAlgorithm) -> Server {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::new("user", algorithm, Header::new("x-user-id")).quota(plan),
        store,
    );
    Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await
}

/// The status, and the remaining and the total quota, of a request by a user on this plan.
async fn status_and_quota(server: &Server, user: &str, plan: &str) -> (u16, String) {
    let mut request = server.request("/").header("x-user-id", user);
    if plan != "free" {
        request = request.header("x-plan", plan);
    }
    let reply = Reply::to(request).await;
    (
        reply.status,
        format!("{} of {}", reply.remaining(), reply.header("x-ratelimit-limit")),
    )
}

/// Every algorithm that does not delay.
fn immediate_algorithms() -> impl Iterator<Item = AnyAlgorithm> {
    each_algorithm(FREE)
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
}

async fn usage_is_kept_when_the_plan_changes<St: TestStore>() {
    for algorithm in immediate_algorithms() {
        let server = serve::<St>(algorithm).await;
        for (plan, expected) in [
            ("free", "9 of 10"),
            ("pro", "998 of 1000"),
            ("pro", "997 of 1000"),
            ("free", "6 of 10"),
            ("5", "0 of 5"),
            ("free", "4 of 10"),
            ("pro", "993 of 1000"),
        ] {
            assert_eq!(
                status_and_quota(&server, "a", plan).await,
                (200, expected.into()),
                "{plan} of {algorithm:?}"
            );
        }
        assert_eq!(
            status_and_quota(&server, "b", "free").await,
            (200, "9 of 10".into()),
            "{algorithm:?}"
        );
    }
}

async fn an_exhausted_plan_denies_until_the_plan_is_larger<St: TestStore>() {
    for algorithm in immediate_algorithms() {
        let server = serve::<St>(algorithm).await;
        for left in (0..10).rev() {
            assert_eq!(
                status_and_quota(&server, "a", "free").await,
                (200, format!("{left} of 10")),
                "{algorithm:?}"
            );
        }
        for (plan, status, expected) in [
            ("free", 429, "0 of 10"),
            ("pro", 200, "989 of 1000"),
            ("free", 429, "0 of 10"),
            ("3", 429, "0 of 3"),
            ("pro", 200, "988 of 1000"),
        ] {
            assert_eq!(
                status_and_quota(&server, "a", plan).await,
                (status, expected.into()),
                "{plan} of {algorithm:?}"
            );
        }
    }
}

async fn an_invalid_quota_falls_back_to_the_tier_quota<St: TestStore>() {
    let server = serve::<St>(SlidingLog::new(FREE).to_any()).await;
    for (plan, expected) in [
        ("100000", "9 of 10"),
        ("free", "8 of 10"),
        ("65536", "65533 of 65536"),
        ("65537", "6 of 10"),
    ] {
        assert_eq!(
            status_and_quota(&server, "a", plan).await,
            (200, expected.into()),
            "{plan}"
        );
    }
}

async fn a_quota_with_another_window_is_counted_separately<St: TestStore>() {
    for algorithm in immediate_algorithms() {
        let server = serve::<St>(algorithm).await;
        for (plan, expected) in [
            ("free", "9 of 10"),
            ("hourly", "9 of 10"),
            ("hourly", "8 of 10"),
            ("free", "8 of 10"),
            ("free", "7 of 10"),
            ("hourly", "7 of 10"),
        ] {
            assert_eq!(
                status_and_quota(&server, "a", plan).await,
                (200, expected.into()),
                "{plan} of {algorithm:?}"
            );
        }
    }
}

async fn a_quota_applies_to_the_tier_before_it<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("global", Quota::per_minute(50), Global, store)
        .tier(Tier::fixed_window("user", FREE, Header::new("x-user-id")).quota(plan))
        .tier(Tier::fixed_window("last", Quota::per_minute(40), Global));
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let request = server.request("/").header("x-user-id", "a");
    let reply = Reply::to(request.header("x-plan", "20")).await;
    let policies = r#""global";q=50;w=60, "user";q=20;w=60, "last";q=40;w=60"#;
    let states = r#""global";r=49;t=45, "user";r=19;t=45, "last";r=39;t=45"#;
    assert_eq!(reply.limits(), format!("20 19 660 | {policies} | {states}"));
}

async fn more_plans_than_are_cached<St: TestStore>() {
    let server = serve::<St>(FixedWindow::new(FREE).to_any()).await;
    for used in 1..=300 {
        let (limit, left) = (1000 + used, 1000);
        assert_eq!(
            status_and_quota(&server, "a", &limit.to_string()).await,
            (200, format!("{left} of {limit}"))
        );
    }
    assert_eq!(
        status_and_quota(&server, "a", "1300").await,
        (200, "999 of 1300".into())
    );
}
