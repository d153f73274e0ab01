//! Shadow tiers: their verdicts are reported to the service, and never to clients.

use std::sync::atomic::{AtomicU32, Ordering};

use axum::{Router, routing::get};
use tollgate::{
    Algorithm, Decision, FixedWindow, Global, Header, HttpResponder, Key, LeakyBucket, Limit, Quota, RateLimitLayer,
    Tier, TokenBucket,
};
use tracing::Level;

use support::{algorithms::each_algorithm, log};

use crate::over_http::fixture::{NOTHING, Reply, Server, TestStore, on_both_stores, requested_cost};

on_both_stores![
    a_shadow_denies_no_request_and_is_in_no_header,
    a_shadow_does_not_delay,
    an_impossible_shadow_denies_no_request,
    a_request_without_the_key_of_a_shadow_passes,
    a_shadow_is_charged_only_if_the_request_is_admitted,
    a_denying_shadow_is_not_charged,
    the_first_tier_can_be_a_shadow,
    all_tiers_can_be_shadows,
    problem_details_do_not_name_a_shadow,
    a_shadow_denial_is_logged_once,
];

const ONE: Quota = Quota::per_minute(1);
const TEN: Quota = Quota::per_minute(10);

/// Responds with each tier's name, whether it is a shadow, its outcome, and what remains.
fn decision_app() -> Router {
    let handler = async |decision: Decision| {
        let tiers = decision.tiers().iter().map(|tier| {
            let shadow = if tier.is_shadow() { " (shadow)" } else { "" };
            let verdict = tier.verdict();
            format!(
                "{}{shadow} {}, {} left",
                tier.limit().name(),
                verdict.outcome(),
                verdict.remaining()
            )
        });
        tiers.collect::<Vec<_>>().join("; ")
    };
    Router::new().route("/", get(handler))
}

async fn a_shadow_denies_no_request_and_is_in_no_header<St: TestStore>() {
    for algorithm in each_algorithm(Quota::per_minute(2))
        .into_iter()
        .filter(|algorithm| !algorithm.is_queueing())
    {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", TEN, Global, store)
            .tier(Tier::new("watched", algorithm, Global).shadow());
        let server = Server::start(decision_app().layer(layer)).await;
        for (left, watched) in [
            (9, "admitted, 1 left"),
            (8, "admitted, 0 left"),
            (7, "limited, 0 left"),
            (6, "limited, 0 left"),
        ] {
            let reply = server.get("/").await;
            let limits = format!(r#"10 {left} 660 | "api";q=10;w=60 | "api";r={left};t=45"#);
            assert_eq!(reply.all(), (200, "-".into(), limits), "{algorithm:?}");
            let expected = format!("api admitted, {left} left; watched (shadow) {watched}");
            assert_eq!(reply.body, expected, "{algorithm:?}");
        }
    }
}

async fn a_shadow_does_not_delay<St: TestStore>() {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", TEN, Global, store)
        .tier(Tier::new("queue", LeakyBucket::new(Quota::per_second(1)).capacity(3), Global).shadow());
    let server = Server::start(decision_app().layer(layer)).await;
    for queue in [
        "admitted, 2 left",
        "admitted, 1 left",
        "admitted, 0 left",
        "limited, 0 left",
    ] {
        let reply = server.get("/").await;
        assert!(reply.body.ends_with(queue), "{} is not {queue}", reply.body);
        assert_eq!((reply.status, clock.pending_sleeps()), (200, 0));
    }
}

async fn an_impossible_shadow_denies_no_request<St: TestStore>() {
    for algorithm in each_algorithm(ONE) {
        let (store, _) = St::fresh();
        let layer = RateLimitLayer::fixed_window("api", TEN, Global, store)
            .tier(Tier::new("watched", algorithm, Global).cost(requested_cost).shadow());
        let server = Server::start(decision_app().layer(layer)).await;
        let reply = Reply::to(server.request("/").header("x-cost", u64::MAX)).await;
        let expected = "api admitted, 9 left; watched (shadow) impossible, 1 left";
        assert_eq!((reply.status, reply.body.as_str()), (200, expected), "{algorithm:?}");
    }
}

async fn a_request_without_the_key_of_a_shadow_passes<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("user", TEN, Header::new("x-user-id"), store)
        .tier(Tier::fixed_window("tenant", ONE, Header::new("x-tenant")).shadow());
    let server = Server::start(decision_app().layer(layer)).await;
    assert_eq!(server.get_as("a").await.body, "user admitted, 9 left");
    let request = server.request("/").header("x-user-id", "a").header("x-tenant", "t");
    let expected = "user admitted, 8 left; tenant (shadow) admitted, 0 left";
    assert_eq!(Reply::to(request).await.body, expected);
    // The keys of enforced tiers are still required.
    for request in [server.request("/"), server.request("/").header("x-tenant", "t")] {
        let reply = Reply::to(request).await;
        assert_eq!(reply.all(), (400, "-".into(), NOTHING.into()));
        assert_eq!(reply.json()["message"], "the request lacks the `x-user-id` header");
    }
}

async fn a_shadow_is_charged_only_if_the_request_is_admitted<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(2), Global, store.clone())
        .tier(Tier::token_bucket("watched", TEN, Global).shadow());
    let server = Server::start(decision_app().layer(layer)).await;
    let watched = Limit::new("watched", TokenBucket::new(TEN));
    for (status, left) in [(200, 9), (200, 8), (429, 8), (429, 8)] {
        assert_eq!(server.get("/").await.status, status);
        assert_eq!(store.left(&watched, &Key::GLOBAL).await, left);
    }
}

async fn a_denying_shadow_is_not_charged<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("api", Quota::per_minute(100), Global).cost(requested_cost),
        store.clone(),
    )
    .tier(Tier::sliding_log("watched", TEN, Global).cost(requested_cost).shadow())
    .tier(
        Tier::fixed_window("beside", Quota::per_minute(100), Global)
            .cost(requested_cost)
            .shadow(),
    );
    let server = Server::start(decision_app().layer(layer)).await;
    for (cost, expected) in [
        (
            7,
            "api admitted, 93 left; watched (shadow) admitted, 3 left; beside (shadow) admitted, 93 left",
        ),
        (
            4,
            "api admitted, 89 left; watched (shadow) limited, 3 left; beside (shadow) admitted, 89 left",
        ),
        (
            3,
            "api admitted, 86 left; watched (shadow) admitted, 0 left; beside (shadow) admitted, 86 left",
        ),
    ] {
        let reply = Reply::to(server.request("/").header("x-cost", cost)).await;
        assert_eq!((reply.status, reply.body.as_str()), (200, expected));
    }
}

async fn the_first_tier_can_be_a_shadow<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("watched", ONE, Header::new("x-tenant")).shadow(),
        store,
    )
    .tier(Tier::fixed_window("api", Quota::per_minute(3), Global));
    let server = Server::start(decision_app().layer(layer)).await;
    for (status, left, expected) in [
        (200, 2, "watched (shadow) admitted, 0 left; api admitted, 2 left"),
        (200, 1, "watched (shadow) limited, 0 left; api admitted, 1 left"),
        (200, 0, "watched (shadow) limited, 0 left; api admitted, 0 left"),
    ] {
        let reply = Reply::to(server.request("/").header("x-tenant", "t")).await;
        let limits = format!(r#"3 {left} 660 | "api";q=3;w=60 | "api";r={left};t=45"#);
        assert_eq!(reply.all(), (status, "-".into(), limits));
        assert_eq!(reply.body, expected);
    }
    // The other tier denies, with or without a key for the shadow.
    for request in [server.request("/").header("x-tenant", "t"), server.request("/")] {
        let limits = r#"3 0 660 | "api";q=3;w=60 | "api";r=0;t=45"#;
        assert_eq!(Reply::to(request).await.all(), (429, "45".into(), limits.into()));
    }
}

async fn all_tiers_can_be_shadows<St: TestStore>() {
    for algorithm in each_algorithm(ONE) {
        let (store, _) = St::fresh();
        let alone = RateLimitLayer::new(
            Tier::new("watched", algorithm, Header::new("x-user-id")).shadow(),
            store,
        );
        let server = Server::start(decision_app().layer(alone.clone())).await;
        let two = alone.tier(Tier::fixed_window("other", TEN, Global).shadow());
        for (expected, remaining) in [("admitted", 0), ("limited", 0), ("limited", 0)] {
            let reply = server.get_as("a").await;
            assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()), "{algorithm:?}");
            assert_eq!(
                reply.body,
                format!("watched (shadow) {expected}, {remaining} left"),
                "{algorithm:?}"
            );
        }
        let reply = server.get("/").await;
        assert_eq!(
            (reply.all(), reply.body.as_str()),
            ((200, "-".into(), NOTHING.into()), ""),
            "{algorithm:?}"
        );
        // The second layer shares the limit of the first tier.
        let reply = Server::start(decision_app().layer(two)).await.get_as("a").await;
        assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()), "{algorithm:?}");
        let expected = "watched (shadow) limited, 0 left; other (shadow) admitted, 9 left";
        assert_eq!(reply.body, expected, "{algorithm:?}");
    }
}

async fn problem_details_do_not_name_a_shadow<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::fixed_window("day", Quota::per_day(1), Global).shadow(), store)
        .tier(Tier::fixed_window("minute", ONE, Global))
        .respond_with(HttpResponder::new().problem_details());
    let server = Server::start(decision_app().layer(layer)).await;
    assert_eq!(server.get("/").await.status, 200);
    let problem = server.get("/").await.json();
    // The shadow's wait would be longer.
    assert_eq!(
        (&problem["retry_after"], &problem["violated-policies"]),
        (&45.into(), &["minute"].as_slice().into())
    );
}

async fn a_shadow_denial_is_logged_once<St: TestStore>() {
    static USERS: AtomicU32 = AtomicU32::new(0);
    log::listen();
    let user = format!("watched-{}", USERS.fetch_add(1, Ordering::Relaxed));
    let (store, _) = St::fresh();
    let watched = Header::new("x-user-id");
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(3), Global, store)
        .tier(Tier::new("watched", FixedWindow::new(ONE).to_any(), watched.clone()).shadow())
        .tier(Tier::fixed_window("ample", TEN, watched.clone()).shadow())
        .tier(
            Tier::token_bucket("tiny", ONE, watched)
                .cost(|_: &axum::extract::Request| 2)
                .shadow(),
        );
    let server = Server::start(decision_app().layer(layer)).await;
    let lines = || {
        let ours = log::take(|line| line.field("key") == Key::named("x-user-id", &user).digest());
        let lines = ours.iter().map(|line| {
            assert_eq!(line.level, Level::DEBUG);
            ["limit", "outcome", "message"]
                .map(|field| line.field(field).to_owned())
                .join(": ")
        });
        lines.collect::<Vec<_>>()
    };
    let (watched, tiny) = (
        "watched: limited: shadow would have denied request",
        "tiny: impossible: shadow would have denied request",
    );
    for (status, logged) in [
        (200, &[tiny][..]),
        (200, &[watched, tiny]),
        (200, &[watched, tiny]),
        // A request that another tier denies is not logged for the shadows.
        (429, &[]),
    ] {
        assert_eq!(server.get_as(&user).await.status, status);
        assert_eq!(lines(), logged);
    }
}
