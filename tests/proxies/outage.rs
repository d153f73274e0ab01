//! The service is killed and comes back, or does not respond.

use support::{http::NOTHING, wait::eventually};

use super::{
    for_each_proxy,
    program::{Program, documented},
    stack::Stack,
};

const LIMIT: usize = 5;

async fn requests_pass_unchecked_until_a_killed_service_is_back(program: &'static Program) {
    let mut stack = Stack::start(program, &program.limit("tenant", LIMIT, None), 1).await;
    assert_eq!(
        stack.send_concurrently(LIMIT + 1, "/items", "exhausted").await,
        (LIMIT, 1)
    );
    assert_eq!(stack.send_concurrently(2, "/items", "alice").await, (2, 0));

    stack.services[0].kill();
    assert_eq!(stack.send_concurrently(50, "/unchecked", "alice").await, (50, 0));
    let reply = stack
        .proxy()
        .post("/unchecked", &[("x-tenant", "alice")], "all of it")
        .await;
    assert_eq!((reply.status, &*reply.body), (200, "POST /unchecked all of it"));
    assert_eq!(reply.headers.limits(), NOTHING);
    assert_eq!(stack.app.received("GET /unchecked"), 50);

    stack.services[0].restart();
    // Denials cost nothing.
    let is_denied = async || stack.send_concurrently(1, "/items", "exhausted").await == (0, 1);
    eventually("the service is asked again", is_denied).await;
    assert_eq!(
        stack.send_concurrently(50, "/items", "alice").await,
        (LIMIT - 2, 50 - (LIMIT - 2))
    );
}

async fn requests_pass_unchecked_while_the_service_does_not_respond(program: &'static Program) {
    let stack = Stack::start_with(program, &documented(program.rules), 1, &[], &[]).await;
    stack.services[0].freeze();
    let reply = stack
        .proxy()
        .post("/items", &[("x-tenant", "alice")], "all of it")
        .await;
    assert_eq!((reply.status, &*reply.body), (200, "POST /items all of it"));
    assert_eq!(stack.app.received("POST /items"), 1);
}

for_each_proxy!(
    requests_pass_unchecked_until_a_killed_service_is_back,
    requests_pass_unchecked_while_the_service_does_not_respond
);
