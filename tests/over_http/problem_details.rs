//! Problem details (RFC 9457) as response bodies.

use axum::{Router, http::Method, routing::get};
use serde_json::json;
use tollgate::{ClientIp, Global, Header, HttpResponder, ProblemType, Quota, RateLimitLayer, RejectionBody, Tier};

use crate::over_http::{
    fixture::{Server, TestStore, on_both_stores},
    responder_settings::both,
};

on_both_stores![
    problem_details_name_the_denying_tiers,
    problem_details_do_not_name_a_hidden_tier,
    problem_details_of_requests_without_a_key,
    a_custom_body_can_report_abnormal_usage,
];

async fn problem_details_name_the_denying_tiers<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::fixed_window("ample", Quota::per_minute(5), Global, store)
        .tier(Tier::fixed_window("minute", Quota::per_minute(1), Global))
        .tier(Tier::fixed_window("secret", Quota::per_minute(1), Global).hidden())
        .tier(Tier::fixed_window("hour", Quota::per_hour(1), Global))
        .respond_with(HttpResponder::new().problem_details());
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let [_, denied] = both(&server).await;
    assert_eq!(denied.header("content-type"), "application/problem+json");
    let problem = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Too many requests. Please retry after 2985 seconds.",
        "violated-policies": ["minute", "hour"],
        "retry_after": 2985,
    });
    assert_eq!(
        (denied.json(), denied.header("retry-after").as_str()),
        (problem, "2985")
    );
}

async fn problem_details_do_not_name_a_hidden_tier<St: TestStore>() {
    let (store, _) = St::fresh();
    let layer = RateLimitLayer::new(
        Tier::fixed_window("secret", Quota::per_minute(1), Global).hidden(),
        store,
    )
    .tier(Tier::fixed_window("ample", Quota::per_minute(5), Global))
    .respond_with(HttpResponder::new().problem_details());
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let [_, denied] = both(&server).await;
    let problem = json!({
        "type": "https://iana.org/assignments/http-problem-types#quota-exceeded",
        "title": "Too Many Requests",
        "status": 429,
        "detail": "Too many requests. Please retry after 45 seconds.",
        "retry_after": 45,
    });
    assert_eq!(denied.json(), problem);
}

async fn a_custom_body_can_report_abnormal_usage<St: TestStore>() {
    let (store, _) = St::fresh();
    let responder = HttpResponder::new()
        .body(|rejection| RejectionBody::problem_details(rejection, ProblemType::AbnormalUsageDetected));
    let layer = RateLimitLayer::fixed_window("api", Quota::per_minute(1), Global, store)
        .block(Method::GET)
        .respond_with(responder);
    let server = Server::start(Router::new().route("/", get(async || "done")).layer(layer)).await;
    let reply = server.get("/").await;
    let problem = json!({
        "type": "https://iana.org/assignments/http-problem-types#abnormal-usage-detected",
        "title": "Forbidden",
        "status": 403,
        "detail": "This request is not allowed.",
    });
    assert_eq!((reply.status, reply.json()), (403, problem));
}

async fn problem_details_of_requests_without_a_key<St: TestStore>() {
    let (store, _) = St::fresh();
    let problems = || HttpResponder::new().problem_details();
    let user = RateLimitLayer::fixed_window("user", Quota::per_minute(1), Header::new("x-user-id"), store.clone());
    let address = RateLimitLayer::fixed_window("ip", Quota::per_minute(1), ClientIp::peer(), store);
    let app = Router::new()
        .route("/user", get(async || "done").layer(user.respond_with(problems())))
        .route("/ip", get(async || "done").layer(address.respond_with(problems())));
    let server = Server::start_without_peers(app).await;
    for (path, status, title) in [("/user", 400, "Bad Request"), ("/ip", 500, "Internal Server Error")] {
        let reply = server.get(path).await;
        assert_eq!(
            (reply.status, reply.header("content-type").as_str()),
            (status, "application/problem+json")
        );
        let mut problem = reply.json();
        let detail = problem.as_object_mut().unwrap().remove("detail").unwrap();
        assert!(
            detail
                .as_str()
                .unwrap()
                .contains(if status == 400 { "x-user-id" } else { "peer address" })
        );
        assert_eq!(
            problem,
            json!({"type": "about:blank", "title": title, "status": status})
        );
    }
}
