//! What clients receive, with the documented configuration and rules.

use support::http::NOTHING;

use super::{
    for_each_proxy,
    program::{GRPC, Program, documented},
    stack::Stack,
};

/// Of searches, in the rules of docs/service/.
const LIMIT: usize = 10;
const ALICE: &[(&str, &str)] = &[("x-tenant", "alice")];

/// The limit of all requests, and that of searches.
fn limits(program: &Program) -> [&'static str; 2] {
    match program.service {
        GRPC => ["tenant", "tenant_search"],
        _ => ["client", "search"],
    }
}

async fn clients_receive_the_documented_responses(program: &'static Program) {
    let stack = Stack::start(program, &documented(program.rules), 1).await;
    let proxy = stack.proxy();
    let [all, search] = limits(program);
    let policy = format!(r#""{all}";q=100;w=60, "{search}";q=10;w=60"#);
    for remaining in (0..LIMIT).rev() {
        let reply = proxy.post("/search", ALICE, "all of it").await;
        assert_eq!((reply.status, &*reply.body), (200, "POST /search all of it"));
        let limits = match program.sends_headers {
            true => reply.headers.limits(),
            false => {
                assert_eq!(reply.headers.limits(), NOTHING);
                stack.app.last_limits()
            }
        };
        let (start, middle) = (format!("{LIMIT} {remaining} "), format!(" | {policy} | "));
        assert!(limits.starts_with(&start) && limits.contains(&middle), "{limits}");
    }

    let denied = proxy.post("/search", ALICE, "all of it").await;
    assert_eq!(
        (denied.status, &*denied.header("content-type")),
        (429, "application/json")
    );
    assert_eq!(denied.json()["error"], "rate_limit_exceeded");
    assert_eq!(denied.header("ratelimit-policy"), policy);
    assert_eq!(denied.header("x-ratelimit-limit"), LIMIT.to_string());
    assert_eq!(denied.header("x-ratelimit-remaining"), "0");
    let [wait, reset] = ["retry-after", "x-ratelimit-reset"].map(|name| denied.header(name).parse::<u64>());
    let wait = wait.unwrap();
    assert!((1..=60).contains(&wait) && reset.is_ok(), "{denied:?}");
    assert_eq!(denied.header("ratelimit"), format!(r#""{search}";r=0;t={wait}"#));
    let in_body = (program.name != "nginx").then_some(wait);
    assert_eq!(
        denied.json()["retry_after"].as_u64(),
        in_body,
        "nginx writes its own body"
    );
    assert_eq!(stack.app.received("POST /search"), LIMIT);
}

async fn an_error_of_the_application_is_not_a_denial(program: &'static Program) {
    let stack = Stack::start(program, &documented(program.rules), 1).await;
    let reply = stack.proxy().get("/forbidden", ALICE).await;
    assert_eq!((reply.status, &*reply.body), (403, "forbidden by the application"));
    assert_eq!(reply.headers.limits() != NOTHING, program.sends_headers, "{reply:?}");
}

for_each_proxy!(
    clients_receive_the_documented_responses,
    an_error_of_the_application_is_not_a_denial
);
