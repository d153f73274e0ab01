//! `RateLimit` and `RateLimit-Policy`: effective windows, the tiers of a denial, quota units, and partition keys.

use std::time::Duration;

use axum::{Router, routing::any};
use tollgate::{
    ContentLength, Global, Header, HttpResponder, IetfDraft, LeakyBucket, Quota, QuotaUnit, RateLimitLayer,
    SlidingCounter, Tier,
};

use crate::over_http::{
    fixture::{Reply, Server, TestStore, on_both_stores, requested_cost, scripted_app, yield_until},
    responder_settings::both,
};

on_both_stores![
    a_client_is_never_invited_to_exceed_the_policy,
    a_denial_lists_the_tiers_that_denied,
    a_costly_request_waits_for_the_effective_window,
    a_queue_states_what_fits_in_its_maximal_wait,
    policies_state_their_quota_units,
    partition_keys_are_sent_by_choice,
];

async fn get(server: &Server, (name, value): (&str, &str)) -> Reply {
    Reply::to(server.request("/").header(name, value)).await
}

/// The effective window of each algorithm: at first, when half of the quota is used, and when nothing remains.
async fn a_client_is_never_invited_to_exceed_the_policy<St: TestStore>() {
    let quota = Quota::per_minute(60);
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(Tier::token_bucket("token", quota, Global).cost(requested_cost), store)
        .tier(Tier::new("leaky", LeakyBucket::with_capacity(quota, 120).policing(), Global).cost(requested_cost))
        .tier(Tier::fixed_window("fixed", quota, Global).cost(requested_cost))
        .tier(Tier::sliding_log("log", quota, Global).cost(requested_cost))
        .tier(Tier::new("counter", SlidingCounter::new(quota).sub_windows(6), Global).cost(requested_cost));
    let server = Server::start(scripted_app().layer(layer)).await;
    let limits = async |cost| get(&server, ("x-cost", cost)).await.header("ratelimit");
    // The clock stands still, 15.25 s into a minute.
    for (cost, expected) in [
        (
            "0",
            r#""token";r=60;t=60, "leaky";r=120;t=120, "fixed";r=60;t=60, "log";r=60;t=60, "counter";r=60;t=60"#,
        ),
        (
            "30",
            r#""token";r=30;t=30, "leaky";r=90;t=90, "fixed";r=30;t=45, "log";r=30;t=30, "counter";r=30;t=30"#,
        ),
        (
            "30",
            r#""token";r=0;t=1, "leaky";r=60;t=60, "fixed";r=0;t=45, "log";r=0;t=60, "counter";r=0;t=55"#,
        ),
    ] {
        assert_eq!(limits(cost).await, expected);
    }
}

async fn a_denial_lists_the_tiers_that_denied<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("ample", Quota::per_minute(5), Global, store)
        .tier(Tier::fixed_window("minute", Quota::per_minute(1), Global))
        .tier(Tier::fixed_window("hidden", Quota::per_day(1), Global).hidden())
        .tier(Tier::fixed_window("shadow", Quota::per_hour(1), Global).shadow())
        .tier(Tier::fixed_window("hour", Quota::per_hour(1), Global));
    let server = Server::start(scripted_app().layer(layer)).await;
    let [admitted, denied] = both(&server).await;
    let policies = r#""ample";q=5;w=60, "minute";q=1;w=60, "hour";q=1;w=3600"#;
    for reply in [&admitted, &denied] {
        assert_eq!(reply.header("ratelimit-policy"), policies);
    }
    let all = r#""ample";r=4;t=45, "minute";r=0;t=45, "hour";r=0;t=2985"#;
    assert_eq!(admitted.header("ratelimit"), all);
    assert_eq!(denied.header("ratelimit"), r#""minute";r=0;t=45, "hour";r=0;t=2985"#);
    // The hidden tier denies for the rest of the day.
    assert_eq!(denied.header("retry-after"), "85785");
}

/// A request that costs more than what remains is admitted after a second, but what remains is not invited to be used in that second.
async fn a_costly_request_waits_for_the_effective_window<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::token_bucket("user", Quota::per_minute(60), Global).cost(requested_cost),
        store,
    );
    let server = Server::start(scripted_app().layer(layer)).await;
    server.get("/").await;
    let denied = get(&server, ("x-cost", "60")).await;
    assert_eq!(
        (
            denied.header("ratelimit").as_str(),
            denied.header("retry-after").as_str()
        ),
        (r#""user";r=59;t=59"#, "59")
    );
    let impossible = get(&server, ("x-cost", "61")).await;
    assert_eq!(
        (
            impossible.header("ratelimit").as_str(),
            impossible.header("retry-after").as_str()
        ),
        (r#""user";r=59;t=59"#, "-")
    );
}

async fn a_queue_states_what_fits_in_its_maximal_wait<St: TestStore>() {
    let (store, clock) = St::fresh();
    // One in ten seconds: ten fit, but the third would be delayed for 20 s.
    let queue = LeakyBucket::with_capacity(Quota::per_minute(6), 10).max_wait(Duration::from_secs(10));
    let layer = RateLimitLayer::new(Tier::new("queue", queue, Global), store);
    let server = Server::start(scripted_app().layer(layer)).await;
    let first = server.get("/").await;
    assert_eq!(
        (
            first.header("x-ratelimit-remaining").as_str(),
            first.header("ratelimit").as_str()
        ),
        ("9", r#""queue";r=1;t=10"#)
    );
    let (second, ()) = tokio::join!(server.get("/"), async {
        yield_until(async || clock.pending_sleeps() == 1).await;
        let denied = server.get("/").await;
        assert_eq!(
            (
                denied.status,
                denied.header("ratelimit").as_str(),
                denied.header("retry-after").as_str()
            ),
            (429, r#""queue";r=0;t=10"#, "10")
        );
        clock.advance(Duration::from_secs(10));
    });
    assert_eq!(
        (second.status, second.header("ratelimit").as_str()),
        (200, r#""queue";r=0;t=10"#)
    );
}

async fn policies_state_their_quota_units<St: TestStore>() {
    let (store, _) = St::fresh();
    let quota = Quota::per_minute(1000);
    let layer = RateLimitLayer::fixed_window("requests", quota, Global, store)
        .tier(Tier::fixed_window("bytes", quota, Global).cost(ContentLength::or(1)))
        .tier(
            Tier::fixed_window("tokens", quota, Global)
                // The name that a tier is given is used, regardless of its cost.
                .cost(ContentLength::or(1))
                .cost(requested_cost)
                .quota_unit(QuotaUnit::new("tokens")),
        );
    let server = Server::start(scripted_app().layer(layer)).await;
    let policies =
        r#""requests";q=1000;w=60, "bytes";q=1000;qu="content-bytes";w=60, "tokens";q=1000;qu="tokens";w=60"#;
    let reply = get(&server, ("x-cost", "7")).await;
    assert_eq!(reply.header("ratelimit-policy"), policies);
    assert_eq!(
        reply.header("ratelimit"),
        r#""requests";r=999;t=45, "bytes";r=1000;t=60, "tokens";r=993;t=45"#
    );
}

async fn partition_keys_are_sent_by_choice<St: TestStore>() {
    let (store, _) = St::fresh();
    let responder = HttpResponder::new()
        .ietf_draft(IetfDraft::Draft11)
        .partition_key(|tier| (tier.limit().name() == "user").then(|| tier.key().to_string().into_bytes()));
    let layer = RateLimitLayer::fixed_window("all", Quota::per_minute(5), Global, store)
        .tier(Tier::fixed_window(
            "user",
            Quota::per_minute(5),
            Header::new("x-user-id"),
        ))
        .respond_with(responder);
    let app = Router::new().route("/", any(async || "done")).layer(layer);
    let reply = Server::start(app).await.get_as("ann").await;
    // x-user-id:ann
    let key = ":eC11c2VyLWlkOmFubg==:";
    assert_eq!(
        reply.header("ratelimit-policy"),
        format!(r#""all";q=5;w=60, "user";q=5;w=60;pk={key}"#)
    );
    assert_eq!(
        reply.header("ratelimit"),
        format!(r#""all";r=4;t=45, "user";r=4;t=45;pk={key}"#)
    );
}
