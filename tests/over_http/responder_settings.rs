//! Responder settings: header names, units, bodies, and custom responses.

use axum::{
    Router,
    http::{HeaderValue, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use tollgate::{
    Decision, FixedWindow, Global, Header, HttpResponder, Quota, RateLimitLayer, Rejection, RejectionBody, ResetUnit,
    Tier,
};

use crate::over_http::fixture::{NOTHING, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    header_names_can_be_set,
    either_family_of_headers_can_be_omitted,
    a_reset_can_be_a_delta,
    a_reset_can_be_a_duration,
    each_tier_can_have_its_own_headers,
    a_body_can_be_custom,
    a_closure_builds_the_response,
    a_responder_can_be_set_before_or_after_the_tiers,
];

/// One request per minute, under a limit named `api`.
async fn serve<St: TestStore>(responder: HttpResponder) -> Server {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Global, store).respond_with(responder);
    Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await
}

/// An admitted response and a denied one.
pub(crate) async fn both(server: &Server) -> [Reply; 2] {
    let replies = [server.get("/").await, server.get("/").await];
    assert_eq!(replies.each_ref().map(|reply| reply.status), [200, 429]);
    replies
}

const IETF: &str = r#""api";q=1;w=60 | "api";r=0;t=45"#;

async fn header_names_can_be_set<St: TestStore>() {
    let names = ["X-Rate-Limit-Limit", "x-rate-limit-remaining", "RateLimit-Reset"];
    let server = serve::<St>(HttpResponder::new().header_names(names)).await;
    for reply in both(&server).await {
        assert_eq!(names.map(|name| reply.header(name)), ["1", "0", "660"]);
        assert_eq!(reply.limits(), format!("- - - | {IETF}"));
    }
}

async fn either_family_of_headers_can_be_omitted<St: TestStore>() {
    let without_both = HttpResponder::new().without_x_headers().without_ietf_headers();
    for (responder, limits) in [
        (HttpResponder::new(), format!("1 0 660 | {IETF}")),
        (HttpResponder::new().without_x_headers(), format!("- - - | {IETF}")),
        (HttpResponder::new().without_ietf_headers(), "1 0 660 | - | -".into()),
        (without_both, NOTHING.into()),
    ] {
        let [admitted, denied] = both(&serve::<St>(responder).await).await;
        assert_eq!(admitted.all(), (200, "-".into(), limits.clone()));
        assert_eq!(denied.all(), (429, "45".into(), limits));
    }
}

async fn a_reset_can_be_a_delta<St: TestStore>() {
    let (store, clock) = St::fresh();
    let delta = HttpResponder::new().reset_unit(ResetUnit::Delta);
    let layer = RateLimitLayer::sliding_log("api", Quota::per_minute(2), Global, store).respond_with(delta);
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    for (at, status, left, reset, effective_window) in [
        (600_000_000, 200, 1, 60, 30),
        (610_000_001, 200, 0, 60, 50),
        // An admitted response reports when the state is fresh, a denied one when one request is admitted again.
        (615_000_000, 429, 0, 45, 45),
        (615_000_001, 429, 0, 45, 45),
        (660_000_000, 200, 0, 60, 11),
        (669_000_000, 429, 0, 2, 2),
    ] {
        clock.set(at);
        let reply = server.get("/").await;
        let limits = format!(r#"2 {left} {reset} | "api";q=2;w=60 | "api";r={left};t={effective_window}"#);
        assert_eq!((reply.status, reply.limits()), (status, limits), "{at}");
    }
}

async fn a_reset_can_be_a_duration<St: TestStore>() {
    let server = serve::<St>(HttpResponder::new().reset_unit(ResetUnit::Duration)).await;
    for reply in both(&server).await {
        assert_eq!(reply.limits(), format!("1 0 44.75s | {IETF}"));
    }
}

async fn each_tier_can_have_its_own_headers<St: TestStore>() {
    let (store, _) = St::fresh();
    let responder = HttpResponder::new()
        .x_headers_per_tier()
        .reset_unit(ResetUnit::Duration)
        .without_ietf_headers();
    let inner = RateLimitLayer::fixed_window("tokens", Quota::per_hour(700), Global, store.clone());
    let layer = RateLimitLayer::fixed_window("requests", Quota::per_minute(1), Global, store)
        .tier(Tier::fixed_window("tokens", Quota::per_day(900), Global))
        .tier(Tier::fixed_window("hidden", Quota::per_day(900), Global).hidden());
    let app = Router::new()
        .route("/", get(async || "done").layer(inner.respond_with(responder.clone())))
        .layer(layer.respond_with(responder));
    let server = Server::start(app).await;
    let [admitted, denied] = both(&server).await;
    let headers = |reply: &Reply, tier| {
        ["limit", "remaining", "reset"].map(|name| reply.header(&format!("x-ratelimit-{name}-{tier}")))
    };
    assert_eq!(headers(&admitted, "requests"), ["1", "0", "44.75s"]);
    // Of two layers with the same name, the lower one.
    assert_eq!(headers(&admitted, "tokens"), ["700", "699", "49m44.75s"]);
    assert_eq!(headers(&denied, "requests"), ["1", "0", "44.75s"]);
    assert_eq!(headers(&denied, "tokens"), ["900", "899", "23h49m44.75s"]);
    for reply in [admitted, denied] {
        assert_eq!(headers(&reply, "hidden"), ["-"; 3]);
        assert_eq!(reply.limits(), NOTHING);
    }
}

async fn a_body_can_be_custom<St: TestStore>() {
    type Body = fn(&Rejection) -> RejectionBody;
    let csv = HeaderValue::from_static("text/csv");
    let forms: [(Body, &str); 2] = [
        (
            |why| RejectionBody::plain(format!("{why} {:?}", why.retry_after())),
            "text/plain; charset=utf-8",
        ),
        (
            |why| RejectionBody::json(format!("{why} {:?}", why.retry_after())),
            "application/json",
        ),
    ];
    let forms = forms.map(|(body, content_type)| (HttpResponder::new().body(body), content_type));
    let own =
        HttpResponder::new().body(move |why| RejectionBody::new(csv.clone(), format!("{why} {:?}", why.retry_after())));
    for (responder, content_type) in forms.into_iter().chain([(own, "text/csv")]) {
        let [admitted, denied] = both(&serve::<St>(responder).await).await;
        assert_eq!(admitted.body, "done");
        assert_eq!(denied.header("content-type"), content_type);
        assert_eq!(
            denied.body,
            "Too many requests. Please retry after 45 seconds. Some(44.75s)"
        );
        assert_eq!(denied.all(), (429, "45".into(), format!("1 0 660 | {IETF}")));
    }
}

async fn a_closure_builds_the_response<St: TestStore>() {
    let (store, _) = St::fresh();
    let respond = |why: Rejection| -> Response {
        let Rejection::Limited(decision) = &why else {
            return StatusCode::IM_A_TEAPOT.into_response();
        };
        let names: Vec<_> = decision
            .tiers()
            .iter()
            .map(|tier| tier.limit().name().to_owned())
            .collect();
        (
            StatusCode::PAYMENT_REQUIRED,
            [("x-tiers", names.join(","))],
            why.to_string(),
        )
            .into_response()
    };
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Header::new("x-user-id"), store)
        .tier(Tier::fixed_window("all", Quota::per_minute(9), Global))
        .respond_with(respond);
    let handler = async |decision: Option<Decision>| format!("a decision: {}", decision.is_some());
    let server = Server::start(Router::new().route("/", get(handler)).layer(layer)).await;
    // A closure adds nothing to admitted requests.
    let reply = server.get_as("a").await;
    assert_eq!(reply.all(), (200, "-".into(), NOTHING.into()));
    assert_eq!(reply.body, "a decision: false");
    let reply = server.get_as("a").await;
    assert_eq!(reply.all(), (402, "-".into(), NOTHING.into()));
    assert_eq!(
        (reply.header("x-tiers").as_str(), reply.body.as_str()),
        ("api,all", "Too many requests. Please retry after 45 seconds.")
    );
    assert_eq!(server.get("/").await.status, 418);
}

async fn a_responder_can_be_set_before_or_after_the_tiers<St: TestStore>() {
    let (store, _) = St::fresh();
    let responder = || HttpResponder::new().without_ietf_headers();
    let layer = |name| RateLimitLayer::fixed_window(name, Quota::per_minute(2), Global, store.clone());
    let narrow = FixedWindow::new(Quota::per_minute(1));
    let before = layer("before")
        .respond_with(responder())
        .tier(Tier::new("narrow-1", narrow, Global));
    let after = layer("after")
        .tier(Tier::new("narrow-2", narrow, Global))
        .respond_with(responder());
    for app in [
        Router::new().route("/", get(async || "done").layer(before)),
        Router::new().route("/", get(async || "done").layer(after)),
    ] {
        for reply in both(&Server::start(app).await).await {
            assert_eq!(reply.limits(), "1 0 660 | - | -");
        }
    }
}
