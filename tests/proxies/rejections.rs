//! What clients receive if the service rejects a request without a decision.

use super::{for_each_http_proxy, program::Program, stack::Stack};

/// No default key: a request without the header cannot be counted.
const RULES: &str = "
[[limit]]
name = 'tenant'
algorithm = 'fixed_window'
limit = 5
window = '1d'
key = 'header:x-tenant'

[[exempt]]
path = '/healthz'
";

async fn a_request_that_cannot_be_counted_is_a_400(program: &'static Program) {
    let stack = Stack::start(program, RULES, 1).await;
    let reply = stack.proxy().get("/items", &[]).await;
    assert_eq!(
        (reply.status, &*reply.header("content-type")),
        (400, "application/json")
    );
    assert!(reply.json()["error"].is_string(), "{reply:?}");
    assert_eq!(stack.app.received("GET /items"), 0);
}

async fn a_service_that_fails_closed_is_a_503(program: &'static Program) {
    let options = ["--on-store-failure", "closed"];
    let mut stack = Stack::start_with(program, RULES, 1, &[program.patient], &options).await;
    stack.redis.kill();
    let reply = stack.proxy().get("/items", &[("x-tenant", "alice")]).await;
    assert_eq!((reply.status, &*reply.header("retry-after")), (503, "1"));
    assert_eq!(reply.json()["error"], "rate_limiter_unavailable");
    assert_eq!(stack.app.received("GET /items"), 0);
}

for_each_http_proxy!(
    a_request_that_cannot_be_counted_is_a_400,
    a_service_that_fails_closed_is_a_503
);
