//! Responses: headers, bodies, and times in whole seconds.

use std::{convert::Infallible, time::Duration};

use axum::{
    BoxError, Router,
    error_handling::HandleError,
    extract::Request,
    http::{HeaderMap, StatusCode},
    response::{IntoResponse, Response},
    routing::get,
};
use tollgate::{
    Algorithm, AnyAlgorithm, Charge, Charges, FixedWindow, Global, HttpResponder, Key, Limit, ManualClock, Operation,
    Quota, RateLimitLayer, Rejection, Respond, Tier, TokenBucket,
};
use tower::{Layer, service_fn};

use crate::over_http::fixture::{NOW, Reply, Server, TestStore, on_both_stores};

on_both_stores![
    a_denial_has_a_json_body,
    a_rejection_as_a_response_is_the_default_one,
    times_are_whole_seconds_rounded_up,
    a_window_below_a_second_is_omitted,
    an_impossible_request_has_no_retry_after,
    any_handler_response_passes_with_headers_added,
    an_inner_error_passes_and_is_charged,
];

/// A route behind a limit named `api`.
pub(crate) async fn serve<St: TestStore>(algorithm: AnyAlgorithm) -> (Server, ManualClock) {
    let (store, clock) = St::fresh();
    let layer = RateLimitLayer::new(Tier::new("api", algorithm, Global), store);
    let app = Router::new().route("/", get(async || "served")).layer(layer);
    (Server::start(app).await, clock)
}

async fn a_denial_has_a_json_body<St: TestStore>() {
    let (server, _) = serve::<St>(FixedWindow::new(Quota::per_minute(1)).anchored().to_any()).await;
    assert_eq!(server.get("/").await.body, "served");
    let reply = server.get("/").await;
    assert_eq!((reply.status, reply.header("retry-after").as_str()), (429, "60"));
    assert_eq!(reply.header("content-type"), "application/json");
    assert_eq!(
        reply.body,
        r#"{"error":"rate_limit_exceeded","message":"Too many requests. Please retry after 60 seconds.","retry_after":60}"#
    );
}

async fn a_rejection_as_a_response_is_the_default_one<St: TestStore>() {
    let responses = [false, true].map(async |custom| {
        let (store, _) = St::fresh();
        let window = FixedWindow::new(Quota::per_minute(1)).anchored();
        let layer = RateLimitLayer::new(Tier::new("api", window, Global), store);
        let app = Router::new().route("/", get(async || "served"));
        let app = match custom {
            true => app.layer(layer.respond_with(|rejection: Rejection| rejection.into_response())),
            false => app.layer(layer),
        };
        let server = Server::start(app).await;
        assert_eq!(server.get("/").await.body, "served");
        let denied = server.get("/").await;
        let content_type = denied.header("content-type");
        (denied.all(), content_type, denied.body)
    });
    let [default, custom] = responses;
    assert_eq!(custom.await, default.await);
}

async fn times_are_whole_seconds_rounded_up<St: TestStore>() {
    for (window, seconds, reset) in [
        (1_000_000, 1, 617),
        (1_000_001, 2, 617),
        (1_750_000, 2, 617),
        (1_750_001, 2, 618),
        (59_000_001, 60, 675),
        (60_000_000, 60, 676),
        (315_360_000_000_000, 315_360_000, 315_360_616),
    ] {
        let quota = Quota::new(1, Duration::from_micros(window));
        let (server, _) = serve::<St>(FixedWindow::new(quota).anchored().to_any()).await;
        let limits = format!(r#"1 0 {reset} | "api";q=1;w={seconds} | "api";r=0;t={seconds}"#);
        assert_eq!(
            server.get("/").await.all(),
            (200, "-".into(), limits.clone()),
            "{window}"
        );
        assert_eq!(
            server.get("/").await.all(),
            (429, seconds.to_string(), limits),
            "{window}"
        );
    }
}

async fn a_window_below_a_second_is_omitted<St: TestStore>() {
    for window in [1, 999_999] {
        let quota = Quota::new(1, Duration::from_micros(window));
        for algorithm in [
            FixedWindow::new(quota).anchored().to_any(),
            TokenBucket::new(quota).to_any(),
        ] {
            let (server, _) = serve::<St>(algorithm).await;
            let reset = (NOW + window).div_ceil(1_000_000);
            let limits = format!(r#"1 0 {reset} | "api";q=1 | "api";r=0;t=1"#);
            assert_eq!(
                server.get("/").await.all(),
                (200, "-".into(), limits.clone()),
                "{algorithm:?}"
            );
            assert_eq!(server.get("/").await.all(), (429, "1".into(), limits), "{algorithm:?}");
        }
    }
}

/// The response of a layer that rejects a request.
fn reject(request: &Request, why: Rejection) -> Response {
    let responder: &dyn Respond<_, _, Infallible, Context = _> = &HttpResponder::new();
    let Ok(response) = responder.reject(responder.context(request), why);
    response
}

/// A layer charges 1, which always fits, so the handler acquires more and responds as a layer would.
async fn an_impossible_request_has_no_retry_after<St: TestStore>() {
    let (store, _) = St::fresh();
    let handler = async move |request: Request| {
        let tiers = [("exhausted", 1), ("small", 10), ("large", 100)];
        let charge = |(name, limit), cost| {
            let limit = Limit::new(name, FixedWindow::new(Quota::per_minute(limit)).anchored());
            Charge::new(limit, Key::GLOBAL).with_cost(cost)
        };
        let acquire = async |charges| match store.apply(Operation::Acquire(charges)).await {
            Ok(decision) => decision,
            Err(_) => panic!("the store cannot decide"),
        };
        acquire(charge(tiers[0], 1).into()).await;
        let mut charges = Charges::from(charge(tiers[0], 1));
        charges.push(charge(tiers[1], 11)).unwrap();
        charges.push(charge(tiers[2], 11)).unwrap();
        let why = Rejection::Limited(acquire(charges).await.into());
        reject(&request, why)
    };
    let server = Server::start(Router::new().route("/", get(handler))).await;
    let reply = server.get("/").await;
    let limits = r#"10 10 616 | "exhausted";q=1;w=60, "small";q=10;w=60, "large";q=100;w=60 | "#.to_owned()
        + r#""exhausted";r=0;t=60, "small";r=10;t=60"#;
    assert_eq!(reply.all(), (429, "-".into(), limits));
    let body = r#"{"error":"rate_limit_exceeded","message":"This request asks for more than its limit ever allows."}"#;
    assert_eq!(reply.body, body);
}

async fn any_handler_response_passes_with_headers_added<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(9), Global, store);
    let handler = async |headers: HeaderMap| {
        let status = headers["x-status"].to_str().unwrap().parse().unwrap();
        let own = [("retry-after", "7"), ("x-own", "mine")];
        (StatusCode::from_u16(status).unwrap(), own, "the body")
    };
    let server = Server::start(Router::new().route("/", get(handler)).layer(layer)).await;
    for (status, left) in [(200, 8), (201, 7), (400, 6), (404, 5), (429, 4), (500, 3), (503, 2)] {
        let reply = Reply::to(server.request("/").header("x-status", status)).await;
        // The state of a denial is that of the limit which denied: here the handler's own.
        let state = match status {
            429 => "-".into(),
            _ => format!(r#""api";r={left};t=45"#),
        };
        let limits = format!(r#"9 {left} 660 | "api";q=9;w=60 | {state}"#);
        assert_eq!(reply.all(), (status, "7".into(), limits));
        assert_eq!(
            (reply.header("x-own").as_str(), reply.body.as_str()),
            ("mine", "the body")
        );
    }
}

async fn an_inner_error_passes_and_is_charged<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Global, store);
    let broken = service_fn(async |_: Request| Err::<Response, BoxError>("the inner service broke".into()));
    let handle_error = async |error: BoxError| (StatusCode::BAD_GATEWAY, error.to_string());
    let app = Router::new().route_service("/", HandleError::new(layer.layer(broken), handle_error));
    let server = Server::start(app).await;
    let reply = server.get("/").await;
    assert_eq!((reply.status, reply.body.as_str()), (502, "the inner service broke"));
    assert_eq!(server.get("/").await.status, 429);
}
